"""Parts of a study as other programs write them: names that mean something to DuckDB, parts without
rows, kinds of numbers.
"""

import gzip
import re
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from conftest import CONFIG
from rated_tables import NINE, ONE, normalised, raw_study
from recuse.base.database import bounded, connect, files
from recuse.base.errors import DataError
from recuse.base.places import PROJECT
from recuse.data.cells import read_levels
from recuse.data.files import RatingsFile, RawFile, reading, record_place
from recuse.data.lines import check_lines
from recuse.data.moments import prompt_ranges
from recuse.data.ratings import StudyFiles, check_files, plan_study
from recuse.imports.rows import create_objects
from text_tables import fields, lines

pytestmark = pytest.mark.usefixtures("own_folder")

ROWS = """
    select 'gpt-4o' as judge, 'Claude v2' as model, 2 as gt, 'cnn' as dataset, 'p' || i as prompt_id, 3 as rating,
           'A' as dimension
    from range(3) t(i)"""
OTHERS = ROWS.replace("'p'", "'q'")
NONE = f"{ROWS} where false"
HEADER = b"judge,model,gt,dataset,prompt_id,rating,dimension,text\n"
LINES = [b"gpt-4o,gpt-4o,3,cnn,p%d,2,A,text\n" % number for number in range(20)]
LONG, LATIN = LINES[7].replace(b"text", b"x" * 3_000_000), LINES[7].replace(b"cnn", b"caf\xe9")


def part(path, rows=ROWS):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(rows).write_parquet(str(path))
    return str(path)


def canonical(paths, columns="prompt_id, judge, rating, gt", *, folder=".", **settings):
    ratings = normalised(raw_study(*paths, **settings), folder)
    return duckdb.sql(f"select {columns} from '{ratings}'").fetchall()


def test_names_of_folders_are_no_columns():
    """Neither of raw files nor of canonical ratings."""
    folder = "rating=0/gt=0/judge=GPT-4/further=1"
    canonical([part(f"{folder}/part.parquet")], "1", folder=folder)
    rows = duckdb.sql(f"from {files([f'{folder}/ratings.parquet'])}").fetchall()
    assert rows == canonical([part("plain.parquet")], "*")


def test_names_of_folders_are_no_columns_of_text_files():
    folder = Path("C2=4/rating=0/c0=GPT-4")
    folder.mkdir(parents=True)
    paths = folder / "raw.csv", folder / "raw.csv.gz"
    paths[0].write_bytes(HEADER + LINES[0])
    paths[1].write_bytes(gzip.compress(HEADER + LINES[1]))
    columns = "judge, model, gt, dataset, prompt_id, rating"
    same = ("GPT-4o", "GPT-4o", 3, "cnn")
    assert canonical(paths, columns) == [(*same, "p0", 2), (*same, "p1", 2)]


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_names_of_folders_are_no_objects(suffix):
    path = Path("json=7") / f"raw.{suffix}"
    path.parent.mkdir()
    path.write_text('[{"a": 1}]\n' if suffix == "json" else '{"a": 1}\n', "utf-8")
    connection = connect()
    assert create_objects(connection, str(path), ["a"], [], table="objects").keys() == {"a"}
    assert connection.execute("select a from objects").fetchall() == [("1",)]


def test_every_reader_of_sql_is_called_by_one_function():
    sources = "\n".join(path.read_text("utf-8") for path in (PROJECT / "workflow").rglob("*.py"))
    calls = re.findall(
        r"\b(read_(?:csv|json|ndjson|parquet|blob)\w*|parquet_scan|sniff_csv)\(\s*([^),]*)",
        sources,
    )
    assert set(calls) == {("read_csv", "path")}  # by pandas, in recuse.plot.style


@pytest.mark.parametrize(
    ("name", "neighbour"),
    lines("""
        a* ab
        a? ab
        a[bc] ab
        [a]/b a/b
    """),
)
def test_names_of_parts_are_no_patterns(name, neighbour):
    part(f"{neighbour}.parquet", OTHERS)
    path = part(f"{name}.parquet")
    for stem, line in ((neighbour, LINES[3]), (name, LINES[4])):
        Path(f"{stem}.csv").write_bytes(HEADER + line)
    rows = canonical([path, f"{name}.csv"], folder=Path(path).parent)
    assert [row[0] for row in rows] == ["p0", "p1", "p2", "p4"]
    ratings = str(Path(path).parent / "ratings.parquet")
    assert read_levels(ratings).judge == ["GPT-4o"]
    assert [(span.first, span.last) for span in prompt_ranges([ratings])] == [(0, 3)]


