"""Panels of judges: against naive sums over rows, against planted errors, and as often right as
their intervals say.
"""

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng

from designs_on_rows import frame_on_rows
from picked_rows import fields, keyed, only, where
from rated_tables import rated, rows_where, study_of_rows, unscored
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because
from recuse.data.doubts import Doubt
from recuse.inference.judge_levels import FOLDS, linked_judges
from recuse.inference.panel import (
    BETWEEN,
    KEPT,
    LEFT_OUT,
    PanelErrors,
    doubted_judges,
    independent_judges,
    jackknife,
    norm_interval,
    panel_rows,
)
from recuse.model.least_squares import quantile
from recuse.validation.world import MonteCarloWorld

ANSWER = ["dimension", "prompt", "model"]


def rows_from(study, verdicts=(), *, least=5, reliability=None):
    return panel_rows(
        linked_judges(study), study, reliability or {}, verdicts, least=least, confidence=0.9
    )


def errors_from(study, panels=None, reliability=None, **kept):
    """Errors of single judges, or of panels, (n, J) of bool."""
    judges = linked_judges(study, **kept)
    panels = np.eye(len(judges.crossing.judges), dtype=bool) if panels is None else panels
    errors = PanelErrors(judges, panels, reliability or {}, judges.number.sum(axis=0) > 0)
    judges.crossing.passed(study, errors)
    return errors


def frame_from(study):
    frame = frame_on_rows(study).rename(columns={"rating_unit": "y", "gt_unit": "h"})
    return frame.assign(related=frame["judge_family"] == frame["model_family"])


def naive_errors(frame, reliability):
    """Rows with columns e, r, slope and noise, by least squares within answers, and on the human
    score by judge.
    """
    parts = []
    for dimension, rows in frame.groupby("dimension"):
        unrelated = rows[~rows["related"]]
        answer = unrelated["prompt"].astype(str) + unrelated["model"]
        dummies = pd.get_dummies(unrelated["judge"]).astype(float)
        within, y = (of - of.groupby(answer).transform("mean") for of in (dummies, unrelated["y"]))
        levels = pd.Series(np.linalg.lstsq(within, y, rcond=1e-12)[0], dummies.columns)
        e = rows["y"] - rows["judge"].map(levels - levels.mean()) - rows["h"]
        slopes = {
            judge: np.polyfit(of["h"], of["y"], 1)[0] / reliability[dimension]
            for judge, of in unrelated.groupby("judge")
        }
        means = unrelated.groupby("judge")[["y", "h"]].mean().loc[rows["judge"]].to_numpy()
        slope = rows["judge"].map(slopes)
        r = rows["y"] - means[:, 0] - slope * (rows["h"] - means[:, 1])
        noise = (1 - reliability[dimension]) * unrelated["h"].var(ddof=0)
        parts.append(rows.assign(e=e - e[~rows["related"]].mean(), r=r, slope=slope, noise=noise))
    return pd.concat(parts)


def naive_panel(rows, judges, *, kept):
    """Signed biases by model, mean square of errors and of what lines leave, and mean 1 / judges,
    of one panel.
    """
    used = rows[rows["judge"].isin(judges) & (kept | ~rows["related"])]
    bias = used.groupby(["model", "judge"])["e"].mean().groupby("model").mean()
    answers = used.groupby(ANSWER).agg(
        {"e": "mean", "r": "mean", "slope": "mean", "noise": "first", "judge": "size"}
    )
    error = (answers["e"] ** 2 - answers["noise"]).mean()
    line = (answers["r"] ** 2 - answers["slope"] ** 2 * answers["noise"]).mean()
    return bias - bias.mean(), error, line, (1 / answers["judge"]).mean()


def test_bias_error_and_correlation_equal_naive_sums_over_the_rows_of_the_twin(twin):
    frame = frame_from(twin)
    reliability = dict.fromkeys(frame["dimension"], 1.0)
    reliability |= {"Helpfulness": 0.7, "Conciseness": 0.4}
    panels = np.array([np.isin(range(9), places) for places in [(0, 3, 5), (1, 4, 7, 8), range(9)]])
    errors = errors_from(twin, np.concatenate([np.eye(9, dtype=bool), panels]), reliability)
    rows = naive_errors(frame, reliability)
    names = errors.judges.crossing.judges
    folds = errors.folds
    alone = np.array([naive_panel(rows, [name], kept=False)[2] for name in names])
    for number, panel in enumerate(panels, 9):
        for kept in (False, True):
            place = number + kept * len(errors.panels)
            bias, error, line, inverse = naive_panel(rows, names[panel], kept=kept)
            assert errors.bias(folds)[place] == pytest.approx(bias.to_numpy(), abs=1e-9)
            assert errors.error(folds)[place] == pytest.approx(error, abs=1e-9)
            ratio = line / alone[panel].mean()
            expected = np.nan if kept else (ratio - inverse) / (1 - inverse)
            assert errors.correlation(folds)[place] == pytest.approx(
                expected, abs=1e-9, nan_ok=True
            )


