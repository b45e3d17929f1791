"""What the figures of comparisons call the conditions and judges of a table, where several experiments have them."""

import pandas as pd

NO_EXPERIMENT = "no experiment"


def conditions_of(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
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


def with_names(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` with an empty text where one of these names is missing, and text where it looks like a number."""
    return table.assign(**{name: _texts(table[name]) for name in names if name in table})


def _texts(column: pd.Series) -> list[str]:
    return ["" if missing else str(name) for name, missing in zip(column, column.isna(), strict=True)]
