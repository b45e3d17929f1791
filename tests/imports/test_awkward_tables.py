"""Tables as people have them: each from its file to `check`, by at most eight lines of YAML,
against naive readers.
"""

import csv
import gzip
import io
import json
import re
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from importing import WRITTEN_AS, document, import_files, normalised, text_from

import mutations
from mutations import as_csv, documents_like, examples, tables_like
from recuse.base.errors import RecuseError
from recuse.base.tables import read_table
from recuse.config.load import load, load_studies
from recuse.config.read import read
from recuse.data.registry import Registry
from recuse.imports.ratings import _check_judges
from recuse.inputs import inputs_in
from recuse.pipeline import in_folder, pipeline
from text_tables import cases, lines, words

pytestmark = pytest.mark.usefixtures("own_folder")

NAMES = ("gpt-4.1", "gpt-4.1-mini", "claude-sonnet-4", "claude-haiku-4", "llama-3.1-70b")
JUDGES, PROMPTS = NAMES[:4], [f"q{number}" for number in range(24)]
MOST_LINES = 8
MISSING = {"", "na", "n/a", "nan", "null", "none", "#n/a"}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def rated(low, high, step=1, *, judges=JUDGES):
    """Ratings by each judge of each answer, drawn about a quality that the humans score."""
    random = np.random.default_rng(1)
    answers = pd.MultiIndex.from_product([judges, NAMES, PROMPTS])
    table = answers.to_frame(index=False, name=["judge", "model", "prompt"])
    levels = round((high - low) / step)
    quality = np.tile(random.integers(0, levels + 1, len(NAMES) * len(PROMPTS)), len(judges))
    moved = quality + random.integers(-1, 2, len(table)) + (table["judge"] == table["model"])
    return table.assign(rating=low + step * moved.clip(0, levels), human=low + step * quality)


def by_judge_and_model():
    """One row for each answer, a column for each judge, named like it; the human score beside."""
    truth = rated(1, 5)
    wide = truth.pivot(index=["model", "prompt", "human"], columns="judge", values="rating")
    wide = wide.reset_index()[["model", "prompt", *JUDGES, "human"]]
    header = ["candidate", "item", *JUDGES, "human"]
    return {"wide.csv": wide.to_csv(header=header, index=False)}, truth, (1, 5)


def a_column_for_each_model():
    """Named otherwise than the models; human scores likewise, in another file."""
    truth = rated(1, 5)
    wide = truth.pivot(index=["judge", "prompt"], columns="model", values="rating")
    human = truth.pivot_table(index="prompt", columns="model", values="human")
    files = {"wide.csv": wide, "human.csv": human}
    texts = {name: each.add_suffix("_score").to_csv() for name, each in files.items()}
    return texts, truth, (1, 5)


def one_judge_in_each_file():
    """A file that does not name its judge: a constant."""
    truth = rated(1, 10, judges=JUDGES[:1])
    run = truth.drop(columns="judge").rename(columns={"rating": "score"})
    return {"run.csv": run.to_csv(index=False)}, truth, (1, 10)


