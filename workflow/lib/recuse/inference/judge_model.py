"""The judge x model table: the mean rating of each cell, its sampling variance, and additive
effects of judge and model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from recuse.data.moments import JUDGED_BY, RATING, REFERENCE, Moments
from recuse.data.study import StudyTables
from recuse.model.design import within_completions
from recuse.model.least_squares import connected_parts, determined, inverted, solve
from recuse.model.prompt_sums import SliceCells, add_prompts
from recuse.model.spec import Spec

# The relation of a cell's model to its judge
SELF, FAMILY, UNRELATED = "self", "family", "unrelated"
# Prompts that the judge's other cells count for: a cell with few prompts says little about its
# variance
BORROWED = 10


@dataclass(frozen=True)
class JudgeModelPairs:
    """Cells of a judge x model table: names, or their codes."""

    judge: np.ndarray  # (cells,), as are the next three
    model: np.ndarray
    judge_family: np.ndarray
    model_family: np.ndarray

    @cached_property
    def is_self(self) -> np.ndarray:
        """Cells of a judge's own answers, (cells,) of bool."""
        return self.judge == self.model

    @cached_property
    def is_family(self) -> np.ndarray:
        """Cells of a judge and another model of its family, (cells,) of bool."""
        return (self.judge_family == self.model_family) & ~self.is_self

    @property
    def is_unrelated(self) -> np.ndarray:
        """Cells of a judge and a model of another family, (cells,) of bool."""
        return self.judge_family != self.model_family

    @cached_property
    def compared(self) -> tuple[set[str], set[str]]:
        """The judges, and the models, that have unrelated cells."""
        unrelated = self.is_unrelated
        return set(self.judge[unrelated].tolist()), set(self.model[unrelated].tolist())

    @cached_property
    def additive(self) -> "AdditiveFit":
        """The additive effects of judge and model on the unrelated cells."""
        return AdditiveFit(self.judge, self.model, self.is_unrelated)


@dataclass(frozen=True)
class CellMeans(JudgeModelPairs):
    """The judge x model cells of a slice, in the order of judge and model, without those of a judge
    without slope.
    """

    mean: np.ndarray  # (cells,) in points of the unit scale
    n: np.ndarray  # (cells,) rows
    without_slope: Sequence[str] = ()  # judges
    rating: np.ndarray | None = None  # (cells,) mean rating
    # Of kinds of rows, judge x model x dimension, in the order of the cells: the fit behind the
    # means.
    cell_of_kind: np.ndarray | None = None  # (kinds,)
    level: np.ndarray | None = None  # (kinds,) mean of rating - slope x covariates
    slopes: np.ndarray | None = None  # (kinds, covariates)
    kind_of_group: np.ndarray | None = None  # (groups of the moments,), -1 without slope
    variance: np.ndarray | None = None  # (cells,) of the mean, by sampling of prompts
    prompts: np.ndarray | None = None  # (cells,)

    @property
    def relation(self) -> np.ndarray:
        """SELF, FAMILY or UNRELATED, (cells,) of str."""
        return np.select([self.is_self, self.is_family], [SELF, FAMILY], UNRELATED)


