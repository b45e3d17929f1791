"""Self- and family-bias on one axis, by one spec or several: Figures 3, 7, 9 and 10 of Play
Favorites, and any ablation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import WITHOUT_PEOPLE, code, in_words
from recuse.base.words import signed
from recuse.model.spec import BIASES
from recuse.plot.axes import SIMULTANEOUS
from recuse.plot.colours import Palette
from recuse.plot.page import (
    head,
    joined,
    keys,
    not_estimated,
    page_of_words,
    tally,
    written,
)
from recuse.plot.rows import POINTS, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

SIDES = ("Self-bias", "Family-bias")
TARGETS = dict(zip(BIASES, ("itself", "its family"), strict=True))
KEYS = ["slice", "quantity", "term"]
GAPS = "No point: no such term, or not estimable (tables/not_estimable.csv)."
USE_OF_SCALE = "Without human scores, B and C include differences in how judges use the scale."
SLICE = "{slice}"  # in a label: one variant for each slice of the table


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
    """Self-bias by judge and family-bias by family on one axis (Play Favorites, Figure 3).

    estimates: of one spec and slice: quantity, term, estimate, ci_low, ci_high in points of the
    unit scale; ci_low and ci_high are missing without a standard error. simultaneous: see
    `with_simultaneous`. A quantity without rows has no rows, but its reason in the note.
    """
    reasons = left_out(spec, estimates, not_estimable).values()
    missing = not_estimated({f"the spec {spec}": reason for reason in reasons})
    note = joined(absences(BIASES, {spec: estimates}, not_estimable), missing)
    rows = bias_rows([estimates], subject.palette)
    if not rows:
        return page_of_words(subject, note)
    table, over = with_simultaneous(estimates, multiplicity, simultaneous)
    marks = bias_marks(table, panel="").assign(
        text=estimates["estimate"].map(signed, na_action="ignore")
    )
    judges = estimates[estimates["quantity"] == BIASES[0]]
    facts = {"level": confidence, "errors": covariance, "over": over}
    own = judges if len(judges) else estimates[estimates["quantity"] == BIASES[1]]
    words = head("equation_1", tally=tally(own, name="term"), judges=len(judges), **facts)
    return rows_figure(marks, subject, words, [Block(rows, [bias_column(rows)])], note=note).figure


def bias_rows(tables: Iterable[pd.DataFrame], palette: Palette) -> list[Row]:
    """A row for each judge and, below, each family with a bias in any table; headings over both."""
    biases = set()
    for table in tables:
        biases |= set(keys(table, "quantity", "term"))
    ordered = palette.order_biases(bias for bias in biases if bias[0] in BIASES)
    headings = dict(zip(BIASES, SIDES, strict=True))
    if len({quantity for quantity, _ in ordered}) == 1:
        headings = dict.fromkeys(BIASES, "")
    return [Row(bias, bias[1], palette.bias_colour(*bias), headings[bias[0]]) for bias in ordered]


def bias_column(rows: Sequence[Row], **settings: object) -> Column:
    """The panel of biases, with the words for its directions."""
    targets = {TARGETS[row.key[0]] for row in rows}
    more = targets.pop() if len(targets) == 1 else "its own"
    return Column(less="harsher", more=f"favours {more}", **settings)


def bias_marks(table: pd.DataFrame, *, panel: object) -> pd.DataFrame:
    """The rows of estimates as marks of a panel."""
    rows = keys(table, "quantity", "term")
    return table.assign(panel=[panel] * len(table), row=rows, instead="not estimable")


def left_out(spec: str, estimates: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by slice of those without a row in the `estimates` of a spec; the slice is "" for the
    whole spec.

    Rows of `not_estimable` about a slice have no quantity, and rows about the spec no slice.
    """
    rows = not_estimable[(not_estimable["spec"] == spec) & not_estimable["quantity"].isna()]
    reasons = dict(zip(rows["slice"].fillna(""), rows["reason"], strict=True))
    estimated = set(estimates["slice"].fillna(""))
    return {label: reason for label, reason in reasons.items() if label not in estimated}


def absences(
    quantities: Sequence[str], specs: Mapping[str, pd.DataFrame], not_estimable: pd.DataFrame
) -> str:
    """A sentence for each of the quantities without a row in `specs`, estimates by name, with the
    reasons.

    `not_estimable` gives the reason of each missing term; a spec that lists none has no such term.
    Specs without any estimates are in `left_out` instead.
    """
    fitted = {spec: table for spec, table in specs.items() if len(table)}
    present = {quantity for table in fitted.values() for quantity in table["quantity"]}
    listed = not_estimable[not_estimable["spec"].isin(list(fitted))]
    sentences = []
    for quantity in quantities if fitted else ():
        if quantity not in present:
            missing = listed[listed["quantity"] == quantity]
            terms = missing.groupby("reason", sort=False)["term"].unique()
            reasons = {", ".join(names): in_words(reason) for reason, names in terms.items()}
            without = [spec for spec in fitted if spec not in set(missing["spec"])]
            sentences.append(written("absent", name=quantity, reasons=reasons, without=without))
    return " ".join(sentences)


