"""A world like the one that Play Favorites measured: every parameter computed from published numbers.

Planted as published (arXiv 2508.06709): self-bias by dimension (Figure 4) and, in every dimension, the pooled family-bias
(Figure 3). Intercepts, slopes and dispersions are not printed; they are chosen to come near the mean scores (Figure 6), Pearson
correlations and standard errors, within bounds that keep every expected rating possible and give every judge's own cell some
imperfect ratings. Judges here have no other preference for single models, so the effect of such preferences on a published mean
score is missing.

The raters have the published alpha and come near the published agreement of pairs. By dimension, the gold team has one
dispersion and one probability of seeing the quality that the raters saw; the two numbers of Table 4 that result are expected
within 0.03 of the published accuracy and 0.04 of the published correlation. They also vary by chance: gold completions are few.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import NormalDist

import numpy as np

from recuse.base.errors import ConfigError, DataError
from recuse.data.describe import spearman
from recuse.data.registry import HUMAN
from recuse.published.values import FILES
from recuse.simulate.world import TEAM_SIZE, Lengths, World, beta_binomial, beta_nodes, bias_matrix

# Bounds of an expected rating, whatever gt: neither end of the scale is ever certain.
LOWEST_MEAN, HIGHEST_MEAN = 0.002, 0.995
IMPERFECT_RATINGS = 10  # expected in a judge's own cell: with fewer, HC0 intervals cover too rarely
SLOPES = np.linspace(0.0, 1.2, 121)
DISPERSIONS = np.geomspace(0.7, 200.0, 29)
# Misfits of equal weight: of a mean score or an accuracy, of a correlation, of the logarithm of a standard error.
MEAN_UNIT, CORRELATION_UNIT, ERROR_UNIT = 0.01, 0.05, 0.2
INSIGHTS = np.linspace(0.0, 1.0, 101)
GOLD_DISPERSIONS = np.geomspace(0.05, 500.0, 25)


@dataclass(frozen=True)
class Dimension:
    """One dimension without its judges: M models, unit scale."""

    maximum: int  # K
    prompts: int
    human_mean: np.ndarray  # (M,)
    gt_variance: np.ndarray  # (M,) of gt / K within a model
    bias: np.ndarray  # (judges, M)


def fit_raters(mean: np.ndarray, maximum: int, alpha: float, agreement: float) -> tuple[float, float]:
    """Dispersions (quality, rater) that give the raters' published alpha and come nearest to their agreement.

    alpha (interval) = B / (B + W), between completions B = S + V / (quality + 1), within one W = V v quality / (quality + 1),
    where S is the variance of the models' means m, V the average of m (1 - m), v = (1 + (K - 1) / (rater + 1)) / K. So `rater`
    fixes `quality`, and agreement, the share of pairs of raters that give one score, falls as `rater` grows. mean is (models,)
    on the unit scale; if `agreement` is out of reach, the result is the nearest end of the search.
    """
    between, spread = mean.var(), (mean * (1 - mean)).mean()

    def quality_of(rater: float) -> float:
        within = alpha * spread * (1 + (maximum - 1) / (rater + 1)) / maximum
        return (1 - alpha) * (between + spread) / (within - (1 - alpha) * between)

    def agreement_of(rater: float) -> float:
        shares = []
        for one in mean:
            nodes, weights = beta_nodes(one, quality_of(rater), maximum + 1)
            shares.append(weights @ (beta_binomial(nodes, rater, maximum) ** 2).sum(axis=1))
        return float(np.mean(shares))

    low, high = np.log(0.05), np.log(500.0)  # from nearly all-or-nothing scores to nearly binomial ones
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if agreement_of(np.exp(middle)) > agreement else (low, middle)
    rater = float(np.exp(low))
    return quality_of(rater), rater


def fit_gold(
    mean: np.ndarray, quality: float, rater: float, maximum: int, *, accuracy: float, correlation: float
) -> tuple[float, float]:
    """Insight and dispersion of the gold team that come nearest to the raters' published accuracy and correlation with it.

    mean is (models,) on the unit scale, quality and rater the dispersions of `fit_raters`. The result has the least sum of
    squared misfits, in the units above, of the expected numbers of `gold_agreement`.
    """
    expected = [gold_agreement(mean, quality, rater, maximum, dispersion, INSIGHTS) for dispersion in GOLD_DISPERSIONS]
    accuracies, correlations = np.moveaxis(np.array(expected), 1, 0)  # (dispersions, insights) each
    misfit = ((accuracies - accuracy) / MEAN_UNIT) ** 2 + ((correlations - correlation) / CORRELATION_UNIT) ** 2
    at_dispersion, at_insight = np.unravel_index(misfit.argmin(), misfit.shape)
    return float(INSIGHTS[at_insight]), float(GOLD_DISPERSIONS[at_dispersion])


def gold_agreement(
    mean: np.ndarray, quality: float, rater: float, maximum: int, gold: float, insight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected accuracy of the raters and Spearman correlation of the teams' means, for each `insight` and of its shape.

    A rater's score is accurate unless all gold scores are below it or all above. Expectations are sums over quadrature nodes of
    quality, exact for the scores of two teams. mean is (models,), on the unit scale.
    """
    accurate, joint = np.zeros((2, len(mean))), np.zeros((2, TEAM_SIZE * maximum + 1, TEAM_SIZE * maximum + 1))
    for m, one in enumerate(mean):
        nodes, weights = beta_nodes(one, quality, TEAM_SIZE * maximum + 1)
        raters, experts = (beta_binomial(nodes, dispersion, maximum) for dispersion in (rater, gold))  # (nodes, K + 1)
        below = np.cumsum(experts, axis=1) - experts
        accuracy = 1 - below**TEAM_SIZE - (1 - below - experts) ** TEAM_SIZE
        rater_sums, expert_sums = _sums(raters), _sums(experts)
        # First as if the gold team scored another quality than the raters, then the same.
        accurate[:, m] = (weights @ raters) @ (weights @ accuracy), weights @ (raters * accuracy).sum(axis=1)
        joint[0] += np.outer(weights @ rater_sums, weights @ expert_sums)
        joint[1] += rater_sums.T @ (weights[:, None] * expert_sums)
    other, same = accurate.mean(axis=1)
    mixed = (1 - insight)[:, None, None] * joint[0] + insight[:, None, None] * joint[1]
    levels = np.arange(joint.shape[1])
    return (1 - insight) * other + insight * same, spearman(mixed, levels, levels)


