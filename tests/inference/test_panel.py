"""Panels of judges: against naive sums over rows, against planted errors, and on prompts that were held out."""

from itertools import combinations

import duckdb
import numpy as np
import pandas as pd
import pytest

from rated_tables import rated, study_of_query, study_of_rows, unscored, write_rows
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because
from recuse.inference import panel_choice
from recuse.inference.judge_errors import FOLDS, judge_errors
from recuse.inference.panel import KEPT, LEFT_OUT, Panels, independent_judges
from recuse.inference.panel_choice import (
    BETWEEN,
    BIAS,
    ERROR,
    JUDGES,
    NO_LEVELS,
    NOT_ALL,
    NOT_RATED,
    UNLINKED,
    columns_of,
    doubted_judges,
    larger,
    recommended,
)
from recuse.inference.panel_choice import panel_rows as rows_by_verdicts
from recuse.inference.round_robin import round_robin_rows
from recuse.montecarlo.world import MonteCarloWorld

SETTINGS = {"judges": 3, "least": 5, "confidence": 0.9}


def panel_rows(errors, verdicts=(), **settings):
    return rows_by_verdicts(errors, verdicts, **SETTINGS | settings)


def panels_of(places, judges):
    """Panels, (n, J) of bool, of the places of their judges."""
    return np.array([np.isin(range(judges), each) for each in places])


ANSWER = ["dimension", "prompt", "model"]


def frame_of(study):
    names = ", ".join(f"{name}::varchar as {name}" for name in ("dimension", "model", "judge", "model_family", "judge_family"))
    frame = duckdb.sql(f"select {names}, prompt, rating_unit as y, gt_unit as h from '{study.ratings[0]}'").df()
    return frame.assign(related=(frame["judge"] == frame["model"]) | (frame["judge_family"] == frame["model_family"]))


def naive_errors(frame, reliability):
    """Rows with a column e, and the variance of the error of the human scores, by least squares within answers."""
    parts, noises = [], []
    for dimension, rows in frame.groupby("dimension"):
        unrelated = rows[~rows["related"]]
        answer = unrelated["prompt"].astype(str) + unrelated["model"]
        dummies = pd.get_dummies(unrelated["judge"]).astype(float)
        within, y = (of - of.groupby(answer).transform("mean") for of in (dummies, unrelated["y"]))
        levels = pd.Series(np.linalg.lstsq(within, y, rcond=1e-12)[0], dummies.columns)
        x = rows["y"] - rows["judge"].map(levels - levels.mean())
        if rows["h"].notna().all():
            e = x - rows["h"]
            e -= e[~rows["related"]].mean()
            noises.append((len(unrelated), (1 - reliability.get(dimension, 1.0)) * unrelated["h"].var(ddof=0)))
        else:
            means = x[~rows["related"]].groupby([rows["prompt"], rows["model"]]).agg(["mean", "size"])
            means = means[means["size"] > 1]["mean"]
            e = x - means.reindex(pd.MultiIndex.from_frame(rows[["prompt", "model"]])).to_numpy()
        parts.append(rows.assign(e=e))
    weights, values = zip(*noises, strict=True) if noises else ((1,), (0,))
    return pd.concat(parts).dropna(subset="e"), np.average(values, weights=weights)


def naive_panel(rows, noise, judges, *, kept):
    """Signed biases by model, mean square of errors and correlation of errors of one panel, from pairs of rows."""
    used = rows[rows["judge"].isin(judges) & (kept | ~rows["related"])]
    bias = used.groupby(["model", "judge"])["e"].mean().groupby("model").mean()
    total, count = 0.0, 0
    for family, answers in rows.groupby("model_family"):
        size = len(answers.drop_duplicates(ANSWER))
        wide = answers.pivot(index=ANSWER, columns="judge", values="e")
        mine = [judge for judge in judges if judge in set(used.loc[used["model_family"] == family, "judge"])]
        square = np.mean([(wide[one] * wide[two]).mean() - noise for one in mine for two in mine])
        total, count = total + size * square, count + size
    wide = rows[~rows["related"]].pivot(index=ANSWER, columns="judge", values="e")
    variance = np.mean([(wide[one] ** 2).mean() - noise for one in judges])
    apart = np.mean([(wide[one] * wide[two]).mean() - noise for one, two in combinations(judges, 2)])
    return bias - bias.mean(), total / count, apart / variance


