"""Collapse the ratings of a study into cells and group moments."""

from judgebias.cells import build_cells, build_moments
from judgebias.logs import logged


def collapse(*, ratings: str, cells: str, moments: str) -> None:
    build_cells(ratings, cells)
    build_moments(ratings, moments)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        collapse(ratings=snakemake.input.ratings, cells=snakemake.output.cells, moments=snakemake.output.moments)
