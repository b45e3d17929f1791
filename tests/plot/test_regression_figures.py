"""The figures of the regression of verdicts show what their tables hold, and are the same bytes every time."""

import pandas as pd
from analyses import regression_tables

from drawings import artists, drawn_twice, is_page_of, on_paper, prose, subject
from random_comparisons import random_rows, write
from recuse.base.tables import STRENGTHS
from recuse.plot.regression import NO_STRENGTHS, strengths
from recuse.plot.style import read


def tabulated(rows, folder):
    outputs = {name: str(folder / f"{name}.csv") for name in ("regression", "strengths")}
    families = {"m": "F", "n": "F", "Careful": "F"}
    path = write(rows, folder / "c.parquet")
    regression_tables(study="s", comparisons=path, families=families, confidence=0.9, seed=1, outputs=outputs)
    return outputs


def test_same_bytes_every_time_of_random_verdicts(tmp_path):
    paths = tabulated(random_rows(8, questions=30), tmp_path)
    first = {name: read(path) for name, path in paths.items()}
    again = {name: read(path) for name, path in tabulated(random_rows(8, questions=30), tmp_path).items()}
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, again[name])
    drawn_twice("regression:strengths", tmp_path, {"table": paths["strengths"]}, confidence=0.9)


def test_pages_of_words_where_there_is_nothing():
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
    assert "changes the rank of both models" in prose(figure)