def _sums(single: np.ndarray) -> np.ndarray:
    """Probabilities of the sum of a team's scores, from those of one score, (nodes, K + 1)."""
    total = single
    for _ in range(TEAM_SIZE - 1):
        total = np.array([np.convolve(one, another) for one, another in zip(total, single, strict=True)])
    return total


def gt_variance(mean: np.ndarray, quality: float, rater: float, maximum: int) -> np.ndarray:
    """Variance within each model of gt / K, the mean of three raters; mean and result (models,).

    m (1 - m) (1 + quality v / 3) / (quality + 1), with v as in `fit_raters`.
    """
    within = (1 + (maximum - 1) / (rater + 1)) / maximum
    return mean * (1 - mean) * (1 + quality * within / TEAM_SIZE) / (quality + 1)


def fit_judges(
    dimension: Dimension, *, means: np.ndarray, pearson: np.ndarray, std_error: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intercept, slope and dispersion of each judge, (judges,) each, by a search over slopes and dispersions.

    For each pair the level is the nearest to the published `means` (judges, models) that the bounds allow; the result has the
    least sum of squared misfits, in the units above: of the mean scores, of `pearson` and of the logarithm of the self-bias's
    `std_error`, (judges,) both.
    """
    slope = SLOPES[:, None]  # the axes of the search: (judges, slopes, dispersions)
    apart = dimension.human_mean - dimension.human_mean.mean()
    tilt = slope[..., None] * apart + dimension.bias[:, None, None, :]
    level = _feasible_level(dimension, means.mean(axis=1) - dimension.bias.mean(axis=1), slope, tilt)
    cell = level[..., None] + tilt  # expected score of each model
    # Average variance of rating / K given gt, (judges, slopes, dispersions, models).
    unit = (1 + (dimension.maximum - 1) / (DISPERSIONS[:, None] + 1)) / dimension.maximum
    variance = unit * (cell * (1 - cell) - slope[..., None] ** 2 * dimension.gt_variance)
    # Correlation of gt and rating over all rows of a judge.
    within = dimension.gt_variance.mean()
    covariance = slope * within + (cell * apart).mean(axis=-1)
    rating_variance = slope**2 * within + cell.var(axis=-1) + variance.mean(axis=-1)
    correlation = covariance / np.sqrt(rating_variance * (within + (apart**2).mean()))
    # Standard error of a mean of the own cell less a mean of the others, near that of self-bias.
    judges = np.arange(len(means))
    own_variance = variance[judges, :, :, judges]
    error = np.sqrt((own_variance + (variance.sum(axis=-1) - own_variance) / (len(judges) - 1) ** 2) / dimension.prompts)
    misfit = (((cell - means[:, None, None, :]) / MEAN_UNIT) ** 2).mean(axis=-1)
    misfit = misfit + ((correlation - pearson[:, None, None]) / CORRELATION_UNIT) ** 2
    misfit += (np.log(error / std_error[:, None, None]) / ERROR_UNIT) ** 2
    best = np.nanargmin(misfit.reshape(len(means), -1), axis=1)
    at_slope, at_dispersion = np.unravel_index(best, misfit.shape[1:])
    chosen = level[judges, at_slope, at_dispersion]
    return chosen - SLOPES[at_slope] * dimension.human_mean.mean(), SLOPES[at_slope], DISPERSIONS[at_dispersion]


def _feasible_level(dimension: Dimension, wanted: np.ndarray, slope: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    """The level at the average gt nearest to `wanted` (judges,) that keeps the bounds; NaN where none does.

    Shape (judges, slopes, dispersions).
    """
    # Largest mean of an own cell with IMPERFECT_RATINGS expected below the top, (dispersions,).
    low, high = np.zeros(DISPERSIONS.size), np.ones(DISPERSIONS.size)
    for _ in range(40):
        middle = (low + high) / 2
        imperfect = dimension.prompts * (1 - beta_binomial(middle, DISPERSIONS, dimension.maximum)[:, -1])
        enough = imperfect >= IMPERFECT_RATINGS
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    centre, judges = dimension.human_mean.mean(), np.arange(len(dimension.bias))
    highest = dimension.bias.max(axis=1)[:, None, None] + slope * (1 - centre)
    lowest = dimension.bias.min(axis=1)[:, None, None] - slope * centre
    own_tilt = tilt[judges, :, :, judges]  # of the judge's own cell, (judges, slopes, 1)
    ceiling, floor = np.minimum(HIGHEST_MEAN - highest, low - own_tilt), LOWEST_MEAN - lowest
    level = np.maximum(np.minimum(wanted[:, None, None], ceiling), floor)
    return np.where(floor <= ceiling, level, np.nan)


POOLED_FIGURE = "self_and_family_preference_bias"
DIMENSION_FIGURE = "self_preference_bias_by_dimension_and_task_type"
GOLD_COMPLETIONS = 210  # section 4.3
COUNTED_FOR_THE_REST = "Logical correctness"  # gives the absences of dimensions whose file was not counted

Numbers = Callable[..., np.ndarray]


def published_world(
    published: Mapping[str, Sequence[Mapping[str, str]]], *, models: Mapping[str, str], scales: Mapping[str, Sequence[int]]
) -> World:
    """The world of the published numbers, for `models` (name: family) and `scales` (dimension: [0, highest]).

    published: the tables of `recuse.published.values.read_files`. Raises ConfigError for a scale that does not start at 0,
    DataError for a model, family or dimension that the tables lack.
    """
    for dimension, scale in scales.items():
        if isinstance(scale, str) or len(scale) != 2 or scale[0] != 0 or scale[1] < 1:
            raise ConfigError(f"scales: {dimension}: {scale} cannot be simulated; write [0, highest], such as [0, 4]")
    names, dimensions, maxima = tuple(models), tuple(scales), np.array([scale[1] for scale in scales.values()])
    families = tuple(dict.fromkeys(models.values()))
    family_of = np.array([families.index(family) for family in models.values()])
    judge_of = np.arange(len(names))
    numbers = partial(_numbers, published)
    by_dimension = {"figure": [DIMENSION_FIGURE], "variant": dimensions, "term": names}
    self_bias = numbers("estimates", "estimate", **by_dimension)[0]
    pooled = {"figure": [POOLED_FIGURE], "quantity": ["family_bias"], "term": families}
    family_bias = numbers("estimates", "estimate", **pooled)[0, 0]
    means = numbers("mean_scores", "value", dimension=dimensions, judge=(HUMAN, *names), model=names)
    human = means[:, 0]

    alpha, agreed = numbers("facts", "value", fact=["krippendorff_alpha", "observed_agreement"], dimension=dimensions)
    raters = np.array([fit_raters(*targets) for targets in zip(human, maxima, alpha, agreed, strict=True)]).T
    accuracy, correlation = numbers("agreement", "value", statistic=["accuracy", "gold_correlation"], dimension=dimensions)
    targets = zip(human, *raters, maxima, accuracy, correlation, strict=True)
    gold = np.array([fit_gold(*scores, accuracy=share, correlation=rho) for *scores, share, rho in targets]).T

    study = _datasets(published["facts"], dimensions) | _absences(published["facts"], numbers, dimensions, names)
    bias = bias_matrix(self_bias, family_bias, family_of, judge_of)
    pearson = numbers("correlations", "value", statistic=["pearson"], dimension=dimensions, judge=names)[0]
    std_error = numbers("estimates", "std_error_implied", **by_dimension)[0]
    judges = []
    for d, maximum in enumerate(maxima):
        prompts = int(study["prompts"][study["rated"][d]].sum())
        variance = gt_variance(human[d], *raters[:, d], maximum)
        dimension = Dimension(maximum, prompts, human[d], variance, bias[d])
        judges.append(fit_judges(dimension, means=means[d, 1:], pearson=pearson[d], std_error=std_error[d]))
    intercept, slope, dispersion = np.stack(judges, axis=1)
    return World(
        dimensions=dimensions,
        models=names,
        families=families,
        family_of=family_of,
        judge_of=judge_of,
        scale_minimum=np.zeros_like(maxima),
        scale_maximum=maxima,
        intercept=intercept,
        slope=slope,
        self_bias=self_bias,
        family_bias=family_bias,
        dispersion=dispersion,
        human_mean=human,
        quality_dispersion=raters[0],
        rater_dispersion=raters[1],
        gold_share=GOLD_COMPLETIONS / (len(names) * study["prompts"].sum()),
        gold_insight=gold[0],
        gold_dispersion=gold[1],
        lengths=_lengths(published["facts"], numbers, names),
        **study,
    )


def _datasets(facts: Sequence[Mapping[str, str]], dimensions: tuple) -> dict:
    """Datasets with their prompts, and which dimension is rated on which."""
    rows = [row for row in facts if row["fact"] == "prompts"]
    only = {row["dimension"]: row["task_type"] for row in facts if row["fact"] == "task_type"}
    return {
        "datasets": tuple(row["term"] for row in rows),
        "prompts": np.array([int(row["value"]) for row in rows]),
        "rated": np.array([[only.get(d, row["task_type"]) == row["task_type"] for row in rows] for d in dimensions]),
    }


def _absences(facts: Sequence[Mapping[str, str]], numbers: Numbers, dimensions: tuple, names: tuple) -> dict:
    """Shares of completions without ratings, by dimension and judge."""
    counted = {row["dimension"] for row in facts if row["fact"] == "completions"}
    source = [name if name in counted else COUNTED_FOR_THE_REST for name in dimensions]
    size = numbers("facts", "value", fact=["completions"], dimension=source)[0]
    for_all = numbers("facts", "value", fact=["absent_for_all"], dimension=source)[0]
    absent = numbers("facts", "value", fact=["absent"], dimension=source, term=names)[0]
    return {"absent": absent / size[:, None], "absent_for_all": for_all / size}


def _lengths(facts: Sequence[Mapping[str, str]], numbers: Numbers, names: tuple) -> Lengths:
    """Lengths of the published means and deviations: those of the normals after the cut to 1..maximum."""
    types = [row["task_type"] for row in facts if row["fact"] == "prompts"]  # of each dataset
    tasks = tuple(dict.fromkeys(types))
    mean, deviation = numbers("facts", "value", fact=["length_mean", "length_sd"], task_type=tasks, term=names)
    correlation = numbers("facts", "value", fact=["length_correlation"], task_type=tasks)[0]
    maximum = int(numbers("facts", "value", fact=["length_maximum"])[0])
    quantiles = np.array([NormalDist().inv_cdf((i + 0.5) / 500) for i in range(500)])
    location, spread = mean, deviation
    for _ in range(100):
        cut = np.clip(location[..., None] + spread[..., None] * quantiles, 1, maximum)
        location = location + mean - cut.mean(axis=-1)
        spread = spread * deviation / cut.std(axis=-1)
    task_of = np.array([tasks.index(task_type) for task_type in types])
    return Lengths(task_of, location=location, spread=spread, correlation=correlation, maximum=maximum)


def _numbers(published: Mapping, table: str, value: str, **wanted: Sequence[str]) -> np.ndarray:
    """The numbers in column `value` of a table, one axis for each column of `wanted`, in the order given."""
    index = {tuple(row[column] for column in wanted): row[value] for row in published[table]}
    keys = list(product(*wanted.values()))
    for key in keys:
        if key not in index:
            absent = ", ".join(f"{column} {text!r}" for column, text in zip(wanted, key, strict=True))
            raise DataError(f"{FILES[table]} has no row with {absent}; simulate what it has or add the row")
    return np.array([float(index[key]) for key in keys]).reshape([len(texts) for texts in wanted.values()])
