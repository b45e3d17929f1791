"""The library's fits against statsmodels and pygam on raw rows: the largest difference, fit by
fit.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from recuse.base.errors import DesignError
from recuse.base.tables import column_names
from recuse.data.cells import Cells
from recuse.data.study import StudyTables
from recuse.model.covariance import COVARIANCES
from recuse.model.design import Term, estimable_terms
from recuse.model.estimable import fitted_to, not_estimable, spec_slices, study_for
from recuse.model.estimates import estimate_rows
from recuse.model.fit import fitted_slices
from recuse.model.gam import ORDER, SPLINES, Curve, GamFit, Grouped, cross_validated, fit_gam
from recuse.model.least_squares import IDENTIFIED, RANK_TOLERANCE
from recuse.model.ordinal import fit_ordinal
from recuse.model.spec import Spec, estimand_name
from recuse.validation.statsmodels import fits_by_formula, improve

CROSSCHECK = column_names("study spec slice estimand compared terms largest_difference tolerance")

COMPARED = ("estimate", "std_error", "ci_low", "ci_high")
ESTIMATES, LIKELIHOOD, CURVES = "estimates and intervals", "log-likelihood", "estimates and curves"
# Of CURVES: forty times the largest rounding seen in pygam.
TOLERANCES = {ESTIMATES: 1e-9, LIKELIHOOD: 1e-6, CURVES: 1e-7}
WHAT = {"least_squares": ESTIMATES, "ordinal_logit": LIKELIHOOD, "gam": CURVES}


def compared(specs: Iterable[Spec], study: StudyTables, *, confidence: float) -> Iterator[dict]:
    """Yield, for each slice of each spec, the largest difference from statsmodels or pygam on the
    raw rows.

    For least squares: the largest absolute difference of any estimate, standard error or limit;
    infinite where only one side has a number; DesignError if the terms differ. For an ordinal fit:
    the change of the log-likelihood by OrderedModel, started at the fit. For a GAM: the largest
    absolute difference from pygam of any estimate, point of a curve or standard error, HC0 in place
    of CR1.
    """
    # Ordinal fits that differ in nothing but their covariance have one likelihood
    likelihoods = set()
    for spec in specs:
        likelihood = repr((spec.selection, spec.model))
        if not_estimable(spec, study) is not None or likelihood in likelihoods:
            continue
        if spec.model.estimator == "ordinal_logit":
            likelihoods.add(likelihood)
        what = WHAT[spec.model.estimator]
        for label, terms, largest in (
            _against_ols(spec, study_for(spec, study), confidence)
            if what == ESTIMATES
            else _against_rows(spec, study_for(spec, study))
        ):
            row = {
                "study": study.name,
                "spec": spec.name,
                "estimand": estimand_name(spec),
                "slice": label,
                "compared": what,
            }
            yield row | {
                "terms": terms,
                "largest_difference": largest,
                "tolerance": TOLERANCES[what],
            }


def _against_ols(
    spec: Spec, study: StudyTables, confidence: float
) -> Iterator[tuple[str, int, float]]:
    """Yield the label, the number of terms and the largest difference of each slice."""
    spec = fitted_to(spec.changed(bootstrap=None, wild=None), study)
    ours, theirs = (
        {
            (row["slice"], row["quantity"], row["term"]): row
            for fitted in slices
            for row in estimate_rows(spec, fitted, confidence=confidence)
        }
        for slices in (fitted_slices(spec, study, seed=None), fits_by_formula(spec, study))
    )
    if ours.keys() != theirs.keys():
        raise DesignError(
            f"spec {spec.name}: only one side has {sorted(ours.keys() ^ theirs.keys())}"
        )
    for label in sorted({key[0] for key in ours}):
        keys = [key for key in ours if key[0] == label]
        yield label, len(keys), max(_difference(ours[key], theirs[key]) for key in keys)


def _against_rows(spec: Spec, study: StudyTables) -> Iterator[tuple[str, int, float]]:
    """The same for an ordinal fit or a GAM."""
    for label, cells in spec_slices(spec, study):
        terms = estimable_terms(spec, cells.factors)
        covariance = spec.errors.covariance
        if COVARIANCES[covariance].of_prompts:
            covariance = "HC0"  # cells have no prompts
        if len(cells.n) and spec.model.estimator == "gam":
            fit = fit_gam(cells, terms, covariance=covariance)
            yield (
                label,
                len(terms),
                _largest(*against_pygam(cells, terms, fit, covariance=covariance)),
            )
        elif len(cells.n):
            with suppress(DesignError):  # not estimable, as the study's table says
                yield label, len(terms), abs(improve(cells, terms, fit_ordinal(cells, terms))[0])


def raise_disagreement(rows: Iterable[dict]) -> None:
    """Raise DesignError about the first fit of a cross-check that exceeds its tolerance."""
    for row in rows:
        if not row["largest_difference"] <= row["tolerance"]:
            raise DesignError(
                f"spec {row['spec']}, slice '{row['slice']}': the fits on cells and on raw rows"
                f" differ in their {row['compared']} by {row['largest_difference']:.3g}, more than"
                f" {row['tolerance']:g}"
            )


def _difference(one: dict, other: dict) -> float:
    if ("estimate" in one) != ("estimate" in other):
        raise DesignError(f"{one['quantity']} of {one['term']}: only one side has an estimate")
    return _largest(
        *(np.array([row.get(key, math.nan) for key in COMPARED]) for row in (one, other))
    )


def _largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest absolute difference of numbers in the same order; infinite where only one is NaN, 0
    where both are.
    """
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return math.inf
    return float(np.nanmax(np.abs(ours - theirs), initial=0.0))


