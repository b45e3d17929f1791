"""The figure of own right and wrong answers shows what its table holds."""

import math

import pandas as pd
import pytest

from drawings import panel_titles, subject, texts
from recuse.inference.gold import GOLD
from recuse.plot.gold import NO_ROWS, TITLES, gold_figure


def row(
    term,
    case,
    estimate,
    verdict="",
    favours="",
    *,
    baseline="both",
    measure="difference",
    quantity="self_bias",
):
    ends = {"ci_low": estimate - 0.1, "ci_high": estimate + 0.1}
    values = {
        "quantity": quantity,
        "term": term,
        "case": case,
        "baseline": baseline,
        "measure": measure,
        "estimate": estimate,
    }
    return values | ends | {"verdict": verdict or None, "favours": favours or None}


def words_from(figure):
    return {*" ".join(texts(figure)).split()}


def table(*rows):
    return pd.DataFrame(rows, columns=GOLD)


def drawn(rows):
    return gold_figure(rows, subject(models={}), confidence=0.9)


PAIRS = (
    row("A", "harmful", 0.3, "established", "yes"),
    row("B", "harmful", 0.05, "not shown"),
    row("C", "harmful", -0.2, "likely", "no"),
    row("A", "legitimate", 0.02, "not shown"),
    row("A", "harmful", 0.4, baseline="other judges"),
    row("GPT", "harmful", 0.2, "established", "yes", quantity="family_bias"),
)


def test_pairs():
    figure = drawn(table(*PAIRS))
    shown = texts(figure)
    finding = (
        "1 of 3 judges chooses its own wrong answers over right ones more often than expected and 1"
        " less often"
    )
    assert set(finding.split()) <= words_from(figure)
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
    rows = [row("A", "over-marking", math.log(2), "established", "yes", measure="log ratio")]
    rows += [row("A", "under-marking", math.log(0.9), "not shown", measure="log ratio")]
    figure = drawn(table(*rows))
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
    figure = drawn(table(row("A", "harmful", -0.2, *verdicts)))
    assert set(finding.split()) <= words_from(figure)


def test_no_own_answers_are_a_page_that_says_so():
    rows = [{"quantity": "self_bias", "term": "A", "case": "harmful", "verdict": "inconclusive"}]
    assert set(NO_ROWS.split()) <= words_from(drawn(table(*rows)))