def test_biases_of_some_prompts_are_those_of_a_study_of_these_alone(tmp_path):
    """Levels are estimated anew in each part of the prompts; the parts hold all ratings of a
    prompt. One judge rates one model in no prompt of this part.
    """
    rows = [
        row
        for row in rated(prompts=2 * FOLDS)
        if row["prompt_id"] == "p1" or fields(row, "judge model") != ("GPT-4o", "Llama 3 8B")
    ]
    whole = errors_from(study_of_rows(tmp_path, rows))
    half = np.arange(0, FOLDS, 2)
    names = f"select distinct prompt_id::varchar, prompt from '{tmp_path}/ratings.parquet'"
    codes = dict(duckdb.sql(names).fetchall())
    (folder := tmp_path / "part").mkdir()
    part = errors_from(
        study_of_rows(folder, [row for row in rows if codes[row["prompt_id"]] % FOLDS in half])
    )
    assert whole.bias(half) == pytest.approx(part.bias(part.folds), abs=1e-12, nan_ok=True)


def test_answers_on_two_occasions_are_two_answers(tmp_path):
    """Every second prompt is made the second occasion of the one before: sums over answers are the
    same.
    """
    rows = rated(dimensions=("Tone", "Use"))
    halves = [divmod(int(row["prompt_id"][1:]), 2) for row in rows]
    occasions = [
        {**row, "prompt_id": f"p{prompt}", "occasion": f"o{occasion}"}
        for row, (prompt, occasion) in zip(rows, halves, strict=True)
    ]
    errors = []
    for name, each in {"prompts": rows, "occasions": occasions}.items():
        (folder := tmp_path / name).mkdir()
        errors.append(errors_from(study_of_rows(folder, each)))
    one, other = errors
    assert other.bias(other.folds) == pytest.approx(one.bias(one.folds), abs=1e-12, nan_ok=True)
    assert other.error(other.folds) == pytest.approx(one.error(one.folds), abs=1e-12)


SIZE = yaml.safe_load("""
{dimensions: 2, prompts: 200, intercept: [0.1, 0.0], slope: 1.0, noise: 0.2, families: [2, 1, 1, 1]}
""")


def world(seed=5, **dials):
    return MonteCarloWorld(**SIZE | dials).draw(default_rng(seed))


EVERYONE = BETWEEN.join(f"Model {number}" for number in range(1, 6))


@pytest.mark.parametrize("reliability", [1.0, 0.6])
def test_independent_judges_are_those_after_each_judges_own_line(reliability):
    """Slopes and the error of the human scores make errors alike, and do not count; a shock of the
    answer does.
    """
    dials = {"slope": [0.4, 0.9], "reliability": reliability, "prompts": 600}
    for shock in (0.0, 0.15):
        study = world(completion_shock=shock, **dials)
        first = rows_from(
            study, reliability=dict.fromkeys(study.factors["dimension"], reliability)
        )[0]
        truth = 5 / (1 + 4 * shock**2 / (shock**2 + 0.2**2))
        assert first["effective"] == pytest.approx(truth, abs=0.4)
        assert first["effective_ci_low"] < first["effective"] < first["effective_ci_high"]


def test_planted_self_bias_is_left_by_the_kept_ratings_alone():
    """Judges 1 and 3 favour themselves by 0.2, which all five pass on by a fifth."""
    rows = rows_from(world(self_bias=[0.2, 0, 0.2, 0, 0]))
    left_out, kept = (only(rows, family_ratings=kind, panel=EVERYONE) for kind in (LEFT_OUT, KEPT))
    planted = np.array([0.2, 0, 0.2, 0, 0]) / 5
    assert kept["bias_left"] == pytest.approx(planted.std(), abs=0.006)
    assert kept["worst_model"] in {"Model 1", "Model 3"}
    assert kept["worst_bias"] == pytest.approx(planted.max() - planted.mean(), abs=0.012)
    assert kept["error"] == pytest.approx(np.sqrt(0.2**2 / 5 + (planted**2).mean()), abs=0.006)
    assert left_out["bias_left"] < 0.008
    assert left_out["square_difference_ci_high"] == 0 < kept["square_difference_ci_low"]
    assert rows[0] is left_out
    assert left_out["recommended"] == "yes"


