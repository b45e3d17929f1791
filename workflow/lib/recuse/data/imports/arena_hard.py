"""Arena-Hard judgments: two games a line against a baseline, the second with the answers turned."""

from collections.abc import Mapping

import duckdb

from recuse.base.database import text
from recuse.base.errors import DataError
from recuse.data.faults import Check, fault_number, raise_first_fault
from recuse.data.files import place_of
from recuse.data.imports.rows import VERDICT_COLUMNS, Rows, create_objects, kept_fields, selected, there

WORDS = "Arena-Hard judgments"
LABELS = {
    "A>>B": "A", "A>B": "A", "A=B": "tie", "B>A": "B", "B>>A": "B",
    "A<<B": "B", "A<B": "B", "B=A": "tie", "B<A": "A", "B<<A": "A",
}  # fmt: skip
# What its pattern [[...]] also takes from a judge's answer, such as [[A]] or [[A>>>B]].
UNREADABLE = "regexp_full_match(score, '[AB<>=]*')"
NO_VERDICT = f"game is null or json_type(game) = 'NULL' or score is null or (score not in {tuple(LABELS)} and {UNREADABLE})"
GAMES = """
    create or replace temp table games as
    select objects.*, number, game, json_extract_string(game, '/score') as score, json_type(game, '/score') as kind
    from (select *, unnest([1, 2]) as number, json_array_length(json, '/games') as many from objects) as objects,
         lateral (select json_extract(json, '/games/' || (number - 1)) as game)
    order by record, number"""
OF_LINE = (
    *(there(field, WORDS) for field in ("model", "judge", "games")),
    Check("question_id", "coalesce(question_id, uid) is null", "and no uid either", "'write the id of the question'"),
    Check(
        "games",
        "coalesce(json_array_length(json, '/games') <> 2, true)",
        "which are not two games",
        "'write the game with the baseline first and the one with the model first; ratings of one answer are another format'",
    ),
)
OF_GAME = (
    Check(
        "score",
        f"not ({NO_VERDICT}) and score not in {tuple(LABELS)}",
        "which is no verdict",
        text(f"write one of {', '.join(LABELS)}, or null if there is none"),
    ),
)


def verdicts_of_arena_hard(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read model_judgment/<judge>/<model>.jsonl, of version 0.1 (question_id) and of version 2 (uid, category, baseline).

    In the first game the baseline's answer is A and the model's B; in the second the other way round. The strength of a
    verdict (>> or >) is kept as `score`. settings: config's `import`, whose `baseline` is the name of the baseline where the
    file does not say it; DataError if neither does.
    """
    fields = {field: f"/{field}" for field in ("question_id", "uid", "model", "judge", "baseline", "games")}
    keys = create_objects(connection, path, fields, OF_LINE, table="objects")
    if "baseline" in settings:
        connection.execute("update objects set baseline = coalesce(baseline, ?)", [settings["baseline"]])
    _check_baseline(connection, path)
    connection.execute(GAMES)
    raise_first_fault(connection, f"(select *, {fault_number(OF_GAME)} as fault from games)", OF_GAME)
    letter = "case score " + " ".join(f"when {text(label)} then {text(who)}" for label, who in LABELS.items()) + " end"
    columns = {
        "judge": "judge", "item": "coalesce(question_id, uid)", "model_a": "model", "model_b": "baseline",
        "order": "case number when 1 then 'ba' else 'ab' end",
        "failure": f"""case when game is null or json_type(game) = 'NULL' then 'no judgment (null)'
                            when score is null then 'no verdict in the judgment (null)'
                            when {NO_VERDICT} then 'no verdict in the judgment (' || score || ')' end""",
        "outcome": f"""case when {NO_VERDICT} then 'error' when {letter} = 'tie' then 'tie'
                            when ({letter} = 'B') = (number = 1) then 'a' else 'b' end""",
    }  # fmt: skip
    used = {"question_id", "uid", "model", "judge", "baseline", "games"}
    kept = kept_fields((key for key in keys if key not in used), VERDICT_COLUMNS)
    kept |= {"score": "score", "judgment": "json_extract_string(game, '/judgment')"}
    named = {"item": "question_id", "outcome": "score", "model_a": "model", "model_b": "baseline"}
    return Rows(selected(columns, VERDICT_COLUMNS, kept, "games"), named, tuple(kept))


def _check_baseline(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    record = connection.execute("select min(record) from objects where baseline is null").fetchone()[0]
    if record is not None:
        raise DataError(
            f"{place_of(path, record)}, column baseline: not there, as in version 0.1; write the name of the model that "
            "all others were compared with under `import` in config, such as `baseline: gpt-4-0314`"
        )
