"""What judges make of their own answers, right and wrong by a key, against what is expected of
them.
"""

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

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
from recuse.plot.axes import bias_limits
from recuse.plot.colours import BLUE, FAINT
from recuse.plot.page import head, page_of_words, sides
from recuse.plot.rows import POINTS, TICK, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

KINDS = {
    BOTH: Kind("against both baselines", POINTS[0], BLUE),
    # An inaccurate judge moves this as well
    OTHER_JUDGES: Kind("other judges alone", TICK, FAINT, 1, interval=False),
}
TITLES = {
    HARMFUL: "Own wrong answer beside a right one",
    LEGITIMATE: "Own right answer beside a wrong one",
    OVER_MARKING: "Own wrong answers passed",
    UNDER_MARKING: "Own right answers failed",
}
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
    names = table["term"].where(table["quantity"] != FAMILY, table["term"] + " family")
    marks = table.assign(row=names, panel=table["case"], kind=table["baseline"])
    marks = marks[marks["baseline"].isin(list(KINDS)) & marks["estimate"].notna()]
    if marks.empty:
        return page_of_words(subject, NO_ROWS)
    rows = [Row(name, name) for name in dict.fromkeys(names) if name in set(marks["row"])]

    width = 100 if of_pairs else 1
    columns = ["estimate", "ci_low", "ci_high"]
    marks = marks.assign(**{column: width * marks[column] for column in columns})
    main = marks["baseline"] == BOTH
    marks["text"] = [
        signed(value, 1) if of_pairs else f"×\N{THIN SPACE}{math.exp(value):.2f}"
        for value in marks["estimate"]
    ]
    marks.loc[~main, ["text", "ci_low", "ci_high"]] = None
    limits = bias_limits(marks)
    panels = [
        Column(
            case,
            TITLES[case],
            less="less often",
            more="more often",
            limits=limits,
            ticks=() if of_pairs else _ratios(limits),
        )
        for case in cases
    ]
    words = head("gold", level=confidence, is_pairs=of_pairs, **_facts(table, cases[0]))
    settings = {"kinds": KINDS, "absent": "no such answers"}
    return rows_figure(marks, subject, words, [Block(rows, panels)], **settings).figure


def _facts(table: pd.DataFrame, case: str) -> dict:
    """How many judges do so more, and how many less often than expected."""
    conclusive = table[table["verdict"].isin([*FOUND, Verdict.NOT_SHOWN])]
    conclusive = conclusive[(conclusive["case"] == case) & (conclusive["quantity"] != FAMILY)]
    counts = [(conclusive["favours"] == side).sum() for side in (FAVOURS, DISFAVOURS)]
    return {"found": sides(*counts), "total": len(conclusive)}


def _ratios(limits: tuple[float, float]) -> Sequence[tuple[float, str]]:
    """Round ratios on an axis of logs."""
    ratios = FINER_RATIOS if max(map(abs, limits)) < math.log(2.5) else RATIOS
    return [
        (math.log(ratio), f"{ratio:g}")
        for ratio in ratios
        if limits[0] <= math.log(ratio) <= limits[1]
    ]
