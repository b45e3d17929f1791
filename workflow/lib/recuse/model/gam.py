"""Equation 1 with curves: for each judge a penalised cubic spline of the reference in place of its
straight line.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from recuse.data.cells import Cells
from recuse.model.design import Term
from recuse.model.least_squares import (
    IDENTIFIED,
    NEGLIGIBLE,
    RANK_TOLERANCE,
    ROUNDING,
    inverted,
    small_sample_factor,
)
from recuse.model.prompt_sums import RowsOfCells

# Strengths of the penalty tried by cross-validation, per row. With the ten or so values of a
# reference, the score often falls all the way to interpolation; below the last strength, a curve
# only swings more between values.
STRENGTHS = 10.0 ** np.arange(3.0, -4.25, -0.25)


@dataclass(frozen=True)
class Grouped:
    """Rows grouped by their regressors: the regressors, and number, mean and spread of the
    responses.
    """

    matrix: np.ndarray  # (groups, columns)
    n: np.ndarray  # (groups,)
    mean: np.ndarray  # (groups,)
    within: np.ndarray  # (groups,) sum of squares about the mean

    def select(self, mask: np.ndarray) -> "Grouped":
        """Keep the groups where `mask`, (groups,) of bool, is true."""
        return Grouped(self.matrix[mask], self.n[mask], self.mean[mask], self.within[mask])


@dataclass(frozen=True)
class Penalised:
    """Coefficients, their covariance, and the directions that neither rows nor penalty
    determine.
    """

    coefficients: np.ndarray  # (columns,)
    covariance: np.ndarray  # (columns, columns)
    null: np.ndarray  # (columns, open directions), each of length 1
    edofs: np.ndarray  # (columns,) effective degrees of freedom of each
    df: float = math.inf  # of the t distribution of value / error; infinite: the normal one

    def combine(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and standard error (NaN if not determined) of linear combinations (n, columns), and
        whether determined.
        """
        length = np.linalg.norm(directions, axis=1)
        identified = (np.abs(directions @ self.null) < IDENTIFIED * length[:, None]).all(axis=1) & (
            length > 0
        )
        error = np.sqrt(
            np.clip(((directions @ self.covariance) * directions).sum(axis=1), 0.0, None)
        )
        error = np.where(error < NEGLIGIBLE, 0.0, error)
        return (
            np.where(identified, directions @ self.coefficients, np.nan),
            np.where(identified, error, np.nan),
            identified,
        )


# Of coefficients -> sum s s' over prompts, and their number
SquaredScores = Callable[[np.ndarray], tuple[np.ndarray, int]]


def penalised_fit(
    rows: Grouped,
    penalty: np.ndarray,
    *,
    covariance: str,
    squared_scores: SquaredScores | None = None,
) -> Penalised:
    """Minimise sum e^2 + b'Pb over the coefficients b, with e the residuals of the n single rows.

    penalty: P, (columns, columns). covariance: with A = (X'X + P)^-1 and edof = trace(A X'X),
      HC0        A (sum x x' e^2) A
      HC1        HC0 * n / (n - edof)
      CR1        A (sum over prompts of s s') A * P / (P - 1) * (n - 1) / (n - edof),
                 s = X'e over the rows of one of P prompts; t with P - 1 degrees of freedom.
                 It takes `squared_scores`.
      classical  A * sum e^2 / (n - edof), the posterior covariance
                 (Wood 2017, Generalized Additive Models, section 6.10)
    All but HC0 are NaN when n <= edof.
    """
    matrix, n = rows.matrix, rows.n.sum()
    gram = matrix.T @ (matrix * rows.n[:, None])
    penalised = gram + penalty
    inverse, null = inverted(penalised)
    # Of columns of any length
    null = null / np.sqrt(np.where(penalised.diagonal() > 0, penalised.diagonal(), 1.0))[:, None]
    coefficients = inverse @ (matrix.T @ (rows.n * rows.mean))
    # One step of refinement on the residuals removes the rounding of the inverse.
    rest = matrix.T @ (rows.n * (rows.mean - matrix @ coefficients)) - penalty @ coefficients
    coefficients = coefficients + inverse @ rest
    # (groups,): sum of e^2
    squares = rows.within + rows.n * (rows.mean - matrix @ coefficients) ** 2
    edofs = (inverse * gram).sum(axis=1)
    df = n - edofs.sum()
    per_df = 1 / df if df > IDENTIFIED else np.nan
    t_df = math.inf
    if covariance == "classical":
        spread = inverse * (squares.sum() * per_df)
    elif covariance == "CR1":
        meat, prompts = squared_scores(coefficients)
        spread, t_df = (
            inverse @ meat @ inverse * small_sample_factor(prompts, n, edofs.sum()),
            prompts - 1,
        )
    elif covariance not in ("HC0", "HC1"):
        raise ValueError(f"GAMs have no covariance {covariance}")
    else:
        spread = inverse @ (matrix.T * squares) @ matrix @ inverse
        if covariance == "HC1":
            spread = spread * (n * per_df)
    return Penalised(coefficients, spread, null / np.linalg.norm(null, axis=0), edofs, t_df)


