"""The curves of the additive model: what each judge is expected to rate a completion, by its human score."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.axes import unit_square
from recuse.plot.colours import DASHED, INK
from recuse.plot.intervals import write_instead
from recuse.plot.page import Entry, Page, family_entries, grid, page_of_words, page_width
from recuse.plot.style import BOLD_TITLE, EDGE, LINE, SMALL, UPRIGHT, Subject, interval_text, language, widest, wrap

LEFT = 0.5  # inches for ticks and axis text
BELOW = 0.4
SLICE = 0.32  # inches for the name of a slice, upright
RIGHT = 0.1  # inches for half the last tick's number
GUTTER = 0.14  # inches between panels
TALLEST = 1.2  # inches of a panel
LIMITS = (-0.04, 1.04)  # of both axes: the unit scale, with a margin for the strokes
CURVE = {"lw": 1.4, "solid_capstyle": "butt", "zorder": 4}
BAND = {"alpha": 0.25, "lw": 0, "zorder": 3}
ACROSS = "human score (unit scale 0–1)"
UP = "expected rating", "(unit scale 0–1)"  # two lines beside one row of panels, which is not as high as one is long
NO_CURVE = "no curve"
NO_CURVES = "No curve: the rows of no judge determine one, as where none has a human score."
NO_BAND = "A curve without a band has no standard error."


@language()
def smooths(table: pd.DataFrame, subject: Subject, *, confidence: float, covariance: str) -> Figure:
    """Expected rating of another family's completion by its human score, a panel for each judge, with a band of intervals.

    `table`: slice (missing for the pooled data), judge, reference, value, ci_low, ci_high, all numbers on the unit scale. Where
    there are pooled data they alone are drawn; otherwise a row of panels for each slice. Axes end where the scale does, and
    bands are cut off there.
    """
    pooled = table[table["slice"].isna()]
    parts = dict(iter(table.groupby("slice"))) if pooled.empty else {"": pooled}
    judges = subject.palette.order(table["judge"])
    if not judges:
        return page_of_words(subject, NO_CURVES)
    by_slice = "" not in parts
    rows, columns = (len(parts), len(judges)) if by_slice else grid(len(judges), 5)
    left = EDGE + LEFT + (LINE if rows == 1 else 0.0) + (SLICE if by_slice else 0.0)
    room = page_width(several=columns > 2) - left - RIGHT - EDGE - (columns - 1) * GUTTER
    panel = max(_longest_word(judges), room / columns)
    height = max(_longest_word(parts), min(panel, TALLEST))
    up = "\n".join(UP) if rows == 1 else " ".join(UP)
    titles = {judge: wrap(judge, BOLD_TITLE * panel) for judge in judges}
    title = 0.08 + LINE * max(text.count("\n") + 1 for text in titles.values())
    step = panel + GUTTER, height + GUTTER + (0.0 if by_slice else title)
    body = BELOW + rows * step[1] + (title if by_slice else 0.0)
    note = "" if (table["ci_low"] < table["ci_high"]).all() else NO_BAND
    width = left + columns * step[0] - GUTTER + RIGHT + EDGE
    drawn = [
        Entry("expected rating of another family's completion", line={"color": INK, "lw": CURVE["lw"]}),
        Entry(interval_text(confidence, covariance), [{"color": INK, "alpha": BAND["alpha"], "lw": 0}] * 2),
        Entry("rating = human score", line=DASHED),
    ]
    legend = [family_entries(subject.palette, judges), drawn]
    page = Page(subject=subject, width=width, body=body, legend=legend, note=note)
    curves = [(part, judge) for part in parts for judge in judges]
    panels = page.panels(len(curves), columns, corner=(left, BELOW), size=(panel, height), step=step)
    for number, ((part, judge), each) in enumerate(zip(curves, panels, strict=True)):
        unit_square(each.axes, LIMITS, first=each.first, lowest=each.lowest)
        each.axes.plot([0, 1], [0, 1], zorder=2, **DASHED)
        each.axes.set_title(titles[judge] if number < columns or not by_slice else "", size=SMALL)
        curve = parts[part]
        _draw_curve(each.axes, curve[curve["judge"] == judge], subject.palette.colour(judge))
    for number, part in enumerate(reversed(parts) if by_slice else ()):
        middle = BELOW + number * step[1] + height / 2
        page.text(left - LEFT - SLICE / 2 + LINE / 2, middle, wrap(part, BOLD_TITLE * height), weight="bold", **UPRIGHT)
    page.centred(left + (columns * step[0] - GUTTER) / 2, 0.05, ACROSS)
    page.text(EDGE + LINE * (1 + up.count("\n")) / 2, BELOW + (rows * step[1] - GUTTER) / 2, up, **UPRIGHT)
    return page.figure


def _longest_word(texts: Iterable[str]) -> float:
    """Width in inches in which no word of `texts` is broken."""
    return widest(word for text in texts for word in text.split()) / BOLD_TITLE


def _draw_curve(axes: Axes, curve: pd.DataFrame, colour: str) -> None:
    """One judge's curve with its band; a point and a bar where the judge has one human score only."""
    if curve.empty:
        write_instead(axes, 0.5, NO_CURVE)
        return
    reference, value, low, high = (curve[column].to_numpy() for column in ("reference", "value", "ci_low", "ci_high"))
    if len(curve) == 1:
        axes.plot([reference[0]] * 2, [low[0], high[0]], color=colour, gid="band", **CURVE)
        axes.plot(reference, value, color=colour, marker="o", markersize=3.1, zorder=5, gid="curve")
        return
    axes.fill_between(reference, low, high, color=colour, gid="band", **BAND)
    axes.plot(reference, value, color=colour, gid="curve", **CURVE)
