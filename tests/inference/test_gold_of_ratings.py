"""Over- and under-marking of ratings with gold labels: against a loop over rows, planted ratios
recovered.
"""

import math
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng

from picked_rows import fields
from planted_keys import assert_recovered
from recuse.base.database import connect
from recuse.base.reasons import Reason, code
from recuse.inference.gold import (
    BASELINES,
    BOTH,
    CASES_OF_RATINGS,
    DIFFERENCE,
    HARMFUL,
    OTHER_ANSWERS,
    OTHER_JUDGES,
    OVER_MARKING,
    SAME_QUESTIONS,
    UNDER_MARKING,
    _Part,
    _reply,
    contrast,
    create_marks_of_ratings,
    gold,
)
from recuse.inference.verdict import FOUND, Verdict

CONFIDENCE = 0.9
# Family of each model; probability that a judge passes a wrong answer, and the factor for its own,
# its family's, and a model's answers for everyone.
FAMILIES, LENIENT, OWN, SIBLING, DECEIVING = yaml.safe_load("""
- {A: one, B: one, C: two, D: three, E: four, F: five}
- {A: 0.1, B: 0.2, C: 0.3, D: 0.15, E: 0.25, F: 0.2}
- {A: 1.6, B: 1.0, C: 1.4, D: 1.0, E: 1.0, F: 1.3}
- {one: 1.5}
- {A: 1.3, E: 0.8}
""")
MODELS = tuple(FAMILIES)


def drawn(seed, *, prompts=200, share=1.0):
    """Rows of canonical ratings on the scale from 0 to 1: a prompt multiplies all probabilities to
    pass a wrong answer.
    """
    draw = default_rng(seed)
    table = pd.DataFrame(product(range(prompts), MODELS, MODELS))
    table.columns = ["prompt", "model", "judge"]
    families = {f"{name}_family": table[name].map(FAMILIES) for name in ("judge", "model")}
    table = table.assign(**families, dimension="d")
    judge, model, number = table["judge"], table["model"], len(table)
    hard, factor = draw.uniform([[-0.3], [0.6]], [[0.3], [1.4]], (2, prompts))[:, table["prompt"]]
    right = draw.random(prompts * len(MODELS)).repeat(len(MODELS)) < 0.5 + hard
    chance = judge.map(LENIENT) * factor * model.map(DECEIVING).fillna(1.0)
    sibling = (
        table["judge_family"].map(SIBLING).where(table["judge_family"] == table["model_family"])
    )
    chance *= judge.map(OWN).where(judge == model, sibling.fillna(1.0))
    passed = draw.random(number) < np.where(right, 0.9, chance)
    rating = np.where(passed, draw.integers(2, 5, number), draw.integers(2, size=number)) / 4
    return table.assign(rating_unit=rating, gt_unit=right * 1.0)[draw.random(number) < share]


def rows_from(table, folder):
    path = str(folder / "ratings.parquet")
    duckdb.from_df(table).select("*, null::varchar as occasion").write_parquet(path)
    connection = connect()
    judges, families = create_marks_of_ratings(connection, [path], pass_mark=0.5)
    return list(
        gold(
            connection,
            families=families,
            judges=judges,
            cases=CASES_OF_RATINGS,
            confidence=CONFIDENCE,
            power=0.8,
        )
    )


