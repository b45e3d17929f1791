"""Rank-biased overlap of two rankings of the same systems."""

import numpy as np

PERSISTENCE = 0.8  # of CoBBLEr


def places(wins: np.ndarray) -> np.ndarray:
    """Place of each system, 0 for the one with most wins; systems with equal wins stand in the order of their columns.

    wins: (..., systems). Returns integers of the same shape.

    >>> places(np.array([3, 7, 3]))
    array([1, 0, 2])
    """
    ranking = np.argsort(-wins, axis=-1, kind="stable")
    return np.argsort(ranking, axis=-1, kind="stable")


def rank_biased_overlap(
    first: np.ndarray, second: np.ndarray, *, extrapolated: bool, persistence: float = PERSISTENCE
) -> np.ndarray:
    """Rank-biased overlap of rankings that rank the same k systems (Webber, Moffat and Zobel 2010, equations 4 and 23).

    truncated: (1 - p) sum_{d=1..k} p^(d-1) A_d, where A_d is the share of the d best of one that are among the d best of the
    other; it cannot exceed 1 - p^k. extrapolated: with p^k A_k more, and A_k = 1 as both rank the same systems.

    first, second: places from 0, (..., systems), of shapes that fit together. Returns (...). A system is among the d best of
    both from the deeper of its two places on, so it adds (1 - p) sum_{d > deeper place} p^(d-1) / d: no loop over depths.
    ValueError unless each ranking holds every place once.

    >>> float(rank_biased_overlap(np.array([0, 1]), np.array([1, 0]), extrapolated=True).round(2))
    0.8
    """
    systems = first.shape[-1]
    for ranking in (first, second):
        if ranking.shape[-1] != systems or (np.sort(ranking, axis=-1) != np.arange(systems)).any():
            raise ValueError(f"a ranking of {systems} systems must hold each of the places 0 to {systems - 1} once")
    depth = np.arange(1, systems + 1)
    of_depth = (1 - persistence) * persistence ** (depth - 1) / depth
    of_place = np.cumsum(of_depth[::-1])[::-1]
    truncated = of_place[np.maximum(first, second)].sum(axis=-1)
    return truncated + persistence**systems if extrapolated else truncated
