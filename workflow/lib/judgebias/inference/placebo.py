"""Estimand C: self- and family-bias against the spread of the judge x model cells that are neither self nor family."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgebias.fits.design import ALL_JUDGES
from judgebias.fits.estimands import C
from judgebias.fits.linear import ALONE
from judgebias.fits.present_terms import NO_ROWS, NO_SLICE
from judgebias.fits.spec import Spec
from judgebias.fits.wald import wald_columns, wald_p_value
from judgebias.inference.additive_fit import AdditiveFit
from judgebias.inference.assignments import Assignments, draw_assignments
from judgebias.inference.cell_means import PLACEBO, CellMeans, cell_means
from judgebias.ratings.moments import Moments
from judgebias.ratings.study import Study

DRAWS = 10_000
NO_CELL = "not estimable: no cell that is neither self nor family is of {what}"
NOT_LINKED = "not estimable: cells that are neither self nor family do not link judge and model of {what}"
NO_OTHER = "not estimable: no other cells that are neither self nor family link judge {judge} and model {model}"
NO_ASSIGNMENT = "no randomisation: cells that are neither self nor family do not give each judge another model"
NO_SPREAD = "not estimable: the cells that are neither self nor family leave no residual"


@dataclass(frozen=True)
class Placebo:
    """One gap of own or family cells to what the placebo cells predict; NaN where there is none, with the reason."""

    quantity: str  # self_bias or family_bias
    term: str  # the judge or family, or ALL_JUDGES for the mean of all self-biases
    cells: int  # judge x model cells that the gap is the mean of
    estimate: float = math.nan
    std_error: float = math.nan
    df: int = 0
    p_value: float = math.nan  # by t
    randomisation_p_value: float = math.nan
    draws: int = 0  # cells or assignments that the randomisation compares with
    reason: str = ""


@dataclass(frozen=True)
class Target:
    """Cells whose gap is asked for, and what it is made of; `reason` why there is none."""

    quantity: str  # as in Placebo, or the relation of a single cell
    term: str
    contrast: np.ndarray  # (cells,) whose product with the means is the gap; nothing of a judge whose cells are left out
    cells: int  # of the target
    reason: str = ""


class PlaceboDesign:
    """What is the same for all means of the same cells: the additive fit a_j + c_m to the placebo cells, and its errors.

    The gap of cells T is mean(r_T) - mean(a_j + c_m), with variance s^2 (1 / |T| + x'(X'X)^-1 x), x the mean row of T, and t
    with as many degrees of freedom as there are placebo cells less the rank of X. The cells count alike, as taste, not the
    number of prompts, is what sets most of them apart.
    """

    def __init__(self, cells: CellMeans, *, seed: int, draws: int = DRAWS) -> None:
        """Lay out the fit; `draws` random assignments of models to judges are drawn with `seed`.

        Without draws there are no randomisation tests.
        """
        self._cells, self._placebo = cells, ~cells.own & ~cells.same_family
        self._fit = AdditiveFit.of(cells.judge, cells.model, self._placebo)
        self._leftover = self._fit.leftover(self._placebo)
        self.df = int(self._placebo.sum()) - self._fit.rank
        self.targets = [*self._own(), *self._families()]
        self._alone = {name: self._with_own(name) for name in self._known()} if draws else {}
        self._pooled = self._mean_of_own()
        self._assignments = self._assigned(draws, seed)

    def test(self, mean: np.ndarray) -> list[Placebo]:
        """Estimate and test all gaps of these means, (cells,): judges, families, and the mean over judges.

        The randomisation p-value of a judge is the share of its own and placebo cells whose studentised leave-one-out residual,
        of an additive fit to the placebo cells and the own one, is at least the own one's in size: (1 + #) / (1 + cells).
        That of all judges is the share of random assignments of a model to each judge, in placebo cells only, whose mean gap,
        each from a fit without them and over its standard error, is at least the own one's: (1 + #) / (1 + draws).
        """
        residuals, spread = self._leftover @ mean[self._placebo], self.spread(mean)
        found = [self._tested(target, mean, spread) for target in self.targets]
        pooled = self._pooled
        if pooled is None:
            return found
        own = pooled.contrast @ mean / np.linalg.norm(pooled.contrast)
        drawn = self._assignments.means(residuals)
        share = (1 + (np.abs(drawn) >= abs(own)).sum()) / (1 + len(drawn)) if len(drawn) else math.nan
        return [*found, self._tested(pooled, mean, spread, (float(share), len(drawn)))]

    def spread(self, mean: np.ndarray) -> float:
        """Standard deviation s that the placebo cells leave, of means (cells,); NaN where they leave no residual."""
        residuals = self._leftover @ mean[self._placebo]
        return math.sqrt(residuals @ residuals / self.df) if self.df > 0 else math.nan

    def of_cell(self, place: int) -> Target:
        """One cell against the placebo cells; a placebo cell against the others, as if it had not been fitted."""
        relation, judge, model = self._cells.relation[place], self._cells.judge[place], self._cells.model[place]
        alone = np.arange(len(self._cells.n)) == place
        if relation != PLACEBO:
            return self._target(relation, judge, alone)
        number = int(self._placebo[:place].sum())
        free = self._leftover[number, number]
        if self.df <= 0:
            return Target(relation, judge, alone, 1, NO_SPREAD)
        if free <= ALONE:
            return Target(relation, judge, alone, 1, NO_OTHER.format(judge=judge, model=model))
        contrast = np.zeros(len(alone))
        contrast[self._placebo] = self._leftover[number] / free
        return Target(relation, judge, contrast, 1)

    def _tested(self, target: Target, mean: np.ndarray, spread: float, randomised: tuple = (math.nan, 0)) -> Placebo:
        if target.reason:
            return Placebo(target.quantity, target.term, target.cells, reason=target.reason)
        gap, error = float(target.contrast @ mean), spread * float(np.linalg.norm(target.contrast))
        if not error > 1e-10:
            return Placebo(target.quantity, target.term, target.cells, gap, reason=NO_SPREAD)
        if target.quantity == "self_bias" and target.term in self._alone:
            randomised = _rank(*self._alone[target.term], mean)
        p_value = wald_p_value(gap, error, self.df)
        return Placebo(target.quantity, target.term, target.cells, gap, error, self.df, p_value, *randomised)

    def _own(self) -> Iterator[Target]:
        for judge in map(str, np.unique(self._cells.judge)):
            yield self._target("self_bias", judge, self._cells.own & (self._cells.judge == judge))
        for judge, reason in self._cells.without_slope.items():
            yield Target("self_bias", judge, np.zeros(0), 0, reason)

    def _families(self) -> Iterator[Target]:
        for family in map(str, np.unique(self._cells.judge_family)):
            yield self._target("family_bias", family, self._cells.same_family & (self._cells.judge_family == family))

    def _target(self, quantity: str, term: str, among: np.ndarray) -> Target:
        count = int(among.sum())
        contrast = among / max(1, count)
        row = contrast @ self._fit.rows
        contrast[self._placebo] -= row @ self._fit.inverse
        return Target(quantity, term, contrast, count, self._why_not(quantity, among, row))

    def _why_not(self, quantity: str, among: np.ndarray, row: np.ndarray) -> str:
        """Why the placebo cells do not predict the cells `among`, whose mean row of the additive fit is `row`; or ""."""
        if not among.any():
            return NO_ROWS[quantity]
        for what, names in (("judge", self._cells.judge), ("model", self._cells.model)):
            lacking = sorted(set(names[among]) - set(names[self._placebo]))
            if lacking:
                return NO_CELL.format(what=f"{what} {', '.join(lacking)}")
        if not self._fit.determined(row[None])[0]:
            return NOT_LINKED.format(what=", ".join(sorted(set(self._cells.judge[among]))))
        return "" if self.df > 0 else NO_SPREAD

    def _known(self) -> list[str]:
        return [target.term for target in self.targets if target.quantity == "self_bias" and not target.reason]

    def _mean_of_own(self) -> Target | None:
        """The mean of the self-biases that are estimable."""
        own = self._cells.own & np.isin(self._cells.judge, self._known())
        return self._target("self_bias", ALL_JUDGES, own) if own.any() else None

    def _with_own(self, judge: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of the placebo cells and, last, the own one, I - H of an additive fit to them, and which are the judge's."""
        own = np.flatnonzero(self._cells.own & (self._cells.judge == judge))
        places = np.concatenate([np.flatnonzero(self._placebo), own])
        judges, models = self._cells.judge[places], self._cells.model[places]
        every = np.ones(len(places), dtype=bool)
        return places, AdditiveFit.of(judges, models, every).leftover(every), judges == judge

    def _assigned(self, draws: int, seed: int) -> Assignments:
        """Draw assignments to the judges whose self-bias is estimable."""
        judges, models = np.array(self._known(), dtype=str), np.unique(self._cells.model)
        place = np.full((len(judges), len(models)), -1)
        names = zip(self._cells.judge[self._placebo], self._cells.model[self._placebo], strict=True)
        for number, (judge, model) in enumerate(names):
            place[judges == judge, np.searchsorted(models, model)] = number
        return draw_assignments(place, self._leftover, draws=draws, seed=seed)


