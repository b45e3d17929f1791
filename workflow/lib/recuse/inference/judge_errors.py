"""The errors of judges: how far each is from the reference on each model, and how the errors of two judges go together.

All comes from sums over prompts, kept in FOLDS parts of the prompts: leaving a part out gives standard errors, and halves of
them show how a choice made on some prompts does on others. Ratings are on the unit scale. An answer is a model's to a
prompt, on one occasion, rated in one dimension.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recuse.base.errors import check_known
from recuse.data.moments import RowBlock
from recuse.data.selection import EVERY_ROW
from recuse.data.study import Study
from recuse.model.prompt_sums import SliceCells, add_prompts, products

OCCASIONS = 2**24  # above the number of occasions of a prompt
FOLDS = 20  # parts of the prompts, by their codes in turn, so that each dataset is in each part
FEW_IN_REFERENCE = 0.34  # 1 / n from which the variances of judges, of n or fewer, are taken as equal
NOTHING = 1e-10  # share of the largest eigenvalue, below which a direction holds no information
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Crossing:
    """Which judges rate which models in which dimensions; only judges whose levels can be compared."""

    dimensions: np.ndarray  # (D,) of str
    models: np.ndarray  # (M,) of str
    judges: np.ndarray  # (J,) of str
    family: np.ndarray  # (M,) of str, of each model
    related: np.ndarray  # (M, J) of bool: the model is the judge, or of its family
    groups: np.ndarray  # places of the study's groups of rows that these judges rate
    cells: np.ndarray  # place of each of these in the raveled (D, M, J)
    folds: int

    @classmethod
    def of(
        cls, factors: Mapping[str, np.ndarray], judges: Sequence[str], folds: int, *, kept: np.ndarray | bool = True
    ) -> "Crossing":
        """The crossing of some judges in groups of rows with these factors; kept: which groups count."""
        groups = np.flatnonzero(np.isin(factors["judge"], judges) & kept)
        names = {name: np.asarray(values)[groups] for name, values in factors.items()}
        levels = {name: np.unique(names[name], return_inverse=True) for name in ("dimension", "model", "judge")}
        (dimensions, dimension), (models, model), (judge_names, judge) = levels.values()
        shape = (len(dimensions), len(models), len(judge_names))
        family, of_judge = np.empty(len(models), dtype=object), np.empty(len(judge_names), dtype=object)
        family[model], of_judge[judge] = names["model_family"], names["judge_family"]
        related = (family[:, None] == of_judge) | (models[:, None] == judge_names)
        cells = np.ravel_multi_index((dimension, model, judge), shape)
        return cls(dimensions, models, judge_names, family.astype(str), related, groups, cells, folds)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(D, M, J)."""
        return len(self.dimensions), len(self.models), len(self.judges)

    @cached_property
    def families(self) -> np.ndarray:
        """Number of each model's family, (M,), as in the sums of `Errors`."""
        return np.unique(self.family, return_inverse=True)[1]

    def arrays(self, sums: np.ndarray) -> Arrays:
        """Whether there is a rating, the rating and the human score, (prompts, D, M, J) each, of sums by `sum_by_prompt`."""
        places = [products(2).index(product) for product in ((0, 0), (0, 2), (0, 1))]  # of rows, rating and human score
        present, rating, human = (sums[:, place].reshape(-1, *self.shape) for place in places)
        return present > 0, rating, human

    def passed(self, study: Study, *takers: object) -> None:
        """Pass once over the rows of the study; each taker adds the sums of prompts."""
        factors = study.moments().factors
        design = SliceCells(self.groups, self.cells, int(np.prod(self.shape)))
        add_prompts([(design, takers)], map(by_occasion, study.row_blocks(EVERY_ROW, factors)), len(factors["judge"]))

    def fold_of(self, codes: np.ndarray) -> np.ndarray:
        """The fold of each code of a prompt and occasion, as `add` of a taker is given: occasions of a prompt are in one."""
        return codes // OCCASIONS % self.folds


