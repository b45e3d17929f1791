"""The figure of verdicts shows the rows of their table: the decisive bias last, and reasons in the
note.
"""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from drawings import artists, by_row, is_page_with, prose, subject, x_values
from recuse.base.reasons import Reason, because
from recuse.inference.verdict import VERDICTS
from recuse.plot.verdicts import NOTHING, OF_SHARES, verdicts_figure

FEW = because(Reason.FEW_CELLS, df=1, least=4)


ROWS = """
kind,quantity,term,verdict,estimate,ci_low,ci_high,favours,A,A_ci_low,A_ci_high,B,B_ci_low,B_ci_high
ratings,self_bias,GPT-4o,established,0.1,0.05,0.15,yes,0.2,0.15,0.25,0.05,0.0,0.1
ratings,self_bias,Claude v2,not shown,0.01,-0.04,0.06,,,,,,,
ratings,self_bias,Llama 3 8B,inconclusive,,,,,,,,,,
ratings,family_bias,GPT,likely,-0.06,-0.11,-0.01,,,,,,,
pairs,self_bias,GPT-4o,likely,0.1,0.05,0.15,,,,,,,
pairs,longer,GPT-4o,likely,0.3,0.25,0.35,,,,,,,
"""
TABLE = pd.read_csv(StringIO(ROWS)).reindex(columns=VERDICTS)
TABLE["reason"] = np.where(TABLE["estimate"].isna(), FEW, None)


def drawn(rows):
    return verdicts_figure(rows, subject(), confidence=0.9)


def test_each_question_has_a_mark_and_the_decisive_one_is_last():
    (axes,) = drawn(TABLE[:4]).axes
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
    figure = drawn(TABLE[4:].assign(kind=kind))
    assert x_values(artists(figure, "0")) == [0.1]
    assert OF_SHARES in prose(figure)


def test_nothing_to_draw_has_its_reason():
    assert is_page_with(drawn(TABLE[:0]), NOTHING)
    refused = TABLE[2:3].assign(reason=because(Reason.NO_OWN_ANSWERS))
    words = "Not estimated: Llama 3 8B (it rates no answers of its own)."
    assert is_page_with(drawn(refused), words)
