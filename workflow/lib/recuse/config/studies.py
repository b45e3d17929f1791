"""What the configuration says to the rules: of a study, where its data come from, which files hold them and which models it
may have; of the tables beside the estimates, their specs and settings.

Functions of `config`, in which every study has one origin (see `with_placeholders`), and of `study`, a name under `studies` or
`comparisons`. A file that is missing is a ConfigError.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from recuse.base.errors import ConfigError
from recuse.base.rules import WORKFLOW, megabytes_of
from recuse.base.tables import read_table
from recuse.data.registry import files_in, models_with, named_files, raw_files, scales_in_steps, tells_raters
from recuse.model.spec import in_place

DATA = os.path.relpath(WORKFLOW / "data")  # what papers print, and the lists of their files
# Where data come from -> what they are, the first that a study has.
KINDS = {"simulate": "simulated", "files": "user", "import": "user", "source": "published"}
STAND_IN = {"files", "simulate"}  # a simulation in the place of files that are not there
# The published sources that there is a reader for -> whether they hold single verdicts, or what was made of them, or texts.
VERDICTS, RANKINGS, TEXTS = "verdicts", "rankings", "texts"
SOURCES = {"prd": VERDICTS, "llmbar": VERDICTS, "cobbler": RANKINGS, "judgement_bias": TEXTS}


def with_placeholders(studies: Mapping[str, Mapping], exists: Callable[[str], bool]) -> dict[str, dict]:
    """Return `studies` with one origin each: of `files` and `simulate`, the files if they exist, else the placeholder."""
    settled = {name: dict(study) for name, study in studies.items()}
    for study in (study for study in settled.values() if study.keys() >= STAND_IN):
        # A file that is not there beside others is missed when the study is built.
        if any(exists(path) for path, _ in named_files(study["files"])):
            del study["simulate"]
        else:
            del study["files"]
            study["title"] = f"simulated placeholder for {study['title']}"
    return settled


def origin_of_verdicts(settings: Mapping) -> str | None:
    """Where the verdicts of a study come from, one of KINDS; None where only what was made of them is published."""
    origin = next(origin for origin in KINDS if origin in settings)
    return None if origin == "source" and SOURCES[settings["source"]] != VERDICTS else origin


def analyses_of(settings: Mapping) -> list[str]:
    """What is computed of the verdicts of a study; nothing where it has none."""
    return list(settings.get("analyses", ["verbosity"])) if origin_of_verdicts(settings) else []


def settings_of(config: Mapping, study: str) -> Mapping:
    """The entry of a study, of ratings or of comparisons."""
    return config[section_of(config, study)][study]


def section_of(config: Mapping, study: str) -> str:
    """Where a study stands: `comparisons` or `studies`."""
    return "comparisons" if study in config["comparisons"] else "studies"


def check_names(config: Mapping, rules: set[str]) -> None:
    """A study has a rule of its name; ConfigError if another of `rules` has it."""
    for study in {*config["studies"], *config["comparisons"]} & rules:
        raise ConfigError(f"config: {section_of(config, study)}: {study}: the name of a rule of this workflow; choose another")


def kind(config: Mapping, study: str) -> str:
    """What the data of a study are: simulated, published or user."""
    settings = settings_of(config, study)
    return next(kind for origin, kind in KINDS.items() if origin in settings)


def is_simulated(config: Mapping, study: str) -> bool:
    """True where data are drawn, alone or in the place of files that are not there."""
    return "simulate" in settings_of(config, study)


def is_of_the_paper(config: Mapping, study: str) -> bool:
    """True for the ratings of Play Favorites, published or simulated: what is compared with the paper's numbers."""
    settings = config["studies"].get(study, {})
    return "source" in settings or ("simulate" in settings and "quality" not in settings["simulate"])


def is_sharded(config: Mapping, study: str) -> bool:
    """True for a study of ratings that is scattered over jobs."""
    return "shards" in config["studies"][study]


def import_of(config: Mapping, study: str) -> Mapping:
    """What config says of the import of a study, {} if it is none."""
    return settings_of(config, study).get("import", {})


def is_imported(config: Mapping, study: str) -> bool:
    """True where the files are in the format of another tool, or in columns of other names."""
    return bool(import_of(config, study))