def cross_validated(rows: Grouped, penalty: np.ndarray) -> float:
    """Return the factor of `penalty`, of n * STRENGTHS, with the least generalised cross-validation
    score; of ties the largest.

    GCV = n RSS / (n - edof)^2 (Craven and Wahba 1979), of single rows, not of groups. In a basis in
    which X'X + n P is 1 and n P is diagonal, rho, X'X is 1 - rho, so that each strength costs one
    division.
    """
    used = rows.matrix.any(axis=0) | penalty.any(axis=0)
    n = rows.n.sum()
    matrix, penalty = rows.matrix[:, used], n * penalty[np.ix_(used, used)]
    # Loses less to rounding; the columns include a constant
    response = rows.mean - np.average(rows.mean, weights=rows.n)
    values, vectors = np.linalg.eigh(matrix.T @ (matrix * rows.n[:, None]) + penalty)
    informed = values > RANK_TOLERANCE * values.max()
    basis = vectors[:, informed] / np.sqrt(values[informed])
    rho, rotation = np.linalg.eigh(basis.T @ penalty @ basis)
    projected = (basis @ rotation).T @ (matrix.T @ (rows.n * response))
    shrunk = 1 / (1 - rho + STRENGTHS[:, None] * rho)  # (strengths, basis)
    explained = (shrunk * (2 - (1 - rho) * shrunk)) @ projected**2
    squares = rows.within.sum() + (rows.n * response**2).sum() - explained
    df = n - shrunk @ (1 - rho)
    # The rounding of a perfect fit must not choose.
    scores = np.maximum(squares, ROUNDING * n) / np.where(df > IDENTIFIED, df, np.nan) ** 2
    return float(n * STRENGTHS[np.argmin(np.where(np.isnan(scores), np.inf, scores))])


@dataclass(frozen=True)
class Spline:
    """A basis of B-splines between two ends: `functions` of them, of an order from 0 (constant) to
    functions - 1.

    The knots are equidistant, functions - order intervals from `low` to `high` and `order` more
    beyond each end; between the ends, the functions add up to 1. Source: Eilers and Marx (1996);
    basis and penalty are those of pygam's `s`.
    """

    low: float
    high: float
    functions: int
    order: int

    def basis(self, values: np.ndarray) -> np.ndarray:
        """Values of the functions, (n, functions), at `values`, (n,), between the ends."""
        intervals = self.functions - self.order
        place = (
            (values - self.low)
            / (self.high - self.low if self.high > self.low else 1.0)
            * intervals
        )
        # The last one includes its upper end
        interval = np.clip(place.astype(int), 0, intervals - 1)
        inside = place - interval
        # De Boor's recursion over the functions that are not 0 in the interval, m of them of order
        # m - 1.
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
        """P with b'Pb the sum of squared second differences of coefficients b, (functions,
        functions).
        """
        differences = np.diff(np.eye(self.functions), n=2, axis=0)
        return differences.T @ differences


ORDER = 3  # of the splines: cubic
SPLINES = 10  # basis functions of a judge, mgcv's default
POINTS = 61  # of a curve
SHAPES = ("a constant", "a straight line", "a quadratic")  # by order, below cubic


