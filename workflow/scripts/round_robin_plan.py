"""Deal the answers of a study to its judges: one from outside its family for each."""

from recuse.base.tables import write_table
from recuse.data.study import StudyTables
from recuse.inference.round_robin import ROUND_ROBIN_PLAN, plan_rows
from recuse.workflow.runner import run


def round_robin_plan(*, tables: StudyTables, seed: int, table: str) -> None:
    write_table(table, ROUND_ROBIN_PLAN, plan_rows(tables, seed=seed), study=tables.name)


if __name__ == "__main__":
    run(round_robin_plan, snakemake)