def nested_json_lines():
    """Objects in objects, as loggers write them."""
    truth = rated(1, 5)
    lines = [
        {
            "metadata": {"judge": row.judge, "sample": {"id": row.prompt}},
            "model": row.model,
            "output": {"score": row.rating},
            "human": row.human,
        }
        for row in truth.itertuples()
    ]
    return {"log.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines)}, truth, (1, 5)


def json_in_a_cell():
    """A column of a CSV file that holds objects."""
    truth = rated(1, 5)
    log = truth.assign(judge=[json.dumps({"judge": judge, "v": 2}) for judge in truth["judge"]])
    text = log.rename(columns={"judge": "metadata"}).to_csv(index=False)
    return {"log.csv": text}, truth, (1, 5)


def yes_and_no():
    """Booleans as pandas writes them."""
    truth = rated(0, 1)
    passed = truth.astype({"rating": bool, "human": bool}).rename(columns={"rating": "passed"})
    return {"passed.csv": passed.to_csv(index=False)}, truth, (0, 1)


def written_by_a_spreadsheet():
    """Semicolons, decimal commas and half points, as Excel saves them in most of Europe."""
    truth = rated(1, 5, 0.5)
    return {"noten.csv": truth.to_csv(sep=";", decimal=",", index=False)}, truth, (1, 5)


def packed_tabs_and_many_dimensions():
    """A packed TSV file whose dimensions are numbered; one scale for all."""
    truth = rated(1, 5).merge(pd.DataFrame({"dimension": ["1", "2"]}), how="cross")
    content = truth.to_csv(sep="\t", index=False).encode()
    return {"log.tsv.gz": gzip.compress(content, mtime=0)}, truth, (1, 5)


def a_scale_for_each_judge():
    """One judge was asked for 1 to 5, twice for each answer, the others for 1 to 10."""
    truth = rated(1, 10)
    is_first = truth["judge"] == JUDGES[0]
    given = truth["rating"][is_first]
    twice = (given + 1) // 2, 1 + given % 5
    log = pd.concat([truth[~is_first], *(truth[is_first].assign(rating=each) for each in twice)])
    mean = truth["rating"].where(~is_first, 1 + (sum(twice) / 2 - 1) * 9 / 4)
    return {"log.csv": log.to_csv(index=False)}, truth.assign(rating=mean), (1, 10)


# What the file looks like -> the files, the ratings and human scores, and the scale; the study's
# lines but its title.
TABLES = {
    by_judge_and_model: (
        """
        import:
          files: wide.csv
          columns: {model: candidate, prompt: item, rating: [gpt-4.1, gpt-4.1-mini, claude-sonnet-4, claude-haiku-4]}
        scales: {quality: [1, 5]}"""
    ),
    a_column_for_each_model: (
        """
        import:
          files: wide.csv
          columns: &models {rating: {COLUMNS}}
          references: {files: human.csv, columns: *models}
        scales: {quality: [1, 5]}"""
    ),
    one_judge_in_each_file: (
        """
        import: {files: run.csv, columns: {judge: {value: gpt-4.1}, rating: score}}
        scales: {quality: [1, 10]}"""
    ),
    nested_json_lines: (
        """
        import:
          files: log.jsonl
          columns: {judge: metadata.judge, prompt: metadata.sample.id, rating: output.score}
        scales: {quality: [1, 5]}"""
    ),
    json_in_a_cell: (
        """
        import: {files: log.csv, columns: {judge: metadata.judge}}
        scales: {quality: [1, 5]}"""
    ),
    yes_and_no: (
        """
        import: {files: passed.csv, columns: {rating: passed}, values: {true: 1, false: 0}}
        scales: {quality: [0, 1]}"""
    ),
    written_by_a_spreadsheet: (
        """
        import: {files: noten.csv, decimal: ","}
        scales: {quality: [1, 5]}"""
    ),
    packed_tabs_and_many_dimensions: (
        """
        import: {files: log.tsv.gz}
        scales: {default: [1, 5]}"""
    ),
    a_scale_for_each_judge: (
        """
        import: {files: log.csv, repeats: mean}
        scales: {quality: {default: [1, 10], gpt-4.1: [1, 5]}}"""
    ),
}


def settings_text(table):
    columns = ", ".join(f"{name}: {name}_score" for name in NAMES)
    return f"studies:\n  mine:\n        title: mine{TABLES[table]}\n".replace("COLUMNS", columns)


def as_bytes(content):
    return content if isinstance(content, bytes) else content.encode()


def written(table):
    """The files of a table and its mine.yaml; the table's truth."""
    files, *truth = table()
    for name, content in files.items():
        Path(name).write_bytes(as_bytes(content))
    Path("mine.yaml").write_text(settings_text(table), "utf-8")
    return truth


def checked(*, findings=False):
    """The canonical ratings and human scores, from 0 to 1, what was imported and, if asked for,
    the findings of `check`.
    """
    (inputs,) = inputs_in(load_studies("mine.yaml"), read(Path("mine.yaml")), compared=True)
    with in_folder(inputs) as place:
        made = pipeline(inputs, place)
        columns = "judge, model, prompt_id as prompt, dimension, rating_unit, gt_unit"
        rows = duckdb.sql(f"select {columns} from '{made.tables.ratings[0]}'").df()
        counts = counts_in(read_table(f"{place}/imported.csv"))
        return rows, counts, made.findings() if findings else []


def assert_units(rows, truth, scale):
    """Each rating and human score is what it is on this scale, and none is lacking."""
    low, high = scale
    both = rows.merge(truth, how="outer")
    expected = (both[["rating", "human"]] - low) / (high - low)
    np.testing.assert_allclose(both[["rating_unit", "gt_unit"]], expected, rtol=0, atol=1e-12)


# Table -> what the import says of it
NOTES = {
    by_judge_and_model: "the columns gpt-4.1, gpt-4.1-mini, claude-sonnet-4 and claude-haiku-4 is one judge",
    written_by_a_spreadsheet: "ratings of quality are in steps of 0.5",
    packed_tabs_and_many_dimensions: "fields are separated by a tab",
    a_scale_for_each_judge: "quality by gpt-4.1, on a scale from 1 to 5, are mapped linearly to 1 to 10",
}


@pytest.mark.parametrize("table", TABLES)
def test_from_file_to_check(capsys, table, long):
    truth, scale = written(table)
    lines = [line for line in settings_text(table).splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    is_checked = long or table is by_judge_and_model
    rows, counts, findings = checked(findings=is_checked)
    assert_units(rows, truth, scale)
    assert {*rows["dimension"]} == {*truth.get("dimension", ["quality"])}
    levels = [finding.level for finding in findings if finding.topic == "verdict"]
    assert levels[:1] == ["fine"] * is_checked
    assert NOTES.get(table, "") in capsys.readouterr().err
    if table is written_by_a_spreadsheet:
        halves = (truth["rating"] % 1 != 0).sum()
        assert counts["between whole numbers, in steps of 0.5"] == halves
    if table is a_scale_for_each_judge:
        repeats = (truth["judge"] == JUDGES[0]).sum()
        assert counts["repeated rating, merged into the mean"] == repeats
    if table is yes_and_no:
        assert counts["value 'True' read as 1"] == truth["rating"].sum()


def counts_in(table):
    return {row["kind"]: int(row["n"]) for row in table}


def number_in(cell, values=None, decimal="."):
    """A cell as a number, None if missing; ValueError if it is neither. The naive twin of the
    import's SQL.
    """
    word = cell.strip(" ").lower()
    if word in MISSING:
        return None
    if word in (values or {}):
        return float(values[word])
    word = cell.strip(" \t\n\r\v\f")
    if decimal == "," and "." in word:
        raise ValueError(cell)
    word = word.replace(",", ".") if decimal == "," else word
    if not NUMBER.fullmatch(word):
        raise ValueError(cell)
    return float(word)


BOOLEANS = dict.fromkeys(("true", "yes", "on"), 1) | dict.fromkeys(("false", "no", "off"), 0)
# Tables of CSV -> separator; columns of model and prompt, and of judge and rating unless each judge
# has a column; values and decimal
SPOILT = {
    by_judge_and_model: (",", ("candidate", "item"), {}, "."),
    yes_and_no: (",", ("model", "prompt", "judge", "passed"), BOOLEANS, "."),
    written_by_a_spreadsheet: (";", ("model", "prompt", "judge", "rating"), {}, ","),
    json_in_a_cell: (",", ("model", "prompt", "metadata", "rating"), {}, "."),
}


def naive(table, text):
    """(judge, model, prompt) -> ratings by a second reader: plain loops over the cells."""
    separator, names, values, decimal = SPOILT[table]
    header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    ratings = {}

    def cells(line, *names):
        if any(header.count(name) != 1 for name in names) or len(line) != len(header):
            raise ValueError(header)
        return [line[header.index(name)] for name in names]

    for line in lines:
        if line == [] or (len(header) > 1 and line == [""]):
            continue
        model, prompt, *rest = cells(line, *names)
        if table is json_in_a_cell:
            rest[0] = json.loads(rest[0])["judge"]
        rated_by = [rest] if rest else zip(JUDGES, cells(line, *JUDGES), strict=True)
        for judge, cell in rated_by:
            key = tuple(name.strip(" ") for name in (judge, model, prompt))
            ratings.setdefault(key, []).append(number_in(cell, values, decimal))
    return ratings


def naive_json(text):
    """The same of nested_json_lines: names are texts or numbers, a rating a number or a text of
    one.
    """
    ratings = {}
    for entry in map(json.loads, filter(str.strip, text.splitlines())):
        names = (entry["metadata"]["judge"], entry["model"], entry["metadata"]["sample"]["id"])
        key = tuple(
            name.strip(" ") if isinstance(name, str) else json.dumps(name, separators=(",", ":"))
            for name in names
        )
        score = entry["output"].get("score") if isinstance(entry.get("output"), dict) else None
        ratings.setdefault(key, []).append(number_in("" if score is None else str(score)))
    return ratings


def one(text, name="own.csv", *, human=None, references=None, **options):
    """Import one file; the number of what was imported, by its kind."""
    options = {"scales": {"quality": [1, 5]}} | options
    import_files({name: text}, human, references, **options)
    return counts_in(read_table("imported.csv"))


def canonical():
    """The units of rating and human score that the next step makes of raw ratings, by judge, model
    and prompt.
    """
    query = f"select judge, model, prompt_id, rating_unit, gt_unit from '{normalised()}'"
    return {row[:3]: row[3:] for row in duckdb.sql(query).fetchall()}


@pytest.mark.parametrize("table", [*SPOILT, nested_json_lines])
def test_a_spoilt_table_is_refused_or_read_as_it_is(table, long):
    """Cells, rows and columns are changed: no number comes of it but those that a second reader
    finds in the file.
    """
    files, _, (low, high) = table()
    ((name, whole),) = files.items()
    if table is nested_json_lines:
        rows = documents_like(document(name, whole)[:9])
        texts, reader = rows.map(lambda rows: text_from(name, rows)), naive_json
    else:
        separator = SPOILT[table][0]
        rows = tables_like([*csv.reader(io.StringIO(whole), delimiter=separator)][:9])
        texts = rows.map(lambda rows: as_csv(rows, separator).decode())
        reader = partial(naive, table)
    study = yaml.safe_load(settings_text(table))["studies"]["mine"]
    outcomes = Counter()

    @examples(150 if long else 100)
    @given(texts)
    def read_or_refused(text):
        given = {"settings": study["import"], "scales": study["scales"]}
        try:
            one(text, name, **given)
            units = canonical()
        except RecuseError as error:
            outcomes[str(error).startswith((name, "config: "))] += 1
            return
        outcomes["read"] += 1
        truth = {
            key: [value for value in values if value is not None]
            for key, values in reader(text).items()
        }
        rows = "select judge, model, prompt_id from 'ratings.parquet' where rating is not null"
        assert sorted(duckdb.sql(rows).fetchall()) == sorted(key for key in truth if truth[key])
        for key, (unit, _) in units.items():
            (value,) = truth[key]
            assert unit == pytest.approx((value - low) / (high - low), abs=1e-12)

    read_or_refused()
    assert outcomes[False] == 0
    assert min(outcomes["read"], outcomes[True]) > 5 * mutations.share


# A table, what is replaced in its file, and by what; below it the error
FAULTS = """
by_judge_and_model | q0, | q0,x
    wide.csv, line 2, column gpt-4.1: found 'x
one_judge_in_each_file | model, | modl,
    run.csv, line 1, column model: missing; found modl, prompt, score, human
json_in_a_cell | "{""judge"": ""gpt-4.1"", ""v"": 2}" | gpt
    log.csv, line 2, column metadata: found 'gpt', which is
nested_json_lines | "judge": | "jugde":
    log.jsonl, line 1, column metadata.judge: found nothing; write the id
yes_and_no | False | maybe
    passed.csv, line 2, column human: found 'maybe', which is not a number
written_by_a_spreadsheet | ;1,0; | ;1.0;
    column rating: found '1.0 (with a point)', which is not a number
a_scale_for_each_judge | gpt-4.1,gpt-4.1,q0, | gpt-4.1,gpt-4.1,q0,9
    which is off the scale of the dimension; write
"""


@pytest.mark.parametrize(("change", "message"), cases(FAULTS))
def test_what_is_wrong_is_named_by_file_row_and_column(change, message):
    name, old, new = change.split(" | ")
    written(next(table for table in TABLES if table.__name__ == name))
    path = next(path for path in Path().iterdir() if path.name != "mine.yaml")
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(RecuseError, match=re.escape(message)):
        checked()


def ratings_in(columns="judge, model, prompt_id, rating"):
    order = "order by source_record, judge, model"
    return duckdb.sql(f"select {columns} from 'ratings.parquet' {order}").fetchall()


HEADER = "judge,model,prompt,rating,human\n"


# How repeats count -> the steps in 1, and the ratings of a and of c
REPEATS = {"mean": (3, 3 * 3, 4), "first": (1, 2, 1), "last": (1, 4, 2)}


@pytest.mark.parametrize("repeats", REPEATS)
def test_repeats(repeats):
    """2, none, 3 and 3.0, 4 by one judge: the mean 3 is exact; the failure is none of them. The
    mean of c's is 4/3; where all its ratings failed there is none. The file keeps the first row.
    """
    text = "a,b,1,2,3/a,b,1,ERROR,3/a,b,1,3,3/a,b,1,3.0,/a,b,1,4,3/a,b,2,5,3"
    text += "/c,b,1,1,3/c,b,1,1,3/c,b,1,2,3/c,b,2,ERROR,3/c,b,2,ERROR,3"
    settings = {"repeats": repeats, "missing": ["ERROR"]}
    counts = one(HEADER + text.replace("/", "\n"), settings=settings)
    step, of_a, of_c = REPEATS[repeats]
    *rated, failed = ratings_in("judge, prompt_id, rating, failure")
    assert rated == [("a", "1", of_a, None), ("a", "2", 5 * step, None), ("c", "1", of_c, None)]
    assert failed == ("c", "2", None, "value 'ERROR'")
    merged = "merged into the mean" if step == 3 else f"of which the {repeats} counts"
    assert counts.pop(f"repeated rating, {merged}") == 5
    assert counts == {"rows": 11, "value 'ERROR'": 3, "rating without a human score": 1}


def test_ratings_that_are_rounded_after_mapping_and_averaging_are_counted():
    """Each answer once: 2, 1.4 and 3 of five are 3.25, 1.9 and 5.5 of ten; the mean of 1 and 2 is
    1.5.
    """
    rows = ["a,m,1,2,3", "a,m,2,5,3", "a,m,3,1.4,3", "a,m,4,3,3"]
    rows += ["b,m,1,1,3", "b,m,1,2,3", "b,m,2,4,3", "b,m,3,1.4,3", "b,m,3,2.6,3"]
    settings = {"round": True, "repeats": "mean"}
    scales = {"quality": {"default": [1, 10], "a": [1, 5]}}
    counts = one(HEADER + "\n".join(rows), settings=settings, scales=scales)
    assert ratings_in("rating") == [(3,), (10,), (2,), (6,), (2,), (4,), (2,)]
    assert counts["between two steps, rounded to the nearest"] == 4


def test_length_of_repeats_is_that_of_any():
    text = "judge,model,prompt,rating,human,length\na,b,1,2,3,\na,b,1,4,3,90\na,b,1,4,3,100\na,b,2,4,3,70\na,b,3,4,3,\n"
    one(text, settings={"repeats": "mean"})
    assert ratings_in("pred_length") == [(100,), (70,), (None,)]


def test_mean_of_too_many_repeats_is_refused_unless_rounded():
    text = HEADER + "".join(
        f"a,b,{n},{1 + (k == 0)},3\n" for n in (1, 2) for k in range((29, 31)[n - 1])
    )
    with pytest.raises(
        RecuseError,
        match=(
            r"means of repeated ratings would take 3597 levels .* `repeats: first` or `last`, or"
            r" `round"
        ),
    ):
        one(text, settings={"repeats": "mean"})
    one(text, settings={"repeats": "mean", "round": True})
    assert ratings_in("rating") == [(1,), (1,)]


@pytest.mark.parametrize("suffix", ["parquet", "json", "jsonl", "csv"])
def test_nested_columns_and_dots_in_names(suffix):
    """A struct of parquet, an object, JSON in a cell; a column whose name has the dot goes first,
    and a key with one, too.
    """
    rows = (
        "select {'judge': 'a', 'gpt-4.1': 3.0, 'claude': 4} as meta, 'b' as model, 1.0::double as"
        ' prompt, 9 as "meta.x"'
    )
    if suffix == "csv":
        rows = f"select to_json(meta) as meta, * exclude (meta) from ({rows})"
    duckdb.sql(f"copy ({rows}) to 'x.{suffix}' {WRITTEN_AS[suffix]}")
    columns = {"rating": ["meta.gpt-4.1", "meta.claude"]}
    given = Path(f"x.{suffix}").read_bytes(), f"x.{suffix}"
    one(*given, settings={"columns": columns})
    prompt = "1" if suffix == "parquet" else "1.0"
    assert ratings_in() == [("claude", "b", prompt, 4), ("gpt-4.1", "b", prompt, 3)]
    columns = {"judge": "meta.judge", "rating": "meta.x"}
    one(*given, settings={"columns": columns}, scales={"q": [1, 9]})
    assert ratings_in() == [("a", "b", prompt, 9)]
    with pytest.raises(
        RecuseError,
        match=r"column meta\.grader: missing; meta holds claude, gpt-4\.1, judge; write the path",
    ):
        one(*given, settings={"columns": {"judge": "meta.grader"}})


def test_columns_of_dimensions_and_of_models():
    """Whichever of judge, model and dimension has no column of its own."""
    both = {"settings": {"columns": {"rating": ["tone", "wit"]}}}
    one("judge,model,prompt,tone,wit\na,b,1,2,3\n", **both, scales={"default": [1, 5]})
    assert sorted(ratings_in("dimension, rating")) == [("tone", 2), ("wit", 3)]
    one("judge,prompt,tone,wit\na,1,2,3\n", **both)
    assert sorted(ratings_in("model, rating")) == [("tone", 2), ("wit", 3)]


def test_a_column_for_each_judge_and_model():
    """Names in two levels stand for the first two of judge, model and dimension without a
    column.
    """
    settings = {"columns": {"rating": {"a": {"b": "ab", "c": "ac"}, "b": {"b": "bb"}}}}
    one("prompt,ab,ac,bb\n1,2,3,4\n2,5,1,\n", settings=settings)
    assert sorted(words(ratings_in("judge, model, prompt_id, rating"))) == lines("""
        a b 1 2
        a b 2 5
        a c 1 3
        a c 2 1
        b b 1 4
        b b 2 -
    """)
    text = "model,prompt,ab,ac,bb\nm,1,2,3,4\n"
    one(text, settings=settings, scales={"default": [1, 5]})
    assert sorted(words(ratings_in("judge, model, dimension, rating"))) == lines("""
        a m b 2
        a m c 3
        b m b 4
    """)
    one("prompt,ab,ac,bb\n1,2,3,4\n1,2,3,4\n", settings=settings)
    with pytest.raises(RecuseError, match=r"own\.csv, line 3, column prompt_id: judge 'a', model"):
        canonical()


# Columns of ratings and a table, / for the end of a line; below them the error
UNFIT_COLUMNS = """
[tone, wit] | prompt,tone,wit/1,2,3
    column judge: missing; found prompt, tone, wit
[tone, wit] | judge,model,prompt,dimension,tone,wit/a,b,1,d,2,3
    found a column for judge, model and dimension, too
{a: {b: ab, c: ac}, b: {b: bb}} | prompt,ab,ac/1,2,3
    line 1, column bb: missing; found prompt, ab, ac;
{a: {b: ab, c: ac}, b: {b: bb}} | judge,model,prompt,ab,ac,bb/a,b,1,2,3,4
    columns of ratings: found a column for judge and model
"""


@pytest.mark.parametrize(("case", "message"), cases(UNFIT_COLUMNS))
def test_unfit_columns_of_ratings_are_named(case, message):
    columns, table = case.split(" | ")
    with pytest.raises(RecuseError, match=message):
        one(table.replace("/", "\n"), settings={"columns": {"rating": yaml.safe_load(columns)}})


def test_human_scores_in_columns_of_dimensions_by_other_words():
    references = {
        "columns": {"rating": {"tone": "h_tone", "wit": "h_wit"}},
        "values": {"gut": 4},
        "decimal": ",",
    }
    one(
        "judge,model,prompt,tone,wit\na,b,1,2,3\n",
        human="model;prompt;h_tone;h_wit\nb;1;gut;1,5\n",
        references=references,
        settings={"columns": {"rating": ["tone", "wit"]}},
        scales={"default": [1, 5]},
    )
    assert sorted(ratings_in("dimension, rating, gt")) == [("tone", 2, 4.0), ("wit", 3, 1.5)]


@pytest.mark.parametrize(
    "words", ["{yes: 5, no: 1}", "{true: 5, false: 1}", "{'yes': 5, NO: 1}", "{1: 5, 0: 1}"]
)
def test_values_as_yaml_reads_them(words):
    """YAML turns yes into true; the file may say either, in any case."""
    spelt = ("1.0", "0") if "{1:" in words else ("Yes", "NO")
    text = HEADER + f"a,b,1,{spelt[0]},3\na,b,2,{spelt[1]},3\n"
    one(text, settings={"values": yaml.safe_load(words)})
    assert ratings_in("prompt_id, rating, gt") == [("1", 5, 3.0), ("2", 1, 3.0)]


# What a study says; below it the error
UNFIT = """
import: {files: a.csv, values: {yes: 1}, missing: ['yes', 'true']}
    values: True is listed under `missing:`, too
import: {files: a.csv, values: {left: a}}
    values: left: found 'a'; write a number
import: {files: a.csv, values: {left: a}, references: {files: b.csv, values: {left: 1}}}
    import: values: left: found 'a'; write a number
import: {files: a.csv, values: {left: 0}, references: {files: b.csv, values: {good: a}}}
    import: references: values: good: found 'a'; write a number
import: {files: a.csv, values: {left: [1]}}
    values: left: should be text or a number
import: {files: a.csv, decimal: ';'}
    decimal: should be ',' or '.'
import: {files: a.csv, repeats: median}
    repeats: should be 'mean', 'first', 'last' or 'error'
import: {files: a.csv, columns: {rating: {a: x, b: x}}}
    rating: found {'a': 'x', 'b': 'x'}; write another column
import: {files: a.csv, columns: {rating: {a: {b: x, c: x}}}}
    rating: found {'a': {'b': 'x', 'c': 'x'}}; write another column
import: {files: a.csv, columns: {rating: {a: {b: x, c: y}, d: z}}}
    write a column for each name, or a mapping for each
import: {files: a.csv, columns: {rating: {a: {b: x}}}}
    rating: found {'a': {'b': 'x'}}; write several columns, or the only one as text
import: {files: a.csv, columns: {judge: {values: x}}}
    judge: values: unknown key; did you mean 'value'?
import: {files: a.csv}, scales: {q: {a: [1, 5], b: [1, 2]}}
    found scales of a, b; add `default:`
import: {files: a.csv, values: {yes: 1, true: 0}}
    true: already in line 1; keep one of the two
files: a.csv, scales: {q: {default: [1, 5], b: [1, 2]}}
    scales of judges need `import`
"""


@pytest.mark.parametrize(("study", "message"), cases(UNFIT))
def test_what_config_may_not_say(study, message):
    scales = "" if "scales:" in study else "scales: {q: [1, 5]}, "
    Path("mine.yaml").write_text(f"studies: {{mine: {{title: t, {scales}{study}}}}}", "utf-8")
    with pytest.raises(RecuseError, match=re.escape(message)):
        load("mine.yaml")


def test_names_that_are_numbers_and_those_known_only_from_the_files():
    """A dimension `1:` is '1'; specs may drop a model, and keep a dimension, that only the files of
    an import name.
    """
    study = (
        "studies: {mine: {title: t, import: {files: a.csv}, scales: {1: [1, 5], default: [1,"
        " 7]}}}\n"
    )
    specs = "specs: {mine: {subset: {models_dropped: [my-model], dimension: ['2']}}}\n"
    Path("mine.yaml").write_text(study + specs, "utf-8")
    config = load("mine.yaml")
    assert config.studies["mine"].scales == {"1": [1, 5], "default": [1, 7]}
    assert config.specs_by_name["mine"]["subset"] == {
        "models_dropped": ["my-model"],
        "dimension": ["2"],
    }
    Path("own.yaml").write_text(
        study.replace("import: {files: a.csv}", "files: a.csv") + specs, "utf-8"
    )
    with pytest.raises(RecuseError, match="models_dropped: 'my-model' is not one of models"):
        load("own.yaml")


def test_a_default_scale_without_an_import():
    """Of all dimensions that are not named, also over shards; 'observed' is that of each."""
    rows = [
        f"a,{m},2,d,p{n},{rating}\n"
        for n in range(4)
        for m in "ab"
        for rating in ("2,wit", "3,tone", "1,x")
    ]
    header = "judge,model,gt,dataset,prompt_id,rating,dimension\n"
    Path("own.csv").write_text(header + "".join(rows), "utf-8")
    models = {name: {"family": name} for name in "ab"}
    for default, high in (([1, 5], 5), ("observed", 3)):
        scales = {"wit": [0, 2], "default": default}
        table = normalised("own.csv", scales=scales, models=models, imported=False)
        query = f"select distinct dimension, scale_high from '{table}' order by all"
        last = 2 if default == "observed" else 5  # x has ratings of 1 and human scores of 2
        assert duckdb.sql(query).fetchall() == [("tone", high), ("wit", 2), ("x", last)]


def test_a_scale_of_a_judge_that_rates_nothing_is_named():
    with pytest.raises(
        RecuseError,
        match=(
            "scales: quality: 'gpt-4' is not a judge of these ratings; write the name of one of"
            " them, a"
        ),
    ):
        one(
            HEADER + "a,b,1,2,3\n",
            scales={"quality": {"default": [1, 5], "gpt-4": [1, 10]}},
        )


def test_a_judge_has_one_scale_in_a_dimension():
    registry = Registry.from_config({"Claude v2": {"family": "Claude", "ids": ["claude-2"]}})
    scales = {"quality": {"default": [1, 5], "claude-2": [1, 10], "Claude v2": [1, 7]}}
    with pytest.raises(
        RecuseError,
        match=(
            "scales: quality: 'claude-2' and 'Claude v2' are the same judge; write its scale under"
            " one of them"
        ),
    ):
        _check_judges(scales, registry, {"quality": {"Claude v2": []}})


def test_a_judge_whose_ratings_all_failed_does_not_change_the_step():
    text = HEADER + "a,b,1,2.5,3\na,b,2,3,3\nc,b,1,ERROR,3\nc,b,2,,3\n"
    one(text, settings={"missing": ["ERROR"]})
    assert ratings_in("rating") == [(5,), (6,), (None,), (None,)]


def test_means_and_mapped_scales_are_exact():
    """Every list of one to four repeats by two judges, one on a scale of fewer levels: each unit
    rating is the mean of its own, to the last digit.
    """
    repeats = [
        values for size in range(1, 5) for values in product(range(5 - size // 2), repeat=size)
    ]
    rows = [
        (judge, "m", f"p{prompt}", min(value, width), 1, width)
        for prompt, values in enumerate(repeats)
        for judge, width in (("a", 4), ("b", 2))
        for value in values
    ]
    table = pd.DataFrame(rows, columns=["judge", "model", "prompt", "rating", "human", "width"])
    units = table["rating"] / table["width"]
    expected = units.groupby([table["judge"], table["prompt"]]).mean().to_dict()
    scales = {"q": {"default": [0, 4], "b": [0, 2]}}
    one(table.to_csv(index=False), settings={"repeats": "mean"}, scales=scales)
    units = canonical()
    found = {(judge, prompt): unit for (judge, _, prompt), (unit, _) in units.items()}
    assert found == pytest.approx(expected, abs=1e-15)
    assert {unit for _, unit in units.values()} == {0.25}
