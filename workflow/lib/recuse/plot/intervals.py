"""Estimates as points with intervals: self- and family-bias, Figure 3 of Play Favorites.

What a study has no estimates of, in the words of its table of what is not estimable.

Simultaneous intervals beside pointwise ones: taken from the table of multiplicity, and named in the legend.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.plot.axes import ENDS, SIMULTANEOUS, bias_limits, note_beyond, readable, ticks
from recuse.plot.page import Entry, Page, family_entries, legend_width, page_of_words
from recuse.plot.style import (
    DOUBLE_COLUMN,
    EDGE,
    FAINT,
    GRID,
    INK,
    LINE,
    RULE,
    SINGLE_COLUMN,
    SMALL,
    UNIT,
    VERMILION,
    Palette,
    Subject,
    interval_text,
    language,
    text_width,
    widest,
)

ROW = 0.2
POINT = {"marker": "o", "markersize": 3.1, "markeredgewidth": 1.0}
STROKE = 1.3
WHISKER = {"lw": 0.6, "marker": "|", "markersize": 4.5, "markeredgewidth": 0.7}  # of a simultaneous interval
PRINTED = {"color": VERMILION, "linestyle": "none", "marker": "x", "markersize": 4, "markeredgewidth": 1.4}  # in a paper
NUMBER = 0.42  # inches for the value beside a row
GUTTER = 0.16  # inches between panels
RIGHT = 0.1  # inches for half the last tick's number, where no values stand beside the rows
BELOW = 0.56  # inches for ticks and axis text
LEAST_PANEL = 1.2  # inches
BESIDE = 0.07  # inches between a point and the words beside it
NO_ERROR = "no standard error"
WORDS = {
    "color": FAINT,
    "style": "italic",
    "size": SMALL,
    "va": "center_baseline",
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1},
}


@dataclass(frozen=True)
class Side:
    """One panel: `rows` of estimates in the order drawn, each with its place (height), colour and number of its table."""

    title: str
    target: str  # whom the judge favours
    places: Mapping[str, float]  # height of each judge or family
    rows: pd.DataFrame


def has_interval(row: Mapping) -> bool:
    """True if `row` has an interval (ci_low, ci_high); one without a standard error, or with one of 0, has none."""
    return bool(row["ci_low"] < row["ci_high"])


def excludes_zero(row: Mapping) -> bool:
    """True if `row` has an interval (ci_low, ci_high) and it lies wholly on one side of 0."""
    return has_interval(row) and bool(row["ci_low"] > 0 or row["ci_high"] < 0)


def draw_interval(
    axes: Axes, place: float, row: Mapping, colour: str, *, column: str = "estimate", point: Mapping = POINT
) -> None:
    """Point and interval of `row` at the height `place`: filled when the interval excludes 0, else hollow.

    A simultaneous interval, where the row has the columns SIMULTANEOUS, is a fine line with an upright stroke at each end.
    A row without an interval is a hollow point and the words `no standard error`, for which `axes` must have their limits and
    the width `room_for_words`. A missing value of `column` is written as `not estimable`, not drawn.
    """
    if np.isnan(row[column]):
        write_instead(axes, place, "not estimable")
        return
    simultaneous = [row.get(end, np.nan) for end in SIMULTANEOUS]
    if not np.isnan(simultaneous).any():
        axes.plot(simultaneous, [place, place], color=colour, zorder=2.9, gid="simultaneous", **WHISKER)
    if has_interval(row):
        ends = [row["ci_low"], row["ci_high"]]
        axes.plot(ends, [place, place], color=colour, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    else:
        write_beside(axes, place, row[column], NO_ERROR)
    face = colour if excludes_zero(row) else "white"
    settings = {"color": colour, "markerfacecolor": face, "linestyle": "none", "zorder": 4, "gid": "point"}
    axes.plot([row[column]], [place], **settings, **point)


def mark_beyond(axes: Axes, place: float, row: Mapping, colour: str) -> None:
    """Arrowheads where an interval of `row` goes on beyond the axis; the estimate as a number where it is beyond it, too."""
    bounds = [row[bound] for bound in ENDS if bound in row]
    for end, sign, marker, side in zip(axes.get_xlim(), (-1, 1), "<>", ("left", "right"), strict=True):
        outside = sign * (row["estimate"] - end) > 0
        if outside or any(sign * (bound - end) > 0 for bound in bounds):
            settings = {"color": colour, "markersize": 4, "linestyle": "none", "clip_on": False, "zorder": 5, "gid": "beyond"}
            axes.plot([end], [place], marker=marker, **settings)
        if outside:
            where = {"xytext": (-sign * 72 * BESIDE, 0), "textcoords": "offset points", "ha": side, "zorder": 5}
            axes.annotate(signed(row["estimate"]), (end, place), **{**WORDS, "style": "normal"}, **where)


def write_instead(axes: Axes, place: float, text: str) -> None:
    """Say in grey, in the middle of a row, why nothing is drawn in it."""
    axes.text(0.5, place, text, transform=axes.get_yaxis_transform(), ha="center", **WORDS)


def write_beside(axes: Axes, place: float, value: float, text: str) -> None:
    """Say in grey, beside the point at `value` on the side where there is more room, what is missing of it."""
    low, high = axes.get_xlim()
    leftwards = (value - low) / (high - low) > 0.501  # so that rounding does not choose the side of a point in the middle
    offset = (-72 * BESIDE if leftwards else 72 * BESIDE, 0)
    where = {"textcoords": "offset points", "ha": "right" if leftwards else "left"}
    axes.annotate(text, (value, place), offset, zorder=2.5, **where, **WORDS)  # above the line at 0, below any mark


def room_for_words(table: pd.DataFrame, *, column: str = "estimate") -> float:
    """Width in inches of a panel in which `write_beside` has room, wherever the point lies; 0 if no row needs it."""
    drawn = table.dropna(subset=[column])
    needed = not all(has_interval(row) for _, row in drawn.iterrows())
    return 2 * (text_width(NO_ERROR) + BESIDE + 0.03) if needed else 0.0


def significance_entries(what: str, interval: str) -> list[Entry]:
    """Legend of `draw_interval`: `what` is the point, `interval` as in `90 % Wald interval, HC0`."""
    full = {"color": INK, "lw": STROKE, **POINT}
    return [
        Entry(f"{what}, {interval}", line=full),
        Entry("interval includes 0", line={**full, "markerfacecolor": "white"}),
    ]


def family_places(judges: Sequence[str], families: Sequence[str], palette: Palette) -> list[float]:
    """Height of each family's row: the middle of its judges' rows, moved down where it would meet the one above."""
    places: list[float] = []
    for family in families:
        own = [place for place, judge in enumerate(judges) if palette.family(judge) == family]
        middle = float(np.mean(own)) if own else float(len(judges))
        places.append(max(middle, places[-1] + 1) if places else middle)
    return places


def frame_rows(axes: Axes, *, limits: tuple[float, float], rows: float, breaks: Sequence[float]) -> None:
    """Rows from the top down, a line at 0, a light grid, and a fine line at each of `breaks` between families."""
    axes.set(xlim=limits, ylim=(rows - 0.5, -0.5))
    places, numbers, lines = ticks(limits, axes.get_position().width * axes.figure.get_size_inches()[0])
    axes.set_xticks(places, numbers)
    axes.set_xticks(lines, minor=True)
    axes.grid(axis="x", which="both")
    axes.tick_params(axis="x", which="minor", length=1.5, width=0.6, grid_linewidth=0.4)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color=INK, lw=0.9, zorder=2)
    for place in breaks:
        axes.axhline(place, color=RULE, lw=0.6, zorder=1)


def family_breaks(judges: Sequence[str], palette: Palette) -> list[float]:
    """Heights between neighbouring judges of different families."""
    families = [palette.family(judge) for judge in judges]
    return [i - 0.5 for i in range(1, len(judges)) if families[i] != families[i - 1]]


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
    note = " ".join(filter(None, [absences(SIDES, {spec: estimates}, not_estimable), sentence(missing)]))
    table, beside = with_simultaneous(estimates, multiplicity, simultaneous, confidence=confidence)
    sides = bias_sides([table], subject.palette)
    if not any(side.places for side in sides):
        return page_of_words(subject, note)
    legend = family_entries(subject.palette, list(sides[0].places), others="no family in config")
    legend += significance_entries("estimate", interval_text(confidence, covariance))
    return bias_page(sides, subject, [legend, beside], note=note)


def bias_sides(tables: Sequence[pd.DataFrame], palette: Palette, *, step: float = 0.0) -> tuple[Side, Side]:
    """Self-bias by judge and family-bias by family; the rows of one term in several tables stand `step` below one another.

    A table without an estimate of a term leaves a gap; where all are, one row without estimate stands in the middle.
    """
    columns = ["quantity", "term", "estimate", *ENDS]
    numbered = [table.reindex(columns=columns).assign(number=number) for number, table in enumerate(tables)]
    found = pd.concat(numbered, ignore_index=True)
    found["shift"] = step * (found["number"] - (len(tables) - 1) / 2)
    by_judge, by_family = (found[found["quantity"] == quantity] for quantity in ("self_bias", "family_bias"))
    judges, families = palette.order(by_judge["term"]), palette.order_families(by_family["term"])
    at_judge = {judge: float(place) for place, judge in enumerate(judges)}
    at_family = dict(zip(families, family_places(judges, families, palette), strict=True))
    return (
        _side("Self-bias", "itself", by_judge, at_judge, palette.colour),
        _side("Family-bias", "its family", by_family, at_family, palette.family_colour),
    )


def _side(title: str, target: str, rows: pd.DataFrame, places: Mapping[str, float], colour: Callable[[str], str]) -> Side:
    known = rows["estimate"].notna()
    nowhere = ~rows["term"].isin(rows.loc[known, "term"]) & ~rows.duplicated("term")
    rows = rows.assign(shift=rows["shift"].where(known, 0.0))[known | nowhere]
    rows = rows.assign(place=rows["term"].map(places) + rows["shift"], colour=rows["term"].map(colour))
    return Side(title, target, places, rows.sort_values("place", kind="stable"))


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
    across = max(SINGLE_COLUMN if len(sides) == 1 else DOUBLE_COLUMN, legend_width(legend) + 2 * EDGE)
    gaps = len(sides) * beside + (len(sides) - 1) * GUTTER
    least = max(LEAST_PANEL, *(room_for_words(side.rows) for side in sides))
    panel = max(least, (across - 2 * EDGE - sum(labels) - gaps) / len(sides))
    width = 2 * EDGE + sum(labels) + gaps + len(sides) * panel
    rows = max(place for side in sides for place in side.places.values()) + 1
    drawn = pd.concat([side.rows for side in sides])
    limits = readable(bias_limits(drawn), panel)
    note = " ".join(filter(None, [note_beyond(drawn, limits), note]))
    page = Page(subject=subject, width=width, body=rows * row + BELOW + 0.28, legend=legend, note=note)
    left = EDGE
    for side, label in zip(sides, labels, strict=True):
        axes = page.axes(left + label, BELOW, panel, rows * row)
        frame_rows(axes, limits=limits, rows=rows, breaks=breaks)
        _draw_side(axes, side, points)
        write_axis_text(page, left + label + panel / 2, 0, side.target)
        left += label + panel + beside + GUTTER
    return page.figure


def write_axis_text(page: Page, middle: float, bottom: float, target: str, *, unit: str = UNIT) -> None:
    """What the two directions of an axis mean, and its unit, in the lowest part of the space of BELOW inches under it."""
    page.centred(middle, bottom + 1.45 * LINE, f"← harsher      favours {target} →")
    page.centred(middle, bottom + 0.6 * LINE, unit)


def _draw_side(axes: Axes, side: Side, points: Sequence[Mapping]) -> None:
    for _, row in side.rows.iterrows():
        draw_interval(axes, row["place"], row, row["colour"], point=points[row["number"]])
        mark_beyond(axes, row["place"], row, row["colour"])
        if len(points) == 1 and not np.isnan(row["estimate"]):
            write_value(axes, row["place"], row["estimate"])
    for place in side.places.values():
        if len(points) > 1 and place + 1 in side.places.values():  # rows of several points need something between them
            axes.axhline(place + 0.5, color=GRID, lw=0.6, zorder=0.9)
    axes.set_yticks(list(side.places.values()), list(side.places))
    axes.set_title(side.title)


def write_value(axes: Axes, place: float, value: float) -> None:
    """A number beside a row, to the right of the axis."""
    beside = {"textcoords": "offset points", "ha": "right", "va": "center_baseline", "size": SMALL}
    axes.annotate(signed(value), (1, place), (72 * NUMBER, 0), xycoords=axes.get_yaxis_transform(), **beside)


SIDES = ("Self-bias", "Family-bias")


def left_out(spec: str, estimates: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by slice where a spec has no row in its `estimates`; the slice is "" where it is the whole spec.

    `not_estimable` has no quantity where it speaks of a slice, and no slice where it speaks of the spec.
    """
    rows = not_estimable[(not_estimable["spec"] == spec) & not_estimable["quantity"].isna()]
    reasons = dict(zip(rows["slice"].fillna(""), rows["reason"], strict=True))
    estimated = set(estimates["slice"].fillna(""))
    return {label: reason for label, reason in reasons.items() if label not in estimated}


