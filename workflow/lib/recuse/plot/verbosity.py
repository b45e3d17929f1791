"""Effects of the order and the length of answers on each judge: position and verbosity (Saito et
al., arXiv 2310.10076).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.tables import read_table
from recuse.pairwise.verbosity import FEW
from recuse.plot.axes import limits_of, put
from recuse.plot.colours import BLUE, FAINT, INK
from recuse.plot.intervals import (
    BELOW,
    POINT,
    PRINTED,
    ROW,
    STROKE,
    draw_bar,
    draw_interval,
    draw_point,
    excludes,
    frame_rows,
    has_interval,
    interval_entries,
    page_of_rows,
    write_absent,
    write_directions,
    write_instead,
    write_number,
)
from recuse.plot.page import BY_CONDITION, Entry, Head, conditions_of, page_of_words, tally
from recuse.plot.style import (
    DOUBLE_COLUMN,
    SMALL,
    TEXT,
    Subject,
    language,
    percent_as_given,
    widest,
)

# Position.
GUTTER = 0.2  # inches between panels
NUMBER = 0.36  # inches for the value beside a row
CONSISTENCY = "consistency"
STATISTICS = {  # axis, or its two directions
    CONSISTENCY: ("consistency",),
    "first_preference": ("shown second", "shown first"),
}
STATISTICS_OF_SINGLE = {
    "single_order_first": ("shown second", "shown first"),
    "single_order_longer": ("shorter", "longer"),
    "single_order_own": ("another's", "own"),
}
HALF = {"color": INK, "lw": 0.9}
NO_POSITION = (
    "No effect of position: no comparison has a verdict in both orders, or a choice in one."
)
SINGLE = "; one order of each pair, which measures position only if it was drawn at random"
PREFERS = (
    ("prefers the answer shown first", "prefer the answer shown first"),
    ("prefers the second", "prefer the second"),
)

# Verbosity.
# Rows by which the small marks stand below the middle of a row, as the main one stands above
LOWER = 0.25
GREY = {"color": FAINT, "linestyle": "none"}
ARROW = {**GREY, "markersize": 3, "markeredgewidth": 0.8}
RULES = {
    "pooled": (
        "both orders, each verdict by itself",
        {**GREY, "marker": "|", "markersize": 5, "markeredgewidth": 1.2},
    ),
    "ab": ("model_a's answer shown first", {**ARROW, "marker": "<"}),
    "ba": ("model_b's answer shown first", {**ARROW, "marker": ">", "markerfacecolor": "white"}),
}
OTHER_DATA = "printed by Saito et al. for this judge on other data (HH-RLHF)"
DIRECTIONS = "humans prefer longer", "humans prefer shorter"
UNIT = (
    "difference of two shares of disagreement with the humans; beside a row: humans prefer the"
    " shorter + the longer answer"
)
WHERE = "more where the humans prefer the {} answer"
SIDES = tuple(
    (f"disagrees {WHERE}".format(side), f"disagree {WHERE}".format(side))
    for side in ("shorter", "longer")
)
NO_ROWS = "No verbosity bias: there is no comparison with a human label."
NO_VALUES = (
    "No verbosity bias: no judge has verdicts that count both where the humans prefer the shorter"
    " answer and where they prefer the longer. Left out: comparisons with {reasons}."
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
def position_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Consistency and first-position preference of each judge with intervals, the conditions below
    one another.

    `table`: the table of position, see `recuse.pairwise.verbosity`. If no comparison has both
    orders, statistics of single orders are drawn instead. A preference is filled if its interval
    excludes one half, hollow if not or if there is none.
    """
    present = set(table["statistic"])
    single = present.isdisjoint(STATISTICS)
    statistics = (
        {name: of for name, of in STATISTICS_OF_SINGLE.items() if name in present}
        if single
        else STATISTICS
    )
    table, conditions = conditions_of(table[table["statistic"].isin(list(statistics))])
    if table.empty:
        return page_of_words(subject, NO_POSITION)
    judges = subject.palette.order(table["judge"])
    legend = [[*interval_entries("one half", BLUE), Entry("one half: no preference", line=HALF)]]
    preferences = table[
        table["statistic"] == next(name for name in statistics if name != CONSISTENCY)
    ]
    who = () if len(conditions) == 1 else BY_CONDITION
    head = Head(
        tally(preferences, *PREFERS, *who, at=0.5),
        f"share; {percent_as_given(confidence)} bootstrap interval over questions{SINGLE * single}",
    )
    panels = [(condition, statistic) for condition in conditions for statistic in statistics]
    titles = [condition if statistic == panels[0][1] else "" for condition, statistic in panels]
    sizes = {
        "row": ROW,
        "below": BELOW,
        "above": 0.28,
        "gutter": GUTTER,
        "beside": NUMBER,
        "least_page": DOUBLE_COLUMN,
    }
    _, places = page_of_rows(subject, head, judges, titles, legend, most=len(statistics), **sizes)
    for (condition, statistic), axes in zip(panels, places.axes, strict=False):
        rows = table[(table["condition"] == condition) & (table["statistic"] == statistic)]
        axes.set(xlim=(-0.03, 1.03), ylim=(len(judges) - 0.5, -0.5))
        axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "0.25", "0.5", "0.75", "1"))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        if statistic == panels[-1][1]:
            counts = table.loc[
                (table["condition"] == condition) & (table["statistic"] == panels[0][1]), "n"
            ]
            count = " to ".join(map(str, sorted({counts.min(), counts.max()})))
            axes.set_title(f"n = {count}", loc="right", size=SMALL, weight="normal", color=FAINT)
        _draw_shares(axes, rows, judges, half=statistic != CONSISTENCY)
    for texts, axes in zip(statistics.values(), places.lowest, strict=True):
        if len(texts) > 1:
            write_directions(axes, *texts, at=0.5)
        else:
            axes.set_xlabel(*texts)
    return places.axes[0].figure


