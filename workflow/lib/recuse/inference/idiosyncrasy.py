"""Estimand C: self- and family-bias beyond the ordinary preferences of judges for models.

Two methods on the cells of a judge x model table: the mixed model (recuse.inference.mixed), on which conclusions rest, and, for
comparison, additive effects of judge and model with one spread, fitted to the unrelated cells (neither self nor same family).
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from recuse.base.words import counted
from recuse.data.study import Study
from recuse.inference.judge_model import UNRELATED, AdditiveFit, CellMeans, cell_means, tables_of_slices
from recuse.inference.mixed import MixedFit, Pooled, Table, pooled
from recuse.model.design import ALL_JUDGES, NO_ROWS, NO_SLICE
from recuse.model.estimable import slices_of
from recuse.model.least_squares import ALONE, quantile, wald_columns, wald_p_value
from recuse.model.spec import BIASES, C, Spec, biases_of

NO_CELL = "not estimable: no cell that is neither self nor family is of {what}"
NOT_LINKED = "not estimable: cells that are neither self nor family do not link judge and model of {what}"
NO_OTHER = "not estimable: no other cells that are neither self nor family link judge {judge} and model {model}"
NO_ASSIGNMENT = "no randomisation: cells that are neither self nor family do not give each judge another model"
NO_VARIATION = 1e-10  # an additive spread below it is rounding
NO_SPREAD = "not estimable: the cells that are neither self nor family leave no residual"
ENTRIES = 2**20  # of the matrices of the assignments that are solved at a time, which bounds memory
BATCH, BATCHES = 20_000, 50  # assignments drawn at a time, and how often at most: few may hit the cells that they must
SINGULAR = 1e-9  # smallest eigenvalue: below it, the remaining cells do not identify all that are assigned
DRAWS = 10_000
MIXED, ADDITIVE = METHODS = ("mixed", "additive")  # of the gaps: the mixed model, or one spread and effects that add
LEAST_PROMPTS, LEAST_MODELS = 10, 3  # of a judge's own cell, and of other families: with fewer, nothing is concluded
Leftover = Callable[[np.ndarray, np.ndarray], np.ndarray]
FEW_PROMPTS = "cannot be told: {words}, fewer than {least}"
FEW_MODELS = "cannot be told: the judge rates {words} of other families, too few to show how much its preferences vary"
ALONE_POOLED = "not estimable: fewer than two biases to pool"
DESCRIPTIVE = "randomisation is descriptive: its p-value cannot be below {least:.2f}"


def draw_assignments(
    place: np.ndarray, leftover: Leftover, families: tuple[np.ndarray, np.ndarray], *, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw assignments of each family's judges to models of one other family; fewer than `draws` if few are possible.

    No two families of judges have the same family of models; each judge has any of its models. Returns places of the assigned
    cells among those of the fit, (draws, judges), and weights: the weighted sum of their residuals is their mean residual from
    a fit without them over its standard error, times the sd of a cell. Residuals from a fit without a set T are M_TT^-1 e_T;
    their mean has the variance 1' M_TT^-1 1 / |T|^2 times that of a cell.
    place: (judges, models) of each cell among those of the fit, -1 where there is none. leftover: entries of M of the fit, as
    AdditiveFit.leftover. families: codes of the judges', (judges,), and of the models', (models,).
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    of_judge, of_model = families
    names, size = np.unique(of_model, return_counts=True)
    by_family, first = np.argsort(of_model, kind="stable"), np.cumsum(size) - size
    assigned, weights, count = [np.empty((0, len(place)), dtype=np.int64)], [np.empty((0, len(place)))], 0
    for _ in range(BATCHES if draws and assignments_of(of_judge, of_model) else 0):
        order = generator.permuted(np.tile(names, (BATCH, 1)), axis=1)
        order = order[((order != names) | ~np.isin(names, of_judge)).all(axis=1)]  # no family its own
        wanted = np.searchsorted(names, order[:, np.searchsorted(names, of_judge)])  # (batch, judges), places of families
        number = (generator.random(wanted.shape) * size[wanted]).astype(int)
        cells = place[np.arange(len(place)), by_family[first[wanted] + number]]
        cells = cells[(cells >= 0).all(axis=1)]
        at_once = max(1, ENTRIES // len(place) ** 2)
        for some in (cells[start : start + at_once] for start in range(0, len(cells), at_once)):
            blocks = leftover(some[:, :, None], some[:, None, :])
            kept = np.linalg.det(blocks) > 2 * SINGULAR  # a product of eigenvalues that are at most 1, so none is smaller
            kept[~kept] = np.linalg.eigvalsh(blocks[~kept])[:, 0] > SINGULAR
            solved = np.linalg.solve(blocks[kept], np.ones((kept.sum(), len(place), 1)))[..., 0]
            assigned.append(some[kept])
            weights.append(solved / np.sqrt(solved.sum(axis=1, keepdims=True)))
            count += len(solved)
            if count >= draws:
                return np.concatenate(assigned)[:draws], np.concatenate(weights)[:draws]
    return np.concatenate(assigned), np.concatenate(weights)


def assignments_of(of_judge: np.ndarray, of_model: np.ndarray) -> int:
    """In how many ways each family of judges can have another family of models, and no two the same.

    >>> assignments_of(np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3]))
    9
    """
    models, judges = len(np.unique(of_model)), len(np.unique(of_judge))
    signed = (
        (-1) ** fixed * math.comb(judges, fixed) * math.perm(models - fixed, judges - fixed) for fixed in range(judges + 1)
    )
    return sum(signed) if 0 < judges <= models else 0


@dataclass(frozen=True)
class ExcessPreference:
    """The gap of some cells to what the unrelated cells predict: a contrast of the means and, once tested, its numbers."""

    quantity: str  # self_bias or family_bias, or the relation of a single cell
    term: str  # the judge or family, or ALL_JUDGES for the mean of all self-biases
    contrast: np.ndarray  # (cells,) whose product with the means is the gap; empty for a judge whose cells are left out
    cells: int  # whose mean the gap is
    reason: str = ""  # why there is no gap, or no error
    estimate: float = math.nan
    std_error: float = math.nan
    df: float = 0
    p_value: float = math.nan  # by t
    randomisation_p_value: float = math.nan
    draws: int = 0  # cells or assignments that the randomisation uses


class IdiosyncrasyDesign:
    """All that does not depend on the means: the additive fit a_j + c_m to the unrelated cells, and its errors.

    The gap of cells T is mean(r_T) - mean(a_j + c_m), with variance s^2 (1 / |T| + x'(X'X)^-1 x), x the mean row of T, and t
    with (unrelated cells - rank of X) degrees of freedom. All cells have the same weight: most differ by preference, not by
    the number of prompts.
    """

    def __init__(self, cells: CellMeans, *, quantities: Collection[str] = BIASES, seed: int = 0, draws: int = 0) -> None:
        """Fit the effects.

        quantities: which biases to compare. draws: random assignments of models to judges; with 0 there are no randomisation
        tests.
        """
        self.cells = cells
        self._fit = AdditiveFit(cells.judge, cells.model, cells.is_unrelated)
        self.df = self._fit.df
        self.targets = [target for target in self._targets() if target.quantity in quantities]
        judges = [target.term for target in self.targets if target.quantity == "self_bias" and not target.reason]
        self._alone = {judge: self._with_own_cell(judge) for judge in judges} if draws else {}
        estimable = cells.is_self & np.isin(cells.judge, judges)
        self._mean = self._target("self_bias", ALL_JUDGES, estimable) if estimable.any() else None
        self._families = self._family_codes(judges)
        place = self._places(judges)
        self._assigned, self._weights = draw_assignments(place, self._fit.leftover, self._families, draws=draws, seed=seed)

    def test(self, mean: np.ndarray) -> list[ExcessPreference]:
        """Estimate and test all gaps of these means, (cells,): judges, families, and the mean over judges.

        The randomisation p-value of a judge is the share of its own and unrelated cells whose studentised leave-one-out
        residual, of an additive fit to the unrelated cells and the own one, is at least as large as the own one's:
        (1 + #) / (1 + cells). That of all judges is the share of random assignments, as by `draw_assignments`, whose mean gap,
        from a fit without their cells and over its standard error, is at least as large as that of the own cells:
        (1 + #) / (1 + draws), but not below 1 / (1 + ways to assign families).
        """
        spread = self.spread(mean)
        tests = [
            self._tested(target, mean, spread, _rank(*self._alone[target.term], mean))
            if target.quantity == "self_bias" and target.term in self._alone
            else self._tested(target, mean, spread)
            for target in self.targets
        ]
        if self._mean is None:
            return tests
        standardised = self._mean.contrast @ mean / np.linalg.norm(self._mean.contrast)
        residuals = self._fit.residuals(mean[self.cells.is_unrelated])
        drawn = (self._weights * residuals[self._assigned]).sum(axis=1)
        share = (1 + (np.abs(drawn) >= abs(standardised)).sum()) / (1 + len(drawn)) if len(drawn) else math.nan
        share = max(share, 1 / (1 + assignments_of(*self._families)))
        return [*tests, self._tested(self._mean, mean, spread, (float(share), len(drawn)))]

    def spread(self, mean: np.ndarray) -> float:
        """Residual standard deviation s of the unrelated cells, of means (cells,); NaN where they leave no residual."""
        residuals = self._fit.residuals(mean[self.cells.is_unrelated])
        return math.sqrt(residuals @ residuals / self.df) if self.df > 0 else math.nan

    def reasons_of_cells(self) -> list[str]:
        """Why there is no gap of each cell, or "", as of `of_cell`."""
        number = np.arange(self._fit.fitted.sum())
        seen = iter(self._fit.leftover(number, number).tolist())
        reasons = []
        for place, is_unrelated in enumerate(self.cells.is_unrelated.tolist()):
            can_be = is_unrelated and next(seen) > ALONE and self.df > 0
            reasons.append("" if can_be else self.of_cell(place).reason)
        return reasons

    def of_cell(self, place: int) -> ExcessPreference:
        """One cell against the unrelated cells; an unrelated cell against the others, from a fit without it."""
        relation, judge, model = self.cells.relation[place], self.cells.judge[place], self.cells.model[place]
        contrast = (np.arange(len(self.cells.n)) == place).astype(float)
        if relation != UNRELATED:
            return self._target(relation, judge, contrast > 0)
        number = int(self.cells.is_unrelated[:place].sum())
        row = self._fit.leftover(np.array(number), np.arange(self._fit.fitted.sum()))
        free, reason = row[number], ""
        if self.df <= 0:
            reason = NO_SPREAD
        elif free <= ALONE:
            reason = NO_OTHER.format(judge=judge, model=model)
        else:
            contrast[self.cells.is_unrelated] = row / free
        return ExcessPreference(relation, judge, contrast, 1, reason)

    def _tested(self, target: ExcessPreference, mean: np.ndarray, spread: float, randomised=(math.nan, 0)) -> ExcessPreference:
        if target.reason:
            return target
        gap, error = float(target.contrast @ mean), spread * float(np.linalg.norm(target.contrast))
        if not error > NO_VARIATION:
            return replace(target, estimate=gap, reason=NO_SPREAD)
        numbers = {"estimate": gap, "std_error": error, "df": self.df, "p_value": wald_p_value(gap, error, self.df)}
        return replace(target, **numbers, randomisation_p_value=randomised[0], draws=randomised[1])

    def _targets(self) -> Iterator[ExcessPreference]:
        cells = self.cells
        for judge in map(str, np.unique(cells.judge)):
            yield self._target("self_bias", judge, cells.is_self & (cells.judge == judge))
        for judge, reason in cells.without_slope.items():
            yield ExcessPreference("self_bias", judge, np.zeros(0), 0, reason)
        for family in map(str, np.unique(cells.judge_family)):
            yield self._target("family_bias", family, self.cells_of_family(family))

    def cells_of_family(self, family: str) -> np.ndarray:
        """The cells whose mean a family-bias is about, (cells,) of bool: those that can be compared, or all if none can.

        Their judge and model have unrelated cells, and ratings are on LEAST_PROMPTS or more, where prompts are counted.
        """
        cells, unrelated = self.cells, self.cells.is_unrelated
        among = cells.is_family & (cells.judge_family == family)
        comparable = among & np.isin(cells.judge, cells.judge[unrelated]) & np.isin(cells.model, cells.model[unrelated])
        if cells.prompts is not None:
            comparable &= cells.prompts >= LEAST_PROMPTS
        return comparable if comparable.any() else among

    def _target(self, quantity: str, term: str, among: np.ndarray) -> ExcessPreference:
        """The mean of the cells `among`, (cells,) of bool, against the unrelated cells."""
        count = int(among.sum())
        contrast = among / max(1, count)
        row = contrast @ self._fit.rows
        contrast[self.cells.is_unrelated] -= row @ self._fit.inverse
        return ExcessPreference(quantity, term, contrast, count, self._why_not(quantity, among, row))

    def _why_not(self, quantity: str, among: np.ndarray, row: np.ndarray) -> str:
        """Why the unrelated cells do not predict the cells `among`, whose mean row of the additive fit is `row`; or ""."""
        if not among.any():
            return NO_ROWS[quantity]
        for factor in ("judge", "model"):
            names = getattr(self.cells, factor)
            lacking = sorted(set(names[among]) - set(names[self.cells.is_unrelated]))
            if lacking:
                return NO_CELL.format(what=f"{factor} {', '.join(lacking)}")
        if not self._fit.determined(row[None])[0]:
            return NOT_LINKED.format(what=", ".join(sorted(set(self.cells.judge[among]))))
        return "" if self.df > 0 else NO_SPREAD

    def _with_own_cell(self, judge: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of the unrelated cells and, last, a judge's own; the judge's rows of M of an additive fit to them; 1 - h."""
        self_cells = np.flatnonzero(self.cells.is_self & (self.cells.judge == judge))
        places = np.concatenate([np.flatnonzero(self.cells.is_unrelated), self_cells])
        judges, models = self.cells.judge[places], self.cells.model[places]
        fit, mine = AdditiveFit(judges, models, np.ones(len(places), dtype=bool)), np.flatnonzero(judges == judge)
        leftover = -fit.rows[mine] @ fit.inverse
        leftover[np.arange(len(mine)), mine] += 1
        return places, leftover, leftover[np.arange(len(mine)), mine]

    def note(self, gap: ExcessPreference, confidence: float) -> str:
        """That a gap has no randomisation p-value, or one that can never be as small as the level, or ""."""
        if gap.term == ALL_JUDGES and not gap.draws:
            return NO_ASSIGNMENT
        ways = assignments_of(*self._families) if gap.term == ALL_JUDGES else gap.draws
        is_descriptive = gap.draws and 1 / (1 + ways) > 1 - confidence + NO_VARIATION
        return DESCRIPTIVE.format(least=1 / (1 + ways)) if is_descriptive else ""

    def _family_codes(self, judges: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the families of some judges, (judges,), and of all models, (models,)."""
        cells = self.cells
        family = dict(zip(cells.model.tolist(), cells.model_family.tolist(), strict=True))  # the judges are models
        names = sorted(set(family.values()))
        codes = {name: names.index(of) for name, of in family.items()}
        return tuple(np.array([codes[name] for name in among], dtype=int) for among in (judges, sorted(family)))

    def _places(self, judges: list[str]) -> np.ndarray:
        """Places of the unrelated cells among those of the fit, (judges, models), of some judges; -1 where there is none."""
        models, unrelated = np.unique(self.cells.model), self.cells.is_unrelated
        place = np.full((len(judges), len(models)), -1)
        for number, (judge, model) in enumerate(zip(self.cells.judge[unrelated], self.cells.model[unrelated], strict=True)):
            place[np.array(judges, dtype=str) == judge, np.searchsorted(models, model)] = number
        return place


def _rank(places: np.ndarray, leftover: np.ndarray, free: np.ndarray, mean: np.ndarray) -> tuple[float, int]:
    """The share of a judge's cells whose studentised residual is at least that of the last, its own; and how many others.

    Residuals over sqrt(1 - h) have the order of those from fits without the cell, over their own standard errors.
    """
    kept = free > ALONE
    sizes = np.abs(leftover @ mean[places])[kept] / np.sqrt(free[kept])
    return float((sizes >= sizes[-1]).sum() / len(sizes)), len(sizes) - 1


def idiosyncrasy_designs(spec: Spec, study: Study) -> Iterator[tuple[dict, IdiosyncrasyDesign | None]]:
    """Yield the columns that name each slice of a spec, and its design, None without rows.

    Without human scores, cell means are of the ratings less the effects of dimensions alone.
    """
    for label, moments in slices_of(spec, study):
        cells = cell_means(moments, reference=study.has_human_scores) if len(moments.n) else None
        design = None if cells is None else IdiosyncrasyDesign(cells, quantities=biases_of(spec))
        yield {"spec": spec.name, "slice": label, "estimand": C}, design


class Idiosyncrasy:
    """Both methods on one slice: the mixed model, and one spread with effects that add."""

    def __init__(
        self, where: dict, cells: CellMeans | None, *, quantities: Collection[str] = BIASES, seed: int = 0, draws: int = 0
    ) -> None:
        """where: columns that name the slice; cells: with sampling variances, None without rows. Others as of the design."""
        self.where, self.cells, self.fit, self.quantities = where, cells, None, quantities
        if cells is None:
            return
        self.design = IdiosyncrasyDesign(cells, quantities=quantities, seed=seed, draws=draws)
        self.additive = self.design.test(cells.mean)
        spread = self.design.spread(cells.mean)
        self.fit = MixedFit(Table.of(cells), cells.mean) if spread > NO_VARIATION else None
        self.targets = [] if self.fit is None else [each for each in self.design.targets if not each.reason]
        among = [self._cells_of(target) for target in self.targets]
        is_family = [target.quantity == "family_bias" for target in self.targets]
        self._contrasts = [
            self.fit.without_family(these) if of_family else self.fit.against_others(int(np.flatnonzero(these)[0]))
            for these, of_family in zip(among, is_family, strict=True)
        ]
        fixed = [of_family * these / these.sum() for these, of_family in zip(among, is_family, strict=True)]
        self.errors = self.fit.errors(np.array(self._contrasts), np.array(fixed)) if among else None

    def _cells_of(self, target: ExcessPreference) -> np.ndarray:
        """Cells whose mean a bias is about, (cells,) of bool."""
        if target.quantity == "family_bias":
            return self.design.cells_of_family(target.term)
        return self.cells.is_self & (self.cells.judge == target.term)

    def refusal(self, target: ExcessPreference) -> str:
        """Why nothing is concluded from an estimate that there is, or ""."""
        cells, among = self.cells, self._cells_of(target)
        judges = np.unique(cells.judge[among])
        least = int(cells.prompts[among].min())
        if least < LEAST_PROMPTS:
            names = " and ".join(sorted(set(cells.model[among & (cells.prompts < LEAST_PROMPTS)])))
            words = f"{names} has ratings on {counted(least, 'prompt')}"
            return FEW_PROMPTS.format(words=words, least=LEAST_PROMPTS)
        models = min(int((cells.is_unrelated & (cells.judge == judge)).sum()) for judge in judges)
        return FEW_MODELS.format(words=counted(models, "model")) if models < LEAST_MODELS else ""

    def tests(self) -> list[ExcessPreference]:
        """Gaps by the mixed model, in the order of the additive ones, and the pooled mean of all self-biases."""
        if self.fit is None:
            return [replace(test, reason=test.reason or NO_SPREAD) for test in self.additive]
        place = {(target.quantity, target.term): at for at, target in enumerate(self.targets)}
        whole = self.pooled("self_bias") if self.poolable("self_bias").size > 1 else None
        tests = []
        for test in self.additive:
            at = place.get((test.quantity, test.term))
            if test.term == ALL_JUDGES and whole is not None:
                numbers = {"estimate": whole.mean, "std_error": whole.std_error, "df": whole.df}
                row = replace(test, **numbers, cells=len(whole.weights), reason="")
                tests.append(replace(row, p_value=wald_p_value(whole.mean, whole.std_error, whole.df)))
            elif at is None:
                tests.append(replace(test, reason=test.reason or ALONE_POOLED))
            else:
                estimate = float(self._contrasts[at] @ self.cells.mean)
                variance, df = self.errors.of(np.eye(len(self.targets))[at])
                row = replace(test, estimate=estimate, std_error=math.sqrt(variance), df=df, reason=self.refusal(test))
                tests.append(replace(row, p_value=wald_p_value(estimate, row.std_error, df)))
        return tests

    def residual_contrasts(self, places: np.ndarray) -> np.ndarray:
        """Weights of the means in each cell at some places less its prediction, (places, cells)."""
        contrasts, is_unrelated = np.empty((len(places), len(self.cells.n))), self.cells.is_unrelated[places]
        contrasts[is_unrelated] = self.fit.left_out(places[is_unrelated])
        for number in np.flatnonzero(~is_unrelated):
            of_family = self.cells.is_family[places[number]]
            alone = np.arange(len(self.cells.n)) == places[number]
            contrasts[number] = self.fit.without_family(alone) if of_family else self.fit.against_others(places[number])
        return contrasts

    def poolable(self, quantity: str) -> np.ndarray:
        """Places of the targets of a quantity about which something is concluded."""
        places = [at for at, each in enumerate(self.targets) if each.quantity == quantity and not self.refusal(each)]
        return np.array(places, dtype=int)

    def pooled(self, quantity: str, *, without: str = "") -> Pooled:
        """The pooled mean of a quantity, without one judge or family."""
        places = np.array([at for at in self.poolable(quantity) if self.targets[at].term != without], dtype=int)
        estimates = np.array([self._contrasts[at] @ self.cells.mean for at in places])
        return pooled(estimates, self.errors.among(places))


def idiosyncrasies(spec: Spec, study: Study, *, seed: int, draws: int = DRAWS) -> list[Idiosyncrasy]:
    """Fit both methods to each slice of a least-squares spec's rows; of its terms, those of biases say which to compare."""
    where, drawn = {"spec": spec.name, "estimand": C}, {"quantities": biases_of(spec), "seed": seed, "draws": draws}
    slices = tables_of_slices(spec, study)
    return [Idiosyncrasy({**where, "slice": label}, cells, **drawn) for label, cells in slices]


def idiosyncrasy_rows(slices: Iterable[Idiosyncrasy], *, confidence: float) -> Iterator[dict]:
    """Yield the gaps beyond ordinary preference of each slice, by both methods.

    shrunk: mean of a bias given all, as draws from one normal distribution, by the mixed model.
    """
    for each in slices:
        if each.cells is None:
            yield {**each.where, "method": MIXED, "reason": NO_SLICE}
            continue
        shrunk = dict(_shrunk(each))
        for method, tests in ((MIXED, each.tests()), (ADDITIVE, each.additive)):
            for gap in tests:
                row = {**each.where, "method": method, "quantity": gap.quantity, "term": gap.term, "cells": gap.cells}
                row |= {"reason": gap.reason}
                if not gap.reason:
                    row |= wald_columns(gap.estimate, gap.std_error, df=gap.df, confidence=confidence)
                    if method == ADDITIVE:  # whose residuals it permutes
                        row |= {"randomisation_p_value": gap.randomisation_p_value, "draws": gap.draws}
                        row |= {"note": each.design.note(gap, confidence)}
                yield row | (shrunk.get((gap.quantity, gap.term), {}) if method == MIXED else {})


def _shrunk(each: Idiosyncrasy) -> Iterator[tuple[tuple[str, str], dict]]:
    for quantity in BIASES:
        places = each.poolable(quantity)
        if len(places) > 1:
            whole = each.pooled(quantity)
            for at, value, error in zip(places, whole.shrunk, whole.shrunk_error, strict=True):
                yield (quantity, each.targets[at].term), {"shrunk": float(value), "shrunk_std_error": float(error)}


def pooled_rows(slices: Iterable[Idiosyncrasy], *, confidence: float) -> Iterator[dict]:
    """Yield the pooled mean self-bias and family-bias of each slice by the mixed model, with all and without each in turn.

    tau: standard deviation of the biases about their mean. weight: of the bias left out, in the mean of all.
    """
    for each in slices:
        if each.cells is None:
            yield {**each.where, "reason": NO_SLICE}
            continue
        for quantity in each.quantities:
            places = each.poolable(quantity)
            terms = [each.targets[at].term for at in places]
            row = {**each.where, "quantity": quantity, "biases": len(terms)}
            if len(terms) < 2:
                yield row | {"reason": ALONE_POOLED}
                continue
            whole = each.pooled(quantity)
            yield row | _pooled_columns(whole, confidence)
            for term, weight in zip(terms, whole.weights, strict=True) if len(terms) > 2 else ():
                part = each.pooled(quantity, without=term)
                others = {"left_out": term, "biases": len(terms) - 1, "weight": float(weight)}
                yield row | others | _pooled_columns(part, confidence)


def _pooled_columns(result: Pooled, confidence: float) -> dict:
    columns = wald_columns(result.mean, result.std_error, df=result.df, confidence=confidence)
    estimate, error, df = result.unweighted
    plain = wald_columns(estimate, error, df=df, confidence=confidence)
    columns |= {"unweighted": estimate} | {f"unweighted_{end}": plain[end] for end in ("ci_low", "ci_high") if end in plain}
    return columns | {"tau": result.tau}


def residual_rows(slices: Iterable[Idiosyncrasy], *, confidence: float) -> Iterator[dict]:
    """Yield the judge-model residuals, one for each cell, by the mixed model.

    residual: the cell's mean less what the model predicts without it (for a cell of the judge's family, without the family's
    bias), in points of the unit scale; std_error: of this difference. The residual of an unbiased cell is between -band and
    band with probability `confidence`, by t with df, if the judge's preferences are normal.
    """
    for each in slices:
        if each.cells is None:
            yield {**each.where, "reason": NO_SLICE}
            continue
        cells, design = each.cells, each.design
        relations, reasons = cells.relation.tolist(), design.reasons_of_cells()
        fitted = [place for place, reason in enumerate(reasons) if not reason and each.fit is not None]
        contrasts = each.residual_contrasts(np.array(fitted)) if fitted else np.empty((0, len(cells.n)))
        errors = dict(zip(fitted, each.fit.single_errors(contrasts) if fitted else (), strict=True))
        values = dict(zip(fitted, (contrasts @ cells.mean).tolist(), strict=True))
        for place, (judge, model, n) in enumerate(zip(cells.judge, cells.model, cells.n, strict=True)):
            row = {**each.where, "judge": judge, "model": model, "relation": relations[place], "n": round(n)}
            if place not in errors:
                yield row | {"reason": reasons[place] or NO_SPREAD}
                continue
            variance, df = errors[place]
            error = math.sqrt(variance)
            row |= {"residual": values[place], "std_error": error, "df": df}
            yield row | {"band": quantile(confidence, df) * error}
        for judge, reason in cells.without_slope.items():
            yield {**each.where, "judge": judge, "reason": reason}
