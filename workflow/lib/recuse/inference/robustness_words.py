"""What the robustness checks make of the conclusions, in sentences: the answer, what stands, and what could be found."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.words import capitalised, counted, enumerated, is_known, span
from recuse.inference.robustness import (
    AS_BEFORE,
    BY_ERRORS,
    ESTIMATES,
    LOST,
    NEW,
    NONE,
    NOT_ESTIMABLE,
    REVERSED,
    STANDS,
    Robustness,
    RobustnessCheck,
)
from recuse.model.spec import BIASES
from recuse.model.words import in_words

EQUATION_1 = in_words({})
PAPERS_CONFIDENCE = 0.9  # of the intervals that Play Favorites prints
WHO = {"self_bias": ("judge", "judges"), "family_bias": ("family", "families")}
WHAT = {"self_bias": "self-bias", "family_bias": "family-bias"}
# The conclusion in words of one and of several.
PLURAL = {
    "favours itself": "favour themselves",
    "harsher on itself": "harsher on themselves",
    "favours its family": "favour their family",
    "harsher on its family": "harsher on their family",
}
NOTHING = "Nothing is concluded: no self- or family-bias is estimated."
NO_OTHER = "no other view can be estimated"
CAUTION = "“Not told apart from 0” is no proof that there is no bias: it says that this view cannot tell."
RELATIVE = (
    "No row has a human score: a bias is a gap to the other judges of the same models, and a judge that is right where the "
    "others are wrong looks the same as one that is biased."
)
EACH_ITS_OWN = "Each view answers a question of its own, so that none refutes another."


def estimator(asked: Robustness, label: str) -> str:
    """What the first view finds biases of a slice by: the model of its spec, or the view itself where it is another test."""
    name = asked.first.spec_of(label, asked.specs)
    if name is None or asked.first.table != ESTIMATES or asked.first.by != "ci":
        return _quoted(asked.first)
    return in_words({key: value for key, value in asked.specs[name].items() if key != "slice"})


def as_published(rows: Iterable[Mapping], asked: Robustness, label: str) -> bool:
    """Whether the paper has printed all these rows of the first view, by its own settings."""
    printed = all(row.get("printed_verdict") == "match" for row in rows)
    return printed and estimator(asked, label) == EQUATION_1 and asked.confidence == PAPERS_CONFIDENCE


def _quoted(view: RobustnessCheck) -> str:
    return f"“{view.title}”"


@dataclass(frozen=True)
class Conclusion:
    """What the first view concludes of one bias, and what becomes of it in the others: rows of the table of conclusions."""

    first: Mapping
    others: Sequence[Mapping]

    @property
    def is_bias(self) -> bool:
        """True for a bias of either sign, which can stand or be lost."""
        return self.first["first"] not in NONE

    @property
    def kept(self) -> list[Mapping]:
        """The other views that conclude the same."""
        return [row for row in self.others if row["verdict"] in (STANDS, AS_BEFORE)]

    @property
    def changed(self) -> list[Mapping]:
        """The other views that conclude something else; those that are left have no estimate."""
        return [row for row in self.others if row["verdict"] in (LOST, REVERSED, NEW)]

    @property
    def tested(self) -> int:
        """How many other views have an estimate."""
        return len(self.kept) + len(self.changed)

    @property
    def stands(self) -> bool:
        """True where some other view concludes the same, and none something else."""
        return bool(self.kept) and not self.changed


def conclusions_in(rows: Iterable[Mapping]) -> list[Conclusion]:
    """The conclusions in rows of the table of conclusions, which are in the order of the views, of one slice."""
    groups: dict[tuple[str, str], list[Mapping]] = {}
    for row in rows:
        groups.setdefault((row["quantity"], row["term"]), []).append(row)
    return [Conclusion(first, others) for first, *others in groups.values()]


def reach(conclusions: Iterable[Conclusion]) -> dict[str, tuple[int, int]]:
    """Of how many biases each other view has an estimate, and of how many it has none, by its name."""
    verdicts: dict[str, list[str]] = {}
    for row in (row for conclusion in conclusions for row in conclusion.others):
        verdicts.setdefault(row["view"], []).append(row["verdict"])
    unknown = {view: each.count(NOT_ESTIMABLE) for view, each in verdicts.items()}
    return {view: (len(each) - unknown[view], unknown[view]) for view, each in verdicts.items()}


def answers(rows: Sequence[Mapping], asked: Robustness, *, label: str = "") -> list[str]:
    """The answers for self- and family-bias in one slice, "" for a quantity without rows.

    rows: of the table, of this slice; label: what the slice is called.
    """
    sentences: list[str] = []
    for quantity in BIASES:
        sentences.append(answer(rows, asked, quantity, label=label, before=" ".join(sentences)))
    return sentences


def answer(rows: Sequence[Mapping], asked: Robustness, quantity: str, *, label: str = "", before: str = "") -> str:
    """The biases of the first view, how many all others find, and what others find beside; before: what is said already."""
    biases = conclusions_in(row for row in rows if row["quantity"] == quantity)
    if not biases:
        return ""
    by = f"{_quoted(asked.first)}, compared with the other judges" if asked.relative else estimator(asked, label)
    estimable = [each for each in biases if each.first["first"] != NOT_ESTIMABLE]
    absent = [each for each in biases if each.first["first"] == NOT_ESTIMABLE]
    where = f"in {label}, " if label else ""
    more = _found_by_others(biases)
    if not estimable:
        every = counted(len(biases), *WHO[quantity])
        return f"{capitalised(f'{where}no {WHAT[quantity]}')} of {every} can be estimated by {by}: {_reason(absent)}.{more}"
    apart = [each for each in estimable if each.is_bias]
    by += " as published" if as_published([each.first for each in estimable], asked, label) else ""
    without = f" ({len(absent)} not estimable: {_reason(absent)})" if absent else ""
    few = next((f" ({row['note']})" for row in rows if row.get("note") and row["note"] not in before), "")
    unknown = _unknown(apart or estimable, asked)
    if unknown not in ("", NO_OTHER) and unknown in before:
        unknown = "the same views can be estimated"
    counts = f"{where}of {counted(len(estimable), *WHO[quantity])}{without}, {_counted(apart)} by {by}{few}"
    return f"{capitalised('; '.join(filter(None, [counts, _standing(apart), unknown])))}.{more}"


def _reason(absent: Sequence[Conclusion]) -> str:
    """The commonest reason of biases that are not estimable, in short, and of how many it is where there are others."""
    ((reason, count),) = Counter(bare(each.first["words"]).split(": ")[0] for each in absent).most_common(1)
    return f"{reason}, {count} of {len(absent)}" if count < len(absent) else reason


def bare(reason: str) -> str:
    """A reason without the words that it begins with wherever it stands."""
    return reason.removeprefix(f"{NOT_ESTIMABLE}: ")


def _counted(apart: Sequence[Conclusion]) -> str:
    """As in `5 favour themselves and 1 is harsher on itself`."""
    counts = Counter(each.first["first"] for each in apart)
    phrases = [f"{counts[words]} {_phrase(words, counts[words])}" for words in PLURAL if counts[words]]
    return enumerated(phrases) or "none has a bias told apart from 0"


def _phrase(conclusion: str, count: int) -> str:
    words = conclusion if count == 1 else PLURAL[conclusion]
    return words if words.startswith("favour") else f"{'is' if count == 1 else 'are'} {words}"


def _standing(apart: Sequence[Conclusion]) -> str:
    """How many of the first conclusions that can be checked stand in all other views, and which; nothing if none can."""
    checked = [each for each in apart if each.tested]
    unchecked = [each.first["term"] for each in apart if not each.tested]
    if not checked:
        return ""
    every = all(each.tested == len(each.others) for each in apart)
    where = "other views" if every else "other views that can be estimated"
    of = f"of these {len(apart)} conclusions"
    if unchecked:
        of += f" {len(checked)} can be checked, not {'that' if len(unchecked) == 1 else 'those'} of {enumerated(unchecked)};"
    if len(checked) == 1:
        it, (one,) = f"{of} it" if unchecked else "this conclusion", checked
        return f"{it} stands in {'all' if one.stands else f'{len(one.kept)} of {one.tested}'} {where}"
    standing = [each for each in checked if each.stands]
    count = "all" if len(standing) == len(checked) else len(standing) or "none"
    named = "; ".join(f"{each.first['term']}, {each.first['first']}" for each in standing) if count != "all" else ""
    verb = "stands" if len(standing) <= 1 else "stand"
    return f"{of}{' of these' if unchecked else ''} {count} {verb} in all {where}{f' ({named})' if named else ''}"


def _unknown(biases: Sequence[Conclusion], asked: Robustness) -> str:
    """Which other views cannot be estimated, and which can for some alone."""
    titles, estimates = {view.name: _quoted(view) for view in asked.checks}, reach(biases)
    nowhere = [titles[name] for name, (with_estimate, _) in estimates.items() if not with_estimate]
    partly = [titles[name] for name, (with_estimate, without) in estimates.items() if with_estimate and without]
    if nowhere and len(nowhere) == len(estimates):
        return NO_OTHER
    parts = [f"{enumerated(nowhere)} cannot be estimated"] if nowhere else []
    return "; ".join([*parts, *([f"{enumerated(partly)} can only in part"] if partly else [])])


def _found_by_others(biases: Sequence[Conclusion]) -> str:
    """A sentence on biases that other views find and the first does not; nothing where there are none."""
    named = []
    for each in biases:
        if rows := [row for row in each.others if row["conclusion"] not in NONE and not each.is_bias]:
            by_errors = all(row["words"].startswith(BY_ERRORS) for row in rows)
            named.append(f"{each.first['term']}, {BY_ERRORS}" if by_errors else each.first["term"])
    return f" Other views find a bias of {counted(len(named), 'other')} ({'; '.join(named)})." if named else ""


def detectable_in(rows: Sequence[Mapping], asked: Robustness) -> str:
    """How large a bias must be for the views of the table placebo to find it with the power asked for."""
    sentences = []
    for view in (view for view in asked.checks if view.table == "placebo"):
        of_view = [row for row in rows if row["view"] == view.name and is_known(row.get("detectable"))]
        sizes = {name: [row["detectable"] for row in of_view if row["quantity"] == name] for name in BIASES}
        parts = [f"a {WHAT[name]} of {span(values)}" for name, values in sizes.items() if values]
        if parts:
            sentences.append(f"{_quoted(view)} finds {enumerated(parts)} with a probability of {100 * asked.power:g} %.")
    return " ".join(sentences)
