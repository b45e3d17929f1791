"""Which judges to combine: the panel to take, beside that of all judges and one judge a prompt."""

from collections.abc import Iterator
from dataclasses import replace

from recuse.base.reasons import Reason, code, in_words
from recuse.base.templates import said
from recuse.base.words import capitalised, enumerated, number, percent
from recuse.inference.panel import BETWEEN, KEPT
from recuse.inference.round_robin import BY_PROMPT
from recuse.report.tables import Row, TableRows, where
from recuse.report.verdict import PageSection, Unit

QUESTION = "Which judges to combine?"
PLAIN = Unit("", 1, 1, "")
MOST_NAMES = 6  # judges of a panel in words
UNMEASURED = {
    Reason.NO_HUMAN_SCORE: "without human scores",
    Reason.NOT_ALL_SCORED: "where answers have no human score",
}
NO_NUMBER = "–"
LIMITS = "Judges may treat other models differently."
ONE_A_PROMPT = "one judge for each prompt: {} of the ratings, {} times the variance"


def panel_section(panels: TableRows, plans: TableRows, unit: Unit) -> PageSection | None:
    """The recommended panel, beside all judges and one judge a prompt; None if no panel is
    recommended.

    panels, plans: rows of the tables panel and round_robin, as texts.
    """
    chosen = next((row for row in panels if row["recommended"]), None)
    if chosen is None:
        return None
    everyone = panels[0]
    sentences = [f"Take {_who(chosen, everyone)}."]
    if without := UNMEASURED.get(code(chosen["note"])):
        sentences.append(said("unmeasured", without=without))
    elif chosen["note"]:
        sentences.append(f"{capitalised(in_words(chosen['note']))}.")
    else:
        sentences.append(LIMITS)
    rows = [_row("this panel", chosen, unit)]
    others = [row for row in where(panels, panel=everyone["panel"]) if row is not chosen]
    rows += [_row(_who(row, everyone), row, unit) for row in others[:1]]
    for plan in where(plans, scheme=BY_PROMPT, panel=everyone["panel"]):
        if plan["factor"]:
            share, factor = percent(1 - float(plan["saved"])), number(float(plan["factor"]), 1)
            rows.append(_row(ONE_A_PROMPT.format(share, factor), plan, unit))
    words = " ".join([*sentences, *_absent(panels)])
    return PageSection.from_texts(QUESTION, words, rows, empty=NO_NUMBER)


def _who(row: Row, everyone: Row) -> str:
    return said(
        "who",
        names=row["panel"].split(BETWEEN),
        is_everyone=row["panel"] == everyone["panel"],
        has_family=row["family_ratings"] == KEPT,
    )


def _absent(panels: TableRows) -> Iterator[str]:
    """The judges in no panel, and why."""
    names: dict[str, list[str]] = {}
    for row in where(panels, family_ratings=""):
        names.setdefault(row["note"], []).append(row["panel"])
    for note, judges in names.items():
        yield f"Left out: {enumerated(judges, MOST_NAMES)} ({in_words(note)})."


def _row(words: str, row: Row, unit: Unit) -> dict[str, str]:
    bare = replace(unit, mark="")
    cells = {"panel": words}
    columns = {
        f"bias between models ({unit.name})": ("bias_left", bare),
        "error of an answer": ("error", bare),
        "independent judges": ("effective", PLAIN),
    }
    for heading, (name, of_column) in columns.items():
        cells[heading] = of_column.cell(row, name, f"{name}_")
    return cells
