"""Whatever changes between two runs, the second leaves what a run from nothing would."""

import copy
import os
import shutil

import pytest

from changed_inputs import CONFIG, JUDGED, Walk, rows, walk

pytestmark = pytest.mark.workflow


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_results_are_those_of_a_run_from_nothing_after_any_changes(tmp_path, seed):
    walk(seed, 6, tmp_path)


CELLS = "results/tiny/cells.parquet"
IMPORTED = "results/tiny/raw/ratings.parquet"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A tiny study whose cells, and nothing that they do not need, have been made."""
    study = Walk(1, tmp_path_factory.mktemp("tiny"))
    study.run(study.folder, CELLS)
    return study


@pytest.fixture
def tiny(built, tmp_path):
    """The study in a folder of the test's own."""
    study = copy.copy(built)
    study.folder, study.files = shutil.copytree(built.folder, tmp_path / "walk"), dict(built.files)
    return study


def test_changed_setting_counts_although_the_job_has_one_more_output(tiny, built):
    settings = (tiny.folder / CONFIG).read_text("utf-8")
    one_rater = settings.replace("rating:\n          - first\n          - second", "rating: first")
    assert one_rater != settings
    (tiny.folder / CONFIG).write_text(one_rater, "utf-8")
    for part in ("results", ".snakemake"):
        shutil.rmtree(tiny.folder / part)
    tiny.run(tiny.folder, CELLS)
    of_two_raters = (built.folder / CELLS).read_bytes()
    assert (tiny.folder / CELLS).read_bytes() != of_two_raters
    tiny.write_settings(tiny.folder)
    tiny.run(tiny.folder, CELLS)  # the import now writes the scores of single raters, too
    assert (tiny.folder / CELLS).read_bytes() == of_two_raters


def test_replaced_file_is_seen_although_it_is_older(tiny):
    tiny.files[JUDGED] = 1
    (tiny.folder / JUDGED).write_text(rows(JUDGED, 1), "utf-8")
    os.utime(tiny.folder / JUDGED, (1e9, 1e9))
    tiny.run(tiny.folder, IMPORTED)
    expected = tiny.expected(IMPORTED)[IMPORTED.removeprefix("results/")]
    assert (tiny.folder / IMPORTED).read_bytes() == expected
