"""Scores of models as people would give them, from human scores of some answers and judges' ratings
of all: prediction-powered inference.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recuse.base.database import connect, files, records
from recuse.base.errors import DataError
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.base.words import counted
from recuse.data.cells import read_levels
from recuse.data.files import PROBABILITY
from recuse.data.study import LEAST_SCORED, StudyTables
from recuse.inference.judge_model import means_by_code
from recuse.model.least_squares import ROUNDING, wald_p_value

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEXT_LABELS = column_names("study dimension dataset prompt_id occasion model own")
BATCH = 100  # answers that people should score next

# p-value: below it, answers do not look chosen at random for human scores. At 0.05 twice as many
# studies whose prompts were chosen would pass; a tenth of those drawn at random are refused.
AT_RANDOM = 0.1
# The same where the study says that it drew them at random: chance is then no reason to refuse it,
# but a difference that chance hardly ever makes is.
AS_DECLARED = 0.001
# Scored prompts of a model with an answer whose score is not the most frequent one: with fewer, its
# own scores do not show how much they vary
LEAST_VARIED = 5
# Points of the unit scale: scores that differ by less are equal but for rounding, as ratings are on
# a grid
SAME = 1e-9


@dataclass(frozen=True)
class AnswerScores:
    """Answers of models to prompts, once in each dimension, on the unit scale; (answers,) each."""

    prompt: np.ndarray  # code
    model: np.ndarray  # place in `models`
    dimension: np.ndarray  # place in `dimensions`
    human: np.ndarray  # the human score, NaN without
    panel: np.ndarray  # mean over judges of the rating less the judge's mean in the dimension
    models: np.ndarray  # (M,) of str
    dimensions: np.ndarray  # (D,) of str
    # The probability with which an answer was chosen for a human score; None: it is not stated, and
    # taken to be the same for all answers in a dimension.
    labelling_probability: np.ndarray | None = None

    @property
    def is_scored(self) -> np.ndarray:
        """Which answers have a human score, (answers,) of bool."""
        return ~np.isnan(self.human)

    @property
    def is_weighted(self) -> bool:
        """Whether scored answers had different probabilities of a human score."""
        known = self.labelling_probability
        return known is not None and bool(np.ptp(known[self.is_scored]) > 0)

    @property
    def at_random(self) -> float:
        """The p-value of `scored_gap` below which answers do not look chosen as the study says; 0
        if their probabilities differ, for then scored answers may well differ from the others.
        """
        if self.labelling_probability is None:
            return AT_RANDOM
        return 0.0 if self.is_weighted else AS_DECLARED

    def prompt_shares(self) -> np.ndarray:
        """Share of each prompt in the weights, 1 / probability, of a model's scored answers,
        (prompts, M).
        """
        weight = np.where(self.is_scored, 1 / self.labelling_probability, 0.0)
        of_models = indicators(self.model) * weight[:, None]
        by_prompt = (indicators(self.prompt).T @ of_models).toarray()
        return by_prompt / np.maximum(by_prompt.sum(axis=0), 1.0)

    def effective_prompts(self) -> np.ndarray:
        """Number of prompts with a scored answer of each model, (M,); if weighted, of equally
        likely ones that would say as much, 1 / sum of squared shares (Kish).
        """
        if not self.is_weighted:
            return self._prompts_by_model(self.is_scored)
        squares = np.square(self.prompt_shares()).sum(axis=0)
        return np.divide(1, squares, out=np.zeros_like(squares), where=squares > 0)

    def varied_prompts(self) -> np.ndarray:
        """Number of prompts on which a model has a human score other than the most frequent one of
        the dimension, (M,).
        """
        is_varied = np.zeros(len(self.human), dtype=bool)
        for dimension in range(len(self.dimensions)):
            among = self.is_scored & (self.dimension == dimension)
            values, counts = np.unique(self.human[among], return_counts=True)
            if len(values):
                frequent = values[counts.argmax()]
                is_varied |= among & (np.abs(self.human - frequent) > SAME)
        return self._prompts_by_model(is_varied)

    @property
    def stratum(self) -> np.ndarray:
        """Number of the pair of model and dimension, (answers,)."""
        return self.model * len(self.dimensions) + self.dimension

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Values of answers less their means over the answers of the model in the dimension."""
        return values - means_by_code(values, np.ones(len(values)), self.stratum)

    def _prompts_by_model(self, among: np.ndarray) -> np.ndarray:
        pairs = np.unique(np.stack([self.prompt[among], self.model[among]]), axis=1)
        return np.bincount(pairs[1], minlength=len(self.models))


def indicators(names: np.ndarray) -> "csr_array":
    """1 where an answer has a name or code, a column for each in order, (answers, columns)."""
    from scipy.sparse import csr_array

    _, column = np.unique(names, return_inverse=True)
    return csr_array((np.ones(len(column)), column, np.arange(len(column) + 1)))


