"""Checks of the configuration: every key known, every value of its type, every name defined."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from judgebias.characters import UNWRITABLE
from judgebias.errors import ConfigError
from judgebias.ratings.registry import HUMAN, Registry
from judgebias.sources.raw_files import named_files

ORIGINS = {
    "simulate": "simulated",
    "source": "published",
    "files": "user",
    "import": "user",
}  # where ratings come from -> what they are
STAND_IN = {"files", "simulate"}  # a simulation in the place of files that are not there
MOST_LEVELS = 101  # of a rating scale
DEEPEST = 20  # levels of keys: an alias of YAML may stand within what it stands for


def check(config: Mapping, schema: Mapping) -> None:
    """Raise ConfigError, naming the key, unless `config` fits `schema` and its names refer to each other."""
    for where, value in _values_in(config):
        _check_value(where, value)
    _check_schema(config, schema)
    check_known("build", config["build"], {**config["studies"], **config["comparisons"]}, "studies")
    if HUMAN in config["models"]:
        raise ConfigError(f"config: models: {HUMAN}: the name of the human scores; write another")
    for name, model in config["models"].items():
        check_known(f"models: {name}: family", [model["family"]], config["families"], "families")
    Registry.from_config(config["models"])
    for name, study in config["studies"].items():
        _check_study(f"studies: {name}", study, config.get("sources", {}), config["models"])
    for name, spec in config["specs"].items():
        _check_spec(f"specs: {name}", spec)
        _check_subset(f"specs: {name}: subset", spec.get("subset", {}), config)


def in_order_of(base: Mapping, settings: Mapping) -> dict:
    """Return `settings` with the keys of `base` in its order first, at every level: figures follow the order of models.

    Snakemake puts the keys of `--configfile` before those of the file that they add to.
    """
    keys = [*(key for key in base if key in settings), *(key for key in settings if key not in base)]
    nested = {key for key in keys if isinstance(settings[key], Mapping) and isinstance(base.get(key), Mapping)}
    return {key: in_order_of(base[key], settings[key]) if key in nested else settings[key] for key in keys}


def kind_of(study: Mapping) -> str:
    """What the ratings of a study are: simulated, published or user, by where they come from."""
    return next(kind for origin, kind in ORIGINS.items() if origin in study)


def with_stand_ins(studies: Mapping[str, Mapping], exists: Callable[[str], bool]) -> dict[str, dict]:
    """Return `studies` with one origin each: of `files` and `simulate` the files if they exist, else the stand-in, so named."""
    settled = {}
    for name, study in studies.items():
        settled[name] = dict(study)
        if set(study) >= STAND_IN:
            # A file that is not there beside others is missed when the study is built.
            there = any(exists(path) for path, _ in named_files(study["files"]))
            settled[name] = {key: value for key, value in study.items() if key != ("simulate" if there else "files")}
            settled[name]["title"] = study["title"] if there else f"simulated stand-in for {study['title']}"
    return settled


def _values_in(node: object, path: tuple = ()) -> Iterator[tuple[str, object]]:
    """Every key, text and number of the configuration, with where it stands."""
    where = "".join(f"{key}: " for key in path)
    if len(path) > DEEPEST:
        raise ConfigError(f"config: {path[0]}: more than {DEEPEST} levels of keys, or an alias within itself; write fewer")
    if not isinstance(node, (Mapping, list)):
        yield where, node
        return
    for key, value in node.items() if isinstance(node, Mapping) else enumerate(node):
        yield where, key
        yield from _values_in(value, (*path, key))


def _check_value(where: str, value: object) -> None:
    if isinstance(value, str) and UNWRITABLE.search(value):
        raise ConfigError(f"config: {where}found {value!a}, with a character that cannot be written; leave it out")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"config: {where}found {value}; write a finite number")


def _check_schema(config: Mapping, schema: Mapping) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend

    validator = extend(Draft202012Validator, {"pattern": _of_pattern})
    error = best_match(validator(schema).iter_errors(config))
    if error is None:
        return
    where = "".join(f"{key}: " for key in error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(known), key=str)
        raise ConfigError(f"config: {where}unknown key '{unknown[0]}'{_suggestion(unknown[0], known)}")
    described = error.schema.get("description")
    raise ConfigError(f"config: {where}{error.message}" + (f" ({described})" if described else ""))


def _of_pattern(_: object, pattern: str, value: object, __: Mapping) -> Iterator:
    """As jsonschema does, but that to Python `$` is also before a line break at the end."""
    from jsonschema import ValidationError

    if isinstance(value, str) and (value.endswith("\n") or not re.search(pattern, value)):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def check_redefined(specs: Mapping[str, Mapping], own: Mapping[str, Mapping]) -> None:
    """Raise ConfigError where `specs` makes another model of one of the project's `own` specs, which figures are named after.

    Its subset and its errors may change: other studies have other weak models.
    """
    for name, settings in own.items():
        for key in sorted({*settings, *specs[name]} - {"subset", "covariance", "bootstrap", "wild", "tests", "engine"}):
            if settings.get(key) != specs[name].get(key):
                raise ConfigError(
                    f"config: specs: {name}: {key}: found {specs[name].get(key)}; this spec is what the figures call it, so "
                    "write yours under a name of its own"
                )


def _check_world(where: str, simulate: Mapping, models: Mapping[str, Mapping]) -> None:
    check_known(f"{where}: quality", simulate["quality"], models, "models")
    check_known(f"{where}: judges", simulate["judges"], simulate["quality"], f"{where}: quality")
    families = {models[model]["family"] for model in simulate["quality"]}
    check_known(f"{where}: family_bias", simulate.get("family_bias", {}), families, "the families of these models")


def _check_study(where: str, study: Mapping, sources: Mapping, models: Mapping) -> None:
    origins = [key for key in ORIGINS if key in study]
    if len(origins) != 1 and set(origins) != STAND_IN:
        raise ConfigError(
            f"config: {where}: found {', '.join(origins) or 'none'} of {', '.join(ORIGINS)}; write one of them, or `files` "
            "with `simulate`, which stands in while there are no such files"
        )
    if "quality" in study.get("simulate", {}):
        _check_world(f"{where}: simulate", study["simulate"], models)
    if "raters" in study and "files" not in study:
        raise ConfigError(f"config: {where}: raters: goes with `files`; a simulated study makes its own raters")
    dimensions = study["scales"]
    for dimension, scale in dimensions.items():
        if scale != "observed":
            _check_scale(f"{where}: scales: {dimension}", scale, imported="import" in study)
        if scale == "observed" and "shards" in study:
            raise ConfigError(
                f"config: {where}: scales: {dimension}: observed, which takes all files at once, does not go with `shards`; "
                "declare the scale as [lowest, highest]"
            )
    if "source" in study:
        check_known(f"{where}: source", [study["source"]], sources, "sources")
        files = sources[study["source"]].get("files", {})
        check_known(f"{where}: scales", dimensions, files, f"sources: {study['source']}: files")
    check_braces(where, study)
    if isinstance(study.get("files"), Mapping):
        check_known(f"{where}: files", study["files"], dimensions, f"{where}: scales")
        check_known(f"{where}: scales", dimensions, study["files"], f"{where}: files")
    datasets = [dataset for group in study.get("task_types", {}).values() for dataset in group]
    for dataset in datasets:
        if datasets.count(dataset) > 1:
            raise ConfigError(f"config: {where}: task_types: the dataset '{dataset}' has two task types; keep one")


def _check_scale(where: str, scale: Sequence[float], *, imported: bool) -> None:
    """Of what is imported, the step says how many ratings a scale has."""
    if not imported and any(int(end) != end for end in scale):
        raise ConfigError(
            f"config: {where}: found {scale}; write whole numbers, or, of ratings such as 0.5, import the files, with "
            "`step: 0.5` beside `import: files`"
        )
    if not 0 < scale[1] - scale[0] < (math.inf if imported else MOST_LEVELS):
        raise ConfigError(f"config: {where}: found {scale}; write [lowest, highest], at most {MOST_LEVELS} ratings")


def _check_spec(where: str, spec: Mapping) -> None:
    """Refuse settings of a spec that do not go together; at most one key of each of these sets is taken."""
    set_keys = {key for key, value in spec.items() if value}
    estimator = {spec["estimator"]} - {"least_squares"} if "estimator" in spec else set()
    engine = {spec["engine"]} - {"cells"} if "engine" in spec else set()
    of_least_squares = {spec.get("covariance")} & {"HC2", "HC3", "CR1", "CR3", "two_way"}
    leveraged = of_least_squares & {"HC2", "HC3"}
    for clash in (
        set_keys & {"slice", "reference"},  # the reference families are the slices
        set_keys & {"length", "reference"},  # cells of another reference hold no lengths
        estimator | set_keys & {"length"},  # nor do those that the other estimators read
        estimator | engine,  # statsmodels checks least squares
        estimator & {"gam"} | set_keys & {"terms"},  # its splines are by judge
        estimator | of_least_squares,  # so are leverages and sums by prompt
        leveraged | set_keys & {"length"},  # cells, which have one leverage, hold no lengths
        estimator | set_keys & {"bootstrap"},
        estimator | set_keys & {"wild"},
        engine | set_keys & {"bootstrap"},
        engine | set_keys & {"wild"},
        estimator | set_keys & {"absorb"},  # sums by prompt, too
    ):
        if len(clash) > 1:
            raise ConfigError(f"config: {where}: found {' with '.join(sorted(clash))}, which do not go together; keep one")
    if "whole" in set_keys and "slice" not in set_keys:
        raise ConfigError(f"config: {where}: whole: there is no slice beside it; leave `whole` out, it is the default then")
    terms = set(spec.get("terms", ["judge"]))
    for one, other in (("intercept", "judge"), ("reference", "judge:reference"), ("model", "model:dimension")):
        if {one, other} <= terms:
            raise ConfigError(f"config: {where}: terms: found {one} with {other}, of which one contains the other; keep one")
    if "absorb" in set_keys and spec.get("covariance") not in ("CR1", "CR3"):
        raise ConfigError(
            f"config: {where}: absorb: its errors are by prompt; write `covariance: CR1` or `covariance: CR3` beside it"
        )
    if not terms & {"intercept", "judge"}:
        raise ConfigError(f"config: {where}: terms: found neither intercept nor judge; write one of them")


def _check_subset(where: str, subset: Mapping, config: Mapping) -> None:
    studies = config["studies"].values()
    own = {model for study in studies for names in study.get("families", {}).values() for model in names}
    known = {
        "models_dropped": {*config["models"], *own},
        "dimension": {dimension for study in studies for dimension in study["scales"]},
    }
    if all("task_types" in study for study in studies):  # a study without them may hold any dataset
        known["task_type"] = {task_type for study in studies for task_type in study["task_types"]}
        known["dataset"] = {d for study in studies for group in study["task_types"].values() for d in group}
    for key, values in subset.items():
        if key in known:
            check_known(f"{where}: {key}", values, known[key], "models" if key == "models_dropped" else f"any study's {key}s")


def check_braces(where: str, study: Mapping) -> None:
    """Raise ConfigError about a file of a study with a brace in its name."""
    for path, _ in named_files(study.get("files", ())):
        if "{" in path or "}" in path:
            raise ConfigError(f"config: {where}: files: '{path}': braces mean a wildcard to Snakemake; rename the file")


def check_known(where: str, names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Raise ConfigError about the first of `names` that is not in `known`, which `place` describes."""
    for name in names:
        if name not in known:
            raise ConfigError(f"config: {where}: '{name}' is not one of {place}{_suggestion(name, known)}")


def _suggestion(name: str, known: Iterable[str]) -> str:
    names = sorted(map(str, known))  # a key of YAML may be a number
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(names)}"
