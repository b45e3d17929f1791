"""What a reader of a format gives: the rows of a file as texts, under the names that the project's tables have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judgebias.comparisons.schemas import COMPARISONS
from judgebias.database import name
from judgebias.sources.imported import SOURCE

RATING_COLUMNS = ("judge", "model", "prompt_id", "dimension", "dataset", "rating", "gt", "pred_length")
VERDICT_COLUMNS = COMPARISONS
KEPT = "kept: "  # before the name of a further column, as long as others of any name stand beside it
ALL = "all"  # the dataset of judgments that name none
FAILURE = "failure"  # column of an imported table: what went wrong with this judgment, empty if nothing did


@dataclass(frozen=True)
class Rows:
    """The rows of a file: SQL with the columns file, record, failure, those of the table, and `kept`.

    All but record are texts, NULL where there is nothing. `failure` says why there is no judgment, NULL where there is one.
    named: what the file calls a column of the table, for messages. kept: columns of the file that the table does not have; in
    the SQL each stands under its name with KEPT before it.
    """

    sql: str
    named: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()


def kept_names(columns: Iterable[str], table: Sequence[str]) -> dict[str, str]:
    """A name for each further column of a file that no column of the imported `table` has: column -> name.

    SQL does not tell upper from lower case; one that would be taken for another gets a number.
    """
    taken, named = {column.lower() for column in (*table, *SOURCE, FAILURE)}, {}
    for column in columns:
        free, number = column or "unnamed", 1
        while free.lower() in taken:
            number += 1
            free = f"{column or 'unnamed'} ({number})"
        taken.add(free.lower())
        named[column] = free
    return named


def further(table: str, kept: Sequence[str]) -> str:
    """SQL that goes on with the `kept` columns of a `table` of rows, under the names that they are to have."""
    return "".join(f", {table}.{name(KEPT + column)} as {name(column)}" for column in kept)


def selected(columns: Mapping[str, str], table: Sequence[str], kept: Mapping[str, str], source: str) -> str:
    """SQL for Rows: `columns` of the `table`, each an SQL expression, NULL if not given; `kept`: name -> expression.

    columns may also give `failure`; `source` is a relation with file and record.
    """
    given = {column: columns.get(column, "null") for column in (*table, FAILURE)} | {
        f"{KEPT}{column}": value for column, value in kept.items()
    }
    picked = ", ".join(f"({value})::varchar as {name(column)}" for column, value in given.items())
    return f"select file, record, {picked} from {source}"
