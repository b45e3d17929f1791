"""Files that are not what was written: bits flipped, cut off, joined; rows lost in a quoted field;
numbers that are none.

RECUSE_FLIPS sets how many bits are flipped in each kind of file.
"""

import gzip
import hashlib
import json
import math
import os
import random
import re
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from conftest import CONFIG
from rated_tables import ONE, normalised, raw_study
from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError
from recuse.base.places import PROJECT
from recuse.config.load import checked, with_study
from recuse.config.studies import Study, with_placeholders
from recuse.data.files import is_number
from recuse.data.lines import check_declared
from recuse.data.raters import check_raters
from recuse.data.ratings import check_files
from recuse.imports.ratings import import_ratings
from recuse.imports.readers import count_rows
from recuse.imports.verdicts import import_verdicts
from recuse.pairwise import table

pytestmark = pytest.mark.usefixtures("own_folder")

# By pyarrow 26: two row groups, pages not compressed, with checksums (`write_page_checksum=True`).
CHECKSUMS = Path(__file__).with_name("checksums.parquet")
COLUMNS = ("judge", "model", "gt", "dataset", "prompt_id", "rating", "dimension")
ROWS = duckdb.sql(f"select {', '.join(COLUMNS)} from '{CHECKSUMS}'").fetchall()
LINES = [",".join(map(str, row)) for row in (COLUMNS, *ROWS)]
TABLE = "\n".join([*LINES, ""]).encode()
OBJECTS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
FLIPS = int(os.environ.get("RECUSE_FLIPS", "6"))


def ratings(name, content):
    """The canonical ratings of a file with this content; one of JSON is imported first."""
    path = Path(name)
    path.write_bytes(content)
    if ".json" in name:
        outputs = {"ratings": "imported.parquet", "imported": "imported.csv"}
        models = CONFIG["models"]
        import_ratings("mine", [name], [], settings={}, scales=ONE, models=models, outputs=outputs)
        path = "imported.parquet"
    rows = f"select {', '.join(COLUMNS)} from '{normalised(raw_study(path))}' order by all"
    return duckdb.sql(rows).fetchall()


def complaint(name, content):
    with pytest.raises(DataError) as caught:
        ratings(name, content)
    return str(caught.value)


CONTENTS = {
    "gzip.csv.gz": gzip.compress(TABLE, mtime=0),
    "checksums.parquet": CHECKSUMS.read_bytes(),
    "plain.csv": TABLE,
    "lines.jsonl": "".join(f"{json.dumps(entry)}\n" for entry in OBJECTS).encode(),
    "list.json": json.dumps(OBJECTS).encode(),
}


@pytest.mark.parametrize("name", ["gzip.csv.gz", "checksums.parquet"])
def test_damage_is_an_error_or_changes_nothing_where_the_format_has_checksums(name):
    content, draw = CONTENTS[name], random.Random(name)
    whole = ratings(name, content)
    for _ in range(FLIPS):
        place, flipped = draw.randrange(len(content)), bytearray(content)
        flipped[place] ^= 1 << draw.randrange(8)
        for damaged in (flipped, content[:place]):
            with suppress(DataError):  # any other exception is a bug
                assert ratings(name, damaged) == whole


def test_page_with_another_number_of_values_is_named():
    damaged = bytearray(CHECKSUMS.read_bytes())
    # Of the data page of datasets: 40 values, by dictionary
    header = damaged.index(b"\x1c\x15\x50\x15\x10", 1191)
    damaged[header + 2] = 0x40  # 32; no checksum covers a header
    message = "column dataset, row group 2: the pages hold 32 values, the footer says 40"
    assert message in complaint("raw.parquet", bytes(damaged))


