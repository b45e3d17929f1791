"""The basis and the penalty of a judge's curve against pygam's."""

import numpy as np
import pytest
from pygam import s

from recuse.model.gam import Spline

SIZES = [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (10, 3)]  # (functions, order), as judges with few references have them


@pytest.mark.parametrize(("functions", "order"), SIZES)
def test_basis_and_penalty_are_pygams(functions, order):
    low, high = (0.3, 0.3) if functions == 1 else (0.05, 0.95)
    values = np.append(np.linspace(low, high, 53), [high, low])
    spline, theirs = Spline(low, high, functions, order), s(0, functions, spline_order=order, edge_knots=[low, high], lam=1.0)
    np.testing.assert_allclose(spline.basis(values), theirs.build_columns(values[:, None]).toarray(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(spline.basis(values).sum(axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(spline.penalty(), theirs.build_penalties().toarray())
