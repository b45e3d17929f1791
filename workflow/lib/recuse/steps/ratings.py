"""Check the raw files of a study, write its canonical ratings, and collapse them into cells."""

from recuse.data.cells import write_cells
from recuse.data.ratings import StudyFiles, normalise_ratings


def normalise_study(
    *, study: str, source: StudyFiles, ratings: str, cells: str, completeness: str
) -> None:
    """Write the canonical ratings and the cells (parquet), and what is complete (CSV)."""
    written = {"ratings": ratings, "completeness": completeness}
    write_cells(normalise_ratings(study, source, **written), cells)
