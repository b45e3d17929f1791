"""The figures of the regression of verdicts show what their tables hold, and are the same bytes every time."""

import numpy as np
import pandas as pd
from regression import tabulate

from drawings import VERY_LONG, artists, drawn_twice, filled, has_room, is_page_of, on_paper, subject, texts
from random_comparisons import random_rows, write
from recuse.base.tables import REGRESSION, REGRESSION_VERDICTS, STRENGTHS
from recuse.plot.regression import NO_STRENGTHS, NO_TERMS, own_terms, strengths
from recuse.plot.style import read

VERDICT = {"quantity": "self_bias", "verdict": "established", "favours": "yes", "estimate": 0.5}


def term(question, name, share, *, quantity="self_bias", reason=np.nan):
    ends = {"probability": share, "probability_low": share - 0.05, "probability_high": share + 0.05}
    return {"question": question, "quantity": quantity, "term": name, "estimate": share, "reason": reason, **ends}


def tables_of(rows, verdicts):
    return pd.DataFrame(rows, columns=REGRESSION), pd.DataFrame(verdicts, columns=REGRESSION_VERDICTS)


def tabulated(rows, folder):
    outputs = {name: str(folder / f"{name}.csv") for name in ("regression", "regression_verdicts", "strengths")}
    families = {"m": "F", "n": "F", "Careful": "F"}
    path = write(rows, folder / "c.parquet")
    tabulate(study="s", comparisons=path, families=families, confidence=0.9, seed=1, power=0.8, outputs=outputs)
    return outputs


def test_same_bytes_every_time_of_random_verdicts(tmp_path):
    paths = tabulated(random_rows(8, questions=30), tmp_path)
    first = {name: read(path) for name, path in paths.items()}
    again = {name: read(path) for name, path in tabulated(random_rows(8, questions=30), tmp_path).items()}
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, again[name])
    inputs = {"table": paths["regression"], "verdicts": paths["regression_verdicts"]}
    drawn_twice("regression:own_terms", tmp_path, inputs, confidence=0.9)
    drawn_twice("regression:strengths", tmp_path, {"table": paths["strengths"]}, confidence=0.9)


def test_own_terms_have_a_panel_for_each_question(tmp_path):
    rows = [term("A", "One", 0.55, reason="it errs"), term("B", "One", 0.7), term("C", "One", 0.52), term("C", "Two", 0.3)]
    rows += [term("C", "all judges", 0.5), term("C", "F", 0.6, quantity="family_bias")]
    verdicts = [
        VERDICT | {"term": "Two"},
        VERDICT | {"term": "One", "verdict": "suggestive"},
        VERDICT | {"term": "F", "quantity": "family_bias"},
    ]
    figure = own_terms(*tables_of(rows, verdicts), subject(), confidence=0.9)
    assert on_paper(figure)
    words = " ".join(texts(figure)).replace("\n", " ")
    assert "1 of 2 judges favours its own answers beyond ordinary preference" in words
    assert "it errs" in words
    assert [axes.get_title("left") for axes in figure.axes][:2] == ["Against humans", "Against other judges"]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["Two", "One", "all judges"]
    points = artists(figure, "point")
    by_value = {round(float(point.get_xdata()[0])): filled(point) for point in points}
    assert by_value == {55: False, 70: True, 52: False, 30: True, 50: False, 60: True}
    assert texts(figure).count("not estimable") == 2 * 2 + 2  # Two and all judges under A and B; the family


def test_pages_of_words_where_there_is_nothing():
    table, verdicts = tables_of([], [])
    assert is_page_of(own_terms(table, verdicts, subject(), confidence=0.9), NO_TERMS)
    assert is_page_of(strengths(pd.DataFrame(columns=STRENGTHS), subject(), confidence=0.9), NO_STRENGTHS)


def test_strengths_are_shares_against_an_average_answer_with_ranks():
    def row(kind, model, share, rank):
        ends = {"win_rate": share, "win_rate_low": share - 0.1, "win_rate_high": share + 0.1}
        return {"scores": kind, "model": model, "strength": share, **ends, "rank": rank, "rank_low": rank, "rank_high": rank}

    rows = [
        row("raw", "One", 0.7, 1),
        row("raw", "Two", 0.4, 2),
        row("debiased", "One", 0.45, 2),
        row("debiased", "Two", 0.6, 1),
    ]
    figure = strengths(pd.DataFrame(rows, columns=STRENGTHS), subject(), confidence=0.9)
    assert on_paper(figure)
    assert {round(float(point.get_xdata()[0])) for point in artists(figure, "raw")} == {70, 40, 1, 2}
    assert {round(float(point.get_xdata()[0])) for point in artists(figure, "debiased")} == {45, 60, 1, 2}
    assert "changes the rank of both models" in " ".join(texts(figure)).replace("\n", " ")


def test_a_name_of_300_letters_leaves_the_panels_room():
    rows = [term(letter, VERY_LONG, 0.6) for letter in "ABC"]
    verdicts = [VERDICT | {"term": VERY_LONG}]
    assert has_room(own_terms(*tables_of(rows, verdicts), subject(), confidence=0.9))
