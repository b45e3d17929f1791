"""Covariances of least-squares coefficients: COVARIANCES says how each is computed, what it needs
and what it is called.

Errors clustered by prompt need the rows of each prompt, which share its difficulty and its human
scores; for the others, group moments are enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from recuse.base.errors import DesignError
from recuse.data.moments import Moments
from recuse.model.least_squares import (
    ALONE,
    ROUNDING,
    LeastSquares,
    Solution,
    covariance_among,
    cross_products,
    determined,
    small_sample_factor,
    solve,
    weighted_squares,
)
from recuse.model.prompt_sums import (
    gram_and_score_weights,
    gram_places,
    mapped,
    score_weights,
    solved_shifts,
    square_weights,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEW = 30  # clusters: errors of fewer are too small, more so where clusters differ in size
FEW_CLUSTERS = (
    "{covariance}: {clusters} clusters, fewer than {few}: errors may be too small, also with the t"
    " distribution"
)
FEW_CARRY = (
    "{covariance}: fewer than {few} clusters in effect carry {terms}: errors may be too small"
)
NEGATIVE = 1e-10  # of the largest eigenvalue: an eigenvalue further below 0 is not rounding
LEFT = 1e-10  # share of a term's squares left without a prompt: below it, only rounding is left
AT_ONCE = 250  # prompts of the jackknife, which bounds memory


def fit_least_squares(
    moments: Moments,
    regressors: np.ndarray,
    *,
    covariance: str = "HC0",
    solution: Solution | None = None,
) -> LeastSquares:
    """Regress the rating on the terms, by ordinary least squares over the rows behind `moments`,
    with standard errors.

    Arguments as of `solve`; covariance: one of COVARIANCES with `of_moments`; solution: that of
    `solve`, if at hand. Coefficients that the rows do not determine are NaN.
    """
    return COVARIANCES[covariance].of_moments(
        moments, regressors, solution or solve(moments, regressors)
    )


def white(
    moments: Moments, regressors: np.ndarray, solution: Solution, *, corrected: bool = False
) -> LeastSquares:
    """Errors HC0: A (sum x x' e^2) A, with A = (X'X)^-1 and the residuals e. Source: White (1980).

    corrected: HC1, HC0 * n / (n - rank), of n rows; NaN when n <= rank.
    """
    n, rank = solution.n, solution.rank
    factor = (n / (n - rank) if n > rank else np.nan) if corrected else 1.0
    return solution.sandwich(
        cross_products(regressors, weighted_squares(moments, regressors, solution)), factor
    )


def classical(moments: Moments, regressors: np.ndarray, solution: Solution) -> LeastSquares:
    """One error variance: A * sum e^2 / (n - rank); NaN when n <= rank."""
    total = weighted_squares(moments, regressors, solution)[:, 0, 0].sum()
    n, rank = solution.n, solution.rank
    return solution.with_covariance(solution.inverse * (total / (n - rank) if n > rank else np.nan))


def by_leverage(
    moments: Moments, regressors: np.ndarray, solution: Solution, *, power: int
) -> LeastSquares:
    """Errors HC2, of power 1, and HC3, of power 2: A (sum x x' e^2 / (1 - h)^power) A, h = x' A x.

    The rows of each group have one reference, as by moments_of_cells by cell, else DesignError. NaN
    for coefficients that a single row determines. Source: MacKinnon and White (1985).
    """
    second = moments.regressor_sums  # (groups, v - 1, v - 1)
    means = second[:, 0] / moments.n[:, None]  # (groups, v - 1): of w
    size = np.einsum("gaa->ga", second) / moments.n[:, None]
    if (size - means**2 > 1e3 * ROUNDING * np.maximum(size, 1.0)).any():
        raise DesignError(
            "HC2 and HC3 need the leverage of each row, and these groups of rows have several"
            " references"
        )
    x = np.einsum("gw,gwt->gt", means, regressors)
    room = 1 - ((x @ solution.inverse) * x).sum(axis=1)  # 1 - h of the rows of each group
    alone = room < ALONE
    squares = (
        weighted_squares(moments, regressors, solution)
        / np.where(alone, np.inf, room)[:, None, None] ** power
    )
    result = solution.sandwich(cross_products(regressors, squares))
    # Without a row of leverage 1, which has no residual, coefficients that have a part in A x are
    # not determined.
    free = (x[alone] @ solution.inverse) * np.sqrt(solution.gram.diagonal())
    kept = determined((free / np.linalg.norm(free, axis=1, keepdims=True)).T)
    return replace(result, covariance=covariance_among(kept, result.covariance))


class ByPrompt:
    """Errors of one slice, clustered by prompt; prompts come a few at a time, each with all its
    rows.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice."""
        self.prompts = 0  # with rows in the slice, even without a term
        self._layouts, self._solution = layouts, solution
        self._meat = np.zeros(solution.gram.shape)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes and sums as by `sum_by_prompt`."""
        self.prompts += len(prompts)
        self._take(sums)


class Clusters(ByPrompt):
    """Errors CR1: A (sum over prompts of s s') A * P / (P - 1) * (n - 1) / (n - rank), of P prompts
    and n rows.

    A = (X'X)^-1, and s = X'(y - X b) over the rows of a prompt. NaN with fewer than two prompts,
    and when n <= rank; t with P - 1 degrees of freedom. Source: Liang and Zeger (1986), with the
    small-sample factor of Stata and statsmodels; Bester, Conley and Hansen (2011) on the degrees of
    freedom.
    """

    @cached_property
    def _weights(self) -> "csr_array":
        return score_weights(self._layouts, self._solution.estimate)

    def _take(self, sums: np.ndarray) -> None:
        scores = mapped(sums, self._weights)
        self._meat += scores.T @ scores

    def result(self) -> LeastSquares:
        """The errors, after the last prompt."""
        result = self._solution.sandwich(
            self._meat, small_sample_factor(self.prompts, self._solution.n, self._solution.rank)
        )
        return replace(result, df=self.prompts - 1)


class EffectiveClusters(ByPrompt):
    """Effective number of prompts of some coefficients: (sum g_p)^2 / sum g_p^2, g_p the prompt's
    part of the sum of l^2.

    l = x A e_k is what a row's rating adds to the coefficient, A = (X'X)^-1: few prompts that carry
    it, or prompts of unequal numbers of rows, count as few, however many there are. Source: Carter,
    Schnepel and Steigerwald (2017), G* for independent ratings, G*(0) of MacKinnon, Nielsen and
    Webb (2023).
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, places: Sequence[int]) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; places: of the terms."""
        super().__init__(layouts, solution)
        self._places = places
        self._total, self._squares = np.zeros((2, len(places)))

    @cached_property
    def _weights(self) -> np.ndarray:
        return square_weights(self._layouts, self._solution.inverse[:, self._places])

    def _take(self, sums: np.ndarray) -> None:
        parts = mapped(sums, self._weights)
        self._total += parts.sum(axis=0)
        self._squares += (parts**2).sum(axis=0)

    def numbers(self) -> dict[int, float]:
        """The effective number of each identified coefficient, by place, after the last prompt."""
        of_place = zip(self._places, self._total, self._squares, strict=True)
        return {
            place: total**2 / squares
            for place, total, squares in of_place
            if self._solution.identified[place]
        }


class Jackknife(ByPrompt):
    """Errors CR3: (P - 1) / P sum over prompts of (b_(-p) - b)(b_(-p) - b)', of P prompts; t with P
    - 1 degrees of freedom.

    b_(-p) = b - (G - G_p)^-1 s_p is the fit without prompt p: G = X'X, and of the rows of p G_p =
    X'X and s_p = X'(y - X b). NaN with fewer than two prompts, and for coefficients that the rows
    without some prompt do not determine. Source: Bell and McCaffrey (2002); MacKinnon, Nielsen and
    Webb (2023), cluster-robust jackknife CV3J, centred at b.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice."""
        super().__init__(layouts, solution)
        self._places = gram_places(layouts)
        self._weights = gram_and_score_weights(layouts, self._places, solution.estimate)

    def _take(self, sums: np.ndarray) -> None:
        values = mapped(sums, self._weights)
        for start in range(0, len(values), AT_ONCE):
            changes = self._changes(values[start : start + AT_ONCE])
            self._meat += changes.T @ changes

    def _changes(self, values: np.ndarray) -> np.ndarray:
        """b - b_(-p) of some prompts, (prompts, terms), from the entries of G_p and s_p; NaN where
        not determined.
        """
        row, column = self._places
        entries, scores = np.split(values, [len(row)], axis=1)
        entries = self._solution.gram[self._places] - entries
        left = entries[:, row == column] > LEFT * self._solution.gram.diagonal()
        entries *= left[:, row] & left[:, column]
        return solved_shifts(
            np.concatenate([entries, scores], axis=1), self._places, self._solution.null
        )

    def result(self) -> LeastSquares:
        """The errors, after the last prompt."""
        factor = (self.prompts - 1) / self.prompts if self.prompts > 1 else np.nan
        return replace(self._solution.with_covariance(self._meat * factor), df=self.prompts - 1)


class OfJudges:
    """Hands the sums of all prompts to a taker of sums by prompt, judge by judge: its clusters then
    are the judges.

    Effects of completions are not nested in judges: the ratings then have to be less the means of
    their completions. A wild bootstrap weights the residuals of these by judge and does not
    subtract the means of completions from what it draws: the coefficients of a draw are the same
    with or without that, their errors are not.
    """

    def __init__(self, taker: ByPrompt, judge: np.ndarray) -> None:
        """Start without prompts; judge: (cells,) of str, of the slice."""
        self.taker, self._total = taker, 0.0
        self._judges, self._judge = np.unique(judge, return_inverse=True)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes and sums as by `sum_by_prompt`."""
        self._total = self._total + sums.sum(axis=0)

    def finish(self) -> None:
        """Hand on the sums of each judge, after the last prompt."""
        codes = np.arange(len(self._judges))
        self.taker.add(codes, np.where(self._judge == codes[:, None, None], self._total, 0.0))


class TwoWay(ByPrompt):
    """Errors clustered by prompt and judge: V_prompt + V_judge - V_pair, each CR1 with the factor
    of its own clusters.

    t with min(prompts, judges) - 1 degrees of freedom. Where the difference is not positive
    semidefinite, by `refused`, as under Equation 1, terms of single judges have no error: a judge's
    intercept absorbs its score, V_judge is 0. The terms that judges share then have its positive
    part, their block without its negative eigenvalues. Source: Cameron, Gelbach and Miller (2011),
    equation 2.7 and section 2.3.
    """

    def __init__(
        self, layouts: np.ndarray, solution: Solution, judge: np.ndarray, shared: np.ndarray
    ) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; judge: (cells,) of str;
        shared: (terms,) of bool.
        """
        super().__init__(layouts, solution)
        self._by_judge = []
        for name in np.unique(judge):
            cells = np.flatnonzero(judge == name)
            self._by_judge.append((cells, score_weights(layouts[cells], solution.estimate)))
        self._shared = shared
        self._scores = np.zeros((len(self._by_judge), len(solution.gram)))
        # Prompts x judges with rows in the slice
        self._pairs, self._meat_of_pairs = 0, np.zeros(solution.gram.shape)

    def _take(self, sums: np.ndarray) -> None:
        total = np.zeros((len(sums), self._scores.shape[1]))
        for place, (cells, weights) in enumerate(self._by_judge):
            judge_sums = sums[:, :, cells]
            scores = mapped(judge_sums, weights)
            self._meat_of_pairs += scores.T @ scores
            self._pairs += int(judge_sums[:, 0].any(axis=1).sum())
            self._scores[place] += scores.sum(axis=0)
            total += scores
        self._meat += total.T @ total

    def result(self) -> LeastSquares:
        """The errors, after the last prompt."""
        judges = len(self._scores)
        parts = (
            (self._meat, self.prompts),
            (self._scores.T @ self._scores, judges),
            (-self._meat_of_pairs, self._pairs),
        )
        n, rank = self._solution.n, self._solution.rank
        result = self._solution.sandwich(
            sum(meat * small_sample_factor(number, n, rank) for meat, number in parts)
        )
        if refused(result.covariance[np.ix_(result.identified, result.identified)]):
            shared = np.flatnonzero(result.identified & self._shared)
            block = np.ix_(shared, shared)
            covariance = np.full_like(result.covariance, np.nan)
            if shared.size and np.isfinite(result.covariance[block]).all():
                covariance[block] = positive_part(result.covariance[block])
            result = replace(result, covariance=covariance)
        return replace(result, df=min(self.prompts, judges) - 1)


def positive_part(covariance: np.ndarray) -> np.ndarray:
    """A symmetric matrix with its negative eigenvalues replaced by 0."""
    values, vectors = np.linalg.eigh(covariance)
    return covariance if values[0] >= 0 else (vectors * np.maximum(values, 0.0)) @ vectors.T


def refused(covariance: np.ndarray) -> bool:
    """Whether a matrix is no covariance: it is not finite, or has an eigenvalue below 0 by more
    than rounding.
    """
    if not np.isfinite(covariance).all():
        return True
    values = np.linalg.eigvalsh(covariance)
    return bool((values < -NEGATIVE * np.abs(values).max(initial=0.0)).any())


@dataclass(frozen=True)
class Covariance:
    """One kind of standard errors, computed from group moments or from the sums of prompts."""

    meaning: str  # for the reference of the settings
    words: str  # before "standard errors", in headings and captions
    of_moments: Callable[[Moments, np.ndarray, Solution], LeastSquares] | None = None
    # Of layouts, solution and, if by judge, the cells' judges
    of_prompts: Callable[..., ByPrompt] | None = None
    leveraged: bool = False  # needs groups of rows with one reference each, which have no lengths
    by_judge: bool = False  # needs cells of one judge each
    judges_alone: bool = False  # its clusters are the judges
    estimators: Sequence[str] = ("least_squares",)

    @property
    def by_prompt_alone(self) -> bool:
        """Whether its clusters are the prompts, in which absorbed effects of completions are
        nested.
        """
        return self.of_prompts is not None and not self.by_judge


EVERY = ("least_squares", "ordinal_logit", "gam")
COVARIANCES = {
    "HC0": Covariance("White's", "HC0", white, estimators=EVERY),
    "HC1": Covariance(
        "White's with the n/(n-k) factor", "HC1", partial(white, corrected=True), estimators=EVERY
    ),
    "HC2": Covariance("White's by leverage", "HC2", partial(by_leverage, power=1), leveraged=True),
    "HC3": Covariance(
        "White's by squared leverage", "HC3", partial(by_leverage, power=2), leveraged=True
    ),
    "classical": Covariance(
        "those of the model itself: from one error variance, the inverse Hessian of the likelihood,"
        " or the posterior covariance of the splines",
        "classical",
        classical,
        estimators=EVERY,
    ),
    "CR1": Covariance(
        "clustered by prompt", "prompt-clustered (CR1)", of_prompts=Clusters, estimators=EVERY
    ),
    "CR3": Covariance(
        "by the jackknife over prompts", "prompt-clustered, jackknifed (CR3)", of_prompts=Jackknife
    ),
    "CR1_judge": Covariance(
        "clustered by judge",
        "judge-clustered (CR1)",
        of_prompts=Clusters,
        by_judge=True,
        judges_alone=True,
    ),
    "two_way": Covariance(
        "clustered by prompt and judge, for terms that judges share (an intercept for each judge,"
        " as in Equation 1, absorbs the judge's score: terms of single judges have no standard"
        " errors)",
        "prompt- and judge-clustered",
        of_prompts=TwoWay,
        by_judge=True,
    ),
}
