"""Checks of the rows of raw files, and the error about the first row that fails: file, line,
column, what to write instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import is_normalized

from recuse.base.database import Connection, name, records
from recuse.base.errors import DataError
from recuse.base.settings import Setting
from recuse.base.words import counted, enumerated
from recuse.data.files import PROBABILITY, record_place

MOST_SHOWN = 5  # values in a message
MOST_LISTED = 20  # values that a hint is made from, and one more
# Characters of a value that is shown whole beside others: a conversation would hide the rest
LONGEST = 40
LONGEST_ALONE = 200
PROBABILITIES = "between 1e-9 and 1"  # SQL: a probability of being chosen for a human score
LENGTHS = "between 0 and 1e9"  # SQL: what a number must be to be a length in tokens


@dataclass(frozen=True)
class Check:
    """Something that must hold of every row: an SQL condition that is true where `column` breaks
    it, and what to say then.
    """

    column: str
    broken: str  # over the columns of the rows
    problem: str  # may be empty if there is no value
    # With columns of the row in braces, or a function of these
    remedy: str | Callable[[Mapping], str]
    hint: Callable[[list[str]], str] | None = None  # lines of config that accept such values
    where: str = ""  # SQL for what the file calls the column, if rows differ in that
    setting: Setting | None = None  # that the remedy is about


def filled(column: str, what: str) -> Check:
    """Check that a column is not empty; what: that it holds."""
    return Check(column, f"{column} is null", "", f"write {what}")


def one_of(column: str, words: Sequence[str], *, optional: bool = True) -> Check:
    """Check that a column holds one of these words."""
    listed = f"{', '.join(words[:-1])} or {words[-1]}"
    broken = f"coalesce({name(column)} not in {words}, {not optional})"
    empty = ", or leave it empty" if optional else ""
    return Check(column, broken, f"which is none of {listed}", f"write {listed}{empty}")


# Shared by several kinds of files.
NAMED = {
    "judge": filled("judge", "the id of the judge"),
    "model": filled("model", "the id of the model that was rated"),
    "prompt": filled("prompt_id", "the id of the prompt"),
    "rater": filled("rater", "a number or a name for the rater"),
}
DECLARED_SCALE = Check(
    "dimension",
    "scale_low is null",
    "a dimension without a declared scale",
    "add it with its scale",
    setting=Setting("scales"),
)
IS_LENGTH = Check(
    "pred_length",
    f"pred_length is not null and coalesce(not as_number(pred_length) {LENGTHS}, true)",
    "which is not a length",
    "write a number of tokens, 0 or more, or leave it empty if missing",
)
IS_PROBABILITY = Check(
    PROBABILITY,
    f"{PROBABILITY} is not null and coalesce(not as_number({PROBABILITY}) {PROBABILITIES}, true)",
    "which is not a probability of being chosen for a human score",
    "write a number above 0 and at most 1, or leave it empty",
)


def known(column: str) -> Check:
    """Check that config lists an id: of a judge, as judge_name, or of a model, as model_name."""
    remedy = "write an id that it lists, or add this one to a model under `models:` in config"
    return Check(column, f"{column}_name is null", "an id that config does not list", remedy)


def on_scale(column: str, kind: str) -> tuple[Check, Check]:
    """Check that a score, as text and as <column>_number, is `an integer` or `a number` on the
    scale of its dimension.
    """
    number, remedy = (
        f"{column}_number",
        f"write {kind} from {{scale_low}} to {{scale_high}}",
    )
    fits = f"{number} between scale_low and scale_high"
    if kind == "an integer":
        fits += f" and {number} = round({number})"
    empty = f"{remedy}, or leave it empty if missing"
    return (
        Check(column, f"{column} is not null and {number} is null", "which is not a number", empty),
        Check(
            column,
            f"{number} is not null and not ({fits})",
            "which is off the scale of the dimension",
            remedy,
        ),
    )


def fault_number(checks: Sequence[Check]) -> str:
    """SQL expression: the number of the first of `checks` that a row breaks, NULL if it breaks
    none.
    """
    return (
        "case "
        + " ".join(f"when {check.broken} then {number}" for number, check in enumerate(checks))
        + " end"
    )


def raise_first_fault(
    connection: Connection,
    rows: str,
    checks: Sequence[Check],
    *,
    named: Mapping[str, str] | None = None,
) -> None:
    """Raise DataError about the first of `rows` that breaks a check, with other values that break
    it.

    rows: a table or SQL with file, record and what the checks read. named: what the files call a
    column, if otherwise than a check does.
    """
    rows = f"(select *, {fault_number(checks)} as fault from {rows})"
    first = "arg_min(fault, (file, record)) filter (fault is not null)"
    faults, number = connection.execute(f"select count(fault), {first} from {rows}").fetchone()
    if faults == 0:
        return
    check = checks[number]
    (row,) = records(
        connection.execute(f"""
            select *, {name(check.column)}::varchar as fault_value, {check.where or "null"} as fault_column
            from {rows} where fault = {number} order by file, record limit 1""")
    )
    value, column = row["fault_value"], row["fault_column"]
    remedy = check.remedy(row) if callable(check.remedy) else check.remedy.format_map(row)
    if check.setting is not None:
        remedy += f" {check.setting.place}"
    shown = "nothing" if value is None else f"'{_shortened(value, LONGEST_ALONE)}'"
    if value is not None and not is_normalized("NFC", value):  # it may look like what is asked for
        shown += " (not in Unicode's form NFC)"
    problem = f", {check.problem}" if check.problem else ""
    column = column or (named or {}).get(check.column, check.column)
    values = connection.execute(f"""
        select value, count(*) over ()
        from (select left({name(check.column)}::varchar, {LONGEST + 1}) as value, count(*) as n
              from {rows} where fault = {number} and {name(check.column)} is not null group by all)
        order by n desc, value limit {MOST_LISTED + 1}""").fetchall()
    others = [
        f"'{_shortened(other, LONGEST)}'"
        for other, _ in values
        if other != (value or "")[: LONGEST + 1]
    ][:MOST_SHOWN]
    rest = values[0][1] - (value is not None) - len(others) if values else 0
    listed = (
        f"; other values: {enumerated([*others, f'{rest} more'] if rest else others)}"
        if others
        else ""
    )
    more = (
        f" ({counted(faults - 1, 'more row has an error', 'more rows have errors')}{listed})"
        if faults > 1
        else ""
    )
    line = check.hint([value for value, _ in values]) if check.hint else ""
    raise DataError(
        f"{record_place(row['file'], row['record'])}, column {column}: found {shown}{problem}; {remedy}{more}{line}"
    )


def first_twice(
    connection: Connection, table: str, key: Sequence[str]
) -> tuple[tuple, str, str] | None:
    """The values of the first `key` that two rows of `table` (columns file, record) share, and the
    places of these rows.
    """
    columns = ", ".join(map(name, key))
    twice = f"select {columns} from {table} group by all having count(*) > 1 order by all limit 1"
    values = connection.execute(twice).fetchone()
    if values is None:
        return None
    same = " and ".join(f"{name(column)} = ?" for column in key)
    rows = f"select file, record from {table} where {same} order by file, record limit 2"
    first, second = connection.execute(rows, list(values)).fetchall()
    return values, record_place(*first), record_place(*second)


def _shortened(value: str, longest: int) -> str:
    return value if len(value) <= longest else f"{value[:longest]}..."
