"""Estimand C as a mixed model of the judge x model table: self- and family-bias beyond ordinary
preference.

Cell means r_jm (mean rating less slope x human score) of judge j and model m are taken as

    r_jm = a_j + b_j c_m + self_j 1[m = j] + family_F 1[j, m in F, m != j]
           + preference_jm + sampling error

Judges may use more or less of the scale, b_j ~ N(1, tau^2), where b_j - 1 acts on estimates of c_m,
shrunk by their error, that are renewed until they settle; their error is not in the standard
errors. The fit has not converged if they do not settle, or differ by more than the cell means do.
Preferences have a standard deviation s_j of their own for each judge, and shares of their variance
are common to models of one family, to judges of one family, or to both:

    Cov(preference_jm, preference_kn) = s_j s_k (w_0 [j=k][m=n] + w_1 [j=k][F(m)=F(n)]
                                                 + w_2 [F(j)=F(k)][m=n]
                                                 + w_3 [F(j)=F(k)][F(m)=F(n)])
    w_0 + w_1 + w_2 + w_3 = 1

Sampling errors are independent, of the variance that the prompts of the cell show, which is taken
as known. Variances maximise the restricted likelihood (Patterson and Thompson 1971), with weak
priors and one on tau that leaves b_j nearly free, by the average-information algorithm (Gilmour,
Thompson and Cullis 1995). A self-bias is the own cell less its best linear unbiased prediction from
all others. Standard errors include that variances are estimated (Kackar and Harville 1984); t has
Satterthwaite's degrees of freedom, but not more than additive effects leave in the unrelated cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recuse.inference.judge_model import CellMeans, JudgeModelPairs
from recuse.model.least_squares import ROUNDING, connected_parts, inverted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix = np.ndarray | csr_array

DENSE = 150  # cells: up to these, sparse matrices cost more to handle than they save
# Priors of the parameters, which matter where the cells say little: mean and standard deviation of
# a normal.
# Log s_j^2, about the mean over judges: hardly shrunk, as a judge with a larger spread would be
# called biased
SPREAD = 3.0
SHARES = ((-1.5, 2.0), (-1.5, 2.0), (-0.5, 2.0))  # log(w_i / w_0)
SLOPES = (1.6, 0.5)  # log tau^2: nearly free slopes wherever models differ
LEAST_VARIANCE = 1e-10  # of a judge's preferences
STEPS, LONGEST = 40, 2.0  # of the fit: how many at most, and how long
# How far each renewal of c_m, by which b_j acts, goes to its new value: half way, as it may
# overshoot and then go in circles, and less where it still does.
RENEWALS = (1.0, *[1 / 2] * 19, *[1 / 8] * 20)
SETTLED = 0.1  # share of the error of c_m by which the last renewal may move it
MOST_DF = 1e6  # With more degrees of freedom, t is the normal distribution.
ENOUGH = 1e-5  # gain in log likelihood below which a fit has converged


@dataclass(frozen=True)
class CellTable(JudgeModelPairs):
    """A judge x model table without its numbers: codes of names, and the sampling variance of each
    cell.
    """

    sampling: np.ndarray  # (cells,) variance of the cell mean by sampling of prompts

    @classmethod
    def of(cls, cells: CellMeans) -> CellTable:
        """The table of some cell means with sampling variances."""
        return cls.named(
            cells.judge, cells.model, cells.judge_family, cells.model_family, cells.variance
        )

    @classmethod
    def named(cls, judge, model, judge_family, model_family, sampling: np.ndarray) -> CellTable:
        """The table of cells of these names, (cells,) of str each, and sampling variances,
        (cells,).
        """
        pairs = (judge, model), (judge_family, model_family)  # a judge that is a model has its code
        codes = [
            np.unique(np.concatenate(pair), return_inverse=True)[1].reshape(2, -1) for pair in pairs
        ]
        return cls(*codes[0], *codes[1], sampling)

    @cached_property
    def judges(self) -> np.ndarray:
        """Codes of the judges, (J,)."""
        return np.unique(self.judge)

    @cached_property
    def linked_models(self) -> np.ndarray:
        """Which models the cells other than own ones link, through judges, (M, M) of bool."""
        fitted = ~self.is_self
        rated = np.zeros((self.of_model.max() + 1, len(self.judges)))
        rated[self.of_model[fitted], self.of_judge[fitted]] = 1.0
        part = connected_parts(rated @ rated.T > 0)
        return part[:, None] == part

    @cached_property
    def families(self) -> np.ndarray:
        """Codes of the families with a cell of another model of the judge's family, (F,)."""
        return np.unique(self.judge_family[self.is_family])

    @cached_property
    def effects(self) -> np.ndarray:
        """Indicators of judge, model and family effect, (cells, J + M + F); own cells have none of
        their own.
        """
        families = (self.judge_family[:, None] == self.families) & self.is_family[:, None]
        judges, models = (np.eye(of.max() + 1)[of] for of in (self.of_judge, self.of_model))
        return np.concatenate([judges, models, families], axis=1)

    @cached_property
    def of_judge(self) -> np.ndarray:
        """Places of the judges of the cells among all judges, (cells,)."""
        return np.searchsorted(self.judges, self.judge)

    @cached_property
    def of_model(self) -> np.ndarray:
        """Places of the models of the cells among all models, (cells,)."""
        return np.unique(self.model, return_inverse=True)[1]

    @cached_property
    def kin(self) -> KinPairs:
        """The pairs of cells that may have preferences in common."""
        return KinPairs.of(self)

    def by_judge(self, values: np.ndarray) -> Matrix:
        """Values of the cells, (cells,), each in the column of its judge, (cells, J)."""
        rows = np.arange(len(values) + 1)
        return _matrix(values, self.of_judge, rows, (len(values), len(self.judges)))


