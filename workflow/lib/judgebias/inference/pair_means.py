"""Mean rating that each judge gave each model, mean reference beside it, and the same in resamples of prompts."""

from dataclasses import dataclass

import numpy as np

from judgebias.fits.prompt_bootstrap import ResampledTotals
from judgebias.fits.prompt_sums import SliceCells, add_prompts, products
from judgebias.fits.spec import Spec
from judgebias.ratings.moments import RATING, REFERENCE, Moments
from judgebias.ratings.study import Study


@dataclass(frozen=True)
class Pairs:
    """The pairs of a judge and a model, of the rows of one slice: all judges by all models that it has."""

    judges: np.ndarray  # (J,) of str
    models: np.ndarray  # (M,) of str
    pair: np.ndarray  # (groups,) place of each group's pair in the raveled (J, M)

    @classmethod
    def of(cls, moments: Moments) -> "Pairs":
        """Number the pairs of the groups of `moments`."""
        judges, judge = np.unique(moments.factors["judge"], return_inverse=True)
        models, model = np.unique(moments.factors["model"], return_inverse=True)
        return cls(judges, models, judge * len(models) + model)

    @property
    def shape(self) -> tuple[int, int]:
        """(J, M)."""
        return len(self.judges), len(self.models)

    def means(self, moments: Moments) -> np.ndarray:
        """Means over the rows of each pair, (2, J, M), on the unit scale: rating, then reference; NaN without rows."""
        sums = moments.tensor[:, 0, 0, 0]
        found = [np.bincount(self.pair, sums[:, of], minlength=np.prod(self.shape)) for of in (0, RATING, REFERENCE)]
        return _quotients(np.concatenate(found)).reshape(2, *self.shape)


class PairMeans:
    """Means of the pairs of one slice in resamples of its prompts, which come a few at a time, each with all its rows.

    The resamples are those of a PromptBootstrap with the same seed, prompts and replicates.
    """

    def __init__(self, pairs: int, *, width: int, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; width: the rating's place, as in `products`; prompts: how many the study has."""
        self._resampled = ResampledTotals(3 * pairs, prompts=prompts, replicates=replicates, seed=seed)
        self._summed = [products(width).index(product) for product in ((0, 0), (0, width), (0, 1))]

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`, a cell for each pair."""
        self._resampled.add(prompts, sums[:, self._summed].reshape(len(sums), -1))

    def means(self) -> np.ndarray:
        """Means of each pair in each replicate, (replicates, 2, pairs); NaN where its prompts have no row of the pair."""
        return _quotients(self._resampled.totals())


def resampled_means(spec: Spec, study: Study, *, replicates: int, seed: int) -> list[np.ndarray | None]:
    """Means of the pairs of each slice of the spec, (replicates, 2, J, M), by one pass over the rows: ratings, then references.

    None for a slice without rows.
    """
    moments = study.moments_for(spec)
    width = moments.tensor.shape[1] - 1
    takers, found = [], []
    for _, mask in spec.slices(moments.factors):
        pairs = Pairs.of(moments.select(mask))
        size = int(np.prod(pairs.shape))
        means = PairMeans(size, width=width, prompts=study.prompts, replicates=replicates, seed=seed) if size else None
        if means is not None:
            takers.append((SliceCells(np.flatnonzero(mask), pairs.pair, size), [means]))
        found.append((pairs.shape, means))
    add_prompts(takers, study.row_blocks(spec, moments.factors) if takers else (), len(moments.n))
    return [None if means is None else means.means().reshape(-1, 2, *shape) for shape, means in found]


def _quotients(totals: np.ndarray) -> np.ndarray:
    """Means (..., 2, pairs) of totals (..., 3 pairs): rows of all pairs, then ratings, then references; NaN without rows."""
    rows, *sums = np.split(totals, 3, axis=-1)
    return np.stack([np.divide(each, rows, out=np.full_like(each, np.nan), where=rows > 0) for each in sums], axis=-2)
