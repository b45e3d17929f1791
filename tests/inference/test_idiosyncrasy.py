"""Estimand C against statsmodels: which biases can be estimated, what is refused, and the
tables.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.stats import norm, t
from test_mixed import cells_from

from picked_rows import column, fields, keyed, only, where
from recuse.base.reasons import Reason, because, code
from recuse.inference.idiosyncrasy import (
    LEAST_DF,
    Idiosyncrasy,
    idiosyncrasies,
    idiosyncrasy_rows,
    least_favouring,
    missing_own,
    pooled_rows,
    residual_rows,
)
from recuse.inference.judge_model import (
    FAMILY,
    UNRELATED,
    cell_means,
    tables_of_slices,
)
from recuse.model.design import ALL_JUDGES
from recuse.model.estimable import spec_slices
from recuse.model.spec import Spec
from recuse.validation.world import MonteCarloWorld
from text_tables import lines

MAIN = Spec.of("main", subset={"dimension": ["Faithfulness", "Helpfulness"]})
pytestmark = pytest.mark.usefixtures("few_sweeps")
BY_DIMENSION = MAIN.changed(slice="dimension", whole=True)
NAMES = np.array([f"m{number}" for number in range(9)])
FAMILIES = np.array(["f0", "f0", "f0", "f1", "f1", "f2", "f2", "f3", "f3"])


def grid(judges=9, models=9, *, families=FAMILIES, prompts=100, seed=1):
    """Cells of judges and models with effects of both and normal preferences of sd 0.02, and
    sampling variances.
    """
    generator = default_rng(seed)
    families = dict(zip(NAMES, families, strict=True))
    cells = cells_from(NAMES[:judges], NAMES[:models], families, prompts=prompts)
    judge, model = (np.searchsorted(NAMES, names) for names in (cells.judge, cells.model))
    effects = generator.normal(size=(2, 9))
    mean = effects[0][judge] + effects[1][model] + 0.02 * generator.normal(size=len(judge))
    return replace(cells, mean=mean)


def kept(cells, mask):
    names = ("judge", "model", "judge_family", "model_family", "mean", "n", "variance", "prompts")
    return replace(cells, **{name: getattr(cells, name)[mask] for name in names})


@pytest.mark.parametrize("whole", [True, False])
def test_the_additive_fit_equals_statsmodels(whole):
    from statsmodels.api import OLS

    cells = grid() if whole else kept(grid(), default_rng(4).random(81) > 0.15)
    x = np.concatenate(
        [cells.judge[:, None] == NAMES, cells.model[:, None] == NAMES[1:]], axis=1
    ).astype(float)
    fit = OLS(cells.mean[cells.is_unrelated], x[cells.is_unrelated]).fit()
    residuals = cells.additive.residuals(cells.mean[cells.is_unrelated])
    assert_allclose(residuals, fit.resid, atol=1e-12)
    assert cells.additive.df == fit.df_resid


def test_what_the_cells_do_not_identify_has_a_reason():
    cells = grid()
    unrelated = cells.is_unrelated
    own = cells.is_self
    of = {
        "no own": kept(cells, ~(own & (cells.judge == "m1"))),
        "judge": kept(cells, (cells.judge != "m1") | ~unrelated),
        "model": kept(cells, (cells.model != "m1") | ~unrelated),
        "one family": grid(3, 3),
        "two families": grid(5, 5),
    }
    tests = {
        name: {bias.term: bias.reason for bias in Idiosyncrasy({}, each).tests()}
        for name, each in of.items()
    }
    assert tests["no own"]["m1"] == because(Reason.NO_OWN_ANSWERS)
    assert (
        tests["judge"]["m1"]
        == tests["model"]["m1"]
        == because(Reason.NO_UNRELATED_CELL, names="m1")
    )
    assert tests["judge"]["m0"] == tests["model"]["m0"] == tests["no own"][ALL_JUDGES] == ""
    assert tests["one family"]["m0"] == because(Reason.NO_UNRELATED_CELL, names="m0")
    assert tests["two families"]["m0"] == because(Reason.NOT_LINKED, names="m0")
    assert ALL_JUDGES not in tests["two families"]


ALONE = np.array([f"f{number}" for number in range(9)])  # each model its own family
TWO_OF_TWO = np.array(["f0", "f0", "f1", "f1", *ALONE[4:]])


def with_hole(cells):
    """Without the cells of the first two judges on one another's model."""
    return kept(
        cells, ~(np.isin(cells.judge, NAMES[:2]) & np.isin(cells.model, NAMES[:2]) & ~cells.is_self)
    )


