"""Estimand C: self- and family-bias beyond the ordinary preferences of judges for models.

A cell is the mean rating of a judge for a model, less what the human score and the dimension account for. The unrelated cells,
neither self nor same family, follow a fit of one effect by judge and one by model; their scatter about it is ordinary,
idiosyncratic preference. A self-bias is the part of a judge's own cell that this does not explain.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recuse.data.moments import RATING, REFERENCE, Moments
from recuse.data.study import Study
from recuse.model.design import ALL_JUDGES, NO_ROWS, NO_SLICE
from recuse.model.estimable import slices_of
from recuse.model.least_squares import ALONE, determined, inverted, quantile, wald_columns, wald_p_value
from recuse.model.spec import C, Spec

SELF, FAMILY, UNRELATED = "self", "family", "unrelated"  # the relation of a cell's model to its judge
NO_SLOPE = "not estimable: the human score does not vary within any dimension and model that this judge rates"
NO_CELL = "not estimable: no cell that is neither self nor family is of {what}"
NOT_LINKED = "not estimable: cells that are neither self nor family do not link judge and model of {what}"
NO_OTHER = "not estimable: no other cells that are neither self nor family link judge {judge} and model {model}"
NO_ASSIGNMENT = "no randomisation: cells that are neither self nor family do not give each judge another model"
NO_SPREAD = "not estimable: the cells that are neither self nor family leave no residual"
BATCH, BATCHES = 20_000, 50  # assignments drawn at a time, and how often at most: few may hit the cells that they must
SINGULAR = 1e-9  # smallest eigenvalue: below it, the remaining cells do not identify all that are assigned
DRAWS = 10_000


@dataclass(frozen=True)
class CellMeans:
    """The judge x model cells of a slice, in the order of judge and model, without those of a judge without slope."""

    judge: np.ndarray  # (cells,) of str, as are the next three
    model: np.ndarray
    judge_family: np.ndarray
    model_family: np.ndarray
    mean: np.ndarray  # (cells,) in points of the unit scale
    n: np.ndarray  # (cells,) rows
    without_slope: Mapping[str, str] = field(default_factory=dict)  # judge -> why

    @property
    def is_self(self) -> np.ndarray:
        """Cells of a judge's own answers, (cells,) of bool."""
        return self.judge == self.model

    @property
    def is_family(self) -> np.ndarray:
        """Cells of a judge and another model of its family, (cells,) of bool."""
        return (self.judge_family == self.model_family) & ~self.is_self

    @property
    def is_unrelated(self) -> np.ndarray:
        """Cells of a judge and a model of another family, (cells,) of bool."""
        return self.judge_family != self.model_family

    @property
    def relation(self) -> np.ndarray:
        """SELF, FAMILY or UNRELATED, (cells,) of str."""
        return np.select([self.is_self, self.is_family], [SELF, FAMILY], UNRELATED)