# pygam adds this to the diagonal of the penalty, or, where a strong penalty drowns it in rounding,
# 9e-3, and does not say so. The strongest penalty does that if all rows together weigh more than
# 1.7e4; they get half of that.
RIDGE = np.sqrt(np.finfo(float).eps)
WEIGHT = 2.0**13


@dataclass(frozen=True)
class _Rows:
    """One row per rating."""

    rating: np.ndarray  # (rows,) on the unit scale
    # (rows, features): the reference, and 0 or 1 for each judge and each linear term
    features: np.ndarray
    judges: list[str]
    # (features,) of bool: judges and dimensions, which a curve is averaged over
    averaged: np.ndarray

    def of(self, place: int) -> np.ndarray:
        """Features of a judge's rows, (rows of the judge, features)."""
        return self.features[self.features[:, 1 + place] > 0]


def against_pygam(
    cells: Cells, terms: Sequence[Term], fit: GamFit, *, covariance: str
) -> tuple[np.ndarray, np.ndarray]:
    """Values and standard errors, (numbers, 2), of `fit`, by gam.fit_gam, and of pygam on one row
    per rating.

    The numbers are the terms except slopes and the points of the judges' curves; NaN where there is
    none. pygam's LinearGAM has s(reference, by=judge) for each judge and l() for each other term;
    the effect of its own ridge is subtracted. The smoothing is that of `fit`, or, for a judge
    without a curve there, of cross-validation on its rows. As pygam's covariance, A X'X A sum e^2 /
    (n - edof), is none of ours, the errors follow gam.penalised_fit, row by row, with pygam's
    columns, penalties and residuals.
    """
    rows = _rows(cells, terms)
    by_judge = {curve.judge: curve for curve in fit.curves}
    curves = [by_judge.get(judge) for judge in rows.judges]
    gam, weight = _pygam_fit(rows, curves)
    kept = [place for place, term in enumerate(terms) if term.quantity != "slope"]
    ours = [np.stack([fit.estimate, fit.std_error], axis=1)[kept]]
    splines = np.arange(rows.features.shape[1]) <= len(curves)
    means = [_columns(gam, rows.of(place) * splines).mean(axis=0) for place in range(len(curves))]
    lines = np.eye(len(gam.coef_))[len(gam.coef_) - np.count_nonzero(~splines) :]
    blocks = [direction[None] for direction in (*means, *lines)]  # intercepts and linear terms
    for place, curve in enumerate(curves):
        points = np.unique(rows.of(place)[:, 0]) if curve is None else curve.reference
        nothing = np.full((len(points), 2), np.nan)
        ours.append(nothing if curve is None else np.stack([curve.value, curve.std_error], axis=1))
        level = np.where(rows.averaged, rows.of(place).mean(axis=0), 0.0)
        blocks.append(
            _columns(gam, np.column_stack([points, np.tile(level[1:], (len(points), 1))]))
        )
    return np.concatenate(ours), _answers(gam, weight, rows, blocks, covariance)


