"""The printed tables of Chen et al., Humans or LLMs as the Judge?: read, matched with a study's,
and their ranks recomputed.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from recuse.base.tables import Row, column_names, read_table

PUBLISHED_RANKS = column_names(
    "table judge column asr printed recomputed lowest_possible highest_possible verdict",
)

AUTHOR = "GPT-4"  # of the answers where the tables do not say (section 4.2)
MAIN = "perturbations"  # the experiment of Tables 1 and 6
_Rows = Sequence[Row]


def read_attacks(path: str) -> list[dict[str, str]]:
    """Read the published values: texts of table, experiment, condition, model_a, model_b, judge,
    column, quantity and value.

    Two answers of one model have different names, see `second_answer`; answers of Table 1 are
    GPT-4's. model_b is empty in Table 7, which averages over three models.
    """
    rows = read_table(path)
    for row in rows:
        if row["quantity"] == "asr":
            row["model_a"] = row["model_a"] or AUTHOR
            row["model_b"] = second_answer(row["model_a"], row["model_b"] or AUTHOR)
    return rows


def second_answer(model_a: str, model_b: str) -> str:
    """Return the name of the second answer: that of its model, with `(2)` where the first is by the
    same one.
    """
    return f"{model_b} (2)" if model_a == model_b else model_b


def attack_key(*tables: _Rows) -> Callable[[Row], tuple[str, ...]]:
    """Return the function that gives the key by which rows of these tables of attack success rates
    are matched.

    It is experiment, condition, judge and the two models; the models are left out where each table
    has one pair of them for an experiment and condition, because there the answers may have other
    names.
    """
    # Experiments and conditions with more or less than one pair of models in some table
    several = set()
    attacks = {(row["experiment"], row["condition"]) for rows in tables for row in rows}
    for attack, rows in product(attacks, tables):
        pairs = {
            (row["model_a"], row["model_b"])
            for row in rows
            if (row["experiment"], row["condition"]) == attack
        }
        if len(pairs) != 1:
            several.add(attack)

    def key(row: Row) -> tuple[str, ...]:
        attack = row["experiment"], row["condition"]
        return (
            *attack,
            row["judge"],
            *((row["model_a"], row["model_b"]) if attack in several else ()),
        )

    return key


def published_ranks(rows: _Rows) -> Iterator[dict]:
    """Yield, for each printed rank, average rank and difference, what the printed values give and
    what they allow.

    rows: texts of table, judge, column, quantity (asr, average_rank, first, tie, second,
    difference, ...), value, printed_rank.
    * A printed rank of an `asr`: recomputed = lowest_possible = 1 + the number of lower values in
      the column. Rounding keeps order, so only equal printed values may have any order:
      highest_possible also counts the other judges of the same value.
    * An average_rank: the mean over the columns of the table of the recomputed, lowest and highest
      possible ranks.
    * A difference: first - second; each may be off by half a unit of its last digit.
    verdict: `equal` if recomputed rounds to what is printed, `possible` if a value between the ends
    does (of an average, one that whole ranks give), else `impossible`. Each value is judged by
    itself. Source: Chen et al., Tables 1, 3, 4 and 6.
    """
    for table in dict.fromkeys(row["table"] for row in rows):
        members = [row for row in rows if row["table"] == table]
        possible = _possible_ranks(members)
        shares = {(row["judge"], row["quantity"]): row["value"] for row in members}
        for row in members:
            judge = row["judge"]
            quantity = row["quantity"]
            value = row["value"]
            rate = {}
            half = _half_unit(value)
            if quantity == "asr" and row["printed_rank"]:
                rate = {"asr": float(value)}
                printed = Fraction(row["printed_rank"])
                half = 0
                lowest, highest = possible[judge, row["column"]]
                allowed = range(lowest, highest + 1)
            elif quantity == "average_rank":
                printed = Fraction(value)
                ranked = [ends for (name, _), ends in possible.items() if name == judge]
                lowest, highest = (sum(column) for column in zip(*ranked, strict=True))
                allowed = [Fraction(total, len(ranked)) for total in range(lowest, highest + 1)]
            elif quantity == "difference":
                printed = Fraction(value)
                first = shares[judge, "first"]
                second = shares[judge, "second"]
                difference = Fraction(first) - Fraction(second)
                slack = _half_unit(first) + _half_unit(second)
                lowest = difference - slack
                highest = difference + slack
                allowed = difference, lowest, min(max(printed, lowest), highest), highest
            else:
                continue
            near = [abs(each - printed) <= half for each in allowed]
            yield {
                "table": table,
                "judge": judge,
                "column": row["column"],
                **rate,
                "printed": float(printed),
                "recomputed": float(allowed[0]),
                "lowest_possible": float(min(allowed)),
                "highest_possible": float(max(allowed)),
                "verdict": "equal" if near[0] else "possible" if any(near) else "impossible",
            }


def _possible_ranks(rows: _Rows) -> dict[tuple[str, str], tuple[int, int]]:
    """Lowest and highest possible rank by judge and column."""
    possible = {}
    rates = [row for row in rows if row["quantity"] == "asr"]
    for column in dict.fromkeys(row["column"] for row in rates):
        members = [row for row in rates if row["column"] == column]
        values = [Fraction(row["value"]) for row in members]
        for row, value, lowest in zip(members, values, ranks(values), strict=True):
            possible[row["judge"], column] = lowest, lowest + values.count(value) - 1
    return possible


def _half_unit(value: str) -> Fraction:
    """Half a unit of the last printed digit."""
    return Fraction(1, 2 * 10 ** len(value.partition(".")[2]))


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Return 1 + the number of lower values for each of `values`; None for None, which ranks
    nowhere.
    """
    present = sorted(value for value in values if value is not None)
    return [None if value is None else 1 + bisect_left(present, value) for value in values]
