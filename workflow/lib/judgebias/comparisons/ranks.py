"""Ranks of the judges by attack success rate: the lowest rate has rank 1, equal rates share the lower number."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction


def ranks(values: Sequence[Fraction | None]) -> list[int | None]:
    """Return 1 + the number of lower values for each of `values`; None for None, which ranks nowhere.

    Fractions, so that no noise of floating-point numbers parts what is equal.
    """
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other < value for other in known) for value in values]


def with_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return `rows` (shifted, n) with their rank among the judges of the same experiment, condition and pair of models."""
    ranked = [dict(row) for row in rows]
    for members in _grouped(ranked, "experiment", "condition", "model_a", "model_b").values():
        rates = [Fraction(row["shifted"], row["n"]) if row["n"] else None for row in members]
        for row, rank in zip(members, ranks(rates), strict=True):
            row["rank"] = rank
    return ranked


def average_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return the average rank of each judge over the columns of an experiment, from the rows of the table of success rates.

    A column is a condition with a pair of models in which a judge has a rank; where none has an eligible sample there is no
    column. A judge without a rank in each column has no average; `columns` is how many it has. place: the judge's rank by
    average. Sorted by experiment, place and judge, those without a place last.
    """
    found = []
    for experiment, members in _grouped(rows, "experiment").items():
        ranked = [row for row in members if row["rank"] is not None]
        columns = len(_grouped(ranked, "condition", "model_a", "model_b"))
        own = {judge: [row["rank"] for row in of_judge] for judge, of_judge in _grouped(members, "judge").items()}
        own = {judge: [rank for rank in numbers if rank is not None] for judge, numbers in own.items()}
        averages = [Fraction(sum(numbers), columns) if len(numbers) == columns > 0 else None for numbers in own.values()]
        for judge, average, place in zip(own, averages, ranks(averages), strict=True):
            value = None if average is None else float(average)
            row = {"experiment": experiment[0], "judge": judge[0], "average_rank": value, "columns": len(own[judge])}
            found.append({**row, "place": place})
    return sorted(found, key=lambda row: (row["experiment"], row["place"] is None, row["place"], row["judge"]))


def _grouped(rows: Iterable[Mapping], *keys: str) -> dict[tuple[Hashable, ...], list]:
    groups: dict[tuple[Hashable, ...], list] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups
