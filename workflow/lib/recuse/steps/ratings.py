"""Check the raw files of a study, write its canonical ratings, and collapse them into cells."""

from collections.abc import Mapping, Sequence

from recuse.data.cells import build_cells
from recuse.data.ratings import StudyFiles, normalise_ratings


def normalise_study(
    *, study: str, raw: Sequence[str], params: Mapping, ratings: str, cells: str, completeness: str
) -> None:
    """Write the canonical ratings and the cells (parquet), and what is complete (CSV); params: see
    `StudyFiles.from_config`.
    """
    normalise_ratings(
        study, StudyFiles.from_config(raw, **params), ratings=ratings, completeness=completeness
    )
    build_cells(ratings, cells)
