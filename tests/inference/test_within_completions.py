"""Ratings of one prompt on several occasions, and cell means within completions, against dummies on
the rows.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from conftest import CONFIG
from designs_on_rows import largest_difference
from picked_rows import column, fields, keyed, where
from rated_tables import FIVE, rated, study_of_rows
from recuse.base.errors import DataError
from recuse.inference.idiosyncrasy import LEAST_PROMPTS, idiosyncrasies, idiosyncrasy_rows
from recuse.inference.judge_model import tables_of_slices
from recuse.model.fit import fitted_slices
from recuse.model.spec import Spec

WITHIN = {"absorb": "completion", "terms": ("judge", "same_family")}
SIX = [*FIVE, "Claude v2"]


@pytest.fixture(scope="module")
def rows():
    """Each prompt was answered twice, by other models, each answer rated by other judges than the
    model, and not by all.
    """
    drawn = default_rng(5)
    kept = []
    for occasion in ("first", "again"):
        among = {prompt: set(drawn.choice(SIX, 5, replace=False)) for prompt in range(30)}
        for row in rated(SIX, SIX, prompts=30, seed=len(occasion)):
            judge = row["judge"]
            model = row["model"]
            prompt = int(row["prompt_id"][1:])
            if {judge, model} <= among[prompt] and judge != model and drawn.random() < 0.9:
                kept.append({**row, "gt": "", "occasion": occasion})
    return kept


@pytest.fixture(scope="module")
def study(rows, tmp_path_factory):
    return study_of_rows(tmp_path_factory.mktemp("occasions"), rows)


def dummies(rows, *names):
    """Indicators of each level of some columns together, (rows, levels)."""
    level = pd.DataFrame(rows).groupby([*names]).ngroup()
    return pd.get_dummies(level).to_numpy(float)


def on_unit_scale(rows):
    return (np.array(column(rows, "rating")) - 1) / 4


def test_two_ratings_of_a_prompt_need_two_occasions(rows, tmp_path):
    with pytest.raises(DataError, match="are already in"):
        study_of_rows(tmp_path, [{**row, "occasion": ""} for row in rows])


def test_a_completion_is_of_one_occasion(rows, study):
    """The family-bias, by a dummy for each answer; its errors, by statsmodels."""
    (fit,) = fitted_slices(Spec.of("s", **WITHIN, covariance="CR1"), study, seed=1)
    families = {name: CONFIG["models"][name]["family"] for name in SIX}
    ours = {row.term: row.estimate for row in fit.coefficients if row.quantity == "family_bias"}
    same = [
        [families[row["judge"]] == families[row["model"]] == family for family in ours]
        for row in rows
    ]
    answers = dummies(rows, "model", "prompt_id", "occasion")
    design = np.hstack([same, dummies(rows, "judge"), answers])
    expected = np.linalg.lstsq(design, on_unit_scale(rows))[0]
    assert_allclose([*ours.values()], expected[: len(ours)], atol=1e-10)
    specs = [Spec.of(name, **WITHIN, covariance=name) for name in ("CR1", "CR1_judge", "two_way")]
    assert largest_difference(specs, study) < 1e-9


def test_cell_means_within_completions_are_those_of_dummies(rows, study):
    ((_, cells),) = tables_of_slices(Spec.of("s", **WITHIN, covariance="CR1"), study)
    pairs = sorted({fields(row, "judge model") for row in rows})
    assert list(zip(cells.judge.tolist(), cells.model.tolist(), strict=True)) == pairs
    design = np.hstack(
        [dummies(rows, "judge", "model"), dummies(rows, "model", "prompt_id", "occasion")]
    )
    rating = on_unit_scale(rows)
    expected = np.linalg.lstsq(design, rating)[0][: len(pairs)]
    for model in SIX:  # gaps between the judges of a model, and the mean of all its ratings
        of_model = cells.model == model
        gaps = (cells.mean - expected)[of_model]
        assert_allclose(gaps, gaps[0], atol=1e-10)
        mean = np.average(cells.mean[of_model], weights=cells.n[of_model])
        assert mean == pytest.approx(rating[[row["model"] == model for row in rows]].mean())


def test_only_the_biases_that_the_spec_has(study):
    slices = idiosyncrasies(Spec.of("s", **WITHIN, covariance="CR1"), study)
    quantities = {row["quantity"] for row in idiosyncrasy_rows(slices, confidence=0.9)}
    assert quantities == {"family_bias"}


def test_a_judge_that_shares_no_completion_has_no_cell(rows, tmp_path):
    """Its ratings say nothing about how it differs from others; nor do those of judges in a part of
    their own.
    """
    alone = [
        {**row, "occasion": f"alone, {row['occasion']}"}
        for row in where(rows, judge="GPT-4o", model="Claude v2")
    ]
    others = [row for row in rows if fields(row, "judge model") != ("GPT-4o", "Claude v2")]
    assert alone
    ((_, cells),) = tables_of_slices(
        Spec.of("s", **WITHIN, covariance="CR1"), study_of_rows(tmp_path, others + alone)
    )
    assert ("GPT-4o", "Claude v2") not in {
        *zip(cells.judge.tolist(), cells.model.tolist(), strict=True)
    }
    assert np.isfinite(cells.mean).all()


def test_a_family_is_compared_in_the_cells_that_can_be(rows, tmp_path):
    """A cell with few prompts does not keep a family from being told by its others."""
    many = where(rows, judge="Claude v2", model="Claude 3 Sonnet")[LEAST_PROMPTS - 1 :]
    kept = [row for row in rows if row not in many]
    slices = idiosyncrasies(Spec.of("s", **WITHIN, covariance="CR1"), study_of_rows(tmp_path, kept))
    by_family = keyed(idiosyncrasy_rows(slices, confidence=0.9), "term")
    assert by_family["Claude"]["cells"] == 1
    assert by_family["GPT"]["cells"] == 2
