"""Collapse the ratings of a study into cells, or add up the counts of its shards as cells."""

from collections.abc import Sequence

from recuse.base.runner import run
from recuse.data.cells import build_cells, gather_cells


def write_cells(*, cells: str, ratings: str | None = None, counts: Sequence[str] = ()) -> None:
    if ratings is None:
        gather_cells(counts, cells)
    else:
        build_cells(ratings, cells)


if __name__ == "__main__":
    run(write_cells, snakemake)
