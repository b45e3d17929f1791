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
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recuse.inference.judge_model import CellMeans, JudgeModelPairs
from recuse.model.least_squares import ROUNDING, connected_parts, inverted

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
        rated = (self.judge[fitted, None] == self.judges).T.astype(float) @ (
            self.model[fitted, None] == np.unique(self.model)
        )
        part = connected_parts(rated.T @ rated > 0)
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
        columns = [self.judge[:, None] == self.judges, self.model[:, None] == np.unique(self.model)]
        columns.append((self.judge_family[:, None] == self.families) & self.is_family[:, None])
        return np.concatenate(columns, axis=1).astype(float)

    @cached_property
    def blocks(self) -> list[FamilyBlock]:
        """The cells of the judges of one family: cells of different blocks are independent."""
        return [
            FamilyBlock.of(self, np.flatnonzero(self.judge_family == family))
            for family in np.unique(self.judge_family)
        ]


@dataclass(frozen=True)
class FamilyBlock:
    """Places of the cells of one block, own ones last, and which of them are of one judge or
    alike.
    """

    places: np.ndarray  # (n,) among all cells
    fitted: slice  # those that are not own ones
    judge: np.ndarray  # (n,) places among the judges
    of_judge: np.ndarray  # (n, judges of the block) of float, 1 where a cell is the judge's
    judges: np.ndarray  # (judges of the block,) their places among the judges
    # (n, n) of float each: 1 where two cells have the same judge and family of the model, the same
    # model, and the same family of the model
    alike: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, table: CellTable, places: np.ndarray) -> FamilyBlock:
        """The block of some cells."""
        is_self = table.is_self[places]
        places = np.concatenate([places[~is_self], places[is_self]])
        judge = np.searchsorted(table.judges, table.judge[places])
        model, family = table.model[places], table.model_family[places]
        judges, of_judge = np.unique(judge, return_inverse=True)
        sets = (of_judge * (family.max() + 1) + family, model, family)
        alike = tuple((codes[:, None] == codes).astype(float) for codes in sets)
        return cls(
            places,
            slice(np.count_nonzero(~is_self)),
            judge,
            (judge[:, None] == judges) * 1.0,
            judges,
            alike,
        )

    @cached_property
    def fitted_places(self) -> np.ndarray:
        """Places among all cells of those that are not own ones."""
        return self.places[self.fitted]

    @cached_property
    def by_judge(self) -> list[np.ndarray]:
        """Places among the cells of the block of those of each judge."""
        return [np.flatnonzero(is_judge) for is_judge in self.of_judge.T]


