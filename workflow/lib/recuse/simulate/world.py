"""What a simulated study is drawn from: models, judges and their biases; the scores of its raters
and what they measure.

A world may be declared in config, as a placeholder for a study whose data are not at hand, or to
plan one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.random import Generator

from recuse.base.errors import ConfigError, check_known

TEAM_SIZE = 3  # raters of a completion, in each team
# Default dispersions: the raters' alpha is then about 0.5, and a judge's correlation with the human
# scores about 0.4.
DISPERSION = {"quality": 4.0, "raters": 8.0, "judges": 8.0}
PREFERENCES = 1  # the stream of their draws, apart from those of ratings
DATASET = "simulated"  # of a study that names no datasets


@dataclass(frozen=True, kw_only=True)
class JudgeParameters:
    """What a world that config declares plants in a judge."""

    self_bias: float = 0.0
    slope: float = 0.6
    intercept: float | None = None  # None: without biases, the judge's mean is the humans'


@dataclass(frozen=True)
class Lengths:
    """Lengths of completions in tokens: normals, correlated within a prompt, rounded and cut to
    1..maximum.
    """

    task_of: np.ndarray  # (S,) task type of each dataset, an index into T
    location: np.ndarray  # (T, M) mean of the normal that is cut
    spread: np.ndarray  # (T, M) its standard deviation
    correlation: np.ndarray  # (T,) of two models' lengths on one prompt
    maximum: int


@dataclass(frozen=True)
class World:
    """Everything that ratings are drawn from. Biases, means and slopes are on the unit scale,
    (rating - lowest) / K.

    Axes: D dimensions, M models, J judges, F families, S datasets.
    """

    dimensions: tuple[str, ...]  # (D,)
    models: tuple[str, ...]  # (M,) display names
    families: tuple[str, ...]  # (F,)
    datasets: tuple[str, ...]  # (S,)
    family_of: np.ndarray  # (M,) index into families
    judge_of: np.ndarray  # (J,) index into models: the models that judge
    scale_minimum: np.ndarray  # (D,) lowest rating
    scale_maximum: np.ndarray  # (D,) highest rating
    intercept: np.ndarray  # (D, J)
    slope: np.ndarray  # (D, J)
    self_bias: np.ndarray  # (D, J)
    family_bias: np.ndarray  # (D, F)
    preference: np.ndarray  # (D, J, M) of a judge for a model, beyond quality and biases
    dispersion: np.ndarray  # (D, J) the larger, the nearer to binomial
    human_mean: np.ndarray  # (D, M)
    quality_dispersion: np.ndarray  # (D,)
    rater_dispersion: np.ndarray  # (D,)
    gold_share: float  # of completions that the gold team scores
    # (D,) probability that the gold team scores the quality that the raters scored
    gold_insight: np.ndarray
    gold_dispersion: np.ndarray  # (D,)
    prompts: np.ndarray  # (S,) prompts of each dataset, in full
    rated: np.ndarray  # (D, S) True where the dimension is rated on the dataset
    absent: np.ndarray  # (D, J) share of completions without a rating by this judge
    absent_for_all: np.ndarray  # (D,) share of completions without any rating, human or not
    lengths: Lengths | None  # None: a study without lengths

    @property
    def judges(self) -> tuple[str, ...]:
        """Display names of the judges, (J,)."""
        return tuple(self.models[m] for m in self.judge_of)

    @property
    def levels(self) -> np.ndarray:
        """Highest less lowest rating of each dimension, (D,): K."""
        return self.scale_maximum - self.scale_minimum

    @property
    def reliability(self) -> np.ndarray:
        """Of human scores within a model, (D,)."""
        return reliability(self.quality_dispersion, self.rater_dispersion, self.levels)

    @property
    def biases(self) -> np.ndarray:
        """The bias of each judge for each model: self-bias for itself, family-bias for the rest of
        its family, (D, J, M).
        """
        return bias_matrix(self.self_bias, self.family_bias, self.family_of, self.judge_of)


def reliability(quality: np.ndarray, rater: np.ndarray, maximum: np.ndarray) -> np.ndarray:
    """Variance of quality as a share of that of the mean of three raters, the same in every model;
    arguments broadcast.

    1 / (1 + quality v / 3), with dispersions quality and rater and v = (1 + (K - 1) / (rater + 1))
    / K: the variance of a rater's score / K given quality q is q (1 - q) v.
    """
    return 1 / (1 + quality * (1 + (maximum - 1) / (rater + 1)) / maximum / TEAM_SIZE)


def bias_matrix(
    self_bias: np.ndarray, family_bias: np.ndarray, family_of: np.ndarray, judge_of: np.ndarray
) -> np.ndarray:
    """As `World.biases`, from self_bias (D, J), family_bias (D, F) or (F,), family_of (M,) and
    judge_of (J,).
    """
    own, same_family = relations(family_of, judge_of)
    return (
        own * self_bias[:, :, None] + same_family * family_bias[..., family_of[judge_of]][..., None]
    )


def relations(family_of: np.ndarray, judge_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which model is the judge itself, and which another of its family: two arrays of bool, (J,
    M).
    """
    own = judge_of[:, None] == np.arange(family_of.size)
    return own, (family_of[judge_of][:, None] == family_of) & ~own


