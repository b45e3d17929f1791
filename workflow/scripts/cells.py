"""Collapse the ratings of a study into cells."""

from judgebias.database import bounded_memory
from judgebias.logs import logged
from judgebias.ratings.cells import build_cells

if __name__ == "__main__":
    with logged(snakemake.log[0]), bounded_memory(snakemake.config["memory_limit"], f"{snakemake.log[0]}.spill"):
        build_cells(snakemake.input.ratings, snakemake.output.cells)