def by_occasion(block: RowBlock) -> RowBlock:
    """The rows of a block with OCCASIONS x prompt + occasion in place of the prompt, in its order: an answer has one code."""
    code = block.prompt.astype(np.int64) * OCCASIONS
    if block.occasion is None or not block.occasion.any():
        return replace(block, prompt=code)
    code += block.occasion
    order = np.argsort(code, kind="stable")
    columns = [values[order] for values in block.covariates]
    return RowBlock(code[order], block.group[order], block.rating[order], columns)


class LevelSums:
    """What the levels of judges follow from, by fold: answers that two judges rated, and their deviations on these.

    Only ratings of models that are not of the judge's family count.
    """

    def __init__(self, crossing: Crossing) -> None:
        """Start without prompts."""
        dimensions, _, judges = crossing.shape
        self.crossing = crossing
        self.gram = np.zeros((crossing.folds, dimensions, judges, judges))
        self.right = np.zeros((crossing.folds, dimensions, judges))
        # Rows, sum and sum of squares of the human scores of these ratings; rows and sum of the ratings.
        self.human, self.rated = np.zeros((dimensions, 3)), np.zeros((dimensions, judges, 2))

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        present, rating, human = self.crossing.arrays(sums)
        counted = (present & ~self.crossing.related).astype(float)
        share = counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1)
        within = counted * (rating - (share * rating).sum(axis=-1, keepdims=True))
        fold = self.crossing.fold_of(prompts)
        own = counted.sum(axis=2)[..., None] * np.eye(counted.shape[-1])
        np.add.at(self.gram, fold, own - counted.swapaxes(2, 3) @ share)
        np.add.at(self.right, fold, within.sum(axis=2))
        self.human += np.stack([(counted * human**power).sum(axis=(0, 2, 3)) for power in range(3)], axis=-1)
        self.rated += np.stack([counted.sum(axis=(0, 2)), (counted * rating).sum(axis=(0, 2))], axis=-1)

    def levels(self, folds: np.ndarray | None = None) -> np.ndarray:
        """Levels a_jd, (D, J), of least squares of rating = answer + a_jd over these folds; their mean is 0 in a dimension."""
        chosen = slice(None) if folds is None else folds
        gram, right = self.gram[chosen].sum(axis=0), self.right[chosen].sum(axis=0)
        return (np.linalg.pinv(gram, rcond=NOTHING, hermitian=True) @ right[..., None])[..., 0]

    def means(self, levels: np.ndarray) -> np.ndarray:
        """Mean of rating - a_jd in each dimension, (D,)."""
        rows, total = np.moveaxis(self.rated, -1, 0)
        return (total - rows * levels).sum(axis=1) / np.maximum(rows.sum(axis=1), 1)

    def linked(self) -> np.ndarray:
        """Judges whose levels can be compared in every dimension, (J,) of bool: the most that shared answers link.

        `gram` is the Laplacian of who shares answers with whom, so that the projector on its null space is 1 / n between the n
        judges of a linked set, and 0 between sets.
        """
        judges = self.gram.shape[-1]
        kept = np.ones(judges, dtype=bool)
        for gram in self.gram.sum(axis=0):
            projector = np.eye(judges) - np.linalg.pinv(gram, rcond=NOTHING, hermitian=True) @ gram
            are_linked = projector > 0.5 / judges
            kept &= are_linked[are_linked.sum(axis=1).argmax()]
        return kept