def carried_families(family_of: np.ndarray, judge_of: np.ndarray) -> np.ndarray:
    """The families, indices in order, with a judge that rates another of their models."""
    _, same_family = relations(family_of, judge_of)
    return np.unique(family_of[judge_of][same_family.any(axis=1)])


def beta_binomial(mean: np.ndarray, dispersion: np.ndarray, maximum: int) -> np.ndarray:
    """Probabilities of 0..K under BetaBinomial(K, mean * dispersion, (1 - mean) * dispersion).

    P(k) = C(K, k) (a)_k (b)_{K-k} / (a + b)_K with rising factorials; the variance of k / K is
    mean (1 - mean) (1 + (K - 1) / (dispersion + 1)) / K. Arguments broadcast; shape (..., K + 1).

    >>> beta_binomial(np.array(0.5), np.array(2.0), 4).round(2)
    array([0.2, 0.2, 0.2, 0.2, 0.2])
    """
    ways = np.array([comb(maximum, k) for k in range(maximum + 1)], dtype=float)
    up = _rising(mean * dispersion, maximum)
    weights = ways * up * _rising((1 - mean) * dispersion, maximum)[..., ::-1]
    return weights / weights.sum(axis=-1, keepdims=True)


@lru_cache(maxsize=256)  # fits of a world ask for the same ones again
def beta_nodes(mean: float, dispersion: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (n,) for expectations under Beta(mean * dispersion, (1 - mean) *
    dispersion).

    Gauss-Jacobi quadrature on [0, 1], exact for polynomials up to degree 2n - 1 (Golub and Welsch
    1969).
    """
    a = mean * dispersion
    b = (1 - mean) * dispersion
    i = np.arange(1, n)
    twice = 2 * i + a + b - 2
    diagonal = np.r_[a / (a + b), 0.5 + 0.5 * (a - b) * (a + b - 2) / (twice * (twice + 2))]
    first = a * b / ((a + b) ** 2 * (a + b + 1))  # the general form is 0/0 there when a + b = 1
    j = i[1:]
    twice = twice[1:]
    rest = j * (j + a - 1) * (j + b - 1) * (j + a + b - 2) / (twice**2 * (twice + 1) * (twice - 1))
    off = np.sqrt(np.r_[first, rest][: n - 1])
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    weights = vectors[0] ** 2
    for values in (nodes, weights):
        values.setflags(write=False)
    return nodes, weights


def quality_values(mean: float, dispersion: float, maximum: int) -> tuple[np.ndarray, np.ndarray]:
    """Values that the quality of a model's completions takes, and their probabilities, (values,)
    each.

    They stand for Beta(mean * dispersion, (1 - mean) * dispersion): the mean, the variance and the
    probability of every triple of raters' scores, a polynomial in quality of degree TEAM_SIZE * K,
    are those of the beta distribution.
    """
    return beta_nodes(mean, dispersion, TEAM_SIZE * maximum // 2 + 1)


def _rising(start: np.ndarray, n: int) -> np.ndarray:
    """Products of the first 0..n of start, start + 1, ..., on a new last axis."""
    factors = np.asarray(start, dtype=float)[..., None] + np.arange(n)
    return np.concatenate(
        [np.ones((*factors.shape[:-1], 1)), np.cumprod(factors, axis=-1)], axis=-1
    )


def rater_scores(world: World, d: int, n: int, generator: Generator) -> np.ndarray:
    """Draw the raters' scores in dimension d, 0 to K, of n completions of each model, (models, n,
    raters).

    They are a systematic sample of triples ordered by their sum, assigned at random: the frequency
    of each triple equals its expected value to within one completion.
    """
    maximum = int(world.levels[d])
    triples = np.indices((maximum + 1,) * TEAM_SIZE).reshape(TEAM_SIZE, -1).T
    triples = triples[np.argsort(triples.sum(axis=1), kind="stable")]
    scores = np.empty((len(world.models), n, TEAM_SIZE), dtype=np.int64)
    for m, mean in enumerate(world.human_mean[d]):
        values, weights = quality_values(mean, world.quality_dispersion[d], maximum)
        single = beta_binomial(values, world.rater_dispersion[d], maximum)  # (values, K + 1)
        joint = weights @ single[:, triples].prod(axis=2)
        rank = (generator.permutation(n) + generator.random()) / n
        scores[m] = triples[np.searchsorted(np.cumsum(joint)[:-1], rank, side="right")]
    return scores


def qualities(world: World, d: int, scores: np.ndarray, generator: Generator) -> np.ndarray:
    """Draw the quality of completions in dimension d, (models, n), given the raters' scores of
    them, (models, n, raters).

    Together with `rater_scores` this is as if quality had been drawn first and scored then.
    """
    maximum = int(world.levels[d])
    quality = np.empty(scores.shape[:2])
    for m, mean in enumerate(world.human_mean[d]):
        values, weights = quality_values(mean, world.quality_dispersion[d], maximum)
        single = beta_binomial(values, world.rater_dispersion[d], maximum)
        posterior = weights * single[:, scores[m]].prod(axis=2).T  # (n, values)
        quality[m] = values[_place(posterior, generator.random(len(posterior)))]
    return quality


def gold_scores(
    world: World, d: int, model: np.ndarray, quality: np.ndarray, generator: Generator
) -> np.ndarray:
    """Draw the gold team's scores in dimension d, 0 to K, (completions, raters), of completions of
    known quality.

    model and quality: (completions,). The team scores this quality with probability
    gold_insight[d], else another draw.
    """
    maximum = int(world.levels[d])
    seen = quality.copy()
    drawn = generator.random((len(model), 2 + TEAM_SIZE))
    for m in np.unique(model):
        values, weights = quality_values(
            world.human_mean[d, m], world.quality_dispersion[d], maximum
        )
        other = (model == m) & (drawn[:, 0] >= world.gold_insight[d])
        seen[other] = values[_place(weights, drawn[other, 1])]
    single = beta_binomial(seen, world.gold_dispersion[d], maximum)  # (completions, K + 1)
    return np.stack([_place(single, uniform) for uniform in drawn[:, 2:].T], axis=1)


def _place(weights: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw a place in the last axis of weights, with probability in proportion to them, by
    inversion of uniform (n,).
    """
    below = np.cumsum(weights, axis=-1)
    return (uniform[:, None] * below[..., -1:] >= below[..., :-1]).sum(axis=-1)


