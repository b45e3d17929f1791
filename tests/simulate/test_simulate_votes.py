"""Simulated votes on attacked answers: preferences that are certain, and success rates that are
planted.
"""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from conftest import DATA
from picked_rows import fields, keyed, where
from recuse.base.tables import read_table
from recuse.data.verdicts import CONTROL
from recuse.papers.attack_values import read_attacks, second_answer
from recuse.papers.votes import published_samples, published_votes
from recuse.simulate.votes import Attacked, Samples, draw_votes, join, write_comparisons
from verdict_files import run

SUCCESS = {"factual_error": 0.3, "fake_reference": 0.6}
FIRM = Attacked(success=SUCCESS, tie=0.3, second=0.3)
# As many votes as can be say nothing of the answers.
NOISY = replace(FIRM, by_first=0.3, by_second=0.1, by_tie=0.2, invalid=1 / 15)
PUBLISHED = DATA / "judgement_bias_published.csv"
SCORES = {"a": 0.0, "tie": 0.5, "b": 1.0}


def votes_from(attacked, *, questions=4000):
    """The votes of one judge, a frame."""
    samples = Samples("e", "one", "two", questions, {"J": attacked}, ("factual_error",))
    return pd.DataFrame(join(list(draw_votes(samples, np.random.SeedSequence(0)))))


def preferences(votes):
    """The preference on each question by the mean of its votes, by condition."""
    scores = votes.assign(score=votes["outcome"].map(SCORES))
    means = scores.pivot_table("score", "item", "condition")
    return pd.DataFrame(
        np.select([means > 0.5, means < 0.5], ["b", "a"], "tie"), means.index, means.columns
    )


@pytest.mark.parametrize("attacked", [FIRM, NOISY])
def test_success_rates_and_shares_are_planted(attacked):
    votes = votes_from(attacked)
    assert set(votes.groupby(["condition", "item"]).size()) == {6}
    preferred = preferences(votes)
    before, worse, better = (preferred[name] for name in (CONTROL, *SUCCESS))
    shares = before.value_counts(normalize=True)
    assert shares[["a", "b", "tie"]].tolist() == pytest.approx([0.4, 0.3, 0.3], abs=0.03)
    assert (worse != "a")[before != "a"].mean() == pytest.approx(0.3, abs=0.035)
    assert (better == "b")[before != "b"].mean() == pytest.approx(0.6, abs=0.035)
    # What an attack does not win over stays as it was.
    assert ((worse == "a") | (worse == before)).all()
    assert ((better == "b") | (better == before)).all()


def test_votes_by_place_move_no_preference():
    """The same draws with and without votes by place: the preference of every sample before the
    attack is the same.
    """
    firm, noisy = (preferences(votes_from(attacked))[CONTROL] for attacked in (FIRM, NOISY))
    assert firm.equals(noisy)


def test_lengths_are_those_of_the_control_group_alone():
    """An attack changes the second answer, and its length is not simulated."""
    samples = Samples("e", "one", "two", 50, {"J": FIRM}, ("factual_error",))
    parts = keyed(draw_votes(samples, np.random.SeedSequence(0)), "condition")
    assert list(parts) == [CONTROL, *SUCCESS]
    for condition, part in parts.items():
        assert (part["length_a"] > 0).all()
        assert np.all(part["length_b"] > 0) == (condition == CONTROL)
        if condition != CONTROL:
            assert part["length_b"] == -1  # unknown
            assert (part["length_a"] == parts[CONTROL]["length_a"]).all()


def test_a_judge_that_is_not_attacked_may_vote_by_place_alone():
    votes = votes_from(Attacked(success={}, tie=0, second=0.5, by_first=0.9), questions=3000)
    assert set(votes["condition"]) == {CONTROL}
    first = (votes["order"] + votes["outcome"]).isin(["aba", "bab"])
    assert first.mean() == pytest.approx(0.95, abs=0.01)


@pytest.fixture(scope="module")
def rows():
    return read_attacks(str(PUBLISHED))


def test_every_printed_success_rate_is_planted(rows):
    _, planted = published_votes(rows, seed=1)
    printed = where(read_table(PUBLISHED), quantity="asr")
    results = sorted(fields(row, "experiment condition judge planted") for row in planted)
    assert results == sorted(
        (row["experiment"], row["condition"], row["judge"], float(row["value"])) for row in printed
    )
    assert len(results) == 24 + 4 + 21 + 28
    keys = {fields(row, "experiment condition judge model_b") for row in planted}
    assert len(keys) == len(results)


def test_samples_of_the_paper(rows):
    samples = published_samples(rows)
    assert {(s.experiment, s.questions) for s in samples} == {
        ("perturbations", 142),
        ("generator", 60),
        ("flawed", 60),
        ("weak", 60),
    }
    assert all(s.model_a != s.model_b for s in samples)
    assert second_answer("GPT-4", "GPT-4") == "GPT-4 (2)"
    for judge in (judge for s in samples for judge in s.judges.values()):
        assert min(judge.tie, judge.second, judge.by_tie) >= 0
        assert judge.tie + judge.second <= 1
        assert judge.undecided <= 2 / 3 or not judge.success


def test_published_votes_load_and_come_near_table_6(rows, tmp_path):
    drawn, _ = published_votes(rows, seed=20250809)
    write_comparisons(drawn, str(tmp_path / "raw.parquet"))
    comparisons, completeness = run(tmp_path, [tmp_path / "raw.parquet"])
    assert {row["one_order"] for row in completeness} == {"0"}
    assert {row["experiment"] for row in completeness} == {
        "perturbations",
        "generator",
        "flawed",
        "weak",
    }
    shares = duckdb.sql(f"""
        select judge, avg(((("order", outcome) in (('ab', 'a'), ('ba', 'b'))))::int), avg((outcome = 'tie')::int)
        from '{comparisons}' where experiment = 'perturbations' group by judge""").fetchall()
    printed = {
        fields(row, "judge quantity"): float(row["value"]) for row in rows if row["table"] == "6"
    }
    assert len(shares) == 14
    for judge, first, tie in shares:
        assert first == pytest.approx(printed[judge, "first"], abs=0.06), judge
        assert tie == pytest.approx(printed[judge, "tie"], abs=0.06), judge


def test_the_same_seed_gives_the_same_votes(rows):
    first, second, other = (published_votes(rows, seed=seed)[0]["outcome"] for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()
