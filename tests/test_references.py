"""Judges in the humans' place, against a plain loop over the rows."""

import duckdb
import numpy as np
import pytest

from judgebias.cells import read_cells
from judgebias.crosscheck import check_engines
from judgebias.estimates import estimate
from judgebias.references import with_family_references
from judgebias.spec import Spec

FAMILIES = ["Claude", "GPT", "Llama 3", "Mistral"]


@pytest.fixture(scope="module")
def rows(twin):
    return duckdb.sql(f"from '{twin.ratings}'").df()


def test_reference_is_the_mean_rating_of_the_familys_judges(twin, rows):
    found = duckdb.sql(with_family_references(f"from '{twin.ratings}'")).df()
    key = ["dimension", "prompt_id", "model"]
    means = rows.groupby([*key, "judge_family"])["rating"].mean()
    units = rows.groupby([*key, "judge_family"])["rating_unit"].mean()
    for _, row in found.sample(300, random_state=1).iterrows():
        place = (*(row[name] for name in key), row["reference_family"])
        assert row["judge_family"] != row["reference_family"]
        assert row["gt"] == pytest.approx(means[place], abs=1e-12)
        assert row["gt_unit"] == pytest.approx(units[place], abs=1e-12)
    for family in FAMILIES:
        others = rows[rows["judge_family"] != family]
        known = set(rows.loc[rows["judge_family"] == family, key].itertuples(index=False, name=None))
        rated = sum(place in known for place in others[key].itertuples(index=False, name=None))
        assert (found["reference_family"] == family).sum() == rated


def test_cells_of_a_reference_hold_its_rows(twin):
    found = duckdb.sql(with_family_references(f"from '{twin.ratings}'")).df()
    for family in FAMILIES:
        cells, chosen = read_cells(twin.references, family), found[found["reference_family"] == family]
        assert cells.n.sum() == len(chosen)
        assert (cells.n * cells.reference).sum() == pytest.approx(chosen["gt_unit"].sum(), rel=1e-12)
        assert (cells.counts * cells.ratings_unit).sum() == pytest.approx(chosen["rating_unit"].sum(), rel=1e-12)
        assert family not in cells.factors["judge_family"]


@pytest.mark.parametrize(("reference", "kept"), [("family", False), ("family_completions_kept", True)])
def test_slices_are_the_reference_families(twin, rows, reference, kept):
    table = estimate(Spec("other", reference=reference), twin, confidence=0.9).estimates
    assert sorted({row["slice"] for row in table}) == FAMILIES
    for family in FAMILIES:
        judges = {row["term"] for row in table if (row["slice"], row["quantity"]) == (family, "self_bias")}
        assert judges == set(rows.loc[rows["judge_family"] != family, "judge"])
        n = {row["n"] for row in table if row["slice"] == family}
        left = rows[(rows["judge_family"] != family) & (kept | (rows["model_family"] != family))]
        assert n == {len(left)}  # the simulated judges of a family leave no completion unrated


def test_reference_with_a_subset(twin):
    spec = Spec("other", reference="family", subset={"models_dropped": ["GPT-4o"], "dimension": ["Helpfulness"]})
    assert max(row["largest_difference"] for row in check_engines([spec], twin, confidence=0.9)) < 1e-9
    judges = {row["term"] for row in estimate(spec, twin, confidence=0.9).estimates if row["quantity"] == "self_bias"}
    assert "GPT-4o" not in judges
    assert "GPT-3.5 Turbo" in judges


def test_selected_cells_are_the_cells_of_the_selected_groups(twin):
    cells = read_cells(twin.cells)
    mask = (cells.factors["judge"] == "GPT-4o") & (cells.factors["dimension"] == "Helpfulness")
    chosen, kept = cells.select(mask), mask[cells.group]
    for factor, values in cells.factors.items():
        assert (chosen.factor(factor) == values[cells.group][kept]).all()
        assert (chosen.factors[factor] == values[mask]).all()
    np.testing.assert_array_equal(chosen.counts, cells.counts[kept])
    np.testing.assert_array_equal(chosen.reference, cells.reference[kept])
    np.testing.assert_array_equal(chosen.scale, cells.scale[kept])
