"""Tabulate the regression of verdicts on pairs of answers: its terms, the verdict on each judge, and the models' strengths."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import REGRESSION, REGRESSION_VERDICTS, STRENGTHS, write_table
from recuse.base.words import counted
from recuse.pairwise.regression import Regression, read_compared
from recuse.pairwise.strengths import strength_rows
from recuse.pairwise.told import verdict_rows
from recuse.pairwise.wordings import rows_over_wordings


def tabulate(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    power: float,
    outputs: Mapping[str, str],
) -> None:
    compared = read_compared(comparisons, families)
    fitted = Regression(compared)
    rows = list(rows_over_wordings(fitted, confidence=confidence))
    told = list(verdict_rows(rows, order=list(families), confidence=confidence, power=power))
    write_table(outputs["regression"], REGRESSION, rows, study=study)
    write_table(outputs["regression_verdicts"], REGRESSION_VERDICTS, told, study=study)
    write_table(outputs["strengths"], STRENGTHS, strength_rows(fitted, confidence=confidence, seed=seed), study=study)
    errors, lengthless = (compared.left_out[name] for name in ("errors", "no_length"))
    print(f"left out: {counted(errors, 'error')}; {counted(lengthless, 'verdict')} without lengths count as of equal length")


if __name__ == "__main__":
    run(tabulate, snakemake)
