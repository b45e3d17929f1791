"""How few human labels would do: intervals of models' human means from the labels of some prompts and the ratings of all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from judgebias.fits.prompt_sums import products, sum_by_prompt
from judgebias.fits.spec import Spec
from judgebias.inference.ppi import PoweredMean, Scores, powered_mean
from judgebias.inference.words import FEW_LABELLED, HUMANS, JUDGES, STRATA
from judgebias.ratings.study import Study

SELF, FAMILY, OTHERS = range(3)  # whose ratings of a model: its own, those of its family's other judges, the rest
FOLDS = 5  # of the labelled prompts: how far to believe the judges is told by the others
FEW_PROMPTS = f"fewer than {FEW_LABELLED} labelled prompts"
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
        """Lay out the scores of a model for each way of using the judges."""
        n, human, rating = (values[:, model] for values in (self.n, self.human, self.rating))  # (prompts, D, 3)
        dimensions = n.any(axis=(0, 2))
        n, human, rating = n[:, dimensions], human[:, dimensions], rating[:, dimensions]
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


def prompt_scores(spec: Spec, study: Study) -> PromptScores:
    """Sum the rows of the spec's subset by prompt, in one pass; holds 9 numbers for each prompt, model and dimension."""
    moments = study.moments_for(spec)
    ((_, mask),) = Spec(spec.name, subset=spec.subset).slices(moments.factors)
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
    found = [
        sums[:, wanted]
        for block in study.row_blocks(spec, moments.factors)
        for _, sums in sum_by_prompt(block, cell, int(np.prod(shape)))
    ]
    sums = np.concatenate([np.empty((0, len(wanted), np.prod(shape))), *found])  # there may be no rows
    n, human, rating = sums.swapaxes(0, 1).reshape(len(wanted), len(sums), *shape)
    return PromptScores(models, n, human, rating)


def widths(scores: PromptScores, *, labelled: Sequence[int], draws: int, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of few labels: for each model, way of using the judges and number of labelled prompts.

    Prompts are drawn at random, `draws` times, the same for all models and ways; a larger set holds the smaller ones. Estimates
    are cross-fitted, with FOLDS, and all ways have the draws in which each of them determines one, which are `draws`. Columns:
    prompts; means over draws of labels (completions that humans score) and of the width of the interval; the root mean squares
    of std_error and, as rmse, of the error; covered, the share of draws whose interval holds the truth; and saved, the share of
    labels that the judges save, 1 - (std_error / that of humans alone)^2, below 0 where they cost some.
    A draw is of the study's own prompts, and its error is known about their mean, `full_mean`, alone. An interval is about the
    mean of ever so many prompts. So rmse^2 has the variance of full_mean added, and what `covered` counts has it taken from
    std_error^2. Numbers of prompts beyond half of all are left out.
    """
    prompts, how = len(scores.n), {"confidence": confidence, "folds": FOLDS}
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(prompts) for _ in range(draws)]
    for place, model in enumerate(scores.models):
        ways = scores.of(place)
        full = powered_mean(ways[HUMANS], np.ones(prompts, dtype=bool), **how)
        for count in (count for count in labelled if count <= prompts // 2):
            sets = [np.isin(np.arange(prompts), order[:count]) for order in orders]
            found = {way: [powered_mean(each, own, **how) for own in sets] for way, each in ways.items()}
            known = [all(not np.isnan(means[draw].estimate) for means in found.values()) for draw in range(draws)]
            labels = [ways[HUMANS].completions[own].sum() for own, kept in zip(sets, known, strict=True) if kept]
            rows = {way: _over_draws(list(compress(means, known)), full) for way, means in found.items()}
            alone = rows[HUMANS].get("std_error", 0.0)
            for way, row in rows.items():
                about = {"model": str(model), "method": way, "prompts": count, "draws": len(labels), "full_mean": full.estimate}
                about |= {"labels": float(np.mean(labels))} if labels else {}
                about |= {"saved": 1 - (row["std_error"] / alone) ** 2} if alone > 0 else {}
                yield about | row | {"note": _note(count, len(labels), alone)}


def _over_draws(means: Sequence[PoweredMean], full: PoweredMean) -> dict[str, float]:
    """What estimates say together; nothing where there is none."""
    if not means:
        return {}
    estimate, error, width = np.array([(mean.estimate, mean.std_error, mean.ci_high - mean.ci_low) for mean in means]).T
    beyond = estimate - full.estimate
    reach = np.divide(width / 2, error, out=np.zeros(len(error)), where=error > 0)  # in standard errors
    covered = np.abs(beyond) <= reach * np.sqrt(np.maximum(error**2 - full.std_error**2, 0.0))
    numbers = {
        "std_error": np.sqrt((error**2).mean()), "width": width.mean(), "covered": covered.mean(),
        "rmse": np.sqrt((beyond**2).mean() + full.std_error**2),
    }  # fmt: skip
    return {column: float(value) for column, value in numbers.items()}


def _note(prompts: int, draws: int, alone: float) -> str:
    if not draws:
        return NO_DRAW
    notes = [] if alone > 0 else [NO_SPREAD]
    return "; ".join([*notes, FEW_PROMPTS] if prompts < FEW_LABELLED else notes)


def _quotient(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