def test_gzip_of_several_members_and_padding():
    half = TABLE.index(b"\n", len(TABLE) // 2) - 3  # within a line
    whole = ratings("raw.csv", TABLE)
    assert ratings("raw.csv.gz", gzip.compress(TABLE[:half]) + gzip.compress(TABLE[half:])) == whole
    assert "gzip" in complaint("raw.csv.gz", gzip.compress(TABLE) + b"more")
    # DuckDB takes none
    assert "cannot be read" in complaint("raw.csv.gz", gzip.compress(TABLE) + bytes(100))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda packed: packed[:-8] + bytes(4) + packed[-4:], "CRC check failed"),
        (lambda packed: packed[:-4] + b"\1\0\0\0", "Incorrect length of data produced"),
        (
            lambda packed: packed[:-9],
            "Compressed file ended before the end-of-stream marker was reached",
        ),
        (lambda packed: packed[:40] + bytes(20) + packed[60:], "Error -3 while decompressing data"),
    ],
)
def test_damaged_gzip_is_named(change, message):
    error = complaint("raw.csv.gz", change(gzip.compress(TABLE)))
    assert error.startswith(f"raw.csv.gz: not a whole gzip file ({message}")
    assert error.endswith("; the file is damaged; copy or write it again")


def test_page_that_fails_its_checksum_is_named():
    content = CHECKSUMS.read_bytes()
    error = complaint("raw.parquet", content.replace(b"gpt-4o", b"gpt-4p", 1))
    assert re.match(
        r"raw\.parquet, column judge, row group 1: .* CRC checksum .* the file is damaged", error
    )


def test_checksums_that_nobody_verifies_are_said(monkeypatch, capsys):
    monkeypatch.setattr("recuse.data.intact.find_spec", lambda name: None)
    ratings("raw.parquet", CHECKSUMS.read_bytes())
    assert "which are verified only where pyarrow is installed" in capsys.readouterr().err


@pytest.mark.parametrize("place", [0, -1])  # of the name, in the schema and in the last column
def test_damaged_name_of_a_column_is_no_bug(place):
    content = CHECKSUMS.read_bytes()
    first = [match.start() for match in re.finditer(b"prompt_id", content)][place]
    error = complaint("raw.parquet", content[:first] + b"pro\xedpt_id" + content[first + 9 :])
    assert re.match("raw.parquet(: cannot be read|, column)", error)


def quoted(lines, first, last, column):
    """The lines with a double quote before a field of the first, and one after that field of the
    last.
    """
    fields = [line.split(",") for line in lines]
    fields[first][column], fields[last][column] = (
        '"' + fields[first][column],
        fields[last][column] + '"',
    )
    return "\n".join([*map(",".join, fields), ""]).encode()


@pytest.mark.parametrize(
    ("column", "mark"), [*((column, "\n") for column in range(len(COLUMNS))), (0, "\r\n")]
)
def test_rows_within_a_quoted_field_are_named(column, mark):
    content = quoted(LINES, 20, 59, column).replace(b"\n", mark.encode())
    error = complaint("raw.csv", content)
    assert error.startswith(
        f"raw.csv, line 21, column {COLUMNS[column]}: found rows of the file within a field"
    )


NOTED = [f"{line},note" for line in LINES]


def test_rows_within_a_field_that_is_not_read_are_named():
    content = quoted(NOTED, 20, 59, len(COLUMNS))
    assert "line 21, column note: found rows" in complaint("raw.csv", content)


@pytest.mark.parametrize("last", [1, 39])
def test_rows_within_the_header_are_named(last):
    error = complaint("raw.csv", quoted(NOTED, 0, last, len(COLUMNS)))
    assert error.startswith(
        "raw.csv, line 1: found lines of the file in the name of a column, 'note"
    )


@pytest.mark.parametrize("column", [0, 1, 2, 3, 5, 6])
def test_line_break_in_a_name_or_a_number_is_named(column):
    error = complaint("raw.csv", quoted(LINES, 20, 21, column))
    assert error.startswith(
        f"raw.csv, line 21, column {COLUMNS[column]}: found a line break within a field that a"
        " double quote"
    )


