"""Rows of strangers' files: columns of any name, words for failures, JSON Lines with blank or
broken lines, Inspect logs.
"""

import json
import os
import re
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from importing import QUALITY, complaint, import_files, normalised, text_from

from recuse.base.database import bounded
from recuse.base.errors import ConfigError, DataError
from recuse.base.tables import read_table
from recuse.data.registry import files_in
from recuse.imports.verdicts import import_verdicts
from text_tables import lines, words

pytestmark = pytest.mark.usefixtures("own_folder")

RATINGS = [
    {"judge": "a", "model": "b", "prompt": "1", "rating": "7", "human": "8", "length": "12"},
    {"judge": "a", "model": "c", "prompt": "1", "rating": "9", "human": "3", "length": "5"},
]
VERDICTS = [
    {"judge": "a", "item": "1", "model_a": "m", "model_b": "n", "outcome": "a", "order": "ab"},
    {"judge": "a", "item": "1", "model_a": "m", "model_b": "n", "outcome": "b", "order": "ba"},
]
# Names within the import, of its views and of what it writes.
WITHIN = """
    model_name judge_name rating_step rating_number gt_number gt_step step score fault scale_low
    scale_high observed rounded finest file record json id name
"""
TAKEN = [*WITHIN.split(), "kept: file"]


def written(path, rows):
    """A file of these rows: CSV, or JSON Lines by its name."""
    if path.suffix == ".jsonl":
        path.write_text(text_from(path.name, rows), "utf-8")
    else:
        pd.DataFrame(rows).to_csv(path, index=False)
    return str(path)


def rated(path, settings=None, **options):
    import_files(Path(path), settings=settings, **options)
    return Path("ratings.parquet")


def rows_from(path, columns):
    return duckdb.sql(f"select {columns} from '{path}' order by source_record").fetchall()


def further(rows):
    """The rows with a column of each name that the import uses, its values told apart."""
    return [
        row | {column: f"{column} {number}" for column in TAKEN} for number, row in enumerate(rows)
    ]


