"""Two bootstraps by prompt of a linear fit, from the sums of prompts instead of refits to resampled
rows.

The wild bootstrap tests single coefficients and inverts the tests, also with few or unequal
prompts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from recuse.base.log import steps
from recuse.model.least_squares import NEGLIGIBLE, Solution, small_sample_factor
from recuse.model.prompt_sums import (
    gram_and_score_weights,
    gram_places,
    image_weights,
    joined_blocks,
    mapped,
    score_weights,
    solved_shifts,
)

PROMPTS = 1024  # codes of a piece: the draws of a seed, and the memory, depend on it
DRAWS = 250  # at a time: the weights of a seed, and the memory, depend on it
# And the same below 0: six values, equally likely, of mean 0 and variance 1
WEBB = np.sqrt([1.5, 1.0, 0.5])
SUMS = 2**26  # over prompts that the bootstraps of a pass hold: 512 MB
APART = 2  # in the key of a seed: not the draws of the bootstrap by prompt
SAME = 1 - 1e-9  # |t*| of so much of |t| counts as no smaller, because of rounding
WIDEST, HALVINGS = 2**12, 48  # of the search for the ends of an interval, in standard errors


class Pieces(ABC):
    """Collects the values of a slice's prompts, which come a few at a time in the order of their
    codes, piece by piece.

    Random numbers are drawn for all codes of a piece of the study at once, whatever prompts the
    slice has.
    """

    _codes: tuple[np.ndarray, ...] = ()  # of the piece that is not yet complete
    _values: tuple[np.ndarray, ...] = ()

    @abstractmethod
    def _draw(self, piece: int, places: np.ndarray, values: np.ndarray) -> None:
        """Take a whole piece: its number, the places in it of the slice's prompts, and their
        values.
        """

    def add(self, prompts: np.ndarray, values: np.ndarray) -> None:
        """Add the next prompts: codes, (prompts,), and values, (prompts, quantities)."""
        bounds = np.flatnonzero(np.diff(prompts // PROMPTS)) + 1
        for codes, rows in zip(np.split(prompts, bounds), np.split(values, bounds), strict=True):
            if self._codes and self._codes[0][0] // PROMPTS != codes[0] // PROMPTS:
                self._finish()
            self._codes, self._values = (*self._codes, codes), (*self._values, rows)

    def _finish(self) -> None:
        """Hand on the last piece, if there is one."""
        if self._codes:
            codes, values = np.concatenate(self._codes), np.concatenate(self._values)
            self._codes = self._values = ()
            self._draw(int(codes[0]) // PROMPTS, codes % PROMPTS, values)


@dataclass(frozen=True)
class WildTest:
    """Draws of one coefficient b: of its t statistic with any value as the null hypothesis, b_0.

    With delta = (b - b_0) / A_kk, the numerator of t* is linear and the square of its denominator
    quadratic in delta.
    """

    estimate: float  # b
    unit: float  # A_kk
    std_error: float  # CR1
    numerators: np.ndarray  # (draws, 2) coefficients of 1, delta
    squares: np.ndarray  # (draws, 3) coefficients of 1, delta, delta^2

    def statistics(self, null: float = 0.0) -> np.ndarray:
        """t* of each draw under the hypothesis that the coefficient is `null`, (draws,)."""
        delta = (self.estimate - null) / self.unit
        square = self.squares @ [1.0, delta, delta**2]
        # A draw without varying residuals has no scale and counts as large.
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = self.numerators @ [1.0, delta] / np.sqrt(np.maximum(square, 0.0))
        return np.where(np.isnan(drawn), np.inf, drawn)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided: (1 + number of draws with |t*| >= |t|) / (1 + draws)."""
        return self._share(self._excess(), (self.estimate - null) / self.unit)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Values around the estimate that a test of level 1 - confidence does not reject; NaN for
        an end beyond WIDEST errors.

        Where it rejects a value but not one further off, either may be taken for the end.
        """
        excess = self._excess()
        return self._end(excess, -self.std_error, confidence), self._end(
            excess, self.std_error, confidence
        )

    def _excess(self) -> np.ndarray:
        """Coefficients of 1 to delta^4, (5, draws), of a sum that is 0 or more where |t*| >=
        |t|.
        """
        (constant, linear), (square, *others) = (
            self.numerators.T,
            (SAME * self.unit / self.std_error) ** 2 * self.squares.T,
        )
        return np.stack(
            [constant**2, 2 * constant * linear, linear**2 - square, *(-other for other in others)]
        )

    def _share(self, excess: np.ndarray, delta: float) -> float:
        """(1 + number of draws with |t*| >= |t|) / (1 + draws)."""
        drawn = (delta ** np.arange(len(excess))) @ excess
        return float((1 + np.count_nonzero(drawn >= 0)) / (1 + len(drawn)))

    def _end(self, excess: np.ndarray, step: float, confidence: float) -> float:
        kept, rejected = 0.0, 1.0
        while self._share(excess, -rejected * step / self.unit) >= 1 - confidence:
            kept, rejected = rejected, 2 * rejected
            if rejected > WIDEST:
                return np.nan
        for _ in range(HALVINGS):
            middle = (kept + rejected) / 2
            if self._share(excess, -middle * step / self.unit) >= 1 - confidence:
                kept = middle
            else:
                rejected = middle
        return float(self.estimate + kept * step)


class WildBootstrap(Pieces):
    """Draws of t statistics of one slice, with the null hypothesis imposed.

    For the coefficient k, a the row k of A = (X'X)^-1 and b_0 the null hypothesis, the restricted
    fit is b - a' delta, with delta = (b_k - b_0) / A_kk. With G_p = X'X and s_p = X'(y - X b) over
    the rows of prompt p, and H_p = a G_p, the scores of the restricted fit are r_p = s_p + H_p'
    delta, and u_p = a r_p. A draw gives each prompt of the study one of Webb's six weights w_p, the
    same in all slices and specs. With c, the small-sample factor of CR1,
      t* = sum w_p u_p / sqrt(c sum (w_p u_p - H_p A sum_q w_q r_q)^2).
    Memory holds sums over prompts, by w_p and w_p^2: about three numbers for each tested
    coefficient and each term that A joins to it.
    Source: Cameron, Gelbach and Miller (2008), the wild cluster restricted bootstrap; Webb (2014);
    Roodman et al. (2019).
    """

    def __init__(
        self,
        layouts: np.ndarray,
        solution: Solution,
        places: Sequence[int],
        *,
        prompts: int,
        draws: int,
        seed: int,
    ) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; places: of the tested
        coefficients in the terms.
        """
        from scipy.sparse import hstack

        self._solution, self._prompts_of_study, self._seed = solution, prompts, seed
        self._rows = solution.inverse[places]  # (tested, terms)
        self._places = list(places)
        tested, terms = self._rows.shape
        # A coefficient depends only on the terms joined to it: in a slice by dimension, those of
        # its judges' family.
        block = joined_blocks(gram_places(layouts), terms)
        self._joined = block[self._places][:, None] == block  # (tested, terms)
        self._coefficient, self._term = np.nonzero(self._joined)
        self._starts = np.searchsorted(self._coefficient, np.arange(tested + 1))
        # Of a prompt's sums in H of each coefficient and its joined terms, then in the scores
        weights = image_weights(layouts, self._rows, self._joined)
        weights.append(score_weights(layouts, solution.estimate))
        self._weights = hstack(weights, format="csr")
        # Of each coefficient, the sum over prompts of H'H
        self._products = [np.zeros((size, size)) for size in np.diff(self._starts)]
        self._squares = np.zeros(tested)  # sum over prompts of u^2, unweighted
        self._prompts = 0  # with rows in the slice
        self._parts = [slice(start, min(start + DRAWS, draws)) for start in range(0, draws, DRAWS)]
        # Of the pieces so far: sums by w, (draws, terms + 3 joined), and by w^2, (draws, 3 tested).
        self._linear, self._squared = (
            np.zeros((draws, sums)) for sums in (terms + 3 * len(self._term), 3 * tested)
        )

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes and sums as by `sum_by_prompt`."""
        self._prompts += len(prompts)
        super().add(prompts, mapped(sums, self._weights))

    def tests(self) -> dict[int, WildTest]:
        """Draws of each tested coefficient that is determined and has an error CR1, by place, after
        the last prompt.
        """
        self._finish()
        factor = small_sample_factor(self._prompts, self._solution.n, self._solution.rank)
        tested = np.flatnonzero(
            self._solution.identified[self._places] & (np.sqrt(factor * self._squares) > NEGLIGIBLE)
        )
        tests = {}
        for number in tested:
            numerators, squares = self._statistics(number)
            tests[self._places[number]] = WildTest(
                estimate=float(self._solution.estimate[self._places[number]]),
                unit=float(self._rows[number, self._places[number]]),
                std_error=float(np.sqrt(factor * self._squares[number])),
                numerators=numerators,
                squares=factor * squares,
            )
        return tests

    def _draw(self, piece: int, places: np.ndarray, values: np.ndarray) -> None:
        h, scores = np.split(values, [len(self._term)], axis=1)  # h: (prompts, pairs)
        u = scores @ self._rows.T  # a s
        # a H'
        v = np.add.reduceat(h * self._rows[self._joined], self._starts[:-1], axis=1)
        for products, (first, last) in zip(self._products, pairwise(self._starts), strict=True):
            products += h[:, first:last].T @ h[:, first:last]
        self._squares += (u * u).sum(axis=0)
        # Times w
        linear = np.concatenate(
            [scores, h, u[:, self._coefficient] * h, v[:, self._coefficient] * h], axis=1
        )
        squared = np.hstack([u * u, u * v, v * v])  # times w^2
        size = min(PROMPTS, self._prompts_of_study - piece * PROMPTS)
        parts = steps(
            self._parts,
            "wild bootstrap",
            unit="draws",
            size=lambda _: DRAWS,
            total=self._parts[-1].stop,
        )
        for part in parts:
            weights = webb_weights(
                part.stop - part.start, size, seed=self._seed, key=(piece, part.start)
            )[:, places]
            self._linear[part] += weights @ linear
            self._squared[part] += weights**2 @ squared

    def _statistics(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Numerators and squares of the WildTest of a coefficient; the squares without the factor
        of CR1.
        """
        tested, terms = self._rows.shape
        joined, (first, last) = self._joined[number], self._starts[number : number + 2]
        starts = terms + len(self._coefficient) * np.arange(3)
        of_h, of_uh, of_vh = (self._linear[:, start + first : start + last] for start in starts)
        score_sums, row, block = (
            self._linear[:, :terms][:, joined],
            self._rows[number, joined],
            np.ix_(joined, joined),
        )
        inverse, products = self._solution.inverse[block], self._products[number]
        still, moving = score_sums @ inverse, of_h @ inverse  # g = A sum w r = still + delta moving
        # Sum (H g - 2 w u) H
        left_still, left_moving = still @ products - 2 * of_uh, moving @ products - 2 * of_vh
        # Sum w^2 u^2, to which sum (H g - 2 w u) H g is added
        squares = self._squared[:, number::tested] * [1.0, 2.0, 1.0]
        squares[:, 0] += np.einsum("dt,dt->d", left_still, still)
        squares[:, 1] += np.einsum("dt,dt->d", left_still, moving) + np.einsum(
            "dt,dt->d", left_moving, still
        )
        squares[:, 2] += np.einsum("dt,dt->d", left_moving, moving)
        return np.stack([score_sums @ row, of_h @ row], axis=1), squares


def joined_to(layouts: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Number of terms that X'X joins to each of some coefficients, (places,); layouts: (cells, w,
    terms).
    """
    block = joined_blocks(gram_places(layouts), layouts.shape[2])
    return np.bincount(block)[block[places]]


def webb_weights(draws: int, prompts: int, *, seed: int, key: tuple[int, int]) -> np.ndarray:
    """Webb's six-point weights, (draws, prompts); key: the numbers of the piece of prompts and of
    the first draw.
    """
    return np.concatenate([WEBB, -WEBB])[_webb_places(draws, prompts, seed, key)]


@lru_cache(maxsize=64)  # all slices and specs of a study have the same, and ask for them in turn
def _webb_places(draws: int, prompts: int, seed: int, key: tuple[int, int]) -> np.ndarray:
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, APART)))
    return random.integers(6, size=(draws, prompts)).astype(np.int8)


REPLICATES = 250  # drawn at a time: the resamples of a seed, and the memory, depend on it


class ResampledTotals(Pieces):
    """Totals over resamples of prompts, sum of c_p values_p; c_p: how often a replicate draws p, by
    `Resamples`.
    """

    def __init__(self, quantities: int, *, prompts: int, replicates: int, seed: int) -> None:
        """Start without prompts; prompts: how many the study has."""
        self._totals = np.zeros((replicates, quantities))
        self.size = self._totals.size
        self._resamples = resamples(prompts, replicates=replicates, seed=seed)

    def totals(self) -> np.ndarray:
        """Totals of each replicate after the last prompt, (replicates, quantities)."""
        self._finish()
        return self._totals

    def _draw(self, piece: int, places: np.ndarray, values: np.ndarray) -> None:
        for number, times in enumerate(self._resamples.piece_draws(piece)):
            self._totals[number * REPLICATES :][: len(times)] += times[:, places] @ values


class PromptBootstrap(ResampledTotals):
    """Refits of one slice to resamples of its prompts.

    The coefficients of a replicate, in which prompt p counts c_p times, are b + (sum c_p G_p)^-1
    (sum c_p s_p), with G_p = X'X and s_p = X'(y - X b) over the rows of p and b the fit to all
    rows.
    Source: Efron and Tibshirani (1993); Cameron, Gelbach and Miller (2008), the pairs cluster
    bootstrap.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, **resamples: int) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; resamples: prompts,
        replicates and seed.
        """
        self._solution, self._places = solution, gram_places(layouts)
        self._weights = gram_and_score_weights(layouts, self._places, solution.estimate)
        super().__init__(self._weights.shape[-1], **resamples)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes and sums as by `sum_by_prompt`."""
        super().add(prompts, mapped(sums, self._weights))

    def estimates(self) -> np.ndarray:
        """Coefficients of each replicate, (replicates, terms); NaN where its prompts do not
        determine one.
        """
        totals = self.totals()
        shifts = [
            solved_shifts(totals[start : start + REPLICATES], self._places, self._solution.null)
            for start in range(0, len(totals), REPLICATES)
        ]
        return np.where(
            self._solution.identified, self._solution.estimate + np.concatenate(shifts), np.nan
        )


