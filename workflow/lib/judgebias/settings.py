"""Checks of the configuration: every key known, every value of its type, every name defined."""

import difflib
from collections.abc import Iterable, Mapping

from judgebias.errors import ConfigError

ORIGINS = ("simulate", "source", "files")


def check(config: Mapping, schema: Mapping) -> None:
    """Raise ConfigError, naming the key, unless `config` fits `schema` and its names refer to each other."""
    _check_schema(config, schema)
    _known("build", config["build"], config["studies"], "studies")
    for name, model in config["models"].items():
        _known(f"models: {name}: family", [model["family"]], config["families"], "families")
    for name, study in config["studies"].items():
        _check_study(f"studies: {name}", study, config.get("sources", {}))
    for name, spec in config["specs"].items():
        _check_subset(f"specs: {name}: subset", spec.get("subset", {}), config)


def _check_schema(config: Mapping, schema: Mapping) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(config))
    if error is None:
        return
    where = "".join(f"{key}: " for key in error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(known))
        raise ConfigError(f"config: {where}unknown key '{unknown[0]}'{_suggestion(unknown[0], known)}")
    described = error.schema.get("description")
    raise ConfigError(f"config: {where}{error.message}" + (f" ({described})" if described else ""))


def _check_study(where: str, study: Mapping, sources: Mapping) -> None:
    origins = [key for key in ORIGINS if key in study]
    if len(origins) != 1:
        raise ConfigError(f"config: {where}: found {', '.join(origins) or 'none'} of {', '.join(ORIGINS)}; write one of them")
    dimensions = study["scales"]
    for dimension, scale in dimensions.items():
        if scale != "observed" and scale[0] >= scale[1]:
            raise ConfigError(f"config: {where}: scales: {dimension}: found {scale}; write [lowest, highest]")
    if "source" in study:
        _known(f"{where}: source", [study["source"]], sources, "sources")
        _known(
            f"{where}: scales",
            dimensions,
            sources[study["source"]]["files"],
            f"sources: {study['source']}: files",
        )
    if isinstance(study.get("files"), Mapping):
        _known(f"{where}: files", study["files"], dimensions, f"{where}: scales")
        _known(f"{where}: scales", dimensions, study["files"], f"{where}: files")
    datasets = [dataset for group in study.get("task_types", {}).values() for dataset in group]
    for dataset in datasets:
        if datasets.count(dataset) > 1:
            raise ConfigError(f"config: {where}: task_types: the dataset '{dataset}' has two task types; keep one")


def _check_subset(where: str, subset: Mapping, config: Mapping) -> None:
    studies = config["studies"].values()
    known = {
        "models_dropped": config["models"],
        "dimension": {dimension for study in studies for dimension in study["scales"]},
        "task_type": {task_type for study in studies for task_type in study.get("task_types", {})},
        "dataset": {d for study in studies for group in study.get("task_types", {}).values() for d in group},
    }
    for key, values in subset.items():
        _known(
            f"{where}: {key}",
            values,
            known[key],
            "models" if key == "models_dropped" else f"any study's {key}s",
        )


def _known(where: str, names: Iterable[str], known: Iterable[str], place: str) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"config: {where}: '{name}' is not one of {place}{_suggestion(name, known)}")


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(sorted(known))}"
