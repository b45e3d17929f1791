"""Ratings of single answers in tables of any columns, and in MT-Bench's single judgments."""

from collections.abc import Mapping, Sequence

import duckdb

from judgebias.database import text
from judgebias.imports.json_objects import create_objects, kept_fields, there
from judgebias.imports.rows import ALL, RATING_COLUMNS, Rows, selected
from judgebias.imports.tables import Table, failure_of
from judgebias.sources.checks import Check

COLUMNS = {"judge": (), "model": (), "prompt": ("prompt_id",), "rating": ()}  # key of config -> other names by default
OPTIONAL = {"dimension": (), "dataset": (), "human": ("gt",), "length": ("pred_length",)}
SCORES = ("rating", "gt")
NO_NUMBER = "score is not null and try_cast(score as double) is null"
RENAMED = {"prompt": "prompt_id", "human": "gt", "length": "pred_length"}  # key of config -> column of the table


def ratings_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table in columns that config names: judge, model, prompt, rating, and if there dimension, dataset, human, length.

    settings: config's `import`. scales: the dimensions of the study; where the file has no column for them, the only one.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    found = {key: file.needed(named, key, or_else=names) for key, names in COLUMNS.items()}
    found |= {key: file.column(named, key, or_else=names) for key, names in OPTIONAL.items()}
    if found["dimension"] is None and len(scales) != 1:
        found["dimension"] = file.needed(named, "dimension")
    own = {RENAMED.get(key, key): column for key, column in found.items() if column is not None}
    names = ("judge", "model", "prompt_id", "dimension", "dataset")
    texts = {column: f"trim({file.name_text(own[column])})" for column in names if column in own}
    texts |= {"pred_length": file.number_text(own["pred_length"])} if "pred_length" in own else {}
    texts = {"dimension": text(scales[0]), "dataset": text(ALL)} | texts
    failures = {column: failure_of(file.text(own[column]), settings.get("missing", ())) for column in SCORES if column in own}
    texts |= {column: f"case when {why} is null then trim({file.text(own[column])}) end" for column, why in failures.items()}
    texts["failure"] = failures["rating"]
    kept = file.kept(own.values(), RATING_COLUMNS)
    return Rows(selected(texts, RATING_COLUMNS, kept, file.source), own, tuple(kept))


def ratings_of_mt_bench(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read MT-Bench single judgments (model_judgment/<judge>_single.jsonl), whose dimensions are `turn 1` and `turn 2`.

    Each line has question_id, model, judge ([name, prompt template]), score (-1: the judge's answer held none) and turn.
    """
    words, own = "MT-Bench single judgments", ("question_id", "model", "score", "turn")
    checks = [there(field, words) for field in ("question_id", "model", "judge", "score")]
    checks.append(Check("score", NO_NUMBER, "which is no number", "'write a number, or -1 if the judge gave none'"))
    fields = {"judge": "/judge/0", "plain_judge": "/judge", **{key: f"/{key}" for key in own}}
    keys = create_objects(connection, path, fields, checks, table="objects")
    failure = """case when json_extract_string(json, '/judgment') = '$ERROR$' then 'the call failed ($ERROR$)'
                      when coalesce(try_cast(score as double), -1) = -1 then 'no score in the judgment (-1)' end"""
    columns = {
        "judge": "coalesce(judge, plain_judge)", "model": "model", "prompt_id": "question_id", "dataset": "'mt-bench'",
        "dimension": "'turn ' || coalesce(turn, '1')", "failure": failure,
        "rating": f"case when {failure} is null then score end",
    }  # fmt: skip
    kept = kept_fields((key for key in keys if key not in (*own, "judge")), RATING_COLUMNS)
    kept |= {"judge_prompt": "json_extract_string(json, '/judge/1')"}
    named = {"prompt_id": "question_id", "rating": "score", "dimension": "turn"}
    return Rows(selected(columns, RATING_COLUMNS, kept, "objects"), named, tuple(kept))
