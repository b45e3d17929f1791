"""Check the verdicts of a study and write its canonical comparisons."""

from collections.abc import Mapping, Sequence

from recuse.pairwise.table import normalise
from recuse.workflow.runner import run


def normalise_study(
    *, study: str, raw: Sequence[str], params: Mapping, comparisons: str, completeness: str
) -> None:
    normalise(study, raw, **params, comparisons=comparisons, completeness=completeness)


if __name__ == "__main__":
    run(normalise_study, snakemake)
