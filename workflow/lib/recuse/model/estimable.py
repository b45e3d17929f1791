"""Which specs a study has the data for, and their rows."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.data.cells import Cells, Factors, Need
from recuse.data.doubts import Doubt
from recuse.data.moments import Moments
from recuse.data.selection import DROPPED
from recuse.data.study import LEAST_SCORED, StudyTables
from recuse.model.covariance import COVARIANCES
from recuse.model.spec import (
    FAMILY,
    ON_HUMAN_SCORES,
    SELF,
    BiasKey,
    Settings,
    Spec,
    against_judges,
    in_place,
)

LEFT_OUT = (
    "without the slopes on human scores, as {} has one: biases are relative to the other judges"
)
# Why a spec is refused that needs what counts of ratings do not say
UNCOUNTED = {
    Need.ANSWERS: Reason.COUNTS_WITHOUT_ANSWERS,
    Need.PROMPTS: Reason.COUNTS_WITHOUT_PROMPTS,
}
# Terms with no meaning without it or other judges
OF_HUMAN_SCALE = (*ON_HUMAN_SCORES, "self", "same_family")


def estimable_specs(
    specs: Settings,
    names: Iterable[str],
    study: StudyTables,
    *,
    instead: Mapping[str, str] | None = None,
) -> list[Spec]:
    """The named specs of config's `specs` that the study can fit; instead: spec -> its substitute
    without human scores.
    """
    names = in_place(names, {} if study.has_human_scores else instead or {})
    candidates = [Spec.of(name, **specs[name]) for name in names]
    return [fitted_to(spec, study) for spec in candidates if not_estimable(spec, study) is None]


def sliced_by(specs: Settings, names: Iterable[str], study: StudyTables) -> list[Spec]:
    """The named specs of config's `specs` whose slices the study has, whatever their terms."""
    candidates = [Spec.of(name, **specs[name]) for name in names]
    return [spec for spec in candidates if without_rows(spec, study) is None]


def not_estimable(spec: Spec, study: StudyTables) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
    for need, reason in UNCOUNTED.items():
        if need in spec.needs and need in study.lacks:
            return because(reason)
    study = study_for(spec, study)
    if needs_human_scores(spec) and not study.has_human_scores:
        if not study.is_partly_scored:
            return because(Reason.NO_HUMAN_SCORE)
        prompts = study.scored_prompts
        return because(Reason.FEW_SCORED_PROMPTS, prompts=prompts, least=LEAST_SCORED)
    return without_rows(spec, study)


def needs_human_scores(spec: Spec) -> bool:
    """Whether a spec has no meaning without human scores.

    Least squares without slopes on them still estimates gaps to the other judges.
    """
    if spec.selection.reference is not None:
        return False
    on_human_scale = not set(OF_HUMAN_SCALE).isdisjoint(spec.model.terms)
    return spec.model.estimator != "least_squares" or (on_human_scale and not against_judges(spec))


def study_for(spec: Spec, study: StudyTables) -> StudyTables:
    """The rows of a study that a spec is fitted to: those with human scores, if it needs these;
    else, as it compares judges with one another, those of independent judges.
    """
    return study.scored if needs_human_scores(spec) else study.independent


def biases_without_judges(doubts: Iterable[Doubt], factors: Factors) -> dict[BiasKey, str]:
    """Why doubted judges that have none of the rows with these factors leave no bias to estimate:
    (quantity, judge or family) -> reason.

    A family has one if no other judge of it has rows.
    """
    judges, families, models = (factors[name] for name in ("judge", "judge_family", "model"))
    left_out: dict[BiasKey, str] = {}
    for judge, family, reason in doubts:
        if judge in judges:
            continue
        if judge in models:
            left_out[SELF, judge] = reason
        siblings = models[factors["model_family"] == family]
        if family not in families and (siblings != judge).any():
            left_out.setdefault((FAMILY, family), reason)
    return left_out


def fitted_to(spec: Spec, study: StudyTables) -> Spec:
    """The spec, without its terms on the human score where its rows have none."""
    if spec.selection.reference is not None or study_for(spec, study).has_human_scores:
        return spec
    return spec.changed(
        terms=tuple(name for name in spec.model.terms if name not in ON_HUMAN_SCORES)
    )


def without_rows(spec: Spec, study: StudyTables) -> str | None:
    """Why a study has no rows or no slice for a spec, whatever its terms; or None."""
    if spec.selection.length is not None and not len(spec_moments(spec, study).n):
        return because(Reason.NO_LENGTHS)
    factors = study.cells().factors
    if spec.selection.reference is not None and len(np.unique(factors["judge_family"])) == 1:
        return because(Reason.ONE_REFERENCE_FAMILY)
    if spec.selection.slice == "task_type" and not factors["task_type"].astype(bool).any():
        return because(Reason.NO_TASK_TYPES)
    absent = spec.selection.absent_from(factors)
    for key, values in absent.items():
        if len(values) == len(spec.selection.subset[key]):
            return missing(key, values)
    return None


def missing(key: str, values: Iterable[str]) -> str:
    """The reason that the study lacks what a key of a spec's subset names."""
    return because(
        Reason.NOT_IN_STUDY, kind="model" if key == DROPPED else key, names=", ".join(values)
    )


def spec_moments(spec: Spec, study: StudyTables) -> Moments:
    """Moments of the rows of a least-squares spec, by cell where its errors need the leverage of
    single rows.
    """
    return study.moments(spec.selection, by_cell=COVARIANCES[spec.errors.covariance].leveraged)


def spec_slices(spec: Spec, study: StudyTables) -> Iterator[tuple[str, Cells | Moments]]:
    """Yield (label, rows) of each slice, which may have none: moments for least squares, cells for
    other estimators.
    """
    rows = (
        spec_moments(spec, study)
        if spec.model.estimator == "least_squares"
        else study.cells(spec.selection)
    )
    for label, mask in spec.selection.slices(rows.factors):
        yield label, rows.select(mask)
