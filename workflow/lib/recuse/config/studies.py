"""What the rules ask of the configuration: a study's origin, files and models; specs and settings
of the inference tables.

Most functions take `config`, in which every study has one origin (see `with_placeholders`), and
`study`, a name under `studies` or `comparisons`. A missing file is a ConfigError.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from recuse.base.errors import ConfigError, did_you_mean
from recuse.base.places import WORKFLOW, is_result
from recuse.base.products import RATINGS, VERDICTS, registered
from recuse.base.tables import read_table
from recuse.data.registry import (
    Registry,
    files_in,
    has_individual_raters,
    models_with,
    named_files,
    raw_files,
)
from recuse.model.spec import in_place

DATA = os.path.relpath(WORKFLOW / "data")  # published numbers, and lists of published files
# Origin -> kind of data; of several origins, the first counts.
KINDS = {"simulate": "simulated", "files": "user", "import": "user", "source": "published"}
COMPRESSION = 8  # as CSV, parquet or gzip is about this many times its size
# Keys of a study that is simulated for as long as its files are missing
PLACEHOLDER = {"files", "simulate"}
DEFAULT_ANALYSES = ("verbosity", "regression")  # of verdicts


def published_sources() -> dict[str, str]:
    """The published sources with a manifest that a product reads, and what each holds: RATINGS,
    VERDICTS, RANKINGS or TEXTS.
    """
    return {source: holds for product in registered() for source, holds in product.sources.items()}


def with_placeholders(
    studies: Mapping[str, Mapping], exists: Callable[[str], bool]
) -> dict[str, dict]:
    """Return `studies` with one origin each: of `files` and `simulate`, the files if any exists,
    else the placeholder.
    """
    settled = {}
    for name, study in studies.items():
        dropped, title = set(), study["title"]
        if study.keys() >= PLACEHOLDER:
            # If only some files exist, the others are missed when the study is built.
            missing = not any(exists(path) for path, _ in named_files(study["files"]))
            # A simulation makes its own raters
            dropped = {"files", "raters", "verify"} if missing else {"simulate"}
            title = f"simulated placeholder for {title}" if missing else title
        settled[name] = {key: value for key, value in study.items() if key not in dropped} | {
            "title": title
        }
    return settled


def origin_of_verdicts(settings: Mapping) -> str | None:
    """Origin of a study's verdicts, one of KINDS; None if its source has no single verdicts."""
    origin = next(origin for origin in KINDS if origin in settings)
    return (
        None
        if origin == "source" and published_sources()[settings["source"]] != VERDICTS
        else origin
    )


def analyses_of(settings: Mapping) -> list[str]:
    """What is computed from a study's verdicts; nothing if it has none."""
    return list(settings.get("analyses", DEFAULT_ANALYSES)) if origin_of_verdicts(settings) else []


def has_gold_labels(settings: Mapping) -> bool:
    """Whether the reference of a study's ratings are gold labels, not human scores."""
    return bool(settings.get("import", {}).get("gold"))


def is_keyed(config: Mapping, study: str) -> bool:
    """Whether the reference of a study's ratings are gold labels."""
    return has_gold_labels(settings_of(config, study))


def settings_of(config: Mapping, study: str) -> Mapping:
    """The entry of a study, of ratings or of comparisons."""
    return config[section_of(config, study)][study]


REQUIRED_SPECS = ("main", "by_dimension")


def config_of(config: Mapping, study: str) -> Mapping:
    """The configuration as a study has it: with its `specs` in place of the others, and its keys of
    `inference`.
    """
    settings = config["studies"].get(study, {})
    if not settings.keys() & {"specs", "inference"}:
        return config
    specs = config["specs"]
    if "specs" in settings:
        names = Registry.from_config(models_of(config, study)).names
        of_study = {name: with_names(spec, names) for name, spec in settings["specs"].items()}
        specs = {name: specs[name] for name in REQUIRED_SPECS} | of_study
    return {
        **config,
        "specs": specs,
        "inference": {**config["inference"], **settings.get("inference", {})},
    }


