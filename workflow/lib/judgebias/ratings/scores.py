"""Mean scores: what each judge, and the humans, gave each model."""

from collections.abc import Iterator

import numpy as np

from judgebias.ratings.cells import Cells
from judgebias.ratings.registry import HUMAN


def mean_scores(cells: Cells) -> Iterator[dict]:
    """Yield the rows of the mean-scores table, on the unit scale: pooled (dimension empty), then by dimension.

    A mean is over rows: for the judge `Human`, over the rows of all judges, as in the published heatmaps (Figures 2 and 6 of
    Play Favorites), so that a completion weighs by how many judges rated it; without human scores there is no such judge.
    """
    dimensions, judges, models = (cells.factors[factor] for factor in ("dimension", "judge", "model"))
    n = cells.sum_by_group(cells.n)
    human = cells.sum_by_group(cells.n * cells.reference)
    judged = cells.sum_by_group((cells.counts * cells.ratings_unit).sum(axis=1))
    for dimension in ("", *np.unique(dimensions)):
        chosen = np.ones(len(n), dtype=bool) if dimension == "" else dimensions == dimension
        for judge in (*np.unique(judges[chosen]), *([HUMAN] if cells.has_reference else [])):
            by_judge = chosen if judge == HUMAN else chosen & (judges == judge)
            total = human if judge == HUMAN else judged
            for model in np.unique(models[by_judge]):
                mask = by_judge & (models == model)
                row = {"dimension": str(dimension), "judge": str(judge), "model": str(model)}
                yield {**row, "mean": float(total[mask].sum() / n[mask].sum()), "n": round(n[mask].sum())}
