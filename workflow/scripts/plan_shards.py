"""Plan which prompts each shard of a study holds, from the summaries of its checked files."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.ratings import StudyFiles, plan_study

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        plan_study(
            snakemake.wildcards.study,
            StudyFiles.from_config(
                [],
                [],
                scales=snakemake.params.scales,
                task_types=snakemake.params.task_types,
                models=snakemake.params.models,
            ),
            summaries=snakemake.input.summaries,
            shards=snakemake.params.shards,
            plan=snakemake.output.plan,
            completeness=snakemake.output.completeness,
        )