class ErrorSums:
    """Sums of the errors e of judges, by fold: over each judge's answers of each model, and of products of two judges' errors.

    e = rating - a_jd - reference: the human score, or without any the mean of rating - a_jd over the judges outside the model's
    family that rated the answer, two or more; with human scores, e is less its mean in the dimension.
    """

    def __init__(self, crossing: Crossing, levels: np.ndarray, gap: np.ndarray | None) -> None:
        """levels: (D, J); gap: the mean of e in each dimension, (D,), None without human scores."""
        (dimensions, models, judges), folds = crossing.shape, crossing.folds
        self._crossing, self._gap = crossing, gap
        self._levels = levels if gap is None else levels + gap[:, None]
        self.count, self.error = np.zeros((2, folds, dimensions, models, judges))
        # Of pairs of judges, by the family of the model: answers that both rated, and the sum of products of their errors.
        self.pairs, self.products = np.zeros((2, folds, crossing.families.max() + 1, judges, judges))
        self.answers, self.inverse = np.zeros((2, crossing.families.max() + 1))  # and sums of 1 / judges outside the family

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        crossing = self._crossing
        present, rating, human = crossing.arrays(sums)
        error, unrelated = rating - self._levels[:, None], present & ~crossing.related
        number = unrelated.sum(axis=-1)
        if self._gap is None:
            present = present & (number > 1)[..., None]
            error -= (error * unrelated).sum(axis=-1, keepdims=True) / np.maximum(number, 1)[..., None]
        else:
            error -= human
        error, mask, fold = error * present, present.astype(float), crossing.fold_of(prompts)
        rated = present.any(axis=-1)
        for family in range(len(self.answers)):
            models = crossing.families == family
            self.answers[family] += rated[:, :, models].sum()
            self.inverse[family] += (rated / np.maximum(number, 1))[:, :, models].sum()
            for totals, values in ((self.pairs, mask), (self.products, error)):
                answers = values[:, :, models].reshape(len(prompts), -1, values.shape[-1])
                np.add.at(totals[:, family], fold, answers.swapaxes(1, 2) @ answers)
        np.add.at(self.count, fold, mask)
        np.add.at(self.error, fold, error)


