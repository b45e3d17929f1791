"""Equation 1 with curves: for each judge a penalised cubic spline of the reference in place of its straight line."""

from dataclasses import dataclass, replace

import numpy as np

from judgebias.fits.design import Term
from judgebias.fits.penalised import Grouped, Penalised, cross_validated, penalised_fit
from judgebias.fits.splines import Spline
from judgebias.ratings.cells import Cells

ORDER = 3  # of the splines: cubic
SPLINES = 10  # basis functions of a judge, mgcv's default
POINTS = 61  # of a curve
SHAPES = ("a constant", "a straight line", "a quadratic")  # by order, where it is less than cubic


@dataclass(frozen=True)
class Curve:
    """What a judge is expected to rate a completion of another family, by reference; both on the unit scale.

    Where the judge's rows are of several dimensions, it is averaged over them.
    """

    judge: str
    reference: np.ndarray  # (points,) rising, from the lowest to the highest of the judge's rows
    value: np.ndarray  # (points,)
    std_error: np.ndarray  # (points,)
    smoothing: float  # lambda
    edof: float  # effective degrees of freedom, the judge's intercept among them


@dataclass(frozen=True)
class GamFit:
    """A fit: estimates and standard errors in the order of the terms, NaN where there is none, and a curve for each judge.

    An intercept is the mean of the judge's curve over the references of its rows, in the first dimension. A slope has no
    estimate: the curve stands in its place, and the note says of what kind it is. A judge whose curve the rows do not determine
    has none.
    """

    estimate: np.ndarray  # (terms,)
    std_error: np.ndarray  # (terms,)
    identified: np.ndarray  # (terms,) of bool, False for slopes
    n: int  # rows
    edof: float  # effective degrees of freedom of the whole fit
    curves: tuple[Curve, ...]
    notes: tuple[str, ...]  # (terms,) empty where there is nothing to say


@dataclass(frozen=True)
class _Smooth:
    """The curve of one judge in the design."""

    judge: str
    rows: np.ndarray  # (rows,) of bool: the judge's
    reference: np.ndarray  # (rows of the judge,)
    spline: Spline
    columns: slice  # of its basis functions


def fit_gam(cells: Cells, terms: list[Term], *, covariance: str) -> GamFit:
    """Regress the rating on a curve of the reference for each judge and on the other terms of Equation 1.

    rating ~ s_judge(reference) + self[judge] + same_family[family] + dimension, where s_j is a cubic P-spline with equidistant
    knots over the judge's references (Eilers and Marx 1996), as pygam makes it. It holds the judge's intercept, as B-splines
    add up to 1. The coefficients have the least sum e^2 + sum_j lambda_j |second differences of those of s_j|^2 over the rows
    behind the cells; lambda_j is chosen by generalised cross-validation on the rows of j alone. A judge with 3 distinct
    references or fewer has a spline of lower order: a quadratic, a straight line, a constant.

    terms: of Equation 1 as by design.terms_of, each carried by some group. covariance: HC0, HC1 or classical, as by
    penalised.penalised_fit, from the residuals of the rows. What the rows do not determine is NaN. Source: an ablation of Play
    Favorites (arXiv 2508.06709); the model is that of R's mgcv::gam(rating ~ judge + s(gt, by = judge) + ...).
    """
    slopes = [term for term in terms if term.quantity == "slope"]
    linear = [term for term in terms if term.quantity not in ("intercept", "slope")]
    judge, reference, rows = _distinct_rows(cells, slopes, linear)
    smooths = _smooths(slopes, judge, reference, start=len(linear))
    rows = _with_bases(rows, smooths)
    penalties, strengths = _penalties(rows, smooths)
    # Not by pygam's own fit: that takes a cell for one observation in its errors, drops directions where there are fewer cells
    # than columns, and does not converge where every rating is 0.
    fitted = penalised_fit(rows, np.tensordot(strengths, penalties, axes=1), covariance=covariance)
    levels = [np.average(rows.matrix[smooth.rows], axis=0, weights=rows.n[smooth.rows]) for smooth in smooths]
    estimate, std_error, identified = fitted.combine(_directions(terms, smooths, levels))
    dimensions = np.flatnonzero([term.quantity == "dimension" for term in linear])
    curves = [_curve(*smooth, dimensions, fitted) for smooth in zip(smooths, levels, strengths, strict=True)]
    notes = {smooth.judge: _note(smooth.spline) for smooth in smooths}
    return GamFit(
        estimate,
        std_error,
        identified,
        n=round(float(rows.n.sum())),
        edof=float(fitted.edofs.sum()),
        curves=tuple(curve for curve in curves if not np.isnan(curve.value).any()),
        notes=tuple(notes[term.term] if term.quantity == "slope" else "" for term in terms),
    )


