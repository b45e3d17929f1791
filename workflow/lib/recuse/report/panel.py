"""Which judges to combine, in words: what the best panels leave, how sure that is, and what would overturn it."""

from collections.abc import Iterator, Mapping

from recuse.base.words import counted, enumerated, level, number, percent
from recuse.inference.panel import KEPT
from recuse.inference.panel_choice import BETWEEN, BIAS, ERROR, HUMANS, PURPOSES, UNLINKED
from recuse.inference.round_robin import BY_PROMPT
from recuse.report.verdict import Rows, Section, Unit

QUESTION = "Which judges to combine?"
MOST_NAMES = 6  # judges of a panel in words
TO = {BIAS: "To compare these models", ERROR: "To score single answers"}
WHAT = {BIAS: "a bias between models", ERROR: "an error"}
OVERTURNED = {
    HUMANS: "All this holds for these models: judges may treat others otherwise. If the human scores are less reliable than "
    "they are taken to be, the errors are smaller and the judges worth more.",
    "": "All this holds for these models and against the other judges, and overrules no verdict on a judge or family: what all "
    "judges get wrong looks like quality here, and only human scores could tell.",
}


def panel_section(panels: Rows, plans: Rows, unit: Unit, confidence: float) -> Section | None:
    """The recommended panels and those of all judges, with a sentence on each; None where nothing can be told.

    panels, plans: rows of the tables panel and round_robin, as texts.
    """
    told = [row for row in panels if row["place"]]
    if not told:
        return None
    judges = max(int(row["size"]) for row in told)
    whole = [row for row in told if int(row["size"]) == judges]
    chosen = {name: row for name, purpose in PURPOSES.items() for row in told if purpose in row["recommended"].split()}
    sentences = [*(_take(name, row, whole, unit, confidence) for name, row in chosen.items())]
    sentences += [*_worth(whole, judges, confidence), *_round_robin(plans, judges)]
    if unlinked := sum(row["note"] == UNLINKED for row in panels):
        sentences.append(f"Nothing is said of {counted(unlinked, 'judge')} that share too few answers with these.")
    sentences.append(OVERTURNED.get(told[0]["reference"], OVERTURNED[""]))
    rows = list({(row["family_ratings"], row["panel"]): row for row in [*chosen.values(), *whole]}.values())
    headings = ["judges", "own families", f"bias between models ({unit.name})", "error of an answer", "worth judges"]
    return Section(QUESTION, " ".join(sentences), headings, [_row(row, unit) for row in rows])


def _take(name: str, row: Mapping[str, str], whole: Rows, unit: Unit, confidence: float) -> str:
    """Which panel to take for one purpose, and what it leaves."""
    names = row["panel"].split(BETWEEN)
    kept = "rating its own family too" if len(names) == 1 else "rating their own families too"
    kept = kept if row["family_ratings"] == KEPT else "without ratings of their own families"
    left = f"{WHAT[name]} of {unit.text(row[name], sign=False)}{unit.mark}"
    more = [f"{level(confidence)} interval {span}"] if (span := unit.span(row, f"{name}_")) else []
    if held_out := row[f"held_out_{name}"]:
        more.append(f"{unit.text(held_out, sign=False)} if chosen on half of the prompts and tested on the others")
    if name == BIAS:
        more.append(f"the most for {row['worst_model']}, {unit.text(row['worst_bias'])}")
    who = f"all {len(names)} judges" if row in whole and len(names) > 1 else enumerated(names, MOST_NAMES)
    words = f"{TO[name]}, take {who}, {kept}: {left} is left"
    words += f" ({'; '.join(more)})" if more else ""
    others = [other[name] for other in whole if other[name] and other is not row]
    other = "all judges leave"
    if row in whole:  # the others are the same judges
        other = f"{'without' if row['family_ratings'] == KEPT else 'with'} ratings of their own families,"
    compared = f"; {other} {unit.text(min(others, key=float), sign=False)}" if others else ""
    return f"{words}{compared}."


def _worth(whole: Rows, judges: int, confidence: float) -> Iterator[str]:
    row = next((row for row in whole if row["effective"]), None)
    if row is not None and judges > 1:
        ends = [number(float(row[f"effective_ci_{end}"]), 1) for end in ("low", "high") if row[f"effective_ci_{end}"]]
        span = f" ({level(confidence)} interval {' to '.join(ends)})" if ends else ""
        exact = number(float(row["effective_exact"]), 1)
        value = number(float(row["effective"]), 1)
        less = f"; {exact} if human scores were exact" if exact != value else ""
        yield f"Together, {counted(judges, 'judge')} are worth {value} independent ones{span}{less}."


def _round_robin(plans: Rows, judges: int) -> Iterator[str]:
    for row in plans:
        if row["scheme"] == BY_PROMPT and int(row["judges"]) == judges and row["factor"]:
            more = number(float(row["factor"]), 1)
            yield (
                f"With one of them for each answer, from outside its family, {percent(float(row['saved']))} of the ratings are "
                f"saved, and differences of models have {more} times the variance."
            )


def _row(row: Mapping[str, str], unit: Unit) -> list[str]:
    def with_span(name: str) -> str:
        span = unit.span(row, f"{name}_")
        return f"{unit.text(row[name], sign=False) or '–'}{f' ({span})' if span else ''}"

    worth = number(float(row["effective"]), 1) if row["effective"] else "–"
    kept = "rated" if row["family_ratings"] == KEPT else "left out"
    return [enumerated(row["panel"].split(BETWEEN), MOST_NAMES), kept, with_span(BIAS), with_span(ERROR), worth]
