"""Leaderboards: scores and ranks of models, before and after the estimated self- and family-bias is
subtracted.

Scores compare models over the same judges, so that no model gains by having mild ones. Intervals,
and sets that contain all true ranks at once, come from resamples of prompts, and are wider where
prompts are few. What is subtracted is what the verdicts rest on, the bias beyond ordinary
preference (C), or the bias in a spec's own regression.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recuse.base.database import Connection, connect, create_table, records, text, write_rows
from recuse.base.reasons import Reason, because
from recuse.base.tables import Row, column_names
from recuse.data.cells import Factors, read_levels
from recuse.data.files import ASKED
from recuse.data.moments import Moments
from recuse.data.study import LEAST_SCORED, StudyTables
from recuse.inference.calibration import calibrated, calibration_rows
from recuse.inference.human_scale import (
    SAME,
    AnswerScores,
    human_scale_means,
    read_answer_scores,
    refused_ranking,
    widened_covariance,
)
from recuse.inference.judge_model import AdditiveFit
from recuse.model.covariance import FEW
from recuse.model.estimable import spec_moments
from recuse.model.least_squares import quantile
from recuse.model.prompt_sums import SliceCells, add_prompts, places_of_sums
from recuse.model.resampling import ResampledTotals
from recuse.model.spec import BIASES, FAMILY, SELF, BiasKey, C, Spec, bias_quantities, estimand_name

LEADERBOARD = column_names(
    "study spec slice scores estimand model judges score std_error ci_low ci_high",
    "rank rank_low rank_high change change_ci_low change_ci_high replicates note",
)
JUDGMENTS = column_names(
    "study estimand judge place dimension dataset prompt_id rating human expected gap",
)

# Scores of models
RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY = (
    "raw",
    "debiased",
    "leave_self_out",
    "leave_family_out",
)
HUMAN = "human"
AS_PEOPLE = "as_people"  # on the human scale, where only some answers have human scores
REGRESSION = "regression"  # the setting that subtracts a spec's own coefficients
SHRUNK = f"{C}, shrunk"
# A bias, as (self_bias, judge) or (family_bias, family) -> its size and standard error, NaN where
# it is not estimable.
Biases: TypeAlias = Mapping[BiasKey, tuple[float, float]]


@dataclass(frozen=True)
class Removed:
    """The biases that are subtracted from the ratings of a spec."""

    estimand: str
    of_slices: Mapping[str, Biases]

    def sizes(self, quantity: str) -> dict[str, float]:
        """Those of a quantity in all rows together (slice ""), by judge or family."""
        biases = self.of_slices.get("", {})
        return {term: size for (name, term), (size, _) in biases.items() if name == quantity}


def removed_biases(
    spec: Spec, rows: Iterable[Row], *, debias: str, instead: Mapping[str, str]
) -> Removed:
    """The biases that the setting `debias` subtracts from ratings.

    By default they are those beyond ordinary preference, shrunk where there are several, otherwise
    the estimate itself; with REGRESSION they are the coefficients of the spec. Where it is refused
    or has no number, a bias is NaN.

    rows: of the table of idiosyncrasy, or with REGRESSION of tables of estimates. instead: spec ->
    its substitute without human scores, which has the rows of that spec under C.
    """
    is_regression = debias == REGRESSION
    found = {}
    for row in rows:
        is_substitute = instead.get(row["spec"]) == spec.name and not is_regression
        is_of_spec = row["spec"] == spec.name or is_substitute
        if is_of_spec and row["quantity"] in BIASES:
            columns = (
                ("shrunk", "shrunk_std_error") if row.get("shrunk") else ("estimate", "std_error")
            )
            numbers = [
                math.nan if row.get("reason") or not row[name] else float(row[name])
                for name in columns
            ]
            found.setdefault(row["slice"], {}).setdefault(
                (row["quantity"], row["term"]), tuple(numbers)
            )
    return Removed(estimand_name(spec) if is_regression else SHRUNK, found)


def debiased_by(estimand: str) -> str:
    """A heading for scores or ratings without biases of this estimand.

    >>> debiased_by(SHRUNK), debiased_by("A against humans")
    ('debiased (C, shrunk)', 'debiased (A)')
    """
    return f"debiased ({'C, shrunk' if estimand == SHRUNK else estimand[:1]})"


@dataclass(frozen=True)
class SlicePairs:
    """The pairs of a judge and a model in one slice: all its judges by all its models."""

    judges: np.ndarray  # (J,) of str
    models: np.ndarray  # (M,) of str
    pair: np.ndarray  # (groups,) place of each group's pair in the raveled (J, M)

    @classmethod
    def of(cls, moments: Moments) -> "SlicePairs":
        """The pairs of the groups of `moments`."""
        judges, judge = np.unique(moments.factors["judge"], return_inverse=True)
        models, model = np.unique(moments.factors["model"], return_inverse=True)
        return cls(judges, models, judge * len(models) + model)

    @property
    def shape(self) -> tuple[int, int]:
        """(J, M)."""
        return len(self.judges), len(self.models)


class PairTotals(ResampledTotals):
    """Rows, ratings and human scores of the pairs of one slice, in all and in resamples of its
    prompts.
    """

    def __init__(self, pairs: int, width: int, **resamples: int) -> None:
        """pairs: how many; width: the rating's place, as in `products`; resamples: prompts,
        replicates and seed.
        """
        super().__init__(3 * pairs, **resamples)
        self._summed = places_of_sums(width)
        self._whole, self.prompts = np.zeros((1, 3 * pairs)), 0  # prompts with rows in the slice

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`, a cell for each
        pair.
        """
        values = sums[:, self._summed].reshape(len(sums), -1)
        self._whole += values.sum(axis=0)
        self.prompts += len(prompts)
        super().add(prompts, values)

    def means(self) -> np.ndarray:
        """Means of all rows and of each resample, (1 + replicates, 2, pairs): ratings, then human
        scores.

        They are NaN without rows of the pair. A single prompt has no replicates.
        """
        drawn = self.totals()[: None if self.prompts > 1 else 0]
        rows, *sums = np.split(np.concatenate([self._whole, drawn]), 3, axis=1)
        return np.stack(
            [np.divide(of, rows, out=np.full_like(of, np.nan), where=rows > 0) for of in sums],
            axis=1,
        )


