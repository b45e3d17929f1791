"""Effects of treatments against statsmodels, scipy and counts by hand."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

from audit_worlds import BIASES, PLAIN, TREATED, TREATMENTS, World, treatment
from recuse.audit.effects import EFFECTS, UNIT, effect_rows, randomisation_p_value
from recuse.audit.treatments import ArmContrast
from recuse.base.errors import DataError
from recuse.base.reasons import Reason, because, code
from recuse.base.tables import read_table, write_table
from recuse.inference.verdict import FOUND

SETTINGS = {"confidence": 0.9, "seed": 1}
BEYOND_OTHERS = [treatment("label", ArmContrast("effect", TREATED, PLAIN, beyond_others=True))]


def observation(prompt, arm, value, **others):
    """A row of one treatment, `label`."""
    row = dict.fromkeys(UNIT, "") | {"judge": "judge", "treatment": "label", "own": "", "words": 9}
    reason = others.pop("reason", "refusal" if value == "" else "")
    return row | {"arm": arm, "prompt": prompt, "value": value, "reason": reason} | others


def both(prompt, treated, plain, **others):
    """The rows of one unit."""
    return [
        observation(prompt, TREATED, treated, **others),
        observation(prompt, PLAIN, plain, **others),
    ]


def units(treated, plain=0.0, **others):
    """The rows of one unit of each prompt, p00 and so on."""
    pairs = zip(treated, np.broadcast_to(plain, len(treated)).tolist(), strict=True)
    return [
        row
        for number, (one, other) in enumerate(pairs)
        for row in both(f"p{number:02d}", one, other, **others)
    ]


def effects(rows, treatments=TREATMENTS):
    return [*effect_rows(rows, treatments, **SETTINGS)]


@pytest.fixture(scope="module")
def uneven():
    """Prompts with one to four answers, some replies missing."""
    rng = np.random.default_rng(3)
    rows = []
    for prompt in range(40):
        level = rng.normal(0, 0.1)
        for model in range(rng.integers(1, 5)):
            treated, plain = np.round(np.clip(0.6 + level + rng.normal(0, 0.2, 2), 0, 1) * 4) / 4
            treated = "" if rng.random() < 0.1 else treated
            rows += both(f"p{prompt}", treated, plain, model=f"m{model}", dimension="overall")
    return rows


def naive_squared_error(differences):
    """That of the mean, as if one and a half more prompts differed by as much as is usual."""
    count = len(differences)
    different = [each for each in differences - np.median(differences) if abs(each) > 1e-12]
    squares = np.var(np.asarray(differences)) * count + 1.5 * np.square(different).mean()
    return squares / (count + 0.5) / count


def test_the_estimate_equals_weighted_least_squares_clustered_by_prompt(uneven):
    (row,) = effects(uneven)
    table = pd.DataFrame(uneven).pivot(index=["prompt", "model"], columns="arm", values="value")
    table = table.replace("", np.nan).dropna().astype(float).reset_index()
    units = table.groupby("prompt")["model"].transform("size")
    fit = sm.WLS(table[TREATED] - table[PLAIN], np.ones(len(table)), weights=1 / units).fit(
        cov_type="cluster", cov_kwds={"groups": table["prompt"].astype("category").cat.codes}
    )
    assert row["estimate"] == pytest.approx(fit.params.iloc[0], abs=1e-12)
    means = (table[TREATED] - table[PLAIN]).groupby(table["prompt"]).mean()
    error = math.sqrt(naive_squared_error(means))
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    assert error == pytest.approx(fit.bse.iloc[0], rel=0.01)  # most prompts differ
    test = stats.ttest_1samp(means, 0)
    assert row["p_value"] == pytest.approx(test.pvalue, rel=0.15)
    ends = test.confidence_interval(0.9)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((ends.low, ends.high), abs=0.1 * error)
    assert (row["prompts"], row["units"], row["df"]) == (len(means), len(table), len(means) - 1)


def test_the_randomisation_test_equals_scipys():
    rng = np.random.default_rng(2)
    for count in (6, 12):
        values = np.round(rng.normal(0.1, 0.3, count), 1)
        exact = stats.permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=np.inf
        )
        # SciPy's two-sided value is twice the smaller tail, as here: signs are symmetric
        assert randomisation_p_value(values, seed=1) == pytest.approx(exact.pvalue, abs=1e-12)
    values = rng.normal(0.1, 0.3, 60)
    many = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=99_999, rng=rng
    )
    p_value = randomisation_p_value(values, seed=1)
    assert p_value == pytest.approx(many.pvalue, abs=4 * math.sqrt(many.pvalue / 1999))
    assert p_value == randomisation_p_value(values, seed=1)


def test_failures_by_arm_and_turned_pairs_are_counted():
    rows = units(9 * [""] + 21 * [0.75], 0.5)
    rows[-1] |= {"value": "", "reason": "refusal"}
    rows += both("p30", 0.25, 0.5) + both("p31", 0.5, 0.5)
    rows += [
        observation("p32", TREATED, "", reason="not answered"),
        observation("p32", PLAIN, 1),
    ]
    (row,) = effects(rows)
    assert (row["failed_treated"], row["failed_control"]) == (9, 1)
    assert row["failure_p_value"] == pytest.approx(stats.binomtest(1, 10).pvalue, abs=1e-12)
    assert (row["turned_up"], row["turned_down"], row["units"]) == (20, 1, 22)
    # Found, but the failures differ
    assert row["verdict"] == "likely"
    assert code(row["note"]) is Reason.FAILURES_DIFFER


def test_favouring_its_own_is_what_exceeds_others_on_the_same_prompts():
    rng = np.random.default_rng(5)
    treated, plain = rng.uniform(size=(2, 3, 25))
    rows = both("p99", 1.0, 0.0, model="judge", own=1)  # nothing to compare with
    for place, model in enumerate(("judge", "other a", "other b")):
        rows += units(treated[place], plain[place], model=model, own=int(model == "judge"))
    (row,) = effects(rows, BEYOND_OTHERS)
    own, *others = treated - plain
    expected = own - np.mean(others, axis=0)
    assert row["estimate"] == pytest.approx(expected.mean(), abs=1e-12)
    error = math.sqrt(naive_squared_error(expected))
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    assert (row["prompts"], row["units"]) == (25, 75)


@pytest.mark.parametrize("moved", [2, 10, 30])
def test_intervals_allow_for_skewness_as_halls_do(moved):
    """By a search for the effects that the transformed t does not reject."""
    differences = np.zeros(60)
    differences[:moved] = np.random.default_rng(moved).choice([0.25, 0.25, 0.5, -0.25], moved)
    (row,) = effects(units(0.5 + differences, 0.5))
    error = math.sqrt(naive_squared_error(differences))
    skewness = np.mean((differences - differences.mean()) ** 3) / (60 * error**2) ** 1.5

    def z(effect):
        t = (differences.mean() - effect) / error
        g = skewness / math.sqrt(60)
        return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6

    reach = stats.t.ppf(0.95, 59)
    for end, side in (("ci_low", 1), ("ci_high", -1)):
        found = optimize.brentq(lambda effect, side=side: z(effect) - side * reach, -2, 2)
        assert row[end] == pytest.approx(found, abs=1e-9)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(z(0.0)), 59), rel=1e-9)
    assert (row["p_value"] < 0.1) == (row["ci_low"] > 0)


def test_several_wordings_are_those_that_were_asked():
    """The effect is their mean, and its error is over prompts alone."""
    rng = np.random.default_rng(4)
    differences = rng.normal(0.1, 0.1, (30, 1)) + np.array([-0.3, 0.3])
    differences = differences + rng.normal(0, 0.05, (30, 2))
    first, second = differences.T
    row, *parts = effects(units(first, wording="w0") + units(second, wording="w1"))
    assert row["estimate"] == pytest.approx(differences.mean())
    expected = naive_squared_error(differences.mean(axis=1))
    assert (row["standard_error"] ** 2, row["df"]) == pytest.approx((expected, 29))
    assert [part["estimate"] for part in parts] == pytest.approx(list(differences.mean(axis=0)))


@pytest.mark.parametrize(("writers", "spread"), [(2, 0.2), (2, 0.0), (4, 0.2), (4, 0.01)])
def test_writers_are_drawn_at_random(writers, spread):
    """In balanced rows the mean square between has the spread, that of the interaction is noise."""
    rng = np.random.default_rng(4)
    differences = rng.normal(0.1, 0.1, (30, 1)) + rng.normal(0, spread, (1, writers))
    differences = differences + rng.normal(0, 0.05, (30, writers))
    rows = []
    for place, column in enumerate(differences.T):
        rows += units(column, writer=f"w{place}")
    (row,) = effects(rows)
    residual = differences - differences.mean(0) - differences.mean(1)[:, None] + differences.mean()
    noise = (residual**2).sum() / (29 * (writers - 1)) / 30 / writers
    between = differences.mean(0).var(ddof=1) / writers
    prompts = differences.mean(1).var(ddof=1) / 30
    if writers == 2:
        counts = between > noise / 2
        variance = prompts + max(0, between - noise / 2)
        df = 1
    else:
        counts = between > 0.6 * noise
        variance = prompts + max(between - noise, -0.4 * noise)
        df = variance**2 / (prompts**2 / 29 + between**2 * 4 / 9 + noise**2 / 87)
    assert row["standard_error"] == pytest.approx(math.sqrt(variance), rel=0.02)
    assert row["df"] == pytest.approx(min(29, max(writers - 1, df)) if counts else 29, rel=0.05)


def test_holm_is_over_the_contrasts_of_one_judge_and_parts_have_no_verdict():
    world = World(prompts=60)
    rng = np.random.default_rng(8)
    names = dict(zip(BIASES, np.linspace(0, 0.15, len(BIASES)), strict=True))
    rows = world.observations(rng, names, "a") + world.observations(rng, names, "b")
    for row in rows:
        if row["treatment"] == "label":
            row["dimension"] = ("clarity", "tone")[int(row["prompt"][1:]) % 2]
    table = effects(rows)
    for judge in "ab":
        whole = [row for row in table if row["judge"] == judge and "verdict" in row]
        assert [row["treatment"] for row in whole] == list(BIASES)
        adjusted = multipletests([row["p_value"] for row in whole], method="holm")[1]
        assert [row["adjusted_p_value"] for row in whole] == pytest.approx(list(adjusted))
        found = [row["verdict"] in FOUND for row in whole]
        assert found == list(adjusted <= 0.1)
    parts = [(row["dimension"], row["prompts"]) for row in table if "verdict" not in row]
    assert parts == 2 * [("clarity", 30), ("tone", 30)]


def test_effects_by_length_are_those_of_each_third():
    """Fifteen answers of 20 words stay together; the others are shorter, or longer."""
    by_third = np.random.default_rng(6).normal([[0.0], [0.0], [0.4]], 0.1, (3, 15))
    rows = units(by_third.ravel())
    lengths = [*range(5, 20), *[20] * 15, *range(21, 36)]
    for row, words in zip(rows, np.repeat(lengths, 2), strict=True):
        row["words"] = str(words)
    whole, *parts = effects(rows)
    names = [part["length"] for part in parts]
    assert names == ["5 to 19 words", "20 to 20 words", "21 to 35 words"]
    for third, part in zip(by_third, parts, strict=True):
        assert part["estimate"] == pytest.approx(third.mean())
        assert part["standard_error"] == pytest.approx(math.sqrt(naive_squared_error(third)))
        assert (part["prompts"], "verdict" in part) == (15, False)
    assert parts[1]["ci_high"] < parts[2]["ci_low"]
    assert whole["estimate"] == pytest.approx(by_third.mean())


def test_an_interval_that_excludes_0_is_not_shown_once_many_are_tested():
    values = 0.5 + np.tile([0.25, -0.25], 10)
    rows = []
    for name in BIASES:
        rows += units(values + 0.1 * (name == "label"), 0.5, treatment=name)
    label, *others = effects(rows)
    assert label["ci_low"] > 0
    assert (label["verdict"], code(label["note"])) == ("not shown", Reason.MANY_TESTED)
    assert {row["verdict"] for row in others} == {"not shown"}
    # Found with 80 % at the level of Holm's first of ten steps
    reach = stats.t.ppf(1 - 0.1 / 2 / len(BIASES), 19) + stats.t.ppf(0.8, 19)
    assert label["detectable"] == pytest.approx(reach * label["standard_error"])


def test_inconclusive_says_why():
    (row,) = effects(units([0.5, 0.25, *[0.5] * 7], 0.25))
    assert (row["verdict"], code(row["reason"])) == ("inconclusive", Reason.FEW_QUESTIONS)
    (row,) = effects(units([1.0] * 50, 1.0))
    assert (row["verdict"], code(row["reason"])) == ("inconclusive", Reason.ONE_VALUE)
    (row,) = effects(units([""] * 50, 1.0))
    assert (row["verdict"], row["prompts"], row["failed_treated"]) == ("inconclusive", 0, 50)


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_an_effect_without_variation_has_an_exact_interval(effect):
    """A judge that never turns, or always chooses the first answer."""
    plain = np.tile([0.0, 1.0 - effect], 20)
    (row,) = effects(units(effect + plain, plain))
    share = stats.binomtest(0, 40).proportion_ci(0.9).high
    assert row["ci_high"] == pytest.approx(effect + share * (1 - effect))
    assert row["ci_low"] == pytest.approx(effect - share * (1 + effect))
    assert row["verdict"] == ("established" if effect else "not shown")


def test_order_of_rows_and_texts_change_nothing(uneven, tmp_path):
    (row,) = effects(uneven)
    rng = np.random.default_rng(1)
    shuffled = [uneven[place] for place in rng.permutation(len(uneven))]
    write_table(tmp_path / "observations.csv", list(uneven[0]), shuffled)
    (again,) = effects(read_table(tmp_path / "observations.csv"))
    assert again == row
    write_table(tmp_path / "effects.csv", EFFECTS, [row])


def test_a_second_value_of_a_unit_is_refused():
    rows = both("p1", 1, 0)
    with pytest.raises(DataError, match=r"row 3: found a second value .* prompt p1"):
        effects([*rows, rows[0]])


@pytest.mark.parametrize(
    ("owns", "reason"), [("0", Reason.NO_OWN_ANSWERS), ("1", Reason.NO_OTHER_ANSWERS)]
)
def test_favouring_its_own_needs_own_answers_and_others(owns, reason):
    rows = units([0.9] * 20, 0.2, own=owns)
    (row,) = effects(rows, BEYOND_OTHERS)
    assert row["reason"] == because(reason)


def test_a_difference_of_differences_without_variation_may_be_above_1():
    rows = units([0.9] * 20, 0.2, own="1") + units([0.2] * 20, 0.9, own="0", model="other")
    (row,) = effects(rows, BEYOND_OTHERS)
    assert row["estimate"] == pytest.approx(1.4)
    assert row["ci_low"] < row["estimate"] < row["ci_high"] <= 2
