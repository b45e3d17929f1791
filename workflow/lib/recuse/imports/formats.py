"""Judgments in the flat files that other tools write, read by DuckDB: MT-Bench, AlpacaEval,
Arena-Hard and JudgeBench.
"""

import random
from collections.abc import Mapping, Sequence

import numpy as np

from recuse.base.database import Connection, text
from recuse.base.settings import Setting, written
from recuse.base.words import visible
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import as_number
from recuse.data.registry import ORDER_DRAWN
from recuse.data.verdicts import PLACES
from recuse.imports.rows import (
    RATING_COLUMNS,
    VERDICT_COLUMNS,
    ImportedRows,
    as_rows,
    case_when,
    create_objects,
    has_key,
    raise_keys_twice,
)

# A name and a prompt template, or a name alone.
MT_BENCH_JUDGE = (
    "coalesce(json_extract_string(json, '/judge/0'), json_extract_string(json, '/judge'))"
)
MT_BENCH_PROMPT = {"judge_prompt": "json_extract_string(json, '/judge/1')"}
WINNERS = {"model_1": "a", "model_2": "b", "tie": "tie", "error": "error"}


def read_mt_bench_ratings(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read MT-Bench single judgments (model_judgment/<judge>_single.jsonl), whose dimensions are
    `turn 1` and `turn 2`.

    Each line has question_id, model, judge ([name, prompt template]), score (-1: none in the
    judge's answer) and turn.
    """
    used = ("question_id", "model", "judge", "score", "turn")
    checks = [has_key(field, "MT-Bench single judgments") for field in used[:-1]]
    no_number = f"score is not null and {as_number('score')} is null"
    checks.append(
        Check(
            "score",
            no_number,
            "which is not a number",
            "'write a number, or -1 if the judge gave none'",
        )
    )
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
    return as_rows(
        "objects",
        columns,
        RATING_COLUMNS,
        named=named,
        texts=texts,
        used=used,
        besides=MT_BENCH_PROMPT,
    )


def read_mt_bench_verdicts(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read MT-Bench pair judgments (model_judgment/<judge>_pair.jsonl): two games a line, the
    second with the answers swapped.

    Each line has question_id, model_1, model_2, judge ([name, prompt template]), g1_winner and
    g2_winner (model_1, model_2, tie or error), and turn; the second turn of question 81 is the item
    `81, turn 2`.
    """
    games = ("g1_winner", "g2_winner")
    used = ("judge", "question_id", "model_1", "model_2", *games, "turn")
    checks = [has_key(field, "MT-Bench pair judgments") for field in used[:-1]]
    single = "a score of a single answer: no pair was shown"
    checks.append(
        Check(
            "m1_score",
            "m1_score is not null",
            single,
            "'import the single judgments, <judge>_single.jsonl'",
        )
    )
    unknown, remedy = (
        "{0} is null or {0} not in " + str(tuple(WINNERS)),
        "'write model_1, model_2, tie or error'",
    )
    checks += [Check(game, unknown.format(game), "which is not a winner", remedy) for game in games]
    texts = create_objects(connection, path, (*used, "m1_score"), checks, table="objects")
    winner = "case game when 'g1_winner' then g1_winner else g2_winner end"
    columns = {
        "judge": MT_BENCH_JUDGE,
        "model_a": "model_1",
        "model_b": "model_2",
        "order": "shown",
        "item": (
            "question_id || case when coalesce(turn, '1') = '1' then '' else ', turn ' || turn end"
        ),
        "failure": f"case when {winner} = 'error' then 'no winner in the judgment (error)' end",
        "outcome": case_when(winner, WINNERS),
    }
    besides, named = {"turn": "turn"} | MT_BENCH_PROMPT, {"outcome": "g1_winner"}
    source = (
        "(from objects cross join (values ('ab', 'g1_winner'), ('ba', 'g2_winner')) as games(shown,"
        " game))"
    )
    return as_rows(
        source, columns, VERDICT_COLUMNS, named=named, texts=texts, used=used, besides=besides
    )


ALPACA_EVAL = (
    "instruction",
    "output_1",
    "output_2",
    "generator_1",
    "generator_2",
    "annotator",
    "preference",
)
# Annotator of alpaca_eval -> the model it asks (its evaluators_configs)
ANNOTATORS = {
    "alpaca_eval_gpt4": "gpt-4",
    "alpaca_eval_gpt4_fn": "gpt-4",
    "gpt4": "gpt-4",
    "weighted_alpaca_eval_gpt4_turbo": "gpt-4-1106-preview",
    "alpaca_eval_gpt4_turbo_fn": "gpt-4-1106-preview",
    "alpaca_eval_cot_gpt4_turbo_fn": "gpt-4-1106-preview",
    "weighted_alpaca_eval_gpt-4o-mini-2024-07-18": "gpt-4o-mini-2024-07-18",
    "alpaca_eval_llama3_70b_fn": "llama-3-70b-instruct",
}
AS_MODEL = (
    "if that model's answers are compared too, list both as one, `families: {Family: {model:"
    " [annotator]}}`"
)
SEED = "0"  # the default of alpaca_eval's annotators
LONGEST_ITEM = 80  # characters of an instruction that is its own name
# -1 is from its own store of annotations
NO_PREFERENCE = "coalesce(lower(preference), 'nan') in ('nan', '-1', '-1.0')"
PREFERENCE = as_number("preference")
WORD_COUNT = "len(list_filter(string_split_regex({0}, '\\s+'), lambda word: word <> ''))"


def read_alpaca_eval(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read annotations.json, or alpaca_eval's store of annotations; lengths are the words of the
    answers.

    `preference` is 1 for output_1, 2 for output_2, 1.5 or 0 for a tie, NaN or -1 for none. A number
    between, from annotators that read token probabilities, is 1 + the probability of output_2: it
    counts for the likelier answer, as in alpaca_eval's discrete win rate. Each pair is judged in
    one order: that of `referenced_models`, else the one that alpaca_eval draws from the instruction
    and the seed of its annotators.
    """
    checks = [has_key(field, "AlpacaEval annotations") for field in ALPACA_EVAL]
    none = (
        f"not {NO_PREFERENCE} and coalesce(not ({PREFERENCE} = 0 or {PREFERENCE} between 1 and 2),"
        " true)"
    )
    remedy = (
        "write 1 for output_1, 2 for output_2, a number between if the judge is unsure, 1.5 or 0"
        " for a tie, null for none"
    )
    checks.append(Check("preference", none, "which is not a preference", text(remedy)))
    texts = create_objects(connection, path, ALPACA_EVAL, checks, table="objects")
    raise_keys_twice(
        connection,
        "(select file, record, json_keys(json, '/referenced_models') as keys from objects)",
    )
    # The output that the judge was shown first. Source: alpaca_eval,
    # processors.RandomSwitchTwoColumnsProcessor.
    annotators = connection.execute("select distinct annotator from objects order by all")
    for (name,) in annotators.fetchall():
        model = ANNOTATORS.get(name)
        asks = f", which asks {model}" if model else "; see its configuration for the model it asks"
        print(visible(f"{path}: the judge {name} is an annotator of AlpacaEval{asks}; {AS_MODEL}"))
    rows = connection.execute("select distinct instruction from objects order by all").fetchall()
    outputs = ["output_1", "output_2"]
    orders = [
        (instruction, random.Random(f"is_switched_outputs{instruction}{SEED}").choices(outputs)[0])
        for (instruction,) in rows
    ]
    drawn = np.array(orders, dtype=object)  # (instructions, 2)
    connection.register("drawn", {"instruction": drawn[:, 0], "shown_first": drawn[:, 1]})
    # M is the answer that is shown first
    shown = "coalesce(json_extract_string(json, '/referenced_models/m'), shown_first)"
    short = f"length(instruction) <= {LONGEST_ITEM}"
    named = {"judge": "annotator", "model_a": "generator_1", "model_b": "generator_2"}
    columns = named | {
        "failure": f"case when {NO_PREFERENCE} then 'no preference' end",
        "item": (
            f"case when {short} then instruction else left(instruction, 60) || '... #' ||"
            " left(md5(instruction), 8) end"
        ),
        "order": f"case {shown} when 'output_1' then 'ab' else 'ba' end",
        "outcome": (
            f"""case when {NO_PREFERENCE} then 'error' when {PREFERENCE} in (0, 1.5) then 'tie'
                            when {PREFERENCE} < 1.5 then 'a' else 'b' end"""
        ),
        "length_a": WORD_COUNT.format("output_1"),
        "length_b": WORD_COUNT.format("output_2"),
    }
    source, used = "(from objects join drawn using (instruction))", named.values()
    named, drawn = named | {"outcome": "preference"}, {ORDER_DRAWN: "'true'"}
    return as_rows(
        source, columns, VERDICT_COLUMNS, named=named, texts=texts, used=used, besides=drawn
    )


ARENA_HARD = ("question_id", "uid", "model", "judge", "baseline", "games")
LABELS = {
    "A>>B": "A",
    "A>B": "A",
    "A=B": "tie",
    "A~B": "tie",
    "B>A": "B",
    "B>>A": "B",
    "A<<B": "B",
    "A<B": "B",
    "B=A": "tie",
    "B~A": "tie",
    "B<A": "A",
    "B<<A": "A",
}
GAMES = """
    create or replace temp table games as
    select objects.*, number, game, json_extract_string(game, '/{score}') as score, {letter} as letter
    from (select *, unnest(range(1, 1 + json_array_length(json, '/{games}')::bigint)) as number from objects) as objects,
         lateral (select json_extract(json, '/{games}/' || (number - 1)) as game)
    order by record, number"""
ARENA_HARD_CHECKS = (
    *(has_key(field, "Arena-Hard judgments") for field in ("model", "judge", "games")),
    Check(
        "question_id",
        "coalesce(question_id, uid) is null",
        "and no uid either",
        "'write the id of the question'",
    ),
    Check(
        "games",
        "coalesce(json_array_length(json, '/games') <> 2, true)",
        "which is not two games",
        "'write the game with the baseline first and the one with the model first; ratings of one"
        " answer are another format'",
    ),
)


def read_arena_hard(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read model_judgment/<judge>/<model>.jsonl, of version 0.1 (question_id) and of version 2
    (uid, category, baseline).

    In the first game the baseline's answer is A and the model's B; in the second the other way
    round. The strength of a verdict (>> or >) is kept as `score`. DataError if neither the file nor
    `baseline` of `settings` names the baseline.
    """
    texts = create_objects(connection, path, ARENA_HARD, ARENA_HARD_CHECKS, table="objects")
    connection.execute(
        "update objects set baseline = coalesce(baseline, ?)", [settings.get("baseline")]
    )
    version = "as in version 0.1"
    baseline = Setting("baseline")
    remedy = (
        f"name the model that all others were compared with {baseline.place}, as in"
        f" {baseline.line(written('gpt-4-0314'))}"
    )
    raise_first_fault(
        connection, "objects", [Check("baseline", "baseline is null", version, text(remedy))]
    )
    columns = {"item": "coalesce(question_id, uid)", "model_a": "model", "model_b": "baseline"}
    named = {"item": "question_id", "model_a": "model", "model_b": "baseline"}
    return _game_rows(
        connection,
        columns | {"judge": "judge"},
        games="games",
        score="score",
        first="ba",
        named=named,
        texts=texts,
        used=ARENA_HARD,
    )


JUDGE_BENCH = ("pair_id", "response_model", "label", "judgments")
JUDGE_BENCH_CHECKS = (
    *(has_key(field, "JudgeBench judgments") for field in JUDGE_BENCH),
    Check("label", "label not in ('A>B', 'B>A')", "which is not a key", "'write A>B or B>A'"),
    Check(
        "judgments",
        "coalesce(json_array_length(json, '/judgments') not between 1 and 2, true)",
        "which is not one or two judgments",
        "'write the judgment of the first order and, if there is one, that of the swapped order'",
    ),
)


def read_judge_bench(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read JudgeBench's outputs: two answers of one model, one of them right by a key, judged in
    both orders or in the first alone.

    A decision names the answers by their places, so that of the second judgment is for the swapped
    order. The answers count as two models, `MODEL (first answer)` and `MODEL (second answer)`. A
    pair that could not be judged at all is a failure of the judge of the file, if it has only one.
    """
    texts = create_objects(
        connection, path, (*JUDGE_BENCH, "judge"), JUDGE_BENCH_CHECKS, table="objects"
    )
    first, second = (
        f"json_extract_string(json, '/judgments/{place}/judgment/judge_model')" for place in (0, 1)
    )
    connection.execute(f"update objects set judge = coalesce({first}, {second})")
    one = "both answers of a pair are by one model: preference for own answers cannot be tested"
    print(visible(f"{path}: {one}"))
    only = "(select min(judge) from objects having count(distinct judge) = 1)"
    columns = {
        "judge": f"coalesce(judge, {only})",
        "item": "pair_id",
        "model_a": f"response_model || '{PLACES[0]}'",
        "model_b": f"response_model || '{PLACES[1]}'",
        "right_a": "label = 'A>B'",
        "right_b": "label = 'B>A'",
        "length_a": WORD_COUNT.format("json_extract_string(json, '/response_A')"),
        "length_b": WORD_COUNT.format("json_extract_string(json, '/response_B')"),
    }
    named = {"judge": "judge_model", "item": "pair_id"}
    named |= dict.fromkeys(("model_a", "model_b"), "response_model")
    return _game_rows(
        connection,
        columns,
        games="judgments",
        score="decision",
        first="ab",
        named=named,
        texts=texts,
        used=JUDGE_BENCH,
    )


def _game_rows(
    connection: Connection,
    columns: Mapping[str, str],
    *,
    games: str,
    score: str,
    first: str,
    named: Mapping[str, str],
    texts: Mapping[str, str],
    used: Sequence[str],
) -> ImportedRows:
    """A verdict for each game in the list `games` of the objects, by its label at the key `score`,
    in which A is the answer shown first.

    first: the order in the first game, `ab` or `ba`; the second has the other one. columns, named,
    texts, used: as of `as_rows`.
    """
    connection.execute(GAMES.format(games=games, score=score, letter=case_when("score", LABELS)))
    raise_keys_twice(connection, "(select file, record, json_keys(game) as keys from games)")
    remedy = text(f"write one of {', '.join(LABELS)}, or null if there is none")
    # A judge's answer may hold such as [[A]] or [[A>>>B]], which the tool takes for a label
    no_label = "letter is null and not regexp_full_match(score, '[AB<>=]*')"
    check = Check("score", no_label, "which is not a verdict", remedy)
    raise_first_fault(connection, "games", [check], named={"score": score})
    order = f"case number when 1 then '{first}' else '{first[::-1]}' end"
    columns = columns | {
        "order": order,
        "failure": """case when game is null or json_type(game) = 'NULL' then 'no judgment (null)'
                           when letter is null then 'no verdict in the judgment (' || coalesce(score, 'null') || ')' end""",
        "outcome": f"""case letter when 'A' then left({order}, 1) when 'B' then right({order}, 1)
                           when 'tie' then 'tie' else 'error' end""",
    }
    besides = {"score": "score", "judgment": "json_extract_string(game, '/judgment')"}
    return as_rows(
        "games",
        columns,
        VERDICT_COLUMNS,
        named=named | {"outcome": score},
        texts=texts,
        used=used,
        besides=besides,
    )