@pytest.mark.parametrize("kept", [KEPT, LEFT_OUT])
def test_bias_error_and_correlation_equal_naive_sums_over_the_rows_of_the_twin(twin, kept):
    reliability = {"Helpfulness": 0.7, "Conciseness": 0.4}
    errors = judge_errors(twin, reliability)
    rows, noise = naive_errors(frame_of(twin), reliability)
    options, names = Panels(errors, kept, 1), errors.crossing.judges
    assert errors.noise == pytest.approx(noise, abs=1e-12)
    for places in [(0, 3, 5), (1, 4, 7, 8), tuple(range(9))]:
        bias, error, correlation = naive_panel(rows, noise, names[list(places)], kept=kept == KEPT)
        one = panels_of([places], len(names))
        assert options.signed(one)[0] == pytest.approx(bias.to_numpy(), abs=1e-9)
        assert options.error(one)[0] == pytest.approx(error, abs=1e-9)
        assert options.correlation(one)[0] == pytest.approx(correlation, abs=1e-9)


def test_biases_of_some_prompts_are_those_of_a_study_of_these_alone(twin, tmp_path):
    """Levels are estimated anew in each part of the prompts; the parts hold all ratings of a prompt."""
    rows = rated(prompts=2 * FOLDS)
    whole = judge_errors(study_of_rows(tmp_path, rows), {})
    half = np.arange(0, FOLDS, 2)
    codes = {
        str(name): code
        for code, name in duckdb.sql(f"select distinct prompt, prompt_id from '{tmp_path}/ratings.parquet'").fetchall()
    }
    folder = tmp_path / "part"
    folder.mkdir()
    part = judge_errors(study_of_rows(folder, [row for row in rows if codes[row["prompt_id"]] % FOLDS in half]), {})
    assert whole.biases(half)[0] == pytest.approx(part.biases()[0], abs=1e-12)
    assert judge_errors(twin, {}).biases()[0].shape == (9, 9)


def test_answers_on_two_occasions_are_two_answers(tmp_path):
    """Every second prompt is made the second occasion of the one before: sums over answers are the same."""
    write_rows(tmp_path / "rows.csv", rated(dimensions=("Tone", "Use")))
    number, errors = "substr(prompt_id, 2)::integer", []
    for name, columns in {
        "prompts": "",
        "occasions": f"replace (concat('p', {number} // 2) as prompt_id), concat('o', {number} % 2) as occasion",
    }.items():
        (folder := tmp_path / name).mkdir()
        query = f"select * {columns} from read_csv('{tmp_path}/rows.csv', types={{'gt': 'double', 'rating': 'integer'}})"
        errors.append(judge_errors(study_of_query(folder, query, scale=(1, 5)), {}))
    one, other = errors
    assert other.biases()[0] == pytest.approx(one.biases()[0], abs=1e-12)
    for sums, others in zip(one.products(), other.products(), strict=True):
        assert others == pytest.approx(sums, abs=1e-12)


def world(**dials):
    settings = {"dimensions": 2, "prompts": 200, "intercept": [0.1, 0.0], "slope": 1.0, "noise": 0.2, "families": [2, 1, 1, 1]}
    return MonteCarloWorld(**settings | dials).draw(np.random.default_rng(5))


