"""The plan of an audit: a plan of `collect` in which judges see the same answers under every arm of
every treatment.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from recuse.audit.settings import Audit, OwnTreatment
from recuse.audit.treatments import (
    REGISTRY,
    Texts,
    Treatment,
    as_it_is,
    own_treatment,
    restated,
    template,
    with_restated,
)
from recuse.base.errors import ConfigError, DataError, check_known
from recuse.collect.designs import in_random_order
from recuse.collect.ledger import LedgerEntry
from recuse.collect.plan import LONGEST_ANSWER, RATINGS, Asked, Plan, asked_model
from recuse.collect.requests import NUMBER, Price, Request
from recuse.collect.responses import choice_in
from recuse.collect.settings import Answers
from recuse.collect.texts import ModelAnswer, read_answers, table_path

FIRST, SECOND = "first", "second"


class Restated(NamedTuple):
    """Whose answer a text restates, for which treatment, and who restated it ("" if unknown)."""

    model: str
    treatment: str
    writer: str


class Target(NamedTuple):
    """An answer that is treated.

    In a pair, `other` and `place` say beside which answer and where; in ratings both are "". For a
    restated answer, `text` is the new text and `writer` who wrote it.
    """

    model: str
    other: str
    place: str
    writer: str
    text: str | None


@dataclass(frozen=True)
class AuditPlan(Plan):
    """What an audit asks."""

    treatments: Sequence[Treatment] = ()
    options: Mapping[str, OwnTreatment] = field(default_factory=dict)
    restated: Sequence[ModelAnswer] = ()  # in files; the `model` of each is a Restated
    restaters: Mapping[str, Asked] = field(default_factory=dict)
    confidence: float = 0.9  # level of its intervals
    paper: str = ""  # the one of PAPERS that has these prompts and answers, or ""

    @classmethod
    def from_settings(
        cls, name: str, audit: Audit, *, seed: int, prices: Mapping[str, Price] | None = None
    ) -> "AuditPlan":
        """Read the tables that the settings name; ConfigError or DataError if they do not fit
        together.

        name: the plan's, after which its ledger is called.
        """
        plan = cls.of(name, audit.ask, audit, seed=seed, families=audit.families, prices=prices)
        options = audit.options()
        plan = replace(
            plan,
            treatments=[_treatment(each, chosen) for each, chosen in options.items()],
            options=options,
            restated=[
                answer
                for each, chosen in options.items()
                for answer in _texts_in_files(each, chosen, audit, plan)
            ],
            restaters={
                each: asked_model(each, entry, prices or {})
                for each, entry in audit.restaters.items()
            },
        )
        plan._check_names()
        return plan

    def _check_names(self) -> None:
        """Raise ConfigError if `label` names an unknown judge, or if a treatment needs another name
        and there is none.
        """
        check_known(["treatments", "label", "own"], self._labels.own, self.judges, "the judges")
        for name, chosen in self.options.items():
            shows_another = name == "label" or "{another}" in f"{chosen.template}{chosen.control}"
            for judge in self.judges if shows_another else ():
                if not self._others(judge):
                    raise ConfigError.at(
                        ["treatments", "label", "others"],
                        f"found no name but the judge's, {judge}, and {name} shows another one; write"
                        " names of other models",
                        place=self.study,
                    )

    def check_texts(self) -> None:
        """Raise DataError if two prompts have the same text."""
        first: dict[str, str] = {}
        for prompt, text in self.prompts.items():
            if (other := first.setdefault(text.strip(), prompt)) != prompt:
                raise DataError(
                    f"{table_path(self.collect.prompts)}: found the text of prompt '{other}' again as"
                    f" prompt '{prompt}'; intervals need different prompts, so delete one of the two;"
                    " to ask more than once, write `replicates`"
                )

    def asked_models(self) -> list[Asked]:
        """All models to which requests may be sent."""
        return [*super().asked_models(), *self.restaters.values()]

    def writing(self) -> list[Request]:
        """Requests to write answers, and to restate those in the file."""
        requests = super().writing()
        for treatment in self.treatments:
            chosen = self.options[treatment.name]
            instruction = chosen.instruction or treatment.instruction
            for writer in chosen.writers:
                asked = self.restaters[writer]
                for answer in self.given:
                    about = {"treatment": treatment.name, "writer": writer}
                    about |= {"prompt": answer.prompt, "model": answer.model}
                    requests.append(
                        Request(
                            asked.endpoint,
                            ({"role": "user", "content": f"{instruction}\n\n{answer.text}"},),
                            asked.body(LONGEST_ANSWER),
                            mode=NUMBER,
                            about=about,
                        )
                    )
        return requests

    def answers(
        self, entries: Mapping[str, LedgerEntry], *, absent: str | None = None
    ) -> list[ModelAnswer]:
        """The answers as in any plan, then the restated ones, with a Restated as their model."""
        found = []
        for request in self.writing():
            about = request.about
            if "treatment" not in about:
                continue
            text = absent and f"{absent} {request.key}"
            if request.key in entries:
                text = choice_in(entries[request.key].response).text
            if text is not None:
                by = Restated(about["model"], about["treatment"], about["writer"])
                found.append(ModelAnswer(about["prompt"], by, text))
        return [*super().answers(entries, absent=absent), *self.restated, *found]

    def shown(self, judge: str, prompt: str, texts: Mapping) -> Iterator[tuple[dict, dict]]:
        """Yield what each request to a judge about a prompt is about, and the texts that it shows.

        about: treatment, arm, model (whose answer is treated), other, order (the place of the
        treated answer, unless that is the arm) and writer. texts: by model, and by Restated.
        """
        answers = {model: text for model, text in texts.items() if isinstance(model, str)}
        for treatment in self.treatments:
            for target in self._targets(treatment, prompt, texts, answers):
                for arm, show in treatment.arms.items():
                    about = {"treatment": treatment.name, "arm": arm, **_about(target)}
                    given = {
                        "prompt": self.prompts[prompt],
                        "answer": answers[target.model],
                        "judge": self._own_name(judge),
                        "another": self._another(judge, prompt, target.model),
                    }
                    if target.other:
                        given["other"] = answers[target.other]
                    if target.text is not None:
                        given["restated"] = target.text
                    place = arm if arm in (FIRST, SECOND) else target.place
                    yield about, _placed(show(given, about), place)

    def _targets(
        self, treatment: Treatment, prompt: str, texts: Mapping, answers: Texts
    ) -> Iterator[Target]:
        """The answers to a prompt that are treated, with their places.

        One answer of each pair is treated, in turn over the prompts, so that any four in a row have
        each answer once in each place. Both are treated if own answers are compared with others'.
        With `orders: both`, a treated answer takes both places.
        """
        by_model = {model: {"": None} for model in answers}
        if restated in treatment.arms.values():
            by_model = _restated_for(treatment, texts)
        if self.kind == RATINGS:
            for model, versions in by_model.items():
                for writer, text in versions.items():
                    yield Target(model, "", "", writer, text)
            return
        both = any(contrast.beyond_others for contrast in treatment.contrasts)
        for pair in combinations(sorted(answers), 2):
            if self.collect.against is not None and self.collect.against not in pair:
                continue
            able = [model for model in pair if model in by_model]
            if not able:
                continue
            turn = self._rank[prompt] + random.Random(f"{self.seed}: {pair}").randrange(4)
            places = (FIRST, SECOND)
            if FIRST in treatment.arms:
                places = ("",)  # the arms are the places
            elif self.collect.orders == "random":
                places = (places[turn // 2 % 2],)
            for model in able if both else [able[turn % len(able)]]:
                (other,) = (each for each in pair if each != model)
                for place in places:
                    for writer, text in by_model[model].items():
                        yield Target(model, other, place, writer, text)

    @cached_property
    def _rank(self) -> dict[str, int]:
        """The rank of each prompt in the order of asking."""
        strata = self.datasets if self.collect.design.strata else {}
        ordered = in_random_order([*self.prompts], self.seed, strata)
        return {prompt: rank for rank, prompt in enumerate(ordered)}

    def _own_name(self, judge: str) -> str:
        """The name that a judge knows itself by."""
        return self._labels.own.get(judge, judge)

    def _others(self, judge: str) -> list[str]:
        """Other names that an answer can be shown under."""
        names = self._labels.others or sorted({*self.models, *self.judges} - {judge})
        return [name for name in names if name != self._own_name(judge)]

    @property
    def _labels(self) -> OwnTreatment:
        return self.options.get("label", OwnTreatment())

    def _another(self, judge: str, prompt: str, model: str) -> str:
        """Another name, drawn for each answer and judge; "" if there is none."""
        names = self._others(judge)
        if not names:
            return ""
        return random.Random(f"{self.seed}: {judge}: {prompt}: {model}").choice(names)


def _restated_for(treatment: Treatment, texts: Mapping) -> dict[str, dict[str, str]]:
    """The restated answers to a prompt for a treatment, by model, then writer."""
    found: dict[str, dict[str, str]] = {}
    for by, text in texts.items():
        if isinstance(by, Restated) and by.treatment == treatment.name and by.model in texts:
            found.setdefault(by.model, {})[by.writer] = text
    return found


def _about(target: Target) -> dict[str, str]:
    return {
        "model": target.model,
        "other": target.other,
        "order": target.place,
        "writer": target.writer,
    }


def _placed(shown: Texts, place: str) -> dict[str, str]:
    """The texts of a wording, with the treated answer in its place in the pair."""
    if not place:
        return {"prompt": shown["prompt"], "answer": shown["answer"]}
    answers = shown["answer"], shown["other"]
    first, second = answers if place == FIRST else reversed(answers)
    return {"prompt": shown["prompt"], "answer_1": first, "answer_2": second}


def _treatment(name: str, chosen: OwnTreatment) -> Treatment:
    """The treatment that the settings describe."""
    if name not in REGISTRY:
        show = restated if chosen.template is None else template(chosen.template)
        control = as_it_is if chosen.control == "{answer}" else template(chosen.control)
        return own_treatment(name, show, control, chosen.measures or "", worsens=chosen.worsens)
    treatment = REGISTRY[name]
    if chosen.has_texts:
        return with_restated(treatment)
    if restated in treatment.arms.values():
        raise ConfigError.at(
            ["treatments", name],
            "found no restated answers; name their `column` or `file`"
            + (", or `writers`" if treatment.instruction else ", which a person has checked"),
        )
    return treatment


def _texts_in_files(
    name: str, chosen: OwnTreatment, audit: Audit, plan: Plan
) -> Iterator[ModelAnswer]:
    """The restated answers of a treatment that are in a table."""
    if chosen.column is None and chosen.file is None:
        return
    table = audit.answers if chosen.file is None else chosen.file
    written = {"file": table} if isinstance(table, str) else table.as_written()
    columns = chosen.column
    if not isinstance(columns, Mapping):
        columns = {"": columns}
    for writer, column in columns.items():
        named = written.get("columns", {}) | ({} if column is None else {"text": column})
        settings = Answers(file=written["file"], columns=named) if named else written["file"]
        for answer in read_answers(settings, plan.prompts):
            check_known(
                ["treatments", name], [answer.model], plan.models, "the models with answers"
            )
            yield ModelAnswer(answer.prompt, Restated(answer.model, name, writer), answer.text)
