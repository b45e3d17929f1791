"""Files of ratings and human scores that a test imports into its folder."""

import json
from pathlib import Path

import duckdb
import pytest

from recuse.base.errors import DataError
from recuse.data.ratings import StudyFiles, normalise_ratings
from recuse.imports.ratings import import_ratings

GOLDEN = Path(__file__).parents[1] / "golden"
QUALITY = {"quality": [1, 10]}
# How DuckDB writes a table in files of a kind
WRITTEN_AS = {
    "parquet": "(format parquet)",
    "jsonl": "(format json)",
    "json": "(format json, array true)",
    "csv": "(format csv, header true)",
    "csv.gz": "(format csv, header true)",
}


def fixture(name):
    """The path of a fixture by its name, or that of a file that the test wrote."""
    return name if isinstance(name, Path) else GOLDEN.parent / "formats" / name


def paths_to(given, name):
    """The paths of the given files: a path, a list of paths, a text for each name, or the text of
    the file `name`. Texts are first written there.
    """
    if isinstance(given, Path):
        return [str(given)]
    if isinstance(given, list):
        return [*map(str, given)]
    texts = given if isinstance(given, dict) else {name: given}
    for each, text in texts.items():
        Path(each).write_bytes(text if isinstance(text, bytes) else text.encode())
    return [*texts]


def document(name, text):
    """What a text of JSON holds, or of JSON Lines by its name."""
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def text_from(name, value):
    """A document as JSON, or as JSON Lines by its name."""
    if name.endswith(".jsonl"):
        return "".join(f"{json.dumps(line)}\n" for line in value)
    return json.dumps(value)


def import_files(
    ratings,
    human=None,
    references=None,
    *,
    settings=None,
    scales=QUALITY,
    models=None,
    raters=False,
):
    """Import files of ratings and perhaps of human scores; ratings.parquet, imported.csv and, if
    asked for, raters.parquet are then in the folder.
    """
    outputs = {"ratings": "ratings.parquet", "imported": "imported.csv"}
    outputs |= {"raters": "raters.parquet"} if raters else {}
    settings, of_humans = dict(settings or {}), []
    if human is not None or references is not None:
        if not human:
            raise ValueError("no human scores: give a file or its text, or leave both out")
        settings["references"] = {"columns": {}} | (references or {})
        of_humans = paths_to(human, "human.csv")
    import_ratings(
        "mine",
        paths_to(ratings, "own.csv"),
        of_humans,
        settings=settings,
        scales=scales,
        models=models or {},
        outputs=outputs,
    )


def normalised(raw="ratings.parquet", *, scales=None, models=None, imported=True):
    """The table that the next step makes of the raw ratings in the folder."""
    given = {"scales": scales or {}, "models": models or {}, "imported": imported}
    source = StudyFiles.from_files([raw], [None], task_types={}, **given)
    table = "canonical.parquet"
    normalise_ratings("mine", source, ratings=table, completeness="completeness.csv")
    return table


def complaint(*given, **options):
    """The error about such files; nothing is written."""
    with pytest.raises(DataError) as caught:
        import_files(*given, **options)
    assert not Path("ratings.parquet").exists()
    return str(caught.value)


def beside_golden(table, golden, fixture, order=""):
    """The rows of a table as texts, and those of a fixture in a golden table: in each column that
    has a value there, and in each that both tables have. The order is this (SQL), or theirs.
    """
    texts = f"read_csv('{GOLDEN / golden}', all_varchar = true)"
    rows = f"(select * exclude (fixture) from {texts} where fixture = '{fixture}')"
    expected, written = duckdb.sql(f"from {rows}"), duckdb.sql(f"from '{table}'").columns
    columns = [
        f'"{column}"::varchar'
        for column, *values in zip(expected.columns, *expected.fetchall(), strict=True)
        if column in written or any(values)
    ]
    picked = f"select {', '.join(columns)} from"
    return [duckdb.sql(f"{picked} {each} {order}").fetchall() for each in (f"'{table}'", rows)]
