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
WIN_RATES = {"win_rate": "strength", "win_rate_low": "ci_low", "win_rate_high": "ci_high"}
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
    answers = np.tile(verdicts.item, 2), np.concatenate([verdicts.first, verdicts.second])
    lengths_of_answers = np.concatenate([verdicts.x, -verdicts.x])
    sums, counts = np.zeros((2, verdicts.items, len(verdicts.models)))
    np.add.at(sums, answers, lengths_of_answers)
    np.add.at(counts, answers, 1)
    count = np.maximum(counts.sum(axis=0), 1)
    mean = np.bincount(answers[1], lengths_of_answers, len(count)) / count
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
    models = strengths.models
    values = strengths.values[models]
    change = np.where(raw.models, strengths.values - raw.values, np.nan)[models]
    columns = {"strength": values, "rank": score_ranks(values)}
    has_change = strengths is not raw
    if has_change:
        columns["change"] = change
    if questions > 1 and len(values) > 1:
        half = quantile(confidence, questions - 1)
        correction = np.sqrt(questions / (questions - 1))
        errors = correction * np.linalg.norm(strengths.influence, axis=0)[models]
        columns |= _interval("ci", values, half * errors) | {"std_error": errors}
        # Its square is the covariance
        root = np.linalg.qr(strengths.influence[:, models], mode="r")
        normal = np.random.default_rng(seed).standard_normal((DRAWS, len(root)))
        columns["rank_low"], columns["rank_high"] = rank_sets(
            values, values + normal @ root, prompts=questions, confidence=confidence
        )
        if has_change:
            moved = np.linalg.norm(strengths.influence - raw.influence, axis=0)[models]
            columns |= _interval("change_ci", change, half * correction * moved)
    rows = zip(*columns.values(), strict=True)
    for has_strength in models:
        if not has_strength:
            yield {"note": because(Reason.NO_STRENGTH)}
            continue
        row = dict(zip(columns, next(rows), strict=True))
        for rate, log_odds in WIN_RATES.items():
            if log_odds in row:
                row[rate] = probability(row[log_odds])
        yield row


def _interval(name: str, values: np.ndarray, reach: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}_low": values - reach, f"{name}_high": values + reach}
