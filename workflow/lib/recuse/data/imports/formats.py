"""Judgments in the files that other tools write: MT-Bench, AlpacaEval, Arena-Hard, and Inspect (UK AISI, inspect_ai)."""

import json
import random
import zlib
from collections.abc import Mapping, Sequence
from zipfile import BadZipFile, is_zipfile

import numpy as np

from recuse.base.database import Connection, text
from recuse.base.errors import ConfigError, DataError
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import as_number, reading
from recuse.data.imports.rows import (
    RATING_COLUMNS,
    VERDICT_COLUMNS,
    Rows,
    case_of,
    create_objects,
    raise_keys_twice,
    required,
    rows_of,
)
from recuse.data.intact import AGAIN

# A name and a prompt template, or a name alone.
MT_BENCH_JUDGE = "coalesce(json_extract_string(json, '/judge/0'), json_extract_string(json, '/judge'))"
MT_BENCH_PROMPT = {"judge_prompt": "json_extract_string(json, '/judge/1')"}
WINNERS = {"model_1": "a", "model_2": "b", "tie": "tie", "error": "error"}


def ratings_of_mt_bench(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read MT-Bench single judgments (model_judgment/<judge>_single.jsonl), whose dimensions are `turn 1` and `turn 2`.

    Each line has question_id, model, judge ([name, prompt template]), score (-1: none in the judge's answer) and turn.
    """
    used = ("question_id", "model", "judge", "score", "turn")
    checks = [required(field, "MT-Bench single judgments") for field in used[:-1]]
    no_number = f"score is not null and {as_number('score')} is null"
    checks.append(Check("score", no_number, "which is not a number", "'write a number, or -1 if the judge gave none'"))
    texts = create_objects(connection, path, used, checks, table="objects")
    failure = f"""case when json_extract_string(json, '/judgment') = '$ERROR$' then 'the call failed ($ERROR$)'
                      when coalesce({as_number("score")}, -1) = -1 then 'no score in the judgment (-1)' end"""
    columns = {
        "judge": MT_BENCH_JUDGE,
        "model": "model",
        "prompt_id": "question_id",
        "dataset": "'mt-bench'",
        "dimension": "'turn ' || coalesce(turn, '1')",
        "failure": failure,
        "rating": f"case when {failure} is null then score end",
    }
    named = {"prompt_id": "question_id", "rating": "score", "dimension": "turn"}
    return rows_of("objects", columns, RATING_COLUMNS, named=named, texts=texts, used=used, besides=MT_BENCH_PROMPT)


def verdicts_of_mt_bench(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read MT-Bench pair judgments (model_judgment/<judge>_pair.jsonl): two games a line, the second with the answers swapped.

    Each line has question_id, model_1, model_2, judge ([name, prompt template]), g1_winner and g2_winner (model_1, model_2,
    tie or error), and turn; the second turn of question 81 is the item `81, turn 2`.
    """
    games = ("g1_winner", "g2_winner")
    used = ("judge", "question_id", "model_1", "model_2", *games, "turn")
    checks = [required(field, "MT-Bench pair judgments") for field in used[:-1]]
    single = "a score of a single answer: no pair was shown"
    checks.append(Check("m1_score", "m1_score is not null", single, "'import the single judgments, <judge>_single.jsonl'"))
    unknown, remedy = "{0} is null or {0} not in " + str(tuple(WINNERS)), "'write model_1, model_2, tie or error'"
    checks += [Check(game, unknown.format(game), "which is not a winner", remedy) for game in games]
    texts = create_objects(connection, path, (*used, "m1_score"), checks, table="objects")
    winner = "case game when 'g1_winner' then g1_winner else g2_winner end"
    columns = {
        "judge": MT_BENCH_JUDGE,
        "model_a": "model_1",
        "model_b": "model_2",
        "order": "shown",
        "item": "question_id || case when coalesce(turn, '1') = '1' then '' else ', turn ' || turn end",
        "failure": f"case when {winner} = 'error' then 'no winner in the judgment (error)' end",
        "outcome": case_of(winner, WINNERS),
    }
    besides, named = {"turn": "turn"} | MT_BENCH_PROMPT, {"outcome": "g1_winner"}
    source = "(from objects cross join (values ('ab', 'g1_winner'), ('ba', 'g2_winner')) as games(shown, game))"
    return rows_of(source, columns, VERDICT_COLUMNS, named=named, texts=texts, used=used, besides=besides)


ALPACA_EVAL = ("instruction", "output_1", "output_2", "generator_1", "generator_2", "annotator", "preference")
SEED = "0"  # the default of alpaca_eval's annotators
LONGEST_ITEM = 80  # characters of an instruction that is its own name
NO_PREFERENCE = "coalesce(lower(preference), 'nan') in ('nan', '-1', '-1.0')"  # -1 is from its own store of annotations
PREFERENCE = as_number("preference")
WORD_COUNT = "len(list_filter(string_split_regex({0}, '\\s+'), lambda word: word <> ''))"


def verdicts_of_alpaca_eval(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read annotations.json, or alpaca_eval's store of annotations; lengths are the words of the answers.

    `preference` is 1 for output_1, 2 for output_2, 1.5 or 0 for a tie, NaN or -1 for none. A number between, from annotators
    that read token probabilities, is 1 + the probability of output_2: it counts for the likelier answer, as in alpaca_eval's
    discrete win rate. Each pair is judged in one order: that of `referenced_models`, else the one that alpaca_eval draws from
    the instruction and the seed of its annotators.
    """
    checks = [required(field, "AlpacaEval annotations") for field in ALPACA_EVAL]
    none = f"not {NO_PREFERENCE} and coalesce(not ({PREFERENCE} = 0 or {PREFERENCE} between 1 and 2), true)"
    remedy = "write 1 for output_1, 2 for output_2, a number between if the judge is unsure, 1.5 or 0 for a tie, null for none"
    checks.append(Check("preference", none, "which is not a preference", text(remedy)))
    texts = create_objects(connection, path, ALPACA_EVAL, checks, table="objects")
    raise_keys_twice(connection, "(select file, record, json_keys(json, '/referenced_models') as keys from objects)")
    # The output that the judge was shown first. Source: alpaca_eval, processors.RandomSwitchTwoColumnsProcessor.
    rows = connection.execute("select distinct instruction from objects order by instruction").fetchall()
    seeds = {instruction: f"is_switched_outputs{instruction}{SEED}" for (instruction,) in rows}
    orders = [random.Random(seed).choices(["output_1", "output_2"], k=1)[0] for seed in seeds.values()]
    drawn = {"instruction": np.array([*seeds], dtype=object), "shown_first": np.array(orders, dtype=object)}
    connection.register("drawn", drawn)
    shown = "coalesce(json_extract_string(json, '/referenced_models/m'), shown_first)"  # m is the answer that is shown first
    short = f"length(instruction) <= {LONGEST_ITEM}"
    named = {"judge": "annotator", "model_a": "generator_1", "model_b": "generator_2"}
    columns = named | {
        "failure": f"case when {NO_PREFERENCE} then 'no preference' end",
        "item": f"case when {short} then instruction else left(instruction, 60) || '... #' || left(md5(instruction), 8) end",
        "order": f"case {shown} when 'output_1' then 'ab' else 'ba' end",
        "outcome": f"""case when {NO_PREFERENCE} then 'error' when {PREFERENCE} in (0, 1.5) then 'tie'
                            when {PREFERENCE} < 1.5 then 'a' else 'b' end""",
        "length_a": WORD_COUNT.format("output_1"),
        "length_b": WORD_COUNT.format("output_2"),
    }
    source, used = "(from objects join drawn using (instruction))", named.values()
    return rows_of(source, columns, VERDICT_COLUMNS, named=named | {"outcome": "preference"}, texts=texts, used=used)


ARENA_HARD = ("question_id", "uid", "model", "judge", "baseline", "games")
LABELS = {
    **{"A>>B": "A", "A>B": "A", "A=B": "tie", "B>A": "B", "B>>A": "B"},
    **{"A<<B": "B", "A<B": "B", "B=A": "tie", "B<A": "A", "B<<A": "A"},
}
# Its pattern [[...]] also takes these from a judge's answer, such as [[A]] or [[A>>>B]].
UNREADABLE = "regexp_full_match(score, '[AB<>=]*')"
NO_VERDICT = f"game is null or json_type(game) = 'NULL' or score is null or (score not in {tuple(LABELS)} and {UNREADABLE})"
GAMES = """
    create or replace temp table games as
    select objects.*, number, game, json_extract_string(game, '/score') as score, json_type(game, '/score') as kind
    from (select *, unnest([1, 2]) as number, json_array_length(json, '/games') as many from objects) as objects,
         lateral (select json_extract(json, '/games/' || (number - 1)) as game)
    order by record, number"""
ARENA_HARD_CHECKS = (
    *(required(field, "Arena-Hard judgments") for field in ("model", "judge", "games")),
    Check("question_id", "coalesce(question_id, uid) is null", "and no uid either", "'write the id of the question'"),
    Check(
        "games",
        "coalesce(json_array_length(json, '/games') <> 2, true)",
        "which is not two games",
        "'write the game with the baseline first and the one with the model first; ratings of one answer are another format'",
    ),
)


def verdicts_of_arena_hard(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read model_judgment/<judge>/<model>.jsonl, of version 0.1 (question_id) and of version 2 (uid, category, baseline).

    In the first game the baseline's answer is A and the model's B; in the second the other way round. The strength of a
    verdict (>> or >) is kept as `score`. DataError if neither the file nor `baseline` of `settings` names the baseline.
    """
    texts = create_objects(connection, path, ARENA_HARD, ARENA_HARD_CHECKS, table="objects")
    connection.execute("update objects set baseline = coalesce(baseline, ?)", [settings.get("baseline")])
    version = "as in version 0.1"
    remedy = "write the model that all others were compared with under `import` in config, such as `baseline: gpt-4-0314`"
    raise_first_fault(connection, "objects", [Check("baseline", "baseline is null", version, text(remedy))])
    connection.execute(GAMES)
    raise_keys_twice(connection, "(select file, record, json_keys(game) as keys from games)")
    remedy = text(f"write one of {', '.join(LABELS)}, or null if there is none")
    no_label = f"not ({NO_VERDICT}) and score not in {tuple(LABELS)}"
    raise_first_fault(connection, "games", [Check("score", no_label, "which is not a verdict", remedy)])
    letter = case_of("score", LABELS)
    columns = {
        "judge": "judge",
        "item": "coalesce(question_id, uid)",
        "model_a": "model",
        "model_b": "baseline",
        "order": "case number when 1 then 'ba' else 'ab' end",
        "failure": f"""case when game is null or json_type(game) = 'NULL' then 'no judgment (null)'
                            when score is null then 'no verdict in the judgment (null)'
                            when {NO_VERDICT} then 'no verdict in the judgment (' || score || ')' end""",
        "outcome": f"""case when {NO_VERDICT} then 'error' when {letter} = 'tie' then 'tie'
                            when ({letter} = 'B') = (number = 1) then 'a' else 'b' end""",
    }
    besides = {"score": "score", "judgment": "json_extract_string(game, '/judgment')"}
    named = {"item": "question_id", "outcome": "score", "model_a": "model", "model_b": "baseline"}
    return rows_of("games", columns, VERDICT_COLUMNS, named=named, texts=texts, used=ARENA_HARD, besides=besides)


# As inspect_ai.scorer.value_to_float takes them; N is "no answer or refusal to answer".
GRADES = {"c": "1", "p": "0.5", "i": "0", "n": "0", "yes": "1", "true": "1", "no": "0", "false": "0"}
KEPT = ("scorer", "epoch", "target", "answer", "explanation", "metadata")
EPOCH = ", epoch "  # between the id of a sample and the number of its epoch, in the prompt of all but the first
# Only these parts of a log, in one pass: a sample also holds its whole conversation.
SAMPLE_KEYS = ("id", "epoch", "scores", "target", "metadata", "error")
PARTS = {"eval": {"model": "JSON", "dataset": "JSON", "task": "JSON"}, "samples": [dict.fromkeys(SAMPLE_KEYS, "JSON")]}
SAMPLES = f"""
    create or replace temp table samples as
    select file, json_extract_string(log.eval.model, '$') as model,
           coalesce(json_extract_string(log.eval.dataset, '/name'), json_extract_string(log.eval.task, '$')) as dataset,
           row_number() over () as record, json_extract_string(sample.id, '$') as id,
           coalesce(json_extract_string(sample.epoch, '$'), '1') as epoch, sample.scores as scores,
           json_extract_string(sample.target, '$') as target, json_extract_string(sample.metadata, '$') as metadata,
           left(json_extract_string(sample.error, '/message'), 60) as message
    from (select *, unnest(log.samples) as sample
          from (select file, from_json(json, {text(json.dumps(PARTS))}) as log from log))"""
# A row for each sample and each (scorer, key) that any sample has; key is null if the score is one value.
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
INSPECT_CHECKS = (
    Check("id", "id is null", "where a sample needs an id", "'write the log again with ids'"),
    Check("shown", "json_type(value) = 'ARRAY'", "a list of scores", "'import a score that is one value or has names'"),
)


def ratings_of_inspect(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read the scores of a log (.json, or .eval if inspect_ai is installed) as ratings of its model's answers.

    settings: config's `import`, whose `judge` is the name of the judge, or a name for each scorer that is one: a log names only
    the scorer. The dimension is the key of a score that has several, else the scorer, or the study's only one. C, P, I, N
    count 1, 0.5, 0, 0, as in Inspect. The prompt is the id of the sample; in epochs after the first `<id>, epoch <n>`.
    Raises DataError for a log without samples, with none of the scorers that `judge` names, or with two of one judge.
    """
    if "judge" not in settings:
        raise ConfigError(f"config: import: judge: missing, and {path} names scorers, not judges; write `judge: <its name>`")
    if path.endswith(".eval"):
        connection.execute("create or replace temp table log as select ? as file, ?::json as json", [path, _converted(path)])
    else:
        create_objects(connection, path, ["eval"], [required("eval", "an Inspect log")], table="log")
    if connection.execute("select json_type(json, '/samples') from log").fetchone() != ("ARRAY",):
        raise DataError(f"{path}: the log holds no samples; import one that was written with them, by `log_samples`")
    (samples,) = connection.execute("select json_array_length(json, '/samples')::bigint from log").fetchone()
    of_samples = "".join(f", '/samples/{number}', '/samples/{number}/scores'" for number in range(samples))
    keys = f"select file, unnest(json_keys(json, ['/eval', '/eval/dataset'{of_samples}])) as keys from log"
    raise_keys_twice(connection, f"(select file, greatest((row_number() over () - 1) // 2, 1) as record, keys from ({keys}))")
    connection.execute(SAMPLES)
    connection.execute("drop table log")
    of_scores = "select file, record, unnest(json_extract(scores, '$.*')) as score from samples"
    raise_keys_twice(connection, f"(select file, record, json_keys(score) as keys from ({of_scores}))")
    with reading(path):  # a value with a key twice
        connection.execute(SCORES)
    raise_first_fault(connection, "scores", INSPECT_CHECKS)
    dimension = f"coalesce(key, {text(scales[0]) if len(scales) == 1 else 'scorer'})"
    judge = _judge(connection, path, settings["judge"], dimension)
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
    source, kept = f"(from scores where {judge} is not null)", {column: column for column in KEPT}
    return rows_of(source, columns, RATING_COLUMNS, named=named, texts=kept, used=())


def _judge(connection: Connection, path: str, named: str | Mapping[str, str], dimension: str) -> str:
    """SQL for the judge of a score, NULL for a scorer that is none; DataError if several are one judge of a dimension."""
    judge = text(named) if isinstance(named, str) else case_of("scorer", named)
    scorers = [scorer for (scorer,) in connection.execute("select distinct scorer from scores order by all").fetchall()]
    if not isinstance(named, str) and not set(scorers) & set(named):
        raise DataError(
            f"{path}: its scorers are {', '.join(scorers) or 'none'}, but `judge:` in config lists {', '.join(named)}; write "
            "there which of its scorers is which judge"
        )
    several = connection.execute(f"""
        select {judge} as judge, {dimension}, list(distinct scorer order by scorer) from scores where judge is not null
        group by all having count(distinct scorer) > 1 order by all limit 1""").fetchone()
    if several is not None:
        name, dimension, scorers = several
        raise DataError(
            f"{path}: its scorers {', '.join(scorers)} would all be the judge '{name}' of '{dimension}'; name the one that is "
            f"a judge under `import` in config, as in `judge: {{{scorers[0]}: {name}}}`"
        )
    return judge


def _converted(path: str) -> str:
    """The JSON of a log in Inspect's own packed form."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise DataError(
            f"{path}: reading .eval needs the package inspect_ai; install it (`pip install inspect-ai`), or convert the log on "
            f"a machine that has it: `inspect log convert {path} --to json --output-dir <folder>`"
        ) from error
    if not is_zipfile(path):
        raise DataError(f"{path}: found no packed log (it is not a zip archive); write the log again")
    try:
        return read_eval_log(path).model_dump_json()
    except (BadZipFile, zlib.error, EOFError, LookupError, ValueError) as error:
        raise DataError(f"{path}: not a whole log ({' '.join(str(error).split())}); {AGAIN}") from error
