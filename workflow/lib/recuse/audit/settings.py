"""Settings of an audit (`plan.yaml`): those of `collect`, and the treatments."""

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

# Papers whose prompts and answers a plan can name in place of tables
CHEN, COBBLER, PRD, LLMBAR = "chen", "cobbler", "prd", "llmbar"
PAPERS = (CHEN, COBBLER, PRD, LLMBAR)
TEXT_KEYS = ("column", "file", "writers", "instruction")
LABEL_KEYS = ("own", "others")
TEMPLATE_KEYS = ("template", "control", "measures", "worsens")


class OwnTreatment(Section):
    """Options of a treatment; your own needs a template or restated answers."""

    template: Name = optional(
        "Your own treatment: the text that judges see. It contains `{answer}`, and may contain"
        " `{prompt}`, `{judge}` (the judge's own name) and `{another}` (another name)."
    )
    control: Name = optional(
        "The template that it is compared with; default: `{answer}`.", default="{answer}"
    )
    measures: Name = optional("What your own treatment measures, in a few words for the card.")
    worsens: bool = optional(
        "Whether your own treatment makes answers worse, so that a good judge marks them down"
        " (default: false).",
        default=False,
    )
    column: by_kind({"text": Name, "a mapping": dict[Name, Name]}) = optional(
        "The column with the restated answers; for several writers, `writer: column`."
    )
    file: by_kind({"text": File, "a mapping": Answers}) = optional(
        "The table with the restated answers, in columns prompt, model and text; default: the table"
        " of `answers`, if `column` is given."
    )
    writers: Names = optional("Models under `restaters` that restate the answers.", default=[])
    instruction: Name = optional("The instruction to these models; default: that of the treatment.")
    own: dict[Name, Name] = optional(
        "The name that a judge knows itself by; default: its name in the plan.", default={}
    )
    others: Names = optional(
        "Other names, one of which is drawn for each answer; default: the other judges and models"
        " of the plan.",
        default=[],
    )

    @property
    def has_texts(self) -> bool:
        """Whether the settings name restated answers."""
        return bool(self.column or self.file or self.writers)

    def _check(self) -> None:
        for key in ("template", "control"):
            text = getattr(self, key)
            places = [] if text is None else PLACE.findall(text)
            for place in places:
                if place not in PLACES:
                    unknown = f"'{{{place}}}' is not a place for a text"
                    raise ValueError(key, f"{unknown}{did_you_mean(place, PLACES)}")
            if text is not None and "answer" not in places:
                raise ValueError(key, "found no {answer}; write it where the answer goes")
        if self.has_texts and self.template is not None:
            raise ValueError("template", "found restated answers, too; leave one of them out")


class Audit(Collect):
    """Ask judges about the same answers, as they are and treated."""

    prompts: by_kind({"text": File, "a mapping": Prompts}) = required(
        f"Table of prompts, as for `collect`; or {', '.join(PAPERS)} for the prompts and answers of"
        " a paper."
    )
    ask: Literal["ratings", "verdicts"] = optional(
        "Ask for ratings of single answers (default), or for verdicts on two.", default="ratings"
    )
    treatments: by_kind({"a list": Names, "a mapping": dict[Name, OwnTreatment]}) = required(
        f"What is changed: {', '.join(REGISTRY)}, or your own, with a template or restated answers."
    )
    restaters: dict[Name, AskedModel] = optional(
        "Models that restate answers, by the names that `writers` of a treatment use.", default={}
    )
    families: dict[Name, Names] = optional(
        "Families of models; their names are masked, too, in blind plans.", default={}
    )

    def options(self) -> dict[str, OwnTreatment]:
        """The options of each treatment."""
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
                own = "or give your own treatment a `template` or a `column`"
                raise ValueError("treatments", name, f"{problem}; {own}")
            refuse(LABEL_KEYS, "only `label` has this; leave it out")
        else:
            refuse(TEMPLATE_KEYS, f"`{name}` has its own; give your treatment another name")
            if name != "label":
                refuse(LABEL_KEYS, "only `label` has this; leave it out")
            if not treatment.restated:
                refuse(TEXT_KEYS, "this treatment restates nothing; leave it out")
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
            problem = "models must not write these; name a `column` that a person has checked"
            if treatment is None:
                problem = "found no `instruction`; write one for these models"
            raise ValueError("treatments", name, "writers", problem)
        if options.column is not None and options.file is None and self.answers is None:
            problem = "found no table for it; name one under `file` or `answers`"
            raise ValueError("treatments", name, "column", problem)
