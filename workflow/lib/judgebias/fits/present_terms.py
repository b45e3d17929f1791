"""The terms of a spec that rows carry, and why the others have no coefficient."""

from collections.abc import Mapping

import numpy as np

from judgebias.fits.absorption import absorbed
from judgebias.fits.design import Term
from judgebias.fits.spec import Spec

NO_ROWS = {
    "self_bias": "no row of this judge rates itself",
    "family_bias": "no row of this family's judges rates another model of the family",
}
NO_SLICE = "no row is left"
NO_TERM = "no row carries a term of the model"


def present_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[Term]:
    """List the terms of a spec that some of these groups of rows carry, and that absorption leaves."""
    gone = absorbed(spec, factors)
    return [term for term in spec.terms_of(factors) if term.carried.any() and (term.quantity, term.term) not in gone]


def absent_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[tuple[str, str, str]]:
    """List (quantity, term, reason) of the others."""
    gone = absorbed(spec, factors)
    keys = [(term.quantity, term.term) for term in spec.terms_of(factors) if not term.carried.any()]
    return [*((*key, NO_ROWS[key[0]]) for key in keys), *((*key, reason) for key, reason in gone.items())]
