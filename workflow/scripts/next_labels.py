"""Draw the answers of a study that people should score next."""

from recuse.base.tables import write_table
from recuse.data.study import StudyTables
from recuse.inference.human_scale import NEXT_LABELS, next_label_rows
from recuse.workflow.runner import run


def next_labels(*, tables: StudyTables, seed: int, table: str) -> None:
    write_table(table, NEXT_LABELS, next_label_rows(tables, seed=seed), study=tables.name)


if __name__ == "__main__":
    run(next_labels, snakemake)
