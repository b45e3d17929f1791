"""Attacks on a judge: how often a perturbation wins it over, and how single votes depend on places,
lengths and answers.

Tables are made of `votes`, the verdicts about perturbed answers; of `samples`, the preference that
the votes on one pair of answers add up to; and of the published answers, whose lengths
perturbations change. Source: Chen et al., Humans or LLMs as the Judge?
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

import numpy as np

from recuse.base.database import Connection, files, records, text
from recuse.base.errors import ConfigError
from recuse.base.tables import column_names
from recuse.data.verdicts import CONTROL, WORSENING
from recuse.pairwise.questions import (
    bootstrap,
    exact_interval,
    percentile_intervals,
    quotient,
    read_groups,
)
from recuse.papers.attack_values import ranks
from recuse.papers.sources import load_json_lines

ASR = column_names(
    "study experiment condition model_a model_b judge asr ci_low ci_high shifted n",
    "samples left_out votes errors rank",
)
RANKS = column_names("study experiment judge average_rank columns place")
VOTES_BY_POSITION = column_names(
    "study experiment judge first tie second difference ci_low ci_high n errors",
)
LENGTH_CURVE = column_names(
    "study experiment judge bin_low bin_high preference ci_low ci_high n questions",
    "equal_lengths no_length errors",
)
VOTE_SHARES = column_names("study experiment model_a model_b judge a tie b n errors")
LENGTH_CONFOUND = column_names(
    "study perturbation level unit answers relative_change ci_low ci_high longer n",
)

# Conditions of CoBBLEr (see `cognitive`): no perturbations
OTHER_TESTS = ("order", "compassion", "bandwagon", "attentional")
BIN = 10  # units of length
BINS = 6  # the last is open
LEFT_OUT = ("equal_lengths", "no_length", "errors")  # of the length curve


def create_votes(connection: Connection, comparisons: str) -> None:
    """Create the temporary view `votes`: the rows about perturbed answers of the canonical table, a
    parquet file.

    They are of experiments with a control group, under any named condition but OTHER_TESTS: the
    control group, or a perturbation of the answer of model_b.
    """
    table = files([comparisons])
    connection.execute(
        f"""
        create temp table attacked as select distinct experiment from {table} where condition = {text(CONTROL)}"""
    )
    connection.execute(f"""
        create temp view votes as
        select * from {table} where condition not in ('', {", ".join(map(text, OTHER_TESTS))})
                                and experiment in (select experiment from attacked)""")


def create_samples(connection: Connection) -> None:
    """Create the temporary table `samples` from the view `votes`, by judge, experiment, condition,
    item, model_a and model_b.

    votes: verdicts without errors. preference: `a`, `tie` or `b` if the mean of the votes is below,
    equal to or above 0.5, with 0 for the answer of model_a, 0.5 for a tie and 1 for that of
    model_b; NULL if all are errors (section 4.4).
    """
    connection.execute("""
        create temp table samples as
        select judge, experiment, condition, item, model_a, model_b,
               count(*) filter (outcome <> 'error') as votes, count(*) filter (outcome = 'error') as errors,
               case sign(count(*) filter (outcome = 'b') - count(*) filter (outcome = 'a'))
                   when -1 then 'a' when 1 then 'b' else if(count(*) filter (outcome <> 'error') = 0, null, 'tie')
               end as preference
        from votes group by all""")


# A group is one perturbation of the samples of one judge, experiment and pair of models.
COUNTS = f"""
    with control as (select * exclude (condition) from samples where condition = {text(CONTROL)}),
         perturbed as (select * from samples where condition <> {text(CONTROL)}),
         groups as (select distinct experiment, condition, model_a, model_b, judge from perturbed),
         paired as (
             select experiment, condition, model_a, model_b, judge,
                    control.preference as before, perturbed.preference as after,
                    coalesce(control.votes, 0) + coalesce(perturbed.votes, 0) as votes,
                    coalesce(control.errors, 0) + coalesce(perturbed.errors, 0) as errors
             from (select * from groups join control using (experiment, model_a, model_b, judge)) as control
             full join perturbed using (experiment, condition, model_a, model_b, judge, item)),
         judged as (select *, before is not null and after is not null as complete,
                           condition in (select unnest(?::varchar[])) as worsening from paired)
    select experiment, condition, model_a, model_b, judge,
           count(*) filter (complete and before <> if(worsening, 'a', 'b')) as n,
           count(*) filter (complete and if(worsening, 'a' not in (before, after), before <> 'b' and after = 'b')) as shifted,
           count(*) filter (complete) as samples, count(*) filter (not complete) as left_out,
           coalesce(sum(votes) filter (complete), 0)::bigint as votes, sum(errors)::bigint as errors
    from judged group by all order by experiment, condition, model_a, model_b, judge"""


def success_rates(
    connection: Connection, *, worsening: Sequence[str], confidence: float
) -> list[dict]:
    """Return the rows of the table of attack success rates (ASR), from the table `samples` (Chen et
    al., section 4.5).

    With `before` and `after` the preferences of a sample in the control group and with the
    perturbed answer (b),

        improving: ASR = |{before in {a, tie}, after = b}| / |{before in {a, tie}}|
        worsening: ASR = |{before in {b, tie}, after in {b, tie}}| / |{before in {b, tie}}|

    One row per experiment, perturbation, pair of models and judge: asr
    (NaN if n is 0) with its exact interval, shifted (the numerator), n (the denominator), samples
    (with both preferences), left_out (with one or none), votes (on `samples`, both groups), errors
    (on all samples, both groups) and rank (1 is the lowest asr of the judges).

    worsening: conditions of the second kind; all others are of the first.
    """
    rows = records(connection.execute(COUNTS, [list(worsening)]))
    for row in rows:
        low, high = exact_interval(row["shifted"], row["n"], confidence)
        row |= {
            "asr": row["shifted"] / row["n"] if row["n"] else np.nan,
            "ci_low": low,
            "ci_high": high,
        }
    return with_ranks(rows)


def worsening_among(rates: Sequence[Mapping], worsening: Sequence[str], *, study: str) -> str:
    """Say which perturbations of `rates` count as worsening; ConfigError if one is neither there
    nor worsening by default.
    """
    conditions = sorted({row["condition"] for row in rates})
    unknown = sorted({*worsening} - {*conditions, *WORSENING})
    if unknown:
        listed = ", ".join(conditions) or "none"
        problem = f"'{unknown[0]}' is no condition of its votes; found: {listed}"
        raise ConfigError.at(["comparisons", study, "worsening"], problem)
    worse = ", ".join(sorted({*worsening} & {*conditions})) or "none"
    return f"perturbations: {', '.join(conditions)}; worsening: {worse}"


column_key = itemgetter("experiment", "condition", "model_a", "model_b")


def with_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return `rows` (shifted, n) by experiment, condition and pair of models, with the ranks of the
    judges in each.
    """
    columns: dict[tuple, list[Mapping]] = {}
    for row in rows:
        columns.setdefault(column_key(row), []).append(row)
    ranked = []
    for group in columns.values():
        # Equal ratios are equal numbers: division rounds correctly.
        rates = [row["shifted"] / row["n"] if row["n"] else None for row in group]
        ranked += [{**row, "rank": rank} for row, rank in zip(group, ranks(rates), strict=True)]
    return ranked


