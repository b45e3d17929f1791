"""Plan which prompts each shard of a study holds, from the summaries of its checked files."""

from collections.abc import Mapping, Sequence

from recuse.data.ratings import StudyFiles, plan_study
from recuse.workflow.runner import run


def plan_shards(
    *,
    study: str,
    summaries: Sequence[str],
    scales: Mapping,
    task_types: Mapping,
    models: Mapping,
    trusted: Sequence[str],
    number: int,
    plan: str,
    completeness: str,
) -> None:
    source = StudyFiles.from_files(
        [], [], scales=scales, task_types=task_types, models=models, trusted=trusted
    )
    plan_study(
        study, source, summaries=summaries, shards=number, plan=plan, completeness=completeness
    )


if __name__ == "__main__":
    run(plan_shards, snakemake)
