"""Columns and values of strangers' tables: names that the import uses itself, blanks about names, words for failures."""

import json
import os

import duckdb
import pytest

from recuse.base.errors import ConfigError, DataError
from recuse.base.tables import read_table
from recuse.data.imports.formats import files_in
from recuse.data.imports.ratings import import_ratings
from recuse.data.imports.verdicts import import_verdicts
from recuse.data.ratings import StudyFiles, normalise

QUALITY = {"quality": [1, 10]}
RATINGS = [
    {"judge": "a", "model": "b", "prompt": "1", "rating": "7", "human": "8", "length": "12"},
    {"judge": "a", "model": "c", "prompt": "1", "rating": "9", "human": "3", "length": "5"},
]
VERDICTS = [
    {"judge": "a", "item": "1", "model_a": "m", "model_b": "n", "outcome": "a", "order": "ab"},
    {"judge": "a", "item": "1", "model_a": "m", "model_b": "n", "outcome": "b", "order": "ba"},
]
# Names within the import, of its views and of what it writes.
TAKEN = (
    *("model_name", "judge_name", "rating_step", "rating_number", "gt_number", "gt_step", "step", "score", "fault"),
    *("scale_low", "scale_high", "observed", "rounded", "finest", "file", "record", "json", "id", "name", "kept: file"),
)


def written(path, rows):
    """A file of these rows: CSV, or JSON Lines by its name."""
    if path.suffix == ".jsonl":
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
    else:
        text = "\n".join(",".join(line) for line in (rows[0], *(row.values() for row in rows))) + "\n"
    path.write_text(text, "utf-8")
    return str(path)


def rated(folder, path, settings=None, *, scales=QUALITY, models=()):
    outputs = {"ratings": f"{folder}/ratings.parquet", "imported": f"{folder}/imported.csv"}
    import_ratings("mine", [path], [], settings=settings or {}, scales=scales, models=dict(models), outputs=outputs)
    return folder / "ratings.parquet"


def rows_of(path, columns):
    return duckdb.sql(f"select {columns} from '{path}' order by source_record").fetchall()


def further(rows, numbers):
    """The rows with a column of each name that the import uses, its values told apart."""
    return [row | {column: f"{column} {number}" for column in TAKEN} for row, number in zip(rows, numbers, strict=True)]


KEPT = ", ".join(f'"{column}"' for column in TAKEN)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_further_columns_of_ratings_have_any_name(tmp_path, suffix):
    """What the import calls so itself stays what it is."""
    found = rated(tmp_path, written(tmp_path / f"own.{suffix}", further(RATINGS, (1, 2))))
    assert rows_of(found, "judge, model, prompt_id, dimension, rating, gt, pred_length, source_record") == [
        ("a", "b", "1", "quality", 7, 8.0, 12.0, 1),
        ("a", "c", "1", "quality", 9, 3.0, 5.0, 2),
    ]
    assert rows_of(found, KEPT) == [tuple(f"{column} {number}" for column in TAKEN) for number in (1, 2)]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_further_columns_of_verdicts_have_any_name(tmp_path, suffix):
    outputs = {"verdicts": f"{tmp_path}/verdicts.parquet", "imported": f"{tmp_path}/imported.csv"}
    path = written(tmp_path / f"own.{suffix}", further(VERDICTS, (1, 2)))
    import_verdicts("mine", [path], [], settings={"columns": {"judge": "judge"}}, outputs=outputs)
    assert rows_of(outputs["verdicts"], 'judge, item, model_a, model_b, "order", outcome, human, source_record') == [
        ("a", "1", "m", "n", "ab", "a", None, 1),
        ("a", "1", "m", "n", "ba", "b", None, 2),
    ]
    assert rows_of(outputs["verdicts"], KEPT) == [tuple(f"{column} {number}" for column in TAKEN) for number in (1, 2)]


@pytest.mark.parametrize("word", ["NaN", "inf", "-inf", "1e999", "Infinity", float("inf"), float("nan")])
def test_words_of_no_finite_number_are_failures(tmp_path, word):
    """YAML reads some of them as numbers, which no file spells as SQL does."""
    path = written(tmp_path / "own.csv", [RATINGS[0], RATINGS[1] | {"rating": str(word)}])
    found = rated(tmp_path, path, {"missing": [word]})
    assert rows_of(found, "rating, failure is null") == [(7, True), (None, False)]


def test_failures_of_the_human_column_of_the_same_file_are_missing(tmp_path):
    """Ratings without a human score are counted, as they are where these have a file of their own."""
    given = (("8", "7"), ("-1", "9"), ("ERROR", "ERROR"), ("", "5"))
    rows = [{"judge": "a", "model": f"m{h}", "prompt": "1", "rating": rating, "h": h} for h, rating in given]
    settings = {"columns": {"human": "h"}, "missing": [-1, "ERROR"]}
    found = rated(tmp_path, written(tmp_path / "own.csv", rows), settings)
    assert rows_of(found, "rating, gt") == [(7, 8.0), (9, None), (None, None), (5, None)]
    counts = {row["kind"]: (int(row["n"]), row["example"].rpartition(", ")[2]) for row in read_table(tmp_path / "imported.csv")}
    assert counts == {
        "rows": (4, "line 2"),
        "value 'ERROR'": (1, "line 4"),
        "rating without a human score": (2, "line 3"),
    }


