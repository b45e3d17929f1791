"""Ratings drawn from a world whose biases are known, and the three small worlds that illustrate the
method.

The process, on the unit scale ((raw rating - lowest) / K, K = highest - lowest), in dimension d,
for judge j and model m:

    quality q ~ Beta(mean h[d, m], sum of parameters quality_dispersion[d]),
        on the few values of `quality_values`
    three raters given q ~ BetaBinomial(K, mean q, sum of parameters rater_dispersion[d]),
        independent
    gt = mean of the three, rounded on the raw scale to 3 decimals as in the published files
    mu = intercept[d, j] + slope[d, j] q + preference[d, j, m]
       + self_bias[d, j] 1[m == j] + family_bias[d, F(j)] 1[F(m) == F(j), m != j]
    rating ~ BetaBinomial(K, mean mu, sum of parameters dispersion[d, j]), independent

so judges rate the quality that the human raters measure with error. Equation 1 of Play Favorites
(arXiv 2508.06709), a fit to gt, then does not estimate these biases but what
`recuse.papers.twin.expected_estimates` says. Rows are absent completely at random; length does not
enter ratings.

A random share gold_share of the completions is also scored by a gold team of three:

    r = q with probability gold_insight[d], else another draw from the Beta of q
    three gold raters given r ~ BetaBinomial(K, mean r, sum of parameters gold_dispersion[d]),
        independent
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from recuse.base.errors import ConfigError
from recuse.base.log import steps
from recuse.base.tables import column_names
from recuse.data.registry import GOLD, RATERS
from recuse.simulate.votes import named
from recuse.simulate.world import (
    TEAM_SIZE,
    Lengths,
    World,
    beta_binomial,
    carried_families,
    gold_scores,
    qualities,
    rater_scores,
)

PLANTED = column_names("slice quantity term model planted")

GT_DECIMALS = 3  # the published files write 3.667
SMALLEST_DATASET = 2  # prompts: fewer leave a slice by dataset without any spread


@dataclass(frozen=True)
class Simulated:
    """Two tables as columns, sorted by team (gold last), dimension, judge, model, dataset, prompt
    number and rater.

    Without lengths in the world there is no pred_length.
    """

    # Judge, model, gt, dataset, prompt_id, rating, pred_length, dimension
    ratings: dict[str, np.ndarray]
    # Model, dimension, dataset, prompt_id, team, rater (1, 2, 3), rating
    raters: dict[str, np.ndarray]


def simulate(world: World, *, prompts: int, seed: int) -> Simulated:
    """Draw a study of `prompts` prompts from `world`; the same seed gives the same arrays.

    gt and ratings are on the raw scale of their dimension; a completion has one length in all
    dimensions. Raters' scores are a systematic sample (see `rater_scores`), so human means,
    Krippendorff's alpha and agreement are those of the world; quality given these scores, and
    ratings given quality, are independent draws. ConfigError if `prompts` is too small for the
    world's datasets.
    """
    allocated = allocate(world, prompts)
    dataset_of = np.repeat(np.arange(len(world.datasets)), allocated)  # (prompts,)
    prompt_ids = [
        f"{name}_{i}" for name, n in zip(world.datasets, allocated, strict=True) for i in range(n)
    ]
    streams = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(6))
    for_raters, for_lengths, for_absence, for_ratings, for_gold, for_quality = streams
    lengths = (
        [] if world.lengths is None else [_draw_lengths(world.lengths, dataset_of, for_lengths)]
    )
    size = len(world.models) * prompts
    gold = np.zeros(size, dtype=bool)  # completions that the gold team scores
    gold[for_gold.permutation(size)[: round(world.gold_share * size)]] = True
    gold = gold.reshape(-1, prompts)  # (models, prompts)
    parts = []
    team = []
    gold_team = []
    for d in steps(range(len(world.dimensions)), "simulation", unit="dimensions"):
        asked = np.flatnonzero(world.rated[d, dataset_of])  # prompts of this dimension
        scores = rater_scores(world, d, asked.size, for_raters)  # (models, asked, raters), from 0
        present, human = _presence(world, d, asked.size, for_absence)
        # (models, asked)
        gt = np.round((scores + world.scale_minimum[d]).mean(axis=2), GT_DECIMALS)
        quality = qualities(world, d, scores, for_quality)  # (models, asked)
        rating = _judge_scores(world, d, quality, for_ratings)
        judge, model, at = np.nonzero(present)
        prompt = asked[at]
        numbers = (
            gt[model, at],
            rating[judge, model, at],
            *(each[model, prompt] for each in lengths),
        )
        parts.append((np.full(at.size, d), judge, model, prompt, *numbers))
        model, at = np.nonzero(human)
        team.append((np.full(at.size, d), model, asked[at], scores[model, at]))
        model, at = np.nonzero(human & gold[:, asked])
        gold_team.append(
            (
                np.full(at.size, d),
                model,
                asked[at],
                gold_scores(world, d, model, quality[model, at], for_gold),
            )
        )
    where = (dataset_of, prompt_ids)
    teams = [
        _rater_columns(world, where, scored, name)
        for scored, name in ((team, RATERS), (gold_team, GOLD))
    ]
    raters = {column: np.concatenate([columns[column] for columns in teams]) for column in teams[0]}
    return Simulated(_rating_columns(world, where, parts), raters)


def planted(world: World) -> list[dict]:
    """The world's parameters: one row per slice (dimension), quantity, term (judge or family) and
    model.

    Besides the coefficients: each judge's preferences for models, and of the human scores the mean
    quality of each model and their reliability within a model, which say what a fit to these scores
    estimates.
    """
    carried = carried_families(world.family_of, world.judge_of)
    by_judge = (
        ("intercept", world.intercept),
        ("slope", world.slope),
        ("self_bias", world.self_bias),
    )
    rows = []
    for d, dimension in enumerate(world.dimensions):
        terms = [
            (name, judge, "", values[d, j])
            for name, values in by_judge
            for j, judge in enumerate(world.judges)
        ]
        terms += [("family_bias", world.families[f], "", world.family_bias[d, f]) for f in carried]
        pairs = product(enumerate(world.judges), enumerate(world.models))
        terms += [
            ("preference", judge, model, world.preference[d, j, m])
            for (j, judge), (m, model) in pairs
        ]
        terms += [
            ("quality", "", model, mean)
            for model, mean in zip(world.models, world.human_mean[d], strict=True)
        ]
        terms += [("reliability", "", "", world.reliability[d])]
        rows += [dict(zip(PLANTED, (dimension, *term), strict=True)) for term in terms]
    return rows


def allocate(world: World, prompts: int) -> np.ndarray:
    """Share `prompts` among datasets in proportion to the world's, by largest remainder, two or
    more to each.

    Shape (S,). Raises ConfigError if there are fewer than two for each dataset.
    """
    least = SMALLEST_DATASET * len(world.datasets)
    if prompts < least:
        raise ConfigError(
            f"simulate: {{prompts: {prompts}}} is too few for {len(world.datasets)} datasets; write"
            f" {least} or more"
        )
    quota = prompts * world.prompts / world.prompts.sum()
    allocated = np.floor(quota).astype(int)
    largest = np.argsort(allocated - quota, kind="stable")
    allocated[largest[: prompts - allocated.sum()]] += 1
    while allocated.min() < SMALLEST_DATASET:
        allocated[allocated.argmin()] += 1
        allocated[allocated.argmax()] -= 1
    return allocated


def _presence(world: World, d: int, n: int, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which rows exist, (judges, models, n), and which completions have human scores, (models,
    n).
    """
    size = len(world.models) * n
    order = generator.permutation(size)
    for_all = round(world.absent_for_all[d] * size)
    human = np.ones(size, dtype=bool)
    human[order[:for_all]] = False
    present = np.tile(human, (len(world.judge_of), 1))
    for j, share in enumerate(world.absent[d]):
        further = round(share * size) - for_all
        present[j, generator.permutation(order[for_all:])[:further]] = False
    return present.reshape(-1, len(world.models), n), human.reshape(-1, n)


