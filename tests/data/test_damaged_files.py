"""Files that are not what was written: bits flipped, cut off, joined; rows lost in a quoted field; numbers that are none.

RECUSE_FLIPS sets how many bits are flipped in each kind of file.
"""

import gzip
import json
import math
import os
import random
from pathlib import Path

import duckdb
import pytest

from conftest import CONFIG
from recuse.base.database import connect
from recuse.base.errors import DataError
from recuse.data.files import RatingsFile, as_number, is_number
from recuse.data.imports.ratings import import_ratings
from recuse.data.ratings import StudyFiles, normalise
from recuse.data.registry import Registry

# By pyarrow 26: two row groups, pages not compressed, with checksums (`write_page_checksum=True`).
CHECKSUMS = Path(__file__).with_name("checksums.parquet")
COLUMNS = ("judge", "model", "gt", "dataset", "prompt_id", "rating", "dimension")
ROWS = duckdb.sql(f"select {', '.join(COLUMNS)} from '{CHECKSUMS}'").fetchall()
LINES = [",".join(map(str, row)) for row in (COLUMNS, *ROWS)]
TABLE = "\n".join([*LINES, ""]).encode()
OBJECTS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
FLIPS = int(os.environ.get("RECUSE_FLIPS", "30"))


def ratings(folder, name, content):
    """The canonical ratings of a file with this content; one of JSON is imported first."""
    path = folder / name
    path.write_bytes(content)
    models, scales = CONFIG["models"], {"A": [0, 4]}
    if ".json" in name:
        outputs = {"ratings": f"{folder}/imported.parquet", "imported": f"{folder}/imported.csv"}
        import_ratings("mine", [str(path)], [], settings={}, scales=scales, models=models, outputs=outputs)
        path = folder / "imported.parquet"
    source = StudyFiles([RatingsFile(str(path))], scales, {}, Registry.from_config(models))
    normalise("mine", source, ratings=f"{folder}/ratings.parquet", completeness=f"{folder}/completeness.csv")
    return duckdb.sql(f"select {', '.join(COLUMNS)} from '{folder}/ratings.parquet' order by all").fetchall()


def complaint(folder, name, content):
    with pytest.raises(DataError) as caught:
        ratings(folder, name, content)
    return str(caught.value).removeprefix(f"{folder}/")


CONTENTS = {
    "gzip.csv.gz": gzip.compress(TABLE, mtime=0),
    "checksums.parquet": CHECKSUMS.read_bytes(),
    "plain.csv": TABLE,
    "lines.jsonl": "".join(f"{json.dumps(entry)}\n" for entry in OBJECTS).encode(),
    "list.json": json.dumps(OBJECTS).encode(),
}


@pytest.mark.parametrize("what", ["flipped", "cut"])
@pytest.mark.parametrize("name", CONTENTS)
def test_damage_is_an_error_or_changes_nothing_where_the_format_has_checksums(tmp_path, name, what):
    content, draw = CONTENTS[name], random.Random(name)
    whole, counts = ratings(tmp_path, name, content), {"error": 0, "same": 0, "other": 0}
    for _ in range(FLIPS if what == "flipped" else FLIPS // 3):
        place, damaged = draw.randrange(len(content)), bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        try:
            same = ratings(tmp_path, name, bytes(damaged) if what == "flipped" else content[:place]) == whole
        except DataError:  # any other exception is a bug
            counts["error"] += 1
        else:
            counts["same" if same else "other"] += 1
    print(name, what, counts)  # shown by -rP
    assert counts["error"] > 0
    if name in ("gzip.csv.gz", "checksums.parquet"):
        assert counts["other"] == 0


def test_gzip_of_several_members_and_padding(tmp_path):
    half = TABLE.index(b"\n", len(TABLE) // 2) - 3  # within a line
    whole = ratings(tmp_path, "raw.csv", TABLE)
    assert ratings(tmp_path, "raw.csv.gz", gzip.compress(TABLE[:half]) + gzip.compress(TABLE[half:])) == whole
    assert "gzip" in complaint(tmp_path, "raw.csv.gz", gzip.compress(TABLE) + b"more")
    assert "cannot be read" in complaint(tmp_path, "raw.csv.gz", gzip.compress(TABLE) + bytes(100))  # DuckDB takes none


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda packed: packed[:-8] + bytes(4) + packed[-4:], "CRC check failed"),
        (lambda packed: packed[:-4] + b"\1\0\0\0", "Incorrect length of data produced"),
        (lambda packed: packed[:-9], "Compressed file ended before the end-of-stream marker was reached"),
        (lambda packed: packed[:40] + bytes(20) + packed[60:], "Error -3 while decompressing data"),
    ],
)
def test_damaged_gzip_is_named(tmp_path, change, message):
    error = complaint(tmp_path, "raw.csv.gz", change(gzip.compress(TABLE)))
    assert error.startswith(f"raw.csv.gz: not a whole gzip file ({message}")
    assert error.endswith("; the file is damaged; copy or write it again")


