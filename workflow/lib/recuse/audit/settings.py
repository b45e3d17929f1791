"""The settings of an audit, `plan.yaml`: what `collect` has, and treatments."""

from typing import Literal

from recuse.audit.treatments import PLACE, PLACES, REGISTRY
from recuse.base.errors import did_you_mean
from recuse.collect.settings import Answers, AskedModel, Collect, Prompts
from recuse.config.declared.sections import (
    File,
    Name,
    Names,
    Section,
    by_kind,
    optional,
    required,
)

# Papers whose prompts and answers are had by these names, in place of tables
CHEN, COBBLER, PRD, LLMBAR = "chen", "cobbler", "prd", "llmbar"
PAPERS = (CHEN, COBBLER, PRD, LLMBAR)
OF_TEXTS = ("column", "file", "writers", "instruction")
OF_LABEL = ("own", "others")
OF_TEMPLATE = ("template", "control", "measures", "worsens")


class OwnTreatment(Section):
    """How answers are treated; a name of your own needs a template or texts."""

    template: Name = optional(
        "A treatment of your own: the text that is shown, with `{answer}` in it, and if need be"
        " `{prompt}`, `{judge}` (the judge's own name) and `{another}` (another's name)."
    )
    control: Name = optional("What it is compared with; default: `{answer}`.", default="{answer}")
    measures: Name = optional("What a treatment of your own measures, in a few words.")
    worsens: bool = optional(
        "Whether a treatment of your own makes answers worse, so that a good judge marks them down"
        " (default: false).",
        default=False,
    )
    column: by_kind({"text": Name, "a mapping": dict[Name, Name]}) = optional(
        "The column with the restated answers; of several writers, writer: column."
    )
    file: by_kind({"text": File, "a mapping": Answers}) = optional(
        "The table with the restated answers, columns prompt, model and text; default: that of"
        " `answers`, if `column` is named."
    )
    writers: Names = optional(
        "Models that restate the answers, of those under `restaters`.", default=[]
    )
    instruction: Name = optional(
        "The instruction to these writers; default: that of the treatment."
    )
    own: dict[Name, Name] = optional(
        "The name that a judge may know itself by; default: its name in the plan.", default={}
    )
    others: Names = optional(
        "Names of others, of which one is drawn for each answer; default: the other judges and"
        " models of the plan.",
        default=[],
    )

    @property
    def has_texts(self) -> bool:
        """Whether restated answers are named."""
        return bool(self.column or self.file or self.writers)

    def _check(self) -> None:
        for key in ("template", "control"):
            text = getattr(self, key)
            places = [] if text is None else PLACE.findall(text)
            for place in places:
                if place not in PLACES:
                    known = f"'{{{place}}}' is not a text of a request"
                    raise ValueError(key, f"{known}{did_you_mean(place, PLACES)}")
            if text is not None and "answer" not in places:
                raise ValueError(key, "found no {answer}; write where the answer is shown")
        if self.has_texts and self.template is not None:
            raise ValueError("template", "the texts are restated already; leave one of them out")


class Audit(Collect):
    """A judge's replies to the same answers, as they are and treated."""

    prompts: by_kind({"text": File, "a mapping": Prompts}) = required(
        f"Table of prompts, as of `collect`; or {', '.join(PAPERS)} for the prompts and answers of"
        " a paper."
    )
    ask: Literal["ratings", "verdicts"] = optional(
        "Ask for ratings of single answers (default), or for verdicts on two.", default="ratings"
    )
    treatments: by_kind({"a list": Names, "a mapping": dict[Name, OwnTreatment]}) = required(
        f"What is changed: {', '.join(REGISTRY)}, or names of your own with a template or texts."
    )
    restaters: dict[Name, AskedModel] = optional(
        "Models that restate answers, by names that `writers` of a treatment use.", default={}
    )
    families: dict[Name, Names] = optional(
        "Families of models, whose names blind judges do not see.", default={}
    )

    def options(self) -> dict[str, OwnTreatment]:
        """The treatments and how answers are treated."""
        if isinstance(self.treatments, list):
            return {name: OwnTreatment() for name in self.treatments}
        return self.treatments

    def _check(self) -> None:
        if self.prompts not in PAPERS:
            super()._check()
        if not self.treatments:
            raise ValueError("treatments", "found none; name at least one, such as `majority`")
        for name, options in self.options().items():
            self._check_treatment(name, options)

    def _check_treatment(self, name: str, options: OwnTreatment) -> None:
        def refuse(keys: tuple[str, ...], problem: str) -> None:
            for key in keys:
                if key in options.model_fields_set:
                    raise ValueError("treatments", name, key, problem)

        treatment = REGISTRY.get(name)
        if treatment is None:
            if options.template is None and not options.has_texts:
                problem = f"not a treatment{did_you_mean(name, REGISTRY)}"
                own = "or write the `template` or the `column` of one of your own"
                raise ValueError("treatments", name, f"{problem}; {own}")
            refuse(OF_LABEL, "is of the treatment `label`; leave it out")
        else:
            refuse(OF_TEMPLATE, f"`{name}` has its own; give the treatment a name of your own")
            if name != "label":
                refuse(OF_LABEL, "is of the treatment `label`; leave it out")
            if not treatment.restated:
                refuse(OF_TEXTS, "this treatment restates nothing; leave it out")
            if self.ask not in treatment.kinds:
                raise ValueError(
                    "treatments",
                    name,
                    f"needs `ask: {treatment.kinds[0]}`; change it, or leave this treatment out",
                )
        for writer in options.writers:
            if writer not in self.restaters:
                problem = f"'{writer}' is not one of `restaters`"
                known = did_you_mean(writer, self.restaters)
                raise ValueError("treatments", name, "writers", f"{problem}{known}")
        if options.writers and not (options.instruction or getattr(treatment, "instruction", "")):
            problem = "no writer is trusted with this; name a `column` that a person has checked"
            if treatment is None:
                problem = "found no instruction; write what the writers are told"
            raise ValueError("treatments", name, "writers", problem)
        if options.column is not None and options.file is None and self.answers is None:
            problem = "found no table that has it; name it by `file`, or write `answers`"
            raise ValueError("treatments", name, "column", problem)
