"""Add up the counts of a study's shards as cells."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.cells import gather_cells

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        gather_cells(snakemake.input.counts, snakemake.output.cells)
