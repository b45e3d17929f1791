"""From files of verdicts to the canonical table `comparisons.parquet`, checked row by row, and its completeness.

A user's own files are CSV (plain or gzip) or parquet, in the columns of the canonical table.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from recuse.base.database import connect, name, text
from recuse.base.errors import DataError
from recuse.base.tables import COMPARISONS, CONTROL, LABELS, ORDERS, OUTCOMES, PAIRWISE_COMPLETENESS, write_table
from recuse.data.faults import Check, first_twice, raise_first_fault
from recuse.data.files import (
    MISSING,
    SOURCE,
    check_columns,
    columns_of,
    header_of,
    missing_as_null,
    place_in,
    place_of,
    read_as_texts,
    reading,
)
from recuse.data.registry import HUMAN
from recuse.pairwise.sources import select_llmbar_texts, select_prd_texts

COMPARISON = ("experiment", "condition", "judge", "item", "model_a", "model_b", "vote")
ANSWERS = ("experiment", "condition", "item", "model_a", "model_b")
OF_ITEM = {"human": "''", "words_a": "-1", "words_b": "-1"}  # with what stands for none of it
COLUMNS = {"words_a": ("length_a", "length_b"), "words_b": ("length_b", "length_a")}  # as they are, turned


def check_unique(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if two rows of `verdicts` are about the same comparison, vote and order."""
    twice = first_twice(connection, "verdicts", (*COMPARISON, "order"))
    if twice is not None:
        (experiment, condition, judge, item, first, second, vote, order), there, here = twice
        shown = first if order == "ab" else second
        among = _among(experiment, condition)
        raise DataError(
            f"{here}, column judge: the verdict of '{judge}' on item '{item}'{among}, '{first}' against '{second}' with the "
            f"answer of '{shown}' first, vote {vote}, stands already in {there}; keep one of the two rows, or number repeated "
            "verdicts in a column `vote`"
        )


def check_both_orders(connection: duckdb.DuckDBPyConnection, missing: int) -> None:
    """DataError about the first of the `missing` comparisons that `verdicts` holds in one order only."""
    if missing == 0:
        return
    file, record, judge, item, first, second, order, vote, experiment, condition = connection.execute(f"""
        select arg_min(file, (file, record)), arg_min(record, (file, record)), judge, item, model_a, model_b,
               min("order") as shown, vote, experiment, condition
        from verdicts group by {", ".join(COMPARISON)} having min("order") = max("order")
        order by min((file, record)) limit 1""").fetchone()
    shown, other = (first, second) if order == "ab" else (second, first)
    more = f" ({missing - 1} more comparisons lack an order)" if missing > 1 else ""
    raise DataError(
        f"{place_of(file, record)}, column order: '{judge}' was shown the answer of '{shown}' before that of '{other}' for "
        f"item '{item}'{_among(experiment, condition)}, vote {vote}, but never the other way round; add that verdict, or write "
        f"`both_orders: false` for the study in config to leave such comparisons out and count them{more}"
    )


