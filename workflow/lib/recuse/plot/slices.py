"""Estimates slice by slice, a panel for each: Figures 4 and 8 of Play Favorites, by dataset, and
without one model.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.model.spec import BIASES
from recuse.plot.biases import (
    absences,
    bias_column,
    bias_marks,
    bias_rows,
    left_out,
    with_simultaneous,
)
from recuse.plot.colours import FAINT
from recuse.plot.page import Head, joined, not_estimated, page_of_words, written
from recuse.plot.rows import TICK, Block, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

MOST_ROWS = 360  # A section has one panel more than these rows fill
KINDS = {
    "whole": Kind(mark={**TICK, "markersize": 8}, colour=FAINT, interval=False),
    "slice": Kind(),
}


def slices_of_specs(
    estimates: Sequence[pd.DataFrame],
    whole: pd.DataFrame,
    not_estimable: pd.DataFrame,
    multiplicity: pd.DataFrame,
    subject: Subject,
    *,
    blocks: Sequence[Mapping],
    words: str,
    confidence: float,
    covariance: str,
) -> Figure:
    """Self-bias slice by slice: Figure 4, by dataset, with one model left out, and users'
    ablations.

    estimates: a table for each of `blocks`, which have `heading`, `spec` and `simultaneous` (see
    `with_simultaneous`). Ticks are the estimates of `whole`, or those of the first table from all
    ratings. words: the beginning of the note.
    """
    own = whole_biases(estimates[0])  # only a user's spec has one, and is drawn alone
    ticks = own if len(own) else whole_biases(whole)
    sections, over = [], []
    for block, table in zip(blocks, estimates, strict=True):
        drawn, words_over = with_simultaneous(table, multiplicity, block["simultaneous"])
        over.append(words_over)
        sections.append((block["heading"], block["spec"], drawn))
    facts = {"level": confidence, "errors": covariance, "over": [*filter(None, over)]}
    unit = written("slices_unit", whole=len(ticks), is_own=len(own), **facts)
    return _slices(sections, ticks, BIASES[:1], not_estimable, subject, unit=unit, words=words)


def ordinal(
    estimates: pd.DataFrame,
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    spec: str,
    by: str,
    words: str,
    confidence: float,
    covariance: str,
) -> Figure:
    """An ordinal spec, such as Figure 8: self- and family-bias in log-odds, average marginal
    effects in rating points beside the rows.

    by: what the slices are, as in `by dimension`. words: the beginning of the note.
    """
    ticks = whole_biases(estimates)
    facts = {"level": confidence, "errors": covariance}
    unit = written("slices_unit", whole=len(ticks), is_own=True, is_ordinal=True, **facts)
    table = estimates.assign(text=estimates["effect"].map(signed, na_action="ignore"))
    sections = [(f"Self-bias and family-bias {by}", spec, table)]
    return _slices(sections, ticks, BIASES, not_estimable, subject, unit=unit, words=words)


@language()
def _slices(
    sections: Sequence[tuple[str, str, pd.DataFrame]],
    whole: pd.DataFrame,
    quantities: Sequence[str],
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    unit: str,
    words: str,
) -> Figure:
    """Sections below one another, a panel for each slice (Play Favorites, Figures 4 and 8); of more
    slices than there is room for, those that depart most from the others.

    sections: heading, spec and its estimates: slice, quantity, term, estimate, ci_low, ci_high, n;
    if any, text. Those without rows are left out; if all are, the page has only the note.
    """
    reasons = {}
    for heading, spec, table in sections:
        missing = left_out(spec, table, not_estimable)
        reasons |= {name or heading: reason for name, reason in missing.items()}
    specs = {spec: table for _, spec, table in sections}
    note = joined(words, absences(quantities, specs, not_estimable), not_estimated(reasons))

    blocks, marks, estimates = [], [], []
    for heading, _, table in sections:
        own = table[table["quantity"].isin(quantities) & table["slice"].notna()]
        if own.empty:
            continue
        estimates.append(own)
        rows = bias_rows([own], subject.palette)
        columns = []
        # A slice without a row of the quantity has a panel, too
        counts = table.groupby("slice")["n"].max()
        names = subject.palette.order(counts.index)
        most = 1 + MOST_ROWS // len(rows)
        total = len(names)
        if total > most:
            names = _departing(own, names, most)
            note = joined(
                note, written("fewer_panels", heading=heading, most=len(names), total=total)
            )
        for name in names:
            panel = f"{heading}: {name}"
            under = f"n = {int(counts[name]):,} ratings"
            beside = "points" if "text" in table else ""
            columns.append(
                bias_column(rows, key=panel, title=name, under=under, scale=heading, beside=beside)
            )
            marks.append(_marks(own[own["slice"] == name], rows, name, panel))
            estimated = marks[-1].dropna(subset="estimate")["row"]
            ticks = bias_marks(whole, panel=panel).assign(kind="whole")
            marks.append(ticks[ticks["row"].isin(estimated)])
        blocks.append(Block(rows, columns, heading))
    if not blocks:
        return page_of_words(subject, note)
    words = Head(_finding(pd.concat(estimates)), unit)
    return rows_figure(
        pd.concat(marks), subject, words, blocks, kinds=KINDS, absent="no rows", note=note
    ).figure


def _departing(own: pd.DataFrame, names: Sequence[str], most: int) -> list[str]:
    """The slices whose estimates depart most from their mean over slices, and those of the largest
    self- and family-bias above 0, one of which the headline names.
    """
    means = own.groupby(["quantity", "term"])["estimate"].transform("mean")
    departures = (own["estimate"] - means).abs()
    above = own["estimate"].where(own["ci_low"] > 0)
    departures[above == above.groupby(own["quantity"]).transform("max")] = np.inf
    chosen = departures.groupby(own["slice"]).max().nlargest(most).index
    return [name for name in names if name in chosen]


def _marks(table: pd.DataFrame, rows: Sequence[Row], name: str, panel: str) -> pd.DataFrame:
    """The marks of a slice, and words in the row of the model that it leaves out."""
    marks = bias_marks(table, panel=panel).assign(kind="slice")
    absent = [row.key for row in rows if row.key[1] == name and row.key not in set(marks["row"])]
    left_out = {"row": absent, "panel": panel, "kind": "slice", "instead": "left out"}
    return pd.concat([marks, pd.DataFrame(left_out).assign(estimate=np.nan)])


def _finding(estimates: pd.DataFrame) -> str:
    """The largest gap above 0 and its panel, and how many judges, or else families, have gaps on
    both sides of 0, drawn or not.
    """
    judges = estimates[estimates["quantity"] == BIASES[0]]
    gaps = judges if len(judges) else estimates
    gaps = gaps[gaps["ci_low"] < gaps["ci_high"]]
    above, below = gaps["ci_low"] > 0, gaps["ci_high"] < 0
    both = above.groupby(gaps["term"]).any() & below.groupby(gaps["term"]).any()
    most = gaps[above].sort_values("estimate", kind="stable").tail(1).to_dict("records")
    return written("slices", most=most, both=both.sum(), total=len(both), judges=len(judges))


def whole_biases(table: pd.DataFrame) -> pd.DataFrame:
    """The biases from all ratings, where `table` has any."""
    return table[table["slice"].isna() & table["quantity"].isin(BIASES)].dropna(subset="estimate")