def equal_cells(one: CellMeans | None, other: CellMeans | None) -> bool:
    """Whether two slices have cells, with the same names and numbers."""
    if one is None or other is None:
        return False
    names = [field.name for field in fields(CellMeans)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def cell_means(moments: Moments, *, reference: bool = True) -> CellMeans:
    """Compute r_jm = mean over rows of rating - b_j covariates - effect of the dimension, of the
    rows behind `moments`.

    The covariates are the human score, unless `reference` is False, and the length, if there is
    one. b_j is the least-squares slope of judge j within its dimension x model cells, and so free
    of the judge's preferences. The effects of dimensions, common to all judges, are least squares
    of the adjusted means of judge x model x dimension cells on judge x model and dimension,
    weighted by rows; their mean over rows is 0. With groups split by the judges of a completion,
    r_jm is within completions, as by `_levels_within_completions`, and without covariates, which
    the completions have in common.
    """
    factors = moments.factors
    within_completions = JUDGED_BY in factors
    names = np.stack([factors[name] for name in ("judge", "model", "dimension")], axis=1)
    kinds, first, place = np.unique(names, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros((len(kinds), *moments.tensor.shape[3:]))  # (kinds, v, v): sums of u u'
    np.add.at(sums, place, moments.tensor[:, 0, 0])
    judges, judge = np.unique(kinds[:, 0], return_inverse=True)
    used = (
        np.arange(RATING + 1)
        if within_completions
        else np.delete(np.arange(sums.shape[1]), [] if reference else REFERENCE)
    )
    within, is_determined = _slopes_within(sums[:, used][:, :, used], judge, len(judges))
    slopes = np.zeros((len(kinds), sums.shape[1]))
    slopes[:, used[RATING + 1 :]] = within[judge]
    slopes = slopes[:, RATING + 1 :]
    n, kept = sums[:, 0, 0], is_determined[judge]
    adjusted = sums[:, 0, RATING] / n - np.einsum(
        "kc,kc->k", sums[:, 0, RATING + 1 :] / n[:, None], slopes
    )
    if within_completions:
        adjusted = _levels_within_completions(
            moments, place, np.unique(kinds[:, 1:], axis=0, return_inverse=True)[1]
        )
        kept = kept & np.isfinite(adjusted)
    cells, cell = np.unique(kinds[kept, :2], axis=0, return_inverse=True)
    mean = _without_dimensions(adjusted[kept], n[kept], cell, kinds[kept, 2])
    group = first[kept][np.unique(cell, return_index=True)[1]]
    families = (factors[name][group] for name in ("judge_family", "model_family"))
    without_slope = judges[~is_determined].tolist()
    kind = np.where(kept, np.cumsum(kept) - 1, -1)[place]
    rows = np.bincount(cell, n[kept])
    return CellMeans(
        *cells.T,
        *families,
        mean,
        rows,
        without_slope,
        rating=np.bincount(cell, sums[kept, 0, RATING]) / rows,
        cell_of_kind=cell,
        level=adjusted[kept],
        slopes=slopes[kept],
        kind_of_group=kind,
    )


def _levels_within_completions(moments: Moments, kind: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Levels of kinds of rows, judge x model x dimension, by least squares with an effect of each
    completion, (kinds,).

    rating = level_jmd + effect of the completion: within the completions of a model, levels are
    determined up to a constant, which makes the mean of the model's fitted ratings that of its
    ratings. If its judges fall into parts without a completion in common, the levels of the part
    with most rows count, and the others are NaN, as are those of judges that rated no completion
    that another judge rated. kind: (groups,) of the moments; block (model and dimension): (kinds,).
    """
    level = np.full(len(block), np.nan)
    width = moments.tensor.shape[1] - 1
    for number in range(block.max(initial=-1) + 1):
        rows = moments.select(block[kind] == number)
        kinds, at = np.unique(kind[block[kind] == number], return_inverse=True)
        layout = np.zeros((len(at), width, len(kinds)))
        layout[np.arange(len(at)), 0, at] = 1.0
        solution = solve(rows, within_completions(layout, rows.factors))
        parts = connected_parts(solution.gram != 0)
        n = np.bincount(at, rows.n)
        largest = parts == np.bincount(parts, n).argmax()
        these = largest & (solution.gram.diagonal() > 0)
        if these.any():
            solved, total = solution.estimate[these], rows.tensor[:, 0, 0, 0, RATING]
            given = np.bincount(at, total)[these].sum() / n[these].sum()
            level[kinds[these]] = solved + given - np.average(solved, weights=n[these])
    return level


def _slopes_within(
    sums: np.ndarray, judge: np.ndarray, judges: int
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the covariates within kinds, (judges, covariates), and whether all of a judge's are
    determined, (judges,).

    sums: (kinds, v, v) over u = (1, rating, covariates...).
    """
    centred = (
        sums[:, 1:, 1:] - sums[:, 0, 1:, None] * sums[:, 0, None, 1:] / sums[:, 0, 0, None, None]
    )
    # What does not vary within a kind leaves rounding of 0.
    centred[np.abs(centred) < 1e-12 * np.abs(sums[:, 1:, 1:])] = 0.0
    total = np.zeros((judges, *centred.shape[1:]))
    np.add.at(total, judge, centred)
    slopes = np.zeros((judges, total.shape[1] - 1))
    # Without covariates nothing is left to determine
    is_determined = np.full(judges, not slopes.shape[1])
    for place, product in enumerate(total):
        if product[1:, 1:].any():
            inverse, null = inverted(product[1:, 1:])
            slopes[place], is_determined[place] = inverse @ product[1:, 0], determined(null).all()
    return slopes, is_determined


def means_by_code(values: np.ndarray, weights: np.ndarray, code: np.ndarray) -> np.ndarray:
    """The weighted mean of the values with the same code, at the place of each; all (n,)."""
    total = np.maximum(np.bincount(code, weights), 1)
    return (np.bincount(code, weights * values) / total)[code]


def _without_dimensions(
    values: np.ndarray, n: np.ndarray, cell: np.ndarray, dimension: np.ndarray
) -> np.ndarray:
    """Means over rows of `values` less the effects of dimensions, (cells,); the arguments are
    (kinds,).
    """
    _, level = np.unique(dimension, return_inverse=True)
    rows = np.bincount(cell, n)
    dummies = (level[:, None] == np.arange(level.max(initial=-1) + 1)).astype(float)
    dummies -= np.average(dummies, axis=0, weights=n) if len(n) else 0.0
    sums = np.zeros((len(rows), dummies.shape[1]))
    np.add.at(sums, cell, dummies * n[:, None])
    within = dummies - (sums / rows[:, None])[cell]
    centred = values - means_by_code(values, n, cell)
    effects = np.linalg.lstsq(within * np.sqrt(n)[:, None], centred * np.sqrt(n), rcond=1e-10)[0]
    return np.bincount(cell, (values - dummies @ effects) * n) / rows


class AdditiveFit:
    """Least squares of mean_jm = a_j + c_m on the `fitted` cells, each as one observation."""

    def __init__(self, judge: np.ndarray, model: np.ndarray, fitted: np.ndarray) -> None:
        """judge, model: (cells,) of str; fitted: (cells,) of bool."""
        dummies = [names[:, None] == np.unique(names) for names in (judge, model)]
        rows = np.concatenate(dummies, axis=1).astype(float)
        gram = rows[fitted].T @ rows[fitted]
        inverse, null = inverted(gram)
        self.fitted, self.rows = fitted, rows  # rows: (cells, judges + models) of all cells
        # (terms, fitted cells): times the means of the fitted cells, the shortest effects that fit
        # them.
        self.inverse = inverse @ rows[fitted].T
        # (terms, directions) in which effects can move without changing the fit, for columns of
        # length 1.
        self.free = null / np.sqrt(np.maximum(gram.diagonal(), 1.0))[:, None]

    @property
    def df(self) -> int:
        """Fitted cells less the rank of the fit."""
        return int(self.fitted.sum()) - (len(self.free) - self.free.shape[1])

    @property
    def free_shares(self) -> np.ndarray:
        """1 - h, h the leverages of the fitted cells, and 1 of the others, (cells,)."""
        free = np.ones(len(self.fitted))
        free[self.fitted] -= (self.rows[self.fitted] * self.inverse.T).sum(axis=1)
        return free

    def residuals(self, means: np.ndarray) -> np.ndarray:
        """Residuals of some means of the fitted cells, (fitted cells,)."""
        return means - self.rows[self.fitted] @ (self.inverse @ means)

    def determined(self, sums: np.ndarray) -> np.ndarray:
        """Which sums of effects with these weights, (sums, terms), the fitted cells determine:
        (sums,) of bool.
        """
        return determined(sums @ self.free)


def tables_of_slices(spec: Spec, study: StudyTables) -> Iterator[tuple[str, CellMeans | None]]:
    """Yield (label, cell means with their sampling variances) of each slice of a spec, None without
    rows.

    The spec's terms do not matter. Without human scores, cell means are of the ratings less the
    effects of dimensions alone.
    """
    moments = study.moments(spec.selection)
    slices = {}
    jobs = []
    for label, mask in spec.selection.slices(moments.factors):
        slices[label] = None
        if mask.any():
            cells = cell_means(moments.select(mask), reference=study.has_human_scores)
            slices[label] = variances = CellVariances(cells)
            design = SliceCells(np.flatnonzero(mask), cells.kind_of_group, len(cells.level))
            jobs.append((design, [variances]))
    add_prompts(jobs, study.row_blocks(spec.selection, moments.factors), len(moments.n))
    for label, variances in slices.items():
        yield label, None if variances is None else variances.result()


class CellVariances:
    """Sampling variances of the cells of a slice, clustered by prompt; prompts come a few at a
    time, each with all its rows.

    With d_pc the mean residual of prompt p in cell c (of the fit behind the cell means), less what
    the judge's cells, and then the model's, have in common on this prompt, k_pc rows of n_c:

        w_c = P_c / (P_c - 1) / n_c sum over its P_c prompts of (k_pc d_pc)^2 / (1 - 1 / M_pj)

    is (1 - 2 / J) of the variance of a row of the cell and 1 / J^2 of the sum over the J judges of
    the model, which gives the variances of its cells; with two judges their mean. M_pj counts the
    judge's cells on the prompt. What cells have in common moves no gap between them: effects of
    judges and models absorb it. v_c is a mean with the judge's average, over n_c, with weights P_c
    - 1 and BORROWED.
    """

    def __init__(self, cells: CellMeans) -> None:
        """Start without prompts."""
        self._cells = cells
        # Kinds of a cell follow one another
        self._first = np.flatnonzero(np.diff(cells.cell_of_kind, prepend=-1))
        self._judges, self._judge = np.unique(cells.judge, return_inverse=True)
        self._models, self._model = np.unique(cells.model, return_inverse=True)
        # Raters: judges of the model, over prompts
        self._sums, self._prompts, self._raters = np.zeros((3, len(cells.n)))

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts: their codes, and sums over the rows of each kind as by
        `sum_by_prompt`.
        """
        cells = self._cells
        # The place of the rating among (1, covariates..., rating)
        width = cells.slopes.shape[1] + 1
        left = (
            sums[:, width]
            - cells.level * sums[:, 0]
            - np.einsum("pck,kc->pk", sums[:, 1:width], cells.slopes)
        )
        rows = np.add.reduceat(sums[:, 0], self._first, axis=1)  # (prompts, cells)
        grid = np.zeros((2, len(prompts), len(self._judges), len(self._models)))
        grid[:, :, self._judge, self._model] = rows, np.add.reduceat(left, self._first, axis=1)
        count, total = grid
        present = count > 0
        mean = total / np.maximum(count, 1)
        models, judges = (present.sum(axis=axis, keepdims=True) for axis in (2, 1))
        for axis, number in ((2, models), (1, judges)):
            common = (mean * present).sum(axis=axis, keepdims=True) / np.maximum(number, 1)
            mean = mean - np.where(number > 1, common, 0.0)
        squares = (count * mean) ** 2 / np.where(models > 1, 1 - 1 / np.maximum(models, 2), 1.0)
        self._sums += squares.sum(axis=0)[self._judge, self._model]
        self._prompts += (rows > 0).sum(axis=0)
        self._raters += (present * judges).sum(axis=0)[self._judge, self._model]

    def result(self) -> CellMeans:
        """The cell means with their variances and numbers of prompts, after the last prompt."""
        n = self._cells.n
        freedom = np.maximum(self._prompts - 1, 0)
        single = self._prompts / np.maximum(freedom, 1) * self._sums / n
        single = self._of_rows(single, self._raters / self._prompts, freedom)
        of_judge = means_by_code(single, freedom, self._judge)
        variance = (freedom * single + BORROWED * of_judge) / (freedom + BORROWED) / n
        return replace(self._cells, variance=variance, prompts=self._prompts)

    def _of_rows(self, mixed: np.ndarray, judges: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Variances of a row of each cell from w_c, which mix those of the model's judges; judges:
        J of each cell; (cells,).
        """
        many = np.maximum(judges, 2)
        mean = mixed / np.where(judges > 1, 1 - 1 / many, 1.0)
        mean = means_by_code(mean, weights, self._model)
        apart = (mixed - mean / many) / np.where(many > 2, 1 - 2 / many, 1.0)
        return np.select(
            [judges < 1.5, many <= 2.5], [mixed, mean], np.maximum(apart, mixed / many)
        )