def declared_world(
    settings: Mapping,
    *,
    models: Mapping[str, str],
    scales: Mapping[str, Sequence[int]],
    task_types: Mapping,
    seed: int,
) -> World:
    """Return the world that a study's `simulate` declares, the same in each of its dimensions.

    settings: `quality`, the mean quality of each model on the unit scale; `judges`, those of the
    models that judge, each with `JudgeParameters`, the intercept (1 - slope) x mean quality by
    default, so that the judge's mean without biases is the humans'; `family_bias` by family
    (0); `preference`, the standard deviation of judges' preferences for models (0), normal draws
    with `seed`, one for each judge and model, itself included; `dispersion` of `quality`, `raters`
    and `judges`, the larger, the less they vary (DISPERSION). models: name -> family; the models of
    `quality` keep their order. scales: dimension -> [lowest, highest]. task_types: task type ->
    datasets, which share the prompts equally; {} is one dataset. Every completion is rated by three
    raters and all judges; there are no lengths and no gold team.

    ConfigError, naming the key, for an unknown name, a family-bias that no rows would carry, a
    scale that is not two numbers, and an expected rating off the scale.
    """
    quality = settings["quality"]
    place = "the models of config; add it under `models:` with its family"
    check_known(["simulate", "quality"], quality, models, place)
    check_known(["simulate", "judges"], settings["judges"], quality, "the models of `quality`")
    for dimension, scale in scales.items():
        if isinstance(scale, str):
            raise ConfigError(
                f"scales: {dimension}: {scale} cannot be simulated; write [lowest, highest], such"
                " as [1, 5]"
            )
    lowest, highest = np.array(list(scales.values())).T
    names = tuple(name for name in models if name in quality)
    judges = {
        name: JudgeParameters(**settings["judges"][name])
        for name in names
        if name in settings["judges"]
    }
    families = tuple(dict.fromkeys(models[name] for name in names))
    family_of = np.array([families.index(models[name]) for name in names])
    judge_of = np.array([names.index(judge) for judge in judges])
    family_bias = settings.get("family_bias", {})
    carried = [families[family] for family in carried_families(family_of, judge_of)]
    place = "the families of which a judge rates another model; leave out any other family"
    check_known(["simulate", "family_bias"], family_bias, carried, place)
    human = np.array([quality[name] for name in names], dtype=float)
    intercept = [
        (1 - judge.slope) * human.mean() if judge.intercept is None else judge.intercept
        for judge in judges.values()
    ]
    preference = np.random.default_rng((seed, PREFERENCES)).normal(
        scale=settings.get("preference", 0.0), size=(len(judges), len(names))
    )
    datasets = tuple(dataset for group in task_types.values() for dataset in group) or (DATASET,)
    dispersion = DISPERSION | dict(settings.get("dispersion", {}))
    everywhere = np.ones((len(scales), 1))  # all dimensions are alike
    by_dimension = everywhere[:, 0]
    world = World(
        dimensions=tuple(scales),
        models=names,
        families=families,
        datasets=datasets,
        family_of=family_of,
        judge_of=judge_of,
        scale_minimum=lowest,
        scale_maximum=highest,
        intercept=everywhere * intercept,
        slope=everywhere * [judge.slope for judge in judges.values()],
        self_bias=everywhere * [judge.self_bias for judge in judges.values()],
        family_bias=everywhere * [family_bias.get(family, 0.0) for family in families],
        preference=everywhere[..., None] * preference,
        dispersion=np.full((len(scales), len(judges)), dispersion["judges"]),
        human_mean=everywhere * human,
        quality_dispersion=by_dimension * dispersion["quality"],
        rater_dispersion=by_dimension * dispersion["raters"],
        gold_share=0.0,
        gold_insight=by_dimension,
        gold_dispersion=by_dimension,
        prompts=np.ones(len(datasets)),
        rated=np.ones((len(scales), len(datasets)), dtype=bool),
        absent=np.zeros((len(scales), len(judges))),
        absent_for_all=np.zeros(len(scales)),
        lengths=None,
    )
    _check_expected(world)
    return world


def _check_expected(world: World) -> None:
    """Raise ConfigError unless every judge's expected rating is on the scale, whatever the
    quality.
    """
    for j, judge in enumerate(world.judges):
        bias = world.biases[0, j] + world.preference[0, j]
        ends = world.intercept[0, j] + world.slope[0, j] * np.array([0.0, 1.0])
        low = ends.min() + bias.min()
        high = ends.max() + bias.max()
        if low < 0 or high > 1:
            raise ConfigError(
                f"simulate: judges: {judge}: expected ratings run from {low:.3f} to {high:.3f} of"
                f" the unit scale (intercept {ends[0]:.3f}, slope {world.slope[0, j]:.3f}, biases"
                f" and preferences from {bias.min():.3f} to {bias.max():.3f}); choose an intercept,"
                " a slope, biases and a preference that keep them within 0 and 1"
            )
