"""The settings of a study whose ratings or verdicts are asked of judges."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from recuse.collect.requests import (
    FIRST_LINE,
    FREE,
    LAST_LINE,
    LENGTHS,
    MODES,
    SCHEMA,
    Criterion,
    Endpoint,
)
from recuse.collect.rubrics import ONE_TO_FIVE, PLAIN, dimensions, wording_names
from recuse.config.declared.sections import (
    File,
    Name,
    Names,
    Section,
    SomeKeys,
    by_kind,
    optional,
    required,
)

Amount = Annotated[float, Field(gt=0)]
RESERVED = ("messages", "model", "n", "stream")  # keys of a request that `sampling` may not replace


def _name_of_variable(name: str) -> str:
    """The name; an error without it if it may be a key."""
    if not re.fullmatch("[A-Z][A-Z0-9_]{0,60}", name):
        raise ValueError(
            "found no name of an environment variable in capitals, such as OPENAI_API_KEY; write"
            " that name here, and put the key into the variable (what was found is not shown, as it"
            " may be a key)"
        )
    return name


Variable = Annotated[str, AfterValidator(_name_of_variable)]


class ColumnsOfPrompts(SomeKeys):
    """Names of the columns of prompts."""

    prompt: Name = optional("Id of the prompt.")
    text: Name = optional("What the models were asked.")
    dataset: Name = optional("The dataset of the prompt.")


class ColumnsOfAnswers(SomeKeys):
    """Names of the columns of answers."""

    prompt: Name = optional("Id of the prompt.")
    model: Name = optional("The model that wrote the answer.")
    text: Name = optional("The answer.")


class Prompts(Section):
    """A table of prompts with columns of other names."""

    file: File = required("CSV, parquet, JSON Lines or a JSON list.")
    columns: ColumnsOfPrompts = optional(
        "Names of its columns, where they differ from prompt, text and dataset."
    )


class Answers(Section):
    """A table of answers with columns of other names."""

    file: File = required("CSV, parquet, JSON Lines or a JSON list.")
    columns: ColumnsOfAnswers = optional(
        "Names of its columns, where they differ from prompt, model and text."
    )


class AskedModel(Section):
    """A model at a server that speaks the protocol of OpenAI's chat completions."""

    model: Name = required("The model's name at the server.")
    base_url: Annotated[str, Field(pattern=r"^https?://[^@?#\s]+$")] = optional(
        "Address of the server, such as http://127.0.0.1:8000/v1; default: OpenAI's."
    )
    key: Variable = optional(
        "The environment variable that holds the API key, never the key itself; default:"
        " OPENAI_API_KEY without `base_url`, else none."
    )
    returned: Names = optional(
        "Other names that the server may give the model in its responses. A response from any other"
        " model is not used.",
        default=[],
    )
    sampling: dict[Name, Any] = optional(
        "Further parameters of the request, such as `{temperature: 0, max_tokens: 200}`; default:"
        " those of the server, and a limit to the tokens of a reply.",
        default={},
    )
    concurrency: int = optional(
        f"Maximum number of concurrent requests; default: {Endpoint.concurrency}.",
        default=Endpoint.concurrency,
        ge=1,
        le=1000,
    )
    requests_per_minute: Amount = optional(
        "The server's limit; default: what it reports, if anything."
    )
    tokens_per_minute: Amount = optional(
        "The server's limit, tokens in and out; default: what it reports, if anything."
    )
    timeout: Amount = optional(
        f"Seconds for a whole response; default: {Endpoint.timeout:g}.", default=Endpoint.timeout
    )
    attempts: int = optional(
        f"Attempts at a request that fails for a reason that may pass; default: {Endpoint.attempts}.",
        default=Endpoint.attempts,
        ge=1,
        le=20,
    )
    batch: bool = optional(
        "Use the server's batch endpoint, which takes up to a day and costs half.",
        default=Endpoint.batch,
    )

    def _check(self) -> None:
        if taken := [key for key in RESERVED if key in self.sampling]:
            raise ValueError("sampling", taken[0], "is said by the plan; leave it out")
        for key in LENGTHS:
            most = self.sampling.get(key, 1)
            if isinstance(most, bool) or not isinstance(most, int) or most < 1:
                problem = f"found {most}; write the most tokens of a reply, a number from 1"
                raise ValueError("sampling", key, problem)


class AskedJudge(AskedModel):
    """A judge, and how it states its ratings."""

    mode: Literal[MODES] = optional(
        "`schema`: as JSON by a schema that the server enforces (default); `text`: in words, read"
        " by a pattern; `logprobs`: the expected rating over the probabilities of the labels, an"
        " error if the server returns none.",
        default=SCHEMA,
    )


def _check_labels(labels: list[str] | None) -> None:
    lowered = [label.lower() for label in labels or ()]
    if twice := [label for label in lowered if lowered.count(label) > 1]:
        problem = f"found {twice[0]} twice, as capitals make no difference; write different labels"
        raise ValueError("labels", problem)


class OwnCriterion(Section):
    """A criterion in your own words."""

    question: Name = required("What is rated.")
    labels: Annotated[list[Name], Field(min_length=2, max_length=101)] = optional(
        "What a judge may answer, from the lowest to the highest; default: 1 to 5.",
        default=[*ONE_TO_FIVE],
    )
    low: int = optional(
        f"The number that the first label stands for; default: {Criterion.low}.",
        default=Criterion.low,
    )

    def _check(self) -> None:
        _check_labels(self.labels)


