"""Cells: the counts of the rows, by codes."""

import duckdb
import numpy as np
import pytest

from conftest import CONFIG
from rated_tables import NINE, study_of_query
from recuse.base.database import connect
from recuse.base.errors import DataError
from recuse.data.cells import FACTORS, build_cells
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles, normalise
from recuse.data.registry import Registry


@pytest.fixture(scope="module")
def rows(twin):
    return duckdb.sql(f"from '{twin.ratings[0]}'").df()


def test_cells_are_the_counts_of_the_rows(twin, rows):
    cells = twin.cells()
    keys = ["dimension", "dataset", "judge", "model"]
    counts = rows.groupby([*keys, "gt", "rating"]).size().unstack(fill_value=0)
    place = list(zip(*(cells.factor(key).tolist() for key in keys), cells.reference_raw.tolist(), strict=True))
    assert place == counts.index.tolist()
    np.testing.assert_array_equal(cells.counts[:, counts.columns], counts.to_numpy())
    assert cells.counts.sum() == len(rows)
    first = rows.drop_duplicates([*keys, "gt"]).set_index([*keys, "gt"]).loc[place]
    assert (first["gt_unit"].to_numpy() == cells.reference).all()
    assert (first[["scale_low", "scale_high"]].to_numpy() == cells.scale).all()
    assert all((first.reset_index()[factor].to_numpy(dtype=str) == cells.factor(factor)).all() for factor in FACTORS)


def test_codes_are_counted_without_a_hash_table(twin, monkeypatch, tmp_path):
    asked = []

    class Listener:
        def __init__(self, connection):
            self.connection = connection

        def execute(self, query, *arguments):
            if "group by" in query:
                asked.append(self.connection.execute(f"explain {query}").fetchall()[0][1])
            return self.connection.execute(query, *arguments)

    monkeypatch.setattr("recuse.data.cells.connect", lambda: Listener(connect()))
    build_cells(twin.ratings[0], str(tmp_path / "cells.parquet"))
    assert len(asked) == 1
    assert "Perfect Hash" in asked[0] or "PERFECT_HASH" in asked[0]


def test_file_without_a_complete_row(tmp_path):
    line = "judge,model,gt,dataset,prompt_id,rating\ngpt-4o,gpt-4o,1,cnn,a,\n"
    (tmp_path / "f.csv").write_text(line, "utf-8")
    source = StudyFiles([RatingsFile(str(tmp_path / "f.csv"), "A")], {"A": [0, 4]}, {}, Registry.from_config(CONFIG["models"]))
    normalise("mine", source, ratings=str(tmp_path / "r.parquet"), completeness=str(tmp_path / "c.csv"))
    with pytest.raises(DataError, match="no complete row is left"):
        build_cells(str(tmp_path / "r.parquet"), str(tmp_path / "cells.parquet"))


def test_cells_count_the_ratings_of_the_scale(tmp_path):
    study = study_of_query(
        tmp_path,
        f"""
        select '{NINE[0]}' as judge, '{NINE[0]}' as model, 'A' as dimension, 's' as dataset, p as prompt_id,
               2 + p as rating, 2 as gt
        from range(3) prompts(p)""",
        scale=(2, 5),
    )
    columns = duckdb.sql(f"select * from '{study.cells_from}'").columns
    assert [column for column in columns if column.startswith("count_")] == ["count_2", "count_3", "count_4", "count_5"]
    assert study.cells().counts.tolist() == [[1, 1, 1, 0]]