def with_simultaneous(
    table: pd.DataFrame, multiplicity: pd.DataFrame, settings: Mapping | None
) -> tuple[pd.DataFrame, str]:
    """`table` of estimates with the columns SIMULTANEOUS, missing where there is no such interval,
    and over what these are.

    settings: `spec` of the intervals; in words, `tests`, `errors` and `sliced`, as in `by
    dimension`, or "". None: there is no such spec. Without any interval in `multiplicity` the words
    are empty.
    """
    if settings is None:
        return table, ""
    intervals = multiplicity[multiplicity["spec"] == settings["spec"]].dropna(subset=SIMULTANEOUS)
    if intervals.empty:
        return table, ""
    values = intervals.fillna({"slice": ""})[[*KEYS, *SIMULTANEOUS]]
    of_rows = table[KEYS].fillna({"slice": ""}).merge(values, how="left", validate="one_to_one")
    ends = {column: of_rows[column].to_numpy(float) for column in SIMULTANEOUS}
    over = {name: settings[name] for name in ("tests", "sliced", "errors")}
    words = written("over_tests", count=int(intervals["tests"].iloc[0]), **over)
    return table.assign(**ends), words


@dataclass(frozen=True)
class Variant:
    """One spec and slice: its name in the legend, its estimates, and what its intervals are."""

    label: str
    table: pd.DataFrame
    interval: str


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

    estimates: a table for each of `variants`, entries as in `spec_variants`.
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
    unit: str = "",
) -> Figure:
    """Self-bias by judge and family-bias by family, a point for each variant (Play Favorites,
    Figures 7, 9 and 10).

    The table of a variant holds the estimates of one spec and slice: quantity, term, estimate,
    ci_low, ci_high in points of the unit scale. A variant without an estimate of a term leaves a
    gap. If no variant has a term, the page has only the note. words: the finding, by default about
    how many terms the variants agree. unit: of the estimates.
    """
    rows = bias_rows([variant.table for variant in variants], subject.palette)
    if not rows:
        return page_of_words(subject, note)
    intervals = {variant.interval for variant in variants}
    alike = len(intervals) == 1
    drawn, kinds = [], {}
    for slot, variant in enumerate(variants):
        label = variant.label if alike else f"{variant.label} ({variant.interval})"
        kinds[str(slot)] = Kind(label, POINTS[slot % len(POINTS)], slot=slot)
        drawn.append(bias_marks(variant.table, panel="").assign(kind=str(slot)))
    marks = pd.concat(drawn)
    count = marks.dropna(subset="estimate")["quantity"].isin(BIASES).sum()
    facts = _agreement([variant.table for variant in variants])
    facts |= {"unit": unit, "interval": "".join(intervals) if alike else ""}
    words = head("variants", finding=words, **facts)
    gaps = GAPS if count < len(rows) * len(variants) else ""
    blocks = [Block(rows, [bias_column(rows)])]
    note = joined(gaps, note)
    return rows_figure(marks, subject, words, blocks, kinds=kinds, note=note).figure


def _agreement(tables: Sequence[pd.DataFrame]) -> dict:
    """About how many judges and families all tables that have an interval for one say the same, and
    about which not.
    """
    rows = pd.concat(tables)
    rows = rows[(rows["ci_low"] < rows["ci_high"]) & rows["quantity"].isin(BIASES)]
    signs = (rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int)
    distinct = signs.groupby([rows["quantity"], rows["term"]], sort=False).nunique()
    others = distinct[distinct > 1].sort_index(ascending=False, level=0, sort_remaining=False)
    names = [term for _, term in others.index]
    return {"same": (distinct == 1).sum(), "total": len(distinct), "names": names}


def spec_variants(
    entry: Mapping, table: pd.DataFrame, palette: Palette, *, confidence: float
) -> list[Variant]:
    """The variants of an entry: `spec`, `label` and `covariance` of the spec with this `table`.

    It is the whole study, or, if the label has {slice}, each slice, families in config's order. A
    spec without rows gives no variant. An ordinal fit, whose estimates are log-odds, gives average
    marginal effects, points of the unit scale.
    """
    slices = table["slice"].fillna("")
    chosen = palette.order_families(set(slices) - {""}) if SLICE in entry["label"] else [""]
    is_ordinal = (table["quantity"] == "threshold").any()
    errors = entry["covariance"]
    interval = written("spec_interval", level=confidence, errors=errors, is_ordinal=is_ordinal)
    if is_ordinal:
        table = table.assign(
            estimate=table["effect"], ci_low=table["effect_ci_low"], ci_high=table["effect_ci_high"]
        )
    rows = [(name, table[slices == name]) for name in chosen]
    return [
        Variant(entry["label"].replace(SLICE, name), own, interval)
        for name, own in rows
        if len(own)
    ]


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
    specs, variants, reasons = {}, [], {}
    for entry, table in zip(entries, tables, strict=True):
        specs[entry["spec"]] = table
        variants.append(spec_variants(entry, table, palette, confidence=confidence))
        for name, reason in left_out(entry["spec"], table, not_estimable).items():
            if SLICE in entry["label"] or not name:
                reasons[entry["label"].replace(SLICE, name or "…")] = reason
    use = USE_OF_SCALE if {*WITHOUT_PEOPLE} & {*map(code, reasons.values())} else ""
    alone = ""
    drawn = [variant for of_entry in variants for variant in of_entry]
    others = [variant.table.dropna(subset="estimate") for variant in drawn[len(variants[0]) :]]
    if not any(table["quantity"].isin(BIASES).any() for table in others):
        drawn = []
        alone = f"Nothing to compare with: {variants[0][0].label}." if variants[0] else ""
        specs = {
            spec: table[table["estimate"].notna() | ~table["quantity"].isin(BIASES)]
            for spec, table in specs.items()
            if spec != entries[0]["spec"]
        }
    absent = absences(BIASES, specs, not_estimable)
    return drawn, joined(alone, absent, not_estimated(reasons), use)