def with_names(spec: Mapping, names: Mapping[str, str]) -> Mapping:
    """The settings of a spec, where `models_dropped` has a model's name for its id; names: by
    id.
    """
    if "models_dropped" not in spec.get("subset", {}):
        return spec
    dropped = [names.get(model, model) for model in spec["subset"]["models_dropped"]]
    return {**spec, "subset": {**spec["subset"], "models_dropped": dropped}}


def every_spec(config: Mapping) -> dict[str, Mapping]:
    """The specs of the configuration and those of single studies."""
    return dict(config["specs"]) | {
        name: spec
        for settings in config["studies"].values()
        for name, spec in settings.get("specs", {}).items()
    }


# Stage of fits -> the folder of a study where its tables of remarks, smooths and tests are. Each
# stage adds to those of the one before, so that no figure waits for fits that it does not show.
STAGES = {"fit": "stages/fit", "slices": "stages/slices", "ablations": "tables"}
SLICES = ("by_dimension", "by_dataset", "by_task_type", "one_model_dropped")
# May differ between specs of one model
ERRORS = frozenset({"covariance", "bootstrap", "wild", "tests"})


class Fit(NamedTuple):
    """A rule that fits specs: of a stage, to some studies; order: its specs among those of earlier
    stages, as in config.
    """

    rule: str
    stage: str
    studies: list[str]
    specs: Mapping[str, Mapping]
    order: list[str]


def fits(config: Mapping) -> list[Fit]:
    """The rules that fit specs: one a stage for all studies, and for each study with specs of its
    own.
    """
    apart = [study for study, settings in config["studies"].items() if "specs" in settings]
    shared = [study for study in config["studies"] if study not in apart]
    of_studies = [("", shared, config["specs"])]
    of_studies += [(f"_{study}", [study], config_of(config, study)["specs"]) for study in apart]
    rules = []
    for suffix, fitted, specs in of_studies:
        stages, before = stage_by_spec(specs), []
        for stage in STAGES:
            of_stage = {name: spec for name, spec in specs.items() if stages[name] == stage}
            before += of_stage
            order = [name for name in specs if name in before]
            rules.append(Fit(f"{stage}{suffix}", stage, fitted, of_stage, order))
    return rules


def stage_by_spec(specs: Mapping[str, Mapping]) -> dict[str, str]:
    """The stage of each spec: with the main fit and the slices, those that have a wild bootstrap of
    the same model.
    """
    stages = {}
    for name, spec in specs.items():
        stages[name] = "ablations"
        for stage, shown in (("slices", SLICES), ("fit", ["main"])):
            models = [without_errors(specs[each]) for each in shown if each in specs]
            if name in shown or ("wild" in spec and without_errors(spec) in models):
                stages[name] = stage
    return stages


def without_errors(spec: Mapping) -> dict[str, object]:
    """The settings of a spec's model, without those of its errors and tests."""
    return {key: value for key, value in spec.items() if key not in ERRORS}


def section_of(config: Mapping, study: str) -> str:
    """`studies` or `comparisons`, whichever has the study."""
    return "comparisons" if study in config["comparisons"] else "studies"


def check_names(config: Mapping, rules: set[str]) -> None:
    """Raise ConfigError if one of `rules` has the name of a study, which becomes the name of a
    rule.
    """
    for study in {*config["studies"], *config["comparisons"]} & rules:
        raise ConfigError(
            f"config: {section_of(config, study)}: {study}: the name of a rule of this workflow;"
            " choose another"
        )


def kind(config: Mapping, study: str) -> str:
    """Kind of a study's data: simulated, published or user."""
    settings = settings_of(config, study)
    return next(kind for origin, kind in KINDS.items() if origin in settings)


def is_simulated(config: Mapping, study: str) -> bool:
    """Whether data are simulated, also as a placeholder."""
    return "simulate" in settings_of(config, study)


