"""Cognitive biases of any comparisons against loops over them, and the thresholds of random
choices.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from picked_rows import fields, keyed, where
from random_comparisons import SETTINGS, compared, own_rows, write
from recuse.base.tables import read_table
from recuse.papers.cognitive import (
    CLOSED_FORM,
    COGNITIVE_BIASES,
    cognitive_biases,
    cognitive_table,
    judges_without_answers,
)

KEY = ["experiment", "judge", "bias"]
TESTS = {  # in which conditions each bias is looked for
    **dict.fromkeys(["order_first", "order_last", "egocentric_order", "salience"], ("", "order")),
    **dict.fromkeys(["compassion_first", "compassion_last", "egocentric_comp"], ("compassion",)),
    "bandwagon": ("bandwagon",),
    "attentional": ("attentional",),
}


def verdict(judge, item, models, order, outcome, **more):
    names = {"judge": judge, "item": item, "model_a": models[0], "model_b": models[1]}
    return {"condition": "order", **names, "order": order, "outcome": outcome, **more}


def both(judge, item, outcomes, *, models=("x", "y"), favoured=(None, None), **more):
    """The two verdicts of one comparison; `outcomes` and `favoured` of the order ab, then of ba."""
    return [
        verdict(judge, item, models, order, outcome, favoured=answer, **more)
        for order, outcome, answer in zip(("ab", "ba"), outcomes, favoured, strict=True)
    ]


def drawn(seed):
    """Verdicts of two judges with answers of their own and of one that has none and makes nothing
    but errors, in two experiments; all may be missing.
    """
    draw = default_rng(seed)
    rows = []
    conditions = ("", "order", "compassion", "bandwagon", "attentional", "control")
    for number, condition in enumerate(conditions):
        for row in where(own_rows(10 * seed + number), condition="one"):
            stated = condition in ("bandwagon", "attentional") and draw.random() < 0.9
            answer = draw.choice(["a", "b"]) if stated else None
            of_order = {f"favoured_{row['order']}": answer}  # for `shown`
            rows.append({**row, "condition": condition, "favoured": answer, **of_order})
    return rows


def shown(bias, pair):
    """None if a comparison does not concern a bias, "left out" if it is uninformative, else whether
    it is biased.
    """
    ab, ba = pair.get("ab"), pair.get("ba")
    answer = ab if ab == ba and ab in ("a", "b") else None
    if bias == "salience":
        a, b = fields(pair, "length_a length_b")
        if answer is None:
            return None
        return "left out" if a is None or b is None or a == b else (answer == "a") == (a > b)
    own = [side for side in "ab" if pair[f"model_{side}"] == pair["judge"]]
    if bias.startswith("egocentric") and not own:
        return None
    if ab is None or ba is None:
        return "left out"
    if bias.startswith("egocentric"):
        return answer in own
    if bias.endswith(("_first", "_last")):
        return (ab, ba) == (("a", "b") if bias.endswith("_first") else ("b", "a"))
    favoured = pair["favoured_ab"], pair["favoured_ba"]
    return "left out" if None in favoured else (ab, ba) == favoured


def by_hand(rows):
    """What `shown` says of each comparison, and its verdicts, by experiment, judge and bias."""
    table = pd.DataFrame(
        (
            pair["experiment"],
            pair["judge"],
            bias,
            str(shown(bias, pair)),
            [pair[order] for order in ("ab", "ba") if order in pair],
        )
        for pair, (bias, conditions) in itertools.product(compared(rows), TESTS.items())
        if pair["condition"] in conditions
    )
    keys = [table[place].rename(name) for place, name in enumerate(KEY)]
    counts = pd.crosstab(keys, table[3])
    results = pd.DataFrame(
        {
            "biased": counts["True"],
            "n": counts["True"] + counts["False"],
            "left_out": counts["left out"],
            "valid": (table[4].explode() != "error").groupby(keys).mean(),
        }
    )
    return results[results["n"] + results["left_out"] > 0]


def table(rows, folder):
    return list(cognitive_biases(write(rows, folder / "comparisons.parquet"), **SETTINGS))


@pytest.mark.parametrize("seed", [1, 2])
def test_every_share_is_that_of_a_loop_over_comparisons(tmp_path, seed):
    rows = drawn(seed)
    results = table(rows, tmp_path)
    keys = [fields(row, "experiment judge bias") for row in results]
    assert keys == sorted(keys, key=lambda key: (*key[:2], list(CLOSED_FORM).index(key[2])))
    computed = pd.DataFrame(results).set_index(KEY).sort_index()
    expected = by_hand(rows)
    assert_frame_equal(computed[expected.columns], expected, check_names=False)
    assert_allclose(computed["share"], expected["biased"] / expected["n"], rtol=1e-12)
    for row in results:
        assert row["random"] == (0.5 if row["bias"] == "salience" else 0.25)
        assert 0 <= row["chance"] <= row["random"]
        assert row["above_random"] == ("yes" if row["share"] > row["chance"] else "no")
        assert row["origin"] == "computed"
    assert computed["left_out"].groupby("bias").sum().min() > 0
    biases = {judge: set(bias) for judge, bias in computed.reset_index().groupby("judge")["bias"]}
    assert biases["Careful"] == biases["Hasty"] == set(CLOSED_FORM)
    assert biases["Blind"] == set(CLOSED_FORM) - {"egocentric_order", "egocentric_comp", "salience"}
    assert (computed.xs("Blind", level="judge")[["share", "valid"]] == 0).all(axis=None)


def test_what_counts_for_which_bias(tmp_path):
    longer = {"length_a": 3.0, "length_b": 2.0}
    equal = {"length_a": 2.0, "length_b": 2.0}
    own = {"models": ("GPT-4", "Koala"), **longer}
    rows = [
        *both("GPT-4", "1", ("a", "a"), **own),  # its own, the longer
        *both("GPT-4", "2", ("a", "b"), **own),  # the first place twice
        *both("GPT-4", "3", ("b", "a"), **own),  # the last place twice
        *both("GPT-4", "4", ("error", "a"), **own),  # counts, but shows nothing
        # As does this; no answer is chosen
        *both("GPT-4", "5", ("tie", "tie"), **own),
        # Of others, of equal length
        *both("GPT-4", "6", ("b", "b"), condition="", **equal),
        # One order alone does not count
        verdict("GPT-4", "7", ("GPT-4", "Koala"), "ab", "a", **longer),
        # Its own, of unknown length
        *both("GPT-4", "8", ("b", "b"), models=("Koala", "GPT-4"), vote=2),
    ]
    counts = {
        fields(row, "judge bias"): fields(row, "biased n left_out") for row in table(rows, tmp_path)
    }
    assert counts == {
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