def kept_in(path):
    """The columns of these names, as `further` has them."""
    return rows_from(path, ", ".join(f'"{column}"' for column in TAKEN)) == [
        tuple(f"{column} {number}" for column in TAKEN) for number in (0, 1)
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_further_columns_have_any_name(suffix):
    """What the import calls so itself stays what it is."""
    path = Path(f"own.{suffix}")
    result = rated(written(path, further(RATINGS)))
    columns = "judge, model, prompt_id, dimension, rating, gt, pred_length, source_record"
    assert words(rows_from(result, columns)) == lines("""
        a b 1 quality 7 8.0 12.0 1
        a c 1 quality 9 3.0 5.0  2
    """)
    assert kept_in(result)
    outputs = {"verdicts": "verdicts.parquet", "imported": "imported.csv"}
    written(path, further(VERDICTS))
    import_verdicts("mine", [str(path)], [], settings={"columns": {}}, outputs=outputs)
    columns = 'judge, item, model_a, model_b, "order", outcome, human, source_record'
    assert words(rows_from("verdicts.parquet", columns)) == lines("""
        a 1 m n ab a - 1
        a 1 m n ba b - 2
    """)
    assert kept_in("verdicts.parquet")


@pytest.mark.parametrize(
    "missing",
    [["NaN", "inf", "-inf", "1e999", "Infinity"], [float("inf"), float("nan")]],
)
def test_words_of_no_finite_number_are_failures(missing):
    """YAML reads some of them as numbers, which no file spells as SQL does."""
    rows = [RATINGS[0] | {"prompt": str(word), "rating": str(word)} for word in missing]
    result = rated(written(Path("own.csv"), [*RATINGS, *rows]), {"missing": missing})
    found = rows_from(result, "rating, failure is null")
    assert found == [(7, True), (9, True), *[(None, False)] * len(missing)]


def test_failures_of_the_human_column_of_the_same_file_are_missing():
    """Ratings without a human score are counted, as they are where these have a file of their
    own.
    """
    given = (("8", "7"), ("-1", "9"), ("ERROR", "ERROR"), ("", "5"))
    rows = [f"a,m{h},1,{rating},{h}" for h, rating in given]
    Path("own.csv").write_text("\n".join(["judge,model,prompt,rating,h", *rows]), "utf-8")
    result = rated("own.csv", {"columns": {"human": "h"}, "missing": [-1, "ERROR"]})
    assert rows_from(result, "rating, gt") == [(7, 8.0), (9, None), (None, None), (5, None)]
    counts = {
        row["kind"]: (int(row["n"]), row["example"].rpartition(", ")[2])
        for row in read_table("imported.csv")
    }
    assert counts == {
        "rows": (4, "line 2"),
        "value 'ERROR'": (1, "line 4"),
        "rating without a human score": (2, "line 3"),
    }


def test_blanks_about_names_are_not_part_of_them():
    rows = [row | {"judge": " a ", "model": f" {row['model']}", "prompt": "1 "} for row in RATINGS]
    models = {"A": {"family": "X", "ids": ["a"]}}
    result = rated(written(Path("own.csv"), rows), models=models)
    assert rows_from(result, "judge, model, prompt_id") == [("A", "b", "1"), ("A", "c", "1")]


def import_values(values):
    rows = [
        RATINGS[0] | {"prompt": str(place), "rating": value} for place, value in enumerate(values)
    ]
    return complaint(Path(written(Path("own.csv"), rows)))


def test_other_faulty_values_are_named_with_the_line_for_config():
    """The most frequent first; those that YAML would read as something else are quoted."""
    message = import_values(
        ["7", "ERROR", "FAIL", "timeout", "timeout", "99", "error", "ERROR", "no"]
    )
    assert (
        "line 3, column rating: found 'ERROR', which is not a number; write a number from 1 to 10,"
        " leave it empty" in message
    )
    assert message.endswith(
        " (7 more rows have errors; other values: 'timeout', 'FAIL', 'error' and 'no'), "
        "as in `missing: [ERROR, timeout, FAIL, 'no']`, or, if these are ratings, `values: "
        "{error: <number>, timeout: <number>, fail: <number>, no: <number>}`"
    )
    many = import_values(["7", "x", "x", *(f"w{chr(97 + n)}" for n in range(9))])
    assert (
        "(10 more rows have errors; other values: 'wa', 'wb', 'wc', 'wd', 'we' and 4 more), as in"
        " `missing: [x, wa," in many
    )
    assert import_values(["7", "ERROR"]).endswith(
        "as in `missing: [ERROR]`, or, if these are ratings, `values: {error: <number>}`"
    )
    # Which may be meant for a number
    assert "missing: [" not in import_values(["7", "8,5", "error"])
    assert "missing: [" not in import_values(["7", "x" * 41])
    assert "missing: [" not in import_values([chr(97 + n) for n in range(21)])
    assert import_values(["7", "99", "98"]).endswith(
        "(1 more row has an error; other values: '98')"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "own.jsonl.gz",
            (
                "found a name ending in '.jsonl.gz', but only CSV and TSV are read packed; unpack"
                " it (gunzip)"
            ),
        ),
        ("own.xlsx", "found a name ending in '.xlsx'; import a file ending in one of .csv, .tsv"),
    ],
)
def test_name_of_a_file_that_is_not_read(name, message):
    Path(name).write_bytes(b"\x1f\x8b")
    assert complaint(Path(name)).startswith(f"{name}: {message}")


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        (
            ["True", "False", "True"],
            "or, if these are ratings, `values: {true: <number>, false: <number>}`",
        ),
        (
            ["good", "bad", "good"],
            "or, if these are ratings, `values: {good: <number>, bad: <number>}`",
        ),
        (
            ["7", "8,5"],
            "list it under `missing:` in config, or, for decimal commas, write `decimal: ','`",
        ),
    ],
)
def test_words_may_be_ratings(values, lines):
    """`missing: ['False', 'True']` alone would delete every rating."""
    assert import_values(values).endswith(lines)