def replicates_play_favorites(config: Mapping, study: str) -> bool:
    """Whether a study is compared with the paper's numbers: the ratings of Play Favorites,
    published or simulated.
    """
    settings = config["studies"].get(study, {})
    if "source" in settings:
        return settings["source"] not in published_sources()
    return "simulate" in settings and "quality" not in settings["simulate"]


def is_released(config: Mapping, study: str) -> bool:
    """Whether a study's ratings are read from published files of a format of their own."""
    return (
        study in config["studies"] and published_sources().get(source_of(config, study)) == RATINGS
    )


def is_compared(config: Mapping, study: str) -> bool:
    """Whether a study of ratings is compared with published numbers."""
    return replicates_play_favorites(config, study) or is_released(config, study)


def has_files_of_dimensions(config: Mapping, study: str) -> bool:
    """Whether a study's ratings are published as one file for each dimension."""
    return bool(source_of(config, study)) and not is_released(config, study)


def import_of(config: Mapping, study: str) -> Mapping:
    """Settings of a study's import, {} if it has none."""
    return settings_of(config, study).get("import", {})


def is_imported(config: Mapping, study: str) -> bool:
    """Whether a study's raw ratings are written by this workflow, which states scales and steps
    beside them.
    """
    return bool(import_of(config, study)) or is_released(config, study)


def source_of(config: Mapping, study: str) -> str | None:
    """A study's key of `sources`, None if it has none."""
    return settings_of(config, study).get("source")


def analyses(config: Mapping, study: str) -> list[str]:
    """What is computed from the verdicts of a study of comparisons; nothing for ratings."""
    return analyses_of(settings_of(config, study)) if study in config["comparisons"] else []


def has_raters(config: Mapping, study: str) -> bool:
    """Whether a study of ratings has the scores of single raters."""
    settings = settings_of(config, study)
    return bool({"simulate", "raters"} & set(settings)) or has_individual_raters(
        import_of(config, study)
    )


def imports_raters(config: Mapping, study: str) -> bool:
    """Whether a study imports the scores of single raters."""
    return has_individual_raters(import_of(config, study))


def has_alphas(config: Mapping, study: str) -> bool:
    """Whether the raters' agreement is published, and the scores of single raters are not."""
    return replicates_play_favorites(config, study) and not has_raters(config, study)


def models_of(config: Mapping, study: str) -> dict[str, Mapping]:
    """The models of config that a study may have: of simulated ratings, those declared or in the
    published tables.
    """
    settings = settings_of(config, study)
    if listed := config["sources"].get(source_of(config, study), {}).get("models"):
        return _listed_models(listed)
    if "simulate" not in settings or study in config["comparisons"]:
        return models_with(settings.get("families", {}), config["models"])
    simulated = settings["simulate"].get("quality")
    if simulated is None:
        simulated = _published_models()
    return {name: model for name, model in config["models"].items() if name in simulated}


@cache
def _listed_models(table: str) -> dict[str, Mapping]:
    rows = read_table(WORKFLOW / "data" / "sources" / table)
    return {row["model"]: {"family": row["family"], "ids": [row["id"]]} for row in rows}


@cache
def _published_models() -> set[str]:
    return {row["model"] for row in read_table(f"{DATA}/play_favorites_mean_scores.csv")}


def families_of(config: Mapping, study: str) -> dict[str, str]:
    """Model -> family, for the models that a study may have."""
    return {name: model["family"] for name, model in models_of(config, study).items()}


def order_of(config: Mapping, study: str) -> dict[str, list[str]]:
    """Judges and families of a study in config's order, by the quantity that has them as terms."""
    families = families_of(config, study)
    return {"self_bias": list(families), "family_bias": list(dict.fromkeys(families.values()))}


def scales_of(config: Mapping, study: str) -> dict[str, object]:
    """A study's scales; what an import writes says what they are in steps."""
    return config["studies"][study]["scales"]


