"""The raw files of a study: what is read from them, and what is said of a bad one."""

import re
from pathlib import Path

import duckdb
import pytest

from conftest import CONFIG
from rated_tables import ONE, normalised
from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from text_tables import cases

pytestmark = pytest.mark.usefixtures("own_folder")

TYPES = {"cnn": "summarization", "xsum": "summarization"}
HEADER = "judge,model,gt,dataset,prompt_id,rating,pred_length"
GOOD = [
    "gpt-4o,gpt-4o,3.667,cnn,cnn_0,4,120",
    "gpt-4o,Claude v2,2,cnn,cnn_0,3,95",
    "gpt-4o,gpt-4o,4,xsum,xsum_1,0,80",
]


def write(path, lines, header=HEADER):
    Path(path).write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return RatingsFile(path, None if "dimension" in header else "A")


def run(files, scales=ONE, task_types=TYPES):
    source = StudyFiles(files, scales, task_types, Registry.from_config(CONFIG["models"]))
    table = duckdb.sql(f"from '{normalised(source)}'")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]
    return rows, read_table("completeness.csv")


def complaint(files, **settings):
    with pytest.raises(DataError) as caught:
        run(files, **settings)
    assert not Path("ratings.parquet").exists()
    assert not Path("completeness.csv").exists()
    return str(caught.value)


def test_canonical_row():
    rows, _ = run([write("f.csv", GOOD)])
    assert len(rows) == 3
    assert rows[1] == {
        "judge": "GPT-4o",
        "model": "GPT-4o",
        "judge_family": "GPT",
        "model_family": "GPT",
        "dimension": "A",
        "dataset": "cnn",
        "task_type": "summarization",
        "prompt_id": "cnn_0",
        "rating": 4,
        "gt": 3.667,
        "rating_unit": 1.0,
        "gt_unit": 3.667 / 4,
        "length": 120.0,
        "labelling_probability": None,
        "scale_low": 0,
        "scale_high": 4,
        "group_code": 2,
        "reference_code": 1,
        "prompt": 0,
        "occasion": None,
        "wording": None,
        "replicate": None,
        "occasion_code": 0,
    }
    assert rows[0]["model"] == "Claude v2"


@pytest.mark.parametrize(
    ("scale", "ends"), [([1, 5], (1, 5)), ("observed", (0, 3))]
)  # observed: 0 to the highest value, rounded up
def test_scale_is_declared_or_observed(scale, ends):
    ((row,), _) = run([write("f.csv", ["gpt-4o,gpt-4o,2.5,cnn,a,2,9"])], {"A": scale})
    low, high = row["scale_low"], row["scale_high"]
    assert (low, high) == ends
    units = [(value - low) / (high - low) for value in (2, 2.5)]
    assert [row["rating_unit"], row["gt_unit"]] == pytest.approx(units)


def test_missing_values_leave_and_are_counted():
    lines = [
        *GOOD,
        "gpt-4o,Claude v2,NA,cnn,cnn_1,3,95",
        "gpt-4o,Claude v2,2,cnn,cnn_2,,95",
        "gpt-4o,Claude v2,2,xsum,x,1,nan",
    ]
    rows, completeness = run([write("f.csv", lines)])
    assert len(rows) == 5  # without a human score or a length, a row counts where it needs none
    assert sum(row["gt"] is None for row in rows) == 1
    claude = next(row for row in completeness if row["model"] == "Claude v2")
    # Five prompts in all; Claude v2 was rated on four of them, once each with a gap in gt, rating
    # and length.
    assert claude == {
        "study": "mine",
        "dimension": "A",
        "judge": "GPT-4o",
        "model": "Claude v2",
        "prompts": "5",
        "absent": "1",
        "missing_rating": "1",
        "missing_gt": "1",
        "missing_length": "1",
        "used": "3",
    }


