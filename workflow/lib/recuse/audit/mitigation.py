"""What a mitigation buys: how much a bias changes under another setting, on the same prompts."""

from collections.abc import Iterator, Mapping, Sequence

from recuse.audit.effects import (
    LEAST_PROMPTS,
    Observation,
    by_prompt,
    mean_over_prompts,
    pairs_of_arms,
    units_by_treatment,
)
from recuse.audit.treatments import Treatment
from recuse.base.tables import column_names
from recuse.model.least_squares import holm, wald_columns

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
    """Yield the rows of the table CHANGES: of each judge and contrast, the effect under each other
    setting less that under the first.

    settings: name -> observations, of one plan by wording or of several plans. estimate: mean over
    the prompts that have an effect under both settings of its change, with errors by prompt (t, P -
    1); estimate_before, estimate_after: on these prompts. There is no row with fewer than
    LEAST_PROMPTS. adjusted_p_value: Holm's over all rows of a judge.
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
                    effects = [
                        by_prompt(pairs_of_arms(units[key], contrast), contrast)
                        for units in (before, after)
                    ]
                    rows += [
                        {
                            "judge": judge,
                            "treatment": treatment.name,
                            "contrast": contrast.name,
                            "before": first,
                            "after": name,
                        }
                        | columns
                        for columns in _change_columns(*effects, confidence=confidence)
                    ]
        adjusted = holm([row.get("p_value", float("nan")) for row in rows])
        for row, p_value in zip(rows, adjusted, strict=True):
            yield row | {"adjusted_p_value": p_value}


def _change_columns(
    before: Mapping[str, float], after: Mapping[str, float], *, confidence: float
) -> Iterator[dict]:
    """The numbers of one change; none with too few prompts."""
    prompts = [prompt for prompt in before if prompt in after]
    if len(prompts) < LEAST_PROMPTS:
        return
    part = mean_over_prompts([after[each] - before[each] for each in prompts], len(prompts))
    columns = wald_columns(part.estimate, part.std_error, df=part.df, confidence=confidence)
    columns["standard_error"] = columns.pop("std_error")
    yield columns | {
        "prompts": len(prompts),
        "estimate_before": sum(before[each] for each in prompts) / len(prompts),
        "estimate_after": sum(after[each] for each in prompts) / len(prompts),
    }


def by_wording(observations: Sequence[Observation]) -> dict[str, list[Observation]]:
    """The observations of each wording, in the order in which wordings appear."""
    parts: dict[str, list[Observation]] = {}
    for row in observations:
        parts.setdefault(row["wording"], []).append(row)
    return parts
