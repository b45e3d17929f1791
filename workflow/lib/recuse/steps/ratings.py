"""Check the raw files of a study, write its canonical ratings, and collapse them into cells."""

from recuse.data.cells import build_cells
from recuse.data.ratings import StudyFiles, normalise_ratings


def normalise_study(
    *, study: str, source: StudyFiles, ratings: str, cells: str, completeness: str
) -> None:
    """Write the canonical ratings and the cells (parquet), and what is complete (CSV)."""
    normalise_ratings(study, source, ratings=ratings, completeness=completeness)
    build_cells(ratings, cells)