def test_texts_of_several_lines_are_read_and_counted(capsys):
    """A name of a column may have two lines, too."""
    whole = ratings("raw.csv", TABLE)
    assert (
        ratings("raw.csv", "\n".join([LINES[0] + ',"a\nnote"', *NOTED[1:], ""]).encode()) == whole
    )
    assert ratings("raw.csv", TABLE + b"\n") == whole
    texts = [
        LINES[0] + ",answer",
        *(f'{line},"one, two\n\nthree ""{place}"""' for place, line in enumerate(LINES[1:])),
    ]
    lines = [texts[0], "", *texts[1:9], "", "", *texts[9:], ""]
    assert ratings("raw.csv", "\n".join(lines).encode()) == whole
    path = "raw.csv"
    assert capsys.readouterr().err.splitlines() == [
        f"warning: {path}, line 3, column answer: the first of 80 fields that contain 160 line"
        " breaks; if these are not texts, close the double quote"
    ]


def test_last_line_without_a_line_break_is_said(capsys):
    assert ratings("raw.csv", TABLE[:-1]) == ratings("whole.csv", TABLE)
    warning = "warning: raw.csv, line 81: ends without a line break, as in a file that was cut off"
    assert capsys.readouterr().err == f"{warning}; add one if this is whole\n"
    assert "line 81" in complaint("raw.csv", TABLE[: TABLE.rindex(b",")])


NUMBERS = {
    "10": 10,
    "1.": 1,
    ".5": 0.5,
    "+5": 5,
    "-3": -3,
    " 1e3 ": 1000,
    "1E-2": 0.01,
    "\t7\n": 7,
    "007": 7,
}
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
    query = "select as_number(word) from (select ?::varchar as word)"
    values = {
        word: connection.execute(query, [word]).fetchone()[0] for word in (*NUMBERS, *NO_NUMBERS)
    }
    assert values == NUMBERS | dict.fromkeys(NO_NUMBERS)
    # Which no scale has
    assert connection.execute(query, [" -Infinity "]).fetchone() == (-math.inf,)
    assert [word for word in (*NUMBERS, *NO_NUMBERS) if is_number(word)] == [*NUMBERS]
    assert [is_number(word) for word in (3, 2.5, 1e-7, math.inf, "inf", "1e999")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "column"),
    [("raw.csv", "rating"), ("raw.parquet", "gt"), ("raw.json", "rating"), ("raw.json", "gt")],
)
def test_digits_with_an_underscore_are_no_number(name, column):
    some = f"if(model = 'gpt-4o', '0_3', {column}::varchar) as {column}"
    duckdb.sql(f"copy (select * replace ({some}) from '{CHECKSUMS}') to '{name}'")
    content = Path(name).read_bytes()
    assert f"column {column}: found '0_3', which is not a number" in complaint(name, content)


@pytest.mark.parametrize("name", CONTENTS)
def test_file_that_is_not_the_declared_one_is_named_with_both(name):
    Path(name).write_bytes(CONTENTS[name])
    digest = hashlib.sha256(CONTENTS[name]).hexdigest()
    for right in (digest, digest.upper()):
        values = {"sha256": right, "rows": len(ROWS)}
        check_declared([name, "unnamed.csv"], {f"./{name}": values}, rows_in=count_rows)
    for values, both in (
        ({"rows": 81}, "it holds 80 rows, but config declares 81; restore that file, or correct"),
        ({"sha256": "0" * 64}, f"its SHA-256 is {digest}, but config declares {'0' * 64}"),
    ):
        with pytest.raises(DataError, match=f"{name}: {both}"):
            check_declared([name], {name: values}, rows_in=count_rows)


