"""The same specs by statsmodels' formulas on raw rows: slow, independent, there to check the fast way."""

import re
from collections.abc import Iterator

import numpy as np

from judgebias.database import connect
from judgebias.fits.design import ALL_JUDGES, terms_of
from judgebias.fits.fit import NO_ROWS, Fitted, fitted_by_least_squares, without_rows, without_terms
from judgebias.fits.linear import LeastSquares
from judgebias.fits.spec import Spec
from judgebias.ratings.cells import FACTORS
from judgebias.ratings.codes import levels_of
from judgebias.ratings.lengths import with_normalised_length
from judgebias.ratings.references import REFERENCE_FAMILY, with_family_references
from judgebias.ratings.study import Study

FORMULA = {  # a spec's term -> the same in the formula, in the order in which factors are to be coded
    "intercept": "1",
    "judge": "judge",
    "reference": "gt_unit",
    "judge:reference": "judge:gt_unit",
    "self": "own",
    "same_family": "same_family",
    "dimension": "dimension",
}
FACTOR_COLUMNS = ("own", "same_family", "dimension")
QUANTITIES = {
    ("judge", None): "intercept",
    ("judge", "gt_unit"): "slope",
    ("judge", "x"): "length",
    ("own", None): "self_bias",
    ("same_family", None): "family_bias",
    ("dimension", None): "dimension",
    ("Intercept", None): "intercept",
    ("gt_unit", None): "slope",
}
COVARIANCES = {"HC0": "HC0", "HC1": "HC1", "classical": "nonrobust", "CR1": "cluster"}


def fits_by_formula(spec: Spec, study: Study) -> Iterator[Fitted]:
    """Fit each slice of the spec with `statsmodels.formula.api.ols` on the rows of the canonical ratings.

    Equation 1 reads: rating_unit ~ 0 + judge + judge:gt_unit + own + same_family + dimension (+ judge:x for length control),
    with own the judge's name on its own completions and same_family the family's name on those of its siblings.
    """
    rows = spec.rows(study.ratings)
    if spec.length is not None:
        rows = with_normalised_length(rows, spec.length)
    factors = (*FACTORS, REFERENCE_FAMILY) if spec.reference else FACTORS
    frame = connect().execute(with_family_references(rows, levels_of(study.ratings[0])) if spec.reference else rows).df()
    values = {factor: frame[factor].to_numpy(dtype=str) for factor in factors}
    for label, mask in spec.slices(values):
        if mask.any():
            yield _fit(spec, label, frame[mask], {factor: column[mask] for factor, column in values.items()})
        else:
            yield without_rows(label)


def _fit(spec: Spec, label: str, frame, factors: dict[str, np.ndarray]) -> Fitted:
    from statsmodels.api import OLS
    from statsmodels.formula.api import ols

    terms = terms_of(factors, names=spec.terms, length=spec.length is not None)
    absent = [(term.quantity, term.term, NO_ROWS[term.quantity]) for term in terms if not term.carried.any()]
    present = [term for term in terms if term.carried.any()]
    if not present:
        return without_terms(label, len(frame), absent)
    coded, names = _coded(factors)
    data = frame[["rating_unit", "gt_unit", *(["x"] if spec.length else [])]].assign(**coded)
    prompt = np.unique(frame["prompt_id"], return_inverse=True)[1]
    clusters = {"cov_kwds": {"groups": prompt, "use_correction": bool(prompt.any())}} if spec.covariance == "CR1" else {}
    model = ols(_formula(spec, coded), data)
    found = {_coefficient(name, names): place for place, name in enumerate(model.exog_names)}
    found.pop(None, None)  # the reference level of its first factor, for which a formula without intercept has a column
    model = OLS(model.endog, model.exog[:, list(found.values())])
    fitted = model.fit(cov_type=COVARIANCES[spec.covariance], **clusters)
    order = [list(found).index((term.quantity, term.term)) for term in present]
    identified = _identified(model.exog)[order]
    estimate = np.where(identified, fitted.params[order], np.nan)
    covariance = fitted.cov_params()[np.ix_(order, order)]
    if clusters:  # statsmodels takes the number of columns for the rank
        covariance = covariance * (fitted.nobs - fitted.model.exog.shape[1]) / fitted.df_resid
    # statsmodels divides by what is 0 then; the errors are unknown
    if (clusters and not prompt.any()) or (spec.covariance != "HC0" and fitted.df_resid <= 0):
        covariance = np.full_like(covariance, np.nan)
    result = LeastSquares(estimate, covariance, identified, int(fitted.nobs), round(fitted.df_model + fitted.k_constant))
    return fitted_by_least_squares(label, present, [term.carried.sum() for term in present], result, absent)


def _formula(spec: Spec, coded: dict) -> str:
    """Spell the spec's terms in the language of formulas; a factor of one level has no column and is left out."""
    parts = [code for name, code in FORMULA.items() if name in spec.terms and (code in coded or code not in FACTOR_COLUMNS)]
    none = [] if "intercept" in spec.terms else ["0"]
    return "rating_unit ~ " + " + ".join([*none, *parts, *(["judge:x"] if spec.length else [])])


def _coded(factors: dict[str, np.ndarray]) -> tuple[dict, dict[tuple[str, str], str]]:
    """Categorical columns of the formula, and the name behind each (column, code).

    Codes l0, l1, ... stand for names, which may hold what the syntax of formulas uses. `own` and `same_family` have the code
    `none`, their reference level, in all other rows. A reference level has no name; a column of one level is left out.
    """
    import pandas as pd

    judge, family, every = factors["judge"], factors["judge_family"], np.ones(len(factors["judge"]), dtype=bool)
    own = judge == factors["model"]
    same_family = (family == factors["model_family"]) & ~own
    columns = {
        "judge": (judge, every, []),
        "own": (judge, own, ["none"]),
        "same_family": (family, same_family, ["none"]),
        "dimension": (factors["dimension"], every, []),
    }
    coded, names = {}, {}
    for column, (values, rows, reference) in columns.items():
        present, place = np.unique(values[rows], return_inverse=True)
        levels = [*reference, *(f"l{number}" for number in range(len(present)))]
        if len(levels) > 1 or column == "judge":
            code = np.zeros(len(values), dtype=int)
            code[rows] = place + len(reference)
            coded[column] = pd.Categorical.from_codes(code, levels)
            names |= {(column, f"l{number}"): str(name) for number, name in enumerate(present)}
    names.pop(("dimension", "l0"), None)
    return coded, names


def _coefficient(name: str, names: dict[tuple[str, str], str]) -> tuple[str, str] | None:
    """Quantity and term of a column of the design; None for a reference level."""
    column, code, covariate = re.fullmatch(r"(\w+)(?:\[(?:T\.)?(\w+)\])?(?::(\w+))?", name).groups()
    if code and (column, code) not in names:
        return None
    return QUANTITIES[column, covariate], names[column, code] if code else ALL_JUDGES


def _identified(design: np.ndarray) -> np.ndarray:
    """Coefficients with no part in the null space of the design, from its singular vectors."""
    _, values, vectors = np.linalg.svd(np.linalg.qr(design / np.linalg.norm(design, axis=0), mode="r"))
    null = vectors[(values > 1e-9 * values[0]).sum() :]  # also those beyond the number of rows
    return (np.abs(null) < 1e-6).all(axis=0)
