"""Estimand C for all judges at once: a hierarchical model in which judges tell one another how
large biases are.

The mean of judge j for model m, of the families F(j) and F(m), is taken as

    r_jm = a_j + c_m + d_j q_m + bias_jm + G_{j,F(m)} + H_{F(j),m} + B_{F(j),F(m)} + e_jm
    e_jm ~ N(0, (s_j t_m)^2 + V_jm)

V_jm is the sampling variance of the cell, taken as known; s_j the spread of a judge's preferences,
and t_m the factor by which preferences for a model vary more than for others; q_m the effect of a
model by the mixed model (recuse.inference.mixed), shrunk and taken as known, on which judges may
use more or less of the scale. bias_jm is self_j in a judge's own cell, family_F for another model
of its family F, and else 0. Self-biases have a t distribution about mu with scale tau, and so have
family-biases, with a mu and tau of their own: the more alike biases are, the more each borrows from
the others; one that is unlike the others stands for itself, as the tails are heavy. Priors, in
points of the unit scale:

    bias = mu + tau x t_2           mu ~ N(0, .03^2), tau ~ N+(.03^2)
    a_j ~ N(0, 1)                   c_m ~ N(0, .3^2)                    d_j ~ N(0, 1)
    log s_j ~ N(m, h^2)             h ~ N+(1)
    log t_m ~ N(0, k^2)             k ~ N+(.6^2)
    G, H, B ~ N(0, g^2)             each with a g ~ N+(.015^2) of its own

with t_2 a t variable of two degrees of freedom and N+ a half normal, cut off at LEAST of its scale.
Cell means are taken about their mean. The posterior is drawn by Gibbs sampling in chains that run
side by side, from a fixed seed: c_m and family-biases are drawn together, with a_j and self-biases
integrated out; standard deviations move on random lattices, with what they are of integrated out
where it is normal. Probabilities and moments of a bias are means over draws of those given all
other parameters.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from recuse.inference.judge_model import CellMeans
from recuse.inference.mixed import MixedFit
from recuse.model.spec import BIASES, BiasKey

# Chains, and sweeps of each: dropped at first, then kept at a time, and kept at most
CHAINS, BURN_IN, KEPT, MOST = 64, 20, 12, 132
POINTS = 5  # of a lattice
CACHED = 2**15  # densities of residuals at a time
STEP = (0.2, 0.9)  # of a lattice of logarithms: least and largest
SEED = 0
# Probabilities at which a verdict changes, at a level of 90 %: those watched are to be MARGIN Monte
# Carlo errors from them, or to have an error of PRECISE at most.
CUT_OFFS, MARGIN, PRECISE = np.array([0.05, 0.2, 0.8, 0.95]), 2.0, 0.004
WATCHED = 0.1  # p-value below which a verdict depends on the probability
# Of the scale of its prior: a smaller standard deviation makes no difference, and chains get stuck
# there
LEAST = 0.05
Density = Callable[[np.ndarray], np.ndarray]
# Logarithm of a standard deviation that a lattice tries: beyond it, squares overflow
LARGEST = 50.0
NOTHING = 1e-12  # precision of what no cell tells
# A mean of equal ratings gets this variance instead of 0, so that products of four stay above 0.
NO_VARIANCE = 1e-30
TAILS = 2  # degrees of freedom of the biases
MEAN_BIAS, TAU = 0.03, 0.03  # standard deviations of the priors, as above
# Those of slopes are not estimated: shrunk slopes would make a judge that uses more of the scale,
# and answers well itself, seem to favour itself.
LEVEL, EFFECT, SLOPES, SPREADS, FACTORS, SHARED = 1.0, 0.3, 1.0, 1.0, 0.6, 0.015
CENTRES = np.log(1e-3), np.log(0.15)  # least and largest m


class Posterior(NamedTuple):
    """What the hierarchical model says about one bias."""

    mean: float
    std: float
    positive: float  # probability that the bias is above 0


class _Grid:
    """The judge x model table as arrays, (J, M, 1) each; a cell without a rating has no weight."""

    def __init__(self, cells: CellMeans, fit: MixedFit) -> None:
        """cells: with sampling variances; fit: the mixed model of them."""
        self.judges, judge = np.unique(cells.judge, return_inverse=True)
        models, model = np.unique(cells.model, return_inverse=True)
        names, family = np.unique(
            np.concatenate([cells.judge_family, cells.model_family]), return_inverse=True
        )
        shape = len(self.judges), len(models), 1
        by_judge, by_model = (np.zeros((number, len(names))) for number in shape[:2])
        by_judge[judge, family[: len(judge)]] = 1.0
        by_model[model, family[len(judge) :]] = 1.0

        def table(values: np.ndarray | float, otherwise: float = 0.0) -> np.ndarray:
            filled = np.full(shape, otherwise)
            filled[judge, model, 0] = values
            return filled

        self.rated, self.own, self.family = map(table, (1.0, cells.is_self, cells.is_family))
        self.mean = table(cells.mean - cells.mean.mean())
        self.sampling = table(np.maximum(cells.variance, NO_VARIANCE), 1.0)
        # Indicators of the judges, (J, F), and of the models, (M, F), that share preferences; None
        # where none do.
        self.sharing = [(None, by_model), (by_judge, None), (by_judge, by_model)]
        biased = np.flatnonzero(by_judge.T @ self.family.sum(axis=(1, 2)))
        self.families = names[biased]  # those with a family-bias
        self.by_judge = by_judge[:, biased]  # (J, B)
        # Which biases are self-biases, and which are family-biases, (J + B, 2); 1 where a bias has
        # a cell, (J + B, 1)
        self.kind = np.repeat(np.eye(2), [shape[0], len(biased)], axis=0)
        self.known = np.concatenate([self.own.sum(axis=1), np.ones((len(biased), 1))])
        self.quality = np.zeros((shape[1], 1))
        self.quality[model, 0] = fit.slope
        self.spreads = np.clip(fit.spreads, *np.exp(CENTRES))


def lattice_move(
    random: np.random.Generator, value: np.ndarray, log_density: Density
) -> np.ndarray:
    """Move each of some positive values, (..., chains), to a point of a random lattice of
    logarithms through it.

    log_density: of the logarithms of points, (POINTS, ..., chains). A value is at a random place
    among the POINTS of a lattice with a random step. Each point would have the same lattice with
    the same probability, so that one chosen by its density leaves the posterior as it is.
    """
    step, place, draw = random.random((3, *value.shape))
    step = STEP[0] + (STEP[1] - STEP[0]) * step
    place = np.floor(POINTS * place)
    numbers = np.arange(POINTS).reshape(-1, *[1] * value.ndim)
    density = log_density(value * np.exp(step * (numbers - place)))
    share = np.exp(density - density.max(axis=0))
    for point in range(1, POINTS):
        share[point] += share[point - 1]
    chosen = (share < draw * share[-1]).sum(axis=0)
    return value * np.exp(step * (chosen - place))


def _half_normal(points: np.ndarray, scale: float) -> np.ndarray:
    """Log density of log x, where x is half normal and not below LEAST of its scale."""
    return np.where(points < LEAST * scale, -np.inf, np.log(points) - 0.5 * (points / scale) ** 2)


def _given_residuals(variance: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Log density of residuals with these variances and squares."""
    return -0.5 * (np.log(variance) + squares / variance)


