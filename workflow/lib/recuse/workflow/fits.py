"""The rules that fit specs, a stage after another, and which tables the rest reads of them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recuse.config.studies import STAGES, Study
from recuse.model.spec import Spec

SLICES = ("by_dimension", "by_dataset", "by_task_type", "one_model_dropped")


class FitRule(NamedTuple):
    """A rule that fits specs: of a stage, to some studies; order: its specs among those of earlier
    stages, as in config.
    """

    rule: str
    stage: str
    studies: list[str]
    specs: Mapping[str, Mapping]
    order: list[str]


def fit_rules(studies: Iterable[Study]) -> list[FitRule]:
    """The rules that fit specs: one a stage for all studies, and for each study with specs of its
    own.
    """
    # End of a rule's name -> the studies whose specs it fits
    fitted = {}
    specs_by_suffix = {}
    for study in studies:
        if study.has_ratings():
            suffix = f"_{study.name}" if study.settings.specs is not None else ""
            fitted.setdefault(suffix, []).append(study.name)
            specs_by_suffix[suffix] = study.specs
    rules = []
    for suffix, specs in specs_by_suffix.items():
        stages, before = stage_by_spec(specs), []
        for stage in STAGES:
            of_stage = {name: spec for name, spec in specs.items() if stages[name] == stage}
            before += of_stage
            order = [name for name in specs if name in before]
            rules.append(FitRule(f"{stage}{suffix}", stage, fitted[suffix], of_stage, order))
    return rules


def stage_by_spec(specs: Mapping[str, Mapping]) -> dict[str, str]:
    """The stage of each spec: with the main fit and the slices, those that have a wild bootstrap of
    the same model.
    """
    stages, fitted = {}, Spec.from_config(specs).values()
    for spec in fitted:
        stages[spec.name] = "ablations"
        for stage, names in (("slices", SLICES), ("fit", ["main"])):
            shown = [each for each in fitted if each.name in names]
            if spec in shown or (spec.errors.wild and any(map(spec.shares_model_with, shown))):
                stages[spec.name] = stage
    return stages


def tables_of_checks(studies: Iterable[Study]) -> list[str]:
    """The tables that the robustness checks read beside the estimates, in any study."""
    rated = [study for study in studies if study.has_ratings()]
    tables = {check.table for study in rated for check in study.robustness_checks()}
    return sorted(tables - {"estimates"})
