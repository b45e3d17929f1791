"""Ratings drawn from a world whose Equation 1 coefficients are known.

The process, on the unit scale (raw rating / scale maximum K), in dimension d, for judge j and model m:

    quality q ~ Beta(mean h[d, m], sum of parameters quality_dispersion[d])
    three raters given q: BetaBinomial(K, mean q, sum of parameters rater_dispersion[d]), independent
    gt = mean of the three, rounded on the raw scale to 3 decimals as in the published files
    mu = intercept[d, j] + slope[d, j] gt / K + self_bias[d, j] 1[m == j]
         + family_bias[F(j)] 1[F(m) == F(j), m != j]
    rating ~ BetaBinomial(K, mean mu, sum of parameters dispersion[d, j]), independent

so E[rating / K | gt, j, m, d] = mu exactly, and the coefficients are those of Equation 1 of Play Favorites
(arXiv 2508.06709) fitted per dimension. Rows are absent completely at random; length does not enter ratings.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from judgebias.errors import ConfigError

RATERS = 3
GT_DECIMALS = 3  # the published files write 3.667
SMALLEST_DATASET = 2  # prompts: fewer leave a slice by dataset without any spread


@dataclass(frozen=True)
class World:
    """Everything that ratings are drawn from; the judges are the models, in the same order.

    Axes: D dimensions, M models (and judges), F families, S datasets, T task types. Biases, means and
    slopes are on the unit scale, lengths in tokens, shares between 0 and 1.
    """

    dimensions: tuple[str, ...]  # (D,)
    models: tuple[str, ...]  # (M,) display names
    families: tuple[str, ...]  # (F,)
    datasets: tuple[str, ...]  # (S,)
    family_of: np.ndarray  # (M,) index into families
    scale_maximum: np.ndarray  # (D,) K; the lowest rating is 0
    intercept: np.ndarray  # (D, M) by judge
    slope: np.ndarray  # (D, M) by judge
    self_bias: np.ndarray  # (D, M) by judge
    family_bias: np.ndarray  # (F,) the same in every dimension
    dispersion: np.ndarray  # (D, M) by judge: the larger, the nearer to binomial
    human_mean: np.ndarray  # (D, M) by model
    quality_dispersion: np.ndarray  # (D,)
    rater_dispersion: np.ndarray  # (D,)
    prompts: np.ndarray  # (S,) prompts of each dataset, in full
    tasks: tuple[str, ...]  # (T,) task types
    task_of: np.ndarray  # (S,) index into tasks
    rated: np.ndarray  # (D, S) True where the dimension is rated on the dataset
    absent: np.ndarray  # (D, M) share of completions without a rating by this judge
    absent_for_all: np.ndarray  # (D,) share of completions without any rating, human or not
    length_location: np.ndarray  # (T, M) mean of the normal that is cut to 1..length_maximum
    length_spread: np.ndarray  # (T, M) its standard deviation
    length_correlation: np.ndarray  # (T,) of two models' lengths on one prompt
    length_maximum: int


@dataclass(frozen=True)
class Simulated:
    """Two tables as columns, names in the order of the world.

    Ratings are sorted by dimension, judge, model, dataset and prompt number; raters by dimension, model,
    dataset, prompt number and rater.
    """

    ratings: dict[str, np.ndarray]  # judge, model, gt, dataset, prompt_id, rating, pred_length, dimension
    raters: dict[str, np.ndarray]  # model, dimension, dataset, prompt_id, rater (1, 2, 3), rating


def simulate(world: World, *, prompts: int, seed: int) -> Simulated:
    """Draw a study of `prompts` prompts from `world`; the same seed gives the same arrays.

    gt and ratings are on the raw scale of their dimension; a completion has one length in all dimensions.
    Raters' scores are a systematic sample: in a (dimension, model) each triple of scores comes as often as
    its probability says, to within one completion. So human means, Krippendorff's alpha and agreement are
    those of the world, while ratings, given gt, are independent draws.

    Raises ConfigError when `prompts` is too small for the world's datasets.
    """
    allocated = allocate(world, prompts)
    dataset_of = np.repeat(np.arange(len(world.datasets)), allocated)  # (prompts,)
    prompt_ids = [f"{name}_{i}" for name, n in zip(world.datasets, allocated, strict=True) for i in range(n)]
    streams = [np.random.Generator(np.random.PCG64(child)) for child in np.random.SeedSequence(seed).spawn(4)]
    for_raters, for_lengths, for_absence, for_ratings = streams
    length = _lengths(world, dataset_of, for_lengths)
    parts, rater_parts = [], []
    for d in range(len(world.dimensions)):
        asked = np.flatnonzero(world.rated[d, dataset_of])  # prompts of this dimension
        scores = _rater_scores(world, d, asked.size, for_raters)
        present, human = _presence(world, d, asked.size, for_absence)
        gt = np.round(scores.mean(axis=2), GT_DECIMALS)  # (models, asked)
        rating = _judge_scores(world, d, gt, for_ratings)
        judge, model, at = np.nonzero(present)
        prompt = asked[at]
        numbers = (gt[model, at], rating[judge, model, at], length[model, prompt])
        parts.append((np.full(at.size, d), judge, model, prompt, *numbers))
        model, at = np.nonzero(human)
        rater_parts.append((np.full(at.size, d), model, asked[at], scores[model, at]))
    where = (dataset_of, _texts(prompt_ids))
    return Simulated(_rating_columns(world, where, parts), _rater_columns(world, where, rater_parts))


def planted(world: World) -> list[dict]:
    """The true coefficients of Equation 1 per dimension: one row per slice (dimension), quantity and term.

    A family with one model has no term, as it has no rows of another model of the family.
    """
    rows = []
    for d, dimension in enumerate(world.dimensions):
        terms = [
            (quantity, judge, values[d, j])
            for quantity, values in (
                ("intercept", world.intercept),
                ("slope", world.slope),
                ("self_bias", world.self_bias),
            )
            for j, judge in enumerate(world.models)
        ]
        sizes = np.bincount(world.family_of, minlength=len(world.families))
        terms += [("family_bias", family, world.family_bias[f]) for f, family in enumerate(world.families) if sizes[f] > 1]
        rows += [
            {"slice": dimension, "quantity": quantity, "term": term, "planted": float(value)} for quantity, term, value in terms
        ]
    return rows


def biases(world: World) -> np.ndarray:
    """What each judge adds to each model: self-bias on the diagonal, family-bias on the rest of its family.

    Shape (D, judges, models), unit scale.
    """
    return bias_matrix(world.self_bias, world.family_bias[world.family_of], world.family_of)


def bias_matrix(self_bias: np.ndarray, family_bias: np.ndarray, family_of: np.ndarray) -> np.ndarray:
    """As `biases`, from self_bias (D, M), family_bias of each judge (M,) and family_of (M,)."""
    own = np.eye(family_of.size, dtype=bool)
    same_family = (family_of[:, None] == family_of) & ~own
    return own * self_bias[:, :, None] + same_family * family_bias[:, None]


def beta_binomial(mean: np.ndarray, dispersion: np.ndarray, maximum: int) -> np.ndarray:
    """Probabilities of 0..K under BetaBinomial(K, mean * dispersion, (1 - mean) * dispersion).

    P(k) = C(K, k) (a)_k (b)_{K-k} / (a + b)_K with rising factorials; the variance of k / K is
    mean (1 - mean) (1 + (K - 1) / (dispersion + 1)) / K. Arguments broadcast; shape (..., K + 1).
    """
    ways = np.array([comb(maximum, k) for k in range(maximum + 1)], dtype=float)
    up = _rising(mean * dispersion, maximum)
    down = _rising((1 - mean) * dispersion, maximum)
    weights = ways * up * down[..., ::-1]
    return weights / weights.sum(axis=-1, keepdims=True)


def beta_nodes(mean: float, dispersion: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (n,) for expectations under Beta(mean * dispersion, (1 - mean) * dispersion).

    Gauss-Jacobi quadrature on [0, 1], exact for polynomials up to degree 2n - 1 (Golub and Welsch 1969).
    """
    a, b = mean * dispersion, (1 - mean) * dispersion
    i = np.arange(1, n)
    twice = 2 * i + a + b - 2
    diagonal = np.r_[a / (a + b), 0.5 + 0.5 * (a - b) * (a + b - 2) / (twice * (twice + 2))]
    first = a * b / ((a + b) ** 2 * (a + b + 1))  # the general form is 0/0 there when a + b = 1
    j, twice = i[1:], twice[1:]
    rest = j * (j + a - 1) * (j + b - 1) * (j + a + b - 2) / (twice**2 * (twice + 1) * (twice - 1))
    off = np.sqrt(np.r_[first, rest][: n - 1])
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    return nodes, vectors[0] ** 2