def test_file_in_utf_16_is_called_so():
    for name, text in {
        "own.csv": "judge,model\n",
        "own.jsonl": '{"judge": "a"}\n',
        "own.json": '[{"judge": "a"}]',
    }.items():
        Path(name).write_text(text, "utf-16")
        message = complaint(Path(name), settings={"columns": {"judge": "judge"}})
        assert message.startswith(f"{name}, line 1: ")
        assert "UTF-16" in message
        assert "save it as UTF-8" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [("a{b}.csv", "braces mean a wildcard"), (b"a\xff.csv", "the name is not UTF-8")],
)
def test_name_in_a_folder_that_snakemake_cannot_take(name, message):
    Path(os.fsdecode(name)).write_text("judge,model\n", "utf-8")
    with pytest.raises(ConfigError, match=message):
        files_in(".")


def test_long_value_is_cut():
    message = import_values(["7", "word " * 10_000])
    assert len(message) < 600
    assert "found 'word word" in message


def test_places_are_taken_from_imported_tables_only():
    """A user's table may have columns of these names; and the file that an imported table is from
    may be gone.
    """
    text = "judge,model,gt,dataset,prompt_id,rating,dimension,source_file,source_record\n"
    text += "gpt-4o,gpt-4o,4,d,p,x,quality,gone.csv,3\n"
    Path("own.csv").write_text(text, "utf-8")
    duckdb.sql("copy (from read_csv('own.csv', all_varchar=true)) to 'raw.parquet'")
    models = {"GPT-4o": {"family": "GPT", "ids": ["gpt-4o"]}}
    for name, place in (
        ("own.csv", "own.csv, line 2, column rating"),
        ("raw.parquet", "gone.csv, row 3, column rating"),
    ):
        with pytest.raises(DataError, match=re.escape(place)):
            normalised(name, scales=QUALITY, models=models, imported=False)


@pytest.mark.parametrize(
    ("rating", "step", "message"),
    [
        ("999999999", 0.001, "which is off the scale of the dimension"),
        (
            "0.8765",
            1,
            (
                "which is between two steps of the scale; write a number, 0 or more, or write the"
                " step under `step:`"
            ),
        ),
    ],
)
def test_values_of_an_observed_scale_have_a_limit_in_steps(rating, step, message):
    path = written(Path("own.csv"), [RATINGS[0] | {"rating": rating}])
    result = complaint(Path(path), settings={"step": step}, scales={"quality": "observed"})
    assert message in result
    assert "round: true" not in result


LINE = '{"judge": "a", "model": "b", "prompt": "PLACE", "rating": 7, "human": 8}'
UNIT = {"quality": [0, 1]}


def places():
    return [
        *duckdb.sql("select source_record from 'ratings.parquet'").fetchnumpy()["source_record"]
    ]


def lines_from(*lines):
    return "\n".join(
        LINE.replace("PLACE", str(place)) if line is True else line
        for place, line in enumerate(lines)
    ).encode()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((True, True, '{"judge": "a",,}', True), "line 3: malformed JSON (Expecting property name"),
        (("", "", True, "", "", True, '{"judge": 1} {}'), "line 7: malformed JSON (Extra data)"),
        (('{"judge":', '"a"}'), "line 1: malformed JSON (Expecting value)"),
        (
            (True, "", "", "  ", "[1]"),
            "line 5, column json: found '[1]', which is not a JSON object",
        ),
        ((True, "", "", LINE.replace("7", '"x"')), "line 4, column rating: found 'x'"),
        (("\ufeff" + LINE, True, "{"), "line 3: malformed JSON"),
        ((True, "[" * 100000), "line 2: lists nested too deeply"),
    ],
)
def test_what_is_wrong_is_in_the_line_that_is_named(lines, message):
    assert complaint({"own.jsonl": lines_from(*lines)}).startswith(f"own.jsonl, {message}")


def test_line_that_is_not_utf_8_is_named():
    message = complaint({"own.jsonl": lines_from(True, "", LINE) + b'\n{"judge": "\xff"}'})
    assert message.startswith("own.jsonl, line 4: not UTF-8 (invalid start byte); save it as UTF-8")
    Path("own.json").write_bytes(b'[{"judge":\n\n"\xff"}]')
    with pytest.raises(DataError, match=r"own\.json, line 3: not UTF-8"):
        import_files(Path("own.json"), settings={"columns": {"judge": "judge"}})


