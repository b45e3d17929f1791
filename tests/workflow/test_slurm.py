"""The smoke studies on a real SLURM: jobs that fail are made again or reported, shards are jobs of
their own, and the bytes are those of one machine.
"""

import pytest

from workflow_runs import assert_success, build, copy_project, products, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.slurm]
pytest_plugins = ["slurm_cluster"]

PROFILE = (
    "--workflow-profile",
    "workflow/profiles/slurm",
    "--cores",
    "2",
    "--slurm-init-seconds-before-status-checks",
    "2",
)
FIGURES = [f"results/{study}/figures/fig03_self_family_bias.svg" for study in ("smoke", "mine")]
TABLES = [
    f"results/{table}.csv"
    for table in ("smoke/tables/recovery", "smoke/tables/agreement", "mine/tables/correlations")
]
OF_SHARDS = [
    f"results/smoke/{table}.csv"
    for table in ("tables/recovery", "tables/agreement", "tables/completeness")
]
BROKEN = (
    "studies: {broken: {title: t, files: broken.csv, scales: {Tone: [1, 5], Usefulness: [1, 5]}}}"
)
# All rules of the job that makes the tables of `mine`; that of `smoke` has enough for it simulates,
# too.
TOO_LITTLE_AT_FIRST = [
    f"{rule}:mem_mb=60 if attempt == 1 else 1000" for rule in ("ratings", "fit", "describe")
]


@pytest.mark.long
def test_killed_jobs_are_made_again_and_give_the_bytes_of_a_local_run(cluster, project, tmp_path):
    """The first job that makes tables of `mine` is killed because it takes too much memory."""
    folder = copy_project(tmp_path)
    build(
        folder,
        *PROFILE,
        *FIGURES,
        *TABLES,
        "--set-resources",
        *TOO_LITTLE_AT_FIRST,
        **cluster.environment,
    )
    jobs = cluster.jobs()
    assert sorted(job.name for job in jobs.values()) == [
        "figures_mine",
        "figures_smoke",
        "tables_mine",
        "tables_mine",
        "tables_smoke",
    ]
    short_of_memory, made = (job for job in jobs.values() if job.name == "tables_mine")
    assert (short_of_memory.memory, made.memory) == ("120M", "2000M")  # two rules side by side
    assert short_of_memory.state != made.state == "COMPLETED"
    ours, theirs = products(project), products(folder)
    assert set(FIGURES + TABLES) <= {f"results/{path}" for path in theirs}
    assert [path for path in theirs if theirs[path] != ours[path]] == []


def test_a_study_is_built_beside_a_job_that_fails_for_good_and_nothing_is_left_to_do_locally(
    cluster, tmp_path, long
):
    folder, before = copy_project(tmp_path), cluster.jobs()
    rows = (folder / "tests" / "smoke" / "ratings.csv").read_text("utf-8")
    (folder / "broken.csv").write_text(rows.replace(",t0,", ",t0,9", 1), "utf-8")
    (folder / "broken.yaml").write_text(BROKEN, "utf-8")
    # All of it with --long alone: the figure takes a job for tables and one for figures, too
    figure = "results/mine/figures/fig03_self_family_bias.svg"
    targets = ("mine" if long else figure, "results/broken/estimates/main.csv")
    options = {"configs": ["broken.yaml"], **cluster.environment}
    run = snakemake(folder, *PROFILE, *targets, "--keep-going", "--retries", "0", **options)
    assert run.returncode == 1
    jobs = [job for number, job in cluster.jobs().items() if number not in before]
    assert sorted((job.name, job.state) for job in jobs) == [
        ("figures_mine", "COMPLETED"),
        ("tables_broken", "FAILED"),
        ("tables_mine", "COMPLETED"),
    ]
    assert "results/broken/logs/ratings.log" in run.stderr
    log = (folder / "results/broken/logs/ratings.log").read_text("utf-8")
    assert "error: broken.csv, line " in log
    assert (folder / "results/mine/report.html").is_file() == long
    on_cluster = snakemake(folder, *PROFILE, figure, **cluster.environment)
    locally = snakemake(folder, "--cores", "1", figure, targets[0])
    for result in (on_cluster, locally):
        assert_success(result)
        assert "Nothing to be done" in result.stdout + result.stderr


@pytest.mark.long
def test_shards_are_jobs_of_their_own(cluster, tmp_path):
    """A simulated study, whose raw files and tables would otherwise be one job, with the shards
    between them.
    """
    folder, before = copy_project(tmp_path), cluster.jobs()
    (folder / "shards.yaml").write_text("studies: {smoke: {shards: 3}}\n", "utf-8")
    build(folder, *PROFILE, *OF_SHARDS, configs=["shards.yaml"], **cluster.environment)
    names = sorted(job.name for number, job in cluster.jobs().items() if number not in before)
    assert names == [
        "check_part",
        "plan_shards",
        "raw_smoke_simulate_for_shards",
        "shard",
        "shard",
        "shard",
        "tables_smoke",
    ]