@dataclass(frozen=True)
class KinPairs:
    """The pairs of cells of judges of one family and models of one family, and a cell with itself:
    the entries of block-diagonal matrices, block by block.
    """

    first: np.ndarray  # (pairs,) place of the cell, as `second`
    second: np.ndarray
    # Blocks of one size follow one another: (blocks, cells, cells) of each size
    shapes: list[tuple[int, int, int]]
    # (pairs,) of bool each: two cells have the same judge, the same model, and always
    alike: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, table: CellTable) -> KinPairs:
        """The pairs of a table."""
        code = table.judge_family * (table.model_family.max() + 1) + table.model_family
        _, block, counts = np.unique(code, return_inverse=True, return_counts=True)
        order = np.argsort(block, kind="stable")
        starts = counts.cumsum() - counts
        first, second, shapes = [], [], []
        for size in np.unique(counts).tolist():
            places = order[starts[counts == size][:, None] + np.arange(size)]  # (blocks, cells)
            first.append(np.repeat(places, size, axis=1).ravel())
            second.append(np.tile(places, size).ravel())
            shapes.append((len(places), size, size))
        one, other = np.concatenate(first), np.concatenate(second)
        same_judge, same_model = (of[one] == of[other] for of in (table.judge, table.model))
        return cls(one, other, shapes, (same_judge, same_model, one >= 0))

    @cached_property
    def is_same(self) -> np.ndarray:
        """The pairs of a cell with itself, (pairs,) of bool."""
        return self.first == self.second

    @cached_property
    def _layout(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Order of the pairs by row and column, their columns, and where each row begins."""
        order = np.lexsort((self.second, self.first))
        return order, self.second[order], np.append(0, np.bincount(self.first).cumsum())

    def matrix(self, values: np.ndarray) -> Matrix:
        """The matrix, (cells, cells), with these entries, (pairs,)."""
        order, columns, rows = self._layout
        return _matrix(values[order], columns, rows, (len(rows) - 1,) * 2)

    def inverted(self, values: np.ndarray) -> tuple[np.ndarray, float]:
        """Entries, (pairs,), of the inverse of the matrix with these, and its log determinant."""
        inverses, total, start = [], 0.0, 0
        for shape in self.shapes:
            end = start + math.prod(shape)
            blocks = values[start:end].reshape(shape)
            inverses.append(np.linalg.inv(blocks).ravel())
            total += float(np.linalg.slogdet(blocks)[1].sum())
            start = end
        return np.concatenate(inverses), total


@dataclass(frozen=True)
class FamilyBlock:
    """The cells of the judges of one family, of which those of other blocks are independent, with
    derivatives of their covariance.
    """

    places: np.ndarray  # (n,) among all cells
    moving: np.ndarray  # numbers of the parameters that move the block
    of_judge: np.ndarray  # (n, judges of the block) of float, 1 where a cell is the judge's
    preference: Matrix  # (n, n) covariance of the preferences
    by_weight: list[Matrix]  # (n, n) dV by each log(w_i / w_0)
    slopes: np.ndarray  # (n, judges of the block), as by `CellCovariance`

    def derivatives_times(self, rows: np.ndarray) -> np.ndarray:
        """Rows dV of each of the parameters, (parameters, rows, n); rows: (rows, n)."""
        whole = rows @ self.preference
        products = []
        for is_judge in self.of_judge.T:
            products.append(0.5 * (whole * is_judge + (rows * is_judge) @ self.preference))
        products += [rows @ derivative for derivative in self.by_weight]
        return np.stack([*products, (rows @ self.slopes) @ self.slopes.T])

    def information(self, matrix: np.ndarray) -> np.ndarray:
        """Traces of P dV_p P dV_q for each two of the parameters; matrix: P, (n, n).

        With S the covariance of preferences and I_p the cells of judge p, dV_p of log s_p^2 is
        (I_p S + S I_p) / 2.
        """
        left = self.preference @ matrix
        others = [derivative @ matrix for derivative in self.by_weight]
        others = np.stack([*others, self.slopes @ (self.slopes.T @ matrix)])
        products = left * left.T + matrix * (left @ self.preference)
        of_judges = self.of_judge.T @ products @ self.of_judge
        mixed = (left.T * others).sum(axis=1) @ self.of_judge
        return np.block([[0.5 * of_judges, mixed.T], [mixed, _traces(others)]])


class CellCovariance:
    """The covariance of the cells at some parameters, V = S + T T' + D, and its derivatives by the
    parameters.

    S, of the preferences, is 0 but for kin; T, by which judges use the scale, has a column for each
    judge; D is the sampling variance. parameters: log s_j^2, (J,); log(w_i / w_0) of each component
    used; log tau^2.
    """

    def __init__(
        self, table: CellTable, parameters: np.ndarray, slope: np.ndarray, used: np.ndarray
    ) -> None:
        """slope: (cells,) c_m about its mean, by which b_j acts; used: places among w_1 to w_3."""
        self.table, self.parameters = table, parameters
        kin, judges = table.kin, len(table.judges)
        ratio = np.exp(np.concatenate([[0.0], parameters[judges:-1]]))
        alone, *weights = ratio / ratio.sum()
        spread = np.exp(parameters[:judges] / 2)[table.of_judge]
        scale = spread[kin.first] * spread[kin.second]
        alike = [scale * kin.alike[place] for place in used]
        self._values = alone * scale * kin.is_same
        for weight, part in zip(weights, alike, strict=True):
            self._values = self._values + weight * part
        self.preference = kin.matrix(self._values)
        # As weights sum to 1, each lowers the others
        self.by_weight = [
            kin.matrix(weight * (part - self._values))
            for weight, part in zip(weights, alike, strict=True)
        ]
        self.slopes = table.by_judge(np.exp(parameters[-1] / 2) * slope)

    def inverse_without_slopes(self) -> tuple[Matrix, float]:
        """(S + D)^-1 of the cells that are not own ones, 0 at these, (cells, cells), and the log
        determinant of S + D.
        """
        kin, fitted = self.table.kin, ~self.table.is_self
        kept = fitted[kin.first] & fitted[kin.second]
        values = self._values + kin.is_same * self.table.sampling[kin.first]
        inverse, determinant = kin.inverted(np.where(kept, values, kin.is_same))
        return kin.matrix(inverse * kept), determinant

    def blocks(self) -> Iterator[FamilyBlock]:
        """Yield the blocks, one family after the other."""
        table, count = self.table, len(self.parameters)
        others = np.arange(len(table.judges), count)
        for family in np.unique(table.judge_family):
            places = np.flatnonzero(table.judge_family == family)
            judges, of_judge = np.unique(table.of_judge[places], return_inverse=True)
            yield FamilyBlock(
                places,
                np.concatenate([judges, others]),
                np.eye(len(judges))[of_judge],
                self.preference[places][:, places],
                [each[places][:, places] for each in self.by_weight],
                _dense(self.slopes[places][:, judges]),
            )

    def times(self, rows: np.ndarray) -> np.ndarray:
        """Rows V of some rows over cells, (..., cells)."""
        by_slopes = (rows @ self.slopes) @ self.slopes.T
        return rows @ self.preference + by_slopes + rows * self.table.sampling

    def squares(self, rows: np.ndarray) -> np.ndarray:
        """c dV c' of each row c by each parameter, (parameters, rows); rows: (rows, cells)."""
        indicators = self.table.by_judge(np.ones(rows.shape[1]))
        of_judges = ((rows @ self.preference) * rows) @ indicators
        by_weight = [((rows @ each) * rows).sum(axis=1) for each in self.by_weight]
        by_slope = ((rows @ self.slopes) ** 2).sum(axis=1)
        return np.concatenate([of_judges.T, np.stack([*by_weight, by_slope])])

    def derivatives_times(self, vector: np.ndarray) -> np.ndarray:
        """dV by each parameter times a vector over cells, (cells, parameters)."""
        by_judge = self.table.by_judge
        of_judges = by_judge(self.preference @ vector) + self.preference @ by_judge(vector)
        others = [each @ vector for each in self.by_weight]
        others.append(self.slopes @ (self.slopes.T @ vector))
        return np.hstack([0.5 * _dense(of_judges), np.stack(others, axis=1)])


@dataclass(frozen=True)
class Restricted:
    """Generalised least squares of the cells other than own ones, at one covariance."""

    covariance: CellCovariance
    # V^-1 = within - slanted inner slanted', 0 at own cells
    within: Matrix  # (cells, cells) of kin
    slanted: Matrix  # (cells, J)
    inner: Matrix  # (J, J)
    solved: np.ndarray  # V^-1 X, (cells, terms)
    spread: np.ndarray  # (X'V^-1 X)^-1, (terms, terms)
    projected: np.ndarray  # V^-1 X (X'V^-1 X)^-1, (cells, terms)
    effects: np.ndarray  # (terms,)
    objective: float  # - log restricted likelihood - log prior, up to a constant
    scaled: np.ndarray  # V^-1 (y - X effects), (cells,)

    @cached_property
    def moved(self) -> np.ndarray:
        """dV V^-1 (y - X effects) by each parameter, (cells, parameters)."""
        return self.covariance.derivatives_times(self.scaled)

    def weighted(self, columns: Matrix) -> Matrix:
        """V^-1 times some columns over cells, (cells,) or (cells, columns)."""
        by_slopes = self.slanted @ (self.inner @ (self.slanted.T @ columns))
        return self.within @ columns - by_slopes

    def weighted_rows(self, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Rows V^-1 of some rows over the cells of a block, (..., n)."""
        flat, slanted = rows.reshape(-1, len(places)), self.slanted[places]
        by_slopes = ((flat @ slanted) @ self.inner) @ slanted.T
        return (flat @ self.within[places][:, places] - by_slopes).reshape(rows.shape)

    def projection(self, cells: np.ndarray, among: np.ndarray) -> np.ndarray:
        """P = V^-1 - V^-1 X (X'V^-1 X)^-1 X'V^-1 of some cells and some others, (cells, among)."""
        by_slopes = (self.slanted[cells] @ self.inner) @ self.slanted[among].T
        inverse = _dense(self.within[cells][:, among] - by_slopes)
        return inverse - self.projected[cells] @ self.solved[among].T

    def traces(self) -> np.ndarray:
        """Traces of P dV by each parameter, (parameters,)."""
        covariance, table = self.covariance, self.covariance.table
        slanted = self.slanted @ self.inner
        shares = []  # (cells,) what each adds to the trace by S, then by each weight
        for matrix in (covariance.preference, *covariance.by_weight):
            share = (self.within * matrix).sum(axis=1)
            share -= (slanted * (matrix @ self.slanted)).sum(axis=1)
            shares.append(share - (self.projected * (matrix @ self.solved)).sum(axis=1))
        slopes = covariance.slopes
        by_slope = (slopes * self.weighted(slopes)).sum()
        by_slope -= ((slopes.T @ self.projected) * (slopes.T @ self.solved)).sum()
        of_judges = np.bincount(table.of_judge, shares[0])
        return np.concatenate([of_judges, [each.sum() for each in shares[1:]], [by_slope]])


@dataclass(frozen=True)
class Preferences:
    """What a fit finds of preferences and of the use of the scale, for a planned study."""

    spread: np.ndarray  # (J,) s_j
    ratios: np.ndarray  # (3,) log(w_i / w_0)
    tau: float
    effects: np.ndarray  # (M,) c_m about their mean, shrunk


class MixedFit:
    """The mixed model of a table, fitted to cell means or planned at given parameters."""

    def __init__(
        self,
        table: CellTable,
        mean: np.ndarray | None = None,
        *,
        plan: Preferences | None = None,
        asked: np.ndarray | bool = True,
    ) -> None:
        """mean: (cells,) of which those of own cells are not used to fit; plan: parameters of a
        study without means; asked: (cells,) of bool, those whose `gaps` are asked for.
        """
        from scipy.linalg import qr

        self.table, self._asked = table, asked
        self._most_df = max(1, table.additive.df)
        fitted = ~table.is_self
        gram = table.effects[fitted].T @ table.effects[fitted]
        null = inverted(gram)[1]
        triangle = np.linalg.qr(table.effects[fitted], mode="r")
        order, rank = qr(triangle, mode="r", pivoting=True)[1], len(gram) - null.shape[1]
        self._columns = np.sort(order[:rank])  # that determine all others
        self._design = _stored(table.effects[:, self._columns], cells=len(fitted))
        shared = [table.kin.alike[place].sum() > len(fitted) for place in (0, 1)]
        self._used = np.flatnonzero([*shared, all(shared)])
        self._prior = [SHARES[place] for place in self._used] + [SLOPES]
        self.converged = True  # A plan has nothing to converge.
        if plan is None:
            self._fit(mean)
        else:
            self._plan(plan)

    def _plan(self, plan: Preferences) -> None:
        """Take the parameters, and the information that a study has about them on average."""
        others = [*plan.ratios[self._used], 2 * np.log(plan.tau)]
        self.parameters = np.concatenate([2 * np.log(plan.spread), others])
        self.slope = plan.effects[self.table.of_model]
        self.state = self._state(self.parameters, np.zeros(len(self.slope)))
        self.information = self._expected_information(self.state)

    @property
    def preferences(self) -> Preferences:
        """The parameters; shares of components that this table does not have are those of the
        prior.
        """
        judges, ratios = len(self.table.judges), np.array([mean for mean, _ in SHARES])
        ratios[self._used] = self.parameters[judges:-1]
        effects = self.slope[np.unique(self.table.model, return_index=True)[1]]
        return Preferences(self.spreads, ratios, float(np.exp(self.parameters[-1] / 2)), effects)

    def _fit(self, mean: np.ndarray) -> None:
        table, fitted = self.table, ~self.table.is_self
        design, values = table.effects[fitted][:, self._columns], mean[fitted]
        effects = np.linalg.lstsq(design, values, rcond=None)[0]
        left = values - design @ effects
        self._least = np.log(LEAST_VARIANCE)
        variance = left @ left / max(1, len(left) - design.shape[1])
        start = np.log(max(variance - table.sampling[fitted].mean(), variance / 10, LEAST_VARIANCE))
        parameters = np.concatenate(
            [np.full(len(table.judges), start), [mean_ for mean_, _ in self._prior]]
        )
        centred = mean - self._design @ effects  # rounding: means of the scale leave small numbers
        self.slope = self._slope(effects, np.linalg.inv(design.T @ design) * variance)
        self.parameters, self.state = self._maximised(parameters, centred)
        for step in RENEWALS:
            change = self._slope(effects + self.state.effects, self.state.spread) - self.slope
            self.slope = self.slope + step * change
            self.parameters, self.state = self._maximised(self.parameters, centred)
            if np.abs(change).max() <= SETTLED * self._error_of_models:
                break
        else:
            self.converged = False
        # Differences between models cannot be larger than those between the cell means that show
        # them.
        self.converged &= bool(np.ptp(self.slope) <= np.ptp(values))
        self.information = self._information(self.state)

    def _slope(self, effects: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """c_m of some effects less their mean, (cells,), times the share of their variance that is
        not error of estimation.

        The mean is that of the models that cells link, as no cell compares them with others.
        spread: covariance of the effects.
        """
        judges, models = len(self.table.judges), int(self.table.of_model.max()) + 1
        is_model = (self._columns >= judges) & (self._columns < judges + models)
        value = np.zeros(models)
        place = self._columns[is_model] - judges
        value[place] = effects[is_model]
        error = np.zeros((models, models))
        error[np.ix_(place, place)] = spread[np.ix_(is_model, is_model)]
        linked = self.table.linked_models
        centre = np.eye(models) - linked / linked.sum(axis=1, keepdims=True)
        value, noise = centre @ value, float((centre * (centre @ error)).sum())
        self._error_of_models = math.sqrt(noise / models)
        value *= max(0.0, 1 - noise / max(value @ value, 1e-300))
        return value[self.table.of_model]

    def _maximised(
        self, parameters: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, Restricted]:
        """Climb from some parameters to the maximum; values: (cells,)."""
        state = self._state(parameters, values)
        for _ in range(STEPS):
            step = np.linalg.solve(self._information(state), self._gradient(state))
            step *= min(1.0, LONGEST / np.abs(step).max())
            for _ in range(8):
                tried = np.maximum(parameters - step, self._least)
                candidate = self._state(tried, values)
                if candidate.objective <= state.objective:
                    break
                step /= 3
            else:
                break
            gain, parameters, state = state.objective - candidate.objective, tried, candidate
            if gain < ENOUGH:
                break
        return parameters, state

    def _state(self, parameters: np.ndarray, values: np.ndarray) -> Restricted:
        return self._restricted(
            CellCovariance(self.table, parameters, self.slope, self._used), values
        )

    def _restricted(self, covariance: CellCovariance, values: np.ndarray) -> Restricted:
        """Fit the effects at one covariance."""
        design = self._design
        within, total = covariance.inverse_without_slopes()
        slanted = within @ covariance.slopes
        among = _dense(covariance.slopes.T @ slanted)
        among += np.eye(len(among))
        inner = _stored(np.linalg.inv(among), cells=len(values))
        total += np.linalg.slogdet(among)[1]
        # V^-1 X = apart - slanted common
        apart, common = within @ design, _dense(inner @ (slanted.T @ design))
        solved = _dense(apart) - slanted @ common
        gram = design.T @ solved
        spread = np.linalg.inv(gram)
        projected = apart @ spread - slanted @ (common @ spread)
        effects = spread @ (solved.T @ values)
        left = values - design @ effects
        scaled = within @ left - slanted @ (inner @ (slanted.T @ left))
        judges = len(self.table.judges)
        logs, others = covariance.parameters[:judges], covariance.parameters[judges:]
        prior = ((logs - logs.mean()) ** 2).sum() / SPREAD**2
        prior += sum(
            ((value - mean) / sd) ** 2
            for value, (mean, sd) in zip(others, self._prior, strict=True)
        )
        objective = 0.5 * (total + np.linalg.slogdet(gram)[1] + left @ scaled + prior)
        return Restricted(
            covariance,
            within,
            slanted,
            inner,
            solved,
            spread,
            projected,
            effects,
            objective,
            scaled,
        )

    def _gradient(self, state: Restricted) -> np.ndarray:
        """Gradient of the objective, (parameters,)."""
        covariance, judges = state.covariance, len(self.table.judges)
        gradient = 0.5 * (state.traces() - state.moved.T @ state.scaled)
        logs = covariance.parameters[:judges]
        gradient[:judges] += (logs - logs.mean()) / SPREAD**2
        means, spreads = np.array(self._prior).T
        gradient[judges:] += (covariance.parameters[judges:] - means) / spreads**2
        return gradient

    def _information(self, state: Restricted) -> np.ndarray:
        """The average information with that of the priors, (parameters,) both ways."""
        moved = state.moved
        information = moved.T @ state.weighted(moved)
        fixed = moved.T @ state.solved
        return self._with_priors(0.5 * (information - fixed @ state.spread @ fixed.T))

    def _expected_information(self, state: Restricted) -> np.ndarray:
        """The expected information, tr(P dV_p P dV_q) / 2, with that of the priors, (parameters,)
        both ways.

        Between blocks, P is -V^-1 X (X'V^-1 X)^-1 X'V^-1: that part of the trace is one of matrices
        of the effects.
        """
        covariance = state.covariance
        count, terms = len(covariance.parameters), len(state.spread)
        information, of_effects = np.zeros((count, count)), np.zeros((count, terms, terms))
        for block in covariance.blocks():
            at, solved = block.moving, state.solved[block.places]
            carried = np.flatnonzero(solved.any(axis=0))
            solved = solved[:, carried]
            moved = block.derivatives_times(solved.T) @ solved
            of_block = state.spread[:, carried] @ moved
            of_effects[np.ix_(at, np.arange(terms), carried)] += of_block
            within = block.information(state.projection(block.places, block.places))
            information[np.ix_(at, at)] += within - _traces(of_block[:, carried])
        return self._with_priors(0.5 * (information + _traces(of_effects)))

    def _with_priors(self, information: np.ndarray) -> np.ndarray:
        """An information, (parameters,) both ways, with that of the priors."""
        judges, count = len(self.table.judges), len(information)
        information[:judges, :judges] += (np.eye(judges) - 1 / judges) / SPREAD**2
        others = np.arange(judges, count)
        information[others, others] += [1 / sd**2 for _, sd in self._prior]
        return information + 1e-6 * np.eye(count)  # a spread without any information

    @cached_property
    def spreads(self) -> np.ndarray:
        """s_j of the judges, (J,)."""
        return np.exp(self.parameters[: len(self.table.judges)] / 2)

    def against_others(self, cell: int) -> np.ndarray:
        """Weights, (cells,), of the means in an own cell less its best prediction from the others
        (all but own ones).
        """
        unit = np.arange(len(self.table.judge)) == cell
        weights = unit - self.state.weighted(self.state.covariance.times(unit * 1.0))
        return weights - self.state.projected @ (weights @ self._design)

    @cached_property
    def gaps(self) -> dict[int, tuple[np.ndarray, float, float]]:
        """Own cell that is asked for -> weights, (cells,), of the means in it less its prediction;
        the variance of this, and its degrees of freedom.
        """
        own = np.flatnonzero(self.table.is_self & self._asked)
        contrasts = np.array([self.against_others(cell) for cell in own])
        errors = replace(self.errors(contrasts), most_df=MOST_DF)
        numbers = map(errors.of, np.eye(len(own)))
        rows = zip(own.tolist(), contrasts, numbers, strict=True)
        return {cell: (weights, *of_cell) for cell, weights, of_cell in rows}

    def left_out(self, cells: np.ndarray) -> np.ndarray:
        """Weights of the means in fitted cells less their predictions, (chosen, cells): rows of P
        over their diagonal.

        cells: (chosen,) places.
        """
        projected = self.state.projection(cells, np.arange(len(self.table.judge)))
        free = projected[np.arange(len(cells)), cells][:, None]
        return np.divide(projected, free, out=np.full_like(projected, np.nan), where=free > 0)

    def without_family(self, cells: np.ndarray) -> np.ndarray:
        """Weights of the means in the mean of some cells of a family less a_j + c_m; cells:
        (cells,) of bool.
        """
        judges_and_models = self._columns < self.table.effects.shape[1] - len(self.table.families)
        weights = cells / cells.sum()
        row = (weights @ self._design) * judges_and_models
        return weights - self.state.projected @ row

    def errors(self, contrasts: np.ndarray, fixed: np.ndarray | None = None) -> ContrastErrors:
        """The errors of some contrasts of the means, (contrasts, cells).

        fixed: (contrasts, cells) weights of the fitted cells in them that the variances do not
        change; the rest predicts.
        """
        state, covariance, count = self.state, self.state.covariance, len(self.parameters)
        variance = covariance.times(contrasts) @ contrasts.T
        slopes = np.zeros((count, len(contrasts), len(contrasts)))
        spread, added = np.linalg.inv(self.information), np.zeros_like(variance)
        fixed_effects = np.zeros((count, len(contrasts), len(state.spread)))
        for block in covariance.blocks():
            rows, at = contrasts[:, block.places], block.moving
            moved = block.derivatives_times(rows)
            slopes[at] += moved @ rows.T
            if fixed is not None:
                moved -= block.derivatives_times(fixed[:, block.places])
            weighted = state.weighted_rows(moved, block.places)
            added += _summed(weighted, moved, spread[np.ix_(at, at)])
            fixed_effects[at] += moved @ state.solved[block.places]
        added -= _summed(fixed_effects @ state.spread, fixed_effects, spread)
        return ContrastErrors(variance + added, variance, slopes, spread, self._most_df)

    def single_errors(self, contrasts: np.ndarray) -> list[tuple[float, float]]:
        """Variance of each contrast, as if variances were known, and its degrees of freedom;
        contrasts: (contrasts, cells).
        """
        covariance = self.state.covariance
        variance = (covariance.times(contrasts) * contrasts).sum(axis=1)
        gradient = covariance.squares(contrasts)
        uncertainty = np.einsum("pc,pq,qc->c", gradient, np.linalg.inv(self.information), gradient)
        df = _satterthwaite(variance, uncertainty, self._most_df)
        return list(zip(variance.tolist(), df.tolist(), strict=True))


def _matrix(values: np.ndarray, columns: np.ndarray, rows: np.ndarray, shape: tuple) -> Matrix:
    """A matrix by its entries, row by row: their columns, and where each row begins and ends."""
    if shape[0] <= DENSE:
        matrix = np.zeros(shape)
        matrix[np.repeat(np.arange(shape[0]), np.diff(rows)), columns] = values
        return matrix
    from scipy.sparse import csr_array

    return csr_array((values, columns, rows), shape=shape)


def _stored(matrix: np.ndarray, *, cells: int) -> Matrix:
    """A matrix, dense or sparse by the number of cells."""
    if cells <= DENSE:
        return matrix
    from scipy.sparse import csr_array

    return csr_array(matrix)


def _dense(matrix: Matrix) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _satterthwaite(variance: np.ndarray, uncertainty: np.ndarray, most: float) -> np.ndarray:
    """Degrees of freedom of estimated variances with these variances of their own, from one to
    `most`.
    """
    df = np.full_like(variance, most)
    np.divide(2 * variance**2, uncertainty, out=df, where=uncertainty > 0)
    return df.clip(1.0, most)


def _traces(matrices: np.ndarray) -> np.ndarray:
    """Traces of the products of each two matrices, (m, m); matrices: (m, n, n)."""
    flat = matrices.reshape(len(matrices), -1)
    return flat @ matrices.transpose(0, 2, 1).reshape(flat.shape).T


def _summed(left: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum over pairs p, q of weights[p, q] left[p] right[q]', (n, n), of (parameters, n, m)
    each.
    """
    mixed = np.tensordot(weights, right, 1)
    return np.tensordot(left, mixed, axes=((0, 2), (0, 2)))


@dataclass(frozen=True)
class ContrastErrors:
    """Covariance of contrasts, that at the variances as if known, its derivatives, and the
    covariance of the parameters.
    """

    covariance: np.ndarray  # (contrasts, contrasts)
    at_variances: np.ndarray  # (contrasts, contrasts)
    derivatives: np.ndarray  # (parameters, contrasts, contrasts)
    spread: np.ndarray  # (parameters, parameters)
    most_df: float = MOST_DF

    def of(self, weights: np.ndarray) -> tuple[float, float]:
        """Variance of a weighted sum of the contrasts, and Satterthwaite's degrees of freedom, from
        one to `most_df`.
        """
        gradient = np.einsum("a,pab,b->p", weights, self.derivatives, weights)
        uncertainty = gradient @ self.spread @ gradient
        df = _satterthwaite(weights @ self.at_variances @ weights, uncertainty, self.most_df)
        return float(weights @ self.covariance @ weights), float(df)

    def among(self, places: np.ndarray) -> ContrastErrors:
        """The errors of some of the contrasts."""
        pairs = np.ix_(places, places)
        derivatives = self.derivatives[:, places][:, :, places]
        return replace(
            self,
            covariance=self.covariance[pairs],
            at_variances=self.at_variances[pairs],
            derivatives=derivatives,
        )


@dataclass(frozen=True)
class Pooled:
    """Biases of several judges, or families, taken as draws from N(mean, tau^2)."""

    mean: float
    std_error: float
    df: float
    tau: float
    weights: np.ndarray  # (biases,) of each in the mean
    # The plain mean, its standard error and degrees of freedom
    unweighted: tuple[float, float, float]


def pooled(estimates: np.ndarray, errors: ContrastErrors) -> Pooled:
    """The random-effects mean of some biases, (biases,), whose errors may be correlated.

    tau^2 solves (g - mu)' (W + tau^2)^-1 (g - mu) = biases - 1 (Paule and Mandel 1982), W the
    covariance of the errors; mu is the generalised least-squares mean. Its variance adds to that of
    the errors, with Satterthwaite's df, tau^2 times the sum of squared weights, with biases - 1; df
    is at most biases - 1 (Follmann and Proschan 1999), as weights and tau are estimated. tau is
    descriptive: W is known too badly for an interval. The unweighted mean is of these biases alone,
    without tau^2.
    """
    count, most = len(estimates), max(1.0, float(np.ptp(estimates)) ** 2 * 100)

    def at(variance: float) -> tuple[np.ndarray, float, float]:
        """Weights of the mean, and the left side of the equation for tau^2, with its slope."""
        inverse = np.linalg.inv(errors.covariance + variance * np.eye(count))
        weights = inverse.sum(axis=0) / inverse.sum()
        left = estimates - weights @ estimates
        scaled = inverse @ left
        return weights, float(left @ scaled), -float(scaled @ scaled)

    # The left side falls, ever more slowly: Newton's steps from 0 rise to the solution and do not
    # pass it.
    tau2, step = 0.0, math.inf
    while tau2 < most and step > ROUNDING * tau2:
        _, squares, slope = at(tau2)
        if squares <= count - 1:
            break
        step = (count - 1 - squares) / slope
        tau2 = min(tau2 + step, most)
    weights, *_ = at(tau2)
    variance, df = errors.of(weights)
    between = tau2 * float(weights @ weights)
    if between:
        df = (variance + between) ** 2 / (variance**2 / df + between**2 / (count - 1))
    df = min(df, max(1, count - 1))  # the weights are estimated
    mean = float(weights @ estimates)
    plain_variance, plain_df = errors.of(np.full(count, 1 / count))
    plain = float(np.mean(estimates)), float(np.sqrt(plain_variance)), plain_df
    error = float(np.sqrt(variance + between))
    return Pooled(mean, error, df, math.sqrt(tau2), weights, plain)
