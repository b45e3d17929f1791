"""The values that break the same check as the first faulty row does, for its message."""

import duckdb

from judgebias.database import name

MOST_SHOWN = 5  # values in a message
MOST_LISTED = 20  # values in a line for config
LONGEST = 40  # characters of a value that is shown whole beside others
LONGEST_ALONE = 200


def shortened(value: str, longest: int = LONGEST_ALONE) -> str:
    """A value as a message shows it: a whole conversation would hide the rest."""
    return value if len(value) <= longest else f"{value[:longest]}..."


def other_values(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, fault: int, first: str | None, *, key: str = ""
) -> tuple[str, str]:
    """Words for the other values of a faulty column, most frequent first, and the line of config that lists all of them.

    rows: a table or SQL with `column` and fault, the number of the check that a row breaks. first: the value that is named
    already. key: of config, which may list such values. The line is empty without a key, where the values are too many, and
    where a digit is in one: it may hold a number, such as 7,5.
    """
    found = connection.execute(f"""
        select value, count(*) over ()
        from (select left({name(column)}::varchar, {LONGEST + 1}) as value, count(*) as n
              from {rows} where fault = {fault} and {name(column)} is not null group by all)
        order by n desc, value limit {MOST_LISTED + 1}""").fetchall()
    others = [value for value, _ in found if value != (first or "")[: LONGEST + 1]]
    shown = [f"'{shortened(value, LONGEST)}'" for value in others[:MOST_SHOWN]]
    rest = found[0][1] - (first is not None) - len(shown) if found else 0
    shown += [f"{rest} other value{'s' * (rest > 1)}"] if rest else []
    words = ", with " + " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""
    return words, _line(key, [value for value, _ in found]) if key else ""


def _line(key: str, values: list[str]) -> str:
    """The line of config that lists these values, upper and lower case being one there; empty if it cannot be told."""
    unlike: dict[str, str] = {}
    for value in map(str.strip, values):
        unlike.setdefault(value.lower(), value)
    if len(values) > MOST_LISTED or any(len(value) > LONGEST or any(map(str.isdigit, value)) for value in values):
        return ""
    import yaml  # only here: a message is rare

    listed = yaml.safe_dump([*unlike.values()], default_flow_style=True, allow_unicode=True, width=float("inf"))
    return f", as in `{key}: {listed.strip()}`"
