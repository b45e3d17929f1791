"""Tabulate the regression of verdicts on pairs of answers: its terms and the models' strengths."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import REGRESSION, STRENGTHS, write_table
from recuse.base.words import counted
from recuse.pairwise.regression import Regression, read_compared
from recuse.pairwise.strengths import strength_rows
from recuse.pairwise.wordings import rows_over_wordings


def tabulate(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    compared = read_compared(comparisons, families)
    fitted = Regression(compared)
    rows = rows_over_wordings(fitted, confidence=confidence)
    write_table(outputs["regression"], REGRESSION, rows, study=study)
    write_table(outputs["strengths"], STRENGTHS, strength_rows(fitted, confidence=confidence, seed=seed), study=study)
    errors, lengthless = (compared.left_out[name] for name in ("errors", "no_length"))
    print(f"left out: {counted(errors, 'error')}; {counted(lengthless, 'verdict')} without lengths count as of equal length")


if __name__ == "__main__":
    run(tabulate, snakemake)
