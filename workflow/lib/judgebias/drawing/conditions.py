"""What the figures of comparisons call the conditions and judges of a table, where several experiments have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

NO_EXPERIMENT = "no experiment"


def named(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """`table` with each condition as text, "" where it has no name, and the conditions in the order in which they come.

    With several experiments each is named by its experiment, too: `experiment: condition`.
    """
    names = _texts(table["condition"])
    if table["experiment"].nunique(dropna=False) > 1:
        pairs = zip(_texts(table["experiment"]), names, strict=True)
        names = [": ".join(filter(None, (experiment or NO_EXPERIMENT, condition))) for experiment, condition in pairs]
    return table.assign(condition=names), list(dict.fromkeys(names))


def by_experiment(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the judges of several experiments told apart: `judge (experiment)`."""
    if table["experiment"].nunique(dropna=False) < 2:
        return table
    pairs = zip(table["judge"], _texts(table["experiment"]), strict=True)
    return table.assign(judge=[f"{judge} ({experiment or NO_EXPERIMENT})" for judge, experiment in pairs])


def _texts(column: pd.Series) -> list[str]:
    return ["" if missing else str(name) for name, missing in zip(column, column.isna(), strict=True)]