def test_a_panel_without_a_judge_that_errs_by_far_is_recommended():
    """Judge 5 gives one model 0.3 more: without it, and without own families, less bias is left."""
    study = world()
    study.rating[:, :, 4, 2] += 0.3
    (chosen,) = (row for row in rows_from(study) if "recommended" in row)
    assert "Model 5" not in chosen["panel"]
    assert chosen["square_difference_ci_high"] < 0


@pytest.mark.long
def test_intervals_contain_what_is_planted_about_as_often_as_they_say():
    """Over 200 worlds with two biased judges: biases and errors of all judges, with and without own
    families.
    """
    number = 200
    shares = np.array([0.1, 0, 0.05, 0, 0]) / 5
    truths = {(KEPT, "bias_left"): shares.std(), (LEFT_OUT, "bias_left"): 0.0}
    truths[KEPT, "error"] = np.sqrt(0.2**2 / 5 + 0.15**2 + (shares**2).mean())
    inside = dict.fromkeys(truths, 0)
    for seed in range(number):
        rows = rows_from(
            world(seed, prompts=100, completion_shock=0.15, self_bias=[0.1, 0, 0.05, 0, 0])
        )
        whole = keyed(where(rows, panel=EVERYONE), "family_ratings")
        for (kind, name), truth in truths.items():
            ends = fields(whole[kind], f"{name}_ci_low {name}_ci_high")
            inside[kind, name] += ends[0] <= truth <= ends[1]
    assert min(inside.values()) >= (0.9 - 3.5 * np.sqrt(0.09 / number)) * number, inside


@pytest.mark.parametrize(
    ("true", "spread"), [(0.0, [1, 1, 1, 1, 1]), (0.5, [1, 1, 1, 1, 1]), (3.0, [4, 1, 1, 1, 0.2])]
)
def test_the_interval_of_a_root_mean_square_covers(true, spread):
    random = default_rng(3)
    spread = np.array(spread)
    truth = true * np.array([1, -1, 1, -1, 0.0])
    inside = 0
    for _ in range(400):
        low, high = norm_interval(
            truth + np.sqrt(spread) * random.standard_normal(5), np.diag(spread), 0.9, 1e9
        )
        inside += low <= np.sqrt((truth**2).mean()) <= high
        assert high > 0
    assert inside >= 0.87 * 400


def test_few_parts_of_the_prompts_widen_the_interval():
    estimate = np.array([3.0, -3.0, 0.0])
    covariance = np.eye(3)
    wider = covariance * (quantile(0.9, 4) / quantile(0.9)) ** 2
    assert norm_interval(estimate, covariance, 0.9, 4) == pytest.approx(
        norm_interval(estimate, wider, 0.9, np.inf)
    )
    assert norm_interval(estimate, 0 * covariance, 0.9, 4) == pytest.approx(
        (np.sqrt(6), np.sqrt(6))
    )


def test_intervals_of_differences_hold_for_all_panels_at_once():
    study = world()
    rows = rows_from(study)
    names = [f"Model {number}" for number in range(1, 6)]
    errors = errors_from(
        study, np.array([np.isin(names, row["panel"].split(BETWEEN)) for row in rows[:2]])
    )

    def difference(folds):
        return np.subtract(*(errors.bias(folds)[1::-1] ** 2).mean(axis=1))

    half = quantile(1 - 0.1 / len(rows), FOLDS - 1) * np.linalg.norm(
        jackknife(difference, errors.folds)
    )
    ends = [rows[1][f"square_difference{end}"] for end in ("_ci_low", "", "_ci_high")]
    assert np.diff(ends) == pytest.approx([half, half], abs=1e-12)


def test_without_human_scores_no_bias_is_given():
    (row,) = rows_from(world(humans=False))
    note = because(Reason.NO_HUMAN_SCORE)
    assert row == {
        "family_ratings": LEFT_OUT,
        "size": 5,
        "panel": EVERYONE,
        "recommended": "yes",
        "note": note,
    }


def test_judges_that_share_no_answers_with_the_others_are_left_out(tmp_path):
    """Two judges rate prompts that the other three never see."""
    apart = {"Llama 3 8B", "Mistral 7B"}
    rows = [
        row for row in unscored() if (row["judge"] in apart) is (int(row["prompt_id"][1:]) % 4 == 0)
    ]
    study = study_of_rows(tmp_path, rows)
    assert linked_judges(study).unlinked == sorted(apart)
    table = rows_from(study)
    assert {row["panel"] for row in table if row["note"] == Reason.FEW_SHARED_ANSWERS} == apart
    assert not apart & set(table[0]["panel"].split(BETWEEN))
    (folder := tmp_path / "alone").mkdir()
    alone = study_of_rows(folder, where(rows, judge="GPT-4o"))
    assert rows_from(alone) == [{"note": Reason.NO_SHARED_ANSWERS}]


