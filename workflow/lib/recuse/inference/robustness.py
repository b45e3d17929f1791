"""Views of what is concluded of biases, as config names them, and what each table can be asked.

What is concluded of a bias, and what becomes of a conclusion in another view.

What is concluded of each judge and family in several views, and whether the conclusions of the first stand in the others.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from recuse.data.registry import NO_HUMAN_SCORE
from recuse.inference.power import noncentrality
from recuse.model.covariance import FEW
from recuse.model.design import EQUATION_1, ON_HUMAN_SCORES
from recuse.model.spec import BIASES, in_place

ESTIMATES = "estimates"  # of all specs: not one table but one for each


class Decision(NamedTuple):
    """What decides: columns of an interval, "" if it has none, and of the p-value; keys of a spec, one of which makes them."""

    low: str
    high: str
    p_value: str
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class CheckedTable:
    """What a view may ask of a table. by: key of config -> what decides.

    methods: method -> the biases that it has rows of; none where the table has one row of each bias. errors: the kind that all
    its rows have; "" where it is that of the spec.
    """

    by: Mapping[str, Decision]
    methods: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: str = ""


INTERVAL = Decision("ci_low", "ci_high", "p_value")
TABLES = {
    ESTIMATES: CheckedTable({"ci": INTERVAL, "wild_ci": Decision("wild_ci_low", "wild_ci_high", "wild_p_value", ["wild"])}),
    "multiplicity": CheckedTable(
        {
            "simultaneous_ci": Decision("simultaneous_ci_low", "simultaneous_ci_high", "max_t_p_value", ["wild"]),
            "holm_p_value": Decision("", "", "holm_p_value", ["bootstrap", "wild"]),
            "bh_p_value": Decision("", "", "bh_p_value", ["bootstrap", "wild"]),
        }
    ),
    "placebo": CheckedTable({"ci": INTERVAL}, errors="spread of cells"),
    "noisy_reference": CheckedTable(
        {"ci": INTERVAL},
        methods=dict.fromkeys(("uncorrected", "moments", "simex", "split raters"), BIASES),
        errors="CR1",
    ),
    "sensitivity": CheckedTable(
        {"as_length_ci": Decision("as_length_ci_low", "as_length_ci_high", "", ["length"])}, errors="CR1"
    ),
    "missingness": CheckedTable(
        {"ci": INTERVAL},
        methods={
            "all rows": BIASES,
            "complete blocks": BIASES,
            "lowest by own missing": BIASES[:1],
            "highest by own missing": BIASES[:1],
            "lowest by any missing": BIASES,
            "highest by any missing": BIASES,
        },
        errors="CR1",
    ),
}


@dataclass(frozen=True)
class RobustnessCheck:
    """Where a conclusion is read, by what it is decided, and the question that it answers; keys as in config.

    specs: of the whole study, by dimension, or one of each. methods: of the table, whose rows count; all if none is named. Of
    several rows of one bias the interval is from their lowest to their highest end, and the estimate in their middle.
    """

    name: str
    title: str
    specs: Sequence[str]
    asks: str
    lost: str = ""
    table: str = ESTIMATES
    methods: Sequence[str] = ()
    by: str = "ci"

    @classmethod
    def from_config(cls, views: Mapping[str, Mapping]) -> list["RobustnessCheck"]:
        """The views of config, in its order."""
        return [cls(name, **settings) for name, settings in views.items()]

    @property
    def decision(self) -> Decision:
        """What decides in it."""
        return TABLES[self.table].by[self.by]

    def spec_of(self, label: str, specs: Mapping[str, Mapping]) -> str | None:
        """The spec whose rows are of this slice, "" for the whole study, by the settings of `specs`; None if there is none."""
        for name in self.specs:
            sliced = specs[name].get("slice") == "dimension"
            if sliced if label else not sliced or specs[name].get("whole"):
                return name
        return None

    def is_of(self, quantity: str, spec: Mapping) -> bool:
        """Whether its rows of a spec with these settings are of such biases, too."""
        methods = TABLES[self.table].methods
        tested = spec.get("tests", BIASES) if self.table == "multiplicity" else BIASES
        return quantity in tested and all(quantity in methods[method] for method in self.methods)

    def errors(self, spec: Mapping) -> str:
        """The kind of errors that it has with a spec of these settings."""
        return TABLES[self.table].errors or spec.get("covariance", "HC0")


@dataclass(frozen=True)
class Robustness:
    """What a table of conclusions is asked: its views, the first first, the settings of their specs, level and power."""

    checks: Sequence[RobustnessCheck]
    specs: Mapping[str, Mapping]
    confidence: float
    power: float
    relative: bool = False  # the study has no human scores: a bias is a gap to the other judges

    @property
    def first(self) -> RobustnessCheck:
        """The view that the others are held against."""
        return self.checks[0]

    def without_human_scores(self, known: Mapping[str, Sequence[str]]) -> "Robustness":
        """The same of a study without human scores: views with what there is of them, specs without slopes on the scores.

        known: view -> its specs that have rows; a view without any is left out, unless all are.
        """
        views = [replace(view, specs=known[view.name]) for view in self.checks if known.get(view.name)]
        terms = {
            name: [term for term in settings.get("terms", EQUATION_1) if term not in ON_HUMAN_SCORES]
            for name, settings in self.specs.items()
        }
        specs = {name: {**settings, "terms": terms[name]} for name, settings in self.specs.items()}
        return replace(self, checks=views or self.checks, specs=specs, relative=True)


def without_human_scores(not_estimable: Iterable[Mapping[str, str]]) -> bool:
    """Whether a study has none, by its table of what is not estimable: some spec is not for that reason."""
    return any(row["reason"] == NO_HUMAN_SCORE for row in not_estimable)


FAVOURS = {"self_bias": "favours itself", "family_bias": "favours its family"}
HARSHER = {"self_bias": "harsher on itself", "family_bias": "harsher on its family"}
NOT_APART, NOT_ESTIMABLE = "not told apart from 0", "not estimable"
NONE = (NOT_APART, NOT_ESTIMABLE)  # no bias is found
STANDS, LOST, REVERSED, NEW, AS_BEFORE = "stands", "lost", "reversed", "new", "as before"
BY_ERRORS = "by other errors alone"  # begins what is said of a new conclusion of which this is so
AS_IN = f"{BY_ERRORS}, as in “{{title}}”"


@dataclass(frozen=True)
class Finding:
    """What a view has of one bias; NaN and "" where it has nothing, with the reason."""

    estimate: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    p_value: float = math.nan
    std_error: float = math.nan
    df: float = math.inf
    estimand: str = ""
    randomisation_p_value: float = math.nan
    reason: str = ""


def concluded(finding: Finding, quantity: str, *, confidence: float) -> str:
    """Say what a finding means: its interval leaves out 0, or without one its p-value is 1 - confidence at most."""
    if finding.reason:
        return NOT_ESTIMABLE
    if math.isnan(finding.ci_low):
        clear = finding.p_value <= (1 - confidence) * (1 + 1e-12)
    else:
        clear = finding.ci_low > 0 or finding.ci_high < 0
    if not clear:
        return NOT_APART
    return (FAVOURS if finding.estimate > 0 else HARSHER)[quantity]


def verdict_on(first: str, conclusion: str) -> str:
    """Say what becomes of the first conclusion.

    A bias STANDS if it is found again, and else is LOST or REVERSED; where there was none one is NEW, or all is AS_BEFORE.
    """
    if NOT_ESTIMABLE in (first, conclusion):
        return NOT_ESTIMABLE
    if first == NOT_APART:
        return AS_BEFORE if conclusion == NOT_APART else NEW
    if conclusion == NOT_APART:
        return LOST
    return STANDS if first == conclusion else REVERSED


NO_ROW = "no such row in {table}.csv"
NO_METHOD = "no row of {methods} in {table}.csv"
NO_INTERVAL = "its row has neither interval nor p-value"
FEW_PROMPTS = "{prompts} prompts, fewer than {few}: errors may be too small"
CLUSTERED = ("CR1", "CR3")  # errors with one degree of freedom less than prompts
OWN_SPECS = (ESTIMATES, "multiplicity", "placebo")  # tables in which no spec takes the place of another
COUNTED = (ESTIMATES, "noisy_reference", "missingness")  # tables whose column df is of the errors

Rows = Iterable[Mapping[str, str]]


class Tables:
    """Rows of a study's tables, texts as in a CSV file, looked up by spec, slice, quantity and term."""

    def __init__(self, tables: Mapping[str, Rows], not_estimable: Rows):
        """Index the tables by name; ESTIMATES are those of all specs."""
        self._rows: dict[tuple, list[Mapping[str, str]]] = {}
        self._reasons: dict[tuple, str] = {}
        self._biases: dict[tuple, set[tuple[str, str]]] = {}  # of estimates
        for name, rows in tables.items():
            for row in rows:
                self._add(name, row)
        for row in not_estimable:
            self._reason(ESTIMATES, row)
            self._bias(row)

    def _add(self, name: str, row: Mapping[str, str]) -> None:
        if row.get("reason") and not row.get("estimate"):
            self._reason(name, row)
        elif row["quantity"] in BIASES:
            self._rows.setdefault((name, *_key(row)), []).append(row)
        if name == ESTIMATES:
            self._bias(row)

    def _reason(self, name: str, row: Mapping[str, str]) -> None:
        self._reasons.setdefault((name, *_key(row)), row["reason"])

    def _bias(self, row: Mapping[str, str]) -> None:
        if row["quantity"] in BIASES:
            self._biases.setdefault((row["spec"], row["slice"]), set()).add((row["quantity"], row["term"]))

    def slices(self, spec: str) -> list[str]:
        """The slices of a spec in which a bias is estimated, or is not for a reason."""
        return [key[1] for key in self._biases if key[0] == spec]

    def biases(self, spec: str, label: str) -> set[tuple[str, str]]:
        """(quantity, term) of each bias of a slice, estimable or not."""
        return self._biases.get((spec, label), set())

    def knows(self, table: str, spec: str) -> bool:
        """Whether a table has a row of a spec, be it a reason, but that there are no human scores."""
        reasons = (reason for key, reason in self._reasons.items() if key[:2] == (table, spec))
        return any(key[:2] == (table, spec) for key in self._rows) or any(reason != NO_HUMAN_SCORE for reason in reasons)

    def find(self, view: RobustnessCheck, spec: str, label: str, bias: tuple[str, str]) -> Finding:
        """What a view has of a bias."""
        rows = self._rows.get((view.table, spec, label, *bias), [])
        there = {row.get("method", "") for row in rows}
        absent = [method for method in view.methods if method not in there]
        if rows and absent:
            return Finding(reason=NO_METHOD.format(methods=" and ".join(absent), table=view.table))
        if not rows:
            return Finding(reason=self._why(view.table, spec, label, bias))
        return _finding(view, [row for row in rows if not view.methods or row["method"] in view.methods])

    def _why(self, name: str, spec: str, label: str, bias: tuple[str, str]) -> str:
        """The reason that the table gives, or else that of the spec, for the bias, the slice or all of it."""
        for table in (name, ESTIMATES):
            for key in ((label, *bias), (label, "", ""), ("", "", "")):
                if (table, spec, *key) in self._reasons:
                    return self._reasons[(table, spec, *key)]
        return NO_ROW.format(table=spec if name == ESTIMATES else name)


