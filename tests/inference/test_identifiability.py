"""Which cells carry and identify each coefficient, against weights computed on rows."""

import duckdb
import numpy as np
import pytest
from numpy.random import default_rng

from designs_on_rows import factors_on_rows, regressors_on_rows
from recuse.base.reasons import Reason, because
from recuse.inference.identifiability import CellWords, identifiability
from recuse.model.design import design_terms
from recuse.model.spec import BIASES, EQUATION_1, Spec

NINE = (
    "Claude v2",
    "Claude 3 Sonnet",
    "Claude 3.5 Sonnet",
    "GPT-3.5 Turbo",
    "GPT-4o",
    "Llama 3 8B",
    "Llama 3 70B",
    "Mistral 7B",
    "Mistral Large",
)
GPT, MINI = "GPT-4o", "GPT-3.5 Turbo"
MODELS = {"A": Spec.of("a"), "B": Spec.of("b", terms=(*EQUATION_1, "model"))}


def rows_of(study, spec):
    return {(row.get("quantity"), row.get("term")): row for row in identifiability(spec, study)}


def test_shares_are_those_of_the_weights_of_rows(twin):
    spec = MODELS["B"]
    frame = duckdb.sql(f"select * from '{twin.ratings[0]}'").df()
    factors = factors_on_rows(frame)
    terms = design_terms(factors, names=spec.model.terms)
    x = regressors_on_rows(terms, frame["gt_unit"])
    place = [(term.quantity, term.term) for term in terms].index(("self_bias", GPT))
    squares = np.linalg.pinv(x)[place] ** 2
    judge, model = factors["judge"] == GPT, factors["model"] == GPT
    row = rows_of(twin, spec)["self_bias", GPT]
    assert row["share_carried"] == pytest.approx(
        squares[judge & model].sum() / squares.sum(), rel=1e-9
    )
    assert row["share_same_judge"] == pytest.approx(
        squares[judge & ~model].sum() / squares.sum(), rel=1e-6
    )
    assert row["share_same_model"] == pytest.approx(
        squares[model & ~judge].sum() / squares.sum(), rel=1e-6
    )
    assert row["n_term"] == (judge & model).sum()
    assert row["n"] == len(frame)


def test_a_is_identified_by_the_judge_and_b_by_the_model_as_well(twin):
    rows = {name: rows_of(twin, spec)["self_bias", GPT] for name, spec in MODELS.items()}
    assert {row["carried_by"] for row in rows.values()} == {f"{GPT}: {GPT}"}
    shares = {name: row["share_same_model"] / row["share_same_judge"] for name, row in rows.items()}
    assert shares["A"] < 0.05
    assert shares["B"] == pytest.approx(1, abs=0.1)
    assert rows["A"]["against"] == f"{MINI}: all 9 models but {MINI}; {GPT}: all 9 models but {GPT}"
    assert f"{GPT}: all 9 models but {GPT}; the other 5 judges: " in rows["B"]["against"]
    family = rows_of(twin, MODELS["B"])["family_bias", "GPT"]
    assert family["carried_by"] == f"{MINI}: {GPT}; {GPT}: {MINI}"
    assert sum(value for key, value in family.items() if key.startswith("share_")) == pytest.approx(
        1, abs=1e-4
    )


def test_what_is_not_estimable_has_a_reason(twin):
    alone = rows_of(twin, Spec.of("alone", subset={"models_dropped": [MINI]}))
    assert alone["family_bias", "GPT"]["reason"] == because(Reason.NO_SIBLINGS)
    tied = rows_of(twin, Spec.of("tied", terms=("intercept", "judge", "self")))
    assert tied["intercept", GPT]["reason"] == because(Reason.TIED, to={"intercept": []})
    assert tied["intercept", GPT]["rank_deficiency"] == 1
    assert tied["intercept", GPT]["tied_to"] == "every other intercept"
    assert tied["self_bias", GPT]["words"].startswith("1 cell against ")
    absorbing = rows_of(twin, Spec.of("c", absorb="completion", covariance="CR1"))
    assert absorbing["dimension", "Helpfulness"]["reason"] == because(Reason.ABSORBED)
    assert absorbing["self_bias", GPT]["share_same_model"] > 0.1
    empty = MODELS["A"].changed(subset={"dataset": ["none"]})
    assert [row["reason"] for row in identifiability(empty, twin)] == [Reason.NO_ROWS]


def test_only_cells_of_biases_are_named_and_no_row_names_all_models(twin):
    for spec in MODELS.values():
        for (quantity, _), row in rows_of(twin, spec).items():
            for column in ("carried_by", "against"):
                named = [model for model in NINE if model in row.get(column, "")]
                assert not named or quantity in BIASES
                assert len(named) < len(NINE)
    assert rows_of(twin, MODELS["A"])["slope", GPT]["carried_by"] == "1 judge: all 9 models"


def cells_of(text, words):
    """The cells that words name, read from the words alone."""
    parts = [part.split(": ") for part in text.split("; ")]
    named = {
        judge
        for who, _ in parts
        if not who.startswith(("all ", "the other "))
        for judge in who.split(", ")
    }
    result = set()
    for who, what in parts:
        everyone = set(words.judge) - (named if who.startswith("the other ") else set())
        for judge in everyone if who.startswith(("all ", "the other ")) else who.split(", "):
            mine = words.judge == judge
            if what.endswith("of other families"):
                models = set(words.model[mine & ~words.kin])
            elif what.startswith("all "):
                models = set(words.model[mine]) - set(what.partition(" but ")[2].split(", "))
            else:
                models = set(what.split(", "))
            result |= {(judge, model) for model in models}
    return result


@pytest.mark.parametrize("share", [0.2, 0.8, 0.97])
def test_words_for_cells_are_exact(share):
    generator = default_rng(5)
    judge, model = (index.ravel() for index in np.meshgrid(range(6), range(6), indexing="ij"))
    names = np.array([f"m{number}" for number in range(6)])
    for _ in range(60):
        rated = generator.random(36) < 0.9
        words = CellWords(
            names[judge[rated]], names[model[rated]], (judge // 2 == model // 2)[rated]
        )
        for chosen in (
            generator.random(rated.sum()) < share,
            ~words.kin,
            np.ones(rated.sum(), dtype=bool),
        ):
            cells = set(zip(words.judge[chosen], words.model[chosen], strict=True))
            assert not cells or cells_of(words.listed(chosen, named=True), words) == cells
            counted = words.listed(chosen, named=False)
            assert not any(name in counted for name in names)
    assert words.listed(np.zeros(rated.sum(), dtype=bool), named=True) == ""
