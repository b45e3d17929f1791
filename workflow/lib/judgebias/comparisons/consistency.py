"""What rows of comparisons must agree on: each stands once, in both orders, with one human label and one length per answer."""

import duckdb

from judgebias.errors import DataError
from judgebias.ratings.registry import HUMAN
from judgebias.sources.checks import first_twice, place_of

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
    columns = ", ".join(COMPARISON)
    file, record, judge, item, first, second, order, vote, experiment, condition = connection.execute(f"""
        select arg_min(file, (file, record)), arg_min(record, (file, record)), judge, item, model_a, model_b,
               min("order") as shown, vote, experiment, condition
        from verdicts group by {columns} having min("order") = max("order") order by min((file, record)) limit 1""").fetchone()
    shown, other = (first, second) if order == "ab" else (second, first)
    more = f" ({missing - 1} more comparisons lack an order)" if missing > 1 else ""
    raise DataError(
        f"{place_of(file, record)}, column order: '{judge}' was shown the answer of '{shown}' before that of '{other}' for "
        f"item '{item}'{_among(experiment, condition)}, vote {vote}, but never the other way round; add that verdict, or write "
        f"`both_orders: false` for the study in config to leave such comparisons out and count them{more}"
    )


def check_same_answers(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if the human label or the length of an answer differs between rows about the same pair of answers."""
    columns = ", ".join(ANSWERS)
    differ = " or ".join(f"min(coalesce({c}, {none})) <> max(coalesce({c}, {none}))" for c, none in OF_ITEM.items())
    answers = connection.execute(f"""
        select {columns} from verdicts group by all having {differ}
        order by min((file, record)) limit 1""").fetchone()
    if answers is None:
        return
    same = " and ".join(f"{column} = ?" for column in ANSWERS)
    rows = connection.execute(
        f"select file, record, turned, {', '.join(OF_ITEM)} from verdicts where {same} order by file, record", list(answers)
    ).fetchall()
    first = rows[0]
    here, place = next((row, place) for row in rows for place in (3, 4, 5) if row[place] != first[place])
    quantity = list(OF_ITEM)[place - 3]
    column = "human" if quantity == "human" else COLUMNS[quantity][here[2]]
    *_, item, model_a, model_b = answers
    found, before = (_described(quantity, row[place], model_a, model_b) for row in (here, first))
    raise DataError(
        f"{place_of(*here[:2])}, column {column}: found {found} for item '{item}', '{model_a}' against '{model_b}', but "
        f"{before} in {place_of(*first[:2])}; write the same in each row about these answers"
    )


def check_same_lengths(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if the answer of a model to an item has two lengths under one condition of an experiment."""
    of_model = ", ".join(ANSWERS[:3])
    connection.execute(f"""
        create or replace temp view lengths as
        select {of_model}, model_a as model, words_a as words, file, record, if(turned, 'length_b', 'length_a') as length
        from verdicts where words_a is not null
        union all
        select {of_model}, model_b, words_b, file, record, if(turned, 'length_a', 'length_b')
        from verdicts where words_b is not null""")
    answer = connection.execute(f"""
        select {of_model}, model from lengths group by all having min(words) <> max(words)
        order by min((file, record)) limit 1""").fetchone()
    if answer is None:
        return
    same = " and ".join(f"{column} = ?" for column in (*ANSWERS[:3], "model"))
    rows = connection.execute(
        f"select file, record, length, words from lengths where {same} order by file, record", list(answer)
    ).fetchall()
    first = rows[0]
    file, record, column, words = next(row for row in rows if row[3] != first[3])
    *among, item, model = answer
    raise DataError(
        f"{place_of(file, record)}, column {column}: found {words:g} words of '{model}' for item '{item}'{_among(*among)}, but "
        f"{first[3]:g} in {place_of(*first[:2])}; write the same in each row about this answer"
    )


def check_names(connection: duckdb.DuckDBPyConnection) -> None:
    """DataError if a judge of an experiment with human labels has the name that stands for these in tables and figures."""
    found = connection.execute(
        """
        select file, record, experiment from verdicts
        where judge = ? and experiment in (select experiment from verdicts where human is not null)
        order by file, record limit 1""",
        [HUMAN],
    ).fetchone()
    if found is not None:
        file, record, experiment = found
        raise DataError(
            f"{place_of(file, record)}, column judge: found '{HUMAN}'{_among(experiment, '')}, which stands for the labels of "
            f"the column human in tables and figures; write another name, such as '{HUMAN} judge'"
        )


def _described(quantity: str, value: str | float | None, model_a: str, model_b: str) -> str:
    """What a row says of the answers, by the names of the models, for a turned row has them the other way round."""
    if quantity == "human":
        winners = {"a": f"'{model_a}' preferred", "b": f"'{model_b}' preferred", "tie": "a tie", None: "no label"}
        return winners[value]
    model = model_a if quantity == "words_a" else model_b
    return f"no length of the answer of '{model}'" if value is None else f"{value:g} words of '{model}'"


def _among(experiment: str, condition: str) -> str:
    named = {"experiment": experiment, "condition": condition}
    return "".join(f", {name} '{value}'" for name, value in named.items() if value)
