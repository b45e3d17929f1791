"""A round-robin plan, in which one judge from outside its model's family rates each answer, and
what it costs in precision.

Source of the idea: Zhu et al. (2026), CyclicJudge, arXiv 2603.01865. An answer is here a model's to
a prompt, rated in all dimensions by the same judge.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from recuse.base.database import connect, files, records
from recuse.base.errors import DataError
from recuse.base.tables import column_names
from recuse.data.study import StudyTables
from recuse.inference.judge_levels import Crossing, LinkedJudges
from recuse.inference.panel import BETWEEN, LEFT_OUT

ROUND_ROBIN = column_names(
    "study panel judges scheme answers ratings saved std_error factor",
    "bias_left total_error note",
)
ROUND_ROBIN_PLAN = column_names("study dataset prompt_id occasion model judge")

FULL, BY_PROMPT = "all judges", "one judge a prompt"
NO_OTHER = "some model has no judge outside its family"


def plan(prompts: int, related: np.ndarray, *, seed: int) -> np.ndarray:
    """The judge of each answer, (prompts, M) of places among the judges, each of which rates a
    model about equally often.

    related: (M, J) of bool, the model is the judge's or of its family. Prompts and judges are in a
    random order by the seed. One judge rates all answers to a prompt, except those of its family,
    which go to the others in turn. Raises DataError about a model without a judge of another
    family.
    """
    models, judges = related.shape
    if related.all(axis=1).any():
        raise DataError(
            "a round-robin plan: found a model without a judge outside its family; add a judge of"
            " another family"
        )
    random = np.random.default_rng(seed)
    turn, order = random.permutation(prompts), random.permutation(judges)
    judge = np.empty((prompts, models), dtype=np.int64)
    for model in range(models):
        others = order[~related[model, order]]
        judge[:, model] = order[turn % judges]
        replaced = related[model, judge[:, model]]
        # Prompts of a replaced judge are dealt to the others one after another.
        judge[replaced, model] = others[np.argsort(np.argsort(turn[replaced])) % len(others)]
    return judge


def plan_rows(study: StudyTables, *, seed: int) -> Iterator[dict]:
    """Yield a row for each answer of a study: the judge that rates it in a plan by prompt with all
    judges of the study.

    Occasions of a prompt count as prompts.
    """
    factors = study.moments().factors
    crossing = Crossing.of(factors, np.unique(factors["judge"]), 1)
    names = "dataset", "prompt_id", "occasion", "model"
    texts = ", ".join(f"{name}::varchar as {name}" for name in names)
    number = "dense_rank() over (order by prompt, coalesce(occasion::varchar, '')) - 1 as number"
    query = f"select distinct {texts}, {number} from {files(study.ratings)} order by number, model"
    answers = records(connect().execute(query))
    judge = plan(answers[-1]["number"] + 1, crossing.related, seed=seed)
    for answer in answers:
        model = np.searchsorted(crossing.models, answer["model"])
        answer["judge"] = str(crossing.judges[judge[answer.pop("number"), model]])
        yield answer


class PlanSums:
    """Sums over prompts for the variance of models' scores, by some judges, and of what a plan with
    one of them adds.

    z_pmj is the mean over dimensions of a judge's rating, less its level, of the answer to prompt p
    by model m; z_pm its mean over the n_pm judges that count, and d_pmj = z_pmj - z_pm. Occasions
    of a prompt count as prompts.
    """

    def __init__(self, crossing: Crossing, levels: np.ndarray, counted: np.ndarray) -> None:
        """levels: (D, J), with the dimensions' means; counted: (M, J) of bool, ratings of the model
        that count.
        """
        _, models, judges = crossing.shape
        self._crossing, self._levels, self._counted = crossing, levels, counted
        self.prompts = self.ratings = self.rated = 0  # rated: by any judge
        # Sums of 1 1', z 1', z z' over prompts
        self.answers, self.scores, self.squares = np.zeros((3, models, models))
        self.alone = np.zeros((3, models, judges))  # of 1, d, d^2, each over n_pm
        # Of 1 1', d 1', d d', each over the judges of the prompt
        self.both = np.zeros((3, judges, models, models))

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        present, rating, _ = self._crossing.arrays(sums)
        present = present & self._counted
        dimensions = present.sum(axis=1)  # (prompts, M, J)
        z = ((rating - self._levels[:, None]) * present).sum(axis=1) / np.maximum(dimensions, 1)
        got = (dimensions > 0).astype(float)
        number = got.sum(axis=-1)
        score = z.sum(axis=-1) / np.maximum(number, 1)
        answered = (number > 0).astype(float)
        d = got * (z - score[..., None])
        self.prompts += int(answered.any(axis=1).sum())
        self.ratings += int(dimensions.sum())
        self.rated += int(present.any(axis=-1).sum())
        self.answers += answered.T @ answered
        self.scores += (score * answered).T @ answered
        self.squares += (score * answered).T @ (score * answered)
        weight = 1 / np.maximum(number, 1)[..., None]
        self.alone += np.stack([(got * weight * d**power).sum(axis=0) for power in range(3)])
        # Of the judges of the prompt
        share = 1 / np.maximum(got.any(axis=1).sum(axis=-1), 1)[:, None, None]
        # (J, prompts, M)
        ones, plain, weighted = (np.moveaxis(values, 2, 0) for values in (got, d, d * share))
        shared = np.moveaxis(got * share, 2, 0).swapaxes(1, 2)
        self.both[0] += shared @ ones
        self.both[1] += weighted.swapaxes(1, 2) @ ones
        self.both[2] += weighted.swapaxes(1, 2) @ plain

    def covariance(self) -> np.ndarray:
        """Covariance of the models' scores, means over their answers of z_pm, (M, M), by sampling
        of prompts; NaN with one.
        """
        number = np.maximum(self.answers.diagonal(), 1)
        mean = self.scores.diagonal() / number
        about = (
            self.squares
            - self.scores * mean
            - (self.scores * mean).T
            + np.outer(mean, mean) * self.answers
        )
        return (
            about
            / np.outer(number, number)
            * (self.prompts / (self.prompts - 1) if self.prompts > 1 else math.nan)
        )

    def added(self) -> np.ndarray:
        """Covariance of the scores by one judge a prompt around those by all, over balanced plans:
        (M, M).

        With n answers of a model, of which each of its judges rates as many, and d_mj the mean of
        d_pmj over its answers, the variance is sum_p mean_j (d_pmj - d_mj)^2 / (n (n - 1))
        (Hoeffding, 1951, on random permutations). The covariance of two models is the same sum of
        products, over the judges of both.
        """
        number = np.maximum(self.answers.diagonal(), 1)
        ones, linear, square = self.alone
        mean = np.divide(linear, ones, out=np.zeros_like(linear), where=ones > 0)
        variance = (square - 2 * mean * linear + mean**2 * ones).sum(axis=1) / (
            number * np.maximum(number - 1, 1)
        )
        ones, linear, product = self.both
        by_judge = mean.T  # (J, M)
        crossed = linear * by_judge[:, None]
        about = (
            product
            - crossed
            - crossed.swapaxes(1, 2)
            + ones * by_judge[:, :, None] * by_judge[:, None]
        )
        covariance = about.sum(axis=0) / np.outer(number, number)
        np.fill_diagonal(covariance, variance)
        return covariance


def contrast_variance(covariance: np.ndarray) -> float:
    """Mean over models of the variance of a score less the mean score, of the covariance of scores,
    (M, M).
    """
    centred = covariance - covariance.mean(axis=0)
    return max(
        float((centred - centred.mean(axis=1, keepdims=True)).trace() / len(covariance)), 0.0
    )


def round_robin_rows(
    judges: LinkedJudges | None, study: StudyTables, panels: Sequence[Mapping]
) -> Iterator[dict]:
    """Yield the rows of the round-robin table: of all judges and of the recommended panel, by every
    judge or one a prompt.

    std_error: root mean square over models of the standard error of a score less the mean score;
    factor: its square over that of every judge of the panel. Family ratings are left out. saved:
    share of the panel's ratings that the plan does without. bias_left: of the panel; total_error:
    root of bias_left^2 + std_error^2. panels: rows of the table of panels.
    """
    if judges is None:
        return
    crossing = judges.crossing
    levels = judges.levels + judges.means(judges.levels)[:, None]
    bias, takers = {}, {}
    for row in panels:
        names = row["panel"]
        if row.get("family_ratings") == LEFT_OUT:
            bias[names] = row.get("bias_left")
        if BETWEEN in names and (row is panels[0] or "recommended" in row):
            counted = np.isin(crossing.judges, names.split(BETWEEN)) & ~crossing.related
            takers[names] = PlanSums(crossing, levels, counted)
    crossing.passed(study, *takers.values())
    for names, sums in takers.items():
        yield from _schemes(names, sums, bias.get(names))


def _schemes(names: str, sums: PlanSums, bias: float | None) -> Iterator[dict]:
    """Yield the rows of the panel of these judges."""
    shared = {
        "panel": names,
        "judges": names.count(BETWEEN) + 1,
        "answers": int(sums.answers.diagonal().sum()),
    }
    if (sums.answers.diagonal() == 0).any():
        yield shared | {"note": NO_OTHER}
        return
    whole = sums.covariance()
    base = contrast_variance(whole)
    for scheme, covariance, ratings in (
        (FULL, whole, sums.ratings),
        (BY_PROMPT, whole + sums.added(), sums.rated),
    ):
        variance = contrast_variance(covariance)
        error = math.sqrt(variance)
        row = shared | {
            "scheme": scheme,
            "ratings": ratings,
            "bias_left": bias,
            "saved": 1 - ratings / sums.ratings,
            "std_error": error,
        }
        if base > 0:
            row["factor"] = variance / base
        if bias is not None:
            row["total_error"] = math.hypot(bias, error)
        yield row
