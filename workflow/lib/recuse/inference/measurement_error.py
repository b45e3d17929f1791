"""Self- and family-bias of a spec, corrected for measurement error in the human scores, and as a
curve over their reliability.

The reference of a least-squares fit is t + u, a completion's score t with an error u that is
independent of t, judge and model. Slopes on it are then too flat, and part of the judge's own
quality appears as self-bias. The expectation of a row's x x' is that without errors plus v b b',
with v the error variance and b the vector that the reference multiplies in the row's regressors,
row 1 of B[group]: corrected moments subtract this. v comes from the reliability of the scores or,
where single raters are known, from how far these differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recuse.base.database import files, text
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.data.cells import occasion_in
from recuse.data.moments import LENGTH as LENGTH_OF_ROW
from recuse.data.moments import Moments, PromptRange, RowBlock, moments_of_blocks, row_blocks
from recuse.data.registry import RATERS
from recuse.data.study import StudyTables
from recuse.inference.reliability import Reliability, unusable
from recuse.model.covariance import FEW, FEW_CLUSTERS
from recuse.model.design import LENGTH, REFERENCE, SliceDesign, absent_terms, slice_designs
from recuse.model.estimable import spec_moments
from recuse.model.least_squares import (
    LeastSquares,
    covariance_among,
    determined,
    inverted,
    small_sample_factor,
    solve,
    wald_columns,
)
from recuse.model.prompt_sums import (
    SliceCells,
    add_prompts,
    gram_and_score_weights,
    gram_places,
    image_of_entries,
    mapped,
    products,
    sparse_layouts,
)
from recuse.model.spec import BIASES, Spec, estimand_name

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MEASUREMENT_ERROR = column_names(
    "study spec slice estimand method reliability quantity term",
    "estimate std_error df ci_low ci_high p_value n prompts reason note",
)
BREAKDOWNS = column_names(
    "study spec slice estimand quantity term sign_at_1 sign_at_lowest lowest breakdown reversal",
)

UNCORRECTED, MOMENTS = 0.0, 1.0  # the share of the error variance that is subtracted
METHODS = {"uncorrected": UNCORRECTED, "moments": MOMENTS}
BY_RATERS = "split raters"
CURVE = tuple(round(0.05 * step, 2) for step in range(20, 5, -1))  # reliabilities from 1 to 0.3
KEYS = ("spec", "slice", "estimand", "quantity", "term")  # of a curve over reliability


def measurement_error_tables(
    specs: Sequence[Spec],
    study: StudyTables,
    reliability: Mapping[str, Reliability],
    raters: Sequence[str],
    *,
    confidence: float,
) -> dict[str, list[dict]]:
    """List the rows of the tables measurement_error, reliability_curve and breakdowns, of all
    specs.

    Where the reliability of a dimension is unknown, or not in (0, 1], the first says so, and has
    estimates by split raters alone; the others need none. raters: the canonical raters (parquet),
    if there are any. No rows without human scores.
    """
    means = {dimension: each.mean for dimension, each in reliability.items()}
    corrected, curve = [], []
    for spec in specs if study.has_human_scores else ():
        corrected += corrected_rows(spec, study, means, confidence=confidence)
        for path in raters:
            corrected += split_rater_rows(spec, study, path, confidence=confidence)
        curve += curve_rows(spec, study, confidence=confidence)
    biases = [row for row in curve if row.get("quantity") in BIASES]
    return {
        "measurement_error": corrected,
        "reliability_curve": curve,
        "breakdowns": list(breakdowns(biases)),
    }


def corrected_rows(
    spec: Spec, study: StudyTables, reliability: Mapping[str, float], *, confidence: float
) -> Iterator[dict]:
    """Yield rows of the table of corrected estimates of a least-squares spec with the human score
    as reference.

    reliability: of the human score, by dimension; if one is missing, or not in (0, 1], the only row
    says so. Errors are by prompt, and t has P - 1 degrees of freedom. What none of METHODS can
    estimate has a row without method, with the reason.
    """
    moments = _moments(spec, study)
    if reason := unusable(reliability, moments.factors["dimension"]):
        yield {"spec": spec.name, "estimand": estimand_name(spec), "reason": reason}
        return
    yield from correct(
        spec,
        moments,
        study.row_blocks(spec.selection, moments.factors),
        KnownReliability(moments, reliability),
        [({"method": method}, share) for method, share in METHODS.items()],
        confidence=confidence,
    )


def curve_rows(spec: Spec, study: StudyTables, *, confidence: float) -> Iterator[dict]:
    """Yield the same by corrected moments at each reliability of CURVE, equal in all dimensions."""
    moments = _moments(spec, study)
    # At reliability 0 all variance is error; each correction subtracts a share of that.
    yield from correct(
        spec,
        moments,
        study.row_blocks(spec.selection, moments.factors),
        KnownReliability(moments, dict.fromkeys(moments.factors["dimension"].tolist(), 0.0)),
        [({"method": "moments", "reliability": value}, 1 - value) for value in CURVE],
        confidence=confidence,
    )


def split_rater_rows(
    spec: Spec, study: StudyTables, raters: str, *, confidence: float
) -> Iterator[dict]:
    """Yield the same by split raters, on completions with two raters or more; raters: canonical
    (parquet).
    """
    if spec.selection.length is not None:
        raise ConfigError(
            f"spec {spec.name}: found length; with scores of single raters, name a spec without it"
        )

    completion = ", ".join(("dimension", "dataset", "prompt_id", "model", *occasion_in(raters)))

    def rater_rows(span: PromptRange) -> str:
        """SQL for rows with the mean of k >= 2 raters as reference, and s^2 / k."""
        return f"""
            select prompt, group_code, 0::utinyint, occasion_code, rating_unit, (score - scale_low) / (scale_high - scale_low),
                   error / (scale_high - scale_low) ** 2
            from ({study.rows(spec.selection, span)}) join (
                select {completion}, avg(rating) as score, var_samp(rating) / count(*) as error
                from {files([raters])} where team = {text(RATERS)} group by all having count(*) > 1
            ) using ({completion}) order by prompt"""

    every = study.cells().factors
    moments = moments_of_blocks(row_blocks(study.ratings, rater_rows, every), every, covariates=2)
    if not len(moments.n):
        yield {
            "spec": spec.name,
            "estimand": estimand_name(spec),
            "method": BY_RATERS,
            "reason": because(Reason.NO_RATERS),
        }
        return
    yield from correct(
        spec,
        moments,
        row_blocks(study.ratings, rater_rows, moments.factors),
        SplitRaters(),
        [({"method": BY_RATERS}, MOMENTS)],
        confidence=confidence,
    )


def breakdowns(rows: Iterable[Mapping]) -> Iterator[dict]:
    """Yield a row for each bias of a curve, down from reliability 1: where its interval begins or
    ceases to contain 0.

    sign_at_1, sign_at_lowest: 1 or -1 where the interval is above or below 0, 0 where it contains
    0. lowest: the lowest reliability at which the bias is estimable. breakdown: the highest
    reliability at which this sign changes; reversal: the highest at which it is the opposite of
    that at 1. Both are interpolated linearly between two points of the curve.
    """
    curves: dict[tuple, list[Mapping]] = {}
    for row in rows:
        if "ci_low" in row:
            curves.setdefault(tuple(row[name] for name in KEYS), []).append(row)
    for key, unsorted in curves.items():
        curve = sorted(unsorted, key=lambda row: -row["reliability"])
        signs = [(row["ci_low"] > 0) - (row["ci_high"] < 0) for row in curve]
        row = dict(zip(KEYS, key, strict=True)) | {
            "sign_at_1": signs[0],
            "sign_at_lowest": signs[-1],
            "lowest": curve[-1]["reliability"],
        }
        for (one, sign), (other, then) in pairwise(zip(curve, signs, strict=True)):
            if sign == then:
                continue
            # Where an interval begins or ceases to be above 0, its lower end crosses 0; below, its
            # upper end.
            row.setdefault("breakdown", _crossing(one, other, sign or then))
            if then == -signs[0] != 0:
                row.setdefault("reversal", _crossing(one, other, then))
        yield row


def _crossing(one: Mapping, other: Mapping, side: int) -> float:
    """The reliability at which the line between the ends of two intervals on a side of the
    estimate, -1 above and 1 below it, crosses 0.
    """
    end = "ci_low" if side > 0 else "ci_high"
    share = one[end] / (one[end] - other[end])
    return one["reliability"] + (other["reliability"] - one["reliability"]) * share


@dataclass(frozen=True)
class DesignCells(SliceCells):
    """The design cells of one slice; in each, all groups are of one dimension and have one layout
    of terms.

    Cells of rows outside the slice are added, as these count for the variance of the reference.
    """

    layouts: np.ndarray  # (cells, w, terms), 0 outside the slice
    dimension: np.ndarray  # (cells,) of str
    rows: np.ndarray  # (cells,), 0 outside the slice


class KnownReliability:
    """The error variance of a dimension is (1 - reliability) var(reference): the same in all slices
    and for all judges.
    """

    def __init__(self, moments: Moments, reliability: Mapping[str, float]) -> None:
        """moments: of the rows of all slices of a spec, for the variances; reliability: by
        dimension, from 0 to 1.
        """
        # (dimensions,), as all below
        self.dimension, place = np.unique(moments.factors["dimension"], return_inverse=True)
        self.rows, total, squares = moments.reference_sums(place)
        self.mean = total / self.rows  # of the reference
        self.variance = np.maximum(squares / self.rows - self.mean**2, 0.0)
        # Of the variance that is error
        self.share = 1 - np.array([reliability[str(level)] for level in self.dimension])

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""
        place = np.searchsorted(self.dimension, moments.factors["dimension"])
        return moments.n * (self.share * self.variance)[place]

    def weights(self, cells: DesignCells, entries: "csr_array") -> dict:
        """Weights of a prompt's sums in its part of C, (cells, entries) for each product that has
        any; entries: of b b' in each cell, (cells, entries).

        The variances are estimates too. With N_d the sum of b b' over the slice's rows of dimension
        d, a prompt adds to C = sum of share_d var_d N_d its rows' b b' share_d var_d and, through
        var_d, its rows' ((reference - mean_d)^2 - var_d) / n_d share_d N_d, even where the slice
        has none of them.
        """
        from scipy.sparse import csr_array

        # 1 where a cell is of a dimension, (cells, dimensions)
        inside = csr_array(cells.dimension[:, None] == self.dimension, dtype=float)
        sums = inside.T @ entries.multiply(cells.rows[:, None])  # N_d
        by_variance = inside @ sums.multiply((self.share / self.rows)[:, None])
        mean, variance, share = (
            (inside @ values)[:, None] for values in (self.mean, self.variance, self.share)
        )
        of_rows = entries.multiply(share * variance)
        return {
            (0, 0): of_rows + by_variance.multiply(mean**2 - variance),
            (0, REFERENCE): by_variance.multiply(-2 * mean),
            (REFERENCE, REFERENCE): by_variance,
        }


class SplitRaters:
    """The error variance of each completion is s^2 / k, with s^2 the variance (k - 1) of its k
    raters.

    This equals instrumental variables in which each rater in turn is the reference and the mean of
    the others its instrument, judge by judge, over all raters: the mean over pairs a != b of r_a
    r_b is mean(r)^2 - s^2 / k. Errors of raters must be independent of each other, but not of equal
    variance, and the order of raters does not matter. The rows have s^2 / k in the place of the
    length, and no term is of it.
    """

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""
        return moments.tensor[:, 0, 0, 0, LENGTH_OF_ROW]

    def weights(self, cells: DesignCells, entries: "csr_array") -> dict:
        """Weights of a prompt's sums in its part of C, (cells, entries) for each product that has
        any; entries: of b b' in each cell, (cells, entries).
        """
        return {(0, LENGTH): entries}


Noise = KnownReliability | SplitRaters  # the source of the error variance of the reference
# Columns of the table, share of the error variance that is subtracted
Correction = tuple[dict, float]


class CorrectedFits:
    """The fits of one slice, each corrected for errors in the reference, with errors by prompt;
    prompts come a few at a time, each with all its rows.

    b = (X'X - C)^-1 X'y, with C the sum of v b b' over rows, is consistent where the error
    variances v are right; uncorrected, C is 0. Where X'X - C is not positive in a direction, errors
    would exceed the variation, and coefficients with a part in it are not identified. The influence
    of a prompt is (X'X - C)^-1 (X'(y - X b) + C_p b) over its rows, with C_p its part of C; the
    covariance is the sum of their squares with the small-sample factor of CR1, P / (P - 1) (n - 1)
    / (n - rank). Uncorrected, it is that of `covariance.Clusters`. Source: Fuller (1987), section
    2.2, with known error variance.
    """

    def __init__(
        self,
        design: SliceDesign,
        rows: Moments,
        cells: DesignCells,
        noise: Noise,
        corrections: Iterable[Correction],
    ) -> None:
        """Fit a design to `rows`, once for each correction; cells: those of the prompts' sums."""
        from scipy.sparse import csr_array, hstack, vstack

        self.plain = plain = solve(rows, design.regressors)  # uncorrected
        self.prompts, self._of_slice = 0, np.flatnonzero(cells.rows)  # prompts with rows in it
        row = sparse_layouts(cells.layouts)[REFERENCE]
        errors = np.bincount(design.cell, noise.sums(rows), cells.cells)[:, None]
        subtracted = (row.T @ row.multiply(errors)).toarray()  # C
        cross = plain.gram @ plain.estimate
        places, self._fits = gram_places(cells.layouts), []
        for columns, share in corrections:
            normal = plain.gram - share * subtracted
            inverse, null = inverted(normal)
            estimate = inverse @ cross
            estimate = estimate + inverse @ (cross - normal @ estimate)
            image = image_of_entries(places, estimate)
            squares = np.zeros_like(normal)  # sum over prompts
            self._fits.append((columns, share, estimate, determined(null), inverse, image, squares))
        entries = row[:, places[0]].multiply(row[:, places[1]])  # those of b b' in each cell
        parts, nothing = noise.weights(cells, entries), csr_array(entries.shape)
        # Weights for X'X, for X'y, which is the score where the estimate is 0, and for C
        weights = [
            gram_and_score_weights(cells.layouts, places, np.zeros_like(cross)),
            vstack([parts.get(product, nothing) for product in products(cells.layouts.shape[1])]),
        ]
        self._weights = hstack(weights, format="csr")
        self._bounds = np.cumsum([len(places[0]), len(cross)])

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        gram, cross, errors = np.split(mapped(sums, self._weights), self._bounds, axis=1)
        for _, share, _, _, inverse, image, squares in self._fits:
            influence = (cross - (gram - share * errors) @ image) @ inverse
            squares += influence.T @ influence
        self.prompts += int(sums[:, 0, self._of_slice].any(axis=1).sum())

    def results(self) -> Iterator[tuple[dict, LeastSquares]]:
        """Yield the columns of each fit and its coefficients with their errors, NaN with fewer than
        two prompts or when n <= rank; t has P - 1 degrees.
        """
        n, rank = self.plain.n, self.plain.rank
        factor = small_sample_factor(self.prompts, n, rank)
        for columns, _, estimate, is_determined, _, _, squares in self._fits:
            identified = self.plain.identified & is_determined
            spread = covariance_among(identified, squares * factor)
            estimate = np.where(identified, estimate, np.nan)
            yield columns, LeastSquares(estimate, spread, identified, n, rank, self.prompts - 1)


def _moments(spec: Spec, study: StudyTables) -> Moments:
    """The moments of the rows of all slices."""
    moments = spec_moments(spec, study)
    kept = np.zeros(len(moments.n), dtype=bool)
    for _, mask in spec.selection.slices(moments.factors):
        kept |= mask
    return moments.select(kept)


def correct(
    spec: Spec,
    moments: Moments,
    blocks: Iterable[RowBlock],
    noise: Noise,
    corrections: Sequence[Correction],
    *,
    confidence: float,
) -> Iterator[dict]:
    """Yield the terms and slices that no method can estimate, then the estimates by each
    correction, in one pass.
    """
    slices = []
    for label, rows, design in slice_designs(spec, moments, apart="dimension"):
        where = {"spec": spec.name, "slice": label, "estimand": estimand_name(spec)}
        for absent in absent_terms(spec, rows.factors):
            yield where | absent._asdict()
        if design is not None:
            cells = _with_others(design, moments)
            fits = CorrectedFits(design, rows, cells, noise, corrections)
            slices.append((where, design.terms, cells, fits))
    takers = [(cells, [fits]) for *_, cells, fits in slices]
    add_prompts(takers, blocks if takers else (), len(moments.n))
    for where, terms, _, fits in slices:
        for columns, result in fits.results():
            for place, term in enumerate(terms):
                about = {"quantity": term.quantity, "term": term.term}
                row = where | columns | about | {"n": result.n, "prompts": fits.prompts}
                if result.identified[place]:
                    error, df = result.std_error[place], result.df
                    row |= wald_columns(result.estimate[place], error, df=df, confidence=confidence)
                    row |= remark_by_prompt(error, df)
                else:
                    is_noisy = fits.plain.identified[place]
                    reason = Reason.REFERENCE_TOO_NOISY if is_noisy else Reason.COLLINEAR
                    row["reason"] = because(reason)
                yield row


def remark_by_prompt(std_error: float, df: float) -> dict[str, str]:
    """The `reason` that an estimate has no error CR1, or the `note` that prompts are few, if
    either is so; df: P - 1, of P prompts.
    """
    if not std_error > 0:
        return {"reason": because(Reason.NO_STANDARD_ERROR)}
    if df + 1 < FEW:
        return {"note": FEW_CLUSTERS.format(covariance="CR1", clusters=df + 1, few=FEW)}
    return {}


def _with_others(design: SliceDesign, moments: Moments) -> DesignCells:
    """The cells of a slice, and a last one for the other rows of each of its dimensions, which
    count for the variance there.
    """
    dimension = moments.factors["dimension"]
    levels = np.unique(dimension[design.group])
    group = np.flatnonzero(np.isin(dimension, levels))
    cell = design.cells + np.searchsorted(levels, dimension[group])
    cell[np.searchsorted(group, design.group)] = design.cell
    layouts = np.concatenate([design.layouts, np.zeros((len(levels), *design.layouts.shape[1:]))])
    rows = np.bincount(design.cell, moments.n[design.group], len(layouts))
    of_cells = np.concatenate([dimension[design.first], levels])
    return DesignCells(group, cell, len(layouts), layouts, of_cells, rows)
