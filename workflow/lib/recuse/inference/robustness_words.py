"""What the robustness checks make of the conclusions, in sentences: the answer, what stands, and what could be found."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from recuse.base.words import capitalised, counted, enumerated, in_words, is_known, span
from recuse.inference.robustness import (
    BY_ERRORS,
    ESTIMATES,
    NONE,
    NOT_ESTIMABLE,
    STANDS,
    Robustness,
    RobustnessCheck,
)
from recuse.model.spec import BIASES

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


def told_apart(rows: Iterable[Mapping]) -> list[Mapping]:
    """The rows whose first conclusion is a bias of either sign: what can stand or be lost."""
    return [row for row in rows if row["first"] not in NONE]


def answers(rows: Sequence[Mapping], asked: Robustness, *, label: str = "") -> list[str]:
    """The answers for self- and family-bias in one slice, "" for a quantity without rows.

    rows: of the table, of this slice; label: what the slice is called.
    """
    said: list[str] = []
    for quantity in BIASES:
        said.append(answer(rows, asked, quantity, label=label, before=" ".join(said)))
    return said


def answer(rows: Sequence[Mapping], asked: Robustness, quantity: str, *, label: str = "", before: str = "") -> str:
    """The biases of the first view, how many all others find, and what others find beside; before: what is said already."""
    own = [row for row in rows if row["quantity"] == quantity]
    first = [row for row in own if row["view"] == asked.first.name]
    if not first:
        return ""
    by = f"{_quoted(asked.first)}, compared with the other judges" if asked.relative else estimator(asked, label)
    known = [row for row in first if row["first"] != NOT_ESTIMABLE]
    where = f"in {label}, " if label else ""
    more = _found_by_others(own, asked)
    if not known:
        said = f"{where}no {WHAT[quantity]} of {counted(len(first), *WHO[quantity])} can be estimated by {by}: {_reason(first)}"
        return f"{capitalised(said)}." + more
    found = told_apart(known)
    by += " as published" if as_published(known, asked, label) else ""
    absent = len(first) - len(known)
    without = f" ({absent} not estimable: {_reason([row for row in first if row not in known])})" if absent else ""
    few = next((f" ({row['note']})" for row in rows if row.get("note") and row["note"] not in before), "")
    said = f"{where}of {counted(len(known), *WHO[quantity])}{without}, {_counted(found)} by {by}{few}"
    terms = {row["term"] for row in found or known}
    others = [row for row in own if row["term"] in terms and row["view"] != asked.first.name]
    unknown = _unknown(others, asked)
    if unknown not in ("", NO_OTHER) and unknown in before:
        unknown = "the same views can be estimated"
    parts = [said, _standing(found, others), unknown]
    return f"{capitalised('; '.join(filter(None, parts)))}." + more


def _reason(rows: Sequence[Mapping]) -> str:
    """The commonest reason of rows that are not estimable, in short, and of how many it is where there are others."""
    ((reason, count),) = Counter(bare(row["words"]).split(": ")[0] for row in rows).most_common(1)
    return f"{reason}, {count} of {len(rows)}" if count < len(rows) else reason


def bare(reason: str) -> str:
    """A reason without the words that it begins with wherever it stands."""
    return reason.removeprefix(f"{NOT_ESTIMABLE}: ")


def _counted(found: Sequence[Mapping]) -> str:
    """As in `5 favour themselves and 1 is harsher on itself`."""
    counts = Counter(row["first"] for row in found)
    said = [f"{counts[name]} {_phrase(name, counts[name])}" for name in PLURAL if counts[name]]
    return enumerated(said) or "none has a bias told apart from 0"


def _phrase(conclusion: str, count: int) -> str:
    words = conclusion if count == 1 else PLURAL[conclusion]
    return words if words.startswith("favour") else f"{'is' if count == 1 else 'are'} {words}"


def _standing(found: Sequence[Mapping], others: Sequence[Mapping]) -> str:
    """How many of the first conclusions that can be checked stand in all other views, and which; nothing if none can."""
    known = {row["term"]: [other for other in others if _is_known_of(other, row["term"])] for row in found}
    checked = [row for row in found if known[row["term"]]]
    unchecked = [row["term"] for row in found if not known[row["term"]]]
    if not checked:
        return ""
    where = "other views that can be estimated" if any(row["verdict"] == NOT_ESTIMABLE for row in others) else "other views"
    standing = [row for row in checked if {other["verdict"] for other in known[row["term"]]} == {STANDS}]
    of = f"of these {len(found)} conclusions"
    if unchecked:
        of += f" {len(checked)} can be checked, not {'that' if len(unchecked) == 1 else 'those'} of {enumerated(unchecked)};"
    if len(checked) == 1:
        own, it = known[checked[0]["term"]], f"{of} it" if unchecked else "this conclusion"
        kept = sum(other["verdict"] == STANDS for other in own)
        return f"{it} stands in {'all' if standing else f'{kept} of {len(own)}'} {where}"
    count = "all" if len(standing) == len(checked) else len(standing) or "none"
    named = "; ".join(f"{row['term']}, {row['first']}" for row in standing) if count != "all" else ""
    verb = "stands" if len(standing) <= 1 else "stand"
    return f"{of}{' of these' if unchecked else ''} {count} {verb} in all {where}{f' ({named})' if named else ''}"


def _is_known_of(row: Mapping, term: str) -> bool:
    return row["term"] == term and row["verdict"] != NOT_ESTIMABLE


def _unknown(others: Sequence[Mapping], asked: Robustness) -> str:
    """Which other views cannot be estimated, and which can for some alone."""
    partly, nowhere = [], []
    for view in asked.checks:
        estimated = {row["verdict"] != NOT_ESTIMABLE for row in others if row["view"] == view.name}
        if False in estimated:
            (partly if True in estimated else nowhere).append(_quoted(view))
    if nowhere and len(nowhere) == len({row["view"] for row in others}):
        return NO_OTHER
    said = [f"{enumerated(nowhere)} cannot be estimated"] if nowhere else []
    return "; ".join([*said, *([f"{enumerated(partly)} can only in part"] if partly else [])])


def _found_by_others(own: Sequence[Mapping], asked: Robustness) -> str:
    """A sentence on biases that other views find and the first does not; nothing where there are none."""
    found: dict[str, list[Mapping]] = {}
    for row in own:
        if row["view"] != asked.first.name and row["first"] in NONE and row["conclusion"] not in NONE:
            found.setdefault(row["term"], []).append(row)
    if not found:
        return ""
    by_errors = {term for term, rows in found.items() if all(row["words"].startswith(BY_ERRORS) for row in rows)}
    named = [f"{term}, {BY_ERRORS}" if term in by_errors else term for term in found]
    return f" Other views find a bias of {len(found)} {'others' if len(found) > 1 else 'other'} ({'; '.join(named)})."


def detectable_in(rows: Sequence[Mapping], asked: Robustness) -> str:
    """How large a bias must be for the views of the table placebo to find it with the power asked for."""
    said = []
    for view in (view for view in asked.checks if view.table == "placebo"):
        own = [row for row in rows if row["view"] == view.name and is_known(row.get("detectable"))]
        sizes = {name: [row["detectable"] for row in own if row["quantity"] == name] for name in BIASES}
        parts = [f"a {WHAT[name]} of {span(found)}" for name, found in sizes.items() if found]
        if parts:
            said.append(f"{_quoted(view)} finds {enumerated(parts)} with a probability of {100 * asked.power:g} %.")
    return " ".join(said)
