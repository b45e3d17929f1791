"""Simultaneous intervals beside pointwise ones: taken from the table of multiplicity, and named in the legend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgebias.drawing.axis_limits import SIMULTANEOUS
from judgebias.drawing.intervals import WHISKER
from judgebias.drawing.page import Entry
from judgebias.drawing.style import INK

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["slice", "quantity", "term"]


def with_simultaneous(
    table: pd.DataFrame, multiplicity: pd.DataFrame, settings: Mapping | None, *, confidence: float
) -> tuple[pd.DataFrame, list[Entry]]:
    """`table` of estimates with the columns SIMULTANEOUS, missing where there is no such interval, and their legend.

    settings: `spec`, whose intervals they are; `tests`, what is tested, in words; `errors`, by what errors; `sliced`, as in `by
    dimension`, or "". None: there is no such spec. Without any interval in `multiplicity` the legend says nothing.
    """
    if settings is None:
        return table, []
    found = multiplicity[multiplicity["spec"] == settings["spec"]].dropna(subset=SIMULTANEOUS)
    if found.empty:
        return table, []
    values = found.fillna({"slice": ""})[[*KEYS, *SIMULTANEOUS]]
    joined = table[KEYS].fillna({"slice": ""}).merge(values, how="left", validate="one_to_one")
    ends = {column: joined[column].to_numpy(float) for column in SIMULTANEOUS}
    tests = " ".join(filter(None, [f"{int(found['tests'].iloc[0])} {settings['tests']}", settings["sliced"]]))
    text = f"{100 * confidence:g} % simultaneous interval over the {tests}, {settings['errors']}"
    return table.assign(**ends), [Entry(text, line={"color": INK, "markevery": [0, 2], **WHISKER})]