def totals_of_slices(
    spec: Spec, study: StudyTables, *, replicates: int, seed: int
) -> Iterator[tuple[str, Moments, SlicePairs, PairTotals]]:
    """Yield label, rows, pairs and totals of each slice of the spec that has rows, after one pass
    over them.
    """
    groups = spec_moments(spec, study)
    slices, takers = [], []
    for label, mask in spec.selection.slices(groups.factors):
        rows = groups.select(mask)
        pairs = SlicePairs.of(rows)
        number = int(np.prod(pairs.shape))
        width = groups.tensor.shape[1] - 1
        if number:
            totals = PairTotals(
                number, width, prompts=study.prompts, replicates=replicates, seed=seed
            )
            slices.append((label, rows, pairs, totals))
            takers.append((SliceCells(np.flatnonzero(mask), pairs.pair, number), [totals]))
    blocks = study.row_blocks(spec.selection, groups.factors) if takers else ()
    add_prompts(takers, blocks, len(groups.n))
    yield from slices


def expanded(z: float, prompts: int) -> float:
    """Return sqrt(P / (P - 1)) t, with t the quantile of t with P - 1 degrees of freedom at the
    level of the normal's z.

    The variance of resamples of P prompts is (P - 1) / P of that of samples, and is itself
    uncertain: a quantile z standard deviations out should be this far out. Source: Hesterberg
    (2015), "What teachers should know about the bootstrap", The American Statistician 69, section
    5.3, expanded percentile intervals.
    """
    from scipy.special import ndtr, stdtrit

    return math.sqrt(prompts / (prompts - 1)) * -float(stdtrit(prompts - 1, ndtr(-z)))


def tail(confidence: float, prompts: int) -> float:
    """Share of the replicates beyond each end of an interval of level `confidence`, (1 -
    confidence) / 2 with many prompts.
    """
    from scipy.special import ndtr, ndtri

    return float(ndtr(-expanded(-ndtri((1 - confidence) / 2), prompts)))


def score_ranks(scores: np.ndarray) -> np.ndarray:
    """Rank scores, (models,), 1 the highest: 1 + number of higher ones, so that equal scores share
    the lower number.
    """
    return 1 + (scores - scores[:, None] > SAME).sum(axis=1)