def _judge_scores(world: World, d: int, quality: np.ndarray, generator: Generator) -> np.ndarray:
    """Raw ratings (judges, models, n) given quality (models, n), by inversion: one uniform for
    each.
    """
    lowest = world.scale_minimum[d]
    maximum = int(world.levels[d])
    beyond = world.biases[d] + world.preference[d]
    mean = (
        world.intercept[d][:, None, None]
        + world.slope[d][:, None, None] * quality
        + beyond[:, :, None]
    )
    if mean.min() < 0 or mean.max() > 1:
        raise ConfigError(
            f"expected ratings on {world.dimensions[d]} run from {mean.min():.3f} to"
            f" {mean.max():.3f}; choose intercepts, slopes and biases that keep them within 0 and 1"
        )
    below = np.cumsum(
        beta_binomial(mean, world.dispersion[d][:, None, None], maximum)[..., :-1], axis=-1
    )
    return lowest + (generator.random(mean.shape)[..., None] >= below).sum(axis=-1)


def _draw_lengths(lengths: Lengths, dataset_of: np.ndarray, generator: Generator) -> np.ndarray:
    """Tokens (models, prompts)."""
    task = lengths.task_of[dataset_of]
    shared = np.sqrt(lengths.correlation[task])
    apart = np.sqrt(1 - lengths.correlation[task])
    of_prompt = generator.standard_normal(task.size)
    normal = shared * of_prompt + apart * generator.standard_normal(
        (lengths.location.shape[1], task.size)
    )
    tokens = lengths.location[task].T + lengths.spread[task].T * normal
    return np.clip(np.rint(tokens), 1, lengths.maximum).astype(np.int64)