@pytest.mark.parametrize(
    ("dimensions", "prompts", "least"), [(["Tone"], 5, 10), (["Tone", "Use"], 1, 2)]
)
def test_a_judge_with_too_few_ratings_is_in_no_panel(tmp_path, dimensions, prompts, least):
    """Fewer than `least`, or all of one prompt, so that none are left without it."""
    rows = [
        row
        for row in rated(dimensions=dimensions)
        if row["judge"] != "GPT-4o" or int(row["prompt_id"][1:]) < prompts
    ]
    table = rows_from(study_of_rows(tmp_path, rows), least=least)
    assert table[-1] == {"panel": "GPT-4o", "size": 1, "note": Reason.FEW_SHARED_ANSWERS}
    assert table[0]["size"] == 4
    assert 1 < table[0]["effective"] < 10


def test_too_few_ratings_or_prompts_are_reasons(tmp_path):
    first, *others = rows_from(world(), least=500)
    assert first == {
        "family_ratings": LEFT_OUT,
        "size": 0,
        "panel": "",
        "note": because(Reason.FEW_RATINGS_OUTSIDE, least=500),
    }
    assert {row["note"] for row in others} == {Reason.FEW_SHARED_ANSWERS}
    study = study_of_rows(tmp_path, rated(prompts=3, dimensions=("Tone", "Use")))
    (row,) = rows_from(study, least=2)
    assert row["note"] == because(Reason.FEW_PROMPTS_OF_PANEL, least=4)
    assert row["recommended"] == "yes"


def test_only_these_dimensions_count(tmp_path):
    """Use has no ratings of the prompts in fold 3: the fourth in order, and the one 20 after it."""
    rows = rated(prompts=25, dimensions=("Tone", "Use"))
    rows = rows_where("dimension == 'Tone' or prompt_id not in ('p11', 'p8')", rows)
    study = study_of_rows(tmp_path, rows)
    assert errors_from(study, dimensions=["Use"]).folds.tolist() == [0, 1, 2, *range(4, 20)]
    assert linked_judges(study, dimensions=["Use"]).crossing.dimensions.tolist() == ["Use"]
    with pytest.raises(ConfigError, match=r"panel: dimensions.*Tune"):
        linked_judges(study, dimensions=["Tune"])


def test_independent_judges():
    assert independent_judges(4, np.array([0.0, 1.0, 0.5, -0.5])).tolist() == [
        4.0,
        1.0,
        1.6,
        np.inf,
    ]


FEW = because(Reason.FEW_CELLS, df=1, least=4)


@pytest.mark.parametrize(
    ("quantity", "term", "verdict", "reason", "doubted"),
    [
        ("self_bias", "Model 4", "not shown", "", set()),
        ("self_bias", "Model 4", "likely", "", {"Model 4"}),
        ("self_bias", "Model 3", "inconclusive", FEW, {"Model 3"}),
        ("self_bias", "Model 3", "inconclusive", because(Reason.NO_OWN_ANSWERS), set()),
        ("family_bias", "Family 1", "established", "", {"Model 1", "Model 2"}),
    ],
)
def test_ratings_of_own_families_are_recommended_only_as_the_verdicts_allow(
    quantity, term, verdict, reason, doubted
):
    """Judge 5's preference for one model makes panels that keep own ratings the better ones."""
    study = world()
    study.rating[:, :, 4, 0] += 0.3
    verdicts = [{"quantity": quantity, "term": term, "verdict": verdict, "reason": reason}]
    assert doubted_judges(linked_judges(study), verdicts) == doubted
    (chosen,) = (row for row in rows_from(study, verdicts) if "recommended" in row)
    assert chosen["family_ratings"] == LEFT_OUT or not doubted & {*chosen["panel"].split(BETWEEN)}


def in_no_panel(rows, judge, note):
    assert rows[-1] == {"panel": judge, "size": 1, "note": note}
    assert not any(judge in row["panel"] for row in rows[:-1])
    assert rows[0]["size"] == 4


def test_a_judge_that_does_not_agree_with_people_is_in_no_panel():
    verdict = {"quantity": "self_bias", "term": "Model 4", "verdict": "not shown", "reason": ""}
    verdict["disagreement"] = because(Reason.HARDLY_AGREES)
    in_no_panel(rows_from(world(), [verdict]), "Model 4", because(Reason.HARDLY_AGREES))


def test_a_judge_whose_ratings_are_doubted_is_in_no_panel(monkeypatch):
    study = world()
    reason = because(Reason.COPIED_RATINGS, judge="Model 4", whose="Model 3", share="100 %")
    monkeypatch.setattr(type(study), "doubts", [Doubt("Model 4", "Family 4", reason)])
    in_no_panel(rows_from(study), "Model 4", reason)
