"""The table of conclusions in plain sentences: what the first view finds, what becomes of it, what others find beside it.

The conclusions as a page to read, which begins with the answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recuse.base.words import BADGES, enumerated, in_words, is_known, rendered, span, with_interval
from recuse.inference.robustness import (
    AS_BEFORE,
    BY_ERRORS,
    ESTIMATES,
    LOST,
    NEW,
    NONE,
    NOT_APART,
    NOT_ESTIMABLE,
    REVERSED,
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


def count_of(count: int, quantity: str) -> str:
    """As in `9 judges` or `1 family`."""
    return f"{count} {WHO[quantity][count != 1]}"


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
        said = f"{where}no {WHAT[quantity]} of {count_of(len(first), quantity)} can be estimated by {by}: {_reason(first)}"
        return _sentence(said) + more
    found = told_apart(known)
    by += " as published" if as_published(known, asked, label) else ""
    absent = len(first) - len(known)
    without = f" ({absent} not estimable: {_reason([row for row in first if row not in known])})" if absent else ""
    few = next((f" ({row['note']})" for row in rows if row.get("note") and row["note"] not in before), "")
    said = f"{where}of {count_of(len(known), quantity)}{without}, {_counted(found)} by {by}{few}"
    terms = {row["term"] for row in found or known}
    others = [row for row in own if row["term"] in terms and row["view"] != asked.first.name]
    unknown = _unknown(others, asked)
    if unknown not in ("", NO_OTHER) and unknown in before:
        unknown = "the same views can be estimated"
    parts = [said, _standing(found, others), unknown]
    return _sentence("; ".join(filter(None, parts))) + more


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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


def by_view(rows: Sequence[Mapping], asked: Robustness, quantity: str) -> list[dict]:
    """Count by view what becomes of the first conclusions: view, of, STANDS, LOST, REVERSED, NEW, NOT_ESTIMABLE, detectable.

    of: biases that the first view tells apart from 0 and this one estimates; NOT_ESTIMABLE counts the others, NEW those that
    the first does not tell apart. detectable: the sizes of a bias that the view finds with the power asked for, in words.
    """
    found = []
    for view in asked.checks[1:]:
        own = [row for row in rows if row["view"] == view.name and row["quantity"] == quantity]
        if not own:
            continue
        apart = told_apart(own)
        counts = {name: sum(row["verdict"] == name for row in apart) for name in (STANDS, LOST, REVERSED, NOT_ESTIMABLE)}
        sizes = [row["detectable"] for row in own if is_known(row.get("detectable"))]
        found.append(
            {"view": view, "of": len(apart) - counts[NOT_ESTIMABLE], **counts}
            | {NEW: sum(row["verdict"] == NEW for row in own), "detectable": span(sizes) if sizes else "–"}
        )
    return found


def outcome(counts: Mapping) -> str:
    """The counts of `by_view` in words, as in `3 of 5 stand, 1 lost, 1 reversed; 2 new`; a dash where there are none."""
    others = [f"{counts[name]} {name}" for name in (LOST, REVERSED) if counts[name]]
    old = [", ".join([f"{counts[STANDS]} of {counts['of']} stand", *others])] if counts["of"] else []
    absent = [f"{counts[NOT_ESTIMABLE] if old else ''} {NOT_ESTIMABLE}".strip()] if counts[NOT_ESTIMABLE] else []
    return "; ".join([*old, *absent, *([f"{counts[NEW]} {NEW}"] if counts[NEW] else [])]) or "–"


def so_many(rows: Sequence[Mapping], asked: Robustness, quantity: str) -> str:
    """How many first conclusions stand in each view, in one sentence; nothing where there are none, or no view to say so."""
    counted = [each for each in by_view(rows, asked, quantity) if each["of"] + each[NOT_ESTIMABLE]]
    known = [each for each in counted if each["of"]]
    if not known:
        return ""
    parts = [f"{each['view'].title} {_so_many_of(each)}" for each in known]
    return f"Of {known[0]['of'] + known[0][NOT_ESTIMABLE]}, in each view so many stand: {'; '.join(parts)}."


def _so_many_of(counts: Mapping) -> str:
    return f"{counts[STANDS]} of {counts['of']}" if counts[NOT_ESTIMABLE] else str(counts[STANDS])


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


FEW_VIEWS = 3  # that are named, where a conclusion stands in no more


def page(rows: Sequence[Mapping], asked: Robustness, *, label: str, kind: str, template: str | Path) -> str:
    """Render the rows of the table CONCLUSIONS as HTML: the answer, the views and their questions, each judge and family.

    label: title of the study; kind: simulated, published or user; template: path of the Jinja source.
    """
    labels = list(dict.fromkeys(row["slice"] for row in rows))
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
        not_by_dimension=not_by_dimension(rows, asked.checks),
        confidence=asked.confidence,
        power=asked.power,
    )


def _first_in_words(asked: Robustness, labels: Sequence[str]) -> str:
    """What the first view is: the model, or models, that it fits, with their errors, or the table that it reads."""
    if asked.first.table != ESTIMATES:
        return f"“{asked.first.title}” is of the table {asked.first.table}"
    white = all(asked.first.errors(asked.specs[name]) == "HC0" for name in asked.first.specs)
    models = enumerated(list(dict.fromkeys(estimator(asked, name) for name in labels)) or [EQUATION_1])
    return f"“{asked.first.title}” is {models}{' with its own errors (HC0)' if white else ''}"


def _slice(rows: Sequence[Mapping], asked: Robustness, label: str) -> dict:
    """What the page says of one slice."""
    present = [quantity for quantity in BIASES if any(row["quantity"] == quantity for row in rows)]
    return {
        "label": label,
        "answers": [
            (text, so_many(rows, asked, quantity))
            for quantity, text in zip(BIASES, answers(rows, asked, label=label), strict=True)
            if text
        ],
        "quantities": present,
        "views": _by_view(rows, asked, present),
        "terms": [
            (quantity, term, of_term([row for row in rows if (row["quantity"], row["term"]) == (quantity, term)], asked))
            for quantity, term in dict.fromkeys((row["quantity"], row["term"]) for row in rows)
        ],
    }


def _by_view(rows: Sequence[Mapping], asked: Robustness, quantities: Sequence[str]) -> list[dict]:
    """Of each other view, what becomes of the conclusions and what it detects, by quantity; "" where it says nothing."""
    counted = {name: {each["view"].name: each for each in by_view(rows, asked, name)} for name in quantities}
    found = [(view, [counted[name].get(view.name) for name in quantities]) for view in asked.checks[1:]]
    return [
        {"view": view, "cells": [(outcome(each), each["detectable"]) if each else ("", "") for each in cells]}
        for view, cells in found
        if any(cells)
    ]


def of_term(rows: Sequence[Mapping], asked: Robustness) -> dict:
    """What becomes of one bias: its row of the first view with its numbers, where that is found again, and where not.

    `rows`: of the table, of one slice, quantity and term. The last are pairs of title and sentence.
    """
    at = {row["view"]: row for row in rows}
    present = [(view, at[view.name]) for view in asked.checks[1:] if view.name in at]
    first, numbers = at[asked.first.name], {"confidence": asked.confidence}
    again = [view.title for view, row in present if row["verdict"] in (STANDS, AS_BEFORE)]
    return {
        "first": first,
        "numbers": with_interval(first, **numbers) if is_known(first["estimate"]) else bare(first["words"]),
        "printed": with_interval(first, prefix="printed_", **numbers) if is_known(first.get("printed")) else "",
        "again": _in_so_many(again, len(present)),
        "changed": [
            (view.title, _sentence_of_conclusions_page(row, asked))
            for view, row in present
            if row["verdict"] not in (STANDS, AS_BEFORE)
        ],
    }


def _in_so_many(titles: Sequence[str], views: int) -> str:
    """The views in which a conclusion is found again: a few by name, or all, or all but those that are named beside."""
    if len(titles) <= FEW_VIEWS:
        return "; ".join(titles)
    return f"in all {views} other views" if len(titles) == views else f"in the other {len(titles)} views"


def _sentence_of_conclusions_page(row: Mapping, asked: Robustness) -> str:
    verdict = row["verdict"]
    if row["conclusion"] == NOT_ESTIMABLE:
        return f"{NOT_ESTIMABLE}: {bare(row['words'])}" if row["words"] else NOT_ESTIMABLE
    numbers = with_interval(row, confidence=asked.confidence)
    if verdict == NOT_ESTIMABLE:  # of the first view alone
        return f"{numbers}, {row['conclusion']}"
    found = f"; a bias of {row['detectable']:.3f} would most likely be found" if is_known(row.get("detectable")) else ""
    if is_known(row["randomisation_p_value"]):
        found += f"; p {row['randomisation_p_value']:.2g} by its rank among cells that are neither self nor family"
    because = f": {row['words']}" if row["words"] else ""
    said = {
        LOST: f"{NOT_APART}{because}{found}",
        REVERSED: f"{row['conclusion']}, the opposite",
        NEW: f"{row['conclusion']}, which the first view does not find{because}",
    }
    return f"{numbers}, {said[verdict]}"


def of_the_paper(rows: Sequence[Mapping], asked: Robustness) -> str:
    """How many estimates of Equation 1 the paper prints of these ratings, and how many it agrees on; "" for another first view.

    At another level than its own, conclusions are not compared.
    """
    if any(estimator(asked, row["slice"]) != EQUATION_1 for row in rows):
        return ""
    printed = [row for row in rows if is_known(row.get("printed"))]
    if not printed:
        return "The paper prints none of these estimates for these ratings alone."
    equal = sum(row["printed_verdict"] == "match" for row in printed)
    said = (
        f"The paper prints {len(printed)} of these estimates for the same ratings; {equal} of them equal ours, as nearly as its"
    )
    if asked.confidence != PAPERS_CONFIDENCE:
        level = f"{100 * PAPERS_CONFIDENCE:g} %, not of {100 * asked.confidence:g} %"
        return f"{said} figures can be read. Its intervals are of {level}, so that conclusions are not compared."
    same = sum(row["printed_conclusion"] == row["conclusion"] for row in printed)
    return f"{said} figures can be read, and {same} lead to the same conclusion."


def not_by_dimension(rows: Iterable[Mapping], views: Sequence[RobustnessCheck]) -> list[str]:
    """Titles of the views that say nothing by dimension."""
    present = {row["view"] for row in rows if row["slice"]}
    return [view.title for view in views if view.name not in present] if present else []