def _rank(places: np.ndarray, leftover: np.ndarray, mine: np.ndarray, mean: np.ndarray) -> tuple[float, int]:
    """The share of a judge's cells whose studentised residual is at least that of the last, its own; and how many others.

    Residuals over sqrt(1 - h) have the order of those from fits without the cell, over their own standard errors.
    """
    kept = mine & (leftover.diagonal() > ALONE)
    sizes = np.abs(leftover @ mean[places])[kept] / np.sqrt(leftover.diagonal()[kept])
    return float((sizes >= sizes[-1]).sum() / len(sizes)), len(sizes) - 1


def placebo(moments: Moments, *, seed: int, draws: int = DRAWS, reference: bool = True) -> list[Placebo]:
    """Estimate and test estimand C on the rows behind `moments`: self-bias by judge, family-bias, and the mean self-bias.

    reference: whether the rows have one; without, the means are of the ratings less the effects of dimensions alone.
    """
    cells = cell_means(moments, reference=reference)
    return PlaceboDesign(cells, seed=seed, draws=draws).test(cells.mean)


def placebo_rows(spec: Spec, study: Study, *, confidence: float, seed: int, draws: int = DRAWS) -> Iterator[dict]:
    """Yield the rows of the placebo table of a least-squares spec: its rows, slices and covariates, whatever its terms."""
    for label, moments in study.slices(spec):
        where = {"study": study.name, "spec": spec.name, "slice": label, "estimand": C}
        if not len(moments.n):
            yield {**where, "reason": NO_SLICE}
            continue
        for found in placebo(moments, seed=seed, draws=draws, reference=study.has_human_scores):
            row = {"quantity": found.quantity, "term": found.term, "cells": found.cells, "reason": found.reason}
            if not found.reason:
                row |= wald_columns(found.estimate, found.std_error, df=found.df, confidence=confidence)
                row |= {"randomisation_p_value": found.randomisation_p_value, "draws": found.draws}
                row |= {"reason": NO_ASSIGNMENT} if found.term == ALL_JUDGES and not found.draws else {}
            yield {**where, **row}
