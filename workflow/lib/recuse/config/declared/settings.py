"""The configuration as a whole: its sections, and the names that one section uses of another."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from recuse.base.database import parse_bytes
from recuse.base.errors import ConfigError, check_known
from recuse.base.products import RATINGS, published_sources
from recuse.base.words import enumerated
from recuse.config.declared.inference import (
    Inference,
    SpecSettings,
    Subset,
    check_inference,
    check_redefined,
)
from recuse.config.declared.sections import (
    Key,
    Name,
    Names,
    Section,
    Share,
    Some,
    optional,
    required,
    validated,
)
from recuse.config.declared.studies import ComparedStudy, RatedStudy
from recuse.config.studies import REQUIRED_SPECS, Study, with_names
from recuse.data.registry import DEFAULT, HUMAN, Registry
from recuse.model.spec import Spec

GIT = "^[0-9a-f]{40}$"  # the id of a commit or of a blob
Dimension = Annotated[str, Field(pattern="^[^/{}]+$")]
LEAST, MOST = "1KB", "1000TB"
NEAREST = 1e-6  # to 0 or 1


def _possible_level(level: float) -> float:
    if not NEAREST <= level <= 1 - NEAREST:
        raise ValueError(
            f"found {level!r}, of which no interval can be computed; write a level such as 0.95"
        )
    return level


def _possible_size(size: str) -> str:
    if not parse_bytes(LEAST) <= parse_bytes(size) <= parse_bytes(MOST):
        raise ValueError(f"found {size[:40]}; write a size from {LEAST} to {MOST}")
    return size


def _with_svg(formats: list[str]) -> list[str]:
    if "svg" not in formats:
        raise ValueError(f"found {', '.join(formats)} without svg, which the report shows; add it")
    return formats


SIZE = r"^([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*) ?[KMGT]i?B$"
Level = Annotated[Share, AfterValidator(_possible_level)]
Size = Annotated[str, Field(pattern=SIZE), AfterValidator(_possible_size)]
FigureFormat = Literal["svg", "pdf", "png"]
FORMATS: tuple[str, ...] = get_args(FigureFormat)


def _within_repository(path: str) -> str:
    if not path or path.startswith("/") or ".." in path or "\n" in path:
        raise ValueError(f"{path!r} leads out of the repository; write a path within it")
    return path


class Family(Section):
    """A family of models."""

    colour: str = optional(
        "Colour as #rrggbb; default: the next free colour of the palette.",
        pattern="^#[0-9a-fA-F]{6}$",
    )


class ConfiguredModel(Section):
    """A judge or a model that is rated."""

    family: str = required("The model's family, a key of `families`.")
    ids: Names = optional("Other spellings of the model in data files.")


class PublishedFile(Section):
    """A file of a published repository."""

    path: Annotated[str, AfterValidator(_within_repository)] = required(
        "Path within the repository."
    )
    blob: str = required("Git blob id.", pattern=GIT)


class PublishedSource(Section):
    """A published repository."""

    repository: str = required("owner/name.", pattern=r"^[\w.-]+/[\w.-]+$")
    commit: str = required("Full id of the commit.", pattern=GIT)
    manifest: str = optional(
        "A CSV file in workflow/data/sources with columns path and blob (git blob id).",
        pattern=r"^[\w.-]+\.csv$",
    )
    models: str = optional(
        "With `manifest`: a CSV file in workflow/data/sources with columns model (display name),"
        " family and id (its name in the published files); default: those under `models:`.",
        pattern=r"^[\w.-]+\.csv$",
    )
    files: dict[Dimension, PublishedFile] = optional(
        "Ratings in the columns of Play Favorites: one file per dimension.", min_length=1
    )

    def _check(self) -> None:
        if (self.files is None) == (self.manifest is None):
            raise ValueError("write either `files` or `manifest`")


class Settings(Section):
    """The configuration of a run."""

    build: Some[str] = required("Studies that a bare `snakemake --cores N` builds.")
    mirror: Name = required(
        "URL or folder from which published files are fetched, laid out"
        " <owner>/<repository>/<commit>/<path>. The environment variable RECUSE_MIRROR"
        " overrides it."
    )
    memory_limit: Size = required(
        "Memory that DuckDB may use in a job, such as 4GB or 512MB; what exceeds it is spilled to"
        " files beside the job's log. The job itself needs some 200 MB more, up to 1 GB if it fits"
        " dozens of slices or models with a bootstrap. On a cluster, DuckDB uses at most 60 % of"
        " what the job requests (`mem_mb`)."
    )
    line_limit: Size = required(
        "Longest line of a CSV file, unpacked; a longer one is refused before it is held in memory."
    )
    download_limit: Size = required("Largest published file that is fetched.")
    hash_always: bool = required(
        "Whether each run reads every file again to see whether it has changed. If false, a run"
        " reads those whose size, inode or times are not as they were. Write true if your file"
        " system does not keep the time of an inode's last change."
    )
    formats: Annotated[Some[FigureFormat], AfterValidator(_with_svg)] = required(
        "Formats of every figure: svg, and pdf or png if you add them. "
        "A single figure of a study is also drawn as PDF or PNG if you ask for its path."
    )
    seed: int = required("Seed of all simulation and resampling.", ge=0)
    confidence: Level = required("Level of every interval; Play Favorites uses 0.90.")
    families: dict[Name, Family] = required("Model families; each has one colour in every figure.")
    models: dict[Name, ConfiguredModel] = required(
        "Judges and models, by display name, in the order of the figures.", min_length=1
    )
    sources: dict[Name, PublishedSource] = optional(
        "Published repositories; files must have their git blob ids.", default={}
    )
    studies: dict[Key, RatedStudy] = required(
        "Sets of ratings, each from `simulate`, `source`, `files` or `import`.", min_length=1
    )
    specs: dict[Key, SpecSettings] = required("Models fitted to every study; `{}` is Equation 1.")
    inference: Inference = required(
        "Checks beside the estimates. The specs named here are fitted by least squares."
    )
    comparisons: dict[Key, ComparedStudy] = required(
        "Sets of verdicts on pairs of answers, with the same origins as `studies`."
    )

    def _check(self) -> None:
        for name in REQUIRED_SPECS:
            if name not in self.specs:
                raise ValueError("specs", f"'{name}' is required")

    @cached_property
    def specs_by_name(self) -> dict[str, Mapping]:
        """The specs, where `models_dropped` has a model's name for its id, unless a study's
        `families` has that as a name.
        """
        written = self.as_written()
        names = Registry.from_config(written["models"]).names
        for study in (*self.studies.values(), *self.comparisons.values()):
            for members in study.families.values():
                names |= {name: name for name in members}
        return {name: with_names(spec, names) for name, spec in written["specs"].items()}

    @cached_property
    def every_spec(self) -> dict[str, Spec]:
        """The specs, then those that single studies alone have."""
        specs = dict(self.specs_by_name)
        for study in self.studies.values():
            specs |= study.as_written().get("specs", {})
        return Spec.from_config(specs)


def check_settings(
    config: Mapping, project_specs: Mapping[str, Mapping] = MappingProxyType({})
) -> Settings:
    """The checked settings, with defaults; ConfigError, naming the key, unless `config` fits its
    declaration and every name in it is defined.

    project_specs: those that no configuration may turn into other models.
    """
    settings = validated(Settings, config)
    check_known(["build"], settings.build, {**settings.studies, **settings.comparisons}, "studies")
    if HUMAN in settings.models:
        raise ConfigError.at(["models", HUMAN], "the name of the human scores; write another")
    for name, model in settings.models.items():
        check_known(["models", name, "family"], [model.family], settings.families, "families")
    Registry.from_config(config["models"])
    for name, study in settings.studies.items():
        _check_study(["studies", name], study, settings)
        if study.specs is not None or study.inference is not None:
            _check_own_inference(Study(name, settings), settings)
    for name, spec in settings.specs.items():
        _check_subset(["specs", name, "subset"], spec.subset, settings)
    check_redefined(config["specs"], project_specs)
    check_inference(settings.inference, settings.specs)
    sources = [name for name, source in settings.sources.items() if source.manifest is not None]
    for name, study in settings.comparisons.items():
        if name in settings.studies:
            problem = "a study of ratings has this name; choose another"
            raise ConfigError.at(["comparisons", name], problem)
        if study.source is not None:
            check_known(
                ["comparisons", name, "source"], [study.source], sources, "sources with a manifest"
            )
    return settings


def _check_own_inference(study: Study, settings: Settings) -> None:
    """Check the specs and settings of inference that a study has of its own, with those that it
    shares.
    """
    own, keys = study.settings, ["studies", study.name]
    declared = own.specs or {}
    if redefined := sorted(declared.keys() & settings.specs.keys()):
        problem = "the name of a shared spec; write another"
        raise ConfigError.at([*keys, "specs", redefined[0]], problem)
    specs = settings.specs
    if declared:
        specs = {name: specs[name] for name in REQUIRED_SPECS} | declared
    listed = Registry.from_config(study.models()).names
    for name, spec in declared.items() if own.import_ is None else ():
        dropped = (spec.subset and spec.subset.models_dropped) or ()
        check_known(
            [*keys, "specs", name, "subset", "models_dropped"],
            dropped,
            listed,
            "models of the study",
        )
    try:
        written = {**settings.inference.as_written(), **(own.inference or {})}
        inference = validated(Inference, written, within=["inference"])
        check_inference(inference, specs)
    except ConfigError as error:
        raise ConfigError.at([*keys, *error.keys], error.problem, meaning=error.meaning) from None


def _check_study(where: Sequence[str], study: RatedStudy, settings: Settings) -> None:
    if study.simulate is not None and study.simulate.quality is not None:
        quality = study.simulate.quality
        check_known([*where, "simulate", "quality"], quality, settings.models, "models")
        families = {settings.models[model].family for model in quality}
        planted = study.simulate.family_bias or {}
        check_known(
            [*where, "simulate", "family_bias"],
            planted,
            families,
            "the families of these models",
        )
    if study.source is not None:
        check_known([*where, "source"], [study.source], settings.sources, "sources")
        files = settings.sources[study.source].files
        if files is not None:
            check_known([*where, "scales"], study.scales, files, f"sources: {study.source}: files")
        elif published_sources().get(study.source) != RATINGS:
            read = enumerated(
                [name for name, content in published_sources().items() if content == RATINGS]
            )
            problem = f"'{study.source}' holds no ratings that are read here; those of {read} are"
            raise ConfigError.at([*where, "source"], problem)


def _check_subset(where: Sequence[str], subset: Subset | None, settings: Settings) -> None:
    studies, names = settings.studies.values(), {}
    if all(study.import_ is None for study in studies):  # an import may have any models
        names["models_dropped"] = Registry.from_config(settings.as_written()["models"]).names
    # And a default scale is for any dimensions
    if all(DEFAULT not in study.scales for study in studies):
        names["dimension"] = {dimension for study in studies for dimension in study.scales}
    # A study without them may hold any dataset
    if all(study.task_types for study in studies):
        names["task_type"] = {task_type for study in studies for task_type in study.task_types}
        names["dataset"] = {
            d for study in studies for group in study.task_types.values() for d in group
        }
    for key, values in (subset.as_written() if subset is not None else {}).items():
        if key in names:
            check_known(
                [*where, key],
                values,
                names[key],
                "models" if key == "models_dropped" else f"any study's {key}s",
            )
