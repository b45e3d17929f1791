"""Robustness checks: what each check concludes about each judge and family, and whether the first
conclusions hold.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import WITHOUT_PEOPLE, Reason, because, code
from recuse.base.tables import Row, column_names
from recuse.inference.measurement_error import BY_RATERS, METHODS
from recuse.inference.power import detectable_bias, with_reaches
from recuse.inference.verdict import Reply
from recuse.model.covariance import COVARIANCES, FEW
from recuse.model.spec import BIASES, BiasKey, Errors, Settings, in_place

CONCLUSIONS = column_names(
    "study slice quantity term check spec estimand estimate ci_low ci_high p_value",
    "conclusion first verdict reason doubt words detectable probability_positive missing note",
    "wordings",
)

OF_C = "idiosyncrasy"  # the table of biases beyond ordinary preference
ESTIMATES = "estimates"  # of all specs: not one table but one for each
KNOWN_DF = 3.0  # degrees of freedom below which C's error, and so what it would find, is not known


class Decision(NamedTuple):
    """The columns that decide: of an interval, "" if there is none, and the p-value."""

    low: str
    high: str
    p_value: str
    needs: Sequence[str] = ()  # keys of a spec, one of which makes these columns


@dataclass(frozen=True)
class CheckedTable:
    """What a check may read in a table."""

    by: Mapping[str, Decision]  # key of config -> what decides
    # A check reads one of them. Without any, the table has one row of each bias.
    methods: Sequence[str] = ()
    errors: str = ""  # the kind of standard errors of all its rows; "": that of the spec


INTERVAL = Decision("ci_low", "ci_high", "p_value")
TABLES = {
    ESTIMATES: CheckedTable(
        {
            "ci": INTERVAL,
            "wild_ci": Decision("wild_ci_low", "wild_ci_high", "wild_p_value", ["wild"]),
        }
    ),
    "multiplicity": CheckedTable(
        {
            "holm_p_value": Decision("", "", "holm_p_value", ["bootstrap", "wild"]),
            "bh_p_value": Decision("", "", "bh_p_value", ["bootstrap", "wild"]),
            "max_t_p_value": Decision("", "", "max_t_p_value", ["wild"]),
        }
    ),
    OF_C: CheckedTable({"ci": INTERVAL}, errors="spread of cells"),
    "measurement_error": CheckedTable({"ci": INTERVAL}, (*METHODS, BY_RATERS), errors="CR1"),
    "sensitivity": CheckedTable(
        {"as_length_ci": Decision("as_length_ci_low", "as_length_ci_high", "", ["length"])},
        errors="CR1",
    ),
}


@dataclass(frozen=True)
class RobustnessCheck:
    """Rows of a table, what decides in them, and the question that this answers; keys as in config.

    specs: of the whole study, by dimension, or one of each. method: whose rows of the table count,
    if it has several.
    """

    name: str
    title: str
    specs: Sequence[str]
    asks: str
    lost: str = ""
    table: str = ESTIMATES
    method: str = ""
    by: str = "ci"

    @classmethod
    def from_config(cls, checks: Settings) -> list["RobustnessCheck"]:
        """The checks of config, in its order."""
        return [cls(name, **settings) for name, settings in checks.items()]

    def spec_with_slice(self, label: str, specs: Settings) -> str | None:
        """The spec that has this slice, "" for the whole study, by the settings of `specs`; None if
        there is none.
        """
        for name in self.specs:
            sliced = specs[name].get("slice") == "dimension"
            if sliced if label else not sliced or specs[name].get("whole"):
                return name
        return None

    def has(self, quantity: str, spec: Mapping) -> bool:
        """Whether it has biases of this quantity with a spec of these settings."""
        return quantity in (
            spec.get("tests", Errors.tests) if self.table == "multiplicity" else BIASES
        )

    def errors(self, spec: Mapping) -> str:
        """The kind of its standard errors with a spec of these settings."""
        return TABLES[self.table].errors or spec.get("covariance", Errors.covariance)


@dataclass(frozen=True)
class Robustness:
    """The checks, the first of which is the baseline, the settings of their specs, level and
    power.
    """

    checks: Sequence[RobustnessCheck]
    specs: Settings
    confidence: float
    power: float

    def without_human_scores(self, specs: Mapping[str, Sequence[str]]) -> "Robustness":
        """The same for a study without human scores; specs: those of each check that have rows.

        A check without any is left out, unless all are.
        """
        checks = [
            replace(check, specs=specs[check.name])
            for check in self.checks
            if specs.get(check.name)
        ]
        return replace(self, checks=checks or self.checks)

    def for_tables(
        self, tables: "Tables", not_estimable: Iterable[Row], *, instead: Mapping[str, str]
    ) -> "Robustness":
        """The same for the study of these tables, which may have no human scores.

        instead: spec -> the one that replaces it without human scores, in tables other than
        OWN_SPECS.
        """
        if not without_human_scores(not_estimable):
            return self
        specs = {}
        for check in self.checks:
            names = in_place(check.specs, {} if check.table in OWN_SPECS else instead)
            specs[check.name] = [name for name in names if tables.has(check.table, name)]
        return self.without_human_scores(specs)


def without_human_scores(not_estimable: Iterable[Row]) -> str:
    """The reason that a study has no human scores, or too few, in its table of what is not
    estimable; "" if it has enough.
    """
    reasons = (row["reason"] for row in not_estimable)
    return next((reason for reason in reasons if code(reason) in WITHOUT_PEOPLE), "")


class Conclusion(StrEnum):
    """What one check says about one bias."""

    FAVOURS = "favours"
    HARSHER = "harsher"
    NO_BIAS = "no_bias"  # cannot be distinguished from 0
    NOT_ESTIMABLE = "not_estimable"


HOLDS, LOST, REVERSED, NEW, AS_BEFORE = "holds", "lost", "reversed", "new", "as before"
NOT_ESTIMABLE = "not estimable"


@dataclass(frozen=True)
class Estimate(Reply):
    """What one check says about one bias; `detectable` is that of an interval over wordings."""

    std_error: float = math.nan
    t_df: float = math.inf
    estimand: str = ""
    reach: float = 1.0  # critical values of its test that it has to reach

    def over_wordings(self, row: Row) -> "Estimate":
        """The same with the interval of a row of the table of wordings, where that is wider."""
        wider = {"ci_low": min, "ci_high": max, "p_value": max}
        columns = {
            name: choose(getattr(self, name), float(row[name])) for name, choose in wider.items()
        }
        return replace(
            self, **columns, wordings=int(row["wordings"]), detectable=float(row["detectable"])
        )


def concluded(estimate: Estimate, *, confidence: float) -> Conclusion:
    """Conclude from an estimate: a bias, if its interval excludes 0 or, without one, its p-value is
    1 - confidence at most.
    """
    if estimate.reason:
        return Conclusion.NOT_ESTIMABLE
    by_p_value = math.isnan(estimate.ci_low) and estimate.p_value <= (1 - confidence) * (1 + 1e-12)
    if not estimate.side and not by_p_value:
        return Conclusion.NO_BIAS
    return Conclusion.FAVOURS if estimate.estimate > 0 else Conclusion.HARSHER


def compared_conclusion(first: Conclusion, conclusion: Conclusion) -> str:
    """Compare a conclusion with the first one.

    A bias HOLDS if it is found again, and else is LOST or REVERSED; where there was none one is
    NEW, or all is AS_BEFORE.
    """
    if Conclusion.NOT_ESTIMABLE in (first, conclusion):
        return NOT_ESTIMABLE
    if first is Conclusion.NO_BIAS:
        return AS_BEFORE if conclusion is Conclusion.NO_BIAS else NEW
    if conclusion is Conclusion.NO_BIAS:
        return LOST
    return HOLDS if first == conclusion else REVERSED


AS_ASKED = "for the wordings of the rubric that were asked"
SMALL_SAMPLE = "{prompts} prompts, fewer than {few}: standard errors may be too small"
OWN_SPECS = (ESTIMATES, "multiplicity", OF_C)  # tables in which no spec replaces another
BY_PROMPTS = (ESTIMATES, "measurement_error")  # tables whose column df is of the errors


class Tables:
    """Rows of a study's tables, texts as in a CSV file, looked up by spec, slice, quantity and
    term.
    """

    def __init__(
        self,
        tables: Mapping[str, Iterable[Row]],
        not_estimable: Iterable[Row],
        wordings: Iterable[Row] = (),
    ):
        """Index the tables by name; ESTIMATES are those of all specs. wordings: rows whose
        intervals replace narrower ones.
        """
        self._wordings = {
            (row["check"], row["spec"], row["quantity"], row["term"]): row
            for row in wordings
            if row["ci_low"]
        }
        self._rows: dict[tuple, Row] = {}
        self._reasons: dict[tuple, str] = {}
        # Of each spec and slice of the estimates
        self.biases: dict[tuple[str, str], set[BiasKey]] = {}
        for name, rows in (*tables.items(), (ESTIMATES, not_estimable)):
            for row in rows:
                key = _key(row)
                is_bias = row["quantity"] in BIASES
                if row.get("reason") and not row.get("estimate"):
                    self._reasons.setdefault((name, *key), row["reason"])
                elif is_bias:
                    self._rows[name, *key, row.get("method", "")] = row
                if is_bias and name == ESTIMATES:
                    self.biases.setdefault(key[:2], set()).add(key[2:])

    def has(self, table: str, spec: str) -> bool:
        """Whether a table has a row of a spec, or a reason other than that there are too few human
        scores.
        """
        reasons = {
            code(reason) for key, reason in self._reasons.items() if key[:2] == (table, spec)
        }
        return bool(reasons - {*WITHOUT_PEOPLE}) or any(
            key[:2] == (table, spec) for key in self._rows
        )

    def find(self, check: RobustnessCheck, spec: str, label: str, bias: BiasKey) -> Estimate:
        """The estimate of a bias in a check, or the reason that the table gives, else that of the
        spec, why there is none.
        """
        row = self._rows.get((check.table, spec, label, *bias, check.method))
        if row is None:
            keys = ((label, *bias), (label, "", ""), ("", "", ""))
            reasons = [
                self._reasons.get((table, spec, *key))
                for table in (check.table, ESTIMATES)
                for key in keys
            ]
            no_row = because(Reason.NO_ROW, table=spec if check.table == ESTIMATES else check.table)
            return Estimate(reason=next(filter(None, reasons), no_row))
        estimated = self._rows.get((ESTIMATES, spec, label, *bias, ""), {})
        estimate = _estimate(check, row, note=estimated.get("note", ""))
        if not self._wordings or math.isnan(estimate.ci_low):
            return estimate
        over = None if label else self._wordings.get((check.name, spec, *bias))
        return replace(estimate, wordings=1) if over is None else estimate.over_wordings(over)


def _key(row: Row) -> tuple[str, str, str, str]:
    return row["spec"], row["slice"], row["quantity"], row["term"]


def _number(row: Row, column: str) -> float:
    return float(row[column]) if row.get(column) else math.nan


def _estimate(check: RobustnessCheck, row: Row, *, note: str) -> Estimate:
    """What a row says; note: that of the bias in the table of estimates."""
    decision = TABLES[check.table].by[check.by]
    estimate, p_value = _number(row, "estimate"), _number(row, decision.p_value)
    low, high = _number(row, decision.low), _number(row, decision.high)
    if any(map(math.isnan, [estimate, *([low, high] if decision.low else [p_value])])):
        undrawn, otherwise = because(Reason.NO_BOOTSTRAP), because(Reason.NO_INTERVAL)
        why_none = undrawn if decision.needs and note == undrawn else otherwise
        return Estimate(estimate=estimate, reason=row.get("reason") or why_none)
    df = _number(row, "df")
    return Estimate(
        estimate=estimate,
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        std_error=_number(row, "std_error") if check.by == "ci" else math.nan,
        t_df=math.inf if math.isnan(df) else df,
        estimand=row["estimand"],
        doubt=row.get("doubt", ""),
        probability_positive=_number(row, "probability_positive"),
        missing=_number(row, "missing"),
    )


def conclusions(
    robustness: Robustness, tables: Tables, *, order: Mapping[str, Sequence[str]]
) -> Iterator[dict]:
    """Yield the rows of the table of conclusions: of each bias of the first check, in the whole
    study and by dimension.

    Judges and families are in `order`, by quantity, then by alphabet. A check without a spec for
    the slice, or without such biases, has no rows. Columns:

    first: the conclusion of the first check; verdict: how this check's compares with it.
    reason: why a bias is not estimable. doubt: about its test, which lowers the verdict.
    probability_positive, missing: see `idiosyncrasy_rows`.
    words: what a lost conclusion may mean.
    detectable: the bias that the check's t test finds with probability `power`: its standard error
    times the noncentrality. For C, which decides verdicts, the bias that is established with this
    probability given the others' estimates, whatever the values of missing own ratings; none if
    its error over prompts has fewer than KNOWN_DF degrees of freedom, unless wordings give one.
    wordings: of the rubric, over which an interval is, in a study with several.
    note: that prompts are few, or that an interval is for the wordings that were asked.
    """
    specs = [name for check in robustness.checks for name in check.specs]
    labels = dict.fromkeys(label for name in specs for spec, label in tables.biases if spec == name)

    def place(bias: BiasKey) -> tuple[int, int, str]:
        quantity, term = bias
        names = order.get(quantity, [])
        return BIASES.index(quantity), names.index(term) if term in names else len(names), term

    for label in sorted(labels, key=lambda name: name != ""):
        checks = [
            (check, name)
            for check in robustness.checks
            if (name := check.spec_with_slice(label, robustness.specs))
        ]
        biases = sorted(
            {bias for _, name in checks for bias in tables.biases.get((name, label), ())}, key=place
        )
        found = {
            check.name: {bias: tables.find(check, name, label, bias) for bias in biases}
            for check, name in checks
        }
        for (check, _), quantity in product(checks, BIASES):
            if check.table == OF_C:
                of_quantity = {
                    bias: each for bias, each in found[check.name].items() if bias[0] == quantity
                }
                found[check.name] |= with_reaches(
                    of_quantity, is_plan=False, confidence=robustness.confidence
                )
        for bias in biases:
            rows = []
            for check, name in checks:
                if check.has(bias[0], robustness.specs[name]):
                    estimate = found[check.name][bias]
                    columns = _columns(check, name, estimate, robustness)
                    rows.append({"slice": label, "quantity": bias[0], "term": bias[1], **columns})
            if not rows or rows[0]["check"] != robustness.checks[0].name:
                continue
            first = rows[0]["conclusion"]
            for row in rows:
                verdict = compared_conclusion(first, row["conclusion"])
                yield row | {
                    "first": first,
                    "verdict": verdict,
                    "words": row["words"] if verdict == LOST else "",
                }


# Columns that are those of the estimate.
COLUMNS = ("estimand", "estimate", "ci_low", "ci_high", "p_value", "probability_positive")
COLUMNS += ("missing", "wordings", "reason", "doubt")


def _columns(check: RobustnessCheck, spec: str, estimate: Estimate, robustness: Robustness) -> dict:
    """The columns of a bias in one check, by the spec of its slice; words: those of a lost
    conclusion.
    """
    row = {name: getattr(estimate, name) for name in COLUMNS} | {
        "check": check.name,
        "spec": spec,
        "words": check.lost,
        "conclusion": concluded(estimate, confidence=robustness.confidence),
        "note": _note(check, check.errors(robustness.specs[spec]), estimate),
    }
    if estimate.std_error > 0:
        found = detectable_bias(
            estimate.std_error,
            estimate.t_df,
            power=robustness.power,
            confidence=robustness.confidence,
            reach=estimate.reach,
        )
        if check.table == OF_C and estimate.t_df < KNOWN_DF:
            found = math.nan
        least = np.fmax(found, estimate.detectable)
        row["detectable"] = least + np.nan_to_num(estimate.missing)
    return row


def _note(check: RobustnessCheck, errors: str, estimate: Estimate) -> str:
    """That prompts are few, where errors are by prompt, or that the interval is for the wordings
    asked.
    """
    if estimate.wordings == 1:
        return AS_ASKED
    prompts = estimate.t_df + 1
    by_prompt = errors in COVARIANCES and COVARIANCES[errors].by_prompt_alone
    few = by_prompt and check.table in BY_PROMPTS and 1 < prompts < FEW
    return SMALL_SAMPLE.format(prompts=round(prompts), few=FEW) if few else ""
