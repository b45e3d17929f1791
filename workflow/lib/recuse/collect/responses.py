"""What a server's response has to be: a schema that is checked before anything in a response is
used.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationError, model_validator

from recuse.collect.requests import LOGPROBS

INVALID, NO_LOGPROBS = "invalid response", "no logprobs"  # why a response cannot be used
MOST_TOKENS = 10_000_000  # of a prompt or a reply; larger counts are not believed
ROUNDING = 0.01  # by which a probability, or the sum of several, may exceed 1
CUT_OFF = ("length", "max_tokens")  # reasons to finish that mean the limit of tokens
FILTERED = "content_filter"
Text = InstanceOf[str]  # of any characters: a model may write half a pair of surrogates
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS)]


class ResponsePart(BaseModel):
    """A part of a response: what is used of it has these types exactly; the rest is ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class Message(ResponsePart):
    """What a model wrote; both fields may be absent."""

    content: Text | None = None
    refusal: Text | None = None


class Choice(ResponsePart):
    """A reply, and why it ended; its log probabilities are checked where they are used, by
    `Logprobs`.
    """

    message: Message
    finish_reason: Text | None = None
    logprobs: object = None

    @property
    def is_cut_off(self) -> bool:
        """Whether the reply ended at the limit of tokens."""
        return (self.finish_reason or "").lower() in CUT_OFF

    @property
    def is_filtered(self) -> bool:
        """Whether the server withheld the reply, or a part of it."""
        return self.finish_reason == FILTERED

    @property
    def text(self) -> str | None:
        """The text, also of a reply that was cut off; None if there is none, or if it was
        filtered.
        """
        content = self.message.content
        if content is None or not content.strip() or self.is_filtered:
            return None
        # Half a surrogate pair cannot be sent again
        return content.encode("utf-8", "replace").decode().strip()


class Completion(ResponsePart):
    """A response of chat completions, of which the first choice is read."""

    choices: Annotated[list[object], Field(min_length=1)]
    model: Text | None = None


class Token(ResponsePart):
    """A token that the model might have written, and the logarithm of its probability."""

    token: Text
    logprob: Annotated[float, Field(le=ROUNDING, allow_inf_nan=False)]


class _Position(ResponsePart):
    top_logprobs: list[Token]

    @model_validator(mode="after")
    def _check_sum(self) -> Self:
        if sum(math.exp(each.logprob) for each in self.top_logprobs) > 1 + ROUNDING:
            raise ValueError("the probabilities add up to more than 1")
        return self


class Logprobs(ResponsePart):
    """Log probabilities, of which the first token's are read."""

    content: list[_Position] | None = None


class Usage(ResponsePart):
    """Tokens of the prompt and of the reply."""

    prompt_tokens: Tokens
    completion_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)]


def choice_in(response: Mapping | None) -> Choice | None:
    """The first choice of a response; None if the response is not as it has to be."""
    try:
        return _first_choice(response)
    except ValidationError:
        return None


def _first_choice(response: Mapping | None) -> Choice:
    """The first choice; ValidationError if the response is not as it has to be."""
    return Choice.model_validate(Completion.model_validate(response).choices[0])


def likeliest(choice: Choice) -> list[Token]:
    """The likeliest first tokens of a choice; none if the server gives none. ValidationError if
    they are impossible.
    """
    if choice.logprobs is None:
        return []
    content = Logprobs.model_validate(choice.logprobs).content
    return content[0].top_logprobs if content else []


def fault_in(response: Mapping, mode: str) -> tuple[str, str] | None:
    """Why a response is not an answer to a request in this mode, as a reason and a message; None if
    it is one.
    """
    try:
        choice = _first_choice(response)
        if mode == LOGPROBS and not likeliest(choice):
            return NO_LOGPROBS, "the response has no log probabilities"
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        return INVALID, f"{place}: {problem['msg']}" if place else problem["msg"]
    return None


def usage_in(response: Mapping | None) -> Usage | None:
    """The tokens that a response says it took; None if it does not say, or says what cannot be.

    At least one token was read, and one written if there is a text.
    """
    try:
        usage = Usage.model_validate((response or {}).get("usage"))
    except ValidationError:
        return None
    choice = choice_in(response)
    wrote_nothing = usage.completion_tokens == 0
    return None if wrote_nothing and choice is not None and choice.text is not None else usage