# Judges, models, and how many degrees of freedom their cells leave
FEW_CELLS = """
2 4 alone 1
2 5 alone 2
2 6 alone 3
3 3 alone 1
3 4 alone 3
4 4 hole  3
2 7 alone 4
4 4 alone 5
4 4 pairs 2
"""


@pytest.mark.parametrize("line", lines(FEW_CELLS), ids=" ".join)
def test_fewer_than_four_degrees_of_freedom_are_refused(line):
    judges, models, kind, df = [int(each) if each.isdigit() else each for each in line]
    cells = grid(judges, models, families=TWO_OF_TWO if kind == "pairs" else ALONE)
    cells = with_hole(cells) if kind == "hole" else cells
    assert cells.additive.df == df
    reasons = {
        bias.reason for bias in Idiosyncrasy({}, cells).biases if bias.quantity == "self_bias"
    }
    if len(np.unique(cells.judge_family)) < len(np.unique(cells.judge)):
        # Two parts, one of each family's judges
        assert {code(reason) for reason in reasons} == {Reason.NOT_LINKED}
    else:
        assert reasons == {
            because(Reason.FEW_CELLS, df=df, least=LEAST_DF) if df < LEAST_DF else ""
        }


@pytest.mark.parametrize("seed", range(2))
def test_no_bias_has_more_degrees_of_freedom_than_the_unrelated_cells(seed):
    """So few cells often seem to have no preferences, which then have many degrees of freedom."""
    for cells, most in (
        (grid(2, 7, families=ALONE, seed=seed), 4),
        (grid(4, 4, families=ALONE, seed=seed), 5),
    ):
        each = Idiosyncrasy({"spec": "main"}, replace(cells, variance=1e-3 * np.ones(len(cells.n))))
        pooled, *_ = pooled_rows([each], confidence=0.9)
        df = [bias.df for bias in each.tests()] + [pooled["df"]]
        df += [row["df"] for row in residual_rows([each], confidence=0.9) if "df" in row]
        assert 0 <= min(df) <= max(df) <= most


def refused(cells):
    """(quantity, term) -> the reason."""
    return {(bias.quantity, bias.term): bias.reason for bias in Idiosyncrasy({}, cells).biases}


def test_a_bias_with_few_prompts_or_few_models_is_refused():
    cells = grid(prompts=60)
    cells.prompts[cells.model == "m3"] = 8
    reasons = refused(cells)
    assert reasons["self_bias", "m3"] == because(
        Reason.FEW_PROMPTS, names="m3", prompts=8, least=10
    )
    # By the other judge of the family
    assert reasons["self_bias", "m4"] == reasons["family_bias", "f1"] == ""
    assert code(refused(grid(prompts=9))["family_bias", "f1"]) is Reason.FEW_PROMPTS
    few = refused(kept(cells, ~((cells.judge == "m0") & np.isin(cells.model, NAMES[5:]))))
    assert few["self_bias", "m0"] == because(Reason.FEW_MODELS, models=2, least=3)
    assert few["self_bias", "m1"] == ""


@pytest.mark.parametrize(
    ("sizes", "share"), [((6, 1, 1, 1), "67 %"), ((5, 1, 1, 1, 1), "56 %"), ((4, 2, 2, 1), None)]
)
def test_judges_of_a_family_of_most_models_are_refused(sizes, share):
    reasons = refused(grid(families=np.repeat(ALONE[: len(sizes)], sizes)))
    expected = because(Reason.DOMINANT_FAMILY, family="f0", share=share) if share else ""
    inside = [reasons["self_bias", name] for name in NAMES[: sizes[0]]]
    assert {*inside, reasons["family_bias", "f0"]} == {expected}
    assert {reasons["self_bias", name] for name in NAMES[sizes[0] :]} == {""}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((3, 3, 3), "few_families"), ((6, 1, 1, 1), "dominant_family"), ((3, 2, 2, 2), "")],
)
def test_families_of_models_may_leave_no_bias_established(sizes, expected):
    each = Idiosyncrasy({"spec": "main"}, grid(families=np.repeat(ALONE[: len(sizes)], sizes)))
    rows = [
        row
        for row in idiosyncrasy_rows([each], confidence=0.9)
        if row["term"] in NAMES and not row["reason"]
    ]
    assert {row["doubt"].partition(" ")[0] for row in rows} == {expected}


