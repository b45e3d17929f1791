"""Which specs a study has the data for, and what of them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from judgebias.fits.design import ON_HUMAN_SCORES
from judgebias.fits.estimands import against_judges
from judgebias.fits.spec import Spec, in_place
from judgebias.ratings.registry import NO_HUMAN_SCORE
from judgebias.ratings.study import Study

NO_LENGTHS = "the ratings have no lengths"
ONE_FAMILY = "all judges are of one family: none is left to be judged by its reference"
NO_TASK_TYPES = "the study declares no task types"
LEFT_OUT = f"without the slopes on human scores, as {NO_HUMAN_SCORE}: what is said is relative to the other judges"
OF_HUMAN_SCALE = (*ON_HUMAN_SCORES, "self", "same_family")  # terms that say nothing without it, or without other judges


def applicable(
    specs: Mapping[str, Mapping], names: Iterable[str], study: Study, *, instead: Mapping[str, str] | None = None
) -> list[Spec]:
    """Read those of config's `specs` with these names that can be fitted to the study.

    instead: spec -> the one that takes its place in a study without human scores; each is there once.
    """
    named = in_place(names, {} if study.has_human_scores else instead or {})
    found = Spec.from_config({name: specs[name] for name in named})
    return [fitted_to(spec, study) for spec in found if inapplicable(spec, study) is None]


def sliced_by(specs: Mapping[str, Mapping], names: Iterable[str], study: Study) -> list[Spec]:
    """Read those of config's `specs` with these names whose slices the study has: for what does not fit their terms."""
    named = Spec.from_config({name: specs[name] for name in names})
    return [spec for spec in named if without_rows(spec, study) is None]


def inapplicable(spec: Spec, study: Study) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
    if needs_human_scores(spec) and not study.has_human_scores:
        return NO_HUMAN_SCORE
    return without_rows(spec, study)


def needs_human_scores(spec: Spec) -> bool:
    """Whether a spec says nothing in a study without human scores.

    A bias is then a gap to the other judges, or none; where it is, least squares does without the slopes on the human score.
    """
    if spec.reference is not None:
        return False
    return spec.estimator != "least_squares" or not (against_judges(spec) or set(OF_HUMAN_SCALE).isdisjoint(spec.terms))


def fitted_to(spec: Spec, study: Study) -> Spec:
    """The spec without its terms on the human score, where the study has none, and as it is where it has."""
    if spec.reference is not None or study.has_human_scores:
        return spec
    return replace(spec, terms=tuple(name for name in spec.terms if name not in ON_HUMAN_SCORES))


def without_rows(spec: Spec, study: Study) -> str | None:
    """Why a study has no rows for a spec, or no slice, whatever its terms are; or None."""
    if spec.length is not None and not len(study.moments_for(spec).n):
        return NO_LENGTHS
    factors = study.all_cells().factors
    if spec.reference is not None and len(np.unique(factors["judge_family"])) == 1:
        return ONE_FAMILY
    if spec.slice == "task_type" and not factors["task_type"].astype(bool).any():
        return NO_TASK_TYPES
    absent = spec.absent_from(factors)
    without_any = [key for key, values in absent.items() if len(values) == len(spec.subset[key])]
    return missing(without_any[0], absent[without_any[0]]) if without_any else None


def missing(key: str, values: Iterable[str]) -> str:
    """Say what a key of a spec's subset names and the study does not hold."""
    return f"the study has no {key.replace('models_dropped', 'model')} named {', '.join(values)}"
