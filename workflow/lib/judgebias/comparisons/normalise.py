"""From files of verdicts to the canonical table `comparisons.parquet`, checked row by row, and its completeness."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from judgebias.comparisons.consistency import (
    COMPARISON,
    check_both_orders,
    check_names,
    check_same_answers,
    check_same_lengths,
    check_unique,
)
from judgebias.comparisons.llmbar import select_texts as select_llmbar
from judgebias.comparisons.orientation import create_verdicts
from judgebias.comparisons.prd import select_texts as select_prd
from judgebias.comparisons.schemas import COMPLETENESS, LABELS, ORDERS, OUTCOMES
from judgebias.comparisons.table import select_texts as select_table
from judgebias.database import connect, name, text
from judgebias.errors import DataError
from judgebias.sources.checks import Check, fault_number, raise_first_fault, reading
from judgebias.tables import write_table

FORMATS = {"table": select_table, "prd": select_prd, "llmbar": select_llmbar}
LONGEST = 1_000_000_000  # words of an answer
MOST_VOTES = 1_000_000_000
CANONICAL = f"""
    select judge, item, model_a, model_b, "order", outcome, human, words_a as length_a, words_b as length_b,
           condition, experiment, favoured, vote
    from verdicts order by {", ".join(COMPARISON[:-1])}, "order", vote"""


def _empty(column: str, what: str) -> Check:
    return Check(column, f"{column} is null", f"which names no {what}", f"'write the name of the {what}'")


def _one_of(column: str, words: Sequence[str], *, optional: bool = True) -> Check:
    listed = f"{', '.join(words[:-1])} or {words[-1]}"
    broken = f"coalesce({name(column)} not in {words}, {not optional})"
    return Check(column, broken, f"which is none of {listed}", f"'write {listed}{', or leave it empty' if optional else ''}'")


def _length(column: str, number: str) -> Check:
    broken = f"{column} is not null and not coalesce({number} between 0 and {LONGEST}, false)"
    return Check(column, broken, "which is not a length", "'write a number of words, 0 or more, or leave it empty'")


CHECKS = (
    _empty("judge", "judge"),
    _empty("item", "question"),
    _empty("model_a", "model"),
    _empty("model_b", "model"),
    Check(
        "model_b",
        "model_a = model_b",
        "which is model_a too",
        "'give two answers of one model names of their own, such as ' || model_a || ' and ' || model_a || ' (2)'",
    ),
    _one_of("order", ORDERS, optional=False),
    _one_of("outcome", OUTCOMES, optional=False),
    _one_of("human", LABELS),
    _one_of("favoured", LABELS[:2]),
    _length("length_a", "words_a"),
    _length("length_b", "words_b"),
    Check(
        "vote",
        f"vote is not null and not coalesce(vote_number between 1 and {MOST_VOTES} and vote_number % 1 = 0, false)",
        "which is not the number of a vote",
        "'write an integer from 1, or leave it empty if there is one vote'",
    ),
)


@dataclass(frozen=True)
class VerdictFiles:
    """The files that the verdicts of a study are read from.

    format: `table` for files in the columns of the canonical table, `prd` or `llmbar` for the released files of that name.
    both_orders: whether each comparison must have been judged in both orders.
    """

    files: Sequence[str]
    format: str = "table"
    both_orders: bool = True


def normalise(study: str, source: VerdictFiles, *, comparisons: str, completeness: str) -> None:
    """Write the canonical comparisons (parquet) and the completeness table (CSV) of a study.

    Comparisons have the columns COMPARISONS of `judgebias.comparisons.schemas`, one row per verdict, sorted by experiment,
    condition, judge, item, model_a, model_b, order and vote. In files of the format `table` all columns after the first six are
    optional; an empty condition or experiment means none, an empty vote 1. `order` is `ab` if the answer of model_a was shown
    first; outcome, human and favoured name the answer (`a`, `b`), not its place. A pair of models that stands in both
    orientations for an item is turned to that of its first row. Completeness counts per experiment, condition and judge the
    comparisons (a pair of answers and a vote, in one order or both), verdicts, errors among them, and comparisons in one order
    only, without human label, and without the length of an answer.

    Raises DataError naming file, line and column for: a missing file or column, an empty file, an empty name, a model against
    itself, a word that is not of its column, a length or vote that is none, a judge `Human` in an experiment with human labels,
    a row that stands twice, a human label or length that differs between rows about the same answers, and, unless
    `both_orders` is False, a comparison in one order only.
    """
    connection = connect()
    _create_typed(connection, FORMATS[source.format](connection, source.files))
    raise_first_fault(connection, "typed", CHECKS)
    create_verdicts(connection)
    check_names(connection)
    check_unique(connection)
    check_same_answers(connection)
    check_same_lengths(connection)
    counts = _completeness(connection, study)
    if source.both_orders:
        check_both_orders(connection, sum(row["one_order"] for row in counts))
    connection.execute(f"copy ({CANONICAL}) to {text(comparisons)} (format parquet, compression zstd)")
    write_table(completeness, COMPLETENESS, counts)


def _create_typed(connection: duckdb.DuckDBPyConnection, sources: Sequence[tuple[str, str]]) -> None:
    """Create the table `typed`: texts as they are, numbers as numbers, what does not fit NULL, each row's fault by number."""
    for number, (path, rows) in enumerate(sources):
        found = f"""
            select * replace (coalesce(condition, '') as condition, coalesce(experiment, '') as experiment),
                   try_cast(length_a as double) as words_a, try_cast(length_b as double) as words_b,
                   try_cast(coalesce(vote, '1') as double) as vote_number
            from ({rows})"""
        verb = "insert into typed by name" if number else "create temp table typed as"
        with reading(path):
            count = connection.execute(f"{verb} select *, {fault_number(CHECKS)} as fault from ({found})").fetchone()[0]
        if count == 0:
            raise DataError(f"{path}: the file holds no rows; it needs one row per verdict")


def _completeness(connection: duckdb.DuckDBPyConnection, study: str) -> list[dict]:
    """One row per experiment, condition and judge: how many comparisons there are, and what some of them lack."""
    rows = connection.execute(f"""
        with compared as (
            select {", ".join(COMPARISON)}, count(*) as verdicts, count(*) filter (outcome = 'error') as errors,
                   any_value(human) is null as no_human, any_value(words_a) is null or any_value(words_b) is null as no_length
            from verdicts group by all)
        select experiment, condition, judge, count(*), sum(verdicts)::bigint, sum(errors)::bigint,
               count(*) filter (verdicts = 1), count(*) filter (no_human), count(*) filter (no_length)
        from compared group by all order by all""").fetchall()
    return [{"study": study, **dict(zip(COMPLETENESS[1:], row, strict=True))} for row in rows]
