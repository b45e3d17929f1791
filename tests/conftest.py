import gc
import os
import sys
from pathlib import Path

# As in a job of the workflow; more get in each other's way on small matrices
os.environ["OMP_NUM_THREADS"] = "1"

import duckdb
import pytest
import yaml

import mutations
from recuse.base.database import write_parquet
from recuse.base.products import register
from recuse.cli import main
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.data.study import StudyTables
from recuse.papers.twin import published_world
from recuse.papers.values import JUDGES, read_files
from recuse.products import PRODUCTS
from recuse.simulate.ratings import planted, simulate
from recuse.steps.ratings import normalise_study
from recuse.workflow.runner import NEW_OBJECTS

register(PRODUCTS)
pytest_plugins = ["collecting", "file_server", "rated_tables", "smaller_inputs"]
pytest_plugins += ["verdict_files", "workflow_runs"]
ROOT = Path(__file__).parents[1]
DATA = ROOT / "workflow" / "data"
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def pytest_addoption(parser):
    parser.addoption(
        "--long", action="store_true", help="all tests, and all examples, worlds and kills of each"
    )
    parser.addoption(
        "--replicates",
        dest="replicates",
        type=int,
        default=25,
        help="simulated studies of the coverage test",
    )


def pytest_configure(config):
    mutations.share = 1 if config.getoption("long") else mutations.SHORT
    # Tests start hundreds of processes, each of which would compile the library anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_collection_modifyitems(config, items):
    if not config.getoption("long"):
        long = {item for item in items if item.get_closest_marker("long")}
        config.hook.pytest_deselected(items=list(long))
        items[:] = [item for item in items if item not in long]
    start_with_what_waits(items)


def pytest_collection_finish():
    """Garbage collection skips what is imported by now, and runs less often, as in a job."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)


def pytest_unconfigure():
    gc.unfreeze()


def start_with_what_waits(items):
    """Files that start a cluster or Snakemake come first: they wait while others compute, and the
    many short tests after them fill the end evenly.
    """
    places = {}
    for item in items:
        marks = [bool(item.get_closest_marker(name)) for name in ("slurm", "workflow")]
        place = marks.index(True) if True in marks else len(marks)
        places[item.path] = min(place, places.get(item.path, place))
    items.sort(key=lambda item: places[item.path])


@pytest.fixture(scope="session")
def long(request):
    """Whether all of a test is wanted, or the small part that is left of it in the ordinary run."""
    return request.config.getoption("long")


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The test runs in a folder of its own, so that its files have names without one."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_command(tmp_path, monkeypatch, capfd):
    """Run `recuse` with these words in the test's folder; status, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["recuse", *map(str, words)])
        return main(), *capfd.readouterr()

    return run


def study_files(study, files):
    """The raw data of a study of config.yaml, read from `files` instead."""
    settings = CONFIG["studies"][study]
    types = {dataset: name for name, group in settings["task_types"].items() for dataset in group}
    return StudyFiles(files, settings["scales"], types, Registry.from_config(CONFIG["models"]))


def built(folder, name, source):
    """Ratings and cells of a study, in `folder`."""
    paths = {table: str(folder / f"{table}.parquet") for table in ("ratings", "cells")}
    normalise_study(
        study=name, source=source, **paths, completeness=str(folder / "completeness.csv")
    )
    return StudyTables(name, paths["cells"], [paths["ratings"]])


def changed_twin(twin, folder, rows):
    """A study of the raw rows of the twin, changed: `rows` is SQL of `raw`."""
    raw, changed = Path(twin.ratings[0]).parent / "raw.parquet", folder / "raw.parquet"
    duckdb.sql(f"copy (with raw as (from '{raw}') {rows}) to '{changed}'")
    return twin_in(folder)


def twin_in(folder):
    """The study twin of the file raw.parquet of a folder."""
    return built(folder, "twin", study_files("twin", [RatingsFile(f"{folder}/raw.parquet")]))


@pytest.fixture(scope="session")
def world():
    families = {name: CONFIG["models"][name]["family"] for name in JUDGES}
    scales = CONFIG["studies"]["twin"]["scales"]
    return published_world(read_files(DATA), models=families, scales=scales)


@pytest.fixture(scope="session")
def plan(world):
    return planted(world)


@pytest.fixture(scope="session")
def twin(world, tmp_path_factory):
    """The twin at a fifteenth of its size: enough for every term and slice."""
    folder = tmp_path_factory.mktemp("twin")
    write_parquet(simulate(world, prompts=40, seed=1).ratings, str(folder / "raw.parquet"))
    return twin_in(folder)


@pytest.fixture(scope="session")
def twin_rows(twin):
    """The canonical ratings of the twin."""
    return duckdb.sql(f"from '{twin.ratings[0]}'").df()


def mirrored(source):
    """The folder of a source's published files in a local mirror; without it the test is skipped,
    with the reason.
    """
    settings, mirror = CONFIG["sources"][source], os.environ.get("RECUSE_MIRROR", "")
    folder = Path(mirror, settings["repository"], settings["commit"])
    if not mirror or not folder.is_dir():
        pytest.skip(
            "needs the published files: set RECUSE_MIRROR to a folder"
            " <owner>/<repository>/<commit>/<path>"
        )
    return folder


@pytest.fixture(scope="session")
def published_folder():
    """The folder of the published files in a local mirror; the test is skipped, with the reason,
    where there is none.
    """
    return mirrored("play_favorites") / "data"


@pytest.fixture(scope="session")
def published(published_folder, tmp_path_factory):
    """The study play_favorites_2d."""
    files = [
        RatingsFile(str(published_folder / f"{d}.csv"), d)
        for d in CONFIG["studies"]["play_favorites_2d"]["scales"]
    ]
    return built(
        tmp_path_factory.mktemp("published"),
        "play_favorites_2d",
        study_files("play_favorites_2d", files),
    )
