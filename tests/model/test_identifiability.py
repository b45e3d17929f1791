"""Which cells carry and identify each coefficient, against weights computed on rows."""

import numpy as np
import pytest

from designs_on_rows import factors_on_rows, frame_on_rows, regressors_on_rows, term_places
from recuse.base.reasons import Reason, because
from recuse.model.design import design_terms
from recuse.model.identifiability import identifiability
from recuse.model.spec import EQUATION_1, Spec

GPT = "GPT-4o"
MINI = "GPT-3.5 Turbo"
MODELS = {"A": Spec.of("a"), "B": Spec.of("b", terms=(*EQUATION_1, "model"))}


def rows_from(study, spec):
    return {(row.get("quantity"), row.get("term")): row for row in identifiability(spec, study)}


def test_shares_are_those_of_the_weights_of_rows(twin):
    spec = MODELS["B"]
    frame = frame_on_rows(twin)
    factors = factors_on_rows(frame)
    terms = design_terms(factors, names=spec.model.terms)
    x = regressors_on_rows(terms, frame["gt_unit"])
    place = term_places(terms)["self_bias", GPT]
    squares = np.linalg.pinv(x)[place] ** 2
    squares /= squares.sum()
    judge = factors["judge"] == GPT
    model = factors["model"] == GPT
    row = rows_from(twin, spec)["self_bias", GPT]
    assert row["share_carried"] == pytest.approx(squares[judge & model].sum(), rel=1e-9)
    assert row["share_same_judge"] == pytest.approx(squares[judge & ~model].sum(), rel=1e-6)
    assert row["share_same_model"] == pytest.approx(squares[model & ~judge].sum(), rel=1e-6)
    assert row["n_term"] == (judge & model).sum()
    assert row["n"] == len(frame)


def test_a_is_identified_by_the_judge_and_b_by_the_model_as_well(twin):
    rows = {name: rows_from(twin, spec)["self_bias", GPT] for name, spec in MODELS.items()}
    assert {row["carried_by"] for row in rows.values()} == {f"{GPT}: {GPT}"}
    assert rows["A"]["against"] == f"{MINI}: all 9 models but {MINI}; {GPT}: all 9 models but {GPT}"
    assert f"{GPT}: all 9 models but {GPT}; the other 5 judges: " in rows["B"]["against"]
    shares = {name: row["share_same_model"] / row["share_same_judge"] for name, row in rows.items()}
    assert shares["A"] < 0.05
    assert shares["B"] == pytest.approx(1, abs=0.1)
    family = rows_from(twin, MODELS["B"])["family_bias", "GPT"]
    assert family["carried_by"] == f"{MINI}: {GPT}; {GPT}: {MINI}"
    assert sum(value for key, value in family.items() if key.startswith("share_")) == pytest.approx(
        1, abs=1e-4
    )


def test_what_is_not_estimable_has_a_reason(twin):
    alone = rows_from(twin, Spec.of("alone", subset={"models_dropped": [MINI]}))
    assert alone["family_bias", "GPT"]["reason"] == because(Reason.NO_SIBLINGS)
    tied = rows_from(twin, Spec.of("tied", terms=("intercept", "judge", "self")))
    assert tied["intercept", GPT]["reason"] == because(Reason.TIED, to={"intercept": []})
    assert tied["intercept", GPT]["rank_deficiency"] == 1
    assert tied["intercept", GPT]["tied_to"] == "every other intercept"
    assert tied["self_bias", GPT]["words"].startswith("1 cell against ")
    absorbing = rows_from(twin, Spec.of("c", absorb="completion", covariance="CR1"))
    assert absorbing["dimension", "Helpfulness"]["reason"] == because(Reason.ABSORBED)
    assert absorbing["self_bias", GPT]["share_same_model"] > 0.1
    empty = MODELS["A"].changed(subset={"dataset": ["none"]})
    assert [row["reason"] for row in identifiability(empty, twin)] == [Reason.NO_ROWS]
