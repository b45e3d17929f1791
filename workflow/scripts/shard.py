"""Write the canonical ratings of one shard of a study, and their counts."""

from judgebias.database import bounded_memory
from judgebias.logs import logged
from judgebias.ratings.cells import count_shard
from judgebias.ratings.checked_rows import StudyFiles
from judgebias.ratings.ratings import write_shard

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