def raw_of(config: Mapping, study: str) -> list[tuple[str, str | None]]:
    """(path, dimension) of each raw file; the dimension is None if the file has a column
    `dimension`.
    """
    settings = config["studies"][study]
    if "simulate" in settings or is_imported(config, study):
        return [(f"results/{study}/raw/ratings.parquet", None)]
    if "source" in settings:
        return [
            (f"results/{study}/raw/{dimension}.csv", dimension) for dimension in settings["scales"]
        ]
    try:
        raw = raw_files(named_files(settings["files"]))
    except ConfigError as error:
        raise _refused(config, study, "files", error) from None
    for path, _ in raw:
        if "{" in path or "}" in path:  # in a folder; names in config have been checked
            raise _refused(
                config,
                study,
                "files",
                f"'{path}': braces mean a wildcard to Snakemake; rename the file",
            )
        _existing(config, study, "files", path)
    return raw


def raw_paths(config: Mapping, study: str, part: str | None = None) -> list[str]:
    """The raw files of a study of ratings, or of one of its parts."""
    return [
        path
        for path, _ in (raw_of(config, study) if part is None else part_of(config, study, part))
    ]


def raw_dimensions(config: Mapping, study: str, part: str | None = None) -> list[str | None]:
    """The dimension of each of `raw_paths`."""
    return [
        dimension
        for _, dimension in (
            raw_of(config, study) if part is None else part_of(config, study, part)
        )
    ]


def raw_megabytes(config: Mapping, study: str, part: str | None = None) -> float:
    """Size, as CSV, of the files that a study is read from; 0 for files that are not there yet."""
    if import_of(config, study):
        return csv_megabytes(imported_files(config, study))
    return csv_megabytes(
        verdict_files(config, study)
        if study in config["comparisons"]
        else raw_paths(config, study, part)
    )


def csv_megabytes(paths: Iterable[str]) -> float:
    """Megabytes that files, and folders of files, would take as CSV; 0 for one not yet made."""
    files = [
        file
        for path in map(Path, paths)
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file()
    ]
    return (
        sum(file.stat().st_size * (1 if file.suffix == ".csv" else COMPRESSION) for file in files)
        / 1e6
    )


def raters_of(config: Mapping, study: str) -> list[str]:
    """The file of the single raters' scores, in a list; [] if there is none."""
    if "raters" in config["studies"][study]:
        return [_existing(config, study, "raters", config["studies"][study]["raters"])]
    return [f"results/{study}/raw/raters.parquet"] if has_raters(config, study) else []


def imported_files(config: Mapping, study: str) -> list[str]:
    """The files of judgments that a study imports; of one that asks judges, the table of their
    answers.
    """
    if asks_judges(config, study):
        return [import_of(config, study)["files"]]
    return _files_named(config, study, import_of(config, study), key="import: files")


def asking_judges(config: Mapping) -> list[str]:
    """The studies whose judges are asked."""
    return [
        study
        for section in ("studies", "comparisons")
        for study in config[section]
        if asks_judges(config, study)
    ]


def asks_judges(config: Mapping, study: str) -> bool:
    """Whether the judges of a study are asked."""
    return "collect" in settings_of(config, study)


def asked_about(config: Mapping, study: str) -> list[str]:
    """The files of prompts, answers and prices that a study asks judges by."""
    collect = settings_of(config, study)["collect"]
    tables = [collect[key] for key in ("prompts", "answers", "prices") if key in collect]
    paths = [table if isinstance(table, str) else table["file"] for table in tables]
    return [_existing(config, study, "collect", path) for path in paths]


def reference_files(config: Mapping, study: str) -> list[str]:
    """The files of human scores or verdicts that a study imports."""
    return _files_named(
        config,
        study,
        import_of(config, study).get("references", {}),
        key="import: references: files",
    )


def repository_of(config: Mapping, study: str) -> dict[str, str]:
    """A study's published repository and commit."""
    source = config["sources"][source_of(config, study)]
    return {key: source[key] for key in ("repository", "commit")}


