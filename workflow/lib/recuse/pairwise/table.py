"""From files of verdicts to the canonical table `comparisons.parquet`, checked row by row, and its
completeness.

A user's own files are CSV (plain or gzip) or parquet, in the columns of the canonical table.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pkgutil import resolve_name

from recuse.base.database import (
    Connection,
    connect,
    create_table,
    exists,
    name,
    records,
    text,
    write_rows,
)
from recuse.base.database import files as parquet
from recuse.base.errors import DataError
from recuse.base.outputs import empty_folder, work_folder
from recuse.base.settings import Setting
from recuse.base.tables import column_names, write_table
from recuse.data.faults import Check, filled, first_twice, one_of, raise_first_fault
from recuse.data.files import (
    RawFile,
    as_texts,
    header_place,
    reading,
    record_place,
)
from recuse.data.lines import check_declared, check_filled, check_lines
from recuse.data.registry import HUMAN, ORDER_DRAWN, Registry, named_as
from recuse.data.verdicts import COMPARISONS, CONTROL, LABELS, ORDERS, OUTCOMES

PAIRWISE_COMPLETENESS = column_names(
    "study experiment condition judge comparisons verdicts errors one_order no_human no_length"
)

COMPARISON = ("experiment", "condition", "judge", "item", "model_a", "model_b", "wording", "vote")
REQUIRED = ("judge", "item", "model_a", "model_b", "order", "outcome")
OPTIONAL = tuple(column for column in COMPARISONS if column not in REQUIRED)
NAMED = ("judge", "model_a", "model_b")
# Columns of numbers, and what they are called when they are read as such
NUMBERS = {
    "length_a": "words_a",
    "length_b": "words_b",
    "humans_a": "votes_a",
    "humans_b": "votes_b",
    "humans_tie": "votes_tie",
    "vote": "vote_number",
}
MARKED = ("right_a", "right_b")
SIDES = ("a", "b", "tie")  # of human votes
TRUE, FALSE = "true", "false"
# What stands for them in a file, in any case
MARKS = {TRUE: (TRUE, "1", "1.0", "yes"), FALSE: (FALSE, "0", "0.0", "no")}
ALIKE = 0.8  # similarity of two names, of 1, from which one is taken for the other misspelt
LARGEST = 1_000_000_000  # number of words of an answer, or of a vote


def select_stored(
    connection: Connection, files: Sequence[str]
) -> list[tuple[str, str, dict[str, str]]]:
    """Each file with the SQL for its rows: file, record (from 1) and the columns of COMPARISONS as
    they are stored.

    The third is SQL for each column as text, NULL where empty.
    DataError for a file that is absent, empty or unreadable, for a column that is missing or
    duplicated, and for one whose name is nearly that of an absent optional column. Other columns
    are not read.
    """
    sources = []
    for path in files:
        file = RawFile.open(path, REQUIRED, OPTIONAL)
        absent = [column for column in OPTIONAL if column not in file.columns]
        for column in () if file.is_imported else file.columns:
            close = difflib.get_close_matches(column.strip().lower(), absent, n=1, cutoff=ALIKE)
            if column not in COMPARISONS and close:
                where = f"{header_place(path)}, column {column}"
                raise DataError(
                    f"{where}: not known; write '{close[0]}' if that is meant, or another name"
                )
        stored = file.stored
        picked = ", ".join(
            f"{stored.get(column, 'null::varchar')} as {name(column)}" for column in COMPARISONS
        )
        texts = as_texts({column: name(column) for column in COMPARISONS}, COMPARISONS, [*NUMBERS])
        texts = {column: f"trim({value})" for column, value in texts.items()}
        sources.append((path, f"select {file.origin}, {picked} from {file.relation}", texts))
    return sources


def _count(column: str, number: str, *, what: str, of: str, whole: bool = False) -> Check:
    within = f"{number} between 0 and {LARGEST}{f' and {number} % 1 = 0' if whole else ''}"
    broken = f"{column} is not null and not coalesce({within}, false)"
    return Check(
        column,
        broken,
        f"which is not a {what}",
        f"write a number of {of}, 0 or more, or leave it empty",
    )


CHECKS = (
    filled("judge", "the name of the judge"),
    filled("item", "the id of the question"),
    *(filled(model, "the name of the model") for model in NAMED[1:]),
    Check(
        "model_b",
        "model_a = model_b",
        "which is model_a too",
        "give two answers of one model different names, such as {model_a} and {model_a} (2)",
    ),
    one_of("order", ORDERS, optional=False),
    one_of("outcome", OUTCOMES, optional=False),
    one_of("human", LABELS),
    one_of("favoured", LABELS[:2]),
    *(one_of(column, tuple(MARKS)) for column in MARKED),
    *(_count(f"length_{side}", f"words_{side}", what="length", of="words") for side in "ab"),
    *(
        _count(
            f"humans_{side}", f"votes_{side}", what="number of human votes", of="votes", whole=True
        )
        for side in SIDES
    ),
    Check(
        "vote",
        f"vote is not null and not coalesce(vote_number between 1 and {LARGEST} and vote_number % 1"
        " = 0, false)",
        "which is not the number of a vote",
        "write an integer from 1, or leave it empty if there is one vote",
    ),
)
NOT_HUMAN = Check(
    "judge",
    "experiment in (select experiment from typed where human is not null)",
    "the name of the labels in column human in tables and figures",
    f"write another name, such as '{HUMAN} judge'",
)
CANONICAL = """
    select judge, item::varchar as item, model_a, model_b, "order", outcome, human, words_a as length_a, words_b as length_b,
           condition, experiment, favoured, vote, votes_a::integer as humans_a, votes_b::integer as humans_b,
           votes_tie::integer as humans_tie, right_a = 'true' as right_a, right_b = 'true' as right_b,
           nullif(wording, '') as wording
    from canonical"""


def normalise(
    study: str,
    raw: Sequence[str],
    *,
    reader: str = "",
    both_orders: bool = True,
    declared: Mapping[str, Mapping] | None = None,
    models: Mapping[str, Mapping] | None = None,
    comparisons: str,
    completeness: str,
) -> None:
    """Write the canonical comparisons (parquet) and the completeness table (CSV) of a study.

    raw: files of verdicts, in the columns of the canonical table or, with a reader, in a format of
    their own. reader: the function, `module:function`, that gives their rows as `select_stored`
    does. models: config's, by whose `ids` judges and models get one name; others keep theirs.
    Comparisons have the columns COMPARISONS of `recuse.data.verdicts`, one row per verdict, sorted
    by experiment, condition, judge, item, model_a, model_b, wording, order and vote. In canonical
    files all columns after the first six are optional; an empty condition, experiment or wording
    means none, an empty vote 1. `order` is `ab` if the answer of model_a was shown first; outcome,
    human and favoured name the answer (`a`, `b`), not its place; right_a and right_b, boolean, say
    whether an answer is right by a key.
    If the rows of an item have a pair of models both ways round, all are turned to the first row's.
    Completeness counts by experiment, condition and judge the comparisons (a pair of answers and a
    vote), verdicts, errors, and comparisons in one order only, without human label, without a
    length.

    DataError naming file, line and column for: a missing file or column, an empty file, an empty
    name, a model against itself, a word that does not belong in its column, an invalid length, vote
    or number of votes, a judge `Human` in an experiment with human labels, a duplicate row, a human
    label, a length or a mark (right or wrong) that differs between rows about the same answers,
    and, with `both_orders`, a comparison in one order only, unless it was imported from a tool that
    shows one.
    """
    select = resolve_name(reader) if reader else select_stored
    check_declared(raw, declared)
    connection = connect()
    registry = Registry.from_config(models or {}).names.items()
    create_table(
        connection,
        "registry",
        "id varchar, name varchar",
        [(id, name) for id, name in registry if id != name],
    )
    with empty_folder(work_folder(comparisons)) as folder:
        create_typed(connection, select(connection, raw), folder)
    raise_first_fault(connection, "typed", CHECKS)
    by_human = f"(select * from typed where judge = {text(HUMAN)})"
    raise_first_fault(connection, by_human, [NOT_HUMAN])
    create_verdicts(connection)
    create_sorted(connection)
    check_unique(connection)
    check_same_answers(connection)
    counts = _completeness(connection)
    if both_orders and not any(ORDER_DRAWN in RawFile.open(path).columns for path in raw):
        check_both_orders(connection, sum(row["one_order"] for row in counts))
    # Each comparison has its orders together
    votes = connection.execute("select max(vote) from sorted").fetchone() != (1,)
    order = f' order by {", ".join(COMPARISON[:-1])}, "order", vote' if votes else ""
    write_rows(connection, CANONICAL + order, comparisons)
    write_table(completeness, PAIRWISE_COMPLETENESS, counts, study=study)


# A column of texts is an enum, whose values rise as the texts do: it is compared and sorted as a
# number is.
KINDS = {
    "path": ("file",),
    "label": ("experiment", "condition", "wording"),
    "person": NAMED,
    "question": ("item",),
    "word": ("order", "outcome", "human", "favoured", *MARKED),
    "figure": (*NUMBERS,),
}
KIND_OF = {column: kind for kind, columns in KINDS.items() for column in columns}


def create_typed(connection: Connection, sources: Iterable[tuple], folder: str) -> None:
    """Create the table `typed` of all rows: each distinct value is read as a text and a number
    once. Files go to `folder`.

    sources: path, SQL for the rows and, if these are not texts, SQL for each column as text.
    DataError about a file that cannot be read or has no rows.
    """
    read = []
    for number, (path, rows, *texts) in enumerate(sources):
        texts = {column: name(column) for column in ("file", *COMPARISONS)} | dict(*texts)
        with reading(path):
            if not path.endswith(".parquet"):  # read once
                write_rows(
                    connection, rows, f"{folder}/{number}.parquet", compression="uncompressed"
                )
                rows = f"select * from {parquet([f'{folder}/{number}.parquet'])}"
            (count,) = connection.execute(f"select count(*) from ({rows})").fetchone()
            for column, value in texts.items():
                value = named_as(value) if column in NAMED else value
                value = _mark(value) if column in MARKED else value
                connection.execute(
                    f"""
                    create temp table {column}_texts_{number} as
                    select {name(column)} as stored, {value} as text from (select distinct {name(column)} from ({rows}))"""
                )
        check_filled(path, count, "verdict")
        check_lines(path, count, {*COMPARISONS} - {"item", "wording"})
        read.append((path, rows))
    words = ", ".join(f"({text(word)})" for word in ("", *ORDERS, *OUTCOMES, *LABELS, *MARKS))
    empty = []
    for kind, columns in KINDS.items():
        texts = {
            column: " union all ".join(
                f"select text from {column}_texts_{n}" for n in range(len(read))
            )
            for column in columns
        }
        listed = f"select text from ({' union all '.join(texts.values())}) where text is not null"
        connection.execute(
            f"create temp type {kind} as enum ({listed} union select * from (values {words}) order"
            " by text)"
        )
        for column, values in texts.items():
            if not exists(connection, f"from ({values}) where text is not null"):
                empty.append(column)  # takes no memory
    for number, (path, rows) in enumerate(read):
        with reading(path):
            verb = "insert into filled by name" if number else "create temp table filled as"
            connection.execute(f"{verb} {_filled(connection, rows, number, empty)}")
    nulls = [f"null::{KIND_OF[column]} as {name(column)}" for column in empty]
    nulls += [f"null::double as {number}" for column, number in NUMBERS.items() if column in empty]
    columns = """* replace (coalesce(experiment, ''::label) as experiment, coalesce(condition, ''::label) as condition,
                            coalesce(wording, ''::label) as wording,
                            case when vote is null then 1 else vote_number end as vote_number)"""
    connection.execute(
        f"create temp view typed as select {columns} from (select {', '.join(['*', *nulls])} from"
        " filled)"
    )


def _mark(value: str) -> str:
    """SQL for a text as TRUE or FALSE, as it is if it stands for neither."""
    cases = " ".join(
        f"when lower({value}) in {words} then {text(mark)}" for mark, words in MARKS.items()
    )
    return f"case {cases} else {value} end"


def _filled(connection: Connection, rows: str, number: int, empty: Collection[str]) -> str:
    """SQL for the rows of a source with their texts as enums and their numbers, without columns
    that are empty.
    """
    selected = ["record"]
    joins = ""
    for column in (column for column in KIND_OF if column not in empty):
        values = f"{column}_values_{number}"
        numbers = "as_number(text)" if column in NUMBERS else "null"
        connection.execute(f"""
            create temp table {values} as
            select stored, text::{KIND_OF[column]} as value, {numbers}::double + 0 as number
            from {column}_texts_{number} where text is not null""")
        joins += f" left join {values} on stored.{name(column)} = {values}.stored"
        selected.append(f"{values}.value as {name(column)}")
        if column in NUMBERS:
            selected.append(f"{values}.number as {NUMBERS[column]}")
    return f"select {', '.join(selected)} from ({rows}) as stored {joins}"


SWAPPED = "case {0} when 'a' then 'b'::word when 'b' then 'a'::word else {0} end"
VERDICTS = f"""
    select file, record, turned, experiment, condition, judge, item, wording, vote_number::integer as vote,
           case when turned then model_b else model_a end as model_a,
           case when turned then model_a else model_b end as model_b,
           case when turned then words_b else words_a end as words_a,
           case when turned then words_a else words_b end as words_b,
           case when turned then votes_b else votes_a end as votes_a,
           case when turned then votes_a else votes_b end as votes_b,
           votes_tie,
           case when turned then right_b else right_a end as right_a,
           case when turned then right_a else right_b end as right_b,
           case when turned then {SWAPPED.format("outcome")} else outcome end as outcome,
           case when turned then {SWAPPED.format("human")} else human end as human,
           case when turned then {SWAPPED.format("favoured")} else favoured end as favoured,
           case when turned then if("order" = 'ab', 'ba'::word, 'ab'::word) else "order" end as "order" """
PAIR = "least(model_a, model_b) as low, greatest(model_a, model_b) as high"


def create_verdicts(connection: Connection) -> None:
    """Create the view `verdicts`: the rows of `typed`, each pair of models the way round of its
    first row.

    In other rows of the experiment and item model_a and model_b, their lengths and marks, the
    order, the outcome, the human label and the favoured answer are turned (column `turned`). With a
    control condition the way round says whose answer was perturbed: there, DataError if there are
    both.
    """
    ways = (
        f"select experiment, item, {PAIR} from (select distinct experiment, item, model_a, model_b"
        " from typed)"
    )
    if not exists(connection, f"{ways} group by all having count(*) > 1"):
        connection.execute(
            f"create temp view verdicts as {VERDICTS} from (select *, false as turned from typed)"
        )
        return
    connection.execute(f"""
        create temp table both_ways as
        select experiment, item, {PAIR}, arg_min(model_a, (file, record)) as first_a
        from typed group by all having min(model_a) <> max(model_a)""")
    joined = (
        f"(select *, {PAIR} from typed) left join both_ways using (experiment, item, low, high)"
    )
    perturbed = connection.execute(f"""
        select file, record, item, model_a, model_b from {joined}
        where model_a <> first_a and experiment in (select experiment from typed where condition = {text(CONTROL)})
        order by file, record limit 1""").fetchone()
    if perturbed:
        file, record, item, first, second = perturbed
        raise DataError(
            f"{record_place(file, record)}, column model_a: found '{first}' against '{second}' for item"
            f" '{item}', the other way round than before; in an experiment with the condition"
            f" '{CONTROL}' the answer of model_b is perturbed: keep one way round, write in `order`"
            " which answer was shown first, and rename an item whose other answer is perturbed too"
        )
    connection.execute(
        f"""
        create temp view verdicts as {VERDICTS} from (select *, coalesce(model_a <> first_a, false) as turned from {joined})"""
    )


def create_sorted(connection: Connection) -> None:
    """Create the table `sorted` of the columns of `verdicts` that are not empty, rising by
    comparison and order.

    `again` is whether a row is about the comparison of the row before, and `twice` whether it has
    its order, too.
    """
    columns = column_names(
        "order outcome human words_a words_b favoured votes_a votes_b votes_tie right_a right_b"
    )
    counts = ", ".join(f"count({name(column)})" for column in columns)
    counted = connection.execute(f"select {counts} from verdicts").fetchone()
    kept = [*COMPARISON]
    nulls = []
    for column, count in zip(columns, counted, strict=True):
        if count:
            kept.append(name(column))
        else:
            nulls.append(f"null::{KIND_OF.get(column, 'double')} as {column}")
    same = " and ".join(f"{column} = lag({column}) over ()" for column in COMPARISON)
    connection.execute(f"""
        create temp table sorted as
        select *, coalesce({same}, false) as again, again and "order" = lag("order") over () as twice
        from (select {", ".join(kept)} from verdicts order by {", ".join(COMPARISON)}, "order")""")
    connection.execute(
        f"create temp view canonical as select {', '.join(['*', *nulls])} from sorted"
    )


def check_unique(connection: Connection) -> None:
    """DataError if two rows of `verdicts` are about the same comparison, vote and order."""
    if not exists(connection, "from sorted where twice"):
        return
    twice = first_twice(connection, "verdicts", (*COMPARISON, "order"))
    (experiment, condition, judge, item, first, second, wording, vote, order), there, here = twice
    shown = first if order == "ab" else second
    raise DataError(
        f"{here}, column judge: the verdict of '{judge}' on item"
        f" '{item}'{_among(experiment, condition)}, '{first}' against '{second}' with the answer of"
        f" '{shown}' first{_among('', '', wording)}, vote {vote}, is already in {there}; keep one"
        " row, number repeated verdicts in a column `vote`, or say in a column `wording` how the"
        " judge was asked"
    )


WORDS = "replace({words}::varchar || ' words of ', '.0 ', ' ') || '''' || {model} || ''''"
# One row for each fact about answers that a verdict repeats: `about` one answer (model_b empty) or
# a pair; `fact` in words.
FACTS = " union all ".join(
    f"select file, record, experiment, condition, item, {columns} from verdicts"
    for columns in (
        """model_a, model_b, 'human' as about, 'human' as written, case human when 'tie' then 'a tie'
           when 'a' then '''' || model_a || ''' preferred' when 'b' then '''' || model_b || ''' preferred' else 'no label' end
           as fact""",
        *(
            f"""model_a, model_b, '{a}', if(turned, 'length_{b}', 'length_{a}'),
            coalesce({WORDS.format(words=f"words_{a}", model=f"model_{a}")},
                     'no length of the answer of ''' || model_{a} || '''')"""
            for a, b in ("ab", "ba")
        ),
        *(
            f"""model_{a}, '', 'right', if(turned, 'right_{b}', 'right_{a}'),
            if(right_{a} = 'true', 'a right', 'a wrong') || ' answer of ''' || model_{a} || ''''"""
            for a, b in ("ab", "ba")
        ),
        *(
            f"""model_{a}, '', 'length', if(turned, 'length_{b}', 'length_{a}'),
            {WORDS.format(words=f"words_{a}", model=f"model_{a}")}"""
            for a, b in ("ab", "ba")
        ),
    )
)


# Pairs with two labels or lengths, then answers with two lengths or marks.
DIFFERING = """
    (select 1 from answers group by experiment, condition, item, model_a, model_b having count(*) > 1)
    union all
    (select 1 from (select experiment, condition, item, model_a as model, words_a as words from answers
                    union all select experiment, condition, item, model_b, words_b from answers)
     where words >= 0 group by experiment, condition, item, model having min(words) <> max(words))
    union all
    (select 1 from (select experiment, condition, item, model_a as model, right_a as mark from verdicts
                    union all select experiment, condition, item, model_b, right_b from verdicts)
     where mark is not null group by experiment, condition, item, model having min(mark) <> max(mark))"""


def check_same_answers(connection: Connection) -> None:
    """DataError if rows about the same answers, under one condition of an experiment, differ in the
    human label or a length.

    Likewise in the mark of one answer; a row without it is no contradiction.
    """
    connection.execute("""
        create temp table answers as
        select experiment, condition, item, model_a, model_b, coalesce(enum_code(human), -1) as human,
               coalesce(words_a, -1) as words_a, coalesce(words_b, -1) as words_b
        from verdicts group by all""")
    # Much faster than to look for the first
    if not exists(connection, DIFFERING):
        return
    key = ("experiment", "condition", "item", "model_a", "model_b", "about")
    contradiction = connection.execute(f"""
        select {", ".join(key)} from ({FACTS}) group by all having min(fact) <> max(fact)
        order by min((file, record)) limit 1""").fetchone()
    if contradiction is None:
        return
    experiment, condition, item, first, second, _ = contradiction
    rows = connection.execute(
        f"""select file, record, written, fact from ({FACTS}) where fact is not null and ({", ".join(key)}) = (?, ?, ?, ?, ?, ?)
            order by file, record""",
        list(contradiction),
    ).fetchall()
    (there, there_record, _, before), *others = rows
    here, record, column, fact = next(row for row in others if row[3] != before)
    pair = f", '{first}' against '{second}'" if second else ""
    raise DataError(
        f"{record_place(here, record)}, column {column}: found {fact} for item"
        f" '{item}'{_among(experiment, condition)}{pair}, but {before} in"
        f" {record_place(there, there_record)}; write the same in each row about the same answers"
    )


def check_both_orders(connection: Connection, missing: int) -> None:
    """DataError about the first of the `missing` comparisons that `verdicts` holds in one order
    only.
    """
    if missing == 0:
        return
    file, record, judge, item, first, second, order, vote, experiment, condition = (
        connection.execute(f"""
        select arg_min(file, (file, record)), arg_min(record, (file, record)), judge, item, model_a, model_b,
               min("order") as shown, vote, experiment, condition
        from verdicts group by {", ".join(COMPARISON)} having min("order") = max("order")
        order by min((file, record)) limit 1""").fetchone()
    )
    shown, other = (first, second) if order == "ab" else (second, first)
    more = f" ({missing - 1} more comparisons lack an order)" if missing > 1 else ""
    raise DataError(
        f"{record_place(file, record)}, column order: '{judge}' was shown the answer of '{shown}'"
        f" before that of '{other}' for item '{item}'{_among(experiment, condition)}, vote {vote},"
        " but never the other way round; add that verdict, or"
        f" {Setting('both_orders').given(False)}, which leaves such comparisons out of what needs"
        f" both orders{more}"
    )


def _among(experiment: str, condition: str = "", wording: str = "") -> str:
    named = {"experiment": experiment, "condition": condition, "wording": wording}
    return "".join(f", {name} '{value}'" for name, value in named.items() if value)


def _completeness(connection: Connection) -> list[dict]:
    """One row per experiment, condition and judge: how many comparisons there are, and what some of
    them lack.

    The rows of a comparison lack the same, as `check_same_answers` has found, and are one or, in
    both orders, two.
    """
    counts = connection.execute("""
        select experiment, condition, judge, count(*) filter (not again) as comparisons, count(*) as verdicts,
               count(*) filter (outcome = 'error') as errors, 2 * comparisons - verdicts as one_order,
               count(*) filter (not again and human is null) as no_human,
               count(*) filter (not again and (words_a is null or words_b is null)) as no_length
        from canonical group by all order by all""")
    return records(counts)
