"""Cognitive biases of any comparisons against loops over them, and the thresholds of random choices."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cognitive_biases import tabulate

from random_comparisons import SETTINGS, compared, resampled, resampled_ends, write
from recuse.base.database import write_parquet
from recuse.base.tables import COGNITIVE_BIASES, COMPARISONS, RANDOM, read_table
from recuse.pairwise.cognitive import CLOSED_FORM, cognitive_biases, judges_without_answers, random_thresholds

MODELS = "GPT-4", "Koala", "LLaMA"
KEY = "experiment", "condition", "judge", "item", "model_a", "model_b", "order"
TESTS = {  # in which conditions each bias is looked for
    **dict.fromkeys(["order_first", "order_last", "egocentric_order", "salience"], ("", "order")),
    **dict.fromkeys(["compassion_first", "compassion_last", "egocentric_comp"], ("compassion",)),
    "bandwagon": ("bandwagon",),
    "attentional": ("attentional",),
}


def verdict(judge, item, models, order, outcome, *, condition="order", lengths=(None, None), favoured=None, **settings):
    values = (judge, item, *models, order, outcome, None, *lengths, condition, "", favoured, 1, *[None] * 5)
    return dict(zip(COMPARISONS, values, strict=True)) | settings


def both(judge, item, outcomes, *, models=("x", "y"), favoured=(None, None), **settings):
    """The two verdicts of one comparison; `outcomes` and `favoured` of the order ab, then of ba."""
    of_order = zip(("ab", "ba"), outcomes, favoured, strict=True)
    return [verdict(judge, item, models, order, outcome, favoured=answer, **settings) for order, outcome, answer in of_order]


def drawn(seed, *, questions=8):
    """Verdicts of a model, a judge that wrote no answer, and one that makes nothing but errors; all may be missing."""
    draw = np.random.default_rng(seed)
    rows = []
    conditions = ("", "order", "compassion", "bandwagon", "attentional", "control")
    places = [(condition, "") for condition in conditions] + [("order", "again"), ("bandwagon", "again")]
    pairs = list(itertools.combinations(MODELS, 2))
    for (condition, experiment), item, models in itertools.product(places, range(questions), pairs):
        lengths = [None if draw.random() < 0.1 else float(draw.integers(1, 4)) for _ in "ab"]
        for judge, order in itertools.product(("GPT-4", "nobody", "mute"), ("ab", "ba")):
            outcome = "error" if judge == "mute" else str(draw.choice(["a", "b", "tie", "error"], p=[0.4, 0.4, 0.1, 0.1]))
            stated = condition in ("bandwagon", "attentional") and draw.random() < 0.9
            favoured = str(draw.choice(["a", "b"])) if stated else None
            if draw.random() < 0.9:
                settings = {"condition": condition, "lengths": lengths, "favoured": favoured, "experiment": experiment}
                rows.append(verdict(judge, f"q{item}", models, order, outcome, **settings))
    return rows


LEFT_OUT = "left out"


def shown(bias, pair, favoured):
    """None if a comparison does not concern a bias, LEFT_OUT if it is uninformative, else whether it is biased."""
    ab, ba = pair.get("ab"), pair.get("ba")
    if ab is None or ba is None:
        own = pair["judge"] in (pair["model_a"], pair["model_b"])
        return None if bias == "salience" or (bias.startswith("egocentric") and not own) else LEFT_OUT
    places = {"a": "first", "b": "last"}.get(ab), {"a": "last", "b": "first"}.get(ba)
    if bias.endswith(("_first", "_last")):
        return places == (bias.split("_")[1],) * 2
    answer = ab if ab == ba and ab in "ab" else None
    if bias.startswith("egocentric"):
        own = [side for side in "ab" if pair[f"model_{side}"] == pair["judge"]]
        return answer == own[0] if own else None
    if bias == "salience":
        a, b = pair["length_a"], pair["length_b"]
        if answer is None:
            return None
        return LEFT_OUT if a is None or b is None or a == b else answer == ("a" if a > b else "b")
    return LEFT_OUT if None in favoured else (ab, ba) == favoured


def by_hand(rows):
    """By experiment, judge and bias: question and what `shown` says of each comparison; whether verdicts are valid."""
    statements = {tuple(row[name] for name in KEY): row["favoured"] for row in rows}
    results, valid = {}, {}
    for pair, (bias, conditions) in itertools.product(compared(rows), TESTS.items()):
        if pair["condition"] in conditions:
            favoured = tuple(statements.get((*(pair[name] for name in KEY[:-1]), order)) for order in ("ab", "ba"))
            result = shown(bias, pair, favoured)
            key = pair["experiment"], pair["judge"], bias
            valid.setdefault(key, []).extend(pair[order] != "error" for order in ("ab", "ba") if order in pair)
            if result is not None:
                results.setdefault(key, []).append((pair["item"], result))
    return results, valid


def table(rows, folder, **settings):
    return list(cognitive_biases(write(rows, folder / "comparisons.parquet"), **{**SETTINGS, **settings}))


def shares(rows, folder):
    return {(row["judge"], row["bias"]): (row["biased"], row["n"], row["left_out"]) for row in table(rows, folder)}


@pytest.mark.parametrize("seed", [1, 2])
def test_every_share_is_that_of_a_loop_over_comparisons(tmp_path, seed):
    rows = drawn(seed)
    results, (expected, valid) = table(rows, tmp_path), by_hand(rows)
    order = list(CLOSED_FORM)
    keys = [(row["experiment"], row["judge"], row["bias"]) for row in results]
    assert keys == sorted(expected, key=lambda key: (*key[:2], order.index(key[2])))
    for key, row in zip(keys, results, strict=True):
        counted = [result for _, result in expected[key] if result != LEFT_OUT]
        assert (row["biased"], row["n"]) == (sum(counted), len(counted))
        assert row["left_out"] == len(expected[key]) - len(counted)
        assert row["share"] == sum(counted) / len(counted)
        assert row["valid"] == sum(valid[key]) / len(valid[key])
        assert row["random"] == (0.5 if row["bias"] == "salience" else 0.25)
        assert 0 <= row["chance"] <= row["random"]
        assert row["above_random"] == ("yes" if row["share"] > row["chance"] else "no")
        assert row["origin"] == "computed"
    assert all(any(row["left_out"] for row in results if row["bias"] == bias) for bias in CLOSED_FORM)
    present = {judge: {bias for _, other, bias in keys if other == judge} for _, judge, _ in keys}
    assert present["GPT-4"] == set(CLOSED_FORM)
    assert present["nobody"] == set(CLOSED_FORM) - {"egocentric_order", "egocentric_comp"}
    assert present["mute"] == present["nobody"] - {"salience"}
    assert all(row["share"] == row["valid"] == 0 for row in results if row["judge"] == "mute")


def test_intervals_are_those_of_a_loop_over_resampled_questions(tmp_path):
    rows = [row for row in drawn(3) if row["judge"] == "GPT-4" and not row["experiment"]]
    results, (expected, _) = table(rows, tmp_path), by_hand(rows)
    replicates = list(resampled([f"q{number}" for number in range(8)], seed=SETTINGS["seed"], replicates=10_000))
    for row in results:
        count, total = Counter(), Counter()
        for item, result in expected["", "GPT-4", row["bias"]]:
            count[item] += result is True
            total[item] += result != LEFT_OUT
        sums = [[sum(times[item] * of[item] for item in total) for of in (count, total)] for times in replicates]
        low, high = resampled_ends([b / n for b, n in sums if n], [count[item] / n for item, n in total.items() if n])
        assert (row["ci_low"], row["ci_high"]) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
        assert low < high


def test_what_counts_for_which_bias(tmp_path):
    own = {"models": ("GPT-4", "Koala")}
    rows = [
        *both("GPT-4", "1", ("a", "a"), lengths=(3.0, 2.0), **own),  # its own, the longer
        *both("GPT-4", "2", ("a", "b"), lengths=(3.0, 2.0), **own),  # the first place twice
        *both("GPT-4", "3", ("b", "a"), lengths=(3.0, 2.0), **own),  # the last place twice
        *both("GPT-4", "4", ("error", "a"), lengths=(3.0, 2.0), **own),  # counts, but shows nothing
        *both("GPT-4", "5", ("tie", "tie"), lengths=(3.0, 2.0), **own),  # as does this; no answer is chosen
        *both("GPT-4", "6", ("b", "b"), lengths=(2.0, 2.0), condition=""),  # of others, of equal length
        verdict("GPT-4", "7", ("GPT-4", "Koala"), "ab", "a", lengths=(3.0, 2.0)),  # one order alone does not count
        *both("GPT-4", "8", ("b", "b"), models=("Koala", "GPT-4"), vote=2),  # its own, of unknown length
    ]
    assert shares(rows, tmp_path) == {
        ("GPT-4", "order_first"): (1, 7, 1),
        ("GPT-4", "order_last"): (1, 7, 1),
        ("GPT-4", "egocentric_order"): (2, 6, 1),
        ("GPT-4", "salience"): (1, 1, 2),
    }


def test_statements_may_speak_for_either_answer_in_each_pass(tmp_path):
    rows = [
        *both("j", "1", ("a", "a"), condition="bandwagon", favoured=("a", "a")),
        *both("j", "2", ("a", "b"), condition="bandwagon", favoured=("a", "b")),
        *both("j", "3", ("a", "a"), condition="bandwagon", favoured=("a", "b")),  # followed in one pass only
        *both("j", "4", ("a", "a"), condition="bandwagon", favoured=("a", None)),  # no statement in one pass
        *both("j", "5", ("error", "b"), condition="attentional", favoured=("b", "b")),
        *both("j", "6", ("b", "b"), condition="control", favoured=("b", "b")),  # no test of a cognitive bias
    ]
    assert shares(rows, tmp_path) == {("j", "bandwagon"): (2, 3, 1), ("j", "attentional"): (0, 1, 0)}


def test_a_bias_whose_comparisons_are_all_left_out_has_no_share(tmp_path):
    rows = [row for item in "12" for row in both("j", item, ("a", "a"), condition="bandwagon", favoured=("a", None))]
    rows += [row for item in "12" for row in both("j", item, ("a", "a"))]
    results = {row["bias"]: row for row in table(rows, tmp_path)}
    assert set(results) == {"bandwagon", "order_first", "order_last", "salience"}
    for bias in ("bandwagon", "salience"):
        row = results[bias]
        assert (row["share"], row["above_random"], row["n"], row["left_out"], row["valid"]) == (None, None, 0, 2, 1)
        assert np.isnan([row["ci_low"], row["ci_high"]]).all()


def test_experiments_are_not_merged(tmp_path):
    rows = [row for item in "123" for row in both("j", item, ("a", "b"), experiment="one")]
    rows += [row for item in "123" for row in both("j", item, ("b", "a"), experiment="two")]
    results = {(row["experiment"], row["bias"]): row for row in table(rows, tmp_path)}
    assert {key: row["share"] for key, row in results.items()} == {
        ("one", "order_first"): 1,
        ("one", "order_last"): 0,
        ("two", "order_first"): 0,
        ("two", "order_last"): 1,
    }
    end = 0.05 ** (1 / 3)  # exact, for 3 of 3 questions
    first = results["one", "order_first"]
    assert (first["ci_low"], first["ci_high"]) == pytest.approx((end, 1), abs=1e-12)


def test_one_question_has_no_interval(tmp_path):
    rows = [*both("j", "1", ("a", "b")), verdict("j", "2", ("x", "y"), "ab", "a")]
    first = table(rows, tmp_path)[0]
    assert (first["bias"], first["share"], first["left_out"]) == ("order_first", 1, 1)
    assert np.isnan([first["ci_low"], first["ci_high"]]).all()
    rows = both("j", "1", ("a", "b")) + both("j", "1", ("a", "a"), vote=2) + both("j", "2", ("a", "b"), condition="compassion")
    assert all(np.isnan(row["ci_low"]) and np.isnan(row["ci_high"]) for row in table(rows, tmp_path))


def test_judges_without_answers_of_their_own(tmp_path, capsys):
    own = {"models": ("GPT-4", "Koala")}
    rows = both("gpt-4", "1", ("a", "a"), **own) + both("GPT-4", "1", ("a", "a"), **own)
    rows += both("x", "1", ("a", "a")) + both("x", "1", ("a", "a"), condition="compassion", experiment="e", **own)
    rows += both("z", "1", ("a", "a"), condition="bandwagon", favoured=("a", "a"))
    path = write(rows, tmp_path / "comparisons.parquet")
    assert judges_without_answers(path) == [("", "gpt-4"), ("e", "x")]
    outputs = {name: str(tmp_path / f"{name}.csv") for name in ("cognitive_biases", "random_thresholds")}
    tabulate(study="mine", comparisons=path, outputs=outputs, **SETTINGS)
    assert capsys.readouterr().out.splitlines() == [
        "egocentric bias: these judges are not among the models: gpt-4",
        "egocentric bias: these judges are not among the models of experiment 'e': x",
    ]


def test_no_condition_tests_a_bias(tmp_path):
    assert table(both("j", "1", ("a", "b"), condition="control"), tmp_path) == []


def test_random_choices_come_near_the_thresholds_and_biased_ones_do_not(tmp_path):
    draw = np.random.default_rng(5)
    rows = []
    for condition, item in itertools.product(("order", "compassion", "bandwagon", "attentional"), range(1500)):
        settings = {"condition": condition, "lengths": (2.0, 1.0), "models": ("Fair", "First")}
        favoured = tuple(str(side) for side in draw.choice(["a", "b"], 2))
        fair = tuple(str(side) for side in draw.choice(["a", "b"], 2))
        rows += both("Fair", f"{item}", fair, favoured=favoured, **settings)
        rows += both("First", f"{item}", ("a", "b"), favoured=favoured, **settings)
    columns = {name: np.array([row[name] for row in rows], None if name != "human" else object) for name in COMPARISONS}
    write_parquet(columns, str(tmp_path / "many.parquet"))
    results = list(cognitive_biases(str(tmp_path / "many.parquet"), **SETTINGS))
    fair = {row["bias"]: row for row in results if row["judge"] == "Fair"}
    assert set(fair) == set(CLOSED_FORM)
    for bias, row in fair.items():
        assert row["share"] == pytest.approx(CLOSED_FORM[bias], abs=4 * np.sqrt(0.25 / row["n"]))
    first = {row["bias"]: row["share"] for row in results if row["judge"] == "First"}
    assert (first["order_first"], first["order_last"], first["egocentric_order"]) == (1, 0, 0)


def test_thresholds_in_closed_form_are_those_of_simulation():
    rows = random_thresholds(seed=3)
    assert [row["bias"] for row in rows] == list(CLOSED_FORM)
    for row in rows:
        s, n = row["simulated"], 1_000_000 * (0.5 if row["bias"] == "salience" else 1)
        assert row["closed_form"] == (0.5 if row["bias"] == "salience" else 0.25)
        assert s == pytest.approx(row["closed_form"], abs=4 * row["std_error"])
        assert row["std_error"] == pytest.approx(np.sqrt(s * (1 - s) / n), rel=0.01)
        assert row["replicates"] == 1_000_000
    assert len({row["simulated"] for row in rows}) == len(rows)
    assert random_thresholds(seed=3, replicates=100) == random_thresholds(seed=3, replicates=100)
    assert random_thresholds(seed=3, replicates=100) != random_thresholds(seed=4, replicates=100)


def test_the_tables_that_the_script_writes(tmp_path):
    comparisons = write(drawn(1), tmp_path / "comparisons.parquet")
    outputs = {name: str(tmp_path / f"{name}.csv") for name in ("cognitive_biases", "random_thresholds")}
    for _ in range(2):
        tabulate(study="mine", comparisons=comparisons, outputs=outputs, **SETTINGS)
    biases, thresholds = (read_table(path) for path in outputs.values())
    assert tuple(biases[0]) == COGNITIVE_BIASES
    assert tuple(thresholds[0]) == RANDOM
    assert biases[0]["study"] == thresholds[0]["study"] == "mine"
    assert {row["size"] for row in biases} == {""}


def test_chance_of_a_judge_with_ties_is_that_of_its_choices(tmp_path):
    """Half of the comparisons are ties in both orders, the others two fair choices: an own answer stands in 1/4 of these."""
    generator = np.random.default_rng(3)
    outcomes = np.where(generator.random((4000, 1)) < 0.5, "tie", generator.choice(["a", "b"], (4000, 2)))
    row = {"judge": "j", "model_a": "j", "model_b": "n", "condition": "", "experiment": "", "favoured": None, "vote": 1}
    row |= {"human": None, "length_a": None, "length_b": None}
    rows = [
        row | {"item": str(number), "order": order, "outcome": str(outcome)}
        for number, both in enumerate(outcomes)
        for order, outcome in zip(("ab", "ba"), both, strict=True)
    ]
    results = {row["bias"]: row for row in table(rows, tmp_path)}
    for bias in ("egocentric_order", "order_first", "order_last"):
        assert results[bias]["chance"] == pytest.approx(0.125, abs=0.01)
        assert results[bias]["share"] == pytest.approx(results[bias]["chance"], abs=0.02)
        assert results[bias]["random"] == 0.25
