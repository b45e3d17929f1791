"""Check some of the raw files of a study and write their rows by prompt."""

from recuse.data.ratings import StudyFiles, check_files
from recuse.workflow.runner import run


def check_part(*, source: StudyFiles, checked: str, summary: str) -> None:
    check_files(source, checked=checked, summary=summary)


if __name__ == "__main__":
    run(check_part, snakemake)
