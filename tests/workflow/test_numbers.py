"""Numbers on pages: those of simulations agree with montecarlo.yaml and from page to page, and
those of published data with the tables that a run wrote.
"""

import os
from pathlib import Path

import pytest

from conftest import ROOT
from picked_rows import fields
from recuse.base.tables import read_table
from recuse.validation.settings import montecarlo_settings


def words(page):
    """The text of a page on one line."""
    return " ".join((ROOT / page).read_text("utf-8").split())


README, REPORT, INFERENCE, SIMULATIONS, PAPER, COMPARISONS, JUDGES = map(
    words,
    (
        "README.md",
        "docs/report.md",
        "docs/inference.md",
        "docs/simulations.md",
        "docs/paper.md",
        "docs/comparisons.md",
        "docs/judges-of-2026.md",
    ),
)


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
    assert f"Each of {sum(len(grid['values']) for grid in grids)} worlds has" in SIMULATIONS
    assert f"worlds has {settings['replicates']} replicates" in SIMULATIONS
    titles = tuple(grid["title"] for grid in grids)
    single = rows_of_table("world (simulated) | A | B, by model")
    tables = (
        UNBIASED,
        BIASED,
        single,
        rows_of_table("world (simulated) | **C** at 0.01, 0.02, 0.03, 0.06"),
    )
    named = {name for table in tables for name, *_ in table}
    assert len(named) > 40
    assert [name for name in named if not name.startswith(titles)] == []


def test_rates_of_unbiased_judges_are_those_of_the_table():
    alone, beside = (
        max(float(row[1]) for row in UNBIASED if ("biase" in row[0]) == biased)
        for biased in (False, True)
    )
    worst = max(int(row[3]) for row in UNBIASED)
    words = f"{alone:.0f} % of unbiased ones"
    assert f"at most {words} are called established ({beside:.0f} % where" in INFERENCE
    assert f"at most {words} get this in simulated studies, {beside:.0f} % where" in REPORT
    for page in (README, REPORT, INFERENCE):
        assert f"at most {worst} % of studies name any judge wrongly" in page


def test_rates_of_biased_judges_are_those_of_the_table():
    found = {row[1]: row[2] for row in BIASED if row[0] == "preferences, sd 0.018"}
    assert f"by 3 % of the scale, the bias of {found['0.03']} % of them is established" in README
    assert f"if by 6 %, {found['0.06']} %" in README


@pytest.fixture(scope="module")
def rows():
    """A function that reads the rows of a table of a study that have the given values."""
    folder = os.environ.get("RECUSE_RESULTS")
    if not folder:
        pytest.skip("needs the folder of results of the published studies (RECUSE_RESULTS)")

    def rows(study, table, **values):
        found = read_table(Path(folder) / study / "tables" / f"{table}.csv")
        return [row for row in found if all(row[name] == text for name, text in values.items())]

    return rows


def with_interval(row, form, scale=1, middle=0):
    """Estimate and interval of a row, as a page writes them."""
    numbers = (middle + scale * float(row[name]) for name in ("estimate", "ci_low", "ci_high"))
    return [format(number, form) for number in numbers]


def test_the_paper_page_has_the_numbers_of_its_tables(rows):
    study = "play_favorites_2d"
    pooled = {row["left_out"]: row for row in rows(study, "pooled", slice="", quantity="self_bias")}
    size, low, high = with_interval(pooled[""], ".3f")
    assert f"distinguished from 0: {size} ({low} to {high}) with most weight" in PAPER
    plain = [
        f"{float(pooled[''][name]):.3f}"
        for name in ("unweighted", "unweighted_ci_low", "unweighted_ci_high")
    ]
    assert "{} ({} to {}) as the plain mean".format(*plain) in PAPER
    without = {name: f"{float(row['estimate']):.3f}" for name, row in pooled.items()}
    assert f"without Mistral Large the first would be {without['Mistral Large']}" in PAPER
    assert f"without GPT-4o {without['GPT-4o']}." in PAPER
    judges = {row["term"]: row for row in rows(study, "verdicts", quantity="self_bias")}
    shown = [name for name, row in judges.items() if row["verdict"] != "not shown"]
    assert (shown, judges["Mistral Large"]["verdict"]) == (["Mistral Large"], "likely")
    size, low, high = with_interval(judges["Mistral Large"], ".3f")
    assert f"only Mistral Large's interval excludes 0 ({size}, {low} to {high})" in PAPER
    size, low, high = with_interval(judges["Llama 3 8B"], ".3f")
    gap = float(judges["Llama 3 8B"]["A"])
    assert f"Llama 3 8B's {gap:.3f} by Equation 1 becomes {size} ({low} to {high})" in PAPER
    least, largest = (
        f"{float(judges[name]['detectable']):.3f}" for name in ("Mistral Large", "Llama 3 8B")
    )
    assert f"from {least} (Mistral Large) to {largest} (Llama 3 8B)" in PAPER
    likely, mean = (100 * float(row["estimate"]) for row in (judges["Mistral Large"], pooled[""]))
    assert f"Mistral Large's is only *likely* ({likely:.1f} % of the scale)" in README
    assert f"the average ({mean:.1f} %)" in README
    poor = [
        row
        for row in judges.values()
        if float(row["agreement_ci_high"]) < float(row["agreement_least"])
    ]
    assert len(poor) == 2
    assert "Two of the nine hardly agree with people" in README