@pytest.mark.parametrize(
    ("dials", "seed"),
    [
        # c_m does not settle: self-biases were -0.6 of 0.2
        ({"dimensions": 3, "prompts": 100, "noise": 0.25}, [3, 141]),
        # c_m settles at 2.8 times the range of the cell means
        ({"dimensions": 2, "prompts": 60, "noise": 0.1}, [11, 54]),
    ],
)
def test_a_fit_whose_effects_of_models_diverge_is_refused(dials, seed):
    world = MonteCarloWorld(
        families=[6, 1, 1, 1], **dials, intercept=0.3, slope=0.5, family_preference=0.03
    )
    (each,) = idiosyncrasies(Spec.of("main"), world.draw(default_rng(seed)))
    rows = list(idiosyncrasy_rows([each], confidence=0.9))
    assert {code(row["reason"]) for row in rows} == {Reason.NOT_CONVERGED, Reason.NO_SIBLINGS}
    assert not any("estimate" in row for row in rows)
    assert {code(row["reason"]) for row in residual_rows([each], confidence=0.9)} == {
        Reason.NOT_CONVERGED
    }


def with_missing(own, *, elsewhere=0, of_judge=0):
    """A grid of 100 prompts: m0 misses `own` of its own answers and `of_judge` of each other; m1 to
    m7 `elsewhere` of m0's.
    """
    cells = grid()
    cells = replace(cells, rating=np.full(len(cells.n), 0.6))
    number = np.where(cells.judge == "m0", of_judge, 0)
    number[(cells.model == "m0") & np.isin(cells.judge, NAMES[1:8])] = elsewhere
    number[(cells.model == "m0") & (cells.judge == "m0")] = own
    return replace(cells, n=100.0 - number, prompts=100.0 - number)


@pytest.mark.parametrize(
    ("missing", "share"),
    [
        ({"own": 0}, 0),
        ({"own": 1}, 0),  # one may be missing by chance
        ({"own": 12}, 0.12),
        ({"own": 12, "of_judge": 10}, 0),  # the judge refuses as many of others'
        ({"own": 12, "elsewhere": 20}, 0),  # another judge refuses more of these
        ({"own": 0, "of_judge": 10}, 0),
    ],
)
def test_own_ratings_are_missing_if_more_are_than_elsewhere(missing, share):
    cells = with_missing(**missing)
    shares = missing_own(cells)
    assert shares[cells.is_self][0] == pytest.approx(share)
    assert shares.sum() == shares[cells.is_self][0]


def test_missing_own_ratings_take_the_adverse_end_in_the_interval_and_in_the_mean():
    whole, part = (Idiosyncrasy({"spec": "main"}, with_missing(own)) for own in (0, 12))
    rows = [keyed(idiosyncrasy_rows([each], confidence=0.9), "term") for each in (whole, part)]
    for term, weight in (
        ("m0", 1.0),
        (ALL_JUDGES, part.pooled(part.concluded("self_bias")).weights[0]),
    ):
        before, after = (each[term] for each in rows)
        assert after["missing"] == pytest.approx(0.12)
        assert after["estimate"] == before["estimate"]
        assert before["ci_low"] - after["ci_low"] == pytest.approx(weight * 0.12 * 0.6)
        assert after["ci_high"] - before["ci_high"] == pytest.approx(weight * 0.12 * 0.4)
        assert after["p_value"] >= before["p_value"]
    assert rows[1]["m1"].get("missing") is None
    pooled = [next(pooled_rows([each], confidence=0.9)) for each in (whole, part)]
    assert pooled[1]["ci_low"] == pytest.approx(rows[1][ALL_JUDGES]["ci_low"])
    assert pooled[0]["ci_low"] > pooled[1]["ci_low"]


def by_closed_testing(p_values, correlation, confidence):
    """The same by testing every set of biases, with the variance of its own sum."""
    scores = norm.isf(p_values)
    count = len(p_values)
    largest = 0
    for members in map(np.flatnonzero, product((0, 1), repeat=count)):
        positive = np.maximum(correlation[np.ix_(members, members)], 0)
        if scores[members].sum() <= norm.ppf(confidence) * np.sqrt(positive.sum()):
            largest = max(largest, len(members))
    return count - largest


@pytest.mark.parametrize("seed", range(6))
def test_least_favouring_is_closed_testing(seed):
    generator = default_rng(seed)
    p_values = generator.uniform(size=7) ** 3
    assert least_favouring(p_values, np.eye(7), 0.9) == by_closed_testing(p_values, np.eye(7), 0.9)
    alike = np.corrcoef(generator.normal(size=(7, 9)) + generator.normal(size=9))
    assert least_favouring(p_values, alike, 0.9) <= by_closed_testing(p_values, alike, 0.9)
    assert least_favouring(np.full(7, 1e-9), alike, 0.9) == 7


@pytest.fixture(scope="module")
def slices(twin):
    return idiosyncrasies(BY_DIMENSION, twin)


