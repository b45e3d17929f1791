"""The target `validity` with few replicates of few worlds."""

import pytest

from recuse.base.tables import read_table
from workflow_runs import OVERLAY, copy_project, planned, products, snakemake

pytestmark = pytest.mark.workflow

QUICK = """
validity:
  replicates: 4
  draws: 19
  world: {dimensions: 1, prompts: 20}
  grids:
    taste: {values: [0.018]}
    shared_taste: {values: [0.02]}
    prompts: {values: [30]}
    clusters: {values: [30]}
    reliability: {values: [0.55]}
    ceiling: {values: [0.5]}
    length_taste: {values: [0.1]}
    missing: {values: [0.2]}
    self_bias: {values: [0.04]}
    self_bias_with_taste: {values: [0.04]}
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = copy_project(tmp_path_factory.mktemp("validity"))
    (folder / "results").mkdir()
    (folder / OVERLAY).write_text(QUICK, "utf-8")
    result = snakemake(folder, "--cores", "2", "validity", configs=[OVERLAY])
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def test_tables_and_figures_of_all_worlds(quick):
    tables = {path.stem: read_table(path) for path in (quick / "results" / "validity" / "tables").iterdir()}
    assert set(tables) == {"size", "power", "bias", "coverage", "expected"}
    assert len({row["grid"] for row in tables["bias"]}) == 10
    assert {row["grid"] for row in tables["power"]} == {"self_bias", "self_bias_with_taste"}
    assert {row["replicates"] for row in tables["size"]} == {"4"}
    verdicts = {(row["grid"], row["setting"]): row["verdict"] for row in tables["expected"]}
    assert verdicts["clusters", "600"] == "not tried"
    assert verdicts["taste", "0.018"] != "not tried"
    figures = {path.name for path in (quick / "results" / "validity" / "figures").iterdir()}
    assert figures == {
        f"{name}{suffix}" for name in ("size", "power", "bias", "coverage") for suffix in (".pdf", ".svg", ".png")
    }


def test_a_changed_dial_reruns_its_worlds_alone_and_the_same_dial_gives_the_same_bytes(quick):
    before = products(quick)
    world = "validity/worlds/ceiling/0.5.csv"
    (quick / "results" / world).unlink()
    (quick / OVERLAY).write_text(QUICK.replace("values: [0.55]", "values: [0.55], world: {quality_gap: 0.1}"), "utf-8")
    jobs = planned(quick, "validity", configs=[OVERLAY])
    assert jobs == {"validity_world": 2, "validity_tables": 1, "validity_figure": 4, "validity": 1}
    (quick / OVERLAY).write_text(QUICK, "utf-8")
    result = snakemake(quick, "--cores", "1", f"results/{world}", configs=[OVERLAY])
    assert result.returncode == 0, result.stdout + result.stderr
    assert products(quick)[world] == before[world]


def test_wrong_grid_stops_before_anything_runs(quick):
    (quick / OVERLAY).write_text(
        "validity: {expected: [{grid: tast, value: 0, estimator: A_CR1, statistic: bias, between: [0, 1]}]}"
    )
    result = snakemake(quick, "-n", "validity", configs=[OVERLAY])
    assert result.returncode == 1
    assert "config: validity: expected: 0: grid: 'tast' is not one of grids: taste," in result.stdout + result.stderr
