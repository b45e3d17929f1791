"""The table of conclusions as a page to read, which begins with the answer: what becomes of each bias in the other views."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recuse.base.words import BADGES, enumerated, is_known, span, with_interval
from recuse.inference.robustness import (
    AS_BEFORE,
    ESTIMATES,
    LOST,
    NEW,
    NOT_APART,
    NOT_ESTIMABLE,
    REVERSED,
    STANDS,
    Robustness,
    RobustnessCheck,
)
from recuse.inference.robustness_words import (
    CAUTION,
    EACH_ITS_OWN,
    EQUATION_1,
    NOTHING,
    PAPERS_CONFIDENCE,
    RELATIVE,
    answers,
    bare,
    estimator,
    told_apart,
)
from recuse.model.spec import BIASES
from recuse.report.html import rendered


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
    seen = [each for each in by_view(rows, asked, quantity) if each["of"] + each[NOT_ESTIMABLE]]
    known = [each for each in seen if each["of"]]
    if not known:
        return ""
    parts = [f"{each['view'].title} {_so_many_of(each)}" for each in known]
    return f"Of {known[0]['of'] + known[0][NOT_ESTIMABLE]}, in each view so many stand: {'; '.join(parts)}."


def _so_many_of(counts: Mapping) -> str:
    return f"{counts[STANDS]} of {counts['of']}" if counts[NOT_ESTIMABLE] else str(counts[STANDS])


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
    counts = {name: {each["view"].name: each for each in by_view(rows, asked, name)} for name in quantities}
    found = [(view, [counts[name].get(view.name) for name in quantities]) for view in asked.checks[1:]]
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
