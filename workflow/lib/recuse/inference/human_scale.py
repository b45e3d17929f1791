"""Scores of models as people would give them, from human scores of some answers and judges' ratings
of all: prediction-powered inference.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recuse.base.database import connect, files
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.data.cells import read_levels
from recuse.data.study import LEAST_SCORED, StudyTables
from recuse.model.least_squares import wald_p_value

NEXT_LABELS = column_names("study dimension dataset prompt_id occasion model own")
BATCH = 100  # answers that people should score next

# p-value: below it, answers were not chosen at random for human scores
AT_RANDOM = 0.05
# Scored prompts of a model with an answer whose score is not the most frequent one: with fewer, its
# own scores do not show how much they vary
LEAST_VARIED = 5
SAME = 1e-9  # points of the unit scale: scores that differ by less are equal


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

    @property
    def is_scored(self) -> np.ndarray:
        """Which answers have a human score, (answers,) of bool."""
        return ~np.isnan(self.human)

    def scored_prompts(self) -> np.ndarray:
        """Number of prompts with a scored answer of each model, (M,)."""
        return self._prompts_by_model(self.is_scored)

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

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Values of answers less their means over the answers of the model in the dimension."""
        stratum = self.model * len(self.dimensions) + self.dimension
        mean = np.bincount(stratum, values) / np.maximum(np.bincount(stratum), 1)
        return values - mean[stratum]

    def _prompts_by_model(self, among: np.ndarray) -> np.ndarray:
        pairs = np.unique(np.stack([self.prompt[among], self.model[among]]), axis=1)
        return np.bincount(pairs[1], minlength=len(self.models))


def read_answer_scores(study: StudyTables, rows: str) -> AnswerScores:
    """Read the answers in some rows (SQL with the columns of the canonical ratings) of a study."""
    levels = read_levels(study.ratings[0])
    judge, model, dimension = (levels.sql_place(axis) for axis in ("judge", "model", "dimension"))
    columns = f"prompt, occasion_code, gt_unit, {model} as model, {dimension} as dimension"
    less_level = f"rating_unit - avg(rating_unit) over (partition by {judge}, {dimension})"
    query = f"""
        select prompt, model, dimension, avg(gt_unit) as human, avg(deviation) as panel
        from (select {columns}, {less_level} as deviation from ({rows}))
        group by prompt, occasion_code, model, dimension order by all"""
    table = connect().execute(query).fetchnumpy()
    models, model = np.unique(table["model"], return_inverse=True)
    dimensions, dimension = np.unique(table["dimension"], return_inverse=True)
    return AnswerScores(
        prompt=np.asarray(table["prompt"]).astype(np.int64),
        model=model,
        dimension=dimension,
        human=np.ma.filled(table["human"], np.nan),
        panel=np.asarray(table["panel"]),
        models=np.array(levels.model, dtype=str)[models],
        dimensions=np.array(levels.dimension, dtype=str)[dimensions],
    )


def scored_gap(answers: AnswerScores) -> tuple[float, float]:
    """How much higher judges rate answers with a human score than others of the same model and
    dimension, and its p-value; NaN if there are none.

    Least squares of `panel` on s = 1 for a human score and effects of model x dimension. Errors are
    CR1 by prompt, with t of one degree of freedom less than the prompts that have scored answers,
    or those that have others, whichever are fewer.
    """
    scored = answers.is_scored.astype(float)
    rating, score = answers.centred(answers.panel), answers.centred(scored)
    _, prompt = np.unique(answers.prompt, return_inverse=True)
    cross = np.bincount(prompt, rating * score)
    square = np.bincount(prompt, score**2)
    sides = [np.count_nonzero(np.bincount(prompt, of)) for of in (scored, 1 - scored)]
    df = min(sides) - 1
    if df < 1 or not square.sum() > 0:
        return math.nan, math.nan
    gap, prompts = cross.sum() / square.sum(), len(cross)
    scores = cross - gap * square
    error = math.sqrt(prompts / (prompts - 1) * float(scores @ scores)) / square.sum()
    return float(gap), wald_p_value(gap, error, df) if error > 0 else math.nan


def refused_ranking(answers: AnswerScores) -> str:
    """Why the human scores do not say how people would rank the models, a reason with its facts, or
    "".
    """
    scored = answers.is_scored
    prompts = len(np.unique(answers.prompt[scored]))
    if prompts < LEAST_SCORED:
        return because(Reason.FEW_SCORED_PROMPTS, prompts=prompts, least=LEAST_SCORED)
    counts = np.bincount(answers.dimension[scored], minlength=len(answers.dimensions))
    if not counts.all():
        names = ", ".join(answers.dimensions[counts == 0])
        return because(Reason.UNSCORED_DIMENSIONS, names=names)
    if answers.varied_prompts().sum() < LEAST_VARIED:
        return because(Reason.EQUAL_SCORES, least=LEAST_VARIED)
    gap, p_value = scored_gap(answers)
    if p_value < AT_RANDOM:
        return because(Reason.CHOSEN_FOR_SCORES, gap=round(gap, 3))
    return ""


