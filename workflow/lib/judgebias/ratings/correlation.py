"""Agreement of judge and human: the table of correlations."""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from judgebias.ratings.cells import Cells
from judgebias.ratings.contingency import STATISTICS, jackknife_error


def correlations(cells: Cells, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the correlations table: each statistic of human score and rating, by dimension and judge.

    The interval is normal with the jackknife's standard error, rows taken as independent. None without human scores.
    """
    if not cells.has_reference:
        return
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    dimensions, judges = cells.factor("dimension"), cells.factor("judge")
    for dimension in np.unique(dimensions):
        for judge in np.unique(judges[dimensions == dimension]):
            mask = (dimensions == dimension) & (judges == judge)
            references, level = np.unique(cells.reference_raw[mask], return_inverse=True)
            table = np.zeros((len(references), len(cells.ratings)), dtype=np.int64)
            np.add.at(table, level, cells.counts[mask])
            for name, statistic in STATISTICS.items():
                value = float(statistic(table, references, cells.ratings))
                error = jackknife_error(statistic, table, references, cells.ratings)
                yield {
                    "dimension": str(dimension), "judge": str(judge), "statistic": name, "value": value,
                    "std_error": error, "ci_low": value - z * error, "ci_high": value + z * error, "n": int(table.sum()),
                }  # fmt: skip
