"""A folder of parts as a study of three shards, run by Snakemake beside the same study in one
piece.
"""

import os
import re
import shutil

import duckdb
import pytest

from recuse.base.tables import read_table
from workflow_runs import build, copy_project, planned

pytestmark = pytest.mark.workflow

STUDIES = """
studies:
  whole: &study {title: t, files: parts, scales: {Tone: [1, 5], Usefulness: [1, 5]}}
  scattered: {<<: *study, shards: 3}
inference: {replicates: 100}
"""
# And what they are made of; data/test_shards asks it of every kind of fit
TABLES = ("estimates/main", "tables/idiosyncrasy")
NUMBERS = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
CHECKS = [f"results/scattered/checked/{part}.rows.parquet" for part in (1, 2, 3)]
ONWARDS = {"plan_shards": 1, "shard": 3, "gather_cells": 1, "fit": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both studies, made of four parts, one larger than the others; each prompt has rows in
    several.
    """
    folder = copy_project(tmp_path_factory.mktemp("a project of shards"))
    (folder / "parts").mkdir()
    rows = f"from '{folder}/tests/smoke/ratings.csv'"
    for part in range(4):
        condition = f"hash(judge, model, prompt_id) % 5 in ({part}{', 4' if part == 1 else ''})"
        duckdb.sql(
            f"copy ({rows} where {condition}) to '{folder}/parts/{part}.parquet' (format parquet)"
        )
    rows = f"read_parquet('{folder}/parts/*.parquet', filename = true)"
    parts = duckdb.sql(f"select count(distinct filename) from {rows} group by prompt_id")
    assert min(parts.fetchall()) > (1,)
    (folder / "studies.yaml").write_text(STUDIES, "utf-8")
    studies = ("whole", "scattered")
    tables = [f"results/{study}/{table}.csv" for study in studies for table in TABLES]
    build(folder, "--cores", "2", *tables, "--notemp", configs=["studies.yaml"])
    return folder


def plan(folder, *arguments):
    return planned(
        folder, "results/scattered/estimates/main.csv", *arguments, configs=["studies.yaml"]
    )


def test_shards_give_what_one_piece_gives(folder):
    """Bytes for what is made of cells; numbers to rounding where lengths are summed over rows."""
    whole, scattered = (folder / "results" / study for study in ("whole", "scattered"))
    assert names_in(whole) ^ names_in(scattered) == {"ratings.parquet", "checked", "shards"}
    assert (scattered / "cells.parquet").read_bytes() == (whole / "cells.parquet").read_bytes()
    for path in ("tables/completeness", *TABLES):
        ours, theirs = (read_table(study / f"{path}.csv") for study in (scattered, whole))
        for one, other in zip(ours, theirs, strict=True):
            for column, value in other.items():
                if NUMBERS.fullmatch(value):
                    near = pytest.approx(float(value), rel=0, abs=1e-12)
                    assert float(one[column]) == near, (path, column)
                else:
                    assert one[column] == value.replace("whole", "scattered")


def names_in(place):
    return {path.name for path in place.iterdir()}


def test_only_what_concerns_a_changed_part_is_made_again(folder, tmp_path):
    """With the checked rows kept, one check, also of a part that grows or comes after the others;
    without, all of them; none of a part that is merely touched.
    """
    os.utime(folder / "parts" / "1.parquet")
    shutil.copy(folder / "parts" / "1.parquet", tmp_path)
    further = folder / "parts" / "4.parquet"
    try:
        shutil.copy(folder / "parts" / "0.parquet", further)
        assert plan(folder) == {"check_part": 1, **ONWARDS}
        further.unlink()
        rows = (
            f"select * replace (prompt_id || i as prompt_id) from '{tmp_path}/1.parquet', range(9)"
            " as times(i)"
        )
        duckdb.sql(
            f"copy (select * exclude (i) from ({rows})) to '{folder}/parts/1.parquet' (format"
            " parquet)"
        )
        assert plan(folder) == {"check_part": 1, **ONWARDS}
        for path in (folder / "results" / "scattered" / "checked").iterdir():
            path.rename(tmp_path / path.name)
        assert plan(folder) == {"check_part": 3, **ONWARDS}
        for path in CHECKS:
            for name in (path, path.replace("rows", "summary")):
                shutil.move(tmp_path / name.split("/")[-1], folder / name)
    finally:
        further.unlink(missing_ok=True)
        shutil.copy(tmp_path / "1.parquet", folder / "parts")


@pytest.mark.long
def test_another_number_of_shards_takes_in_none_of_those_before(folder):
    """That shards one after the other are the ratings is tested in data/test_shards."""
    (folder / "more.yaml").write_text("studies: {scattered: {shards: 10}}\n", "utf-8")
    shards = [
        f"results/scattered/shards/{shard:02}-of-10/ratings.parquet" for shard in range(1, 11)
    ]
    build(folder, "--cores", "2", *shards, configs=["studies.yaml", "more.yaml"])
    # In the order of their names
    rows = f"from '{folder}/results/scattered/shards/*-of-10/ratings.parquet'"
    assert (
        duckdb.sql(rows).fetchall()
        == duckdb.sql(f"from '{folder}/results/whole/ratings.parquet'").fetchall()
    )
    assert (folder / "results/scattered/shards/3-of-3/ratings.parquet").is_file()