def _summed_density(variance: np.ndarray, squares: np.ndarray, axis: int) -> np.ndarray:
    """The same, summed along an axis.

    A product takes less time than a logarithm, and those of four variances neither overflow nor
    vanish.
    """
    along = np.moveaxis(variance, axis, 0)
    fours = len(along) // 4
    products = along[: 4 * fours].reshape(4, fours, *along.shape[1:]).prod(axis=0)
    logs = np.log(products).sum(axis=0) + np.log(along[4 * fours :]).sum(axis=0)
    return -0.5 * (logs + (squares / variance).sum(axis=axis))


class Sampler:
    """Chains of the Gibbs sampler, side by side: each parameter is an array with the chains last.

    Biases, (J + B, chains), are the self-biases of the J judges and then the B family-biases.
    """

    def __init__(self, grid: _Grid, estimates: np.ndarray) -> None:
        """Start all chains at the spreads of the mixed model and at usual values of the rest,
        without biases.

        estimates: of the biases, (J + B,), for which tau is stretched as they need: chains rarely
        find a single large one.
        """
        self.grid, self.random = grid, np.random.default_rng(SEED)
        judges, models, _ = grid.mean.shape
        self.of_spreads, self.of_factors = np.full((2, CHAINS), 0.4)
        # What each component of the shared preferences adds to each cell
        self.shared = [np.zeros((judges, models, CHAINS)) for _ in grid.sharing]
        self.shared_spread = np.full((3, CHAINS), 2 / 3 * SHARED)
        # Of the self-biases and of the family-biases
        self.mu, self.tau = np.zeros((2, CHAINS)), np.full((2, CHAINS), TAU / 2)
        self.slope = np.zeros((judges, CHAINS))
        self.spread = np.tile(grid.spreads[:, None], CHAINS)
        self.factor = np.ones((models, CHAINS))
        self.centre = np.log(self.spread).mean(axis=0)
        # A factor of tau for each bias, which makes the tails heavy
        self.stretch = np.maximum(1.0, np.abs(estimates)[:, None] / (grid.kind @ self.tau))
        self._weigh()

    def _normal(self, mean: np.ndarray, precision: np.ndarray) -> np.ndarray:
        return mean + self.random.standard_normal(mean.shape) / np.sqrt(precision)

    def sweep(self) -> None:
        """Draw every parameter once."""
        self._draw_effects()
        self._draw_shared()
        self._draw_slopes()
        self._draw_spreads()
        self._weigh()
        self._draw_means()
        self._weigh()

    def _weigh(self) -> None:
        """Weigh each cell by its precision with self-biases integrated out, (J, M, chains)."""
        preferences = (self.spread[:, None] * self.factor) ** 2
        selves = self._variance()[: len(self.spread), None]
        self.known = self.grid.sampling + selves * self.grid.own  # all variance but preferences
        self.weight = self.grid.rated / (preferences + self.known)

    def _by_family(self, values: np.ndarray) -> np.ndarray:
        """Sums of values, (J, M, chains), over the cells of each family-bias, (B, chains)."""
        return self.grid.by_judge.T @ (values * self.grid.family).sum(axis=1)

    def _variance(self) -> np.ndarray:
        """Variance of each bias about its mu, (J + B, chains)."""
        return (self.grid.kind @ self.tau * self.stretch) ** 2

    def _draw_effects(self) -> None:
        """Draw c_m and the family-biases with a_j integrated out, then a_j; leave the residuals."""
        grid, weight, (judges, models, _) = self.grid, self.weight, self.grid.mean.shape
        target = grid.mean - self.mu[0] * grid.own - self.slope[:, None] * grid.quality
        for shared in self.shared:
            target -= shared
        of_family = weight * grid.family
        prior = 1 / self._variance()[judges:]
        # With a_j
        cross = np.concatenate(
            [weight, of_family.sum(axis=1)[:, None] * grid.by_judge[..., None]], axis=1
        )
        scale = 1 / (weight.sum(axis=1) + LEVEL**-2)
        # Chains first, for the linear algebra of each
        gram = np.zeros((CHAINS, models + len(prior), models + len(prior)))
        gram[:, models:, :models] = _summed(grid.by_judge, of_family).transpose(2, 0, 1)
        gram[:, :models, models:] = gram[:, models:, :models].transpose(0, 2, 1)
        place = np.arange(models + len(prior))
        gram[:, place, place] = np.concatenate(
            [weight.sum(axis=0) + EFFECT**-2, self._by_family(weight) + prior]
        ).T
        weighted = weight * target
        total = self._by_family(weighted) + self.mu[1] * prior
        right = np.concatenate([weighted.sum(axis=0), total])
        right -= ((scale * weighted.sum(axis=1))[:, None] * cross).sum(axis=0)
        scaled = np.ascontiguousarray((np.sqrt(scale)[:, None] * cross).transpose(2, 1, 0))
        gram -= scaled @ scaled.transpose(0, 2, 1)
        noise = np.linalg.cholesky(gram) @ self.random.standard_normal((*right.T.shape, 1))
        drawn = np.linalg.solve(gram, right.T[..., None] + noise)[..., 0].T
        self.family_bias = drawn[models:]
        left = target - drawn[:models]
        left -= (grid.by_judge @ self.family_bias)[:, None] * grid.family
        level = self._normal(scale * (weight * left).sum(axis=1), 1 / scale)
        self.left = (left - level[:, None]) * grid.rated

    def _draw_shared(self) -> None:
        """Draw the preferences that models of a family, judges of a family, or both have in
        common.
        """
        for place, sharing in enumerate(self.grid.sharing):
            left = self.left + self.shared[place]
            precision = np.maximum(_totals(self.weight, *sharing), NOTHING)
            estimate = _totals(self.weight * left, *sharing) / precision
            spread = self._moved_spread(self.shared_spread[place], estimate, 1 / precision)
            share = precision / (precision + spread**-2)
            self.shared_spread[place] = spread
            drawn = self._normal(share * estimate, precision / share)
            for axis, indicators in enumerate(sharing):
                if indicators is not None:
                    drawn = drawn.take(indicators.argmax(axis=1), axis=axis)
            self.shared[place] = drawn
            self.left = (left - drawn) * self.grid.rated

    def _move(self, value: np.ndarray, log_density: Density) -> np.ndarray:
        return lattice_move(self.random, value, log_density)

    def _moved_spread(
        self, spread: np.ndarray, estimates: np.ndarray, variance: np.ndarray
    ) -> np.ndarray:
        """Move the standard deviation of shared preferences, which are integrated out, given
        estimates of them, (n, k, chains), of these variances.
        """

        squares, known = (table.reshape(-1, CHAINS) for table in (estimates**2, variance))

        def density(points: np.ndarray) -> np.ndarray:
            residuals = _summed_density(known + points[:, None] ** 2, squares, axis=1)
            return residuals + _half_normal(points, SHARED)

        return self._move(spread, density)

    def _draw_slopes(self) -> None:
        """Draw d_j."""
        quality = self.grid.quality
        left = self.left + self.slope[:, None] * quality
        precision = (self.weight * quality**2).sum(axis=1) + SLOPES**-2
        self.slope = self._normal((self.weight * quality * left).sum(axis=1) / precision, precision)
        self.left = (left - self.slope[:, None] * quality) * self.grid.rated

    def _draw_spreads(self) -> None:
        """Draw s_j and t_m with the parameters of their priors, which move both with s and t fixed
        and with these in tow.
        """
        self.spread = self._moved(
            self.spread, self.centre, self.of_spreads, self._likelihood_of_spread
        )
        logs = np.log(self.spread)
        centre = self._normal(logs.mean(axis=0), len(logs) / self.of_spreads**2)
        # A step out of bounds is not taken
        self.centre = np.where(centre == centre.clip(*CENTRES), centre, self.centre)
        self.of_spreads, logs = self._scaled(
            self.of_spreads, logs - self.centre, SPREADS, self._likelihood_of_spread
        )
        self.spread = np.exp(self.centre + logs)
        self.factor = self._moved(self.factor, 0.0, self.of_factors, self._likelihood_of_factor)
        self.of_factors, logs = self._scaled(
            self.of_factors, np.log(self.factor), FACTORS, self._likelihood_of_factor
        )
        self.factor = np.exp(logs)

    def _scaled(
        self, scale: np.ndarray, logs: np.ndarray, prior: float, likelihood: Density
    ) -> tuple[np.ndarray, np.ndarray]:
        """Move the standard deviation of some logarithms, (n, chains), first given these, then with
        these in proportion.
        """
        squares = (logs**2).mean(axis=0)

        def density_of_logs(points: np.ndarray) -> np.ndarray:
            residuals = _given_residuals(points**2, squares)
            return len(logs) * residuals + _half_normal(points, prior)

        scale = self._move(scale, density_of_logs)
        scores = logs / scale

        def density(points: np.ndarray) -> np.ndarray:
            return likelihood(points[:, None] * scores).sum(axis=1) + _half_normal(points, prior)

        scale = self._move(scale, density)
        return scale, scale * scores

    def _moved(
        self, value: np.ndarray, centre: np.ndarray | float, scale: np.ndarray, likelihood: Density
    ) -> np.ndarray:
        """Move some values, whose logarithms are normal a priori; likelihood: of the logarithms
        less their centre.
        """

        def density(points: np.ndarray) -> np.ndarray:
            logs = np.log(points) - centre
            return likelihood(logs) - 0.5 * (logs / scale) ** 2

        return self._move(value, density)

    def _likelihood_of_spread(self, logs: np.ndarray) -> np.ndarray:
        """Log density of each judge's residuals at some log s_j less their centre, (POINTS, J,
        chains).
        """
        return self._likelihood((self.centre + logs)[:, :, None], self.factor, axis=2)

    def _likelihood_of_factor(self, logs: np.ndarray) -> np.ndarray:
        """Log density of the residuals of each model at some log t_m, (POINTS, M, chains)."""
        return self._likelihood(logs[:, None], self.spread[:, None], axis=1)

    def _likelihood(self, logs: np.ndarray, others: np.ndarray, *, axis: int) -> np.ndarray:
        """Sum along an axis of the log densities of residuals, (POINTS, J, M, chains), whose
        preferences have the standard deviations exp(logs) x others.

        Some points at a time, so that a processor's cache holds the numbers.
        """
        points = np.exp(np.minimum(logs, LARGEST)) ** 2
        squares, others = self.left**2, others**2 * self.grid.rated
        sums, at_once = [], max(1, CACHED // squares.size)
        for start in range(0, POINTS, at_once):
            variance = points[start : start + at_once] * others
            variance += self.known  # 1 where there is no rating
            sums.append(_summed_density(variance, squares, axis))
        return np.concatenate(sums)

    def _draw_means(self) -> None:
        """Draw mu and tau of the self-biases and of the family-biases, with these biases integrated
        out.
        """
        grid, kind = self.grid, self.grid.kind
        precision = self._by_family(self.weight)
        of_families = self._by_family(self.weight * self.left) / precision
        of_selves = (self.left * grid.own).sum(axis=1) + self.mu[0]
        self.gap = np.concatenate([of_selves, self.family_bias + of_families])
        variance = (self.spread[:, None] * self.factor) ** 2 + grid.sampling
        of_selves = (variance * grid.own).sum(axis=1) + 1 - grid.known[: len(self.spread)]
        self.variance = np.concatenate([of_selves, 1 / precision])
        squares = (self.gap - kind @ self.mu) ** 2

        def density(scale: np.ndarray) -> np.ndarray:
            return _given_residuals(self.variance + scale**2, squares) * grid.known

        def stretch_density(points: np.ndarray) -> np.ndarray:
            prior = -TAILS * (np.log(points) + 0.5 / points**2)
            return density(kind @ self.tau * points) + prior

        def tau_density(points: np.ndarray) -> np.ndarray:
            return kind.T @ density(kind @ points * self.stretch) + _half_normal(points, TAU)

        self.stretch = self._move(self.stretch, stretch_density)
        self.tau = self._move(self.tau, tau_density)
        weight = grid.known / (self.variance + self._variance())
        precision = kind.T @ weight + MEAN_BIAS**-2
        self.mu = self._normal(kind.T @ (self.gap * weight) / precision, precision)

    def biases(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each bias given all else, (J + B, chains) each."""
        mu, prior = self.grid.kind @ self.mu, self._variance()
        share = prior / (prior + self.variance)
        return mu + share * (self.gap - mu), share * self.variance


def _summed(indicators: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums over the first axis of values, (n, M, chains), by indicators, (n, sums)."""
    return (indicators.T @ values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])


def _totals(
    values: np.ndarray, by_judge: np.ndarray | None, by_model: np.ndarray | None
) -> np.ndarray:
    """Sums of values, (J, M, chains), over the judges and over the models with indicators."""
    totals = values if by_judge is None else _summed(by_judge, values)
    return totals if by_model is None else by_model.T @ totals


def posteriors(
    cells: CellMeans, fit: MixedFit, tests: Mapping[BiasKey, tuple[float, float]]
) -> dict[BiasKey, Posterior]:
    """The posterior of each self- and family-bias, by quantity and judge or family.

    Sampling goes on while the probability of a bias whose p-value is below WATCHED is within MARGIN
    Monte Carlo errors of one of CUT_OFFS and this error is above PRECISE, up to MOST sweeps.

    cells: with sampling variances; fit: the mixed model of them, for the effects of models and to
    start from; tests: estimate and p-value of each bias by this model, as far as there are any.
    """
    from scipy.special import ndtr

    grid = _Grid(cells, fit)
    names = grid.judges, grid.families
    keys = [
        (quantity, str(term))
        for quantity, terms in zip(BIASES, names, strict=True)
        for term in terms
    ]
    estimates, p_values = np.array([tests.get(key, (0.0, 1.0)) for key in keys]).reshape(-1, 2).T
    sampler = Sampler(grid, estimates)
    is_watched = p_values < WATCHED
    for _ in range(BURN_IN):
        sampler.sweep()
    sums, sweeps = np.zeros((3, len(keys), CHAINS)), 0
    while True:
        for _ in range(KEPT):
            sampler.sweep()
            mean, variance = sampler.biases()
            sums += np.stack([mean, mean**2 + variance, ndtr(mean / np.sqrt(variance))])
        sweeps += KEPT
        mean, square, positive = sums.mean(axis=2) / sweeps
        error = sums[2].std(axis=1, ddof=1) / sweeps / math.sqrt(CHAINS)
        is_near = np.abs(positive[:, None] - CUT_OFFS).min(axis=1) < MARGIN * error
        if sweeps >= MOST or not (is_near & is_watched & (error > PRECISE)).any():
            break
    numbers = np.stack([mean, np.sqrt(square - mean**2), positive], axis=1).tolist()
    return {key: Posterior(*of_bias) for key, of_bias in zip(keys, numbers, strict=True)}