@pytest.fixture(scope="module")
def gaps(slices):
    """The rows of the table of a study."""
    return list(idiosyncrasy_rows(slices, confidence=0.9))


def test_the_table_of_a_study(gaps):
    assert len(gaps) == 3 * 14
    assert {row["estimand"] for row in gaps} == {"C beyond ordinary preference"}
    for row in gaps:
        assert row["reason"] == ""
        assert row["df"] <= 43
        assert row["ci_high"] - row["estimate"] == pytest.approx(
            t.ppf(0.95, row["df"]) * row["std_error"], rel=1e-6
        )
        assert ("shrunk" in row) == (row["term"] != ALL_JUDGES)


def test_the_pooled_mean_of_a_study_is_with_all_and_without_each(slices, gaps):
    rows = list(pooled_rows(slices, confidence=0.9))
    assert len(rows) == 3 * (1 + 9 + 1 + 4)
    for label in {row["slice"] for row in rows}:
        for quantity, number in (("self_bias", 9), ("family_bias", 4)):
            of_slice = where(rows, slice=label, quantity=quantity)
            whole, *parts = of_slice
            assert column(of_slice, "biases") == [number, *[number - 1] * number]
            assert sum(row["weight"] for row in parts) == pytest.approx(1)
            terms = keyed(where(gaps, slice=label, quantity=quantity), "term")
            assert {row["left_out"] for row in parts} == set(terms) - {ALL_JUDGES}
            mean = sum(row["weight"] * terms[row["left_out"]]["estimate"] for row in parts)
            assert whole["estimate"] == pytest.approx(mean, abs=1e-12)
            if quantity == "self_bias":
                names = "estimate std_error p_value"
                assert fields(terms[ALL_JUDGES], names) == fields(whole, names)


def test_a_slice_with_the_cells_of_another_is_not_fitted_again(twin, slices):
    again = idiosyncrasies(MAIN, twin, slices)
    assert [each.where["spec"] for each in again] == ["main"]
    assert again[0].fit is slices[0].fit
    for table in (pooled_rows, idiosyncrasy_rows):
        fitted = list(table(idiosyncrasies(MAIN, twin), confidence=0.9))
        assert list(table(again, confidence=0.9)) == fitted


def test_what_has_no_residual_has_a_reason(twin):
    # Two families of two are left
    dropped = ["Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large", "Claude v2"]
    few = Spec.of("few", subset={"models_dropped": dropped})
    result = list(residual_rows(idiosyncrasies(few, twin), confidence=0.9))
    assert column(result, "reason") == [because(Reason.FEW_CELLS, df=2, least=4)] * 16
    (_, moments), *_ = spec_slices(MAIN, twin)
    cells = cell_means(moments)
    assert (cells.relation == FAMILY).sum() == 12
    assert (cells.relation == UNRELATED).sum() == 60
    none = idiosyncrasies(Spec.of("none", subset={"dataset": ["x"]}), twin)
    for table in (residual_rows, idiosyncrasy_rows, pooled_rows):
        assert column(table(none, confidence=0.9), "reason") == [because(Reason.NO_ROWS)]


def test_a_judge_without_slope_has_a_row_with_the_reason(twin, monkeypatch):
    ((_, cells),) = tables_of_slices(MAIN, twin)
    lacking = replace(cells, without_slope=["some judge"])
    monkeypatch.setattr(
        "recuse.inference.idiosyncrasy.tables_of_slices", lambda *_: [("", lacking)]
    )
    slices = idiosyncrasies(MAIN, twin)
    *_, last = residual_rows(slices, confidence=0.9)
    assert (last["judge"], last["reason"], "residual" in last) == (
        "some judge",
        because(Reason.NO_SLOPE),
        False,
    )
    row = only(idiosyncrasy_rows(slices, confidence=0.9), term="some judge")
    assert (row["reason"], row["cells"], "estimate" in row) == (because(Reason.NO_SLOPE), 0, False)


def test_the_error_of_a_family_bias_is_that_of_a_prediction_of_its_cells():
    """The spreads of preferences that are estimated change the prediction, not the mean of the
    family's own cells.
    """
    slices = Idiosyncrasy({}, grid())
    families = [
        bias for bias in slices.biases if bias.quantity == "family_bias" and not bias.reason
    ]
    assert len(families) == 4
    for bias in families:
        contrast = slices.fit.without_family(bias.among)[None]
        own = (bias.among / bias.among.sum())[None]
        variance, _ = slices.fit.errors(contrast, own).of(np.ones(1))
        assert bias.std_error == pytest.approx(np.sqrt(variance), rel=1e-9)
