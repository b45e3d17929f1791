"""Verbosity bias of each judge, under each order rule, beside what Saito et al. print of other data.

What the figures of comparisons call the conditions and judges of a table, where several experiments have them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.tables import read_table
from recuse.pairwise.verbosity import FEW
from recuse.plot.axes import readable
from recuse.plot.intervals import POINT, PRINTED, STROKE, draw_interval, frame_rows, has_interval, write_instead
from recuse.plot.page import Entry, Page, corners, grid, legend_width, page_of_words
from recuse.plot.style import (
    BLUE,
    DOUBLE_COLUMN,
    EDGE,
    FAINT,
    LINE,
    SINGLE_COLUMN,
    SMALL,
    TEXT,
    Subject,
    language,
    text_width,
    widest,
)

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


ROW = 0.26
TITLE = 0.28  # inches for the title of a panel, and the space above it
BELOW = 0.56  # inches for ticks and axis text
GUTTER = 0.2  # inches between panels
LEAST_PANEL = 1.3  # inches
LOWER = 0.25  # rows by which the small marks stand below the middle of a row, as the main one stands above
GREY = {"color": FAINT, "linestyle": "none"}
RULES = {
    "pooled": ("both orders, each verdict by itself", {**GREY, "marker": "|", "markersize": 5, "markeredgewidth": 1.2}),
    "ab": ("model_a's answer shown first", {**GREY, "marker": "<", "markersize": 3, "markeredgewidth": 0.8}),
    "ba": (
        "model_b's answer shown first",
        {**GREY, "marker": ">", "markersize": 3, "markeredgewidth": 0.8, "markerfacecolor": "white"},
    ),
}
OTHER_DATA = "what Saito et al. print of this judge on other data (HH-RLHF)"
DIRECTIONS = "← prefers shorter      prefers longer →"
UNIT = "verbosity bias: difference of two shares of disagreement with the humans"
NOTE = (
    "A judge's draws are left out; the bootstrap is over questions. Beside each row: comparisons of the large mark in which "
    "the humans prefer the shorter + the longer answer."
)
NO_MARK = " Where one of these is 0 there is no large mark."
NO_BAR = " A large mark without a bar has no interval."
NO_ROWS = "No verbosity bias: there is no comparison with a human label."
NO_VALUES = (
    "No verbosity bias: no judge has verdicts that count both where the humans prefer the shorter answer and where they prefer "
    "the longer. Left out is what has: {reasons}."
)
LEFT_OUT = {  # column of the table: why its verdicts do not count
    "judge_draws": "a draw of the judge",
    "errors": "an error or one order alone",
    "no_human": "no human label",
    "human_ties": "a tie of the humans",
    "no_length": "an unknown length",
    "equal_lengths": "answers of equal length",
}
NO_VALUE = "no comparison on one side"


@language()
def verbosity_bias(table: pd.DataFrame, subject: Subject, *, confidence: float, published: Sequence[str] = ()) -> Figure:
    """Verbosity bias by judge, a panel for each condition (Saito et al., equation 6).

    `table`: the table of verbosity, see `recuse.pairwise.verbosity`; of the treatments of draws, only `excluded` is
    drawn. The debiased verdicts are a point with its interval, filled when it excludes 0; grey and never filled when one
    side has few questions (column `few`), as the interval is too short then. The other order rules are small grey marks lower
    in the same row. published: the file of what Saito et al. print of other data (Table 1), in a list; a judge that is not in a
    panel has no such mark.
    """
    table, conditions = named(table[table["draws"] == "excluded"])
    if table["verbosity_bias"].isna().all():
        return page_of_words(subject, _reason(table))
    judges = subject.palette.order(table["judge"])
    printed = [row for path in published for row in read_table(path) if row["quantity"] == "verbosity_bias"]
    marks = [{**row, "value": float(row["value"])} for row in printed if row["judge"] in judges]
    rows, columns = grid(len(conditions), 2)
    label, height = widest(judges) + 0.1, len(judges) * ROW
    main = table[table["order"] == "debiased"]
    beside = widest(_counts(row) for _, row in main.iterrows()) + 0.1
    title = TITLE if any(conditions) else 0.12
    across = SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN
    least = max(LEAST_PANEL, widest(conditions, TEXT, "bold") - beside, text_width(DIRECTIONS) - beside)
    panel = max(least, (across - 2 * EDGE - label - (columns - 1) * GUTTER - columns * beside) / columns)
    width = max(2 * EDGE + label + columns * (panel + beside) + (columns - 1) * GUTTER, text_width(UNIT) + 2 * EDGE)
    legend = _legend(main, confidence, marks)
    width = max(width, legend_width(legend) + 2 * EDGE)
    page = Page(subject=subject, width=width, body=BELOW + rows * (height + title), legend=legend, note=_note(main))
    limits = readable(_limits(table, marks), panel)
    places = corners(len(conditions), columns, step=(panel + beside + GUTTER, height + title))
    for number, (condition, (x, y)) in enumerate(zip(conditions, places, strict=True)):
        axes = page.axes(EDGE + label + x, BELOW + y, panel, height)
        frame_rows(axes, limits=limits, rows=len(judges), breaks=[])
        axes.set_title(condition)
        axes.set_yticks(range(len(judges)), judges if number % columns == 0 else [])
        axes.tick_params(labelbottom=number + columns >= len(conditions))
        _draw_panel(axes, table[table["condition"] == condition], judges, marks, beside)
    for column in range(columns):
        page.centred(EDGE + label + column * (panel + beside + GUTTER) + panel / 2, 1.45 * LINE, DIRECTIONS)
    page.centred(width / 2, 0.6 * LINE, UNIT)
    return page.figure


def _draw_panel(axes: Axes, table: pd.DataFrame, judges: Sequence[str], published: Sequence[Mapping], beside: float) -> None:
    """One condition, a row for each of `judges`."""
    for judge in sorted(set(judges) - set(table["judge"])):
        write_instead(axes, judges.index(judge), "no comparisons")
    marks = [mark for mark in published if mark["judge"] in set(table["judge"])]
    drawn = {*table.loc[table["verbosity_bias"].notna(), "judge"], *(mark["judge"] for mark in marks)}
    for judge in sorted(set(table["judge"]) - drawn):
        write_instead(axes, judges.index(judge), NO_VALUE)
    for _, row in table.iterrows():
        place = judges.index(row["judge"])
        if row["order"] == "debiased":
            _draw_main(axes, place, row, beside)
        elif not np.isnan(row["verbosity_bias"]):
            axes.plot([row["verbosity_bias"]], [place + LOWER], zorder=3, gid=row["order"], **RULES[row["order"]][1])
    for mark in marks:
        axes.plot([mark["value"]], [judges.index(mark["judge"]) - LOWER / 2], zorder=3.5, gid="published", **PRINTED)


def _draw_main(axes: Axes, place: int, row: Mapping, beside: float) -> None:
    where = {"textcoords": "offset points", "ha": "right", "va": "center_baseline", "size": SMALL}
    axes.annotate(_counts(row), (1, place), (72 * beside, 0), xycoords=axes.get_yaxis_transform(), **where)
    if np.isnan(row["verbosity_bias"]):
        return
    few = row["few"] == "yes"
    if has_interval(row) and not few:
        draw_interval(axes, place - LOWER / 2, row, BLUE, column="verbosity_bias")
        return
    colour = FAINT if few else BLUE
    if has_interval(row):
        ends = [row["ci_low"], row["ci_high"]]
        axes.plot(ends, [place - LOWER / 2] * 2, color=colour, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    hollow = {"color": colour, "markerfacecolor": "white", "linestyle": "none", "zorder": 4, "gid": "point"}
    axes.plot([row["verbosity_bias"]], [place - LOWER / 2], **hollow, **POINT)


def _counts(row: Mapping) -> str:
    return f"{row['n_shorter']} + {row['n_longer']}"


def _reason(table: pd.DataFrame) -> str:
    """Why a table has no value."""
    reasons = [words for name, words in LEFT_OUT.items() if table[name].any()]
    return NO_VALUES.format(reasons="; or ".join(reasons)) if reasons else NO_ROWS


def _note(main: pd.DataFrame) -> str:
    bare = main["verbosity_bias"].notna() & ~(main["ci_low"] < main["ci_high"])
    return NOTE + NO_MARK * bool(main["verbosity_bias"].isna().any()) + NO_BAR * bool(bare.any())


def _limits(table: pd.DataFrame, published: Sequence[Mapping]) -> tuple[float, float]:
    """Ends of the axis: 0, every value, the intervals of the debiased verdicts and what is published, with a margin."""
    ends = table.loc[table["order"] == "debiased", ["ci_low", "ci_high"]].to_numpy(float)
    values = np.r_[0.0, table["verbosity_bias"].to_numpy(float), ends.ravel(), [mark["value"] for mark in published]]
    low, high = np.nanmin(values), np.nanmax(values)
    margin = 0.06 * (high - low) + 0.01
    return low - margin, high + margin


def _legend(main: pd.DataFrame, confidence: float, published: Sequence[Mapping]) -> list[list[Entry]]:
    full = {"color": BLUE, "lw": STROKE, **POINT}
    drawn = [
        Entry(f"both orders agree, {100 * confidence:g} % bootstrap interval", line=full),
        Entry("interval includes 0", line={**full, "markerfacecolor": "white"}),
    ]
    if (main["verbosity_bias"].notna() & (main["few"] == "yes")).any():
        few = f"fewer than {FEW} questions on one side: interval too short"
        drawn.append(Entry(few, line={**full, "color": FAINT, "markerfacecolor": "white"}))
    others = [Entry(name, line=mark) for name, mark in RULES.values()]
    elsewhere = [Entry(OTHER_DATA, line=PRINTED)] if published else []
    return [drawn, others, elsewhere]