def test_any_dataset_without_declared_task_types():
    rows, _ = run([write("f.csv", GOOD)], task_types={})
    assert {row["task_type"] for row in rows} == {""}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gpt\u030a,gpt-4o,4,cnn,p,4,9", "found 'gpt\u030a', an id"),
        ("gpe\u0301,gpt-4o,4,cnn,p,4,9", r"found 'gpe\u0301' \(not in Unicode's form NFC\), an id"),
        *cases(
            r"""
gpt-4o,gpt-4o,4,cnn,p,5,9
    line 5, column rating: found '5', which is off the scale .* integer from 0 to 4
gpt-4o,gpt-4o,4,cnn,p,-1,9
    line 5, column rating: found '-1', which is off the scale
gpt-4o,gpt-4o,4,cnn,p,2.5,9
    line 5, column rating: found '2.5', which is off the scale
gpt-4o,gpt-4o,4,cnn,p,good,9
    line 5, column rating: found 'good', which is not a number
gpt-4o,gpt-4o,4.1,cnn,p,4,9
    line 5, column gt: found '4.1', which is off the scale
gpt-4o,gpt-4o,high,cnn,p,4,9
    line 5, column gt: found 'high', which is not a number
gpt-4o,gpt-4o,inf,cnn,p,4,9
    line 5, column gt: found 'inf', which is off the scale
gpt-4o,gpt-4o,4,cnn,p,4,long
    line 5, column pred_length: found 'long', which is not a length
gpt-5o,gpt-4o,4,cnn,p,4,9
    line 5, column judge: found 'gpt-5o', an id that config does not list
gpt-4o,gpt-5o,4,cnn,p,4,9
    line 5, column model: found 'gpt-5o', an id .* add this one .* `models:`
,gpt-4o,4,cnn,p,4,9
    line 5, column judge: found nothing
gpt-4o,gpt-4o,4,,p,4,9
    line 5, column dataset: found nothing
gpt-4o,gpt-4o,4,cnn,,4,9
    line 5, column prompt_id: found nothing
gpt-4o,gpt-4o,4,mars,p,4,9
    line 5, column dataset: found 'mars', a dataset without a declared task type
gpt-4o,Claude v2,2,cnn,cnn_0,1,9
    line 5, column prompt_id: judge 'GPT-4o'.* are already in .*f.csv, line 3
gpt-4o,gpt-4o,4,cnn,p,4
    line 5: cannot be read
"""
        ),
    ],
)
def test_faulty_row_is_named(line, message):
    Path("own").mkdir()
    text = complaint([write("own/f.csv", [*GOOD, line])])
    assert text.startswith("own/f.csv, line 5")
    assert re.search(message, text), text


def test_line_is_that_of_the_file_and_row_that_of_the_parquet():
    """Blank lines and line breaks within quotes count as lines, as an editor counts them."""
    lines = [
        GOOD[0],
        "",
        '"gpt-4o",Claude v2,2,cnn,"a',
        'b",3,95',
        "",
        "gpt-4o,gpt-4o,4,xsum,xsum_1,9,80",
    ]
    file = write("f.csv", lines)
    assert "f.csv, line 7, column rating: found '9'" in complaint([file])
    lines = [f"{line},A" for line in [*GOOD, "gpt-4o,gpt-4o,4,xsum,b,9,80"]]
    plain = write("g.csv", lines, HEADER + ",dimension")
    duckdb.sql(f"copy (select * from '{plain.path}') to 'g.parquet'")
    assert "g.parquet, row 4, column rating" in complaint([RatingsFile("g.parquet")])


def test_line_is_found_beside_very_long_fields():
    lines = [*(f"{line},{'prompt ' * 30_000}" for line in GOOD), "gpt-4o,gpt-4o,4,cnn,p,9,9,short"]
    assert "line 5, column rating: found '9'" in complaint(
        [write("f.csv", lines, HEADER + ",text")]
    )


def test_columns_that_are_not_read_may_have_any_name():
    lines = [f"{place},{line},x,y" for place, line in enumerate(GOOD)]
    rows, _ = run([write("f.csv", lines, f",{HEADER},RATING,")])
    assert [row["rating"] for row in rows] == [3, 4, 0]


def test_separator_is_recognised():
    file = write("f.csv", [line.replace(",", ";") for line in GOOD], HEADER.replace(",", ";"))
    assert [row["rating"] for row in run([file])[0]] == [3, 4, 0]


