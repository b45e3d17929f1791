"""What the configuration says of a study: ratings or verdicts, simulated, published or a user's, or of another tool."""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from recuse.base.errors import ConfigError
from recuse.base.tables import CONTROL
from recuse.config.declared.sections import (
    File,
    Files,
    Name,
    Names,
    Proportion,
    Section,
    Share,
    Some,
    SomeKeys,
    by_kind,
    optional,
    refuse_unknown,
    required,
)
from recuse.config.studies import KINDS, SOURCES, STAND_IN, TEXTS, analyses_of, origin_of_verdicts
from recuse.data.registry import (
    COMPARED,
    FORMATS,
    MOST_LEVELS,
    OBSERVED,
    RATED,
    finest_step,
    in_whole_steps,
    possible_steps,
)
from recuse.simulate.pairwise import declared_comparisons

OF_FORMAT = {"columns": "table", "missing": "table", "judge": "inspect", "baseline": "arena_hard"}  # key -> its only format


def _several(columns: list[str]) -> list[str]:
    if len(columns) < 2:
        raise ValueError(f"{columns} is too short; write the column of each rater, or the only column as text")
    return columns


Failures = Some[by_kind(text=str, number=float)]
FAILURES = "Values that stand for a failure, such as -1 or ERROR. They are missing then, and counted; so is an empty value."
ColumnOrColumns = by_kind(text=Name, list=Annotated[Some[Name], AfterValidator(_several)])
JudgeOrJudges = by_kind(text=Name, mapping=Annotated[dict[str, Name], Field(min_length=1)])


class ColumnsOfJudgments(SomeKeys):
    """Names of the columns of judgments."""

    judge: Name = optional("The judge.")
    model: Name = optional("Of ratings, the model that wrote the answer.")
    prompt: Name = optional("Of ratings, the id of the prompt.")
    rating: Name = optional("Of ratings, the judge's.")
    dimension: Name = optional("Of ratings, what was rated; needed if `scales` has several.")
    dataset: Name = optional("Of ratings, the set that the prompt is from, if there is one.")
    human: Name = optional("The human score on the same scale; of verdicts the human label - a, b, tie or the model.")
    length: Name = optional("Of ratings, tokens of the answer, if known.")
    item: Name = optional("Of verdicts, the id of the question.")
    model_a: Name = optional("Of verdicts, the model of one answer.")
    model_b: Name = optional("Of verdicts, the model of the other.")
    outcome: Name = optional("Of verdicts - a, b, tie or error, or the model that won.")
    order: Name = optional("Of verdicts - ab, ba or the model shown first. Without it, model_a was.")
    length_a: Name = optional("Of verdicts, words of the answer of model_a.")
    length_b: Name = optional("Of verdicts, words of that of model_b.")
    condition: Name = optional("Of verdicts; tables are made apart for each.")
    experiment: Name = optional("Of verdicts; tables are made apart for each.")
    favoured: Name = optional("Of verdicts, the answer that an added statement speaks for.")
    vote: Name = optional("Of verdicts, a number if a judge was asked more than once.")


class ColumnsOfReferences(SomeKeys):
    """Names of the columns of human scores and human verdicts."""

    model: Name = optional("Of scores, the model that wrote the answer.")
    prompt: Name = optional("Of scores, the id of the prompt.")
    dataset: Name = optional("Of scores, as that of the ratings; needed if one prompt id stands in two sets.")
    dimension: Name = optional("Of scores, what was scored; needed if `scales` has several.")
    rating: ColumnOrColumns = optional("Of scores, the score; or several columns, each of one rater.")
    rater: Name = optional("Of scores, who gave it, where each row is of one rater.")
    item: Name = optional("Of verdicts, the id of the question.")
    model_a: Name = optional("Of verdicts, the model of one answer.")
    model_b: Name = optional("Of verdicts, the model of the other.")
    human: Name = optional("Of verdicts - a, b, tie or the model; a row for each human verdict.")


class References(Section):
    """Human scores or verdicts in files of their own."""

    files: Files = required("As `files` of judgments, but tables only.")
    columns: ColumnsOfReferences = optional("What they call their columns, where otherwise than the keys here.")
    missing: Failures = optional(FAILURES)


