"""Counts of ratings in place of ratings: a row stands for the n ratings that agree in judge, model,
dimension, dataset, human score, rating and, if it has one, prompt_id. Any engine makes such a table
by one `group by`.

Counts add up: rows that agree in all of these may come in several parts, as of several days.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recuse.base.database import Connection, exists, text
from recuse.base.errors import DataError
from recuse.data.cells import Need
from recuse.data.codes import ONE, CodedRows
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import READ, REQUIRED, RatingsFile, RawFile, header_place, texts_as_read

# SQL for the n of a row of `CountsFile.stored`
NUMBER = "try_cast(as_number(n::varchar) as bigint)"
MOST = 2**53  # ratings in all: up to these, counts in double precision are exact
MOST_REPEATED = 10**9  # rows that are written one by one
FROM_COUNTS = "only fits whose errors are not by prompt, such as that of `main`,"
IS_COUNT = Check(
    "n",
    f"coalesce(not (as_number(n) between 1 and 1e15) or as_number(n) <> {NUMBER}, true)",
    "which is not a number of ratings",
    "write how many ratings the row stands for, a whole number from 1, or leave the row out",
)
IS_SCORED = Check(
    "gt",
    "rating is not null and gt is null",
    "",
    "write the human score, as in other rows, or none in all rows; where only some answers have"
    " one, give the ratings themselves",
)


@dataclass(frozen=True)
class CountsFile(RatingsFile):
    """A file of counts; `column` has the number of ratings of each row."""

    column: str = ""
    by_prompt: bool = True

    def stored(self) -> str:
        """SQL as of `RatingsFile`, also with n. Counts by anything else are added up."""
        needed = [*REQUIRED, self.column]
        if self.dimension is None:
            needed.append("dimension")
        if not self.by_prompt:
            needed.remove("prompt_id")
        file = RawFile.open(self.path, needed)
        named = "null::varchar" if self.dimension is None else text(self.dimension)
        stored = {**dict.fromkeys(READ, "null::varchar"), "dimension": named, "prompt_id": "'all'"}
        for column in READ:
            if column in needed:
                stored[column] = file.stored[column]
        picked = ", ".join(f"{stored[column]} as {column}" for column in READ)
        n = file.stored[self.column]
        return f"select {file.origin}, {named} as named, {picked}, {n} as n from {file.relation}"


def counts_files(files: Sequence[RatingsFile], column: str) -> tuple[list[CountsFile], list[Need]]:
    """The files as files of counts, by prompt if any of them has prompts; and what they lack."""
    by_prompt = any("prompt_id" in RawFile.open(file.path).columns for file in files)
    counts = [CountsFile(file.path, file.dimension, column, by_prompt) for file in files]
    return counts, [Need.ANSWERS] if by_prompt else [*Need]


def check_counts(connection: Connection, files: Sequence[CountsFile]) -> None:
    """Raise DataError about the first row whose n is not a count, or that alone lacks a human
    score.
    """
    parts = (
        f"select file, record, n::varchar as n, {texts_as_read()} from ({file.stored()})"
        for file in files
    )
    rows = f"({' union all '.join(parts)})"
    checks = [IS_COUNT]
    if exists(connection, f"select 1 from {rows} where rating is not null and gt is not null"):
        checks.append(IS_SCORED)
    raise_first_fault(connection, rows, checks, named={"n": files[0].column})
    total = connection.execute(f"select sum({NUMBER}::hugeint) from {rows}").fetchone()[0]
    if total is not None and total > MOST:
        raise DataError(
            f"{', '.join(file.path for file in files)}, column {files[0].column}: found {total:,}"
            f" ratings in all; give counts that add up to at most {MOST:,}"
        )


def raise_no_prompts(path: str) -> None:
    """Raise DataError about counts that are not by prompt, where more than cells is asked for."""
    raise DataError(
        f"{header_place(path)}, column prompt_id: missing; count by prompt_id, too: {FROM_COUNTS}"
        " can do without it"
    )


def repeat_rows(coded: CodedRows, *, by_prompt: bool, place: str) -> None:
    """Have the table `coded` repeat each row n times; without prompts it holds no row.

    Raises DataError, which names the place, where it would hold more than MOST_REPEATED.

    If a judge has several ratings of a model and prompt, nobody knows which of them are of the
    answer that another judge rated: then each is on an occasion of its own.
    """
    rated = "from coded where rating is not null"
    total = coded.connection.execute(f"select sum(n)::bigint {rated}").fetchone()[0]
    if by_prompt and total > MOST_REPEATED:
        raise DataError(
            f"{place}: the counts stand for {total:,} ratings, and at most {MOST_REPEATED:,} can be"
            f" taken one by one: {FROM_COUNTS} can do with more"
        )
    several = f"select 1 {rated} group by prompt_id, group_code having sum(n) > 1"
    occasion = "occasion"
    if exists(coded.connection, several):
        occasion = "row_number() over (partition by prompt_id order by group_code, gt, rating)"
    coded.connection.execute(f"""
        create temp table repeated as
        select * exclude (occasion, time), ({occasion})::uinteger as occasion, {ONE} as n
        from (select * exclude (n), unnest(range(n)) as time {rated})
        {"" if by_prompt else "limit 0"}""")
    views = "from duckdb_views() where view_name = 'coded'"
    kind = "view" if exists(coded.connection, views) else "table"
    coded.connection.execute(f"drop {kind} coded")
    coded.connection.execute("alter table repeated rename to coded")
