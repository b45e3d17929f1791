"""The table of conclusions in words: which biases are found, and in which robustness checks they hold."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.words import capitalised, counted, enumerated, is_known, span
from recuse.inference.robustness import (
    AS_BEFORE,
    BY_ERRORS,
    ESTIMATES,
    FAVOURS,
    HARSHER,
    HOLDS,
    INDISTINGUISHABLE,
    LOST,
    NEW,
    NONE,
    NOT_ESTIMABLE,
    REVERSED,
    Robustness,
)
from recuse.model.spec import BIASES, in_words

WHO = {"self_bias": ("judge", "judges"), "family_bias": ("family", "families")}
WHAT = {"self_bias": "self-bias", "family_bias": "family-bias"}
# A conclusion, in words of one judge or family and of several.
COUNTED = {
    FAVOURS["self_bias"]: ("favours itself", "favour themselves"),
    HARSHER["self_bias"]: ("is harsher on itself", "are harsher on themselves"),
    FAVOURS["family_bias"]: ("favours its own models", "favour their own models"),
    HARSHER["family_bias"]: ("is harsher on its own models", "are harsher on their own models"),
    INDISTINGUISHABLE: ("cannot be distinguished from unbiased",) * 2,
    NOT_ESTIMABLE: ("cannot be tested",) * 2,
}
NOTHING = "No self- or family-bias can be estimated."
CAUTION = "“Cannot be distinguished from 0” does not mean “no bias”."
RELATIVE = (
    "No row has a human score: a bias is a gap to the other judges of the same models, and a judge that is right where the "
    "others are wrong looks the same as a biased one."
)


@dataclass(frozen=True)
class Conclusion:
    """What the first check concludes about one bias, and what the others do: rows of the table of conclusions."""

    first: Mapping
    others: Sequence[Mapping]

    @property
    def is_bias(self) -> bool:
        """True for a bias of either sign, which can hold or be lost."""
        return self.first["first"] not in NONE

    @property
    def kept(self) -> list[Mapping]:
        """The other checks that conclude the same."""
        return [row for row in self.others if row["verdict"] in (HOLDS, AS_BEFORE)]

    @property
    def changed(self) -> list[Mapping]:
        """The other checks that conclude something else; the rest have no estimate."""
        return [row for row in self.others if row["verdict"] in (LOST, REVERSED, NEW)]

    @property
    def extent(self) -> str:
        """As in `holds in 9 of 12 robustness checks`."""
        tested = len(self.kept) + len(self.changed)
        return f"holds in {len(self.kept)} of {_checks(tested, some=tested < len(self.others))}"


def _checks(count: int, *, some: bool) -> str:
    return f"{counted(count, 'robustness check')}{' that can be estimated' if some else ''}"


def conclusions_in(rows: Iterable[Mapping]) -> list[Conclusion]:
    """The conclusions in rows of the table of conclusions, of one slice and in the order of the checks."""
    groups: dict[tuple[str, str], list[Mapping]] = {}
    for row in rows:
        groups.setdefault((row["quantity"], row["term"]), []).append(row)
    return [Conclusion(first, others) for first, *others in groups.values()]


def tally(conclusions: Sequence[str], quantity: str) -> str:
    """As in `of 4 judges, 2 favour themselves, 1 is harsher on itself and 1 cannot be tested`."""
    counts = Counter(conclusions)
    parts = [f"{counts[name]} {words[counts[name] > 1]}" for name, words in COUNTED.items() if counts[name]]
    return f"of {counted(len(conclusions), *WHO[quantity])}, {enumerated(parts)}"


def robust(conclusions: Sequence[Conclusion], titles: Mapping[str, str]) -> str:
    """How many conclusions hold in all other checks, and which checks cannot be estimated, as a clause; "" without any.

    titles: of the checks, by name.
    """
    conclusions = [each for each in conclusions if each.is_bias]
    rows = [row for each in conclusions for row in each.others]
    if not rows:
        return ""
    checks = Counter(row["check"] for row in rows)
    absent = Counter(row["check"] for row in rows if row["verdict"] == NOT_ESTIMABLE)
    if absent == checks:
        return "no robustness check can be estimated"
    if len(conclusions) == 1:
        words = f"this conclusion {conclusions[0].extent}"
    else:
        holding = sum(bool(each.kept) and not each.changed for each in conclusions)
        tested = sum(absent[check] < count for check, count in checks.items())
        which = f"all {holding}" if holding == len(conclusions) else f"{holding} of {len(conclusions)}"
        verb = "holds" if holding == 1 else "hold"
        words = f"{which} conclusions {verb} in all {_checks(tested, some=bool(absent))}"
    parts = [titles.get(name, name) + (f" (of {count})" if count < checks[name] else "") for name, count in absent.items()]
    return f"{words}; not estimable: {'; '.join(parts)}" if parts else words


def estimator(asked: Robustness, label: str) -> str:
    """What the first check estimates the biases of a slice by: the model of its spec, or its title if it is another test."""
    name = asked.first.spec_of(label, asked.specs)
    if name is None or asked.first.table != ESTIMATES or asked.first.by != "ci":
        return f"“{asked.first.title}”"
    return in_words({key: value for key, value in asked.specs[name].items() if key != "slice"})


def bare(reason: str) -> str:
    """A reason without `not estimable: ` in front."""
    return reason.removeprefix(f"{NOT_ESTIMABLE}: ")


def answers(rows: Sequence[Mapping], asked: Robustness, *, label: str = "") -> list[str]:
    """The answers for self- and family-bias in one slice, "" for a quantity without rows.

    rows: of the table, of this slice; label: what the slice is called.
    """
    by = f"“{asked.first.title}”, compared with the other judges" if asked.relative else estimator(asked, label)
    by = f"{label}, {by}" if label else capitalised(by)
    titles = {check.name: check.title for check in asked.checks}
    sentences = []
    for quantity in BIASES:
        biases = conclusions_in(row for row in rows if row["quantity"] == quantity)
        if not biases:
            sentences.append("")
            continue
        reasons = [bare(each.first["words"]).split(": ")[0] for each in biases if each.first["first"] == NOT_ESTIMABLE]
        notes = [row["note"] for row in rows if row["quantity"] == quantity and row.get("note")][:1]
        why = "".join(f" ({text})" for text in ("; ".join(dict.fromkeys(reasons)), *notes) if text)
        answer = f"{by}: {tally([each.first['first'] for each in biases], quantity)}{why}"
        sentences.append(f"{'; '.join(filter(None, [answer, robust(biases, titles)]))}.{_found_by_others(biases)}")
    return sentences


def _found_by_others(biases: Sequence[Conclusion]) -> str:
    """A sentence on biases that other checks find and the first does not."""
    named = []
    for each in (each for each in biases if not each.is_bias):
        if rows := [row for row in each.others if row["conclusion"] not in NONE]:
            by_errors = all(row["words"].startswith(BY_ERRORS) for row in rows)
            named.append(f"{each.first['term']}, {BY_ERRORS}" if by_errors else each.first["term"])
    return f" Other checks find a bias of {counted(len(named), 'other')} ({'; '.join(named)})." if named else ""


def detectable_in(rows: Sequence[Mapping], asked: Robustness) -> str:
    """How large a bias must be for the checks of the table idiosyncrasy to find it with the power asked for."""
    sentences = []
    for check in (check for check in asked.checks if check.table == "idiosyncrasy"):
        of_check = [row for row in rows if row["check"] == check.name and is_known(row.get("detectable"))]
        sizes = {name: [row["detectable"] for row in of_check if row["quantity"] == name] for name in BIASES}
        parts = [f"a {WHAT[name]} of {span(values)}" for name, values in sizes.items() if values]
        if parts:
            sentences.append(f"“{check.title}” finds {enumerated(parts)} with {100 * asked.power:g} % power.")
    return " ".join(sentences)
