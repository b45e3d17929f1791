"""Collapse the ratings of a study into cells, and into group moments for each way of normalising the length."""

from collections.abc import Sequence
from pathlib import Path

from judgebias.cells import build_cells, build_moments
from judgebias.logs import logged


def collapse(*, ratings: str, cells: str, moments: Sequence[str]) -> None:
    build_cells(ratings, cells)
    for path in moments:
        build_moments(ratings, Path(path).stem, path)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        collapse(ratings=snakemake.input.ratings, cells=snakemake.output.cells, moments=snakemake.output.moments)
