"""What the configuration says of a study of ratings."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from recuse.config.declared.imports import ImportOfRatings
from recuse.config.declared.sections import File, Name, Names, Section, Share, by_kind, optional, refuse_unknown, required
from recuse.config.origins import ORIGINS, STAND_IN
from recuse.data.registry import MOST_LEVELS, OBSERVED, finest_step, in_whole_steps, possible_steps

End = Annotated[float, Field(ge=-1_000_000, le=1_000_000)]
Scale = by_kind(list=Annotated[list[End], Field(min_length=2, max_length=2)], text=Literal[OBSERVED])
FileOrFiles = by_kind(text=File, mapping=Annotated[dict[Name, File], Field(min_length=1)])


class Planted(Section):
    """What is planted in a judge."""

    self_bias: float = optional("In points of the unit scale; 0 if not given.")
    slope: float = optional("On the human score; 0.6 if not given.")
    intercept: float = optional("Such that, without biases, the judge's mean is the humans', if not given.")


class Dispersion(Section):
    """Sums of the parameters of beta distributions."""

    quality: float = optional("Of the completions about their model's mean.", gt=0)
    raters: float = optional("Of the human raters about the completion's quality.", gt=0)
    judges: float = optional("Of the judges about their expected rating.", gt=0)


class SimulatedRatings(Section):
    """A simulated study: a twin of the published data, or a world of one's own."""

    prompts: int = required("Number of prompts; the published data have 596.", ge=12)
    quality: dict[Name, Share] = optional(
        "Mean human score of each model that is rated, between 0 and 1 on the unit scale.",
        min_length=1,
    )
    judges: dict[Name, Planted] = optional(
        "Those of the models that judge, each with what is planted in it; `{}` is an unbiased judge.",
        min_length=1,
    )
    family_bias: dict[Name, float] = optional("In points of the unit scale, by family; 0 if not given.")
    dispersion: Dispersion = optional("Sums of the parameters of the beta distributions; the larger, the less the scores vary.")

    @model_validator(mode="after")
    def _whole_world(self) -> "SimulatedRatings":
        for key, needed in (
            ("quality", "judges"),
            ("judges", "quality"),
            ("family_bias", "quality"),
            ("dispersion", "quality"),
        ):
            if {key, needed} & self.model_fields_set == {key}:
                raise ValueError(f"'{needed}' is a dependency of '{key}'")
        if self.judges is not None:
            refuse_unknown("judges", self.judges, self.quality, "`quality`")
        return self


