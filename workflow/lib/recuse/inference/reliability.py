"""Reliability of the human scores: the share of their variance between completions, not between
raters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recuse.base.database import connect, files, text
from recuse.base.reasons import Reason, because
from recuse.base.tables import Row, column_names, read_table
from recuse.data.cells import occasion_in
from recuse.data.registry import RATERS
from recuse.data.study import StudyTables

RELIABILITY = column_names("study dimension single raters mean origin")

OF_RATERS, OF_ALPHA = "raters", "Krippendorff's alpha"  # sources of a reliability
ALPHA = "krippendorff_alpha"  # the fact, in the table of facts


@dataclass(frozen=True)
class Reliability:
    """Reliability of one rater, and of the mean of all, in one dimension."""

    single: float
    raters: float  # their harmonic mean over completions
    mean: float
    origin: str  # OF_RATERS or OF_ALPHA


def spearman_brown(single: float, raters: float) -> float:
    """Compute the reliability k r / (1 + (k - 1) r) of the mean of k raters from that of one, r.

    Source: Spearman (1910) and Brown (1910), British Journal of Psychology 3.

    >>> round(spearman_brown(0.31, 3), 4)
    0.5741
    """
    return raters * single / (1 + (raters - 1) * single)


def one_way(count: np.ndarray, total: np.ndarray, squares: np.ndarray) -> Reliability | None:
    """Compute the reliability from raters: the intraclass correlation of a one-way analysis of
    variance, ICC(1).

    single = (MSB - MSW) / (MSB + (k0 - 1) MSW) with the mean squares between and within
    completions, and k0 = (N - sum k^2 / N) / (completions - 1) of N scores. Negative where
    completions differ less than raters do by chance. None where no completion has two raters, there
    is only one completion, or all scores are equal.
    count, total, squares: (completions,) scores of each completion, their sum and their sum of
    squares.
    Source: Shrout and Fleiss (1979), case 1; Donner (1986) for unequal numbers of raters.
    """
    scores = count.sum()
    completions = len(count)
    if completions < 2 or scores <= completions:
        return None
    within = float(np.maximum(squares - total**2 / count, 0.0).sum() / (scores - completions))
    means = total / count
    between = float((count * (means - total.sum() / scores) ** 2).sum() / (completions - 1))
    raters = float((scores - (count**2).sum() / scores) / (completions - 1))
    spread = between + (raters - 1) * within
    if not spread > 0:
        return None
    single = (between - within) / spread
    harmonic = float(1 / np.mean(1 / count))
    return Reliability(single, harmonic, spearman_brown(single, harmonic), OF_RATERS)


def estimated_reliability(
    study: StudyTables, *, raters: Sequence[str], alphas: Sequence[str], of_alpha: int
) -> dict[str, Reliability]:
    """Compute the reliability by dimension from the canonical raters (parquet), else from published
    alphas (CSV), if any.

    of_alpha: raters of each completion, where it is from alphas.
    """
    if raters:
        return reliability_of_raters(raters[0])
    published = reliability_of_alphas(alphas[0], raters=of_alpha) if alphas else {}
    dimensions = set(map(str, study.cells().factors["dimension"]))
    return {name: reliability for name, reliability in published.items() if name in dimensions}


def reliability_of_raters(path: str) -> dict[str, Reliability]:
    """Compute the reliability by dimension from the canonical raters (parquet), without the gold
    team, where `one_way` can.
    """
    completion = ", ".join(("dimension", "prompt_id", "model", "dataset", *occasion_in(path)))
    query = f"""
        select {completion}, count(*) as count, sum(rating) as total, sum(rating * rating) as squares
        from {files([path])} where team = {text(RATERS)} group by all order by all"""
    rows = connect().execute(query).fetchnumpy()
    sums = [np.asarray(rows[name]).astype(float) for name in ("count", "total", "squares")]
    dimension = rows["dimension"].astype(str)
    found = {}
    for level in np.unique(dimension).tolist():
        reliability = one_way(*(column[dimension == level] for column in sums))
        if reliability is not None:
            found[level] = reliability
    return found


def reliability_of_alphas(path: str, *, raters: int) -> dict[str, Reliability]:
    """Use Krippendorff's alpha, at the interval level, as the reliability of one rater, by
    dimension.

    Both are 1 - (variance within completions) / (variance of all scores), up to terms of the order
    1 / scores.
    path: the table of facts on the published ratings (CSV).
    """
    alphas = {
        row["dimension"]: float(row["value"]) for row in read_table(path) if row["fact"] == ALPHA
    }
    return {
        name: Reliability(alpha, raters, spearman_brown(alpha, raters), OF_ALPHA)
        for name, alpha in alphas.items()
    }


def mean_reliability(rows: Iterable[Row]) -> float:
    """The mean over dimensions of the reliability of the mean human score, between 0 and 1; 1 where
    none is known.

    rows: of the table of reliabilities, texts as in a CSV file.
    """
    known = [min(max(float(row["mean"]), 0.0), 1.0) for row in rows]
    return sum(known) / len(known) if known else 1.0


def unusable(reliability: Mapping[str, float], dimensions: np.ndarray) -> str:
    """Why these reliabilities cannot correct all of `dimensions`, or ""."""
    names = list(map(str, np.unique(dimensions)))
    if unknown := [name for name in names if name not in reliability]:
        return because(Reason.RELIABILITY_UNKNOWN, names=", ".join(unknown))
    outside = [name for name in names if not 0 < reliability[name] <= 1]
    return because(Reason.RELIABILITY_UNUSABLE, names=", ".join(outside)) if outside else ""
