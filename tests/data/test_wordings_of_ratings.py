"""Ratings of one answer in several wordings of the rubric, and replicates: how they are told apart,
read and imported.
"""

import duckdb
import pytest

import recuse
from rated_tables import normalised, rated, raw_study, study_of_rows, write_rows
from recuse.base.errors import DataError
from recuse.data.selection import Selection

JUDGES = ["GPT-4o", "Llama 3 8B"]
TONE = {"Tone": (1, 5)}


def asked(rows, wordings=("plain", "strict"), replicates=(1, 2)):
    """Each row once in every wording and replicate, the rating of a strict wording one lower."""
    return [
        {
            **row,
            "rating": max(1, row["rating"] - (wording == "strict")),
            "wording": wording,
            "replicate": replicate,
        }
        for row in rows
        for wording in wordings
        for replicate in replicates
    ]


def test_wordings_and_replicates_tell_ratings_apart(tmp_path):
    """A wording may be its own text of several lines."""
    wordings = ("plain", "Rate it.\nBe strict.")
    rows = asked(rated(JUDGES, JUDGES, prompts=3), wordings)
    study = study_of_rows(tmp_path, rows)
    counts = (
        f"select wording, replicate, occasion, count(*) from '{study.ratings[0]}' group by all"
        " order by all"
    )
    assert duckdb.sql(counts).fetchall() == [
        (each, again, None, 12) for each in sorted(wordings) for again in "12"
    ]
    codes = (
        f"select count(distinct occasion_code), count(*) from '{study.ratings[0]}' group by prompt,"
        " group_code"
    )
    assert set(duckdb.sql(codes).fetchall()) == {(4, 4)}


def test_a_rating_twice_in_one_wording_and_replicate_is_refused_by_its_place(tmp_path):
    rows = asked(rated(JUDGES, JUDGES, prompts=2))
    with pytest.raises(
        DataError, match=r"line 34, .* are already in .*line 4; .*column `wording` or `replicate`"
    ):
        study_of_rows(tmp_path, [*rows, rows[2]])


@pytest.mark.parametrize(
    ("twice", "message"),
    [("named", r"named\.csv, line 10, .*named\.csv, line 5"), ("bare", r"bare\.csv, line 10, ")],
)
def test_a_rating_twice_is_found_beside_a_file_without_wordings(tmp_path, twice, message):
    rows = rated(JUDGES, JUDGES, prompts=2)
    files = {"bare": rows, "named": [{**row, "wording": "plain"} for row in rows]}
    files[twice] = [*files[twice], files[twice][3]]
    paths = [write_rows(tmp_path / f"{name}.csv", each) for name, each in files.items()]
    with pytest.raises(DataError, match=message):
        normalised(raw_study(*paths, scales=TONE), tmp_path)


def test_files_with_and_without_the_columns_are_one_study(tmp_path):
    """Occasions keep their meaning; a blank wording is none."""
    paths = [
        write_rows(tmp_path / f"{number}.csv", [{**row, **more} for row in rated(JUDGES, JUDGES)])
        for number, more in enumerate(
            ({"occasion": "again", "wording": "plain"}, {"wording": " "}, {"occasion": "first"})
        )
    ]
    ratings = normalised(raw_study(*paths, scales=TONE), tmp_path)
    counts = (
        f"select occasion, wording, replicate, count(*) from '{ratings}' group by all order by all"
    )
    assert duckdb.sql(counts).fetchall() == [
        ("again", "plain", None, 160),
        ("first", None, None, 160),
        (None, None, None, 160),
    ]


def test_the_rows_of_one_wording_are_those_of_a_study_of_it_alone(tmp_path):
    rows = asked(rated(JUDGES, JUDGES, prompts=5))
    (tmp_path / "alone").mkdir()
    study = study_of_rows(tmp_path, rows)
    alone = study_of_rows(tmp_path / "alone", [row for row in rows if row["wording"] == "strict"])
    of_one, expected = (
        [cells.n.tolist(), (cells.counts @ cells.ratings).tolist(), cells.factor("judge").tolist()]
        for cells in (study.cells(Selection(asked=("wording", "strict"))), alone.cells())
    )
    assert of_one == expected
    assert sum(of_one[0]) * 2 == study.cells().n.sum()


def test_the_rows_of_one_wording_without_human_scores_have_none(tmp_path):
    study = study_of_rows(
        tmp_path, asked([{**row, "gt": ""} for row in rated(JUDGES, JUDGES, prompts=2)])
    )
    assert not study.cells(Selection(asked=("wording", "plain"))).has_reference


def test_imported_ratings_keep_wording_and_replicate(tmp_path):
    """By names of their own or of config; what is told apart is no repeat."""
    rows = [{**row, "rubric": row["wording"]} for row in asked(rated(JUDGES, JUDGES, prompts=2))]
    for row in rows:
        del row["wording"]
    path = write_rows(tmp_path / "table.csv", rows)
    (tmp_path / "mine.yaml").write_text(
        f"studies: {{mine: {{title: T, scales: {{Tone: [1, 5]}}, import: {{files: {path}, repeats:"
        " mean, columns: {human: gt, wording: rubric, length: pred_length}}}}\n",
        encoding="utf-8",
    )
    frame = recuse.ratings(tmp_path / "mine.yaml").to_pandas()
    assert frame.groupby(["wording", "replicate"]).size().to_dict() == {
        (wording, again): 8 for wording in ("plain", "strict") for again in "12"
    }
