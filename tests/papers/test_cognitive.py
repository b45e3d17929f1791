"""Cognitive biases of any comparisons against loops over them, and the thresholds of random
choices.
"""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng

from picked_rows import fields, keyed
from random_comparisons import SETTINGS, compared, write
from recuse.base.tables import read_table
from recuse.papers.cognitive import (
    CLOSED_FORM,
    COGNITIVE_BIASES,
    cognitive_biases,
    cognitive_table,
    judges_without_answers,
)

MODELS = "GPT-4", "Koala", "LLaMA"
KEY = "experiment", "condition", "judge", "item", "model_a", "model_b", "order"
TESTS = {  # in which conditions each bias is looked for
    **dict.fromkeys(["order_first", "order_last", "egocentric_order", "salience"], ("", "order")),
    **dict.fromkeys(["compassion_first", "compassion_last", "egocentric_comp"], ("compassion",)),
    "bandwagon": ("bandwagon",),
    "attentional": ("attentional",),
}


def verdict(
    judge,
    item,
    models,
    order,
    outcome,
    *,
    condition="order",
    lengths=(None, None),
    favoured=None,
    **settings,
):
    names = (
        "judge",
        "item",
        "model_a",
        "model_b",
        "order",
        "outcome",
        "length_a",
        "length_b",
        "condition",
        "favoured",
    )
    values = (judge, item, *models, order, outcome, *lengths, condition, favoured)
    return (
        dict(zip(names, values, strict=True))
        | {"experiment": "", "human": None, "vote": 1}
        | settings
    )


def both(judge, item, outcomes, *, models=("x", "y"), favoured=(None, None), **settings):
    """The two verdicts of one comparison; `outcomes` and `favoured` of the order ab, then of ba."""
    of_order = zip(("ab", "ba"), outcomes, favoured, strict=True)
    return [
        verdict(judge, item, models, order, outcome, favoured=answer, **settings)
        for order, outcome, answer in of_order
    ]


def drawn(seed, *, questions=8):
    """Verdicts of a model, a judge that wrote no answer, and one that makes nothing but errors; all
    may be missing.
    """
    draw = default_rng(seed)
    rows = []
    conditions = ("", "order", "compassion", "bandwagon", "attentional", "control")
    places = [(condition, "") for condition in conditions] + [
        ("order", "again"),
        ("bandwagon", "again"),
    ]
    pairs = list(itertools.combinations(MODELS, 2))
    for (condition, experiment), item, models in itertools.product(places, range(questions), pairs):
        lengths = [None if draw.random() < 0.1 else float(draw.integers(1, 4)) for _ in "ab"]
        for judge, order in itertools.product(("GPT-4", "nobody", "mute"), ("ab", "ba")):
            outcome = (
                "error"
                if judge == "mute"
                else str(draw.choice(["a", "b", "tie", "error"], p=[0.4, 0.4, 0.1, 0.1]))
            )
            stated = condition in ("bandwagon", "attentional") and draw.random() < 0.9
            favoured = str(draw.choice(["a", "b"])) if stated else None
            if draw.random() < 0.9:
                settings = {
                    "condition": condition,
                    "lengths": lengths,
                    "favoured": favoured,
                    "experiment": experiment,
                }
                rows.append(verdict(judge, f"q{item}", models, order, outcome, **settings))
    return rows


LEFT_OUT = "left out"


def shown(bias, pair, favoured):
    """None if a comparison does not concern a bias, LEFT_OUT if it is uninformative, else whether
    it is biased.
    """
    ab = pair.get("ab")
    ba = pair.get("ba")
    if ab is None or ba is None:
        own = pair["judge"] in fields(pair, "model_a model_b")
        return (
            None if bias == "salience" or (bias.startswith("egocentric") and not own) else LEFT_OUT
        )
    places = {"a": "first", "b": "last"}.get(ab), {"a": "last", "b": "first"}.get(ba)
    if bias.endswith(("_first", "_last")):
        return places == (bias.split("_")[1],) * 2
    answer = ab if ab == ba and ab in "ab" else None
    if bias.startswith("egocentric"):
        own = [side for side in "ab" if pair[f"model_{side}"] == pair["judge"]]
        return answer == own[0] if own else None
    if bias == "salience":
        a, b = fields(pair, "length_a length_b")
        if answer is None:
            return None
        return LEFT_OUT if a is None or b is None or a == b else answer == ("a" if a > b else "b")
    return LEFT_OUT if None in favoured else (ab, ba) == favoured


def by_hand(rows):
    """By experiment, judge and bias: question and what `shown` says of each comparison; whether
    verdicts are valid.
    """
    statements = {tuple(row[name] for name in KEY): row["favoured"] for row in rows}
    results = {}
    valid = {}
    for pair, (bias, conditions) in itertools.product(compared(rows), TESTS.items()):
        if pair["condition"] in conditions:
            favoured = tuple(
                statements.get((*(pair[name] for name in KEY[:-1]), order))
                for order in ("ab", "ba")
            )
            result = shown(bias, pair, favoured)
            key = pair["experiment"], pair["judge"], bias
            valid.setdefault(key, []).extend(
                pair[order] != "error" for order in ("ab", "ba") if order in pair
            )
            if result is not None:
                results.setdefault(key, []).append((pair["item"], result))
    return results, valid


def table(rows, folder, **settings):
    return list(
        cognitive_biases(write(rows, folder / "comparisons.parquet"), **{**SETTINGS, **settings})
    )


