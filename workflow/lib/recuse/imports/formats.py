"""Judgments in the flat files that other tools write, read by DuckDB: MT-Bench, AlpacaEval,
Arena-Hard and JudgeBench.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recuse.base.database import Connection, values_in
from recuse.base.settings import Setting, written
from recuse.data.faults import Check, raise_first_fault
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
from recuse.imports.words import note


@dataclass(frozen=True)
class Flat:
    """How the objects of a file are read, one or more rows from each."""

    words: str  # what messages call the file
    needed: tuple[str, ...]  # keys of every object
    optional: tuple[str, ...]  # keys of some objects
    columns: Mapping[str, str]  # SQL for the columns of the table
    named: Mapping[str, str]  # what messages call a column, where its key has another name
    checks: tuple[Check, ...] = ()
    used: tuple[str, ...] | None = None  # keys that are not kept as columns; default: all above
    kept: Mapping[str, str] = field(default_factory=dict)  # SQL for further columns
    table: Sequence[str] = VERDICT_COLUMNS
    source: str = "objects"
    # Checks the objects further, and creates what `source` reads beside them
    prepare: Callable[[Connection, str, Mapping], None] | None = None

    def __call__(
        self, connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
    ) -> ImportedRows:
        """Read a file; settings: config's `import`. DataError naming file, line and key."""
        keys = self.needed + self.optional
        checks = [*(has_key(key, self.words) for key in self.needed), *self.checks]
        texts = create_objects(connection, path, keys, checks, table="objects")
        if self.prepare is not None:
            self.prepare(connection, path, settings)
        return as_rows(
            self.source,
            self.columns,
            self.table,
            named=self.named,
            texts=texts,
            used=keys if self.used is None else self.used,
            besides=self.kept,
        )


# A name and a prompt template, or a name alone.
MT_BENCH_JUDGE = (
    "coalesce(json_extract_string(json, '/judge/0'), json_extract_string(json, '/judge'))"
)
MT_BENCH_PROMPT = {"judge_prompt": "json_extract_string(json, '/judge/1')"}
MT_BENCH_FAILURE = """
    case when json_extract_string(json, '/judgment') = '$ERROR$' then 'the call failed ($ERROR$)'
         when coalesce(as_number(score), -1) = -1 then 'no score in the judgment (-1)' end"""
# model_judgment/<judge>_single.jsonl: judge is [name, prompt template], the score -1 if the judge's
# answer has none. Dimensions are `turn 1` and `turn 2`.
MT_BENCH_RATINGS = Flat(
    "MT-Bench single judgments",
    ("question_id", "model", "judge", "score"),
    ("turn",),
    {
        "judge": MT_BENCH_JUDGE,
        "model": "model",
        "prompt_id": "question_id",
        "dataset": "'mt-bench'",
        "dimension": "'turn ' || coalesce(turn, '1')",
        "failure": MT_BENCH_FAILURE,
        "rating": f"case when {MT_BENCH_FAILURE} is null then score end",
    },
    {"prompt_id": "question_id", "rating": "score", "dimension": "turn"},
    checks=(
        Check(
            "score",
            "score is not null and as_number(score) is null",
            "which is not a number",
            "write a number, or -1 if the judge gave none",
        ),
    ),
    kept=MT_BENCH_PROMPT,
    table=RATING_COLUMNS,
)

