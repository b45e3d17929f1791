"""A thousand and more tables that are nearly right: each is taken, or refused by an error that
names it, and leaves nothing.
"""

import csv
from argparse import Namespace
from functools import partial
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from mutations import (
    as_csv,
    bytes_like,
    done_or_refused,
    examples,
    parquet_kinds,
    tables_like,
    write_parquet,
)
from rated_tables import normalised, raw_study
from recuse import commands
from recuse.config.load import load
from recuse.data.raters import check_raters, rater_agreement
from recuse.data.study import StudyTables
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.pairwise.table import normalise as normalise_verdicts
from recuse.steps.ratings import normalise_study

pytestmark = pytest.mark.usefixtures("own_folder")

SMOKE = ROOT / "tests" / "smoke"
CONFIG = load(str(SMOKE / "config.yaml"))
OWN = CONFIG.as_written()
source = partial(raw_study, scales=OWN["studies"]["mine"]["scales"], models=OWN["models"])


def rows_from(name, *, prompts=("t0", "t1")):
    """Header and rows of a smoke study, of few prompts."""
    with open(SMOKE / name, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return [
        header,
        *(
            row
            for row in rows
            if "prompt_id" not in header or row[header.index("prompt_id")] in prompts
        ),
    ]


RATINGS, VERDICTS = rows_from("ratings.csv"), rows_from("verdicts.csv")[:17]
RATERS = [
    ["model", "dimension", "dataset", "prompt_id", "rater", "rating", "team"],
    *(
        [row[1], row[7], row[3], row[4], rater, str(round(float(row[2]))), team]
        for row in RATINGS[1:]
        if row[0] == "gpt-4o"
        for rater, team in (("1", ""), ("2", "raters"), ("3", "gold"))
    ),
]


@pytest.fixture(scope="module")
def writer():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def parquet(writer):
    """The ratings as bytes of a parquet file."""
    write_parquet(writer, RATINGS, [(2, "double"), (5, "bigint")], Path("right.parquet"))
    return Path("right.parquet").read_bytes()


def written(name, content):
    """Write a file, bytes or a table; its name."""
    Path(name).write_bytes(content if isinstance(content, bytes) else as_csv(content))
    return name


def removed(*names):
    """Paths of files that are not there yet."""
    for name in names:
        Path(name).unlink(missing_ok=True)
    return [*map(Path, names)]


def through_the_steps(path):
    """Check the ratings, make cells and fit Equation 1, as the rules do."""
    outputs = {"ratings": "ratings.parquet", "cells": "cells.parquet", "completeness": "c.csv"}
    with done_or_refused(path, made=removed(*outputs.values())):
        normalise_study(study="mine", source=source(path), **outputs)
    if Path("cells.parquet").exists():
        study = StudyTables("mine", "cells.parquet", ["ratings.parquet"])
        estimate(Spec.of("main"), study, confidence=0.9, seed=1)


@pytest.fixture
def by_command(monkeypatch, capfd):
    """Run a command on a file, its configuration read once."""
    monkeypatch.setattr("recuse.config.load.load", lambda _: CONFIG)

    def run(command, path, **options):
        made = removed("output.csv") if command is commands.run_fit else []
        options |= {"files": [path], "study": "mine", "config": None, "output": "output.csv"}
        with done_or_refused(path, made=made):  # `check` writes what stops it, too
            command(Namespace(**options))

    return run


def test_ratings_as_they_are(parquet, by_command):
    for name, content in (("right.csv", RATINGS), ("right.parquet", parquet)):
        through_the_steps(written(name, content))
        assert Path("cells.parquet").exists()
        by_command(commands.run_fit, name, spec="main")
        assert Path("output.csv").exists()


@examples(250)
@given(st.one_of(tables_like(RATINGS), bytes_like(as_csv(RATINGS))))
def test_ratings(content):
    through_the_steps(written("given.csv", content))


@examples(60)
@given(tables_like(RATINGS))
def test_ratings_by_command(by_command, table):
    path = written("given.csv", table)
    by_command(commands.run_fit, path, spec="main")
    by_command(commands.run_check, path)


@examples(150)
@given(tables_like(RATINGS), parquet_kinds())
def test_cells_of_ratings_in_parquet(writer, table, kinds):
    write_parquet(writer, table, kinds, Path("given.parquet"))
    through_the_steps("given.parquet")


@examples(120)
@given(st.data())
def test_bytes_of_ratings_in_parquet(parquet, by_command, data):
    """By the command, which opens a DuckDB of its own: some such files are the end of one."""
    path = written("given.parquet", data.draw(bytes_like(parquet)))
    by_command(commands.run_fit, path, spec="main")


@pytest.fixture
def rated():
    """The canonical ratings that raters belong to."""
    Path("rated").mkdir()
    return normalised(source(written("right.csv", RATINGS)), "rated")


def through_raters(path, rated):
    with done_or_refused(path, made=removed("raters.parquet")):
        check_raters(path, source(path).registry, ratings=[rated], output="raters.parquet")
        assert list(rater_agreement("raters.parquet"))


def test_raters_as_they_are(rated):
    through_raters(written("raters.csv", RATERS), rated)
    assert Path("raters.parquet").exists()


@examples(200)
@given(st.one_of(tables_like(RATERS), bytes_like(as_csv(RATERS))))
def test_raters(rated, content):
    through_raters(written("raters.csv", content), rated)


def through_verdicts(path, *, both_orders):
    outputs = {"comparisons": "comparisons.parquet", "completeness": "c.csv"}
    with done_or_refused(path, made=removed(*outputs.values())):
        normalise_verdicts("mine", [path], both_orders=both_orders, **outputs)


def test_verdicts_as_they_are():
    through_verdicts(written("verdicts.csv", VERDICTS), both_orders=True)
    assert Path("comparisons.parquet").exists()


@examples(150)
@given(st.one_of(tables_like(VERDICTS), bytes_like(as_csv(VERDICTS))), st.booleans())
def test_verdicts(content, both_orders):
    through_verdicts(written("verdicts.csv", content), both_orders=both_orders)


@examples(60)
@given(tables_like(VERDICTS), parquet_kinds())
def test_verdicts_in_parquet(writer, table, kinds):
    write_parquet(writer, table, kinds, Path("verdicts.parquet"))
    through_verdicts("verdicts.parquet", both_orders=False)
