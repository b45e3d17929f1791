"""Shards on a real SLURM: every one a job of its own, the tables after them one job, and the bytes those of one machine."""

import pytest

from workflow_runs import copy_project, products, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.slurm]
pytest_plugins = ["slurm_cluster"]

PROFILE = ("--workflow-profile", "workflow/profiles/slurm", "--cores", "2", "--slurm-init-seconds-before-status-checks", "2")
TARGETS = [f"results/smoke/{table}.csv" for table in ("tables/recovery", "tables/agreement", "tables/completeness")]


def test_shards_are_jobs_of_their_own(cluster, tmp_path_factory):
    """A simulated study, whose raw files and tables would otherwise be one job, with the shards between them."""
    folders = [copy_project(tmp_path_factory.mktemp(name)) for name in ("here", "there")]
    for folder in folders:
        (folder / "shards.yaml").write_text("studies: {smoke: {shards: 3}}\n", "utf-8")
    here, there = folders
    before = cluster.jobs()
    run = snakemake(there, *PROFILE, *TARGETS, configs=["shards.yaml"], **cluster.environment)
    assert run.returncode == 0, run.stdout + run.stderr
    names = sorted(job.name for number, job in cluster.jobs().items() if number not in before)
    assert names == ["check_part", "plan_shards", "raw_smoke_simulate_for_shards", "shard", "shard", "shard", "tables_smoke"]
    run = snakemake(here, "--cores", "2", *TARGETS, configs=["shards.yaml"])
    assert run.returncode == 0, run.stdout + run.stderr
    ours, theirs = products(here), products(there)
    assert ours.keys() == theirs.keys()
    assert [path for path in ours if ours[path] != theirs[path]] == []
