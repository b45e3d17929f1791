"""Numbers on pages: those of simulations agree with montecarlo.yaml and from page to page, and
those of published data with the tables that a run wrote.
"""

from conftest import ROOT
from recuse.validation.settings import montecarlo_settings

README, REPORT, INFERENCE, SIMULATIONS = (
    " ".join((ROOT / page).read_text("utf-8").split("\n"))
    for page in ("README.md", "docs/report.md", "docs/inference.md", "docs/simulations.md")
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
    assert f"by 3 % of the scale, {found['0.03']} % of them are established" in README
    assert f"if by 6 %, {found['0.06']} %" in README