def shares(rows, folder):
    return {
        fields(row, "judge bias"): fields(row, "biased n left_out") for row in table(rows, folder)
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_every_share_is_that_of_a_loop_over_comparisons(tmp_path, seed):
    rows = drawn(seed)
    results, (expected, valid) = table(rows, tmp_path), by_hand(rows)
    order = list(CLOSED_FORM)
    keys = [fields(row, "experiment judge bias") for row in results]
    assert keys == sorted(expected, key=lambda key: (*key[:2], order.index(key[2])))
    for key, row in zip(keys, results, strict=True):
        counted = [result for _, result in expected[key] if result != LEFT_OUT]
        assert fields(row, "biased n") == (sum(counted), len(counted))
        assert row["left_out"] == len(expected[key]) - len(counted)
        assert row["share"] == sum(counted) / len(counted)
        assert row["valid"] == sum(valid[key]) / len(valid[key])
        assert row["random"] == (0.5 if row["bias"] == "salience" else 0.25)
        assert 0 <= row["chance"] <= row["random"]
        assert row["above_random"] == ("yes" if row["share"] > row["chance"] else "no")
        assert row["origin"] == "computed"
    assert all(
        any(row["left_out"] for row in results if row["bias"] == bias) for bias in CLOSED_FORM
    )
    present = {judge: {bias for _, other, bias in keys if other == judge} for _, judge, _ in keys}
    assert present["GPT-4"] == set(CLOSED_FORM)
    assert present["nobody"] == set(CLOSED_FORM) - {"egocentric_order", "egocentric_comp"}
    assert present["mute"] == present["nobody"] - {"salience"}
    assert all(row["share"] == row["valid"] == 0 for row in results if row["judge"] == "mute")


def test_what_counts_for_which_bias(tmp_path):
    own = {"models": ("GPT-4", "Koala")}
    rows = [
        *both("GPT-4", "1", ("a", "a"), lengths=(3.0, 2.0), **own),  # its own, the longer
        *both("GPT-4", "2", ("a", "b"), lengths=(3.0, 2.0), **own),  # the first place twice
        *both("GPT-4", "3", ("b", "a"), lengths=(3.0, 2.0), **own),  # the last place twice
        *both("GPT-4", "4", ("error", "a"), lengths=(3.0, 2.0), **own),  # counts, but shows nothing
        # As does this; no answer is chosen
        *both("GPT-4", "5", ("tie", "tie"), lengths=(3.0, 2.0), **own),
        # Of others, of equal length
        *both("GPT-4", "6", ("b", "b"), lengths=(2.0, 2.0), condition=""),
        # One order alone does not count
        verdict("GPT-4", "7", ("GPT-4", "Koala"), "ab", "a", lengths=(3.0, 2.0)),
        # Its own, of unknown length
        *both("GPT-4", "8", ("b", "b"), models=("Koala", "GPT-4"), vote=2),
    ]
    assert shares(rows, tmp_path) == {
        ("GPT-4", "order_first"): (1, 7, 1),
        ("GPT-4", "order_last"): (1, 7, 1),
        ("GPT-4", "egocentric_order"): (2, 6, 1),
        ("GPT-4", "salience"): (1, 1, 2),
    }


def test_a_bias_whose_comparisons_are_all_left_out_has_no_share(tmp_path):
    rows = [
        row
        for item in "12"
        for row in both("j", item, ("a", "a"), condition="bandwagon", favoured=("a", None))
    ]
    rows += [row for item in "12" for row in both("j", item, ("a", "a"))]
    results = keyed(table(rows, tmp_path), "bias")
    assert set(results) == {"bandwagon", "order_first", "order_last", "salience"}
    for bias in ("bandwagon", "salience"):
        row = results[bias]
        assert fields(row, "share above_random n left_out valid") == (None, None, 0, 2, 1)
        assert np.isnan([row["ci_low"], row["ci_high"]]).all()


def test_judges_without_answers_of_their_own(tmp_path, capsys):
    own = {"models": ("GPT-4", "Koala")}
    rows = both("gpt-4", "1", ("a", "a"), **own) + both("GPT-4", "1", ("a", "a"), **own)
    rows += both("x", "1", ("a", "a")) + both(
        "x", "1", ("a", "a"), condition="compassion", experiment="e", **own
    )
    rows += both("z", "1", ("a", "a"), condition="bandwagon", favoured=("a", "a"))
    path = write(rows, tmp_path / "comparisons.parquet")
    assert judges_without_answers(path) == [("", "gpt-4"), ("e", "x")]
    outputs = {"cognitive_biases": str(tmp_path / "cognitive_biases.csv")}
    cognitive_table(study="mine", comparisons=path, outputs=outputs, **SETTINGS)
    assert capsys.readouterr().out.splitlines() == [
        "egocentric bias: these judges are not among the models: gpt-4",
        "egocentric bias: these judges are not among the models of experiment 'e': x",
    ]
    assert tuple(read_table(outputs["cognitive_biases"])[0]) == COGNITIVE_BIASES


def test_chance_of_a_judge_with_ties_is_that_of_its_choices(tmp_path):
    """Half of the comparisons are ties in both orders, the others two fair choices: an own answer
    stands in 1/4 of these.
    """
    generator = default_rng(3)
    outcomes = np.where(
        generator.random((4000, 1)) < 0.5, "tie", generator.choice(["a", "b"], (4000, 2))
    )
    rows = []
    for number, chosen in enumerate(np.broadcast_to(outcomes, (4000, 2)).tolist()):
        rows += both("j", str(number), chosen, models=("j", "n"))
    results = keyed(table(rows, tmp_path), "bias")
    for bias in ("egocentric_order", "order_first", "order_last"):
        assert results[bias]["chance"] == pytest.approx(0.125, abs=0.01)
        assert results[bias]["share"] == pytest.approx(results[bias]["chance"], abs=0.02)
        assert results[bias]["random"] == 0.25
