"""Write the canonical ratings of one shard of a study, and their counts."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.cells import count_shard
from recuse.data.ratings import StudyFiles, write_shard

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        write_shard(
            StudyFiles.from_config(snakemake.input.raw, **snakemake.params),
            checked=snakemake.input.checked,
            plan=snakemake.input.plan,
            shard=int(snakemake.wildcards.shard) - 1,
            ratings=snakemake.output.ratings,
        )
        count_shard(snakemake.output.ratings, snakemake.output.counts)
