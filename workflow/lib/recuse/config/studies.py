"""A study as the configuration describes it: its origin, files and models, and its specs and
settings of the inference tables.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recuse.base.errors import ConfigError, did_you_mean
from recuse.base.places import WORKFLOW, is_result
from recuse.base.products import RATINGS, from_products, published_sources
from recuse.base.tables import read_table
from recuse.data.registry import (
    COMPARED,
    RATED,
    Registry,
    files_in,
    models_with,
    named_files,
    raw_files,
)
from recuse.model.spec import Spec, in_place

if TYPE_CHECKING:
    from recuse.config.declared.inference import Inference
    from recuse.config.declared.sections import Section
    from recuse.config.declared.settings import PublishedSource, Settings
    from recuse.config.declared.studies import ComparedStudy, RatedStudy
    from recuse.inference.robustness import RobustnessCheck

DATA = os.path.relpath(WORKFLOW / "data")  # published numbers, and lists of published files
# Origin -> kind of data; of several origins, the first counts.
KINDS_BY_ORIGIN = {
    "simulate": "simulated",
    "files": "user",
    "import": "user",
    "source": "published",
}
COMPRESSION = 8  # as CSV, parquet or gzip is about this many times its size
REQUIRED_SPECS = ("main", "by_dimension")


def with_placeholders(settings: "Settings", exists: Callable[[str], bool]) -> "Settings":
    """The settings, in which every study has one origin."""
    sections = {}
    for section in (RATED, COMPARED):
        studies = getattr(settings, section).items()
        sections[section] = {name: study.with_one_origin(exists) for name, study in studies}
    return settings.changed(**sections)


@dataclass(frozen=True, eq=False)
class Study:
    """A study of ratings or of comparisons: what it has, what it needs, and its files.

    shared: the settings, in which every study that is built has one origin (see
    `with_placeholders`). A missing file is a ConfigError.
    """

    name: str
    shared: "Settings"

    @property
    def section(self) -> str:
        """`studies` or `comparisons`, whichever has the study."""
        return COMPARED if self.name in self.shared.comparisons else RATED

    @property
    def settings(self) -> "RatedStudy | ComparedStudy":
        """Its entry in the configuration."""
        return getattr(self.shared, self.section)[self.name]

    @property
    def title(self) -> str:
        """Its title in figures and on the page."""
        return self.settings.title

    @property
    def raters(self) -> str | None:
        """The file of the single raters' scores that the user names beside `files`, if any."""
        return self.settings.raters if self.has_ratings() else None

    @property
    def confidence(self) -> float:
        """The level of every interval."""
        return self.shared.confidence

    @property
    def seed(self) -> int:
        """The seed of all simulation and resampling."""
        return self.shared.seed

    @cached_property
    def specs(self) -> Mapping[str, Mapping]:
        """The settings of each spec that is fitted to it: the shared ones, or its own."""
        specs = self.shared.specs_by_name
        if not self.has_ratings() or self.settings.specs is None:
            return specs
        names = Registry.from_config(self.models()).names
        own = {name: with_names(spec, names) for name, spec in self.setting("specs").items()}
        return {name: specs[name] for name in REQUIRED_SPECS} | own

    @cached_property
    def inference(self) -> "Inference":
        """The settings of `inference`, with those that the study changes."""
        own = self.settings.inference if self.has_ratings() else None
        return self.shared.inference if own is None else self.shared.inference.changed(**own)

    @cached_property
    def every_spec(self) -> dict[str, Spec]:
        """The specs that it shares, its own, and those of other studies, whose figures it does not
        have.
        """
        return self.shared.every_spec | Spec.from_config(self.specs)

    def setting(self, key: str) -> object:
        """A key of its entry as a plain value, or the key's default."""
        written = self.settings.as_written()
        return written[key] if key in written else type(self.settings).model_fields[key].default

    def path(self, result: str) -> str:
        """The path of a result."""
        return f"results/{self.name}/{result}"

    def refusal(self, keys: Iterable[str], why: object) -> ConfigError:
        """The error about what is under these keys of its entry."""
        return ConfigError.at([self.section, self.name, *keys], why)

    def has_ratings(self) -> bool:
        """Whether it is a study of ratings, not of comparisons."""
        return self.section == RATED

    def kind(self) -> str:
        """Kind of its data: simulated, published or user."""
        if self.has_ratings() and self.settings.simulated:
            return "simulated"
        return KINDS_BY_ORIGIN[self.settings.origins()[0]]

    def is_simulated(self) -> bool:
        """Whether its data are simulated, also as a placeholder."""
        return self.settings.simulate is not None

    def replicates_play_favorites(self) -> bool:
        """Whether it is compared with the paper's numbers: the ratings of Play Favorites, published
        or simulated.
        """
        if not self.has_ratings():
            return False
        if self.source() is not None:
            return self.source() not in published_sources()
        return self.is_simulated() and self.settings.simulate.quality is None

    def is_released(self) -> bool:
        """Whether its ratings are read from published files of a format of their own."""
        return self.has_ratings() and published_sources().get(self.source()) == RATINGS

    def has_manifest(self) -> bool:
        """Whether its published files are listed in a manifest."""
        return self.source() is not None and self._published().manifest is not None

    def import_settings(self) -> Mapping:
        """Settings of its import, {} if it has none."""
        return self.settings.as_written().get("import", {})

    def is_imported(self) -> bool:
        """Whether this workflow writes its raw ratings, and states scales and steps beside them."""
        return self.settings.import_ is not None or self.is_released()

    def source(self) -> str | None:
        """Its key of `sources`, None if it has none."""
        return self.settings.source

    def analyses(self) -> list[str]:
        """What is computed from its verdicts; nothing for ratings."""
        if self.has_ratings() or self.settings.origin() is None:
            return []
        return [*self.settings.analyses]

    def has_gold_labels(self) -> bool:
        """Whether the reference of its ratings are gold labels, not human scores."""
        return bool(getattr(self.settings.import_, "gold", False))

    def has_raters(self) -> bool:
        """Whether it has the scores of single raters."""
        return self.is_simulated() or self.raters is not None or self.imports_raters()

    def imports_raters(self) -> bool:
        """Whether it imports the scores of single raters."""
        references = self._references()
        columns = None if references is None else references.columns
        return columns is not None and (
            columns.rater is not None or isinstance(columns.rating, list)
        )

    def has_alphas(self) -> bool:
        """Whether the raters' agreement is published, and the scores of single raters are not."""
        return self.replicates_play_favorites() and not self.has_raters()

    def asks_judges(self) -> bool:
        """Whether its judges are asked."""
        return self.settings.collect is not None

    def models(self) -> Mapping[str, Mapping]:
        """The models of config that it may have: of simulated ratings, those declared or in the
        published tables.
        """
        models = self.shared.as_written()["models"]
        if self.source() is not None and self._published().models is not None:
            return _listed_models(self._published().models)
        if not self.is_simulated() or not self.has_ratings():
            return models_with(self.setting("families"), models)
        simulated = self.settings.simulate.quality
        if simulated is None:
            simulated = _published_models()
        return {name: model for name, model in models.items() if name in simulated}

    def families(self) -> dict[str, str]:
        """Model -> family, for the models that it may have."""
        return {name: model["family"] for name, model in self.models().items()}

    def order(self) -> dict[str, list[str]]:
        """Its judges and families in config's order, by the quantity that has them as terms."""
        families = self.families()
        return {"self_bias": list(families), "family_bias": list(dict.fromkeys(families.values()))}

    def entries(self) -> list[tuple[str, str | None]]:
        """(path, dimension) of each entry of `files:`, or of those of `import:`."""
        return named_files((self.settings.import_ or self.settings).files or ())

    def raw_files(self) -> list[tuple[str, str | None]]:
        """(path, dimension) of each raw file of ratings; the dimension is None if the file has a
        column `dimension`.
        """
        if self.is_simulated() or self.is_imported():
            return [(self.path("raw/ratings.parquet"), None)]
        if self.source() is not None:
            return [
                (self.path(f"raw/{dimension}.csv"), dimension) for dimension in self.settings.scales
            ]
        try:
            raw = raw_files(self.entries())
        except ConfigError as error:
            raise self.refusal(["files"], error) from None
        for path, _ in raw:
            if "{" in path or "}" in path:  # in a folder; names in config have been checked
                raise self.refusal(
                    ["files"], f"'{path}': braces mean a wildcard to Snakemake; rename the file"
                )
            self._existing(path, "files")
        return raw

    def raw_paths(self, part: str | None = None) -> list[str]:
        """The raw files of ratings, or of one of their parts."""
        return [path for path, _ in self.raw_part(part)]

    def raw_dimensions(self, part: str | None = None) -> list[str | None]:
        """The dimension of each of `raw_paths`."""
        return [dimension for _, dimension in self.raw_part(part)]

    def raw_megabytes(self, part: str | None = None) -> float:
        """Size, as CSV, of the files that it is read from; 0 for files that are not there yet."""
        if self.settings.import_ is not None:
            return csv_megabytes(self.imported_files())
        return csv_megabytes(self.raw_paths(part) if self.has_ratings() else self.verdict_files())

    def rater_files(self) -> list[str]:
        """The file of the single raters' scores, in a list; [] if there is none."""
        if self.raters is not None:
            return [self._existing(self.raters, "raters")]
        return [self.path("raw/raters.parquet")] if self.has_raters() else []

    def imported_files(self) -> list[str]:
        """The files of judgments that it imports; of one that asks judges, the table of their
        answers.
        """
        named = [path for path, _ in named_files(self.settings.import_.files)]
        return named if self.asks_judges() else self._files_named(named, "import", "files")

    def references(self) -> list[str]:
        """The files of human scores or verdicts, and the folders of such, that its import names."""
        references = self._references()
        return [] if references is None else [path for path, _ in named_files(references.files)]

    def reference_files(self) -> list[str]:
        """The files of human scores or verdicts that it imports."""
        return self._files_named(self.references(), "import", "references", "files")

    def collect_files(self) -> list[str]:
        """The files of prompts, answers and prices by which it asks judges."""
        collect = self.settings.collect
        tables = filter(None, (collect.prompts, collect.answers, collect.prices))
        paths = [table if isinstance(table, str) else table.file for table in tables]
        return [self._existing(path, "collect") for path in paths]

    def repository(self) -> dict[str, str]:
        """Its published repository and commit."""
        source = self._published()
        return {"repository": source.repository, "commit": source.commit}

    def published_files(self, *dimensions: str) -> list[tuple[str, str]]:
        """(path, git blob id) of each published file; for ratings, of these dimensions, by default
        of all.
        """
        source = self._published()
        if source.manifest is None:
            wanted = dimensions or self.settings.scales
            files = source.files.items()
            return [(file.path, file.blob) for dimension, file in files if dimension in wanted]
        manifest = Path(DATA, "sources", source.manifest)
        if not manifest.is_file():
            problem = f"'{manifest.name}': no such file in {manifest.parent}"
            raise ConfigError.at(["sources", self.source(), "manifest"], problem)
        return [(row["path"], row["blob"]) for row in read_table(manifest)]

    def released_files(self) -> list[str]:
        """Paths of the published files once they are fetched."""
        return [self.path(f"raw/{path}") for path, _ in self.published_files()]

    def verdict_files(self) -> list[str]:
        """The files from which its verdicts are read."""
        origin = self.settings.origin()
        if origin == "source":
            return self.released_files()
        if origin == "files":
            return [self._existing(path, "files") for path, _ in self.entries()]
        return [self.path(f"raw/{'verdicts' if origin == 'import' else 'comparisons'}.parquet")]

    def verdict_reader(self) -> str:
        """The function, `module:function`, that reads its files of verdicts; "" if these are
        canonical tables.
        """
        if self.settings.origin() != "source":
            return ""
        return from_products("readers")[self.source()]

    def simulator(self) -> str:
        """The function, `module:function`, that simulates it as it was published; "" for one with
        a world of its own.
        """
        as_published = (
            self.replicates_play_favorites()
            if self.has_ratings()
            else self.plants_published_attacks()
        )
        return from_products("simulators")[self.section] if as_published else ""

    def plants_published_attacks(self) -> bool:
        """Whether simulated votes have the published success rates of attacks."""
        return self.settings.simulate.votes is not None

    def data_records(self) -> list[str]:
        """The records of the jobs that read the user's files."""
        jobs = []
        if self.asks_judges():
            jobs = ["collect", "import"]
        elif self.settings.import_ is not None:
            jobs = ["import"]
        elif self.settings.files is not None and not self.has_ratings():
            jobs = ["comparisons"]
        elif self.settings.files is not None:
            parts = len(self.parts())
            jobs = [f"check_part_{part}" for part in range(1, parts + 1)] or ["ratings"]
            jobs += ["agreement"] if self.has_raters() else []
        return [self.path(f"made/{job}.json") for job in jobs]

    def declared_files(self) -> dict[str, Mapping]:
        """The SHA-256 and rows that config declares of a user's files, by path; ConfigError about a
        path that is none of them.
        """
        declared = self.setting("verify")
        if declared is None:
            return {}
        if self.settings.import_ is not None:
            files = self.imported_files() + self.reference_files()
        elif self.has_ratings():
            files = self.raw_paths() + self.rater_files()
        else:
            files = self.verdict_files()
        places = {os.path.realpath(path) for path in files}
        for path in declared:
            if os.path.realpath(path) not in places:
                advice = did_you_mean(path, files)
                raise self.refusal(
                    ["verify"], f"'{path}' is not one of the files of the study{advice}"
                )
        return dict(declared)

    def origin(self) -> dict:
        """Origin of its data: repository, commit and git blob ids, settings of the simulation, or
        both.
        """
        origin = {}
        if self.is_simulated():
            origin["simulate"] = self.setting("simulate")
        if self.source() is not None:
            origin["source"] = {**self.repository(), "files": self.published_files()}
        return origin

    def shards(self) -> list[str]:
        """Names of its shards, each with their number, so that another number makes other files;
        [] if it has none.
        """
        shards = self.settings.shards
        return [f"{shard:0{len(str(shards))}}-of-{shards}" for shard in range(1, shards + 1)]

    def shard_files(self, name: str) -> list[str]:
        """The file `name` of every shard, in order."""
        return [self.path(f"shards/{shard}/{name}") for shard in self.shards()]

    def ratings(self) -> list[str]:
        """Its canonical ratings: one file, or its shards in order."""
        return self.shard_files("ratings.parquet") or [self.path("ratings.parquet")]

    def raw_paths_of_shard(self, shard: str, shards: str) -> list[str]:
        """The raw files, if the study has this shard; else ConfigError."""
        names, name = self.shards(), f"{shard}-of-{shards}"
        if name not in names:
            raise ConfigError(
                f"{self.path(f'shards/{name}')}: config: studies: {self.name}: shards:"
                f" {len(names)}; ask for {names[0]} to {names[-1]}"
            )
        return self.raw_paths()

    def parts(self) -> list[list[tuple[str, str | None]]]:
        """The raw files of a sharded study as (path, dimension), in one list for each job that
        checks them.

        They are dealt in turn, whatever their size, so that a file that grows or is added concerns
        one job.
        """
        raw = self.raw_files()
        jobs = min(len(raw), len(self.shards()))
        return [raw[job::jobs] for job in range(jobs)]

    def raw_part(self, part: str | None) -> list[tuple[str, str | None]]:
        """The raw files that job number `part` checks, from 1, all if it is None; ConfigError if
        there is no such job.
        """
        if part is None:
            return self.raw_files()
        parts = self.parts()
        if int(part) > len(parts):
            raise ConfigError(
                f"{self.path(f'checked/{part}')}: the raw files of {self.name} are checked by"
                f" {len(parts)} jobs; ask for 1 to {len(parts)}"
            )
        return parts[int(part) - 1]

    def part_files(self, name: str) -> list[str]:
        """The file `name`, rows or summary, of every job that checks raw files."""
        numbers = range(1, len(self.parts()) + 1)
        return [self.path(f"checked/{part}.{name}.parquet") for part in numbers]

    def shard_megabytes(self) -> float:
        """A shard's share of the size of the raw files."""
        return self.raw_megabytes() / len(self.shards())

    def estimates(self, specs: Iterable[str] | None = None) -> list[str]:
        """The estimates of these specs, by default of all that are fitted to it, a file each."""
        if not self.has_ratings():
            return []
        names = self.specs if specs is None else specs
        return [self.path(f"estimates/{spec}.csv") for spec in names]

    def robustness_checks(self) -> "list[RobustnessCheck]":
        """The robustness checks of its conclusions."""
        from recuse.inference.robustness import RobustnessCheck

        return RobustnessCheck.from_config(self.inference.as_written()["robustness_checks"])

    def estimates_of_checks(self) -> list[str]:
        """The estimates that the robustness checks read."""
        of_estimates = [check for check in self.robustness_checks() if check.table == "estimates"]
        return self.estimates(dict.fromkeys(spec for check in of_estimates for spec in check.specs))

    def estimates_of_leaderboard(self) -> list[str]:
        """The estimates that the leaderboard reads, with those of the specs' substitutes."""
        inference = self.inference
        names = ["main", *(inference.leaderboard if inference.debias == "regression" else ())]
        names += in_place(names, inference.without_human_scores)
        return self.estimates(dict.fromkeys(names))

    def inference_params(
        self, tables: Sequence[str], *keys: str, also: Iterable[str] = ()
    ) -> dict[str, Mapping]:
        """Settings of these `tables` and further `keys` of `inference`, and the specs of the tables
        and of `also`.

        With the key `without_human_scores`, also their substitutes.
        """
        written = self.inference.as_written()
        settings = {key: written[key] for key in (*tables, *keys)}
        names = [*also, *(name for table in tables for name in settings[table])]
        names += in_place(names, settings.get("without_human_scores", {}))
        return {"settings": settings, "specs": {name: self.specs[name] for name in names}}

    def conclusions_params(self) -> dict:
        """The robustness checks, their specs with their substitutes, and the levels by which they
        are judged.
        """
        inference, names = self.inference, []
        for check in inference.robustness_checks.values():
            names += [*check.specs, *in_place(check.specs, inference.without_human_scores)]
        return {
            "checks": inference.as_written()["robustness_checks"],
            "specs": {name: self.specs[name] for name in names},
            "confidence": self.confidence,
            "power": inference.power.power,
        }

    def preference_settings(self) -> dict:
        """What biases beyond ordinary preference, over wordings, and the cells that identify them
        are computed by.
        """
        settings = self.inference_params(["idiosyncrasy", "identifiability"])
        return {**settings, "asked": self.conclusions_params()}

    def distortion_settings(self) -> dict:
        """What corrections for measurement error and omitted variables are computed by."""
        tables = ["measurement_error", "sensitivity"]
        return self.inference_params(tables, "raters", "without_human_scores")

    def power_settings(self) -> dict[str, float]:
        """The self-bias that a check asks about, and the power to find it."""
        power = self.inference.power
        return {"self_bias": power.self_bias, "power": power.power}

    def ranking_settings(self) -> dict:
        """What models are ranked by without the biases, and power is computed by."""
        keys = ("debias", "replicates", "power", "without_human_scores")
        return self.inference_params(["leaderboard"], *keys, also=["main"])

    def conclusions_settings(self) -> dict:
        """What the conclusions of a study of ratings are drawn by."""
        return self.conclusions_params() | {
            "instead": self.inference.without_human_scores,
            "order": self.order(),
            "verdict": self.inference.as_written()["verdict"],
        }

    def _published(self) -> "PublishedSource":
        """The published repository that it is read from."""
        return self.shared.sources[self.settings.source]

    def _references(self) -> "Section | None":
        """The files of human scores or verdicts, and their columns, that its import names."""
        return None if self.settings.import_ is None else self.settings.import_.references

    def _files_named(self, named: Sequence[str], *keys: str) -> list[str]:
        """The files that a part of an `import` names, including those in folders."""
        try:
            paths = [path for name in named for path in files_in(name)]
        except ConfigError as error:
            raise self.refusal(keys, error) from None
        return [self._existing(path, *keys) for path in paths]

    def _existing(self, path: str, *keys: str) -> str:
        """The path of a user's file; ConfigError if it does not exist, or is where results are,
        whose changes are not seen.
        """
        if not os.path.isfile(path):
            raise self.refusal(keys, f"'{path}': no such file in {Path.cwd()}")
        if is_result(path, studies_in(self.shared)):
            raise self.refusal(keys, f"'{path}' lies among the results; move it to another folder")
        return path


@cache
def _listed_models(table: str) -> dict[str, Mapping]:
    rows = read_table(WORKFLOW / "data" / "sources" / table)
    return {row["model"]: {"family": row["family"], "ids": [row["id"]]} for row in rows}


@cache
def _published_models() -> set[str]:
    return {row["model"] for row in read_table(f"{DATA}/play_favorites_mean_scores.csv")}


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


def studies_in(settings: "Settings") -> dict[str, Study]:
    """Every study of a configuration by its name, those of ratings first."""
    return {name: Study(name, settings) for name in (*settings.studies, *settings.comparisons)}


def with_names(spec: Mapping, names: Mapping[str, str]) -> Mapping:
    """The settings of a spec, where `models_dropped` has a model's name for its id; names: by
    id.
    """
    if "models_dropped" not in spec.get("subset", {}):
        return spec
    dropped = [names.get(model, model) for model in spec["subset"]["models_dropped"]]
    return {**spec, "subset": {**spec["subset"], "models_dropped": dropped}}


# Stage of fits -> the folder of a study where its tables of remarks, smooths and tests are. Each
# stage adds to those of the one before, so that no figure waits for fits that it does not show.
STAGES = {"fit": "stages/fit", "slices": "stages/slices", "ablations": "tables"}
