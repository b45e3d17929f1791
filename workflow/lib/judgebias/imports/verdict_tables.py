"""Verdicts on two answers in tables of any columns, and in MT-Bench's pair judgments."""

from collections.abc import Mapping

import duckdb

from judgebias.database import text
from judgebias.imports.json_objects import create_objects, kept_fields, there
from judgebias.imports.rows import VERDICT_COLUMNS, Rows, selected
from judgebias.imports.tables import Table, failure_of
from judgebias.sources.checks import Check

LENGTHS = ("length_a", "length_b")
NEEDED = ("judge", "item", "model_a", "model_b", "outcome")
WINNERS = {"model_1": "a", "model_2": "b", "tie": "tie", "error": "error"}  # of MT-Bench


def verdicts_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read a table in columns that config names: judge, item, model_a, model_b, outcome, and if there the other ones.

    outcome: a, b, tie or error, model_a or model_b, or the name of the model that won; order: ab or ba, or the name of the
    model that was shown first; without that column, model_a was. settings: config's `import`.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    own = {column: file.needed(named, column) for column in NEEDED}
    others = {column: file.column(named, column) for column in VERDICT_COLUMNS if column not in NEEDED}
    own |= {column: found for column, found in others.items() if found is not None}
    texts = {
        column: f"trim({(file.number_text if column in LENGTHS else file.name_text)(found)})" for column, found in own.items()
    }
    failure = failure_of(file.text(own["outcome"]), settings.get("missing", ()))
    texts["failure"] = f"coalesce({failure}, case when lower({texts['outcome']}) = 'error' then 'outcome error' end)"
    texts["outcome"] = f"case when {texts['failure']} is not null then 'error' else {winner(texts['outcome'], texts)} end"
    shown = texts.get("order", "'ab'")
    texts["order"] = f"case {shown} when {texts['model_a']} then 'ab' when {texts['model_b']} then 'ba' else lower({shown}) end"
    if "human" in texts:
        texts["human"] = winner(texts["human"], texts)
    kept = file.kept(own.values(), VERDICT_COLUMNS)
    return Rows(selected(texts, VERDICT_COLUMNS, kept, file.source), own, tuple(kept))


def winner(value: str, texts: Mapping[str, str]) -> str:
    """SQL for a or b of a winner (SQL) named by either letter, by model_a or model_b, or by its model."""
    letter = f"case lower({value}) when 'model_a' then 'a' when 'model_b' then 'b' else lower({value}) end"
    return f"case {value} when {texts['model_a']} then 'a' when {texts['model_b']} then 'b' else {letter} end"


def verdicts_of_mt_bench(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read MT-Bench pair judgments (model_judgment/<judge>_pair.jsonl): two games a line, the second with the answers turned.

    Each line has question_id, model_1, model_2, judge ([name, prompt template]), g1_winner and g2_winner (model_1, model_2,
    tie or error), and turn; the second turn of question 81 is the item `81, turn 2`.
    """
    words, own = "MT-Bench pair judgments", ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "turn")
    checks = [there(field, words) for field in ("judge", *own[:-1])]
    made = "made of the scores of single answers: no pair was shown"
    checks.append(
        Check("m1_score", "m1_score is not null", made, "'import the file of single judgments, <judge>_single.jsonl'")
    )
    listed = f"{', '.join([*WINNERS][:-1])} or {[*WINNERS][-1]}"
    unknown, mend = "{0} is null or {0} not in " + str(tuple(WINNERS)), text(f"write {listed}")
    checks += [Check(game, unknown.format(game), "which is no winner", mend) for game in own[3:5]]
    fields = {"judge": "/judge/0", "plain_judge": "/judge", **{key: f"/{key}" for key in (*own, "m1_score")}}
    keys = create_objects(connection, path, fields, checks, table="objects")
    games = "(values ('ab', 'g1_winner'), ('ba', 'g2_winner')) as games(shown, game)"
    winner = "case game when 'g1_winner' then g1_winner else g2_winner end"
    outcome = " ".join(f"when {text(word)} then {text(letter)}" for word, letter in WINNERS.items())
    columns = {
        "judge": "coalesce(judge, plain_judge)", "model_a": "model_1", "model_b": "model_2", "order": "shown",
        "item": "question_id || case when coalesce(turn, '1') = '1' then '' else ', turn ' || turn end",
        "outcome": f"case {winner} {outcome} end",
        "failure": f"case when {winner} = 'error' then 'no winner in the judgment (error)' end",
    }  # fmt: skip
    kept = kept_fields((key for key in keys if key not in (*own, "judge")), VERDICT_COLUMNS)
    kept |= {"turn": "turn", "judge_prompt": "json_extract_string(json, '/judge/1')"}
    source = f"(select * from objects cross join {games})"
    return Rows(selected(columns, VERDICT_COLUMNS, kept, source), {"outcome": "g1_winner"}, tuple(kept))
