"""What the configuration says of a study of comparisons: verdicts on pairs of answers."""

from typing import Literal

from pydantic import model_validator

from recuse.base.errors import ConfigError
from recuse.base.tables import CONTROL
from recuse.config.declared.imports import ImportOfVerdicts
from recuse.config.declared.sections import Files, Name, Names, Proportion, Section, Some, optional, refuse_unknown, required
from recuse.config.origins import SOURCES, TEXTS, VERDICTS_OF, analyses_of, origin_of_verdicts
from recuse.simulate.pairwise import declared_comparisons

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

    @model_validator(mode="after")
    def _attacks_are_none_of_ours(self) -> "PlantedInJudge":
        if CONTROL in (self.attacks or {}):
            raise ValueError(f"attacks: {CONTROL}: no attack; choose another name")
        return self


class SimulatedVerdicts(Section):
    """A simulated study: a world of one's own, or the published votes."""

    votes: Literal["published"] = optional("`published`: votes as in Chen et al., Tables 1, 3 and 4.")
    questions: int = optional("Number of questions; 80 if not given.", ge=2)
    models: Names = optional("Models whose answers are compared.", min_length=2)
    human_tie: Proportion = optional("Share of pairs that the humans call a tie.")
    human_longer: Proportion = optional("Share of the others where they prefer the longer answer.")
    difficulty: Proportion = optional("How far questions move a probability from its mean.")
    judges: dict[Name, PlantedInJudge] = optional(
        "Every judge with what is planted in it; one of `models` also judges its own answers.",
        min_length=1,
    )

    @model_validator(mode="after")
    def _votes_or_a_world(self) -> "SimulatedVerdicts":
        keys = self.model_fields_set
        if ("votes" in keys) == ({"models", "judges"} <= keys):
            named = ", ".join(sorted(keys & {"votes", "models", "judges"})) or "none"
            raise ValueError(f"found {named} of votes, models, judges; write `votes: published`, or `models` with `judges`")
        return self

    @model_validator(mode="after")
    def _possible_shares(self) -> "SimulatedVerdicts":
        for name, judge in (self.judges or {}).items():
            if judge.own is not None and name not in (self.models or ()):
                raise ValueError(f"judges: {name}: own: it is none of `models`; leave `own` out")
        if self.models is not None and self.judges is not None:
            try:
                declared_comparisons(self.given())
            except ConfigError as error:
                raise ValueError(str(error).removeprefix("simulate: ")) from None
        return self


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
        "Verdicts in the format of another tool, or in columns of other names.",
        alias="import",
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

    @model_validator(mode="after")
    def _possible_origins(self) -> "Comparisons":
        keys = self.given().keys()
        beside = [key for key in ("files", "source", "simulate") if key in keys]
        if "import" in keys and beside:
            raise ValueError(f"found import with {beside[0]}, which do not go together; keep one")
        if not VERDICTS_OF.keys() & keys:
            raise ValueError(f"found none of {', '.join(VERDICTS_OF)}; write one of them")
        if self.source is not None:
            refuse_unknown("source", [self.source], SOURCES, "the sources of comparisons that there is a reader for")
            votes = [key for key in ("files", "simulate") if key in keys]
            if votes and SOURCES[self.source] != TEXTS:
                raise ValueError(f"found source {self.source} with {votes[0]}, of which only one can be read; keep one")
        return self

    @model_validator(mode="after")
    def _possible_analyses(self) -> "Comparisons":
        """No analysis is of verdicts that are not there, and no setting is one that nothing reads."""
        study = self.given()
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
        return self
