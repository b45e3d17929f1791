"""Biases from human scores of few answers and all ratings, beside a naive twin on the rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import recuse
from designs_on_rows import carried_terms, factors_on_rows, regressors_on_rows
from rated_tables import rated
from recuse.base.reasons import Reason, because
from recuse.model.fit import Coefficient, Fitted, with_biases
from recuse.model.spec import BIASES

NAMES = ("A", "B", "C", "D")
FAMILIES = {"one": ["A", "B"]}
PROMPTS = 40


@pytest.fixture(scope="module")
def frame():
    """Four judges of two dimensions; a quarter of the answers have a human score, and some ratings
    are missing.
    """
    rows = rated(NAMES, NAMES, prompts=PROMPTS, dimensions=("Tone", "Wit"))
    table = pd.DataFrame(rows).rename(columns={"gt": "human", "prompt_id": "prompt"})
    random = default_rng(11)
    answer = table.groupby(["prompt", "dimension", "model"]).ngroup()
    scored = random.random(answer.max() + 1) < 0.25
    table["human"] = table["human"].where(scored[answer])
    columns = ["judge", "model", "prompt", "dimension", "rating", "human"]
    return table[columns][random.random(len(table)) > 0.1]


def naive_fit(rows, reference):
    """Coefficients of Equation 1, and what each prompt adds to their errors."""
    terms = carried_terms(factors_on_rows(rows))
    x = regressors_on_rows(terms, reference)
    estimate, *_ = np.linalg.lstsq(x, rows["rating_unit"])
    scores = np.zeros((PROMPTS, len(terms)))
    np.add.at(scores, rows["prompt"], x * (rows["rating_unit"] - x @ estimate).to_numpy()[:, None])
    return terms, estimate, scores @ np.linalg.inv(x.T @ x)


def test_biases_are_those_of_the_naive_twin(frame):
    study = recuse.ratings(frame, scale=(1, 5), families=FAMILIES)
    family = {name: name for name in NAMES} | dict.fromkeys(FAMILIES["one"], "one")
    units = {"rating_unit": (frame["rating"] - 1) / 4, "gt_unit": (frame["human"] - 1) / 4}
    rows = frame.assign(prompt=frame["prompt"].str[1:].astype(int), **units)
    rows = rows.assign(
        judge_family=rows["judge"].map(family), model_family=rows["model"].map(family)
    )
    panel = rows.groupby(["prompt", "dimension", "model"])["rating_unit"].transform("mean")
    scored = rows["gt_unit"].notna()
    terms, b, h = naive_fit(rows[scored], rows["gt_unit"][scored])
    _, b_s, s = naive_fit(rows[scored], panel[scored])
    _, b_a, a = naive_fit(rows, panel)
    difference = s - a
    biases = [place for place, term in enumerate(terms) if term.quantity in BIASES]
    share = 1 / (h[:, biases] ** 2).sum(axis=0)
    weight = (share * (h * difference)[:, biases]).sum()
    weight /= (share * difference[:, biases] ** 2).sum()
    expected = b - weight * (b_s - b_a)
    square = ((h - weight * difference) ** 2).sum(axis=0)
    table = recuse.fit(study, "clustered").frame.set_index(["quantity", "term"])
    for place in biases:
        row = table.loc[terms[place].quantity, terms[place].term]
        assert row["estimate"] == pytest.approx(expected[place], abs=1e-10)
        if terms[place].quantity == "self_bias":
            prompts = rows[scored][terms[place].carried]["prompt"].nunique()
            error = np.sqrt(square[place] * prompts / (prompts - 1))
            assert row["std_error"] == pytest.approx(error, rel=1e-8)
            assert row["df"] == prompts - 1


def test_human_scores_of_one_model_determine_no_bias_against_people(frame):
    of_one = frame.assign(human=frame["human"].where(frame["model"] == "A"))
    study = recuse.ratings(of_one, scale=(1, 5), families=FAMILIES)
    table = recuse.fit(study, "clustered").frame
    assert table[table["quantity"].isin(["self_bias", "family_bias"])]["estimate"].isna().all()


def test_a_bias_of_all_ratings_says_that_no_bootstrap_is_drawn():
    drawn = Coefficient("self_bias", "A", 10, 0.1, 0.02, replicates=np.zeros(9))
    undrawn = Coefficient("self_bias", "B", 10, 0.1, 0.02)
    numbers = {("self_bias", name): (0.2, 0.01, 8) for name in "AB"}
    rows = with_biases(Fitted("", 20, [drawn, undrawn]), numbers).coefficients
    assert [(row.estimate, row.std_error, row.df) for row in rows] == [(0.2, 0.01, 8)] * 2
    assert [row.note for row in rows] == [because(Reason.NO_BOOTSTRAP), ""]
    assert rows[0].replicates is None
