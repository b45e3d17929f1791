"""Estimand C for all judges at once: a hierarchical model in which judges tell one another how
large biases are.

The mean of judge j for model m, of the families F(j) and F(m), is taken as

    r_jm = a_j + c_m + d_j q_m + bias_jm + G_{j,F(m)} + H_{F(j),m} + B_{F(j),F(m)} + e_jm,    e_jm ~
    N(0, (s_j t_m)^2 + V_jm)

V_jm is the sampling variance of the cell, taken as known; s_j the spread of a judge's preferences,
and t_m the factor by which preferences for a model vary more than for others; q_m the effect of a
model by the mixed model (recuse.inference.mixed), shrunk and taken as known, on which judges may
use more or less of the scale. bias_jm is self_j in a judge's own cell, family_F for another model
of its family F, and else 0. Self-biases have a t distribution about mu with scale tau, and so have
family-biases, with a mu and tau of their own: the more alike biases are, the more each borrows from
the others; one that is unlike the others stands for itself, as the tails are heavy. Priors, in
points of the unit scale:

    bias = mu + tau x t_2           mu ~ N(0, .03^2), tau ~ N+(.03^2)      a_j ~ N(0, 1), c_m ~ N(0,
    .3^2)
    log s_j ~ N(m, h^2), h ~ N+(1)  log t_m ~ N(0, k^2), k ~ N+(.6^2)      d_j ~ N(0, 1)
    G, H, B ~ N(0, g^2), each with a g ~ N+(.015^2) of its own

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
from recuse.model.spec import BIASES

# Chains, and sweeps of each: at first, at a time, and at most
CHAINS, BURN_IN, KEPT, MOST = 32, 14, 16, 256
POINTS = 5  # of a lattice
CACHED = 2**15  # densities of residuals at a time
STEP = (0.2, 0.9)  # of a lattice of logarithms: least and largest
SEED = 0
# Probabilities at which a verdict changes, at a level of 90 %: those watched are to be MARGIN Monte
# Carlo errors from them.
CUT_OFFS, MARGIN = np.array([0.05, 0.2, 0.8, 0.95]), 2.0
WATCHED = 1.6  # errors from 0 at which a verdict depends on the probability
# Of the scale of its prior: a smaller standard deviation makes no difference, and chains get stuck
# there
LEAST = 0.05
_Test = tuple[float, float]  # an estimate and its standard error
Density = Callable[[np.ndarray], np.ndarray]
# Logarithm of a standard deviation that a lattice tries: beyond it, squares overflow
LARGEST = 50.0
NOTHING = 1e-12  # precision of what no cell tells
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
    """The judge x model table as arrays; a cell without a rating has no weight."""

    def __init__(self, cells: CellMeans, fit: MixedFit) -> None:
        """cells: with sampling variances; fit: the mixed model of them."""
        self.quality = np.zeros(len(np.unique(cells.model)))
        self.judges, judge = np.unique(cells.judge, return_inverse=True)
        self.models, model = np.unique(cells.model, return_inverse=True)
        names, family = np.unique(
            np.concatenate([cells.judge_family, cells.model_family]), return_inverse=True
        )
        of_judge, of_model = (
            np.zeros(len(self.judges), dtype=int),
            np.zeros(len(self.models), dtype=int),
        )
        of_judge[judge], of_model[model] = family.reshape(2, -1)
        shape = len(self.judges), len(self.models)
        self.rated, self.mean, self.sampling = np.zeros(shape), np.zeros(shape), np.ones(shape)
        self.rated[judge, model] = 1.0
        self.mean[judge, model] = cells.mean - cells.mean.mean()
        self.sampling[judge, model] = cells.variance
        self.own = self.rated * (self.judges[:, None] == self.models)
        self.family = self.rated * (of_judge[:, None] == of_model) - self.own
        self.of_judges = (of_judge[:, None] == np.arange(len(names))) * 1.0  # (J, F)
        of_models = (of_model[:, None] == np.arange(len(names))) * 1.0  # (M, F)
        # Indicators of the judges, (J, n), and of the models, (M, k), that share preferences.
        self.sharing = [
            (np.eye(shape[0]), of_models),
            (self.of_judges, np.eye(shape[1])),
            (self.of_judges, of_models),
        ]
        self.families = names
        self.quality[model] = fit.slope
        self.spreads = np.clip(fit.spreads, *np.exp(CENTRES))


def lattice_move(
    random: np.random.Generator, value: np.ndarray, log_density: Density
) -> np.ndarray:
    """Move each of some positive values, (chains, ...), to a point of a random lattice of
    logarithms through it.

    log_density: of the logarithms of points, (chains, ..., POINTS). A value is at a random place
    among the POINTS of a lattice with a random step. Each point would have the same lattice with
    the same probability, so that one chosen by its density leaves the posterior as it is.
    """
    step = random.uniform(*STEP, value.shape)
    place = np.arange(POINTS) - random.integers(POINTS, size=value.shape)[..., None]
    points = value[..., None] * np.exp(step[..., None] * place)
    density = log_density(points)
    share = np.exp(density - density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    chosen = (share < random.random(value.shape)[..., None] * share[..., -1:]).sum(axis=-1)
    return np.take_along_axis(points, chosen[..., None], axis=-1)[..., 0]


def _half_normal(points: np.ndarray, scale: float) -> np.ndarray:
    """Log density of log x, where x is half normal and not below LEAST of its scale."""
    return np.where(points < LEAST * scale, -np.inf, np.log(points) - 0.5 * (points / scale) ** 2)


def _given_normals(points: np.ndarray, values: np.ndarray, scale: float) -> np.ndarray:
    """Log density of the log of the standard deviation of normal values, (chains, n), which is half
    normal a priori.
    """
    squares = (values**2).sum(axis=1)[:, None]
    return (
        _half_normal(points, scale) - values.shape[1] * np.log(points) - 0.5 * squares / points**2
    )


def _given_residuals(variance: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Log density of residuals with these variances and squares."""
    return -0.5 * (np.log(variance) + squares / variance)