def test_every_kind_of_file_is_compared_with_what_is_declared():
    raw, human, verdicts, raters = names = ["raw.csv", "human.csv", "verdicts.csv", "raters.csv"]
    for name in names:
        Path(name).write_text("a\n", "utf-8")
    in_raw, in_human = ({"declared": {name: {"rows": 1}}} for name in (raw, human))
    source = raw_study(raw, **in_raw)
    outputs = dict.fromkeys(("ratings", "imported", "verdicts"), "x")
    of_import = {
        "study": "mine",
        "paths": [raw],
        "references": [human],
        "settings": {},
        "outputs": outputs,
    }
    of_ratings = of_import | {"scales": ONE, "models": {}}
    of_verdicts = {"comparisons": "x", "completeness": "x", "declared": {verdicts: {"rows": 1}}}
    of_raters = {"ratings": [], "output": "x", "declared": {raters: {"rows": 1}}}
    message = (
        r"\.csv: it holds 0 rows, but config declares 1; restore that file, or correct `verify"
    )
    for read in (
        lambda: normalised(source),
        lambda: check_files(source, checked="r", summary="s"),
        lambda: import_ratings(**of_ratings, **in_raw),
        lambda: import_ratings(**of_ratings, **in_human),
        lambda: import_verdicts(**of_import, **in_human),
        lambda: table.normalise("mine", [verdicts], **of_verdicts),
        lambda: check_raters(raters, source.registry, **of_raters),
    ):
        with pytest.raises(DataError, match=message):
            read()


def test_a_study_knows_what_is_declared_of_its_files():
    for name in ("raw.csv", "human.csv", "raters.csv"):
        Path(name).touch()
    values = {"rows": 1}
    study = {"title": "t", "scales": ONE}
    of_import = {"files": "raw.csv", "references": {"files": ["human.csv"]}}
    ways = {
        "canonical": study
        | {
            "files": "raw.csv",
            "raters": "raters.csv",
            "verify": {"./raw.csv": values, "raters.csv": values},
        },
        "imported": study
        | {"import": of_import, "verify": {"raw.csv": values, "human.csv": values}},
        "other": study | {"files": {"A": "raw.csv"}, "verify": {"raw2.csv": values}},
        "no": study | {"files": "raw.csv"},
    }
    of_verdicts = {"title": "t", "files": "raw.csv", "verify": {"raw.csv": values}}
    config = with_study(CONFIG, studies=ways, comparisons={"of_verdicts": of_verdicts})
    for name in ("canonical", "imported", "of_verdicts", "no"):
        expected = (ways | {"of_verdicts": of_verdicts})[name].get("verify", {})
        assert Study(name, config).declared_files() == expected
    message = (
        "studies: other: verify: 'raw2.csv' is not one of the files of the study; did you mean"
    )
    with pytest.raises(ConfigError, match=message):
        Study("other", config).declared_files()
    later = with_study(CONFIG, studies={"other": ways["other"] | {"simulate": {"prompts": 12}}})
    later = with_placeholders(later, lambda path: False)
    assert Study("other", later).declared_files() == {}


def test_rules_give_what_is_declared_to_each_job_that_reads_a_users_file():
    rules = "\n".join(
        path.read_text("utf-8") for path in (PROJECT / "workflow/rules").glob("*.smk")
    )
    given = [
        "declared=of_study(Study.declared_files)" in rule
        for rule in re.split(r"\n(?=rule )", rules)
        if re.search(r"raw=of_study\(Study\.(?!raw_paths_of_shard|released)", rule)
    ]
    assert given == [True] * 6


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sha256": "abc"}, "verify: raw.csv: sha256: should match"),
        ({"rows": -1}, "verify: raw.csv: rows: should be at least 0"),
        ({}, "verify: raw.csv: should not be empty"),
        ({"digest": "x"}, "verify: raw.csv: digest: unknown key"),
        (None, "verify: needs `files` or `import`"),
    ],
)
def test_invalid_declaration_is_named(values, message):
    study = {"title": "t", "scales": ONE, "files": "raw.csv", "verify": {"raw.csv": values}}
    if values is None:
        del study["files"]
        study |= {"simulate": {"prompts": 20}, "verify": {"raw.csv": {"rows": 1}}}
    with pytest.raises(ConfigError, match=re.escape(message)):
        checked(CONFIG | {"studies": {"mine": study}}, CONFIG)
