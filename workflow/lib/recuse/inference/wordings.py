"""How a bias moves with the wording of the rubric, and with the request: variances, and intervals
over wordings.

An interval from the ratings as they are holds for the wordings that were asked. With several, their
spread says how far the bias would move with others.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recuse.base.database import connect, files
from recuse.base.tables import column_names
from recuse.data.files import ASKED
from recuse.data.study import StudyTables
from recuse.inference.idiosyncrasy import idiosyncrasies
from recuse.inference.power import REACH, detectable_bias
from recuse.inference.robustness import ESTIMATES, OF_C, RobustnessCheck
from recuse.model.estimable import estimable_specs, sliced_by, study_for
from recuse.model.fit import fitted_slices
from recuse.model.least_squares import quantile, wald_columns
from recuse.model.spec import BIASES, BiasKey, C, Settings, Spec, estimand_name

WORDINGS = column_names(
    "study check spec estimand quantity term wordings replicates",
    "estimate std_error df ci_low ci_high p_value detectable one_std_error one_ci_low",
    "one_ci_high one_p_value",
    "sd_wordings sd_replicates twice_prompts twice_wordings twice_replicates note",
)

NOTES = {
    1: "asked in one wording: nothing is known of others",
    2: "two wordings: t has one degree of freedom at most, and the interval is very wide",
}


class Part(NamedTuple):
    """The estimate of a bias from some of the rows."""

    estimate: float
    std_error: float  # by prompts
    df: float
    n: float  # rows that carry it


@dataclass(frozen=True)
class Crossed:
    """The estimate of one bias from all rows, of variance V, and those of its parts, the rows of
    each wording or replicate.

    q is the share of a part in the rows that carry the bias, v its variance. What the parts have in
    common, the sampling of prompts, is in every v and in V; what each has for itself is less in V,
    which is the variance of a mean.
    """

    whole: Part
    parts: Sequence[Part]  # two or more

    @property
    def shares(self) -> np.ndarray:
        """q, (parts,)."""
        n = np.array([part.n for part in self.parts], dtype=float)
        return n / n.sum()

    @property
    def kish(self) -> float:
        """sum q^2: the variance of the whole by what varies from part to part with variance 1; 1 /
        parts, if all are alike.
        """
        return float(self.shares @ self.shares)

    @property
    def noise(self) -> float:
        """The variance by sampling that each part has for itself: (sum q v - V) / (1 - sum q^2), 0
        at least.
        """
        variances = np.array([part.std_error**2 for part in self.parts])
        return max(0.0, float(self.shares @ variances - self.whole.std_error**2) / (1 - self.kish))

    @property
    def spread(self) -> float:
        """The variance of the bias itself from part to part: sum q (b - mean)^2 / (1 - sum q^2) -
        noise, 0 at least.

        The mean has the weights q. It is the estimate of a one-way analysis of variance with the
        parts drawn at random.
        """
        estimates = np.array([part.estimate for part in self.parts])
        squares = (estimates - self.shares @ estimates) ** 2
        return max(0.0, float(self.shares @ squares) / (1 - self.kish) - self.noise)

    def generalised(self) -> tuple[float, float]:
        """Standard error over prompts and parts, both drawn at random, and the degrees of freedom
        of its t.

        sqrt(V + sum q^2 spread), with 1 / sum q^2 - 1 degrees of freedom (parts - 1, if all are
        alike), or those of V if fewer: as many as there are if the parts are all that matters, so
        that intervals are too wide rather than too narrow.
        """
        return math.sqrt(self.whole.std_error**2 + self.kish * self.spread), min(
            1 / self.kish - 1, self.whole.df
        )


def errors_with_twice(
    whole: Part, wordings: Crossed | None, replicates: Crossed | None
) -> dict[str, float]:
    """Standard errors over wordings with twice as many prompts, wordings or replicates, for each of
    these that the rows can separate.

    As in balanced data, the variance V of an estimate has three parts: prompts, prompts x wordings,
    and requests; that of the bias by wording adds to it. Twice as many halve what they average.
    """
    variance = whole.std_error**2
    by_request = by_wording = 0.0
    if replicates is not None:
        by_request = min(variance, replicates.kish * replicates.noise)
    # By prompts and wordings, with requests
    noise = by_request
    if wordings is not None:
        noise = max(by_request, min(variance, wordings.kish * wordings.noise))
        by_wording = wordings.kish * wordings.spread
    halved = {"prompts": variance}
    if wordings is not None:
        halved["wordings"] = noise + by_wording
    if replicates is not None:
        halved["replicates"] = by_request
    return {name: math.sqrt(variance + by_wording - part / 2) for name, part in halved.items()}


def widening(wordings: int, *, confidence: float) -> float:
    """How many times as wide as with very many wordings an interval over so many is, by its t with
    wordings - 1 degrees.

    >>> [round(widening(number, confidence=0.9), 1) for number in (2, 3, 4, 5)]
    [3.8, 1.8, 1.4, 1.3]
    """
    return quantile(confidence, wordings - 1) / quantile(confidence)


def ways_asked(study: StudyTables) -> dict[str, list[str]]:
    """The wordings, and the replicates, of a study, sorted; none where the column is empty."""
    listed = ", ".join(
        f"list_sort(list(distinct {column}) filter ({column} is not null))" for column in ASKED
    )
    row = connect().execute(f"select {listed} from {files(study.ratings)}").fetchone()
    return {column: values or [] for column, values in zip(ASKED, row, strict=True)}


def wording_rows(
    checks: Settings,
    specs: Settings,
    study: StudyTables,
    *,
    confidence: float,
    power: float,
) -> Iterator[dict]:
    """Yield a row for each bias in each of some robustness checks, of the whole study; none if all
    was asked in one way, once.

    checks, specs: settings, by name; checks of other tables than estimates and those of C have no
    rows. std_error, df, ci_low, ci_high, p_value and detectable, the bias that is found with
    probability `power`, are over prompts and wordings, and empty with one wording; one_... are
    those of the ratings as they are. sd_wordings: of the bias from wording to wording;
    sd_replicates: of its estimate from one replicate to another. twice_...: the standard error with
    twice as many prompts (not of C, of which prompts are a part), wordings or replicates.
    """
    ways = {
        column: values if len(values) > 1 else [] for column, values in ways_asked(study).items()
    }
    if not any(ways.values()):
        return
    # By spec and estimand: several checks may read the same estimates
    rows: dict[tuple[str, str], list[dict]] = {}
    for check in RobustnessCheck.from_config(checks):
        for spec in _whole_study_spec(check, specs, study):
            estimand = C if check.table == OF_C else estimand_name(spec)
            if (spec.name, estimand) not in rows:
                rows[spec.name, estimand] = [
                    *_bias_rows(spec, study, ways, estimand, confidence=confidence, power=power)
                ]
            yield from (
                {"check": check.name, "spec": spec.name, **row} for row in rows[spec.name, estimand]
            )


def _bias_rows(
    spec: Spec,
    study: StudyTables,
    ways: Mapping[str, Sequence[str]],
    estimand: str,
    *,
    confidence: float,
    power: float,
) -> Iterator[dict]:
    """A row for each bias of a spec, by the estimates from all rows and from those of each wording
    and replicate in `ways`.
    """
    parts = {
        column: [_biases(spec.changed(asked=(column, value)), study, estimand) for value in values]
        for column, values in ways.items()
    }
    for bias, whole in _biases(spec, study, estimand).items():
        of_bias = {
            column: [each[bias] for each in several if bias in each]
            for column, several in parts.items()
        }
        row = _columns(whole, of_bias, estimand, confidence)
        if "df" in row:
            row["detectable"] = detectable_bias(
                row["std_error"],
                row["df"],
                power=power,
                confidence=confidence,
                reach=REACH if estimand == C else 1.0,
            )
        yield {"estimand": estimand, "quantity": bias[0], "term": bias[1], **row}


def _whole_study_spec(check: RobustnessCheck, specs: Settings, study: StudyTables) -> list[Spec]:
    """The spec that a check has of the whole study, without bootstraps, in a list; none if it
    cannot be fitted.
    """
    name = check.spec_with_slice("", specs)
    if name is None or check.table not in (ESTIMATES, OF_C):
        return []
    estimable = (sliced_by if check.table == OF_C else estimable_specs)(specs, [name], study)
    return [spec.changed(slice=None, whole=False, bootstrap=None, wild=None) for spec in estimable]


def _biases(spec: Spec, study: StudyTables, estimand: str) -> dict[BiasKey, Part]:
    """The biases that the rows of a spec determine, with their errors."""
    if estimand == C:
        (each,) = idiosyncrasies(spec, study)
        found = {}
        for bias in each.tests():
            if not bias.reason:
                n = each.cells.n[bias.among].sum()
                found[bias.key] = Part(bias.estimate, bias.std_error, bias.df, n)
        return found
    return {
        (row.quantity, row.term): Part(row.estimate, row.std_error, row.df, row.n_term)
        for fitted in fitted_slices(spec, study_for(spec, study), seed=None)
        for row in fitted.coefficients
        if row.quantity in BIASES and row.std_error > 0
    }


def _columns(
    whole: Part, parts: Mapping[str, Sequence[Part]], estimand: str, confidence: float
) -> dict:
    """The numbers of one bias."""
    wordings, replicates = (
        Crossed(whole, parts[column]) if len(parts[column]) > 1 else None for column in ASKED
    )
    as_asked = wald_columns(whole.estimate, whole.std_error, df=whole.df, confidence=confidence)
    row = {
        f"one_{name}": as_asked.get(name) for name in ("std_error", "ci_low", "ci_high", "p_value")
    }
    row |= {column + "s": max(1, len(parts[column])) for column in ASKED}
    row["estimate"] = whole.estimate
    if wordings is not None:
        error, df = wordings.generalised()
        row |= wald_columns(whole.estimate, error, df=df, confidence=confidence)
        row |= {"sd_wordings": math.sqrt(wordings.spread)}
    if replicates is not None:
        row |= {"sd_replicates": math.sqrt(replicates.noise)}
    for name, error in errors_with_twice(whole, wordings, replicates).items():
        if (estimand, name) != (C, "prompts"):
            row[f"twice_{name}"] = error
    return row | {"note": NOTES.get(row["wordings"], "")}