class Resamples:
    """How often each replicate draws each prompt of a study, as many as there are, with
    replacement.

    A replicate has the same prompts in all slices and specs, so that these vary together insofar as
    they share prompts.
    """

    def __init__(self, prompts: int, *, replicates: int, seed: int) -> None:
        """Draw from the codes below `prompts`."""
        self._prompts, self._seed = prompts, seed
        self._undrawn = np.full(replicates, prompts)  # prompts that each replicate has yet to draw
        # How many each draws from each piece so far, (replicates,)
        self._totals: list[np.ndarray] = []
        self._latest = -1, ()  # piece, and its draws

    def piece_draws(self, piece: int) -> Iterator[np.ndarray]:
        """Yield the draws of a piece, (at most REPLICATES, codes of the piece) each."""
        while len(self._totals) <= piece:
            self._add_totals()
        if self._latest[0] != piece:
            self._latest = piece, list(self._drawn(piece))
        yield from (times.astype(float) for times in self._latest[1])

    def _drawn(self, piece: int) -> Iterator[np.ndarray]:
        totals, count = self._totals[piece], min(PROMPTS, self._prompts - piece * PROMPTS)
        for start in range(0, len(totals), REPLICATES):
            times = totals[start : start + REPLICATES]
            drawn = _generator(self._seed, piece, start).integers(count, size=times.sum())
            drawn += np.repeat(np.arange(len(times)) * count, times)
            counts = np.bincount(drawn, minlength=len(times) * count).reshape(len(times), count)
            yield counts.astype(np.min_scalar_type(counts.max(initial=0)))

    def _add_totals(self) -> None:
        """Draw how many prompts each replicate takes from the next piece."""
        piece = len(self._totals)
        left = self._prompts - piece * PROMPTS
        totals = _generator(self._seed, piece).binomial(self._undrawn, min(PROMPTS, left) / left)
        self._undrawn = self._undrawn - totals
        self._totals.append(totals)


# The resamples of a study, which all its slices and specs share
resamples = lru_cache(maxsize=4)(Resamples)


# As a name it would import numpy.random for every fit
def _generator(seed: int, *key: int) -> "np.random.Generator":
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