@dataclass(frozen=True)
class Curve:
    """The expected rating of a judge for other families, by reference, on the unit scale; averaged
    over dimensions.
    """

    judge: str
    reference: np.ndarray  # (points,) rising, from the lowest to the highest of the judge's rows
    value: np.ndarray  # (points,)
    std_error: np.ndarray  # (points,)
    smoothing: float  # lambda
    edof: float  # effective degrees of freedom, with the judge's intercept
    df: float = math.inf  # of the t distribution of value / std_error; infinite: the normal one


@dataclass(frozen=True)
class GamFit:
    """Estimates and standard errors in the order of the terms, NaN where there is none, and a curve
    for each judge.

    An intercept is the mean of the judge's curve over the references of its rows, in the first
    dimension. Slopes are NaN; a curve replaces them if the rows determine it, and a note says if it
    is not cubic.
    """

    estimate: np.ndarray  # (terms,)
    std_error: np.ndarray  # (terms,)
    identified: np.ndarray  # (terms,) of bool, False for slopes
    n: int  # rows
    edof: float  # effective degrees of freedom of the whole fit
    curves: tuple[Curve, ...]
    notes: tuple[str, ...]  # (terms,) "" normally
    df: float = math.inf  # of the t distribution of estimate / std_error; infinite: the normal one


def fit_gam(
    cells: Cells, terms: list[Term], *, covariance: str, rows_of_cells: RowsOfCells | None = None
) -> GamFit:
    """Regress the rating on a curve of the reference for each judge and on the other terms of
    Equation 1.

    rating ~ s_judge(reference) + self[judge] + same_family[family] + dimension, where s_j is a
    cubic P-spline over the judge's references (`Spline`), which includes its intercept. The
    coefficients minimise sum e^2 + sum_j lambda_j |second differences of those of s_j|^2 over the
    rows behind the cells; lambda_j is chosen by generalised cross-validation on the rows of j
    alone. A judge with at most 3 distinct references has a quadratic, a straight line or a
    constant. What the rows do not determine is NaN. terms: of Equation 1, each carried by some
    group. covariance: as of `penalised_fit`; CR1 takes `rows_of_cells`.
    Source: an ablation of Play Favorites (arXiv 2508.06709); R's mgcv::gam(rating ~ judge + s(gt,
    by = judge) + ...).
    """
    slopes = [term for term in terms if term.quantity == "slope"]
    linear = [term for term in terms if term.quantity not in ("intercept", "slope")]
    judge, reference, rows, row_of_cell = _distinct_rows(cells, slopes, linear)
    masks = [judge == place for place in range(len(slopes))]
    splines = [_spline_over(reference[mask]) for mask in masks]
    stops = len(linear) + np.cumsum([spline.functions for spline in splines])
    columns = [
        slice(stop - spline.functions, stop) for spline, stop in zip(splines, stops, strict=True)
    ]
    matrix = np.hstack([rows.matrix, np.zeros((len(rows.n), stops[-1] - len(linear)))])
    penalties = np.zeros((len(splines), *(matrix.shape[1],) * 2))
    for spline, mask, place, penalty in zip(splines, masks, columns, penalties, strict=True):
        matrix[mask, place] = spline.basis(reference[mask])
        penalty[place, place] = spline.penalty()
    rows = replace(rows, matrix=matrix)
    strengths = [
        cross_validated(rows.select(mask), penalty)
        for mask, penalty in zip(masks, penalties, strict=True)
    ]
    # pygam's own fit takes a cell for one observation in its errors, drops directions where there
    # are fewer cells than columns, and does not converge where every rating is 0.
    penalty = np.tensordot(strengths, penalties, axes=1)
    squared_scores = partial(_squared_scores, rows, row_of_cell, rows_of_cells)
    fitted = penalised_fit(rows, penalty, covariance=covariance, squared_scores=squared_scores)
    levels = [np.average(rows.matrix[mask], axis=0, weights=rows.n[mask]) for mask in masks]
    place_of = {slope.term: place for place, slope in enumerate(slopes)}
    # The terms as combinations of the coefficients; 0 for slopes
    directions = np.zeros((len(terms), matrix.shape[1]))
    directions[[term.quantity not in ("intercept", "slope") for term in terms], : len(linear)] = (
        np.eye(len(linear))
    )
    notes = [""] * len(terms)
    for row, term in enumerate(terms):
        place = place_of.get(term.term)
        if term.quantity == "intercept":
            directions[row, columns[place]] = levels[place][columns[place]]
        elif term.quantity == "slope" and splines[place].order < ORDER:
            shape, count = SHAPES[splines[place].order], splines[place].functions
            notes[row] = f"the curve is {shape}: the judge has {count} distinct reference score(s)"
    estimate, std_error, identified = fitted.combine(directions)
    curves, dimensions = [], np.flatnonzero([term.quantity == "dimension" for term in linear])
    for slope, spline, place, level, strength in zip(
        slopes, splines, columns, levels, strengths, strict=True
    ):
        points = np.unique(np.linspace(spline.low, spline.high, POINTS))
        point_rows = np.zeros((len(points), len(level)))
        point_rows[:, dimensions] = level[dimensions]
        point_rows[:, place] = spline.basis(points)
        value, error, _ = fitted.combine(point_rows)
        curves.append(
            Curve(
                slope.term,
                points,
                value,
                error,
                strength,
                float(fitted.edofs[place].sum()),
                fitted.df,
            )
        )
    return GamFit(
        estimate,
        std_error,
        identified,
        n=round(float(rows.n.sum())),
        edof=float(fitted.edofs.sum()),
        curves=tuple(curve for curve in curves if not np.isnan(curve.value).any()),
        notes=tuple(notes),
        df=fitted.df,
    )