def _rows(cells: Cells, terms: Sequence[Term]) -> _Rows:
    slopes = [term for term in terms if term.quantity == "slope"]
    linear = [term for term in terms if term.quantity not in ("intercept", "slope")]
    cell = np.repeat(np.arange(len(cells.n)), cells.n)
    carried = [term.carried[cells.group[cell]] for term in (*slopes, *linear)]
    return _Rows(
        rating=np.repeat(cells.ratings_unit.ravel(), cells.counts.ravel()),
        features=np.column_stack([cells.reference[cell], *carried]).astype(float),
        judges=[slope.term for slope in slopes],
        averaged=np.array(
            [False, *(True for _ in slopes), *(term.quantity == "dimension" for term in linear)]
        ),
    )


def _pygam_fit(rows: _Rows, curves: Sequence[Curve | None]):
    """Fit pygam's LinearGAM: splines of the judges, then the linear terms. Return it, and the
    weight of a row.
    """
    from pygam import LinearGAM, l
    from pygam.terms import TermList

    lines = [
        l(place, lam=0.0, penalties=None)
        for place in range(1 + len(curves), rows.features.shape[1])
    ]
    # With fewer rows than coefficients, pygam leaves out directions: each row is then repeated.
    most = SPLINES * len(curves) + len(lines)
    copies = -(-most // len(rows.rating))
    weight = float(np.float32(WEIGHT / copies / len(rows.rating)))  # to which pygam rounds it
    splines = [_spline(rows, place, curve, weight * copies) for place, curve in enumerate(curves)]
    # The first step solves a linear model, the second shows it; where every rating is 0, pygam
    # would take a hundred.
    gam = LinearGAM(TermList(*splines, *lines), fit_intercept=False, scale=1.0, max_iter=2)
    rating = np.tile(rows.rating, copies)
    gam.fit(np.tile(rows.features, (copies, 1)), rating, weights=np.full(len(rating), weight))
    return gam, weight * copies


def _spline(rows: _Rows, place: int, curve: Curve | None, weight: float):
    """pygam's term of a judge."""
    from pygam import s

    features = rows.of(place)
    count = min(SPLINES, len(np.unique(features[:, 0])))
    form = {
        "by": 1 + place,
        "n_splines": count,
        "spline_order": min(ORDER, count - 1),
        "edge_knots": [features[:, 0].min(), features[:, 0].max()],
    }
    if curve is not None:
        return s(0, **form, lam=weight * curve.smoothing)
    unit = s(0, **form, lam=1.0)
    single = Grouped(
        unit.build_columns(features).toarray(),
        np.ones(len(features)),
        rows.rating[rows.features[:, 1 + place] > 0],
        np.zeros(len(features)),
    )
    return s(0, **form, lam=weight * cross_validated(single, unit.build_penalties().toarray()))


def _columns(gam, features: np.ndarray) -> np.ndarray:
    return gam.terms.build_columns(features).toarray()


def _answers(
    gam, weight: float, rows: _Rows, blocks: Sequence[np.ndarray], covariance: str
) -> np.ndarray:
    """Value and error, (numbers, 2), of combinations of the coefficients, a block (numbers,
    columns) for each term or curve.

    A block that rows and penalty do not fully determine is NaN.
    """
    columns = gam.terms.build_columns(rows.features)
    penalty = gam.terms.build_penalties().toarray() / weight
    gram = (columns.T @ columns).toarray()
    scale = np.sqrt((gram + penalty).diagonal())
    inverse = np.linalg.pinv(
        (gram + penalty) / np.outer(scale, scale), rcond=RANK_TOLERANCE, hermitian=True
    )
    inverse /= np.outer(scale, scale)
    # From (G + ridge) b = X'y to G b = X'y
    coefficients = gam.coef_ + RIDGE / weight * inverse @ gam.coef_
    squares = (rows.rating - columns @ coefficients) ** 2
    df = len(squares) - np.trace(inverse @ gram)
    if covariance == "classical":
        spread = inverse * squares.sum()
    else:
        spread = inverse @ (columns.multiply(squares[:, None]).T @ columns).toarray() @ inverse
    if covariance != "HC0":
        spread = spread / df if df > IDENTIFIED else spread * np.nan
        spread = spread * len(squares) if covariance == "HC1" else spread
    answers = []
    for block in blocks:
        moved = np.abs(block - block @ inverse @ (gram + penalty)) > IDENTIFIED * np.linalg.norm(
            block, axis=1, keepdims=True
        )
        errors = np.sqrt(np.clip(((block @ spread) * block).sum(axis=1), 0.0, None))
        answers.append(
            np.where(moved.any(), np.nan, np.stack([block @ coefficients, errors], axis=1))
        )
    return np.concatenate(answers)