def _draw_shares(axes: Axes, rows: pd.DataFrame, judges: Sequence[str], *, half: bool) -> None:
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


@language()
def verbosity_bias(
    table: pd.DataFrame, subject: Subject, *, confidence: float, published: Sequence[str] = ()
) -> Figure:
    """Verbosity bias by judge, a panel for each condition (Saito et al., equation 6).

    `table`: the table of verbosity, see `recuse.pairwise.verbosity`, with draws excluded. Debiased
    verdicts are a point with its interval, filled if it excludes 0; grey and hollow if one side has
    few questions (column `few`), as the interval is then too short. The other order rules are small
    grey marks lower in the row. published: the file of values that Saito et al. print for other
    data (Table 1), in a list.
    """
    table, conditions = conditions_of(table[table["draws"] == "excluded"])
    if table["verbosity_bias"].isna().all():
        reasons = "; or ".join(words for name, words in LEFT_OUT.items() if table[name].any())
        return page_of_words(subject, NO_VALUES.format(reasons=reasons) if reasons else NO_ROWS)
    judges = subject.palette.order(table["judge"])
    quoted = [
        row for path in published for row in read_table(path) if row["quantity"] == "verbosity_bias"
    ]
    printed = {row["judge"]: float(row["value"]) for row in quoted if row["judge"] in judges}
    main = table[table["order"] == "debiased"]
    legend = _legend(main, printed)
    finding = tally(
        main[main["few"] != "yes"], *SIDES, *(() if len(conditions) == 1 else BY_CONDITION)
    )
    head = Head(
        finding, f"{UNIT}; {percent_as_given(confidence)} bootstrap interval over questions"
    )
    beside = widest(_counts(row) for _, row in main.iterrows()) + 0.1
    least = max(1.3, widest(conditions, TEXT, "bold") - beside, 2 * widest(DIRECTIONS) - beside)
    sizes = {
        "row": 0.26,
        "below": BELOW,
        "above": 0.28 if any(conditions) else 0.12,
        "gutter": GUTTER,
        "beside": beside,
    }
    sizes |= {"least": least, "least_page": DOUBLE_COLUMN}
    page, panels = page_of_rows(subject, head, judges, conditions, legend, most=2, **sizes)
    ends = main[["ci_low", "ci_high"]].to_numpy(float)
    limits = limits_of([0.0, *table["verbosity_bias"], *ends.ravel(), *printed.values()])
    for condition, axes in zip(conditions, panels.axes, strict=False):
        frame_rows(axes, limits=limits, rows=len(judges))
        _draw_biases(axes, table[table["condition"] == condition], judges, printed, beside)
    for axes in panels.lowest:
        write_directions(axes, *DIRECTIONS)
    return page.figure


def _draw_biases(
    axes: Axes,
    table: pd.DataFrame,
    judges: Sequence[str],
    printed: Mapping[str, float],
    beside: float,
) -> None:
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
            put(
                axes,
                [row["verbosity_bias"]],
                [place + LOWER],
                zorder=3,
                gid=row["order"],
                **RULES[row["order"]][1],
            )
    for judge, value in printed.items():
        axes.plot(
            [value], [judges.index(judge) - LOWER / 2], zorder=3.5, gid="published", **PRINTED
        )


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


def _legend(main: pd.DataFrame, printed: Mapping[str, float]) -> list[list[Entry]]:
    drawn = [Entry("both orders agree:"), *interval_entries(colour=BLUE)]
    if (main["verbosity_bias"].notna() & (main["few"] == "yes")).any():
        few = f"fewer than {FEW} questions on one side: interval too short"
        drawn.append(
            Entry(few, line={"color": FAINT, "lw": STROKE, **POINT, "markerfacecolor": "white"})
        )
    return [
        drawn,
        [Entry(name, line=mark) for name, mark in RULES.values()],
        [Entry(OTHER_DATA, line=PRINTED)] if printed else [],
    ]