def _key(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    return row["spec"], row["slice"], row["quantity"], row["term"]


def _number(row: Mapping[str, str], column: str) -> float:
    return float(row[column]) if row.get(column) else math.nan


def _finding(view: RobustnessCheck, rows: Sequence[Mapping[str, str]]) -> Finding:
    """The rows of one bias as one finding: what all of them say."""
    low, high, p_value, _ = view.decision
    estimate = sum(_number(row, "estimate") for row in rows) / len(rows)
    ends = [(_number(row, low), _number(row, high)) for row in rows]
    p_values = [_number(row, p_value) for row in rows]
    one_sign = len({_number(row, "estimate") > 0 for row in rows}) == 1
    if math.isnan(estimate) or any(map(math.isnan, p_values if not low else [end for pair in ends for end in pair])):
        said = [row[column] for column in ("reason", "note") for row in rows if row.get(column)]
        return Finding(estimate=estimate, reason=[*said, NO_INTERVAL][0])
    df = _number(rows[0], "df")
    return Finding(
        estimate=estimate,
        ci_low=min(first for first, _ in ends),
        ci_high=max(last for _, last in ends),
        p_value=max(p_values) if one_sign else 1.0,
        std_error=_number(rows[0], "std_error") if len(rows) == 1 and view.by == "ci" else math.nan,
        df=math.inf if math.isnan(df) else df,
        estimand=rows[0]["estimand"],
        randomisation_p_value=_number(rows[0], "randomisation_p_value"),
    )


def known_specs(views: Iterable[RobustnessCheck], tables: Tables, instead: Mapping[str, str]) -> dict[str, list[str]]:
    """The specs of each view that the tables of a study without human scores have rows of.

    instead: spec -> the one that takes its place in tables of other things than its own estimates.
    """
    return {
        view.name: [
            spec for spec in in_place(view.specs, {} if view.table in OWN_SPECS else instead) if tables.knows(view.table, spec)
        ]
        for view in views
    }


def conclusions(
    asked: Robustness, tables: Tables, scorecard: Rows, *, study: str, order: Mapping[str, Sequence[str]]
) -> Iterator[dict]:
    """Yield the rows of the table of conclusions: of each bias of the first view, in the whole study and by dimension.

    Judges and families are in `order`, by quantity, then by alphabet. A view that has no spec of a slice, or no tests of such a
    bias, has no rows of it. `first` is the conclusion of the first view and `verdict` what becomes of it in the view. `words`:
    why a bias is not estimable, what it means that a conclusion is lost, or that it is new by the errors alone. detectable: the
    size of a bias that the view's t test finds with probability `power`, its standard error times the noncentrality that it
    takes. printed: of the first view, the paper's estimate of the same, with what its interval says and the verdict of the
    scorecard; scorecard: its rows, for a study that is compared with the paper. note: that its prompts are few.
    """
    first, views, specs, confidence = asked.first, asked.checks, asked.specs, asked.confidence
    printed = _printed(scorecard) if first.table == ESTIMATES else {}
    for label in _labels(views, tables):
        own = {view.name: view.spec_of(label, specs) for view in views}
        for bias in _biases(views, own, tables, label, order) if own[first.name] else ():
            seen = [
                Seen(
                    view,
                    name,
                    specs[name],
                    found := tables.find(view, name, label, bias),
                    concluded(found, bias[0], confidence=confidence),
                )
                for view in views
                if (name := own[view.name]) and view.is_of(bias[0], specs[name])
            ]
            for each in seen if seen and seen[0].view is first else ():
                row = {"study": study, "slice": label, "quantity": bias[0], "term": bias[1]} | each.columns(seen)
                if each.finding.std_error > 0:
                    times = noncentrality(each.finding.df, power=asked.power, confidence=confidence)
                    row["detectable"] = each.finding.std_error * times
                yield row | (printed.get((each.spec, label, *bias), {}) if each.view is first else {})


@dataclass(frozen=True)
class Seen:
    """One bias in one view, by the spec of its slice."""

    view: RobustnessCheck
    spec: str
    settings: Mapping  # of the spec
    finding: Finding
    conclusion: str

    @property
    def errors(self) -> str:
        """The kind of its errors."""
        return self.view.errors(self.settings)

    def columns(self, seen: Sequence["Seen"]) -> dict:
        """The columns of its row, beside all views of the bias, the first first."""
        verdict = verdict_on(seen[0].conclusion, self.conclusion)
        names = ("estimand", "estimate", "ci_low", "ci_high", "p_value", "randomisation_p_value")
        said = {LOST: self.view.lost, NEW: self._by_errors(seen)}
        return {name: getattr(self.finding, name) for name in names} | {
            "view": self.view.name, "spec": self.spec, "conclusion": self.conclusion, "first": seen[0].conclusion,
            "verdict": verdict, "words": said.get(verdict, self.finding.reason), "note": self._note(),
        }  # fmt: skip

    def _by_errors(self, seen: Sequence["Seen"]) -> str:
        """What is said of a new conclusion that other errors of the first estimate alone make, here or in another view."""
        if self._estimates_as(seen[0]):
            return BY_ERRORS
        for other in seen[1:] if self.finding.estimand == seen[0].finding.estimand else ():
            alike = (other.errors, other.conclusion, other.view.by) == (self.errors, self.conclusion, "ci")
            if alike and other._estimates_as(seen[0]):
                return AS_IN.format(title=other.view.title)
        return ""

    def _estimates_as(self, other: "Seen") -> bool:
        return math.isclose(self.finding.estimate, other.finding.estimate, rel_tol=1e-9)

    def _note(self) -> str:
        prompts = self.finding.df + 1
        few = self.errors in CLUSTERED and self.view.table in COUNTED and 1 < prompts < FEW
        return FEW_PROMPTS.format(prompts=round(prompts), few=FEW) if few else ""


def _labels(views: Sequence[RobustnessCheck], tables: Tables) -> list[str]:
    """The slices in which estimates of some view's specs have a bias, estimable or not, the whole study first."""
    labels = [label for view in views for name in view.specs for label in tables.slices(name)]
    return sorted(dict.fromkeys(labels), key=lambda name: name != "")


def _biases(
    views: Sequence[RobustnessCheck],
    own: Mapping[str, str | None],
    tables: Tables,
    label: str,
    order: Mapping[str, Sequence[str]],
) -> list[tuple[str, str]]:
    """(quantity, term) of each bias of a slice, estimable or not, in estimates of some view's spec: self-biases first."""
    found = {bias for view in views if own[view.name] for bias in tables.biases(own[view.name], label)}

    def place(bias):
        known = order.get(bias[0], [])
        return BIASES.index(bias[0]), known.index(bias[1]) if bias[1] in known else len(known), bias[1]

    return sorted(found, key=place)


def _printed(scorecard: Rows) -> dict[tuple, dict]:
    """What the paper prints of the same ratings, by spec, slice, quantity and term; once where it is printed twice."""
    found: dict[tuple, dict] = {}
    for row in scorecard:
        if row["quantity"] in BIASES and row["ours"]:
            printed = Finding(*(_number(row, f"published{end}") for end in ("", "_ci_low", "_ci_high")))
            columns = {
                "printed": printed.estimate,
                "printed_ci_low": printed.ci_low,
                "printed_ci_high": printed.ci_high,
                "printed_conclusion": concluded(printed, row["quantity"], confidence=math.nan),
                "printed_verdict": row["verdict"],
            }
            found.setdefault(_key(row), columns)
    return found
