"""The canonical ratings: codes and order, the same bytes whatever the parts and the memory, and the cells counted by codes."""

import gzip
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pytest

import recuse.base.database
from conftest import CONFIG, study_files
from recuse.base.database import bounded_memory, connect
from recuse.base.errors import ConfigError, DataError
from recuse.data.cells import FACTORS, build_cells
from recuse.data.files import RatingsFile
from recuse.data.levels import Levels, as_metadata, levels_of
from recuse.data.ratings import StudyFiles, normalise
from recuse.data.registry import Registry

LEVELS = Levels(
    ["d1", "d2"], ["j'1"], ["m1", "m2", "ü"], ["s1", "s2"], [0.1, 2 / 3], [[1, 5], [0, 4]], ["f"], ["g"] * 3, ["", "t"]
)


def canonical(folder, paths, study="twin"):
    """The bytes of the canonical ratings and of the completeness table of a study's files."""
    ratings, completeness = folder / "ratings.parquet", folder / "completeness.csv"
    normalise(
        study,
        study_files(study, [RatingsFile(str(path)) for path in paths]),
        ratings=str(ratings),
        completeness=str(completeness),
    )
    return ratings.read_bytes(), completeness.read_bytes()


@pytest.fixture(scope="module")
def raw(twin):
    return str(Path(twin.ratings[0]).parent / "raw.parquet")


@pytest.fixture(scope="module")
def rows(twin):
    return duckdb.sql(f"from '{twin.ratings[0]}'").df()


def test_levels_stand_in_the_footer(tmp_path):
    path = str(tmp_path / "some.parquet")
    duckdb.sql(f"copy (select 1 as a) to '{path}' (format parquet, {as_metadata(LEVELS)})")
    assert levels_of(path) == LEVELS
    duckdb.sql(f"copy (select 1 as a) to '{path}' (format parquet)")
    with pytest.raises(DataError, match="its footer does not say what its codes stand for"):
        levels_of(path)


def test_codes_of_groups_count_every_combination():
    code = np.arange(LEVELS.groups)
    assert (LEVELS.code(*LEVELS.places(code)) == code).all()
    named = LEVELS.factors(code)
    every = list(product(LEVELS.dimension, LEVELS.judge, LEVELS.model, LEVELS.dataset))
    assert list(zip(*(named[factor].tolist() for factor in ("dimension", "judge", "model", "dataset")), strict=True)) == every
    assert set(named["task_type"][named["dataset"] == "s2"]) == {"t"}
    assert set(map(tuple, LEVELS.scales(code)[named["dimension"] == "d2"])) == {(0, 4)}


def test_codes_say_what_the_texts_say(twin, rows):
    levels = levels_of(twin.ratings[0])
    for factor, names in levels.factors(rows["group_code"].to_numpy(dtype=int)).items():
        assert (names == rows[factor].to_numpy(dtype=str)).all(), factor
    assert (np.array(levels.reference)[rows["reference_code"]] == rows["gt"]).all()
    assert (levels.scales(rows["group_code"].to_numpy(dtype=int)) == rows[["scale_low", "scale_high"]].to_numpy()).all()
    assert all(list(names) == sorted(set(names)) for names in (levels.judge, levels.model, levels.dataset, levels.reference))


def test_rows_rise_by_prompt_and_group(rows):
    place = list(zip(rows["prompt_id"], rows["group_code"], strict=True))
    assert place == sorted(place)
    assert (np.unique(rows["prompt_id"], return_inverse=True)[1] == rows["prompt"]).all()


def test_prompts_without_a_complete_row_have_no_number(tmp_path):
    lines = [
        "judge,model,gt,dataset,prompt_id,rating",
        *(f"gpt-4o,gpt-4o,{gt},cnn,{p},1" for p, gt in (("a", 1), ("b", ""), ("c", 2))),
    ]
    (tmp_path / "f.csv").write_text("\n".join(lines) + "\n", "utf-8")
    source = StudyFiles([RatingsFile(str(tmp_path / "f.csv"), "A")], {"A": [0, 4]}, {}, Registry.from_config(CONFIG["models"]))
    normalise("mine", source, ratings=str(tmp_path / "r.parquet"), completeness=str(tmp_path / "c.csv"))
    assert duckdb.sql(f"select prompt_id, prompt from '{tmp_path}/r.parquet'").fetchall() == [("a", 0), ("c", 1)]


