"""Compare which own answers, right and wrong by gold labels, a judge passes with four baselines."""

from collections.abc import Sequence

from recuse.base.database import connect
from recuse.base.tables import write_table
from recuse.inference.gold import CASES_OF_RATINGS, GOLD, create_marks_of_ratings
from recuse.inference.gold import gold as gold_rows
from recuse.workflow.runner import run


def tabulate(
    *,
    study: str,
    ratings: Sequence[str],
    pass_mark: float,
    confidence: float,
    power: float,
    gold: str,
) -> None:
    connection = connect()
    judges, families = create_marks_of_ratings(connection, ratings, pass_mark=pass_mark)
    settings = {"cases": CASES_OF_RATINGS, "confidence": confidence, "power": power}
    rows = gold_rows(connection, families=families, judges=judges, **settings)
    write_table(gold, GOLD, rows, study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
