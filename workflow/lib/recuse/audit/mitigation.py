"""How much a mitigation helps: the change of a bias under another setting, on the same prompts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from recuse.audit.effects import (
    LEAST_PROMPTS,
    ArmPair,
    Observation,
    by_prompt,
    grouped,
    interval_columns,
    mean_over_prompts,
    over_writers,
    pairs_of_arms,
    units_by_treatment,
)
from recuse.audit.treatments import ArmContrast, Treatment
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.model.least_squares import holm

CHANGES = column_names(
    "judge treatment contrast before after estimate_before estimate_after estimate ci_low ci_high",
    "standard_error df p_value adjusted_p_value prompts",
)


def change_rows(
    settings: Mapping[str, Sequence[Observation]],
    treatments: Sequence[Treatment],
    *,
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of the table CHANGES: for each judge and contrast, the effect under each other
    setting minus that under the first.

    settings: name -> observations, for the wordings of one plan or for several plans. estimate: the
    mean change over the prompts with an effect under both settings, with errors by prompt (t, P -
    1), and over writers if there are two or more. estimate_before, estimate_after: the effects on
    these prompts. With fewer than LEAST_PROMPTS there is no row. adjusted_p_value: Holm's over all
    rows of a judge.
    """
    (first, before), *others = (
        (name, units_by_treatment(observations)) for name, observations in settings.items()
    )
    for judge in sorted({judge for judge, _ in before}):
        rows = []
        for name, after in others:
            for treatment in treatments:
                key = judge, treatment.name
                if key not in before or key not in after:
                    continue
                for contrast in treatment.contrasts:
                    pairs = [pairs_of_arms(units[key], contrast) for units in (before, after)]
                    columns = _change_columns(*pairs, contrast, confidence=confidence)
                    names = {"judge": judge, "treatment": key[1], "contrast": contrast.name}
                    if columns:
                        rows.append({**names, "before": first, "after": name, **columns})
        adjusted = holm([row["p_value"] for row in rows])
        for row, p_value in zip(rows, adjusted, strict=True):
            yield row | {"adjusted_p_value": p_value}


def _change_columns(
    before: Sequence[ArmPair], after: Sequence[ArmPair], contrast: ArmContrast, *, confidence: float
) -> dict[str, float]:
    """The numbers of one change; none if there are too few prompts."""
    earlier, later = by_prompt(before, contrast), by_prompt(after, contrast)
    changes = _changes(earlier, later)
    if len(changes) < LEAST_PROMPTS:
        return {}
    parts = []
    later_pairs = grouped(after, "writer")
    for writer, pairs in grouped(before, "writer").items():
        theirs = by_prompt(later_pairs.get(writer, ()), contrast)
        part = _changes(by_prompt(pairs, contrast), theirs)
        parts.append((part, len(part)))
    whole = over_writers(parts, mean_over_prompts(changes, len(changes)))
    largest = 4.0 if contrast.beyond_others else 2.0
    return interval_columns(changes, whole, largest=largest, confidence=confidence) | {
        "estimate": whole.estimate,
        "standard_error": whole.std_error,
        "prompts": len(changes),
        "estimate_before": fmean(earlier[prompt] for prompt in earlier if prompt in later),
        "estimate_after": fmean(later[prompt] for prompt in later if prompt in earlier),
    }


def _changes(before: Mapping[str, float], after: Mapping[str, float]) -> list[float]:
    """The changes on the prompts that have both."""
    return [after[prompt] - before[prompt] for prompt in before if prompt in after]


def by_wording(observations: Sequence[Observation]) -> dict[str, list[Observation]]:
    """The observations by wording, in the order in which wordings appear."""
    parts: dict[str, list[Observation]] = {}
    for row in observations:
        parts.setdefault(row["wording"], []).append(row)
    return parts


def note_differences(
    effects: Iterable[dict], changes: Iterable[Mapping], *, confidence: float
) -> None:
    """Add a note to each verdict whose effect differs significantly between wordings, with its size
    in the first wording and in the one that differs most from it. Other notes stay.

    effects: rows from `effect_rows`; changes: from `change_rows`, between their wordings.
    """
    largest: dict[tuple, Mapping] = {}
    for row in changes:
        key = row["judge"], row["treatment"], row["contrast"]
        if row["adjusted_p_value"] <= 1 - confidence:
            most = largest.setdefault(key, row)
            if abs(row["estimate"]) > abs(most["estimate"]):
                largest[key] = row
    for row in effects:
        change = largest.get((row["judge"], row["treatment"], row["contrast"]))
        if change is not None and row.get("verdict") and not row.get("note"):
            row["note"] = because(
                Reason.WORDINGS_DIFFER,
                first=change["before"],
                second=change["after"],
                size_first=round(100 * change["estimate_before"], 1),
                size_second=round(100 * change["estimate_after"], 1),
            )
