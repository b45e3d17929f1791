"""The workflow on studies of comparisons: a user's own file and a simulated world, built, rebuilt
and refused.
"""

import csv
import os
from pathlib import Path

import pytest

from conftest import CONFIG, DATA
from picked_rows import column, fields
from recuse.base.tables import read_table
from workflow_runs import build, copy_project, planned, products, refused

pytestmark = pytest.mark.workflow
STUDIES = ("verdicts", "world")
OWN = {"configs": ["tests/smoke/comparisons.yaml"]}
OF_VERBOSITY = ("verdicts", "verbosity_bias", "score_curves", "alignment_curves", "position")
OF_REGRESSION = ("strengths",)
OF_BIASES = ("bias_jitter", "bias_profile", "bias_by_size")
OF_ATTACKS = ("attack_success", "votes_by_position", "length_bias_curve")
ANALYSES = {"analyses_verbosity_regression": 1, "analyses_verbosity_cognitive_biases_attacks": 1}
ALL_OF_WORLD = (*OF_VERBOSITY, *OF_BIASES, *OF_ATTACKS)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = copy_project(tmp_path_factory.mktemp("comparisons"))
    build(folder, "--cores", "2", **OWN)
    return folder


def to_build(folder, *targets, **options):
    jobs = planned(folder, *targets, **OWN, **options)
    return {name: count for name, count in jobs.items() if name not in STUDIES}


def test_every_figure_of_what_a_study_holds(compared):
    drawn = {
        study: {path.name for path in (compared / "results" / study / "figures").iterdir()}
        for study in STUDIES
    }
    assert drawn["verdicts"] == {f"{figure}.svg" for figure in (*OF_VERBOSITY, *OF_REGRESSION)}
    assert drawn["world"] == {f"{figure}.svg" for figure in ALL_OF_WORLD}


@pytest.mark.long  # test_faults_kill ends runs of ratings on one core, and compares the bytes
def test_one_core_and_two_give_the_same_bytes(compared, tmp_path):
    other, ours = copy_project(tmp_path), products(compared)
    wanted = {path for path in ours if "/tables/" in path or "/figures/" in path}
    build(other, "--cores", "1", *(f"results/{path}" for path in wanted), **OWN)
    theirs = products(other)
    assert wanted <= theirs.keys()
    assert [path for path in theirs.keys() & ours.keys() if theirs[path] != ours[path]] == []


@pytest.mark.parametrize(
    ("file", "jobs"),
    [
        (
            "workflow/lib/recuse/pairwise/verbosity.py",
            {**ANALYSES, "recovery_of_comparisons": 1, "figures_rest": 2},
        ),
        pytest.param(
            "workflow/lib/recuse/plot/verbosity.py", {"figures_rest": 2}, marks=pytest.mark.long
        ),
    ],
)
def test_edited_code_reruns_what_uses_it(compared, file, jobs):
    path = compared / file
    before = path.read_bytes()
    path.write_bytes(before + b"\n# changed\n")
    try:
        assert to_build(compared) == jobs
    finally:
        path.write_bytes(before)


def test_planted_biases_are_in_the_recovery_table(compared):
    rows = read_table(compared / "results" / "world" / "tables" / "recovery.csv")
    assert {row["quantity"] for row in rows} >= {
        "verbosity_bias debiased excluded",
        "consistency",
        "bandwagon",
        "asr",
    }
    assert all(row["inside"] in ("yes", "no") for row in rows)


@pytest.fixture
def mirror():
    """The mirror's folder; the test is skipped, with the reason, where it lacks the files of
    comparisons.
    """
    place = Path(os.environ.get("RECUSE_MIRROR", "none"))
    if not (place / CONFIG["sources"]["llmbar"]["repository"]).is_dir():
        pytest.skip(
            "needs the published files of LLMBar: set RECUSE_MIRROR to"
            " <owner>/<repository>/<commit>/<path>"
        )
    return place


@pytest.mark.mirror
@pytest.mark.long
def test_published_files_are_verified_and_one_that_lacks_is_named(compared, mirror, tmp_path):
    """papers/test_fetch asks it of a server, test_workflow of the files of ratings."""
    source = CONFIG["sources"]["llmbar"]
    with open(DATA / "sources" / source["manifest"], newline="", encoding="utf-8") as table:
        paths = column(csv.DictReader(table), "path")
    lame = tmp_path / "mirror"
    for path in paths[:-1]:
        inside = Path(source["repository"], source["commit"], path)
        (lame / inside).parent.mkdir(parents=True, exist_ok=True)
        (lame / inside).write_bytes((mirror / inside).read_bytes())
    target = "results/llmbar/tables/agreement.csv"
    caches = {"RECUSE_CACHE": str(tmp_path / "cache")}
    said = refused(compared, "--cores", "1", target, RECUSE_MIRROR=str(lame), **caches)
    assert paths[-1] in said
    assert not list((compared / "results" / "llmbar" / "raw").rglob("*.json"))
    build(compared, "--cores", "1", target, RECUSE_MIRROR=str(mirror.resolve()), **caches)
    rows = {fields(row, "judge condition order"): row for row in read_table(compared / target)}
    assert float(rows["GPT-4", "Natural", "pooled"]["value"]) == 0.935
