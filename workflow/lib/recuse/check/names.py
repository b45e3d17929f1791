"""Names of judges and models: two spellings of one, names in config that no rating has, names that config does not know.

`openai/gpt-4o-2024-08-06` may be a spelling of `GPT-4o`; `GPT-4` is another model.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from recuse.base.database import connect
from recuse.base.words import counted, enumerated
from recuse.check.facts import WARNING, Facts, Finding
from recuse.data.files import checked_columns, reading, select_rows
from recuse.data.ratings import StudyFiles

# What may follow a model's name in an id without making it another model; so may a number of four digits or more, a date.
SUFFIXES = {"v", "instruct", "chat", "it", "hf", "preview", "latest", "beta", "exp"}
TYPING = 0.9  # likeness from which one name may be the other mistyped, if all digits are alike
SHORTEST = 8  # letters and digits of such a name: in a shorter one, a letter makes another model


def alike(name: str, names: Iterable[str]) -> str | None:
    """The one of the `names` that `name` may be another spelling of: the longest, or None."""
    candidates = [other for other in names if other != name and _alike(_parts(name), _parts(other))]
    return max(candidates, key=lambda other: (len(other), other), default=None)


def _parts(name: str) -> list[str]:
    """Runs of letters and runs of digits, in lower case."""
    return re.findall(r"[^\W\d_]+|\d+", name.lower())


def _alike(one: list[str], other: list[str]) -> bool:
    shorter, longer = sorted((one, other), key=len)
    for start in range(len(longer) - len(shorter) + 1 if shorter else 0):
        rest = longer[start + len(shorter) :]
        harmless = not rest or rest[0] in SUFFIXES or (rest[0].isdigit() and len(rest[0]) >= 4)
        if longer[start : start + len(shorter)] == shorter and harmless:
            return True
    letters = ["".join(parts) for parts in (one, other)]
    same_digits = [part for part in one if part.isdigit()] == [part for part in other if part.isdigit()]
    return same_digits and min(map(len, letters)) >= SHORTEST and SequenceMatcher(None, *letters).ratio() >= TYPING


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
            yield Finding("spelling", judge, words, None, WARNING, f"{SAME}{_and_not(facts, judge, model)}")
    for factor, rare, name in pairs:
        rows = judges if factor == "judge" else models
        both = " and ".join(f"'{each}' ({counted(rows[each], 'row')})" for each in (rare, name))
        words = f"the {factor}s {both} may be one by two spellings"
        yield Finding("spelling", f"{factor} {rare}", words, rows[rare], WARNING, _same(facts, rare, name), rows[rare])


def families_of_none(facts: Facts) -> Iterator[Finding]:
    """Say which names in config's `families` are none of the ratings, and which name there may be meant."""
    in_ratings = facts.rows_of("judge").keys() | facts.rows_of("model").keys()
    named = {name for names in facts.named.values() for name in names}
    for family, names in facts.named.items():
        for name in sorted(set(names) - in_ratings):
            close = difflib.get_close_matches(name, sorted(in_ratings - named), n=1)
            meant = f"; did you mean '{close[0]}', which stands in no family there?" if close else ""
            words = f"`families: {family}` names '{name}', which is no judge and no model of these ratings{meant}"
            yield Finding("spelling", f"families {name}", words, None, WARNING, WRITE)


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


def unknown_names(source: StudyFiles) -> list[str]:
    """List the names of judges and models in the files that the registry does not know, rising.

    Raises DataError, as every reader of these files.
    """
    connection, names = connect(), set()
    for file in source.files:
        rows = select_rows(file, checked_columns(connection, file))
        with reading(file.path):
            query = f"select distinct unnest([judge, model]) from ({rows})"
            names |= {name for (name,) in connection.execute(query).fetchall() if name is not None}
    return sorted(names - source.registry.names.keys())


def what_to_write(names: Sequence[str], models: Mapping[str, Mapping]) -> str:
    """The lines of a configuration that make these names known: as `ids` of a model of config that looks alike, or anew."""
    lines = ["names in these files that config does not know; write in a file for --config:", "models:"]
    spellings: dict[str | None, list[str]] = {}
    for name in names:
        spellings.setdefault(_model_of(name, models), []).append(name)
    new = spellings.pop(None, [])
    for model, others in spellings.items():
        ids = json.dumps([*models[model].get("ids", ()), *others], ensure_ascii=False)
        lines.append(f"  {_quoted(model)}: {{ids: {ids}}}  # if it is also {enumerated(others, most=5)}")
    return "\n".join([*lines, *(f"  {_quoted(name)}: {_family_of(name, models)}" for name in new)])


def _model_of(name: str, models: Mapping[str, Mapping]) -> str | None:
    spellings = {spelling: model for model, entry in models.items() for spelling in (model, *entry.get("ids", ()))}
    return spellings.get(alike(name, spellings))


def _family_of(name: str, models: Mapping[str, Mapping]) -> str:
    """A family of config whose first word is in the name, or the place to write one in."""
    families = sorted({entry["family"] for entry in models.values()})
    meant = next((family for family in families if family.split()[0].lower() in name.lower()), None)
    if meant is not None:
        return f"{{family: {_quoted(meant)}}}"
    return f"{{family: <its family>}}  # {', '.join(families)}, or a new one under `families:` with its colour"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
