"""The figure of a card: judges by effects, with the size, interval and verdict in each cell."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.colors import LinearSegmentedColormap

from recuse.inference.verdict import Verdict
from recuse.plot.colours import BLUE, FAINT, INK, VERMILION, Palette
from recuse.plot.page import Entry, Head, Section, page_of_panels, page_of_words
from recuse.plot.style import LINE, SMALL, Subject, language, save, widest, wrap

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
    names = [wrap(name, NARROWEST) for name in columns]
    lines = max(name.count("\n") for name in names) + 1
    figure, ((place,),) = page_of_panels(
        subject,
        Head(finding, unit),
        [Section([""], len(cells) * ROW, least=len(cells) * ROW, below=0.1 + lines * LINE)],
        left=widest(cells) + 0.1,
        least=NARROWEST * len(columns),
        key=[Entry(verdict.value, mark) for verdict, mark in MARKS.items()],
    )
    axes = place.axes
    axes.set(xlim=(0, len(columns)), ylim=(len(cells), 0))
    axes.set_xticks([number + 0.5 for number in range(len(columns))], names)
    axes.set_yticks([number + 0.5 for number in range(len(cells))], [*cells])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    text = {"ha": "center", "va": "center_baseline"}
    for row, of_judge in enumerate(cells.values()):
        for column, name in enumerate(columns):
            if name not in of_judge:
                continue
            cell = of_judge[name]
            colour = SHADES(0.5 + 0.1 * PALE * cell.shade)
            box = [column, column + 1], [row, row], [row + 1, row + 1]
            axes.fill_between(*box, facecolor=colour, edgecolor="white", lw=1.2, gid="cell")
            is_found = cell.verdict in (Verdict.ESTABLISHED, Verdict.LIKELY)
            size = {"size": SMALL + 1, "weight": "bold" if is_found else "normal", "color": INK}
            words = f"{MARKS[Verdict(cell.verdict)]} {cell.size}".removesuffix(" ?")
            axes.text(column + 0.5, row + 0.32, words, **size, **text)
            small = {"size": SMALL, "color": INK if cell.shade else FAINT}
            axes.text(column + 0.5, row + 0.72, cell.interval, **small, **text)
    save(figure, [path], title=f"Card: {title}")
