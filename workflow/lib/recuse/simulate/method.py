"""The method on simulated data: three worlds with one self-bias and different quality (Play Favorites, Figure 1)."""

from dataclasses import dataclass

import numpy as np

SLOPE = 0.8  # beta of the figure
SELF_BIAS = 0.25  # gamma of the figure
NOISE = 0.06  # standard deviation of a rating about its line
COMPLETIONS = 150  # of the judge, and of the other model
CONCENTRATION = 12.0  # a + b of the Beta distributions of the reference scores
WORLDS = (  # title, and mean reference score of the judge's own completions and of the other model's
    ("Own completions worse", 0.35, 0.65),
    ("Own completions as good", 0.5, 0.5),
    ("Own completions better", 0.65, 0.35),
)


@dataclass(frozen=True)
class Panel:
    """Ratings by one judge of its own completions and of another model's, and the fit of the method to them."""

    title: str
    reference: np.ndarray  # (2, completions): reference scores of the judge's own completions, and of the other model's
    rating: np.ndarray  # (2, completions): what the judge gives them
    slope: float  # estimate of beta
    self_bias: float  # estimate of gamma

    @property
    def gap(self) -> float:
        """Mean rating of the own completions less that of the other model's: what a look at the ratings alone shows."""
        own, other = self.rating.mean(axis=1)
        return float(own - other)


def simulate_worlds(*, seed: int) -> list[Panel]:
    """Draw the three worlds, and estimate slope and self-bias in each by least squares; the same seed gives the same.

    rating = beta * reference + gamma * 1[own completion] + e, with beta = 0.8, gamma = 0.25, e ~ N(0, 0.06^2), no intercept,
    and Beta-distributed reference scores. Source: Play Favorites (arXiv 2508.06709), Figure 1 and section 3, which fix beta and
    gamma alone; the rest is chosen here.
    """
    generator = np.random.default_rng(seed)
    return [_world(title, np.array([own, other]), generator) for title, own, other in WORLDS]


def _world(title: str, means: np.ndarray, generator: np.random.Generator) -> Panel:
    a, b = CONCENTRATION * means[:, None], CONCENTRATION * (1 - means[:, None])
    reference = generator.beta(a, b, size=(2, COMPLETIONS))
    own = np.array([[1.0], [0.0]]) * np.ones(COMPLETIONS)
    rating = SLOPE * reference + SELF_BIAS * own + NOISE * generator.standard_normal(reference.shape)
    design = np.column_stack([reference.ravel(), own.ravel()])
    slope, self_bias = np.linalg.lstsq(design, rating.ravel(), rcond=None)[0]
    return Panel(title, reference, rating, float(slope), float(self_bias))
