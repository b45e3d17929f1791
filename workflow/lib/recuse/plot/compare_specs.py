"""Estimates of several specs on one axis: Figures 7, 9 and 10 of Play Favorites, and any other ablation."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import pandas as pd
from matplotlib.figure import Figure

from recuse.data.registry import NO_HUMAN_SCORE
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import PLACEBO
from recuse.plot.biases import SIDES, Side, absences, bias_page, bias_sides, left_out, quantity_of
from recuse.plot.colours import FAINT, Palette
from recuse.plot.intervals import BETWEEN, ORDER, PITCH, POINTS, STROKE, interval_entries, sentence
from recuse.plot.page import Entry, family_entries, joined, page_of_words
from recuse.plot.style import Subject, interval_text, language

COMMON = "in each row, from the top, with {}, if not said otherwise:"
GAPS = "No point: there is no such term, or it is not estimable (tables/not_estimable.csv)."
QUANTITIES = [quantity_of(side) for side in SIDES]
USE_OF_SCALE = "Without human scores, B and C hold also how differently judges use the scale."
SLICE = "{slice}"  # in a label: one variant for each slice of the table


@dataclass(frozen=True)
class Variant:
    """One spec and slice: its name in the legend, its estimates, and what its intervals are."""

    label: str
    table: pd.DataFrame
    interval: str

    @property
    def has_points(self) -> bool:
        """True if there is anything of it to draw."""
        return bool(self.table.loc[self.table["quantity"].isin(QUANTITIES), "estimate"].notna().any())


def compare_specs(
    estimates: Sequence[pd.DataFrame],
    not_estimable: pd.DataFrame,
    placebo: Sequence[pd.DataFrame],
    subject: Subject,
    *,
    variants: Sequence[Mapping],
    confidence: float,
) -> Figure:
    """Self- and family-bias by several specs on one axis: Figures 7, 9 and 10, the GAM, estimands, users' own ablations.

    estimates: a table for each of `variants`, entries as in `variants_of`; placebo: the table of placebo cells, in a list, for
    a last entry, which is estimand C of the first spec.
    """
    for table in placebo:
        estimates, not_estimable = with_placebo(estimates, not_estimable, table, spec=variants[0]["spec"])
    drawn, note = beside_the_first(variants, estimates, not_estimable, subject.palette, confidence=confidence)
    return compare(drawn, subject, note=note)


@language()
def compare(variants: Sequence[Variant], subject: Subject, *, note: str = "") -> Figure:
    """Self-bias by judge and family-bias by family, a point for each variant (Play Favorites, Figures 7, 9 and 10).

    The table of a variant holds the estimates of one spec and slice: quantity, term, estimate, ci_low, ci_high in points of the
    unit scale. Colour is the family, shape the variant; a point is hollow where the interval includes 0. A variant without an
    estimate of a term leaves a gap in its row. `note` stands at the foot, and is all where no variant has a term. Shapes begin
    anew after the ninth variant.
    """
    row = BETWEEN + PITCH * len(variants)
    tables = [variant.table for variant in variants]
    sides = bias_sides(tables, subject.palette, step=PITCH / row) if variants else []
    if not any(side.places for side in sides):
        return page_of_words(subject, note)
    points = list(islice(cycle(POINTS), len(variants)))
    families = family_entries(subject.palette, list(sides[0].places))
    legend = [families + _significance(variants), _shapes(variants, points)]
    notes = joined(GAPS if _has_gaps(sides, len(variants)) else "", note)
    return bias_page(sides, subject, legend, row=row, points=points, note=notes)


def _significance(variants: Sequence[Variant]) -> list[Entry]:
    """What a filled point is: with the intervals, if they are the same for all variants."""
    intervals = {variant.interval for variant in variants}
    if len(intervals) == 1:
        return interval_entries(f"estimate, {variants[0].interval}")
    _, hollow = interval_entries("")
    return [Entry("interval excludes 0", line={**hollow.line, "markerfacecolor": hollow.line["color"]}), hollow]


def _shapes(variants: Sequence[Variant], points: Sequence[Mapping]) -> list[Entry]:
    """The name of each variant, with its intervals if they are not the same for all, nor those of most."""
    intervals = Counter(variant.interval for variant in variants)
    common, count = intervals.most_common(1)[0]
    named = {common} if count > 1 else set()
    names = [variant.label if variant.interval in named else f"{variant.label} ({variant.interval})" for variant in variants]
    order = COMMON.format(common) if len(intervals) > 1 and named else ORDER
    names = [variant.label for variant in variants] if len(intervals) == 1 else names
    lines = [{"color": FAINT, "lw": STROKE, **point} for point in points]
    return [Entry(order)] * (len(variants) > 1) + [Entry(name, line=line) for name, line in zip(names, lines, strict=True)]


def _has_gaps(sides: Sequence[Side], variants: int) -> bool:
    return any(side.rows["estimate"].count() < variants * len(side.places) for side in sides)


def variants_of(entry: Mapping, table: pd.DataFrame, palette: Palette, *, confidence: float) -> list[Variant]:
    """The variants that an entry stands for: `spec`, `label` and `covariance` of the spec with this `table`.

    It is the whole study; a label with {slice} stands for every slice, families in config's order. A spec without rows gives no
    variant. Of an ordinal fit, whose estimates are log-odds, the average marginal effects are taken, which are
    points of the unit scale.
    """
    slices = table["slice"].fillna("")
    chosen = palette.order_families(set(slices) - {""}) if SLICE in entry["label"] else [""]
    if entry["spec"] == PLACEBO:
        interval = f"{100 * confidence:g} % prediction interval"
    else:
        interval = interval_text(confidence, entry["covariance"])
    if (table["quantity"] == "threshold").any():
        interval = f"average marginal effect, {interval}"
        table = table.assign(estimate=table["effect"], ci_low=table["effect_ci_low"], ci_high=table["effect_ci_high"])
    rows = [(name, table[slices == name]) for name in chosen]
    return [Variant(entry["label"].replace(SLICE, name), own, interval) for name, own in rows if len(own)]


def without_variant(entry: Mapping, table: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by name of the variants of an entry that the study has no estimates of."""
    reasons = left_out(entry["spec"], table, not_estimable)
    if SLICE not in entry["label"]:
        reasons = {name: reason for name, reason in reasons.items() if name == ""}
    return {entry["label"].replace(SLICE, name or "…"): reason for name, reason in reasons.items()}


