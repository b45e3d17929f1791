"""Which judges to combine, in words: the best panels, their remaining bias and error, and what limits the answer."""

from collections.abc import Iterator, Mapping

from recuse.base.words import counted, enumerated, level, number, percent
from recuse.inference.panel import KEPT
from recuse.inference.panel_choice import BETWEEN, BIAS, ERROR, HUMANS, JUDGES, PURPOSES
from recuse.inference.round_robin import BY_PROMPT
from recuse.report.verdict import Rows, Section, Unit

QUESTION = "Which judges to combine?"
PLAIN = Unit("", 1, 1, "")
MOST_NAMES = 6  # judges of a panel in words
TO = {BIAS: "To compare these models", ERROR: "To score single answers"}
REMAINING = {BIAS: "Remaining bias", ERROR: "Remaining error"}
LIMITS = {
    HUMANS: "These numbers apply to these models; judges may treat others differently. If the human scores are less reliable "
    "than assumed, errors are smaller and judges more independent.",
    JUDGES: "These numbers apply to these models and come from comparing judges with one another. What all judges get wrong "
    "looks like quality; only human scores could reveal it.",
}


def panel_section(panels: Rows, plans: Rows, unit: Unit, confidence: float) -> Section | None:
    """The recommended panels and those of all judges, with a sentence on each; None if no panel is estimable.

    panels, plans: rows of the tables panel and round_robin, as texts.
    """
    ranked = [row for row in panels if row["place"]]
    if not ranked:
        return None
    judges = max(int(row["size"]) for row in ranked)
    whole = [row for row in ranked if int(row["size"]) == judges]
    sentences = []
    for name, purpose in PURPOSES.items():
        chosen = [row for row in ranked if purpose in row["recommended"].split()]
        sentences += [_advice(name, row, whole, unit, confidence) for row in chosen]
    sentences += [*_independent(whole), *_round_robin(plans, judges)]
    if unlinked := sum(bool(row["panel"] and not row["place"]) for row in panels):
        sentences.append(f"Left out, as too few answers are shared with the others: {counted(unlinked, 'judge')}.")
    sentences.append(LIMITS[ranked[0]["reference"]])
    rows = [row for row in ranked if row["recommended"] or row in whole]
    headings = ["judges", "own families", f"bias between models ({unit.name})", "error of an answer", "independent judges"]
    return Section(QUESTION, " ".join(sentences), headings, [_row(row, unit) for row in rows])


def _advice(name: str, row: Mapping[str, str], whole: Rows, unit: Unit, confidence: float) -> str:
    """Which panel to take for one purpose, and its remaining bias or error."""
    more = [f"{level(confidence)} interval {span}"] if (span := unit.span(row, f"{name}_")) else []
    if held_out := row[f"held_out_{name}"]:
        more.append(f"{unit.text(held_out, sign=False)} if chosen on half of the prompts and tested on the others")
    if name == BIAS:
        more.append(f"largest for {row['worst_model']}, {unit.text(row['worst_bias'])}")
    others = [float(other[name]) for other in whole if other[name] and row not in whole]
    if others:
        more.append(f"all judges: {unit.text(min(others), sign=False)}{unit.mark}")
    who = f"all {row['size']} judges" if row in whole else _names(row)
    kept = "with" if row["family_ratings"] == KEPT else "without"
    advice = f"{TO[name]}, take {who}, {kept} ratings of a judge's own family"
    details = f" ({'; '.join(more)})" if more else ""
    remaining = f"{REMAINING[name]}: {unit.text(row[name], sign=False)}{unit.mark}"
    return f"{advice}. {remaining}{details}."


def _names(row: Mapping[str, str]) -> str:
    return enumerated(row["panel"].split(BETWEEN), MOST_NAMES)


def _independent(whole: Rows) -> Iterator[str]:
    if value := PLAIN.text(whole[0]["effective"], sign=False):
        yield f"{whole[0]['size']} judges carry the information of {value} independent ones."


def _round_robin(plans: Rows, judges: int) -> Iterator[str]:
    for row in plans:
        if row["scheme"] == BY_PROMPT and int(row["judges"]) == judges and row["factor"]:
            saved, more = percent(float(row["saved"])), number(float(row["factor"]), 1)
            words = "If only one of them rates each prompt, and another its family's answers"
            yield f"{words}, {saved} of the ratings are saved, and differences between models have {more} times the variance."


def _row(row: Mapping[str, str], unit: Unit) -> list[str]:
    cells = [_names(row), "rated" if row["family_ratings"] == KEPT else "left out"]
    for name, of_column in ((BIAS, unit), (ERROR, unit), ("effective", PLAIN)):
        span = of_column.span(row, f"{name}_")
        cells.append(f"{of_column.text(row[name], sign=False) or '–'}{f' ({span})' if span else ''}")
    return cells
