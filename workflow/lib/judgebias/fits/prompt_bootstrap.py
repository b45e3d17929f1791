"""Bootstrap by prompt of a linear fit: resampled totals of the prompts' Gram matrices instead of refits on resampled rows."""

from collections.abc import Iterator

import numpy as np

from judgebias.fits.linear import Solution, determined, inverted
from judgebias.fits.prompt_sums import PromptSums, gram_places, gram_weights, score_weights

PROMPTS, REPLICATES = 1024, 250  # drawn at a time: of these depends which resamples a seed gives, and what memory they take
SINGULAR = 1e-9  # share of a term's variation that the terms before it leave: below it, a replicate is looked at by itself


class PromptBootstrap:
    """Refits of one slice to resamples of its prompts, which come a few at a time, each with all its rows.

    A replicate draws as many prompts as there are, with replacement, each with all its rows, so that prompt p counts c_p
    times; its coefficients are b + (sum c_p G_p)^-1 (sum c_p s_p), with G_p = X'X and s_p = X'(y - X b) over the rows of p
    and b the fit to all rows. What is held is a total for each replicate, whatever the number of prompts.
    Source: Efron and Tibshirani (1993); Cameron, Gelbach and Miller (2008), the pairs cluster bootstrap.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, *, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; layouts: (cells, w, terms), 0 in the cells that the slice does not have.

        prompts: how many with rows in the slice will come.
        """
        self._solution, self._layouts, self._left = solution, layouts, prompts
        layouts = layouts[layouts.any(axis=(1, 2))]
        self._places = gram_places(layouts)
        weights = gram_weights(layouts, self._places), score_weights(layouts, solution.estimate)
        self._weights = np.concatenate(weights, axis=-1)  # (products, cells, entries of G and of s)
        self._totals = np.zeros((replicates, self._weights.shape[-1]))
        self._resamples = resamples(prompts, replicates=replicates, seed=seed)
        self._held = np.empty((0, self._weights.shape[-1]))

    def add(self, sums: PromptSums) -> None:
        """Add the next prompts."""
        own = sums.select(self._layouts)
        self._held = np.concatenate([self._held, own.mapped(self._weights)])
        while len(self._held) and len(self._held) >= min(PROMPTS, self._left):
            values, self._held = self._held[:PROMPTS], self._held[PROMPTS:]
            for start in range(0, len(self._totals), REPLICATES):
                self._totals[start : start + REPLICATES] += next(self._resamples) @ values
            self._left -= len(values)

    def estimates(self) -> np.ndarray:
        """Coefficients of each replicate, (replicates, terms); NaN where its prompts do not determine one."""
        entries, terms = len(self._places[0]), len(self._solution.estimate)
        shifts = []
        for start in range(0, len(self._totals), REPLICATES):
            totals = self._totals[start : start + REPLICATES]
            grams = np.zeros((len(totals), terms, terms))
            grams[:, self._places[0], self._places[1]] = grams[:, self._places[1], self._places[0]] = totals[:, :entries]
            shifts.append(_shifts(grams, totals[:, entries:], self._solution.null))
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


def _shifts(grams: np.ndarray, scores: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Solve each replicate's G shift = s, (replicates, terms); NaN where G does not determine it.

    null: (terms, directions) without information in any replicate: filling them up leaves what is determined as it is.
    """
    scale = 1 / np.sqrt(np.where((diagonal := np.einsum("rtt->rt", grams)) > 0, diagonal, 1.0))
    scaled = grams * scale[:, :, None] * scale[:, None, :] + null @ null.T
    try:
        regular = (np.einsum("rtt->rt", np.linalg.cholesky(scaled)) ** 2 > SINGULAR).all(axis=1)
    except np.linalg.LinAlgError:  # of one replicate at least: numpy does not say which
        if len(grams) == 1:
            return _singular_shift(grams[0], scores[0])[None]
        half = len(grams) // 2
        return np.concatenate([_shifts(grams[part], scores[part], null) for part in (slice(half), slice(half, None))])
    shifts = np.empty_like(scores)
    shifts[regular] = np.linalg.solve(scaled[regular], (scores * scale)[regular, :, None])[..., 0] * scale[regular]
    for replicate in np.flatnonzero(~regular):
        shifts[replicate] = _singular_shift(grams[replicate], scores[replicate])
    return shifts


def _singular_shift(gram: np.ndarray, score: np.ndarray) -> np.ndarray:
    inverse, null = inverted(gram)
    return np.where(determined(null), inverse @ score, np.nan)
