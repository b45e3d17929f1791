"""A spec fitted to group moments, slice by slice."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgebias.design import Term, regressors_of, terms_of
from judgebias.linear import LeastSquares, fit
from judgebias.moments import Moments
from judgebias.spec import Spec


@dataclass(frozen=True)
class Fitted:
    """The fit of one slice: the terms that its rows carry, by how many rows, the result, and the terms that none carries."""

    slice: str
    terms: list[Term]
    rows_with_term: np.ndarray  # (terms,)
    result: LeastSquares
    absent: list[Term]


def fits(spec: Spec, moments: Moments) -> Iterator[Fitted]:
    """Fit each slice of the spec that has rows by least squares on group moments."""
    for label, mask in spec.slices(moments.factors):
        if not mask.any():
            continue
        rows = moments.select(mask)
        terms = terms_of(rows.factors, length=spec.length is not None)
        present = [term for term in terms if term.carried.any()]
        regressors = regressors_of(present, len(rows.n), rows.tensor.shape[1] - 1)
        result = fit(rows, regressors, covariance=spec.covariance)
        carried = np.array([rows.n[term.carried].sum() for term in present])
        yield Fitted(label, present, carried, result, [term for term in terms if not term.carried.any()])
