"""Check the raw files of a study, write its canonical ratings, and collapse them into cells."""

from collections.abc import Mapping, Sequence

from recuse.data.cells import build_cells
from recuse.data.ratings import StudyFiles, normalise_ratings
from recuse.workflow.runner import run


def normalise_study(
    *, study: str, raw: Sequence[str], params: Mapping, ratings: str, cells: str, completeness: str
) -> None:
    normalise_ratings(
        study, StudyFiles.from_config(raw, **params), ratings=ratings, completeness=completeness
    )
    build_cells(ratings, cells)


if __name__ == "__main__":
    run(normalise_study, snakemake)