def published_files(config: Mapping, study: str, *dimensions: str) -> list[tuple[str, str]]:
    """(path, git blob id) of each published file; for ratings, of these dimensions, by default of
    all.
    """
    name = source_of(config, study)
    source = config["sources"][name]
    if "manifest" not in source:
        wanted = dimensions or config["studies"][study]["scales"]
        return [
            (file["path"], file["blob"])
            for dimension, file in source["files"].items()
            if dimension in wanted
        ]
    manifest = Path(DATA, "sources", source["manifest"])
    if not manifest.is_file():
        raise ConfigError(
            f"config: sources: {name}: manifest: '{manifest.name}': no such file in"
            f" {manifest.parent}"
        )
    return [(row["path"], row["blob"]) for row in read_table(manifest)]


def with_manifest(config: Mapping) -> list[str]:
    """The studies whose published files are listed in a manifest."""
    studies = [*config["studies"], *config["comparisons"]]
    return [
        study
        for study in studies
        if "manifest" in config["sources"].get(source_of(config, study), {})
    ]


def released_files(config: Mapping, study: str) -> list[str]:
    """Paths of a source's files once they are fetched."""
    return [f"results/{study}/raw/{path}" for path, _ in published_files(config, study)]


def verdict_files(config: Mapping, study: str) -> list[str]:
    """The files from which the verdicts of a study of comparisons are read."""
    settings = config["comparisons"][study]
    origin = origin_of_verdicts(settings)
    if origin == "source":
        return released_files(config, study)
    if origin == "files":
        return [
            _existing(config, study, "files", path) for path, _ in named_files(settings["files"])
        ]
    return [f"results/{study}/raw/{'verdicts' if origin == 'import' else 'comparisons'}.parquet"]


def verdict_reader(config: Mapping, study: str) -> str:
    """The function, `module:function`, that reads a study's files of verdicts; "" if these are
    canonical tables.
    """
    settings = config["comparisons"][study]
    if origin_of_verdicts(settings) != "source":
        return ""
    readers = {
        source: reader for product in registered() for source, reader in product.readers.items()
    }
    return readers[settings["source"]]


def simulator(config: Mapping, study: str) -> str:
    """The function, `module:function`, that simulates a study as it was published; "" for one with
    a world of its own.
    """
    section, settings = section_of(config, study), settings_of(config, study)["simulate"]
    if "quality" in settings or (section == "comparisons" and "votes" not in settings):
        return ""
    return next(
        product.simulators[section] for product in registered() if section in product.simulators
    )


def plants_published_attacks(config: Mapping, study: str) -> bool:
    """Whether simulated votes have the published success rates of attacks."""
    return "votes" in settings_of(config, study)["simulate"]


def records_of_data(config: Mapping, study: str) -> list[str]:
    """The records of the jobs that read the user's files."""
    jobs: list[str] = []
    if asks_judges(config, study):
        jobs = ["collect", "import"]
    elif import_of(config, study):
        jobs = ["import"]
    elif "files" in settings_of(config, study) and study in config["comparisons"]:
        jobs = ["comparisons"]
    elif "files" in settings_of(config, study):
        parts = len(parts_of(config, study))
        jobs = [f"check_part_{part}" for part in range(1, parts + 1)] or ["ratings"]
        jobs += ["agreement"] if raters_of(config, study) else []
    return [f"results/{study}/made/{job}.json" for job in jobs]


def declared_of(config: Mapping, study: str) -> dict[str, Mapping]:
    """The SHA-256 and rows that config declares of a user's files, by path; ConfigError about a
    path that is none of them.
    """
    declared = settings_of(config, study).get("verify", {})
    if not declared:
        return {}
    if import_of(config, study):
        files = imported_files(config, study) + reference_files(config, study)
    elif study in config["comparisons"]:
        files = verdict_files(config, study)
    else:
        files = raw_paths(config, study) + raters_of(config, study)
    places = {os.path.realpath(path) for path in files}
    for path in declared:
        if os.path.realpath(path) not in places:
            unknown = f"'{path}' is not one of the files of the study{did_you_mean(path, files)}"
            raise _refused(config, study, "verify", unknown)
    return dict(declared)