def source_of(config: Mapping, study: str) -> str | None:
    """The key of the published repository of a study, None if it has none."""
    return settings_of(config, study).get("source")


def analyses(config: Mapping, study: str) -> list[str]:
    """What is computed of the verdicts of a study of comparisons; of ratings nothing."""
    return analyses_of(settings_of(config, study)) if study in config["comparisons"] else []


def has_raters(config: Mapping, study: str) -> bool:
    """True for a study of ratings with the scores of single raters."""
    settings = settings_of(config, study)
    return bool({"simulate", "raters"} & set(settings)) or tells_raters(import_of(config, study))


def has_alphas(config: Mapping, study: str) -> bool:
    """True for a study whose human scores have a published agreement, and no single raters."""
    return is_of_the_paper(config, study) and not has_raters(config, study)


def models_of(config: Mapping, study: str) -> dict[str, Mapping]:
    """The models of config that a study may hold: of a simulated one, those that it declares or the published tables hold."""
    settings = config["studies"][study]
    if "simulate" not in settings:
        return models_with(settings.get("families", {}), config["models"])
    simulated = settings["simulate"].get("quality")
    if simulated is None:
        simulated = {row["model"] for row in read_table(f"{DATA}/play_favorites_mean_scores.csv")}
    return {name: model for name, model in config["models"].items() if name in simulated}


def families_of(config: Mapping, study: str) -> dict[str, str]:
    """Model -> family, of the models that a study may hold."""
    return {name: model["family"] for name, model in models_of(config, study).items()}


def order_of(config: Mapping, study: str) -> dict[str, list[str]]:
    """Judges and families of a study in config's order, by the biases that are theirs."""
    families = families_of(config, study)
    return {"self_bias": list(families), "family_bias": list(dict.fromkeys(families.values()))}


def scales_of(config: Mapping, study: str) -> dict[str, object]:
    """The scales of a study in the units of its raw ratings."""
    return scales_in_steps(config["studies"][study]["scales"], import_of(config, study))


def raw_of(config: Mapping, study: str) -> list[tuple[str, str | None]]:
    """(path, dimension) of each raw file of a study; the dimension is None where the file has a column of that name."""
    settings = config["studies"][study]
    if "simulate" in settings or "import" in settings:
        return [(f"results/{study}/raw/ratings.parquet", None)]
    if "source" in settings:
        return [(f"results/{study}/raw/{dimension}.csv", dimension) for dimension in settings["scales"]]
    try:
        raw = raw_files(named_files(settings["files"]))
    except ConfigError as error:
        raise _refused(config, study, "files", error) from None
    for path, _ in raw:
        if "{" in path or "}" in path:  # of a part: what config names is checked
            raise _refused(config, study, "files", f"'{path}': braces mean a wildcard to Snakemake; rename the file")
        _existing(config, study, "files", path)
    return raw


def raw_paths(config: Mapping, study: str, part: str | None = None) -> list[str]:
    """The raw files of a study of ratings, or those that the job of that number checks; as do the next."""
    return [path for path, _ in (raw_of(config, study) if part is None else part_of(config, study, part))]


def raw_dimensions(config: Mapping, study: str, part: str | None = None) -> list[str | None]:
    """The dimension of each of them."""
    return [dimension for _, dimension in (raw_of(config, study) if part is None else part_of(config, study, part))]


def raw_megabytes(config: Mapping, study: str, part: str | None = None) -> float:
    """What the files take that a study is read from, or would as CSV; nothing for those still to be fetched or simulated."""
    if is_imported(config, study):
        return megabytes_of(imported_files(config, study))
    return megabytes_of(verdict_files(config, study) if study in config["comparisons"] else raw_paths(config, study, part))


def raters_of(config: Mapping, study: str) -> list[str]:
    """The file of the single raters' scores of a study, in a list; none where there is none."""
    settings = config["studies"][study]
    made = "simulate" in settings or tells_raters(import_of(config, study))
    named = [_existing(config, study, "raters", settings["raters"])] if "raters" in settings else []
    return [f"results/{study}/raw/raters.parquet"] * made + named


def imported_files(config: Mapping, study: str) -> list[str]:
    """The files that a study is imported from, those of a folder one by one."""
    return _files_named(config, study, import_of(config, study), key="import: files")


