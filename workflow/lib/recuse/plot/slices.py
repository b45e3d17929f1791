"""Estimates slice by slice, a panel for each: Figures 4 and 8 of Play Favorites, by dataset, and
without one model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import capitalised, signed
from recuse.plot.axes import ENDS, bias_limits, note_beyond, put
from recuse.plot.biases import RIGHT, SIDES, absences, left_out, quantity_of, with_simultaneous
from recuse.plot.colours import FAINT, Palette
from recuse.plot.intervals import (
    BELOW,
    NUMBER,
    PanelRows,
    draw_interval,
    family_breaks,
    frame_rows,
    interval_entries,
    mark_beyond,
    page_of_sections,
    room_for_words,
    sentence,
    write_directions,
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, Head, family_entries, joined, page_of_words, some
from recuse.plot.style import UNIT, Subject, interval_text, language

LEAST_PANEL = 1.1  # inches
LOG_ODDS = "log-odds of a higher rating"
WHOLE = {
    "color": FAINT,
    "marker": "|",
    "linestyle": "none",
    "markersize": 8,
    "markeredgewidth": 1.2,
}
SAME_SPEC = "the same spec, all ratings"


@dataclass(frozen=True)
class SliceSection:
    """A panel for each slice of `table`, the estimates of `spec`; quantity: Self-bias or
    Family-bias.

    simultaneous: legend of these intervals. whole: estimate from all ratings by judge or family, a
    tick in its row.
    """

    title: str
    quantity: str
    spec: str
    table: pd.DataFrame
    simultaneous: Sequence[Entry] = ()
    whole: Mapping[str, float] = field(default_factory=dict)

    @property
    def rows(self) -> pd.DataFrame:
        """The estimates to draw."""
        return self.table[
            (self.table["quantity"] == quantity_of(self.quantity)) & self.table["slice"].notna()
        ]

    def counts(self, palette: Palette) -> dict[str, str]:
        """Number of ratings of each slice, in words; a slice without a row of the quantity has a
        panel, too.
        """
        counts = self.table.groupby("slice")["n"].max()
        return {name: f"n = {int(counts[name]):,} ratings" for name in palette.order(counts.index)}

    def terms(self, palette: Palette) -> list[str]:
        """Judges or families, from the top down."""
        quantity = quantity_of(self.quantity)
        return [
            term
            for _, term in palette.order_biases((quantity, term) for term in set(self.rows["term"]))
        ]


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
    of_spec = whole_of(estimates[0], "Self-bias")  # only a user's spec has one, and is drawn alone
    ticks = of_spec or whole_of(whole, "Self-bias")
    sections = []
    for block, table in zip(blocks, estimates, strict=True):
        drawn = with_simultaneous(table, multiplicity, block["simultaneous"], confidence=confidence)
        sections.append(SliceSection(block["heading"], "Self-bias", block["spec"], *drawn, ticks))
    whole_is = SAME_SPEC if of_spec else "Equation 1, all ratings"
    note = joined(words, note_of(sections, not_estimable))
    return slices(
        sections,
        subject,
        interval=interval_text(confidence, covariance),
        whole_is=whole_is,
        note=note,
    )


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
    effects in rating points.

    by: what the slices are, as in `by dimension`. words: the beginning of the note.
    """
    sections = [
        SliceSection(f"{side} {by}", side, spec, estimates, (), whole_of(estimates, side))
        for side in SIDES
    ]
    note = joined(words, note_of(sections, not_estimable))
    interval = interval_text(confidence, covariance)
    return slices(sections, subject, interval=interval, whole_is=SAME_SPEC, effects=True, note=note)


