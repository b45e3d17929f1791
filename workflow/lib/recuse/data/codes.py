"""Rows as codes: what a value of a column means is found once for each distinct value, however many
rows have it.

A code is the place of a value among all of its column, rising, from 0; a missing one is NULL.
Occasions count from 1; 0 is none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recuse.base.database import Connection, files, values_in
from recuse.data.cells import AXES, Levels, sql_place
from recuse.data.files import PROBABILITY

COLUMNS = (*AXES, "prompt_id", "occasion", "gt", "rating", "length", PROBABILITY)
# How many codes a column of each type holds
LARGEST = {"usmallint": 2**16, "uinteger": 2**32, "bigint": 2**63}


@dataclass(frozen=True)
class CodedRows:
    """Checked rows by their codes, on a connection that has a table `<column>_codes` (value, code)
    for each of COLUMNS.

    Its table `coded` has the code of a row's group in place of those of AXES.
    """

    connection: Connection
    sizes: Sequence[int]  # how many codes each of AXES has

    @classmethod
    def create(cls, connection: Connection, rows: str) -> "CodedRows":
        """Create the table `coded` of rows (SQL) with codes in the columns of COLUMNS."""
        counted = (f"(select count(*) from {column}_codes)" for column in (*AXES, "gt"))
        *sizes, references = connection.execute(f"select {', '.join(counted)}").fetchone()
        group = "0::bigint"
        for axis, size in zip(AXES, sizes, strict=True):
            group = f"({group} * {size} + {axis})"
        connection.execute(f"""
            create temp table coded as
            select prompt_id, coalesce(occasion, 0)::uinteger as occasion,
                   gt::{smallest_type(references)} as gt, rating, length, {PROBABILITY},
                   {group}::{smallest_type(math.prod(sizes))} as group_code
            from ({rows})""")
        return cls(connection, sizes)

    def rows(self, coded: str = "from coded") -> str:
        """SQL for rows (SQL) of the table `coded`, also with the columns of AXES."""
        places = (f"{sql_place(self.sizes, axis)} as {axis}" for axis in AXES)
        return f"select *, {', '.join(places)} from ({coded})"

    def values(self, column: str) -> list:
        """The values of a column, by their codes."""
        return values_in(self.connection, f"select value from {column}_codes order by code")

    def named(self, query: str, columns: Sequence[str]) -> str:
        """SQL for the rows of a query with the values of these columns in place of their codes."""
        values = ", ".join(f"{column}_codes.value as {column}" for column in columns)
        joins = " ".join(
            f"left join {column}_codes on named.{column} = {column}_codes.code"
            for column in columns
        )
        return f"select named.* replace ({values}) from ({query}) as named {joins}"


def code_rows(connection: Connection, tables: Sequence[tuple[str, Mapping[str, str]]]) -> CodedRows:
    """Number the values in several tables of rows.

    tables: SQL for the rows of each, and for every column of the result the column of these and SQL
    for what its values mean: stored (each once) and value.
    """
    parts = []
    for column in COLUMNS:
        values = " union all ".join(
            f"select value from ({meaning[column][1]})" for _, meaning in tables
        )
        _number(
            connection, column, f"select distinct value from ({values}) where value is not null"
        )
    for rows, meaning in tables:
        looked_up = {}
        for column, (stored, values) in meaning.items():
            coded = (
                f"select stored, code as value from ({values}) join {column}_codes using (value)"
            )
            looked_up[column] = stored, coded
        parts.append(_looked_up(rows, looked_up))
    return CodedRows.create(connection, " union all ".join(parts))


def code_checked(
    connection: Connection, checked: Sequence[str], levels: Levels, condition: str
) -> CodedRows:
    """Number the values in those rows of checked files (parquet), with their names, for which a
    condition on prompt_id holds.

    The codes are those of `levels`, but of a prompt_id its place among those of these rows.
    """
    rows = f"select * from {files(checked)} where {condition}"
    listed = {axis: getattr(levels, axis) for axis in AXES} | {"gt": levels.reference}
    for column in COLUMNS:
        if column not in listed:
            values = f"select distinct {column} as value from ({rows}) where {column} is not null"
            _number(connection, column, values)
            continue
        kind = "double" if column == "gt" else "varchar"
        codes = f"select unnest($1::{kind}[]) as value, unnest(range($2))::integer as code"
        connection.execute(
            f"create temp table {column}_codes as {codes}", [listed[column], len(listed[column])]
        )
    looked_up = {
        column: (column, f"select value as stored, code as value from {column}_codes")
        for column in COLUMNS
    }
    return CodedRows.create(connection, _looked_up(rows, looked_up))


def _number(connection: Connection, column: str, values: str) -> None:
    before = 0 if column == "occasion" else 1
    connection.execute(f"""
        create temp table {column}_codes as
        select value, (row_number() over (order by value) - {before})::integer as code
        from ({values})""")


def _looked_up(rows: str, meaning: Mapping[str, tuple[str, str]]) -> str:
    """SQL for rows with what their values mean, see `code_rows`."""
    selected = ", ".join(f"{new}_of.value as {new}" for new in meaning)
    tables = (
        f"left join ({values}) as {new}_of on rows.{stored} = {new}_of.stored"
        for new, (stored, values) in meaning.items()
    )
    return f"select {selected} from ({rows}) as rows {' '.join(tables)}"


def smallest_type(codes: int) -> str:
    """The smallest SQL type of so many codes."""
    return next(kind for kind, most in LARGEST.items() if codes <= most)
