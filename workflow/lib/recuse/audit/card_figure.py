"""The figure of a card: judges by effects, with the size, interval and verdict in each cell."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from recuse.inference.verdict import Verdict
from recuse.plot.cells import ShadedCells, cells_figure
from recuse.plot.colours import BLUE, VERMILION, Palette
from recuse.plot.page import Entry, Head, page_of_words
from recuse.plot.style import LINE, Subject, language, save, wrap

ROW = 2.6 * LINE  # inches: the height of a cell, for two lines
NARROWEST = 0.85  # inches: the least width of a cell
SHADES = LinearSegmentedColormap.from_list("shades", [BLUE, "#FFFFFF", VERMILION])
# The share of the shades' range that is used, so that text keeps its contrast
PALE = 0.45
MARKS = {
    Verdict.ESTABLISHED: "●",
    Verdict.LIKELY: "◐",
    Verdict.NOT_SHOWN: "○",
    Verdict.INCONCLUSIVE: "?",
}


class Cell(NamedTuple):
    """What a judge does under one treatment."""

    size: str
    interval: str
    verdict: str
    shade: int  # from -5, strongly against, to 5


@language()
def draw_card(
    path: Path,
    cells: Mapping[str, Mapping[str, Cell]],
    columns: Sequence[str],
    *,
    title: str,
    finding: str,
    unit: str,
    simulated: bool,
) -> None:
    """Draw the heat table, judge -> effect -> cell; blank where a judge was not asked."""
    subject = Subject(title, "simulated" if simulated else "user", Palette({}, {}))
    if not cells:
        save(page_of_words(subject, finding), [path], title=f"Card: {title}")
        return
    names = {name: wrap(name, NARROWEST) for name in columns}
    texts = pd.DataFrame("", [*cells], [*names.values()])
    shades = pd.DataFrame(float("nan"), texts.index, texts.columns)
    for judge, of_judge in cells.items():
        for name, cell in of_judge.items():
            size = f"{MARKS[Verdict(cell.verdict)]} {cell.size}".removesuffix(" ?")
            texts.loc[judge, names[name]] = f"{size}\n{cell.interval}"
            shades.loc[judge, names[name]] = 0.5 + 0.1 * PALE * cell.shade
    (axes,) = cells_figure(
        {"": ShadedCells(shades, texts, form="")},
        subject,
        Head(finding, unit),
        ramp=SHADES,
        cell=(NARROWEST, ROW, ROW),
        slanted=False,
        hatched="not asked",
        key=[Entry(verdict.value, mark) for verdict, mark in MARKS.items()],
    )
    save(axes.figure, [path], title=f"Card: {title}")
