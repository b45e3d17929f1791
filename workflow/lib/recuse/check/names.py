"""Names of judges and models: two spellings of one, names in config that no rating has, names that
are not in config.

`openai/gpt-4o-2024-08-06` may be a spelling of `GPT-4o`; `GPT-4` is another model.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import groupby, pairwise

from recuse.base.database import connect, values_in
from recuse.base.model_names import is_fine_tuned, model_and_date
from recuse.base.settings import Setting
from recuse.base.words import INVISIBLE, enumerated
from recuse.check.facts import WARNING, Facts, Finding, Findings, Pair
from recuse.data.files import reading
from recuse.data.ratings import StudyFiles

TYPING = 0.9  # similarity from which one name may be the other mistyped, if all digits are the same
SHORTEST = 8  # letters and digits of such a name: in a shorter one, one letter makes another model
# Words for an early version, which providers drop from the name later
PREVIEW = re.compile(r"[-_ ](preview|beta|exp)(?=[-_ ]|$)", re.IGNORECASE)


def quoted(names: str | Sequence[str]) -> str:
    """A name, or several, as in config: by escapes where it looks like another."""
    text = json.dumps(names, ensure_ascii=False)
    return text if _seen(text) == text else text.encode("ascii", "backslashreplace").decode()


def _seen(name: str) -> str:
    """What a reader sees of a name, however its letters are encoded (NFKC), without invisible
    characters.
    """
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", name))


def alike(name: str, names: Iterable[str]) -> str | None:
    """The longest of the `names` that may be another spelling of `name`, or None."""
    candidates = [other for other in names if other != name and _alike(name, other)]
    return max(candidates, key=lambda other: (len(other), other), default=None)


def _alike(one: str, other: str) -> bool:
    """Whether two names are of one model, or one is the other mistyped; two snapshots, or two
    models fine-tuned by their users, are not one.
    """
    names = [PREVIEW.sub("", _seen(name)) for name in (one, other)]
    (parts, date), (others, other_date) = map(model_and_date, names)
    if date and other_date and date != other_date:
        return False
    if parts == others:
        return bool(parts)
    if any(map(is_fine_tuned, names)):
        return False
    letters = ["".join(each) for each in (parts, others)]
    digits = [[part for part in each if part.isdigit()] for each in (parts, others)]
    return (
        digits[0] == digits[1]
        and min(map(len, letters)) >= SHORTEST
        and SequenceMatcher(None, *letters).ratio() >= TYPING
    )


def alike_among(
    rows: Mapping[str, Mapping[str, int]], may_be_one: Callable[..., bool]
) -> list[Pair]:
    """Judges, and models, that may be two spellings of one.

    rows: judge or model -> how many rows each name has. may_be_one: whether the data allow a pair.
    """
    pairs = []
    for factor, counts in rows.items():
        names = sorted(counts, key=lambda name: (counts[name], name))
        for place, rare in enumerate(names):
            others = [name for name in names[place + 1 :] if _alike(rare, name)]
            other = alike(rare, [name for name in others if may_be_one(factor, rare, name)])
            if other is not None:
                pairs.append((factor, rare, other))
    return pairs


def spelt_twice(
    rows: Mapping[str, Mapping[str, int]],
    pairs: Sequence[Pair],
    kinds: Mapping[str, str],
    *,
    noun: str = "row",
    families: Mapping[str, str] | None = None,
    imported: bool = True,
) -> Findings:
    """Report judges that may be a model by another spelling, the pairs of `alike_among`, and other
    names that look the same.

    rows: as in `alike_among`; noun: what a row is called. kinds: as of `kinds_by_name`.
    families: of models, where known. imported: False for ratings without `import`, whose study has
    no `families`.
    """
    found: list[tuple[str, Pair]] = []
    only_models = [model for model in rows["model"] if model not in rows["judge"]]
    for judge in (judge for judge in rows["judge"] if judge not in rows["model"]):
        if model := alike(judge, only_models):
            found.append(("spelling/judge", ("judge", judge, model)))
    found += [("spelling", pair) for pair in pairs]
    reported = {frozenset(names) for _, (_, *names) in found}
    for kind, *names in look_the_same(kinds):
        if frozenset(names) not in reported:
            found.append(("spelling/look", (kind, *names)))
    for code, (factor, rare, name) in found:
        family = quoted((families or {}).get(name, "<its family>"))
        place, entry = "families", f"{{{family}: {{{quoted(name)}: [{quoted(rare)}]}}}}"
        if not imported:  # no study has families of its own then
            place, entry = (
                "models",
                f"{{{quoted(name)}: {{family: {family}, ids: [{quoted(rare)}]}}}}",
            )
        counts = [rows[factor][each] if code == "spelling" else 0 for each in (rare, name)]
        yield Finding(
            code,
            rare,
            counts[0] or None,
            WARNING,
            counts[0],
            factor=factor,
            other=name,
            noun=noun,
            rows=counts,
            line=Setting(place).line(entry),
            difference=difference(rare, name),
        )


def look_the_same(kinds: Mapping[str, str]) -> Iterator[Pair]:
    """What the second names, and the two, of names that a reader cannot tell from one another;
    kinds: as of `kinds_by_name`.
    """
    for _, names in groupby(sorted(kinds, key=lambda name: (_seen(name), name)), _seen):
        yield from ((kinds[other], one, other) for one, other in pairwise(names))


def odd_names(kinds: Mapping[str, str]) -> Findings:
    """Report names with invisible characters; kinds: as of `kinds_by_name`."""
    for name, kind in kinds.items():
        hidden = [_code(letter) for letter in dict.fromkeys(INVISIBLE.findall(name))]
        if hidden:
            yield Finding("names/invisible", name, None, WARNING, factor=kind, hidden=hidden)


def kinds_by_name(facts: Facts) -> dict[str, str]:
    """What each name of a study names, the first of judge, model, dimension and family."""
    names = {factor: facts.rows_by(factor) for factor in ("judge", "model", "dimension")}
    names["family"] = [*facts.families().values(), *facts.named]
    return {name: kind for kind, of_kind in reversed(names.items()) for name in of_kind}


def difference(one: str, other: str) -> str:
    """How two names that look the same differ, as in `: U+00E9 in one is U+0065 U+0301 in the
    other`; else empty.
    """
    if _seen(one) != _seen(other):
        return ""
    places = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    here, there = next((one[a:b], other[c:d]) for kind, a, b, c, d in places if kind != "equal")
    return f": {_code(here)} in one is {_code(there)} in the other"


def _code(letters: str) -> str:
    return " ".join(f"U+{ord(letter):04X}" for letter in letters) or "nothing"


def unused_families(facts: Facts) -> Findings:
    """Report names in config's `families` that no rating has, and the names that may be meant."""
    in_ratings = facts.rows_by("judge").keys() | facts.rows_by("model").keys()
    named = {name for names in facts.named.values() for name in names}
    for family, names in facts.named.items():
        for name in sorted(set(names) - in_ratings):
            (close,) = get_close_matches(name, sorted(in_ratings - named), n=1) or [""]
            yield Finding(
                "spelling/families",
                name,
                None,
                WARNING,
                family=family,
                close=close,
                difference=difference(name, close),
                place=Setting("families").place,
            )


