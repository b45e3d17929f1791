"""The cross-check: fits agree with statsmodels and pygam wherever there are rows, and wrong fits
are detected.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import CONFIG
from curved_rows import bent, cells_from, on, rows_from
from designs_on_rows import carried_terms
from picked_rows import fields
from recuse.base.errors import DesignError
from recuse.model.estimates import estimate_rows
from recuse.model.gam import Spline, fit_gam, penalised_fit
from recuse.model.spec import Spec
from recuse.validation import compare
from recuse.validation.compare import CURVES, against_pygam, compared, raise_disagreement


def test_disagreement_is_an_error():
    row = {
        "spec": "main",
        "slice": "x",
        "compared": "estimates",
        "largest_difference": 2e-9,
        "tolerance": 1e-9,
    }
    with pytest.raises(DesignError, match=r"spec main, slice 'x'.*2e-09"):
        raise_disagreement([row])
    with pytest.raises(DesignError):
        raise_disagreement([row | {"largest_difference": float("nan")}])


@pytest.mark.parametrize(("side", "key"), [(0, "std_error"), (1, "ci_low")])
def test_number_that_one_side_lacks_is_a_disagreement(few_prompts, monkeypatch, side, key):
    sides = iter([0, 1])  # in this order, of one slice each

    def rows_without_a_number(*given, **named):
        first, *others = estimate_rows(*given, **named)
        return [first | ({key: np.nan} if next(sides) == side else {}), *others]

    monkeypatch.setattr(compare, "estimate_rows", rows_without_a_number)
    rows = list(compared([Spec.of("main")], few_prompts, confidence=0.9))
    with pytest.raises(DesignError, match="intervals by inf"):
        raise_disagreement(rows)


SPEC = Spec.of("gam", **CONFIG["specs"]["gam"])
MANY = on(*np.linspace(0, 1, 13))
CURVED = rows_from(references=MANY, curve=bent, self_bias=0.04, dimensions=("d", "e"), spread=0.06)


def some(rows, mask):
    return [column[mask] for column in rows]


def with_references_of_b1(*values):
    """Rows in which a judge has few references."""
    return rows_from(
        references=lambda g, judge, m: (on(*values) if judge == "b1" else MANY)(g, judge, m),
        curve=bent,
    )


ROWS = {
    "ten splines": CURVED,
    "a cubic": with_references_of_b1(0, 0.1, 0.9, 1),
    "a quadratic": with_references_of_b1(0.1, 0.5, 0.6),
    "a line": with_references_of_b1(0.2, 0.8),
    "a constant": with_references_of_b1(0.5),
    "a judge that rates itself alone": some(CURVED, (CURVED[0] != "b1") | (CURVED[1] == "b1")),
    "a judge of other families alone": some(
        CURVED, (CURVED[0] == "b1") & (CURVED[1] != "b1") & (CURVED[2] == "d")
    ),
    "fewer rows than coefficients": some(CURVED, slice(None, None, 300)),
    "ratings on lines": rows_from(
        references=on(0, 0.25, 0.5, 0.75, 1), curve=lambda judge, x: 0.2 + 0.6 * x, spread=0
    ),
    "equal ratings": rows_from(references=MANY, curve=lambda judge, x: 0.5 + 0 * x, spread=0),
    "ratings of 0": rows_from(references=MANY, curve=lambda judge, x: 0 * x, spread=0),
}


# pygam's R2 of equal ratings
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("covariance", ["HC0", "HC1", "classical"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_cells_give_what_pygam_gives_on_rows(rows, covariance):
    cells = cells_from(*rows)
    terms = carried_terms(cells.factors)
    fit = fit_gam(cells, terms, covariance=covariance)
    ours, theirs = against_pygam(cells, terms, fit, covariance=covariance)
    assert len(ours) > sum(term.quantity != "slope" for term in terms) + 2
    assert_allclose(ours, theirs, rtol=0, atol=1e-8)
    assert fit.n == len(rows[0])


@pytest.fixture(scope="module")
def spec():
    return SPEC.changed(subset={"dimension": ["Completeness", "Faithfulness"]})


def test_every_slice_of_the_study_is_checked(few_prompts, spec):
    rows = list(compared([spec], few_prompts, confidence=0.9))
    slices = ("", *spec.selection.subset["dimension"])
    assert [fields(row, "slice compared") for row in rows] == [(part, CURVES) for part in slices]
    assert max(row["largest_difference"] for row in rows) < 1e-8
    raise_disagreement(rows)


def penalised_by(change):
    """A right fit made wrong by `change`."""
    return lambda *given, **named: change(penalised_fit(*given, **named))


WRONG = {
    "an interval of knots too few": (
        "Spline",
        lambda low, high, functions, order: Spline(low, high + 0.1, functions, order),
    ),
    "an order too low": (
        "Spline",
        lambda low, high, functions, order: Spline(low, high, functions, order - 1),
    ),
    "another penalty": ("Spline.penalty", lambda spline: np.eye(spline.functions)),
    "smoothing that is not the one named": (
        "penalised_fit",
        lambda rows, p, **named: penalised_fit(rows, 2 * p, **named),
    ),
    "HC1 for HC0": (
        "penalised_fit",
        lambda rows, p, **named: penalised_fit(rows, p, covariance="HC1"),
    ),
    "coefficients that are off by a millionth": (
        "penalised_fit",
        penalised_by(lambda fit: replace(fit, coefficients=fit.coefficients * (1 + 4e-6))),
    ),
    "nothing determined": (
        "penalised_fit",
        penalised_by(lambda fit: replace(fit, null=np.eye(len(fit.null)))),
    ),
    "errors of cells": (
        "penalised_fit",
        lambda rows, p, **named: penalised_fit(replace(rows, within=0 * rows.within), p, **named),
    ),
}


@pytest.mark.parametrize(("place", "wrong"), WRONG.values(), ids=WRONG)
def test_wrong_fit_is_detected(few_prompts, spec, monkeypatch, place, wrong):
    monkeypatch.setattr(f"recuse.model.gam.{place}", wrong)
    with pytest.raises(DesignError, match=r"spec gam, slice ''.*estimates and curves by"):
        raise_disagreement(compared([spec], few_prompts, confidence=0.9))
