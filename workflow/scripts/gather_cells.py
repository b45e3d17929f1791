"""Add up the counts of a study's shards as cells."""

from collections.abc import Sequence

from recuse.data.cells import gather_cells
from recuse.workflow.runner import run


def gather(*, counts: Sequence[str], cells: str) -> None:
    gather_cells(counts, cells)


if __name__ == "__main__":
    run(gather, snakemake)