def naive(table, quantity, term, case):
    """baseline -> log ratio, by loops over rows: the ratios of mean marks that each docstring
    states.
    """
    wrong = case == OVER_MARKING
    kept = table[(table["gt_unit"] < 1) == wrong]
    kept = kept.assign(mark=((kept["rating_unit"] >= 0.5) == wrong) * 1.0)
    family = np.array([*FAMILIES.values()])
    of_others = family[:, None] != family
    if quantity == "self_bias":
        targets = np.diag(np.array(MODELS) == term)
    else:
        targets = ~of_others & (family == term) & ~np.eye(len(family), dtype=bool)
    marks = np.full((table["prompt"].max() + 1, len(MODELS), len(MODELS)), np.nan)
    judge, model = (kept[name].map(MODELS.index) for name in ("judge", "model"))
    marks[kept["prompt"], judge, model] = kept["mark"]
    own, theirs = [], []
    compared = {OTHER_JUDGES: [], SAME_QUESTIONS: [], BOTH: []}
    for y in marks:  # (judges, models), nan where there is no rating
        known = ~np.isnan(y)
        theirs.extend(y[known & of_others & targets.any(axis=1)[:, None]])
        for judge, model in np.argwhere(known & targets):
            mine = y[judge, model]
            own.append(mine)
            others = np.flatnonzero(known[:, model] & of_others[judge] & of_others[model])
            third = known[judge] & of_others[judge]
            if len(others):
                compared[OTHER_JUDGES].append((mine, y[others, model].mean()))
            if third.any():
                compared[SAME_QUESTIONS].append((mine, y[judge, third].mean()))
            matched = [
                (y[other, model], y[judge, common].mean(), y[other, common].mean())
                for other in others
                if (common := third & known[other] & of_others[other]).any()
            ]
            if matched:
                compared[BOTH].append((mine, *np.mean(matched, axis=0)))
    shares = {baseline: np.mean(values, axis=0) for baseline, values in compared.items() if values}
    if own and theirs:
        shares[OTHER_ANSWERS] = np.mean(own), np.mean(theirs)
    signs = np.array([1, -1, -1, 1])
    with np.errstate(divide="ignore"):
        return {baseline: float(signs[: len(of)] @ np.log(of)) for baseline, of in shares.items()}


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_every_ratio_equals_a_loop_over_rows(tmp_path, share):
    table = drawn(1, prompts=80, share=share)
    rows = [row for row in rows_from(table, tmp_path) if "n" in row]
    assert {row["baseline"] for row in rows} == {*BASELINES}
    assert {row["quantity"] for row in rows} == {"self_bias", "family_bias"}
    biases = {fields(row, "quantity term case") for row in rows}
    ratios = {bias: naive(table, *bias) for bias in biases}
    for row in rows:
        expected = ratios[fields(row, "quantity term case")][row["baseline"]]
        if not math.isfinite(expected):
            assert math.isnan(row["estimate"])
            continue
        assert row["estimate"] == pytest.approx(expected, abs=1e-9)
        assert math.log(row["share"] / row["baseline_share"]) == pytest.approx(expected, abs=1e-9)


def test_planted_ratios_are_recovered(tmp_path, long):
    """Multiplied probabilities are ratios: means within 4 standard errors, intervals in their
    place.
    """
    planted = {("self_bias", judge): math.log(value) for judge, value in OWN.items()} | {
        ("family_bias", "one"): math.log(1.5)
    }
    found = [
        (fields(row, "quantity term"), row)
        for seed in range(40 if long else 6)
        for row in rows_from(drawn(seed), tmp_path)
        if row["case"] == OVER_MARKING and row.get("baseline") == BOTH
    ]
    assert_recovered(found, planted)


def test_a_judge_that_fails_its_own_right_answers_more_often_is_against_them(tmp_path):
    """Of over-marking the same sign means the opposite."""
    table = drawn(2)
    draw = default_rng(2)
    own_right = (table["judge"] == "B") & (table["model"] == "B") & (table["gt_unit"] == 1)
    table.loc[own_right & (draw.random(len(table)) < 0.4), "rating_unit"] = 0.0
    rows = {
        fields(row, "case term"): row
        for row in rows_from(table, tmp_path)
        if row.get("baseline") == BOTH
    }
    for key, favours in (((UNDER_MARKING, "B"), "no"), ((OVER_MARKING, "A"), "yes")):
        assert rows[key]["verdict"] in FOUND
        assert (rows[key]["favours"], rows[key]["ci_low"] > 0) == (favours, True)


def test_judges_that_pass_no_wrong_answer_have_no_ratio(tmp_path):
    table = drawn(1, prompts=30)
    table.loc[(table["gt_unit"] < 1) & (table["judge"] == "A"), "rating_unit"] = 0.0
    row = next(
        row
        for row in rows_from(table, tmp_path)
        if (row["term"], row["case"], row.get("baseline")) == ("A", OVER_MARKING, BOTH)
    )
    assert math.isnan(row["estimate"])
    assert fields(row, "verdict reason") == (Verdict.INCONCLUSIVE, Reason.ALL_ALIKE)


def test_one_question_has_no_interval():
    part = _Part(np.array([1.0]), np.array([2.0]), 1)
    row = contrast([part], DIFFERENCE, confidence=0.9)
    assert {name for name, value in row.items() if not math.isnan(value)} == {"estimate"}


def test_log_odds_without_an_interval_do_not_contradict_the_difference():
    both = {
        "questions": 40,
        "case": HARMFUL,
        "estimate": 0.8,
        "ci_low": 0.4,
        "ci_high": 0.84,
        "p_value": 1e-6,
    }
    both |= {"std_error": 0.1, "df": 39, "log_odds": 4.4}
    both |= dict.fromkeys(["log_odds_ci_low", "log_odds_ci_high", "log_odds_p_value"], math.nan)
    reply = _reply([both, both, both, both], 0.9, 0.8)
    assert (reply.reason, reply.side) == ("", 1)
    assert code(
        _reply(
            [both] * 3 + [both | {"log_odds_ci_low": -1, "log_odds_ci_high": 1}], 0.9, 0.8
        ).reason
    ) is (Reason.DEPENDS_ON_SCALE)