class Study(Section):
    """A set of ratings."""

    title: Name = required("What the figures call the study.")
    simulate: SimulatedRatings = optional(
        "Simulate a twin of the published Play Favorites data; or, with `quality` and `judges`, a world of your own. Beside "
        "`files` it stands in while there are no such files."
    )
    source: str = optional("A key of `sources`.")
    files: FileOrFiles = optional(
        "Your own ratings in the published columns (judge, model, gt, dataset, prompt_id, rating, and pred_length if you have "
        "lengths): a CSV (plain or gzip) or parquet file for each dimension, or one file that has a column `dimension`. In the "
        "place of a file, a folder takes every *.parquet in it."
    )
    import_: ImportOfRatings = optional("Ratings in the format of another tool, or in columns of other names.", alias="import")
    families: dict[Name, Names] = optional(
        "Beside `import`, the models of each family, as the files spell them. One that stands neither here nor under `models:` "
        "is taken by its name, in a family of its own, and the log of the import says so.",
        min_length=1,
    )
    raters: Name = optional(
        "Beside `files`, the scores of the single human raters, a CSV or parquet file with the columns model, dimension, "
        "dataset, prompt_id, rater, rating, and team (`raters` or `gold`) if a second team of experts rated a part."
    )
    shards: int = optional(
        "Scatter the checks and the canonical ratings of a study of many rows over so many jobs, for a cluster or for more "
        "cores; every result is the same. Without it, they are one job.",
        ge=2,
        le=1000,
    )
    scales: dict[Name, Scale] = required(
        "Lowest and highest rating of each dimension, or `observed` - 0 to the highest value found. The dimensions named here "
        "are the study's. Whole numbers, but beside `import` whole numbers of its `step`.",
        min_length=1,
    )
    task_types: dict[Name, Names] = optional(
        "Datasets of each task type. Without it, any dataset is taken and there are no task types.",
        min_length=1,
    )

    @model_validator(mode="after")
    def _one_origin(self) -> "Study":
        keys = self.given().keys()
        origins = [key for key in ORIGINS if key in keys]
        if len(origins) != 1 and set(origins) != STAND_IN:
            raise ValueError(
                f"found {', '.join(origins) or 'none'} of {', '.join(ORIGINS)}; write one of them, or `files` with `simulate`, "
                "which stands in while there are no such files"
            )
        if "raters" in keys and "files" not in keys:
            raise ValueError("raters: goes with `files`; a simulated study makes its own raters")
        if {"import", "shards"} <= keys:
            raise ValueError("found import with shards, which do not go together; keep one")
        if "families" in keys and "import" not in keys:
            raise ValueError("families: goes with `import`; write the models under `models:` of config")
        return self

    @model_validator(mode="after")
    def _names_once(self) -> "Study":
        if isinstance(self.files, dict):
            refuse_unknown("files", self.files, self.scales, "`scales`")
            refuse_unknown("scales", self.scales, self.files, "`files`")
        datasets = [dataset for group in (self.task_types or {}).values() for dataset in group]
        for dataset in datasets:
            if datasets.count(dataset) > 1:
                raise ValueError(f"task_types: the dataset '{dataset}' has two task types; keep one")
        seen: dict[str, str] = {}
        for family, models in (self.families or {}).items():
            for model in models:
                if seen.setdefault(model, family) != family:
                    raise ValueError(f"families: '{model}' stands in {seen[model]} and in {family}; keep one")
        return self

    @model_validator(mode="after")
    def _possible_scales(self) -> "Study":
        for dimension, scale in self.scales.items():
            where = f"scales: {dimension}"
            if scale == OBSERVED and self.shards is not None:
                raise ValueError(
                    f"{where}: observed, which takes all files at once, does not go with `shards`; declare the scale as "
                    "[lowest, highest]"
                )
            if scale == OBSERVED:
                continue
            shown = _in_text(scale)
            if self.import_ is None and any(int(end) != end for end in scale):
                raise ValueError(
                    f"{where}: found {shown}; write whole numbers, or, of ratings such as 0.5, import the files, with "
                    "`step: 0.5` beside `import: files`"
                )
            # Of what is imported, the step says how many ratings a scale has.
            if not 0 < scale[1] - scale[0] < (MOST_LEVELS if self.import_ is None else math.inf):
                raise ValueError(f"{where}: found {shown}; write [lowest, highest], at most {MOST_LEVELS} ratings")
            if self.import_ is not None:
                _check_step(dimension, self.scales, self.import_.step or 1)
        return self


def _check_step(dimension: str, scales: Mapping, step: float) -> None:
    scale = scales[dimension]
    of_scale = f"import: step: {step:.12g}: the scale {_in_text(scale)} of {dimension} has"
    if not in_whole_steps(scale, step):
        steps = possible_steps(scales)
        mend = f"write another step, such as {steps[-1]:g}" if steps else "write scales that are whole numbers of one step"
        raise ValueError(f"{of_scale} no whole number of such steps; {mend}")
    levels = round((scale[1] - scale[0]) / step) + 1
    if levels > MOST_LEVELS:
        finest = finest_step(scales)
        mend = "write a study for each dimension, each with its step"
        if finest is not None:
            mend = f"write `step: {finest:g}` with `round: true`, which takes each rating to the nearest step"
        raise ValueError(f"{of_scale} {levels} levels, more than {MOST_LEVELS}; {mend}")


def _in_text(scale: Sequence[float]) -> str:
    return f"[{', '.join(f'{end:.12g}' for end in scale)}]"
