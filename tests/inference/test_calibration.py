"""Ratings on the human scale: lines that never see the human scores of their own prompts."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from recuse.base.database import connect
from recuse.inference.calibration import FOLDS, calibrated, calibration_rows

PROMPTS = 60
SCORED = 23


@pytest.fixture(scope="module")
def rows():
    """Two judges in two dimensions; the first SCORED prompts have human scores, in the second
    dimension the first nine.
    """
    random = default_rng(3)
    table = []
    for prompt in range(PROMPTS):
        for dimension, scored in (("Tone", SCORED), ("Wit", 9)):
            for model in ("A", "B"):
                human = random.random()
                for judge, slope in (("A", 0.5), ("B", 1.2)):
                    rating = 0.2 + slope * human + random.normal(0, 0.1)
                    score = human if prompt < scored else np.nan
                    table.append((prompt, judge, model, dimension, rating, score))
    names = ["prompt", "judge", "model", "dimension", "rating_unit", "gt_unit"]
    return pd.DataFrame(table, columns=names)


def made_from(rows, folder):
    """Rows with their ratings on the human scale, and the table of calibration."""
    path = str(folder / "rows.parquet")
    scores = "case when isnan(gt_unit) then null else gt_unit end as gt_unit"
    duckdb.from_df(rows).select(f"* replace ({scores})").write_parquet(path)
    connection = connect()
    query = calibrated(connection, f"select * from '{path}'", "rating_unit")
    return connection.execute(query).df(), list(calibration_rows(connection, query))


@pytest.fixture(scope="module")
def made(rows, tmp_path_factory):
    return made_from(rows, tmp_path_factory.mktemp("rows"))


def by_line(scored, rows):
    """Ratings of rows on the human scale, by the line through scored rows."""
    return np.polyval(np.polyfit(scored["rating_unit"], scored["gt_unit"], 1), rows["rating_unit"])


def test_a_line_is_fitted_to_the_other_folds(made, rows):
    table, _ = made
    of_judge = table[(table["judge"] == "A") & (table["dimension"] == "Tone")]
    scored = of_judge[of_judge["gt_unit"].notna()]
    fold = (scored["prompt"] + 1) % FOLDS
    for number in range(FOLDS):
        others = scored[fold != number]
        own = scored[fold == number]
        assert_allclose(own["human_scale_unit"], by_line(others, own), rtol=0, atol=1e-12)
        assert set(own["mean_unit"].round(12)) == {round(others["gt_unit"].mean(), 12)}
    rest = of_judge[of_judge["gt_unit"].isna()]
    assert_allclose(rest["human_scale_unit"], by_line(scored, rest), rtol=0, atol=1e-12)


def test_fewer_than_ten_prompts_give_no_line(made):
    table, calibration = made
    assert table.groupby("dimension")["human_scale_unit"].count().to_dict() == {
        "Tone": 4 * PROMPTS,
        "Wit": 0,
    }
    assert {row["dimension"] for row in calibration} == {"Tone"}


def test_errors_are_those_of_scores_that_the_lines_have_not_seen(made):
    table, calibration = made
    for row in calibration:
        of_judge = table[(table["judge"] == row["judge"]) & (table["dimension"] == "Tone")]
        scored = of_judge[of_judge["gt_unit"].notna()]
        assert (row["answers"], row["prompts"]) == (2 * SCORED, SCORED)
        for name, column in (
            ("error", "human_scale_unit"),
            ("error_of_mean", "mean_unit"),
            ("error_of_rating", "rating_unit"),
        ):
            square = (scored["gt_unit"] - scored[column]) ** 2
            assert row[name] == pytest.approx(np.sqrt(square.mean()), rel=1e-12)
        assert row["error"] < 0.9 * min(row["error_of_mean"], row["error_of_rating"])


def test_the_prompts_of_a_judge_are_in_all_folds(rows, tmp_path):
    is_fifth = rows["prompt"] % FOLDS == 0
    dealt = rows[is_fifth == (rows["judge"] == "A")].assign(gt_unit=0.5)
    table, calibration = made_from(dealt, tmp_path)
    assert table["human_scale_unit"].notna().all()
    assert {row["judge"] for row in calibration} == {"A", "B"}
