"""The figure of own right and wrong answers shows what its table holds."""

from io import StringIO

import pandas as pd
import pytest

from drawings import panel_titles, prose, subject, texts
from recuse.inference.gold import GOLD
from recuse.plot.gold import NO_ROWS, TITLES, gold_figure

PAIRS = """
term,case,estimate,verdict,favours,baseline,quantity
A,harmful,0.3,established,yes,both,self_bias
B,harmful,0.05,not shown,,both,self_bias
C,harmful,-0.2,likely,no,both,self_bias
D,harmful,0.3,likely,yes,both,self_bias
A,legitimate,0.02,not shown,,both,self_bias
A,harmful,0.4,,,other judges,self_bias
GPT,harmful,0.2,established,yes,both,family_bias
"""
RATIOS = """
term,case,estimate,verdict,favours,baseline,quantity
A,over-marking,0.6931,established,yes,both,self_bias
A,under-marking,-0.1054,not shown,,both,self_bias
"""


def table(text, measure="difference"):
    rows = pd.read_csv(StringIO(text)).assign(measure=measure)
    ends = {"ci_low": rows["estimate"] - 0.1, "ci_high": rows["estimate"] + 0.1}
    return rows.assign(**ends).astype({"favours": object}).reindex(columns=GOLD)


def words_from(figure):
    return {*" ".join(texts(figure)).split()}


def drawn(rows):
    return gold_figure(rows, subject(models={}), confidence=0.9)


def test_pairs():
    figure = drawn(table(PAIRS))
    shown = texts(figure)
    finding = (
        "2 of 4 judges choose their own wrong answers over right ones more often than expected and"
        " 1 less often"
    )
    assert finding in prose(figure)
    assert [" ".join(title.split()) for title in panel_titles(figure)] == [
        TITLES["harmful"],
        TITLES["legitimate"],
    ]
    assert {
        "+30.0",
        "+5.0",
        "−20.0",
        "GPT family",
        "no such answers",
    } <= set(shown)


def test_ratios_are_on_a_log_axis():
    figure = drawn(table(RATIOS, "log ratio"))
    assert {"×\N{THIN SPACE}2.00", "×\N{THIN SPACE}0.90", "1", "2"} <= set(texts(figure))


@pytest.mark.parametrize(
    ("verdicts", "finding"),
    [
        (
            ("not shown", ""),
            (
                "No judge chooses its own wrong answers over right ones more or less often than"
                " expected"
            ),
        ),
        (
            ("likely", "no"),
            "The one judge chooses its own wrong answers over right ones less often than expected",
        ),
        (("inconclusive", ""), "No judge can be tested"),
    ],
)
def test_findings(verdicts, finding):
    one = table(PAIRS).query("term == 'C'")
    figure = drawn(one.assign(verdict=verdicts[0], favours=verdicts[1] or None))
    assert set(finding.split()) <= words_from(figure)


def test_no_own_answers_are_a_page_that_says_so():
    rows = table(PAIRS)[:1].assign(estimate=None, verdict="inconclusive", baseline=None)
    assert set(NO_ROWS.split()) <= words_from(drawn(rows))
