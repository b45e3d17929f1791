"""Add up the counts of a study's shards as cells."""

from collections.abc import Sequence

from recuse.base.runner import run
from recuse.data.cells import gather_cells


def gather(*, counts: Sequence[str], cells: str) -> None:
    gather_cells(counts, cells)


if __name__ == "__main__":
    run(gather, snakemake)
