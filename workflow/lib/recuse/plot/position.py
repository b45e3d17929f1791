"""What the order of the answers does to each judge: consistency, and preference for the answer shown first.

Votes for the answer shown first, for neither and for the one shown second: Table 6 of Chen et al., with intervals.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.axes import readable
from recuse.plot.intervals import POINT, STROKE, frame_rows, has_interval, write_instead
from recuse.plot.page import Entry, Page, legend_width, page_of_words
from recuse.plot.style import BLUE, DOUBLE_COLUMN, EDGE, FAINT, INK, LINE, ORANGE, SMALL, TEXT, Subject, language, widest
from recuse.plot.verbosity import NO_EXPERIMENT, named

ROW = 0.2
TITLE = 0.24  # inches for the titles of the panels
HEADING = 0.28  # inches for a condition
BELOW = 0.42  # inches for ticks and axis text
GUTTER = 0.2  # inches between panels
NUMBER = 0.36  # inches for the value beside a row
LIMITS = (-0.03, 1.03)
FIRST, CONSISTENCY = "First-position preference", "consistency"
STATISTICS = {CONSISTENCY: "Consistency", "first_preference": FIRST}
STATISTICS_OF_SINGLE = {"single_order_first": "Shown first", "single_order_longer": "Longer", "single_order_own": "Own"}
ACROSS = {
    CONSISTENCY: "share of comparisons with one verdict in both orders →",
    "first_preference": "← shown second      shown first →",
    "single_order_first": "← shown second   shown first →",
    "single_order_longer": "← shorter   longer →",
    "single_order_own": "← another's   own →",
}
HALF = {"color": INK, "lw": 0.9, "zorder": 2}
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

    `table`: the table of position, see `recuse.pairwise.position`; its other statistics are not drawn. Where no
    comparison has both orders, what single orders tell takes their place. A preference is filled when its interval excludes
    one half, hollow when it does not or there is none.
    """
    present = set(table["statistic"])
    single = present.isdisjoint(STATISTICS)
    statistics = {name: title for name, title in STATISTICS_OF_SINGLE.items() if name in present} if single else STATISTICS
    table, conditions = named(table[table["statistic"].isin(list(statistics))])
    if table.empty:
        return page_of_words(subject, NO_ROWS)
    judges = subject.palette.order(table["judge"])
    label, height = widest(judges) + 0.1, len(judges) * ROW
    block = height + (HEADING if any(conditions) else 0.0)
    legend = [_legend(confidence)]
    width = max(DOUBLE_COLUMN, legend_width(legend) + 2 * EDGE)
    panel = (width - 2 * EDGE - label - (len(statistics) - 1) * GUTTER) / len(statistics) - NUMBER
    note = NOTE_OF_SINGLE if single else NOTE
    page = Page(subject=subject, width=width, body=BELOW + len(conditions) * block + TITLE, legend=legend, note=note)
    for number, condition in enumerate(reversed(conditions)):
        rows = table[table["condition"] == condition]
        bottom = BELOW + number * block
        page.text(EDGE, bottom + height + 0.1, condition, weight="bold", size=TEXT)
        above = bottom + height + (0.1 if condition else TITLE / 2)
        page.text(width - EDGE, above, _comparisons(rows), ha="right", color=FAINT)
        for column, statistic in enumerate(statistics):
            axes = page.axes(EDGE + label + column * (panel + NUMBER + GUTTER), bottom, panel, height)
            _frame(axes, judges if column == 0 else [""] * len(judges), lowest=number == 0)
            _draw(axes, rows[rows["statistic"] == statistic], judges, half=statistic != CONSISTENCY)
    for column, (statistic, title) in enumerate(statistics.items()):
        left = EDGE + label + column * (panel + NUMBER + GUTTER)
        page.text(left, BELOW + len(conditions) * block + TITLE / 2, title, weight="bold", size=TEXT)
        page.centred(left + panel / 2, 0.05, ACROSS[statistic])
    return page.figure