@dataclass(frozen=True)
class HumanScaleMeans:
    """Mean human scores of models over all their answers."""

    score: np.ndarray  # (M,)
    # (prompts, M): what each prompt adds to the error; the covariance is the sum of its products
    influence: np.ndarray
    slope: np.ndarray  # (D,) of the human score on the panel's rating

    @property
    def covariance(self) -> np.ndarray:
        """Of the scores, by prompt, (M, M)."""
        return self.influence.T @ self.influence


def human_scale_means(answers: AnswerScores) -> HumanScaleMeans:
    """Estimate the mean human score of each model over all its answers.

    The scored answers i of the dimension d(i) give, by least squares with weights v_i = answers /
    scored answers of d(i),
      human_i = a_m(i) + c_d(i) + b_d(i) panel_i + e_i
    with the panel's rating less its mean for the model in the dimension, so that no judge's
    preference for a model, such as itself, is left in it. The score of a model is the mean of the
    fitted values of all its answers. As the residuals of each model add up to 0, this is
    prediction-powered inference with the panel as predictor and the tuned weight b_d: with one
    dimension and equal weights, theta(lambda) of PPI++ with lambda = b U / (U + L), of U answers
    without a score and L with one. With prompts as units, the influence of p is
      sum over its scored answers of xbar_m' (X'VX)^-1 x_i v_i e_i
      + sum over its answers of m of (fitted_i - score_m) / answers of m
    whose first part allows for the estimation of b_d. Source: Angelopoulos, Duchi and Zrnic (2023),
    PPI++ (arXiv 2311.01453), section 6.

    A model without scored answers has NaN.
    """
    model, dimension = answers.model, answers.dimension
    panel = answers.centred(answers.panel)
    models, dimensions = len(answers.models), len(answers.dimensions)
    scored = np.flatnonzero(answers.is_scored)
    by_dimension = np.bincount(dimension[scored], minlength=dimensions)
    rate = np.bincount(dimension, minlength=dimensions) / np.maximum(by_dimension, 1)
    weight = rate[dimension[scored]]
    terms = models + 2 * dimensions
    rows = np.zeros((len(scored), terms))  # of X
    place = np.arange(len(scored))
    rows[place, model[scored]] = 1.0
    rows[place, models + dimension[scored]] = 1.0
    rows[place, models + dimensions + dimension[scored]] = panel[scored]
    inverse = np.linalg.pinv(rows.T @ (weight[:, None] * rows), hermitian=True)
    coefficients = inverse @ (rows.T @ (weight * answers.human[scored]))
    residual = answers.human[scored] - rows @ coefficients
    level, effect, slope = np.split(coefficients, [models, models + dimensions])
    fitted = level[model] + effect[dimension] + slope[dimension] * panel
    count = np.bincount(model, minlength=models)
    score = np.bincount(model, fitted, minlength=models) / count
    mean_row = np.zeros((models, terms))
    mean_row[np.arange(models), np.arange(models)] = 1.0
    np.add.at(mean_row, (model, models + dimension), 1 / count[model])
    _, prompt = np.unique(answers.prompt, return_inverse=True)
    influence = np.zeros((prompt.max() + 1, models))
    of_scored = (rows @ inverse @ mean_row.T) * (weight * residual)[:, None]
    np.add.at(influence, prompt[scored], of_scored)
    np.add.at(influence, (prompt, model), (fitted - score[model]) / count[model])
    lacking = np.bincount(model[scored], minlength=models) == 0
    score[lacking] = np.nan
    return HumanScaleMeans(score, influence, slope)


def widened_covariance(means: HumanScaleMeans, varied: np.ndarray) -> np.ndarray:
    """The covariance of the scores, in which a model whose human scores hardly vary has the mean
    variance of all models with a score at least, (M, M).

    Near the ceiling a few equal scores would otherwise have no error. varied: (M,), as by
    `Answers.varied_prompts`; fewer than LEAST_VARIED are few.
    """
    covariance = means.covariance
    variance = covariance.diagonal()
    usual = variance[~np.isnan(means.score)].mean()
    lacking = np.maximum(usual - variance, 0.0)
    return covariance + np.diag(np.where(varied < LEAST_VARIED, lacking, 0.0))


def next_label_rows(study: StudyTables, *, seed: int) -> Iterator[dict]:
    """Yield BATCH answers without a human score, drawn at random by the seed: as many of each model
    and dimension, but twice as many of a model that is also a judge (`own` 1), whose own answers
    A rests on.
    """
    names = ("dimension", "dataset", "prompt_id", "occasion", "model")
    texts = ", ".join(f"{name}::varchar as {name}" for name in names)
    rows = f"from {files(study.ratings)}"
    query = f"select {texts} {rows} group by all having count(gt) = 0 order by all"
    answers = connect().execute(query).fetchall()
    judges = {
        judge for (judge,) in connect().execute(f"select distinct judge::varchar {rows}").fetchall()
    }
    taken: dict[tuple[str, str], int] = {}
    turns = []
    for number in np.random.default_rng(seed).permutation(len(answers)).tolist():
        dimension, *_, model = answers[number]
        taken[dimension, model] = turn = taken.get((dimension, model), 0) + 1
        turns.append((turn / 2 if model in judges else float(turn), number))
    for _, number in sorted(turns)[:BATCH]:
        row = dict(zip(names, answers[number], strict=True))
        yield row | {"own": int(row["model"] in judges)}
