"""Collapse the ratings of a study into cells."""

from judgebias.cells import build_cells
from judgebias.logs import logged

if __name__ == "__main__":
    with logged(snakemake.log[0]):
        build_cells(snakemake.input.ratings, snakemake.output.cells)
