"""Deal the answers of a study to its judges: one from outside its family for each."""

from collections.abc import Sequence

from recuse.base.tables import write_table
from recuse.data.study import StudyTables
from recuse.inference.round_robin import ROUND_ROBIN_PLAN, plan_rows
from recuse.workflow.runner import run


def round_robin_plan(
    *, study: str, cells: str, ratings: Sequence[str], seed: int, table: str
) -> None:
    write_table(
        table,
        ROUND_ROBIN_PLAN,
        plan_rows(StudyTables(study, cells, ratings), seed=seed),
        study=study,
    )


if __name__ == "__main__":
    run(round_robin_plan, snakemake)
