"""Effects of completions taken out of a fit, not fitted one by one: there are thousands of them."""

from collections.abc import Mapping

import numpy as np

from judgebias.fits.design import ALL_JUDGES, Term, regressors_of
from judgebias.fits.spec import Spec
from judgebias.ratings.completions import completions_of
from judgebias.ratings.moments import Moments

ABSORBED = "not estimable: the effects of completions account for it"
RELATIVE = "not estimable: the effects of completions leave the intercepts and slopes of judges relative to those of this one"
BY_JUDGE = ("intercept", "slope", "length")
ALIKE = ("dimension", "model", "model_dimension")  # quantities that do not differ between the rows of a completion


def absorbed(spec: Spec, factors: Mapping[str, np.ndarray]) -> dict[tuple[str, str], str]:
    """Why a spec with `absorb` has no such coefficient, by (quantity, term); nothing of one without.

    What does not vary among the rows of a completion is gone; so are intercept and slopes of the first judge by alphabet, as
    those of all judges together do not vary.
    """
    reasons = {}
    first = str(np.unique(factors["judge"])[0]) if spec.absorb else ""
    for term in spec.terms_of(factors) if spec.absorb else []:
        if term.quantity in ALIKE or term.term == ALL_JUDGES:
            reasons[term.quantity, term.term] = ABSORBED
        elif term.quantity in BY_JUDGE and term.term == first:
            reasons[term.quantity, term.term] = RELATIVE
    return reasons


def layout_of(spec: Spec, terms: list[Term], rows: Moments) -> np.ndarray:
    """Lay the terms out as B, (groups, v - 1, terms), as design.regressors_of; with `absorb`, less the means of completions.

    A row's regressors are then x - mean of x over the rows of its completion, M X of all: with A = (X'MX)^-1, the coefficients
    are A X'My, as with a dummy for each completion, and the score of a prompt is X'M(y - X b) over its rows, since each
    completion is of one prompt. Errors CR1 do not count the completions among the regressors: they are nested in the clusters.
    `rows` are then moments that tell apart which judges rated a completion, with one group for each of them.
    Source: Frisch, Waugh and Lovell; Cameron and Miller (2015), section III.B, on effects nested in clusters.
    """
    layout = regressors_of(terms, len(rows.n), rows.tensor.shape[1] - 1)
    if spec.absorb is None or not terms:
        return layout
    kind = completions_of(rows.factors)
    means = np.zeros((kind.max(initial=-1) + 1, *layout.shape[1:]))
    np.add.at(means, kind, layout)
    return layout - (means / np.bincount(kind)[:, None, None])[kind]
