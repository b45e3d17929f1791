"""A user's files of right and wrong answers, by the lines of docs/own-data.md, from files to
page.
"""

import re

import pytest

from conftest import ROOT
from picked_rows import fields
from planted_keys import write_judged, write_verdicts
from recuse.base.tables import read_table
from recuse.inference.gold import GOLD
from workflow_runs import build, copy_project

pytestmark = pytest.mark.workflow
PAGE = (ROOT / "docs" / "own-data.md").read_text("utf-8")
TARGETS = ("results/keyed/tables/gold.csv", "keyed_pairs")
RECOVERY = "results/gold_twin/tables/recovery.csv"  # with --long


@pytest.fixture(scope="module")
def keyed(tmp_path_factory, long):
    folder = copy_project(tmp_path_factory.mktemp("keyed"))
    (lines,) = re.findall(r"```yaml\n(studies:\n  keyed:.*?)```", PAGE, re.DOTALL)
    (folder / "mine.yaml").write_text(lines, "utf-8")
    write_judged(folder / "judged.csv")
    write_verdicts(folder / "verdicts.csv")
    build(folder, "--cores", "1", *TARGETS, *[RECOVERY] * long, configs=["mine.yaml"])
    return folder / "results"


def deciding(results, study, case):
    rows = read_table(results / study / "tables" / "gold.csv")
    assert tuple(rows[0]) == GOLD
    return {
        row["term"]: row
        for row in rows
        if fields(row, "case baseline quantity") == (case, "both", "self_bias")
    }


def test_what_is_planted_in_a_users_files_is_found(keyed):
    pairs = deciding(keyed, "keyed_pairs", "harmful")
    assert fields(pairs["m1"], "verdict favours") == ("established", "yes")
    assert float(pairs["m1"]["ci_low"]) < 0.4 < float(pairs["m1"]["ci_high"])
    assert "established" not in [pairs[judge]["verdict"] for judge in ("m2", "m3", "m4")]
    ratings = deciding(keyed, "keyed", "over-marking")
    assert fields(ratings["m1"], "verdict favours") == ("established", "yes")
    assert float(ratings["m1"]["ci_low"]) < 0.693 < float(ratings["m1"]["ci_high"])


def test_the_page_has_the_finding_and_its_figure(keyed):
    html = (keyed / "keyed_pairs" / "report.html").read_text("utf-8")
    assert "prefers its own wrong answers to right ones more often than expected" in html
    assert 'aria-labelledby="gold-title"' in html


@pytest.mark.long
def test_the_simulated_study_recovers_what_is_planted(keyed):
    """pairwise/test_gold_of_pairs finds what is planted in a smaller study."""
    rows = read_table(keyed.parent / RECOVERY)
    assert sum(row["inside"] == "yes" for row in rows) >= 18