def unknown_names(source: StudyFiles) -> list[str]:
    """Sorted names of judges and models in the files that the registry does not have; DataError
    about an invalid file.

    There are none in what was imported, where every name is allowed.
    """
    if source.registry.imported:
        return []
    connection, names = connect(), set()
    for file in source.files:
        with reading(file.path):
            query = f"select distinct unnest([judge, model]) from ({file.texts()})"
            names |= {*values_in(connection, query)}
    return sorted(names - {None} - source.registry.names.keys())


def what_to_write(names: Sequence[str], models: Mapping[str, Mapping]) -> list[str]:
    """Lines of configuration that add these names: as `ids` of a similar model of config, or as new
    models.
    """
    spellings = {
        spelling: model
        for model, entry in models.items()
        for spelling in (model, *entry.get("ids", ()))
    }
    families = sorted({entry["family"] for entry in models.values()})
    options = f"{', '.join(families)}, or a new one under `families:` with its colour"
    ids, new = {}, []  # model of config -> its other spellings; lines of new models
    for name in names:
        model = spellings.get(alike(name, spellings))
        like = [family for family in families if family.split()[0].lower() in name.lower()]
        if model is not None:
            ids.setdefault(model, []).append(name)
        elif like:
            new.append(f"  {quoted(name)}: {{family: {quoted(like[0])}}}")
        else:
            new.append(f"  {quoted(name)}: {{family: <its family>}}  # {options}")
    lines = [
        "names in these files that are not in config; write in a file for --config:",
        "models:",
    ]
    for model, others in ids.items():
        written = quoted([*models[model].get("ids", ()), *others])
        lines.append(
            f"  {quoted(model)}: {{ids: {written}}}  # if it is also {enumerated(others, most=5)}"
        )
    return [*lines, *new]
