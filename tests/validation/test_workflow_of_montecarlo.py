"""The target `montecarlo` with few replicates of few worlds."""

import pytest
import yaml

from picked_rows import fields
from recuse.base.tables import read_table
from recuse.validation.settings import montecarlo_settings
from workflow_runs import build, copy_project, planned, products

pytestmark = pytest.mark.workflow

REPLICATES = {"replicates": 2, "draws": 19}
WORLD = {"dimensions": 1, "prompts": 20}
VALUES = {"reliability": 0.55, "equal": 0.03, "no_humans": 0}


def declare(folder, **grids):
    """Write few replicates of one world of each grid; grids: further settings by name."""
    settings = montecarlo_settings() | REPLICATES
    settings["world"] = settings["world"] | WORLD
    declared = settings["grids"]
    settings["grids"] = {
        grid: declared[grid] | {"values": [value]} | grids.get(grid, {})
        for grid, value in VALUES.items()
    }
    (folder / "montecarlo.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = copy_project(tmp_path_factory.mktemp("montecarlo"))
    (folder / "results").mkdir()
    declare(folder)
    build(folder, "--cores", "2", "montecarlo")
    return folder


def test_tables_and_figures_of_all_worlds(quick):
    tables = {
        path.stem: read_table(path)
        for path in (quick / "results" / "montecarlo" / "tables").iterdir()
    }
    assert set(tables) == {"size", "power", "bias", "coverage", "worlds"}
    assert {row["grid"] for row in tables["bias"]} == {*VALUES}
    assert {row["grid"] for row in tables["power"]} == {"equal"}
    assert {row["replicates"] for row in tables["size"]} == {"2"}
    refused = {fields(row, "grid estimator"): row["refused"] for row in tables["worlds"]}
    assert refused["no_humans", "A_CR1"] == "1.0"
    assert refused["no_humans", "C_mixed"] == refused["equal", "A_CR1"] == "0.0"
    figures = {path.name for path in (quick / "results" / "montecarlo" / "figures").iterdir()}
    assert figures == {"worlds.svg"}


def test_a_changed_dial_reruns_its_worlds_alone_and_the_same_dial_gives_the_same_bytes(quick, long):
    """The same bytes with --long alone: test_estimators compares the rows of the same seed."""
    before = products(quick)
    world = "montecarlo/worlds/no_humans/0.csv"
    (quick / "results" / world).unlink()
    declare(quick, reliability={"world": {"quality_gap": 0.1}})
    assert planned(quick, "montecarlo") == {
        "montecarlo_world": 2,
        "montecarlo_tables": 1,
        "montecarlo_figure": 1,
        "montecarlo": 1,
    }
    if not long:
        return
    declare(quick)
    build(quick, "--cores", "1", f"results/{world}")
    assert products(quick)[world] == before[world]