def test_order_and_form_of_the_raw_files_change_nothing(raw, tmp_path):
    whole = canonical(tmp_path, [raw])
    paths = [tmp_path / "part 2.parquet", tmp_path / "part 1.csv", tmp_path / "part 3.csv.gz"]
    for part, path in enumerate(paths):
        rows = f"from '{raw}' where hash(prompt_id, judge) % 3 = {part} order by hash(model, judge, prompt_id)"
        plain = path.with_suffix("") if path.suffix == ".gz" else path
        duckdb.sql(f"copy ({rows}) to '{plain}'")
        if plain != path:
            path.write_bytes(gzip.compress(plain.read_bytes()))
    assert canonical(tmp_path, paths) == whole
    assert not list(tmp_path.glob("*.unsorted"))


def test_more_threads_and_little_memory_change_nothing(tmp_path, monkeypatch):
    """Over 120,000 rows, which is where DuckDB divides its work."""
    models = [name for name, model in CONFIG["models"].items() if model["family"] in ("GPT", "Claude")][:5]
    raw = tmp_path / "raw.parquet"
    duckdb.sql(f"""
        copy (select {models}[1 + i % 5] as judge, {models}[1 + i // 5 % 5] as model, i % 4 as gt, 'd' as dataset,
                     'Tone' as dimension, 'prompt ' || hash(i // 25) as prompt_id, hash(i) % 5 as rating,
                     hash(i // 5) % 700 as pred_length
              from range(400000) as t(i)) to '{raw}' (format parquet)""")
    source = StudyFiles([RatingsFile(str(raw))], {"Tone": [0, 4]}, {}, Registry.from_config(CONFIG["models"]))

    def bytes_of():
        normalise("t", source, ratings=str(tmp_path / "r.parquet"), completeness=str(tmp_path / "c.csv"))
        return (tmp_path / "r.parquet").read_bytes()

    with bounded_memory("2GB", tmp_path / "spill"):
        plenty = bytes_of()
    with bounded_memory("40MB", tmp_path / "spill"):  # sorting takes more: 13 MB go to files
        assert bytes_of() == plenty
    monkeypatch.setitem(recuse.base.database.SETTINGS, "threads", 3)
    with bounded_memory("2GB", tmp_path / "spill"):
        assert bytes_of() == plenty
    with pytest.raises(ConfigError, match="memory_limit: 10MB: too little") as said, bounded_memory("10MB", tmp_path / "spill"):
        bytes_of()
    assert str(said.value).endswith("); write more")
    assert "\n" not in str(said.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv", "r.parquet", "raw.parquet"]


@pytest.mark.parametrize(
    ("limit", "of_job", "bound"),
    [("4GB", 1000, 600e6), ("4GB", 20_000, 4e9), ("512 MiB", 2000, 512 * 2**20), ("1.5GB", None, 1.5e9)],
)
def test_memory_is_the_smaller_of_the_limit_and_the_share_of_the_job(tmp_path, limit, of_job, bound):
    with bounded_memory(limit, tmp_path / "spill", of_job=of_job):
        ((said,),) = connect().execute("select current_setting('memory_limit')").fetchall()
    number, unit = said.split()
    assert float(number) * 1024 ** ("KiB", "MiB", "GiB").index(unit) * 1024 == pytest.approx(
        bound, rel=0.08
    )  # said to a tenth, rounded down


def test_too_small_a_job_is_named(tmp_path):
    query = "select list(hash(i) order by hash(i)) from range(10_000_000) t(i)"
    said = "resources: mem_mb: 20, of which the ratings may take 12MB: too little"
    with pytest.raises(ConfigError, match=said), bounded_memory("4GB", tmp_path / "spill", of_job=20):
        connect().execute(query)


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "old").write_text("left")
    with bounded_memory("1GB", tmp_path / "spill"):
        assert not list((tmp_path / "spill").iterdir())
    assert not list(tmp_path.iterdir())


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
