"""Tabulate the mean scores and the judge-human correlations of a study."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import CORRELATIONS, MEAN_SCORES, write_table
from recuse.data.cells import read_cells
from recuse.data.describe import correlations, mean_scores


def describe(*, study: str, cells: str, confidence: float, outputs: Mapping[str, str]) -> None:
    table = read_cells(cells)
    write_table(outputs["mean_scores"], MEAN_SCORES, mean_scores(table), study=study)
    write_table(outputs["correlations"], CORRELATIONS, correlations(table, confidence=confidence), study=study)


if __name__ == "__main__":
    run(describe, snakemake)
