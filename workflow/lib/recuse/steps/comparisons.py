"""Check the verdicts of a study and write its canonical comparisons."""

from collections.abc import Mapping, Sequence

from recuse.pairwise.table import normalise


def normalise_comparisons(
    *, study: str, raw: Sequence[str], params: Mapping, comparisons: str, completeness: str
) -> None:
    """Write the canonical comparisons (parquet) and what is complete (CSV)."""
    normalise(study, raw, **params, comparisons=comparisons, completeness=completeness)