def cell_means(moments: Moments, *, reference: bool = True) -> CellMeans:
    """Compute r_jm = mean over rows of rating - b_j covariates - effect of the dimension, of the rows behind `moments`.

    The covariates are the human score, unless `reference` is False, and the length, if there is one. b_j is the least-squares
    slope of judge j within its dimension x model cells, and so free of the judge's preferences. The effects of dimensions,
    common to all judges, are least squares of the adjusted means of judge x model x dimension cells on judge x model and
    dimension, weighted by rows; their mean over rows is 0.
    """
    factors = moments.factors
    names = np.stack([factors[name] for name in ("judge", "model", "dimension")], axis=1)
    kinds, first, place = np.unique(names, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros((len(kinds), *moments.tensor.shape[3:]))  # (kinds, v, v): sums of u u'
    np.add.at(sums, place, moments.tensor[:, 0, 0])
    if not reference:
        sums = np.delete(np.delete(sums, REFERENCE, axis=1), REFERENCE, axis=2)
    judges, judge = np.unique(kinds[:, 0], return_inverse=True)
    slopes, is_determined = _slopes_within(sums, judge, len(judges))
    n, kept = sums[:, 0, 0], is_determined[judge]
    adjusted = sums[:, 0, RATING] / n - np.einsum("kc,kc->k", sums[:, 0, RATING + 1 :] / n[:, None], slopes[judge])
    cells, cell = np.unique(kinds[kept, :2], axis=0, return_inverse=True)
    mean = _without_dimensions(adjusted[kept], n[kept], cell, kinds[kept, 2])
    group = first[kept][np.unique(cell, return_index=True)[1]]
    families = (factors[name][group] for name in ("judge_family", "model_family"))
    without_slope = {str(name): NO_SLOPE for name in judges[~is_determined]}
    return CellMeans(cells[:, 0], cells[:, 1], *families, mean, np.bincount(cell, n[kept]), without_slope)


def _slopes_within(sums: np.ndarray, judge: np.ndarray, judges: int) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the covariates within kinds, (judges, covariates), and whether all of a judge's are determined, (judges,).

    sums: (kinds, v, v) over u = (1, rating, covariates...).
    """
    centred = sums[:, 1:, 1:] - sums[:, 0, 1:, None] * sums[:, 0, None, 1:] / sums[:, 0, 0, None, None]
    # What does not vary within a kind leaves rounding of 0.
    centred[np.abs(centred) < 1e-12 * np.abs(sums[:, 1:, 1:])] = 0.0
    total = np.zeros((judges, *centred.shape[1:]))
    np.add.at(total, judge, centred)
    slopes = np.zeros((judges, total.shape[1] - 1))
    is_determined = np.full(judges, not slopes.shape[1])  # without covariates nothing is left to determine
    for place, product in enumerate(total):
        if product[1:, 1:].any():
            inverse, null = inverted(product[1:, 1:])
            slopes[place], is_determined[place] = inverse @ product[1:, 0], determined(null).all()
    return slopes, is_determined


def _without_dimensions(values: np.ndarray, n: np.ndarray, cell: np.ndarray, dimension: np.ndarray) -> np.ndarray:
    """Means over rows of `values` less the effects of dimensions, (cells,); the arguments are (kinds,)."""
    _, level = np.unique(dimension, return_inverse=True)
    rows = np.bincount(cell, n)
    dummies = (level[:, None] == np.arange(level.max(initial=-1) + 1)).astype(float)
    dummies -= np.average(dummies, axis=0, weights=n) if len(n) else 0.0
    sums = np.zeros((len(rows), dummies.shape[1]))
    np.add.at(sums, cell, dummies * n[:, None])
    within = dummies - (sums / rows[:, None])[cell]
    centred = values - (np.bincount(cell, values * n) / rows)[cell]
    effects = np.linalg.lstsq(within * np.sqrt(n)[:, None], centred * np.sqrt(n), rcond=1e-10)[0]
    return np.bincount(cell, (values - dummies @ effects) * n) / rows


class AdditiveFit:
    """Least squares of mean_jm = a_j + c_m on the `fitted` cells, each as one observation."""

    def __init__(self, judge: np.ndarray, model: np.ndarray, fitted: np.ndarray) -> None:
        """judge, model: (cells,) of str; fitted: (cells,) of bool."""
        rows = np.concatenate([names[:, None] == np.unique(names) for names in (judge, model)], axis=1).astype(float)
        gram = rows[fitted].T @ rows[fitted]
        inverse, null = inverted(gram)
        self.fitted, self.rows = fitted, rows  # rows: (cells, judges + models) of all cells
        # (terms, fitted cells): times the means of the fitted cells, the shortest effects that fit them.
        self.inverse = inverse @ rows[fitted].T
        # (terms, directions) in which effects can move without changing the fit, for columns of length 1.
        self.free = null / np.sqrt(np.maximum(gram.diagonal(), 1.0))[:, None]

    @property
    def df(self) -> int:
        """Fitted cells less the rank of the fit."""
        return int(self.fitted.sum()) - (len(self.free) - self.free.shape[1])

    @property
    def leftover(self) -> np.ndarray:
        """M = I - H of the fitted cells, (fitted cells, fitted cells): times their means, the residuals."""
        return np.eye(int(self.fitted.sum())) - self.rows[self.fitted] @ self.inverse

    def determined(self, sums: np.ndarray) -> np.ndarray:
        """Which sums of effects with these weights, (sums, terms), the fitted cells determine: (sums,) of bool."""
        return determined(sums @ self.free)


def draw_assignments(place: np.ndarray, leftover: np.ndarray, *, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw assignments of a model to each judge, none twice, uniformly; fewer than `draws`, or none, where few are possible.

    Returns places of the assigned cells among those of the fit, (draws, judges), and weights: the weighted sum of their
    residuals is their mean residual from a fit without them over its standard error, times the sd of a cell. Residuals from a
    fit without a set T are M_TT^-1 e_T; their mean has the variance 1' M_TT^-1 1 / |T|^2 times that of a cell.
    place: (judges, models) of each cell among those of the fit, -1 where there is none. leftover: M of the fit.
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    judges, models = place.shape
    batches, count = [np.empty((0, judges), dtype=np.int64)], 0
    for _ in range(BATCHES if draws and 0 < judges <= models and (place >= 0).any(axis=1).all() else 0):
        order = generator.permuted(np.tile(np.arange(models), (BATCH, 1)), axis=1)[:, :judges]
        cells = place[np.arange(judges), order]
        cells = cells[(cells >= 0).all(axis=1)]
        if len(cells):
            blocks = leftover[cells[:, :, None], cells[:, None, :]]
            cells = cells[np.linalg.eigvalsh(blocks)[:, 0] > SINGULAR]
        batches.append(cells)
        count += len(cells)
        if count >= draws:
            break
    cells = np.concatenate(batches)[:draws]
    blocks = leftover[cells[:, :, None], cells[:, None, :]]
    solved = np.linalg.solve(blocks, np.ones((*cells.shape, 1)))[..., 0]
    return cells, solved / np.sqrt(solved.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ExcessPreference:
    """The gap of some cells to what the unrelated cells predict: a contrast of the means and, once tested, its numbers."""

    quantity: str  # self_bias or family_bias, or the relation of a single cell
    term: str  # the judge or family, or ALL_JUDGES for the mean of all self-biases
    contrast: np.ndarray  # (cells,) whose product with the means is the gap; empty for a judge whose cells are left out
    cells: int  # whose mean the gap is
    reason: str = ""  # why there is no gap, or no error
    estimate: float = math.nan
    std_error: float = math.nan
    df: int = 0
    p_value: float = math.nan  # by t
    randomisation_p_value: float = math.nan
    draws: int = 0  # cells or assignments that the randomisation uses


class IdiosyncrasyDesign:
    """All that does not depend on the means: the additive fit a_j + c_m to the unrelated cells, and its errors.

    The gap of cells T is mean(r_T) - mean(a_j + c_m), with variance s^2 (1 / |T| + x'(X'X)^-1 x), x the mean row of T, and t
    with (unrelated cells - rank of X) degrees of freedom. All cells have the same weight: most differ by preference, not by
    the number of prompts.
    """

    def __init__(self, cells: CellMeans, *, seed: int = 0, draws: int = 0) -> None:
        """draws: random assignments of models to judges; with 0 there are no randomisation tests."""
        self.cells = cells
        self._fit = AdditiveFit(cells.judge, cells.model, cells.is_unrelated)
        self._leftover, self.df = self._fit.leftover, self._fit.df
        self.targets = list(self._targets())
        judges = [target.term for target in self.targets if target.quantity == "self_bias" and not target.reason]
        self._alone = {judge: self._with_own_cell(judge) for judge in judges} if draws else {}
        estimable = cells.is_self & np.isin(cells.judge, judges)
        self._mean = self._target("self_bias", ALL_JUDGES, estimable) if estimable.any() else None
        self._assigned, self._weights = draw_assignments(self._places(judges), self._leftover, draws=draws, seed=seed)

    def test(self, mean: np.ndarray) -> list[ExcessPreference]:
        """Estimate and test all gaps of these means, (cells,): judges, families, and the mean over judges.

        The randomisation p-value of a judge is the share of its own and unrelated cells whose studentised leave-one-out
        residual, of an additive fit to the unrelated cells and the own one, is at least as large as the own one's:
        (1 + #) / (1 + cells). That of all judges is the share of random assignments of a model to each judge, in unrelated
        cells only, whose mean gap, each from a fit without them and over its standard error, is at least as large as the own
        cells': (1 + #) / (1 + draws).
        """
        spread = self.spread(mean)
        tests = [
            self._tested(target, mean, spread, _rank(*self._alone[target.term], mean))
            if target.quantity == "self_bias" and target.term in self._alone
            else self._tested(target, mean, spread)
            for target in self.targets
        ]
        if self._mean is None:
            return tests
        standardised = self._mean.contrast @ mean / np.linalg.norm(self._mean.contrast)
        residuals = self._leftover @ mean[self.cells.is_unrelated]
        drawn = (self._weights * residuals[self._assigned]).sum(axis=1)
        share = (1 + (np.abs(drawn) >= abs(standardised)).sum()) / (1 + len(drawn)) if len(drawn) else math.nan
        return [*tests, self._tested(self._mean, mean, spread, (float(share), len(drawn)))]

    def spread(self, mean: np.ndarray) -> float:
        """Residual standard deviation s of the unrelated cells, of means (cells,); NaN where they leave no residual."""
        residuals = self._leftover @ mean[self.cells.is_unrelated]
        return math.sqrt(residuals @ residuals / self.df) if self.df > 0 else math.nan

    def of_cell(self, place: int) -> ExcessPreference:
        """One cell against the unrelated cells; an unrelated cell against the others, from a fit without it."""
        relation, judge, model = self.cells.relation[place], self.cells.judge[place], self.cells.model[place]
        contrast = (np.arange(len(self.cells.n)) == place).astype(float)
        if relation != UNRELATED:
            return self._target(relation, judge, contrast > 0)
        number = int(self.cells.is_unrelated[:place].sum())
        free, reason = self._leftover[number, number], ""
        if self.df <= 0:
            reason = NO_SPREAD
        elif free <= ALONE:
            reason = NO_OTHER.format(judge=judge, model=model)
        else:
            contrast[self.cells.is_unrelated] = self._leftover[number] / free
        return ExcessPreference(relation, judge, contrast, 1, reason)

    def _tested(self, target: ExcessPreference, mean: np.ndarray, spread: float, randomised=(math.nan, 0)) -> ExcessPreference:
        if target.reason:
            return target
        gap, error = float(target.contrast @ mean), spread * float(np.linalg.norm(target.contrast))
        if not error > 1e-10:
            return replace(target, estimate=gap, reason=NO_SPREAD)
        numbers = {"estimate": gap, "std_error": error, "df": self.df, "p_value": wald_p_value(gap, error, self.df)}
        return replace(target, **numbers, randomisation_p_value=randomised[0], draws=randomised[1])

    def _targets(self) -> Iterator[ExcessPreference]:
        cells = self.cells
        for judge in map(str, np.unique(cells.judge)):
            yield self._target("self_bias", judge, cells.is_self & (cells.judge == judge))
        for judge, reason in cells.without_slope.items():
            yield ExcessPreference("self_bias", judge, np.zeros(0), 0, reason)
        for family in map(str, np.unique(cells.judge_family)):
            yield self._target("family_bias", family, cells.is_family & (cells.judge_family == family))

    def _target(self, quantity: str, term: str, among: np.ndarray) -> ExcessPreference:
        """The mean of the cells `among`, (cells,) of bool, against the unrelated cells."""
        count = int(among.sum())
        contrast = among / max(1, count)
        row = contrast @ self._fit.rows
        contrast[self.cells.is_unrelated] -= row @ self._fit.inverse
        return ExcessPreference(quantity, term, contrast, count, self._why_not(quantity, among, row))

    def _why_not(self, quantity: str, among: np.ndarray, row: np.ndarray) -> str:
        """Why the unrelated cells do not predict the cells `among`, whose mean row of the additive fit is `row`; or ""."""
        if not among.any():
            return NO_ROWS[quantity]
        for factor in ("judge", "model"):
            names = getattr(self.cells, factor)
            lacking = sorted(set(names[among]) - set(names[self.cells.is_unrelated]))
            if lacking:
                return NO_CELL.format(what=f"{factor} {', '.join(lacking)}")
        if not self._fit.determined(row[None])[0]:
            return NOT_LINKED.format(what=", ".join(sorted(set(self.cells.judge[among]))))
        return "" if self.df > 0 else NO_SPREAD

    def _with_own_cell(self, judge: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of the unrelated cells and, last, the own one, M of an additive fit to them, and which are the judge's."""
        self_cells = np.flatnonzero(self.cells.is_self & (self.cells.judge == judge))
        places = np.concatenate([np.flatnonzero(self.cells.is_unrelated), self_cells])
        judges, models = self.cells.judge[places], self.cells.model[places]
        return places, AdditiveFit(judges, models, np.ones(len(places), dtype=bool)).leftover, judges == judge

    def _places(self, judges: list[str]) -> np.ndarray:
        """Places of the unrelated cells among those of the fit, (judges, models), of some judges; -1 where there is none."""
        models, unrelated = np.unique(self.cells.model), self.cells.is_unrelated
        place = np.full((len(judges), len(models)), -1)
        for number, (judge, model) in enumerate(zip(self.cells.judge[unrelated], self.cells.model[unrelated], strict=True)):
            place[np.array(judges, dtype=str) == judge, np.searchsorted(models, model)] = number
        return place


def _rank(places: np.ndarray, leftover: np.ndarray, of_judge: np.ndarray, mean: np.ndarray) -> tuple[float, int]:
    """The share of a judge's cells whose studentised residual is at least that of the last, its own; and how many others.

    Residuals over sqrt(1 - h) have the order of those from fits without the cell, over their own standard errors.
    """
    kept = of_judge & (leftover.diagonal() > ALONE)
    sizes = np.abs(leftover @ mean[places])[kept] / np.sqrt(leftover.diagonal()[kept])
    return float((sizes >= sizes[-1]).sum() / len(sizes)), len(sizes) - 1


def idiosyncrasy_designs(
    spec: Spec, study: Study, *, seed: int = 0, draws: int = 0
) -> Iterator[tuple[dict, IdiosyncrasyDesign | None]]:
    """Yield the columns that name each slice of a spec, and its design, None without rows; the spec's terms do not matter.

    Without human scores, cell means are of the ratings less the effects of dimensions alone.
    """
    for label, moments in slices_of(spec, study):
        design = None
        if len(moments.n):
            design = IdiosyncrasyDesign(cell_means(moments, reference=study.has_human_scores), seed=seed, draws=draws)
        yield {"spec": spec.name, "slice": label, "estimand": C}, design


def idiosyncrasy_rows(spec: Spec, study: Study, *, confidence: float, seed: int, draws: int = DRAWS) -> Iterator[dict]:
    """Yield the gaps beyond ordinary preference, of a least-squares spec's rows, slices and covariates."""
    for where, design in idiosyncrasy_designs(spec, study, seed=seed, draws=draws):
        if design is None:
            yield {**where, "reason": NO_SLICE}
            continue
        for gap in design.test(design.cells.mean):
            row = {**where, "quantity": gap.quantity, "term": gap.term, "cells": gap.cells, "reason": gap.reason}
            if not gap.reason:
                row |= wald_columns(gap.estimate, gap.std_error, df=gap.df, confidence=confidence)
                row |= {"randomisation_p_value": gap.randomisation_p_value, "draws": gap.draws}
                row |= {"reason": NO_ASSIGNMENT} if gap.term == ALL_JUDGES and not gap.draws else {}
            yield row


def residual_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the judge-model residuals, one for each cell, of a least-squares spec's rows, slices and covariates.

    residual: the cell's mean less a_j + c_m of the additive fit to the unrelated cells, in points of the unit scale; an
    unrelated cell is left out of its own fit. std_error: of such a prediction, s sqrt(1 + x'(X'X)^-1 x), with the X of that fit
    and the s of the fit to all. The residual of an unbiased cell is between -band and band with probability `confidence`, by t
    with df.
    """
    for where, design in idiosyncrasy_designs(spec, study):
        if design is None:
            yield {**where, "reason": NO_SLICE}
            continue
        cells = design.cells
        spread = design.spread(cells.mean)
        for place, (judge, model, n) in enumerate(zip(cells.judge, cells.model, cells.n, strict=True)):
            target = design.of_cell(place)
            row = {**where, "judge": judge, "model": model, "relation": target.quantity, "n": round(n)}
            if target.reason:
                yield row | {"reason": target.reason}
                continue
            error = spread * float((target.contrast @ target.contrast) ** 0.5)
            row |= {"residual": float(target.contrast @ cells.mean), "std_error": error, "df": design.df}
            yield row | {"band": quantile(confidence, design.df) * error}
        for judge, reason in cells.without_slope.items():
            yield {**where, "judge": judge, "reason": reason}
