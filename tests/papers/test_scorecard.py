"""The scorecard's page and figure show the tables, with and without data."""

import re
from pathlib import Path

import pandas as pd
import pytest
from compare_with_paper import judge

from conftest import DATA, ROOT
from drawings import artists, row_names, subject, texts, x_values
from picked_rows import column, fields, where
from recuse.base.tables import read_table
from recuse.data.describe import CORRELATIONS, MEAN_SCORES
from recuse.model.estimates import ESTIMATES
from recuse.papers.scorecard import SCORECARD
from recuse.papers.scorecard_figure import scorecard_figure
from recuse.papers.scorecard_page import deviations_by_figure
from recuse.papers.values import ORDER, read_published
from recuse.plot.style import read_figure_table
from report_pages import Elements
from text_tables import csv_frame

TEMPLATE = ROOT / "workflow" / "report" / "scorecard.html.j2"
LABEL = "A <b>study</b> & more"


def judged_in(folder):
    """The arguments of the script for the study whose tables are in a folder."""
    return {
        "study": "s",
        "kind": "published",
        "label": LABEL,
        "estimates": [str(folder / "estimates.csv")],
        "mean_scores": str(folder / "mean_scores.csv"),
        "correlations": str(folder / "correlations.csv"),
        "agreement": [],
        "published": [str(DATA / "play_favorites_estimates.csv")],
        "sentences": str(DATA / "play_favorites_claims.csv"),
        "template": str(TEMPLATE),
    }


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The published values judged as if they were a study: 3 of them moved, the correlations
    gone.
    """
    folder = tmp_path_factory.mktemp("scorecard")
    paper = read_published(DATA)
    estimates = pd.DataFrame(paper["estimates"])
    is_known = (estimates["figure"] != "Figure 7") | (estimates["spec"] != "main")
    shifts = estimates["term"].map({"GPT-4o": 1e-5, "Claude v2": -1e-3, "Mistral 7B": -1e-3})
    is_moved = (estimates["spec"] == "by_dataset") & (estimates["slice"] == "cnn")
    moved = estimates["estimate"].astype(float) + shifts.where(is_moved).fillna(0)
    for name, columns, rows in (
        ("estimates", ESTIMATES, estimates.assign(study="s", estimate=moved)[is_known]),
        ("mean_scores", MEAN_SCORES, pd.DataFrame(paper["mean_scores"])),
        ("correlations", CORRELATIONS, pd.DataFrame()),
    ):
        rows.reindex(columns=columns).to_csv(folder / f"{name}.csv", index=False)
    made = {"claims": "claims.csv", "scorecard": "scorecard.csv", "page": "page.html"}
    made = {name: str(folder / file) for name, file in made.items()}
    judge(**judged_in(folder), helm=[], outputs=made)
    return made


@pytest.fixture(scope="module")
def table(outputs):
    return read_figure_table(outputs["scorecard"])


def test_the_tables_are_written(outputs):
    rows = read_table(outputs["scorecard"])
    assert tuple(rows[0]) == SCORECARD
    assert len(rows) == 361 + 630 + 162 + 43
    rows = read_table(outputs["claims"])
    assert len(rows) == 43
    assert {row["kind"] for row in rows if row["section"] != "C.2"} == {"published"}
    assert {fields(row, "kind verdict") for row in rows if row["section"] == "C.2"} == {
        ("simulated", "data absent")
    }


def test_a_users_ratings_of_helm_are_judged_and_named(outputs, tmp_path):
    """A user's copy has two tables: estimates and mean scores."""
    names = ["Completeness", "Conciseness", "Harmlessness", "Helpfulness", "Understandability"]
    model = "GPT-4 (0314)"
    means = pd.DataFrame({"dimension": names, "judge": model, "model": model, "mean": 0.9, "n": 9})
    estimates = csv_frame("""
spec,slice,quantity,term,estimate,std_error,ci_low,ci_high
main,,self_bias,GPT-4 (0314),0.03,0.001,0.028,0.032
main,,self_bias,Claude v1.3,0.02,0.001,0.018,0.022
main,,family_bias,GPT,-0.01,0.001,-0.012,-0.008
""")
    means.to_csv(tmp_path / "mean_scores.csv", index=False)
    estimates.to_csv(tmp_path / "main.csv", index=False)
    made = {name: str(tmp_path / f"{name}.out") for name in ("claims", "scorecard", "page")}
    judge(
        **judged_in(Path(outputs["page"]).parent),
        helm=[str(tmp_path / "main.csv"), str(tmp_path / "mean_scores.csv")],
        outputs=made,
    )
    claims = where(read_table(made["claims"]), section="C.2")
    assert {row["kind"] for row in claims} == {"user"}
    assert column(claims, "verdict") == ["holds", "holds", "fails"]
    assert Path(made["page"]).read_text("utf-8").count("USER&#39;S DATA") == 3
    assert "USER" not in Path(outputs["page"]).read_text("utf-8")


