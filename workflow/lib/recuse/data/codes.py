"""Rows as codes: what a value of a column means is found once for each distinct value, however many
rows have it.

A code is the place of a value among all of its column, rising, from 0; a missing one is NULL.
Occasions count from 1; 0 is none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recuse.base.database import Connection, connect, files, text, values_in, write_rows
from recuse.data.cells import AXES, Levels, sql_place
from recuse.data.files import PROBABILITY

# Of the values of each column
TYPES = {
    **dict.fromkeys((*AXES, "prompt_id", "occasion"), "varchar"),
    "gt": "double",
    "rating": "integer",
    "length": "double",
    PROBABILITY: "double",
}
COLUMNS = tuple(TYPES)
ONE = "1::utinyint"  # SQL for the n of a row that stands for itself
TABLES = ("codes", "coded")  # of CodedRows
# How many codes a column of each type holds
LARGEST = {"usmallint": 2**16, "uinteger": 2**32, "bigint": 2**63}


@dataclass(frozen=True)
class CodedRows:
    """Checked rows by their codes, on a connection that has the table `codes`: the name of a
    column, a value, as_<its type>, and the code of the value.

    Its table `coded` has the code of a row's group in place of those of AXES, and n, how many
    ratings the row stands for.
    """

    connection: Connection
    counts: Mapping[str, int]  # how many codes each of COLUMNS has that has values

    @classmethod
    def on(cls, connection: Connection) -> "CodedRows":
        """The rows on a connection that has the tables."""
        counts = "select name, count(*) from codes group by name"
        return cls(connection, dict(connection.execute(counts).fetchall()))

    @classmethod
    def read(cls, folder: str) -> "CodedRows":
        """Read what `write` wrote."""
        connection = connect()
        for table in TABLES:
            rows = files([f"{folder}/{table}.parquet"])
            connection.execute(f"create temp view {table} as from {rows}")
        return cls.on(connection)

    def write(self, folder: str) -> None:
        """Write the tables to files in a folder (parquet)."""
        for table in TABLES:
            path = f"{folder}/{table}.parquet"
            write_rows(self.connection, f"from {table}", path, compression="uncompressed")

    @property
    def sizes(self) -> list[int]:
        """How many codes each of AXES has."""
        return [self.counts.get(axis, 0) for axis in AXES]

    def rows(self, coded: str = "from coded") -> str:
        """SQL for rows (SQL) of the table `coded`, also with the columns of AXES."""
        places = (f"{sql_place(self.sizes, axis)} as {axis}" for axis in AXES)
        return f"select *, {', '.join(places)} from ({coded})"

    def values(self, column: str) -> list:
        """The values of a column, by their codes."""
        return values_in(self.connection, f"select value from {_codes(column)} order by code")

    def named(self, query: str, columns: Sequence[str]) -> str:
        """SQL for the rows of a query with the values of these columns in place of their codes."""
        lookups = {
            column: (column, f"select code as stored, value from {_codes(column)}")
            for column in columns
        }
        return _looked_up(query, lookups, self.counts, "rows.* replace ({})")


def code_rows(
    connection: Connection,
    tables: Sequence[tuple[str, Mapping[str, tuple[str, str]]]],
    *,
    n: str = ONE,
) -> CodedRows:
    """Number the values in several tables of rows.

    tables: SQL for the rows of each, and for every column of the result the column of these and SQL
    for what its values mean: stored (each once) and value. n: SQL for how many ratings a row stands
    for.
    """
    values = []
    for column, kind in TYPES.items():
        for _, meaning in tables:
            meant = f"({meaning[column][1]}) where value is not null"
            values.append(f"select '{column}' as name, value as as_{kind} from {meant}")
    connection.execute(f"""
        create temp table codes as
        select *, (row_number() over (partition by name order by as_varchar, as_double, as_integer)
                   - if(name = 'occasion', 0, 1))::integer as code
        from (select distinct * from ({" union all by name ".join(values)}))""")
    coded = CodedRows.on(connection)
    parts = []
    for rows, meaning in tables:
        lookups = {}
        for column, (stored, meant) in meaning.items():
            codes = f"({meant}) join {_codes(column)} using (value)"
            lookups[column] = stored, f"select stored, code as value from {codes}"
        parts.append(_looked_up(rows, lookups, coded.counts, f"{{}}, {n} as n"))
    group = "0::bigint"
    for axis, size in zip(AXES, coded.sizes, strict=True):
        group = f"({group} * {size} + {axis}::integer)"
    connection.execute(f"""
        create temp table coded as
        select prompt_id, coalesce(occasion::integer, 0)::uinteger as occasion,
               gt::{smallest_type(coded.counts.get("gt", 0))} as gt, rating, length, {PROBABILITY},
               {group}::{smallest_type(math.prod(coded.sizes))} as group_code, n
        from ({" union all ".join(parts)})""")
    return coded


def code_checked(
    connection: Connection, checked: Sequence[str], levels: Levels, condition: str
) -> CodedRows:
    """Number the values in those rows of checked files (parquet), with their names, for which a
    condition on prompt_id holds.

    The codes are those of `levels`, but of a prompt_id its place among those of these rows.
    """
    rows = f"select * from {files(checked)} where {condition}"
    listed = {axis: getattr(levels, axis) for axis in AXES} | {"gt": levels.reference}
    meaning = {}
    for column, kind in TYPES.items():
        values = f"select distinct {column} as value from ({rows})"
        if column in listed:
            names = ", ".join(text(str(value)) for value in listed[column])
            values = f"select unnest([{names}]::{kind}[]) as value"
        meaning[column] = column, f"select value as stored, value from ({values})"
    return code_rows(connection, [(rows, meaning)])


def _codes(column: str) -> str:
    """SQL for the codes of a column, with their values."""
    return f"(select code, as_{TYPES[column]} as value from codes where name = '{column}')"


def _looked_up(
    rows: str,
    lookups: Mapping[str, tuple[str, str]],
    counts: Mapping[str, int],
    selected: str,
) -> str:
    """SQL for rows with other values: of each column in `counts`, by the column that is stored and
    SQL for `stored` and `value`; of others NULL.
    """
    values, joins = [], []
    for column, (stored, known) in lookups.items():
        if column in counts:
            values.append(f"{column}_of.value as {column}")
            joins.append(
                f"left join ({known}) as {column}_of on rows.{stored} = {column}_of.stored"
            )
        else:
            values.append(f"null::{TYPES[column]} as {column}")
    listed = selected.format(", ".join(values))
    return f"select {listed} from ({rows}) as rows {' '.join(joins)}"


def smallest_type(codes: int) -> str:
    """The smallest SQL type of so many codes."""
    return next(kind for kind, most in LARGEST.items() if codes <= most)