def read_answer_scores(study: StudyTables, rows: str) -> AnswerScores:
    """Read the answers in some rows (SQL with the columns of the canonical ratings) of a study.

    Raises DataError if rows of one answer state two probabilities of a score, or if some scored
    answers have one and others do not.
    """
    levels = read_levels(study.ratings[0])
    judge, model, dimension = (levels.sql_place(axis) for axis in ("judge", "model", "dimension"))
    less_level = f"rating_unit - avg(rating_unit) over (partition by {judge}, {dimension})"
    query = f"""
        select prompt, model, dimension, avg(gt_unit) as human, avg(deviation) as panel,
               max({PROBABILITY}) as probability, min({PROBABILITY}) as least
        from (select prompt, occasion_code, gt_unit, {model} as model, {dimension} as dimension,
                     {PROBABILITY}, {less_level} as deviation from ({rows}))
        group by prompt, occasion_code, model, dimension order by all"""
    table = connect().execute(query).fetchnumpy()
    models, model = np.unique(table["model"], return_inverse=True)
    dimensions, dimension = np.unique(table["dimension"], return_inverse=True)
    human, probability, least = (
        np.ma.filled(table[name], np.nan) for name in ("human", "probability", "least")
    )
    is_known = ~np.isnan(probability[~np.isnan(human)])
    if (probability > least).any():
        raise DataError(
            f"{study.ratings[0]}, {PROBABILITY}: found two values for one answer; write the same in"
            " all its rows"
        )
    if is_known.any() and not is_known.all():
        lacking = counted(int((~is_known).sum()), "scored answer")
        raise DataError(
            f"{study.ratings[0]}, {PROBABILITY}: found none for {lacking}; write one in every row of"
            " a scored answer"
        )
    return AnswerScores(
        prompt=table["prompt"].astype(np.int64),
        model=model,
        dimension=dimension,
        human=human,
        panel=np.asarray(table["panel"]),
        models=np.array(levels.model, dtype=str)[models],
        dimensions=np.array(levels.dimension, dtype=str)[dimensions],
        labelling_probability=probability if is_known.any() else None,
    )


def scored_gap(answers: AnswerScores) -> tuple[float, float]:
    """How much higher judges rate answers with a human score than others of the same model and
    dimension, and its p-value; NaN if there are none.

    The gap is the least-squares coefficient of `panel` on s = 1 for a human score, with effects of
    model x dimension. If people had scored other prompts in the same pattern of models and
    dimensions, the sum over prompts p of s_p'r_p, of scores and ratings less their means in model x
    dimension, would be as likely to be any that a permutation of the s_p gives. Its variance over
    all permutations is the sum over k, l of (sum_p s_pk s_pl) (sum_q r_qk r_ql) / (P_kl - 1), with
    k and l a model x dimension each and P_kl the prompts that have answers in both, and it is about
    normal. No variance is estimated from the few prompts with scores. Source: Hoeffding (1951), "A
    combinatorial central limit theorem", where P_kl is the number of all prompts.
    """
    prompt = indicators(answers.prompt).T
    stratum = indicators(answers.stratum)
    score, rating = map(answers.centred, (answers.is_scored.astype(float), answers.panel))
    scored, rated = (prompt @ (stratum * values[:, None]) for values in (score, rating))
    present = (prompt @ stratum).sign()  # (prompts, strata), as `scored` and `rated`
    freedom = present.T @ present
    freedom.data = 1 / np.maximum(freedom.data - 1, 1)
    total = (scored * rated).sum()
    variance = ((scored.T @ scored) * (rated.T @ rated) * freedom).sum()
    if not variance > 0:
        return math.nan, math.nan
    return float(total / (score @ score)), wald_p_value(total, math.sqrt(variance))


def refused_ranking(answers: AnswerScores) -> str:
    """Why the human scores do not say how people would rank the models, a reason with its facts, or
    "".
    """
    scored = answers.is_scored
    prompts = len(np.unique(answers.prompt[scored]))
    if prompts < LEAST_SCORED:
        return because(Reason.FEW_SCORED_PROMPTS, prompts=prompts, least=LEAST_SCORED)
    unscored = np.delete(answers.dimensions, answers.dimension[scored])
    if len(unscored):
        return because(Reason.UNSCORED_DIMENSIONS, names=", ".join(unscored))
    if answers.varied_prompts().sum() < LEAST_VARIED:
        return because(Reason.EQUAL_SCORES, least=LEAST_VARIED)
    gap, p_value = scored_gap(answers)
    if p_value < answers.at_random:
        return because(Reason.CHOSEN_FOR_SCORES, gap=round(gap, 3))
    return ""