def with_placebo(
    tables: Sequence[pd.DataFrame], not_estimable: pd.DataFrame, placebo: pd.DataFrame, *, spec: str
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Append the rows of a spec in the table `placebo` to tables of estimates, and its reasons to `not_estimable`.

    They are there as the spec PLACEBO, without the mean over all judges, which the other tables do not have. If there is no
    other estimate, the spec as a whole is not estimable.
    """
    own = placebo[(placebo["spec"] == spec) & (placebo["term"] != ALL_JUDGES)].assign(spec=PLACEBO)
    estimated = own["estimate"].notna()
    reasons = own[~estimated] if estimated.any() else own[:1].assign(quantity=None)
    columns = not_estimable.columns
    return [*tables, own[estimated]], pd.concat([not_estimable, reasons.reindex(columns=columns)], ignore_index=True)


def beside_the_first(
    entries: Sequence[Mapping],
    tables: Sequence[pd.DataFrame],
    not_estimable: pd.DataFrame,
    palette: Palette,
    *,
    confidence: float,
) -> tuple[list[Variant], str]:
    """The variants of `entries` with these estimates, and what the foot says of those without.

    The first entry is what the others are compared with: where none of them has anything to draw, there is no variant at all.
    """
    specs = {entry["spec"]: table for entry, table in zip(entries, tables, strict=True)}
    variants = [variants_of(entry, specs[entry["spec"]], palette, confidence=confidence) for entry in entries]
    missing = [without_variant(entry, specs[entry["spec"]], not_estimable) for entry in entries]
    reasons = {name: reason for of_entry in missing for name, reason in of_entry.items()}
    against = any(table["estimand"].astype(str).str.startswith("B").any() for table in tables)
    use = USE_OF_SCALE if against and NO_HUMAN_SCORE in reasons.values() else ""
    if any(variant.has_points for of_entry in variants[1:] for variant in of_entry):
        note = joined(absences(SIDES, specs, not_estimable), sentence(reasons), use)
        return [variant for of_entry in variants for variant in of_entry], note
    alone = f"Nothing to compare with: {variants[0][0].label}." if variants[0] else ""
    others = {spec: table for spec, table in specs.items() if spec != entries[0]["spec"]}
    estimated = {spec: table[table["estimate"].notna() | ~table["quantity"].isin(QUANTITIES)] for spec, table in others.items()}
    return [], joined(alone, absences(SIDES, estimated, not_estimable), sentence(reasons), use)