class Import(Section):
    """Files of judgments, all of one format."""

    files: Files = required(
        "The files of judgments, all of one format: CSV (plain or gzip), parquet, JSON Lines, JSON or .eval; in the place of a "
        "file, a folder takes every such file in it and below."
    )
    format: Literal[*FORMATS] = optional(
        "The format of the files, if it shall not be told by their names and keys: `table`, columns of any names; "
        "`mt_bench_single` and `mt_bench_pair`, model_judgment of FastChat; `alpaca_eval`, annotations.json; `arena_hard`, "
        "model_judgment of Arena-Hard 0.1 and 2; `inspect`, a log of inspect_ai."
    )
    columns: ColumnsOfJudgments = optional("What a table calls its columns, where otherwise than the keys here.")
    references: References = optional("Human scores or verdicts in files of their own, in tables of any columns.")
    missing: Failures = optional(FAILURES)
    step: float = optional(
        "Step of the rating scales, of ratings such as 7.5; 1 if not given. A scale has at most 101 levels.", gt=0
    )
    round: bool = optional(
        "Of ratings between two steps, take each to the nearest step, and half-way to the one farther from 0; they are "
        "counted. Without it, the first one is an error."
    )
    judge: JudgeOrJudges = optional(
        "Of Inspect logs, which name scorers: the name of the judge, or the judge of each scorer that is one. To be a judge of "
        "itself, a model has the name here that the log gives it."
    )
    baseline: Name = optional("Of Arena-Hard 0.1, whose judgments do not name it: the model that all are compared with.")

    holds: ClassVar[str]  # the kind of study

    def _check(self) -> None:
        if self.format is not None and self.holds not in FORMATS[self.format].holds:
            raise ValueError(f"format: {self.format} is read under `{FORMATS[self.format].holds[0]}:`; put the study there")
        for key, only in OF_FORMAT.items():
            if key in self.model_fields_set and self.format not in (None, only):
                raise ValueError(f"{key}: only the format {only} has it; leave `{key}` out")


class ImportOfRatings(Import):
    """Files of ratings."""

    holds = RATED

    def _check(self) -> None:
        super()._check()
        if self.references is None:
            return
        if self.columns is not None and self.columns.human is not None:
            raise ValueError("found references with columns: human, of which one is enough; keep one")
        columns = self.references.columns
        if columns is not None and isinstance(columns.rating, list) and columns.rater is not None:
            raise ValueError(
                "references: found rater with several columns of ratings, each of which is one; keep one of the two"
            )


class ImportOfVerdicts(Import):
    """Files of verdicts."""

    holds = COMPARED

    def _check(self) -> None:
        super()._check()
        for key in ("step", "round"):
            if key in self.model_fields_set:
                raise ValueError(f"{key}: verdicts have no scale; leave `{key}` out")


