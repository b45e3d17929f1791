"""Draw the answers of a study that people should score next."""

from collections.abc import Sequence

from recuse.base.tables import write_table
from recuse.data.study import StudyTables
from recuse.inference.human_scale import NEXT_LABELS, next_label_rows
from recuse.workflow.runner import run


def next_labels(*, study: str, cells: str, ratings: Sequence[str], seed: int, table: str) -> None:
    rows = next_label_rows(StudyTables(study, cells, ratings), seed=seed)
    write_table(table, NEXT_LABELS, rows, study=study)


if __name__ == "__main__":
    run(next_labels, snakemake)