def test_page_that_fails_its_checksum_is_named(tmp_path):
    content = CHECKSUMS.read_bytes()
    error = complaint(tmp_path, "raw.parquet", content.replace(b"gpt-4o", b"gpt-4p", 1))
    assert error.startswith("raw.parquet, column judge, row group 1: page 1 fails its checksum; the file is damaged")


def quoted(lines, first, last, column):
    """The lines with a double quote before a field of the first, and one after that field of the last."""
    fields = [line.split(",") for line in lines]
    fields[first][column], fields[last][column] = '"' + fields[first][column], fields[last][column] + '"'
    return "\n".join([*map(",".join, fields), ""]).encode()


@pytest.mark.parametrize("column", range(len(COLUMNS)))
@pytest.mark.parametrize("mark", ["\n", "\r\n"])
def test_rows_within_a_quoted_field_are_named(tmp_path, column, mark):
    content = quoted(LINES, 20, 59, column).replace(b"\n", mark.encode())
    error = complaint(tmp_path, "raw.csv", content)
    assert error.startswith(f"raw.csv, line 21, column {COLUMNS[column]}: found rows of the file within a field")
    kept = [f"{line},note" for line in LINES]
    assert "line 21, column note: found rows" in complaint(tmp_path, "raw.csv", quoted(kept, 20, 59, len(COLUMNS)))


@pytest.mark.parametrize("column", [0, 1, 2, 3, 5, 6])
def test_line_break_in_a_name_or_a_number_is_named(tmp_path, column):
    error = complaint(tmp_path, "raw.csv", quoted(LINES, 20, 21, column))
    assert error.startswith(
        f"raw.csv, line 21, column {COLUMNS[column]}: found a line break within a field that a double quote"
    )


def test_texts_of_several_lines_are_read_and_counted(tmp_path, capsys):
    whole = ratings(tmp_path, "raw.csv", TABLE)
    texts = [LINES[0] + ",answer", *(f'{line},"one, two\n\nthree ""{place}"""' for place, line in enumerate(LINES[1:]))]
    assert ratings(tmp_path, "raw.csv", "\n".join([*texts[:9], "", "", *texts[9:], ""]).encode()) == whole
    path = f"{tmp_path}/raw.csv"
    assert capsys.readouterr().err.splitlines() == [
        f"warning: {path}, line 2, column answer: the first of 80 fields that contain 160 line breaks; if these are no texts, "
        "close the double quote"
    ]


def test_last_line_without_a_line_break_is_said(tmp_path, capsys):
    assert ratings(tmp_path, "raw.csv", TABLE[:-1]) == ratings(tmp_path, "whole.csv", TABLE)
    warning = f"warning: {tmp_path}/raw.csv, line 81: ends without a line break, as in a file that was cut off"
    assert capsys.readouterr().err == f"{warning}; add one if this is whole\n"
    assert "line 81" in complaint(tmp_path, "raw.csv", TABLE[: TABLE.rindex(b",")])


NUMBERS = {"10": 10, "1.": 1, ".5": 0.5, "+5": 5, "-3": -3, " 1e3 ": 1000, "1E-2": 0.01, "\t7\n": 7, "007": 7}
NO_NUMBERS = [
    "1_0",
    "1__0",
    "1e1_0",
    "+-1",
    "0x1A",
    "0b1",
    "nan",
    "infinit",
    "∞",
    "１０",
    "٣",
    "\u00a01",
    "1,5",
    "1 0",
    "",
    ".",
]


def test_one_definition_of_a_number():
    connection = connect()
    query = f"select {as_number('word')} from (select ?::varchar as word)"
    values = {word: connection.execute(query, [word]).fetchone()[0] for word in (*NUMBERS, *NO_NUMBERS)}
    assert values == NUMBERS | dict.fromkeys(NO_NUMBERS)
    assert connection.execute(query, [" -Infinity "]).fetchone() == (-math.inf,)  # which no scale has
    assert [word for word in (*NUMBERS, *NO_NUMBERS) if is_number(word)] == [*NUMBERS]
    assert [is_number(word) for word in (3, 2.5, 1e-7, math.inf, "inf", "1e999")] == [True, True, True, False, False, False]


@pytest.mark.parametrize("name", ["raw.csv", "raw.parquet", "raw.jsonl"])
@pytest.mark.parametrize("column", ["rating", "gt"])
def test_digits_with_an_underscore_are_no_number(tmp_path, name, column):
    rows = [row | {column: "0_3"} if place == 5 else row for place, row in enumerate(OBJECTS)]
    if name.endswith("csv"):
        content = "\n".join(",".join(map(str, row)) for row in (COLUMNS, *(row.values() for row in rows))) + "\n"
    elif name.endswith("jsonl"):
        content = "".join(f"{json.dumps(row)}\n" for row in rows)
    else:
        values = {key: [str(row[key]) for row in rows] for key in COLUMNS}
        picked = ", ".join(f"unnest(?::varchar[]) as {key}" for key in COLUMNS)
        connect().execute(f"copy (select {picked}) to '{tmp_path}/made.parquet'", [*values.values()])
        content = None
    content = (tmp_path / "made.parquet").read_bytes() if content is None else content.encode()
    assert f"column {column}: found '0_3', which is not a number" in complaint(tmp_path, name, content)
