"""What The Multivac prints, against a study: family-biases within responses with their errors, and
both rankings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from recuse.base.database import connect, files
from recuse.base.tables import column_names
from recuse.model.least_squares import connected_parts
from recuse.papers.multivac import HIGHEST, SCORE
from recuse.papers.scorecard import DIFFERS, NO_VALUE, judged

RANKINGS = column_names("study model group n mean bradley_terry rank")

_Rows = Sequence[Mapping[str, str]]
PLACE = "The Multivac, ba0f7b5"
TOLERANCE = 0.0005  # half a unit of the third decimal, in points of 0 to 10 or in log-odds
# Published error -> the spec that has it.
ERRORS = {"se_judge": "within_response_by_judge", "se_twoway": "within_response"}
COUNTED = (
    "the published factor counts one judge more as a parameter, which the two groups of judges"
    " determine"
)
UNCONVERGED = (
    "unknown: strengths of the other group agree to 1e-8, so this fit may have stopped early"
)
ANOTHER_KEY = re.compile(r" \(as \w+\)$")  # in a name, where a model has two keys


def rankings(ratings: Sequence[str]) -> list[dict]:
    """Rank the models by mean score and by Bradley-Terry strength, as published; two keys of a
    model are one model.

    mean: of all scores, 0 to 10. bradley_terry: log-strength about the mean of the group, from
    every pair of models that a judge scored in one evaluation, equal scores as half a win each; a
    group is the models that such pairs connect. rank: within the group.
    """
    connection = connect()
    connection.execute(f"""
        create temp table scored as
        select judge::varchar as judge, regexp_replace(model::varchar, '{ANOTHER_KEY.pattern}', '') as model, prompt,
               occasion_code, rating_unit
        from {files(ratings)} where dimension = '{SCORE}'""")
    means = connection.execute(
        f"select model, {HIGHEST} * avg(rating_unit), count(*) from scored group by all order by"
        " model"
    )
    models, mean, n = zip(*means.fetchall(), strict=True)
    pairs = connection.execute("""
        select one.model, other.model, sum((sign(one.rating_unit - other.rating_unit) + 1) / 2)
        from scored as one join scored as other using (judge, prompt, occasion_code)
        where one.model <> other.model group by all order by all""").fetchall()
    place = {model: number for number, model in enumerate(models)}
    wins = np.zeros((len(models), len(models)))
    for one, other, won in pairs:
        wins[place[one], place[other]] = won
    strength, group = bradley_terry(wins)
    rows = []
    for number, model in enumerate(models):
        among = group == group[number]
        row = {"model": model, "group": int(group[number]), "n": n[number], "mean": mean[number]}
        rows.append(
            row
            | {
                "bradley_terry": strength[number],
                "rank": 1 + int((strength[among] > strength[number]).sum()),
            }
        )
    return rows


def bradley_terry(wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-strengths s about the mean of their group, and the group of each model, (models,), by
    maximum likelihood.

    P(i beats j) = 1 / (1 + exp(s_j - s_i)). wins: (models, models), how often i beat j; models that
    no comparisons connect are in different groups, numbered by their first model. Newton's method.
    Source: Bradley and Terry (1952).
    """
    met = wins + wins.T
    group = connected_parts(met > 0)
    strength = np.zeros(len(wins))
    for number in np.unique(group):
        among = np.flatnonzero(group == number)
        won = wins[np.ix_(among, among)].sum(axis=1)
        times = met[np.ix_(among, among)]
        s = np.zeros(len(among))
        for _ in range(STEPS):
            expected = 1 / (1 + np.exp(s - s[:, None]))  # P(i beats j)
            weight = times * expected * (1 - expected)
            # Regular: sums of s stay 0
            information = np.diag(weight.sum(axis=1)) - weight + 1 / len(among)
            step = np.linalg.solve(information, won - (times * expected).sum(axis=1))
            s = s + step
            if np.abs(step).max() < SETTLED:
                break
        strength[among] = s - s.mean()
    return strength, group


STEPS, SETTLED = 100, 1e-12  # of Newton's method


def scorecard_of_multivac(
    biases: _Rows, ranked: _Rows, estimates: _Rows, ours: Sequence[Mapping], *, study: str
) -> Iterator[dict]:
    """Yield the rows of the scorecard: each published family-bias, its errors, and the mean and
    strength of each model.

    biases, ranked: the published tables. estimates: rows of the tables of the specs in ERRORS, on
    the unit scale. ours: of `rankings`. Published values and ours are in points from 0 to 10,
    strengths in log-odds about the mean of the published models of their group; a match is nearer
    than TOLERANCE.
    """
    fitted = {
        (row["spec"], row["term"].lower()): row
        for row in estimates
        if row["quantity"] == "family_bias"
    }
    for row in biases:
        columns = [
            ("fe_bias", "within_response", "estimate"),
            *((name, spec, "std_error") for name, spec in ERRORS.items()),
        ]
        for published, spec, column in columns:
            value = fitted.get((spec, row["family"]), {}).get(column)
            key = {
                "item": "family_bias" if column == "estimate" else column,
                "spec": spec,
                "quantity": "family_bias",
            }
            yield _judged(
                {"study": study, "figure": PLACE, **key, "term": row["family"]},
                float(row[published]),
                HIGHEST * float(value) if value else None,
                COUNTED if column == "std_error" else "",
            )
    theirs = {row["model"]: row for row in ranked}
    of_model = {row["model"]: row for row in ours}
    centred = {}
    for component in {row["component"] for row in ranked}:
        names = [name for name, row in theirs.items() if row["component"] == component]
        for name, strengths in (("published", theirs), ("ours", of_model)):
            values = np.array(
                [
                    float(strengths[model]["bradley_terry"]) if model in strengths else np.nan
                    for model in names
                ]
            )
            centred |= {
                (name, model): value - np.nanmean(values)
                for model, value in zip(names, values, strict=True)
            }
    for model, row in theirs.items():
        mean = of_model.get(model, {}).get("mean")
        about = {"study": study, "figure": PLACE, "quantity": "mean", "model": model}
        yield _judged({**about, "item": "mean_score"}, float(row["naive_mean"]), mean)
        strength = {
            **about,
            "item": "bradley_terry",
            "quantity": "bradley_terry",
            "slice": f"component {row['component']}",
        }
        yield _judged(
            strength, centred["published", model], centred["ours", model], differing=UNCONVERGED
        )


def _judged(
    row: dict, published: float, ours: float | None, matching: str = "", differing: str = "unknown"
) -> dict:
    """A row of the scorecard; the cause of a match that is not exact, and of a difference."""
    row |= {"published": published}
    if ours is None or np.isnan(ours):
        return row | {"verdict": "absent", "cause": NO_VALUE}
    verdict = judged([ours - published], TOLERANCE)
    return (
        row
        | {"ours": ours}
        | verdict
        | {"cause": differing if verdict["verdict"] == DIFFERS else matching}
    )