def sentence(reasons: Mapping[str, str]) -> str:
    """What a page says at its foot of the things that it does not show; nothing where there is none."""
    named = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return f"Not estimated: {named}." if reasons else ""


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


KEYS = ["slice", "quantity", "term"]


def with_simultaneous(
    table: pd.DataFrame, multiplicity: pd.DataFrame, settings: Mapping | None, *, confidence: float
) -> tuple[pd.DataFrame, list[Entry]]:
    """`table` of estimates with the columns SIMULTANEOUS, missing where there is no such interval, and their legend.

    settings: `spec`, whose intervals they are; `tests`, what is tested, in words; `errors`, by what errors; `sliced`, as in `by
    dimension`, or "". None: there is no such spec. Without any interval in `multiplicity` the legend says nothing.
    """
    if settings is None:
        return table, []
    found = multiplicity[multiplicity["spec"] == settings["spec"]].dropna(subset=SIMULTANEOUS)
    if found.empty:
        return table, []
    values = found.fillna({"slice": ""})[[*KEYS, *SIMULTANEOUS]]
    joined = table[KEYS].fillna({"slice": ""}).merge(values, how="left", validate="one_to_one")
    ends = {column: joined[column].to_numpy(float) for column in SIMULTANEOUS}
    tests = " ".join(filter(None, [f"{int(found['tests'].iloc[0])} {settings['tests']}", settings["sliced"]]))
    text = f"{100 * confidence:g} % simultaneous interval over the {tests}, {settings['errors']}"
    return table.assign(**ends), [Entry(text, line={"color": INK, "markevery": [0, 2], **WHISKER})]
