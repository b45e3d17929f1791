"""The table of conclusions as a page to read, which begins with the answer: what becomes of each bias in the other views."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recuse.base.words import BADGES, enumerated, is_known, span, with_interval
from recuse.inference.robustness import (
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
from recuse.inference.robustness_words import (
    CAUTION,
    EACH_ITS_OWN,
    EQUATION_1,
    NOTHING,
    PAPERS_CONFIDENCE,
    RELATIVE,
    Conclusion,
    answers,
    bare,
    conclusions_in,
    estimator,
)
from recuse.model.spec import BIASES
from recuse.report.html import rendered


@dataclass(frozen=True)
class Outcome:
    """What becomes of the first conclusions on one kind of bias in another view."""

    view: RobustnessCheck
    verdicts: Mapping[str, int]  # on biases that the first view finds, and, NEW, on those that only this one finds
    detectable: str  # from the smallest to the largest bias that the view finds with the power asked for

    @property
    def tested(self) -> int:
        """How many biases of the first view it estimates."""
        return sum(self.verdicts[name] for name in (STANDS, LOST, REVERSED))

    def __str__(self) -> str:
        """As in `3 of 5 stand, 1 lost, 1 reversed; 2 new`; a dash where there are none."""
        counts = self.verdicts
        others = [f"{counts[name]} {name}" for name in (LOST, REVERSED) if counts[name]]
        tested = [", ".join([f"{counts[STANDS]} of {self.tested} stand", *others])] if self.tested else []
        absent = [f"{counts[NOT_ESTIMABLE] if tested else ''} {NOT_ESTIMABLE}".strip()] if counts[NOT_ESTIMABLE] else []
        return "; ".join([*tested, *absent, *([f"{counts[NEW]} {NEW}"] if counts[NEW] else [])]) or "–"


def outcomes(rows: Sequence[Mapping], asked: Robustness, quantity: str) -> dict[str, Outcome]:
    """What becomes of the first conclusions on self- or family-bias, by the name of each other view that has rows of it."""
    by_view = {}
    for view in asked.checks[1:]:
        if of_view := [row for row in rows if row["view"] == view.name and row["quantity"] == quantity]:
            verdicts = Counter(row["verdict"] for row in of_view if row["first"] not in NONE or row["verdict"] == NEW)
            sizes = [row["detectable"] for row in of_view if is_known(row.get("detectable"))]
            by_view[view.name] = Outcome(view, verdicts, span(sizes) if sizes else "–")
    return by_view


def so_many(outcomes: Iterable[Outcome]) -> str:
    """How many first conclusions stand in each view, in one sentence; nothing where there are none, or no view to say so."""
    tested = [each for each in outcomes if each.tested]
    if not tested:
        return ""
    parts = []
    for each in tested:
        of = f" of {each.tested}" if each.verdicts[NOT_ESTIMABLE] else ""
        parts.append(f"{each.view.title} {each.verdicts[STANDS]}{of}")
    every = tested[0].tested + tested[0].verdicts[NOT_ESTIMABLE]
    return f"Of {every}, in each view so many stand: {'; '.join(parts)}."


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
    by_view = {quantity: outcomes(rows, asked, quantity) for quantity in BIASES}
    cells = [(view, [by_view[quantity].get(view.name) for quantity in present]) for view in asked.checks[1:]]
    texts = zip(BIASES, answers(rows, asked, label=label), strict=True)
    return {
        "label": label,
        "answers": [(text, so_many(by_view[quantity].values())) for quantity, text in texts if text],
        "quantities": present,
        "views": [{"view": view, "outcomes": each} for view, each in cells if any(each)],
        "terms": [of_term(each, asked) for each in conclusions_in(rows)],
    }


def of_term(conclusion: Conclusion, asked: Robustness) -> dict:
    """What becomes of one bias: its row of the first view with its numbers, where that is found again, and where not.

    The last are pairs of title and sentence.
    """
    first, numbers = conclusion.first, {"confidence": asked.confidence}
    titles = {view.name: view.title for view in asked.checks}
    again = [titles[row["view"]] for row in conclusion.kept]
    others = [row for row in conclusion.others if row not in conclusion.kept]
    return {
        "first": first,
        "numbers": with_interval(first, **numbers) if is_known(first["estimate"]) else bare(first["words"]),
        "printed": with_interval(first, prefix="printed_", **numbers) if is_known(first.get("printed")) else "",
        "again": _in_so_many(again, len(conclusion.others)),
        "changed": [(titles[row["view"]], _changed(row, asked)) for row in others],
    }


def _in_so_many(titles: Sequence[str], views: int) -> str:
    """The views in which a conclusion is found again: a few by name, or all, or all but those that are named beside."""
    if len(titles) <= FEW_VIEWS:
        return "; ".join(titles)
    return f"in all {views} other views" if len(titles) == views else f"in the other {len(titles)} views"


def _changed(row: Mapping, asked: Robustness) -> str:
    verdict = row["verdict"]
    if row["conclusion"] == NOT_ESTIMABLE:
        return f"{NOT_ESTIMABLE}: {bare(row['words'])}" if row["words"] else NOT_ESTIMABLE
    numbers = with_interval(row, confidence=asked.confidence)
    if verdict == NOT_ESTIMABLE:  # of the first view alone
        return f"{numbers}, {row['conclusion']}"
    detail = f"; a bias of {row['detectable']:.3f} would most likely be found" if is_known(row.get("detectable")) else ""
    if is_known(row["randomisation_p_value"]):
        detail += f"; p {row['randomisation_p_value']:.2g} by its rank among cells that are neither self nor family"
    because = f": {row['words']}" if row["words"] else ""
    texts = {
        LOST: f"{NOT_APART}{because}{detail}",
        REVERSED: f"{row['conclusion']}, the opposite",
        NEW: f"{row['conclusion']}, which the first view does not find{because}",
    }
    return f"{numbers}, {texts[verdict]}"


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
    words = (
        f"The paper prints {len(printed)} of these estimates for the same ratings; {equal} of them equal ours, as nearly as its"
    )
    if asked.confidence != PAPERS_CONFIDENCE:
        level = f"{100 * PAPERS_CONFIDENCE:g} %, not of {100 * asked.confidence:g} %"
        return f"{words} figures can be read. Its intervals are of {level}, so that conclusions are not compared."
    same = sum(row["printed_conclusion"] == row["conclusion"] for row in printed)
    return f"{words} figures can be read, and {same} lead to the same conclusion."


def not_by_dimension(rows: Iterable[Mapping], views: Sequence[RobustnessCheck]) -> list[str]:
    """Titles of the views that say nothing by dimension."""
    present = {row["view"] for row in rows if row["slice"]}
    return [view.title for view in views if view.name not in present] if present else []
