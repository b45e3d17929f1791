"""Check some of the raw files of a study and write their rows by prompt."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.data.ratings import StudyFiles, check_files


def check_part(*, raw: Sequence[str], params: Mapping, checked: str, summary: str) -> None:
    check_files(StudyFiles.from_config(raw, **params), checked=checked, summary=summary)


if __name__ == "__main__":
    run(check_part, snakemake)