def test_names_that_look_like_missing_numbers_are_names():
    rows, _ = run(
        [write("f.csv", ["gpt-4o,gpt-4o,4,cnn,None,3,9", "gpt-4o,gpt-4o,4,cnn,NA,3,9"])],
    )
    assert [row["prompt_id"] for row in rows] == ["NA", "None"]


def test_file_whose_rows_name_another_dimension_than_config():
    write("f.csv", [f"{line},Tone" for line in GOOD], HEADER + ",dimension")
    text = complaint([RatingsFile("f.csv", "A")])
    assert (
        "line 2, column dimension: found 'Tone', which is not the dimension that config gives this"
        " file" in text
    )


@pytest.mark.parametrize("rating", ["1e12", "100000", "0"])
def test_observed_scale_that_is_none(rating):
    file = write("f.csv", [f"gpt-4o,gpt-4o,0,cnn,p,{rating},9"])
    text = complaint([file], scales={"A": "observed"})
    assert "line 2: scales: A: observed: the highest rating or gt found is" in text


def test_observed_scale_passes_over_what_is_not_finite():
    file = write("f.csv", [*GOOD, "gpt-4o,gpt-4o,inf,cnn,p,4,9"])
    assert "line 5, column gt: found 'inf'" in complaint([file], scales={"A": "observed"})


def test_faults_and_duplicates_of_several_files():
    other = GOOD[0].replace("cnn_0", "cnn_9")
    good, bad = other.replace("cnn_9", "cnn_8"), other.replace(",4,", ",x,")
    files = [write("b.csv", [good, bad, bad]), write("a.csv", [*GOOD, bad])]
    text = complaint(files)
    assert "a.csv, line 5, column rating: found 'x'" in text
    assert "(2 more rows have errors)" in text
    files = [write("b.csv", [good, other]), write("a.csv", [*GOOD, other])]
    assert re.search(
        r"b\.csv, line 3, column prompt_id: .* are already in .*a\.csv, line 5; keep",
        complaint(files),
    )


def test_same_row_under_two_ids_of_one_model_is_a_duplicate():
    lines = ["gpt-4o,Claude v2,2,cnn,p,1,9", "gpt-4o,anthropic.claude-v2:1,2,cnn,p,1,9"]
    assert "are already in" in complaint([write("f.csv", lines)])


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        *(
            (HEADER.replace(name, "other"), GOOD[0], f"f.csv, line 1, column {name}: missing")
            for name in ("rating", "judge", "gt", "prompt_id")
        ),
        (HEADER.replace("rating", " Rating"), GOOD[0], "rename ' Rating' to 'rating'"),
        (HEADER + ",rating", f"{GOOD[0]},4", "column rating: found twice"),
        (
            HEADER + ",dimension",
            f"{GOOD[0]},Charm",
            "column dimension: found 'Charm', a dimension without a declared scale",
        ),
    ],
)
def test_faulty_header_is_named(header, line, message):
    assert message in complaint([write("f.csv", [line], header)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (HEADER.encode() + b"\n", "the file holds no rows"),
        (b"\xff\xfe\x00j", "not a UTF-8 CSV file"),
        (b"judge\x00,model\n", "line 1"),
        (HEADER.encode() + b'\ngpt-4o,"gpt-4o,4,cnn,p,4,9\n', "cannot be read"),
        (
            HEADER.encode()
            + b"\ngpt-4o,gpt-4o,4,cnn,p,4,9" * 1000
            + b"\ngpt-4o,gpt-4o,4,cnn,\xff,4,9\n",
            "line 1002: cannot be read",
        ),
    ],
)
def test_file_that_is_no_table(content, message):
    Path("f.csv").write_bytes(content)
    text = complaint([RatingsFile("f.csv", "A")])
    assert "f.csv" in text
    assert message in text


def test_absent_file_and_broken_parquet():
    assert "no such file" in complaint([RatingsFile("none.csv", "A")])
    Path("f.parquet").write_bytes(b"PAR1 not really")
    text = complaint([RatingsFile("f.parquet", "A")])
    assert "f.parquet" in text
    assert "cannot be read" in text
