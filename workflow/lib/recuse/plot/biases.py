"""Self- and family-bias on one axis, by one spec or several: Figures 3, 7, 9 and 10 of Play
Favorites, and any ablation.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import WITHOUT_PEOPLE, code, in_words
from recuse.base.words import signed
from recuse.model.spec import BIASES
from recuse.plot.axes import ENDS, SIMULTANEOUS, bias_limits, note_beyond
from recuse.plot.colours import FAINT, GRID, INK, Palette
from recuse.plot.intervals import (
    BELOW,
    BETWEEN,
    NUMBER,
    ORDER,
    PITCH,
    POINT,
    POINTS,
    ROW,
    STROKE,
    WHISKER,
    draw_interval,
    family_breaks,
    frame_rows,
    interval_entries,
    mark_beyond,
    room_for_words,
    row_within,
    sentence,
    write_directions,
    write_number,
)
from recuse.plot.page import (
    ABOVE_ZERO,
    BELOW_ZERO,
    LEAST_PANEL,
    Entry,
    Head,
    Page,
    family_entries,
    joined,
    page_of_words,
    page_width,
    some,
    tally,
)
from recuse.plot.style import EDGE, UNIT, Subject, interval_text, language, percent_as_given, widest

GUTTER = 0.16  # inches between panels
RIGHT = 0.1  # inches for half the last tick's number, where no values stand beside the rows
SIDES = ("Self-bias", "Family-bias")
KEYS = ["slice", "quantity", "term"]
GAPS = "No point: no such term, or not estimable (tables/not_estimable.csv)."
USE_OF_SCALE = "Without human scores, B and C include differences in how judges use the scale."
SLICE = "{slice}"  # in a label: one variant for each slice of the table


@dataclass(frozen=True)
class Side:
    """One panel: `rows` of estimates in the order drawn, each with its place (height), colour and
    number of its table.
    """

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

    estimates: of one spec and slice: quantity, term, estimate, ci_low, ci_high in points of the
    unit scale; ci_low and ci_high are missing without a standard error. simultaneous: see
    `with_simultaneous`. A quantity without rows has no panel, but its reason in the note.
    """
    missing = {
        f"the spec {spec}": reason for reason in left_out(spec, estimates, not_estimable).values()
    }
    note = joined(absences(SIDES, {spec: estimates}, not_estimable), sentence(missing))
    table, beside = with_simultaneous(estimates, multiplicity, simultaneous, confidence=confidence)
    sides = bias_sides([table], subject.palette)
    if not any(side.places for side in sides):
        return page_of_words(subject, note)
    legend = family_entries(subject.palette, list(sides[0].places)) + interval_entries()
    head = Head(
        f"{biases_finding(estimates)}, by Equation 1",
        f"{UNIT}; {interval_text(confidence, covariance)}",
    )
    return bias_page(sides, subject, head, [legend, beside], note=note)


def biases_finding(table: pd.DataFrame) -> str:
    """How many judges, or else families, have an interval above 0, and how many below."""
    judges = table[table["quantity"] == "self_bias"]
    if len(judges):
        return tally(judges, ABOVE_ZERO, BELOW_ZERO)
    return tally(
        table[table["quantity"] == "family_bias"], ABOVE_ZERO, BELOW_ZERO, "family", "families"
    )


def bias_sides(
    tables: Sequence[pd.DataFrame], palette: Palette, *, step: float = 0.0
) -> list[Side]:
    """Self-bias by judge and family-bias by family; the rows of one term in several tables are
    `step` apart.

    A table without an estimate of a term leaves a gap; if no table has one, a row without estimate
    is in the middle.
    """
    columns = ["quantity", "term", "estimate", *ENDS]
    numbered = [
        table.reindex(columns=columns).assign(number=number) for number, table in enumerate(tables)
    ]
    rows = pd.concat(numbered, ignore_index=True)
    terms = {quantity: rows.loc[rows["quantity"] == quantity, "term"] for quantity in BIASES}
    judges, families = (
        palette.order(terms["self_bias"]),
        palette.order_families(terms["family_bias"]),
    )
    heights = (
        [float(place) for place in range(len(judges))],
        family_places(judges, families, palette),
    )
    sides = []
    for title, target, names, places in zip(
        SIDES, ("itself", "its family"), (judges, families), heights, strict=True
    ):
        quantity, at = quantity_of(title), dict(zip(names, places, strict=True))
        biases = rows[rows["quantity"] == quantity]
        estimated = biases["estimate"].notna()
        nowhere = ~biases["term"].isin(biases.loc[estimated, "term"]) & ~biases.duplicated("term")
        shift = (step * (biases["number"] - (len(tables) - 1) / 2)).where(estimated, 0.0)
        colours = {term: palette.of_bias(quantity, term) for term in names}
        biases = biases.assign(
            place=biases["term"].map(at).astype(float) + shift, colour=biases["term"].map(colours)
        )[estimated | nowhere]
        sides.append(Side(title, target, at, biases.sort_values("place", kind="stable")))
    return sides


