"""One judge or model by two names: spelt in two ways in the ratings, or in config's `families` and in the ratings."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import SPELLING, WARNING, Finding, counted
from judgebias.doctor.spellings import alike

SAME = "if they are one, list both spellings under the `ids` of one model in config"
NEW = " (a new family goes under `families:` of config, with its colour)"
WRITE = "write each name under `families:` as the ratings spell it"


def alike_among(facts: Facts) -> list[tuple[str, str, str]]:
    """(judge or model, rarer name, other name) of judges, and of models, that may be one by two spellings.

    They are two where, were they one, it would have more rows than there are prompts.
    """
    return [(factor, *names) for factor in ("judge", "model") for names in _pairs(facts, factor, facts.rows_of(factor))]


def spelt_twice(facts: Facts, pairs: Sequence[tuple[str, str, str]]) -> Iterator[Finding]:
    """Say which judges may be a model by another spelling, and which judges, or models, may be one: pairs, by `alike_among`."""
    judges, models = facts.rows_of("judge"), facts.rows_of("model")
    alone = [model for model in models if model not in judges]
    for judge, model in ((judge, alike(judge, alone)) for judge in judges if judge not in models):
        if model is not None:
            words = f"the judge '{judge}' may be the model '{model}' by another spelling"
            yield Finding(SPELLING, judge, words, None, WARNING, f"{SAME}{_and_not(facts, judge, model)}")
    for factor, rare, name in pairs:
        rows = judges if factor == "judge" else models
        both = " and ".join(f"'{each}' ({counted(rows[each], 'row')})" for each in (rare, name))
        words = f"the {factor}s {both} may be one by two spellings"
        yield Finding(SPELLING, f"{factor} {rare}", words, rows[rare], WARNING, _same(facts, rare, name), rows[rare])


def families_of_none(facts: Facts) -> Iterator[Finding]:
    """Say which names in config's `families` are none of the ratings, and which name there may be meant."""
    known = facts.rows_of("judge").keys() | facts.rows_of("model").keys()
    named = {name for names in facts.named.values() for name in names}
    for family, names in facts.named.items():
        for name in sorted(set(names) - known):
            close = difflib.get_close_matches(name, sorted(known - named), n=1)
            meant = f"; did you mean '{close[0]}', which stands in no family there?" if close else ""
            words = f"`families: {family}` names '{name}', which is no judge and no model of these ratings{meant}"
            yield Finding(SPELLING, f"families {name}", words, None, WARNING, WRITE)


def _pairs(facts: Facts, factor: str, rows: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Two names that are alike, the rarer one first."""
    left = sorted(rows, key=lambda name: (rows[name], name))
    while left:
        name = left.pop(0)
        other = alike(name, [each for each in left if alike(name, [each]) and _may_be_one(facts, factor, name, each)])
        if other is not None:
            yield name, other


def _may_be_one(facts: Facts, factor: str, one: str, other: str) -> bool:
    """Whether the rows of both together would be no more than one each of the prompts, in every dimension."""
    together = facts.as_one([(factor, one, other)])
    return bool((together.completeness["absent"] >= 0).all())


def _same(facts: Facts, rare: str, name: str) -> str:
    """What makes two spellings one: the lines of a configuration."""
    family = facts.families().get(name, "<its family>")
    quoted = (json.dumps(each, ensure_ascii=False) for each in (name, family, rare))
    entry = "{}: {{family: {}, ids: [{}]}}".format(*quoted)
    words = f"if they are one, write one in the files, or under `models:` of config {entry}"
    return f"{words}{NEW if facts.imports else ''}{_and_not(facts, rare, name)}"


def _and_not(facts: Facts, *names: str) -> str:
    """Where the names must not stand then, as what a study says of its own is all that holds."""
    named = {name for of_family in facts.named.values() for name in of_family}
    return ", and not under `families:` of the study" if named & {*names} else ""
