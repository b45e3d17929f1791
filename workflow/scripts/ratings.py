"""Check the raw files of a study and write its canonical ratings."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.data.ratings import StudyFiles, normalise


def normalise_study(*, study: str, raw: Sequence[str], params: Mapping, ratings: str, completeness: str) -> None:
    normalise(study, StudyFiles.from_config(raw, **params), ratings=ratings, completeness=completeness)


if __name__ == "__main__":
    run(normalise_study, snakemake)
