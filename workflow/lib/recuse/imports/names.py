"""Names of language models as providers write them: which are one model, and of which family."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from recuse.base.model_names import bare, model_and_date

FAMILIES = {  # beginnings of the names of models, without their maker
    "GPT": r"(chat)?gpt|o[134]\b|o[134]-|(text-)?davinci",
    "Claude": "claude",
    "Gemini": "gemini|bard|palm",
    "Gemma": "gemma",
    "Llama": "llama|codellama",
    "Qwen": "qwen|qwq",
    "Mistral": "mistral|mixtral|ministral|magistral",
    "DeepSeek": "deepseek",
    "Cohere": "command|aya",
    "Phi": r"phi[-_ ]?\d",
    "Grok": "grok",
    "Vicuna": "vicuna",
    "Yi": r"yi[-_ ]",
    "Nova": "nova[-_ ]",
    "GLM": "glm|chatglm",
}
# First words of names that say nothing of who made the model
COMMON = re.compile(
    "agent|answer|assistant|baseline|bot|candidate|checkpoint|evaluator|generator|grader|human|judge"
    "|method|model|output|policy|reference|response|responder|run|system|team|test|user|variant"
    "|version|writer"
)


def known_family(name: str) -> str | None:
    """The known family that the name of a model begins with, after its provider, or None."""
    own = bare(name)
    return next((family for family, begins in FAMILIES.items() if re.match(begins, own)), None)


def spellings_by_model(judges: Sequence[str], models: Sequence[str]) -> Iterator[list[str]]:
    """The names of each model, the shortest first.

    Two names are one model if they differ by provider, date or version alone, unless two dates
    differ. Two judges, or two models, are never one: they may be two snapshots.
    """
    groups: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in dict.fromkeys([*judges, *models]):
        key, date = model_and_date(name)
        groups[key or (name,)][date].append(name)
    for by_date in groups.values():
        together = [name for dated in by_date.values() for name in dated]
        as_one = len(by_date.keys() - {""}) <= 1 and not _share_a_role(together, judges, models)
        for names in [together] if as_one else by_date.values():
            if _share_a_role(names, judges, models):
                yield from ([name] for name in names)
            else:
                yield sorted(names, key=lambda name: (len(name), name))


def _share_a_role(names: Sequence[str], *roles: Sequence[str]) -> bool:
    return any(len({*names} & {*role}) > 1 for role in roles)


def group_families(judges: Sequence[str], models: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Family -> model -> its other spellings, for models of a known family, of a family that a
    common beginning shows, or with several spellings.
    """
    spelt = [*spellings_by_model(judges, models)]
    beginnings = Counter(_beginning(names[0]) for names in spelt)
    families: dict[str, dict[str, list[str]]] = {}
    for name, *others in spelt:
        family, beginning = known_family(name), _beginning(name)
        if family is None and beginning and beginnings[beginning] > 1:
            family = beginning
        if family is None and others:
            family = name
        if family is not None:
            families.setdefault(family, {})[name] = others
    return families


def _beginning(name: str) -> str:
    """The first word of a name, as written, unless it is a common noun."""
    found = re.match(r"[a-z]{4,}(?=[-_. \d])", bare(name))
    if found is None or COMMON.fullmatch(found[0].removesuffix("s")):
        return ""
    return name[name.lower().rindex(found[0]) :][: len(found[0])]
