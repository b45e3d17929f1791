"""Compare the verdicts on own answers, right and wrong by a key, with four baselines."""

from collections.abc import Mapping

from recuse.base.database import connect, files
from recuse.base.runner import run
from recuse.base.tables import GOLD, write_table
from recuse.inference.gold import CASES_OF_PAIRS
from recuse.inference.gold import gold as gold_rows
from recuse.pairwise.gold import create_marks_of_pairs


def tabulate(*, study: str, comparisons: str, families: Mapping[str, str], confidence: float, power: float, gold: str) -> None:
    connection = connect()
    judges = create_marks_of_pairs(connection, files([comparisons]))
    settings = {"cases": CASES_OF_PAIRS, "confidence": confidence, "power": power}
    rows = gold_rows(connection, families=families, judges=judges, **settings)
    write_table(gold, GOLD, rows, study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