@dataclass(frozen=True)
class JudgeErrors:
    """The errors of a study's judges, by fold."""

    crossing: Crossing
    level_sums: LevelSums
    sums: ErrorSums
    noise: float | None  # variance of the error of the human scores; None without human scores
    left_out: Sequence[str] = ()  # judges whose levels cannot be compared with the others'

    @cached_property
    def levels(self) -> np.ndarray:
        """Levels of judges by all prompts, (D, J)."""
        return self.level_sums.levels()

    @cached_property
    def folds(self) -> np.ndarray:
        """The folds with ratings."""
        return np.flatnonzero(self.sums.count.sum(axis=(1, 2, 3)))

    def biases(self, folds: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean error of each judge on each model in some folds, (M, J), NaN without ratings, and the number of its ratings.

        The levels are those of these folds: e moves by the change of a_jd, less its mean over the reference of the model where
        that is of judges, or over the dimension.
        """
        folds = self.folds if folds is None else folds
        count, error = self.sums.count[folds].sum(axis=0), self.sums.error[folds].sum(axis=0)  # (D, M, J)
        moved = count * (self.level_sums.levels(folds) - self.levels)[:, None]
        error = error - moved
        if self.has_human_scores:
            error -= count * self._mean_of_unrelated(error, count, axis=(1, 2))
        else:
            error += count * self._mean_of_unrelated(moved, count, axis=2)
        number = count.sum(axis=0)
        return np.divide(error.sum(axis=0), number, out=np.full(number.shape, np.nan), where=number > 0), number

    def _mean_of_unrelated(self, sums: np.ndarray, count: np.ndarray, *, axis: int | tuple[int, int]) -> np.ndarray:
        """Mean over ratings of models outside the judge's family, of sums over cells (D, M, J)."""
        total, rows = ((values * ~self.crossing.related).sum(axis=axis, keepdims=True) for values in (sums, count))
        return total / np.maximum(rows, 1)

    def products(self, folds: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """C, (F, J, J), and the answers behind it: mean product of two judges' errors on the answers of a family's models.

        C is without the error of the reference. With human scores, the variance of their error is subtracted from each entry.
        With the mean of the n judges outside the family, errors of judges are taken as independent: with v_j the variance of
        judge j's, v their mean, and s_j = 1 for a judge outside the family and else 0,

            E e_j e_k = C_jk - (s_j v_j + s_k v_k - v) / n
        """
        folds = self.folds if folds is None else folds
        pairs, totals = self.sums.pairs[folds].sum(axis=0), self.sums.products[folds].sum(axis=0)
        mean = np.divide(totals, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
        if self.has_human_scores:
            return mean - self.noise, pairs
        outside = self.unrelated_to_family.astype(float)  # (F, J)
        inverse = np.divide(self.sums.inverse, self.sums.answers, where=self.sums.answers > 0, out=np.zeros_like(outside[:, 0]))
        spread, inverse = self._variances(totals, pairs, inverse), inverse[:, None, None]
        part = outside * spread
        return mean + (part[:, :, None] + part[:, None, :] - spread.mean()) * inverse, pairs

    def _variances(self, totals: np.ndarray, pairs: np.ndarray, inverse: np.ndarray) -> np.ndarray:
        """v_j, (J,), of E e_j^2 = v_j (1 - 2 / n) + v / n on answers outside the judge's family."""
        total, rows = (np.einsum("fjj,fj->fj", values, self.unrelated_to_family * 1.0) for values in (totals, pairs))
        rated = np.maximum(rows.sum(axis=0), 1)
        squares, share = total.sum(axis=0) / rated, (rows * inverse[:, None]).sum(axis=0) / rated
        mean = squares.mean() / (1 - min(share.mean(), 0.5))
        apart = (squares - mean * share) / np.maximum(1 - 2 * share, NOTHING)
        return np.where(share < FEW_IN_REFERENCE, np.maximum(apart, 0), mean)

    @cached_property
    def unrelated_to_family(self) -> np.ndarray:
        """Judges outside each family of models, (F, J) of bool."""
        families = self.crossing.families
        return np.stack([~self.crossing.related[families == family].any(axis=0) for family in range(families.max() + 1)])

    @property
    def has_human_scores(self) -> bool:
        """Whether the reference is the human score."""
        return self.noise is not None


def judge_errors(study: Study, reliability: Mapping[str, float], *, dimensions: Sequence[str] = ()) -> JudgeErrors | None:
    """The errors of a study's judges in two passes over its rows; None if fewer than two judges share answers.

    reliability: of the human scores, by dimension; without one, they are taken as exact. dimensions: that count; none: all.
    Raises ConfigError about a dimension that the study does not have.
    """
    factors = study.moments().factors
    check_known("inference: panel: dimensions", dimensions, np.unique(factors["dimension"]).tolist(), "dimensions")
    kept = np.isin(factors["dimension"], dimensions or factors["dimension"])
    folds, judges = max(1, min(FOLDS, study.prompts)), np.unique(factors["judge"][kept])
    everyone = judges
    while True:
        crossing = Crossing.of(factors, judges, folds, kept=kept)
        level_sums = LevelSums(crossing)
        crossing.passed(study, level_sums)
        linked = level_sums.linked()
        if linked.all():
            break
        judges = crossing.judges[linked]
    if len(judges) < 2:
        return None
    levels, gap, noise = level_sums.levels(), None, None
    if study.has_human_scores:
        rows, total, squares = np.maximum(level_sums.human, 0).T
        gap = level_sums.means(levels) - total / rows
        share = np.array([1 - reliability.get(str(name), 1.0) for name in crossing.dimensions])
        noise = float((rows * share * (squares / rows - (total / rows) ** 2)).sum() / rows.sum())
    sums = ErrorSums(crossing, levels, gap)
    crossing.passed(study, sums)
    return JudgeErrors(crossing, level_sums, sums, noise, np.setdiff1d(everyone, crossing.judges).tolist())