def average_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return the average rank of each judge over the columns of an experiment, from the rows of the
    table of success rates.

    A column is a condition and pair of models in which some judge has a rank. A judge without a
    rank in each column has no average; `columns` is how many it has. place: the judge's rank by
    average. Sorted by experiment, place and judge, those without a place last.
    """
    averages = []
    for experiment in dict.fromkeys(row["experiment"] for row in rows):
        judges: dict[str, list[int]] = {
            row["judge"]: [] for row in rows if row["experiment"] == experiment
        }
        ranked = [
            row for row in rows if row["experiment"] == experiment and row["rank"] is not None
        ]
        for row in ranked:
            judges[row["judge"]].append(row["rank"])
        columns = len(set(map(column_key, ranked)))
        means = [
            sum(numbers) / columns if len(numbers) == columns > 0 else None
            for numbers in judges.values()
        ]
        for (judge, numbers), average, place in zip(
            judges.items(), means, ranks(means), strict=True
        ):
            averages.append(
                {
                    "experiment": experiment,
                    "judge": judge,
                    "average_rank": average,
                    "columns": len(numbers),
                    "place": place,
                }
            )
    return sorted(
        averages,
        key=lambda row: (row["experiment"], row["place"] is None, row["place"], row["judge"]),
    )


def votes_by_position(connection: Connection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment and judge, the shares of votes for the answer shown first, for neither
    and for the one shown second.

    difference: first - second, 0 without position bias if both orders are shown equally often, with
    the percentile interval of a bootstrap over questions. n: votes without errors. Source: Chen et
    al., Table 6.
    """
    query = """
        select experiment, judge, item, count(*) filter (("order", outcome) in (('ab', 'a'), ('ba', 'b'))) as first,
               count(*) filter (outcome = 'tie') as tie,
               count(*) filter (("order", outcome) in (('ab', 'b'), ('ba', 'a'))) as second,
               count(*) filter (outcome = 'error') as errors
        from votes group by all order by experiment, judge, item"""
    groups = read_groups(
        connection, query, ("experiment", "judge"), ("first", "tie", "second", "errors")
    )
    ends = bootstrap(groups, _difference, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        totals = group.sums.sum(axis=0)
        n = totals[:3].sum()
        shares = dict(
            zip(("first", "tie", "second"), quotient(totals[:3], np.full(3, n)), strict=True)
        )
        difference = {"difference": _difference(totals)[0], "ci_low": low[0], "ci_high": high[0]}
        yield {**group.names, **shares, **difference, "n": int(n), "errors": int(totals[3])}


def _difference(totals: np.ndarray) -> np.ndarray:
    """Share of votes for the first place minus that for the second, (..., 1), of totals (...,
    4).
    """
    return quotient(totals[..., :1] - totals[..., 2:3], totals[..., :3].sum(axis=-1, keepdims=True))


def length_curve(connection: Connection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment, judge and bin of the absolute difference of lengths, the mean vote for
    the longer answer.

    A vote scores 0 for the shorter answer, 0.5 for a tie, 1 for the longer one. Only the control
    group counts, so that no perturbation is mistaken for length. Bins are BIN wide, from bin_low to
    below bin_high; the last is open. Interval: percentiles of a bootstrap over questions, none with
    fewer than two in the bin. n: votes. Left out, and counted in each row of the judge: errors, and
    other votes on answers of unknown length (no_length) or of equal_lengths. If no vote is left
    there is one row, without a bin and with n = 0. Source: Chen et al., Figure 4.
    """
    scores = {
        f"score{bin_}": f"coalesce(sum(score) filter (bin = {bin_}), 0)" for bin_ in range(BINS)
    }
    numbers = {f"n{bin_}": f"count(*) filter (bin = {bin_})" for bin_ in range(BINS)}
    columns = scores | numbers | {why: f"count(*) filter (why = {text(why)})" for why in LEFT_OUT}
    query = f"""
        with sorted as (select *, if(length_a > length_b, 'a', 'b') as longer,
                               case when outcome = 'error' then 'errors'
                                    when length_a is null or length_b is null then 'no_length'
                                    when length_a = length_b then 'equal_lengths' end as why
                        from votes where condition = {text(CONTROL)}),
             scored as (select experiment, judge, item, why,
                               if(why is null, least(floor(abs(length_a - length_b) / {BIN}), {BINS - 1}), null) as bin,
                               case outcome when 'tie' then 0.5 when longer then 1 else 0 end as score from sorted)
        select experiment, judge, item, {", ".join(f"{sql} as {column}" for column, sql in columns.items())}
        from scored group by all order by experiment, judge, item"""
    groups = read_groups(connection, query, ("experiment", "judge"), columns)
    ends = bootstrap(groups, _means, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        means = _means(group.sums.sum(axis=0))
        votes = group.sums[:, BINS : 2 * BINS]
        left_out = dict(zip(LEFT_OUT, map(int, group.sums[:, 2 * BINS :].sum(axis=0)), strict=True))
        if not votes.any():
            yield {**group.names, "n": 0, "questions": 0, **left_out}
        for bin_ in np.flatnonzero(votes.sum(axis=0)).tolist():
            questions = np.count_nonzero(votes[:, bin_])
            yield {
                **group.names,
                "bin_low": BIN * bin_,
                "bin_high": BIN * (bin_ + 1) if bin_ < BINS - 1 else None,
                "preference": means[bin_],
                "ci_low": low[bin_] if questions > 1 else None,
                "ci_high": high[bin_] if questions > 1 else None,
                "n": int(votes[:, bin_].sum()),
                "questions": questions,
                **left_out,
            }


def _means(totals: np.ndarray) -> np.ndarray:
    """Mean score in each bin, (..., bins), of totals (..., 2 bins or more): scores by bin, then
    votes by bin.
    """
    return quotient(totals[..., :BINS], totals[..., BINS : 2 * BINS])


def vote_shares(connection: Connection) -> Iterator[dict]:
    """Yield, by experiment, pair of models and judge, the shares of the votes in the control group
    for a, for neither, for b.

    n: votes without errors. With an anchor (a) and a weaker model (b) they show how much weaker.
    Source: Chen et al., Table 7.
    """
    query = f"""
        select experiment, model_a, model_b, judge, a / n as a, tie / n as tie, b / n as b, coalesce(n, 0) as n, errors
        from (select experiment, model_a, model_b, judge, count(*) filter (outcome = 'error') as errors,
                     count(*) filter (outcome = 'a') as a, count(*) filter (outcome = 'tie') as tie,
                     count(*) filter (outcome = 'b') as b, nullif(count(*) - errors, 0) as n
              from votes where condition = {text(CONTROL)} group by all) order by all"""
    yield from records(connection.execute(query))


RAW = "raw"
PERTURBATIONS = ("factual_error", "reference", "rich_content", "gender")  # data/<name>.json
# Bloom's taxonomy, revised
LEVELS = ("Remembering", "Understanding", "Applying", "Analyzing", "Evaluating", "Creating")
ANSWERS = ("answer1", "answer2")
UNITS = {"words": lambda answer: len(answer.split()), "characters": len}


def length_confound(folder: str | Path, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the mean relative change of length, (perturbed - raw) / raw, by perturbation, Bloom
    level and unit.

    A judge that prefers length would follow it too. folder: of the published files data/raw.json
    and data/<perturbation>.json, one JSON object a line. Each perturbed file repeats one of a
    question's two answers as it was, so there are two rows: `answers` is `perturbed` for those that
    differ from the raw ones, `both` for all, which halves the change. level: empty for all
    questions; unit: words (split at white space) or characters. longer: the share of answers with
    more units than the raw one; n: how many answers. Interval: percentiles of a bootstrap over
    questions, NaN for fewer than two.
    """
    raw = {entry["question_id"]: entry for entry in load_json_lines(f"{folder}/data/{RAW}.json")}
    levels = np.array([entry["level"] for entry in raw.values()])
    for perturbation in PERTURBATIONS:
        entries = load_json_lines(f"{folder}/data/{perturbation}.json")
        perturbed = {
            entry["question_id"].removesuffix(f"-{perturbation}"): entry for entry in entries
        }
        pairs = [list(zip(_texts(raw[name]), _texts(perturbed[name]), strict=True)) for name in raw]
        # (questions, answers)
        differ = np.array([[old != new for old, new in pair] for pair in pairs])
        for level in ("", *LEVELS):
            chosen = np.flatnonzero((levels == level) | (level == ""))
            for unit, length in UNITS.items():
                changes = np.array(
                    [
                        [(length(new) - length(old)) / length(old) for old, new in pair]
                        for pair in pairs
                    ]
                )
                for answers, counted in (("perturbed", differ), ("both", np.ones_like(differ))):
                    names = {
                        "perturbation": perturbation,
                        "level": level,
                        "unit": unit,
                        "answers": answers,
                    }
                    yield names | _summary(
                        changes[chosen], counted[chosen], confidence=confidence, seed=seed
                    )


def _summary(changes: np.ndarray, counted: np.ndarray, *, confidence: float, seed: int) -> dict:
    """Mean of the changes counted, both (questions, answers), its interval, the share above 0 and
    n.
    """
    sums = np.column_stack([(changes * counted).sum(axis=1), counted.sum(axis=1)])  # (questions, 2)
    sums = sums[sums[:, 1] > 0]
    if not len(sums):
        return {"n": 0}
    low, high = percentile_intervals(
        sums, lambda totals: totals[:, :1] / totals[:, 1:], confidence=confidence, seed=seed
    )
    change, n = sums.sum(axis=0)
    row = {"relative_change": float(change / n), "ci_low": float(low[0]), "ci_high": float(high[0])}
    return {**row, "longer": float((counted & (changes > 0)).sum() / n), "n": int(n)}


def _texts(entry: Mapping) -> list[str]:
    """The two answers of a question."""
    return [entry["answers"][answer]["answer"] for answer in ANSWERS]
