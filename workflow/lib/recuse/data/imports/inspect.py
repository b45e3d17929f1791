"""Inspect logs (UK AISI, inspect_ai): one JSON object of an evaluation, with its samples and their scores."""

import json
from collections.abc import Mapping, Sequence
from zipfile import is_zipfile

import duckdb

from recuse.base.database import text
from recuse.base.errors import ConfigError, DataError
from recuse.data.faults import Check, fault_number, raise_first_fault
from recuse.data.imports.rows import RATING_COLUMNS, Rows, case_of, create_objects, rows_of, there

WORDS = "an Inspect log"
# As inspect_ai.scorer.value_to_float takes them; N is "no answer or refusal to answer".
GRADES = {"c": "1", "p": "0.5", "i": "0", "n": "0", "yes": "1", "true": "1", "no": "0", "false": "0"}
KEPT = ("scorer", "epoch", "target", "answer", "explanation", "metadata")
EPOCH = ", epoch "  # between the id of a sample and the number of its epoch, in the prompt of all but the first
# Of a log only this, in one pass: a sample holds its whole conversation beside it.
OF_SAMPLE = ("id", "epoch", "scores", "target", "metadata", "error")
PARTS = {"eval": {"model": "JSON", "dataset": "JSON", "task": "JSON"}, "samples": [dict.fromkeys(OF_SAMPLE, "JSON")]}
TOLD = f"""
    create or replace temp table told as
    select file, json_extract_string(found.eval.model, '$') as model, found.samples as samples,
           coalesce(json_extract_string(found.eval.dataset, '/name'), json_extract_string(found.eval.task, '$')) as dataset
    from (select file, from_json(json, {text(json.dumps(PARTS))}) as found from log)"""
SAMPLES = """
    create or replace temp table samples as
    select file, model, dataset, row_number() over () as record, json_extract_string(sample.id, '$') as id,
           coalesce(json_extract_string(sample.epoch, '$'), '1') as epoch, sample.scores as scores,
           json_extract_string(sample.target, '$') as target, json_extract_string(sample.metadata, '$') as metadata,
           left(json_extract_string(sample.error, '/message'), 60) as message
    from (select * exclude (samples), unnest(samples) as sample from told)"""
# A row for each sample and each (scorer, key) that any sample has; key is null where the score is one value.
SCORES = """
    create or replace temp table scores as
    with scored as (select record, unnest(map_entries(scores::map(varchar, json))) as entry
                    from samples where json_type(scores) = 'OBJECT'),
         single as (select record, entry.key as scorer, entry.value as score, json_extract(entry.value, '/value') as value
                    from scored),
         valued as (select record, scorer, score, null::varchar as key, value from single where json_type(value) <> 'OBJECT'
                    union all
                    select record, scorer, score, part.key, part.value
                    from (select *, unnest(map_entries(value::map(varchar, json))) as part
                          from single where json_type(value) = 'OBJECT')),
         wanted as (select distinct scorer, key from valued)
    select samples.* exclude (scores), wanted.scorer, wanted.key, value, json_extract_string(value, '$') as shown,
           json_extract_string(score, '/explanation') as explanation, json_extract_string(score, '/answer') as answer
    from samples cross join wanted
    left join valued on valued.record = samples.record and valued.scorer = wanted.scorer
                     and valued.key is not distinct from wanted.key
    order by samples.record, wanted.scorer, wanted.key"""
FAILURES = {
    "value is null or json_type(value) = 'NULL'": "coalesce('the sample failed: ' || message, 'no score')",
    "explanation like 'Grade not found%'": "'no grade in the judgment'",
    "lower(shown) = 'nan'": "'unscored (NaN)'",
}
CHECKS = (
    Check("id", "id is null", "which is no id of a sample", "'write the log again with ids'"),
    Check("shown", "json_type(value) = 'ARRAY'", "a list of scores", "'import a score that is one value or has names'"),
)


