"""Biases from human scores of few answers and all ratings, beside a naive twin on the rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import recuse
from rated_tables import rated
from recuse.base.reasons import Reason, because
from recuse.model.fit import Coefficient, Fitted, with_biases

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
    columns = {("intercept", judge): rows["judge"] == judge for judge in NAMES}
    columns |= {("slope", judge): (rows["judge"] == judge) * reference for judge in NAMES}
    own = rows["judge"] == rows["model"]
    columns |= {("self_bias", judge): own & (rows["judge"] == judge) for judge in NAMES}
    of_family = rows["judge"].isin(["A", "B"]) & rows["model"].isin(["A", "B"])
    columns[("family_bias", "one")] = of_family & ~own
    columns[("dimension", "Wit")] = rows["dimension"] == "Wit"
    x = np.stack([np.asarray(column, dtype=float) for column in columns.values()], axis=1)
    y = (rows["rating"].to_numpy() - 1) / 4
    estimate = np.linalg.lstsq(x, y)[0]
    scores = pd.DataFrame(x * (y - x @ estimate)[:, None]).groupby(rows["prompt"].to_numpy()).sum()
    influence = scores.reindex([f"p{prompt}" for prompt in range(PROMPTS)], fill_value=0.0)
    return list(columns), estimate, influence.to_numpy() @ np.linalg.inv(x.T @ x)


def test_biases_are_those_of_the_naive_twin(frame):
    panel = (frame.groupby(["prompt", "dimension", "model"])["rating"].transform("mean") - 1) / 4
    scored = frame["human"].notna()
    keys, b, h = naive_fit(frame[scored], (frame["human"][scored] - 1) / 4)
    _, b_s, s = naive_fit(frame[scored], panel[scored])
    _, b_a, a = naive_fit(frame, panel)
    difference = s - a
    biases = [place for place, (quantity, _) in enumerate(keys) if quantity.endswith("bias")]
    share = 1 / (h[:, biases] ** 2).sum(axis=0)
    weight = (share * (h * difference)[:, biases]).sum()
    weight /= (share * difference[:, biases] ** 2).sum()
    expected = b - weight * (b_s - b_a)
    square = ((h - weight * difference) ** 2).sum(axis=0)
    own = frame[scored & (frame["judge"] == frame["model"])]
    of_judge = own.groupby("judge")["prompt"].nunique()
    study = recuse.ratings(frame, scale=(1, 5), families=FAMILIES)
    table = recuse.fit(study, "clustered").frame.set_index(["quantity", "term"])
    for place, key in enumerate(keys):
        if key[0] == "self_bias":
            row = table.loc[key]
            prompts = of_judge[key[1]]
            assert row["estimate"] == pytest.approx(expected[place], abs=1e-10)
            error = np.sqrt(square[place] * prompts / (prompts - 1))
            assert row["std_error"] == pytest.approx(error, rel=1e-8)
            assert row["df"] == prompts - 1
        elif key[0] == "family_bias":
            assert table.loc[key]["estimate"] == pytest.approx(expected[place], abs=1e-10)


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
