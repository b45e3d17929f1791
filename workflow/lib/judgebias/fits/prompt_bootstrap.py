"""Bootstrap by prompt of a linear fit: resampled totals of the prompts' Gram matrices instead of refits on resampled rows."""

from collections.abc import Iterator

import numpy as np

from judgebias.fits.linear import Solution, determined, inverted
from judgebias.fits.prompt_sums import gram_places, gram_weights, mapped, score_weights

PROMPTS, REPLICATES = 1024, 250  # drawn at a time: of these depends which resamples a seed gives, and what memory they take
CORNER = 1e300  # above any sum of squares that Cholesky's method takes from it
SINGULAR = 1e-9  # share of a term's variation that the terms before it leave: below it, a replicate is looked at by itself


class PromptBootstrap:
    """Refits of one slice to resamples of its prompts, which come a few at a time, each with all its rows.

    A replicate draws as many prompts as there are, with replacement, each with all its rows, so that prompt p counts c_p
    times; its coefficients are b + (sum c_p G_p)^-1 (sum c_p s_p), with G_p = X'X and s_p = X'(y - X b) over the rows of p
    and b the fit to all rows. What is held is a total for each replicate, whatever the number of prompts.
    Source: Efron and Tibshirani (1993); Cameron, Gelbach and Miller (2008), the pairs cluster bootstrap.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, *, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice.

        prompts: how many with rows in the slice will come.
        """
        self._solution, self._left = solution, prompts
        self._places = gram_places(layouts)
        weights = gram_weights(layouts, self._places), score_weights(layouts, solution.estimate)
        self._weights = np.concatenate(weights, axis=-1)  # (products, cells, entries of G and of s)
        self._totals = np.zeros((replicates, self._weights.shape[-1]))
        self._resamples = resamples(prompts, replicates=replicates, seed=seed)
        self._held = np.empty((0, self._weights.shape[-1]))

    def add(self, sums: np.ndarray) -> None:
        """Add the next prompts; sums: (prompts, products, cells), as by `sum_by_prompt`."""
        self._held = np.concatenate([self._held, mapped(sums, self._weights)])
        while len(self._held) and len(self._held) >= min(PROMPTS, self._left):
            values, self._held = self._held[:PROMPTS], self._held[PROMPTS:]
            for start in range(0, len(self._totals), REPLICATES):
                self._totals[start : start + REPLICATES] += next(self._resamples) @ values
            self._left -= len(values)

    def estimates(self) -> np.ndarray:
        """Coefficients of each replicate, (replicates, terms); NaN where its prompts do not determine one."""
        shifts = [
            _shifts(self._totals[start : start + REPLICATES], self._places, self._solution.null)
            for start in range(0, len(self._totals), REPLICATES)
        ]
        return np.where(self._solution.identified, self._solution.estimate + np.concatenate(shifts), np.nan)


def resamples(prompts: int, *, replicates: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often each replicate draws each prompt, in pieces of at most (REPLICATES, PROMPTS): of the first prompts
    for all replicates, then of the next. The same seed and numbers give the same draws, in whatever slice of whatever spec.
    """
    undrawn = np.full(replicates, prompts)  # prompts that a replicate has yet to draw
    for piece, first in enumerate(range(0, prompts, PROMPTS)):
        count = min(PROMPTS, prompts - first)
        totals = _generator(seed, piece).binomial(undrawn, count / (prompts - first))
        undrawn -= totals
        for start in range(0, replicates, REPLICATES):
            times = totals[start : start + REPLICATES]
            drawn = _generator(seed, piece, start).integers(count, size=times.sum())
            drawn += np.repeat(np.arange(len(times)) * count, times)
            yield np.bincount(drawn, minlength=len(times) * count).reshape(len(times), count).astype(float)


def _generator(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _shifts(totals: np.ndarray, places: tuple[np.ndarray, np.ndarray], null: np.ndarray) -> np.ndarray:
    """Solve each replicate's G shift = s, (replicates, terms); NaN where G does not determine it.

    totals: (replicates, entries + terms), the entries of G at `places`, on and above its diagonal, then s. null: (terms,
    directions) without information in any replicate: filling them up leaves what is determined as it is.
    """
    row, column = places
    entries, scores = np.split(totals, [len(row)], axis=1)
    scale = 1 / np.sqrt(np.where((diagonal := entries[:, row == column]) > 0, diagonal, 1.0))
    terms = scores.shape[1]
    # The scores as one more row: the factor ends with their forward substitution. Cholesky's method reads the lower triangle.
    scaled = np.zeros((len(totals), terms + 1, terms + 1))
    scaled[:, column, row] = entries * scale[:, row] * scale[:, column]
    if null.size:
        scaled[:, :terms, :terms] += null @ null.T
    scaled[:, terms, :terms], scaled[:, terms, terms] = scores * scale, CORNER
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:  # of one replicate at least: numpy does not say which
        if len(totals) == 1:
            return _singular_shift(entries[0], places, scores[0])[None]
        half = len(totals) // 2
        return np.concatenate([_shifts(totals[part], places, null) for part in (slice(half), slice(half, None))])
    shifts = _back_substituted(factor) * scale
    pivots = np.einsum("rtt->rt", factor)[:, :terms]
    for replicate in np.flatnonzero((pivots**2 <= SINGULAR).any(axis=1)):
        shifts[replicate] = _singular_shift(entries[replicate], places, scores[replicate])
    return shifts


def _back_substituted(factor: np.ndarray) -> np.ndarray:
    """Solve L'x = y of each replicate, (replicates, terms); factor: (replicates, terms + 1, terms + 1), L with y' below."""
    terms = factor.shape[1] - 1
    solved = factor[:, terms, :terms].copy()
    for term in reversed(range(terms)):
        solved[:, term] /= factor[:, term, term]
        solved[:, :term] -= factor[:, term, :term] * solved[:, term, None]
    return solved


def _singular_shift(entries: np.ndarray, places: tuple[np.ndarray, np.ndarray], score: np.ndarray) -> np.ndarray:
    gram = np.zeros((len(score),) * 2)
    gram[places], gram[places[::-1]] = entries, entries
    inverse, null = inverted(gram)
    return np.where(determined(null), inverse @ score, np.nan)
