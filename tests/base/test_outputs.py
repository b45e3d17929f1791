"""Outputs are whole or absent: what is left after an error, a kill, and in a folder where two names
are too long.
"""

import os

import duckdb
import pytest

from recuse.base.database import connect, write_rows
from recuse.base.outputs import part_path, replacing, write_text
from recuse.base.tables import write_table
from recuse.plot.style import Figure, save


def rows_that_end():
    yield {"study": "mine"}
    raise RuntimeError("no further row")


def write_no_figure(path):
    figure = Figure()
    figure.text(0, 0, "\ud800")  # no letter: drawing it fails
    save(figure, [path], title="t")


WRITERS = {
    "table.csv": lambda path: write_table(path, ["study"], rows_that_end()),
    "table.parquet": lambda path: write_rows(connect(), "select error('no') from range(9)", path),
    "figure.svg": write_no_figure,
    "figure.pdf": write_no_figure,
    "figure.png": write_no_figure,
    "page.html": lambda path: write_text(path, "\ud800"),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("before", [None, "of before"])
def test_failure_leaves_the_output_as_it_was(tmp_path, name, before):
    if before is not None:
        (tmp_path / name).write_text(before)
    with pytest.raises((RuntimeError, TypeError, UnicodeEncodeError, duckdb.Error)):
        WRITERS[name](str(tmp_path / name))
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == ({} if before is None else {name: before})


@pytest.mark.parametrize("name", ["a.csv", "é" * 125 + ".csv"])
def test_remains_of_a_killed_process_are_overwritten(tmp_path, name):
    path = tmp_path / name
    with open(part_path(path), "w") as file:
        file.write("half of a table, and longer than the whole")
    write_text(path, "whole")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(name, "whole")]


def test_reader_sees_the_old_output_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "old")
    with replacing(path) as part, open(part, "w") as file:
        file.write("new, to be")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new, to be"


def test_error_names_the_output_and_not_what_is_beside_it(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write_text(tmp_path / "none" / "page.html", "")
    assert error.value.filename == str(tmp_path / "none" / "page.html")


def test_output_has_the_rights_that_the_user_gives_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "page.html", "")
    finally:
        os.umask(before)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640
