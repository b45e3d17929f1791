"""Verbosity bias against plain loops over random comparisons, on tiny cases, and on the released
verdicts of PRD.
"""

import math
from collections import defaultdict

import numpy as np
import pytest

from picked_rows import fields, keyed
from random_comparisons import (
    POOLS,
    SETTINGS,
    few_replicates,
    groups,
    random_rows,
    resampled,
    verdicts,
    write,
)
from recuse.base.errors import ConfigError
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import VERBOSITY, verbosity
from verdict_files import run_released

ORDERS = ("debiased", "ab", "ba", "pooled")
TREATMENTS = ("excluded", "disagreement", "half")
REASONS = ("no_human", "errors", "human_ties", "no_length", "equal_lengths", "judge_draws")
REPLICATES = 300


def fate(pair, verdict):
    """Why a verdict is left out, or `shorter` or `longer`: which answer the humans prefer."""
    human, a, b = fields(pair, "human length_a length_b")
    if human is None:
        return "no_human"
    if verdict == "error":
        return "errors"
    if human == "tie":
        return "human_ties"
    if a is None or b is None:
        return "no_length"
    if a == b:
        return "equal_lengths"
    return "shorter" if (a if human == "a" else b) < (b if human == "a" else a) else "longer"


def counted(pairs, order, treatment, times=None):
    """wrong and n by side, what is left out, and the questions of each side; each question counts
    `times` times.
    """
    wrong, n, left = defaultdict(float), defaultdict(float), defaultdict(int)
    questions = {"shorter": set(), "longer": set()}
    for pair in pairs:
        for verdict in verdicts(pair, order):
            why, weight = fate(pair, verdict), times[pair["item"]] if times else 1
            if why not in ("shorter", "longer"):
                left[why] += 1
                continue
            left["judge_draws"] += verdict == "tie"
            if verdict == "tie" and treatment == "excluded":
                continue
            questions[why].add(pair["item"])
            n[why] += weight
            if verdict == "tie":
                wrong[why] += weight * {"disagreement": 1, "half": 0.5}[treatment]
            else:
                wrong[why] += weight * (verdict != pair["human"])
    rates = {side: wrong[side] / n[side] if n[side] else math.nan for side in ("shorter", "longer")}
    return rates["shorter"] - rates["longer"], rates, wrong, n, left, questions


def table(path, pools=POOLS, **settings):
    rows = list(verbosity(open_pairs(path, pools), **(SETTINGS | settings)))
    assert all(
        tuple(row) == VERBOSITY[1:14] + tuple(key for key in row if key in VERBOSITY[14:])
        for row in rows
    )
    return keyed(rows, "experiment condition judge order draws")


@pytest.mark.parametrize("seed", [1, 2])
def test_every_number_is_that_of_a_loop_over_comparisons(tmp_path, seed):
    rows = random_rows(seed)
    results = table(write(rows, tmp_path / "c.parquet"))
    naive = {
        key: pairs for key, pairs in groups(rows).items() if any(pair["human"] for pair in pairs)
    }
    assert set(results) == {
        (*key, order, draws) for key in naive for order in ORDERS for draws in TREATMENTS
    }
    # No human label, no row; a pool is of one experiment.
    labels = {
        ("", "one"),
        ("", "two"),
        ("", "one and two"),
        ("again", "one"),
        ("again", "one and two"),
    }
    assert {key[:2] for key in results} == labels
    for key, pairs in naive.items():
        for order in ORDERS:
            for draws in TREATMENTS:
                row = results[*key, order, draws]
                bias, rates, wrong, n, left, questions = counted(pairs, order, draws)
                assert row["verbosity_bias"] == pytest.approx(bias, abs=1e-14, nan_ok=True)
                assert row["accuracy_parity_gap"] == pytest.approx(
                    abs(bias), abs=1e-14, nan_ok=True
                )
                for side in ("shorter", "longer"):
                    assert (row[f"wrong_{side}"], row[f"n_{side}"]) == (wrong[side], n[side])
                    assert row[f"rate_{side}"] == (pytest.approx(rates[side]) if n[side] else None)
                assert [row[reason] for reason in REASONS] == [left[reason] for reason in REASONS]
                assert row["questions"] == len(set.union(*questions.values()))
                assert row["few"] == ("yes" if min(map(len, questions.values())) < 10 else "no")
                out = (
                    sum(row[reason] for reason in REASONS)
                    if draws == "excluded"
                    else sum(row[r] for r in REASONS[:-1])
                )
                assert row["n_shorter"] + row["n_longer"] + out == sum(
                    len(verdicts(pair, order)) for pair in pairs
                )


def test_intervals_are_those_of_a_loop_over_resampled_questions(tmp_path, monkeypatch):
    few_replicates(monkeypatch, REPLICATES)
    rows = random_rows(3, questions=12)
    results = table(write(rows, tmp_path / "c.parquet"))
    checked = 0
    for key, pairs in groups(rows).items():
        if "Blind" in key or "unlabelled" in key:
            continue
        drawn = list(
            resampled(sorted({pair["item"] for pair in pairs}), seed=7, replicates=REPLICATES)
        )
        for order, draws in (("debiased", "excluded"), ("pooled", "half")):
            values = np.array([counted(pairs, order, draws, times)[0] for times in drawn])
            values = values[np.isfinite(values)]
            row = results[*key, order, draws]
            if min(map(len, counted(pairs, order, draws)[-1].values())) < 2:
                assert row["ci_low"] is row["ci_high"] is None
                continue
            checked += 1
            assert [row["ci_low"], row["ci_high"]] == pytest.approx(
                np.quantile(values, [0.05, 0.95]), abs=1e-12
            )
    assert checked >= 10


