"""Estimand C: self- and family-bias beyond the ordinary preferences of judges for models.

A bias is the mean of some cells of the judge x model table (a judge's own one, or those of the
other models of its family) less what the mixed model (recuse.inference.mixed) predicts for them. It
is estimated where additive effects of judge and model, fitted to the unrelated cells (neither self
nor same family), predict these cells and leave enough degrees of freedom to show how much
preferences vary.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, wraps

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.base.words import percent
from recuse.data.doubts import Doubt
from recuse.data.study import StudyTables
from recuse.inference.hierarchy import Posterior, posteriors
from recuse.inference.judge_model import CellMeans, equal_cells, tables_of_slices
from recuse.inference.mixed import CellTable, ContrastErrors, MixedFit, Pooled, pooled
from recuse.model.design import ALL_JUDGES, NO_ROWS
from recuse.model.estimable import biases_without_judges
from recuse.model.least_squares import ALONE, quantile, wald_columns, wald_p_value
from recuse.model.spec import BIASES, BiasKey, C, Spec, bias_quantities

IDIOSYNCRASY = column_names(
    "study spec slice estimand quantity term",
    "estimate std_error df ci_low ci_high p_value shrunk shrunk_std_error probability_positive",
    "missing cells reason doubt",
)
POOLED = column_names(
    "study spec slice estimand quantity left_out weight biases",
    "estimate std_error df ci_low ci_high p_value missing tau favouring_at_least",
    "unweighted unweighted_ci_low unweighted_ci_high reason",
)
RESIDUALS = column_names(
    "study spec slice estimand judge model relation residual std_error df band n reason",
)

# With fewer degrees of freedom of the additive fit, preferences often seem not to vary, and then
# any gap seems a bias: in 48 % of simulated studies without a bias, 2 judges of 4 models, some
# judge was established.
LEAST_DF = 4
LEAST_PROMPTS, LEAST_MODELS = 10, 3  # of a judge's own cell, and of other families
# If one family has more of the models and judges prefer whole families, too few cells show how
# much: tests at 10 % then rejected in 15 to 25 % of simulated studies for the family's judges, and
# in 8 to 16 % for the others.
LARGEST_SHARE = 0.5
# Three families leave one degree of freedom between families. If judges prefer whole families, some
# unbiased judge then passes the corrected test in 26 to 47 % of simulated studies; with four
# families, in 14 %.
LEAST_FAMILIES = 4
# Of the tests that ratings are missing more often from an own cell than elsewhere
MISSING_LEVEL = 0.05
NO_VARIATION = 1e-10  # A smaller residual of the additive fit is rounding.
AT_ONCE = 256  # residuals, each with a weight for every cell: bounds memory


@dataclass(frozen=True)
class Bias:
    """The mean of some cells less its prediction, with the numbers of the fit once there is one."""

    quantity: str  # self_bias or family_bias
    term: str  # the judge or family, or ALL_JUDGES for the pooled mean of the self-biases
    among: np.ndarray  # (cells,) of bool
    reason: str = ""  # why it has no estimate, or why nothing is concluded from its estimate
    doubt: str = ""  # about its test, which lowers the verdict
    estimate: float = math.nan
    std_error: float = math.nan
    df: float = 0
    # Share of the ratings of these cells, own ones, that is missing; 0 if no larger than elsewhere
    missing: float = 0.0
    # Of the estimate, if these were the lowest and the highest ratings
    shifts: tuple[float, float] = (0.0, 0.0)

    @property
    def key(self) -> BiasKey:
        """What it is a bias of."""
        return self.quantity, self.term

    @property
    def cells(self) -> int:
        """The number of cells whose mean it is about."""
        return int(self.among.sum())

    def columns(self, confidence: float) -> dict:
        """The columns of a test, with the adverse end of what missing ratings may hide; the p-value
        is of that end.
        """
        columns = wald_columns(self.estimate, self.std_error, df=self.df, confidence=confidence)
        if self.missing:
            lowest, highest = self.shifts
            adverse = max(self.estimate + lowest, 0.0) + min(self.estimate + highest, 0.0)
            columns["ci_low"] += lowest
            columns["ci_high"] += highest
            columns["missing"] = self.missing
            columns["p_value"] = wald_p_value(adverse, self.std_error, self.df)
        return columns


def listed_biases(
    cells: CellMeans, quantities: Collection[str] = BIASES, doubts: Sequence[Doubt] = ()
) -> list[Bias]:
    """The biases of the judges, then of the families, with the reasons of those that the unrelated
    cells do not predict, and of those to which a doubted judge contributes, also if it has no
    cells, as its ratings are a copy.
    """
    nothing = np.zeros(len(cells.n), dtype=bool)
    doubted = {doubt.judge: doubt.reason for doubt in doubts}

    def bias(quantity: str, term: str, among: np.ndarray) -> Bias:
        judges = np.unique(cells.judge[among]).tolist()
        if not judges:
            return Bias(quantity, term, among, because(NO_ROWS[quantity]))
        reasons = [doubted[judge] for judge in judges if judge in doubted]
        return Bias(quantity, term, among, _unpredicted(cells, among) or next(iter(reasons), ""))

    listed = []
    for judge in np.unique(cells.judge).tolist():
        listed.append(bias("self_bias", judge, cells.is_self & (cells.judge == judge)))
    for judge in cells.without_slope:
        listed.append(Bias("self_bias", judge, nothing, because(Reason.NO_SLOPE)))
    for family in np.unique(cells.judge_family).tolist():
        listed.append(bias("family_bias", family, _cells_of_family(cells, family)))
    for key, reason in biases_without_judges(doubts, vars(cells)).items():
        listed.append(Bias(*key, nothing, reason))
    return [each for each in listed if each.quantity in quantities]


def _cells_of_family(cells: CellMeans, family: str) -> np.ndarray:
    """The cells that carry a family-bias, (cells,) of bool: those that can be compared, or all if
    none can.

    Their judge and model have unrelated cells, and ratings are on LEAST_PROMPTS or more, where
    prompts are counted.
    """
    comparable = among = cells.is_family & (cells.judge_family == family)
    for names in (cells.judge, cells.model):
        comparable = comparable & np.isin(names, names[cells.is_unrelated])
    if cells.prompts is not None:
        comparable &= cells.prompts >= LEAST_PROMPTS
    return comparable if comparable.any() else among


def _unpredicted(cells: CellMeans, among: np.ndarray) -> str:
    """Why the unrelated cells do not predict the mean of the cells `among`, which are places or
    (cells,) of bool; or "".
    """
    for names, compared in zip((cells.judge, cells.model), cells.compared, strict=True):
        lacking = sorted(set(names[among].tolist()) - compared)
        if lacking:
            return because(Reason.NO_UNRELATED_CELL, names=", ".join(lacking))
    row = cells.additive.rows[among].mean(axis=0)
    if not cells.additive.determined(row[None])[0]:
        return because(Reason.NOT_LINKED, names=", ".join(sorted(set(cells.judge[among]))))
    df = cells.additive.df
    return because(Reason.FEW_CELLS, df=df, least=LEAST_DF) if df < LEAST_DF else ""


def refusal(cells: CellMeans, bias: Bias) -> str:
    """Why nothing is concluded about a bias that can be estimated, or "".

    The numbers of prompts count where `cells` has them.
    """
    if cells.prompts is not None and (
        reason := few_prompts(cells.model[bias.among], cells.prompts[bias.among])
    ):
        return reason
    judges = np.unique(cells.judge[bias.among])
    models = min(int((cells.is_unrelated & (cells.judge == judge)).sum()) for judge in judges)
    if models < LEAST_MODELS:
        return because(Reason.FEW_MODELS, models=models, least=LEAST_MODELS)
    largest, reason = dominant_family(cells)
    return reason if largest == cells.judge_family[bias.among][0] else ""


def dominant_family(cells: CellMeans) -> tuple[str, str]:
    """The family with more than LARGEST_SHARE of the models, and the reason why nothing is
    concluded about it; or "", "".
    """
    _, first = np.unique(cells.model, return_index=True)
    families, models = np.unique(cells.model_family[first], return_counts=True)
    family = str(families[models.argmax()])
    share = float(models.max() / models.sum())
    if share <= LARGEST_SHARE:
        return "", ""
    return family, because(Reason.DOMINANT_FAMILY, family=family, share=percent(share))


def doubt_about_all(cells: CellMeans) -> str:
    """Why a test of these cells establishes nothing, though it may find a bias; or ""."""
    if len(np.unique(cells.model_family)) < LEAST_FAMILIES:
        return because(Reason.FEW_FAMILIES, least=LEAST_FAMILIES)
    return dominant_family(cells)[1]


def few_prompts(models: np.ndarray, prompts: np.ndarray) -> str:
    """The reason that some cells have ratings on fewer than LEAST_PROMPTS prompts, or ""; both are
    (cells,).
    """
    few = prompts < LEAST_PROMPTS
    if not few.any():
        return ""
    names = " and ".join(np.unique(models[few]).tolist())
    return because(
        Reason.FEW_PROMPTS, names=names, prompts=int(prompts[few].min()), least=LEAST_PROMPTS
    )


def missing_own(cells: CellMeans) -> np.ndarray:
    """Share of a judge's ratings of its own answers that is missing, if significantly larger than
    elsewhere, else 0; (cells,).

    Ratings are missing from a cell if another judge has more of the model. Elsewhere: in the
    judge's other cells, and in other judges' cells of the model; the share has to be larger than
    both, by a binomial test at MISSING_LEVEL over prompts.
    """
    from scipy.special import bdtrc

    _, model = np.unique(cells.model, return_inverse=True)
    most = np.zeros(model.max() + 1)
    np.maximum.at(most, model, cells.n)
    whole = cells.prompts * most[model] / cells.n  # prompts, were all rated
    missing = whole - cells.prompts
    shares = np.zeros(len(cells.n))
    for place in np.flatnonzero(cells.is_self & (missing > 0)):
        p_values = []
        for names in (cells.judge, cells.model):
            others = (names == names[place]) & ~cells.is_self
            total = missing[place] + missing[others].sum()
            expected = whole[place] / (whole[place] + whole[others].sum())
            p_values.append(bdtrc(math.ceil(missing[place]) - 1, math.ceil(total), expected))
        if max(p_values) <= MISSING_LEVEL:
            shares[place] = missing[place] / whole[place]
    return shares


class Idiosyncrasy:
    """The mixed model on one slice, and what is concluded from it about each bias."""

    def __init__(
        self,
        where: dict,
        cells: CellMeans | None,
        *,
        quantities: Collection[str] = BIASES,
        doubts: Sequence[Doubt] = (),
    ) -> None:
        """where: columns that name the slice; cells: with sampling variances, None without rows;
        quantities: to estimate; doubts: about judges, on whose biases nothing is concluded.
        """
        self.where = where
        self.cells = cells
        self.quantities = quantities
        self.fit = None
        self._biases = []
        self._reason = because(Reason.NO_ROWS)
        if cells is not None:
            self._biases = listed_biases(cells, quantities, doubts)
            self._reason = self._fitted()
        # Those that have an estimate, in the order of the contrasts
        self._targets = [bias for bias in self._biases if not (bias.reason or self._reason)]
        self._places = {bias.key: place for place, bias in enumerate(self._targets)}

    def at(self, where: dict) -> "Idiosyncrasy":
        """The same of another slice, which has the same cells."""
        other = copy(self)
        other.where = where
        return other

    def _fitted(self) -> str:
        """Fit the model; why there is no fit, or ""."""
        fit, means = self.cells.additive, self.cells.mean
        if fit.df < LEAST_DF:
            return because(Reason.FEW_CELLS, df=fit.df, least=LEAST_DF)
        residuals = fit.residuals(means[fit.fitted])
        if not math.sqrt(residuals @ residuals / fit.df) > NO_VARIATION:
            return because(Reason.NO_RESIDUAL)
        mixed = MixedFit(CellTable.of(self.cells), means)
        if not mixed.converged:
            return because(Reason.NOT_CONVERGED)
        self.fit = mixed
        return ""

    def _contrast(self, among: np.ndarray) -> np.ndarray:
        """Weights of the means in the mean of an own cell, or of cells of one family, less its
        prediction, (cells,).
        """
        if self.cells.is_family[among].any():
            return self.fit.without_family(among)
        return self.fit.against_others(int(np.flatnonzero(among)[0]))

    @cached_property
    def _contrasts(self) -> np.ndarray:
        """The contrasts of the biases with a fit, (targets, cells)."""
        return np.array([self._contrast(bias.among) for bias in self._targets])

    @cached_property
    def _errors(self) -> ContrastErrors:
        """The errors of the contrasts."""
        fixed = [
            bias.among / bias.cells * (bias.quantity == "family_bias") for bias in self._targets
        ]
        return self.fit.errors(self._contrasts, np.array(fixed))

    @cached_property
    def biases(self) -> list[Bias]:
        """The biases with their numbers, and the reasons of those about which nothing is
        concluded.
        """
        biases = []
        for bias in self._biases:
            if bias.reason or self._reason:
                biases.append(replace(bias, reason=bias.reason or self._reason))
                continue
            place = self._places[bias.key]
            variance, df = self._errors.of(np.eye(len(self._targets))[place])
            missing = float(self._missing[bias.among].max())
            rating = float(self.cells.rating[bias.among].mean()) if missing else 0.0
            biases.append(
                replace(
                    bias,
                    estimate=float(self._contrasts[place] @ self.cells.mean),
                    std_error=math.sqrt(variance),
                    df=df,
                    reason=refusal(self.cells, bias),
                    doubt=doubt_about_all(self.cells),
                    missing=missing,
                    shifts=(-missing * rating, missing * (1 - rating)),
                )
            )
        return biases

    @cached_property
    def _missing(self) -> np.ndarray:
        """Share of the ratings of each cell, as by `missing_own`; none where the cells are not
        means of ratings.
        """
        return np.zeros(len(self.cells.n)) if self.cells.rating is None else missing_own(self.cells)

    @cached_property
    def posteriors(self) -> dict[BiasKey, Posterior]:
        """What the hierarchical model says about each bias, by quantity and term; empty without a
        fit.
        """
        if self.fit is None:
            return {}
        # Of a cell mean, by missing ratings anywhere on the scale
        hidden = (self._missing / 2) ** 2
        cells = replace(self.cells, variance=self.cells.variance + hidden)
        tests = {}
        for bias in self.biases:
            if bias.std_error > 0:
                p_value = wald_p_value(bias.estimate, bias.std_error, bias.df)
                tests[bias.key] = bias.estimate, p_value
        return posteriors(cells, self.fit, tests)

    def tests(self) -> list[Bias]:
        """The biases and, if any self-bias can be estimated, the pooled mean of those that are not
        refused.
        """
        if not any(bias.quantity == "self_bias" and not bias.reason for bias in self._biases):
            return self.biases
        kept = self.concluded("self_bias")
        if len(kept) > 1:
            return [*self.biases, mean_bias(kept, self.pooled(kept))]
        among = sum((bias.among for bias in kept), np.zeros(len(self.cells.n), dtype=bool))
        reason = self._reason or because(Reason.ONE_BIAS)
        return [*self.biases, Bias("self_bias", ALL_JUDGES, among, reason)]

    def concluded(self, quantity: str) -> list[Bias]:
        """The biases of a quantity that are not refused."""
        return [bias for bias in self.biases if bias.quantity == quantity and not bias.reason]

    def pooled(self, biases: Sequence[Bias]) -> Pooled:
        """The pooled mean of some biases of one quantity."""
        return pooled(np.array([bias.estimate for bias in biases]), self._errors_among(biases))

    def _errors_among(self, biases: Sequence[Bias]) -> ContrastErrors:
        """The errors of some of the biases."""
        return self._errors.among(np.array([self._places[bias.key] for bias in biases]))

    def least_favouring(self, biases: Sequence[Bias], confidence: float) -> int:
        """How many of some biases of one quantity at least are above 0, whatever the values of
        missing own ratings.
        """
        from scipy.special import stdtr

        p_values = [
            stdtr(bias.df, -(bias.estimate + bias.shifts[0]) / bias.std_error) for bias in biases
        ]
        covariance = self._errors_among(biases).covariance
        errors = np.sqrt(covariance.diagonal())
        return least_favouring(
            np.array(p_values), covariance / np.outer(errors, errors), confidence
        )

    def residual_contrasts(self, places: np.ndarray) -> np.ndarray:
        """Weights of the means in each cell at some places less its prediction, (places, cells)."""
        contrasts = np.empty((len(places), len(self.cells.n)))
        is_unrelated = self.cells.is_unrelated[places]
        contrasts[is_unrelated] = self.fit.left_out(places[is_unrelated])
        for number in np.flatnonzero(~is_unrelated):
            contrasts[number] = self._contrast(np.arange(len(self.cells.n)) == places[number])
        return contrasts

    def reasons_of_cells(self) -> list[str]:
        """Why there is no residual of each cell, or ""."""
        cells = self.cells
        free = cells.additive.free_shares
        reasons = []
        for place, is_unrelated in enumerate(cells.is_unrelated):
            reason = self._reason
            if is_unrelated and free[place] <= ALONE:
                reason = because(
                    Reason.NOT_LINKED, names=f"{cells.judge[place]} and {cells.model[place]}"
                )
            reasons.append(reason or _unpredicted(cells, np.array([place])))
        return reasons


def least_favouring(p_values: np.ndarray, correlation: np.ndarray, confidence: float) -> int:
    """Of biases with these one-sided p-values, (biases,), how many at least are above 0, with this
    confidence.

    By closed testing (Marcus, Peritz and Gabriel 1976): that no bias in a set is above 0 is tested
    by the sum of the normal scores of its p-values (Stouffer). Of the sets of r biases the one with
    the r lowest scores is the hardest to reject; the variance of its sum is at most the largest
    that any r of them have, without negative correlations, (biases, biases). The largest set that
    is not rejected leaves the others, of whichever biases it consists.
    """
    from scipy.special import ndtri

    count = len(p_values)
    sums = np.sort(-ndtri(p_values)).cumsum()
    positive = np.sort(np.maximum(correlation, 0.0) * (1 - np.eye(count)), axis=1)[:, ::-1]
    # (biases, r - 1): a bias with the r - 1 most alike
    with_others = 1 + np.insert(positive.cumsum(axis=1), 0, 0.0, axis=1)
    for size in range(count, 0, -1):
        variance = np.sort(with_others[:, size - 1])[-size:].sum()
        if sums[size - 1] <= ndtri(confidence) * math.sqrt(variance):
            return count - size
    return count


def mean_bias(biases: Sequence[Bias], whole: Pooled) -> Bias:
    """The pooled mean of some biases as a bias, which may hide what each of them may."""
    shifts = whole.weights @ np.array([bias.shifts for bias in biases])
    return Bias(
        biases[0].quantity,
        ALL_JUDGES,
        among=np.any([bias.among for bias in biases], axis=0),
        estimate=whole.mean,
        std_error=whole.std_error,
        df=whole.df,
        missing=max(bias.missing for bias in biases),
        shifts=tuple(shifts.tolist()),
    )


def idiosyncrasies(
    spec: Spec, study: StudyTables, fitted: Sequence[Idiosyncrasy] = ()
) -> list[Idiosyncrasy]:
    """Fit each slice of a least-squares spec's rows; of its terms, those of biases say which to
    estimate.

    fitted: slices of the study, which are not fitted again for other slices with the same cells,
    as the whole of a study with one dimension.
    """
    quantities, slices = bias_quantities(spec), []
    for label, cells in tables_of_slices(spec, study.independent):
        where = {"spec": spec.name, "slice": label, "estimand": C}
        same = [
            each.at(where)
            for each in fitted
            if each.quantities == quantities and equal_cells(each.cells, cells)
        ]
        slices += same[:1] or [
            Idiosyncrasy(where, cells, quantities=quantities, doubts=study.doubts)
        ]
    return slices


def _of_slices(table: Callable[[Idiosyncrasy, float], Iterator[dict]]) -> Callable:
    """A table of slices, by the function that yields the rows of one with cells; once for slices
    that have the same.
    """

    @wraps(table)
    def rows_of_slices(slices: Sequence[Idiosyncrasy], *, confidence: float) -> Iterator[dict]:
        found = {}
        for each in slices:
            key = id(each.cells), *each.quantities
            if each.cells is None:
                found[key] = [{"reason": because(Reason.NO_ROWS)}]
            elif key not in found:
                found[key] = list(table(each, confidence))
            for row in found[key]:
                yield each.where | row

    return rows_of_slices


@_of_slices
def idiosyncrasy_rows(each: Idiosyncrasy, confidence: float) -> Iterator[dict]:
    """Yield the biases beyond ordinary preference of each slice; those that are refused have a
    reason and no numbers.

    shrunk and shrunk_std_error: mean and standard deviation of a bias by the hierarchical model
    (recuse.inference.hierarchy); probability_positive: that it is above 0. missing: share of own
    ratings, as by `missing_own`; the interval and the p-value allow for any values of them.
    """
    for bias in each.tests():
        row = {
            "quantity": bias.quantity,
            "term": bias.term,
            "cells": bias.cells,
            "reason": bias.reason,
        }
        if not bias.reason:
            row |= {"doubt": bias.doubt} | bias.columns(confidence)
            if posterior := each.posteriors.get(bias.key):
                names = ("shrunk", "shrunk_std_error", "probability_positive")
                row |= dict(zip(names, posterior, strict=True))
        yield row


@_of_slices
def pooled_rows(each: Idiosyncrasy, confidence: float) -> Iterator[dict]:
    """Yield the pooled mean self-bias and family-bias of each slice, with all and without each in
    turn.

    tau: standard deviation of the biases about their mean. weight: of the bias left out, in the
    mean of all. missing: the largest share of own ratings that is missing, as by `missing_own`,
    whatever values of which the intervals allow for. favouring_at_least: how many of all biases at
    least are above 0, with this confidence.
    """
    for quantity in each.quantities:
        biases = each.concluded(quantity)
        row = {"quantity": quantity, "biases": len(biases)}
        if len(biases) < 2:
            yield row | {"reason": because(Reason.ONE_BIAS)}
            continue
        whole = each.pooled(biases)
        favouring = {"favouring_at_least": each.least_favouring(biases, confidence)}
        yield row | favouring | _pooled_columns(biases, whole, confidence)
        if len(biases) == 2:
            continue
        for left_out, weight in zip(biases, whole.weights.tolist(), strict=True):
            others = [bias for bias in biases if bias is not left_out]
            row |= {"left_out": left_out.term, "biases": len(others), "weight": weight}
            yield row | _pooled_columns(others, each.pooled(others), confidence)


def _pooled_columns(biases: Sequence[Bias], whole: Pooled, confidence: float) -> dict:
    columns = mean_bias(biases, whole).columns(confidence)
    estimate, error, df = whole.unweighted
    plain = wald_columns(estimate, error, df=df, confidence=confidence)
    lowest, highest = np.mean([bias.shifts for bias in biases], axis=0)
    return columns | {
        "unweighted": estimate,
        "unweighted_ci_low": plain["ci_low"] + lowest,
        "unweighted_ci_high": plain["ci_high"] + highest,
        "tau": whole.tau,
    }


@_of_slices
def residual_rows(each: Idiosyncrasy, confidence: float) -> Iterator[dict]:
    """Yield the judge-model residuals, one for each cell.

    residual: the cell's mean less what the model predicts without it (for a cell of the judge's
    family, without the family's bias), in points of the unit scale; std_error: of this difference.
    The residual of an unbiased cell is between -band and band with probability `confidence`, by t
    with df, if the judge's preferences are normal.
    """
    cells = each.cells
    reasons = each.reasons_of_cells()
    places = np.flatnonzero([not reason for reason in reasons])
    columns = [{"reason": reason} for reason in reasons]
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        contrasts = each.residual_contrasts(some)
        residuals = (contrasts @ cells.mean).tolist()
        errors = each.fit.single_errors(contrasts)
        for place, residual, (variance, df) in zip(some, residuals, errors, strict=True):
            error = math.sqrt(variance)
            columns[place] = {
                "residual": residual,
                "std_error": error,
                "df": df,
                "band": quantile(confidence, df) * error,
            }
    every = zip(cells.judge, cells.model, cells.relation, cells.n, columns, strict=True)
    for judge, model, relation, n, numbers in every:
        row = {"judge": judge, "model": model, "relation": relation, "n": round(n)}
        yield row | numbers
    for judge in cells.without_slope:
        yield {"judge": judge, "reason": because(Reason.NO_SLOPE)}
