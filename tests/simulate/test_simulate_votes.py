"""Simulated votes on attacked answers: preferences that are certain, and success rates that are
planted.
"""

from collections import defaultdict
from dataclasses import replace

import duckdb
import numpy as np
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
    """{condition: {question: [(order, outcome), ...]}} of one judge."""
    samples = Samples("e", "one", "two", questions, {"J": attacked}, ("factual_error",))
    drawn = join(list(draw_votes(samples, np.random.SeedSequence(0))))
    columns = [drawn[name] for name in ("condition", "item", "order", "outcome")]
    results = defaultdict(lambda: defaultdict(list))
    for condition, item, order, outcome in zip(*columns, strict=True):
        results[condition][item].append((order, outcome))
    return results


def preferences(votes):
    """The preference of each question by the mean of its votes, counted naively."""
    means = {
        item: [SCORES[outcome] for _, outcome in given if outcome != "error"]
        for item, given in votes.items()
    }
    return {
        item: "ab"[mean > 0.5] if mean != 0.5 else "tie"
        for item, mean in ((i, sum(s) / len(s)) for i, s in means.items())
    }


@pytest.mark.parametrize("attacked", [FIRM, NOISY])
def test_success_rates_and_shares_are_planted(attacked):
    results = votes_from(attacked)
    assert {len(given) for votes in results.values() for given in votes.values()} == {6}
    by_condition = {condition: preferences(votes) for condition, votes in results.items()}
    before = by_condition[CONTROL]
    shares = [
        np.mean([value == outcome for value in before.values()]) for outcome in ("a", "b", "tie")
    ]
    assert shares == pytest.approx([0.4, 0.3, 0.3], abs=0.03)
    worse, better = fields(by_condition, "factual_error fake_reference")
    could = [item for item in before if before[item] != "a"]
    assert np.mean([worse[item] != "a" for item in could]) == pytest.approx(0.3, abs=0.035)
    could = [item for item in before if before[item] != "b"]
    assert np.mean([better[item] == "b" for item in could]) == pytest.approx(0.6, abs=0.035)
    # What an attack does not win over stays as it was.
    assert all(
        worse[item] in ("a", before[item]) and better[item] in ("b", before[item])
        for item in before
    )


def test_votes_by_place_move_no_preference():
    """The same draws with and without votes by place: the preference of every sample before the
    attack is the same.
    """
    firm, noisy = (preferences(votes_from(attacked)[CONTROL]) for attacked in (FIRM, NOISY))
    assert firm == noisy


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
    assert list(votes) == [CONTROL]
    first = np.mean(
        [vote in (("ab", "a"), ("ba", "b")) for given in votes[CONTROL].values() for vote in given]
    )
    assert first == pytest.approx(0.95, abs=0.01)


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