def check_same_answers(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if the human label or the length of an answer differs between rows about the same pair of answers."""
    for first, other in _contradiction(connection, "verdicts", ANSWERS, OF_ITEM):
        quantity = next(quantity for quantity in OF_ITEM if first[quantity] != other[quantity])
        column = "human" if quantity == "human" else COLUMNS[quantity][other["turned"]]
        raise DataError(
            f"{other['place']}, column {column}: found {_described(quantity, other)} for item '{other['item']}', "
            f"'{other['model_a']}' against '{other['model_b']}', but {_described(quantity, first)} in {first['place']}; write "
            "the same in each row about these answers"
        )


def check_same_lengths(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if the answer of a model to an item has two lengths under one condition of an experiment."""
    connection.execute("""
        create or replace temp view lengths as
        select *, model_a as model, words_a as words, if(turned, 'length_b', 'length_a') as length
        from verdicts where words_a is not null
        union all
        select *, model_b, words_b, if(turned, 'length_a', 'length_b') from verdicts where words_b is not null""")
    answer = ("experiment", "condition", "item", "model")
    for first, other in _contradiction(connection, "lengths", answer, {"words": "-1"}):
        raise DataError(
            f"{other['place']}, column {other['length']}: found {other['words']:g} words of '{other['model']}' for item "
            f"'{other['item']}'{_among(other['experiment'], other['condition'])}, but {first['words']:g} in {first['place']}; "
            "write the same in each row about this answer"
        )


def _contradiction(
    connection: duckdb.DuckDBPyConnection, relation: str, key: Sequence[str], values: Mapping[str, str]
) -> list[tuple[dict, dict]]:
    """The first row of one `key` with the first that differs in one of `values`, column -> SQL for none of it; [] if none."""
    differ = " or ".join(f"min(coalesce({c}, {none})) <> max(coalesce({c}, {none}))" for c, none in values.items())
    about = connection.execute(f"""
        select {", ".join(key)} from {relation} group by all having {differ} order by min((file, record)) limit 1""").fetchone()
    if about is None:
        return []
    same = " and ".join(f"{column} = ?" for column in key)
    selected = connection.execute(f"select * from {relation} where {same} order by file, record", list(about))
    names = [column[0] for column in selected.description]
    rows = [dict(zip(names, row, strict=True)) for row in selected.fetchall()]
    first, *others = ({**row, "place": place_of(row["file"], row["record"])} for row in rows)
    return [(first, next(row for row in others if any(row[value] != first[value] for value in values)))]


def check_names(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if a judge of an experiment with human labels has the name that stands for these in tables and figures."""
    row = connection.execute(
        """
        select file, record, experiment from verdicts
        where judge = ? and experiment in (select experiment from verdicts where human is not null)
        order by file, record limit 1""",
        [HUMAN],
    ).fetchone()
    if row is not None:
        file, record, experiment = row
        raise DataError(
            f"{place_of(file, record)}, column judge: found '{HUMAN}'{_among(experiment, '')}, which stands for the labels of "
            f"the column human in tables and figures; write another name, such as '{HUMAN} judge'"
        )


def _described(quantity: str, row: Mapping) -> str:
    """What a row says of the answers, by the names of the models: a turned row has them the other way round."""
    value = row[quantity]
    if quantity == "human":
        return {None: "no label", "tie": "a tie"}.get(value) or f"'{row[f'model_{value}']}' preferred"
    model = row["model_a"] if quantity == "words_a" else row["model_b"]
    return f"no length of the answer of '{model}'" if value is None else f"{value:g} words of '{model}'"


def _among(experiment: str, condition: str) -> str:
    named = {"experiment": experiment, "condition": condition}
    return "".join(f", {name} '{value}'" for name, value in named.items() if value)


SWAPPED = "case {0} when 'a' then 'b' when 'b' then 'a' else {0} end"
VERDICTS = f"""
    select file, record, turned, experiment, condition, judge, item, vote_number::integer as vote,
           case when turned then model_b else model_a end as model_a,
           case when turned then model_a else model_b end as model_b,
           case when turned then words_b else words_a end as words_a,
           case when turned then words_a else words_b end as words_b,
           case when turned then {SWAPPED.format("outcome")} else outcome end as outcome,
           case when turned then {SWAPPED.format("human")} else human end as human,
           case when turned then {SWAPPED.format("favoured")} else favoured end as favoured,
           case when turned then if("order" = 'ab', 'ba', 'ab') else "order" end as "order" """
PAIR = "least(model_a, model_b) as low, greatest(model_a, model_b) as high"


def create_verdicts(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the view `verdicts`: the rows of `typed`, each pair of models in the orientation of its first row.

    In other rows of the experiment and item model_a and model_b, their lengths, the order, the outcome, the human label and the
    favoured answer are turned (column `turned`). With a control condition the orientation says whose answer was perturbed:
    there, DataError if there are both.
    """
    connection.execute(f"""
        create temp table both_orientations as
        select experiment, item, {PAIR}, arg_min(model_a, (file, record)) as first_a
        from typed group by all having min(model_a) <> max(model_a)""")
    if connection.execute("select count(*) from both_orientations").fetchone() == (0,):
        connection.execute(f"create temp view verdicts as {VERDICTS} from (select *, false as turned from typed)")
        return
    _check_perturbed(connection)
    connection.execute(f"""
        create temp view verdicts as {VERDICTS}
        from (select *, coalesce(model_a <> first_a, false) as turned
              from (select *, {PAIR} from typed)
              left join both_orientations using (experiment, item, low, high))""")


def _check_perturbed(connection: duckdb.DuckDBPyConnection) -> None:
    row = connection.execute(f"""
        select file, record, item, model_a, model_b
        from (select *, {PAIR} from typed) join both_orientations using (experiment, item, low, high)
        where model_a <> first_a and experiment in (select experiment from typed where condition = '{CONTROL}')
        order by file, record limit 1""").fetchone()
    if row is not None:
        file, record, item, first, second = row
        where = f"{place_of(file, record)}, column model_a"
        raise DataError(
            f"{where}: found '{first}' against '{second}' for item '{item}', which stands the other way round before; in an "
            f"experiment with the condition '{CONTROL}' model_b is the one whose answer is perturbed: keep one way round, say "
            "in `order` which answer was shown first, and give an item whose other answer is perturbed too a name of its own"
        )


REQUIRED = ("judge", "item", "model_a", "model_b", "order", "outcome")
OPTIONAL = tuple(column for column in COMPARISONS if column not in REQUIRED)
NUMBERED = ("length_a", "length_b", "vote")
ALIKE = 0.8  # similarity of two names, of 1, from which one is taken for the other misspelt


def select_texts(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[tuple[str, str]]:
    """Each file with the SQL for its rows: file, record (from 1) and the columns of COMPARISONS as text, NULL where empty.

    DataError for a file that is absent, empty or unreadable, for a column that is missing or stands twice, and for one whose
    name is nearly that of an optional column that is not there. Other columns are not read.
    """
    return [(path, _rows(path, columns_of(connection, path, REQUIRED))) for path in files]


def _rows(path: str, columns: Sequence[str]) -> str:
    check_columns(path, columns, REQUIRED, OPTIONAL)
    missing = [column for column in OPTIONAL if column not in columns]
    imported = set(SOURCE) <= set(columns)  # keeps columns of any name
    for column in () if imported else columns:
        close = difflib.get_close_matches(column.strip().lower(), missing, n=1, cutoff=ALIKE)
        if column not in COMPARISONS and close:
            raise DataError(f"{header_of(path)}, column {column}: not known; write '{close[0]}' if that is meant, or another")
    relation, texts = read_as_texts(path, columns)
    picked = [
        f"trim({missing_as_null(texts[column], MISSING if column in NUMBERED else ('',))}) as {name(column)}"
        if column in texts
        else f"null::varchar as {name(column)}"
        for column in COMPARISONS
    ]
    return f"select {place_in(path, texts)}, {', '.join(picked)} from {relation}"


FORMATS = {"table": select_texts, "prd": select_prd_texts, "llmbar": select_llmbar_texts}
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
    """The files that the verdicts of a study are read from."""

    files: Sequence[str]
    format: str = "table"  # in the columns of the canonical table; `prd`, `llmbar`: the released files of that name
    both_orders: bool = True  # whether each comparison must have been judged in both


def normalise(study: str, source: VerdictFiles, *, comparisons: str, completeness: str) -> None:
    """Write the canonical comparisons (parquet) and the completeness table (CSV) of a study.

    Comparisons have the columns COMPARISONS of `recuse.base.tables`, one row per verdict, sorted by experiment, condition,
    judge, item, model_a, model_b, order and vote. In the format `table` all columns after the first six are optional; an empty
    condition or experiment means none, an empty vote 1. `order` is `ab` if the answer of model_a was shown first; outcome,
    human and favoured name the answer (`a`, `b`), not its place. A pair of models that stands in both orientations for an item
    is turned to that of its first row. Completeness counts by experiment, condition and judge the comparisons (a pair of
    answers and a vote), verdicts, errors, and comparisons in one order only, without human label, without a length.

    DataError naming file, line and column for: a missing file or column, an empty file, an empty name, a model against itself,
    a word that is not of its column, a length or vote that is none, a judge `Human` in an experiment with human labels, a row
    that stands twice, a human label or length that differs between rows about the same answers, and, with `both_orders`, a
    comparison in one order only.
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
    write_table(completeness, PAIRWISE_COMPLETENESS, counts)


def _create_typed(connection: duckdb.DuckDBPyConnection, sources: Sequence[tuple[str, str]]) -> None:
    """Create the table `typed`: texts as they are, numbers as numbers, what does not fit NULL."""
    for number, (path, rows) in enumerate(sources):
        typed = f"""
            select * replace (coalesce(condition, '') as condition, coalesce(experiment, '') as experiment),
                   try_cast(length_a as double) as words_a, try_cast(length_b as double) as words_b,
                   try_cast(coalesce(vote, '1') as double) as vote_number
            from ({rows})"""
        verb = "insert into typed by name" if number else "create temp table typed as"
        with reading(path):
            count = connection.execute(f"{verb} {typed}").fetchone()[0]
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
    return [{"study": study, **dict(zip(PAIRWISE_COMPLETENESS[1:], row, strict=True))} for row in rows]