def verdict(order, outcome, item="q", human="a", lengths=(5.0, 9.0), judge="j"):
    names = (
        "judge",
        "item",
        "model_a",
        "model_b",
        "order",
        "outcome",
        "human",
        "length_a",
        "length_b",
    )
    return dict(zip(names, (judge, item, "m", "n", order, outcome, human, *lengths), strict=True))


def test_a_judge_that_takes_the_longer_answer_has_bias_one(tmp_path):
    rows = [
        verdict(order, "b", item=f"q{i}", human=human)
        for order in ("ab", "ba")
        for i, human in enumerate("abab")
    ]
    rows += [verdict(order, "b", item="tie", human="tie") for order in ("ab", "ba")]
    rows += [verdict(order, "b", item="equal", lengths=(3.0, 3.0)) for order in ("ab", "ba")]
    rows += [verdict(order, "b", item="none", lengths=(None, 3.0)) for order in ("ab", "ba")]
    rows += [verdict("ab", "a", item="one order")]
    row = table(write(rows, tmp_path / "c.parquet"), pools={})["", "", "j", "debiased", "excluded"]
    # Resamples do not vary
    assert fields(row, "verbosity_bias ci_low ci_high") == (1.0, None, None)
    assert [row[reason] for reason in REASONS] == [0, 1, 1, 1, 1, 0]
    short = [
        verdict(order, "a", item=f"q{i}", human=human)
        for order in ("ab", "ba")
        for i, human in enumerate("abab")
    ]
    row = table(write(short, tmp_path / "s.parquet"), pools={})["", "", "j", "debiased", "excluded"]
    assert fields(row, "verbosity_bias accuracy_parity_gap") == (-1.0, 1.0)


def test_one_question_or_one_side_alone_have_no_interval(tmp_path):
    rows = [verdict(order, "b", item="q", judge=judge) for order in ("ab", "ba") for judge in "jk"]
    rows += [verdict(order, "b", item="other", human="b", judge="k") for order in ("ab", "ba")]
    results = table(write(rows, tmp_path / "c.parquet"), pools={})
    one_side = results["", "", "j", "debiased", "excluded"]
    assert math.isnan(one_side["verbosity_bias"])
    assert fields(one_side, "rate_shorter rate_longer ci_low") == (1.0, None, None)
    several = results["", "", "k", "debiased", "excluded"]
    assert fields(several, "verbosity_bias ci_low few") == (1.0, None, "yes")


@pytest.mark.parametrize(("n_longer", "few"), [(1, "yes"), (2, "yes"), (9, "yes"), (10, "no")])
def test_each_side_needs_questions_of_its_own(tmp_path, n_longer, few):
    """Twelve questions where the humans prefer the shorter answer, and n_longer, of two comparisons
    each, where the longer.
    """
    sides = [("b", (9.0, 5.0)), ("b", (5.0, 9.0))]
    rows = [
        verdict(order, outcome, item=f"{human}{lengths}{i}", human=human, lengths=lengths)
        | {"vote": vote}
        for (human, lengths), questions in zip(sides, (12, n_longer), strict=True)
        for i in range(questions)
        for vote, outcome in enumerate("ab" if i % 2 else "bb", start=1)
        for order in ("ab", "ba")
    ]
    row = table(write(rows, tmp_path / "c.parquet"), pools={})["", "", "j", "debiased", "excluded"]
    assert fields(row, "n_shorter n_longer few") == (24, 2 * n_longer, few)
    assert row["verbosity_bias"] == pytest.approx(0.25 - (n_longer // 2) / (2 * n_longer))
    assert (row["ci_low"] is None) == (n_longer == 1)


@pytest.mark.parametrize(
    ("pools", "words"),
    [
        ({"one": ["two"]}, "pools: one: the name of a condition"),
        ({"p": ["one", "Two"]}, "pools: p: 'Two' is no cond.*found: one, two, unl"),
    ],
)
def test_impossible_pools_are_named(tmp_path, pools, words):
    with pytest.raises(ConfigError, match=words):
        open_pairs(write(random_rows(1, questions=2), tmp_path / "c.parquet"), pools)


@pytest.mark.mirror
def test_verdicts_of_prd(tmp_path):
    comparisons, _ = run_released("prd", tmp_path)
    results = table(comparisons, pools={})
    expected = {
        "Bard": (19, 40, 21, 217),
        "Claude": (40, 56, 16, 339),
        "GPT-3.5": (44, 70, 24, 376),
        "GPT-4": (35, 67, 33, 395),
        "Vicuna-13B": (34, 47, 39, 215),
    }
    assert {key[2] for key in results} == set(expected)
    for judge, (wrong_shorter, n_shorter, wrong_longer, n_longer) in expected.items():
        row = results["", "", judge, "debiased", "excluded"]
        counts = fields(row, "wrong_shorter n_shorter wrong_longer n_longer")
        assert counts == (wrong_shorter, n_shorter, wrong_longer, n_longer)
        assert row["verbosity_bias"] == pytest.approx(
            wrong_shorter / n_shorter - wrong_longer / n_longer, abs=1e-15
        )
        assert row["few"] == "no"
        assert 0.05 < row["ci_low"] < row["verbosity_bias"] - 0.05
        assert row["verbosity_bias"] + 0.05 < row["ci_high"] < 0.85
        assert fields(row, "human_ties equal_lengths errors no_human") == (96, 4, 0, 0)
        assert n_shorter + n_longer + row["judge_draws"] == 700
        assert results["", "", judge, "pooled", "half"]["n_shorter"] == 2 * 141