@pytest.mark.parametrize("rows", [1, 5])
def test_a_line_that_was_not_read_is_refused(rows):
    Path("raw.csv").write_bytes(HEADER + b"\n" + b"".join(LINES[:3]))
    check_lines("raw.csv", 3, ())
    message = f"raw.csv: {rows} rows? were read from 4 lines after the header, of which 0 are"
    with pytest.raises(DataError, match=message):
        check_lines("raw.csv", rows, ())


def test_no_part_with_rows():
    paths = [part(f"{number}.parquet", NONE) for number in (1, 2)]
    message = r"1\.parquet, .*2\.parquet: no file holds a row; the study needs one row per judge"
    with pytest.raises(DataError, match=message):
        canonical(paths)
    check_files(raw_study(*paths), checked="rows", summary="summary")
    tables = {"plan": "plan.json", "completeness": "completeness.csv"}
    with pytest.raises(DataError, match="studies: mine: files: no file holds a row"):
        plan_study("mine", raw_study(), summaries=["summary"], shards=2, **tables)
    assert not [*Path().glob("*.csv"), *Path().glob("*.json"), *Path().glob("*.unsorted")]


def test_ids_of_prompts_are_the_same_in_every_kind_of_number():
    """But those that are not whole numbers, or texts of digits and a point, are left as they
    are.
    """
    kinds = [
        "i::double",
        "i::float",
        "i::decimal(9,2)",
        "i",
        "i::varchar",
        "i+0.50::double",
        "i||'.0'",
    ]
    paths = [
        part(f"{judge}.parquet", ROWS.replace("'p' || i", kind).replace("gpt-4o", judge))
        for kind, judge in zip(kinds, NINE, strict=False)
    ]
    expected = dict.fromkeys("012", 5) | dict.fromkeys(
        ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"], 1
    )
    assert Counter(row[0] for row in canonical(paths)) == expected


def test_a_parquet_file_has_no_lines():
    paths = [
        part("1.parquet"),
        part("2.parquet", ROWS.replace("2 as gt,", "")),
    ]
    with pytest.raises(DataError, match=r"2\.parquet, column gt: missing; found judge"):
        canonical(paths)


def test_a_reference_of_minus_zero_is_zero():
    judges = (b"gpt-4o,-0", b"gpt-3.5-turbo,0", b"Claude v2,-0.0")
    lines = [b"%s,gpt-4o,cnn,p,3\n" % judge for judge in judges]
    written = []
    for rows in (lines, lines[::-1]):
        Path("raw.csv").write_bytes(b"judge,gt,model,dataset,prompt_id,rating\n" + b"".join(rows))
        assert canonical(["raw.csv"], "distinct gt::varchar", dimension="A") == [("0.0",)]
        written.append(Path("ratings.parquet").read_bytes())
    assert written[0] == written[1]


def test_a_full_disk_is_no_fault_of_the_file():
    with pytest.raises(duckdb.IOException, match="No space left"), reading("raw.csv"):
        raise duckdb.IOException(
            "IO Error: Could not write file 'duckdb_temp': No space left on device"
        )
    with (
        pytest.raises(DataError, match=r"raw\.csv: cannot be read: IO Error: Unexpected end"),
        reading("raw.csv"),
    ):
        raise duckdb.IOException("IO Error: Unexpected end of GZIP stream")


