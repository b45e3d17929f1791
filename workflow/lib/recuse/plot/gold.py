"""What judges make of their own answers, right and wrong by a key, against what is expected of
them.
"""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from recuse.base.words import signed
from recuse.inference.gold import (
    BOTH,
    CASES_OF_PAIRS,
    HARMFUL,
    LEGITIMATE,
    OTHER_JUDGES,
    OVER_MARKING,
    UNDER_MARKING,
)
from recuse.inference.verdict import DISFAVOURS, FAVOURS, FOUND, Verdict
from recuse.model.spec import FAMILY
from recuse.plot.axes import limits_of, put
from recuse.plot.colours import BLUE, FAINT
from recuse.plot.intervals import (
    BELOW,
    draw_interval,
    frame_rows,
    interval_entries,
    page_of_rows,
    write_absent,
    write_directions,
    write_number,
)
from recuse.plot.page import Entry, Head, outcomes, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, Subject, language, percent_as_given, widest

GUTTER = 0.25  # inches between panels
NUMBER = 0.42  # inches for the value beside a row
LOWER = 0.25  # rows by which the small mark stands below the middle of a row
OTHER = {
    "color": FAINT,
    "linestyle": "none",
    "marker": "|",
    "markersize": 5,
    "markeredgewidth": 1.2,
}
JUDGES_ALONE = "against the other judges alone, which an inaccurate judge moves as well"
TITLES = {
    HARMFUL: "Own wrong answer beside a right one",
    LEGITIMATE: "Own right answer beside a wrong one",
    OVER_MARKING: "Own wrong answers passed",
    UNDER_MARKING: "Own right answers failed",
}
VERBS = {  # of the first panel: more than expected, and less
    HARMFUL: (
        "prefers its own wrong answers to right ones",
        "prefer their own wrong answers to right ones",
    ),
    OVER_MARKING: ("passes its own wrong answers", "pass their own wrong answers"),
}
OFTEN = "less often", "more often"
EXPECTED = "than expected"
UNIT_OF_PAIRS = "share preferred less that expected, percentage points"
UNIT_OF_RATINGS = "share over that expected"
NO_ROWS = "No judge compared answers of its own that are right or wrong by a key."
RATIOS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
FINER_RATIOS = (0.5, 0.67, 1, 1.5, 2)


@language()
def gold_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Contrast of each judge, and family, for own wrong and own right answers, with intervals;
    ratios on a log axis.

    `table`: the table of gold references, see `recuse.inference.gold`. The large mark is the
    contrast with both baselines, filled if its interval excludes 0; the small one that with the
    other judges alone.
    """
    of_pairs = table["case"].isin(CASES_OF_PAIRS).any()
    cases = (HARMFUL, LEGITIMATE) if of_pairs else (OVER_MARKING, UNDER_MARKING)
    table = table[table["case"].isin(cases)]
    whose = [
        f"{term} family" if quantity == FAMILY else term
        for quantity, term in zip(table["quantity"], table["term"], strict=True)
    ]
    table = table.assign(name=whose)
    drawn = table[table["baseline"].isin([BOTH, OTHER_JUDGES]) & table["estimate"].notna()]
    if drawn.empty:
        return page_of_words(subject, NO_ROWS)
    names = [name for name in dict.fromkeys(table["name"]) if (drawn["name"] == name).any()]
    conclusive = table["verdict"].isin([*FOUND, Verdict.NOT_SHOWN])
    conclusive = table[conclusive & (table["case"] == cases[0]) & (table["quantity"] != FAMILY)]
    more, less = ((conclusive["favours"] == side).sum() for side in (FAVOURS, DISFAVOURS))
    verbs = [
        tuple(f"{verb} {often} {EXPECTED}" for verb in VERBS[cases[0]]) for often in reversed(OFTEN)
    ]
    verbs[1] = (
        verbs[1]
        if less and not more
        else ("does so less often", "do so less often")
        if less
        else ("less often",) * 2
    )
    finding = outcomes(len(conclusive), [(more, verbs[0]), (less, verbs[1])])
    unit = UNIT_OF_PAIRS if of_pairs else UNIT_OF_RATINGS
    head = Head(finding, f"{unit}; {percent_as_given(confidence)} interval, errors by question")
    legend = [
        [*interval_entries("0" if of_pairs else "1", colour=BLUE), Entry(JUDGES_ALONE, line=OTHER)]
    ]
    sizes = {"row": 0.26, "below": BELOW, "above": 0.28, "gutter": GUTTER, "beside": NUMBER}
    sizes |= {"least": 2 * widest(OFTEN), "least_page": DOUBLE_COLUMN}
    page, panels = page_of_rows(
        subject, head, names, [TITLES[case] for case in cases], legend, most=2, **sizes
    )
    columns = ["estimate", "ci_low", "ci_high"]
    width = 100 if of_pairs else 1
    drawn = drawn.assign(**{column: width * drawn[column] for column in columns})
    main = drawn[drawn["baseline"] == BOTH]
    limits = limits_of([0.0, *main[columns].to_numpy(float).ravel(), *drawn["estimate"]])
    for case, axes in zip(cases, panels.axes, strict=True):
        frame_rows(axes, limits=limits, rows=len(names))
        if not of_pairs:
            _show_ratios(axes, limits)
        _draw_rows(axes, drawn[drawn["case"] == case], names, of_pairs=of_pairs)
    for axes in panels.lowest:
        write_directions(axes, *OFTEN)
    return page.figure


def _draw_rows(axes: Axes, rows: pd.DataFrame, names: list[str], *, of_pairs: bool) -> None:
    write_absent(axes, names, rows["name"], "no such answers")
    for _, row in rows.iterrows():
        place = names.index(row["name"])
        if row["baseline"] == BOTH:
            draw_interval(axes, place - LOWER / 2, row, BLUE)
            text = (
                signed(row["estimate"], 1)
                if of_pairs
                else f"\N{MULTIPLICATION SIGN}\N{THIN SPACE}{math.exp(row['estimate']):.2f}"
            )
            write_number(axes, place, text, NUMBER)
        else:
            put(axes, [row["estimate"]], [place + LOWER], zorder=3, gid="other judges", **OTHER)


def _show_ratios(axes: Axes, limits: tuple[float, float]) -> None:
    """Ticks at round ratios on an axis of logs."""
    ratios = FINER_RATIOS if max(map(abs, limits)) < math.log(2.5) else RATIOS
    axes.xaxis.set_major_locator(
        FixedLocator(
            [math.log(ratio) for ratio in ratios if limits[0] <= math.log(ratio) <= limits[1]]
        )
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{math.exp(value):.3g}"))