def _distinct_rows(cells: Cells, slopes: list[Term], linear: list[Term]) -> tuple[np.ndarray, np.ndarray, Grouped]:
    """Put cells with the same regressors together: a dimension, judge, kind of model (self, family, other) and reference.

    Return the place of each row's judge among the slopes, its reference, and the rows with their linear terms.
    """
    judge = np.argmax([term.carried for term in slopes], axis=0)
    kinds, kind = np.unique(np.vstack([judge, *(term.carried for term in linear)]), axis=1, return_inverse=True)
    references, reference = np.unique(cells.reference, return_inverse=True)
    keys, row = np.unique(kind[cells.group] * len(references) + reference, return_inverse=True)
    kinds = kinds[:, keys // len(references)]
    n = np.bincount(row, weights=cells.n)
    unit = cells.ratings_unit
    mean = np.bincount(row, weights=(cells.counts * unit).sum(axis=1)) / n
    within = np.bincount(row, weights=(cells.counts * (unit - mean[row][:, None]) ** 2).sum(axis=1))
    return kinds[0], references[keys % len(references)], Grouped(kinds[1:].T.astype(float), n, mean, within)


def _smooths(slopes: list[Term], judge: np.ndarray, reference: np.ndarray, *, start: int) -> list[_Smooth]:
    """Give each judge a spline over its references, with no more basis functions than there are distinct ones."""
    smooths = []
    for place, slope in enumerate(slopes):
        own = reference[judge == place]
        count = min(SPLINES, len(np.unique(own)))
        spline = Spline(float(own.min()), float(own.max()), functions=count, order=min(ORDER, count - 1))
        smooths.append(_Smooth(slope.term, judge == place, own, spline, slice(start, start + count)))
        start += count
    return smooths


def _with_bases(rows: Grouped, smooths: list[_Smooth]) -> Grouped:
    """Put the values of each judge's basis functions beside the linear terms."""
    bases = np.zeros((len(rows.n), smooths[-1].columns.stop - smooths[0].columns.start))
    matrix = np.hstack([rows.matrix, bases])
    for smooth in smooths:
        matrix[smooth.rows, smooth.columns] = smooth.spline.basis(smooth.reference)
    return replace(rows, matrix=matrix)


def _penalties(rows: Grouped, smooths: list[_Smooth]) -> tuple[np.ndarray, list[float]]:
    """Sum of squared second differences of each judge's coefficients, (judges, columns, columns), and its strength lambda."""
    penalties = np.zeros((len(smooths), *(rows.matrix.shape[1],) * 2))
    for smooth, penalty in zip(smooths, penalties, strict=True):
        penalty[smooth.columns, smooth.columns] = smooth.spline.penalty()
    return penalties, [
        cross_validated(rows.select(smooth.rows), penalty) for smooth, penalty in zip(smooths, penalties, strict=True)
    ]


def _directions(terms: list[Term], smooths: list[_Smooth], levels: list[np.ndarray]) -> np.ndarray:
    """Each term as a combination of the coefficients, (terms, columns); of none for a slope."""
    means = {smooth.judge: (smooth.columns, level[smooth.columns]) for smooth, level in zip(smooths, levels, strict=True)}
    directions, column = np.zeros((len(terms), len(levels[0]))), 0
    for place, term in enumerate(terms):
        if term.quantity == "intercept":
            columns, mean = means[term.term]
            directions[place, columns] = mean
        elif term.quantity != "slope":
            directions[place, column] = 1.0
            column += 1
    return directions


def _curve(smooth: _Smooth, level: np.ndarray, strength: float, dimensions: np.ndarray, fitted: Penalised) -> Curve:
    """Lay out a judge's curve; `level` is the mean of its rows of the design, `dimensions` the columns of the dimensions."""
    reference = np.unique(np.linspace(smooth.reference.min(), smooth.reference.max(), POINTS))
    directions = np.zeros((len(reference), len(level)))
    directions[:, dimensions] = level[dimensions]
    directions[:, smooth.columns] = smooth.spline.basis(reference)
    value, std_error, _ = fitted.combine(directions)
    return Curve(smooth.judge, reference, value, std_error, strength, float(fitted.edofs[smooth.columns].sum()))


def _note(spline: Spline) -> str:
    if spline.order == ORDER:
        return ""
    return f"the curve is {SHAPES[spline.order]}: the judge has {spline.functions} distinct reference score(s)"
