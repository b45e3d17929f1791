"""Which specs a study has the data for."""

from collections.abc import Iterable, Mapping

import numpy as np

from judgebias.fits.spec import Spec
from judgebias.ratings.study import Study

NO_LENGTHS = "the ratings have no lengths"
ONE_FAMILY = "all judges are of one family: none is left to be judged by its reference"
NO_TASK_TYPES = "the study declares no task types"


def applicable(specs: Mapping[str, Mapping], names: Iterable[str], study: Study) -> list[Spec]:
    """Read those of config's `specs` with these names that can be fitted to the study."""
    named = Spec.from_config({name: specs[name] for name in names})
    return [spec for spec in named if inapplicable(spec, study) is None]


def inapplicable(spec: Spec, study: Study) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
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