@pytest.mark.parametrize("reliability", [1.0, 0.5])
def test_planted_error_of_answers_that_all_judges_share_gives_the_effective_number(reliability):
    """Errors of sd 0.2 alone and 0.15 in common: five judges count as 5 / (1 + 4 x 0.36), whatever the humans' error."""
    study = world(completion_shock=0.15, reliability=reliability)
    errors = judge_errors(study, dict.fromkeys(map(str, np.unique(study.moments().factors["dimension"])), reliability))
    rows = panel_rows(errors)
    whole = next(row for row in rows if row["size"] == 5)
    truth = 5 / (1 + 4 * 0.15**2 / (0.15**2 + 0.2**2))
    assert whole["effective_ci_low"] < truth < whole["effective_ci_high"]
    assert whole["effective"] == pytest.approx(truth, abs=0.12)
    assert whole["error"] == pytest.approx(np.sqrt(0.15**2 + 0.2**2 / 5), abs=0.006)


@pytest.mark.parametrize("humans", [True, False])
def test_planted_self_bias_is_left_by_the_kept_ratings_alone(humans):
    """Judges 1 and 3 favour themselves by 0.2, which a panel of three with one of them passes on by a third."""
    errors = judge_errors(world(self_bias=[0.2, 0, 0.2, 0, 0], humans=humans), {})
    rows = panel_rows(errors)
    sets = {(row["family_ratings"], row["panel"]): row for row in rows if "place" in row}
    three = BETWEEN.join(["Model 1", "Model 4", "Model 5"])
    kept, left_out = sets[KEPT, three], sets[LEFT_OUT, three]
    planted = np.array([0.2 / 3, 0, 0, 0, 0]) - 0.2 / 15
    assert kept[BIAS] == pytest.approx(np.sqrt((planted**2).mean()), abs=0.006)
    assert kept["worst_model"] == "Model 1"
    assert kept["worst_bias"] == pytest.approx(0.2 * 4 / 15, abs=0.012)
    assert left_out[BIAS] < 0.008
    assert kept[ERROR] == pytest.approx(np.sqrt(0.2**2 / 3 + (0.2 / 3) ** 2 / 5), abs=0.006)
    assert sets[LEFT_OUT, BETWEEN.join(errors.crossing.judges)]["reference"] == ("humans" if humans else JUDGES)
    assert ("effective" in kept) is humans


@pytest.mark.parametrize("humans", [True, False])
def test_intervals_contain_what_is_planted_about_as_often_as_they_say(humans, long):
    """Over 20 or 200 worlds with two biased judges: biases, errors and effective numbers."""
    number = 200 if long else 20
    dials = {"families": [2, 1, 1, 1], "dimensions": 2, "prompts": 100, "intercept": 0.1, "slope": 1.0, "noise": 0.2}
    drawn = MonteCarloWorld(**dials, completion_shock=0.15, self_bias=[0.1, 0, 0.05, 0, 0], humans=humans)
    three = panels_of([(0, 2, 4)], 5)
    shares, shared = np.array([0.1, 0, 0.05, 0, 0]) / 3, 0.15**2 if humans else 0.0
    truths = {BIAS: shares.std(), ERROR: np.sqrt(0.2**2 / 3 + shared + (shares**2).mean())}
    truths |= {"effective": 3 / (1 + 2 * shared / (shared + 0.2**2))} if humans else {}
    inside, unbiased, random = dict.fromkeys(truths, 0), 0, np.random.default_rng(11)
    for _ in range(number):
        errors = judge_errors(drawn.draw(random), {})
        ends, _ = columns_of(Panels(errors, KEPT, 5), three, 0.9)
        for name, truth in truths.items():
            inside[name] += ends[f"{name}_ci_low"][0] <= truth <= ends[f"{name}_ci_high"][0]
        without, _ = columns_of(Panels(errors, LEFT_OUT, 5), three, 0.9)
        unbiased += without[f"{BIAS}_ci_low"][0] == 0
    least = 0.9 - 3.5 * np.sqrt(0.09 / number)
    assert min(inside.values()) >= least * number, inside
    assert unbiased >= least * number


