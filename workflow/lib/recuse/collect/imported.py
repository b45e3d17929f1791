"""A study that asks judges, as a study that imports what they answered: every later step is that of
an import.
"""

from collections.abc import Mapping

from recuse.base.errors import ConfigError
from recuse.collect.parse import REASONS
from recuse.collect.requests import LOGPROBS
from recuse.collect.rubrics import criterion_scale, find_criterion, find_wording
from recuse.collect.settings import Collect
from recuse.config.declared.sections import validated
from recuse.data.registry import COMPARED, RATED, finest_step


def with_imports(settings: Mapping) -> dict:
    """The configuration in which every study with `collect` has its `import` and, of ratings, its
    `scales`.

    What the user wrote under these keys stays. ConfigError about invalid settings under `collect`,
    and about a criterion or wording that does not exist.
    """
    changed = dict(settings)
    for section in (RATED, COMPARED):
        studies = settings.get(section)
        if isinstance(studies, Mapping) and any(_collects(study) for study in studies.values()):
            changed[section] = {
                name: _with_import(section, name, study) for name, study in studies.items()
            }
    return changed


def collected_file(study: str) -> str:
    """The table of what judges answered, which the workflow makes from the ledger."""
    return f"results/{study}/raw/collected.csv"


def _collects(study: object) -> bool:
    return isinstance(study, Mapping) and "collect" in study


def _with_import(section: str, name: str, study: Mapping) -> Mapping:
    if not _collects(study):
        return study
    collect = validated(Collect, study["collect"], within=[section, name, "collect"])
    further = study.get("import", {})
    if not isinstance(further, Mapping):
        return study
    imports: dict[str, object] = {"files": collected_file(name), "format": "table"}
    try:
        if section == COMPARED:
            return {**study, "import": {**imports, **further}}
        scales = _scales(collect)
    except ConfigError as error:
        raise ConfigError(f"config: {section}: {name}: {error}") from None
    imports["missing"] = [*REASONS]
    if any(judge.mode == LOGPROBS for judge in collect.judges.values()):
        imports |= {"step": finest_step([*scales.values()]), "round": True}
    return {**study, "scales": study.get("scales", scales), "import": {**imports, **further}}


def _scales(collect: Collect) -> dict[str, list[int]]:
    """The scale of each criterion; ConfigError if two wordings have different ones."""
    scales: dict[str, list[int]] = {}
    for each in collect.wordings:
        wording = find_wording("ratings", each, collect.templates)
        for name in collect.names_of_criteria():
            scale = criterion_scale(find_criterion(name, wording, collect.criteria))
            if scales.setdefault(name, scale) != scale:
                first = collect.wordings[0]
                ends = [f"from {low} to {high}" for low, high in (scales[name], scale)]
                both = f"{name} is rated {ends[0]} in {first} and {ends[1]} in {wording.name}"
                raise ConfigError(
                    f"collect: wordings: {both}; write wordings with the same labels, or a study"
                    " for each"
                )
    return scales
