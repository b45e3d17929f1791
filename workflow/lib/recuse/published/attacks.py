"""The printed tables of Chen et al., Humans or LLMs as the Judge?: read, matched with a study's, and their ranks once more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from recuse.base.tables import read_table
from recuse.pairwise.questions import ranks

AUTHOR = "GPT-4"  # of the answers where the tables do not say (section 4.2)
MAIN = "perturbations"  # the experiment of Tables 1 and 6
EQUAL, POSSIBLE, IMPOSSIBLE = "equal", "possible", "impossible"
Row = Mapping[str, str]
Rows = Sequence[Row]


def read_attacks(path: str) -> list[dict[str, str]]:
    """Read the published values: texts of table, experiment, condition, model_a, model_b, judge, column, quantity and value.

    Two answers of one model are told apart as `second_answer` says; answers of Table 1 are GPT-4's. model_b is empty in
    Table 7, which averages over three models.
    """
    rows = read_table(path)
    for row in rows:
        if row["quantity"] == "asr":
            row["model_a"] = row["model_a"] or AUTHOR
            row["model_b"] = second_answer(row["model_a"], row["model_b"] or AUTHOR)
    return rows


def second_answer(model_a: str, model_b: str) -> str:
    """Return the name of the second answer: that of its model, with `(2)` where the first is by the same one."""
    return f"{model_b} (2)" if model_a == model_b else model_b


def key_of_attack(*tables: Rows) -> Callable[[Row], tuple[str, ...]]:
    """Return the function that gives what rows of these tables of attack success rates are matched by.

    It is experiment, condition, judge and the two models; without these where each table has one pair of models for an
    experiment and condition, for there the answers may have other names.
    """
    single = []  # of each table: the experiments and conditions with one pair of models
    for rows in tables:
        pairs = {}
        for row in rows:
            pairs.setdefault((row["experiment"], row["condition"]), set()).add((row["model_a"], row["model_b"]))
        single.append({attack for attack, models in pairs.items() if len(models) == 1})

    def key(row: Row) -> tuple[str, ...]:
        attack = row["experiment"], row["condition"]
        return (
            *attack,
            row["judge"],
            *(() if all(attack in attacks for attacks in single) else (row["model_a"], row["model_b"])),
        )

    return key


def published_ranks(rows: Rows) -> Iterator[dict]:
    """Yield, for each printed rank, average rank and difference, what the printed values give, and what they allow.

    rows: texts of table, judge, column, quantity (asr, average_rank, first, tie, second, difference, ...), value, printed_rank.
    * A printed rank of an `asr`: recomputed = lowest_possible = 1 + the number of lower values in the column. Rounding keeps
      order, so only values printed alike may have any: highest_possible counts the other judges of the same value too.
    * An average_rank: the mean over the columns of the table, of the recomputed, lowest and highest possible ranks.
    * A difference: first - second; each may be off by half a unit of its last digit.
    verdict: `equal` if recomputed rounds to what is printed, `possible` if a value between the ends does (of an average, one
    that whole ranks give), else `impossible`. Each value is judged by itself. Source: Chen et al., Tables 1, 3, 4 and 6.
    """
    for table in dict.fromkeys(row["table"] for row in rows):
        members = [row for row in rows if row["table"] == table]
        possible = _possible_ranks(members)
        shares = {(row["judge"], row["quantity"]): row["value"] for row in members}
        for row in members:
            judge, quantity = row["judge"], row["quantity"]
            if quantity == "asr" and row["printed_rank"]:
                printed, (lowest, highest) = int(row["printed_rank"]), possible[judge, row["column"]]
                among = lowest < printed <= highest
                judged = _judged(printed, lowest, (lowest, highest), equal=printed == lowest, possible=among)
                judged["asr"] = float(row["value"])
            elif quantity == "average_rank":
                judged = _average(row["value"], [ends for (of, _), ends in possible.items() if of == judge])
            elif quantity == "difference":
                judged = _difference(row["value"], shares[judge, "first"], shares[judge, "second"])
            else:
                continue
            yield {"table": table, "judge": judge, "column": row["column"], **judged}


def _possible_ranks(rows: Rows) -> dict[tuple[str, str], tuple[int, int]]:
    """Lowest and highest possible rank by judge and column."""
    possible = {}
    rates = [row for row in rows if row["quantity"] == "asr"]
    for column in dict.fromkeys(row["column"] for row in rates):
        members = [row for row in rates if row["column"] == column]
        values = [Fraction(row["value"]) for row in members]
        for row, value, lowest in zip(members, values, ranks(values), strict=True):
            possible[row["judge"], column] = lowest, lowest + values.count(value) - 1
    return possible


def _average(value: str, ends: Sequence[tuple[int, int]]) -> dict:
    printed = Fraction(value)
    lowest, highest = (sum(ranks) for ranks in zip(*ends, strict=True))
    averages = [Fraction(total, len(ends)) for total in range(lowest, highest + 1)]
    near = [abs(average - printed) <= _half_unit(value) for average in averages]
    return _judged(printed, averages[0], (averages[0], averages[-1]), equal=near[0], possible=any(near))


def _difference(value: str, first: str, second: str) -> dict:
    printed, half = Fraction(value), _half_unit(value)
    recomputed, slack = Fraction(first) - Fraction(second), _half_unit(first) + _half_unit(second)
    distance = abs(printed - recomputed)
    ends = recomputed - slack, recomputed + slack
    return _judged(printed, recomputed, ends, equal=distance <= half, possible=distance <= slack + half)


def _judged(
    printed: Fraction | int, recomputed: Fraction | int, ends: Sequence[Fraction | int], *, equal: bool, possible: bool
) -> dict:
    numbers = {"printed": printed, "recomputed": recomputed, "lowest_possible": ends[0], "highest_possible": ends[1]}
    verdict = EQUAL if equal else POSSIBLE if possible else IMPOSSIBLE
    return {**{name: float(value) for name, value in numbers.items()}, "verdict": verdict}


def _half_unit(value: str) -> Fraction:
    """Half a unit of the last printed digit."""
    return Fraction(1, 2 * 10 ** len(value.partition(".")[2]))