def test_held_out_numbers_are_those_of_panels_chosen_on_the_other_half():
    errors = judge_errors(world(preference=0.05), {})
    rows = panel_rows(errors)
    options, halves = Panels(errors, KEPT, SETTINGS["least"]), (errors.folds[::2], errors.folds[1::2])
    panels = panels_of([*combinations(range(5), 2)], 5)
    for name, value in ((ERROR, options.error), (BIAS, lambda panels, half: options.bias(panels, half)[0])):
        row = next(row for row in rows if row["size"] == 2 and name in row.get("best", "").split())
        chosen = [value(panels, half).argmin() for half in halves]
        tested = [value(panels, other)[at] for at, other in zip(chosen, halves[::-1], strict=True)]
        assert row[f"held_out_{name}"] == pytest.approx(np.sqrt(max(0, np.mean(tested))), abs=1e-12)


def test_a_panel_of_one_family_is_not_estimable_and_prices_are_those_of_its_ratings(tmp_path):
    errors = judge_errors(study_of_rows(tmp_path, rated()), {})
    prices = {"GPT-4o": 4.0, "GPT-3.5 Turbo": 1.0}
    rows = panel_rows(errors, prices=prices)
    assert [row["note"] for row in rows if row["size"] == 1 and row["family_ratings"] == LEFT_OUT] == [
        NOT_RATED.format(least=5)
    ]
    (pairs,) = {(row["panels"], row["not_estimable"]) for row in rows if row["size"] == 2 and row["family_ratings"] == LEFT_OUT}
    assert pairs == (9, 1)  # the two GPT
    costs = {row["panel"]: row["cost"] for row in rows if "cost" in row}
    assert costs == {"GPT-4o": 4.0, "GPT-3.5 Turbo": 1.0, "GPT-3.5 Turbo; GPT-4o": 5.0}
    assert {row["panel"] for row in rows if row.get("efficient")} >= {"GPT-3.5 Turbo"}
    with pytest.raises(ConfigError, match=r"prices.*GPT-5"):
        panel_rows(errors, prices={"GPT-5": 1.0})


def test_judges_that_share_no_answers_with_the_others_are_left_out(tmp_path):
    """Two judges rate prompts that the other three never see; a pair that hardly meets has no error."""
    apart = {"Llama 3 8B", "Mistral 7B"}
    rows = [row for row in unscored() if (row["judge"] in apart) is (int(row["prompt_id"][1:]) % 4 == 0)]
    errors = judge_errors(study_of_rows(tmp_path, rows), {})
    assert errors.left_out == sorted(apart)
    table = panel_rows(errors)
    assert {row["panel"] for row in table if row.get("note") == UNLINKED} == apart
    assert all(not apart & set(row["panel"].split(BETWEEN)) for row in table if "place" in row)
    assert panel_rows(None) == [{"note": NO_LEVELS}]
    alone = [row for row in rows if row["judge"] == "GPT-4o"]
    folder = tmp_path / "alone"
    folder.mkdir()
    assert judge_errors(study_of_rows(folder, alone), {}) is None


def test_too_few_shared_answers_are_not_guessed(tmp_path):
    """GPT-4o and Mistral 7B rate no answer together: panels with both have no error, those with one of them do."""
    rows = [row for row in rated() if row["judge"] != ("GPT-4o" if int(row["prompt_id"][1:]) % 2 else "Mistral 7B")]
    rows = panel_rows(judge_errors(study_of_rows(tmp_path, rows), {}))
    for row in rows:
        if row["family_ratings"] == KEPT and "place" in row:
            has_both = {"GPT-4o", "Mistral 7B"} <= set(row["panel"].split(BETWEEN))
            assert ("error" in row) is not has_both