def _squared_scores(
    rows: Grouped, row_of_cell: np.ndarray, rows_of_cells: RowsOfCells, coefficients: np.ndarray
) -> tuple[np.ndarray, int]:
    """As of `RowsOfCells`, for residuals from these coefficients; row_of_cell: (cells,)."""
    from scipy.sparse import csr_array

    # (cells, ratings)
    residuals = (
        rows_of_cells.cells.ratings_unit - (rows.matrix @ coefficients)[row_of_cell][:, None]
    )

    def scores(prompt: np.ndarray, cell: np.ndarray, rating: np.ndarray) -> np.ndarray:
        shape = prompt.max() + 1, len(rows.matrix)
        return (
            csr_array((residuals[cell, rating], (prompt, row_of_cell[cell])), shape=shape)
            @ rows.matrix
        )

    return rows_of_cells.squared_scores(scores)


def _spline_over(reference: np.ndarray) -> Spline:
    count = min(SPLINES, len(np.unique(reference)))
    return Spline(
        float(reference.min()), float(reference.max()), functions=count, order=min(ORDER, count - 1)
    )


def _distinct_rows(
    cells: Cells, slopes: list[Term], linear: list[Term]
) -> tuple[np.ndarray, np.ndarray, Grouped, np.ndarray]:
    """Put cells with the same regressors together: a dimension, judge, kind of model (self, family,
    other) and reference.

    Return the place of each row's judge among the slopes, its reference, the rows with their linear
    terms, and the place of each cell's row.
    """
    judge = np.argmax([term.carried for term in slopes], axis=0)
    kinds, kind = np.unique(
        np.vstack([judge, *(term.carried for term in linear)]), axis=1, return_inverse=True
    )
    references, reference = np.unique(cells.reference, return_inverse=True)
    keys, row = np.unique(kind[cells.group] * len(references) + reference, return_inverse=True)
    kinds = kinds[:, keys // len(references)]
    n = np.bincount(row, weights=cells.n)
    unit = cells.ratings_unit
    mean = np.bincount(row, weights=(cells.counts * unit).sum(axis=1)) / n
    within = np.bincount(row, weights=(cells.counts * (unit - mean[row][:, None]) ** 2).sum(axis=1))
    return (
        kinds[0],
        references[keys % len(references)],
        Grouped(kinds[1:].T.astype(float), n, mean, within),
        row,
    )