def test_a_footer_says_nothing_of_families():
    """A user's file may have a key of any name there; the configuration says what the families
    are.
    """
    footers = ('{"GPT-4o": "Claude"}', '{"gpt-4o": "x", "new": "y"}', "[1]", "not json")
    raw = [f"{number}.parquet" for number in range(4)]
    for path, footer in zip(raw, footers, strict=True):
        rows = ROWS.replace("'p'", f"'{path}'")
        options = f"format parquet, kv_metadata {{families: '{footer}'}}"
        duckdb.sql(f"copy ({rows}) to '{path}' ({options})")
    plain = [part(f"plain/{path}", f"from '{path}'") for path in raw]
    given = {"scales": ONE, "task_types": {}, "models": CONFIG["models"]}
    study = StudyFiles.from_files(raw, [None] * 4, **given)
    result = duckdb.sql(f"from '{normalised(study)}'").fetchall()
    assert result == canonical(plain, "*")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"\n" + HEADER + LINES[0],
            ", line 1: found a blank line; delete it, or write the names of the columns there",
        ),
        (b"  \r\n" + HEADER + LINES[0], ", line 1: found a blank line"),
        (
            HEADER + b"".join([*LINES[:7], LONG]),
            ", line 9: longer than 2,000,000 bytes; .*a larger `line_limit:` in config",
        ),
        (HEADER.replace(b"text", b"x" * 3_000_000), ", line 1: longer than 2,000,000 bytes"),
        (
            HEADER + b"".join(LINES * 1000) + LATIN,
            ", line 20002: cannot be read: found bytes that are not UTF-8; save",
        ),
        (HEADER + b"".join(LINES[:7]) + LATIN, ", line 9: not a UTF-8 CSV file .*save it as UTF-8"),
        (
            HEADER + LINES[0] + LINES[1].replace(b"\n", b"\r\n"),
            ", line 3: ends with another kind of line break than line 1",
        ),
        (
            (HEADER + LINES[0]).replace(b"\n", b"\r\n") + LINES[1],
            ", line 3: ends with another kind of line break",
        ),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_lines_that_cannot_be_read_are_named(content, message, suffix):
    path = Path(f"own{suffix}")
    path.write_bytes(gzip.compress(content, 1) if suffix.endswith(".gz") else content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}{message}"):
        canonical([path])


def test_a_larger_limit_takes_a_longer_line():
    Path("own.csv").write_bytes(HEADER + b"".join(LINES).replace(b"p3", b"p" * 3_000_000))
    with bounded("4GB", Path("spill"), longest_line=4_000_000):
        assert len(canonical(["own.csv"])) == len(LINES)


def test_a_packed_line_of_any_length_takes_little_memory():
    """A line of 200 MB in a file of 200 kB, as the header and as a row."""
    for number, begin in enumerate((b"", HEADER)):
        path = Path(f"{number}.csv.gz")
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(begin)
            for _ in range(200):
                file.write(bytes(1_000_000))
        tracemalloc.start()
        with pytest.raises(DataError, match=f"line {number + 1}: longer than 2,000,000 bytes"):
            RawFile.open(str(path))
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()


def complaint(path):
    """The message of the error about a file, None if it is taken."""
    try:
        canonical([path])
    except DataError as error:
        return str(error)


@pytest.mark.parametrize(
    ("file", "record", "place"),
    fields(r"""
        1                 | 1       | 1, row 1
        [1]               | 1       | [1], row 1
        {'a': 1}          | 1       | {'a': 1}, row 1
        '\xff'::blob      | 1       | \xFF, row 1
        null              | 1       | own.parquet, row 1
        date '2024-01-01' | 1       | 2024-01-01, row 1
        '.'               | 1       | ., row 1
        '/dev/zero'       | 1       | /dev/zero, row 1
        '.'               | -1      | ., row -1
        '.'               | null    | ., row 1
        '.'               | 'x'     | ., row 1
        '.'               | 1e300   | ., row 1
        '.'               | 9223372036854775807 | ., row 9223372036854775807
    """),
)
def test_origins_of_rows_may_be_of_any_kind(file, record, place):
    """SQL for the file and the record from which a row was imported."""
    path = part(
        "own.parquet", f"select *, {file} as source_file, {record} as source_record from ({ROWS})"
    )
    rows = f"select file, record from ({RatingsFile(path).stored()})"
    assert record_place(*connect().execute(rows).fetchone()) == place


def test_a_row_of_an_odd_origin_is_refused_like_others():
    rows = f"select * replace (99 as rating), {{'a': 1}} as source_file, 1e300 as source_record from ({ROWS})"
    message = "^{'a': 1}, row 1, column rating: found '99', which is off the scale"
    with pytest.raises(DataError, match=message):
        canonical([part("own.parquet", rows)])


def test_millions_of_equal_rows_take_no_longer_than_others():
    """To say where two of 300,000 equal rows are costs little beside reading them."""

    def seconds(number):
        path = Path("own.csv")
        rows = (LINES[0].replace(b"p0", b"p%d" % (place % number)) for place in range(300_000))
        path.write_bytes(HEADER + b"".join(rows))
        started = time.process_time()
        message = complaint(path)
        return time.process_time() - started, message

    (equal, message), (different, none) = seconds(1), seconds(300_000)
    assert none is None
    assert "are already in own.csv, line 2; keep one" in message
    # 0.43 as this was written, 0.70 where all equal rows were joined and ordered
    assert equal < 0.57 * different
