"""Check some of the raw files of a study and write their rows by prompt."""

from collections.abc import Mapping, Sequence

from recuse.data.ratings import StudyFiles, check_files
from recuse.workflow.runner import run


def check_part(*, raw: Sequence[str], params: Mapping, checked: str, summary: str) -> None:
    check_files(StudyFiles.from_config(raw, **params), checked=checked, summary=summary)


if __name__ == "__main__":
    run(check_part, snakemake)
