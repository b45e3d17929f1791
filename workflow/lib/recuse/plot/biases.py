"""Self- and family-bias as panels on one axis: Figure 3 of Play Favorites, and what a study has no estimates of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.model.spec import BIASES
from recuse.plot.axes import ENDS, SIMULTANEOUS, bias_limits, note_beyond, readable
from recuse.plot.colours import GRID, INK, Palette
from recuse.plot.intervals import (
    BELOW,
    NUMBER,
    POINT,
    ROW,
    WHISKER,
    draw_interval,
    family_breaks,
    frame_rows,
    interval_entries,
    mark_beyond,
    room_for_words,
    sentence,
    write_axis_text,
    write_number,
)
from recuse.plot.page import Entry, Page, family_entries, joined, page_of_words, page_width
from recuse.plot.style import EDGE, Subject, interval_text, language, widest

GUTTER = 0.16  # inches between panels
RIGHT = 0.1  # inches for half the last tick's number, where no values stand beside the rows
LEAST_PANEL = 1.2  # inches
SIDES = ("Self-bias", "Family-bias")
KEYS = ["slice", "quantity", "term"]


@dataclass(frozen=True)
class Side:
    """One panel: `rows` of estimates in the order drawn, each with its place (height), colour and number of its table."""

    title: str
    target: str  # whom the judge favours
    places: Mapping[str, float]  # height of each judge or family
    rows: pd.DataFrame


@language()
def self_family_bias(
    estimates: pd.DataFrame,
    not_estimable: pd.DataFrame,
    multiplicity: pd.DataFrame,
    subject: Subject,
    *,
    spec: str,
    simultaneous: Mapping | None,
    confidence: float,
    covariance: str,
) -> Figure:
    """Self-bias by judge and family-bias by family on one scale (Play Favorites, Figure 3).

    estimates: of one spec and slice: quantity, term, estimate, ci_low, ci_high in points of the unit scale; ci_low and ci_high
    are missing where there is no standard error. simultaneous: see `with_simultaneous`. Where one of the two quantities has no
    row there is one panel; where both have none, the reasons, which else stand at the foot, are all.
    """
    missing = {f"the spec {spec}": reason for reason in left_out(spec, estimates, not_estimable).values()}
    note = joined(absences(SIDES, {spec: estimates}, not_estimable), sentence(missing))
    table, beside = with_simultaneous(estimates, multiplicity, simultaneous, confidence=confidence)
    sides = bias_sides([table], subject.palette)
    if not any(side.places for side in sides):
        return page_of_words(subject, note)
    legend = family_entries(subject.palette, list(sides[0].places))
    legend += interval_entries(f"estimate, {interval_text(confidence, covariance)}")
    return bias_page(sides, subject, [legend, beside], note=note)


def bias_sides(tables: Sequence[pd.DataFrame], palette: Palette, *, step: float = 0.0) -> tuple[Side, Side]:
    """Self-bias by judge and family-bias by family; the rows of one term in several tables stand `step` below one another.

    A table without an estimate of a term leaves a gap; where all are, one row without estimate stands in the middle.
    """
    columns = ["quantity", "term", "estimate", *ENDS]
    numbered = [table.reindex(columns=columns).assign(number=number) for number, table in enumerate(tables)]
    rows = pd.concat(numbered, ignore_index=True)
    rows["shift"] = step * (rows["number"] - (len(tables) - 1) / 2)
    by_judge, by_family = (rows[rows["quantity"] == quantity] for quantity in BIASES)
    judges, families = palette.order(by_judge["term"]), palette.order_families(by_family["term"])
    at_judge = {judge: float(place) for place, judge in enumerate(judges)}
    at_family = dict(zip(families, family_places(judges, families, palette), strict=True))
    return (
        _side("Self-bias", "itself", by_judge, at_judge, palette.colour),
        _side("Family-bias", "its family", by_family, at_family, palette.family_colour),
    )


def _side(title: str, target: str, rows: pd.DataFrame, places: Mapping[str, float], colour: Callable[[str], str]) -> Side:
    estimated = rows["estimate"].notna()
    nowhere = ~rows["term"].isin(rows.loc[estimated, "term"]) & ~rows.duplicated("term")
    rows = rows.assign(shift=rows["shift"].where(estimated, 0.0))[estimated | nowhere]
    rows = rows.assign(place=rows["term"].map(places) + rows["shift"], colour=rows["term"].map(colour))
    return Side(title, target, places, rows.sort_values("place", kind="stable"))


def family_places(judges: Sequence[str], families: Sequence[str], palette: Palette) -> list[float]:
    """Height of each family's row: the middle of its judges' rows, moved down where it would meet the one above."""
    places: list[float] = []
    for family in families:
        own = [place for place, judge in enumerate(judges) if palette.family(judge) == family]
        middle = float(np.mean(own)) if own else float(len(judges))
        places.append(max(middle, places[-1] + 1) if places else middle)
    return places


def bias_page(
    sides: Sequence[Side],
    subject: Subject,
    legend: Sequence[Sequence[Entry]],
    *,
    row: float = ROW,
    points: Sequence[Mapping] = (POINT,),
    note: str = "",
) -> Figure:
    """Panels side by side on one axis. `row`: inches; `points`: mark of each table; with one table, values stand beside."""
    breaks = family_breaks(list(sides[0].places), subject.palette)
    sides = [side for side in sides if side.places]
    beside = NUMBER if len(points) == 1 else RIGHT
    labels = [widest(side.places) + 0.1 for side in sides]
    across = page_width(legend, several=len(sides) > 1)
    gaps = len(sides) * beside + (len(sides) - 1) * GUTTER
    least = max(LEAST_PANEL, *(room_for_words(side.rows) for side in sides))
    panel = max(least, (across - 2 * EDGE - sum(labels) - gaps) / len(sides))
    width = 2 * EDGE + sum(labels) + gaps + len(sides) * panel
    rows = max(place for side in sides for place in side.places.values()) + 1
    drawn = pd.concat([side.rows for side in sides])
    limits = readable(bias_limits(drawn), panel)
    note = joined(note_beyond(drawn, limits), note)
    page = Page(subject=subject, width=width, body=rows * row + BELOW + 0.28, legend=legend, note=note)
    left = EDGE
    for side, label in zip(sides, labels, strict=True):
        axes = page.axes(left + label, BELOW, panel, rows * row)
        frame_rows(axes, limits=limits, rows=rows, breaks=breaks)
        _draw_side(axes, side, points)
        write_axis_text(page, left + label + panel / 2, 0, side.target)
        left += label + panel + beside + GUTTER
    return page.figure


def _draw_side(axes: Axes, side: Side, points: Sequence[Mapping]) -> None:
    for _, row in side.rows.iterrows():
        draw_interval(axes, row["place"], row, row["colour"], point=points[row["number"]])
        mark_beyond(axes, row["place"], row, row["colour"])
        if len(points) == 1 and not np.isnan(row["estimate"]):
            write_number(axes, row["place"], signed(row["estimate"]))
    for place in side.places.values():
        if len(points) > 1 and place + 1 in side.places.values():  # rows of several points need something between them
            axes.axhline(place + 0.5, color=GRID, lw=0.6, zorder=0.9)
    axes.set_yticks(list(side.places.values()), list(side.places))
    axes.set_title(side.title)


def left_out(spec: str, estimates: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by slice where a spec has no row in its `estimates`; the slice is "" where it is the whole spec.

    `not_estimable` has no quantity where it speaks of a slice, and no slice where it speaks of the spec.
    """
    rows = not_estimable[(not_estimable["spec"] == spec) & not_estimable["quantity"].isna()]
    reasons = dict(zip(rows["slice"].fillna(""), rows["reason"], strict=True))
    estimated = set(estimates["slice"].fillna(""))
    return {label: reason for label, reason in reasons.items() if label not in estimated}


