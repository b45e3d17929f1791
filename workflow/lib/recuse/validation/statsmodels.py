"""The same fits by statsmodels on raw rows: slow and independent."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from recuse.base.database import connect
from recuse.data.cells import FACTORS, Cells, read_levels
from recuse.data.selection import REFERENCE_FAMILY, with_family_references, with_normalised_length
from recuse.data.study import StudyTables
from recuse.model.covariance import COVARIANCES, refused
from recuse.model.design import ALL_JUDGES, Term, absent_terms, estimable_terms, term_layout
from recuse.model.fit import (
    Fitted,
    missing_coefficients,
    named_coefficients,
    shared_by_judges,
)
from recuse.model.least_squares import LeastSquares
from recuse.model.ordinal import OrdinalFit
from recuse.model.spec import Spec

# A spec's term -> the same in the formula, in the order in which factors are to be coded
FORMULA = {
    "intercept": "1",
    "judge": "judge",
    "reference": "gt_unit",
    "judge:reference": "judge:gt_unit",
    "self": "self_bias",
    "same_family": "family_bias",
    "dimension": "dimension",
    "model": "model",
    "model:dimension": "model_dimension",
}
# Left out where they have one level
FACTOR_COLUMNS = ("self_bias", "family_bias", "dimension", "model", "model_dimension")
# Quantity of all judges -> its column in the design
SHARED = {"intercept": "Intercept", "slope": "gt_unit"}
# Quantity of one judge -> what follows judge[code]
BY_JUDGE = {"intercept": "", "slope": ":gt_unit", "length": ":x"}
# statsmodels has no jackknife by prompt: CR3 is made here, from its fit.
COV_TYPES = {"classical": "nonrobust", "CR3": "nonrobust"} | dict.fromkeys(
    ("CR1", "CR1_judge", "two_way"), "cluster"
)


def fits_by_formula(spec: Spec, study: StudyTables) -> Iterator[Fitted]:
    """Fit each slice of the spec with `statsmodels.formula.api.ols` on the rows of the canonical
    ratings.

    Equation 1 reads rating_unit ~ 0 + judge + judge:gt_unit + self_bias + family_bias + dimension
    (+ judge:x);
    self_bias is the judge's name on its own completions, family_bias the family's name on those of
    its siblings.
    """
    selection = spec.selection
    factors = FACTORS
    rows = study.rows(selection)
    if selection.length is not None:
        rows = with_normalised_length(rows, selection.length)
    if selection.reference is not None:
        rows = with_family_references(rows, read_levels(study.ratings[0]))
        factors = (*FACTORS, REFERENCE_FAMILY)
    frame = connect().execute(rows).df()
    values = {factor: frame[factor].to_numpy(dtype=str) for factor in factors}
    for label, mask in selection.slices(values):
        of_slice = {factor: column[mask] for factor, column in values.items()}
        yield _fit(spec, label, frame[mask], of_slice)


def _fit(spec: Spec, label: str, frame, factors: dict[str, np.ndarray]) -> Fitted:
    from statsmodels.api import OLS
    from statsmodels.formula.api import ols

    terms = estimable_terms(spec, factors)
    absent = absent_terms(spec, factors)
    if not terms:
        return Fitted(label, len(frame), not_estimable=absent)
    coded, codes = _coded(factors)
    listed = spec.model.terms
    length = ["x"] if spec.selection.length else []
    parts = [
        code
        for name, code in FORMULA.items()
        if name in listed and (code in coded or code not in FACTOR_COLUMNS)
    ]
    parts = [
        *([] if "intercept" in listed else ["0"]),
        *parts,
        *(f"judge:{covariate}" for covariate in length),
    ]
    model = ols(
        f"rating_unit ~ {' + '.join(parts)}",
        frame[["rating_unit", "gt_unit", *length]].assign(**coded),
    )
    # T. marks a factor that has a reference level
    columns = [name.replace("[T.", "[") for name in model.exog_names]
    x = model.exog[:, [columns.index(_column(term, codes)) for term in terms]]
    y = model.endog
    if spec.selection.absorb is not None:
        x = _within(x, frame)
        y = _within(y[:, None], frame)[:, 0]
    groups = frame.groupby(["dataset", "prompt_id"], observed=True).ngroup().to_numpy()
    judge = np.unique(factors["judge"], return_inverse=True)[1]
    groups = {"CR1_judge": judge, "two_way": np.stack([groups, judge], axis=1)}.get(
        spec.errors.covariance, groups
    )
    result = _least_squares(
        OLS(y, x), spec.errors.covariance, groups, shared_by_judges(terms, factors["judge"])
    )
    coefficients = named_coefficients(terms, [term.carried.sum() for term in terms], result)
    return Fitted(label, result.n, coefficients, [*absent, *missing_coefficients(coefficients)])


def _column(term: Term, codes: dict[str, dict[str, str]]) -> str:
    if term.term == ALL_JUDGES:
        return SHARED[term.quantity]
    factor = "judge" if term.quantity in BY_JUDGE else term.quantity
    return f"{factor}[{codes[factor][term.term]}]{BY_JUDGE.get(term.quantity, '')}"


def _least_squares(model, covariance: str, groups: np.ndarray, shared: np.ndarray) -> LeastSquares:
    """Fit with errors of a kind; groups: (rows,) number of the prompt or judge, or (rows, 2), of
    both.

    shared: (terms,) of bool, terms that several judges carry.
    """
    kind = COV_TYPES.get(covariance, covariance)
    by_prompt = COVARIANCES[covariance].of_prompts is not None
    df = int(groups.max(axis=0).min()) if by_prompt else math.inf  # clusters less one
    clusters = (
        {"cov_kwds": {"groups": groups, "use_correction": df > 0}} if kind == "cluster" else {}
    )
    fitted = model.fit(cov_type=kind, **clusters)
    identified = _identified(model.exog)
    spread = _jackknifed(fitted, groups) if covariance == "CR3" else fitted.cov_params()
    if clusters:  # statsmodels takes the number of columns for the rank
        spread = spread * (fitted.nobs - model.exog.shape[1]) / fitted.df_resid
    # Without residual degrees of freedom statsmodels divides by 0.
    if df == 0 or (fitted.df_resid <= 0 and covariance not in ("HC0", "HC2", "HC3", "CR3")):
        spread = np.full_like(spread, np.nan)
    elif covariance == "CR1_judge":
        spread = np.where(np.outer(shared, shared), spread, np.nan)
    elif covariance == "two_way" and refused(spread[np.ix_(identified, identified)]):
        block = np.ix_(identified & shared, identified & shared)
        values, vectors = np.linalg.eigh(spread[block])
        spread = np.full_like(spread, np.nan)
        spread[block] = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    estimate = np.where(identified, fitted.params, np.nan)
    rank = round(fitted.df_model + fitted.k_constant)
    return LeastSquares(estimate, spread, identified, int(fitted.nobs), rank, df)


def _jackknifed(fitted, prompt: np.ndarray) -> np.ndarray:
    """Covariance CR3, from fits without each prompt in turn; NaN where one of them does not
    determine a coefficient.
    """
    x = fitted.model.exog
    y = fitted.model.endog
    changes = np.empty((prompt.max() + 1, x.shape[1]))
    for left_out in range(len(changes)):
        rows = prompt != left_out
        change = np.linalg.lstsq(x[rows], y[rows], rcond=None)[0] - fitted.params
        changes[left_out] = np.where(_identified(x[rows]), change, np.nan)
    return (len(changes) - 1) / len(changes) * changes.T @ changes


def _within(columns: np.ndarray, frame) -> np.ndarray:
    """Columns, (rows, columns), less their means over the rows of each completion."""
    import pandas as pd

    names = [
        "dimension",
        "dataset",
        "prompt_id",
        "occasion_code",
        "model",
        *({REFERENCE_FAMILY} & set(frame)),
    ]
    columns = pd.DataFrame(columns)
    return (
        columns - columns.groupby([frame[name].to_numpy() for name in names]).transform("mean")
    ).to_numpy()


def _coded(factors: dict[str, np.ndarray]) -> tuple[dict, dict[str, dict[str, str]]]:
    """Categorical columns of the formula, without those of one level, and by column the code of
    each name.

    Codes l0, l1, ... replace names, which may contain the syntax of formulas. The reference level
    of self_bias, family_bias and model_dimension, in all other rows, is `none`.
    """
    import pandas as pd

    judge, family, model, dimension = (
        factors[name] for name in ("judge", "judge_family", "model", "dimension")
    )
    first = {level: np.unique(model[dimension == level])[0] for level in np.unique(dimension)}
    self_rows = judge == model
    every = np.ones(len(judge), dtype=bool)
    model_dimension = np.strings.add(np.strings.add(model, ", "), dimension)
    columns = {
        "judge": (judge, every),
        "self_bias": (judge, self_rows),
        "family_bias": (family, (family == factors["model_family"]) & ~self_rows),
        "dimension": (dimension, every),
        "model": (model, every),
        "model_dimension": (
            model_dimension,
            model != np.array([first[level] for level in dimension]),
        ),
    }
    coded = {}
    codes = {}
    for column, (values, rows) in columns.items():
        names, place = np.unique(values[rows], return_inverse=True)
        reference = [] if rows is every else ["none"]
        levels = [*reference, *(f"l{number}" for number in range(len(names)))]
        if len(levels) > 1 or column == "judge":
            code = np.zeros(len(values), dtype=int)
            code[rows] = place + len(reference)
            coded[column] = pd.Categorical.from_codes(code, levels)
            codes[column] = {name: f"l{number}" for number, name in enumerate(names.tolist())}
    return coded, codes


def _identified(design: np.ndarray) -> np.ndarray:
    """Which coefficients have no part in the null space of the design, from its singular
    vectors.
    """
    size = np.linalg.norm(design, axis=0)  # 0 where the only rows of a term are left out
    _, values, vectors = np.linalg.svd(
        np.linalg.qr(design / np.where(size > 0, size, 1.0), mode="r")
    )
    # Also those beyond the number of rows
    null = vectors[(values > 1e-9 * values.max(initial=0.0)).sum() :]
    return (np.abs(null) < 1e-6).all(axis=0)


ITERATIONS = 20  # of BFGS; at an optimum it stops at once
GRADIENT = 1e-8  # of the mean log-likelihood, at which it stops


def improve(cells: Cells, terms: Sequence[Term], fit: OrdinalFit) -> tuple[float, float]:
    """Let statsmodels' OrderedModel go on from `fit`, by fit_ordinal, on one row per rating: the
    gain and the movement.

    The gain is its log-likelihood after at most 20 steps of BFGS minus that of `fit`: about 0 at an
    optimum, positive if there is a better point, negative if `fit` claims too much. The movement is
    the largest absolute change of a coefficient or threshold that has a number. (0, 0) if all rows
    have one rating.
    """
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    if not fit.threshold_labels:
        return 0.0, 0.0
    columns = np.array([place for place in range(len(terms)) if place != fit.reference])
    # (cells, 2, terms)
    layout = term_layout(list(terms), len(cells.factors["judge"]), 2)[cells.group]
    covariates = layout[:, 0] + layout[:, 1] * cells.reference[:, None]
    repeats = cells.counts.ravel()  # of each cell and rating: from here on, one row per rating
    rating = np.repeat(np.tile(cells.ratings, len(cells.counts)), repeats)
    design = np.repeat(np.repeat(covariates, len(cells.ratings), axis=0), repeats, axis=0)
    model = OrderedModel(rating, design[:, columns], distr="logit", hasconst=False)
    coefficients, thresholds = np.split(fit.point, [len(terms)])
    start = np.concatenate([coefficients[columns], thresholds[:1], np.log(np.diff(thresholds))])
    quiet = {"skip_hessian": True, "disp": False, "warn_convergence": False}
    result = model.fit(
        start_params=start, method="bfgs", maxiter=ITERATIONS, gtol=GRADIENT, **quiet
    )
    before = np.concatenate([fit.estimate[columns], fit.estimate[len(terms) :]])
    after = np.concatenate(
        [result.params[: len(columns)], model.transform_threshold_params(result.params)[1:-1]]
    )
    return float(result.llf) - fit.log_likelihood, float(
        np.nanmax(np.abs(after - before), initial=0.0)
    )
