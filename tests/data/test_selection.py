"""Judges in the humans' place, and what a subset does to them and to lengths, against plain pandas
on the rows.
"""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from conftest import changed_twin
from recuse.base.reasons import Reason, code
from recuse.data.cells import read_levels
from recuse.data.moments import Blocks, RowBlock
from recuse.data.selection import EVERY_ROW, Selection, with_family_references
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

FAMILIES = ["Claude", "GPT", "Llama 3", "Mistral"]
KEY = ["dimension", "prompt_id", "model"]

pytestmark = pytest.mark.filterwarnings("ignore:The design matrix")  # of families without a row


def referred(rows, family):
    """The rows of other families' judges, with the mean rating of the family's judges as
    `reference`.
    """
    means = (
        rows[rows["judge_family"] == family].groupby(KEY)["rating_unit"].mean().rename("reference")
    )
    return rows[rows["judge_family"] != family].join(means, on=KEY, how="inner")


def naive_self_bias(rows, covariate, further=""):
    """Self-bias of each judge by statsmodels on the rows."""
    own, family = (rows[f"judge{of}"] == rows[f"model{of}"] for of in ("", "_family"))
    rows = rows.assign(own=own * 1.0, family=(family & ~own) * 1.0)
    terms = f"judge * {covariate} + judge:own + judge_family:family + dimension {further}"
    found = ols(f"rating_unit ~ {terms}", rows).fit().params
    return {judge: found[f"judge[{judge}]:own"] for judge in set(rows["judge"][own])}


def self_bias(table, label):
    return {
        row["term"]: row["estimate"]
        for row in table
        if (row["slice"], row["quantity"]) == (label, "self_bias")
    }


def test_reference_is_the_mean_rating_of_the_familys_judges(twin, twin_rows):
    every = with_family_references(f"from '{twin.ratings[0]}'", read_levels(twin.ratings[0]))
    place = ["reference_family", "judge", *KEY]
    ours = duckdb.sql(every).df().set_index(place).sort_index()
    theirs = pd.concat(
        referred(twin_rows, family).assign(reference_family=family) for family in FAMILIES
    )
    theirs = theirs.set_index(place)["reference"].sort_index()
    assert ours.index.tolist() == theirs.index.tolist()
    np.testing.assert_allclose(ours["gt_unit"], theirs, atol=1e-12)
    low, high = ours["scale_low"], ours["scale_high"]
    np.testing.assert_allclose(ours["gt"], low + ours["gt_unit"] * (high - low), atol=1e-12)


def without(rows, models):
    return rows[~rows["judge"].isin(models) & ~rows["model"].isin(models)]


@pytest.mark.parametrize(
    ("reference", "dropped"),
    [("family", []), ("family_completions_kept", []), ("family", ["GPT-4o"])],
)
def test_slices_are_the_reference_families(twin, twin_rows, reference, dropped):
    """Dropped models leave the reference too."""
    subset = {"models_dropped": dropped} if dropped else {}
    spec = Spec.of("other", reference=reference, subset=subset)
    table = estimate(spec, twin, confidence=0.9).estimates
    assert sorted({row["slice"] for row in table}) == FAMILIES
    for family in FAMILIES:
        chosen = referred(without(twin_rows, dropped), family)
        if reference == "family":
            chosen = chosen[chosen["model_family"] != family]
        assert {row["n"] for row in table if row["slice"] == family} == {len(chosen)}
        assert self_bias(table, family) == pytest.approx(
            naive_self_bias(chosen, "reference"), abs=1e-9
        )


def test_dropped_models_leave_the_normalisation_of_lengths(twin, twin_rows):
    spec = Spec.of("other", length="prompt", subset={"models_dropped": ["GPT-4o"]})
    kept = without(twin_rows, ["GPT-4o"])
    completions = (
        kept.drop_duplicates(KEY).groupby(["dimension", "prompt_id"])["length"].agg(["mean", "std"])
    )
    kept = kept.join(completions, on=["dimension", "prompt_id"])
    x = np.tanh((kept["length"] - kept["mean"]) / kept["std"]).where(kept["std"] > 0, 0.0)
    kept = kept.assign(x=x)
    table = estimate(spec, twin, confidence=0.9).estimates
    assert self_bias(table, "") == pytest.approx(
        naive_self_bias(kept, "gt_unit", "+ judge:x"), abs=1e-9
    )


def test_other_estimators_take_a_reference_too(twin):
    ordinal = Spec.of(
        "o", reference="family", estimator="ordinal_logit", subset={"dimension": ["Helpfulness"]}
    )
    gam = Spec.of("g", reference="family", estimator="gam")
    for spec in (ordinal, gam):
        table = estimate(spec, twin, confidence=0.9).estimates
        assert {
            label: set(self_bias(table, label)) & {"GPT-4o", "Claude v2"}
            for label in ("Claude", "GPT")
        } == {
            "Claude": {"GPT-4o"},
            "GPT": {"Claude v2"},
        }


def test_judges_of_one_family_are_no_reference(twin, tmp_path):
    of_one = changed_twin(twin, tmp_path, "from raw where judge ilike '%gpt%'")
    result = estimate(Spec.of("r", reference="family"), of_one, confidence=0.9)
    assert result.estimates == []
    assert [code(gap["reason"]) for gap in result.not_estimable] == [Reason.ONE_REFERENCE_FAMILY]


def test_blocks_are_kept_for_the_next_pass_if_they_are_few(monkeypatch):
    monkeypatch.setattr("recuse.data.moments.HELD", 5)
    for rows, passes in ((2, 1), (3, 2)):
        begun = []

        def read(rows=rows, begun=begun):
            begun.append(rows)
            yield from (
                RowBlock(np.full(rows, place), np.zeros(rows), np.zeros(rows), [])
                for place in range(2)
            )

        blocks = Blocks(read)
        assert [[block.prompt[0] for block in blocks] for _ in range(2)] == [[0, 1]] * 2
        assert len(begun) == passes


def test_rows_are_those_of_the_latest_selection(twin):
    factors = twin.moments(EVERY_ROW).factors
    few = Selection(subset={"dimension": ["Helpfulness"]}, slice="dataset")
    for selection in (EVERY_ROW, few, replace(few, slice=None), EVERY_ROW):
        rows = sum(len(block.prompt) for block in twin.row_blocks(selection, factors))
        assert rows == len(duckdb.sql(selection.rows(twin.ratings)))
    backwards = {name: values[::-1] for name, values in factors.items()}
    groups = [
        np.concatenate([block.group for block in twin.row_blocks(few, of)])
        for of in (factors, backwards)
    ]
    np.testing.assert_array_equal(groups[0], len(factors["judge"]) - 1 - groups[1])