def _legend(confidence: float) -> list[Entry]:
    full = {"color": BLUE, "lw": STROKE, **POINT}
    return [
        Entry(f"share, {100 * confidence:g} % bootstrap interval", line=full),
        Entry("interval of a preference includes one half", line={**full, "markerfacecolor": "white"}),
        Entry("one half: no preference", line={"color": HALF["color"], "lw": HALF["lw"]}),
    ]


def _comparisons(rows: pd.DataFrame) -> str:
    counts = rows.loc[rows["statistic"] == rows["statistic"].iloc[0], "n"]  # of all comparisons, or of all choices
    least, most = counts.min(), counts.max()
    return f"{least} comparisons" if least == most else f"{least} to {most} comparisons"


def _frame(axes: Axes, labels: Sequence[str], *, lowest: bool) -> None:
    axes.set(xlim=LIMITS, ylim=(len(labels) - 0.5, -0.5))
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "0.25", "0.5", "0.75", "1") if lowest else [])
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _draw(axes: Axes, rows: pd.DataFrame, judges: Sequence[str], *, half: bool) -> None:
    """One statistic, a row for each of `judges`; with `half`, it is a preference for one of two."""
    if half:
        axes.axvline(0.5, **HALF)
    for judge in sorted(set(judges) - set(rows["judge"])):
        write_instead(axes, judges.index(judge), "no comparisons")
    for _, row in rows.iterrows():
        place = judges.index(row["judge"])
        if np.isnan(row["value"]):
            write_instead(axes, place, "ties only")
            continue
        if has_interval(row):
            ends = [row["ci_low"], row["ci_high"]]
            axes.plot(ends, [place, place], color=BLUE, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
        face = "white" if half and not _excludes_half(row) else BLUE
        settings = {"color": BLUE, "markerfacecolor": face, "linestyle": "none", "zorder": 4, "gid": "point"}
        axes.plot([row["value"]], [place], **settings, **POINT)
        where = {"textcoords": "offset points", "ha": "right", "va": "center_baseline", "size": SMALL}
        axes.annotate(f"{row['value']:.3f}", (1, place), (72 * NUMBER, 0), xycoords=axes.get_yaxis_transform(), **where)


def _excludes_half(row: Mapping) -> bool:
    return bool(row["ci_low"] > 0.5 or row["ci_high"] < 0.5)


VOTES_BY_POSITION_ROW = 0.22
BAR = 0.7  # of a row
VOTES_BY_POSITION_BELOW = 0.56  # inches for ticks and axis text
VOTES_BY_POSITION_TITLE = 0.28  # inches for the title of a panel
VOTES_BY_POSITION_GUTTER = 0.3  # inches between the panels
SHARE = 0.55  # of the width of both panels: the bars
PLACES = {
    "first": ("shown first", {"facecolor": BLUE, "edgecolor": "white", "lw": 0.4}),
    "tie": ("tie", {"facecolor": "#D9D9D9", "edgecolor": "white", "lw": 0.4}),
    "second": ("shown second", {"facecolor": ORANGE, "edgecolor": "white", "lw": 0.4, "hatch": "//////"}),
}
VOTES_BY_POSITION_NO_ROWS = "No votes by position: there is no vote about perturbed answers."
VOTES_BY_POSITION_NOTE = (
    "Votes of the control group and on perturbed answers, errors left out. Judges by the size of the difference."
)


@language()
def votes_by_position(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Shares of votes by place as stacked bars, and the difference of first and second with its interval.

    A row for each judge, the experiments one below another, each under its name if any has one.
    `table`: the table of votes by position, see `recuse.pairwise.attacks`.
    """
    if table.empty:
        return page_of_words(subject, VOTES_BY_POSITION_NO_ROWS)
    rows = _rows(table.assign(experiment=table["experiment"].astype(object).fillna("").astype(str)))
    headings = widest((name for name, row in rows if row is None), weight="bold")
    label = max(widest(table["judge"]), headings) + 0.1
    beside, height = widest([*map(str, table["n"]), "votes"]) + 0.12, len(rows) * VOTES_BY_POSITION_ROW
    panels = DOUBLE_COLUMN - 2 * EDGE - label - VOTES_BY_POSITION_GUTTER - beside
    width, other = SHARE * panels, (1 - SHARE) * panels
    page = Page(
        subject=subject,
        width=DOUBLE_COLUMN,
        body=VOTES_BY_POSITION_BELOW + height + VOTES_BY_POSITION_TITLE,
        legend=_legend_of_votes_by_position(confidence),
        note=VOTES_BY_POSITION_NOTE,
    )
    bars = page.axes(EDGE + label, VOTES_BY_POSITION_BELOW, width, height)
    frame_rows(bars, limits=(0, 1), rows=len(rows), breaks=[])
    bars.set_yticks(range(len(rows)), [name for name, _ in rows])
    for heading in (text for text, (_, row) in zip(bars.get_yticklabels(), rows, strict=True) if row is None):
        heading.set_weight("bold")
    bars.set_title("Answer chosen")
    points = page.axes(EDGE + label + width + VOTES_BY_POSITION_GUTTER, VOTES_BY_POSITION_BELOW, other, height)
    frame_rows(points, limits=readable(_limits(table), other), rows=len(rows), breaks=[])
    points.set_yticks(range(len(rows)), [])
    points.set_title("First minus second")
    _draw_rows(bars, points, rows)
    right = DOUBLE_COLUMN - EDGE
    page.text(right, VOTES_BY_POSITION_BELOW + height + LINE / 2, "votes", ha="right")
    for place, (_, row) in enumerate(rows):
        page.text(
            right,
            VOTES_BY_POSITION_BELOW + height - (place + 0.5) * VOTES_BY_POSITION_ROW,
            "" if row is None else str(row["n"]),
            ha="right",
        )
    page.centred(EDGE + label + width / 2, 1.2 * LINE, "share of votes")
    middle = EDGE + label + width + VOTES_BY_POSITION_GUTTER + other / 2
    page.centred(middle, 1.2 * LINE, "← prefers second   prefers first →")
    page.centred(middle, 0.3 * LINE, "difference of the shares")
    return page.figure


def _rows(table: pd.DataFrame) -> list[tuple[str, Mapping | None]]:
    """From the top down: an experiment with None, if any has a name, then its judges with their rows of the table."""
    named, rows = (table["experiment"] != "").any(), []
    for experiment, found in table.groupby("experiment", sort=False):
        rows += [(experiment or NO_EXPERIMENT, None)] if named else []
        ordered = found.sort_values("difference", key=abs, kind="stable", na_position="last")
        rows += [(row["judge"], row) for row in ordered.to_dict("records")]
    return rows


def _draw_rows(bars: Axes, points: Axes, rows: Sequence[tuple[str, Mapping | None]]) -> None:
    for place, row in ((place, row) for place, (_, row) in enumerate(rows) if row is not None):
        if not row["n"]:
            write_instead(bars, place, "errors only")
            write_instead(points, place, "errors only")
            continue
        left = 0.0
        for name, (_, swatch) in PLACES.items():
            bars.barh([place], [row[name]], BAR, left=left, zorder=3, gid=name, **swatch)
            left += row[name]
        _draw_difference(points, place, row)


def _draw_difference(axes: Axes, place: int, row: Mapping) -> None:
    """Point and interval, which may have no width: votes of all questions may be balanced; filled when it excludes 0."""
    ends = [row["ci_low"], row["ci_high"]]
    axes.plot(ends, [place, place], color=INK, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    face = INK if ends[0] > 0 or ends[1] < 0 else "white"
    axes.plot([row["difference"]], [place], color=INK, markerfacecolor=face, linestyle="none", zorder=4, gid="point", **POINT)


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    ends = np.r_[0.0, table[["difference", "ci_low", "ci_high"]].to_numpy(float).ravel()]
    margin = 0.06 * (np.nanmax(ends) - np.nanmin(ends)) + 0.01
    return np.nanmin(ends) - margin, np.nanmax(ends) + margin


def _legend_of_votes_by_position(confidence: float) -> list[list[Entry]]:
    full = {"color": INK, "lw": STROKE, **POINT}
    return [
        [Entry(name, [swatch, swatch]) for name, swatch in PLACES.values()],
        [
            Entry(f"difference, {100 * confidence:g} % bootstrap interval over questions", line=full),
            Entry("interval includes 0, or none", line={**full, "markerfacecolor": "white"}),
        ],
    ]
