"""Effects of the order and the length of answers on each judge: position and verbosity (Saito et
al., arXiv 2310.10076).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.tables import read_table
from recuse.pairwise.verbosity import FEW
from recuse.plot.colours import BLUE, FAINT, VERMILION
from recuse.plot.page import Entry, head, page_of_words, tally, with_conditions, written
from recuse.plot.rows import CROSS, TICK, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

NONE = "no comparisons"

# Position.
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
SHARES = (-0.03, 1.03)  # the axis of shares
QUARTERS = ((0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1, "1"))
NO_POSITION = (
    "No effect of position: no comparison has a verdict in both orders, or a choice in one."
)

# Verbosity.
MAIN, PUBLISHED = "debiased", "published"
ARROW = {"markersize": 3, "markeredgewidth": 0.8}
PRINTED = "printed by Saito et al. for this judge on other data (HH-RLHF)"
KINDS = {
    MAIN: Kind("both orders agree (filled: the interval excludes 0)", colour=BLUE),
    PUBLISHED: Kind(PRINTED, CROSS, VERMILION, 0, interval=False),
    "pooled": Kind("each verdict by itself", TICK, FAINT, 1, interval=False),
    "ab": Kind("model_a's answer shown first", {**ARROW, "marker": "<"}, FAINT, 1, interval=False),
    "ba": Kind("model_b's", {**ARROW, "marker": ">"}, FAINT, 1, interval=False),
}
FEW_QUESTIONS = Entry(f"fewer than {FEW} questions on one side: interval too short", "○", FAINT)
# Columns of the table that count verdicts which do not count
LEFT_OUT = ("judge_draws", "errors", "no_human", "human_ties", "no_length", "equal_lengths")
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
    statistics = STATISTICS_OF_SINGLE if single else STATISTICS
    statistics = {name: words for name, words in statistics.items() if name in present}
    table, conditions = with_conditions(table[table["statistic"].isin(list(statistics))])
    if table.empty:
        return page_of_words(subject, NO_POSITION)
    rows = [Row(judge, judge, BLUE) for judge in subject.palette.order(table["judge"])]
    table = table.assign(
        panel=table["condition"] + "\n" + table["statistic"],
        row=table["judge"],
        estimate=table["value"],
        text=table["value"].map("{:.3f}".format).where(table["value"].notna()),
        instead="ties only",
    )
    columns = []
    for condition in conditions:
        first = table["statistic"] == next(iter(statistics))
        of_condition = table[(table["condition"] == condition) & first]
        counts = sorted({of_condition["n"].min(), of_condition["n"].max()})
        for statistic, words in statistics.items():
            preference = len(words) > 1
            columns.append(
                Column(
                    f"{condition}\n{statistic}",
                    condition,
                    f"n = {' to '.join(map(str, counts))}",
                    *(words if preference else ()),
                    across="" if preference else words[0],
                    at=0.5 if preference else None,
                    limits=SHARES,
                    ticks=QUARTERS,
                )
            )
    preferences = [name for name in statistics if name != CONSISTENCY]
    counts = tally(table[table["statistic"].isin(preferences[:1])], at=0.5)
    facts = {"several": len(conditions) > 1, "level": confidence, "single": single}
    words, blocks = head("position", tally=counts, **facts), [Block(rows, columns)]
    settings = {"most": len(statistics), "absent": NONE}
    return rows_figure(table, subject, words, blocks, **settings).figure


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
    table, conditions = with_conditions(table[table["draws"] == "excluded"])
    if table["verbosity_bias"].isna().all():
        reasons = [name for name in LEFT_OUT if table[name].any()]
        return page_of_words(subject, written("no_verbosity", reasons=reasons))
    rows = [Row(judge, judge, BLUE) for judge in subject.palette.order(table["judge"])]
    marks = table.assign(
        row=table["judge"],
        panel=table["condition"],
        kind=table["order"],
        estimate=table["verbosity_bias"],
        instead=NO_VALUE,
    )
    few = (marks["kind"] == MAIN) & (marks["few"] == "yes")
    marks["colour"] = np.where(few, FAINT, None)
    marks["hollow"] = np.where(few, True, None)
    counts = marks["n_shorter"].astype(str) + " + " + marks["n_longer"].astype(str)
    marks["text"] = counts.where(marks["kind"] == MAIN)
    printed = marks[["row", "panel"]].drop_duplicates().assign(kind=PUBLISHED)
    printed = printed.assign(estimate=printed["row"].map(_printed(published)))
    printed = printed.dropna(subset="estimate")
    main = table[(table["order"] == MAIN) & (table["few"] != "yes")]
    counts = tally(main, name="judge", value="verbosity_bias")
    kinds = {name: kind for name, kind in KINDS.items() if name != PUBLISHED or len(printed)}
    marks = pd.concat([marks, printed])
    columns = [
        Column(condition, condition, less="humans prefer longer", more="humans prefer shorter")
        for condition in conditions
    ]
    words = head("verbosity", tally=counts, several=len(conditions) > 1, level=confidence)
    blocks = [Block(rows, columns)]
    settings = {"kinds": kinds, "most": 2, "key": [FEW_QUESTIONS] * bool(few.any())}
    return rows_figure(marks, subject, words, blocks, absent=NONE, **settings).figure


def _printed(files: Sequence[str]) -> dict[str, float]:
    """The verbosity bias of each judge in files of published values."""
    values = {}
    for file in files:
        for row in read_table(file):
            if row["quantity"] == "verbosity_bias":
                values[row["judge"]] = float(row["value"])
    return values
