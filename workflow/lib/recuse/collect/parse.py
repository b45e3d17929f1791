"""From a model's response to its ratings, or to why there are none: never a guess, never the lowest
rating.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from recuse.collect.requests import FIRST_LINE, FREE, LOGPROBS, Criterion, Request
from recuse.collect.responses import Choice, choice_in, fault_in, likeliest
from recuse.collect.rubrics import template_texts

# Why a rating is missing.
REASONS = REFUSAL, TRUNCATED, OFF_SCALE, UNREADABLE, NOT_ANSWERED = (
    "refusal",
    "truncated",
    "off the scale",
    "unreadable",
    "not answered",
)
REPAIRED = (OFF_SCALE, UNREADABLE)  # reasons for which a judge is asked once more
# The first words of a reply without any rating that refuses. Only replies in which nothing was read
# are looked at.
REFUSING = re.compile(
    r"\W*(i['’]?m sorry|i am sorry|sorry|i can(not|['’]t)|i['’]?m (unable|not able)|i am"
    r" (unable|not able)|i won['’]t)",
    re.I,
)
# Most of the labels' probability that may be on labels which are not among the likeliest tokens
UNSEEN = 0.05

# Names for the only criterion of a request
GENERAL = ("answer", "rating", "score", "grade", "verdict", "vote")
# Thoughts up to their last end, since a model's template may have their start; and all, if thoughts
# start that do not end.
THOUGHTS = re.compile(
    r"\A(?:(?!\s*\{).*</think(?:ing)?\s*>)?(?:(?:.*\n)?[ \t]*<think(?:ing)?\s*>.*)?", re.S | re.I
)
FENCE = re.compile(r"^[ \t]*```\w*[ \t\r]*$", re.M)
TRAILING_COMMA = re.compile(r",(\s*[}\]])")
# Where a statement starts in a text: at the start of a line, in a list or not, or after the end of
# a clause. A comma ends one after a number or before a capital, not as in `if it were right, score:
# 5`.
START = (
    r"((?:^[ \t*_#•.)\d-]*"
    r"|(?:[.;]|(?<=\d),|(?-i:,(?=[ \t*_]+[^\sa-z*_])))[ \t]+[*_]*)"
    r"(?:(?:final|overall|my),?[ \t]+)*?)?"
)
BOXED = re.compile(r"^[ \t]*(?:\\[(\[]|[*$])*\\boxed\{([^{}]*)\}(?:\\[)\]]|[*$.])*[ \t\r]*$", re.M)
WRAPPINGS = ('""', "''", "“”", "‘’", "«»", "()", "[]", "<>", "{}", "$$")
MARKUP = "*_`"
# Characters; what is longer is not a label in some wrapping, and would take long to unwrap
LONGEST_VALUE = 2_000
FRACTION = re.compile(r"(.+?)[\s*_]*(?:/|out of|of)\s*(\d+)", re.I)
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
WHOLE = re.compile(r"(-?\d+)\.0+")  # as in 4.0

# The keys and values of a JSON object, as often as they occur
_Pairs = tuple[tuple[str, object], ...]


class Score(NamedTuple):
    """A rating, or why there is none."""

    value: float | None
    reason: str = ""


def scores(request: Request, response: Mapping) -> dict[str, Score]:
    """The score of each criterion of a request, by dimension.

    response: of chat completions, whole. In mode `logprobs` a score is the expected rating sum(p v)
    / sum(p) over the labels among the likeliest tokens.
    """
    choice = choice_in(response) if fault_in(response, request.mode) is None else None
    reason = _reason_without_score(choice, request.mode)
    if reason is not None:
        return {each.dimension: Score(None, reason) for each in request.criteria}
    if request.mode == LOGPROBS:
        return {each.dimension: _expected(each, choice) for each in request.criteria}

    read = _stated(request.criteria, _readable_part(choice.text, request.reads))
    if REFUSING.match(choice.text) and all(score.reason == UNREADABLE for score in read.values()):
        return {dimension: Score(None, REFUSAL) for dimension in read}
    return read


def _reason_without_score(choice: Choice | None, mode: str) -> str | None:
    """Why a choice has no score whatever its text is; None if it may have one."""
    if choice is None:
        return UNREADABLE
    if choice.message.refusal or choice.is_filtered:
        return REFUSAL
    if mode == LOGPROBS:
        return None
    if choice.is_cut_off:
        return TRUNCATED
    return UNREADABLE if choice.text is None else None


def _readable_part(text: str, reads: str) -> str:
    """A reply without its thoughts and fences, or one line of it; empty if the thoughts do not
    end.
    """
    text = FENCE.sub("", THOUGHTS.sub("", text)).strip()
    if reads != FREE:
        lines = text.splitlines() or [""]
        return lines[0 if reads == FIRST_LINE else -1].strip()
    return text


def _stated(criteria: Sequence[Criterion], reply: str) -> dict[str, Score]:
    """The one label that a reply states for each criterion.

    A reply states a label by `name: label` in a JSON object or in its text. The name is that of the
    criterion or, if there is no other, one of GENERAL; a reply about one criterion may also be the
    label alone.
    """
    names = {each.dimension.lower(): each.dimension for each in criteria}
    general = dict.fromkeys(GENERAL, criteria[0].dimension) if len(criteria) == 1 else {}
    pairs, text = _split(reply)
    stated = _in_json(pairs, names, general) + _in_text(text, general | names)
    if general:
        stated += [(criteria[0].dimension, value) for value in BOXED.findall(text)]
    if general and not stated and not pairs:
        stated = [(criteria[0].dimension, reply)]

    read = {}
    for each in criteria:
        found = {
            _labelled(each, value) for dimension, value in stated if dimension == each.dimension
        }
        read[each.dimension] = found.pop() if len(found) == 1 else Score(None, UNREADABLE)
    return read


def _split(reply: str) -> tuple[_Pairs, str]:
    """The JSON object from the first to the last brace of a reply, and the text around it.

    Without such an object, the whole reply is text, unless it starts with a brace or leaves one
    open: it may be cut off, and has neither. A colon before the object, as in `My rating: {"score":
    4}`, belongs to it.
    """
    start = reply.find("{")
    end = reply.rfind("}") + 1
    for candidate in (reply[start:end], TRAILING_COMMA.sub(r"\1", reply[start:end])):
        try:
            # Numbers stay as they are written, and keys that occur twice stay twice.
            pairs = json.loads(
                candidate,
                object_pairs_hook=tuple,
                parse_int=str,
                parse_float=str,
                parse_constant=str,
            )
        except (ValueError, RecursionError):
            continue
        return pairs, reply[:start].rstrip(" \t\r\n:：*_") + "\n" + reply[end:]
    return (), "" if start == 0 or start >= end else reply


def _in_json(
    pairs: _Pairs, names: Mapping[str, str], general: Mapping[str, str]
) -> list[tuple[str, object]]:
    """(dimension, value) for each name of a criterion at any depth, and for each general name whose
    criterion is clear.
    """
    stated = []
    left = [(pairs, general)]
    while left:
        pairs, general = left.pop()
        for key, value in pairs:
            name = key.strip().lower()
            dimension = names.get(name) or names.get(name.replace("_", " ")) or general.get(name)
            if isinstance(value, tuple):
                left.append((value, dict.fromkeys(GENERAL, dimension) if dimension else {}))
            elif dimension:
                stated.append((dimension, value))
    return stated


def _in_text(text: str, names: Mapping[str, str]) -> list[tuple[str | None, object]]:
    """(dimension, what follows `name:` or `name =` up to the end of the line or the next name).

    Within a clause, as in `the text says Answer: 5`, nothing is stated for certain: its value is
    None.
    """
    listed = "|".join(map(re.escape, names))
    pattern = rf"{START}(?<![^\W_])({listed})[*_ \t\"']*[:=：]"
    marks = [*re.finditer(pattern, text, re.I | re.M)] if text.strip() else []
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    stated = []
    for mark, end in zip(marks, ends, strict=True):
        start, name = mark.groups()
        value = None if start is None else text[mark.end() : end].partition("\n")[0]
        stated.append((names.get(name.lower()), value))
    return stated


def _labelled(criterion: Criterion, value: object) -> Score:
    """The rating of a value that is a label as a whole, in quotes, brackets and the like or not, or
    as in 4/5.
    """
    if not isinstance(value, str) or len(value) > LONGEST_VALUE:
        return Score(None, UNREADABLE)
    for text in _unwrapped(value, "".join(criterion.labels)):
        rating = criterion.rating_for(_without_scale(criterion, text))
        if rating is not None:
            return Score(rating)
    return Score(None, OFF_SCALE if NUMBER.fullmatch(text) else UNREADABLE)


def _unwrapped(text: str, kept: str) -> Iterator[str]:
    """A text, then what is within one wrapping after the other; kept: characters of labels, which
    are no markup.
    """
    markup = "".join(set(MARKUP) - set(kept))
    while True:
        text = text.strip()
        yield text
        boxed = BOXED.fullmatch(text)
        if text != text.strip(markup):
            text = text.strip(markup)
        elif text.endswith((".", ",", ";", "!")):
            text = text[:-1]
        elif boxed:
            text = boxed[1]
        elif len(text) > 2 and text[0] + text[-1] in WRAPPINGS:
            text = text[1:-1]
        else:
            return


def _without_scale(criterion: Criterion, text: str) -> str:
    """A label without the end of its scale, as in 4/5 or `4 out of 5`, and without zeros, as in
    4.0.
    """
    labels = criterion.labels
    fraction = FRACTION.fullmatch(text)
    if (
        fraction
        and fraction[2] == labels[-1]
        and len(labels) > 2
        and all(label.isdecimal() for label in labels)
    ):
        text = fraction[1]
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def _expected(criterion: Criterion, choice: Choice) -> Score:
    """The expected rating by the probabilities of the first token.

    Missing if no label is among the likeliest tokens, or if labels that are not could have more
    than UNSEEN of all labels' probability: each has at most that of the last token returned.
    """
    weights: dict[int, float] = {}
    tokens = likeliest(choice)
    for token in tokens:
        rating = criterion.rating_for(token.token.strip())
        if rating is not None:
            weights[rating] = weights.get(rating, 0.0) + math.exp(token.logprob)
    seen = sum(weights.values())
    unseen = (len(criterion.labels) - len(weights)) * min(
        math.exp(token.logprob) for token in tokens
    )
    if not seen or unseen > UNSEEN * (seen + unseen):
        return Score(None, OFF_SCALE)
    return Score(sum(rating * weight for rating, weight in weights.items()) / seen)


def repair(request: Request, response: Mapping) -> Request | None:
    """The one further request to a judge whose reply could not be read: the same, its reply, and
    how to reply; else None.
    """
    if not request.criteria or request.repairs or request.mode == LOGPROBS:
        return None
    reasons = {score.reason for score in scores(request, response).values()}
    choice = choice_in(response)
    if choice is None or choice.text is None or not reasons & {*REPAIRED}:
        return None
    how = template_texts(request.criteria, request.mode if request.reads == FREE else LOGPROBS)[
        "reply"
    ]
    asked = {"role": "user", "content": f"Your reply could not be read. {how}"}
    messages = (*request.messages, {"role": "assistant", "content": choice.text}, asked)
    return replace(request, messages=messages, repairs=request.key)