def rank_sets(
    scores: np.ndarray, replicates: np.ndarray, *, prompts: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest rank in the set of each model, (models,) each.

    With D_mk the difference of two scores, D*_mk that of a replicate, s_mk the standard deviation
    (n - 1) of D*_mk, and c the `confidence` quantile over replicates of max over pairs |D*_mk -
    D_mk| / s_mk, `expanded` for the number of prompts, k is above m where D_km > c s_mk. The set of
    m runs from 1 + (models above it) to models - (models below it); with probability `confidence`
    all sets contain the true ranks. Source: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference
    for ranks with applications to mobility across neighbourhoods and academic achievement across
    countries", section 3.

    scores: (models,) without NaN; replicates: (replicates, models), two or more; prompts: two or
    more.
    """
    differences = scores[:, None] - scores
    drawn = replicates[:, :, None] - replicates[:, None, :]
    spread = drawn.std(axis=0, ddof=1)
    varies = spread > SAME  # else the difference is the same in all resamples
    studentised = np.abs(drawn - differences)[:, varies] / spread[varies]
    critical = (
        expanded(np.quantile(studentised.max(axis=1), confidence), prompts) if varies.any() else 0.0
    )
    above = -differences > np.maximum(critical * spread, SAME)  # (m, k): k is above m
    return 1 + above.sum(axis=1), len(scores) - above.sum(axis=0)


def score_weights_of_pairs(kept: np.ndarray) -> np.ndarray:
    """Weights w, (M, J, M), of the means of pairs in the scores, sum of w[m] mean for model m; NaN
    if it has none.

    The score is c_m + mean of a_j over the remaining judges, from the least-squares fit

      mean_jm = a_j + c_m

    to the kept pairs, each as one observation: otherwise a model whose severe judges are left
    out would rise. Where all judges are kept for a model, it is their mean. It is not estimable
    where no chain of kept pairs links the models. kept: (J, M) of bool.
    """
    judges, models = kept.shape
    judge, model = np.indices(kept.shape)
    fit = AdditiveFit(judge.ravel(), model.ravel(), kept.ravel())
    left = kept.any(axis=1)
    mean = left / max(1, left.sum())
    target = np.concatenate([np.tile(mean, (models, 1)), np.eye(models)], axis=1)
    weights = np.zeros((models, judges, models))
    weights[:, kept] = target @ fit.inverse
    weights[~fit.determined(target)] = np.nan
    return weights


def leaderboards(
    spec: Spec,
    study: StudyTables,
    removed: Removed,
    *,
    replicates: int,
    confidence: float,
    seed: int,
) -> Iterator[dict]:
    """Yield the rows of the leaderboard table: for each slice of the spec with rows, kind of score
    and model.

    The score of a model is the mean over judges of the mean over rows, on the unit scale, in the
    pairs of judge and model that the kind keeps (see score_weights_of_pairs; a pair whose bias is
    not estimable is left out):

    * raw: the rating;
    * debiased: the rating less self_bias_j if the answer is the judge's own, or less family_bias_F
      if it is another model's of the judge's family F;
    * leave_self_out: the rating, without judges' ratings of their own answers;
    * leave_family_out: the rating, without judges' ratings of their families;
    * human: the human score, if all answers have one;
    * as_people: human scores and ratings together, if only some answers have a human score: see
      `as_people_rows`.

    Under C, ordinary preferences are not biases and stay in the debiased scores. Under A, all of
    the gap to the human scores is subtracted, with the effect of measurement error in them (see
    measurement_error).

    Intervals are quantiles over a bootstrap by prompt; `tail` of the replicates is beyond each end.
    std_error is their standard deviation (n - 1) times sqrt(P / (P - 1)), of P prompts. Replicates
    that do not determine every score are left out; `replicates` counts the others. In each
    replicate, another draw from N(bias, std_error^2) is subtracted for each bias, so that intervals
    include its uncertainty. A refit would not: under C this is mostly that of ordinary preferences,
    which other prompts leave as they are, so that all refits would share its error. Draws are
    independent of one another and of the prompts. The sampling error of a judge's own cell is in
    its mean and, with the same sign, in the bias, so that intervals are slightly too wide rather
    than too narrow. `change` is score - raw score: in 200 simulated studies of 9 judges with
    ordinary preferences of sd .018, its 90 % intervals held the planted biases in 87 % (4 judges:
    67 %), those under A in 37 %. Ranks and their sets: see rank_sets.
    """
    sampling = {"replicates": replicates, "seed": seed}
    for label, rows, pairs, totals in totals_of_slices(spec, study, **sampling):
        means, human = totals.means().reshape(-1, 2, *pairs.shape).swapaxes(0, 1)
        biases = removed.of_slices.get(label, {})
        bias = bias_of_pairs(
            spec, pairs, rows.factors, biases, replicates=len(means) - 1, seed=seed
        )
        family = np.zeros(pairs.shape, dtype=bool)
        is_related = rows.factors["judge_family"] == rows.factors["model_family"]
        family.ravel()[pairs.pair[is_related]] = True
        of_slice = leaderboard_rows(
            pairs,
            means,
            bias,
            family,
            human=human if study.has_human_scores else None,
            prompts=totals.prompts,
            confidence=confidence,
        )
        for row in of_slice:
            estimand = removed.estimand if row["scores"] == DEBIASED else ""
            yield {"spec": spec.name, "slice": label, "estimand": estimand, **row}
        if study.is_partly_scored:
            codes = read_levels(study.ratings[0]).group_codes(rows.factors).tolist()
            chosen = (
                f"select * from ({spec.selection.rows(study.ratings)}) where group_code in {codes}"
            )
            answers = read_answer_scores(study, chosen)
            judges = (~np.isnan(means[0])).sum(axis=0).tolist()
            of_people = as_people_rows(answers, **sampling, confidence=confidence)
            for count, row in zip(judges, of_people, strict=True):
                yield {"spec": spec.name, "slice": label, "judges": count, **row}


def as_people_rows(
    answers: AnswerScores, *, replicates: int, confidence: float, seed: int
) -> Iterator[dict]:
    """Yield the rows of one slice for the scores on the human scale, by `human_scale_means`.

    Intervals are `expanded` for the effective number of prompts with a scored answer of the model,
    and rank sets, by as many normal draws as there are replicates, for the fewest of a model. A
    model without LEAST_SCORED has no score; where scores do not say how people would rank the
    models, no model has one.
    """
    prompts = answers.effective_prompts()
    refused = refused_ranking(answers)
    kept = (prompts >= LEAST_SCORED) & (not refused)
    columns = {}
    if kept.any():
        means = human_scale_means(answers)
        score = means.score[kept]
        covariance = widened_covariance(means, answers.varied_prompts(), kept)[np.ix_(kept, kept)]
        effective = prompts[kept]
        drawn = np.random.default_rng(seed).multivariate_normal(
            score, covariance, replicates, method="eigh"
        )
        low, high = rank_sets(score, drawn, prompts=int(effective.min()), confidence=confidence)
        error = np.sqrt(covariance.diagonal() * effective / (effective - 1))
        half = [quantile(confidence, n - 1) for n in effective.tolist()] * error
        columns = {
            "score": score,
            "std_error": error,
            "ci_low": score - half,
            "ci_high": score + half,
            "rank": score_ranks(score),
            "rank_low": low,
            "rank_high": high,
        }
    rows = _of_models(columns, kept)
    for name, number, row in zip(answers.models.tolist(), prompts.tolist(), rows, strict=True):
        note = refused or _note_on_draw(answers, int(number))
        yield {"scores": AS_PEOPLE, "model": name, "note": note} | row


def _note_on_draw(answers: AnswerScores, prompts: int) -> str:
    """What to know about the score of a model with human scores on so many prompts, a reason with
    its facts, or "".
    """
    if prompts < LEAST_SCORED:
        return because(Reason.FEW_SCORED_PROMPTS, prompts=prompts, least=LEAST_SCORED)
    is_undeclared = answers.labelling_probability is None
    if prompts < FEW:
        reason = Reason.FEW_AND_UNDECLARED if is_undeclared else Reason.SHORT_INTERVALS
        return because(reason, prompts=prompts, few=FEW)
    return because(Reason.UNDECLARED_DRAW) if is_undeclared else ""


def _of_models(columns: Mapping[str, np.ndarray], kept: np.ndarray) -> Iterator[dict]:
    """Yield the values of each model, of the columns (kept models,); none of one not kept."""
    for is_kept, place in zip(kept, np.cumsum(kept) - 1, strict=True):
        yield {key: values[place].item() for key, values in columns.items()} if is_kept else {}


def bias_of_pairs(
    spec: Spec,
    pairs: SlicePairs,
    factors: Factors,
    removed: Biases,
    *,
    replicates: int,
    seed: int,
) -> np.ndarray:
    """What is subtracted from the mean of each pair, and then draws from its normal distribution:
    (1 + replicates, J, M).

    It is NaN where it is not estimable, and 0 for a bias of which the spec has no term. factors: of
    the groups of `pairs`.
    """
    normal = np.random.default_rng(seed).standard_normal((len(removed), replicates))
    drawn = {
        key: value + error * np.append(0.0, draws)
        for (key, (value, error)), draws in zip(sorted(removed.items()), normal, strict=True)
    }
    bias = np.zeros((1 + replicates, np.prod(pairs.shape)))
    of_spec = bias_quantities(spec)
    names = (factors[name].tolist() for name in ("judge", "model", "judge_family", "model_family"))
    for place, judge, model, family, of_model in zip(pairs.pair, *names, strict=True):
        key = (SELF, judge) if judge == model else (FAMILY, family)
        if family == of_model and key[0] in of_spec:
            bias[:, place] = drawn.get(key, math.nan)
    return bias.reshape(1 + replicates, *pairs.shape)


def leaderboard_rows(
    pairs: SlicePairs,
    means: np.ndarray,
    bias: np.ndarray,
    family: np.ndarray,
    *,
    human: np.ndarray | None,
    prompts: int,
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of one slice.

    means: (1 + replicates, J, M) of the ratings, first of all rows; bias: to be subtracted, the
    same shape; human: of the human scores, None without any; family: (J, M) of bool, the model is
    of the judge's family (or the judge).
    """
    rated = ~np.isnan(means[0])
    is_self = pairs.judges[:, None] == pairs.models
    kinds = {
        RAW: (means, rated),
        DEBIASED: (means - bias, rated & ~np.isnan(bias[0])),
        WITHOUT_SELF: (means, rated & ~is_self),
        WITHOUT_FAMILY: (means, rated & ~is_self & ~family),
    }
    if human is not None:
        kinds[HUMAN] = human, ~np.isnan(human[0])
    scores = {}  # of the models, (1 + replicates, M); NaN where they are not determined
    for kind, (values, kept) in kinds.items():
        scores[kind] = np.full(values.shape[::2], np.nan)
        if kept.any():
            scores[kind] = values[:, kept] @ score_weights_of_pairs(kept)[:, kept].T
        rows = _rows(kind, scores[kind], scores[RAW], prompts, confidence)
        for model, judges, row in zip(pairs.models, kept.sum(axis=0), rows, strict=True):
            yield {"scores": kind, "model": str(model), "judges": int(judges), **row}


def _rows(
    kind: str, scores: np.ndarray, raw: np.ndarray, prompts: int, confidence: float
) -> Iterator[dict]:
    """Yield the columns of each model; scores: (1 + replicates, models)."""
    compared = ~np.isnan(scores[0])
    scores = scores[:, compared]
    changes = scores - raw[:, compared]
    changes[np.abs(changes) < SAME] = 0.0
    # Raw scores, too, lack a pair without rows
    drawn = np.flatnonzero(~np.isnan(changes[1:]).any(axis=1)) + 1
    columns = {"score": scores[0], "rank": score_ranks(scores[0])}
    shown = {"": scores}
    if kind != RAW:
        columns["change"] = changes[0]
        shown["change_"] = changes
    note = ""
    if len(drawn) < 2:
        note = because(Reason.FEW_RESAMPLES)
    elif prompts < FEW:
        note = because(Reason.SHORT_INTERVALS, prompts=prompts, few=FEW)
    if len(drawn) > 1 and compared.any():
        share = tail(confidence, prompts)
        low, high = rank_sets(scores[0], scores[drawn], prompts=prompts, confidence=confidence)
        columns |= {
            "std_error": scores[drawn].std(axis=0, ddof=1) * np.sqrt(prompts / (prompts - 1)),
            "replicates": np.full(compared.sum(), len(drawn)),
            "rank_low": low,
            "rank_high": high,
        }
        for prefix, values in shown.items():
            ends = np.quantile(values[drawn], [share, 1 - share], axis=0)
            columns[f"{prefix}ci_low"], columns[f"{prefix}ci_high"] = ends
    for row in _of_models(columns, compared):
        yield row | {"note": note if row else because(Reason.NOT_COMPARED)}


KEYS = ("dimension", "dataset", "prompt_id", "occasion", *ASKED, "judge", "model")


def write_debiased(spec: Spec, study: StudyTables, removed: Removed, path: str) -> list[Mapping]:
    """Write a parquet file of the rows of the spec: KEYS, rating_unit, bias, debiased_unit =
    rating_unit - bias, human_scale_unit, and estimand; return the rows of the table of calibration.

    bias, on the unit scale, is that of all rows together (slice "") in `removed`: the self_bias of
    the judge for its own answers, the family_bias for those of its family's other models, and 0 for
    the rest and for a bias of which the spec has no term. It is NULL, and so is the debiased
    rating, where it is not estimable: leave these ratings out. A debiased rating may leave the
    scale. human_scale_unit is the debiased rating on the human scale, by `calibrated`. Rows are in
    the order of the canonical ratings.
    """
    connection = connect()
    for quantity in BIASES:
        _create_values(connection, quantity, removed.sizes(quantity))
    of_self, of_family = (
        f"{quantity}.value" if quantity in bias_quantities(spec) else "0" for quantity in BIASES
    )
    bias = f"""case when model::varchar = judge::varchar then {of_self}
                    when model_family::varchar = judge_family::varchar then {of_family} else 0 end"""
    keys = ", ".join(KEYS)
    rows = f"""select {keys}, prompt, gt_unit, rating_unit, {bias} as bias,
                 rating_unit - bias as debiased_unit
               from ({spec.selection.rows(study.ratings)}) left join self_bias on self_bias.term = judge::varchar
               left join family_bias on family_bias.term = judge_family::varchar"""
    on_human_scale = calibrated(connection, rows, "debiased_unit")
    columns = f"{keys}, rating_unit, bias, debiased_unit, human_scale_unit"
    estimand = text(removed.estimand)
    write_rows(
        connection, f"select {columns}, {estimand} as estimand from ({on_human_scale})", path
    )
    return calibration_rows(connection, on_human_scale)


def _create_values(connection: Connection, name: str, values: Mapping[str, float]) -> None:
    """Create a table of these terms and their values, without those that are NaN."""
    create_table(
        connection,
        name,
        "term varchar, value double",
        [(term, value) for term, value in values.items() if not math.isnan(value)],
    )


MOST_JUDGMENTS = 20
# Quantities in the fit of a judge's own answers
FITTED = ("intercept", "slope", "dimension", "model", SELF)


def judgment_rows(
    spec: Spec,
    study: StudyTables,
    estimates: Iterable[Row],
    removed: Removed,
) -> list[dict]:
    """The ratings of its own answers that carry each judge's self-bias most, at most
    MOST_JUDGMENTS a judge.

    gap = rating - expected, both as the other columns on the unit scale; expected is the fit of the
    spec, intercept + slope x human score + effects of dimension and model + self-bias, less the
    self-bias in `removed`, which is the mean gap of all own ratings: under C the rest of the spec's
    self-bias is ordinary preference, and expected. The largest gaps of its sign come first
    (`place`), equal ones by dimension, dataset, prompt. estimates: rows of tables of estimates;
    those of the spec and of all rows together (slice "") count.
    """
    connection = connect()
    values = {quantity: {} for quantity in FITTED}
    for row in estimates:
        is_of_fit = (row["spec"], row["slice"]) == (spec.name, "")
        if is_of_fit and row["quantity"] in values and row["estimate"]:
            values[row["quantity"]][row["term"]] = float(row["estimate"])
    values["removed"] = removed.sizes(SELF)
    for quantity, of_terms in values.items():
        _create_values(connection, f"of_{quantity}", of_terms)
    slope = "of_slope.value * gt_unit" if values["slope"] else "0"
    texts = ", ".join(
        f"{name}::varchar as {name}" for name in ("judge", "dimension", "dataset", "prompt_id")
    )
    query = f"""select {text(removed.estimand)} as estimand, {texts}, rating_unit as rating, gt_unit as human,
          of_intercept.value + {slope} + coalesce(of_dimension.value, 0) + coalesce(of_model.value, 0)
            + (of_self_bias.value - of_removed.value) as expected,
          rating_unit - expected as gap, row_number() over (
            partition by judge::varchar
            order by round(sign(of_removed.value) * gap, 9) desc, dimension::varchar, dataset::varchar, prompt
          ) as place
        from ({spec.selection.rows(study.ratings)}) join of_self_bias on of_self_bias.term = judge::varchar
        join of_removed on of_removed.term = judge::varchar
        join of_intercept on of_intercept.term = judge::varchar left join of_slope on of_slope.term = judge::varchar
        left join of_dimension on of_dimension.term = dimension::varchar left join of_model on of_model.term = model::varchar
        where model::varchar = judge::varchar qualify place <= {MOST_JUDGMENTS} order by judge::varchar, place"""
    return records(connection.execute(query))
