"""Strengths of the models by all judges' verdicts, as they are and without the judges' biases, with
sets of their ranks.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.inference.leaderboard import DEBIASED, HUMAN, RAW, rank_sets, score_ranks
from recuse.model.least_squares import quantile
from recuse.pairwise.davidson import (
    LENGTH,
    POSITION,
    SENSITIVITY,
    STRENGTH,
    TIE,
    PairCells,
    Verdicts,
)
from recuse.pairwise.maximum import MaximumFit, fit_maximum
from recuse.pairwise.regression import Regression, probability

STRENGTHS = column_names(
    "study scores model strength std_error ci_low ci_high win_rate win_rate_low win_rate_high",
    "rank rank_low rank_high change change_ci_low change_ci_high note",
)

EQUAL_LENGTH = "equal_length"
DRAWS = 1000
QUANTILES = tuple((2 * place + 1) / 18 for place in range(9))
JUDGED = (SENSITIVITY, POSITION, LENGTH)


class Strengths(NamedTuple):
    """Strengths of some models, log odds against an average answer, and the influence of the
    questions on them.
    """

    models: np.ndarray  # (models,) of bool: which have one
    values: np.ndarray  # (models,)
    influence: np.ndarray  # (items, models)


def strength_rows(of: Regression, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of strengths, for each kind of score and model.

    Strengths are the log odds of a model's answer against an average one, by Bradley-Terry models
    with ties for each judge:

    * raw: of the verdicts as they are;
    * debiased: of B, without the terms self_bias and family_bias and in both orders alike, as an
      average verdict shows them (see `_standardised`): a model with its terms has more extreme log
      odds than the verdicts as they are;
    * equal_length: the same, if the models' answers were on average of equal length;
    * human: of the human labels as they are.

    win_rate = 1 / (1 + exp(-strength)). Errors are clustered by question; rank sets are those of
    `rank_sets`, from draws of a normal distribution with the covariance of the strengths. change:
    strength less that of the kind raw.
    """
    both = of.against_judges.fit
    kinds = {RAW: _raw(of.verdicts), DEBIASED: _standardised(both, lengths=True)}
    if both.cells.has_lengths:
        kinds[EQUAL_LENGTH] = _standardised(both, lengths=False)
    if of.humans is not None:
        kinds[HUMAN] = _raw(of.compared.humans)
    for kind, strengths in kinds.items():
        verdicts = of.compared.humans if kind == HUMAN else of.verdicts
        for model, row in zip(
            of.verdicts.models,
            _rows(kinds[RAW], strengths, len(np.unique(verdicts.item)), confidence, seed),
            strict=True,
        ):
            yield {"scores": kind, "model": model, **row}


def _raw(verdicts: Verdicts) -> Strengths:
    return _fitted_strengths(
        fit_maximum(PairCells(replace(verdicts, x=np.zeros(len(verdicts.x)))), (STRENGTH, TIE))
    )


def _fitted_strengths(fitted: MaximumFit) -> Strengths:
    places = fitted.cells.terms.places(STRENGTH)
    return Strengths(
        fitted.identified[places], fitted.coefficients[places], fitted.influence[:, places]
    )