def reference_files(config: Mapping, study: str) -> list[str]:
    """The files of human scores or labels that a study is imported from."""
    return _files_named(config, study, import_of(config, study).get("references", {}), key="import: references: files")


def repository_of(config: Mapping, study: str) -> dict[str, str]:
    """The published repository of a study, and the commit."""
    source = config["sources"][source_of(config, study)]
    return {key: source[key] for key in ("repository", "commit")}


def published_files(config: Mapping, study: str, *dimensions: str) -> list[tuple[str, str]]:
    """(path, git blob id) of each published file of a study; of one of ratings, of these dimensions, by default of all."""
    name = source_of(config, study)
    source = config["sources"][name]
    if "manifest" not in source:
        wanted = dimensions or config["studies"][study]["scales"]
        return [(file["path"], file["blob"]) for dimension, file in source["files"].items() if dimension in wanted]
    manifest = Path(DATA, "sources", source["manifest"])
    if not manifest.is_file():
        raise ConfigError(f"config: sources: {name}: manifest: '{manifest.name}': no such file in {manifest.parent}")
    return [(row["path"], row["blob"]) for row in read_table(manifest)]


def released_files(config: Mapping, study: str) -> list[str]:
    """Where the files of the source of a study of comparisons are put."""
    return [f"results/{study}/raw/{path}" for path, _ in published_files(config, study)]


def verdict_files(config: Mapping, study: str) -> list[str]:
    """The files that the verdicts of a study of comparisons are read from."""
    settings = config["comparisons"][study]
    origin = origin_of_verdicts(settings)
    if origin == "source":
        return released_files(config, study)
    if origin == "files":
        return [_existing(config, study, "files", path) for path, _ in named_files(settings["files"])]
    return [f"results/{study}/raw/{'verdicts' if origin == 'import' else 'comparisons'}.parquet"]


def verdict_format(config: Mapping, study: str) -> str:
    """What the files of verdicts of a study are: a table, or as their source publishes them."""
    settings = config["comparisons"][study]
    return settings["source"] if origin_of_verdicts(settings) == "source" else "table"


def plants_published_attacks(config: Mapping, study: str) -> bool:
    """True of simulated votes with the published success rates of attacks planted."""
    return "votes" in settings_of(config, study)["simulate"]


def files_of_user(config: Mapping, study: str) -> list[str]:
    """The files of a user that a study reads."""
    if is_imported(config, study):
        return imported_files(config, study) + reference_files(config, study)
    if "files" not in settings_of(config, study):
        return []
    if study in config["comparisons"]:
        return verdict_files(config, study)
    return raw_paths(config, study) + raters_of(config, study)


def origin_of(config: Mapping, study: str) -> dict[str, object]:
    """Where the data of a study come from: a repository, commit and git blob ids, or what is simulated, or both."""
    settings = settings_of(config, study)
    origin = {key: settings[key] for key in ("simulate", "source") if key in settings}
    if "source" in origin:
        origin["source"] = {**repository_of(config, study), "files": published_files(config, study)}
    return origin


def shards_of(config: Mapping, study: str) -> list[str]:
    """The names of a study's shards, with their number in each: of another number are other files; [] if it has none."""
    shards = config["studies"][study].get("shards", 0)
    return [f"{shard:0{len(str(shards))}}-of-{shards}" for shard in range(1, shards + 1)]


def shard_files(config: Mapping, study: str, name: str) -> list[str]:
    """A file of that name of every shard of a study, in their order."""
    return [f"results/{study}/shards/{shard}/{name}" for shard in shards_of(config, study)]


def ratings_of(config: Mapping, study: str) -> list[str]:
    """The canonical ratings of a study: one file, or its shards in their order."""
    return shard_files(config, study, "ratings.parquet") or [f"results/{study}/ratings.parquet"]


def raw_of_shard(config: Mapping, study: str, shard: str, shards: str) -> list[str]:
    """The raw files of a study, for the shard of that number of so many; ConfigError if there is no such shard."""
    names, name = shards_of(config, study), f"{shard}-of-{shards}"
    if name not in names:
        raise ConfigError(
            f"results/{study}/shards/{name}: config: studies: {study}: shards: {len(names)}; ask for {names[0]} to {names[-1]}"
        )
    return raw_paths(config, study)


