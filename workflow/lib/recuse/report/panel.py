"""Which judges to combine, in words: the panel to take, its remaining bias, and what limits the
answer.
"""

from collections.abc import Iterator, Mapping

from recuse.base.reasons import Reason, code, in_words
from recuse.base.words import capitalised, enumerated, level, number, percent
from recuse.inference.panel import BETWEEN, KEPT
from recuse.inference.round_robin import BY_PROMPT
from recuse.report.verdict import PageSection, TableRows, Unit

QUESTION = "Which judges to combine?"
PLAIN = Unit("", 1, 1, "")
MOST_NAMES = 6  # judges of a panel in words
UNMEASURED = "The remaining bias is not given: {}, what all judges get wrong looks like quality."
LIMITS = (
    "These numbers apply to these models; judges may treat others differently. If the human scores"
    " are less reliable than assumed, errors are smaller and judges more independent."
)


def panel_section(
    panels: TableRows, plans: TableRows, unit: Unit, confidence: float
) -> PageSection | None:
    """The recommended panel and those of all judges, and a few sentences on them; None if no panel
    is recommended.

    panels, plans: rows of the tables panel and round_robin, as texts.
    """
    chosen = next((row for row in panels if row["recommended"]), None)
    if chosen is None:
        return None
    everyone = panels[0]
    sentences = [f"Take {_who(chosen, everyone)}."]
    if chosen["note"]:
        words = {
            Reason.NO_HUMAN_SCORE: UNMEASURED.format("without human scores"),
            Reason.NOT_ALL_SCORED: UNMEASURED.format("where answers have no human score"),
        }
        of_note = f"{capitalised(in_words(chosen['note']))}."
        sentences.append(words.get(code(chosen["note"]), of_note))
    else:
        sentences += _measured(chosen, everyone, unit, confidence)
    sentences += [*_round_robin(plans, everyone), *_absent(panels)]
    if not chosen["note"]:
        sentences.append(LIMITS)
    rows = [row for row in panels if row["recommended"] or row["panel"] == everyone["panel"]]
    headings = [
        "judges",
        "own families",
        f"bias between models ({unit.name})",
        "error of an answer",
        "independent judges",
    ]
    return PageSection(QUESTION, " ".join(sentences), headings, [_row(row, unit) for row in rows])


def _who(row: Mapping[str, str], everyone: Mapping[str, str]) -> str:
    names = row["panel"].split(BETWEEN)
    who = (
        f"all {len(names)} judges"
        if row["panel"] == everyone["panel"]
        else enumerated(names, MOST_NAMES)
    )
    whose = "its own family" if len(names) == 1 else "their own families"
    return f"{who}, {'with' if row['family_ratings'] == KEPT else 'without'} ratings of {whose}"


def _measured(
    chosen: Mapping[str, str], everyone: Mapping[str, str], unit: Unit, confidence: float
) -> Iterator[str]:
    """The remaining bias, that of other panels, and how many independent judges all of them
    equal.
    """
    bias, most = (
        f"{unit.text(chosen[name], sign=False)}{unit.mark}"
        for name in ("bias_left", "bias_left_ci_high")
    )
    size = bias if float(chosen["bias_left_ci_low"]) else f"at most {most}"
    yield (
        f"Remaining bias between models: {size} ({level(confidence)} interval"
        f" {unit.span(chosen, 'bias_left_')})."
    )
    if chosen is everyone:
        yield (
            "No judge alone, no panel without one of the judges, and none with ratings of own"
            " families is shown to have less."
        )
    else:
        texts = chosen["error"], everyone["error"], everyone["bias_left"]
        error, error_of_all, bias_of_all = (
            f"{unit.text(text, sign=False)}{unit.mark}" for text in texts
        )
        yield f"This is less than with {_who(everyone, everyone)}: {bias_of_all}."
        yield f"The error of a single answer is {error}, with all of them {error_of_all}."
    if effective := PLAIN.text(everyone["effective"], sign=False):
        yield (
            f"All {everyone['size']} judges carry the information of {effective} independent ones."
        )


def _round_robin(plans: TableRows, everyone: Mapping[str, str]) -> Iterator[str]:
    for row in plans:
        if row["scheme"] == BY_PROMPT and row["panel"] == everyone["panel"] and row["factor"]:
            saved, more = percent(float(row["saved"])), number(float(row["factor"]), 1)
            words = "If only one of them rates each prompt, and another its family's answers"
            yield (
                f"{words}, {saved} of the ratings are saved, and differences between models have"
                f" {more} times the variance."
            )


def _absent(panels: TableRows) -> Iterator[str]:
    """The judges in no panel, and why."""
    names: dict[str, list[str]] = {}
    for row in panels:
        if not row["family_ratings"]:
            names.setdefault(row["note"], []).append(row["panel"])
    for note, judges in names.items():
        yield f"Left out: {enumerated(judges, MOST_NAMES)} ({in_words(note)})."


def _row(row: Mapping[str, str], unit: Unit) -> list[str]:
    names = enumerated(row["panel"].split(BETWEEN), MOST_NAMES)
    cells = [names, "rated" if row["family_ratings"] == KEPT else "left out"]
    for name, of_column in (("bias_left", unit), ("error", unit), ("effective", PLAIN)):
        span = of_column.span(row, f"{name}_")
        cells.append(
            f"{of_column.text(row[name], sign=False) or '–'}{f' ({span})' if span else ''}"
        )
    return cells
