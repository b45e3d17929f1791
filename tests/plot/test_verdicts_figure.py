"""The figure of verdicts shows the rows of their table: the decisive bias last, and reasons in the
note.
"""

import pandas as pd
import pytest

from drawings import artists, by_row, is_page_with, prose, subject, x_values
from recuse.base.reasons import Reason, because
from recuse.inference.verdict import VERDICTS, Verdict
from recuse.plot.verdicts import NOTHING, OF_SHARES, verdicts_figure

FEW = because(Reason.FEW_CELLS, df=1, least=4)


def row(term, verdict, estimate=None, *, kind="ratings", quantity="self_bias", **more):
    ends = {} if estimate is None else {"ci_low": estimate - 0.05, "ci_high": estimate + 0.05}
    return (
        {"kind": kind, "quantity": quantity, "term": term, "verdict": verdict, "estimate": estimate}
        | ends
        | more
    )


def table(*rows):
    return pd.DataFrame(rows).reindex(columns=VERDICTS)


def drawn(rows):
    return verdicts_figure(rows, subject(), confidence=0.9)


OF_RATINGS = table(
    row(
        "GPT-4o",
        Verdict.ESTABLISHED,
        0.1,
        favours="yes",
        A=0.2,
        A_ci_low=0.15,
        A_ci_high=0.25,
        B=0.05,
        B_ci_low=0.0,
        B_ci_high=0.1,
    ),
    row("Claude v2", Verdict.NOT_SHOWN, 0.01),
    row("Llama 3 8B", Verdict.INCONCLUSIVE, reason=FEW),
    row("GPT", Verdict.LIKELY, -0.06, quantity="family_bias"),
)


def test_each_question_has_a_mark_and_the_decisive_one_is_last():
    (axes,) = drawn(OF_RATINGS).axes
    marks = [by_row(axes, kind) for kind in "012"]
    assert [of_kind.get("GPT-4o") for of_kind in marks] == [0.2, 0.05, 0.1]
    assert {x for of_kind in marks for x in of_kind.values()} == {0.2, 0.05, 0.1, 0.01, -0.06}
    text = prose(axes.figure)
    for words in ("A against people", "B against the other judges", "C beyond ordinary preference"):
        assert words in text
    assert "GPT-4o favours itself." in text
    assert "Not estimated: Llama 3 8B (too few cells separate" in text


@pytest.mark.parametrize("kind", ["pairs", "shares"])
def test_comparisons_have_their_unit(kind):
    rows = table(
        row("GPT-4o", Verdict.LIKELY, 0.1, kind=kind),
        row("GPT-4o", Verdict.LIKELY, 0.3, kind=kind, quantity="longer"),
    )
    figure = drawn(rows)
    assert x_values(artists(figure, "0")) == [0.1]
    assert OF_SHARES in prose(figure)


def test_nothing_to_draw_has_its_reason():
    assert is_page_with(drawn(table()), NOTHING)
    refused = table(row("Llama 3 8B", Verdict.INCONCLUSIVE, reason=because(Reason.NO_OWN_ANSWERS)))
    page = drawn(refused)
    assert is_page_with(page, "Not estimated: Llama 3 8B (it rates no answers of its own).")