def ratings_of_inspect(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read the scores of a log (.json, or .eval if inspect_ai is installed) as ratings of its model's answers.

    settings: config's `import`, whose `judge` is the name of the judge, or a name for each scorer that is one: a log names the
    scorer only. The dimension is the key of a score that has several, else the scorer, or the study's only one. C, P, I, N
    count 1, 0.5, 0, 0, as in Inspect. The prompt is the id of the sample; of epochs after the first `<id>, epoch <n>`.
    Raises DataError for a log without samples, with none of the scorers that `judge` names, or with two of one judge.
    """
    if "judge" not in settings:
        raise ConfigError(f"config: import: judge: not there, and {path} names scorers, not judges; write `judge: <its name>`")
    _open(connection, path)
    connection.execute(TOLD)
    connection.execute("drop table log")
    connection.execute(SAMPLES)
    connection.execute(SCORES)
    raise_first_fault(connection, f"(select *, {fault_number(CHECKS)} as fault from scores)", CHECKS)
    judge = _judge(connection, path, settings["judge"])
    dimension = f"coalesce(key, {text(scales[0]) if len(scales) == 1 else 'scorer'})"
    _check_one_scorer(connection, path, judge, dimension)
    failure = "case " + " ".join(f"when {condition} then {words}" for condition, words in FAILURES.items()) + " end"
    columns = {
        "judge": judge,
        "model": "model",
        "dataset": "dataset",
        "dimension": dimension,
        "prompt_id": f"id || case when epoch = '1' then '' else '{EPOCH}' || epoch end",
        "failure": failure,
        "rating": f"case when {failure} is null then {case_of('lower(shown)', GRADES, 'shown')} end",
    }
    named = {"rating": "value", "prompt_id": "id", "dimension": "scorer", "model": "eval.model"}
    kept = {column: column for column in KEPT}
    return rows_of(f"(from scores where {judge} is not null)", columns, RATING_COLUMNS, kept=kept, named=named)


def _judge(connection: duckdb.DuckDBPyConnection, path: str, judge: str | Mapping[str, str]) -> str:
    """SQL for the judge of a score; NULL for a scorer that config does not call one."""
    if isinstance(judge, str):
        return text(judge)
    scorers = [scorer for (scorer,) in connection.execute("select distinct scorer from scores order by all").fetchall()]
    if not set(scorers) & set(judge):
        raise DataError(
            f"{path}: its scorers are {', '.join(scorers) or 'none'}; found {', '.join(judge)} under `judge:` in config, write "
            "the judge of one of these"
        )
    return case_of("scorer", judge)


def _check_one_scorer(connection: duckdb.DuckDBPyConnection, path: str, judge: str, dimension: str) -> None:
    """DataError where several scorers would be one judge (SQL) of one dimension (SQL)."""
    several = connection.execute(f"""
        select {judge} as judge, {dimension}, list(distinct scorer order by scorer) from scores where judge is not null
        group by all having count(distinct scorer) > 1 order by all limit 1""").fetchone()
    if several is not None:
        name, of, scorers = several
        raise DataError(
            f"{path}: its scorers {', '.join(scorers)} would all be the judge '{name}' of '{of}'; say which of them is a "
            f"judge, and by which name, under `import` in config: `judge: {{{scorers[0]}: {name}}}`"
        )


def _open(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Create the temporary table `log`: file, json."""
    if path.endswith(".eval"):
        connection.execute("create or replace temp table log as select ? as file, ?::json as json", [path, _converted(path)])
    else:
        create_objects(connection, path, {}, [there("eval", WORDS)], table="log")
    if connection.execute("select json_type(json, '/samples') from log").fetchone() != ("ARRAY",):
        raise DataError(f"{path}: the log holds no samples; name one that was written with them, by `log_samples`")


def _converted(path: str) -> str:
    """The JSON of a log in Inspect's own packed form."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise DataError(
            f"{path}: reading .eval needs the package inspect_ai, which is not there; install it (`pip install inspect-ai`) or "
            f"convert the log where it is: `inspect log convert {path} --to json --output-dir <folder>`"
        ) from error
    if not is_zipfile(path):
        raise DataError(f"{path}: found no packed log (it is no zip archive); write the log again")
    return read_eval_log(path).model_dump_json()
