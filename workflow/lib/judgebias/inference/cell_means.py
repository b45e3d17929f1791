"""Mean rating of each judge for each model, less what the reference and the dimension account for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from judgebias.fits.linear import determined, inverted
from judgebias.inference.words import FAMILY, OWN, PLACEBO
from judgebias.ratings.moments import RATING, REFERENCE, Moments

NO_SLOPE = "not estimable: the reference does not vary within any dimension and model that this judge rates"


@dataclass(frozen=True)
class CellMeans:
    """The judge x model cells of a slice, in the order of judge and model, those of a judge without slope left out."""

    judge: np.ndarray  # (cells,) of str, as are the next three
    model: np.ndarray
    judge_family: np.ndarray
    model_family: np.ndarray
    mean: np.ndarray  # (cells,) in points of the unit scale
    n: np.ndarray  # (cells,) rows
    without_slope: Mapping[str, str] = field(default_factory=dict)  # judge -> why

    @property
    def own(self) -> np.ndarray:
        """Cells of a judge and itself, (cells,) of bool."""
        return self.judge == self.model

    @property
    def same_family(self) -> np.ndarray:
        """Cells of a judge and another model of its family, (cells,) of bool."""
        return (self.judge_family == self.model_family) & ~self.own

    @property
    def relation(self) -> np.ndarray:
        """What the model of each cell is to its judge: OWN, FAMILY or PLACEBO, (cells,) of str."""
        return np.select([self.own, self.same_family], [OWN, FAMILY], PLACEBO)


def cell_means(moments: Moments, *, reference: bool = True) -> CellMeans:
    """Compute r_jm = mean over rows of rating - b_j covariates - effect of the dimension, of the rows behind `moments`.

    The covariates are the reference, unless the rows have none, and, if there is one, the length. b_j is the least-squares
    slope of judge j within its dimension x model cells, so that no taste of the judge is in it. The effects of dimensions,
    common to all judges, are least squares of the adjusted means of judge x model x dimension cells on judge x model and
    dimension, weighted by rows; their rows' mean is 0.
    """
    factors = moments.factors
    names = np.stack([factors[name] for name in ("judge", "model", "dimension")], axis=1)
    kinds, first, place = np.unique(names, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros((len(kinds), *moments.tensor.shape[3:]))  # (kinds, v, v): sums of u u'
    np.add.at(sums, place, moments.tensor[:, 0, 0])
    if not reference:
        sums = np.delete(np.delete(sums, REFERENCE, axis=1), REFERENCE, axis=2)
    judges, judge = np.unique(kinds[:, 0], return_inverse=True)
    slopes, known = _slopes_within(sums, judge, len(judges))
    n, kept = sums[:, 0, 0], known[judge]
    adjusted = sums[:, 0, RATING] / n - np.einsum("kc,kc->k", sums[:, 0, RATING + 1 :] / n[:, None], slopes[judge])
    cells, cell = np.unique(kinds[kept, :2], axis=0, return_inverse=True)
    mean = _without_dimensions(adjusted[kept], n[kept], cell, kinds[kept, 2])
    where = first[kept][np.unique(cell, return_index=True)[1]]
    families = (factors[name][where] for name in ("judge_family", "model_family"))
    lost = {str(name): NO_SLOPE for name in judges[~known]}
    return CellMeans(cells[:, 0], cells[:, 1], *families, mean, np.bincount(cell, n[kept]), lost)


def _slopes_within(sums: np.ndarray, judge: np.ndarray, judges: int) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the covariates within kinds, (judges, covariates), and whether all of a judge's are determined, (judges,).

    sums: (kinds, v, v) over u = (1, rating, covariates...).
    """
    centred = sums[:, 1:, 1:] - sums[:, 0, 1:, None] * sums[:, 0, None, 1:] / sums[:, 0, 0, None, None]
    # What does not vary within a kind leaves a difference of equal terms: rounding.
    centred[np.abs(centred) < 1e-12 * np.abs(sums[:, 1:, 1:])] = 0.0
    total = np.zeros((judges, *centred.shape[1:]))
    np.add.at(total, judge, centred)
    slopes = np.zeros((judges, total.shape[1] - 1))
    known = np.full(judges, not slopes.shape[1])  # where there is no covariate, nothing is to be determined
    for place, product in enumerate(total):
        if product[1:, 1:].any():
            inverse, null = inverted(product[1:, 1:])
            slopes[place], known[place] = inverse @ product[1:, 0], determined(null).all()
    return slopes, known


def _without_dimensions(values: np.ndarray, n: np.ndarray, cell: np.ndarray, dimension: np.ndarray) -> np.ndarray:
    """Means over rows of `values` less the effects of dimensions, (cells,); the arguments are (kinds,)."""
    _, level = np.unique(dimension, return_inverse=True)
    rows = np.bincount(cell, n)
    dummies = (level[:, None] == np.arange(level.max(initial=-1) + 1)).astype(float)
    dummies -= np.average(dummies, axis=0, weights=n) if len(n) else 0.0
    within = dummies - (_sums(dummies * n[:, None], cell) / rows[:, None])[cell]
    centred = values - (np.bincount(cell, values * n) / rows)[cell]
    effects = np.linalg.lstsq(within * np.sqrt(n)[:, None], centred * np.sqrt(n), rcond=1e-10)[0]
    return np.bincount(cell, (values - dummies @ effects) * n) / rows


def _sums(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Sums of the rows of `values`, (kinds, columns), by place."""
    total = np.zeros((place.max(initial=-1) + 1, values.shape[1]))
    np.add.at(total, place, values)
    return total
