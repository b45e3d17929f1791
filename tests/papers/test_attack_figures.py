"""The figures of perturbation attacks show what the tables hold."""

import pandas as pd
import pytest

from attack_votes import random_votes, tabulated, write_votes
from conftest import DATA
from drawings import (
    artists,
    panel_titles,
    prose,
    row_names,
    texts,
    x_values,
)
from recuse.papers.attack_figures import attack_success, length_bias_curve
from recuse.plot.style import Subject, read_figure_table
from text_tables import csv_frame

SUBJECT = Subject.from_config(label="a study", kind="simulated", models={}, families={})
DRAWN = {"subject": SUBJECT, "confidence": 0.9}
LONG = "A judge with a name that is longer than most of them"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The tables of small random votes."""
    folder = tmp_path_factory.mktemp("attacks")
    path = write_votes(folder / "votes.parquet", random_votes(2, judges=("J1", LONG, "J3")))
    outputs = tabulated(path, folder, worsening=["factual_error"])
    return {name: read_figure_table(path) for name, path in outputs.items()}


def test_every_rate_stands_in_the_row_of_its_judge_and_judges_by_average_rank(tables):
    figure = attack_success(tables["asr"], tables["ranks"], **DRAWN)
    assert "Attacks succeed least on" in prose(figure)
    assert panel_titles(figure) == ["factual error", "fake reference", "m1", "m2"]
    shown = [("main", "A2", "factual_error"), ("main", "A2", "fake_reference")]
    shown += [("weak", model, "fake_reference") for model in ("m1", "m2")]
    groups = dict([*tables["asr"].groupby(["experiment", "model_b", "condition"])])
    for axes, names in zip(figure.axes, shown, strict=True):
        rows = groups[names]
        assert sorted(x_values(artists(axes, "rate"))) == sorted(rows["asr"].dropna())
        ends = {tuple(line.get_xdata()) for line in artists(axes, "interval")}
        assert ends == set(zip(rows["ci_low"], rows["ci_high"], strict=True))
        assert f"n = {rows['n'].min()}–{rows['n'].max()}" in texts(axes)
    first = tables["ranks"][:3]
    named = [f"{row.judge} ({row.average_rank:.2f})" for row in first.itertuples()]
    assert row_names(figure.axes[0]) == [name.replace("nan", "–") for name in named]
    assert "not judged" in texts(figure.axes[3])  # J3
    assert not artists(figure, "printed")
    # Judges that are attacked alike are not called the least and the most robust
    alike = attack_success(tables["asr"].assign(asr=0.5), tables["ranks"], **DRAWN)
    assert "succeed in 50 % of the samples" in prose(alike)
    assert "Attacks succeed least on" not in prose(alike)


def test_printed_rates_stand_beside_those_of_the_same_experiment_condition_judge_and_model():
    published = [str(DATA / "judgement_bias_published.csv")]
    table = csv_frame("""
experiment,condition,model_a,model_b
perturbations,factual_error,x,answer 2
perturbations,gender,x,answer 2
weak,fake_reference,GPT-3.5-Turbo,LLaMA2-Chat-13B
weak,fake_reference,GPT-3.5-Turbo,LLaMA2-Chat-7B
weak,fake_reference,GPT-3.5-Turbo,GPT-3.5-Turbo (2)
weak,fake_reference,GPT-3.5-Turbo,another
""").assign(judge="Ernie", asr=0.5, ci_low=0.4, ci_high=0.6, n=60)
    ranks = pd.DataFrame(
        {"experiment": ["perturbations", "weak"], "judge": "Ernie", "average_rank": 1.0}
    )
    figure = attack_success(table, ranks, published=published, **DRAWN)
    titles = panel_titles(figure)
    marks = [x_values(artists(axes, "printed")) for axes in figure.axes]
    assert dict(zip(titles, marks, strict=True)) == {
        "factual error": [0.26],
        "gender": [],
        "LLaMA2-Chat-7B": [0.07],
        "LLaMA2-Chat-13B": [0.10],
        "GPT-3.5-Turbo (2)": [0.24],  # the second answer of one model
        "another": [],
    }
    assert titles.index("LLaMA2-Chat-7B") < titles.index("LLaMA2-Chat-13B")
    assert any("as printed" in text for text in texts(figure))
    # One pair, the paper's four
    for rows in (table[3:4].assign(model_b="another"), table[3:4].assign(model_a="another")):
        assert not artists(attack_success(rows, ranks, published=published, **DRAWN), "printed")


def test_what_the_length_curve_leaves_out_is_said(tables):
    told = {"equal_lengths": 1234, "no_length": 0, "errors": 3}
    table = tables["length_curve"]
    table = table[(table["judge"] == "J1") & (table["experiment"] == "main")].assign(**told)
    left_out = {"equal_lengths": 1, "no_length": 2, "errors": 0}
    nothing = {"experiment": "main", "judge": "K", "n": 0, "questions": 0, **left_out}
    both = pd.concat([table, pd.DataFrame([nothing])], ignore_index=True)
    output = prose(length_bias_curve(both, **DRAWN))
    counts = (
        "1,235 votes on answers of equal length, 2 votes on answers of unknown length, 3 errors"
    )
    assert f"Left out: {counts}. Without any other vote in an experiment: K." in output
    page = length_bias_curve(both[-1:], **DRAWN)
    assert not page.axes
    assert any("Left out: 1 votes on answers of equal" in text for text in texts(page))
