"""A thousand and more tables that are nearly right: each is taken, or refused by an error that
names it, and leaves nothing.
"""

import csv
from argparse import Namespace

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
from recuse import commands
from recuse.config.load import load
from recuse.data.raters import check_raters, rater_agreement
from recuse.data.ratings import StudyFiles, normalise_ratings
from recuse.data.study import StudyTables
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.pairwise.table import normalise as normalise_verdicts
from recuse.steps.ratings import normalise_study

SMOKE = ROOT / "tests" / "smoke"
CONFIG = load(str(SMOKE / "config.yaml"))


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
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def writer():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def parquet(folder, writer):
    """The ratings as bytes of a parquet file."""
    write_parquet(writer, RATINGS, [(2, "double"), (5, "bigint")], folder / "right.parquet")
    return (folder / "right.parquet").read_bytes()


def source(path):
    return StudyFiles.from_files(
        [str(path)],
        [None],
        scales=CONFIG.as_written()["studies"]["mine"]["scales"],
        task_types={},
        models=CONFIG.as_written()["models"],
    )


def removed(folder, *names):
    """Paths of files that are not there yet."""
    paths = [folder / name for name in names]
    for path in paths:
        path.unlink(missing_ok=True)
    return paths


def through_the_steps(path, folder):
    """Check the ratings, make cells and fit Equation 1, as the rules do."""
    made = ratings, completeness, cells = removed(
        folder, "ratings.parquet", "completeness.csv", "cells.parquet"
    )
    with done_or_refused(str(path), made=made):
        normalise_study(
            study="mine",
            source=source(path),
            ratings=str(ratings),
            cells=str(cells),
            completeness=str(completeness),
        )
    if cells.exists():
        estimate(
            Spec.of("main"), StudyTables("mine", str(cells), [str(ratings)]), confidence=0.9, seed=1
        )


@pytest.fixture
def by_command(monkeypatch, capfd):
    """Run a command on a file, its configuration read once."""
    monkeypatch.setattr("recuse.config.load.load", lambda _: CONFIG)

    def run(command, path, folder, **options):
        (output,) = removed(folder, "output.csv")
        with done_or_refused(
            str(path), made=[output] if command is commands.run_fit else []
        ):  # `check` writes what stops it, too
            command(
                Namespace(
                    files=[str(path)], study="mine", config=None, output=str(output), **options
                )
            )

    return run


def test_ratings_as_they_are(folder, parquet, by_command):
    for name, content in (("right.csv", as_csv(RATINGS)), ("right.parquet", parquet)):
        (folder / name).write_bytes(content)
        through_the_steps(folder / name, folder)
        assert (folder / "cells.parquet").exists()
        by_command(commands.run_fit, folder / name, folder, spec="main")
        assert (folder / "output.csv").exists()


@examples(250)
@given(st.one_of(tables_like(RATINGS).map(as_csv), bytes_like(as_csv(RATINGS))))
def test_ratings(folder, content):
    (folder / "ratings.csv").write_bytes(content)
    through_the_steps(folder / "ratings.csv", folder)


@examples(60)
@given(tables_like(RATINGS))
def test_ratings_that_are_fitted(folder, by_command, table):
    (folder / "ratings.csv").write_bytes(as_csv(table))
    by_command(commands.run_fit, folder / "ratings.csv", folder, spec="main")


@examples(30)
@given(tables_like(RATINGS))
def test_ratings_that_are_checked(folder, by_command, table):
    (folder / "ratings.csv").write_bytes(as_csv(table))
    by_command(commands.run_check, folder / "ratings.csv", folder)


@examples(150)
@given(tables_like(RATINGS), parquet_kinds())
def test_cells_of_ratings_in_parquet(folder, writer, table, kinds):
    write_parquet(writer, table, kinds, folder / "given.parquet")
    through_the_steps(folder / "given.parquet", folder)


@examples(120)
@given(st.data())
def test_bytes_of_ratings_in_parquet(folder, parquet, by_command, data):
    """By the command, which opens a DuckDB of its own: some such files are the end of one."""
    (folder / "given.parquet").write_bytes(data.draw(bytes_like(parquet)))
    by_command(commands.run_fit, folder / "given.parquet", folder, spec="main")


@pytest.fixture(scope="module")
def rated(folder):
    """The canonical ratings that raters belong to."""
    (folder / "right.csv").write_bytes(as_csv(RATINGS))
    paths = {"ratings": str(folder / "rated.parquet"), "completeness": str(folder / "rated.csv")}
    normalise_ratings("mine", source(folder / "right.csv"), **paths)
    return paths["ratings"]


def through_raters(path, folder, rated):
    (made,) = removed(folder, "raters.parquet")
    with done_or_refused(str(path), made=[made]):
        check_raters(str(path), source(path).registry, ratings=[rated], output=str(made))
        assert list(rater_agreement(str(made)))


def test_raters_as_they_are(folder, rated):
    (folder / "raters.csv").write_bytes(as_csv(RATERS))
    through_raters(folder / "raters.csv", folder, rated)
    assert (folder / "raters.parquet").exists()


@examples(200)
@given(st.one_of(tables_like(RATERS).map(as_csv), bytes_like(as_csv(RATERS))))
def test_raters(folder, rated, content):
    (folder / "raters.csv").write_bytes(content)
    through_raters(folder / "raters.csv", folder, rated)


def through_verdicts(path, folder, *, both_orders):
    made = removed(folder, "comparisons.parquet", "completeness.csv")
    written = {"comparisons": str(made[0]), "completeness": str(made[1])}
    with done_or_refused(str(path), made=made):
        normalise_verdicts("mine", [str(path)], both_orders=both_orders, **written)


def test_verdicts_as_they_are(folder):
    (folder / "verdicts.csv").write_bytes(as_csv(VERDICTS))
    through_verdicts(folder / "verdicts.csv", folder, both_orders=True)
    assert (folder / "comparisons.parquet").exists()


@examples(150)
@given(st.one_of(tables_like(VERDICTS).map(as_csv), bytes_like(as_csv(VERDICTS))), st.booleans())
def test_verdicts(folder, content, both_orders):
    (folder / "verdicts.csv").write_bytes(content)
    through_verdicts(folder / "verdicts.csv", folder, both_orders=both_orders)


@examples(60)
@given(tables_like(VERDICTS), parquet_kinds())
def test_verdicts_in_parquet(folder, writer, table, kinds):
    write_parquet(writer, table, kinds, folder / "verdicts.parquet")
    through_verdicts(folder / "verdicts.parquet", folder, both_orders=False)