class Sampler:
    """Chains of the Gibbs sampler, side by side: each parameter is an array with the chains
    first.
    """

    def __init__(self, grid: _Grid) -> None:
        """Start all chains at the spreads of the mixed model and at usual values of the rest,
        without biases.
        """
        self.grid, self.random, chains = grid, np.random.default_rng(SEED), CHAINS
        judges, models = grid.mean.shape
        self.of_spreads, self.of_factors = np.full((2, chains), 0.4)
        self.shared = [
            np.zeros((chains, rows.shape[1], columns.shape[1])) for rows, columns in grid.sharing
        ]
        self.shared_spread = np.full((3, chains), 2 / 3 * SHARED)
        self.mu, self.tau = np.zeros((2, chains)), np.full((2, chains), TAU / 2)
        self.slope = np.zeros((chains, judges))
        self.spread, self.factor = np.tile(grid.spreads, (chains, 1)), np.ones((chains, models))
        self.centre = np.log(self.spread).mean(axis=1)
        # Families with a family-bias
        self.biased = np.flatnonzero(grid.of_judges.T @ grid.family.sum(axis=1))
        # Of tau, which makes the tails heavy
        self.stretch = [np.ones((chains, judges)), np.ones((chains, len(self.biased)))]
        self._weigh()

    def start(self, estimates: np.ndarray) -> None:
        """Stretch tau as some estimates of the biases, (judges + families,), need: chains rarely
        find a single large one.
        """
        judges = len(self.grid.judges)
        for place, part in enumerate((estimates[:judges], estimates[judges:])):
            self.stretch[place] = np.maximum(
                self.stretch[place], np.abs(part) / self.tau[place][:, None]
            )
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
        """Weigh each cell by its precision with self-biases integrated out, (chains, J, M)."""
        preferences = (self.spread[:, :, None] * self.factor[:, None]) ** 2
        variance = preferences + self.grid.sampling + self._variance(0)[:, :, None] * self.grid.own
        self.weight = self.grid.rated / variance

    def _common(self) -> np.ndarray:
        """What the families of judges and models add to each cell, (chains, J, M)."""
        return sum(
            rows @ values @ columns.T
            for (rows, columns), values in zip(self.grid.sharing, self.shared, strict=True)
        )

    def _variance(self, place: int) -> np.ndarray:
        """Variance of the self-biases, place 0, or of the family-biases, 1, about mu; (chains,
        judges or families).
        """
        return (self.tau[place][:, None] * self.stretch[place]) ** 2

    def _draw_effects(self) -> None:
        """Draw c_m and the family-biases with a_j integrated out, then a_j; leave the residuals."""
        grid, weight, models = self.grid, self.weight, len(self.grid.models)
        target = (
            grid.mean
            - self._common()
            - self.mu[0][:, None, None] * grid.own
            - self.slope[:, :, None] * grid.quality
        )
        of_judges = grid.of_judges[:, self.biased]
        of_family = weight * grid.family
        # With a_j
        cross = np.concatenate([weight, of_family.sum(axis=2)[:, :, None] * of_judges], axis=2)
        scale = 1 / (weight.sum(axis=2) + LEVEL**-2)
        gram = -cross.transpose(0, 2, 1) @ (scale[:, :, None] * cross)
        between = of_family.transpose(0, 2, 1) @ of_judges
        gram[:, :models, models:] += between
        gram[:, models:, :models] += between.transpose(0, 2, 1)
        place = np.arange(gram.shape[1])
        of_models = weight.sum(axis=1) + EFFECT**-2
        of_families = of_family.sum(axis=2) @ of_judges + 1 / self._variance(1)
        gram[:, place, place] += np.concatenate([of_models, of_families], axis=1)
        right = [(weight * target).sum(axis=1), (of_family * target).sum(axis=2) @ of_judges]
        right[1] = right[1] + self.mu[1][:, None] / self._variance(1)
        right = (
            np.concatenate(right, axis=1)
            - ((scale * (weight * target).sum(axis=2))[:, None] @ cross)[:, 0]
        )
        noise = np.linalg.cholesky(gram) @ self.random.standard_normal((*right.shape, 1))
        drawn = np.linalg.solve(gram, right[:, :, None] + noise)[:, :, 0]
        self.family_bias = drawn[:, models:]
        left = target - drawn[:, None, :models]
        left -= (self.family_bias @ of_judges.T)[:, :, None] * grid.family
        level = self._normal(scale * (weight * left).sum(axis=2), 1 / scale)
        self.left = left - level[:, :, None]

    def _draw_shared(self) -> None:
        """Draw the preferences that models of a family, judges of a family, or both have in
        common.
        """
        self.left += self._common()
        for place, (rows, columns) in enumerate(self.grid.sharing):
            self.shared[place] = np.zeros_like(self.shared[place])
            sums = [
                rows.T @ each @ columns
                for each in (self.weight, self.weight * (self.left - self._common()))
            ]
            precision = np.maximum(sums[0], NOTHING)
            estimate = (sums[1] / precision).reshape(CHAINS, -1)
            spread = self._moved_spread(
                self.shared_spread[place], estimate, 1 / precision.reshape(estimate.shape), SHARED
            )
            precision = precision + spread[:, None, None] ** -2
            self.shared_spread[place], self.shared[place] = (
                spread,
                self._normal(sums[1] / precision, precision),
            )
        self.left -= self._common()

    def _move(self, value: np.ndarray, log_density: Density) -> np.ndarray:
        return lattice_move(self.random, value, log_density)

    def _moved_spread(
        self, spread: np.ndarray, estimates: np.ndarray, variance: np.ndarray, scale: float
    ) -> np.ndarray:
        """Move the standard deviation of values that are integrated out, with estimates of them of
        these variances.
        """
        squares, variance = estimates[..., None] ** 2, variance[..., None]

        def density(points: np.ndarray) -> np.ndarray:
            return _given_residuals(variance + points[:, None] ** 2, squares).sum(
                axis=1
            ) + _half_normal(points, scale)

        return self._move(spread, density)

    def _draw_slopes(self) -> None:
        """Draw d_j."""
        quality = self.grid.quality
        left = self.left + self.slope[:, :, None] * quality
        precision = (self.weight * quality**2).sum(axis=2) + SLOPES**-2
        self.slope = self._normal((self.weight * quality * left).sum(axis=2) / precision, precision)
        self.left = left - self.slope[:, :, None] * quality

    def _draw_spreads(self) -> None:
        """Draw s_j and t_m with the parameters of their priors, which move both with s and t fixed
        and with these in tow.
        """
        self.spread = self._move(self.spread, self._density_of_spread)
        logs = np.log(self.spread)
        centre = self._normal(logs.mean(axis=1), logs.shape[1] / self.of_spreads**2)
        # A step out of bounds is not taken
        self.centre = np.where(centre == centre.clip(*CENTRES), centre, self.centre)
        self.of_spreads, logs = self._scaled(
            self.of_spreads, logs - self.centre[:, None], SPREADS, self._likelihood_of_spread
        )
        self.spread = np.exp(self.centre[:, None] + logs)
        self.factor = self._move(self.factor, self._density_of_factor)
        self.of_factors, logs = self._scaled(
            self.of_factors, np.log(self.factor), FACTORS, self._likelihood_of_factor
        )
        self.factor = np.exp(logs)

    def _scaled(
        self, scale: np.ndarray, logs: np.ndarray, prior: float, likelihood: Density
    ) -> tuple[np.ndarray, np.ndarray]:
        """Move the standard deviation of some logarithms, (chains, n), first given these, then with
        these in proportion.
        """
        scale = self._move(scale, lambda points: _given_normals(points, logs, prior))
        scores = logs / scale[:, None]

        def density(points: np.ndarray) -> np.ndarray:
            return likelihood(points[:, None] * scores[..., None]).sum(axis=1) + _half_normal(
                points, prior
            )

        scale = self._move(scale, density)
        return scale, scale[:, None] * scores

    def _density_of_spread(self, points: np.ndarray) -> np.ndarray:
        differences = np.log(points) - self.centre[:, None, None]
        return (
            self._likelihood_of_spread(differences)
            - 0.5 * (differences / self.of_spreads[:, None, None]) ** 2
        )

    def _density_of_factor(self, points: np.ndarray) -> np.ndarray:
        logs = np.log(points)
        return self._likelihood_of_factor(logs) - 0.5 * (logs / self.of_factors[:, None, None]) ** 2

    def _likelihood_of_spread(self, differences: np.ndarray) -> np.ndarray:
        """Log density of each judge's residuals at some log s_j less their centre, (chains, J,
        POINTS).
        """
        spread = np.exp(np.minimum(self.centre[:, None, None] + differences, LARGEST))
        return self._likelihood(spread[:, :, None], self.factor[:, None, :, None], axis=1)

    def _likelihood_of_factor(self, logs: np.ndarray) -> np.ndarray:
        """Log density of the residuals of each model at some log t_m, (chains, M, POINTS)."""
        factor = np.exp(np.minimum(logs, LARGEST))
        return self._likelihood(self.spread[:, :, None, None], factor[:, None], axis=0)

    def _likelihood(self, spread: np.ndarray, factor: np.ndarray, *, axis: int) -> np.ndarray:
        """Sum of the log densities of residuals, (J, M, POINTS) of each chain, along an axis.

        Some chains at a time, so that a processor's cache holds the numbers.
        """
        known = self.grid.sampling + self._variance(0)[:, :, None] * self.grid.own
        sums = []
        at_once = max(1, CACHED // (self.grid.mean.size * POINTS))
        for start in range(0, CHAINS, at_once):
            part = slice(start, start + at_once)
            variance = (spread[part] * factor[part]) ** 2 + known[part, ..., None]
            density = _given_residuals(variance, self.left[part, ..., None] ** 2)
            density *= self.grid.rated[..., None]
            sums.append(density.sum(axis=axis + 1))
        return np.concatenate(sums)

    def _draw_means(self) -> None:
        """Draw mu and tau of the self-biases, then of the family-biases, with these biases
        integrated out.
        """
        own, has_own = self.grid.own, self.grid.own.sum(axis=1)
        variance = (self.spread[:, :, None] * self.factor[:, None]) ** 2 + self.grid.sampling
        of_selves = (
            (self.left * own).sum(axis=2) + self.mu[0][:, None],
            (variance * own).sum(axis=2) + 1 - has_own,
        )
        of_judges, weight = self.grid.of_judges[:, self.biased], self.weight * self.grid.family
        precision = weight.sum(axis=2) @ of_judges
        of_families = (
            self.family_bias + (weight * self.left).sum(axis=2) @ of_judges / precision,
            1 / precision,
        )
        self.gaps = of_selves, of_families
        for place, known in enumerate((has_own, np.ones(len(self.biased)))):
            self._draw_mean(place, *self.gaps[place], known)

    def _draw_mean(
        self, place: int, gap: np.ndarray, variance: np.ndarray, known: np.ndarray
    ) -> None:
        """Draw mu, tau and its stretches from gaps, (chains, judges or families), of these
        variances; known: 1 for a gap.
        """
        squares, variance = ((gap - self.mu[place][:, None]) ** 2)[..., None], variance[..., None]
        tau, stretch = self.tau[place][:, None, None], self.stretch[place][..., None]

        def stretch_density(points: np.ndarray) -> np.ndarray:
            residuals = _given_residuals(variance + (tau * points) ** 2, squares) * known[:, None]
            return residuals - TAILS * (np.log(points) + 0.5 / points**2)

        def tau_density(points: np.ndarray) -> np.ndarray:
            residuals = _given_residuals(variance + (points[:, None] * stretch) ** 2, squares)
            return known @ residuals + _half_normal(points, TAU)

        stretch = self._move(self.stretch[place], stretch_density)[..., None]
        self.stretch[place], self.tau[place] = (
            stretch[..., 0],
            self._move(self.tau[place], tau_density),
        )
        weight = known / (variance[..., 0] + self._variance(place))
        precision = weight.sum(axis=1) + MEAN_BIAS**-2
        self.mu[place] = self._normal((gap * weight).sum(axis=1) / precision, precision)

    def biases(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance given all else of each self-bias, place 0, or family-bias, 1; (chains,
        judges or families) each.
        """
        (gap, variance), mu = self.gaps[place], self.mu[place][:, None]
        share = self._variance(place) / (self._variance(place) + variance)
        return mu + share * (gap - mu), share * variance


def posteriors(
    cells: CellMeans, fit: MixedFit, tests: Mapping[tuple[str, str], _Test]
) -> dict[tuple[str, str], Posterior]:
    """The posterior of each self- and family-bias, by quantity and judge or family.

    Sampling goes on while the probability of a bias whose estimate is WATCHED errors from 0 is
    within MARGIN Monte Carlo errors of one of CUT_OFFS, up to MOST sweeps.

    cells: with sampling variances; fit: the mixed model of them, for the effects of models and to
    start from; tests: estimate and standard error of each bias by this model, as far as there are
    any.
    """
    from scipy.special import ndtr

    sampler = Sampler(_Grid(cells, fit))
    names = sampler.grid.judges.tolist(), sampler.grid.families[sampler.biased].tolist()
    keys = [
        (quantity, term) for quantity, terms in zip(BIASES, names, strict=True) for term in terms
    ]
    estimates, errors = np.array([tests.get(key, (0.0, 1.0)) for key in keys]).reshape(-1, 2).T
    sampler.start(estimates)
    is_watched = np.abs(estimates) > WATCHED * errors
    for _ in range(BURN_IN):
        sampler.sweep()
    sums, sweeps = np.zeros((3, CHAINS, len(keys))), 0
    while True:
        for _ in range(KEPT):
            sampler.sweep()
            mean, variance = np.concatenate([sampler.biases(0), sampler.biases(1)], axis=2)
            sums += np.stack([mean, mean**2 + variance, ndtr(mean / np.sqrt(variance))])
        sweeps += KEPT
        mean, square, positive = sums.mean(axis=1) / sweeps
        error = sums[2].std(axis=0, ddof=1) / sweeps / math.sqrt(CHAINS)
        is_near = np.abs(positive[:, None] - CUT_OFFS).min(axis=1) < MARGIN * error
        if sweeps >= MOST or not (is_near & is_watched).any():
            break
    numbers = zip(mean.tolist(), np.sqrt(square - mean**2).tolist(), positive.tolist(), strict=True)
    return {key: Posterior(*of_bias) for key, of_bias in zip(keys, numbers, strict=True)}