class OwnWording(Section):
    """A request in your own words."""

    template: Name = required(
        "The text, with `{prompt}`, `{answer}` (of verdicts `{answer_1}` and `{answer_2}`),"
        " `{criteria}` and `{reply}`, which says how to reply, in their places."
    )
    system: Name = optional("The system message.")
    labels: Annotated[list[Name], Field(min_length=3, max_length=3)] = optional(
        "Verdicts: what a judge may answer, for the first answer, for neither and for the second."
    )
    reads: Literal[FREE, FIRST_LINE, LAST_LINE] = optional(
        "Where the answer of a template without `{reply}` is read."
    )
    longest: int = optional("Maximum number of tokens in a reply.", ge=1)

    def _check(self) -> None:
        _check_labels(self.labels)


class Design(Section):
    """Which judges rate which answers, if not all rate all."""

    judges_per_answer: int = optional(
        "How many judges rate each answer, its own model's among them, in turn.", ge=1
    )
    strata: Literal["dataset"] = optional("Balance this within each dataset of the prompts.")
    prompts: int = optional(
        "How many prompts to ask about, drawn at random by `seed`; default: all.", ge=2
    )
    width: Amount = optional(
        "Stop earlier, once every self-bias that can be estimated has an interval of at most this"
        " half-width, as a share of the scale: a rule on precision, which does not look at the"
        " estimates.",
        lt=1,
    )


NAMED = by_kind({"text": Name, "a mapping": AskedJudge})


class Collect(Section):
    """What judges are asked, of what, and within what limits."""

    prompts: by_kind({"text": File, "a mapping": Prompts}) = required(
        "Table of prompts, with columns prompt and text and, if there are several, dataset; CSV,"
        " parquet or JSON Lines."
    )
    answers: by_kind({"text": File, "a mapping": Answers}) = optional(
        "Table of answers, with columns prompt, model and text."
    )
    writers: by_kind({"a list": Names, "a mapping": dict[Name, AskedModel]}) = optional(
        "Models that write an answer to every prompt first; a list names judges that also write.",
        default=[],
    )
    instruction: Name = optional("System message to the writers.")
    judges: Annotated[dict[Name, AskedJudge], Field(min_length=1)] = required(
        "The judges, by their names in the study."
    )
    rubrics: Names = optional(
        f"Ratings: the criteria, of {', '.join(dimensions())}, and `criteria`; default: your"
        " `criteria` if any, else these six."
    )
    criteria: dict[Name, OwnCriterion] = optional(
        "Criteria in your own words, by their names.", default={}, min_length=1
    )
    wordings: Names = optional(
        "The wordings in which judges are asked; with several, each is asked in all, and intervals"
        f" allow for their variance. Ratings: {', '.join(wording_names('ratings'))}; verdicts:"
        f" {', '.join(wording_names('verdicts'))}; and `templates`; default: {PLAIN}.",
        default=[PLAIN],
    )
    templates: dict[Name, OwnWording] = optional(
        "Requests in your own words, by their names.", default={}, min_length=1
    )
    together: bool = optional(
        "Ask all criteria in one request, in random order (default), or each in one of its own.",
        default=True,
    )
    replicates: int = optional(
        "How often each request is made; default: once.", default=1, ge=1, le=100
    )
    orders: Literal["both", "random"] = optional(
        "Verdicts: show each pair in both orders (default), or in one at random.", default="both"
    )
    against: Name = optional(
        "Verdicts: compare every model with this one alone; default: all pairs."
    )
    design: Design = optional(
        "Which judges rate which answers; default: all rate all.", default=Design()
    )
    blind: bool = optional(
        "Take the names of models and families out of the answers that judges see (default: true).",
        default=True,
    )
    hidden: Names = optional("Further names to take out of the answers.", default=[])
    repair: bool = optional(
        "Ask once more after a reply that cannot be read (default: true).", default=True
    )
    prices: File = optional(
        "YAML file of prices by the models' names at the servers, in money per million tokens:"
        " `{input: 2, output: 8}`, and `batch: 0.5`, the share of it that batches cost. Servers on"
        " this machine are free."
    )
    budget: by_kind({"a number": Annotated[float, Field(ge=0)], "text": Literal["unlimited"]}) = (
        optional(
            "The most to spend on this ledger, in all; required for servers on other machines."
        )
    )
    ledger: File = optional("The file that keeps all responses; default: <study>.ledger.jsonl.")
    self_bias: Annotated[float, Field(gt=0, lt=1)] = optional(
        "The self-bias for which `--dry-run` says how many prompts are needed, as a share of the"
        " scale; default: 0.03.",
        default=0.03,
    )

    def ledger_path(self, study: str) -> str:
        """The path of the ledger of the study that has these settings."""
        return self.ledger or f"{study}.ledger.jsonl"

    def names_of_criteria(self) -> list[str]:
        """The criteria of ratings, by name."""
        return self.rubrics or [*(self.criteria or dimensions())]

    def _check(self) -> None:
        if self.answers is None and not self.writers:
            raise ValueError(
                "found neither answers nor writers; name a table of answers, or models that write"
                " them"
            )
        if isinstance(self.writers, list):
            for name in self.writers:
                if name not in self.judges:
                    problem = f"not a judge of this study; add it as `{{{name}: {{model: ...}}}}`"
                    raise ValueError("writers", name, problem)