@language()
def slices(
    sections: Sequence[SliceSection],
    subject: Subject,
    *,
    interval: str,
    whole_is: str = "",
    effects: bool = False,
    note: str = "",
) -> Figure:
    """Sections below one another, a panel for each slice (Play Favorites, Figures 4 and 8).

    A table holds the estimates of one spec: slice, quantity, term, estimate, ci_low, ci_high, n.
    The panels of a section share an axis. whole_is: the ticks, in the legend. effects: estimates
    are log-odds, and the average marginal effect (column `effect`, points of the unit scale) is
    beside each row. A section without rows is left out; if all are, the page has only the note.
    """
    sections = [section for section in sections if len(section.rows)]
    if not sections:
        return page_of_words(subject, note)
    palette = subject.palette
    judges = [
        term
        for section in sections
        if section.quantity == "Self-bias"
        for term in section.terms(palette)
    ]
    extra = [Entry(whole_is, line=WHOLE)] * any(section.whole for section in sections)
    extra += [Entry(f"number beside a row: average marginal effect, {UNIT}")] * effects
    simultaneous = [entry for section in sections for entry in section.simultaneous]
    # One mark for all; the others only say over what.
    simultaneous[1:] = [
        Entry(f"likewise over {entry.text.partition(' over ')[2]}") for entry in simultaneous[1:]
    ]
    legend = [family_entries(palette, judges) + interval_entries(), extra, simultaneous]
    limits = [_limits(section) for section in sections]
    beyond = (
        note_beyond(section.rows, ends) for section, ends in zip(sections, limits, strict=True)
    )
    head = Head(_finding(sections), f"{LOG_ODDS if effects else UNIT}; {interval}")
    page, drawn, _ = page_of_sections(
        subject,
        head,
        [
            PanelRows(section.title, section.terms(palette), list(section.counts(palette).items()))
            for section in sections
        ],
        legend,
        most=3,
        below=BELOW,
        least=max(LEAST_PANEL, *(room_for_words(section.rows) for section in sections)),
        beside=NUMBER if effects else 0.0,
        right=RIGHT,
        note=joined(next(filter(None, beyond), ""), note),
    )
    for section, panels, ends in zip(sections, drawn, limits, strict=True):
        terms = section.terms(palette)
        breaks = family_breaks(terms, palette) if section.quantity == "Self-bias" else []
        for name, panel in zip(section.counts(palette), panels, strict=False):
            frame_rows(panel.axes, limits=ends, rows=len(terms), breaks=breaks)
            if effects:
                where = {
                    "xycoords": "axes fraction",
                    "textcoords": "offset points",
                    "ha": "right",
                    "color": FAINT,
                }
                panel.axes.annotate("points", (1, 1), (72 * NUMBER, 4), **where)
            _draw_slice(panel.axes, section, name, palette, effects=effects)
        target = "itself" if section.quantity == "Self-bias" else "its family"
        write_directions(
            next(panel.axes for panel in panels if panel.lowest), "harsher", f"favours {target}"
        )
    return page.figure


def _finding(sections: Sequence[SliceSection]) -> str:
    """How many judges, or else families, have intervals of both signs."""
    rows = pd.concat([section.rows for section in sections])
    rows = rows[(rows["quantity"] == rows["quantity"].iloc[0]) & (rows["ci_low"] < rows["ci_high"])]
    signs = (
        pd.DataFrame({"above": rows["ci_low"] > 0, "below": rows["ci_high"] < 0})
        .groupby(rows["term"])
        .any()
    )
    both = int((signs["above"] & signs["below"]).sum())
    who = (
        some(both, len(signs))
        if rows["quantity"].eq("self_bias").any()
        else some(both, len(signs), "family", "families")
    )
    verb = "have" if both > 1 else "has"
    return capitalised(f"{who} {verb} a gap above 0 in one panel and below 0 in another")


def _limits(section: SliceSection) -> tuple[float, float]:
    ticks = pd.DataFrame({"estimate": list(section.whole.values())}, dtype=float)
    return bias_limits(
        pd.concat([section.rows.reindex(columns=["estimate", *ENDS]).astype(float), ticks])
    )


def _draw_slice(
    axes: Axes, section: SliceSection, name: str, palette: Palette, *, effects: bool
) -> None:
    rows = section.rows[section.rows["slice"] == name].set_index("term")
    for place, term in enumerate(section.terms(palette)):
        if term not in rows.index:
            write_instead(axes, place, "left out" if term == name else "no rows")
            continue
        row, colour = rows.loc[term], palette.of_bias(quantity_of(section.quantity), term)
        if term in section.whole:
            put(axes, [section.whole[term]], [place], zorder=2.8, gid="whole", **WHOLE)
        draw_interval(axes, place, row, colour)
        mark_beyond(axes, place, row, colour)
        if effects and not np.isnan(row["effect"]):
            write_number(axes, place, signed(row["effect"]))


def note_of(sections: Sequence[SliceSection], not_estimable: pd.DataFrame) -> str:
    """The quantities, sections and slices without estimates, with the reasons in
    `not_estimable`.
    """
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    reasons: dict[str, str] = {}
    for section in sections:
        tables.setdefault(section.quantity, {})[section.spec] = section.table
        missing = left_out(section.spec, section.table, not_estimable)
        reasons |= {name or section.title: reason for name, reason in missing.items()}
    absent = [
        absences([quantity], of_specs, not_estimable) for quantity, of_specs in tables.items()
    ]
    return joined(*absent, sentence(reasons))


def whole_of(table: pd.DataFrame, quantity: str) -> dict[str, float]:
    """Estimate by judge or family from all ratings, where `table` has any; `quantity` as in
    Section.
    """
    rows = table[table["slice"].isna() & (table["quantity"] == quantity_of(quantity))].dropna(
        subset="estimate"
    )
    return dict(zip(rows["term"], rows["estimate"], strict=True))