def origin_of(config: Mapping, study: str) -> dict[str, object]:
    """Origin of a study's data: repository, commit and git blob ids, settings of the simulation, or
    both.
    """
    settings = settings_of(config, study)
    origin = {key: settings[key] for key in ("simulate", "source") if key in settings}
    if "source" in origin:
        origin["source"] = {**repository_of(config, study), "files": published_files(config, study)}
    return origin


def shards_of(config: Mapping, study: str) -> list[str]:
    """Names of a study's shards, each with their number, so that another number makes other files;
    [] if it has none.
    """
    shards = config["studies"][study].get("shards", 0)
    return [f"{shard:0{len(str(shards))}}-of-{shards}" for shard in range(1, shards + 1)]


def shard_files(config: Mapping, study: str, name: str) -> list[str]:
    """The file `name` of every shard, in order."""
    return [f"results/{study}/shards/{shard}/{name}" for shard in shards_of(config, study)]


def ratings_of(config: Mapping, study: str) -> list[str]:
    """The canonical ratings of a study: one file, or its shards in order."""
    return shard_files(config, study, "ratings.parquet") or [f"results/{study}/ratings.parquet"]


def raw_of_shard(config: Mapping, study: str, shard: str, shards: str) -> list[str]:
    """The raw files of a study, if it has this shard; else ConfigError."""
    names, name = shards_of(config, study), f"{shard}-of-{shards}"
    if name not in names:
        raise ConfigError(
            f"results/{study}/shards/{name}: config: studies: {study}: shards: {len(names)}; ask"
            f" for {names[0]} to {names[-1]}"
        )
    return raw_paths(config, study)


def parts_of(config: Mapping, study: str) -> list[list[tuple[str, str | None]]]:
    """The raw files of a sharded study as (path, dimension), in one list for each job that checks
    them.

    They are dealt in turn, whatever their size, so that a file that grows or is added concerns one
    job.
    """
    raw = raw_of(config, study)
    jobs = min(len(raw), len(shards_of(config, study)))
    return [raw[job::jobs] for job in range(jobs)]


def part_of(config: Mapping, study: str, part: str) -> list[tuple[str, str | None]]:
    """The raw files that job number `part` checks, from 1; ConfigError if there is no such job."""
    parts = parts_of(config, study)
    if int(part) > len(parts):
        raise ConfigError(
            f"results/{study}/checked/{part}: the raw files of {study} are checked by {len(parts)}"
            f" jobs; ask for 1 to {len(parts)}"
        )
    return parts[int(part) - 1]


def shard_megabytes(config: Mapping, study: str) -> float:
    """A shard's share of the size of the raw files."""
    return raw_megabytes(config, study) / len(shards_of(config, study))


def part_files(config: Mapping, study: str, name: str) -> list[str]:
    """The file `name`, rows or summary, of every job that checks raw files."""
    return [
        f"results/{study}/checked/{part}.{name}.parquet"
        for part in range(1, len(parts_of(config, study)) + 1)
    ]


def _files_named(config: Mapping, study: str, settings: Mapping, *, key: str) -> list[str]:
    """The files that a part of an `import` names, including those in folders."""
    try:
        paths = [
            path for name, _ in named_files(settings.get("files", ())) for path in files_in(name)
        ]
    except ConfigError as error:
        raise _refused(config, study, key, error) from None
    return [_existing(config, study, key, path) for path in paths]