WINNERS = {"model_1": "a", "model_2": "b", "tie": "tie", "error": "error"}
GAMES_OF_MT_BENCH = ("g1_winner", "g2_winner")
WINNER = "case game when 'g1_winner' then g1_winner else g2_winner end"
# model_judgment/<judge>_pair.jsonl: two games a line, the second with the answers swapped. The
# second turn of question 81 is the item `81, turn 2`.
MT_BENCH_VERDICTS = Flat(
    "MT-Bench pair judgments",
    ("judge", "question_id", "model_1", "model_2", *GAMES_OF_MT_BENCH),
    ("m1_score", "turn"),
    {
        "judge": MT_BENCH_JUDGE,
        "model_a": "model_1",
        "model_b": "model_2",
        "order": "shown",
        "item": (
            "question_id || case when coalesce(turn, '1') = '1' then '' else ', turn ' || turn end"
        ),
        "failure": f"case when {WINNER} = 'error' then 'no winner in the judgment (error)' end",
        "outcome": case_when(WINNER, WINNERS),
    },
    {"outcome": "g1_winner"},
    checks=(
        Check(
            "m1_score",
            "m1_score is not null",
            "a score of a single answer: no pair was shown",
            "import the single judgments, <judge>_single.jsonl",
        ),
        *(
            Check(
                game,
                f"{game} is null or {game} not in {tuple(WINNERS)}",
                "which is not a winner",
                "write model_1, model_2, tie or error",
            )
            for game in GAMES_OF_MT_BENCH
        ),
    ),
    used=("judge", "question_id", "model_1", "model_2", *GAMES_OF_MT_BENCH, "turn"),
    kept={"turn": "turn"} | MT_BENCH_PROMPT,
    source="""(from objects cross join (values ('ab', 'g1_winner'), ('ba', 'g2_winner'))
               as games(shown, game))""",
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
SEED = "0"  # the default of alpaca_eval's annotators
LONGEST_ITEM = 80  # characters of an instruction that is its own name
# -1 is from its own store of annotations
NO_PREFERENCE = "coalesce(lower(preference), 'nan') in ('nan', '-1', '-1.0')"
PREFERENCE = "as_number(preference)"
WORD_COUNT = "len(list_filter(string_split_regex({0}, '\\s+'), lambda word: word <> ''))"


def _draw_orders(connection: Connection, path: str, settings: Mapping) -> None:
    """Create `drawn`, the output of each instruction that a judge was shown first, as alpaca_eval
    draws it from the instruction and the seed of its annotators; say which models they ask.

    Source: alpaca_eval, processors.RandomSwitchTwoColumnsProcessor.
    """
    raise_keys_twice(
        connection,
        "(select file, record, json_keys(json, '/referenced_models') as keys from objects)",
    )
    for name in values_in(connection, "select distinct annotator from objects order by all"):
        note("annotator", path=path, judge=name, model=ANNOTATORS.get(name))
    rows = values_in(connection, "select distinct instruction from objects order by all")
    outputs = ["output_1", "output_2"]
    orders = [
        (instruction, random.Random(f"is_switched_outputs{instruction}{SEED}").choices(outputs)[0])
        for instruction in rows
    ]
    drawn = np.array(orders, dtype=object)  # (instructions, 2)
    connection.register("drawn", {"instruction": drawn[:, 0], "shown_first": drawn[:, 1]})


# M is the answer that is shown first
SHOWN = "coalesce(json_extract_string(json, '/referenced_models/m'), shown_first)"
GENERATORS = {"judge": "annotator", "model_a": "generator_1", "model_b": "generator_2"}
# annotations.json, or alpaca_eval's store of annotations. `preference` is 1 for output_1, 2 for
# output_2, 1.5 or 0 for a tie, NaN or -1 for none. A number between, from annotators that read
# token probabilities, is 1 + the probability of output_2: it counts for the likelier answer, as in
# alpaca_eval's discrete win rate. Each pair is judged in one order: that of `referenced_models`,
# else the one that is drawn. Lengths are the words of the answers.
ALPACA_EVAL = Flat(
    "AlpacaEval annotations",
    (
        "instruction",
        "output_1",
        "output_2",
        "generator_1",
        "generator_2",
        "annotator",
        "preference",
    ),
    (),
    GENERATORS
    | {
        "failure": f"case when {NO_PREFERENCE} then 'no preference' end",
        "item": f"""case when length(instruction) <= {LONGEST_ITEM} then instruction
                         else left(instruction, 60) || '... #' || left(md5(instruction), 8) end""",
        "order": f"case {SHOWN} when 'output_1' then 'ab' else 'ba' end",
        "outcome": f"""case when {NO_PREFERENCE} then 'error' when {PREFERENCE} in (0, 1.5) then 'tie'
                            when {PREFERENCE} < 1.5 then 'a' else 'b' end""",
        "length_a": WORD_COUNT.format("output_1"),
        "length_b": WORD_COUNT.format("output_2"),
    },
    GENERATORS | {"outcome": "preference"},
    checks=(
        Check(
            "preference",
            f"""not {NO_PREFERENCE}
                and coalesce(not ({PREFERENCE} = 0 or {PREFERENCE} between 1 and 2), true)""",
            "which is not a preference",
            "write 1 for output_1, 2 for output_2, a number between if the judge is unsure, 1.5 or"
            " 0 for a tie, null for none",
        ),
    ),
    used=tuple(GENERATORS.values()),
    kept={ORDER_DRAWN: "'true'"},
    source="(from objects join drawn using (instruction))",
    prepare=_draw_orders,
)

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


def _create_games(connection: Connection, games: str, score: str) -> None:
    """Create `games`, a row for each game in the list `games` of the objects, with its label at the
    key `score`.
    """
    connection.execute(GAMES.format(games=games, score=score, letter=case_when("score", LABELS)))
    raise_keys_twice(connection, "(select file, record, json_keys(game) as keys from games)")
    remedy = f"write one of {', '.join(LABELS)}, or null if there is none"
    # A judge's answer may hold such as [[A]] or [[A>>>B]], which the tool takes for a label
    no_label = "letter is null and not regexp_full_match(score, '[AB<>=]*')"
    check = Check("score", no_label, "which is not a verdict", remedy)
    raise_first_fault(connection, "games", [check], named={"score": score})


def _columns_of_games(first: str) -> dict[str, str]:
    """SQL for the verdicts of `games`, in which A is the answer shown first; first: the order in
    the first game, `ab` or `ba`; the second has the other one.
    """
    order = f"case number when 1 then '{first}' else '{first[::-1]}' end"
    return {
        "order": order,
        "failure": """case when game is null or json_type(game) = 'NULL' then 'no judgment (null)'
                           when letter is null then 'no verdict in the judgment (' || coalesce(score, 'null') || ')' end""",
        "outcome": f"""case letter when 'A' then left({order}, 1) when 'B' then right({order}, 1)
                           when 'tie' then 'tie' else 'error' end""",
    }


KEPT_OF_GAMES = {"score": "score", "judgment": "json_extract_string(game, '/judgment')"}


def _add_baseline(connection: Connection, path: str, settings: Mapping) -> None:
    """Write the baseline of `settings` where the file names none; DataError if neither does."""
    connection.execute(
        "update objects set baseline = coalesce(baseline, ?)", [settings.get("baseline")]
    )
    baseline = Setting("baseline")
    remedy = (
        f"name the model that all others were compared with {baseline.place}, as in"
        f" {baseline.line(written('gpt-4-0314'))}"
    )
    check = Check("baseline", "baseline is null", "as in version 0.1", remedy)
    raise_first_fault(connection, "objects", [check])
    _create_games(connection, "games", "score")


# model_judgment/<judge>/<model>.jsonl, of version 0.1 (question_id) and of version 2 (uid,
# category, baseline). In the first game the baseline's answer is A and the model's B; in the second
# the other way round. The strength of a verdict (>> or >) is kept as `score`.
ARENA_HARD = Flat(
    "Arena-Hard judgments",
    ("model", "judge", "games"),
    ("question_id", "uid", "baseline"),
    {
        "item": "coalesce(question_id, uid)",
        "model_a": "model",
        "model_b": "baseline",
        "judge": "judge",
    }
    | _columns_of_games("ba"),
    {"item": "question_id", "model_a": "model", "model_b": "baseline", "outcome": "score"},
    checks=(
        Check(
            "question_id",
            "coalesce(question_id, uid) is null",
            "and no uid either",
            "write the id of the question",
        ),
        Check(
            "games",
            "coalesce(json_array_length(json, '/games') <> 2, true)",
            "which is not two games",
            "write the game with the baseline first and the one with the model first; ratings of"
            " one answer are another format",
        ),
    ),
    kept=KEPT_OF_GAMES,
    source="games",
    prepare=_add_baseline,
)


def _add_judge(connection: Connection, path: str, settings: Mapping) -> None:
    """Write the judge of a pair's judgments; of a pair that could not be judged at all, the judge
    of the file, if it has only one.
    """
    first, second = (
        f"json_extract_string(json, '/judgments/{place}/judgment/judge_model')" for place in (0, 1)
    )
    connection.execute(f"update objects set judge = coalesce({first}, {second})")
    note("one_model", path=path)
    _create_games(connection, "judgments", "decision")


# Outputs of JudgeBench: two answers of one model, one of them right by a key, judged in both orders
# or in the first alone. A decision names the answers by their places, so that of the second
# judgment is for the swapped order. The answers count as two models, `MODEL (first answer)` and
# `MODEL (second answer)`.
JUDGE_BENCH = Flat(
    "JudgeBench judgments",
    ("pair_id", "response_model", "label", "judgments"),
    ("judge",),
    {
        "judge": (
            "coalesce(judge, (select min(judge) from objects having count(distinct judge) = 1))"
        ),
        "item": "pair_id",
        "model_a": f"response_model || '{PLACES[0]}'",
        "model_b": f"response_model || '{PLACES[1]}'",
        "right_a": "label = 'A>B'",
        "right_b": "label = 'B>A'",
        "length_a": WORD_COUNT.format("json_extract_string(json, '/response_A')"),
        "length_b": WORD_COUNT.format("json_extract_string(json, '/response_B')"),
    }
    | _columns_of_games("ab"),
    {
        "judge": "judge_model",
        "item": "pair_id",
        "model_a": "response_model",
        "model_b": "response_model",
        "outcome": "decision",
    },
    checks=(
        Check("label", "label not in ('A>B', 'B>A')", "which is not a key", "write A>B or B>A"),
        Check(
            "judgments",
            "coalesce(json_array_length(json, '/judgments') not between 1 and 2, true)",
            "which is not one or two judgments",
            "write the judgment of the first order and, if there is one, that of the swapped order",
        ),
    ),
    used=("pair_id", "response_model", "label", "judgments"),
    kept=KEPT_OF_GAMES,
    source="games",
    prepare=_add_judge,
)
