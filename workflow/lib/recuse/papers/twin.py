"""A world like the one that Play Favorites measured: every parameter computed from published
numbers.

Judges rate the quality that three human raters score with error, and have preferences for single
models as large as the published mean scores show (arXiv 2508.06709, Figure 6). So Equation 1, a fit
to the human scores, does not estimate the planted biases. These are chosen such that its estimates
are expected to be the published ones: self-bias by dimension (Figure 4) and family-bias over all
dimensions (Figure 3). Slopes and dispersions are not printed; they are chosen to come near the mean
scores, Pearson correlations and standard errors, within bounds that keep every expected rating
possible and give every judge's own cell some imperfect ratings. What the published numbers cannot
tell is taken to be bias: a judge's preference for its own model counts as self-bias, what it
prefers of its family on average as family-bias.

The raters have the published alpha and come near the published agreement of pairs. By dimension,
the gold team has one dispersion and one probability of seeing the quality that the raters saw; the
two numbers of Table 4 that result are expected within 0.03 of the published accuracy and 0.04 of
the published correlation. They also vary by chance: gold completions are few.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import NormalDist

import numpy as np

from recuse.base.errors import ConfigError, DataError
from recuse.data.describe import spearman
from recuse.data.registry import HUMAN
from recuse.model.design import Term, design_terms, term_layout
from recuse.papers.values import FILES, read_files
from recuse.simulate.world import (
    TEAM_SIZE,
    Lengths,
    World,
    beta_binomial,
    beta_nodes,
    quality_values,
    relations,
    reliability,
)

# Bounds of an expected rating, whatever the quality: neither end of the scale is ever certain.
LOWEST_MEAN, HIGHEST_MEAN = 0.002, 0.999
TURNS = 100  # of least changes and bounds: then the published biases are expected to 1e-7
IMPERFECT_RATINGS = 10  # expected in a judge's own cell: with fewer, HC0 intervals cover too rarely
SLOPES = np.linspace(0.0, 2.5, 126)
DISPERSIONS = np.geomspace(0.7, 200.0, 29)
# Misfits of equal weight: of a mean score or an accuracy, of a judge's or the gold team's
# correlation, of the logarithm of a standard error.
MEAN_UNIT, PEARSON_UNIT, CORRELATION_UNIT, ERROR_UNIT = 0.01, 0.012, 0.05, 0.2
INSIGHTS = np.linspace(0.0, 1.0, 101)
GOLD_DISPERSIONS = np.geomspace(0.05, 500.0, 25)


@dataclass(frozen=True)
class _Dimension:
    """One dimension without its judges, who are the M models: unit scale."""

    maximum: int  # K
    prompts: int
    human_mean: np.ndarray  # (M,)
    quality: np.ndarray  # (2, M): lowest and highest quality of a model's completions
    quality_variance: np.ndarray  # (M,) within a model
    reliability: float  # of gt within a model
    siblings: np.ndarray  # (M, M) of bool: judge and another model of its family

    def bounds(self, slope: np.ndarray) -> np.ndarray:
        """Lowest and highest mean of a model's ratings with these slopes, (2, slopes, models)."""
        means = np.array([[[LOWEST_MEAN]], [[HIGHEST_MEAN]]])
        return means + slope[:, None] * (self.human_mean - self.quality[:, None])


def fit_raters(
    mean: np.ndarray, maximum: int, alpha: float, agreement: float
) -> tuple[float, float]:
    """Dispersions (quality, rater) that give the raters' published alpha and come nearest to their
    agreement.

    alpha (interval) = B / (B + W), between completions B = S + V / (quality + 1), within one W = V
    v quality / (quality + 1), where S is the variance of the models' means m, V the average of m (1
    - m), v = (1 + (K - 1) / (rater + 1)) / K. So `rater` fixes `quality`, and agreement, the share
    of pairs of raters that give one score, falls as `rater` grows. mean is (models,) on the unit
    scale; if `agreement` is out of reach, the result is the nearest end of the search.
    """
    between = mean.var()
    spread = (mean * (1 - mean)).mean()

    def quality_dispersion(rater: float) -> float:
        within = alpha * spread * (1 + (maximum - 1) / (rater + 1)) / maximum
        return (1 - alpha) * (between + spread) / (within - (1 - alpha) * between)

    def expected_agreement(rater: float) -> float:
        shares = []
        for one in mean:
            nodes, weights = beta_nodes(one, quality_dispersion(rater), maximum + 1)
            shares.append(weights @ (beta_binomial(nodes, rater, maximum) ** 2).sum(axis=1))
        return float(np.mean(shares))

    # From nearly all-or-nothing scores to nearly binomial ones
    low = np.log(0.05)
    high = np.log(500.0)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if expected_agreement(np.exp(middle)) > agreement else (low, middle)
        )
    rater = float(np.exp(low))
    return quality_dispersion(rater), rater