def test_the_paper_page_has_the_conclusions_of_its_table(rows):
    found = rows("play_favorites_2d", "conclusions", slice="")
    baseline = {
        (row["quantity"], row["term"]): row["conclusion"]
        for row in found
        if row["check"] == "published" and row["conclusion"] != "no_bias"
    }
    favours = [key for key, conclusion in baseline.items() if conclusion == "favours"]
    assert sum(quantity == "self_bias" for quantity, _ in favours) == 5
    assert baseline["self_bias", "Llama 3 8B"] == "harsher"
    assert len(baseline) == 6 + 4
    lost = {
        (row["check"], row["term"])
        for row in found
        if row["check"] in ("clustered", "holm", "max_t", "measurement_error")
        and row["verdict"] in ("lost", "reversed")
    }
    assert lost == {(check, "Mistral") for check in ("holm", "max_t", "measurement_error")}
    other_judges = {
        (row["quantity"], row["term"]): row["verdict"]
        for row in found
        if row["check"] == "model_effects"
    }
    self_biases = [verdict for (name, _), verdict in other_judges.items() if name == "self_bias"]
    assert [self_biases.count(verdict) for verdict in ("holds", "reversed", "new")] == [5, 1, 3]
    assert other_judges["family_bias", "Llama 3"] == "holds"
    assert [other_judges["family_bias", name] for name in ("Claude", "Mistral")] == ["reversed"] * 2


def test_the_page_on_comparisons_has_the_numbers_of_its_tables(rows):
    own = {row["term"]: row for row in rows("prd_vicuna80", "verdicts", quantity="self_bias")}
    assert {row["verdict"] for row in own.values()} == {"not shown"}
    assert own["GPT-4"]["note"] == "no_spread_found"
    size, low, high = with_interval(own["GPT-4"], ".0f", 100, 50)
    others, people = (f"{50 + 100 * float(own['GPT-4'][gap]):.0f}" for gap in "BA")
    tests = [float(own["GPT-4"][name]) for name in ("p_value", "adjusted_p_value")]
    assert (
        f"in {size} % of verdicts other than ties (90 % interval {low} to {high} %" in COMPARISONS
    )
    assert f"B {others} %, A {people} %; p = {tests[0]:.2f}, but {tests[1]:.2f}" in COMPARISONS
    rest = [50 + 100 * float(row["estimate"]) for name, row in own.items() if name != "GPT-4"]
    assert f"The other four are between {min(rest):.0f} and {max(rest):.0f} %" in COMPARISONS
    longer = {row["term"]: row for row in rows("prd_vicuna80", "verdicts", quantity="longer")}
    likely = {name: row for name, row in longer.items() if row["verdict"] == "likely"}
    sizes = {name: f"{100 * float(row['estimate']):+.1f}" for name, row in likely.items()}
    assert f"Claude ({sizes['Claude']} points) and GPT-3.5 ({sizes['GPT-3.5']})" in COMPARISONS
    assert likely.keys() == {"Claude", "GPT-3.5"}
    first = {
        row["term"]: float(row["estimate"]) > 0
        for row in rows("prd_vicuna80", "verdicts", quantity="first", verdict="established")
    }
    assert first == {"GPT-4": True, "Bard": True, "Claude": False, "Vicuna-13B": False}
    apart = {"order": "debiased", "draws": "excluded"}
    (gpt,) = rows("prd_vicuna80", "verbosity", judge="GPT-4", **apart)
    shorter, longer = (
        "{} of {}".format(*fields(gpt, f"wrong_{x} n_{x}")) for x in ("shorter", "longer")
    )
    size = f"{float(gpt['verbosity_bias']):.2f}"
    assert f"GPT-4 {size}, in {shorter} such pairs and {longer} others" in COMPARISONS


def test_the_page_on_the_judges_of_2026_has_the_numbers_of_its_tables(rows):
    families = {row["term"]: row for row in rows("multivac", "verdicts", quantity="family_bias")}
    shown = {name: row for name, row in families.items() if row["estimate"]}
    lines = (ROOT / "docs/judges-of-2026.md").read_text("utf-8").splitlines()
    for name, row in shown.items():
        (line,) = [line for line in lines if line.startswith(f"| {name} |")]
        cell = "{} [{}, {}]".format(*with_interval(row, "+.2f", 10)).replace("-", "−")
        assert line.rpartition(" | ")[2].strip("*| ") == cell
    assert [name for name, row in shown.items() if row["verdict"] == "established"] == ["Anthropic"]
    assert families["MiniMax"]["verdict"] == "inconclusive"
    probability = 100 * float(shown["Anthropic"]["probability_positive"])
    assert f"in its favour a probability of {probability:.0f} %" in JUDGES
    least, largest = (10 * float(shown[name]["detectable"]) for name in ("Anthropic", "Qwen"))
    assert f"from {least:.2f} points (Anthropic) to {largest:.2f} (Qwen)" in JUDGES
    pooled = {row["left_out"]: row for row in rows("multivac", "pooled", quantity="family_bias")}
    texts = {name: with_interval(pooled[name], "+.2f", 10) for name in ("", "Anthropic")}
    mean, without = (" ".join(texts[name]).replace("-", "−").split() for name in texts)
    assert "{} points (90 % interval {} to {})".format(*mean) in JUDGES
    assert "and {} ({} to {}) without Anthropic".format(*without) in JUDGES
