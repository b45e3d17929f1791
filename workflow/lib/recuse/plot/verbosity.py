"""Verbosity bias of each judge, under each order rule, beside what Saito et al. print of other data."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.tables import read_table
from recuse.pairwise.verbosity import FEW
from recuse.plot.axes import limits_of, readable
from recuse.plot.colours import BLUE, FAINT
from recuse.plot.conditions import conditions_of
from recuse.plot.intervals import (
    BELOW,
    POINT,
    PRINTED,
    STROKE,
    draw_bar,
    draw_interval,
    draw_point,
    frame_rows,
    has_interval,
    interval_entries,
    name_rows,
    write_absent,
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, Page, grid, page_of_words, page_width
from recuse.plot.style import EDGE, LINE, TEXT, Subject, language, text_width, widest

ROW = 0.26
TITLE = 0.28  # inches for the title of a panel, and the space above it
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
    in the same row. published: the file of what Saito et al. print of other data (Table 1), in a list; a judge that is not in
    a panel has no such mark.
    """
    table, conditions = conditions_of(table[table["draws"] == "excluded"])
    if table["verbosity_bias"].isna().all():
        return page_of_words(subject, _reason(table))
    judges = subject.palette.order(table["judge"])
    printed = [row for path in published for row in read_table(path) if row["quantity"] == "verbosity_bias"]
    marks = {row["judge"]: float(row["value"]) for row in printed if row["judge"] in judges}
    rows, columns = grid(len(conditions), 2)
    label, height = widest(judges) + 0.1, len(judges) * ROW
    main = table[table["order"] == "debiased"]
    beside = widest(_counts(row) for _, row in main.iterrows()) + 0.1
    title = TITLE if any(conditions) else 0.12
    least = max(LEAST_PANEL, widest(conditions, TEXT, "bold") - beside, text_width(DIRECTIONS) - beside)
    room = page_width(several=columns > 1) - 2 * EDGE - label - (columns - 1) * GUTTER - columns * beside
    panel = max(least, room / columns)
    legend = _legend(main, confidence, marks)
    width = max(2 * EDGE + label + columns * (panel + beside) + (columns - 1) * GUTTER, text_width(UNIT) + 2 * EDGE)
    width = max(width, page_width(legend, several=False))
    page = Page(subject=subject, width=width, body=BELOW + rows * (height + title), legend=legend, note=_note(main))
    ends = main[["ci_low", "ci_high"]].to_numpy(float)
    limits = readable(limits_of([0.0, *table["verbosity_bias"], *ends.ravel(), *marks.values()]), panel)
    step = panel + beside + GUTTER, height + title
    panels = page.panels(len(conditions), columns, corner=(EDGE + label, BELOW), size=(panel, height), step=step)
    for condition, each in zip(conditions, panels, strict=True):
        frame_rows(each.axes, limits=limits, rows=len(judges))
        name_rows(each, judges, condition)
        _draw_panel(each.axes, table[table["condition"] == condition], judges, marks, beside)
    for column in range(columns):
        page.centred(EDGE + label + column * (panel + beside + GUTTER) + panel / 2, 1.45 * LINE, DIRECTIONS)
    page.centred(width / 2, 0.6 * LINE, UNIT)
    return page.figure


def _draw_panel(axes: Axes, table: pd.DataFrame, judges: Sequence[str], printed: Mapping[str, float], beside: float) -> None:
    """One condition, a row for each of `judges`; printed: value by judge."""
    write_absent(axes, judges, table["judge"], "no comparisons")
    printed = {judge: value for judge, value in printed.items() if judge in set(table["judge"])}
    drawn = {*table.loc[table["verbosity_bias"].notna(), "judge"], *printed}
    for judge in sorted(set(table["judge"]) - drawn):
        write_instead(axes, judges.index(judge), NO_VALUE)
    for _, row in table.iterrows():
        place = judges.index(row["judge"])
        if row["order"] == "debiased":
            _draw_main(axes, place, row, beside)
        elif not np.isnan(row["verbosity_bias"]):
            axes.plot([row["verbosity_bias"]], [place + LOWER], zorder=3, gid=row["order"], **RULES[row["order"]][1])
    for judge, value in printed.items():
        axes.plot([value], [judges.index(judge) - LOWER / 2], zorder=3.5, gid="published", **PRINTED)


def _draw_main(axes: Axes, place: int, row: Mapping, beside: float) -> None:
    write_number(axes, place, _counts(row), beside)
    if np.isnan(row["verbosity_bias"]):
        return
    few = row["few"] == "yes"
    if has_interval(row) and not few:
        draw_interval(axes, place - LOWER / 2, row, BLUE, column="verbosity_bias")
        return
    colour = FAINT if few else BLUE
    if has_interval(row):
        draw_bar(axes, place - LOWER / 2, row, colour)
    draw_point(axes, place - LOWER / 2, row["verbosity_bias"], colour, filled=False)


def _counts(row: Mapping) -> str:
    return f"{row['n_shorter']} + {row['n_longer']}"


def _reason(table: pd.DataFrame) -> str:
    """Why a table has no value."""
    reasons = [words for name, words in LEFT_OUT.items() if table[name].any()]
    return NO_VALUES.format(reasons="; or ".join(reasons)) if reasons else NO_ROWS


def _note(main: pd.DataFrame) -> str:
    bare = main["verbosity_bias"].notna() & ~(main["ci_low"] < main["ci_high"])
    return NOTE + NO_MARK * bool(main["verbosity_bias"].isna().any()) + NO_BAR * bool(bare.any())


def _legend(main: pd.DataFrame, confidence: float, printed: Mapping[str, float]) -> list[list[Entry]]:
    drawn = interval_entries(f"both orders agree, {100 * confidence:g} % bootstrap interval", colour=BLUE)
    if (main["verbosity_bias"].notna() & (main["few"] == "yes")).any():
        few = f"fewer than {FEW} questions on one side: interval too short"
        drawn.append(Entry(few, line={"color": FAINT, "lw": STROKE, **POINT, "markerfacecolor": "white"}))
    others = [Entry(name, line=mark) for name, mark in RULES.values()]
    return [drawn, others, [Entry(OTHER_DATA, line=PRINTED)] if printed else []]
