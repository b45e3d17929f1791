"""Choices of own and longer answers against the humans': loops over comparisons, statsmodels, the
released PRD.
"""

import itertools
from collections import defaultdict

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.random import default_rng

from picked_rows import fields, only, where
from random_comparisons import compared, few_replicates, own_rows, write
from recuse.pairwise.choices import CHOICES, LABEL_NOISE, choices, count_choices, label_noise
from recuse.pairwise.questions import open_pairs

SETTINGS = {"confidence": 0.9, "seed": 7}
FAMILIES = {"Careful": "C", "m": "C", "n": "C", "Hasty": "H", "o": "H"}


def counted(path):
    return count_choices(open_pairs(path, {}), FAMILIES)


def choices_in(rows, folder):
    return list(choices(counted(write(rows, folder / "c.parquet")), **SETTINGS))


def label_noise_in(rows, folder):
    return list(label_noise(counted(write(rows, folder / "c.parquet")), **SETTINGS))


def naive(rows):
    """(quantity, term, model) -> [(item, judge, human, decided)], by a loop over comparisons; human
    labels are there.
    """
    results = defaultdict(list)
    for pair in compared(rows):
        both = pair.get("ab"), pair.get("ba")
        single = next((verdict for verdict in both if verdict), None) if None in both else None
        verdict = single or pair["debiased"]
        if "error" not in both and None not in both:
            for chosen, shown in zip(both, "ab", strict=True):
                points = 0.5 if chosen == "tie" else float(chosen == shown)
                results["first", pair["judge"], ""].append(
                    (pair["item"], points, 0.5, chosen != "tie")
                )
        if verdict == "error" or pair["human"] is None:
            continue
        for side, other in ("ab", "ba"):
            judge = pair["judge"]
            model = pair[f"model_{side}"]
            points = [
                0.5 if word == "tie" else float(word == side) for word in (verdict, pair["human"])
            ]
            entry = (pair["item"], *points, "tie" not in (verdict, pair["human"]))
            results["self_bias" if judge == model else "wins", judge, model].append(entry)
            lengths = pair[f"length_{side}"], pair[f"length_{other}"]
            if None not in lengths and lengths[0] > lengths[1]:
                results["longer", judge, ""].append(entry)
            families = [FAMILIES.get(name) for name in (model, pair[f"model_{other}"])]
            family = FAMILIES.get(judge)
            if judge != model and family and family == families[0] != families[1]:
                results["family_bias", family, ""].append(entry)
    return results


def test_every_number_is_that_of_a_loop_and_of_statsmodels(tmp_path, monkeypatch):
    few_replicates(monkeypatch, 200)
    rows = own_rows(3)
    for row in where(rows, experiment="again", model_a="Hasty"):
        row["model_a"] = "alone"  # a model without a family
    results = choices_in(rows, tmp_path)
    expected = naive(rows)
    assert {fields(row, "quantity term model") for row in results} == set(expected)
    assert len({quantity for quantity, *_ in expected}) == 5
    for row in results:
        assert set(row) <= {*CHOICES}
        entries = expected[fields(row, "quantity term model")]
        entries = [entry for entry in entries if row["draws"] == "half" or entry[3]]
        item, judge, human = (np.array(column) for column in list(zip(*entries, strict=True))[:3])
        assert row["n"] == len(entries)
        assert row["estimate"] == pytest.approx(np.mean(judge - human), abs=1e-12)
        assert row["judge_share"] == pytest.approx(judge.mean())
        codes = np.unique(item, return_inverse=True)[1]
        fitted = sm.OLS(judge - human, np.ones(len(item))).fit(
            cov_type="cluster", cov_kwds={"groups": codes}, use_t=True
        )
        assert row["questions"] == len(set(item))
        assert fields(row, "std_error p_value") == pytest.approx(
            (fitted.bse[0], fitted.pvalues[0]), rel=1e-9
        )


def rows_from(given, people=()):
    """A comparison of J's answer with K's on each question, with the same verdict in both orders,
    and perhaps a label.
    """
    row = {"judge": "J", "model_a": "J", "model_b": "K", "length_a": 2.0, "length_b": 1.0}
    return [
        row | {"item": f"q{number:03}", "order": order, "outcome": outcome, "human": human}
        for number, (outcome, human) in enumerate(itertools.zip_longest(given, people))
        for order in ("ab", "ba")
    ]


