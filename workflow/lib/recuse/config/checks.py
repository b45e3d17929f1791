"""Checks of the configuration: every key known, every value of its type, every name defined.

What the configuration says of an import: which keys go with which format, and which models a study has of its own.

What the configuration says of inference: the specs of each table, and the views of what is concluded.

What the configuration says of a study of comparisons.
"""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recuse.base.errors import ConfigError
from recuse.base.tables import CONTROL
from recuse.base.words import UNWRITABLE
from recuse.config.origins import ORIGINS, SOURCES, STAND_IN, TEXTS, VERDICTS_OF, analyses_of, origin_of_verdicts
from recuse.data.imports.formats import COMPARED, FORMATS, RATED
from recuse.data.registry import HUMAN, Registry, named_files
from recuse.data.scales import MOST_LEVELS, finest_step, in_whole_steps, possible_steps
from recuse.inference.robustness import TABLES, RobustnessCheck
from recuse.model.design import EQUATION_1
from recuse.model.spec import Spec, against_judges
from recuse.simulate.pairwise import declared_comparisons

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
        for key in sorted({*settings, *specs[name]} - {"subset", "covariance", "bootstrap", "wild", "tests"}):
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
    of_least_squares = {spec.get("covariance")} & {"HC2", "HC3", "CR1", "CR3", "two_way"}
    leveraged = of_least_squares & {"HC2", "HC3"}
    for clash in (
        set_keys & {"slice", "reference"},  # the reference families are the slices
        set_keys & {"length", "reference"},  # cells of another reference hold no lengths
        estimator | set_keys & {"length"},  # nor do those that the other estimators read
        estimator & {"gam"} | set_keys & {"terms"},  # its splines are by judge
        estimator | of_least_squares,  # so are leverages and sums by prompt
        leveraged | set_keys & {"length"},  # cells, which have one leverage, hold no lengths
        estimator | set_keys & {"bootstrap"},
        estimator | set_keys & {"wild"},
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


OF_FORMAT = {"columns": "table", "missing": "table", "judge": "inspect", "baseline": "arena_hard"}  # key -> its only format
OF_KIND = {"step": RATED, "round": RATED}  # key -> its only kind of study


def check_imports(config: Mapping) -> None:
    """Raise ConfigError, naming the key, unless every `import` and the families beside it are possible."""
    for kind in (RATED, COMPARED):
        for name, study in config[kind].items():
            where = f"{kind}: {name}"
            if "import" in study:
                _check_import(where, study, kind)
            if "families" in study:
                _check_families(where, study)


def _check_import(where: str, study: Mapping, kind: str) -> None:
    settings = study["import"]
    others = [key for key in ("files", "source", "simulate", "raters", "shards") if key in study]
    if others:
        raise ConfigError(f"config: {where}: found import with {others[0]}, which do not go together; keep one")
    said = settings.get("format")
    if said is not None and kind not in FORMATS[said].holds:
        raise ConfigError(
            f"config: {where}: import: format: {said} is read under `{FORMATS[said].holds[0]}:`; put the study there"
        )
    for key, format_of_key in OF_FORMAT.items():
        if key in settings and said not in (None, format_of_key):
            raise ConfigError(f"config: {where}: import: {key}: only the format {format_of_key} has it; leave `{key}` out")
    for key, only in OF_KIND.items():
        if key in settings and kind != only:
            raise ConfigError(f"config: {where}: import: {key}: verdicts have no scale; leave `{key}` out")
    for named in (settings, settings.get("references", {})):
        for path, _ in named_files(named.get("files", ())):
            if "{" in path or "}" in path:
                raise ConfigError(f"config: {where}: import: '{path}': braces mean a wildcard to Snakemake; rename the file")
    if kind == RATED:
        _check_scores(where, study, settings)


def _check_scores(where: str, study: Mapping, settings: Mapping) -> None:
    if "references" in settings and "human" in settings.get("columns", {}):
        raise ConfigError(f"config: {where}: import: found references with columns: human, of which one is enough; keep one")
    if "references" in settings:
        columns = settings["references"].get("columns", {})
        if not isinstance(columns.get("rating", ""), str) and "rater" in columns:
            raise ConfigError(
                f"config: {where}: import: references: found rater with several columns of ratings, each of which is one; keep "
                "one of the two"
            )
    _check_step(where, study["scales"], settings.get("step", 1))


def _check_step(where: str, scales: Mapping, step: float) -> None:
    for dimension, scale in scales.items():
        if isinstance(scale, str):
            continue
        of_scale = f"config: {where}: import: step: {step}: the scale {scale} of {dimension} has"
        if not in_whole_steps(scale, step):
            steps = possible_steps(scales)
            mend = f"write another step, such as {steps[-1]:g}" if steps else "write scales that are whole numbers of one step"
            raise ConfigError(f"{of_scale} no whole number of such steps; {mend}")
        if round((scale[1] - scale[0]) / step) >= MOST_LEVELS:
            finest = finest_step(scales)
            mend = "write a study for each dimension, each with its step"
            if finest is not None:
                mend = f"write `step: {finest:g}` with `round: true`, which takes each rating to the nearest step"
            raise ConfigError(f"{of_scale} {round((scale[1] - scale[0]) / step) + 1} levels, more than {MOST_LEVELS}; {mend}")


def _check_families(where: str, study: Mapping) -> None:
    if "import" not in study:
        raise ConfigError(f"config: {where}: families: goes with `import`; write the models under `models:` of config")
    seen: dict[str, str] = {}
    for family, names in study["families"].items():
        for model in names:
            if seen.setdefault(model, family) != family:
                raise ConfigError(f"config: {where}: families: '{model}' stands in {seen[model]} and in {family}; keep one")


OF_SPECS = ("placebo", "identifiability", "noisy_reference", "sensitivity", "missingness", "leaderboard")  # tables of specs


def check_inference(config: Mapping) -> None:
    """Raise ConfigError, naming the key, unless each table of `config` is of specs that have one, and each view of its rows."""
    inference, specs = config["inference"], config["specs"]
    for key in OF_SPECS:
        check_known(f"inference: {key}", inference[key], specs, "specs")
        for name in inference[key]:
            _check_spec_of_settings(f"inference: {key}: {name}", specs[name], absorbs=key == "identifiability")
    _check_stand_ins(inference["without_human_scores"], specs)
    views = RobustnessCheck.from_config(inference["conclusions"])
    for view in views:
        where = f"inference: conclusions: {view.name}"
        _check_table(where, view)
        _check_rows(where, view, inference, specs)
        same = next(other for other in views if other.title == view.title)
        if same is not view:
            raise ConfigError(f"config: {where}: title: '{view.title}' is also that of {same.name}; write another")


def _check_stand_ins(instead: Mapping[str, str], specs: Mapping[str, Mapping]) -> None:
    """Refuse a spec that is as little use without human scores as the one whose place it takes."""
    for name, stand_in in instead.items():
        where = f"inference: without_human_scores: {name}"
        check_known("inference: without_human_scores", [name], specs, "specs")
        check_known(where, [stand_in], specs, "specs")
        _check_spec_of_settings(where, specs[stand_in], absorbs=False)
        if not against_judges(Spec.of(stand_in, **specs[stand_in])):
            raise ConfigError(
                f"config: {where}: the spec {stand_in} needs human scores, too; take one with the term model or model:dimension"
            )
        if specs[stand_in].get("slice") != specs[name].get("slice"):
            raise ConfigError(f"config: {where}: the spec {stand_in} has other slices; take one with those of {name}")


def _check_spec_of_settings(where: str, spec: Mapping, *, absorbs: bool) -> None:
    """Refuse a spec that has no table beside its estimates."""
    unfit = {"estimator": "least_squares", "reference": None} | ({} if absorbs else {"absorb": None})
    for key, default in unfit.items():
        if spec.get(key, default) != default:
            raise ConfigError(f"config: {where}: a spec with {key}, which has no such table; leave it out")
    _check_biases(where, spec)


def _check_biases(where: str, spec: Mapping) -> None:
    if not {"self", "same_family"} & set(spec.get("terms", EQUATION_1)):
        raise ConfigError(
            f"config: {where}: a spec that estimates no self- or family-bias; take one with the term self or same_family"
        )


def _check_table(where: str, view: RobustnessCheck) -> None:
    """Refuse a way to decide, or methods, that the view's table does not have."""
    table = TABLES[view.table]
    if view.by not in table.by:
        raise ConfigError(
            f"config: {where}: by: found {view.by}, which the table {view.table} does not have; write {' or '.join(table.by)}"
        )
    if view.methods and not table.methods:
        raise ConfigError(f"config: {where}: methods: the table {view.table} has none; leave this key out")
    check_known(f"{where}: methods", view.methods, table.methods, f"the methods of the table {view.table}")
    if table.methods and not view.methods:
        raise ConfigError(
            f"config: {where}: methods: the table {view.table} has several rows of a bias; write some of "
            f"{', '.join(table.methods)}"
        )


def _check_rows(where: str, view: RobustnessCheck, inference: Mapping, specs: Mapping[str, Mapping]) -> None:
    """Refuse specs that are not there or without such rows of judges' own models, in points of the unit scale."""
    check_known(f"{where}: specs", view.specs, specs, "specs")
    for name in view.specs:
        place, spec = f"{where}: specs: {name}", specs[name]
        if spec.get("slice", "dimension") != "dimension" or spec.get("reference") or spec.get("estimator") == "ordinal_logit":
            raise ConfigError(f"config: {place}: found a slice not by dimension, a reference or log-odds; take another")
        _check_biases(place, spec)
        needed = view.decision.needs
        if needed and not any(spec.get(key) for key in needed):
            raise ConfigError(
                f"config: {place}: found no {' and no '.join(needed)}, without which there is no {view.by}; write it in this "
                "spec, or take another"
            )
        if view.table in inference:
            check_known(
                f"{where}: specs", [name], inference[view.table], f"inference: {view.table}, where its table comes from"
            )
    sliced = [specs[name].get("slice", "") for name in view.specs]
    if len(set(sliced)) < len(sliced) or ("" in sliced and any(specs[name].get("whole") for name in view.specs)):
        raise ConfigError(
            f"config: {where}: specs: {' and '.join(view.specs)} have rows of the same ratings; write a view for each"
        )


ANALYSIS_OF = {"pools": "verbosity", "worsening": "attacks"}  # setting -> the only analysis that reads it


def check_comparisons(config: Mapping) -> None:
    """Raise ConfigError, naming the key, unless the studies of comparisons in `config` are possible."""
    for name, study in config["comparisons"].items():
        where = f"comparisons: {name}"
        if name in config["studies"]:
            raise ConfigError(f"config: {where}: a study of ratings has this name; choose another")
        if not set(VERDICTS_OF) & set(study):
            raise ConfigError(f"config: {where}: found none of {', '.join(VERDICTS_OF)}; write one of them")
        if "source" in study:
            _check_source(where, study, config.get("sources", {}))
        check_braces(where, study)
        _check_analyses(where, study)
        if "models" in study.get("simulate", {}):
            _check_world_of_settings(where, study)


def _check_source(where: str, study: Mapping, sources: Mapping) -> None:
    source = study["source"]
    readable = [name for name in SOURCES if "manifest" in sources.get(name, {})]
    check_known(f"{where}: source", [source], readable, "the sources of comparisons that there is a reader for")
    own = [key for key in ("files", "simulate") if key in study]
    if own and SOURCES[source] != TEXTS:
        raise ConfigError(f"config: {where}: found source {source} with {own[0]}, of which only one can be read; keep one")


def _check_analyses(where: str, study: Mapping) -> None:
    """Refuse an analysis of verdicts that are not there, and settings that nothing reads."""
    if origin_of_verdicts(study) is None:
        for key in ("analyses", "both_orders", *ANALYSIS_OF):
            if key in study:
                raise ConfigError(f"config: {where}: {key}: its source holds no single verdicts; leave `{key}` out")
    for key, analysis in ANALYSIS_OF.items():
        if key in study and analysis not in analyses_of(study):
            raise ConfigError(f"config: {where}: {key}: only the analysis {analysis} reads it; leave it out, or add {analysis}")
    if "votes" in study.get("simulate", {}) and set(analyses_of(study)) != {"attacks"}:
        raise ConfigError(f"config: {where}: simulate: votes: these are attacks alone; write `analyses: [attacks]`")


def _check_world_of_settings(where: str, study: Mapping) -> None:
    simulate = study["simulate"]
    for name, judge in simulate["judges"].items():
        if CONTROL in judge.get("attacks", {}):
            raise ConfigError(f"config: {where}: simulate: judges: {name}: attacks: {CONTROL}: no attack; choose another name")
        if "own" in judge and name not in simulate["models"]:
            raise ConfigError(f"config: {where}: simulate: judges: {name}: own: it is none of `models`; leave `own` out")
    try:
        declared_comparisons(simulate)
    except ConfigError as error:
        raise ConfigError(f"config: {where}: {error}") from None
