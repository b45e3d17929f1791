"""The workflow on studies of comparisons: a user's own file, a file of another tool and a simulated
world, built and rebuilt.
"""

import shutil

import pytest

from picked_rows import keyed
from recuse.base.tables import read_table
from verdict_files import released
from workflow_runs import ROOT, build, copy_project, planned

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
    shutil.copy(ROOT / "tests" / "formats" / "alpaca_eval.json", folder / "a.json")
    (folder / "mine.yaml").write_text(
        "comparisons: {ours: {title: t, import: {files: a.json}}}\n", "utf-8"
    )
    position = "results/ours/tables/position.csv"
    configs = [*OWN["configs"], "mine.yaml"]
    build(folder, "--cores", "2", *STUDIES, position, configs=configs)
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


def test_verdicts_in_the_file_of_a_tool_are_imported(compared):
    assert read_table(compared / "results/ours/tables/imported.csv")[0]["n"] == "7"
    assert (compared / "results/ours/tables/position.csv").exists()


def test_planted_biases_are_in_the_recovery_table(compared):
    rows = read_table(compared / "results" / "world" / "tables" / "recovery.csv")
    assert {row["quantity"] for row in rows} >= {
        "verbosity_bias debiased excluded",
        "consistency",
        "bandwagon",
        "asr",
    }
    assert all(row["inside"] in ("yes", "no") for row in rows)


@pytest.mark.mirror
@pytest.mark.long
def test_published_verdicts_are_fetched_and_read(compared, tmp_path):
    """papers/test_fetch tests the messages about missing files."""
    folder, _ = released("llmbar")
    mirror = str(folder.parents[2].resolve())
    target = "results/llmbar/tables/agreement.csv"
    caches = {"RECUSE_CACHE": str(tmp_path / "cache")}
    build(compared, "--cores", "1", target, RECUSE_MIRROR=mirror, **caches)
    rows = keyed(read_table(compared / target), "judge condition order")
    assert float(rows["GPT-4", "Natural", "pooled"]["value"]) == 0.935
