"""The beta-binomial distribution of scores, and exact expectations over a beta distribution of quality."""

from math import comb

import numpy as np


def beta_binomial(mean: np.ndarray, dispersion: np.ndarray, maximum: int) -> np.ndarray:
    """Probabilities of 0..K under BetaBinomial(K, mean * dispersion, (1 - mean) * dispersion).

    P(k) = C(K, k) (a)_k (b)_{K-k} / (a + b)_K with rising factorials; the variance of k / K is
    mean (1 - mean) (1 + (K - 1) / (dispersion + 1)) / K. Arguments broadcast; shape (..., K + 1).

    >>> beta_binomial(np.array(0.5), np.array(2.0), 4).round(2)
    array([0.2, 0.2, 0.2, 0.2, 0.2])
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


def _rising(start: np.ndarray, n: int) -> np.ndarray:
    """Products of the first 0..n of start, start + 1, ..., on a new last axis."""
    factors = np.asarray(start, dtype=float)[..., None] + np.arange(n)
    return np.concatenate([np.ones((*factors.shape[:-1], 1)), np.cumprod(factors, axis=-1)], axis=-1)
