"""From a model's raw response to its ratings, or to why there are none: never a guess, never the lowest rating."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from recuse.collect.requests import LOGPROBS, SCHEMA, Criterion, Request
from recuse.collect.rubrics import FIRST_LINE, FREE, LAST_LINE, words_of

REFUSAL, TRUNCATED, OFF_SCALE, UNREADABLE, NOT_ANSWERED = (
    "refusal",
    "truncated",
    "off the scale",
    "unreadable",
    "not answered",
)
REASONS = (REFUSAL, TRUNCATED, OFF_SCALE, UNREADABLE, NOT_ANSWERED)  # why a rating is missing
REPAIRED = (OFF_SCALE, UNREADABLE)  # reasons for which a judge is asked once more
# The first words of a reply without any rating that refuses. Only replies in which nothing was read are looked at.
REFUSING = re.compile(
    r"\W*(i['’]?m sorry|i am sorry|sorry|i can(not|['’]t)|i['’]?m (unable|not able)|i am (unable|not able)|i won['’]t)", re.I
)
FENCE = re.compile(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.S)
UNSEEN = 0.05  # most of the labels' probability that may be on labels which are not among the likeliest tokens
DIGITS = re.compile(r"-?\d+(?:\.\d+)?")
ANSWER = r"(?:\b|_)answer"  # anywhere in a reply
LISTED = r"^[\s*_#>•.)\d-]*{}"  # at the start of a line, in a list or not
WHOLE = re.compile(r"(?<=\d)\.0+\Z")  # as in 4.0
QUOTES = " \t*_`\"'[]()<>.!"  # around a label


class Score(NamedTuple):
    """A rating, or why there is none."""

    value: float | None
    reason: str = ""


def scores(request: Request, response: Mapping, *, reads: str = FREE) -> dict[str, Score]:
    """The score of each criterion of a request, by dimension.

    response: of chat completions, whole. reads: where a wording has its label, of `rubrics`. In mode `logprobs` a score is the
    expected rating sum(p v) / sum(p) over the labels among the likeliest tokens.
    """
    choice = choice_of(response)
    message, content = _message(choice), text_of(response)
    reason = None
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        reason = REFUSAL
    elif request.mode == LOGPROBS:
        return {each.dimension: _expected(each, choice) for each in request.criteria}
    elif choice.get("finish_reason") == "length":
        reason = TRUNCATED
    elif content is None:
        reason = UNREADABLE
    if reason is not None:
        return {each.dimension: Score(None, reason) for each in request.criteria}
    read = _of_json(request.criteria, content) if request.mode == SCHEMA else _of_text(request.criteria, content, reads)
    if REFUSING.match(content) and all(score.reason == UNREADABLE for score in read.values()):
        return {dimension: Score(None, REFUSAL) for dimension in read}
    return read


def choice_of(response: Mapping) -> Mapping:
    """The first choice of a response, of any server; empty if it has none."""
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, Mapping) else {}


def text_of(response: Mapping) -> str | None:
    """The text of a response, also one that was cut off by a limit of tokens; None if it has none, or was filtered."""
    choice = choice_of(response)
    content = _message(choice).get("content")
    if not isinstance(content, str) or not content.strip() or choice.get("finish_reason") == "content_filter":
        return None
    return content.encode("utf-8", "replace").decode().strip()  # half a pair of surrogates cannot be sent again


def _message(choice: Mapping) -> Mapping:
    message = choice.get("message")
    return message if isinstance(message, Mapping) else {}


def _of_json(criteria: Sequence[Criterion], content: str) -> dict[str, Score]:
    fenced = FENCE.match(content.strip())
    try:
        value = json.loads(fenced[1] if fenced else content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        return {each.dimension: Score(None, UNREADABLE) for each in criteria}
    return {each.dimension: _of_value(each, value.get(each.dimension)) for each in criteria}


def _of_value(criterion: Criterion, value: object) -> Score:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return Score(None, UNREADABLE)
    label = str(value).strip()
    for written in (label, WHOLE.sub("", label)):
        if (rating := criterion.value_of(written)) is not None:
            return Score(rating)
    return Score(None, OFF_SCALE if DIGITS.fullmatch(label) else UNREADABLE)


def _of_text(criteria: Sequence[Criterion], content: str, reads: str) -> dict[str, Score]:
    """The scores in a text: of one criterion by `Answer: <label>`, the last one, or a label alone; else a line for each."""
    if reads != FREE:
        lines = [line for line in content.splitlines() if line.strip()]
        line = lines[0 if reads == FIRST_LINE else -1]
        return {each.dimension: _named_in(each, line) for each in criteria}
    if len(criteria) > 1:
        return {each.dimension: _after(each, content, LISTED.format(re.escape(each.dimension)), one=True) for each in criteria}
    (criterion,) = criteria
    alone = criterion.value_of(content.strip(QUOTES + "\n"))
    return {criterion.dimension: _after(criterion, content, ANSWER, one=False) if alone is None else Score(alone)}


def _after(criterion: Criterion, content: str, mark: str, *, one: bool) -> Score:
    """The label after each `mark:`, on the rest of its line; one: there must be one value, else the last counts."""
    rests = re.findall(rf"{mark}[*_ \t]*[:=][ \t]*([^\n]*)", content, re.I | re.M)
    read = [_of_value(criterion, rest.strip(QUOTES + ",;")) for rest in rests if rest.strip()]
    if not read or (one and len({*read}) > 1):
        return Score(None, UNREADABLE)
    return read[-1]


def _named_in(criterion: Criterion, line: str) -> Score:
    """The one label that a line names."""
    named = [label for label in criterion.labels if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", line, re.I)]
    return Score(criterion.value_of(named[0])) if len(named) == 1 else Score(None, UNREADABLE)


def _expected(criterion: Criterion, choice: Mapping) -> Score:
    """The expected rating by the probabilities of the first token.

    Missing if no label is among the likeliest tokens, or if labels that are not could have more than UNSEEN of all labels'
    probability: each has at most that of the last token returned.
    """
    weights: dict[int, float] = {}
    tokens = likeliest(choice)
    for token in tokens:
        rating = criterion.value_of(token["token"].strip())
        if rating is not None:
            weights[rating] = weights.get(rating, 0.0) + math.exp(token["logprob"])
    seen = sum(weights.values())
    unseen = (len(criterion.labels) - len(weights)) * min((math.exp(token["logprob"]) for token in tokens), default=1.0)
    if not seen or unseen > UNSEEN * (seen + unseen):
        return Score(None, OFF_SCALE)
    return Score(sum(rating * weight for rating, weight in weights.items()) / seen)


def likeliest(choice: Mapping) -> Sequence[Mapping]:
    """The likeliest first tokens of a choice, with their log probabilities; empty if the server gives none."""
    try:
        tokens = choice["logprobs"]["content"][0]["top_logprobs"]
        return [token for token in tokens if isinstance(token["token"], str) and isinstance(token["logprob"], int | float)]
    except (TypeError, KeyError, IndexError):
        return []


def repair(request: Request, response: Mapping, *, reads: str = FREE) -> Request | None:
    """The one further request to a judge whose reply could not be read: the same, its reply, and how to reply; else None."""
    if not request.criteria or request.repairs or request.mode == LOGPROBS:
        return None
    reasons = {score.reason for score in scores(request, response, reads=reads).values()}
    content = text_of(response)
    if content is None or not reasons & {*REPAIRED}:
        return None
    how = words_of(request.criteria, request.mode)["reply"]
    if reads in (FIRST_LINE, LAST_LINE):
        how = f"Reply with {', '.join(request.criteria[0].labels[:-1])} or {request.criteria[0].labels[-1]}, and nothing else."
    asked = {"role": "user", "content": f"Your reply could not be read. {how}"}
    messages = (*request.messages, {"role": "assistant", "content": content}, asked)
    return replace(request, messages=messages, repairs=request.key)
