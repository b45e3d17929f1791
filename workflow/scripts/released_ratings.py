"""Write the raw ratings of a published study from its files, and what they hold."""

from collections.abc import Sequence

from recuse.papers.multivac import read_multivac
from recuse.workflow.runner import run


def read_released(*, study: str, raw: Sequence[str], ratings: str, imported: str) -> None:
    read_multivac(study, raw, ratings=ratings, imported=imported)


if __name__ == "__main__":
    run(read_released, snakemake)
