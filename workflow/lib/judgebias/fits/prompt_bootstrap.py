"""Bootstrap by prompt of a linear fit: resampled totals of the prompts' Gram matrices instead of refits on resampled rows."""

from collections.abc import Iterator

import numpy as np

from judgebias.fits.linear import Solution, determined, inverted
from judgebias.fits.prompt_pieces import Pieces, size_of
from judgebias.fits.prompt_sums import gram_and_score_weights, gram_places, mapped
from judgebias.progress import steps

REPLICATES = 250  # drawn at a time: of it depends which resamples a seed gives, and what memory they take
CORNER = 1e300  # above any sum of squares that Cholesky's method takes from it
SINGULAR = 1e-9  # share of a term's variation that the terms before it leave: below it, a replicate is looked at by itself


class ResampledTotals:
    """Totals over resamples of prompts of what prompts sum up to, quantity by quantity: sum over p of c_p values_p.

    In a replicate prompt p counts c_p times, by `Resamples`. What is held is a total for each replicate, and one piece of the
    prompts.
    """

    def __init__(self, quantities: int, *, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; `prompts` is the number of all of the study, of which some will come."""
        self._totals = np.zeros((replicates, quantities))
        self._resamples = Resamples(prompts, replicates=replicates, seed=seed)
        self._pieces = Pieces()

    def add(self, prompts: np.ndarray, values: np.ndarray) -> None:
        """Add the next prompts, with their codes and values, (prompts, quantities)."""
        for piece in self._pieces.add(prompts, values):
            self._draw(*piece)

    def totals(self) -> np.ndarray:
        """Totals of each replicate after the last prompt, (replicates, quantities)."""
        for piece in self._pieces.rest():
            self._draw(*piece)
        return self._totals

    def _draw(self, piece: int, places: np.ndarray, values: np.ndarray) -> None:
        for number, times in enumerate(self._resamples.of_piece(piece)):
            self._totals[number * REPLICATES :][: len(times)] += times[:, places] @ values


class PromptBootstrap:
    """Refits of one slice to resamples of its prompts, which come a few at a time, each with all its rows.

    The coefficients of a replicate, in which prompt p counts c_p times, are b + (sum c_p G_p)^-1 (sum c_p s_p), with G_p = X'X
    and s_p = X'(y - X b) over the rows of p and b the fit to all rows.
    Source: Efron and Tibshirani (1993); Cameron, Gelbach and Miller (2008), the pairs cluster bootstrap.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, *, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; prompts: how many the study has."""
        self._solution, self._places = solution, gram_places(layouts)
        self._weights = gram_and_score_weights(layouts, self._places, solution.estimate)
        self._resampled = ResampledTotals(self._weights.shape[-1], prompts=prompts, replicates=replicates, seed=seed)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        self._resampled.add(prompts, mapped(sums, self._weights))

    def estimates(self) -> np.ndarray:
        """Coefficients of each replicate, (replicates, terms); NaN where its prompts do not determine one."""
        totals = self._resampled.totals()
        shifts = [
            shifts_of(totals[start : start + REPLICATES], self._places, self._solution.null)
            for start in steps(range(0, len(totals), REPLICATES), "bootstrap", unit="draws", total=len(totals), each=REPLICATES)
        ]
        return np.where(self._solution.identified, self._solution.estimate + np.concatenate(shifts), np.nan)


class Resamples:
    """How often each replicate draws each prompt of a study: as many as there are, with replacement.

    A slice takes those of its prompts. So the same replicate is of the same prompts in all slices, and specs, of the study,
    and what these say varies together as far as they share prompts.
    """

    def __init__(self, prompts: int, *, replicates: int, seed: int) -> None:
        """Draw from the codes below `prompts`."""
        self._prompts, self._seed = prompts, seed
        self._left = prompts  # codes of the pieces to come
        self._undrawn = np.full(replicates, prompts)  # prompts that a replicate has yet to draw
        self._next = 0  # piece

    def of_piece(self, piece: int) -> Iterator[np.ndarray]:
        """Yield the draws of a piece for all replicates, (at most REPLICATES, codes of the piece) each.

        Pieces are asked for in rising order, some may be left out.
        """
        totals = [self._totals_of_next() for _ in range(self._next, piece + 1)][-1]
        count = size_of(piece, self._prompts)
        for start in range(0, len(totals), REPLICATES):
            times = totals[start : start + REPLICATES]
            drawn = _generator(self._seed, piece, start).integers(count, size=times.sum())
            drawn += np.repeat(np.arange(len(times)) * count, times)
            yield np.bincount(drawn, minlength=len(times) * count).reshape(len(times), count).astype(float)

    def _totals_of_next(self) -> np.ndarray:
        """How many prompts each replicate draws from the next piece, (replicates,)."""
        count = size_of(self._next, self._prompts)
        totals = _generator(self._seed, self._next).binomial(self._undrawn, count / self._left)
        self._undrawn, self._left, self._next = self._undrawn - totals, self._left - count, self._next + 1
        return totals


def _generator(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def shifts_of(totals: np.ndarray, places: tuple[np.ndarray, np.ndarray], null: np.ndarray) -> np.ndarray:
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
        return np.concatenate([shifts_of(totals[part], places, null) for part in (slice(half), slice(half, None))])
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
