"""What is sent to a model, whole: its identity is all that could change the answer, and nothing
else.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

OPENAI = "https://api.openai.com/v1"
SCHEMA, NUMBER, LOGPROBS = "schema", "text", "logprobs"  # how a judge states its ratings
FREE, FIRST_LINE, LAST_LINE = "reply", "first line", "last line"  # where a label is read
LENGTHS = ("max_completion_tokens", "max_tokens")  # what the most tokens of a reply are called
MODES = (SCHEMA, NUMBER, LOGPROBS)


@dataclass(frozen=True)
class Price:
    """US dollars, or any other money, per million tokens."""

    input: float = 0.0
    output: float = 0.0
    batch: float = 0.5  # what a batch costs, as a share of this


@dataclass(frozen=True)
class Endpoint:
    """A model at an OpenAI-compatible server, and how it may be used."""

    name: str  # of the judge or model in the study
    model: str  # as the server knows it
    base_url: str | None = None  # None: the client's default
    key: str | None = None  # the environment variable with the API key; None: the server needs none
    # Further names that the server may give the model in its responses
    returned: Sequence[str] = ()
    price: Price | None = None  # None: unknown
    concurrency: int = 16  # most requests under way
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 120.0  # seconds for a whole response
    attempts: int = 5  # of a request that fails in a way that may pass
    batch: bool = False  # use the batch endpoint

    @property
    def address(self) -> str:
        """The address of the server, without a slash at its end."""
        return (self.base_url or OPENAI).rstrip("/")


@dataclass(frozen=True)
class Criterion:
    """What a judge rates: a question, and its labels from the lowest to the highest rating."""

    dimension: str
    question: str
    labels: Sequence[str]
    low: int = 1  # the rating of the first label; the others follow by steps of one

    def rating_for(self, label: str) -> int | None:
        """The rating that a label stands for, in any case; None if it is none of them."""
        lowered = [each.lower() for each in self.labels]
        return self.low + lowered.index(label.lower()) if label.lower() in lowered else None


@dataclass(frozen=True)
class Request:
    """A request for ratings, for a verdict or, without criteria, for an answer."""

    endpoint: Endpoint
    messages: Sequence[Mapping[str, str]]
    # All else that is sent but for the model: sampling, response_format, logprobs
    body: Mapping[str, object]
    criteria: Sequence[Criterion] = ()  # in the order of the prompt
    mode: str = SCHEMA  # how ratings are read
    reads: str = FREE  # where in a reply
    replicate: int = 1
    # What the answer is about, which the model is not told: prompt, model or model_a and model_b,
    # order, wording, ...
    about: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    repairs: str | None = None  # key of the request whose answer could not be read

    @property
    def sent(self) -> dict:
        """The body of the request, as it is sent."""
        return {
            "model": self.endpoint.model,
            "messages": [dict(each) for each in self.messages],
            **self.body,
        }

    @property
    def identity(self) -> dict:
        """All that could change the answer, or how it is read."""
        return {
            "endpoint": self.endpoint.base_url,
            "model": self.endpoint.model,
            "messages": [dict(message) for message in self.messages],
            "body": dict(self.body),
            "rubric": [
                [each.dimension, each.question, list(each.labels), each.low]
                for each in self.criteria
            ],
            "mode": self.mode,
            "replicate": self.replicate,
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the identity as JSON with sorted keys, in hexadecimal."""
        text = json.dumps(self.identity, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
