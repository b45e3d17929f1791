"""Numbers on pages: those of simulations agree with montecarlo.yaml and from page to page, and
those of published data with the tables that a run wrote.
"""

import os
from pathlib import Path

import pandas as pd
import pytest

from conftest import ROOT
from recuse.validation.settings import montecarlo_settings


def assert_stated(page, claims, **numbers):
    """Each claim, a line with places for numbers, is on the page with the numbers that are given;
    a minus is a hyphen here.
    """
    text = " ".join((ROOT / page).read_text("utf-8").replace("−", "-").split())
    claims = claims.strip().format(**numbers).splitlines()
    assert [claim for claim in claims if claim not in text] == []


def rows_of_table(head):
    """The rows of the table of simulations.md that begins with these cells, by its first cell."""
    lines = (ROOT / "docs/simulations.md").read_text("utf-8").splitlines()
    (start,) = [place for place, line in enumerate(lines) if line.startswith(f"| {head} |")]
    end = next(place for place in range(start, len(lines)) if not lines[place])
    return [line.strip("| ").split(" | ") for line in lines[start + 2 : end]]


UNBIASED = rows_of_table("world | established: mean")
BIASED = rows_of_table("world | bias")


def test_worlds_are_those_of_montecarlo_yaml():
    settings = montecarlo_settings()
    grids = settings["grids"].values()
    worlds = sum(len(grid["values"]) for grid in grids)
    claim = f"Each of {worlds} worlds has {settings['replicates']} replicates"
    assert_stated("docs/simulations.md", claim)
    single = rows_of_table("world (simulated) | A | B, by model")
    of_c = rows_of_table("world (simulated) | **C** at 0.01, 0.02, 0.03, 0.06")
    named = {name for table in (UNBIASED, BIASED, single, of_c) for name, *_ in table}
    assert len(named) > 40
    titles = tuple(grid["title"] for grid in grids)
    assert [name for name in named if not name.startswith(titles)] == []


def test_rates_of_unbiased_judges_are_those_of_the_table():
    alone, beside = (
        max(float(row[1]) for row in UNBIASED if ("biase" in row[0]) == biased)
        for biased in (False, True)
    )
    worst = max(int(row[3]) for row in UNBIASED)
    rates = {"alone": alone, "beside": beside, "worst": worst}
    called = "at most {alone:.0f} % of unbiased ones are called established ({beside:.0f} % where"
    assert_stated("docs/inference.md", called, **rates)
    get = (
        "at most {alone:.0f} % of unbiased ones get this in simulated studies, {beside:.0f} % where"
    )
    assert_stated("docs/report.md", get, **rates)
    for page in ("README.md", "docs/report.md", "docs/inference.md"):
        assert_stated(page, "at most {worst} % of studies name any judge wrongly", **rates)


def test_rates_of_biased_judges_are_those_of_the_table():
    claims = """
by 3 % of the scale, the bias of {found[0.03]} % of them is established
if by 6 %, {found[0.06]} %
"""
    found = {row[1]: row[2] for row in BIASED if row[0] == "preferences, sd 0.018"}
    assert_stated("README.md", claims, found=found)


@pytest.fixture(scope="module")
def table():
    """A function that reads a table of a study, in which what looks like a number is one."""
    folder = os.environ.get("RECUSE_RESULTS")
    if not folder:
        pytest.skip("needs the folder of results of the published studies (RECUSE_RESULTS)")

    def table(study, name):
        path = Path(folder) / study / "tables" / f"{name}.csv"
        texts = pd.read_csv(path, dtype=str, keep_default_na=False)
        numbers = texts.apply(pd.to_numeric, errors="coerce")
        return numbers.astype(object).where(numbers.notna(), texts)

    return table


PAPER = """
distinguished from 0: {mean[estimate]:.3f} ({mean[ci_low]:.3f} to {mean[ci_high]:.3f}) with most weight
{mean[unweighted]:.3f} ({mean[unweighted_ci_low]:.3f} to {mean[unweighted_ci_high]:.3f}) as the plain mean
without Mistral Large the first would be {pooled[Mistral Large][estimate]:.3f}
without GPT-4o {pooled[GPT-4o][estimate]:.3f}.
only Mistral Large's interval excludes 0 ({mistral[estimate]:.3f}, {mistral[ci_low]:.3f} to {mistral[ci_high]:.3f})
Llama 3 8B's {llama[A]:.3f} by Equation 1 becomes {llama[estimate]:.3f} ({llama[ci_low]:.3f} to {llama[ci_high]:.3f})
from {mistral[detectable]:.3f} (Mistral Large) to {llama[detectable]:.3f} (Llama 3 8B)
"""
README = """
Mistral Large's is only *likely* ({mistral:.1f} % of the scale)
the average ({mean:.1f} %)
Two of the nine hardly agree with people
"""


def test_the_paper_page_has_the_numbers_of_its_tables(table):
    pooled = table("play_favorites_2d", "pooled").query("quantity == 'self_bias' and slice == ''")
    judges = table("play_favorites_2d", "verdicts").query("quantity == 'self_bias'")
    pooled, judges = pooled.set_index("left_out").T, judges.set_index("term").T
    mean, mistral = pooled[""], judges["Mistral Large"]
    numbers = {"mean": mean, "pooled": pooled, "mistral": mistral, "llama": judges["Llama 3 8B"]}
    assert_stated("docs/paper.md", PAPER, **numbers)
    shown = judges.loc["verdict"][judges.loc["verdict"] != "not shown"]
    assert shown.to_dict() == {"Mistral Large": "likely"}
    percent = {"mistral": 100 * mistral["estimate"], "mean": 100 * mean["estimate"]}
    assert_stated("README.md", README, **percent)
    assert sum(judges.loc["agreement_ci_high"] < judges.loc["agreement_least"]) == 2