def _existing(config: Mapping, study: str, key: str, path: str) -> str:
    """The path of a user's file; ConfigError if it does not exist, or is where results are, whose
    changes are not seen.
    """
    if not os.path.isfile(path):
        raise _refused(config, study, key, f"'{path}': no such file in {Path.cwd()}")
    if is_result(path, config):
        raise _refused(
            config, study, key, f"'{path}' lies among the results; move it to another folder"
        )
    return path


def _refused(config: Mapping, study: str, key: str, why: object) -> ConfigError:
    return ConfigError(f"config: {section_of(config, study)}: {study}: {key}: {why}")


def inference_params(
    config: Mapping, tables: Sequence[str], *keys: str, also: Iterable[str] = ()
) -> dict[str, Mapping]:
    """Settings of these `tables` and further `keys` of `inference`, and the specs of the tables and
    of `also`.

    With the key `without_human_scores`, also their substitutes.
    """
    settings = {key: config["inference"][key] for key in (*tables, *keys)}
    names = [*also, *(name for table in tables for name in settings[table])]
    names += in_place(names, settings.get("without_human_scores", {}))
    return {"settings": settings, "specs": {name: config["specs"][name] for name in names}}


def conclusions_params(config: Mapping) -> dict[str, object]:
    """The robustness checks, their specs with their substitutes, and the levels by which they are
    judged.
    """
    checks, instead = (
        config["inference"]["robustness_checks"],
        config["inference"]["without_human_scores"],
    )
    names = [
        spec
        for check in checks.values()
        for spec in (*check["specs"], *in_place(check["specs"], instead))
    ]
    return {
        "checks": checks,
        "specs": {name: config["specs"][name] for name in names},
        "confidence": config["confidence"],
        "power": config["inference"]["power"]["power"],
    }


def preference_settings(config: Mapping, study: str) -> dict[str, object]:
    """What biases beyond ordinary preference, over wordings, and the cells that identify them are
    computed by.
    """
    settings = inference_params(config, ["idiosyncrasy", "identifiability"])
    return {**settings, "asked": conclusions_params(config)}


def distortion_settings(config: Mapping, study: str) -> dict[str, object]:
    """What corrections for measurement error and omitted variables are computed by."""
    return inference_params(
        config, ["measurement_error", "sensitivity"], "raters", "without_human_scores"
    )


def ranking_settings(config: Mapping, study: str) -> dict[str, object]:
    """What models are ranked by without the biases, and power is computed by."""
    keys = ("debias", "replicates", "power", "without_human_scores")
    return inference_params(config, ["leaderboard"], *keys, also=["main"])


def conclusions_settings(config: Mapping, study: str) -> dict[str, object]:
    """What the conclusions of a study of ratings are drawn by, but for the level of confidence."""
    settings = {
        key: value for key, value in conclusions_params(config).items() if key != "confidence"
    }
    inference = config["inference"]
    of_study = {
        "instead": inference["without_human_scores"],
        "order": order_of(config, study),
        "verdict": inference["verdict"],
    }
    return settings | of_study


def specs_of_checks(config: Mapping) -> list[str]:
    """The specs whose estimates the robustness checks read, each once."""
    checks = config["inference"]["robustness_checks"].values()
    return list(
        dict.fromkeys(
            spec for check in checks if _table(check) == "estimates" for spec in check["specs"]
        )
    )


def specs_of_leaderboard(config: Mapping) -> list[str]:
    """The specs whose estimates the leaderboard reads, each once, with their substitutes."""
    inference = config["inference"]
    names = ["main", *(inference["leaderboard"] if inference["debias"] == "regression" else ())]
    return list(dict.fromkeys([*names, *in_place(names, inference["without_human_scores"])]))


def tables_of_checks(config: Mapping) -> list[str]:
    """The tables that the robustness checks read beside the estimates, in any study."""
    checks = [
        config_of(config, study)["inference"]["robustness_checks"].values()
        for study in config["studies"]
    ]
    return sorted({_table(check) for of_study in checks for check in of_study} - {"estimates"})


def _table(check: Mapping) -> str:
    return check.get("table", "estimates")
