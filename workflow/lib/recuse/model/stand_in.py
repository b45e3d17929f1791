"""Equation 1 with human scores of few answers: ratings of the others say how judges differ, where
the panel's mean rating stands in for the human score.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recuse.data.study import StudyTables
from recuse.model.design import slice_designs
from recuse.model.estimable import spec_moments
from recuse.model.least_squares import Solution, solve
from recuse.model.prompt_sums import add_prompts, mapped, score_weights
from recuse.model.spec import BIASES, BiasKey, Spec

BiasNumbers = tuple[float, float, int]  # estimate, standard error and degrees of freedom


class Influences:
    """What each prompt adds to the error of some coefficients; prompts come a few at a time, each
    with all its rows.
    """

    def __init__(
        self, layouts: np.ndarray, solution: Solution, places: list[int], prompts: int
    ) -> None:
        """Start without prompts, of at most so many; layouts: (cells, w, terms), of the slice."""
        weights = score_weights(layouts, solution.estimate)
        self._weights = weights @ solution.inverse[:, places]
        self._carried = (layouts[:, :, places] != 0).any(axis=1)  # (cells, coefficients)
        self.values = np.zeros((prompts, len(places)))
        self.prompts = np.zeros(len(places), dtype=int)  # with rows that carry each coefficient

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes and sums as by `sum_by_prompt`."""
        self.prompts += np.count_nonzero(sums[:, 0] @ self._carried, axis=0)
        self.values[prompts] = mapped(sums, self._weights)


@dataclass(frozen=True)
class BiasFit:
    """One bias of one slice."""

    prompts: int  # with rows that carry the bias
    estimate: float
    influence: np.ndarray  # (prompts of the study,)


def bias_fits(spec: Spec, study: StudyTables) -> Iterator[tuple[str, dict[BiasKey, BiasFit]]]:
    """Yield label and biases, by (quantity, term), of each slice of a least-squares spec that
    carries a term.
    """
    moments, slices, takers = spec_moments(spec, study), [], []
    for label, rows, design in slice_designs(spec, moments):
        if design is None:
            continue
        solution = solve(rows, design.regressors)
        places = [
            place
            for place, term in enumerate(design.terms)
            if term.quantity in BIASES and solution.identified[place]
        ]
        influences = Influences(design.layouts, solution, places, study.prompts)
        keys = [(design.terms[place].quantity, design.terms[place].term) for place in places]
        slices.append((label, keys, solution.estimate[places], influences))
        takers.append((design, [influences]))
    blocks = study.row_blocks(spec.selection, moments.factors) if slices else ()
    add_prompts(takers, blocks, len(moments.n))
    for label, keys, estimate, influences in slices:
        fits = map(BiasFit, influences.prompts.tolist(), estimate.tolist(), influences.values.T)
        yield label, dict(zip(keys, fits, strict=True))


def biases_of_all_ratings(
    spec: Spec, scored: StudyTables, scored_by_panel: StudyTables, all_by_panel: StudyTables
) -> dict[str, dict[BiasKey, BiasNumbers]]:
    """Estimate the biases of a spec against people from few human scores and all ratings: slice ->
    (quantity, term) -> estimate, standard error and degrees of freedom.

    With b the estimate from the rows with human scores, b_s the same where the panel's mean rating
    of an answer stands in for its score, and b_a that of all rows,

      estimate = b - lambda (b_s - b_a)

    As b_s - b_a is 0 in expectation if scored answers are like the others, the stand-in may have
    any relation to people's scores. With h_p and d_p the influences of prompt p on b and on
    b_s - b_a, lambda = sum h d / sum d^2 over all prompts and biases of the slice, where h and d
    are in units of the bias's sqrt(sum h_p^2): few prompts say too little about a lambda for each
    bias, and a bias of few prompts must not decide for the others. Then

      std_error^2 = sum (h_p - lambda d_p)^2 L / (L - 1)

    with L prompts on which people scored an answer that the bias is about, and t with L - 1 degrees
    of freedom; a bias with one prompt has no estimate here. Source: as in human_scale_means; for
    regressions, Angelopoulos, Duchi and Zrnic (2023), section 6.

    scored: the rows with human scores; scored_by_panel: the same rows with the stand-in.
    """
    stands = dict(bias_fits(spec, scored_by_panel)), dict(bias_fits(spec, all_by_panel))
    result = {}
    for label, fits in bias_fits(spec, scored):
        of_scored, of_all = (each.get(label, {}) for each in stands)
        known = of_scored.keys() & of_all.keys()
        keys = [key for key, fit in fits.items() if key in known and fit.prompts > 1]
        if not keys:
            continue
        of_people = np.array([fits[key].influence for key in keys])
        difference = np.array([of_scored[key].influence - of_all[key].influence for key in keys])
        # Each bias by its own variance: the noisiest would decide for all
        squares = (of_people**2).sum(axis=1, keepdims=True)
        share = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
        square = np.vdot(share * difference, difference)
        weight = float(np.vdot(share * of_people, difference) / square) if square > 0 else 0.0
        numbers = result[label] = {}
        for key, left in zip(keys, of_people - weight * difference, strict=True):
            fit, gap = fits[key], of_scored[key].estimate - of_all[key].estimate
            df = fit.prompts - 1
            error = float(np.sqrt(left @ left * fit.prompts / df))
            numbers[key] = fit.estimate - weight * gap, error, df
    return result