def _rating_columns(world: World, where: tuple, parts: list) -> dict[str, np.ndarray]:
    d, judge, model, prompt, gt, rating, *lengths = map(np.concatenate, zip(*parts, strict=True))
    dataset_of, prompt_ids = where
    return {
        "judge": named(world.judges, judge),
        "model": named(world.models, model),
        "gt": gt,
        "dataset": named(world.datasets, dataset_of[prompt]),
        "prompt_id": named(prompt_ids, prompt),
        "rating": rating,
        **({"pred_length": lengths[0]} if lengths else {}),
        "dimension": named(world.dimensions, d),
    }


def _rater_columns(world: World, where: tuple, parts: list, team: str) -> dict[str, np.ndarray]:
    d, model, prompt, scores = map(np.concatenate, zip(*parts, strict=True))
    dataset_of, prompt_ids = where
    of_completions = {
        "model": named(world.models, model),
        "dimension": named(world.dimensions, d),
        "dataset": named(world.datasets, dataset_of[prompt]),
        "prompt_id": named(prompt_ids, prompt),
        "team": np.full(d.size, team, dtype=object),
    }
    return {
        **{column: np.repeat(values, TEAM_SIZE) for column, values in of_completions.items()},
        "rater": np.tile(np.arange(1, TEAM_SIZE + 1), d.size),
        "rating": (scores + world.scale_minimum[d][:, None]).reshape(-1),
    }


SLOPE, SELF_BIAS = 0.8, 0.25  # beta and gamma of Figure 1 of Play Favorites
NOISE = 0.06  # standard deviation of a rating about its line
COMPLETIONS = 150  # of the judge, and of the other model
CONCENTRATION = 12.0  # a + b of the Beta distributions of the reference scores
# One self-bias, different quality: title, and mean reference score of the judge's own completions
# and of the other model's.
WORLDS = (
    ("Own completions worse", 0.35, 0.65),
    ("Own completions as good", 0.5, 0.5),
    ("Own completions better", 0.65, 0.35),
)


@dataclass(frozen=True)
class SimulatedPanel:
    """Ratings by one judge of its own completions and of another model's, and the fit of the method
    to them.
    """

    title: str
    # (2, completions): reference scores of the judge's own completions, and of the other model's
    reference: np.ndarray
    rating: np.ndarray  # (2, completions): what the judge gives them
    slope: float  # estimate of beta
    self_bias: float  # estimate of gamma

    @property
    def gap(self) -> float:
        """Mean rating of the own completions less that of the other model's, without regard to
        quality.
        """
        own, other = self.rating.mean(axis=1)
        return float(own - other)


def simulate_worlds(*, seed: int) -> list[SimulatedPanel]:
    """Draw the three worlds, and estimate slope and self-bias in each by least squares; the same
    seed gives the same.

    rating = beta * reference + gamma * 1[own completion] + e, with beta = 0.8, gamma = 0.25, e ~
    N(0, 0.06^2), no intercept, and Beta-distributed reference scores. Source: Play Favorites (arXiv
    2508.06709), Figure 1 and section 3, which fix beta and gamma alone; the rest is chosen here.
    """
    generator = np.random.default_rng(seed)
    own = np.array([[1.0], [0.0]]) * np.ones(COMPLETIONS)
    panels = []
    for title, *means in WORLDS:
        mean = np.array(means)[:, None]
        reference = generator.beta(
            CONCENTRATION * mean, CONCENTRATION * (1 - mean), size=(2, COMPLETIONS)
        )
        rating = (
            SLOPE * reference + SELF_BIAS * own + NOISE * generator.standard_normal(reference.shape)
        )
        design = np.column_stack([reference.ravel(), own.ravel()])
        slope, self_bias = np.linalg.lstsq(design, rating.ravel(), rcond=None)[0]
        panels.append(SimulatedPanel(title, reference, rating, float(slope), float(self_bias)))
    return panels
