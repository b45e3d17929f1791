"""Effects of the order and the length of answers on each judge: position and verbosity (Saito et al., arXiv 2310.10076)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.tables import read_table
from recuse.base.words import signed
from recuse.pairwise.choices import LONGER, MAIN, SELF
from recuse.pairwise.verbosity import FEW
from recuse.plot.axes import limits_of
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
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, conditions_of, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, SMALL, TEXT, Subject, language, percent, text_width, widest

# Position.
GUTTER = 0.2  # inches between panels
NUMBER = 0.36  # inches for the value beside a row
CONSISTENCY = "consistency"
STATISTICS = {  # title and axis
    CONSISTENCY: ("Consistency", "share of comparisons with one verdict in both orders →"),
    "first_preference": ("First-position preference", "← shown second      shown first →"),
}
STATISTICS_OF_SINGLE = {
    "single_order_first": ("Shown first", "← shown second   shown first →"),
    "single_order_longer": ("Longer", "← shorter   longer →"),
    "single_order_own": ("Own", "← another's   own →"),
}
HALF = {"color": INK, "lw": 0.9}
NO_POSITION = "No effect of position: no comparison has a verdict in both orders, or a choice in one."
NOTE_OF_POSITION = (
    "Intervals by bootstrap over questions, exact where all questions agree; n: comparisons. First-position preference: share "
    "of the answer shown first among the verdicts that are not ties."
)
NOTE_OF_SINGLE = (
    "Each pair was judged in one order, so the first panel measures position only if that order was drawn at random. Shares of "
    "the verdicts that are not ties; a longer, or own, answer may be the better one. Intervals by bootstrap over questions, "
    "exact where all questions agree."
)

# Choices.
KINDS = {SELF: "Own answers", LONGER: "Longer answers"}
OFTEN = "← less often      more often →"
LESS_HUMANS = "share chosen by the judge less by the humans, percentage points"
LESS_HALF = "share chosen by the judge less one half (no human labels), percentage points"
OTHER_DRAWS = "draws counted the other way"
OTHER = {"color": FAINT, "linestyle": "none", "marker": "|", "markersize": 5, "markeredgewidth": 1.2}
NOTE_OF_CHOICES = (
    "Large marks: a draw is half a win for own answers; for longer answers, only pairs count in which judge and humans choose. "
    "A result that changes its side with the small mark depends on how draws count."
)
NO_CHOICES = "No judge compares answers of its own, or answers of different length."

# Verbosity.
LOWER = 0.25  # rows by which the small marks stand below the middle of a row, as the main one stands above
GREY = {"color": FAINT, "linestyle": "none"}
ARROW = {**GREY, "markersize": 3, "markeredgewidth": 0.8}
RULES = {
    "pooled": ("both orders, each verdict by itself", {**GREY, "marker": "|", "markersize": 5, "markeredgewidth": 1.2}),
    "ab": ("model_a's answer shown first", {**ARROW, "marker": "<"}),
    "ba": ("model_b's answer shown first", {**ARROW, "marker": ">", "markerfacecolor": "white"}),
}
OTHER_DATA = "printed by Saito et al. for this judge on other data (HH-RLHF)"
DIRECTIONS = "← where humans prefer longer      where they prefer shorter →"
UNIT = "verbosity bias: how much more often the judge disagrees with the humans"
NOTE = (
    "Judges' draws are left out; the bootstrap is over questions. Beside each row: comparisons of the large mark in which the "
    "humans prefer the shorter + the longer answer."
)
NO_MARK = " If one of these is 0, there is no large mark."
NO_BAR = " A large mark without a bar has no interval."
NO_ROWS = "No verbosity bias: there is no comparison with a human label."
NO_VALUES = (
    "No verbosity bias: no judge has verdicts that count both where the humans prefer the shorter answer and where they prefer "
    "the longer. Left out: comparisons with {reasons}."
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
def position(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Consistency and first-position preference of each judge with intervals, the conditions below one another.

    `table`: the table of position, see `recuse.pairwise.verbosity`. If no comparison has both orders, statistics of single
    orders are drawn instead. A preference is filled if its interval excludes one half, hollow if not or if there is none.
    """
    present = set(table["statistic"])
    single = present.isdisjoint(STATISTICS)
    statistics = {name: of for name, of in STATISTICS_OF_SINGLE.items() if name in present} if single else STATISTICS
    table, conditions = conditions_of(table[table["statistic"].isin(list(statistics))])
    if table.empty:
        return page_of_words(subject, NO_POSITION)
    judges = subject.palette.order(table["judge"])
    share = f"share, {percent(confidence)} bootstrap interval"
    entries = interval_entries(share, "interval of a preference includes one half", BLUE)
    legend = [[*entries, Entry("one half: no preference", line=HALF)]]
    panels = [(condition, statistic) for condition in conditions for statistic in statistics]
    titles = [condition if statistic == panels[0][1] else "" for condition, statistic in panels]
    sizes = {"row": ROW, "below": 0.56, "above": 0.28, "gutter": GUTTER, "beside": NUMBER, "least_page": DOUBLE_COLUMN}
    note = NOTE_OF_SINGLE if single else NOTE_OF_POSITION
    page, places = page_of_rows(subject, judges, titles, legend, most=len(statistics), **sizes, note=note)
    for (condition, statistic), axes in zip(panels, places.axes, strict=True):
        rows = table[(table["condition"] == condition) & (table["statistic"] == statistic)]
        axes.set(xlim=(-0.03, 1.03), ylim=(len(judges) - 0.5, -0.5))
        axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "0.25", "0.5", "0.75", "1"))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        if statistic == panels[-1][1]:
            counts = table.loc[(table["condition"] == condition) & (table["statistic"] == panels[0][1]), "n"]
            count = " to ".join(map(str, sorted({counts.min(), counts.max()})))
            axes.set_title(f"n = {count}", loc="right", size=SMALL, weight="normal", color=FAINT)
        _draw_shares(axes, rows, judges, half=statistic != CONSISTENCY)
    for statistic, middle in zip(statistics, places.middles, strict=True):
        page.centred(middle, 0.05, "\n".join(statistics[statistic]))
    return page.figure


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
def choices(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """How much more often each judge than the humans chooses its own answers, and the longer ones, in percentage points.

    `table`: the table of choices, see `recuse.pairwise.choices`. The large mark counts draws as MAIN says, the small one the
    other way. Without human labels the difference is from one half.
    """
    table = table[table["quantity"].isin(list(KINDS))]
    if table.empty:
        return page_of_words(subject, NO_CHOICES)
    judges = subject.palette.order(table["term"])
    kinds = [kind for kind in KINDS if (table["quantity"] == kind).any()]
    humans = table["question"].notna().any()
    entries = interval_entries(f"{percent(confidence)} bootstrap interval over questions", colour=BLUE)
    legend = [entries, [Entry(OTHER_DRAWS, line=OTHER)]]
    sizes = {"row": 0.26, "below": BELOW, "above": 0.28, "gutter": GUTTER, "beside": NUMBER}
    sizes |= {"least": text_width(OFTEN), "least_page": text_width(LESS_HUMANS) + 2 * EDGE}
    titles = [KINDS[kind] for kind in kinds]
    page, panels = page_of_rows(subject, judges, titles, legend, most=2, **sizes, note=NOTE_OF_CHOICES)
    table = table.assign(**{column: 100 * table[column] for column in ("estimate", "ci_low", "ci_high")})
    limits = limits_of([0.0, *table[["estimate", "ci_low", "ci_high"]].to_numpy(float).ravel()])
    for kind, axes in zip(kinds, panels.axes, strict=True):
        rows = table[table["quantity"] == kind]
        frame_rows(axes, limits=limits, rows=len(judges))
        write_absent(axes, judges, rows["term"], "no comparisons")
        for _, row in rows.iterrows():
            place = judges.index(row["term"])
            if row["draws"] == MAIN[kind]:
                draw_interval(axes, place - LOWER / 2, row, BLUE)
                write_number(axes, place, signed(row["estimate"], 1), NUMBER)
            else:
                axes.plot([row["estimate"]], [place + LOWER], zorder=3, gid="other draws", **OTHER)
    zero = -limits[0] / (limits[1] - limits[0]) - 0.5  # from the middle of a panel, in its width
    for middle in panels.middles:
        page.centred(middle + zero * panels.width, 1.45 * LINE, OFTEN)
    page.centred(page.figure.get_size_inches()[0] / 2, 0.6 * LINE, LESS_HUMANS if humans else LESS_HALF)
    return page.figure


@language()
def verbosity_bias(table: pd.DataFrame, subject: Subject, *, confidence: float, published: Sequence[str] = ()) -> Figure:
    """Verbosity bias by judge, a panel for each condition (Saito et al., equation 6).

    `table`: the table of verbosity, see `recuse.pairwise.verbosity`, with draws excluded. Debiased verdicts are a point with
    its interval, filled if it excludes 0; grey and hollow if one side has few questions (column `few`), as the interval is then
    too short. The other order rules are small grey marks lower in the row. published: the file of values that Saito et al.
    print for other data (Table 1), in a list.
    """
    table, conditions = conditions_of(table[table["draws"] == "excluded"])
    if table["verbosity_bias"].isna().all():
        reasons = "; or ".join(words for name, words in LEFT_OUT.items() if table[name].any())
        return page_of_words(subject, NO_VALUES.format(reasons=reasons) if reasons else NO_ROWS)
    judges = subject.palette.order(table["judge"])
    quoted = [row for path in published for row in read_table(path) if row["quantity"] == "verbosity_bias"]
    printed = {row["judge"]: float(row["value"]) for row in quoted if row["judge"] in judges}
    main = table[table["order"] == "debiased"]
    legend = _legend(main, confidence, printed)
    bare = main["verbosity_bias"].notna() & ~(main["ci_low"] < main["ci_high"])
    note = NOTE + NO_MARK * bool(main["verbosity_bias"].isna().any()) + NO_BAR * bool(bare.any())
    beside = widest(_counts(row) for _, row in main.iterrows()) + 0.1
    least = max(1.3, widest(conditions, TEXT, "bold") - beside, text_width(DIRECTIONS) - beside)
    sizes = {"row": 0.26, "below": BELOW, "above": 0.28 if any(conditions) else 0.12, "gutter": GUTTER, "beside": beside}
    sizes |= {"least": least, "least_page": text_width(UNIT) + 2 * EDGE}
    page, panels = page_of_rows(subject, judges, conditions, legend, most=2, **sizes, note=note)
    ends = main[["ci_low", "ci_high"]].to_numpy(float)
    limits = limits_of([0.0, *table["verbosity_bias"], *ends.ravel(), *printed.values()])
    for condition, axes in zip(conditions, panels.axes, strict=True):
        frame_rows(axes, limits=limits, rows=len(judges))
        _draw_biases(axes, table[table["condition"] == condition], judges, printed, beside)
    for middle in panels.middles:
        page.centred(middle, 1.45 * LINE, DIRECTIONS)
    page.centred(page.figure.get_size_inches()[0] / 2, 0.6 * LINE, UNIT)
    return page.figure


def _draw_biases(axes: Axes, table: pd.DataFrame, judges: Sequence[str], printed: Mapping[str, float], beside: float) -> None:
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


def _legend(main: pd.DataFrame, confidence: float, printed: Mapping[str, float]) -> list[list[Entry]]:
    drawn = interval_entries(f"both orders agree, {percent(confidence)} bootstrap interval", colour=BLUE)
    if (main["verbosity_bias"].notna() & (main["few"] == "yes")).any():
        few = f"fewer than {FEW} questions on one side: interval too short"
        drawn.append(Entry(few, line={"color": FAINT, "lw": STROKE, **POINT, "markerfacecolor": "white"}))
    return [
        drawn,
        [Entry(name, line=mark) for name, mark in RULES.values()],
        [Entry(OTHER_DATA, line=PRINTED)] if printed else [],
    ]
