"""Collapse the ratings of a study into cells."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.cells import build_cells

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        build_cells(snakemake.input.ratings, snakemake.output.cells)
