"""What the configuration says of an import: which keys go with which format, and which models a study has of its own."""

from collections.abc import Mapping, Sequence

from judgebias.errors import ConfigError
from judgebias.imports.formats import COMPARED, FORMATS, RATED
from judgebias.settings import MOST_LEVELS
from judgebias.sources.raw_files import named_files

OF_FORMAT = {"columns": "table", "missing": "table", "judge": "inspect", "baseline": "arena_hard"}  # key -> its only format
OF_KIND = {"step": RATED, "round": RATED}  # key -> its only kind of study
NEAR = 1e-9
FEW = 10  # steps of a scale, of values that have any number of digits
STEPS = tuple(float(f"{digit}e{power}") for power in range(-6, 6) for digit in (1, 2, 5))


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
        if not _fits(step, scale):
            steps = possible_steps(scales)
            mend = f"write another step, such as {steps[-1]:g}" if steps else "write scales that are whole numbers of one step"
            raise ConfigError(f"{of_scale} no whole number of such steps; {mend}")
        if round((scale[1] - scale[0]) / step) >= MOST_LEVELS:
            finest = finest_step(scales)
            mend = "write a study for each dimension, each with its step"
            if finest is not None:
                mend = f"write `step: {finest:g}` with `round: true`, which takes each rating to the nearest step"
            raise ConfigError(f"{of_scale} {round((scale[1] - scale[0]) / step) + 1} levels, more than {MOST_LEVELS}; {mend}")


def possible_steps(scales: Mapping) -> list[float]:
    """Steps of 1, 2 or 5 and a power of ten, rising, that make at most MOST_LEVELS levels of every declared scale."""
    declared = [scale for scale in scales.values() if not isinstance(scale, str)]
    widths = [scale[1] - scale[0] for scale in declared]
    return [
        step
        for step in STEPS
        if widths and max(widths) / step < MOST_LEVELS - 1 + NEAR and all(_fits(step, scale) for scale in declared)
    ]


def finest_step(scales: Mapping) -> float | None:
    """The finest of the possible steps; None if there is none, or if a scale would have fewer than FEW of them."""
    widths = [scale[1] - scale[0] for scale in scales.values() if not isinstance(scale, str)]
    return next((step for step in possible_steps(scales) if min(widths) / step > FEW - NEAR), None)


def _fits(step: float, scale: Sequence[float]) -> bool:
    """Whether both ends of a scale, and what is between them, are whole numbers of steps, one or more."""
    ends = [end / step for end in scale]
    return all(abs(end - round(end)) <= NEAR * max(1, abs(end)) for end in ends) and round(ends[1]) > round(ends[0])


def _check_families(where: str, study: Mapping) -> None:
    if "import" not in study:
        raise ConfigError(f"config: {where}: families: goes with `import`; write the models under `models:` of config")
    seen: dict[str, str] = {}
    for family, names in study["families"].items():
        for model in names:
            if seen.setdefault(model, family) != family:
                raise ConfigError(f"config: {where}: families: '{model}' stands in {seen[model]} and in {family}; keep one")


def scales_in_steps(scales: Mapping, settings: Mapping) -> dict:
    """The scales of a study in the units of its raw ratings: steps of config's `import`."""
    step = settings.get("step", 1)
    return {
        dimension: scale if isinstance(scale, str) else [round(end / step) for end in scale]
        for dimension, scale in scales.items()
    }


def models_with(families: Mapping[str, list[str]], models: Mapping[str, Mapping]) -> dict[str, dict]:
    """Config's `models`, and those that a study's own `families` name, by the spelling that stands there.

    One that config knows too, by name or id, is in this study what the study says.
    """
    own = {model: {"family": family} for family, names in families.items() for model in names}
    known = {name: entry for name, entry in models.items() if name not in own}
    for name, entry in known.items():
        if set(entry.get("ids", ())) & own.keys():
            known[name] = {**entry, "ids": [spelling for spelling in entry["ids"] if spelling not in own]}
    return {**own, **known}


def tells_raters(settings: Mapping) -> bool:
    """True if the human scores of an import are those of single raters."""
    columns = settings.get("references", {}).get("columns", {})
    return "rater" in columns or not isinstance(columns.get("rating", ""), str)
