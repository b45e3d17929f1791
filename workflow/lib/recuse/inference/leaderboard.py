"""Leaderboards: scores and ranks of models, before and after the estimated self- and family-bias is subtracted.

Scores compare models over the same judges, so that no model gains by having mild ones. Intervals, and sets that contain all
true ranks at once, come from resamples of prompts, and are wider where prompts are few.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recuse.base.database import connect, create_table, write_rows
from recuse.data.files import ASKED
from recuse.data.moments import RATING, REFERENCE, Moments
from recuse.data.study import Study
from recuse.inference.judge_model import AdditiveFit
from recuse.model.covariance import FEW
from recuse.model.design import estimable_terms
from recuse.model.estimable import moments_of, slices_of
from recuse.model.fit import Coefficient, fit_slice, prompt_errors
from recuse.model.prompt_sums import SliceCells, add_prompts, products
from recuse.model.resampling import ResampledTotals
from recuse.model.spec import BIASES, Spec, estimand_of

RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY = "raw", "debiased", "leave_self_out", "leave_family_out"  # scores of models
HUMAN = "human"


@dataclass(frozen=True)
class Pairs:
    """The pairs of a judge and a model in one slice: all its judges by all its models."""

    judges: np.ndarray  # (J,) of str
    models: np.ndarray  # (M,) of str
    pair: np.ndarray  # (groups,) place of each group's pair in the raveled (J, M)

    @classmethod
    def of(cls, moments: Moments) -> "Pairs":
        """The pairs of the groups of `moments`."""
        judges, judge = np.unique(moments.factors["judge"], return_inverse=True)
        models, model = np.unique(moments.factors["model"], return_inverse=True)
        return cls(judges, models, judge * len(models) + model)

    @property
    def shape(self) -> tuple[int, int]:
        """(J, M)."""
        return len(self.judges), len(self.models)

    def means(self, moments: Moments) -> np.ndarray:
        """Means over the rows of each pair, (2, J, M), on the unit scale: ratings, then human scores; NaN without rows."""
        sums = moments.tensor[:, 0, 0, 0].T
        totals = [np.bincount(self.pair, sums[place], minlength=np.prod(self.shape)) for place in (0, RATING, REFERENCE)]
        return _quotients(np.concatenate(totals)).reshape(2, *self.shape)


class PairTotals(ResampledTotals):
    """Rows, ratings and human scores of the pairs of one slice in resamples of its prompts, those of a PromptBootstrap."""

    def __init__(self, pairs: Pairs, width: int, **resamples: int) -> None:
        """width: the rating's place, as in `products`."""
        super().__init__(3 * int(np.prod(pairs.shape)), **resamples)
        self._summed = [products(width).index(product) for product in ((0, 0), (0, width), (0, 1))]

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`, a cell for each pair."""
        super().add(prompts, sums[:, self._summed].reshape(len(sums), -1))


def resampled_means(spec: Spec, study: Study, *, replicates: int, seed: int) -> list[np.ndarray | None]:
    """Means of the pairs of each slice of the spec, (replicates, 2, J, M), in one pass over the rows: ratings, human scores.

    None for a slice without rows; NaN where a replicate has no row of the pair.
    """
    moments = moments_of(spec, study)
    slices = []
    for _, mask in spec.selection.slices(moments.factors):
        pairs = Pairs.of(moments.select(mask))
        draws = {"prompts": study.prompts, "replicates": replicates, "seed": seed}
        totals = PairTotals(pairs, moments.tensor.shape[1] - 1, **draws) if mask.any() else None
        slices.append((SliceCells(np.flatnonzero(mask), pairs.pair, int(np.prod(pairs.shape))), pairs.shape, totals))
    takers = [(cells, [totals]) for cells, _, totals in slices if totals is not None]
    add_prompts(takers, study.row_blocks(spec.selection, moments.factors) if takers else (), len(moments.n))
    return [None if totals is None else _quotients(totals.totals()).reshape(-1, 2, *shape) for _, shape, totals in slices]


def _quotients(totals: np.ndarray) -> np.ndarray:
    """Means (..., 2, pairs) of totals (..., 3 pairs): rows of all pairs, ratings, human scores; NaN without rows."""
    rows, *sums = np.split(totals, 3, axis=-1)
    return np.stack([np.divide(total, rows, out=np.full_like(total, np.nan), where=rows > 0) for total in sums], axis=-2)


def expanded(z: float, prompts: int) -> float:
    """Return sqrt(P / (P - 1)) t, with t the quantile of t with P - 1 degrees of freedom at the level of the normal's z.

    The variance of resamples of P prompts is (P - 1) / P of that of samples, and is itself uncertain: a quantile z standard
    deviations out should be this far out. Source: Hesterberg (2015), "What teachers should know about the bootstrap", The
    American Statistician 69, section 5.3, expanded percentile intervals.
    """
    from scipy.special import ndtr, stdtrit

    return math.sqrt(prompts / (prompts - 1)) * -float(stdtrit(prompts - 1, ndtr(-z)))


def tail(confidence: float, prompts: int) -> float:
    """Share of the replicates beyond each end of an interval of level `confidence`, (1 - confidence) / 2 with many prompts."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(-expanded(-ndtri((1 - confidence) / 2), prompts)))


SAME = 1e-9  # points of the unit scale: scores that differ by less are equal but for rounding, as ratings are on a grid


def ranks(scores: np.ndarray) -> np.ndarray:
    """Rank scores, (models,), 1 the highest: 1 + number of higher ones, so that equal scores share the lower number."""
    return 1 + (scores - scores[:, None] > SAME).sum(axis=1)


def rank_sets(scores: np.ndarray, replicates: np.ndarray, *, prompts: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest rank in the set of each model, (models,) each.

    With D_mk the difference of two scores, D*_mk that of a replicate, s_mk the standard deviation (n - 1) of D*_mk, and c the
    `confidence` quantile over replicates of max over pairs |D*_mk - D_mk| / s_mk, `expanded` for the number of prompts, k is
    above m where D_km > c s_mk. The set of m runs from 1 + (models above it) to models - (models below it); with probability
    `confidence` all sets contain the true ranks. Source: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for
    ranks with applications to mobility across neighbourhoods and academic achievement across countries", section 3.

    scores: (models,) without NaN; replicates: (replicates, models), two or more; prompts: two or more.
    """
    differences = scores[:, None] - scores
    drawn = replicates[:, :, None] - replicates[:, None, :]
    spread = drawn.std(axis=0, ddof=1)
    varies = spread > SAME  # else the difference is the same in all resamples
    studentised = np.abs(drawn - differences)[:, varies] / spread[varies]
    critical = expanded(np.quantile(studentised.max(axis=1), confidence), prompts) if varies.any() else 0.0
    above = -differences > np.maximum(critical * spread, SAME)  # (m, k): k is above m
    return 1 + above.sum(axis=1), len(scores) - above.sum(axis=0)


def score_weights_of_pairs(kept: np.ndarray) -> np.ndarray:
    """Weights w, (M, J, M), of the means of pairs in the scores, sum of w[m] mean for model m; NaN if it has none.

    The score is c_m + mean of a_j over the remaining judges, of the least-squares fit mean_jm = a_j + c_m to the kept pairs,
    each as one observation: otherwise a model whose severe judges are left out would rise. Where all judges are kept for a
    model, it is their mean. It is not estimable where no chain of kept pairs links the models. kept: (J, M) of bool.
    """
    judges, models = kept.shape
    judge, model = np.indices(kept.shape)
    fit = AdditiveFit(judge.ravel(), model.ravel(), kept.ravel())
    left = kept.any(axis=1)
    mean = left / max(1, left.sum())
    target = np.concatenate([np.tile(mean, (models, 1)), np.eye(models)], axis=1)
    weights = np.zeros((models, judges, models))
    weights[:, kept] = target @ fit.inverse
    for whole in np.flatnonzero((kept == left[:, None]).all(axis=0)):  # equal to the fit, but for rounding
        weights[whole] = np.outer(mean, np.arange(models) == whole)
    weights[~fit.determined(target)] = np.nan
    return weights


NO_CHAIN = "not estimable: the remaining judges do not compare this model with the others"
NO_SPREAD = "no interval: all rows are of one prompt, or too few resamples determine every score"
SMALL_SAMPLE = "{prompts} prompts, fewer than {few}: intervals and rank sets may be too small, even with the t distribution"


def leaderboards(spec: Spec, study: Study, *, replicates: int, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the leaderboard table: for each slice of the spec with a term, kind of score and model.

    The score of a model is the mean over judges of the mean over rows, on the unit scale, in the pairs of judge and model that
    the kind keeps (see score_weights_of_pairs; a pair whose bias is not determined is left out):
      raw               rating
      debiased          rating - self_bias_j 1[m == j] - family_bias_F 1[m of the judge's family F, not the judge], of the spec
      leave_self_out    rating, without judges' ratings of their own answers
      leave_family_out  rating, without judges' ratings of their families
      human             human score, if the study has any
    Intervals are quantiles over a bootstrap by prompt that refits the spec and takes the means in the same resamples, so they
    include the uncertainty of the biases; `tail` of the replicates is beyond each end. std_error is their standard deviation
    (n - 1) times sqrt(P / (P - 1)), of P prompts. Replicates that do not determine every score are left out; `replicates`
    counts the others. `change` is score - raw score. Ranks and their sets: see rank_sets. All that the spec calls bias is
    subtracted: under estimand A this includes the effect of measurement error in the human scores (see measurement_error).
    """
    drawing, estimand = spec.changed(bootstrap=replicates), estimand_of(spec)
    errors = prompt_errors(drawing, study, seed=seed)
    resampled = resampled_means(spec, study, replicates=replicates, seed=seed)
    for (label, rows), of_prompts, means in zip(slices_of(spec, study), errors, resampled, strict=True):
        if of_prompts is None:
            continue
        pairs = Pairs.of(rows)
        drawn = means if of_prompts.replicates is not None else means[:0]
        values, human = np.concatenate([pairs.means(rows)[None], drawn]).swapaxes(0, 1)
        bias = _biases(spec, rows, pairs, fit_slice(drawing, label, rows, of_prompts).coefficients, len(drawn))
        family = np.zeros(pairs.shape, dtype=bool)
        family.ravel()[pairs.pair[rows.factors["judge_family"] == rows.factors["model_family"]]] = True
        sample = {"human": human if study.has_human_scores else None, "prompts": of_prompts.clusters.prompts}
        for row in leaderboard(pairs, values, bias, family, **sample, confidence=confidence):
            yield {"spec": spec.name, "slice": label, "estimand": estimand if row["scores"] == DEBIASED else "", **row}


def leaderboard(
    pairs: Pairs,
    means: np.ndarray,
    bias: np.ndarray,
    family: np.ndarray,
    *,
    human: np.ndarray | None,
    prompts: int,
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of one slice.

    means: (1 + replicates, J, M) of the ratings, first of all rows; bias: to be subtracted, the same shape; human: of the human
    scores, None without any; family: (J, M) of bool, the model is of the judge's family (or the judge).
    """
    rated = ~np.isnan(means[0])
    is_self = pairs.judges[:, None] == pairs.models
    kinds = {
        RAW: (means, rated),
        DEBIASED: (means - bias, rated & ~np.isnan(bias[0])),
        WITHOUT_SELF: (means, rated & ~is_self),
        WITHOUT_FAMILY: (means, rated & ~is_self & ~family),
    } | ({} if human is None else {HUMAN: (human, rated)})
    scores = {}  # of the models, (1 + replicates, M); NaN where they are not determined
    for kind, (values, kept) in kinds.items():
        scores[kind] = np.full(values.shape[::2], np.nan)
        if kept.any():
            scores[kind] = values[:, kept] @ score_weights_of_pairs(kept)[:, kept].T
        rows = _rows(kind, scores[kind], scores[RAW], prompts, confidence)
        for model, judges, row in zip(pairs.models, kept.sum(axis=0), rows, strict=True):
            yield {"scores": kind, "model": str(model), "judges": int(judges), **row}


def _biases(spec: Spec, rows: Moments, pairs: Pairs, coefficients: list[Coefficient], replicates: int) -> np.ndarray:
    """The bias of each pair by the spec's fit, in all rows and in each replicate: (1 + replicates, J, M)."""
    bias = np.zeros((1 + replicates, np.prod(pairs.shape)))
    for term, coefficient in zip(estimable_terms(spec, rows.factors), coefficients, strict=True):
        if term.quantity in BIASES:
            drawn = coefficient.replicates if replicates else np.empty(0)
            bias[:, np.unique(pairs.pair[term.carried])] = np.append(coefficient.estimate, drawn)[:, None]
    return bias.reshape(1 + replicates, *pairs.shape)


def _rows(kind: str, scores: np.ndarray, raw: np.ndarray, prompts: int, confidence: float) -> Iterator[dict]:
    """Yield the columns of each model; scores: (1 + replicates, models)."""
    compared = ~np.isnan(scores[0])
    scores = scores[:, compared]
    changes = scores - raw[:, compared]
    changes[np.abs(changes) < SAME] = 0.0
    drawn = np.flatnonzero(~np.isnan(changes[1:]).any(axis=1)) + 1  # raw scores, too, lack a pair without rows
    enough = len(drawn) > 1 and compared.any()
    if enough:
        lowest, highest = rank_sets(scores[0], scores[drawn], prompts=prompts, confidence=confidence)
        share = tail(confidence, prompts)
    rank = ranks(scores[0])
    for is_compared, number in zip(compared, np.cumsum(compared) - 1, strict=True):
        if not is_compared:
            yield {"note": NO_CHAIN}
            continue
        row = {"score": float(scores[0, number]), "rank": int(rank[number])}
        row |= {} if kind == RAW else {"change": float(changes[0, number])}
        if not enough:
            yield row | {"note": NO_SPREAD}
            continue
        error = scores[drawn, number].std(ddof=1) * np.sqrt(prompts / (prompts - 1))
        row |= {"std_error": float(error), "replicates": len(drawn)}
        row |= {"rank_low": int(lowest[number]), "rank_high": int(highest[number])}
        for prefix, values in [("", scores), *([] if kind == RAW else [("change_", changes)])]:
            low, high = np.quantile(values[drawn, number], [share, 1 - share])
            row |= {f"{prefix}ci_low": float(low), f"{prefix}ci_high": float(high)}
        yield row | ({"note": SMALL_SAMPLE.format(prompts=prompts, few=FEW)} if prompts < FEW else {})


KEYS = ("dimension", "dataset", "prompt_id", "occasion", *ASKED, "judge", "model")


def write_debiased(spec: Spec, study: Study, estimates: Iterable[Mapping[str, str]], path: str) -> None:
    """Write a parquet file of the rows of the spec: KEYS, rating_unit, bias and debiased_unit = rating_unit - bias.

    bias, on the unit scale, is the estimated self_bias of the judge for its own completions, the family_bias for those of its
    family's other models, and 0 for the rest. It is NULL, and so is the debiased rating, where it is not determined. A debiased
    rating may leave the scale. Rows are in the order of the canonical ratings.
    estimates: rows of tables of estimates; those of the spec and of all rows together (slice "") count.
    """
    connection, values = connect(), {quantity: [] for quantity in BIASES}
    for row in estimates:
        if (row["spec"], row["slice"]) == (spec.name, "") and row["quantity"] in BIASES:
            values[row["quantity"]].append((row["term"], float(row["estimate"]) if row["estimate"] else None))
    for quantity in BIASES:
        create_table(connection, quantity, "term varchar, bias double", values[quantity])
    bias = """case when model::varchar = judge::varchar then if(self_bias.term is null, 0, self_bias.bias)
                   when model_family::varchar = judge_family::varchar then if(family_bias.term is null, 0, family_bias.bias)
                   else 0 end"""
    rows = f"""select {", ".join(KEYS)}, rating_unit, {bias} as bias
               from ({spec.selection.rows(study.ratings)}) left join self_bias on self_bias.term = judge::varchar
               left join family_bias on family_bias.term = judge_family::varchar"""
    write_rows(connection, f"select *, rating_unit - bias as debiased_unit from ({rows})", path)


MOST_JUDGMENTS = 20
FITTED = ("intercept", "slope", "dimension", "model")  # quantities of the rating that a spec expects without bias


def judgment_rows(
    spec: Spec, study: Study, estimates: Iterable[Mapping[str, str]], *, most: int = MOST_JUDGMENTS
) -> Iterator[dict]:
    """Yield the ratings of its own answers that carry each judge's self-bias most, at most `most` a judge.

    gap = rating - expected, both as the other columns on the unit scale; expected is the fit of the spec without its biases:
    intercept + slope x human score + effects of dimension and model. The self-bias is the mean gap of all own ratings; the
    largest gaps of its sign come first (`place`), equal ones by dimension, dataset, prompt. estimates: as in `write_debiased`.
    """
    connection, values = connect(), {quantity: [] for quantity in (*FITTED, BIASES[0])}
    for row in estimates:
        if (row["spec"], row["slice"]) == (spec.name, "") and row["quantity"] in values and row["estimate"]:
            values[row["quantity"]].append((row["term"], float(row["estimate"])))
    for quantity, terms in values.items():
        create_table(connection, f"of_{quantity}", "term varchar, value double", terms)
    slope = "of_slope.value * gt_unit" if values["slope"] else "0"
    query = f"""select judge::varchar, dimension::varchar, dataset::varchar, prompt_id::varchar, rating_unit, gt_unit,
          of_intercept.value + {slope} + coalesce(of_dimension.value, 0) + coalesce(of_model.value, 0) as expected,
          rating_unit - expected as gap, row_number() over (
            partition by judge::varchar
            order by round(sign(of_self_bias.value) * gap, 9) desc, dimension::varchar, dataset::varchar, prompt
          ) as place
        from ({spec.selection.rows(study.ratings)}) join of_self_bias on of_self_bias.term = judge::varchar
        join of_intercept on of_intercept.term = judge::varchar left join of_slope on of_slope.term = judge::varchar
        left join of_dimension on of_dimension.term = dimension::varchar left join of_model on of_model.term = model::varchar
        where model::varchar = judge::varchar qualify place <= {most} order by judge::varchar, place"""
    names = ("judge", "dimension", "dataset", "prompt_id", "rating", "human", "expected", "gap", "place")
    yield from (dict(zip(names, row, strict=True)) for row in connection.execute(query).fetchall())
