"""What the order of the answers does to each judge: consistency, and preference for the answer shown first."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.colours import BLUE, FAINT, INK
from recuse.plot.conditions import conditions_of
from recuse.plot.intervals import (
    ROW,
    draw_bar,
    draw_point,
    excludes,
    has_interval,
    interval_entries,
    plain_rows,
    write_absent,
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, Page, page_of_words, page_width
from recuse.plot.style import EDGE, TEXT, Subject, language, widest

TITLE = 0.24  # inches for the titles of the panels
HEADING = 0.28  # inches for a condition
BELOW = 0.42  # inches for ticks and axis text
GUTTER = 0.2  # inches between panels
NUMBER = 0.36  # inches for the value beside a row
LIMITS = (-0.03, 1.03)
CONSISTENCY = "consistency"
STATISTICS = {CONSISTENCY: "Consistency", "first_preference": "First-position preference"}
STATISTICS_OF_SINGLE = {"single_order_first": "Shown first", "single_order_longer": "Longer", "single_order_own": "Own"}
ACROSS = {
    CONSISTENCY: "share of comparisons with one verdict in both orders →",
    "first_preference": "← shown second      shown first →",
    "single_order_first": "← shown second   shown first →",
    "single_order_longer": "← shorter   longer →",
    "single_order_own": "← another's   own →",
}
HALF = {"color": INK, "lw": 0.9}
NO_ROWS = "Nothing to say of position: no comparison has a verdict in both orders, or a choice in one."
NOTE = (
    "Intervals by bootstrap over questions, exact where all questions agree. First-position preference: share of the answer "
    "shown first among the verdicts that are not ties."
)
NOTE_OF_SINGLE = (
    "Each pair was judged in one order, so that the first panel tells of the place only if that order was drawn at random. "
    "Shares of the verdicts that are not ties; in the others a longer, or own, answer may be the better one. Intervals by "
    "bootstrap over questions, exact where all questions agree."
)


@language()
def position(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Consistency and first-position preference of each judge with intervals, the conditions below one another.

    `table`: the table of position, see `recuse.pairwise.verbosity`; its other statistics are not drawn. Where no
    comparison has both orders, what single orders tell takes their place. A preference is filled when its interval excludes
    one half, hollow when it does not or there is none.
    """
    present = set(table["statistic"])
    single = present.isdisjoint(STATISTICS)
    statistics = {name: title for name, title in STATISTICS_OF_SINGLE.items() if name in present} if single else STATISTICS
    table, conditions = conditions_of(table[table["statistic"].isin(list(statistics))])
    if table.empty:
        return page_of_words(subject, NO_ROWS)
    judges = subject.palette.order(table["judge"])
    label, height = widest(judges) + 0.1, len(judges) * ROW
    block = height + (HEADING if any(conditions) else 0.0)
    entries = interval_entries(
        f"share, {100 * confidence:g} % bootstrap interval", "interval of a preference includes one half", BLUE
    )
    legend = [[*entries, Entry("one half: no preference", line=HALF)]]
    width = page_width(legend)
    panel = (width - 2 * EDGE - label - (len(statistics) - 1) * GUTTER) / len(statistics) - NUMBER
    note, body = NOTE_OF_SINGLE if single else NOTE, BELOW + len(conditions) * block + TITLE
    page = Page(subject=subject, width=width, body=body, legend=legend, note=note)
    lefts = {statistic: EDGE + label + column * (panel + NUMBER + GUTTER) for column, statistic in enumerate(statistics)}
    for number, condition in enumerate(reversed(conditions)):
        rows = table[table["condition"] == condition]
        bottom = BELOW + number * block
        page.text(EDGE, bottom + height + 0.1, condition, weight="bold", size=TEXT)
        above = bottom + height + (0.1 if condition else TITLE / 2)
        page.text(width - EDGE, above, _comparisons(rows), ha="right", color=FAINT)
        for column, (statistic, left) in enumerate(lefts.items()):
            axes = page.axes(left, bottom, panel, height)
            _frame(axes, judges if column == 0 else [""] * len(judges), lowest=number == 0)
            _draw(axes, rows[rows["statistic"] == statistic], judges, half=statistic != CONSISTENCY)
    for statistic, left in lefts.items():
        page.text(left, BELOW + len(conditions) * block + TITLE / 2, statistics[statistic], weight="bold", size=TEXT)
        page.centred(left + panel / 2, 0.05, ACROSS[statistic])
    return page.figure


def _comparisons(rows: pd.DataFrame) -> str:
    counts = rows.loc[rows["statistic"] == rows["statistic"].iloc[0], "n"]  # of all comparisons, or of all choices
    least, most = counts.min(), counts.max()
    return f"{least} comparisons" if least == most else f"{least} to {most} comparisons"


def _frame(axes: Axes, labels: Sequence[str], *, lowest: bool) -> None:
    axes.set_xlim(LIMITS)
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "0.25", "0.5", "0.75", "1") if lowest else [])
    plain_rows(axes, labels)


def _draw(axes: Axes, rows: pd.DataFrame, judges: Sequence[str], *, half: bool) -> None:
    """One statistic, a row for each of `judges`; with `half`, it is a preference for one of two."""
    if half:
        axes.axvline(0.5, zorder=2, **HALF)
    write_absent(axes, judges, rows["judge"], "no comparisons")
    for _, row in rows.iterrows():
        place = judges.index(row["judge"])
        if np.isnan(row["value"]):
            write_instead(axes, place, "ties only")
            continue
        if has_interval(row):
            draw_bar(axes, place, row, BLUE)
        draw_point(axes, place, row["value"], BLUE, filled=not half or excludes(row, 0.5))
        write_number(axes, place, f"{row['value']:.3f}", NUMBER)
