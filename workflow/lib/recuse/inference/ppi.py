"""Prediction-powered inference: the mean human score of a model from the human scores of few
prompts and all ratings.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.base.tables import column_names
from recuse.data.selection import Selection
from recuse.data.study import StudyTables
from recuse.model.estimable import moments_of
from recuse.model.least_squares import quantile
from recuse.model.prompt_sums import products, sum_by_prompt
from recuse.model.spec import Spec

PPI = column_names(
    "study model method prompts draws labels full_mean std_error width rmse covered saved note",
)

# Methods of estimating a human mean
HUMANS, JUDGES, STRATA = "humans alone", "judges", "judges by dimension and relation"
FEW_LABELLED = 30  # labelled prompts: results of fewer are unreliable


@dataclass(frozen=True)
class Scores:
    """Scores of one model's completions by humans and judges, by prompt.

    A part is a set of dimensions whose completions are pooled; a stratum is a set of ratings within
    a part, such as those of the judges of the model's family.
    """

    human: np.ndarray  # (prompts, parts) mean human score of the prompt's completions; NaN without
    judged: np.ndarray  # (prompts, strata) mean rating; NaN without
    completions: np.ndarray  # (prompts, parts) number of completions, with or without human scores
    part: np.ndarray  # (strata,) place of each stratum's part
    ratings: np.ndarray  # (strata,) number of ratings

    @property
    def shares(self) -> np.ndarray:
        """Share of each part in the completions, (parts,)."""
        return self.completions.sum(axis=0) / self.completions.sum()

    @property
    def shares_of_part(self) -> np.ndarray:
        """Share of each stratum in the ratings of its part, (strata,)."""
        return (
            self.ratings
            / np.bincount(self.part, self.ratings, minlength=self.human.shape[1])[self.part]
        )


@dataclass(frozen=True)
class PoweredMean:
    """Means with their standard errors, by prompt, and intervals, (...,) each; NaN where a part has
    fewer than two labels.
    """

    estimate: np.ndarray
    std_error: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    tuning: np.ndarray  # (..., strata) lambda of each stratum, mean over the labelled prompts


def powered_mean(
    scores: Scores, labelled: np.ndarray, *, confidence: float, folds: int = 1
) -> PoweredMean:
    """Estimate the mean human score over all completions from those of the `labelled` prompts.

    With w_d the share of part d in the completions, ybar_d its mean over labelled prompts and f_s
    the mean rating of stratum s, of part d(s), over labelled (L) or unlabelled (U) prompts:
      estimate  sum_d w_d ybar_d + sum_s lambda_s w_d(s) (f_s,U - f_s,L)
    Prompts are the units: with a_p, g_ps and c_ps the centred contributions of prompt p to sum_d
    w_d ybar_d, w_d(s) f_s,L and w_d(s) f_s,U,
      std_error^2  sum over L of (a_p - sum_s lambda_s g_ps)^2 + sum over U of (sum_s lambda_s
      c_ps)^2
    and the interval is estimate -+ z std_error. Power tuning: lambda_s = kappa r_s max(0, b_s), cut
    to 0..1, with r_s the share of the stratum in its part's ratings, b_s the best value for its
    part alone, and kappa the factor that is then best for the whole, as the strata of a prompt are
    correlated. Fitting all lambda_s jointly takes more labels than the strata save. With one part
    and one stratum these are the numbers of ppi_mean_ci of ppi-python. Source: Angelopoulos, Duchi
    and Zrnic (2023), PPI++ (arXiv 2311.01453), section 6; strata: Fisch et al. (2024), Stratified
    PPI (arXiv 2406.04291).

    So tuned, lambda minimises the squares of these same prompts, and std_error is too small where
    labels are few. With two `folds` or more it is cross-fitted: lambda of a labelled prompt comes
    from the labelled prompts of the other folds, and that of the unlabelled ones is its mean. Each
    sum of squares over n prompts is then multiplied by n / (n - 1), and z is a quantile of t with
    (labelled prompts - 1) degrees of freedom. Source: Zrnic and Candes (2024),
    Cross-prediction-powered inference (arXiv 2309.16598), for the folds.

    labelled: (..., prompts) of bool, sets of as many prompts each. lambda is 0 for a stratum of
    fewer than two labelled or two unlabelled prompts.
    """
    part, shares, size = scores.part, scores.shares, scores.completions.astype(float)
    places = np.nonzero(labelled)[-1].reshape(*labelled.shape[:-1], -1)
    judged = _Weighed.of(scores.judged, size[:, part])
    labels, shown = _Weighed.of(scores.human, size).among(places), judged.among(places)
    others = judged.count - shown.count  # unlabelled prompts, (..., strata), as the next three
    total = np.where(others > 0, judged.weight.sum(axis=0) - shown.weight.sum(axis=-2), 1.0)
    # The mean of all
    above = (shown.centred + shown.weight * (shown.mean - judged.mean)[..., None, :]).sum(
        axis=-2
    ) / -total
    # The variance of f_U - f_L comes from all prompts, labelled or not.
    factor = (shown.count / shown.total**2 + others / total**2) / np.maximum(judged.count - 1, 1)
    scale = np.where((shown.count > 1) & (others > 1), shares[part] * np.sqrt(factor), 0.0)
    tuning = _cross_fitted(
        scores, labels, shown, scale[..., None] * scale[..., None, :] * judged.products, folds
    )
    mean_tuning = (shown.share * tuning).sum(axis=-2)
    moved = mean_tuning * (judged.mean + above - shown.mean) - (shown.added * tuning).sum(axis=-2)
    estimate = labels.mean @ shares + moved @ shares[part]

    def inflated(count: np.ndarray) -> np.ndarray:
        return np.sqrt(count / np.maximum(count - 1, 1)) if folds > 1 else np.ones_like(count)

    ratings = shown.added * (inflated(shown.count) * shares[part])[..., None, :]
    of_labels = (labels.added * inflated(labels.count)[..., None, :]) @ shares - (
        ratings * tuning
    ).sum(axis=-1)
    step = inflated(others) * shares[part] * mean_tuning / total
    # (..., prompts)
    of_others = np.where(labelled, 0.0, step @ judged.centred.T - (step * above) @ judged.weight.T)
    error = np.sqrt((of_labels**2).sum(axis=-1) + (of_others**2).sum(axis=-1))
    dfs, df = np.unique(size[places].any(axis=-1).sum(axis=-1) - 1, return_inverse=True)
    reach = (
        np.array([quantile(confidence, df if folds > 1 else math.inf) for df in dfs])[df] * error
    )
    determined = (labels.count > 1).all(axis=-1)
    numbers = (
        np.where(determined, values, np.nan)
        for values in (estimate, error, estimate - reach, estimate + reach)
    )
    return PoweredMean(*numbers, np.where(determined[..., None], mean_tuning, np.nan))


@dataclass(frozen=True)
class _Weighed:
    """Weighted means of columns, over the rows with a weight; 0 of a column without such rows."""

    values: np.ndarray  # (..., rows, columns)
    weight: np.ndarray  # the same shape

    @classmethod
    def of(cls, values: np.ndarray, weight: np.ndarray) -> "_Weighed":
        """The columns with NaN left out."""
        return cls(np.nan_to_num(values), np.where(np.isnan(values), 0.0, weight))

    def among(self, rows: np.ndarray) -> "_Weighed":
        """The same over some rows."""
        return _Weighed(self.values[..., rows, :], self.weight[..., rows, :])

    @cached_property
    def count(self) -> np.ndarray:
        """Rows with a weight, (..., columns)."""
        return (self.weight > 0).sum(axis=-2)

    @cached_property
    def total(self) -> np.ndarray:
        """Sum of the weights, (..., columns); 1 without any."""
        return np.where(self.count > 0, self.weight.sum(axis=-2), 1.0)

    @cached_property
    def mean(self) -> np.ndarray:
        """The means, (..., columns)."""
        return (self.weight * self.values).sum(axis=-2) / self.total

    @cached_property
    def centred(self) -> np.ndarray:
        """What each row adds to the sum, less the mean, (..., rows, columns)."""
        return self.weight * (self.values - self.mean[..., None, :])

    @property
    def added(self) -> np.ndarray:
        """Centred contribution of each row to the mean, (..., rows, columns)."""
        return self.centred / self.total[..., None, :]

    @property
    def share(self) -> np.ndarray:
        """Share of each row in the mean, (..., rows, columns)."""
        return self.weight / self.total[..., None, :]

    @cached_property
    def products(self) -> np.ndarray:
        """Sums of squares and products of what rows add, (..., columns, columns)."""
        return self.centred.swapaxes(-1, -2) @ self.centred


def _cross_fitted(
    scores: Scores, labels: _Weighed, shown: _Weighed, variance: np.ndarray, folds: int
) -> np.ndarray:
    """Tune the strata of each labelled prompt by the labels of other folds, (..., labelled,
    strata), or by all in one fold.

    Folds take the labelled prompts in turn. labels, shown: human scores and ratings of the labelled
    prompts. variance: of f_U - f_L, (..., strata, strata).
    """
    part, count = scores.part, shown.weight.shape[-2]
    fold, alone = np.arange(count) % folds, np.einsum("...ss->...s", variance)
    tuning = np.empty(shown.weight.shape)
    for number in range(folds) if len(part) else ():
        others = np.flatnonzero((fold != number) | (folds == 1))
        # Contributions to the means, as if all labelled prompts were in these folds.
        human = labels.among(others).added * scores.shares
        ratings = shown.among(others).added * (scores.shares[part] * len(others) / count)
        explained = (ratings * human[..., part]).sum(axis=-2)
        slopes = np.divide(explained, alone, out=np.zeros_like(explained), where=alone > 0)
        slopes = np.maximum(slopes, 0.0) * scores.shares_of_part
        together = (human.sum(axis=-1)[..., None, :] @ ratings)[..., 0, :]
        cost = ((slopes[..., None, :] @ variance)[..., 0, :] * slopes).sum(axis=-1, keepdims=True)
        gain = (together * slopes).sum(axis=-1, keepdims=True)
        kappa = np.divide(gain, cost, out=np.zeros_like(cost), where=cost > 0)
        tuning[..., fold == number, :] = np.clip(slopes * kappa, 0.0, 1.0)[..., None, :]
    return tuning


# Ratings of a model by itself, by its family's other judges, by the rest
SELF, FAMILY, OTHERS = range(3)
FOLDS = 5  # of the labelled prompts
SMALL_SAMPLE = f"fewer than {FEW_LABELLED} labelled prompts"
NO_DRAW = "no draw has two labelled prompts in each dimension"
NO_SPREAD = "nothing to save: the human scores of the labelled prompts are all equal"


@dataclass(frozen=True)
class PromptScores:
    """Sums over the rows of each prompt, model, dimension and relation of judge and model."""

    models: np.ndarray  # (M,) of str
    n: np.ndarray  # (prompts, M, D, 3) rows; the last axis is SELF, FAMILY, OTHERS
    human: np.ndarray  # the same shape: sum of the human scores, on the unit scale
    rating: np.ndarray  # the same shape: sum of the ratings

    def of(self, model: int) -> Mapping[str, Scores]:
        """The scores of a model by method."""
        dimensions = self.n[:, model].any(axis=(0, 2))
        # (prompts, D, 3)
        n, human, rating = (
            sums[:, model][:, dimensions] for sums in (self.n, self.human, self.rating)
        )
        completions = n.any(axis=2)
        by_dimension = _quotient(human.sum(axis=2), n.sum(axis=2))
        # A completion counts once, however many judges rated it.
        whole = completions.sum(axis=1, keepdims=True)
        mean = _quotient(np.nansum(by_dimension, axis=1, keepdims=True), whole)
        judged = _quotient(rating.sum(axis=(1, 2))[:, None], n.sum(axis=(1, 2))[:, None])
        strata = np.flatnonzero(n.any(axis=0))  # of (dimension, relation)
        flat = _quotient(rating, n).reshape(len(n), -1)[:, strata]
        counts = n.sum(axis=0).ravel()[strata]
        return {
            HUMANS: Scores(mean, judged[:, :0], whole, np.zeros(0, dtype=int), np.zeros(0)),
            JUDGES: Scores(mean, judged, whole, np.zeros(1, dtype=int), np.array([n.sum()])),
            STRATA: Scores(by_dimension, flat, completions, strata // 3, counts),
        }


def prompt_scores(spec: Spec, study: StudyTables) -> PromptScores:
    """Sum the rows of the spec's subset by prompt, in one pass: 9 numbers for each prompt, model
    and dimension.
    """
    moments = moments_of(spec, study)
    ((_, mask),) = Selection(subset=spec.selection.subset).slices(moments.factors)
    factors = {factor: values[mask] for factor, values in moments.factors.items()}
    models, model = np.unique(factors["model"], return_inverse=True)
    dimensions, dimension = np.unique(factors["dimension"], return_inverse=True)
    same = factors["model_family"] == factors["judge_family"]
    relation = np.select([factors["model"] == factors["judge"], same], [SELF, FAMILY], OTHERS)
    shape = (len(models), len(dimensions), 3)
    cell = np.full(len(mask), -1)
    cell[mask] = np.ravel_multi_index((model, dimension, relation), shape)
    width = moments.tensor.shape[1] - 1
    wanted = [products(width).index(pair) for pair in ((0, 0), (0, 1), (0, width))]
    parts = [
        sums[:, wanted]
        for block in study.row_blocks(spec.selection, moments.factors)
        for _, sums in sum_by_prompt(block, cell, int(np.prod(shape)))
    ]
    # There may be no rows
    sums = np.concatenate([np.empty((0, len(wanted), np.prod(shape))), *parts])
    n, human, rating = sums.swapaxes(0, 1).reshape(len(wanted), len(sums), *shape)
    return PromptScores(models, n, human, rating)


def ppi_rows(
    scores: PromptScores, *, labelled: Sequence[int], draws: int, confidence: float, seed: int
) -> Iterator[dict]:
    """Yield the rows of the table of prediction-powered estimates: for each model, number of
    labelled prompts and method.

    Prompts are drawn at random, `draws` times, the same for all models and methods; a larger set
    contains the smaller ones. Estimates are cross-fitted, with FOLDS. draws: those in which all
    methods have an estimate. labels, width: means over draws of the completions that humans score
    and of the interval's width. std_error, rmse: root mean squares. covered: share of draws whose
    interval contains the truth. saved: share of labels that the judges save, 1 - (std_error / that
    of humans alone)^2, below 0 where they cost some. Draws deviate from the mean of the study's own
    prompts, full_mean, while intervals are for the population mean: rmse^2 has the variance of
    full_mean added, and for `covered` it is subtracted from std_error^2. Numbers of prompts beyond
    half of all are left out.
    """
    prompts, settings = len(scores.n), {"confidence": confidence, "folds": FOLDS}
    generator = np.random.default_rng(seed)
    orders = np.array([generator.permutation(prompts) for _ in range(draws)])
    for place, model in enumerate(scores.models):
        by_method = scores.of(place)
        full = powered_mean(by_method[HUMANS], np.ones(prompts, dtype=bool), **settings)
        for count in (count for count in labelled if count <= prompts // 2):
            sets = np.zeros(orders.shape, dtype=bool)  # (draws, prompts)
            np.put_along_axis(sets, orders[:, :count], True, axis=1)
            means = {
                method: powered_mean(each, sets, **settings) for method, each in by_method.items()
            }
            determined = ~np.any([np.isnan(each.estimate) for each in means.values()], axis=0)
            labels = sets[determined] @ by_method[HUMANS].completions
            about = {
                "model": str(model),
                "prompts": count,
                "draws": len(labels),
                "full_mean": float(full.estimate),
            }
            if not len(labels):
                yield from ({**about, "method": method, "note": NO_DRAW} for method in by_method)
                continue
            rows = {method: _over_draws(each, determined, full) for method, each in means.items()}
            alone = rows[HUMANS]["std_error"]
            notes = [
                *([] if alone > 0 else [NO_SPREAD]),
                *([SMALL_SAMPLE] if count < FEW_LABELLED else []),
            ]
            about |= {"labels": float(np.mean(labels)), "note": "; ".join(notes)}
            for method, row in rows.items():
                saved = {"saved": 1 - (row["std_error"] / alone) ** 2} if alone > 0 else {}
                yield about | {"method": method} | saved | row


def _over_draws(means: PoweredMean, kept: np.ndarray, full: PoweredMean) -> dict[str, float]:
    """Columns of the means of some draws, (draws,) of bool."""
    columns = (means.estimate, means.std_error, means.ci_high - means.ci_low)
    estimate, error, width = (values[kept] for values in columns)
    deviation = estimate - full.estimate
    # In standard errors
    reach = np.divide(width / 2, error, out=np.zeros(len(error)), where=error > 0)
    covered = np.abs(deviation) <= reach * np.sqrt(np.maximum(error**2 - full.std_error**2, 0.0))
    return {
        "std_error": float(np.sqrt((error**2).mean())),
        "width": float(width.mean()),
        "covered": float(covered.mean()),
        "rmse": float(np.sqrt((deviation**2).mean() + full.std_error**2)),
    }


def _quotient(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
