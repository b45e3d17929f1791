"""A plan: the prompts, answers, judges and wordings of a study, and from them every request, always
the same ones.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple
from urllib.parse import urlsplit

from recuse.base.errors import ConfigError, check_known
from recuse.collect.designs import assigned, waves
from recuse.collect.ledger import LedgerEntry
from recuse.collect.parse import repair
from recuse.collect.requests import (
    LENGTHS,
    LOGPROBS,
    NUMBER,
    OPENAI,
    SCHEMA,
    Criterion,
    Endpoint,
    Price,
    Request,
)
from recuse.collect.responses import choice_in
from recuse.collect.rubrics import (
    Wording,
    find_criterion,
    find_wording,
    response_format,
    template_texts,
    verdict_criterion,
)
from recuse.collect.settings import AskedModel, Collect
from recuse.collect.texts import ModelAnswer, read_answers, read_prompts, table_path

RATINGS, VERDICTS = "ratings", "verdicts"
SHOWN = "[model]"  # in place of a name that a judge may not see
LONGEST_ANSWER = 1024  # tokens, unless the sampling of a writer says so
# Prompts of the first part of a plan that may stop early, and how many times as many after the next
FIRST, GROWTH = 20, 1.5
TOP_LOGPROBS = 20  # the most that OpenAI returns
LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout", "attempts", "batch")
HERE = ("localhost", "127.0.0.1", "::1")


_Texts = Mapping[str, str]


class Asked(NamedTuple):
    """A model, and how it is asked."""

    endpoint: Endpoint
    sampling: Mapping[str, object]
    mode: str = SCHEMA

    def body(self, longest: int) -> dict:
        """What is sent beside messages, with a limit to the tokens of a reply unless the sampling
        has one.
        """
        # OpenAI's own name of it
        length = "max_tokens" if self.endpoint.base_url else "max_completion_tokens"
        limit = {} if {*LENGTHS} & self.sampling.keys() else {length: longest}
        return {**limit, **self.sampling}


@dataclass(frozen=True)
class Plan:
    """What is asked for a study."""

    study: str
    kind: str  # RATINGS or VERDICTS
    collect: Collect
    prompts: _Texts  # id -> text, in the order of the file
    datasets: _Texts
    given: Sequence[ModelAnswer]  # answers in a file
    judges: Mapping[str, Asked]
    writers: Mapping[str, Asked]
    wordings: Sequence[Wording]
    dimensions: Sequence[str]
    hidden: Sequence[str] = ()  # names that judges may not see
    seed: int = 0

    @classmethod
    def of(
        cls,
        study: str,
        kind: str,
        collect: Collect,
        *,
        seed: int,
        families: Mapping[str, Sequence[str]],
        prices: Mapping[str, Price] | None = None,
    ) -> "Plan":
        """Read the tables that a study's settings name; ConfigError or DataError about what does
        not fit together.

        kind: RATINGS or VERDICTS. families: of the study. prices: as of `prices_in`.
        """
        prompts, datasets = read_prompts(collect.prompts)
        prices = prices or {}
        judges = {
            name: asked_model(name, entry, prices, entry.mode)
            for name, entry in collect.judges.items()
        }
        writers = collect.writers
        if isinstance(writers, list):
            writers = {name: collect.judges[name] for name in writers}
        writers = {name: asked_model(name, entry, prices) for name, entry in writers.items()}
        answers = [] if collect.answers is None else read_answers(collect.answers, prompts)
        for answer in answers:
            if answer.model in writers:
                raise ConfigError(
                    f"collect: writers: {answer.model}: has answers in"
                    f" {table_path(collect.answers)}; leave it out here"
                )
        wordings = [find_wording(kind, name, collect.templates) for name in collect.wordings]
        named = collect.names_of_criteria()
        models = _in_order(answers, writers)
        check_known(
            ["collect", "against"],
            [] if collect.against is None else [collect.against],
            models,
            "the models with answers",
        )
        if kind == VERDICTS and len(models) < 2:
            raise ConfigError(
                f"collect: found answers of {', '.join(models)} alone; a comparison needs those of"
                " two models"
            )
        if kind == VERDICTS and {"judges_per_answer", "width"} & collect.design.model_fields_set:
            raise ConfigError(
                "collect: design: of verdicts, only `prompts` and `strata` can be chosen; leave out"
                " the others"
            )
        at_servers = [asked.endpoint.model for asked in (*judges.values(), *writers.values())]
        names = {*models, *judges, *at_servers, *families, *collect.hidden}
        hidden = [name for name in names if len(name) > 1] if collect.blind else []
        if collect.design.strata and not datasets:
            raise ConfigError(
                f"collect: design: strata: {table_path(collect.prompts)} has no column dataset;"
                " leave `strata` out"
            )
        _check_used(collect, kind, named)
        for family, members in families.items():
            check_known(
                ["families", family],
                members,
                {*models, *judges},
                "the judges and the models with answers",
            )
        plan = cls(
            study,
            kind,
            collect,
            prompts,
            datasets,
            answers,
            judges,
            writers,
            wordings,
            named,
            hidden,
            seed,
        )
        plan._check_modes()
        return plan

    @property
    def ledger(self) -> str:
        """The path of the ledger."""
        return self.collect.ledger_path(self.study)

    @property
    def models(self) -> list[str]:
        """The models whose answers are judged, in the order of the file, then the writers."""
        return _in_order(self.given, self.writers)

    def asked_models(self) -> list[Asked]:
        """Whoever may be sent a request."""
        return [*self.judges.values(), *self.writers.values()]

    def _check_modes(self) -> None:
        for judge, asked in self.judges.items():
            if asked.mode != LOGPROBS:
                continue
            where = f"collect: judges: {judge}: mode: {LOGPROBS}"
            if self.kind == VERDICTS:
                raise ConfigError(
                    f"{where}: a verdict has no expected value; choose {SCHEMA} or {NUMBER}"
                )
            for wording in self.wordings:
                if wording.says_how:
                    raise ConfigError(
                        f"{where}: the wording {wording.name} asks for more than a label; choose"
                        " another of the two"
                    )
                for label in (label for each in self.criteria(wording) for label in each.labels):
                    if len(label) > 1:
                        raise ConfigError(
                            f"{where}: the label {label} is more than one token; use labels of one"
                            " character"
                        )

    def criteria(self, wording: Wording) -> list[Criterion]:
        """What a judge rates in this wording."""
        if self.kind == VERDICTS:
            return [verdict_criterion(wording)]
        return [
            find_criterion(dimension, wording, self.collect.criteria)
            for dimension in self.dimensions
        ]

    def writing(self) -> list[Request]:
        """A request for each answer that is to be written."""
        instruction = self.collect.instruction
        system = [] if instruction is None else [{"role": "system", "content": instruction}]
        return [
            Request(
                asked.endpoint,
                (*system, {"role": "user", "content": text}),
                asked.body(LONGEST_ANSWER),
                mode=NUMBER,
                about={"writer": name, "prompt": prompt},
            )
            for prompt, text in self.prompts.items()
            for name, asked in self.writers.items()
        ]

    def answers(
        self, entries: Mapping[str, LedgerEntry], *, absent: str | None = None
    ) -> list[ModelAnswer]:
        """The answers in the file and those written, by what the ledger has of them (key -> entry).

        absent: the start of what stands for one that is not written yet; None: it is left out.
        """
        written = []
        for request in self.writing():
            # Each its own, as answers of the same words are one request
            text = absent and f"{absent} {request.key}"
            if request.key in entries:
                text = choice_in(entries[request.key].response).text
            if text is not None:
                written.append(ModelAnswer(request.about["prompt"], request.about["writer"], text))
        return [*self.given, *written]

    def waves(self, answers: Sequence[ModelAnswer]) -> list[list[Request]]:
        """A request for each rating or verdict, prompt by prompt in random order, so that a run
        that ends early is balanced.

        In one part or, if the design may stop early, in several.
        """
        by_prompt: dict[str, dict[str, str]] = {prompt: {} for prompt in self.prompts}
        for answer in answers:
            by_prompt[answer.prompt][answer.model] = self.blinded(answer.text)
        design = self.collect.design
        strata = self.datasets if design.strata else {}
        most = min(design.prompts or len(self.prompts), len(self.prompts))
        first = most if design.width is None else min(FIRST, most)
        number = design.judges_per_answer or len(self.judges)
        among = assigned([*self.prompts], self.models, [*self.judges], number, self.seed, strata)
        parts = waves(
            [*self.prompts], first=first, growth=GROWTH, most=most, seed=self.seed, strata=strata
        )
        return [
            [
                request
                for prompt in part
                for request in self._of_prompt(prompt, by_prompt[prompt], among)
            ]
            for part in parts
        ]

    def _of_prompt(self, prompt: str, texts: _Texts, among: set) -> list[Request]:
        """The requests about a prompt in random order; among: (judge, prompt, model) of the ratings
        to be made.
        """
        requests = []
        for name, asked in self.judges.items():
            for about, values in self.shown(name, prompt, texts):
                if self.kind == RATINGS and (name, prompt, about["model"]) not in among:
                    continue
                for wording in self.wordings:
                    for replicate in range(1, self.collect.replicates + 1):
                        facts = {"judge": name, "prompt": prompt, **about, "wording": wording.name}
                        requests += self._requests(asked, wording, facts, values, replicate)
        random.Random(f"{self.seed}: {prompt}").shuffle(requests)
        return requests

    def shown(
        self, judge: str, prompt: str, texts: _Texts
    ) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """What each request to a judge about a prompt is about, and the texts that it is shown.

        texts: the answers by their models, without names if the plan is blind.
        """
        values = {"prompt": self.prompts[prompt]}
        if self.kind == RATINGS:
            for model, text in texts.items():
                yield {"model": model}, {**values, "answer": text}
            return
        against = self.collect.against
        for a, b in combinations(sorted(texts), 2):
            if against is not None and against not in (a, b):
                continue
            orders = ("ab", "ba")
            if self.collect.orders == "random":
                orders = (random.Random(f"{self.seed}: {prompt}: {a}: {b}").choice(orders),)
            for order in orders:
                first, second = (a, b) if order == "ab" else (b, a)
                yield (
                    {"model_a": a, "model_b": b, "order": order},
                    {**values, "answer_1": texts[first], "answer_2": texts[second]},
                )

    def _requests(
        self,
        asked: Asked,
        wording: Wording,
        about: _Texts,
        values: _Texts,
        replicate: int,
    ) -> Iterator[Request]:
        criteria = self.criteria(wording)
        # Keyed by content, so renaming a judge repeats no request.
        random.Random(
            f"{self.seed}: {asked.endpoint.model}: {wording.name}: {replicate}:"
            f" {sorted(values.items())}"
        ).shuffle(criteria)
        alone = wording.single or asked.mode == LOGPROBS or not self.collect.together
        for together in [[each] for each in criteria] if alone else [criteria]:
            mode = NUMBER if wording.says_how else asked.mode
            body = asked.body(1 if mode == LOGPROBS else wording.longest or 32 + 24 * len(together))
            if mode == SCHEMA:
                body |= {"response_format": response_format(together)}
            elif mode == LOGPROBS:
                body = {"logprobs": True, "top_logprobs": TOP_LOGPROBS, **body}
            yield Request(
                asked.endpoint,
                tuple(wording.messages({**values, **template_texts(together, mode)})),
                body,
                tuple(together),
                mode,
                wording.reads,
                replicate,
                about,
            )

    @cached_property
    def _names(self) -> re.Pattern | None:
        names = sorted(self.hidden, key=len, reverse=True)  # a name before one that it starts with
        return (
            re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)", re.I)
            if names
            else None
        )

    def blinded(self, text: str) -> str:
        """An answer without the names that judges may not see."""
        return text if self._names is None else self._names.sub(SHOWN, text)

    def follow(self, request: Request, response: Mapping) -> Request | None:
        """The request that repairs a reply which cannot be read, if there is to be one."""
        return repair(request, response) if self.collect.repair else None

    def asked_for(
        self, request: Request, entries: Mapping[str, LedgerEntry]
    ) -> list[tuple[Request, LedgerEntry | None]]:
        """A request and the one that repairs its reply, if there is to be one, each with its
        answer, if there is one.
        """
        entry = entries.get(request.key)
        second = None if entry is None else self.follow(request, entry.response)
        return (
            [(request, entry)]
            if second is None
            else [(request, entry), (second, entries.get(second.key))]
        )


def is_here(endpoint: Endpoint) -> bool:
    """Whether a server is on this machine, and so free."""
    return endpoint.base_url is not None and urlsplit(endpoint.base_url).hostname in HERE


def asked_model(
    name: str, entry: AskedModel, prices: Mapping[str, Price], mode: str = SCHEMA
) -> Asked:
    """A model as its settings have it, with its price."""
    base_url = entry.base_url
    if (base_url or OPENAI).rstrip("/") == OPENAI:
        base_url = None  # one name for the same requests
    endpoint = Endpoint(
        name,
        entry.model,
        base_url,
        entry.key or (None if base_url else "OPENAI_API_KEY"),
        tuple(entry.returned),
        prices.get(entry.model),
        **{key: getattr(entry, key) for key in LIMITS},
    )
    if endpoint.price is None and is_here(endpoint):
        endpoint = replace(endpoint, price=Price())
    return Asked(endpoint, entry.sampling, mode)


def _in_order(answers: Iterable[ModelAnswer], writers: Iterable[str]) -> list[str]:
    """The models that wrote answers, or are to, each once."""
    return [*dict.fromkeys([*(answer.model for answer in answers), *writers])]


def _check_used(collect: Collect, kind: str, named: Sequence[str]) -> None:
    """Raise ConfigError about a key that this kind of plan does not read, and about the user's
    words that nothing asks in.
    """
    for key in {
        RATINGS: ("orders", "against"),
        VERDICTS: ("rubrics", "criteria", "together", "self_bias"),
    }[kind]:
        if key in collect.model_fields_set:
            raise ConfigError(f"collect: {key}: has no meaning for {kind}; leave it out")
    check_known(
        ["collect", "templates"], collect.templates, collect.wordings, "the `wordings` to ask in"
    )
    check_known(["collect", "criteria"], collect.criteria, named, "the `rubrics` to ask by")
    for name in collect.hidden:
        if len(name) == 1:
            raise ConfigError(
                f"collect: hidden: {name}: would be taken out of every sentence with this letter;"
                " leave it out"
            )