@dataclass(frozen=True)
class HumanScaleMeans:
    """Mean human scores of models over all their answers."""

    score: np.ndarray  # (M,)
    covariance: np.ndarray  # (M, M) of the scores, by prompt
    slope: np.ndarray  # (D,) of the human score on the panel's rating


def human_scale_means(answers: AnswerScores) -> HumanScaleMeans:
    """Estimate the mean human score of each model over all its answers.

    The scored answers i of the dimension d(i) give, by least squares with weights v_i = answers /
    scored answers of d(i), or 1 / the probability with which i was to get a score if this differs,
      human_i = a_m(i) + c_d(i) + b_d(i) panel_i + e_i
    with the panel's rating less its mean for the model in the dimension, so that no judge's
    preference for a model, such as itself, is left in it. The score of a model is the mean of the
    fitted values of all its answers. As the residuals of each model add up to 0, this is
    prediction-powered inference with the panel as predictor and the tuned weight b_d: with one
    dimension and equal weights, theta(lambda) of PPI++ with lambda = b U / (U + L), of U answers
    without a score and L with one. With prompts as units, the influence of p is
      sum over its scored answers of xbar_m' (X'VX)^-1 x_i v_i e_i
      + sum over its answers of m of (fitted_i - score_m) / answers of m
    whose first part allows for the estimation of b_d. With such probabilities, a few answers may
    have most of the weight: the influence is divided by 1 - the share of p in the weights of m's
    scored answers, as when p is left out. Source: Angelopoulos, Duchi and Zrnic (2023),
    PPI++ (arXiv 2311.01453), section 6.

    A model without scored answers has NaN.
    """
    from scipy.sparse import hstack

    model, scored = answers.model, answers.is_scored
    panel = answers.centred(answers.panel)
    of_model = indicators(model)
    of_dimension = indicators(answers.dimension)
    design = hstack([of_model, of_dimension, of_dimension * panel[:, None]], format="csr")
    rate = of_dimension.sum(axis=0) / np.maximum(of_dimension.T @ scored, 1)
    is_weighted = answers.is_weighted
    rates = 1 / answers.labelling_probability if is_weighted else rate[answers.dimension]
    human = np.nan_to_num(answers.human)
    weighted = design * np.where(scored, rates, 0.0)[:, None]
    inverse = np.linalg.pinv((weighted.T @ design).toarray(), hermitian=True)
    coefficients = inverse @ (weighted.T @ human)
    fitted = design @ coefficients
    count = of_model.sum(axis=0)
    mean_row = (of_model.T @ design).toarray() / count[:, None]  # (M, terms)
    score = mean_row @ coefficients
    of_prompt = indicators(answers.prompt)
    of_scored = of_prompt.T @ (weighted * (human - fitted)[:, None])
    of_all = of_prompt.T @ (of_model * ((fitted - score[model]) / count[model])[:, None])
    influence = of_scored @ (inverse @ mean_row.T) + of_all.toarray()
    if is_weighted:
        # A model with all of its weight on one prompt has too few of them for a score.
        influence /= np.maximum(1 - answers.prompt_shares(), ROUNDING)
    score[of_model.T @ scored == 0] = np.nan
    slope = coefficients[-len(answers.dimensions) :]
    return HumanScaleMeans(score, influence.T @ influence, slope)


def widened_covariance(means: HumanScaleMeans, varied: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The covariance of the scores, in which a model whose human scores hardly vary has the mean
    variance of the models `kept` at least, (M, M).

    Near the ceiling a few equal scores would otherwise have no error. varied: (M,), as by
    `Answers.varied_prompts`; fewer than LEAST_VARIED are few.
    """
    covariance = means.covariance
    variance = covariance.diagonal()
    lacking = np.maximum(variance[kept].mean() - variance, 0.0)
    return covariance + np.diag(np.where(varied < LEAST_VARIED, lacking, 0.0))


def next_label_rows(study: StudyTables, *, seed: int) -> Iterator[dict]:
    """Yield BATCH answers without a human score, drawn at random by the seed: as many of each model
    and dimension, but twice as many of a model that is also a judge (`own` 1), whose own answers
    A rests on.
    """
    *names, own = NEXT_LABELS[1:]
    texts = ", ".join(f"{name}::varchar as {name}" for name in names)
    rows = f"from {files(study.ratings)}"
    is_judge = f"(model::varchar in (select judge::varchar {rows}))::integer as {own}"
    query = f"select {texts}, {is_judge} {rows} group by all having count(gt) = 0 order by all"
    answers = records(connect().execute(query))
    taken: Counter[tuple[str, str]] = Counter()
    turns = []
    for number in np.random.default_rng(seed).permutation(len(answers)).tolist():
        answer = answers[number]
        stratum = answer["dimension"], answer["model"]
        taken[stratum] += 1
        turns.append((taken[stratum] / (1 + answer[own]), number))
    for _, number in sorted(turns)[:BATCH]:
        yield answers[number]