class CellCovariance:
    """The covariance of the cells at some parameters, block by block, and its derivatives by the
    parameters.

    parameters: log s_j^2, (J,); log(w_i / w_0) of each component used; log tau^2.
    """

    def __init__(
        self, table: CellTable, parameters: np.ndarray, slope: np.ndarray, used: np.ndarray
    ) -> None:
        """slope: (cells,) c_m about its mean, by which b_j acts; used: places among w_1 to w_3."""
        self.parameters, judges = parameters, len(table.judges)
        ratio = np.exp(np.concatenate([[0.0], parameters[judges:-1]]))
        alone, *weights = ratio / ratio.sum()
        tau2, spreads = np.exp(parameters[-1]), np.exp(parameters[:judges] / 2)
        self.blocks, self.preference, self.matrices = table.blocks, [], []
        # By block: dV by each parameter but log s_j^2
        self._derivatives = []
        for block in table.blocks:
            spread = spreads[block.judge]
            scale = np.outer(spread, spread)
            alike = [scale * block.alike[place] for place in used]
            common = sum(weight * part for weight, part in zip(weights, alike, strict=True))
            preference = alone * np.diag(scale.diagonal()) + common
            slopes = slope[block.places][:, None] * block.of_judge
            by_slope = tau2 * slopes @ slopes.T
            # As weights sum to 1, each lowers the others
            by_weight = [
                weight * (part - preference) for weight, part in zip(weights, alike, strict=True)
            ]
            self.preference.append(preference)
            self._derivatives.append([*by_weight, by_slope])
            self.matrices.append(preference + by_slope + np.diag(table.sampling[block.places]))

    def derivatives_times(self, number: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the parameters that move block `number`, and rows dV of each, (parameters,
        rows, n); rows: (rows, n).
        """
        block, preference = self.blocks[number], self.preference[number]
        whole = rows @ preference
        parts = [(cells, rows[:, cells] @ preference[cells]) for cells in block.by_judge]
        of_judges = np.stack([part for _, part in parts])
        for place, (cells, _) in enumerate(parts):
            of_judges[place][:, cells] += whole[:, cells]
        others = [rows @ derivative for derivative in self._derivatives[number]]
        return self._moving(number), np.concatenate([0.5 * of_judges, np.stack(others)])

    def _moving(self, number: int) -> np.ndarray:
        """Numbers of the parameters that move block `number`."""
        count = len(self.parameters)
        others = np.arange(count - len(self._derivatives[number]), count)
        return np.concatenate([self.blocks[number].judges, others])

    def squares(self, number: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same numbers, and c dV c' of each row c, (parameters, rows); rows: (rows, n)."""
        by_cell = (rows @ self.preference[number]) * rows
        others = [((rows @ each) * rows).sum(axis=1) for each in self._derivatives[number]]
        by_judge = self.blocks[number].of_judge.T @ by_cell.T
        return self._moving(number), np.concatenate([by_judge, others])

    def traces(self, number: int, matrix: np.ndarray) -> np.ndarray:
        """Traces of `matrix` dV for the same parameters; matrix: of the fitted cells."""
        fitted = self.blocks[number].fitted
        pairs = fitted, fitted
        by_cell = (matrix * self.preference[number][pairs]).sum(axis=1)
        others = [(matrix * each[pairs]).sum() for each in self._derivatives[number]]
        return np.concatenate([by_cell @ self.blocks[number].of_judge[fitted], others])

    def information(self, number: int, matrix: np.ndarray) -> np.ndarray:
        """Traces of P dV_p P dV_q for each two of the same parameters; matrix: P of the fitted
        cells.

        With S the covariance of preferences and I_p the cells of judge p, dV_p of log s_p^2 is
        (I_p S + S I_p) / 2.
        """
        block = self.blocks[number]
        pairs, is_judge = (block.fitted, block.fitted), block.of_judge[block.fitted]
        preference = self.preference[number][pairs]
        left = preference @ matrix
        others = np.stack([each[pairs] @ matrix for each in self._derivatives[number]])
        of_judges = is_judge.T @ (left * left.T + matrix * (left @ preference)) @ is_judge
        mixed = (left.T * others).sum(axis=1) @ is_judge
        return np.block([[0.5 * of_judges, mixed.T], [mixed, _traces(others)]])


@dataclass(frozen=True)
class Restricted:
    """Generalised least squares of the cells other than own ones, at one covariance."""

    covariance: CellCovariance
    inverses: list[np.ndarray]  # V^-1 of the cells of each block that are fitted
    solved: np.ndarray  # V^-1 X, (cells, terms); 0 at own cells
    spread: np.ndarray  # (X'V^-1 X)^-1, (terms, terms)
    effects: np.ndarray  # (terms,)
    objective: float  # - log restricted likelihood - log prior, up to a constant
    scaled: np.ndarray  # V^-1 (y - X effects), (cells,)

    def projected(self, rows: np.ndarray) -> np.ndarray:
        """Rows P of some rows over cells, (..., cells), P = V^-1 - V^-1 X (X'V^-1 X)^-1 X'V^-1; 0
        at own cells.
        """
        flat = rows.reshape(-1, rows.shape[-1])
        result = np.zeros_like(flat)
        for block, inverse in zip(self.covariance.blocks, self.inverses, strict=True):
            result[:, block.fitted_places] = flat[:, block.fitted_places] @ inverse
        result -= ((flat @ self.solved) @ self.spread) @ self.solved.T
        return result.reshape(rows.shape)


@dataclass(frozen=True)
class Preferences:
    """What a fit finds of preferences and of the use of the scale, for a planned study."""

    spread: np.ndarray  # (J,) s_j
    ratios: np.ndarray  # (3,) log(w_i / w_0)
    tau: float
    effects: np.ndarray  # (M,) c_m about their mean, shrunk


# Of each block: numbers of the parameters that move it, and dV V^-1 (y - X effects) of each,
# (parameters, fitted cells).
Moved = list[tuple[np.ndarray, np.ndarray]]


def _moved(state: Restricted) -> Moved:
    parts = []
    for number, block in enumerate(state.covariance.blocks):
        at, rows = state.covariance.derivatives_times(number, state.scaled[block.places][None])
        parts.append((at, rows[:, 0, block.fitted]))
    return parts


class MixedFit:
    """The mixed model of a table, fitted to cell means or planned at given parameters."""

    def __init__(
        self, table: CellTable, mean: np.ndarray | None = None, *, plan: Preferences | None = None
    ) -> None:
        """mean: (cells,) of which those of own cells are not used to fit; plan: parameters of a
        study without means.
        """
        from scipy.linalg import qr

        self.table, self._gaps = table, {}
        self._most_df = max(1, table.additive.df)
        fitted = ~table.is_self
        gram = table.effects[fitted].T @ table.effects[fitted]
        null = inverted(gram)[1]
        order, rank = (
            qr(table.effects[fitted], mode="r", pivoting=True)[1],
            len(gram) - null.shape[1],
        )
        self._columns = np.sort(order[:rank])  # that determine all others
        self._design = table.effects[:, self._columns]
        # By block: the columns that its cells carry, and the same, for its fitted cells
        self._carried = [
            np.flatnonzero(self._design[block.places].any(axis=0)) for block in table.blocks
        ]
        self._cells = [
            np.ix_(block.fitted_places, columns)
            for block, columns in zip(table.blocks, self._carried, strict=True)
        ]
        shared = [
            np.any([block.alike[place].sum() > len(block.places) for block in table.blocks])
            for place in (0, 1)
        ]
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
        self.slope = plan.effects[np.searchsorted(np.unique(self.table.model), self.table.model)]
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
        design, values = self._design[fitted], mean[fitted]
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
        self.information = self._information(self.state, _moved(self.state))

    def _slope(self, effects: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """c_m of some effects less their mean, (cells,), times the share of their variance that is
        not error of estimation.

        The mean is that of the models that cells link, as no cell compares them with others.
        spread: covariance of the effects.
        """
        judges, models = len(self.table.judges), len(np.unique(self.table.model))
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
        return value[np.searchsorted(np.unique(self.table.model), self.table.model)]

    def _maximised(
        self, parameters: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, Restricted]:
        """Climb from some parameters to the maximum; values: (cells,)."""
        state = self._state(parameters, values)
        for _ in range(STEPS):
            moved = _moved(state)
            step = np.linalg.solve(self._information(state, moved), self._gradient(state, moved))
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
        solved, gram = np.zeros_like(design), np.zeros((design.shape[1],) * 2)
        inverses, total = [], 0.0
        for block, matrix, columns, cells in zip(
            covariance.blocks, covariance.matrices, self._carried, self._cells, strict=True
        ):
            fitted = matrix[block.fitted, block.fitted]
            inverse = np.linalg.inv(fitted)
            total += np.linalg.slogdet(fitted)[1]
            solved[cells] = inverse @ design[cells]
            gram[np.ix_(columns, columns)] += design[cells].T @ solved[cells]
            inverses.append(inverse)
        spread = np.linalg.inv(gram)
        effects = spread @ (solved.T @ values)
        left, scaled = values - design @ effects, np.zeros(len(values))
        for block, inverse in zip(covariance.blocks, inverses, strict=True):
            scaled[block.fitted_places] = inverse @ left[block.fitted_places]
        judges = len(self.table.judges)
        logs, others = covariance.parameters[:judges], covariance.parameters[judges:]
        prior = ((logs - logs.mean()) ** 2).sum() / SPREAD**2
        prior += sum(
            ((value - mean) / sd) ** 2
            for value, (mean, sd) in zip(others, self._prior, strict=True)
        )
        objective = 0.5 * (total + np.linalg.slogdet(gram)[1] + left @ scaled + prior)
        return Restricted(covariance, inverses, solved, spread, effects, objective, scaled)

    def _gradient(self, state: Restricted, moved: Moved) -> np.ndarray:
        """Gradient of the objective, (parameters,)."""
        covariance, judges = state.covariance, len(self.table.judges)
        gradient = np.zeros(len(covariance.parameters))
        blocks = zip(covariance.blocks, moved, strict=True)
        for number, (block, (at, rows)) in enumerate(blocks):
            traces = covariance.traces(number, self._projection(state, number))
            gradient[at] += 0.5 * (traces - rows @ state.scaled[block.fitted_places])
        logs = covariance.parameters[:judges]
        gradient[:judges] += (logs - logs.mean()) / SPREAD**2
        means, spreads = np.array(self._prior).T
        gradient[judges:] += (covariance.parameters[judges:] - means) / spreads**2
        return gradient

    def _projection(self, state: Restricted, number: int) -> np.ndarray:
        """P of the fitted cells of block `number`."""
        columns, solved = self._carried[number], state.solved[self._cells[number]]
        among = np.ix_(columns, columns)
        return state.inverses[number] - solved @ state.spread[among] @ solved.T

    def _information(self, state: Restricted, moved: Moved) -> np.ndarray:
        """The average information with that of the priors, (parameters,) both ways."""
        covariance = state.covariance
        count = len(covariance.parameters)
        # Fixed: dV P y times V^-1 X
        information, fixed = np.zeros((count, count)), np.zeros((count, len(state.spread)))
        for block, inverse, (at, rows) in zip(
            covariance.blocks, state.inverses, moved, strict=True
        ):
            information[np.ix_(at, at)] += rows @ inverse @ rows.T
            fixed[at] += rows @ state.solved[block.fitted_places]
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
        for number, block in enumerate(covariance.blocks):
            solved = state.solved[block.places]
            at, moved = covariance.derivatives_times(number, solved.T)
            of_block = state.spread @ moved @ solved
            of_effects[at] += of_block
            within = covariance.information(number, self._projection(state, number))
            information[np.ix_(at, at)] += within - _traces(of_block)
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
        block, number = next(
            (of, at) for at, of in enumerate(self.table.blocks) if cell in of.places
        )
        place = np.flatnonzero(block.places == cell)[0]
        weights = np.zeros(len(self.table.judge))
        weights[block.fitted_places] = (
            -self.state.inverses[number]
            @ self.state.covariance.matrices[number][block.fitted, place]
        )
        row = self._design[cell] + self._design.T @ weights
        weights[cell] = 1.0
        return weights - self.state.solved @ (self.state.spread @ row)

    def gap(self, cell: int) -> tuple[np.ndarray, float, float]:
        """Weights, (cells,), of the means in an own cell less its prediction; its variance, and its
        degrees of freedom.
        """
        if cell not in self._gaps:
            weights = self.against_others(cell)
            errors = replace(self.errors(weights[None]), most_df=MOST_DF)
            self._gaps[cell] = weights, *errors.of(np.ones(1))
        return self._gaps[cell]

    def left_out(self, cells: np.ndarray) -> np.ndarray:
        """Weights of the means in fitted cells less their predictions, (chosen, cells): rows of P
        over their diagonal.

        cells: (chosen,) places.
        """
        projected = self.state.projected(
            (np.arange(len(self.table.judge)) == cells[:, None]).astype(float)
        )
        free = projected[np.arange(len(cells)), cells][:, None]
        return np.divide(projected, free, out=np.full_like(projected, np.nan), where=free > 0)

    def without_family(self, cells: np.ndarray) -> np.ndarray:
        """Weights of the means in the mean of some cells of a family less a_j + c_m; cells:
        (cells,) of bool.
        """
        judges_and_models = self._columns < self.table.effects.shape[1] - len(self.table.families)
        weights = cells / cells.sum()
        row = (weights @ self._design) * judges_and_models
        return weights - self.state.solved @ (self.state.spread @ row)

    def errors(self, contrasts: np.ndarray, fixed: np.ndarray | None = None) -> ContrastErrors:
        """The errors of some contrasts of the means, (contrasts, cells).

        fixed: (contrasts, cells) weights of the fitted cells in them that the variances do not
        change; the rest predicts.
        """
        state, covariance, count = self.state, self.state.covariance, len(self.parameters)
        variance = np.zeros((len(contrasts), len(contrasts)))
        slopes = np.zeros((count, len(contrasts), len(contrasts)))
        spread, added = np.linalg.inv(self.information), np.zeros_like(variance)
        fixed_effects = np.zeros((count, len(contrasts), len(state.spread)))
        for number, (block, inverse) in enumerate(
            zip(covariance.blocks, state.inverses, strict=True)
        ):
            rows = contrasts[:, block.places]
            variance += rows @ covariance.matrices[number] @ rows.T
            at, products = covariance.derivatives_times(number, rows)
            slopes[at] += products @ rows.T
            if fixed is not None:
                products -= covariance.derivatives_times(number, fixed[:, block.places])[1]
            moved = products[:, :, block.fitted]
            added += _summed(moved @ inverse, moved, spread[np.ix_(at, at)])
            fixed_effects[at] += moved @ state.solved[block.fitted_places]
        added -= _summed(fixed_effects @ state.spread, fixed_effects, spread)
        return ContrastErrors(variance + added, variance, slopes, spread, self._most_df)

    def single_errors(self, contrasts: np.ndarray) -> list[tuple[float, float]]:
        """Variance of each contrast, as if variances were known, and its degrees of freedom;
        contrasts: (contrasts, cells).
        """
        covariance, count = self.state.covariance, len(self.parameters)
        variance, gradient = np.zeros(len(contrasts)), np.zeros((count, len(contrasts)))
        for number, block in enumerate(covariance.blocks):
            rows = contrasts[:, block.places]
            variance += ((rows @ covariance.matrices[number]) * rows).sum(axis=1)
            at, squares = covariance.squares(number, rows)
            gradient[at] += squares
        uncertainty = np.einsum("pc,pq,qc->c", gradient, np.linalg.inv(self.information), gradient)
        df = np.divide(
            2 * variance**2,
            uncertainty,
            out=np.full_like(variance, self._most_df),
            where=uncertainty > 0,
        )
        return list(zip(variance.tolist(), np.clip(df, 1.0, self._most_df).tolist(), strict=True))


def _traces(matrices: np.ndarray) -> np.ndarray:
    """Traces of the products of each two matrices, (m, m); matrices: (m, n, n)."""
    return np.einsum("pij,qji->pq", matrices, matrices)


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
        at_variances = weights @ self.at_variances @ weights
        df = 2 * at_variances**2 / uncertainty if uncertainty > 0 else np.inf
        return float(weights @ self.covariance @ weights), float(min(max(df, 1.0), self.most_df))

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