def test_blank_lines_cost_no_more_than_rows():
    """Each row is named by its line; in a second, where looking all blank lines up for each row
    took half a minute.
    """
    rows = 50_000
    begun = time.process_time()
    text = "".join(
        LINE.replace("PLACE", str(place)) + "\n" * (1 + place % 3) for place in range(rows)
    )
    Path("own.jsonl").write_text(text, "utf-8")
    with bounded("300MB", Path("spill")):
        import_files(Path("own.jsonl"))
    assert time.process_time() - begun < 10
    steps = np.resize([1, 2, 3], rows)
    assert places() == [*np.cumsum(steps) - steps + 1]


def log_from(samples):
    """An Inspect log of (id, epoch, {scorer: value})."""
    samples = [
        {"id": id, "epoch": epoch, "scores": {name: {"value": n} for name, n in scores.items()}}
        for id, epoch, scores in samples
    ]
    described = {"model": "m", "task": "t"}
    return {"version": 2, "status": "success", "eval": described, "samples": samples}


def test_conversations_in_a_log_take_no_memory():
    """Twelve megabytes of them, three scorers: more than ten times that were not enough."""
    log = log_from([(place, 1, dict.fromkeys("abc", "C")) for place in range(120)])
    for sample in log["samples"]:
        sample["messages"] = [{"role": "user", "content": "x y " * 25_000}]
    Path("log.json").write_text(json.dumps(log), "utf-8")
    with bounded("120MB", Path("spill")):
        import_files(
            Path("log.json"),
            settings={"judge": {"a": "A", "b": "B", "c": "C"}},
            scales=UNIT,
            human="model,prompt,rating\nm,1,1\n",
        )
    assert places() == [place for place in range(1, 121) for _ in range(3)]


def import_scorers(judge, scales=UNIT):
    Path("log.json").write_text(
        json.dumps(log_from([(1, 1, {"mild": 1, "graded": 0, "strict": 1})])), "utf-8"
    )
    human = "model,prompt,dimension,rating\n" + "".join(
        f"m,1,{dimension},1\n" for dimension in scales
    )
    import_files(Path("log.json"), settings={"judge": judge}, scales=scales, human=human)


@pytest.mark.parametrize(
    ("judge", "scorers"),
    [("J", "graded, mild, strict"), ({"graded": "J", "strict": "J"}, "graded, strict")],
)
def test_several_scorers_of_one_judge_are_named(judge, scorers):
    message = f"its scorers {scorers} would all be the judge 'J' of 'quality'; name the one"
    way = r"under `judge:` in config, as in `judge: \{graded: J\}`$"
    with pytest.raises(DataError, match=rf"log\.json: {message} that is a judge.* {way}"):
        import_scorers(judge)


def test_scorers_that_are_dimensions_may_have_one_judge():
    import_scorers("J", dict.fromkeys(("mild", "graded", "strict"), (0, 1)))
    assert len(places()) == 3
    import_scorers({"graded": "J"})
    assert len(places()) == 1


def test_epochs_without_human_scores_are_named(capsys):
    """Another epoch is another answer: a score of the first one is not of it."""
    samples = [(name, epoch, {"a": 1}) for name in ("q1", "q2") for epoch in (1, 2, 3)]
    Path("log.json").write_text(json.dumps(log_from(samples)), "utf-8")
    human = "model,prompt,rating\nm,q1,1\nm,q2,0\n"
    import_files(Path("log.json"), settings={"judge": "J"}, scales=UNIT, human=human)
    message = capsys.readouterr().out
    assert (
        "without a human score: 4 of 6 rated completions, the first is model 'm', dimension"
        " 'quality' and prompt" in message
    )
    of_epochs = human + "".join(
        f'm,"{name}, epoch {epoch}",1\n' for name in ("q1", "q2") for epoch in (2, 3)
    )
    import_files(Path("log.json"), settings={"judge": "J"}, scales=UNIT, human=of_epochs)
    assert "without a human score" not in capsys.readouterr().out
    assert duckdb.sql("select count(gt) from 'ratings.parquet'").fetchall() == [(6,)]
