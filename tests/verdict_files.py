"""Runs of the loaders of comparisons, and the released files that they are held against."""

import shutil

import duckdb
import pytest

from conftest import CONFIG, DATA, mirrored
from picked_rows import column
from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.pairwise.table import PAIRWISE_COMPLETENESS as COMPLETENESS
from recuse.pairwise.table import normalise
from recuse.papers.product import PRODUCT

READERS = PRODUCT.readers  # of published verdicts, by their source


def run(folder, files, **settings):
    """Path of the canonical comparisons, and the rows of their completeness."""
    comparisons, completeness = folder / "comparisons.parquet", folder / "completeness.csv"
    files = [str(file) for file in files]
    normalise(
        "mine", files, comparisons=str(comparisons), completeness=str(completeness), **settings
    )
    rows = read_table(completeness)
    assert tuple(rows[0]) == COMPLETENESS
    return str(comparisons), rows


def complaint(folder, files, **settings):
    """What is said of faulty files; nothing is written then."""
    with pytest.raises(DataError) as caught:
        run(folder, files, **settings)
    assert not (folder / "comparisons.parquet").exists()
    assert not (folder / "completeness.csv").exists()
    return str(caught.value)


def select(comparisons, columns="*"):
    """Rows of the canonical comparisons, as dicts."""
    relation = duckdb.sql(f"select {columns} from '{comparisons}'")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def released(source):
    """Folder in a local mirror and paths of a source's released files; without them the test is
    skipped, with the reason.
    """
    folder = mirrored(source)
    manifest = CONFIG["sources"][source]["manifest"]
    return folder, column(read_table(DATA / "sources" / manifest), "path")


def run_released(source, folder):
    """The comparisons of a source's released files, and the rows of their completeness."""
    files, paths = released(source)
    return run(folder, [files / path for path in paths], reader=READERS[source])


@pytest.fixture(scope="session")
def prd(tmp_path_factory):
    return run_released("prd", tmp_path_factory.mktemp("prd"))


@pytest.fixture(scope="session")
def llmbar(tmp_path_factory):
    return run_released("llmbar", tmp_path_factory.mktemp("llmbar"))


def copied(source, target):
    """The released files of a source in a folder of one's own, to be spoilt."""
    folder, paths = released(source)
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, target / path)
    return [target / path for path in paths]