ORIGINS = ("simulate", "source", "files", "import")  # where ratings come from
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
        "Mean human score of each model that is rated, between 0 and 1 on the unit scale.", min_length=1
    )
    judges: dict[Name, Planted] = optional(
        "Those of the models that judge, each with what is planted in it; `{}` is an unbiased judge.", min_length=1
    )
    family_bias: dict[Name, float] = optional("In points of the unit scale, by family; 0 if not given.")
    dispersion: Dispersion = optional("Sums of the parameters of the beta distributions; the larger, the less the scores vary.")

    def _check(self) -> None:
        needs = {"quality": "judges", "judges": "quality", "family_bias": "quality", "dispersion": "quality"}
        for key, needed in needs.items():
            if key in self.model_fields_set and needed not in self.model_fields_set:
                raise ValueError(f"'{needed}' is a dependency of '{key}'")
        if self.judges is not None:
            refuse_unknown("judges", self.judges, self.quality, "`quality`")


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
        "Datasets of each task type. Without it, any dataset is taken and there are no task types.", min_length=1
    )

    def _check(self) -> None:
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
        if isinstance(self.files, dict):
            refuse_unknown("files", self.files, self.scales, "`scales`")
            refuse_unknown("scales", self.scales, self.files, "`files`")
        datasets = [dataset for group in (self.task_types or {}).values() for dataset in group]
        for dataset in datasets:
            if datasets.count(dataset) > 1:
                raise ValueError(f"task_types: the dataset '{dataset}' has two task types; keep one")
        family_of: dict[str, str] = {}
        for family, models in (self.families or {}).items():
            for model in models:
                if family_of.setdefault(model, family) != family:
                    raise ValueError(f"families: '{model}' stands in {family_of[model]} and in {family}; keep one")
        for dimension, scale in self.scales.items():
            self._check_scale(dimension, scale)

    def _check_scale(self, dimension: str, scale: Sequence[float] | str) -> None:
        where = f"scales: {dimension}"
        if scale == OBSERVED:
            if self.shards is not None:
                raise ValueError(
                    f"{where}: observed, which takes all files at once, does not go with `shards`; declare the scale as "
                    "[lowest, highest]"
                )
            return
        shown, width = f"[{', '.join(f'{end:.12g}' for end in scale)}]", scale[1] - scale[0]
        if self.import_ is None and any(int(end) != end for end in scale):
            raise ValueError(
                f"{where}: found {shown}; write whole numbers, or, of ratings such as 0.5, import the files, with "
                "`step: 0.5` beside `import: files`"
            )
        # Of what is imported, the step says how many ratings a scale has.
        if not 0 < width < (MOST_LEVELS if self.import_ is None else math.inf):
            raise ValueError(f"{where}: found {shown}; write [lowest, highest], at most {MOST_LEVELS} ratings")
        if self.import_ is None:
            return
        step = self.import_.step or 1
        of_scale = f"import: step: {step:.12g}: the scale {shown} of {dimension} has"
        if not in_whole_steps(scale, step):
            steps = possible_steps(self.scales)
            mend = f"write another step, such as {steps[-1]:g}" if steps else "write scales that are whole numbers of one step"
            raise ValueError(f"{of_scale} no whole number of such steps; {mend}")
        levels = round(width / step) + 1
        if levels > MOST_LEVELS:
            finest = finest_step(self.scales)
            mend = "write a study for each dimension, each with its step"
            if finest is not None:
                mend = f"write `step: {finest:g}` with `round: true`, which takes each rating to the nearest step"
            raise ValueError(f"{of_scale} {levels} levels, more than {MOST_LEVELS}; {mend}")


ANALYSES = ("verbosity", "cognitive_biases", "attacks")
ANALYSIS_OF = {"pools": "verbosity", "worsening": "attacks"}  # key -> the only analysis that reads it


class Habits(Section):
    """How a judge treats a comparison that is shown in both orders."""

    first: Proportion = optional("Share of comparisons where it takes the first place both times.")
    second: Proportion = optional("The same of the second place.")
    tie: Proportion = optional("Share of comparisons it calls a tie both times.")
    own: Proportion = optional("Probability of its own answer when it decides by answers.")


class PlantedInJudge(Habits):
    """What is planted in a judge."""

    compassion: Habits = optional("The same with the names of the models shown; what is not given stays.")
    error_shorter: Proportion = optional("Error rate where the humans prefer the shorter answer.")
    error_longer: Proportion = optional("Error rate where they prefer the longer answer.")
    bandwagon: Proportion = optional("Share that follows a false majority in both passes.")
    attentional: Proportion = optional("Share that follows an irrelevant sentence.")
    invalid: Proportion = optional("Share of verdicts that are errors.")
    attacks: dict[Name, Proportion] = optional("Success rate of each perturbation.")
    control_tie: Proportion = optional("Share of unperturbed samples without preference.")
    control_perturbed: Proportion = optional(
        "Share of unperturbed samples where it prefers the answer that is perturbed later."
    )
    votes_first: Proportion = optional("Share of votes for the first place whatever it holds.")
    votes_second: Proportion = optional("The same of the second place.")

    def _check(self) -> None:
        if CONTROL in (self.attacks or {}):
            raise ValueError(f"attacks: {CONTROL}: no attack; choose another name")