def test_without_variation_the_interval_and_the_p_value_are_exact(tmp_path):
    (row, *_) = where(choices_in(rows_from("a" * 20, "ba" * 10), tmp_path), quantity="self_bias")
    assert fields(row, "judge_share human_share estimate") == (1, 0.5, 0.5)
    row, _ = where(choices_in(rows_from("a" * 20), tmp_path), quantity="self_bias")
    assert fields(row, "question human_share estimate std_error") == ("", None, 0.5, 0)
    assert row["p_value"] == pytest.approx(2 * 0.5**20)  # the sign test
    assert row["ci_low"] == pytest.approx(0.05 ** (1 / 20) - 0.5)


def votes(number, *, a=0, b=0, tie=0):
    """A comparison of J's answer, which the judge prefers, with K's; so many people vote for
    each.
    """
    label = "ba"[a > b] if a != b else "tie"
    counts = {"humans_a": a, "humans_b": b, "humans_tie": tie, "human": label}
    return [row | counts | {"item": f"q{number}"} for row in rows_from("a")]


def test_votes_on_a_pair_are_shares(tmp_path):
    """(tie, tie, b) leaves model_a a third of the points, not none; an even division is a draw."""
    rows = [*votes(1, b=1, tie=2), *votes(2, a=1, b=1), *votes(3, a=2, b=1), *votes(4, a=3)]
    results = choices_in(rows, tmp_path)
    half, excluded = where(results, quantity="self_bias")
    assert half["human_share"] == pytest.approx((1 / 3 + 1 / 2 + 2 / 3 + 1) / 4)
    assert half["estimate"] == pytest.approx(1 - half["human_share"])
    assert fields(excluded, "n human_share") == (3, pytest.approx((1 / 3 + 2 / 3 + 1) / 3))
    turned = choices_in(rows[::-1], tmp_path)
    assert turned == results  # sums of thirds are exact


def test_label_noise_is_undone_at_its_rate(tmp_path):
    """Labels are flipped with a known probability: at that rate the difference is what it was;
    single votes show the rate.
    """
    flips = 0.2
    generator = default_rng(4)
    rows = []
    for number, k in itertools.product(range(400), range(4)):
        better = generator.random() < 0.3
        votes = (generator.random(3) < flips) != better
        # The judge errs on 10 %, whichever is better
        chosen = "a" if (generator.random() < 0.1) != better else "b"
        for_a = int(votes.sum())
        row = {"judge": "J", "model_a": "J", "model_b": f"K{k}", "item": f"q{number}"}
        row |= {"outcome": chosen, "human": "a" if for_a > 1 else "b"}
        row |= {"humans_a": for_a, "humans_b": 3 - for_a}
        rows += [row | {"order": order} for order in ("ab", "ba")]
    table = label_noise_in(rows, tmp_path)
    assert all(set(row) <= {*LABEL_NOISE} for row in table)
    votes = only(table, origin="votes")
    assert votes["agreement"] == pytest.approx((1 - flips) ** 2 + flips**2, abs=0.02)
    assert votes["flip_rate"] == pytest.approx(flips, abs=0.025)  # three standard errors
    truth = 0.3 * 0.9 + 0.7 * 0.1 - 0.3
    assert abs(votes["estimate"] - truth) < 3 * (votes["ci_high"] - votes["ci_low"]) / 3.29
    assumed = where(table, origin="assumed")
    shown = {row["flip_rate"]: row["estimate"] for row in assumed if "estimate" in row}
    human = np.mean([row["humans_a"] / 3 for row in rows])
    judge = np.mean([row["outcome"] == "a" for row in rows])
    rates = (0, 0.05, 0.1, 0.15, 0.2, 0.25)
    undone = {rate: judge - (human - rate) / (1 - 2 * rate) for rate in rates}
    assert shown == pytest.approx(undone)


@pytest.mark.parametrize(
    ("judge", "human", "changes_at"), [(7, 8, None), (9, 8, 0.1), (1, 2, 0.1), (10, 10, None)]
)
def test_the_rate_at_which_the_conclusion_changes(tmp_path, judge, human, changes_at):
    """The judge and the humans choose its answer in so many of ten comparisons: if it does so in
    fewer, it does so in even fewer with flips.
    """
    given, people = (20 * ("a" * share + "b" * (10 - share)) for share in (judge, human))
    rows = rows_from(given, people)
    row, *others = where(label_noise_in(rows, tmp_path), quantity="self_bias")
    assert row["flip_rate"] == 0
    assert row["changes_at"] == (changes_at and pytest.approx(changes_at, abs=0.05))
    if judge == 7:
        # Flips of 20 % cannot give a share of 1.
        absent = [other.get("estimate") is None for other in others]
        assert absent == [False, False, False, False, True]