def _standardised(fitted: MaximumFit, *, lengths: bool) -> Strengths:
    """Strengths of B as an average verdict shows them, with the error of all that they are made of.

    win_rate_m = mean over the judges of verdicts, both orders and QUANTILES of e of

        1 / (1 + exp(-(sensitivity_j strength_m +- position_j + length_j (x_m + e))))

    with x_m the mean of x over the model's verdicts, turned to its side (0 unless `lengths`), and e
    what is left of x: without e, and without both orders, models would be further apart than in the
    verdicts as they are.
    """
    terms = fitted.cells.terms
    verdicts = fitted.cells.verdicts
    plain = _fitted_strengths(fitted)
    if not plain.models.any():
        return plain
    known = fitted.identified
    values = np.where(known, fitted.coefficients, terms.defaults())
    sensitivity, position, length = (values[terms.places(of)] for of in JUDGED)  # (judges,) each
    # (items, judges) each
    moved = [np.where(known, fitted.influence, 0.0)[:, terms.places(of)] for of in JUDGED]
    sides = (
        np.concatenate([verdicts.first, verdicts.second]),
        np.concatenate([verdicts.x, -verdicts.x]),
    )
    count = np.maximum(np.bincount(sides[0], minlength=len(verdicts.models)), 1)
    mean = np.bincount(*sides, len(verdicts.models)) / count
    by_item = (
        np.bincount(
            np.tile(verdicts.item, 2) * len(mean) + sides[0], each, verdicts.items * len(mean)
        )
        for each in (sides[1], None)
    )
    sums, counts = (each.reshape(verdicts.items, -1) for each in by_item)
    moved_mean = lengths * (sums - counts * mean) / count  # (items, models)
    left = verdicts.x - mean[verdicts.first] + mean[verdicts.second]
    of_judges = np.bincount(verdicts.judge, minlength=len(verdicts.judges)) / len(verdicts.judge)
    share = np.zeros(len(mean))
    influence = np.zeros_like(plain.influence)
    for e, sign in product(np.quantile(np.concatenate([left, -left]), QUANTILES), (-1, 1)):
        x = mean * lengths + e
        # (models, judges)
        odds = np.outer(plain.values, sensitivity) + sign * position + np.outer(x, length)
        chance = 1 / (1 + np.exp(-odds))
        weights = of_judges / (2 * len(QUANTILES))
        slopes = chance * (1 - chance) * weights
        share += chance @ weights
        influence += plain.influence * (slopes @ sensitivity) + sign * moved[1] @ slopes.T
        influence += (
            moved[0] @ (slopes * plain.values[:, None]).T
            + moved[2] @ (slopes * x[:, None]).T
            + moved_mean * (slopes @ length)
        )
    return Strengths(plain.models, np.log(share / (1 - share)), influence / (share * (1 - share)))


def _rows(
    raw: Strengths, strengths: Strengths, questions: int, confidence: float, seed: int
) -> Iterator[dict]:
    """Yield the columns of each model."""
    models, values, influence = strengths
    change = values - raw.values
    moved = np.linalg.norm(influence - raw.influence, axis=0)
    correction = np.sqrt(questions / (questions - 1)) if questions > 1 else np.nan
    errors = correction * np.linalg.norm(influence, axis=0)
    half = quantile(confidence, max(1, questions - 1))
    sets = None
    if questions > 1 and models.sum() > 1:
        root = np.linalg.qr(influence[:, models], mode="r")  # whose square is the covariance
        normal = np.random.default_rng(np.random.SeedSequence(seed)).standard_normal(
            (DRAWS, len(root))
        )
        sets = rank_sets(
            values[models], values[models] + normal @ root, prompts=questions, confidence=confidence
        )
    place = np.cumsum(models) - 1
    rank = score_ranks(values[models])
    for model, value in enumerate(values):
        if not models[model]:
            yield {"note": because(Reason.NO_STRENGTH)}
            continue
        row = {"strength": value, "win_rate": probability(value), "rank": int(rank[place[model]])}
        has_change = strengths is not raw and raw.models[model]
        if has_change:
            row["change"] = change[model]
        if sets is not None:
            low = value - half * errors[model]
            high = value + half * errors[model]
            row |= {
                "std_error": errors[model],
                "ci_low": low,
                "ci_high": high,
                "win_rate_low": probability(low),
                "win_rate_high": probability(high),
                "rank_low": int(sets[0][place[model]]),
                "rank_high": int(sets[1][place[model]]),
            }
        if sets is not None and has_change:
            reach = half * correction * moved[model]
            row |= {"change_ci_low": change[model] - reach, "change_ci_high": change[model] + reach}
        yield row
