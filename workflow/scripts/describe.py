"""Tabulate the mean scores and the judge-human correlations of a study."""

from recuse.base.log import logged
from recuse.base.tables import CORRELATIONS, MEAN_SCORES, write_table
from recuse.data.cells import read_cells
from recuse.data.describe import correlations, mean_scores


def describe(*, study: str, cells: str, confidence: float, mean_scores_path: str, correlations_path: str) -> None:
    table = read_cells(cells)
    write_table(mean_scores_path, MEAN_SCORES, ({"study": study, **row} for row in mean_scores(table)))
    rows = correlations(table, confidence=confidence)
    write_table(correlations_path, CORRELATIONS, ({"study": study, **row} for row in rows))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        describe(
            study=snakemake.wildcards.study,
            cells=snakemake.input.cells,
            confidence=snakemake.params.confidence,
            mean_scores_path=snakemake.output.mean_scores,
            correlations_path=snakemake.output.correlations,
        )
