"""The settings of a study: ratings or verdicts, simulated, published, a user's own, or imported
from another tool's files.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from recuse.base.errors import ConfigError
from recuse.base.products import TEXTS, VERDICTS, published_sources
from recuse.base.settings import Setting, written
from recuse.config.declared.inference import SpecSettings
from recuse.config.declared.sections import (
    File,
    Files,
    Key,
    Name,
    Names,
    NamesOrNone,
    Proportion,
    Section,
    Share,
    Some,
    SomeKeys,
    by_kind,
    declared_by_product,
    optional,
    refuse_unknown,
    required,
)
from recuse.config.studies import KINDS_BY_ORIGIN
from recuse.data.files import ASKED, READ
from recuse.data.registry import (
    DEFAULT,
    MOST_LEVELS,
    OBSERVED,
    SEEN_STEPS,
    declared_in,
    finest_step,
    fits,
    in_whole_steps,
    named_files,
    possible_steps,
)
from recuse.data.verdicts import CONTROL, WORSENING
from recuse.simulate.gold import KeyJudge, declared_key_world
from recuse.simulate.pairwise import ComparisonWorld, declared_comparisons
from recuse.simulate.world import JudgeParameters


class Declared(SomeKeys):
    """What a file must be."""

    sha256: Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$")] = optional(
        "SHA-256 of its bytes, as `sha256sum` prints it."
    )
    rows: int = optional("Number of its rows, without the header; of JSON, of its objects.", ge=0)


VERIFY = (
    "With `files` or `import`: checksums or numbers of rows of files, by path; a file that does not"
    " match is an error. CSV and JSON have no checksum of their own."
)
Verified = Annotated[dict[File, Declared], Field(min_length=1)]


class StudySettings(Section):
    """A study of either kind."""

    def origins(self) -> list[str]:
        """Where its data come from; of several, the first counts."""
        return [origin for origin in KINDS_BY_ORIGIN if origin in self.as_written()]

    def with_one_origin(self, exists: Callable[[str], bool]) -> dict:
        """The study as it is written, but of `files` and `simulate` only the files if any exists,
        else the placeholder.
        """
        written = dict(self.as_written())
        if self.files is None or self.simulate is None:
            return written
        # If only some files exist, the others are missed when the study is built.
        if any(exists(path) for path, _ in named_files(self.files)):
            del written["simulate"]
            return written
        for key in ("files", "raters", "verify"):  # a simulation makes its own raters
            written.pop(key, None)
        return written | {"title": f"simulated placeholder for {self.title}"}

    def _check(self) -> None:
        if self.verify is not None and self.files is None and self.import_ is None:
            problem = "needs `files` or `import`; only a user's files are verified"
            raise ValueError("verify", problem)


End = Annotated[float, Field(ge=-1_000_000, le=1_000_000)]
ScaleEnds = Annotated[list[End], Field(min_length=2, max_length=2)]


def _with_default(scales: dict[str, list[float]]) -> dict[str, list[float]]:
    if DEFAULT not in scales:
        raise ValueError(
            f"found scales of {', '.join(scales)}; add `{DEFAULT}:`, the scale of the dimension"
        )
    return scales


ScalesByJudge = Annotated[dict[Name, ScaleEnds], Field(min_length=2), AfterValidator(_with_default)]
Scale = by_kind({"a list": ScaleEnds, "text": Literal[OBSERVED], "a mapping": ScalesByJudge})
Spelt = Annotated[dict[Name, NamesOrNone], Field(min_length=1)]
ModelsOfFamily = by_kind({"a list": Names, "a mapping": Spelt})
FileOrFiles = by_kind({"text": File, "a mapping": Annotated[dict[Name, File], Field(min_length=1)]})


class Planted(Section):
    """Parameters of a simulated judge."""

    self_bias: float = optional(
        f"Self-bias, as a share of the scale; default: {JudgeParameters.self_bias:g}."
    )
    slope: float = optional(
        f"Slope on the quality that the human raters score; default: {JudgeParameters.slope:g}."
    )
    intercept: float = optional(
        "Intercept; default: such that, without biases, the judge's mean is that of the humans."
    )


class Dispersion(Section):
    """Sums of the parameters of beta distributions."""

    quality: float = optional("Of completions about their model's mean.", gt=0)
    raters: float = optional("Of human raters about a completion's quality.", gt=0)
    judges: float = optional("Of judges about their expected rating.", gt=0)


class SimulatedRatings(Section):
    """A simulated study: a twin of the published data, or a world of your own."""

    prompts: int = required("Number of prompts; the published data have 596.", ge=12)
    quality: dict[Name, Share] = optional(
        "Mean human score of each model, on a scale from 0 to 1.", min_length=1
    )
    judges: dict[Name, Planted] = optional(
        "The judges among the models; `{}` is an unbiased judge.", min_length=1
    )
    family_bias: dict[Name, float] = optional("Family-biases, as shares of the scale; default: 0.")
    preference: float = optional(
        "Standard deviation of each judge's preferences for single models, as a share of the scale;"
        " default: 0.",
        ge=0,
    )
    dispersion: Dispersion = optional(
        "Sums of the parameters of the beta distributions; larger sums mean less variation."
    )

    def _check(self) -> None:
        needs = {"quality": "judges", "judges": "quality"}
        needs |= dict.fromkeys(("family_bias", "preference", "dispersion"), "quality")
        for key, needed in needs.items():
            if key in self.model_fields_set and needed not in self.model_fields_set:
                raise ValueError(f"found {key} without {needed}; add `{needed}`")
        if self.judges is not None:
            refuse_unknown("judges", self.judges, self.quality, "`quality`")


class RatedStudy(StudySettings):
    """A set of ratings."""

    title: Name = required("Title in the figures.")
    simulate: SimulatedRatings = optional(
        "Simulate a twin of the published Play Favorites data or, with `quality` and `judges`, a"
        " world of your own. With `files`, a placeholder for as long as none of them exists."
    )
    source: str = optional("A key of `sources`.")
    files: FileOrFiles = optional(
        "Your own ratings, with the published columns (judge, model, gt, dataset, prompt_id, rating"
        " and, if known, pred_length): one CSV (plain or gzip) or parquet file for each dimension,"
        " or one file with a column `dimension`. A folder stands for all *.parquet in it."
    )
    collect: declared_by_product("studies.collect") = optional(
        "Ratings to collect from judges. `import` then needs no `files`, only additions such as"
        " `references`; `scales` are those of the criteria."
    )
    counts: Name = optional(
        "With `files`: the column that says how many ratings a row stands for, if rows are counts."
        " prompt_id is then optional: `recuse fit` of errors HC0 to HC3 needs none.",
        default="",
    )
    import_: declared_by_product("studies.import") = optional(
        "Ratings in another tool's format or with other column names.", alias="import"
    )
    families: dict[Name, ModelsOfFamily] = optional(
        "With `import`: the models of each family, as the files spell them, or each model with its"
        " other spellings, `{GPT: {gpt-4o: [openai/gpt-4o]}}`. A model listed neither here nor under"
        " `models:` keeps its name and is a family of its own; the log of the import says so.",
        default={},
        min_length=1,
    )
    simulated: bool = optional(
        "Whether the ratings are simulated; if so, the report and all figures are marked.",
        default=False,
    )
    raters: Name = optional(
        "With `files`: the scores of the single human raters, a CSV or parquet file with columns"
        " model, dimension, dataset, prompt_id, rater, rating, and team (`raters` or `gold`) if a"
        " second team of experts rated a part."
    )
    verify: Verified = optional(VERIFY)
    shards: int = optional(
        "Number of jobs over which a large study's checks and ratings are scattered, on a cluster"
        " or on more cores; results are the same. Default: one job.",
        default=0,
        ge=2,
        le=1000,
    )
    specs: dict[Key, SpecSettings] = optional(
        "Specs that are fitted to this study, as well as `main` and `by_dimension`, in place of"
        " the other `specs`. Its `inference` must then set every key that names specs.",
        min_length=1,
    )
    inference: dict[str, Any] = optional(
        "Keys of `inference` that have other values for this study.", min_length=1
    )
    figures: Names = optional("The figures of this study; default: all that are possible.")
    trusted: Names = optional(
        'Judges whose ratings count although `check` doubts them; see docs/own-data.md, "Judges in'
        ' doubt".',
        default=[],
    )
    scales: dict[Name, Scale] = required(
        "The study's dimensions, each with its lowest and highest rating, or `observed` for 0 to"
        " the highest value in the files; `default` is for every dimension that is not named. Whole"
        " numbers or, with `import`, multiples of its `step`. With `import`, judges may have a"
        " scale of their own, `{default: [1, 10], gpt-4o: [1, 5]}`: their ratings are mapped"
        " linearly to that of the dimension.",
        min_length=1,
    )
    task_types: dict[Name, Names] = optional(
        "Datasets of each task type; default: no task types, and any datasets.",
        default={},
        min_length=1,
    )

    def _check(self) -> None:
        origins = self.origins()
        if len(origins) != 1 and set(origins) != {"files", "simulate"}:
            raise ValueError(
                f"found {', '.join(origins) or 'none'} of {', '.join(KINDS_BY_ORIGIN)}; write one of"
                " them, or `files` with `simulate`, a placeholder for as long as there are no such"
                " files"
            )
        super()._check()
        if self.raters is not None and self.files is None:
            raise ValueError("raters", "needs `files`; a simulated study makes its own raters")
        if self.counts and self.files is None:
            raise ValueError("counts", "needs `files`, a table of counts")
        if self.counts in (*READ, *ASKED):
            problem = f"found '{self.counts}', a column of the ratings; name the column of counts"
            raise ValueError("counts", problem)
        if self.import_ is not None and self.shards:
            raise ValueError("found import with shards, which cannot be combined; keep one")
        for key in ("raters", "shards", "simulate"):
            if self.counts and getattr(self, key):
                raise ValueError(f"found counts with {key}, which cannot be combined; keep one")
        if self.families and self.import_ is None:
            raise ValueError(
                "families", "needs `import`; write the models under `models:` of config"
            )
        if isinstance(self.files, dict):
            refuse_unknown(
                "files", self.files if DEFAULT not in self.scales else (), self.scales, "`scales`"
            )
            refuse_unknown(
                "scales", (name for name in self.scales if name != DEFAULT), self.files, "`files`"
            )
        for key, groups, noun in (
            ("task_types", self.task_types, "the dataset "),
            ("families", self.families, ""),
        ):
            group_of = {}
            for group, names in groups.items():
                for name in names:
                    if group_of.setdefault(name, group) != group:
                        raise ValueError(
                            key,
                            f"{noun}'{name}' is listed under {group_of[name]} and {group};"
                            " keep one",
                        )
        for dimension, scale in self.scales.items():
            if isinstance(scale, dict) and self.import_ is None:
                raise ValueError(
                    "scales",
                    dimension,
                    "scales of judges need `import`; write [lowest, highest]",
                )
            if not isinstance(scale, dict):
                self._check_scale(scale, dimension)
                continue
            for judge, ends in scale.items():
                self._check_scale(ends, dimension, judge)

    def _check_scale(self, scale: Sequence[float] | str, *keys: str) -> None:
        if scale == OBSERVED:
            if self.shards:
                raise ValueError(
                    "scales",
                    *keys,
                    "observed needs all files at once, `shards` splits them; write"
                    " [lowest, highest]",
                )
            return
        shown, width = f"[{', '.join(f'{end:.12g}' for end in scale)}]", scale[1] - scale[0]
        if self.import_ is None and any(int(end) != end for end in scale):
            raise ValueError(
                "scales",
                *keys,
                f"found {shown}; write whole numbers or, for ratings such as 0.5, import the files"
                " with `step: 0.5`",
            )
        # The step of an import says how many ratings a scale has.
        if not 0 < width < (MOST_LEVELS if self.import_ is None else math.inf):
            problem = f"found {shown}; write [lowest, highest], with at most {MOST_LEVELS} ratings"
            raise ValueError("scales", *keys, problem)
        if self.import_ is None:
            return
        if (
            self.import_.step is None
            and self.import_.round is None
            and any(fits(step, [scale]) for step in SEEN_STEPS)
        ):
            return
        step = self.import_.step or 1
        of_scale = f"{step:.12g}: the scale {shown} of {': '.join(keys)}"
        if not in_whole_steps(scale, step):
            steps = possible_steps(declared_in(self.scales))
            advice = (
                f"write another step, such as {steps[-1]:g}"
                if steps
                else "write scales that are multiples of one step"
            )
            raise ValueError(
                "import",
                "step",
                f"{of_scale} has ends that are no multiples of this step; {advice}",
            )
        levels = round(width / step) + 1
        if levels > MOST_LEVELS:
            finest = finest_step(declared_in(self.scales))
            advice = "write a study for each dimension, each with its step"
            if finest is not None:
                advice = (
                    f"{Setting('step').given(finest)} with"
                    f" {Setting('round').line(written(True))}, which rounds ratings to the nearest"
                    " step"
                )
            raise ValueError(
                "import",
                "step",
                f"{of_scale} has {levels} levels, more than {MOST_LEVELS}; {advice}",
            )


ANALYSES = ("verbosity", "regression", "cognitive_biases", "attacks", "gold")
# Key -> the only analysis that reads it
ANALYSIS_OF = {"pools": "verbosity", "worsening": "attacks"}


class PlantedHabits(Section):
    """How a judge treats a comparison that is shown in both orders."""

    first: Proportion = optional(
        "Share of comparisons in which it prefers the first place both times."
    )
    second: Proportion = optional(
        "Share of comparisons in which it prefers the second place both times."
    )
    tie: Proportion = optional("Share of comparisons that it calls a tie both times.")
    own: Proportion = optional("Probability of preferring its own answer when the answers decide.")


class PlantedInJudge(PlantedHabits):
    """Parameters of a simulated judge."""

    compassion: PlantedHabits = optional(
        "The same when the models' names are shown; default: unchanged."
    )
    error_shorter: Proportion = optional("Error rate when the humans prefer the shorter answer.")
    error_longer: Proportion = optional("Error rate when the humans prefer the longer answer.")
    bandwagon: Proportion = optional(
        "Share of comparisons in which it follows a false majority both times."
    )
    attentional: Proportion = optional(
        "Share of comparisons in which it follows an irrelevant sentence."
    )
    invalid: Proportion = optional("Share of verdicts that are errors.")
    attacks: dict[Name, Proportion] = optional("Success rate of each perturbation.")
    control_tie: Proportion = optional("Share of unperturbed samples without preference.")
    control_perturbed: Proportion = optional(
        "Share of unperturbed samples in which it prefers the answer perturbed later."
    )
    votes_first: Proportion = optional("Share of votes for the first place, whatever is there.")
    votes_second: Proportion = optional("Share of votes for the second place, whatever is there.")
    mistake: Proportion = optional(
        "With `accuracy`: probability of choosing the wrong of two answers; default:"
        f" {KeyJudge.mistake:g}."
    )
    struggle: float = optional(
        "With `accuracy`: what is added to it for questions that the judge itself answered wrong."
    )
    legitimate: float = optional(
        "With `accuracy`: what is added to the probability of choosing its own right answer."
    )
    harmful: float = optional(
        "With `accuracy`: what is added to the probability of choosing its own wrong answer."
    )

    def _check(self) -> None:
        if CONTROL in (self.attacks or {}):
            raise ValueError("attacks", CONTROL, "this name is not an attack's; choose another")


KEY_JUDGE = {"mistake", "struggle", "legitimate", "harmful"}  # of a judge of answers with a key


class SimulatedVerdicts(Section):
    """A simulated study: a world of your own, with human labels or a key, or the published
    votes.
    """

    votes: Literal["published"] = optional(
        "`published`: votes as in Chen et al., Tables 1, 3 and 4."
    )
    questions: int = optional(f"Number of questions; default: {ComparisonWorld.questions}.", ge=2)
    models: Names = optional("Models whose answers are compared.", min_length=2)
    accuracy: dict[Name, Proportion] = optional(
        "In place of `models`: share of right answers of each model, by a key.", min_length=2
    )
    convincing: dict[Name, float] = optional(
        "With `accuracy`: what is added, for some models, to the probability that a judge chooses"
        " their wrong answers."
    )
    first: Proportion = optional(
        "With `accuracy`: share of comparisons in which a judge prefers the first place both times."
    )
    human_tie: Proportion = optional("Share of pairs that the humans call a tie.")
    human_longer: Proportion = optional(
        "Share of the other pairs in which the humans prefer the longer answer."
    )
    difficulty: Proportion = optional("How far questions move a probability from its mean.")
    judges: dict[Name, PlantedInJudge] = optional(
        "The judges; one of `models` also judges its own answers.", min_length=1
    )

    def _check(self) -> None:
        keys = self.model_fields_set
        if "accuracy" in keys:
            self._check_world_with_key()
            return
        if ("votes" in keys) == ({"models", "judges"} <= keys):
            named = ", ".join(sorted(keys & {"votes", "models", "judges"})) or "none"
            raise ValueError(
                f"found {named} of votes, models, judges; write `votes: published`, or `models`"
                " with `judges`"
            )
        for key in ("convincing", "first"):
            if key in keys:
                raise ValueError(
                    key,
                    "needs `accuracy`, the share of right answers of each model; leave"
                    f" `{key}` out",
                )
        for name, judge in (self.judges or {}).items():
            if of_key := sorted(judge.model_fields_set & KEY_JUDGE):
                problem = f"needs `accuracy`; leave `{of_key[0]}` out"
                raise ValueError("judges", name, of_key[0], problem)
        for name, judge in (self.judges or {}).items():
            if judge.own is not None and name not in (self.models or ()):
                problem = "this judge is not one of `models`; leave `own` out"
                raise ValueError("judges", name, "own", problem)
        if self.models is not None and self.judges is not None:
            try:
                declared_comparisons(self.as_written())
            except ConfigError as error:
                raise ValueError(*error.keys, error.problem) from None

    def _check_world_with_key(self) -> None:
        if others := self.model_fields_set - {
            "accuracy",
            "convincing",
            "first",
            "difficulty",
            "questions",
            "judges",
        }:
            raise ValueError(
                f"found accuracy with {min(others)}, which cannot be combined; keep one"
            )
        if self.judges is None:
            raise ValueError("found accuracy without judges; add `judges`")
        refuse_unknown("convincing", self.convincing or (), self.accuracy, "`accuracy`")
        for name, judge in self.judges.items():
            if others := sorted(judge.model_fields_set - KEY_JUDGE):
                problem = "answers with a key have none; leave it out"
                raise ValueError("judges", name, others[0], problem)
        try:
            declared_key_world(self.as_written())
        except ConfigError as error:
            raise ValueError(*error.keys, error.problem) from None


class ComparedStudy(StudySettings):
    """A set of verdicts on pairs of answers."""

    title: Name = required("Title in the figures.")
    simulate: SimulatedVerdicts = optional(
        "Simulate verdicts of `judges` on answers of `models`, with planted biases, or, with"
        " `votes: published`, votes with the attack success rates of Chen et al. With `files`, a"
        " placeholder for as long as none of them exists."
    )
    source: str = optional("A key of `sources`.")
    files: Files = optional(
        "Your own verdicts: one or more CSV or parquet files with columns judge, item, model_a,"
        " model_b, order, outcome and, if known, human, length_a, length_b, condition, experiment,"
        " favoured, vote, right_a, right_b, wording."
    )
    collect: declared_by_product("comparisons.collect") = optional(
        "Verdicts to collect from judges; `import` then needs no `files`."
    )
    import_: declared_by_product("comparisons.import") = optional(
        "Verdicts in another tool's format or with other column names.", alias="import"
    )
    families: dict[Name, ModelsOfFamily] = optional(
        "The models of each family, as the files spell them, or each model with its other"
        " spellings. A model listed neither here nor under `models:` is a family of its own.",
        default={},
        min_length=1,
    )
    verify: Verified = optional(VERIFY)
    analyses: Some[Literal[*ANALYSES]] = optional(
        "What to compute from the verdicts: `verbosity` (with position and human agreement),"
        " `regression` (own and family terms, strengths of models), `cognitive_biases` (the six of"
        " CoBBLEr), `attacks` (success rates of perturbations), `gold` (preference for own right"
        " and wrong answers); the first two by default.",
        default=["verbosity", "regression"],
    )
    pools: dict[Name, Names] = optional(
        "Conditions that are also pooled, by the name of the pool.", default={}, min_length=1
    )
    both_orders: bool = optional(
        "Whether every comparison must be shown in both orders (default: true). If false, single"
        " orders are counted, left out where both are needed, and, if drawn at random, reported"
        " separately.",
        default=True,
    )
    worsening: Names = optional(
        "Conditions that make an answer worse, which a judge should notice; default:"
        " `factual_error`.",
        default=[*WORSENING],
    )

    def origin(self) -> str | None:
        """Where its verdicts come from; None if its source has no single verdicts."""
        origin = self.origins()[0]
        has_none = origin == "source" and published_sources()[self.source] != VERDICTS
        return None if has_none else origin

    def _check(self) -> None:
        super()._check()
        study = self.as_written()
        others = [key for key in ("files", "source", "simulate") if key in study]
        if self.import_ is not None and others:
            raise ValueError(f"found import with {others[0]}, which cannot be combined; keep one")
        if not self.origins():
            raise ValueError(f"found none of {', '.join(KINDS_BY_ORIGIN)}; write one of them")
        if self.source is not None:
            refuse_unknown(
                "source",
                [self.source],
                published_sources(),
                "the sources of comparisons that can be read",
            )
            votes = [key for key in ("files", "simulate") if key in study]
            if votes and published_sources()[self.source] != TEXTS:
                raise ValueError(
                    f"found source {self.source} with {votes[0]}, which cannot be combined;"
                    " keep one"
                )
        if self.origin() is None:
            for key in ("analyses", "both_orders", "families", *ANALYSIS_OF):
                if key in study:
                    problem = f"this source has no single verdicts; leave `{key}` out"
                    raise ValueError(key, problem)
        for key, analysis in ANALYSIS_OF.items():
            if key in study and analysis not in self.analyses:
                problem = f"only the analysis {analysis} reads it; leave it out, or add {analysis}"
                raise ValueError(key, problem)
        if (
            self.simulate is not None
            and self.simulate.votes is not None
            and set(self.analyses) != {"attacks"}
        ):
            problem = "these votes are on attacks only; write `analyses: [attacks]`"
            raise ValueError("simulate", "votes", problem)
        has_key = self.simulate is not None and self.simulate.accuracy is not None
        if has_key and set(self.analyses) != {"gold"}:
            problem = "these verdicts have a key alone; write `analyses: [gold]`"
            raise ValueError("simulate", "accuracy", problem)
        if self.simulate is not None and not has_key and "gold" in self.analyses:
            problem = (
                "gold: needs answers with a key; write `accuracy` under `simulate`, or leave gold"
                " out"
            )
            raise ValueError("analyses", problem)
