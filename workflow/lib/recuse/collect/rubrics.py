"""What judges are asked: criteria, and wordings of a request for ratings or for a verdict, in
workflow/data/rubrics.yaml.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import yaml

from recuse.base.errors import ConfigError, check_known
from recuse.base.places import WORKFLOW
from recuse.collect.requests import FREE, LOGPROBS, SCHEMA, Criterion

if TYPE_CHECKING:
    from recuse.collect.settings import OwnCriterion, OwnWording

FILE = WORKFLOW / "data" / "rubrics.yaml"
PAPER = "play_favorites"  # the wording whose labels and scales are those of the paper
PLAIN = "plain"
VERDICT = "verdict"  # the criterion of a request for a verdict
PLACE = re.compile(r"\{([a-z_0-9]+)\}")
OF_RATINGS, OF_VERDICTS = ("prompt", "answer"), ("prompt", "answer_1", "answer_2")
OF_OWN = ("criteria", "reply", "labels")  # what else a template may have in braces
OF_PAPER = ("definition", "instruction")  # of the paper's criteria alone
ONE_TO_FIVE = ("1", "2", "3", "4", "5")


@dataclass(frozen=True)
class Wording:
    """A template of the text that a judge is sent, with `{prompt}`, `{answer}` or `{answer_1}` and
    `{answer_2}`.
    """

    name: str
    template: str
    system: str | None = None
    labels: Sequence[str] = ()  # of a verdict: the first answer, neither, the second
    reads: str = FREE  # where a label is read
    longest: int | None = None  # tokens of a reply; None: by the number of criteria

    @property
    def single(self) -> bool:
        """Whether a request can only have one criterion: the template has its own words for it."""
        return (
            "{definition}" in self.template
            or "{instruction}" in self.template
            or "{labels}" in self.template
        )

    @property
    def says_how(self) -> bool:
        """Whether the template itself says how to reply."""
        return "{reply}" not in self.template

    def messages(self, values: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages, with `values` in the places of the template; texts in braces within these
        stay as they are.
        """
        content = PLACE.sub(lambda match: values.get(match[1], match[0]), self.template)
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": content}]


@cache
def _published() -> Mapping:
    return yaml.safe_load(FILE.read_text("utf-8"))


def dimensions() -> list[str]:
    """The criteria that need no words of the user's: the six dimensions of Play Favorites."""
    return [*_published()["criteria"]]


def wording_names(kind: str) -> list[str]:
    """The wordings that need no words of the user's; kind: `ratings` or `verdicts`."""
    return [*_published()[kind]]


def find_wording(kind: str, name: str, declared: Mapping[str, "OwnWording"]) -> Wording:
    """A wording by its name, of those `declared` in the plan or of the project's; ConfigError if
    there is none.

    Also if its template lacks a text that it must have, or names an unknown one.
    """
    published = _published()[kind]
    check_known(
        ["collect", "wordings"], [name], {**published, **declared}, f"the wordings for {kind}"
    )
    own = declared.get(name)
    wording = Wording(name, **(published[name] if own is None else own.as_written()))
    needed = OF_RATINGS if kind == "ratings" else OF_VERDICTS
    if name in declared and kind == "ratings" and not wording.single:
        needed = (*needed, "reply")
    places = PLACE.findall(wording.template)
    known = (*needed, *OF_OWN) if name in declared else (*needed, *OF_OWN, *OF_PAPER)
    check_known(["wordings", name, "the template"], places, known, "what may be in braces")
    check_known(
        ["wordings", name], needed, places, "the texts in braces in the template, which it needs"
    )
    if kind == "verdicts" and not wording.labels:
        raise ConfigError(
            f"collect: templates: {name}: labels: missing; write what a judge may answer for the"
            " first answer, for neither and for the second, such as [A, tie, B]"
        )
    return wording


def find_criterion(
    dimension: str, wording: Wording, declared: Mapping[str, "OwnCriterion"]
) -> Criterion:
    """A criterion as a wording asks for it: on its own labels, else from 1 to 5.

    declared: criteria of the plan.
    """
    if dimension in declared:
        entry = declared[dimension]
        if wording.single and wording.name == PAPER:
            raise ConfigError(
                f"collect: rubrics: {dimension}: the wording {PAPER} has only the paper's six;"
                " choose another wording"
            )
        return Criterion(dimension, entry.question, tuple(entry.labels), entry.low)
    check_known(["collect", "rubrics"], [dimension], [*dimensions(), *declared], "the criteria")
    entry = _published()["criteria"][dimension]
    if wording.single:
        return Criterion(
            dimension, entry["question"], tuple(entry[PAPER]["labels"]), entry[PAPER]["low"]
        )
    ends = f"1: {entry['lowest']}; 5: {entry['highest']}"
    return Criterion(dimension, f"{entry['question']} ({ends})", ONE_TO_FIVE)


def criterion_scale(criterion: Criterion) -> list[int]:
    """The lowest and the highest rating."""
    return [criterion.low, criterion.low + len(criterion.labels) - 1]


def template_texts(criteria: Sequence[Criterion], mode: str) -> dict[str, str]:
    """The texts of a template that follow from the criteria, in their order, and from how the judge
    states its ratings.
    """
    listed = "\n".join(f"{each.dimension}: {each.question}" for each in criteria)
    texts = {
        "criteria": listed,
        "reply": _reply(criteria, mode),
        "labels": "\n".join(criteria[0].labels),
    }
    paper = _published()["criteria"].get(criteria[0].dimension, {}).get(PAPER, {})
    return texts | {key: paper[key] for key in ("definition", "instruction") if key in paper}


def _reply(criteria: Sequence[Criterion], mode: str) -> str:
    first = criteria[0]
    choice = ", ".join(first.labels[:-1]) + f" or {first.labels[-1]}"
    if mode == LOGPROBS:
        return f"Reply with {choice}, and nothing else."
    if mode == SCHEMA:
        keys = ", ".join(f'"{each.dimension}": <{" | ".join(each.labels)}>' for each in criteria)
        return f"Reply with JSON alone: {{{keys}}}"
    if len(criteria) == 1:
        return f"Reply with one line: Answer: <{' | '.join(first.labels)}>"
    lines = "\n".join(f"{each.dimension}: <{' | '.join(each.labels)}>" for each in criteria)
    return f"Reply with one line for each criterion:\n{lines}"


def response_format(criteria: Sequence[Criterion]) -> dict:
    """The `response_format` that allows the labels of each criterion only; whole numbers where all
    labels are.
    """
    properties = {}
    for each in criteria:
        whole = all(re.fullmatch(r"-?\d+", label) for label in each.labels)
        values = [int(label) if whole else label for label in each.labels]
        properties[each.dimension] = {"type": "integer" if whole else "string", "enum": values}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "ratings", "strict": True, "schema": schema},
    }


def verdict_criterion(wording: Wording) -> Criterion:
    """The criterion of a verdict: 0 for the first answer, 1 for neither, 2 for the second."""
    return Criterion(VERDICT, "Which answer is better?", tuple(wording.labels), 0)
