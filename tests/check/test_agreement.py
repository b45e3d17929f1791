"""What correlations show before all else: reversed scales, scores in the wrong rows, swapped
columns; and few false alarms.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from rated_tables import (
    FIVE,
    by_subject,
    changed,
    expect,
    facts_from,
    findings_from,
    rated,
    rows_where,
    study_of_rows,
)
from recuse.base.database import connect
from recuse.check.agreement import (
    FALSE_ALARM,
    HUMANS,
    OTHERS,
    agreement,
    correlated,
    correlations_with_others,
    judge_correlations,
)
from recuse.check.facts import FINE, NOTE, WARNING, ordered
from recuse.check.page import check_page
from recuse.data.cells import read_levels
from recuse.model.least_squares import quantile

SONNET, GPT35, GPT4, LLAMA, MISTRAL = FIVE


def noisy(judges=FIVE, models=FIVE, *, share, seed=1, prompts=40):
    """Rows of judges without bias: a rating is the human score with probability `share`, else
    any.
    """
    drawn = np.random.default_rng(seed)

    def rating(judge, model, score, noise):
        return score if drawn.random() < share else int(drawn.integers(1, 6))

    return rated(judges, models, prompts=prompts, seed=seed, rating=rating, lengths=False)


ROWS, MANY = noisy(share=0.6), noisy(share=0.6, prompts=150)


def reversed_for(judges):
    return [row | {"rating": 6 - row["rating"]} if row["judge"] in judges else row for row in ROWS]


def moved(column, by, rows=ROWS):
    """Rows with a column shifted down."""
    return [
        row | {column: other[column]}
        for row, other in zip(rows, (*rows[-by:], *rows[:-by]), strict=True)
    ]


def without_scores(rows):
    return [row | {"gt": ""} for row in rows]


def by_model(rows):
    return sorted(rows, key=lambda row: row["model"])


def swapped(rows):
    return [row | {"judge": row["model"], "model": row["judge"]} for row in rows]


def row_hash(row):
    return sum(map(ord, row["judge"] + row["model"] + row["prompt_id"]))


PANEL = "Tone: the judges' mean rating of an answer and its human score correlate at −0."
LONG = [row | {"pred_length": 10 + sum(map(ord, row["model"] + row["prompt_id"]))} for row in ROWS]
WRONG = {
    "all scales reversed": (reversed_for(FIVE), PANEL, "a scale may be reversed (11 - x)"),
    "a scale reversed": (
        reversed_for([GPT4]),
        f"Tone: {GPT4}'s ratings and the human scores correlate at −0.",
        "reversed",
    ),
    "a scale reversed, no human scores": (
        without_scores(reversed_for([GPT4])),
        (
            f"Tone: {GPT4}'s ratings and the other judges' ratings of the same answers correlate"
            " at −0."
        ),
        "a scale may be reversed",
    ),
    "scores of the next model": (moved("gt", 5), PANEL, "shifted by a row"),
    "scores of the next prompt": (
        moved("gt", 5, by_model(ROWS)),
        "Tone: the judges' mean rating of",
        "shifted by a row",
    ),
    "ratings of the next prompt": (
        [
            *rows_where("judge != 'GPT-4o'", MANY),
            *moved("rating", 1, by_model(rows_where("judge == 'GPT-4o'", MANY))),
        ],
        f"Tone: {GPT4}'s ratings and the human scores correlate at",
        "in the rows of their answers",
    ),
    "scores of the next row": (
        moved("gt", 1),
        "84 % of the answers have different human scores",
        "shifted by a row",
    ),
    "judge and model swapped": (
        swapped(ROWS),
        "the human score of an answer differs between judges in 100 %",
        "swap the columns",
    ),
    "swapped, no human scores": (
        without_scores(swapped(LONG)),
        "the length of an answer differs between judges in 100 %",
        "swap the columns",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_first(tmp_path, wrong):
    rows, words, advice = WRONG[wrong]
    first = ordered(agreement(facts_from(tmp_path, rows)))[0]
    expect({(first.topic, ""): first}, f"agreement | | warning | | {words}* | *{advice}*")


def test_what_is_wrong_comes_before_the_verdict_and_what_is_right_after_it(tmp_path):
    findings, _ = findings_from(tmp_path, reversed_for(FIVE))
    first = findings[0]
    assert (first.topic, first.level) == ("agreement", WARNING)
    shown = " ".join(check_page("mine", findings).split())
    assert shown.startswith(
        f"mine: what these ratings support {first.words.replace(chr(160), ' ')}"
    )
    assert findings_from(tmp_path, ROWS)[0][0].topic == "verdict"


def levels(folder, rows):
    """Of the findings on agreement, if any."""
    return {each.level for each in agreement(facts_from(folder, rows))}


def test_right_ratings_are_not_accused(tmp_path):
    for rows in (ROWS, LONG, without_scores(ROWS), without_scores(swapped(ROWS))):
        assert levels(tmp_path, rows) == {FINE}


def test_a_judge_that_rates_at_random_has_a_note_or_a_warning(tmp_path):
    """A warning if the other judges agree with the humans; among judges that hardly do, a note."""
    rows = noisy(share=0.6, prompts=100)
    drawn = np.random.default_rng(2)
    for row in rows:
        row["rating"] = int(drawn.integers(1, 6)) if row["judge"] == GPT4 else row["rating"]
    findings = ordered(agreement(facts_from(tmp_path, rows)))
    expect(
        by_subject(findings[:1]),
        "agreement | GPT-4o, Tone | warning | | *those of the other judges at 0.57*",
    )
    rows = noisy(FIVE[:2], share=0.0, prompts=500)
    # Their mean, then each
    assert levels(tmp_path, rows) == {WARNING, FINE}
    assert levels(tmp_path, without_scores(rows)) == {NOTE}


@pytest.mark.parametrize("models", [FIVE, FIVE[:1]])
def test_correlations_are_those_of_loops_over_rows(tmp_path, models):
    """Within judge, model and prompt; within judge and model if each prompt has one model."""
    rows = noisy(models=models, share=0.3)
    facts = facts_from(tmp_path, rows)
    connection = connect()
    connection.execute(f"create temp table sampled as from '{facts.study.ratings[0]}'")
    result = {
        row[:2]: row
        for row in judge_correlations(facts, connection, read_levels(facts.study.ratings[0]))
    }
    frame = pd.DataFrame(rows).astype({"rating": float, "gt": float})
    for column in ("rating", "gt"):
        frame[column] -= frame.groupby(["judge", "model"])[column].transform("mean")
        if len(models) > 1:
            frame[column] -= frame.groupby(["judge", "prompt_id"])[column].transform("mean")
    wide = frame.pivot(index=["prompt_id", "model"], columns="judge", values="rating")
    score = frame[frame["judge"] == GPT4].set_index(["prompt_id", "model"])["gt"].loc[wide.index]
    without_one = [wide.index.get_level_values(0) != f"p{p}" for p in range(40)]
    pairs = {(HUMANS, ""): (wide.mean(axis=1), score)}
    for judge in FIVE:
        pairs |= {
            (HUMANS, judge): (wide[judge], score),
            (OTHERS, judge): (wide[judge], wide.drop(columns=judge).mean(axis=1)),
        }
    assert pairs.keys() == result.keys()
    for key, (x, y) in pairs.items():
        row, prompts = result[key], 40
        r = (x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum())
        assert row.value == pytest.approx(r, abs=1e-12)
        assert (row.answers, row.prompts) == (40 * len(models), prompts)
        left_out = [np.corrcoef(x[kept], y[kept])[0, 1] for kept in without_one]
        # By the jackknife
        error = math.sqrt(
            (prompts - 1) / prompts * ((np.arctanh(left_out) - np.arctanh(r)) ** 2).sum()
        )
        half = student.ppf(1 - FALSE_ALARM / (5 if row.judge else 1), prompts - 1) * error
        assert np.arctanh(row.high) - np.arctanh(r) == pytest.approx(half, rel=0.12)
        assert np.arctanh(r) - np.arctanh(row.low) == pytest.approx(half, rel=0.12)


@pytest.mark.parametrize(("prompts", "models"), [(3, 5), (10, 1), (10, 5), (30, 1), (30, 5)])
def test_false_alarms_are_as_rare_as_promised(prompts, models):
    """A correlation of 0.2, the limit for the mean of all judges: 1 %, and up to 2 % for 30
    prompts, 4 % for fewer.
    """
    drawn, alarms, studies = np.random.default_rng(1), 0, 2000
    for _ in range(studies):
        score, noise = drawn.normal(size=(2, prompts, models)) + drawn.normal(size=(2, prompts, 1))
        x, y = (
            each - each.mean(axis=0)
            for each in (np.round(0.2 * score + math.sqrt(0.96) * noise), score)
        )
        value, error = correlated(
            np.stack([(x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)])
        )
        alarms += (
            math.tanh(math.atanh(value) + quantile(1 - 2 * FALSE_ALARM, prompts - 1) * error) < 0.2
        )
    assert alarms / studies < (0.02 if prompts == 30 else 0.04)


def test_noisy_judges_in_small_studies_are_not_accused(tmp_path, long):
    """Five judges that correlate at 0.2 with the human scores of 30 prompts: none of 20 such
    studies, or of the first 6, has a warning.
    """
    for seed in range(20 if long else 6):
        rows = noisy(share=0.2, prompts=30, seed=seed)
        findings = list(agreement(facts_from(tmp_path, rows)))
        assert {each.level for each in findings} <= {FINE, NOTE}
        assert sum(each.topic == "agreement" for each in findings) == 6


def test_ratings_without_variation_have_no_correlation(tmp_path):
    facts = facts_from(tmp_path, changed("judge == 'GPT-4o'", ROWS, rating=3))
    subjects = {each.subject for each in agreement(facts)}
    assert subjects == {"Tone", *(f"{judge}, Tone" for judge in FIVE if judge != GPT4)}
    constant = [row | {"gt": 3, "rating": 3} for row in ROWS]
    two_prompts = rows_where("p < 2", ROWS)
    alone, in_turn = (
        without_scores(rows_where(condition, ROWS)) for condition in ("j == 2", "p % 5 == j")
    )
    for rows in (constant, two_prompts, alone, in_turn):
        assert levels(tmp_path, rows) == set()


def test_correlations_with_the_others_are_those_of_the_mean_of_their_ratings(tmp_path):
    rows = [row for row in without_scores(ROWS) if row_hash(row) % 10]  # a tenth is not rated
    found = list(correlations_with_others(study_of_rows(tmp_path, rows), confidence=0.9))
    frame = pd.DataFrame(rows)
    frame["x"] = frame["rating"] - frame.groupby("judge")["rating"].transform("mean")
    table = frame.pivot(index=["prompt_id", "model"], columns="judge", values="x")
    assert {row["judge"] for row in found} == {*FIVE}
    for row in found:
        mine, others = table[row["judge"]], table.drop(columns=row["judge"]).mean(axis=1)
        both = mine.notna() & others.notna()
        x, y = mine[both].to_numpy(), others[both].to_numpy()
        value = (x @ y) / math.sqrt((x @ x) * (y @ y))
        assert (row["value"], row["n"]) == (pytest.approx(value, abs=1e-12), both.sum())
        assert row["ci_low"] < value < row["ci_high"]
        # A bootstrap over prompts
        drawn, by_prompt = np.random.default_rng(1), both[both].index.get_level_values(0)
        codes = np.unique(by_prompt, return_inverse=True)[1]
        sums = np.stack([np.bincount(codes, each) for each in (x * x, y * y, x * y)])
        weights = drawn.multinomial(sums.shape[1], [1 / sums.shape[1]] * sums.shape[1], 2000)
        xx, yy, xy = (weights @ each for each in sums)
        assert row["std_error"] == pytest.approx((xy / np.sqrt(xx * yy)).std(), rel=0.12)
    assert not list(
        correlations_with_others(
            study_of_rows(tmp_path, rows_where("j < 2", rows)),
            confidence=0.9,
        )
    )