def quantity_of(title: str) -> str:
    """The quantity that tables hold under the title Self-bias or Family-bias."""
    return title.lower().replace("-", "_")


def absences(titles: Sequence[str], specs: Mapping[str, pd.DataFrame], not_estimable: pd.DataFrame) -> str:
    """Why none of `specs`, estimates by name, has a row of a quantity, of `titles` in SIDES: a sentence for each that none has.

    `not_estimable` gives the reason of each term that no row carries; a spec that lists none has no such term. A spec without
    any estimates is not spoken of: see `left_out`.
    """
    fitted = {spec: table for spec, table in specs.items() if len(table)}
    present = {quantity for table in fitted.values() for quantity in table["quantity"]}
    missing = [title for title in titles if fitted and quantity_of(title) not in present]
    return " ".join(f"No {title.lower()}: {_reasons(title, fitted, not_estimable)}." for title in missing)


def _reasons(title: str, specs: Mapping[str, pd.DataFrame], not_estimable: pd.DataFrame) -> str:
    listed = not_estimable[not_estimable["spec"].isin(list(specs)) & (not_estimable["quantity"] == quantity_of(title))]
    terms = listed.groupby("reason", sort=False)["term"].unique()
    reasons = [f"{', '.join(names)} ({reason})" for reason, names in terms.items()]
    without = [spec for spec in specs if spec not in set(listed["spec"])]
    named = f"the spec {without[0]} has" if len(without) == 1 else f"the specs {', '.join(without)} have"
    return "; ".join([*reasons, *([f"{named} no term for {title.lower()}"] if without else [])])


def with_simultaneous(
    table: pd.DataFrame, multiplicity: pd.DataFrame, settings: Mapping | None, *, confidence: float
) -> tuple[pd.DataFrame, list[Entry]]:
    """`table` of estimates with the columns SIMULTANEOUS, missing where there is no such interval, and their legend.

    settings: `spec`, whose intervals they are; `tests`, what is tested, in words; `errors`, by what errors; `sliced`, as in `by
    dimension`, or "". None: there is no such spec. Without any interval in `multiplicity` the legend says nothing.
    """
    if settings is None:
        return table, []
    intervals = multiplicity[multiplicity["spec"] == settings["spec"]].dropna(subset=SIMULTANEOUS)
    if intervals.empty:
        return table, []
    values = intervals.fillna({"slice": ""})[[*KEYS, *SIMULTANEOUS]]
    of_rows = table[KEYS].fillna({"slice": ""}).merge(values, how="left", validate="one_to_one")
    ends = {column: of_rows[column].to_numpy(float) for column in SIMULTANEOUS}
    tests = joined(f"{int(intervals['tests'].iloc[0])} {settings['tests']}", settings["sliced"])
    text = f"{100 * confidence:g} % simultaneous interval over the {tests}, {settings['errors']}"
    return table.assign(**ends), [Entry(text, line={"color": INK, "markevery": [0, 2], **WHISKER})]
