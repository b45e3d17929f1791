"""Regression of verdicts: own and family answers chosen over equally strong ones, and models ranked by strength."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import capitalised
from recuse.inference.leaderboard import DEBIASED, HUMAN, RAW
from recuse.inference.verdict import ESTABLISHED, QUESTIONS
from recuse.model.design import ALL_JUDGES
from recuse.pairwise.regression import FAMILY, SELF
from recuse.pairwise.strengths import EQUAL_LENGTH
from recuse.plot.axes import limits_of, set_numbers
from recuse.plot.colours import BLUE, FAINT, INK
from recuse.plot.intervals import (
    BELOW,
    NUMBER,
    Rows,
    draw_bar,
    draw_point,
    excludes,
    interval_entries,
    page_of_sections,
    plain_rows,
    sentence,
    write_directions,
    write_instead,
    write_number,
)
from recuse.plot.leaderboard import finding as changes_of_ranks
from recuse.plot.leaderboard import page_of_ranks
from recuse.plot.page import HARSHER, Entry, Head, outcomes, page_of_words
from recuse.plot.style import Subject, language, percent

SECTIONS = {SELF: "Own answers", FAMILY: "Answers of the family's other models"}
VERBS = {
    "yes": ("favours its own answers beyond ordinary preference", "favour their own answers beyond ordinary preference"),
    "no": HARSHER,
}
HALF = 50  # percent
NO_TERMS = "No own or family term: no judge has verdicts on its own or its family's answers."
UNIT = "share of verdicts that choose, over an equally strong answer, %; {} interval by question"
NOT_CONCLUDED = "nothing concluded"
KINDS = {
    RAW: "verdicts as they are",
    DEBIASED: "without own, family and position terms",
    EQUAL_LENGTH: "and at equal length",
    HUMAN: "human labels (grey)",
}
NO_STRENGTHS = "No strengths: the verdicts do not link the models."


@language()
def own_terms(table: pd.DataFrame, verdicts: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """How often judges choose their own, and their family's, answers over equally strong ones, a panel for each question.

    `table`: the table of the regression, see `recuse.pairwise.regression`; `verdicts` on its terms give title and order.
    """
    table = table[table["quantity"].isin(list(SECTIONS)) & table["estimate"].notna()]
    table = table.assign(**{end: 100 * table[name] for end, name in ENDS.items()})
    questions = [letter for letter in QUESTIONS if (table["question"] == letter).any()]
    sections = []
    for quantity, title in SECTIONS.items():
        shown = table[table["quantity"] == quantity]
        names = [term for term in dict.fromkeys(verdicts["term"]) if (shown["term"] == term).any()]
        if (shown["term"] == ALL_JUDGES).any():
            names.append(ALL_JUDGES)
        if names:
            sections.append((quantity, Rows(title, names, [(capitalised(QUESTIONS[letter]), "") for letter in questions])))
    if not sections:
        return page_of_words(subject, NO_TERMS)
    told = verdicts[(verdicts["quantity"] == SELF) & verdicts["estimate"].notna()]
    sides = told.loc[told["verdict"] == ESTABLISHED, "favours"]
    counts = [((sides == side).sum(), verb) for side, verb in VERBS.items()]
    head = Head(outcomes(len(told), counts), UNIT.format(percent(confidence)))
    refused = Entry(NOT_CONCLUDED, line={"color": FAINT, "marker": "o", "markersize": 3.1, "markerfacecolor": "white"})
    legend = [[*interval_entries("one half", BLUE), *([refused] if table["reason"].notna().any() else [])]]
    reasons = table[table["reason"].notna()].groupby("reason", sort=False)["term"].unique()
    note = sentence({", ".join(names): reason for reason, names in reasons.items()}).replace(
        "Not estimated", capitalised(NOT_CONCLUDED)
    )
    page, drawn, _ = page_of_sections(
        subject, head, [rows for _, rows in sections], legend, most=3, below=BELOW, least=1.5, beside=NUMBER, note=note
    )
    limits = limits_of([HALF, *table[[*ENDS]].to_numpy(float).ravel()])
    limits = max(limits[0], -1.0), min(limits[1], 101.0)
    for (quantity, rows), panels in zip(sections, drawn, strict=True):
        for letter, panel in zip(questions, panels, strict=True):
            shown = table[(table["quantity"] == quantity) & (table["question"] == letter)].set_index("term")
            _draw_panel(panel.axes, shown, rows.names, limits)
            if panel.lowest:
                write_directions(panel.axes, "less often", "more often", at=HALF)
    return page.figure


ENDS = {"share": "probability", "ci_low": "probability_low", "ci_high": "probability_high"}


def _draw_panel(axes: Axes, rows: pd.DataFrame, names: Sequence[str], limits: tuple[float, float]) -> None:
    """One question, a row for each of `names`."""
    labels = [text.get_text() for text in axes.get_yticklabels()]
    plain_rows(axes, names)
    axes.set_yticks(axes.get_yticks() if any(labels) else [], names if any(labels) else [])
    axes.set_xlim(limits)
    set_numbers(axes.xaxis, axes.get_position().width * axes.figure.get_size_inches()[0])
    axes.axvline(HALF, color=INK, lw=0.9, zorder=2)
    for place, name in enumerate(names):
        if name not in rows.index:
            write_instead(axes, place, "not estimable")
            continue
        row: Mapping = rows.loc[name]
        refused = isinstance(row["reason"], str)
        colour = FAINT if refused else BLUE
        draw_bar(axes, place, row, colour)
        draw_point(axes, place, row["share"], colour, filled=not refused and excludes(row, HALF))
        write_number(axes, place, f"{row['share']:.0f}", NUMBER)


@language()
def strengths(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw strengths, as the share of choices against an average answer, and ranks, of the verdicts as they are and debiased.

    `table`: see recuse.pairwise.strengths.
    """
    whole = table[table["strength"].notna()]
    raw = set(whole.loc[whole["scores"] == RAW, "model"])
    whole = whole[whole["model"].isin(raw)]
    if not raw:
        return page_of_words(subject, NO_STRENGTHS)
    whole = whole.assign(
        score=100 * whole["win_rate"], ci_low=100 * whole["win_rate_low"], ci_high=100 * whole["win_rate_high"]
    )
    absent = {KINDS[kind]: note for kind, note in table[table["strength"].isna()].groupby("scores")["note"].first().items()}
    unit = f"{percent(confidence)} intervals by question, rank sets for all models at once"
    axis = ("Strengths", "chosen over an average answer, % of verdicts that choose", "the verdicts as they are")
    return page_of_ranks(whole, subject, Head(changes_of_ranks(whole), unit), KINDS, axis=axis, note=sentence(absent))