def test_the_page_is_self_contained_and_names_are_escaped(outputs):
    html = Path(outputs["page"]).read_text("utf-8")
    outside = r"<(?:script|link|img|iframe)|\b(?:src|href|onclick)=|@import|url\(|://"
    assert re.findall(outside, html) == []
    assert "A &lt;b&gt;study&lt;/b&gt; &amp; more" in html
    assert '<meta name="viewport"' in html


def test_the_page_shows_the_tables(outputs):
    text = Elements(Path(outputs["page"]).read_text("utf-8")).text
    assert "PUBLISHED DATA" in text
    assert "By dataset 51 3 0" in text
    assert "Figure 5 0 0 54 – the study's tables have no such value with an interval" in text
    assert "Llama 3 8B has significant negative self-bias." in text
    assert "1 of 1. for: Llama 3 8B -0.0368 [-0.0446, -0.0291]" in text
    assert "self_bias, Mistral 7B, cnn by_dataset" in text
    assert "unknown" in text
    assert "no ratings of HELM-Instruct but a simulated placeholder" in text
    assert "SIMULATED" not in text
    assert "ratings are simulated" not in text


def test_summary_is_in_the_order_of_the_paper():
    rows = [
        {"figure": "Figure 3", "verdict": "match", "deviation": -0.5, "cause": ""},
        {"figure": "Figure 3", "verdict": "differs", "deviation": -4.0, "cause": "unknown"},
        {"figure": "Figure 2", "verdict": "data absent", "cause": "why"},
    ]
    first, second = deviations_by_figure(rows)
    assert fields(first, "figure largest absent") == ("Figure 2", None, "why")
    assert fields(second, "figure largest absent") == ("Figure 3", 4.0, "")
    assert second["counts"] == {"match": 1, "differs": 1, "data absent": 0}


def test_the_figure_says_where_no_value_can_be_compared(table):
    figure = scorecard_figure(table[table["item"] == "claim"], subject("published"))
    assert not figure.axes
    assert "No published value can be compared." in texts(figure)


def test_the_figure_shows_every_deviation(table):
    figure = scorecard_figure(table, subject("published"))
    (strips,) = figure.axes
    deviations = table.dropna(subset=["ours", "deviation"])["deviation"]
    points = [place for drawn in artists(figure, "value") for place in drawn.get_offsets()]
    within = deviations[deviations.abs() <= 3]
    assert len(within) == len(deviations) - 2
    assert sorted(x for x, _ in points) == sorted(within)
    assert x_values(artists(strips, "tolerance")) == [-1, 1]
    assert row_names(strips) == list(ORDER)
    assert [text.get_text() for text in artists(strips, "beyond")] == ["2 ◂"]
    assert "51 match, 3 differ" in texts(figure)
    assert "54 absent" in texts(figure)
    dots, crosses = strips.collections
    assert dots.get_zorder() < crosses.get_zorder()
    assert [x for x, y in crosses.get_offsets() if y > 10.5] == pytest.approx(
        [1e-5 / (1.3 * 4.6553e-6)], rel=1e-3
    )
