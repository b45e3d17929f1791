"""Collapse the ratings of a study into cells, for human and for judges' references, and into moments for each way of length."""

from collections.abc import Sequence
from pathlib import Path

from judgebias.cells import build_cells, build_moments, build_references
from judgebias.logs import logged


def collapse(*, ratings: str, cells: str, references: str, moments: Sequence[str]) -> None:
    build_cells(ratings, cells)
    build_references(ratings, references)
    for path in moments:
        build_moments(ratings, Path(path).stem, path)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        collapse(
            ratings=snakemake.input.ratings,
            cells=snakemake.output.cells,
            references=snakemake.output.references,
            moments=snakemake.output.moments,
        )
