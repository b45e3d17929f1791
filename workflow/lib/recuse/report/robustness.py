"""The table of conclusions in words, the answer first, and as a page: what becomes of each bias in the other checks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recuse.base.words import BADGES, capitalised, counted, enumerated, is_known, span, with_interval
from recuse.inference.robustness import (
    AS_BEFORE,
    BY_ERRORS,
    ESTIMATES,
    HOLDS,
    INDISTINGUISHABLE,
    LOST,
    NEW,
    NONE,
    NOT_ESTIMABLE,
    REVERSED,
    Robustness,
    RobustnessCheck,
)
from recuse.model.spec import BIASES, in_words
from recuse.report.html import rendered

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
NO_OTHER = "no other check can be estimated"
CAUTION = "“Cannot be distinguished from 0” does not mean “no bias”: this check cannot tell."
RELATIVE = (
    "No row has a human score: a bias is a gap to the other judges of the same models, and a judge that is right where the "
    "others are wrong looks the same as one that is biased."
)
EACH_ITS_OWN = "Each check answers a question of its own, so that none refutes another."


@dataclass(frozen=True)
class Conclusion:
    """What the first check concludes of one bias, and what becomes of it in the others: rows of the table of conclusions."""

    first: Mapping
    others: Sequence[Mapping]

    @property
    def is_bias(self) -> bool:
        """True for a bias of either sign, which can stand or be lost."""
        return self.first["first"] not in NONE

    @property
    def kept(self) -> list[Mapping]:
        """The other checks that conclude the same."""
        return [row for row in self.others if row["verdict"] in (HOLDS, AS_BEFORE)]

    @property
    def changed(self) -> list[Mapping]:
        """The other checks that conclude something else; those that are left have no estimate."""
        return [row for row in self.others if row["verdict"] in (LOST, REVERSED, NEW)]

    @property
    def tested(self) -> int:
        """How many other checks have an estimate."""
        return len(self.kept) + len(self.changed)

    @property
    def stands(self) -> bool:
        """True where some other check concludes the same, and none something else."""
        return bool(self.kept) and not self.changed


def conclusions_in(rows: Iterable[Mapping]) -> list[Conclusion]:
    """The conclusions in rows of the table of conclusions, which are in the order of the checks, of one slice."""
    groups: dict[tuple[str, str], list[Mapping]] = {}
    for row in rows:
        groups.setdefault((row["quantity"], row["term"]), []).append(row)
    return [Conclusion(first, others) for first, *others in groups.values()]


def reach(conclusions: Iterable[Conclusion]) -> dict[str, tuple[int, int]]:
    """Of how many biases each other check has an estimate, and of how many it has none, by its name."""
    verdicts: dict[str, list[str]] = {}
    for row in (row for conclusion in conclusions for row in conclusion.others):
        verdicts.setdefault(row["check"], []).append(row["verdict"])
    unknown = {check: each.count(NOT_ESTIMABLE) for check, each in verdicts.items()}
    return {check: (len(each) - unknown[check], unknown[check]) for check, each in verdicts.items()}


def estimator(asked: Robustness, label: str) -> str:
    """What the first check finds biases of a slice by: the model of its spec, or the check itself where it is another test."""
    name = asked.first.spec_of(label, asked.specs)
    if name is None or asked.first.table != ESTIMATES or asked.first.by != "ci":
        return f"“{asked.first.title}”"
    return in_words({key: value for key, value in asked.specs[name].items() if key != "slice"})


def bare(reason: str) -> str:
    """A reason without the words that it begins with wherever it stands."""
    return reason.removeprefix(f"{NOT_ESTIMABLE}: ")


def answers(rows: Sequence[Mapping], asked: Robustness, *, label: str = "") -> list[str]:
    """The answers for self- and family-bias in one slice, "" for a quantity without rows.

    rows: of the table, of this slice; label: what the slice is called.
    """
    sentences: list[str] = []
    notes = [row["note"] for row in rows if row.get("note")]
    for quantity in BIASES:
        biases = conclusions_in(row for row in rows if row["quantity"] == quantity)
        sentences.append(_answer(biases, asked, quantity, label, notes, before=" ".join(sentences)) if biases else "")
    return sentences


def _answer(
    biases: Sequence[Conclusion], asked: Robustness, quantity: str, label: str, notes: Sequence[str], before: str
) -> str:
    """The biases of the first check, how many all others find, and what others find beside; before: what is said already."""
    estimable = [each for each in biases if each.first["first"] != NOT_ESTIMABLE]
    absent = [each for each in biases if each.first["first"] == NOT_ESTIMABLE]
    by = f"“{asked.first.title}”, compared with the other judges" if asked.relative else estimator(asked, label)
    where = f"in {label}, " if label else ""
    more = _found_by_others(biases)
    if not estimable:
        every = counted(len(biases), *WHO[quantity])
        return f"{capitalised(f'{where}no {WHAT[quantity]}')} of {every} can be estimated by {by}: {_reason(absent)}.{more}"
    printed = all(each.first.get("printed_verdict") == "match" for each in estimable)
    if printed and estimator(asked, label) == EQUATION_1 and asked.confidence == PAPERS_CONFIDENCE:
        by += " as published"
    apart = [each for each in estimable if each.is_bias]
    without = f" ({len(absent)} not estimable: {_reason(absent)})" if absent else ""
    few = next((f" ({note})" for note in notes if note not in before), "")
    unknown = _unknown(apart or estimable, asked)
    if unknown not in ("", NO_OTHER) and unknown in before:
        unknown = "the same checks can be estimated"
    counts = Counter(each.first["first"] for each in apart)
    phrases = enumerated([_counted(words, counts[words]) for words in PLURAL if counts[words]])
    of_all = f"{where}of {counted(len(estimable), *WHO[quantity])}{without}"
    answer = f"{of_all}, {phrases or 'none has a bias told apart from 0'} by {by}{few}"
    return f"{capitalised('; '.join(filter(None, [answer, _standing(apart), unknown])))}.{more}"


def _reason(absent: Sequence[Conclusion]) -> str:
    """The commonest reason of biases that are not estimable, in short, and of how many it is where there are others."""
    ((reason, count),) = Counter(bare(each.first["words"]).split(": ")[0] for each in absent).most_common(1)
    return f"{reason}, {count} of {len(absent)}" if count < len(absent) else reason


def _counted(conclusion: str, count: int) -> str:
    """As in `5 favour themselves` or `1 is harsher on itself`."""
    words = conclusion if count == 1 else PLURAL[conclusion]
    verb = "" if words.startswith("favour") else "is " if count == 1 else "are "
    return f"{count} {verb}{words}"


def _standing(apart: Sequence[Conclusion]) -> str:
    """How many of the first conclusions that can be checked stand in all other checks, and which; nothing if none can."""
    checked = [each for each in apart if each.tested]
    unchecked = [each.first["term"] for each in apart if not each.tested]
    if not checked:
        return ""
    every = all(each.tested == len(each.others) for each in apart)
    where = "other checks" if every else "other checks that can be estimated"
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
    """Which other checks cannot be estimated, and which can for some alone."""
    titles, estimates = {check.name: f"“{check.title}”" for check in asked.checks}, reach(biases)
    nowhere = [titles[name] for name, (with_estimate, _) in estimates.items() if not with_estimate]
    partly = [titles[name] for name, (with_estimate, without) in estimates.items() if with_estimate and without]
    if nowhere and len(nowhere) == len(estimates):
        return NO_OTHER
    parts = [f"{enumerated(nowhere)} cannot be estimated"] if nowhere else []
    return "; ".join([*parts, *([f"{enumerated(partly)} can only in part"] if partly else [])])


def _found_by_others(biases: Sequence[Conclusion]) -> str:
    """A sentence on biases that other checks find and the first does not; nothing where there are none."""
    named = []
    for each in biases:
        if rows := [row for row in each.others if row["conclusion"] not in NONE and not each.is_bias]:
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
            sentences.append(f"“{check.title}” finds {enumerated(parts)} with a probability of {100 * asked.power:g} %.")
    return " ".join(sentences)


@dataclass(frozen=True)
class Outcome:
    """What becomes of the first conclusions on one kind of bias in another check."""

    check: RobustnessCheck
    verdicts: Mapping[str, int]  # on biases that the first check finds, and, NEW, on those that only this one finds
    detectable: str  # from the smallest to the largest bias that the check finds with the power asked for

    @property
    def tested(self) -> int:
        """How many biases of the first check it estimates."""
        return sum(self.verdicts[name] for name in (HOLDS, LOST, REVERSED))

    def __str__(self) -> str:
        """As in `3 of 5 stand, 1 lost, 1 reversed; 2 new`; a dash where there are none."""
        counts = self.verdicts
        others = [f"{counts[name]} {name}" for name in (LOST, REVERSED) if counts[name]]
        tested = [", ".join([f"{counts[HOLDS]} of {self.tested} stand", *others])] if self.tested else []
        absent = [f"{counts[NOT_ESTIMABLE] if tested else ''} {NOT_ESTIMABLE}".strip()] if counts[NOT_ESTIMABLE] else []
        return "; ".join([*tested, *absent, *([f"{counts[NEW]} {NEW}"] if counts[NEW] else [])]) or "–"


def outcomes(rows: Sequence[Mapping], asked: Robustness, quantity: str) -> dict[str, Outcome]:
    """What becomes of the first conclusions on self- or family-bias, by the name of each other check that has rows of it."""
    by_check = {}
    for check in asked.checks[1:]:
        if of_check := [row for row in rows if row["check"] == check.name and row["quantity"] == quantity]:
            verdicts = Counter(row["verdict"] for row in of_check if row["first"] not in NONE or row["verdict"] == NEW)
            sizes = [row["detectable"] for row in of_check if is_known(row.get("detectable"))]
            by_check[check.name] = Outcome(check, verdicts, span(sizes) if sizes else "–")
    return by_check


def so_many(outcomes: Iterable[Outcome]) -> str:
    """How many first conclusions stand in each check, in one sentence; nothing where there are none, or no check to say so."""
    tested = [each for each in outcomes if each.tested]
    if not tested:
        return ""
    parts = []
    for each in tested:
        of = f" of {each.tested}" if each.verdicts[NOT_ESTIMABLE] else ""
        parts.append(f"{each.check.title} {each.verdicts[HOLDS]}{of}")
    every = tested[0].tested + tested[0].verdicts[NOT_ESTIMABLE]
    return f"Of {every}, in each check so many stand: {'; '.join(parts)}."


FEW_CHECKS = 3  # that are named, where a conclusion stands in no more


def page(rows: Sequence[Mapping], asked: Robustness, *, label: str, kind: str, template: str | Path) -> str:
    """Render the rows of the table CONCLUSIONS as HTML: the answer, the checks and their questions, each judge and family.

    label: title of the study; kind: simulated, published or user; template: path of the Jinja source.
    """
    labels = list(dict.fromkeys(row["slice"] for row in rows))
    by_dimension = {row["check"] for row in rows if row["slice"]}
    return rendered(
        template,
        label=label,
        badges=BADGES,
        kind=kind,
        nothing=NOTHING,
        first=asked.first,
        first_in_words=_first_in_words(asked, labels),
        slices=[_slice([row for row in rows if row["slice"] == name], asked, name) for name in labels],
        caution=" ".join([*([RELATIVE] if asked.relative else []), CAUTION, EACH_ITS_OWN]),
        of_the_paper=of_the_paper(rows, asked) if kind == "published" else "",
        not_by_dimension=[check.title for check in asked.checks if by_dimension and check.name not in by_dimension],
        confidence=asked.confidence,
        power=asked.power,
    )


def _first_in_words(asked: Robustness, labels: Sequence[str]) -> str:
    """What the first check is: the model, or models, that it fits, with their errors, or the table that it reads."""
    if asked.first.table != ESTIMATES:
        return f"“{asked.first.title}” is of the table {asked.first.table}"
    white = all(asked.first.errors(asked.specs[name]) == "HC0" for name in asked.first.specs)
    models = enumerated(list(dict.fromkeys(estimator(asked, name) for name in labels)) or [EQUATION_1])
    return f"“{asked.first.title}” is {models}{' with its own errors (HC0)' if white else ''}"


def _slice(rows: Sequence[Mapping], asked: Robustness, label: str) -> dict:
    """What the page says of one slice."""
    present = [quantity for quantity in BIASES if any(row["quantity"] == quantity for row in rows)]
    by_check = {quantity: outcomes(rows, asked, quantity) for quantity in BIASES}
    cells = [(check, [by_check[quantity].get(check.name) for quantity in present]) for check in asked.checks[1:]]
    texts = zip(BIASES, answers(rows, asked, label=label), strict=True)
    return {
        "label": label,
        "answers": [(text, so_many(by_check[quantity].values())) for quantity, text in texts if text],
        "quantities": present,
        "checks": [{"check": check, "outcomes": each} for check, each in cells if any(each)],
        "terms": [of_term(each, asked) for each in conclusions_in(rows)],
    }


def of_term(conclusion: Conclusion, asked: Robustness) -> dict:
    """What becomes of one bias: its row of the first check with its numbers, where that is found again, and where not.

    The last are pairs of title and sentence.
    """
    first, numbers = conclusion.first, {"confidence": asked.confidence}
    titles = {check.name: check.title for check in asked.checks}
    again, checks = [titles[row["check"]] for row in conclusion.kept], len(conclusion.others)
    if len(again) <= FEW_CHECKS:
        where = "; ".join(again)
    else:
        where = f"in all {checks} other checks" if len(again) == checks else f"in the other {len(again)} checks"
    others = [row for row in conclusion.others if row not in conclusion.kept]
    return {
        "first": first,
        "numbers": with_interval(first, **numbers) if is_known(first["estimate"]) else bare(first["words"]),
        "printed": with_interval(first, prefix="printed_", **numbers) if is_known(first.get("printed")) else "",
        "again": where,  # a few checks by name, or all, or all but those that are named beside
        "changed": [(titles[row["check"]], _changed(row, asked)) for row in others],
    }


def _changed(row: Mapping, asked: Robustness) -> str:
    verdict = row["verdict"]
    if row["conclusion"] == NOT_ESTIMABLE:
        return f"{NOT_ESTIMABLE}: {bare(row['words'])}" if row["words"] else NOT_ESTIMABLE
    numbers = with_interval(row, confidence=asked.confidence)
    if verdict == NOT_ESTIMABLE:  # of the first check alone
        return f"{numbers}, {row['conclusion']}"
    detail = f"; a bias of {row['detectable']:.3f} would most likely be found" if is_known(row.get("detectable")) else ""
    if is_known(row["randomisation_p_value"]):
        detail += f"; p {row['randomisation_p_value']:.2g} by its rank among cells that are neither self nor family"
    because = f": {row['words']}" if row["words"] else ""
    texts = {
        LOST: f"{INDISTINGUISHABLE}{because}{detail}",
        REVERSED: f"{row['conclusion']}, the opposite",
        NEW: f"{row['conclusion']}, which the first check does not find{because}",
    }
    return f"{numbers}, {texts[verdict]}"


def of_the_paper(rows: Sequence[Mapping], asked: Robustness) -> str:
    """How many estimates of Equation 1 the paper prints for these ratings, and how many agree; "" for another first check.

    At another level than its own, conclusions are not compared.
    """
    if any(estimator(asked, row["slice"]) != EQUATION_1 for row in rows):
        return ""
    printed = [row for row in rows if is_known(row.get("printed"))]
    if not printed:
        return "The paper prints none of these estimates for these ratings alone."
    equal = sum(row["printed_verdict"] == "match" for row in printed)
    words = (
        f"The paper prints {len(printed)} of these estimates for the same ratings; {equal} of them equal ours, as nearly as its"
    )
    if asked.confidence != PAPERS_CONFIDENCE:
        level = f"{100 * PAPERS_CONFIDENCE:g} %, not of {100 * asked.confidence:g} %"
        return f"{words} figures can be read. Its intervals are of {level}, so that conclusions are not compared."
    same = sum(row["printed_conclusion"] == row["conclusion"] for row in printed)
    return f"{words} figures can be read, and {same} lead to the same conclusion."