def test_the_paper_page_has_the_conclusions_of_its_table(table):
    found = table("play_favorites_2d", "conclusions").query("slice == ''")
    found = found.set_index(["quantity", "term"])
    published = found.query("check == 'published' and conclusion != 'no_bias'")["conclusion"]
    assert len(published) == 6 + 4
    assert published["self_bias"].tolist().count("favours") == 5
    assert published["self_bias", "Llama 3 8B"] == "harsher"
    other_errors = ["clustered", "holm", "max_t", "measurement_error"]
    lost = found.query("check in @other_errors and verdict in ['lost', 'reversed']")
    assert {*zip(lost["check"], lost.index.get_level_values("term"), strict=True)} == {
        (check, "Mistral") for check in other_errors[1:]
    }
    by_others = found.query("check == 'model_effects'")["verdict"]
    counts = by_others["self_bias"].value_counts()
    assert counts[["holds", "reversed", "new"]].tolist() == [5, 1, 3]
    families = by_others["family_bias"][["Llama 3", "Claude", "Mistral"]]
    assert families.tolist() == ["holds", "reversed", "reversed"]


COMPARISONS = """
in {share[estimate]:.0f} % of verdicts other than ties (90 % interval {share[ci_low]:.0f} to {share[ci_high]:.0f} %
B {share[B]:.0f} %, A {share[A]:.0f} %; p = {own[p_value]:.2f}, but {own[adjusted_p_value]:.2f}
The other four are between {low:.0f} and {high:.0f} %
Claude ({longer[Claude]:+.1f} points) and GPT-3.5 ({longer[GPT-3.5]:+.1f})
GPT-4 {length[verbosity_bias]:.2f}, in {length[wrong_shorter]:g} of {length[n_shorter]:g} such pairs and
such pairs and {length[wrong_longer]:g} of {length[n_longer]:g} others
"""


def test_the_page_on_comparisons_has_the_numbers_of_its_tables(table):
    verdicts = table("prd_vicuna80", "verdicts").set_index("term")
    own = verdicts.query("quantity == 'self_bias'").T
    assert {*own.loc["verdict"]} == {"not shown"}
    assert own["GPT-4"]["note"] == "no_spread_found"
    shares = 50 + 100 * own.loc[["estimate", "ci_low", "ci_high", "A", "B"]]
    others = shares.drop(columns="GPT-4").loc["estimate"]
    longer = verdicts.query("quantity == 'longer' and verdict == 'likely'")["estimate"]
    assert {*longer.index} == {"Claude", "GPT-3.5"}
    first = verdicts.query("quantity == 'first' and verdict == 'established'")["estimate"] > 0
    assert first.to_dict() == {"GPT-4": True, "Bard": True, "Claude": False, "Vicuna-13B": False}
    debiased = "judge == 'GPT-4' and order == 'debiased' and draws == 'excluded'"
    (length,) = table("prd_vicuna80", "verbosity").query(debiased).to_dict("records")
    assert_stated(
        "docs/comparisons.md",
        COMPARISONS,
        own=own["GPT-4"],
        share=shares["GPT-4"],
        low=others.min(),
        high=others.max(),
        longer=100 * longer,
        length=length,
    )


JUDGES = """
in its favour a probability of {probability:.0f} %
from {points[Anthropic][detectable]:.2f} points (Anthropic) to {points[Qwen][detectable]:.2f} (Qwen)
{mean[estimate]:+.2f} points (90 % interval {mean[ci_low]:+.2f} to {mean[ci_high]:+.2f})
and {without[estimate]:+.2f} ({without[ci_low]:+.2f} to {without[ci_high]:+.2f}) without Anthropic
"""


def test_the_page_on_the_judges_of_2026_has_the_numbers_of_its_tables(table):
    families = table("multivac", "verdicts").query("quantity == 'family_bias'").set_index("term")
    assert families.loc["MiniMax", "verdict"] == "inconclusive"
    shown = families.query("estimate != ''").T
    assert shown.columns[shown.loc["verdict"] == "established"].tolist() == ["Anthropic"]
    sizes = ["estimate", "ci_low", "ci_high"]
    points = 10 * shown.loc[[*sizes, "detectable"]]
    lines = (ROOT / "docs/judges-of-2026.md").read_text("utf-8").replace("−", "-").splitlines()
    for name, row in points.items():
        (line,) = [line for line in lines if line.startswith(f"| {name} |")]
        cell = "{estimate:+.2f} [{ci_low:+.2f}, {ci_high:+.2f}]".format_map(row)
        assert line.rpartition(" | ")[2].strip("*| ") == cell
    pooled = table("multivac", "pooled").query("quantity == 'family_bias'").set_index("left_out").T
    pooled = 10 * pooled.loc[sizes]
    assert_stated(
        "docs/judges-of-2026.md",
        JUDGES,
        probability=100 * shown["Anthropic"]["probability_positive"],
        points=points,
        mean=pooled[""],
        without=pooled["Anthropic"],
    )
