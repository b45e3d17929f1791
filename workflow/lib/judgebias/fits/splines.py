"""P-splines: B-splines on equidistant knots, and the differences of their coefficients that are penalised."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spline:
    """A basis of B-splines between two ends: `functions` of them, of an order from 0 (constant) to functions - 1.

    The knots are equidistant, functions - order intervals from `low` to `high` and `order` more beyond each end; between the
    ends, the functions add up to 1. Source: Eilers and Marx (1996). It is the basis and the penalty of pygam's `s`, which takes
    half a second to import.
    """

    low: float
    high: float
    functions: int
    order: int

    def basis(self, values: np.ndarray) -> np.ndarray:
        """Values of the functions, (n, functions), at `values`, (n,), between the ends."""
        intervals = self.functions - self.order
        place = (values - self.low) / (self.high - self.low if self.high > self.low else 1.0) * intervals
        interval = np.clip(place.astype(int), 0, intervals - 1)  # the last one holds its upper end
        inside = place - interval
        # De Boor's recursion over the functions that are not 0 in the interval, m of them of order m - 1.
        local = np.ones((1, len(values)))
        for m in range(1, self.order + 1):
            j = np.arange(m)[:, None]
            wider = np.zeros((m + 1, len(values)))
            wider[:-1] = (1 - inside + j) * local
            wider[1:] += (inside + m - 1 - j) * local
            local = wider / m
        columns = np.zeros((len(values), self.functions))
        np.put_along_axis(columns, interval[:, None] + np.arange(self.order + 1), local.T, axis=1)
        return columns

    def penalty(self) -> np.ndarray:
        """P with b'Pb the sum of squared second differences of coefficients b, (functions, functions)."""
        differences = np.diff(np.eye(self.functions), n=2, axis=0)
        return differences.T @ differences