def family_places(judges: Sequence[str], families: Sequence[str], palette: Palette) -> list[float]:
    """Height of each family's row: the middle of its judges' rows, moved down where it would meet
    the one above.
    """
    places: list[float] = []
    for family in families:
        siblings = [place for place, judge in enumerate(judges) if palette.family(judge) == family]
        middle = float(np.mean(siblings)) if siblings else float(len(judges))
        places.append(max(middle, places[-1] + 1) if places else middle)
    return places


def bias_page(
    sides: Sequence[Side],
    subject: Subject,
    head: Head,
    legend: Sequence[Sequence[Entry]],
    *,
    row: float = ROW,
    points: Sequence[Mapping] = (POINT,),
    note: str = "",
) -> Figure:
    """Panels side by side on one axis; values beside them with one table. row: inches at most;
    points: mark of each table.
    """
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
    row = row_within(rows, row)
    drawn = pd.concat([side.rows for side in sides])
    limits = bias_limits(drawn)
    note = joined(note_beyond(drawn, limits), note)
    page = Page(
        subject=subject,
        head=head,
        width=width,
        body=rows * row + BELOW + 0.28,
        legend=legend,
        note=note,
    )
    left = EDGE
    for side, label in zip(sides, labels, strict=True):
        axes = page.axes(left + label, BELOW, panel, rows * row)
        frame_rows(axes, limits=limits, rows=rows, breaks=breaks)
        for _, each in side.rows.iterrows():
            draw_interval(axes, each["place"], each, each["colour"], point=points[each["number"]])
            mark_beyond(axes, each["place"], each, each["colour"])
            if len(points) == 1 and not np.isnan(each["estimate"]):
                write_number(axes, each["place"], signed(each["estimate"]))
        for place in side.places.values():
            # Rows of several points need something between them
            if len(points) > 1 and place + 1 in side.places.values():
                axes.axhline(place + 0.5, color=GRID, lw=0.6, zorder=0.9)
        axes.set_yticks(list(side.places.values()), list(side.places))
        axes.set_title(side.title)
        write_directions(axes, "harsher", f"favours {side.target}")
        left += label + panel + beside + GUTTER
    return page.figure