def parts_of(config: Mapping, study: str) -> list[list[tuple[str, str | None]]]:
    """The raw files of a sharded study, (path, dimension) each, in a list for each job that checks some of them.

    They are dealt in turn, by no size: one that grows, or comes after the others, is a matter of one job.
    """
    raw = raw_of(config, study)
    jobs = min(len(raw), len(shards_of(config, study)))
    return [raw[job::jobs] for job in range(jobs)]


def part_of(config: Mapping, study: str, part: str) -> list[tuple[str, str | None]]:
    """The raw files, (path, dimension) each, that the job of that number checks, from 1; ConfigError if there is none."""
    parts = parts_of(config, study)
    if int(part) > len(parts):
        raise ConfigError(
            f"results/{study}/checked/{part}: the raw files of {study} are checked by {len(parts)} jobs; "
            f"ask for 1 to {len(parts)}"
        )
    return parts[int(part) - 1]


def shard_megabytes(config: Mapping, study: str) -> float:
    """A shard's share of what the raw files take."""
    return raw_megabytes(config, study) / len(shards_of(config, study))


def part_files(config: Mapping, study: str, name: str) -> list[str]:
    """The file of that name, `rows` or `summary`, of every job that checks raw files of a study."""
    return [f"results/{study}/checked/{part}.{name}.parquet" for part in range(1, len(parts_of(config, study)) + 1)]


def _files_named(config: Mapping, study: str, settings: Mapping, *, key: str) -> list[str]:
    """The files that a part of an `import` names, those of a folder one by one."""
    try:
        paths = [path for name, _ in named_files(settings.get("files", ())) for path in files_in(name)]
    except ConfigError as error:
        raise _refused(config, study, key, error) from None
    return [_existing(config, study, key, path) for path in paths]


def _existing(config: Mapping, study: str, key: str, path: str) -> str:
    """The path of a user's file; ConfigError if it is not there."""
    if not os.path.isfile(path):
        raise _refused(config, study, key, f"'{path}': no such file in {Path.cwd()}")
    return path


def _refused(config: Mapping, study: str, key: str, why: object) -> ConfigError:
    return ConfigError(f"config: {section_of(config, study)}: {study}: {key}: {why}")


def inference_params(config: Mapping, tables: Sequence[str], *keys: str, also: Iterable[str] = ()) -> dict[str, Mapping]:
    """Settings of `inference`, and specs, those that it names for these `tables`, `also`, and those that stand in their place.

    keys: of further settings. Placeholders are told where `without_human_scores` is one of them.
    """
    settings = {key: config["inference"][key] for key in (*tables, *keys)}
    names = [*also, *(name for table in tables for name in settings[table])]
    names += in_place(names, settings.get("without_human_scores", {}))
    return {"settings": settings, "specs": {name: config["specs"][name] for name in names}}


def main_and_substitute(config: Mapping) -> list[str]:
    """The spec main, and the one that stands in its place in a study without human scores."""
    return list(dict.fromkeys(["main", *in_place(["main"], config["inference"]["without_human_scores"])]))


def conclusions_params(config: Mapping) -> dict[str, object]:
    """The checks of the conclusions, their specs with those that stand in their place, and by what they are judged."""
    checks, instead = _checks(config), config["inference"]["without_human_scores"]
    names = [spec for check in checks.values() for spec in (*check["specs"], *in_place(check["specs"], instead))]
    return {
        "checks": checks,
        "specs": {name: config["specs"][name] for name in names},
        "confidence": config["confidence"],
        "power": config["inference"]["power"]["power"],
    }


def specs_of_checks(config: Mapping) -> list[str]:
    """The specs whose estimates the checks of the conclusions read, each once."""
    checks = (check for check in _checks(config).values() if check["table"] == "estimates")
    return list(dict.fromkeys(spec for check in checks for spec in check["specs"]))


def tables_of_checks(config: Mapping) -> list[str]:
    """The tables that the checks of the conclusions read beside the estimates."""
    return sorted({check["table"] for check in _checks(config).values()} - {"estimates"})


def _checks(config: Mapping) -> dict[str, dict]:
    return {name: {"table": "estimates", **check} for name, check in config["inference"]["robustness_checks"].items()}