def test_larger_panels_add_a_judge_to_the_best(monkeypatch):
    assert larger(panels_of([(0, 1), (1, 2)], 4)).sum(axis=1).tolist() == [3] * 3  # 012 once, 013, 123
    errors = judge_errors(world(), {})
    whole = {row["size"]: row["panel"] for row in panel_rows(errors) if ERROR in row.get("best", "").split()}
    monkeypatch.setattr(panel_choice, "MOST_PANELS", 20)
    rows = panel_rows(errors)
    assert whole == {row["size"]: row["panel"] for row in rows if ERROR in row.get("best", "").split()}
    assert any(NOT_ALL in row.get("note", "") for row in rows)


def test_the_recommended_panel_is_the_smallest_within_an_error_of_the_best():
    rows = [
        {"best": f"{BIAS} {ERROR}", "size": 1, BIAS: 0.05, "held_out_bias_left": 0.05},
        {"best": BIAS, "size": 2, BIAS: 0.012, "held_out_bias_left": 0.02},
        {"best": BIAS, "size": 3, BIAS: 0.01, "held_out_bias_left": 0.019, f"{BIAS}_ci_high": 0.015},
    ]
    assert recommended(rows, BIAS, confidence=0.9)["size"] == 2
    assert recommended(rows[2:], ERROR, confidence=0.9) is None


@pytest.mark.parametrize("prompts", [1, 3, 5])
def test_few_prompts_give_panels_without_intervals_or_held_out_prompts(tmp_path, prompts):
    study = study_of_rows(tmp_path, rated(prompts=prompts, dimensions=("Tone", "Use")))
    errors = judge_errors(study, {})
    rows = panel_rows(errors, least=2)
    best = [row for row in rows if "best" in row]
    assert best
    assert all(("bias_left_ci_low" in row) is (prompts == 5) for row in best)
    assert not any("held_out_error" in row for row in best)
    assert all("std_error" in row for row in round_robin_rows(errors, study, rows))


def test_only_these_dimensions_count(tmp_path):
    study = study_of_rows(tmp_path, rated(dimensions=("Tone", "Use")))
    assert judge_errors(study, {}, dimensions=["Use"]).crossing.dimensions.tolist() == ["Use"]
    with pytest.raises(ConfigError, match=r"panel: dimensions.*Tune"):
        judge_errors(study, {}, dimensions=["Tune"])


def test_independent_judges():
    assert independent_judges(4, np.array([0.0, 1.0, 0.5, -0.5])).tolist() == [4.0, 1.0, 1.6, np.inf]


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
def test_judges_are_recommended_only_as_the_verdicts_allow(quantity, term, verdict, reason, doubted):
    """Without a verdict all five judges with their families' ratings are the best."""
    errors = judge_errors(world(preference=0.05), {})
    verdicts = [{"quantity": quantity, "term": term, "verdict": verdict, "reason": reason}]
    assert doubted_judges(errors, verdicts) == doubted
    chosen = [row for row in panel_rows(errors, verdicts) if "recommended" in row]
    kept = {name for row in chosen if row["family_ratings"] == KEPT for name in row["panel"].split(BETWEEN)}
    assert kept & {f"Model {number}" for number in range(1, 6)} - doubted == kept
    assert (len(kept) == 5) is (not doubted)
    assert sorted(" ".join(row["recommended"] for row in chosen).split()) == ["answers", "models"]


def test_a_judge_that_does_not_agree_with_people_is_never_recommended():
    note = because(Reason.DISAGREES_WITH_PEOPLE)
    verdicts = [{"quantity": "self_bias", "term": "Model 4", "verdict": "not shown", "reason": "", "note": note}]
    for told, expected in (([], True), (verdicts, False)):
        rows = panel_rows(judge_errors(world(preference=0.05), {}), told)
        chosen = [row["panel"].split(BETWEEN) for row in rows if "recommended" in row]
        assert any("Model 4" in panel for panel in chosen) is expected