def fit_gold(
    mean: np.ndarray,
    quality: float,
    rater: float,
    maximum: int,
    *,
    accuracy: float,
    correlation: float,
) -> tuple[float, float]:
    """Insight and dispersion of the gold team that come nearest to the raters' published accuracy
    and correlation with it.

    mean is (models,) on the unit scale, quality and rater the dispersions of `fit_raters`. The
    result has the least sum of squared misfits, in the units above, of the expected numbers of
    `gold_agreement`.
    """
    expected = [
        gold_agreement(mean, quality, rater, maximum, dispersion, INSIGHTS)
        for dispersion in GOLD_DISPERSIONS
    ]
    accuracies, correlations = np.moveaxis(np.array(expected), 1, 0)  # (dispersions, insights) each
    misfit = ((accuracies - accuracy) / MEAN_UNIT) ** 2 + (
        (correlations - correlation) / CORRELATION_UNIT
    ) ** 2
    at_dispersion, at_insight = np.unravel_index(misfit.argmin(), misfit.shape)
    return float(INSIGHTS[at_insight]), float(GOLD_DISPERSIONS[at_dispersion])


def gold_agreement(
    mean: np.ndarray, quality: float, rater: float, maximum: int, gold: float, insight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected accuracy of the raters and Spearman correlation of the teams' means, for each
    `insight` and of its shape.

    A rater's score is accurate unless all gold scores are below it or all above. Expectations are
    sums over quadrature nodes of quality, exact for the scores of two teams. mean is (models,), on
    the unit scale.
    """
    accurate = np.zeros((2, len(mean)))
    joint = np.zeros((2, TEAM_SIZE * maximum + 1, TEAM_SIZE * maximum + 1))
    for m, one in enumerate(mean):
        nodes, weights = quality_values(one, quality, maximum)
        # (nodes, K + 1)
        raters, experts = (
            beta_binomial(nodes, dispersion, maximum) for dispersion in (rater, gold)
        )
        below = np.cumsum(experts, axis=1) - experts
        accuracy = 1 - below**TEAM_SIZE - (1 - below - experts) ** TEAM_SIZE
        rater_sums = _sums(raters)
        expert_sums = _sums(experts)
        # First as if the gold team scored another quality than the raters, then the same.
        accurate[:, m] = (
            (weights @ raters) @ (weights @ accuracy),
            weights @ (raters * accuracy).sum(axis=1),
        )
        joint[0] += np.outer(weights @ rater_sums, weights @ expert_sums)
        joint[1] += rater_sums.T @ (weights[:, None] * expert_sums)
    other, same = accurate.mean(axis=1)
    mixed = (1 - insight)[:, None, None] * joint[0] + insight[:, None, None] * joint[1]
    levels = np.arange(joint.shape[1])
    return (1 - insight) * other + insight * same, spearman(mixed, levels, levels)


def _sums(single: np.ndarray) -> np.ndarray:
    """Probabilities of the sum of a team's scores, from those of one score, (nodes, K + 1)."""
    total = single
    scores = single.shape[1]
    for _ in range(TEAM_SIZE - 1):
        one = total
        total = np.zeros((len(single), total.shape[1] + scores - 1))
        for score in range(scores):
            total[:, score : score + one.shape[1]] += one * single[:, [score]]
    return total


def fit_judges(
    dimension: _Dimension,
    *,
    means: np.ndarray,
    pearson: np.ndarray,
    self_bias: np.ndarray,
    std_error: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean ratings (judges, models), slopes on quality and dispersions (judges,), by a search over
    slopes and dispersions.

    The mean ratings are those of `_possible_level`. The result has the least sum of squared
    misfits, in the units above: of the mean scores from `means` (judges, models), of `pearson` and
    of the logarithm of the self-bias's `std_error`, (judges,).
    """
    judges = np.arange(len(means))
    share = dimension.reliability
    variance = dimension.quality_variance
    gt_variance = variance / share
    apart = dimension.human_mean - dimension.human_mean.mean()
    # The axes: judges, slopes, dispersions, models
    level, estimated = _possible_level(dimension, means, self_bias)
    slope = SLOPES[:, None, None]
    # Variance of rating / K within a model; what Equation 1 leaves of it.
    unit = (1 + (dimension.maximum - 1) / (DISPERSIONS[:, None] + 1)) / dimension.maximum
    within = unit * (level * (1 - level)) + (1 - unit) * slope**2 * variance
    residual = within + (estimated**2 / share - 2 * estimated * slope) * variance
    # Correlation of gt and rating over all rows of a judge.
    covariance = SLOPES[:, None] * variance.mean() + (level * apart).mean(axis=-1)
    rating_variance = level.var(axis=-1) + within.mean(axis=-1)
    correlation = covariance / np.sqrt(rating_variance * (gt_variance.mean() + (apart**2).mean()))
    # Standard error of a mean of the own cell less a mean of the others, near that of self-bias.
    of_self = residual[judges, :, :, judges]
    error = np.sqrt(
        (of_self + (residual.sum(axis=-1) - of_self) / (len(judges) - 1) ** 2) / dimension.prompts
    )
    misfit = (((level - means[:, None, None, :]) / MEAN_UNIT) ** 2).mean(axis=-1)
    misfit = misfit + ((correlation - pearson[:, None, None]) / PEARSON_UNIT) ** 2
    misfit += (np.log(error / std_error[:, None, None]) / ERROR_UNIT) ** 2
    best = np.nanargmin(misfit.reshape(len(means), -1), axis=1)
    at_slope, at_dispersion = np.unravel_index(best, misfit.shape[1:])
    return level[judges, at_slope, at_dispersion], SLOPES[at_slope], DISPERSIONS[at_dispersion]


def _possible_level(
    dimension: _Dimension, means: np.ndarray, self_bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean ratings (judges, slopes, dispersions, models) near the published `means`, and Equation
    1's slope, of like axes.

    Of other models, the nearest that the bounds allow; of its own completions, the mean of which
    Equation 1, with a family term for each judge, expects the published `self_bias`. Where this is
    above the bounds, all of the judge's are lower by as much; NaN where they then are below.
    """
    human = dimension.human_mean
    own = np.eye(len(means), dtype=bool)
    floor, ceiling = dimension.bounds(SLOPES)
    level = np.minimum(np.maximum(means[:, None], floor), ceiling)  # (judges, slopes, models)
    # Least squares of the level on gt: within all models, and between those of each kind but its
    # own.
    squares = np.full((len(means), 1), dimension.quality_variance.sum() / dimension.reliability)
    products = SLOPES * dimension.quality_variance.sum()
    for cells in (dimension.siblings, ~dimension.siblings & ~own):
        share = cells / np.maximum(cells.sum(axis=1), 1)[:, None]  # (judges, models)
        apart = cells * (human - (share @ human)[:, None])
        products = products + (level @ apart[:, :, None])[..., 0]
        squares = squares + (apart**2).sum(axis=1)[:, None]
    estimated = products / squares  # (judges, slopes)
    of_own = (
        (level @ share[:, :, None])[..., 0]
        + estimated * (human - share @ human)[:, None]
        + self_bias[:, None]
    )
    # Largest mean of an own cell with IMPERFECT_RATINGS expected below the top, (dispersions,).
    low = np.zeros(DISPERSIONS.size)
    high = np.ones(DISPERSIONS.size)
    for _ in range(40):
        middle = (low + high) / 2
        imperfect = dimension.prompts * (
            1 - beta_binomial(middle, DISPERSIONS, dimension.maximum)[:, -1]
        )
        enough = imperfect >= IMPERFECT_RATINGS
        low = np.where(enough, middle, low)
        high = np.where(enough, high, middle)
    # (judges, slopes, dispersions)
    excess = np.maximum(of_own[..., None] - np.minimum(ceiling.T[..., None], low), 0)
    level = np.where(own[:, None], of_own[..., None], level)[:, :, None] - excess[..., None]
    possible = (level >= floor[:, None] - 1e-12).all(axis=-1, keepdims=True)
    return np.where(possible, level, np.nan), estimated[..., None, None]


POOLED_FIGURE = "self_and_family_preference_bias"
DIMENSION_FIGURE = "self_preference_bias_by_dimension_and_task_type"
GOLD_COMPLETIONS = 210  # section 4.3
# Gives the absences of dimensions whose file was not counted
COUNTED_FOR_THE_REST = "Logical correctness"

_Facts = Sequence[Mapping[str, str]]
_Numbers = Callable[..., np.ndarray]


def world_in_tables(
    paths: Sequence[str], *, models: Mapping[str, str], scales: Mapping[str, Sequence[int]]
) -> World:
    """The world of the published numbers in files, all in one folder; see `published_world`."""
    return published_world(read_files(Path(paths[0]).parent), models=models, scales=scales)


def published_world(
    published: Mapping[str, _Facts],
    *,
    models: Mapping[str, str],
    scales: Mapping[str, Sequence[int]],
) -> World:
    """The world of the published numbers, for `models` (name: family) and `scales` (dimension: [0,
    highest]).

    Family-biases are expected of Equation 1 fitted to these dimensions together.

    published: the tables of `recuse.papers.values.read_files`. Raises ConfigError for a scale that
    does not start at 0 and for models of one family, DataError for a model, family or dimension
    that the tables lack.
    """
    for dimension, scale in scales.items():
        if isinstance(scale, str) or len(scale) != 2 or scale[0] != 0 or scale[1] < 1:
            raise ConfigError(
                f"scales: {dimension}: {scale} cannot be simulated; write [0, highest], such as"
                " [0, 4]"
            )
    names = tuple(models)
    dimensions = tuple(scales)
    maxima = np.array([scale[1] for scale in scales.values()])
    families = tuple(dict.fromkeys(models.values()))
    if len(families) < 2:
        raise ConfigError(
            f"models: the twin's are of one family, {families[0]}; write those of two or more under"
            " `models:`"
        )
    family_of = np.array([families.index(family) for family in models.values()])
    judge_of = np.arange(len(names))
    numbers = partial(_numbers, published)
    by_dimension = {"figure": [DIMENSION_FIGURE], "variant": dimensions, "term": names}
    self_bias = numbers("estimates", "estimate", **by_dimension)[0]
    pooled = {"figure": [POOLED_FIGURE], "quantity": ["family_bias"], "term": families}
    family_bias = numbers("estimates", "estimate", **pooled)[0, 0]
    means = numbers(
        "mean_scores", "value", dimension=dimensions, judge=(HUMAN, *names), model=names
    )
    human = means[:, 0]

    alpha, agreed = numbers(
        "facts", "value", fact=["krippendorff_alpha", "observed_agreement"], dimension=dimensions
    )
    raters = np.array(
        [fit_raters(*targets) for targets in zip(human, maxima, alpha, agreed, strict=True)]
    ).T
    accuracy, correlation = numbers(
        "agreement", "value", statistic=["accuracy", "gold_correlation"], dimension=dimensions
    )
    targets = zip(human, *raters, maxima, accuracy, correlation, strict=True)
    gold = np.array(
        [fit_gold(*scores, accuracy=share, correlation=rho) for *scores, share, rho in targets]
    ).T

    study = _datasets(published["facts"], dimensions) | _absences(
        published["facts"], numbers, dimensions, names
    )
    pearson = numbers(
        "correlations", "value", statistic=["pearson"], dimension=dimensions, judge=names
    )[0]
    std_error = numbers("estimates", "std_error_implied", **by_dimension)[0]
    _, siblings = relations(family_of, judge_of)
    judges = []
    bounds = []
    for d, maximum in enumerate(maxima):
        ends = [quality_values(mean, raters[0, d], maximum)[0][[0, -1]] for mean in human[d]]
        dimension = _Dimension(
            maximum,
            prompts=int(study["prompts"][study["rated"][d]].sum()),
            human_mean=human[d],
            quality=np.transpose(ends),
            quality_variance=human[d] * (1 - human[d]) / (raters[0, d] + 1),
            reliability=reliability(*raters[:, d], maximum),
            siblings=siblings,
        )
        targets = {
            "means": means[d, 1:],
            "pearson": pearson[d],
            "self_bias": self_bias[d],
            "std_error": std_error[d],
        }
        judges.append(fit_judges(dimension, **targets))
        bounds.append(dimension.bounds(judges[-1][1]))
    level, slope, dispersion = map(np.stack, zip(*judges, strict=True))
    world = World(
        dimensions=dimensions,
        models=names,
        families=families,
        family_of=family_of,
        judge_of=judge_of,
        scale_minimum=np.zeros_like(maxima),
        scale_maximum=maxima,
        **_parameters(level, slope, human, family_of, judge_of),
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
    wanted = [
        {("self_bias", name): value for name, value in zip(names, values, strict=True)}
        for values in self_bias
    ]
    wanted.append(
        {("family_bias", name): value for name, value in zip(families, family_bias, strict=True)}
    )
    level = nearest_level(world, level, wanted, bounds=np.stack(bounds, axis=1))
    return replace(world, **_parameters(level, slope, human, family_of, judge_of))


def expected_estimates(
    world: World, dimensions: Sequence[int]
) -> tuple[list[Term], np.ndarray, np.ndarray]:
    """What Equation 1, fitted to ratings in these dimensions, estimates on average: its terms,
    constant (terms,) and weights.

    The estimates are constant + sum of weights * mean rating over dimensions, judges and models;
    the weights' shape is (terms, dimensions, judges, models). This is least squares in the
    population, on the mean products of 1, gt and rating in each cell, by the cell's mean number of
    ratings. With x = (1, gt), h and v the mean and variance of gt in a cell and r its reliability,
    E[x x'] = [[1, h], [h, h^2 + v]] and E[x rating] = mean rating (1, h) + slope r v (0, 1).
    """
    axes = np.meshgrid(
        dimensions, np.arange(len(world.judge_of)), np.arange(len(world.models)), indexing="ij"
    )
    d, j, m = (axis.ravel() for axis in axes)
    name = np.array(world.models)
    family = np.array(world.families)[world.family_of]
    judge = world.judge_of[j]
    factors = {"dimension": np.array(world.dimensions)[d], "judge": name[judge], "model": name[m]}
    terms = design_terms(factors | {"judge_family": family[judge], "model_family": family[m]})
    terms = [term for term in terms if term.carried.any()]
    layout = term_layout(terms, len(d), 2)  # (cells, 2, terms)
    human = world.human_mean[d, m]
    spread = (world.quality_dispersion + 1) * world.reliability
    variance = human * (1 - human) / spread[d]  # of gt / K within a model
    share = world.reliability[d]
    rows = (world.rated @ world.prompts)[d] * (1 - world.absent[d, j])
    second = np.array([[np.ones(len(d)), human], [human, human**2 + variance]])  # (2, 2, cells)
    inverse = np.linalg.inv(np.einsum("g,gxt,xyg,gyu->tu", rows, layout, second, layout))
    with_gt = inverse @ (rows * layout[:, 1].T)  # (terms, cells)
    weights = inverse @ (rows * (layout[:, 0] + human[:, None] * layout[:, 1]).T)
    return (
        terms,
        with_gt @ (world.slope[d, j] * share * variance),
        weights.reshape(len(terms), *axes[0].shape),
    )


def nearest_level(
    world: World,
    level: np.ndarray,
    wanted: Sequence[Mapping[tuple[str, str], float]],
    *,
    bounds: np.ndarray,
) -> np.ndarray:
    """The mean ratings (dimensions, judges, models) nearest to `level` from which Equation 1
    expects what is wanted.

    wanted: for each dimension and then for all together, (quantity, term) -> estimate. The sum of
    squared changes is the least, taken in turns with a cut to the bounds, (2, dimensions, judges,
    models).
    """
    every = range(len(world.dimensions))
    rows = []
    targets = []
    for fitted, estimates in zip([[d] for d in every] + [list(every)], wanted, strict=True):
        terms, constant, weights = expected_estimates(world, fitted)
        for t, term in enumerate(terms):
            if (term.quantity, term.term) in estimates:
                rows.append(np.zeros_like(level))
                rows[-1][fitted] = weights[t]
                targets.append(estimates[term.quantity, term.term] - constant[t])
    rows = np.array(rows)
    inverse = np.linalg.pinv(rows.reshape(len(rows), -1))
    for _ in range(TURNS):
        level = level + (inverse @ (targets - np.tensordot(rows, level, 3))).reshape(level.shape)
        level = np.clip(level, *bounds)
    return level


def _parameters(
    level: np.ndarray,
    slope: np.ndarray,
    human: np.ndarray,
    family_of: np.ndarray,
    judge_of: np.ndarray,
) -> dict:
    """Intercept, slope, biases and preferences of a world with these mean ratings, (D, J, M).

    The intercept of a judge is such that its preferences for unrelated models (neither itself nor
    of its family) average 0; a family-bias is the mean over the family's judges and their other
    models.
    """
    own, siblings = relations(family_of, judge_of)
    beyond = level - slope[:, :, None] * human[:, None]
    unrelated = ~own & ~siblings
    intercept = (beyond * unrelated).sum(axis=2) / unrelated.sum(axis=1)
    beyond = beyond - intercept[:, :, None]
    pairs = [
        siblings & (family_of[judge_of] == family)[:, None] for family in range(family_of.max() + 1)
    ]
    family_bias = np.stack(
        [beyond[:, cells].sum(axis=1) / max(1, cells.sum()) for cells in pairs], axis=1
    )
    preference = np.where(
        own, 0.0, beyond - siblings * family_bias[:, family_of[judge_of]][..., None]
    )
    return {
        "intercept": intercept,
        "slope": slope,
        "self_bias": beyond[:, np.arange(len(judge_of)), judge_of],
        "family_bias": family_bias,
        "preference": preference,
    }


def _datasets(facts: _Facts, dimensions: tuple) -> dict:
    """Datasets with their prompts, and which dimension is rated on which."""
    rows = [row for row in facts if row["fact"] == "prompts"]
    only = {row["dimension"]: row["task_type"] for row in facts if row["fact"] == "task_type"}
    return {
        "datasets": tuple(row["term"] for row in rows),
        "prompts": np.array([int(row["value"]) for row in rows]),
        "rated": np.array(
            [
                [only.get(d, row["task_type"]) == row["task_type"] for row in rows]
                for d in dimensions
            ]
        ),
    }


def _absences(facts: _Facts, numbers: _Numbers, dimensions: tuple, names: tuple) -> dict:
    """Shares of completions without ratings, by dimension and judge."""
    counted = {row["dimension"] for row in facts if row["fact"] == "completions"}
    source = [name if name in counted else COUNTED_FOR_THE_REST for name in dimensions]
    size = numbers("facts", "value", fact=["completions"], dimension=source)[0]
    for_all = numbers("facts", "value", fact=["absent_for_all"], dimension=source)[0]
    absent = numbers("facts", "value", fact=["absent"], dimension=source, term=names)[0]
    return {"absent": absent / size[:, None], "absent_for_all": for_all / size}


def _lengths(facts: _Facts, numbers: _Numbers, names: tuple) -> Lengths:
    """Lengths of the published means and deviations: those of the normals after the cut to
    1..maximum.
    """
    types = [row["task_type"] for row in facts if row["fact"] == "prompts"]  # of each dataset
    tasks = tuple(dict.fromkeys(types))
    mean, deviation = numbers(
        "facts", "value", fact=["length_mean", "length_sd"], task_type=tasks, term=names
    )
    correlation = numbers("facts", "value", fact=["length_correlation"], task_type=tasks)[0]
    maximum = int(numbers("facts", "value", fact=["length_maximum"])[0])
    quantiles = np.array([NormalDist().inv_cdf((i + 0.5) / 500) for i in range(500)])
    location = mean
    spread = deviation
    for _ in range(100):
        cut = np.clip(location[..., None] + spread[..., None] * quantiles, 1, maximum)
        location = location + mean - cut.mean(axis=-1)
        spread = spread * deviation / cut.std(axis=-1)
    task_of = np.array([tasks.index(task_type) for task_type in types])
    return Lengths(
        task_of, location=location, spread=spread, correlation=correlation, maximum=maximum
    )


def _numbers(published: Mapping, table: str, value: str, **wanted: Sequence[str]) -> np.ndarray:
    """The numbers in column `value` of a table, one axis for each column of `wanted`, in the order
    given.
    """
    index = {tuple(row[column] for column in wanted): row[value] for row in published[table]}
    keys = list(product(*wanted.values()))
    for key in keys:
        if key not in index:
            absent = ", ".join(
                f"{column} {text!r}" for column, text in zip(wanted, key, strict=True)
            )
            raise DataError(
                f"{FILES[table]} has no row with {absent}; simulate what it has or add the row"
            )
    return np.array([float(index[key]) for key in keys]).reshape(
        [len(texts) for texts in wanted.values()]
    )