def left_out(spec: str, estimates: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by slice of those without a row in the `estimates` of a spec; the slice is "" for the
    whole spec.

    Rows of `not_estimable` about a slice have no quantity, and rows about the spec no slice.
    """
    rows = not_estimable[(not_estimable["spec"] == spec) & not_estimable["quantity"].isna()]
    reasons = dict(zip(rows["slice"].fillna(""), rows["reason"], strict=True))
    estimated = set(estimates["slice"].fillna(""))
    return {label: reason for label, reason in reasons.items() if label not in estimated}


def quantity_of(title: str) -> str:
    """Name in tables of the quantity with the title Self-bias or Family-bias."""
    return title.lower().replace("-", "_")


def absences(
    titles: Sequence[str], specs: Mapping[str, pd.DataFrame], not_estimable: pd.DataFrame
) -> str:
    """A sentence for each quantity (of `titles`, see SIDES) without a row in `specs`, estimates by
    name, with the reasons.

    `not_estimable` gives the reason of each missing term; a spec that lists none has no such term.
    Specs without any estimates are in `left_out` instead.
    """
    fitted = {spec: table for spec, table in specs.items() if len(table)}
    present = {quantity for table in fitted.values() for quantity in table["quantity"]}
    sentences = []
    for title in titles if fitted else ():
        quantity = quantity_of(title)
        if quantity in present:
            continue
        listed = not_estimable[
            not_estimable["spec"].isin(list(fitted)) & (not_estimable["quantity"] == quantity)
        ]
        terms = listed.groupby("reason", sort=False)["term"].unique()
        reasons = [f"{', '.join(names)} ({in_words(reason)})" for reason, names in terms.items()]
        without = [spec for spec in fitted if spec not in set(listed["spec"])]
        named = (
            f"the spec {without[0]} has"
            if len(without) == 1
            else f"the specs {', '.join(without)} have"
        )
        reasons += [f"{named} no term for {title.lower()}"] if without else []
        sentences.append(f"No {title.lower()}: {'; '.join(reasons)}.")
    return " ".join(sentences)


def with_simultaneous(
    table: pd.DataFrame, multiplicity: pd.DataFrame, settings: Mapping | None, *, confidence: float
) -> tuple[pd.DataFrame, list[Entry]]:
    """`table` of estimates with the columns SIMULTANEOUS, missing where there is no such interval,
    and their legend.

    settings: `spec` of the intervals; in words, `tests`, `errors` and `sliced`, as in `by
    dimension`, or "". None: there is no such spec. Without any interval in `multiplicity` the
    legend is empty.
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
    text = f"{percent_as_given(confidence)} simultaneous interval over the {tests}, {settings['errors']}"
    return table.assign(**ends), [Entry(text, line={"color": INK, "markevery": [0, 2], **WHISKER})]


@dataclass(frozen=True)
class Variant:
    """One spec and slice: its name in the legend, its estimates, and what its intervals are."""

    label: str
    table: pd.DataFrame
    interval: str

    @property
    def has_points(self) -> bool:
        """True if there is anything of it to draw."""
        return bool(self.table.loc[self.table["quantity"].isin(BIASES), "estimate"].notna().any())


def compare_specs(
    estimates: Sequence[pd.DataFrame],
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    variants: Sequence[Mapping],
    confidence: float,
) -> Figure:
    """Self- and family-bias by several specs on one axis: Figures 7, 9 and 10, the GAM, users' own
    ablations.

    estimates: a table for each of `variants`, entries as in `variants_of`.
    """
    drawn, note = beside_the_first(
        variants, estimates, not_estimable, subject.palette, confidence=confidence
    )
    return compare(drawn, subject, note=note)


@language()
def compare(
    variants: Sequence[Variant],
    subject: Subject,
    *,
    note: str = "",
    words: str = "",
    unit: str = UNIT,
) -> Figure:
    """Self-bias by judge and family-bias by family, a point for each variant (Play Favorites,
    Figures 7, 9 and 10).

    The table of a variant holds the estimates of one spec and slice: quantity, term, estimate,
    ci_low, ci_high in points of the unit scale. Colour is the family, shape the variant (shapes
    repeat after the ninth); a point is hollow if the interval includes 0. A variant without an
    estimate of a term leaves a gap. If no variant has a term, the page has only the note. words:
    the finding, by default about how many terms the variants agree. unit: of the estimates.
    """
    row = BETWEEN + PITCH * len(variants)
    tables = [variant.table for variant in variants]
    sides = bias_sides(tables, subject.palette, step=PITCH / row) if variants else []
    if not any(side.places for side in sides):
        return page_of_words(subject, note)
    points = list(islice(cycle(POINTS), len(variants)))
    families = family_entries(subject.palette, list(sides[0].places))
    legend = [families + interval_entries(), _shapes(variants, points)]
    has_gaps = any(
        side.rows["estimate"].count() < len(variants) * len(side.places) for side in sides
    )
    intervals = {variant.interval for variant in variants}
    interval = variants[0].interval if len(intervals) == 1 else "intervals: see the key"
    head = Head(
        words or f"The variants draw the same conclusion about {_agreement(tables)}",
        f"{unit}; {interval}",
    )
    return bias_page(
        sides,
        subject,
        head,
        legend,
        row=row,
        points=points,
        note=joined(GAPS if has_gaps else "", note),
    )


def _agreement(tables: Sequence[pd.DataFrame]) -> str:
    """About how many judges and families all tables that have an interval for one say the same."""
    rows = pd.concat(tables)
    rows = rows[(rows["ci_low"] < rows["ci_high"]) & rows["quantity"].isin(BIASES)]
    signs = (rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int)
    distinct = signs.groupby([rows["quantity"], rows["term"]]).nunique()
    return some((distinct == 1).sum(), len(distinct), "judge or family", "judges and families")


def _shapes(variants: Sequence[Variant], points: Sequence[Mapping]) -> list[Entry]:
    """The name of each variant, with its intervals if they are not those of all or most."""
    intervals = Counter(variant.interval for variant in variants)
    common, count = intervals.most_common(1)[0]
    plain = [
        len(intervals) == 1 or (count > 1 and variant.interval == common) for variant in variants
    ]
    names = [
        each.label if alone else f"{each.label} ({each.interval})"
        for each, alone in zip(variants, plain, strict=True)
    ]
    order = (
        f"in each row, from the top, with {common}, unless noted:"
        if len(intervals) > 1 and count > 1
        else ORDER
    )
    lines = [{"color": FAINT, "lw": STROKE, **point} for point in points]
    return [Entry(order)] * (len(variants) > 1) + [
        Entry(name, line=line) for name, line in zip(names, lines, strict=True)
    ]


def variants_of(
    entry: Mapping, table: pd.DataFrame, palette: Palette, *, confidence: float
) -> list[Variant]:
    """The variants of an entry: `spec`, `label` and `covariance` of the spec with this `table`.

    It is the whole study, or, if the label has {slice}, each slice, families in config's order. A
    spec without rows gives no variant. An ordinal fit, whose estimates are log-odds, gives average
    marginal effects, points of the unit scale.
    """
    slices = table["slice"].fillna("")
    chosen = palette.order_families(set(slices) - {""}) if SLICE in entry["label"] else [""]
    interval = interval_text(confidence, entry["covariance"])
    if (table["quantity"] == "threshold").any():
        interval = f"average marginal effect, {interval}"
        table = table.assign(
            estimate=table["effect"], ci_low=table["effect_ci_low"], ci_high=table["effect_ci_high"]
        )
    rows = [(name, table[slices == name]) for name in chosen]
    return [
        Variant(entry["label"].replace(SLICE, name), own, interval)
        for name, own in rows
        if len(own)
    ]


def without_variant(
    entry: Mapping, table: pd.DataFrame, not_estimable: pd.DataFrame
) -> dict[str, str]:
    """Reason by name of the variants of an entry without estimates."""
    reasons = left_out(entry["spec"], table, not_estimable)
    if SLICE not in entry["label"]:
        reasons = {name: reason for name, reason in reasons.items() if name == ""}
    return {entry["label"].replace(SLICE, name or "…"): reason for name, reason in reasons.items()}


def beside_the_first(
    entries: Sequence[Mapping],
    tables: Sequence[pd.DataFrame],
    not_estimable: pd.DataFrame,
    palette: Palette,
    *,
    confidence: float,
) -> tuple[list[Variant], str]:
    """The variants of `entries` with these estimates, and the note on those without.

    The others are compared with the first entry: if none of them has anything to draw, there is no
    variant at all.
    """
    specs = {entry["spec"]: table for entry, table in zip(entries, tables, strict=True)}
    variants = [
        variants_of(entry, specs[entry["spec"]], palette, confidence=confidence)
        for entry in entries
    ]
    missing = [without_variant(entry, specs[entry["spec"]], not_estimable) for entry in entries]
    reasons = {name: reason for of_entry in missing for name, reason in of_entry.items()}
    use = USE_OF_SCALE if {*WITHOUT_PEOPLE} & {*map(code, reasons.values())} else ""
    if any(variant.has_points for of_entry in variants[1:] for variant in of_entry):
        note = joined(absences(SIDES, specs, not_estimable), sentence(reasons), use)
        return [variant for of_entry in variants for variant in of_entry], note
    alone = f"Nothing to compare with: {variants[0][0].label}." if variants[0] else ""
    others = {
        spec: table[table["estimate"].notna() | ~table["quantity"].isin(BIASES)]
        for spec, table in specs.items()
        if spec != entries[0]["spec"]
    }
    return [], joined(alone, absences(SIDES, others, not_estimable), sentence(reasons), use)