def test_blanks_about_names_are_not_part_of_them(tmp_path):
    rows = [row | {"judge": " a ", "model": f" {row['model']}", "prompt": "1 "} for row in RATINGS]
    models = {"A": {"family": "X", "ids": ["a"]}}
    found = rated(tmp_path, written(tmp_path / "own.csv", rows), models=models)
    assert rows_of(found, "judge, model, prompt_id") == [("A", "b", "1"), ("A", "c", "1")]


def complaint(folder, path, settings=None, **options):
    with pytest.raises(DataError) as caught:
        rated(folder, path, settings, **options)
    assert not (folder / "ratings.parquet").exists()
    return str(caught.value).replace(f"{folder}/", "")


def of_values(folder, values):
    rows = [RATINGS[0] | {"prompt": str(place), "rating": value} for place, value in enumerate(values)]
    return complaint(folder, written(folder / "own.csv", rows))


def test_other_values_of_a_fault_are_named_with_the_line_for_config(tmp_path):
    """The most frequent first; those that YAML would read as something else are quoted."""
    said = of_values(tmp_path, ["7", "ERROR", "FAIL", "timeout", "timeout", "99", "error", "ERROR", "no"])
    assert "line 3, column rating: found 'ERROR', which is not a number; write a number from 1 to 10, leave it empty" in said
    assert said.endswith(
        " (7 more rows are faulty, with 'timeout', 'FAIL', 'error' and 'no'), as in `missing: [ERROR, timeout, FAIL, 'no']`"
    )
    many = of_values(tmp_path, ["x", "x", *(f"w{chr(97 + n)}" for n in range(9))])
    assert "(10 more rows are faulty, with 'wa', 'wb', 'wc', 'wd', 'we' and 4 other values), as in `missing: [x, wa," in many
    assert of_values(tmp_path, ["7", "ERROR"]).endswith("under `missing:` in config, as in `missing: [ERROR]`")
    assert "missing: [" not in of_values(tmp_path, ["7", "8,5", "error"])  # which may be meant for a number
    assert "missing: [" not in of_values(tmp_path, ["7", "x" * 41])
    assert "missing: [" not in of_values(tmp_path, [chr(97 + n) for n in range(21)])
    assert of_values(tmp_path, ["7", "99", "98"]).endswith("(1 more rows are faulty, with '98')")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own.jsonl.gz", "found a name that ends in '.jsonl.gz', and only CSV is read packed; unpack it (gunzip)"),
        ("own.tsv", "found a name that ends in '.tsv'; import a file that ends in one of .csv"),
    ],
)
def test_name_of_a_file_that_is_not_read(tmp_path, name, said):
    (tmp_path / name).write_bytes(b"\x1f\x8b")
    assert complaint(tmp_path, str(tmp_path / name)).startswith(f"{name}: {said}")


def test_file_in_utf_16_is_called_so(tmp_path):
    for name, text in {"own.csv": "judge,model\n", "own.jsonl": '{"judge": "a"}\n', "own.json": '[{"judge": "a"}]'}.items():
        (tmp_path / name).write_text(text, "utf-16")
        said = complaint(tmp_path, str(tmp_path / name), {"columns": {"judge": "judge"}})
        assert said.startswith(f"{name}, line 1: ")
        assert "UTF-16" in said
        assert "save it as UTF-8" in said


@pytest.mark.parametrize(("name", "said"), [("a{b}.csv", "braces mean a wildcard"), (b"a\xff.csv", "the name is not UTF-8")])
def test_name_in_a_folder_that_snakemake_cannot_take(tmp_path, name, said):
    (tmp_path / os.fsdecode(name)).write_text("judge,model\n", "utf-8")
    with pytest.raises(ConfigError, match=said):
        files_in(str(tmp_path))


def test_long_value_is_cut(tmp_path):
    said = of_values(tmp_path, ["7", "word " * 10_000])
    assert len(said) < 600
    assert "found 'word word" in said


def test_places_are_believed_of_imported_tables_only(tmp_path):
    """A user's table may have columns of these names; and the file that an imported table is from may be gone."""
    columns = ("judge", "model", "gt", "dataset", "prompt_id", "rating", "dimension", "source_file", "source_record")
    lines = [columns, ("gpt-4o", "gpt-4o", "4", "d", "p", "x", "quality", "gone.csv", "3")]
    (tmp_path / "own.csv").write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    duckdb.sql(f"copy (from read_csv('{tmp_path}/own.csv', all_varchar=true)) to '{tmp_path}/raw.parquet'")
    models = {"GPT-4o": {"family": "GPT", "ids": ["gpt-4o"]}}
    for name, place in (("own.csv", "own.csv, line 2, column rating"), ("raw.parquet", "gone.csv, row 3, column rating")):
        source = StudyFiles.from_config([f"{tmp_path}/{name}"], [None], scales=QUALITY, task_types={}, models=models)
        with pytest.raises(DataError) as caught:
            normalise("mine", source, ratings=f"{tmp_path}/c.parquet", completeness=f"{tmp_path}/c.csv")
        assert place in str(caught.value)


@pytest.mark.parametrize(
    ("rating", "step", "said"),
    [
        ("999999999", 0.001, "which is off the scale of the dimension"),
        ("0.8765", 1, "which is between two steps of the scale; write a number, 0 or more, or write the step under `step:`"),
    ],
)
def test_values_of_an_observed_scale_have_a_limit_in_steps(tmp_path, rating, step, said):
    path = written(tmp_path / "own.csv", [RATINGS[0] | {"rating": rating}])
    found = complaint(tmp_path, path, {"step": step}, scales={"quality": "observed"})
    assert said in found
    assert "round: true" not in found