class SimulatedVerdicts(Section):
    """A simulated study: a world of one's own, or the published votes."""

    votes: Literal["published"] = optional("`published`: votes as in Chen et al., Tables 1, 3 and 4.")
    questions: int = optional("Number of questions; 80 if not given.", ge=2)
    models: Names = optional("Models whose answers are compared.", min_length=2)
    human_tie: Proportion = optional("Share of pairs that the humans call a tie.")
    human_longer: Proportion = optional("Share of the others where they prefer the longer answer.")
    difficulty: Proportion = optional("How far questions move a probability from its mean.")
    judges: dict[Name, PlantedInJudge] = optional(
        "Every judge with what is planted in it; one of `models` also judges its own answers.", min_length=1
    )

    def _check(self) -> None:
        keys = self.model_fields_set
        if ("votes" in keys) == ({"models", "judges"} <= keys):
            named = ", ".join(sorted(keys & {"votes", "models", "judges"})) or "none"
            raise ValueError(f"found {named} of votes, models, judges; write `votes: published`, or `models` with `judges`")
        for name, judge in (self.judges or {}).items():
            if judge.own is not None and name not in (self.models or ()):
                raise ValueError(f"judges: {name}: own: it is none of `models`; leave `own` out")
        if self.models is not None and self.judges is not None:
            try:
                declared_comparisons(self.given())
            except ConfigError as error:
                raise ValueError(str(error).removeprefix("simulate: ")) from None


class Comparisons(Section):
    """A set of verdicts on pairs of answers."""

    title: Name = required("What the figures call the study.")
    simulate: SimulatedVerdicts = optional(
        "Simulate verdicts with planted biases, of `models` by `judges`; or, `votes: published`, votes whose attack success "
        "rates are those that Chen et al. print. Beside `files` it stands in while there are no such files."
    )
    source: str = optional("A key of `sources`.")
    files: Files = optional(
        "Your own verdicts, one CSV or parquet file or several of the same columns - judge, item, model_a, model_b, order, "
        "outcome, and if you have them human, length_a, length_b, condition, experiment, favoured, vote."
    )
    import_: ImportOfVerdicts = optional(
        "Verdicts in the format of another tool, or in columns of other names.", alias="import"
    )
    analyses: Some[Literal[*ANALYSES]] = optional(
        "What to compute of the verdicts - `verbosity` (with position and human agreement; the default), `cognitive_biases` "
        "(the six of CoBBLEr), `attacks` (success rates of perturbations)."
    )
    pools: dict[Name, Names] = optional("Conditions that are also taken together, by the name of the pool.", min_length=1)
    both_orders: bool = optional(
        "True (default) if every comparison must stand in both orders - one that does not is an error. Else it is counted, and "
        "left out where both orders are needed; what single orders, drawn at random, tell is told apart."
    )
    worsening: Names = optional(
        "Conditions that make an answer worse, so that a judge should turn from it; `factual_error` if not given."
    )

    def _check(self) -> None:
        study = self.given()
        beside = [key for key in ("files", "source", "simulate") if key in study]
        if "import" in study and beside:
            raise ValueError(f"found import with {beside[0]}, which do not go together; keep one")
        if not KINDS.keys() & study.keys():
            raise ValueError(f"found none of {', '.join(KINDS)}; write one of them")
        if self.source is not None:
            refuse_unknown("source", [self.source], SOURCES, "the sources of comparisons that there is a reader for")
            votes = [key for key in ("files", "simulate") if key in study]
            if votes and SOURCES[self.source] != TEXTS:
                raise ValueError(f"found source {self.source} with {votes[0]}, of which only one can be read; keep one")
        if origin_of_verdicts(study) is None:
            for key in ("analyses", "both_orders", *ANALYSIS_OF):
                if key in study:
                    raise ValueError(f"{key}: its source holds no single verdicts; leave `{key}` out")
        analyses = analyses_of(study)
        for key, analysis in ANALYSIS_OF.items():
            if key in study and analysis not in analyses:
                raise ValueError(f"{key}: only the analysis {analysis} reads it; leave it out, or add {analysis}")
        if self.simulate is not None and self.simulate.votes is not None and set(analyses) != {"attacks"}:
            raise ValueError("simulate: votes: these are attacks alone; write `analyses: [attacks]`")
