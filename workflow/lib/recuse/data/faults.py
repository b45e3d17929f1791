"""What must hold of the rows of raw files, and the error about the first row of which it does not: file, line, column, mend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from recuse.base.database import name
from recuse.base.errors import DataError
from recuse.base.words import enumerated
from recuse.data.files import place_of

MOST_SHOWN = 5  # values in a message
MOST_LISTED = 20  # values in a line for config
LONGEST = 40  # characters of a value that is shown whole beside others: a conversation would hide the rest
LONGEST_ALONE = 200
LENGTHS = "between 0 and 1e9"  # SQL: what a number must be to be a length in tokens


@dataclass(frozen=True)
class Check:
    """One thing that must hold of every row: an SQL condition that is true where `column` breaks it, and the mend."""

    column: str
    broken: str  # over the columns of the rows
    problem: str
    mend: str  # SQL expression giving a text
    listed: str = ""  # key of config that may list such values, if there is one


# Of files of several kinds.
NAMED = {
    "judge": Check("judge", "judge is null", "which names no judge", "'write the id of the judge'"),
    "model": Check("model", "model is null", "which names no model", "'write the id of the model that was rated'"),
    "prompt": Check("prompt_id", "prompt_id is null", "which names no prompt", "'write the id of the prompt'"),
    "rater": Check("rater", "rater is null", "which names no rater", "'write a number or a name for the rater'"),
}
DECLARED_SCALE = Check(
    "dimension",
    "scale_low is null",
    "a dimension of no declared scale",
    "'add it with its scale under `scales:` of the study in config'",
)
IS_LENGTH = Check(
    "pred_length",
    f"pred_length is not null and coalesce(not try_cast(pred_length as double) {LENGTHS}, true)",
    "which is not a length",
    "'write a number of tokens, 0 or more, or leave it empty if missing'",
)


def known(column: str) -> Check:
    """Check that config knows an id: of a judge, as judge_name, or of a model, as model_name."""
    mend = "'write a known id or add this one to a model under `models:` in config'"
    return Check(column, f"{column}_name is null", "an id that the registry does not know", mend)


def on_scale(column: str, kind: str) -> tuple[Check, Check]:
    """Check that a score, as text and as <column>_number, is `an integer` or `a number` on the scale of its dimension."""
    number, mend = f"{column}_number", f"'write {kind} from ' || scale_low || ' to ' || scale_high"
    fits = f"{number} between scale_low and scale_high"
    if kind == "an integer":
        fits += f" and {number} = round({number})"
    empty = f"{mend} || ', or leave it empty if missing'"
    return (
        Check(column, f"{column} is not null and {number} is null", "which is not a number", empty),
        Check(column, f"{number} is not null and not ({fits})", "which is off the scale of the dimension", mend),
    )


def fault_number(checks: Sequence[Check]) -> str:
    """SQL expression: the number of the first of `checks` that a row breaks, NULL if it breaks none."""
    return "case " + " ".join(f"when {check.broken} then {number}" for number, check in enumerate(checks)) + " end"


def raise_first_fault(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    checks: Sequence[Check],
    *,
    faults: int | None = None,
    named: Mapping[str, str] | None = None,
) -> None:
    """Raise DataError about the first of `rows` that breaks a check; further values of the same fault are named, too.

    rows: a table or SQL with file, record and what the checks read. faults: how many rows are faulty, in other files too;
    counted if not given. named: what the files call a column, if otherwise than a check does.
    """
    rows = f"(select *, {fault_number(checks)} as fault from {rows})"
    if faults is None:
        faults = connection.execute(f"select count(fault) from {rows}").fetchone()[0]
    if faults == 0:
        return
    columns = " ".join(f"when {number} then {name(check.column)}" for number, check in enumerate(checks))
    mends = " ".join(f"when {number} then {check.mend}" for number, check in enumerate(checks))
    file, record, number, value, mend = connection.execute(f"""
        select file, record, fault, case fault {columns} end, case fault {mends} end from {rows}
        where fault is not null order by file, record limit 1""").fetchone()
    shown = "nothing" if value is None else f"'{_shortened(value, LONGEST_ALONE)}'"
    check, more = checks[number], ""
    if faults > 1 or check.listed:
        others, listed = _other_values(connection, rows, check, number, value)
        more = (f" ({faults - 1} more rows are faulty{others})" if faults > 1 else "") + listed
    column = (named or {}).get(check.column, check.column)
    raise DataError(f"{place_of(file, record)}, column {column}: found {shown}, {check.problem}; {mend}{more}")


def first_twice(connection: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> tuple[tuple, str, str] | None:
    """The values of the first `key` that two rows of `table` (columns file, record) share, and where these are."""
    columns = ", ".join(map(name, key))
    twice = f"select {columns} from {table} group by all having count(*) > 1 order by all limit 1"
    values = connection.execute(twice).fetchone()
    if values is None:
        return None
    same = " and ".join(f"{name(column)} = ?" for column in key)
    rows = f"select file, record from {table} where {same} order by file, record limit 2"
    first, second = connection.execute(rows, list(values)).fetchall()
    return values, place_of(*first), place_of(*second)


def _shortened(value: str, longest: int) -> str:
    return value if len(value) <= longest else f"{value[:longest]}..."


def _other_values(
    connection: duckdb.DuckDBPyConnection, rows: str, check: Check, number: int, first: str | None
) -> tuple[str, str]:
    """Words for the values but the `first` of rows that break a check, most frequent first, and the line of config with all."""
    column = name(check.column)
    values = connection.execute(f"""
        select value, count(*) over ()
        from (select left({column}::varchar, {LONGEST + 1}) as value, count(*) as n
              from {rows} where fault = {number} and {column} is not null group by all)
        order by n desc, value limit {MOST_LISTED + 1}""").fetchall()
    others = [value for value, _ in values if value != (first or "")[: LONGEST + 1]]
    shown = [f"'{_shortened(value, LONGEST)}'" for value in others[:MOST_SHOWN]]
    rest = values[0][1] - (first is not None) - len(shown) if values else 0
    shown += [f"{rest} other value{'s' * (rest > 1)}"] if rest else []
    words = f", with {enumerated(shown)}" if shown else ""
    return words, _line_of_config(check.listed, [value for value, _ in values]) if check.listed else ""


def _line_of_config(key: str, values: list[str]) -> str:
    """The line that lists these values, regardless of case; empty where they are too many or too long, or may be numbers."""
    unlike: dict[str, str] = {}
    for value in map(str.strip, values):
        unlike.setdefault(value.lower(), value)
    if len(values) > MOST_LISTED or any(len(value) > LONGEST or any(map(str.isdigit, value)) for value in values):
        return ""
    import yaml  # only here: a message is rare

    listed = yaml.safe_dump([*unlike.values()], default_flow_style=True, allow_unicode=True, width=float("inf"))
    return f", as in `{key}: {listed.strip()}`"
