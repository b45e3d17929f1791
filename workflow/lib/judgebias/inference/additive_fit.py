"""The additive fit: means of cells of a judge and a model by an effect of the judge and one of the model."""

from dataclasses import dataclass

import numpy as np

from judgebias.fits.linear import determined, inverted


@dataclass(frozen=True)
class AdditiveFit:
    """Least squares of mean_jm = a_j + c_m on some cells, each as one observation."""

    rows: np.ndarray  # (cells, judges + models) of all cells, those that are fitted and the others
    inverse: np.ndarray  # (terms, fitted cells): with the means of the fitted cells, the shortest effects that fit them
    free: np.ndarray  # (terms, directions) in which effects may move without a change of what is fitted

    @classmethod
    def of(cls, judge: np.ndarray, model: np.ndarray, fitted: np.ndarray) -> "AdditiveFit":
        """Lay out the fit; judge, model: (cells,) of str; fitted: (cells,) of bool."""
        rows = np.concatenate([names[:, None] == np.unique(names) for names in (judge, model)], axis=1).astype(float)
        gram = rows[fitted].T @ rows[fitted]
        inverse, null = inverted(gram)
        free = null / np.sqrt(np.maximum(gram.diagonal(), 1.0))[:, None]  # `inverted` speaks of columns of length 1
        return cls(rows, inverse @ rows[fitted].T, free)

    @property
    def rank(self) -> int:
        """Number of directions that the fitted cells tell of."""
        return len(self.free) - self.free.shape[1]

    def leftover(self, fitted: np.ndarray) -> np.ndarray:
        """I - H of the fitted cells, (fitted cells, fitted cells): with their means, the residuals; fitted: as in `of`."""
        return np.eye(int(fitted.sum())) - self.rows[fitted] @ self.inverse

    def determined(self, sums: np.ndarray) -> np.ndarray:
        """Which weighted sums of effects, (sums, terms), the fitted cells determine: (sums,) of bool."""
        return determined(sums @ self.free)
