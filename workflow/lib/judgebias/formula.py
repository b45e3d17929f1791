"""The same specs by statsmodels' formulas on raw rows: slow, independent, there to check the fast way."""

import re
from collections.abc import Iterator

import numpy as np

from judgebias.cells import FACTORS
from judgebias.database import connect, text
from judgebias.design import terms_of
from judgebias.fits import Fitted
from judgebias.lengths import with_normalised_length
from judgebias.linear import LeastSquares
from judgebias.spec import Spec
from judgebias.study import Study

QUANTITIES = {
    ("judge", None): "intercept",
    ("judge", "gt_unit"): "slope",
    ("judge", "x"): "length",
    ("own", None): "self_bias",
    ("same_family", None): "family_bias",
    ("dimension", None): "dimension",
}
NONE = " none"  # sorts before every name, so that it is the reference level
COVARIANCES = {"HC0": "HC0", "HC1": "HC1", "classical": "nonrobust"}


def fits_by_formula(spec: Spec, study: Study) -> Iterator[Fitted]:
    """Fit each slice of the spec with `statsmodels.formula.api.ols` on the rows of `ratings.parquet`.

    Equation 1 reads: rating_unit ~ 0 + judge + judge:gt_unit + own + same_family + dimension (+ judge:x for length control),
    with own the judge's name on its own completions and same_family the family's name on those of its siblings.
    """
    rows = f"select * from read_parquet({text(study.ratings)})"
    if spec.length is not None:
        rows = with_normalised_length(rows, spec.length)
    frame = connect().execute(rows).df()
    own = frame["judge"] == frame["model"]
    frame["own"] = frame["judge"].where(own, NONE)
    frame["same_family"] = frame["judge_family"].where((frame["judge_family"] == frame["model_family"]) & ~own, NONE)
    factors = {factor: frame[factor].to_numpy(dtype=str) for factor in FACTORS}
    for label, mask in spec.slices(factors):
        yield _fit(spec, label, frame[mask], {factor: values[mask] for factor, values in factors.items()})


def _fit(spec: Spec, label: str, frame, factors: dict[str, np.ndarray]) -> Fitted:
    from statsmodels.formula.api import ols

    formula = "rating_unit ~ 0 + judge + judge:gt_unit"
    formula += "".join(f" + {term}" for term in ("own", "same_family", "dimension") if frame[term].nunique() > 1)
    fitted = ols(formula + (" + judge:x" if spec.length else ""), frame).fit(cov_type=COVARIANCES[spec.covariance])
    place = {_coefficient(name): place for place, name in enumerate(fitted.model.exog_names)}
    terms = terms_of(factors, length=spec.length is not None)
    present = [term for term in terms if (term.quantity, term.term) in place]
    order = [place[term.quantity, term.term] for term in present]
    identified = _identified(fitted.model.exog)[order]
    estimate = np.where(identified, np.asarray(fitted.params)[order], np.nan)
    covariance = np.asarray(fitted.cov_params())[np.ix_(order, order)]
    result = LeastSquares(estimate, covariance, identified, int(fitted.nobs), round(fitted.df_model + fitted.k_constant))
    counts = np.array([term.carried.sum() for term in present])
    return Fitted(label, present, counts, result, [t for t in terms if (t.quantity, t.term) not in place])


def _coefficient(name: str) -> tuple[str, str]:
    factor, level, covariate = re.fullmatch(r"(\w+)\[(?:T\.)?(.+?)\](?::(\w+))?", name).groups()
    return QUANTITIES[factor, covariate], level


def _identified(design: np.ndarray) -> np.ndarray:
    """Coefficients with no part in the null space of the design, from its singular vectors."""
    _, values, vectors = np.linalg.svd(np.linalg.qr(design / np.linalg.norm(design, axis=0), mode="r"))
    null = vectors[values < 1e-9 * values[0]]
    return (np.abs(null) < 1e-6).all(axis=0)