def allocate(world: World, prompts: int) -> np.ndarray:
    """Share `prompts` among datasets in proportion to the world's, by largest remainder, two or more to each.

    Shape (S,). Raises ConfigError when there are fewer than two for each dataset.
    """
    least = SMALLEST_DATASET * len(world.datasets)
    if prompts < least:
        raise ConfigError(
            f"simulate: {{prompts: {prompts}}} is too few for {len(world.datasets)} datasets; write {least} or more"
        )
    quota = prompts * world.prompts / world.prompts.sum()
    allocated = np.floor(quota).astype(int)
    largest = np.argsort(allocated - quota, kind="stable")
    allocated[largest[: prompts - allocated.sum()]] += 1
    while allocated.min() < SMALLEST_DATASET:
        allocated[allocated.argmin()] += 1
        allocated[allocated.argmax()] -= 1
    return allocated


def _rising(start: np.ndarray, n: int) -> np.ndarray:
    """Products of the first 0..n of start, start + 1, ..., on a new last axis."""
    factors = np.asarray(start, dtype=float)[..., None] + np.arange(n)
    return np.concatenate([np.ones((*factors.shape[:-1], 1)), np.cumprod(factors, axis=-1)], axis=-1)


def _rater_scores(world: World, d: int, n: int, generator: np.random.Generator) -> np.ndarray:
    """Raw scores (models, n, raters): a systematic sample of triples ordered by sum, dealt at random."""
    maximum = int(world.scale_maximum[d])
    triples = np.indices((maximum + 1,) * RATERS).reshape(RATERS, -1).T
    triples = triples[np.argsort(triples.sum(axis=1), kind="stable")]
    scores = np.empty((len(world.models), n, RATERS), dtype=np.int64)
    for m, mean in enumerate(world.human_mean[d]):
        # The probability of a triple is a polynomial in q of degree RATERS * K, so this many nodes are exact.
        nodes, weights = beta_nodes(mean, world.quality_dispersion[d], RATERS * maximum // 2 + 1)
        single = beta_binomial(nodes, world.rater_dispersion[d], maximum)  # (nodes, K + 1)
        joint = weights @ single[:, triples].prod(axis=2)
        rank = (generator.permutation(n) + generator.random()) / n
        scores[m] = triples[np.searchsorted(np.cumsum(joint)[:-1], rank, side="right")]
    return scores


def _presence(world: World, d: int, n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which rows exist, (judges, models, n), and which completions have human scores, (models, n)."""
    size = len(world.models) * n
    order = generator.permutation(size)
    for_all = round(world.absent_for_all[d] * size)
    human = np.ones(size, dtype=bool)
    human[order[:for_all]] = False
    present = np.tile(human, (len(world.models), 1))
    for j, share in enumerate(world.absent[d]):
        further = round(share * size) - for_all
        present[j, generator.permutation(order[for_all:])[:further]] = False
    return present.reshape(-1, len(world.models), n), human.reshape(-1, n)


def _judge_scores(world: World, d: int, gt: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Raw ratings (judges, models, n) given gt (models, n), by inversion: one uniform for each."""
    maximum = int(world.scale_maximum[d])
    bias = biases(world)[d][:, :, None]
    mean = world.intercept[d][:, None, None] + world.slope[d][:, None, None] * gt / maximum + bias
    if mean.min() < 0 or mean.max() > 1:
        raise ConfigError(
            f"expected ratings on {world.dimensions[d]} run from {mean.min():.3f} to {mean.max():.3f}; "
            "choose intercepts, slopes and biases that keep them within 0 and 1"
        )
    below = np.cumsum(beta_binomial(mean, world.dispersion[d][:, None, None], maximum)[..., :-1], axis=-1)
    return (generator.random(mean.shape)[..., None] >= below).sum(axis=-1)


def _lengths(world: World, dataset_of: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Tokens (models, prompts): normals with a shared part by prompt, rounded and cut to the range."""
    task = world.task_of[dataset_of]
    shared = np.sqrt(world.length_correlation[task])
    own = np.sqrt(1 - world.length_correlation[task])
    of_prompt = generator.standard_normal(task.size)
    normal = shared * of_prompt + own * generator.standard_normal((len(world.models), task.size))
    tokens = world.length_location[task].T + world.length_spread[task].T * normal
    return np.clip(np.rint(tokens), 1, world.length_maximum).astype(np.int64)


def _texts(values) -> np.ndarray:
    return np.array(values, dtype=object)  # one pointer a row; fixed-width texts would take ten times the memory


def _rating_columns(world: World, where: tuple, parts: list) -> dict[str, np.ndarray]:
    d, judge, model, prompt, gt, rating, length = map(np.concatenate, zip(*parts, strict=True))
    dataset_of, prompt_ids = where
    models = _texts(world.models)
    return {
        "judge": models[judge],
        "model": models[model],
        "gt": gt,
        "dataset": _texts(world.datasets)[dataset_of[prompt]],
        "prompt_id": prompt_ids[prompt],
        "rating": rating,
        "pred_length": length,
        "dimension": _texts(world.dimensions)[d],
    }


def _rater_columns(world: World, where: tuple, parts: list) -> dict[str, np.ndarray]:
    d, model, prompt, scores = map(np.concatenate, zip(*parts, strict=True))
    dataset_of, prompt_ids = where
    return {
        "model": np.repeat(_texts(world.models)[model], RATERS),
        "dimension": np.repeat(_texts(world.dimensions)[d], RATERS),
        "dataset": np.repeat(_texts(world.datasets)[dataset_of[prompt]], RATERS),
        "prompt_id": np.repeat(prompt_ids[prompt], RATERS),
        "rater": np.tile(np.arange(1, RATERS + 1), d.size),
        "rating": scores.reshape(-1),
    }
