"""The verdict on each judge and family as a figure: the bias that decides, with the gaps to people
and to the other judges.
"""

import pandas as pd
from matplotlib.figure import Figure

from recuse.inference.verdict import AGAINST_JUDGES, AGAINST_PEOPLE, KINDS, QUESTIONS, Verdict
from recuse.model.spec import BIASES
from recuse.plot.biases import Variant, compare
from recuse.plot.page import not_estimated, written
from recuse.plot.style import Subject
from recuse.report.tables import where
from recuse.report.verdict import bias_sentences, name_in

OF_SHARES = "share of the verdicts on two answers"
NOTHING = "No verdict on any judge's own or its family's answers."


def verdicts_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw the self- and family-biases of the table of verdicts, a mark for each question.

    `table`: see `recuse.inference.verdict`. The decisive question stands last in each row. A bias
    whose verdict is inconclusive has no mark for it; the note gives the reason.
    """
    table = table[table["quantity"].isin(BIASES)]
    kind = KINDS[next(iter(table["kind"]), "ratings")]
    interval = written("plain_interval", level=confidence)
    variants = []
    for letter in (AGAINST_PEOPLE, AGAINST_JUDGES):
        if letter != kind.decisive and table[letter].notna().any():
            ends = {end: table[f"{letter}_{end}"] for end in ("ci_low", "ci_high")}
            gaps = table.assign(estimate=table[letter], **ends)
            variants.append(Variant(f"{letter} {QUESTIONS[letter]}", gaps, interval))
    if table["estimate"].notna().any():
        variants.append(Variant(f"{kind.decisive} {QUESTIONS[kind.decisive]}", table, interval))
    texts = table.astype(object).where(table.notna(), "").to_dict("records")
    # Reason -> the judges and families that have it
    names = {}
    for row in where(texts, verdict=Verdict.INCONCLUSIVE):
        names.setdefault(row["reason"], []).append(name_in(row))
    reasons = {", ".join(names[reason]): reason for reason in sorted(names)}
    unit = "" if kind.name == "ratings" else OF_SHARES
    finding = " ".join(bias_sentences(texts)) if texts else ""
    note = not_estimated(reasons) if texts else NOTHING
    return compare(variants, subject, note=note, words=finding, unit=unit)
