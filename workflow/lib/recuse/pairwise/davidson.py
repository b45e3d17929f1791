"""Bradley-Terry-Davidson regression of verdicts on pairs of answers, with terms of the judges;
errors clustered by question.

Of judge j's verdict on the answers of models a and b,

    P(a) : P(tie) : P(b) = exp(eta / 2) : nu_j : exp(-eta / 2)

    eta = sensitivity_j (strength_a - strength_b)
        + self_j (1[a = j] - 1[b = j])
        + family_F (1[a in F, a != j] - 1[b in F, b != j])
        + position_j (1 if a was shown first, else -1)
        + length_j x

with F the judge's family, nu_j = exp(tie_j), or 0 for a judge without ties, and x the tanh of a
standardised difference of lengths, so that eta is the log odds of a against b among verdicts that
choose. Strengths sum to 0. What is not estimated stays at its default: 1 for sensitivities, 0 for
the rest. Sources: Bradley and Terry (1952); Davidson (1970) for ties.

Sums over the verdicts of a group (judge, pair, order) hold all that the gradient and the
information need. Only with lengths is there something to compute for each verdict, and once, for
the errors, the score of each question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

STRENGTH, SENSITIVITY, SELF, FAMILY, POSITION, LENGTH, TIE = KINDS = (
    *("strength", "sensitivity", "self_bias", "family_bias", "position", "length", "tie"),
)
A_WINS, B_WINS, TIED = OUTCOMES = range(3)
# Entries of a group that move eta alike in all its verdicts: two strengths, sensitivity, self,
# family, position
LINEAR = 6


@dataclass(frozen=True)
class Verdicts:
    """Valid verdicts as codes, and the names behind them; the arrays of codes are (verdicts,)."""

    judges: Sequence[str]
    models: Sequence[str]
    families: Sequence[str]
    family_of_judge: np.ndarray  # (judges,)
    family_of_model: np.ndarray  # (models,)
    items: int
    judge: np.ndarray
    first: np.ndarray  # model a
    second: np.ndarray  # model b
    sign: np.ndarray  # 1 where the answer of a was shown first, -1 where that of b was
    outcome: np.ndarray  # one of OUTCOMES
    item: np.ndarray
    x: np.ndarray  # tanh of the standardised difference of lengths, 0 where there is none

    def among(self, rows: np.ndarray) -> Verdicts:
        """Some of the verdicts, (verdicts,) of bool."""
        columns = ("judge", "first", "second", "sign", "outcome", "item", "x")
        return replace(self, **{column: getattr(self, column)[rows] for column in columns})

    @cached_property
    def model_of_judge(self) -> np.ndarray:
        """Code of the model that each judge is, (judges,); -1 for a judge that is none."""
        codes = {model: code for code, model in enumerate(self.models)}
        return np.array([codes.get(judge, -1) for judge in self.judges], dtype=np.int64)


class Terms:
    """Places of the coefficients of a set of names: those of each kind follow one another."""

    def __init__(self, verdicts: Verdicts) -> None:
        """The terms of the names of some verdicts."""
        self.sizes = dict.fromkeys(KINDS, len(verdicts.judges)) | {
            STRENGTH: len(verdicts.models),
            FAMILY: len(verdicts.families),
        }
        starts = np.cumsum([0, *self.sizes.values()])
        self.start = dict(zip(KINDS, starts[:-1].tolist(), strict=True))
        self.count = int(starts[-1])

    def places(self, kind: str) -> np.ndarray:
        """Places of a kind, (size,)."""
        return self.start[kind] + np.arange(self.sizes[kind])

    def mask(self, kinds: Collection[str]) -> np.ndarray:
        """Which terms are of some kinds, (terms,) of bool."""
        return np.concatenate([np.full(size, kind in kinds) for kind, size in self.sizes.items()])

    def defaults(self) -> np.ndarray:
        """Coefficients where nothing is estimated, (terms,)."""
        return self.mask([SENSITIVITY]) * 1.0


class PairCells:
    """Verdicts summed by group: judge, pair of models and order."""

    def __init__(self, verdicts: Verdicts) -> None:
        """Sum the verdicts."""
        self.verdicts, self.terms = verdicts, Terms(verdicts)
        models = len(verdicts.models)
        judges = len(verdicts.judges)
        code = ((verdicts.judge * models + verdicts.first) * models + verdicts.second) * 2 + (
            verdicts.sign > 0
        )
        present, self.group = np.unique(code, return_inverse=True)  # of each verdict, (verdicts,)
        # (groups,), as are the next five
        self.judge, pair = np.divmod(present // 2, models * models)
        self.first, self.second = np.divmod(pair, models)
        self.sign = np.where(present % 2, 1.0, -1.0)
        family = verdicts.family_of_judge[self.judge]
        model = verdicts.model_of_judge[self.judge]
        sides = np.stack([self.first, self.second])
        is_own = sides == model  # (2, groups), as is the next
        is_sibling = (verdicts.family_of_model[sides] == family) & ~is_own
        self.own = is_own[0] * 1.0 - is_own[1]
        self.of_family = is_sibling[0] * 1.0 - is_sibling[1]
        self.counts = np.stack(
            [np.bincount(self.group, verdicts.outcome == of, len(present)) for of in OUTCOMES]
        )
        self.has_ties = np.bincount(self.judge, self.counts[TIED], judges) > 0  # (judges,)
        self.has_lengths = bool(verdicts.x.any())
        # Place of each entry of a group, (8, groups): those of eta, strengths twice; of length,
        # times x; of tie.
        codes = (
            self.first,
            self.second,
            self.judge,
            self.judge,
            family,
            self.judge,
            self.judge,
            self.judge,
        )
        starts = [self.terms.start[kind] for kind in (STRENGTH, *KINDS)]
        self.places = np.stack([start + of for start, of in zip(starts, codes, strict=True)])

    @cached_property
    def present(self) -> np.ndarray:
        """Which terms some verdict carries, (terms,) of bool."""
        ones = np.ones(len(self.judge))
        lengths = np.bincount(self.group, np.abs(self.verdicts.x), len(self.judge))
        entries = [ones, ones, ones, self.own, self.of_family, ones, lengths, self.counts[TIED]]
        return (
            np.bincount(self.places.ravel(), np.abs(np.concatenate(entries)), self.terms.count) > 0
        )

    @cached_property
    def outcomes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Verdicts, those for a less those for b, and ties: of each group or, where lengths differ,
        of each verdict.
        """
        counts = self.counts
        if self.has_lengths:
            counts = np.stack([self.verdicts.outcome == outcome for outcome in OUTCOMES]) * 1.0
        return counts.sum(axis=0), counts[A_WINS] - counts[B_WINS], counts[TIED] * 1.0

    def entries(self, coefficients: np.ndarray) -> np.ndarray:
        """Derivatives of eta by the coefficients at `places`, but of length by x and of log nu by
        tie, (8, groups).
        """
        strength = coefficients[self.terms.places(STRENGTH)]
        ones = np.ones(len(self.judge))
        sensitivity = coefficients[self.places[2]]
        difference = strength[self.first] - strength[self.second]
        return np.stack(
            [sensitivity, -sensitivity, difference, self.own, self.of_family, self.sign, ones, ones]
        )

    def eta(self, coefficients: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """The log odds of each verdict, (verdicts,), or, without lengths, of each group,
        (groups,).
        """
        eta = (entries[2:LINEAR] * coefficients[self.places[2:LINEAR]]).sum(axis=0)
        if self.has_lengths:
            eta = eta[self.group] + coefficients[self.places[6]][self.group] * self.verdicts.x
        return eta

    def at(self, coefficients: np.ndarray) -> State:
        """The likelihood and its derivatives at some coefficients, (terms,)."""
        return State(self, coefficients)


class State:
    """Log-likelihood, gradient and information at some coefficients."""

    def __init__(self, cells: PairCells, coefficients: np.ndarray) -> None:
        """coefficients: (terms,)."""
        self.cells, self.entries = cells, cells.entries(coefficients)
        eta = cells.eta(coefficients, self.entries)
        log_nu = coefficients[cells.places[7]]
        nu = np.where(cells.has_ties[cells.judge], np.exp(log_nu), 0.0)
        if cells.has_lengths:
            nu, log_nu = nu[cells.group], log_nu[cells.group]
        # Weights over that of the likelier answer: 1, half^2 and nu half
        half = np.exp(-np.abs(eta) / 2)
        total = 1 + half * (half + nu)
        likelier = 1 / total
        other = half * half / total
        ahead = eta > 0
        # Of each group or verdict, (3, groups or verdicts).
        self.probability = np.stack(
            [np.where(ahead, likelier, other), np.where(ahead, other, likelier), nu * half / total]
        )
        n, lead, ties = cells.outcomes
        self.log_likelihood = float(
            lead @ eta / 2 + ties @ log_nu - n @ (np.abs(eta) / 2 + np.log(total))
        )

    def _summed(self, values: np.ndarray, power: int = 0) -> np.ndarray:
        """Sum values of groups, or of verdicts times x^power, by group, (groups,)."""
        cells = self.cells
        if not cells.has_lengths:
            return values * (power == 0)
        return np.bincount(
            cells.group, values * cells.verdicts.x**power if power else values, len(cells.judge)
        )

    @cached_property
    def _residuals(self) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the log-likelihood by eta and by log nu of each group or verdict."""
        n, lead, ties = self.cells.outcomes
        a, b, tie = self.probability
        return (lead - n * (a - b)) / 2, ties - n * tie

    @cached_property
    def gradient(self) -> np.ndarray:
        """(terms,)."""
        of_eta, of_tie = self._residuals
        sums = [*[self._summed(of_eta)] * LINEAR, self._summed(of_eta, 1), self._summed(of_tie)]
        return np.bincount(
            self.cells.places.ravel(), (self.entries * sums).ravel(), self.cells.terms.count
        )

    def information(self, *, observed: bool = True) -> np.ndarray:
        """Minus the Hessian, or its expectation, (terms, terms): they differ where strengths meet
        sensitivities.
        """
        n = self.cells.outcomes[0]
        a, b, tie = self.probability
        both = n * (a + b - (a - b) ** 2) / 4, -n * tie * (a - b) / 2, n * tie * (1 - tie)
        eta, eta_x, eta_xx = (self._summed(both[0], power) for power in range(3))
        weights = {
            (0, 0): eta,
            (0, 1): eta_x,
            (1, 1): eta_xx,
            (0, 2): self._summed(both[1]),
            (1, 2): self._summed(both[1], 1),
            (2, 2): self._summed(both[2]),
        }
        count = self.cells.terms.count
        places = self.cells.places
        total = np.zeros(count * count)
        for one, other in combinations_with_replacement(range(len(places)), 2):
            weight = weights[max(0, one - LINEAR + 1), max(0, other - LINEAR + 1)]
            products = self.entries[one] * self.entries[other] * weight
            total += np.bincount(
                places[one] * count + places[other], products / (1 + (one == other)), count * count
            )
        total = total.reshape(count, count)
        if observed:
            residual = self._summed(self._residuals[0])
            for place, sign in ((0, -1.0), (1, 1.0)):
                np.add.at(total, (places[place], places[2]), sign * residual)
        return total + total.T

    def scores(self) -> np.ndarray:
        """Gradients of the verdicts of each question, (items, terms)."""
        cells, count = self.cells, self.cells.terms.count
        a, b, tie = self.probability if cells.has_lengths else self.probability[:, cells.group]
        outcome = cells.verdicts.outcome
        x = cells.verdicts.x
        start = cells.verdicts.item * count
        of_eta = ((outcome == A_WINS) * 1.0 - (outcome == B_WINS) - a + b) / 2
        multiples = [*[of_eta] * LINEAR, of_eta * x, (outcome == TIED) - tie]
        total = np.zeros(cells.verdicts.items * count)
        for place, entry, multiple in zip(cells.places, self.entries, multiples, strict=True):
            total += np.bincount(
                start + place[cells.group], entry[cells.group] * multiple, len(total)
            )
        return total.reshape(cells.verdicts.items, count)
