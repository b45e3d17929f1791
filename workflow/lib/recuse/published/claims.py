"""What a claim is made of: findings, each true or false of one number or pair of numbers, and ways to write them down.

The claims of Play Favorites on ratings, self-bias and family-bias: abstract, Sections 4.3 to 6.1 and 7.

The claims of Play Favorites on robustness checks and HELM-Instruct: Sections 6, 6.2 and C.2.

The tables of a study, or of the paper, by key: what claims and the scorecard look values up in.

The sentences of Play Favorites that state a result, each judged on a study's tables and on the paper's own numbers.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import NamedTuple

from recuse.base.tables import read_table
from recuse.data.registry import HUMAN
from recuse.published.values import DIMENSIONS, ESTIMANDS, JUDGES

Rows = Iterable[Mapping[str, str]]


class AbsentError(LookupError):
    """A table holds no such value; the text says which."""


@dataclass(frozen=True)
class Value:
    """A number with its standard error and interval; NaN where a table has none."""

    value: float
    std_error: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan

    def __str__(self):
        """`+0.0217 [+0.0191, +0.0243]`, or the number alone."""
        ends = f" [{self.ci_low:+.4f}, {self.ci_high:+.4f}]" if self.ci_low < self.ci_high else ""
        return f"{self.value:+.4f}{ends}"


@dataclass(frozen=True)
class Results:
    """What a study found, by key.

    estimates: (spec, slice, quantity, term), those that have an interval; means: (dimension, judge, model); correlations:
    (dimension, judge, statistic); agreement: (dimension, statistic), of the human raters.
    """

    estimates: dict[tuple[str, str, str, str], Value]
    means: dict[tuple[str, str, str], Value]
    correlations: dict[tuple[str, str, str], Value]
    agreement: dict[tuple[str, str], Value]

    @classmethod
    def from_tables(cls, *, estimates: Rows, mean_scores: Rows, correlations: Rows, agreement: Rows = ()) -> "Results":
        """Index the rows of the tables of these names; of two rows with one key, the first."""
        mean_scores = list(mean_scores)
        judges = len({row["judge"] for row in mean_scores} - {HUMAN})
        return cls(
            _index((row for row in estimates if row["ci_low"]), "estimate", ("spec", "slice", "quantity", "term")),
            {(row["dimension"], row["judge"], row["model"]): _mean(row, judges) for row in mean_scores},
            _index((row for row in correlations if row["value"]), "value", ("dimension", "judge", "statistic")),
            _index((row for row in agreement if row["value"]), "value", ("dimension", "statistic")),
        )

    @classmethod
    def read(
        cls, *, estimates: Sequence[str], mean_scores: str, correlations: str | None = None, agreement: str | None = None
    ) -> "Results":
        """Read the tables at these paths; `estimates` has one for each spec, `agreement` is None where raters are unknown."""
        return cls.from_tables(
            estimates=[row for path in estimates for row in read_table(path)],
            mean_scores=read_table(mean_scores),
            correlations=read_table(correlations) if correlations else (),
            agreement=read_table(agreement) if agreement else (),
        )

    @property
    def dimensions(self) -> set[str]:
        """Names of the dimensions rated."""
        return {dimension for dimension, _, _ in self.means} - {""}

    @property
    def judges(self) -> set[str]:
        """Names of the judges, without the humans."""
        return {judge for _, judge, _ in self.means} - {HUMAN}

    @property
    def models(self) -> set[str]:
        """Names of the models that wrote completions."""
        return {model for _, _, model in self.means}

    def estimate(self, spec: str, slice_: str, quantity: str, term: str) -> Value:
        """Return an estimate; AbsentError if there is none, or none with an interval."""
        where = f"{spec}, {slice_}" if slice_ else spec
        return _found(self.estimates, (spec, slice_, quantity, term), f"no {quantity} of {term} with an interval in {where}")

    def slices(self, spec: str, quantity: str, term: str) -> list[str]:
        """Slices of a spec that have an estimate; AbsentError if none has."""
        found = sorted(key[1] for key in self.estimates if (key[0], *key[2:]) == (spec, quantity, term))
        if not found:
            raise AbsentError(f"no {quantity} of {term} with an interval in {spec}")
        return found

    def mean(self, dimension: str, judge: str, model: str) -> float:
        """Return a mean score; AbsentError if there is none."""
        text = f"no mean score of {model} by {judge} in {dimension or 'all dimensions'}"
        return _found(self.means, (dimension, judge, model), text).value

    def correlation(self, dimension: str, judge: str, statistic: str) -> float:
        """Return a correlation of judge and humans; AbsentError if there is none."""
        text = f"no {statistic} correlation of {judge} in {dimension}"
        return _found(self.correlations, (dimension, judge, statistic), text).value

    def raters(self, dimension: str, statistic: str) -> float:
        """Return an agreement of the human raters ("" for the average of dimensions); AbsentError if there is none."""
        text = f"no {statistic} of the human raters in {dimension or 'the average of dimensions'}"
        return _found(self.agreement, (dimension, statistic), text).value


def _found(table: Mapping, key: tuple, text: str) -> Value:
    if key not in table:
        raise AbsentError(text)
    return table[key]


def _index(rows: Rows, column: str, names: tuple[str, ...]) -> dict:
    index = {}
    for row in rows:
        error = (_number(row.get(name)) for name in ("std_error", "ci_low", "ci_high"))
        index.setdefault(tuple(row[name] for name in names), Value(float(row[column]), *error))
    return index


def _number(text: str | None) -> float:
    return float(text) if text else math.nan


def _mean(row: Mapping[str, str], judges: int) -> Value:
    """A mean score with the most that its standard error can be, sqrt(mean (1 - mean) / n): scores lie between 0 and 1.

    The humans' n counts each completion once for every judge that rated it.
    """
    mean, n = float(row["mean"]), _number(row.get("n"))
    ratings = n / judges if row["judge"] == HUMAN else n
    return Value(mean, math.sqrt(max(mean * (1 - mean), 0.0) / ratings))


LLM_REFERENCE = "llm_reference_as_coded"


class Finding(NamedTuple):
    """Whether one thing that a claim needs is so, and the numbers that decide it."""

    holds: bool
    text: str


Test = Callable[[Value], bool]
Part = Callable[[Results], Iterable[Finding]]


def most(held: Sequence[bool]) -> bool:
    """More than half."""
    return sum(held) > len(held) / 2


def three_quarters(held: Sequence[bool]) -> bool:
    """At least three quarters."""
    return sum(held) >= 0.75 * len(held)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that states a result, in this project's words, and what it is taken to mean.

    parts: functions from Results to findings; the claim holds if `quorum` of all findings do. dimensions: those that the
    numbers rest on; a study without one of them has no data for the claim.
    """

    name: str
    section: str
    sentence: str
    criterion: str
    parts: Sequence[Part]
    quorum: Callable[[Sequence[bool]], bool] = all
    dimensions: Sequence[str] = DIMENSIONS


def above_zero(value: Value) -> bool:
    """The interval lies above 0."""
    return value.ci_low > 0


def below_zero(value: Value) -> bool:
    """The interval lies below 0."""
    return value.ci_high < 0


def not_above_zero(value: Value) -> bool:
    """The interval does not lie above 0."""
    return not above_zero(value)


def positive(value: Value) -> bool:
    """The estimate is above 0, whatever its interval."""
    return value.value > 0


def clear_of_zero(value: Value) -> bool:
    """The interval lies above or below 0."""
    return above_zero(value) or below_zero(value)


def within(limit: float) -> Test:
    """The estimate is `limit` from 0 at most."""
    return lambda value: abs(value.value) <= limit


def none_or_small(limit: float) -> Test:
    """The interval includes 0, or the estimate is positive and `limit` at most."""
    return lambda value: value.ci_low <= 0 <= value.ci_high or 0 < value.value <= limit


def is_so(
    test: Test, terms: Sequence[str], *, quantity: str = "self_bias", spec: str = "main", slices: Sequence[str] | None = ("",)
) -> Part:
    """`test` of the estimate of each term in each slice; `slices` None: in every slice that has it."""

    def find(results: Results) -> Iterator[Finding]:
        for term in terms:
            for name in results.slices(spec, quantity, term) if slices is None else slices:
                value = results.estimate(spec, name, quantity, term)
                yield Finding(test(value), f"{term}{f' ({name})' if name else ''} {value}")

    return find


def in_slices(
    test: Test, terms: Sequence[str], *, spec: str, wanted: str, quorum: Callable[[Sequence[bool]], bool] = any
) -> Part:
    """`test` of the self-bias of each term in `quorum` of the slices of a spec; `wanted` says what the test asks for."""

    def find(results: Results) -> Iterator[Finding]:
        for term in terms:
            slices = results.slices(spec, "self_bias", term)
            passed = [name for name in slices if test(results.estimate(spec, name, "self_bias", term))]
            text = f"{term} {wanted} in {', '.join(passed) or 'none'} ({len(passed)} of {len(slices)} slices of {spec})"
            yield Finding(quorum([name in passed for name in slices]), text)

    return find


def stands_out(slice_: str, terms: Sequence[str], *, lowest: bool = False) -> Part:
    """Each judge's self-bias in one dimension is the highest (or lowest) of its dimensions; the next one is named."""

    def find(results: Results) -> Iterator[Finding]:
        for term in terms:
            of = {name: results.estimate("by_dimension", name, "self_bias", term).value for name in DIMENSIONS}
            others = sorted((name for name in of if name != slice_), key=of.get, reverse=not lowest)
            beyond = of[slice_] < of[others[0]] if lowest else of[slice_] > of[others[0]]
            yield Finding(beyond, f"{term} {of[slice_]:+.4f} in {slice_}, {of[others[0]]:+.4f} in {others[0]}")

    return find


def compared(
    test: Callable[[Value, Value], bool],
    terms: Sequence[str],
    *,
    to: str,
    quantity: str = "self_bias",
    spec: str = "main",
    slices: tuple[str, str] = ("", ""),
    among: Test | None = None,
) -> Part:
    """`test` of each term's estimates in `spec` and in the spec `to`, in one slice of each.

    `among`: only of those terms whose estimate in `spec` passes it.
    """

    def find(results: Results) -> Iterator[Finding]:
        for term in terms:
            pair = list(zip((spec, to), slices, strict=True))
            before, after = (results.estimate(*where, quantity, term) for where in pair)
            if among is None or among(before):
                first, second = (", ".join(filter(None, where)) for where in pair)
                yield Finding(test(before, after), f"{quantity} of {term} {before} in {first}, {after} in {second}")

    return find


def same_conclusion(before: Value, after: Value) -> bool:
    """Both intervals lie above 0, or both below, or both include it."""
    return (above_zero(before), below_zero(before)) == (above_zero(after), below_zero(after))


def same_sign(before: Value, after: Value) -> bool:
    """The second estimate has the first one's sign."""
    return before.value * after.value > 0


def inside_interval(before: Value, after: Value) -> bool:
    """The second estimate lies in the first one's interval."""
    return before.ci_low <= after.value <= before.ci_high


def consistent_references(terms: Sequence[str]) -> Part:
    """The sign of each judge's self-bias, where clear in `main`, holds under every family's judges as the reference."""

    def find(results: Results) -> Iterator[Finding]:
        for term in terms:
            for family in results.slices(LLM_REFERENCE, "self_bias", term):
                yield from compared(same_sign, [term], to=LLM_REFERENCE, slices=("", family), among=clear_of_zero)(results)

    return find


def mean_spearman(results: Results, judges: Sequence[str], dimensions: Sequence[str]) -> float:
    """Mean of Spearman's correlations of some judges in some dimensions."""
    return fmean(results.correlation(dimension, judge, "spearman") for judge, dimension in product(judges, dimensions))


def strongest_judges(results: Results, judges: Sequence[str]) -> Iterator[Finding]:
    """Each of `judges` has a higher mean Spearman over the dimensions than every other judge."""
    of = {judge: mean_spearman(results, [judge], DIMENSIONS) for judge in JUDGES}
    best = max((judge for judge in JUDGES if judge not in judges), key=of.get)
    for judge in judges:
        yield Finding(of[judge] > of[best], f"{judge} {of[judge]:.3f}, best of the others {best} {of[best]:.3f}")


def stronger_dimensions(results: Results, dimensions: Sequence[str]) -> Iterator[Finding]:
    """Mean Spearman over the judges is higher in each of `dimensions` than on average in the others."""
    rest = mean_spearman(results, JUDGES, [name for name in DIMENSIONS if name not in dimensions])
    for name in dimensions:
        mean = mean_spearman(results, JUDGES, [name])
        yield Finding(mean > rest, f"{name} {mean:.3f}, the other dimensions {rest:.3f}")


def some_spearman_above(results: Results, limit: float, dimensions: Sequence[str]) -> Iterator[Finding]:
    """In each of `dimensions` one judge at least has a Spearman correlation above `limit`."""
    for name in dimensions:
        best = max(JUDGES, key=lambda judge: results.correlation(name, judge, "spearman"))
        value = results.correlation(name, best, "spearman")
        yield Finding(value > limit, f"{name}: highest {value:.3f} ({best})")


def raters_agree(test: Callable[[float], bool], statistic: str, dimensions: Sequence[str]) -> Part:
    """`test` of a statistic of the human raters in each dimension; "" is the average."""

    def find(results: Results) -> Iterator[Finding]:
        for name in dimensions:
            value = results.raters(name, statistic)
            yield Finding(test(value), f"{statistic} {value:.3f} in {name or 'the average of dimensions'}")

    return find


def own_is_top(results: Results, judges: Sequence[str]) -> Iterator[Finding]:
    """Each judge's mean of itself is the highest of its row or of its column, within half of 0.01."""
    for judge in judges:
        own = results.mean("", judge, judge)
        row = max(results.mean("", judge, model) for model in JUDGES)
        column = max(results.mean("", other, judge) for other in JUDGES)
        text = f"{judge} {own:.3f}, highest of its row {row:.3f}, of its column {column:.3f}"
        yield Finding(own > min(row, column) - 0.005, text)


def humans_differ_little(limit: float, dimension: str) -> Part:
    """The human raters' means of any two models in a dimension are `limit` apart at most."""

    def find(results: Results) -> Iterator[Finding]:
        means = [results.mean(dimension, HUMAN, model) for model in JUDGES]
        spread = max(means) - min(means)
        yield Finding(spread <= limit, f"human means differ by {spread:.3f}")

    return find


def below_the_humans(judges: Sequence[str], dimension: str) -> Part:
    """Each judge's means in a dimension are below the humans', for every model; the nearest one is named."""

    def find(results: Results) -> Iterator[Finding]:
        human = {model: results.mean(dimension, HUMAN, model) for model in JUDGES}
        for judge in judges:
            given = {model: results.mean(dimension, judge, model) for model in JUDGES}
            nearest = max(JUDGES, key=lambda model: given[model] - human[model])
            text = f"{judge} on {nearest} {given[nearest]:.3f}, humans {human[nearest]:.3f}"
            yield Finding(given[nearest] < human[nearest], text)

    return find


def lower_for_itself(judges: Sequence[str], dimension: str) -> Part:
    """Each judge's mean of itself in a dimension is below its mean of the other models."""

    def find(results: Results) -> Iterator[Finding]:
        for judge in judges:
            own = results.mean(dimension, judge, judge)
            others = fmean(results.mean(dimension, judge, model) for model in JUDGES if model != judge)
            yield Finding(own < others, f"{judge} on itself {own:.3f}, on the others {others:.3f}")

    return find


GPT = ("GPT-3.5 Turbo", "GPT-4o")
SONNET = "Claude 3.5 Sonnet"
FAVOUR_THEMSELVES = (*GPT, SONNET)
CLEAREST = ("GPT-4o", SONNET)
LLAMA = ("Llama 3 8B", "Llama 3 70B")
CONSISTENT = tuple(judge for judge in JUDGES if judge not in LLAMA)
AGREED = ("Completeness", "Helpfulness")  # the dimensions on which raters agree best


def _clustered(results: Results) -> Iterator[Finding]:
    for judge in JUDGES:
        for model in JUDGES:
            mean = round(results.mean("", judge, model), 2)
            yield Finding(0.9 <= mean <= 1, f"{judge} on {model} {mean:.2f}")


def _gap(results: Results) -> float:
    return results.mean("", HUMAN, SONNET) - results.mean("", HUMAN, "GPT-4o")


def _gap_of_a_fiftieth(results: Results) -> Iterator[Finding]:
    gap = _gap(results)
    yield Finding(abs(gap - 0.02) <= 0.01, f"gap of the human means {gap:.3f}")


def _bias_like_gap(results: Results) -> Iterator[Finding]:
    gap = _gap(results)
    for judge in CLEAREST:
        value = results.estimate("main", "", "self_bias", judge).value
        yield Finding(abs(value - gap) <= 0.01, f"self-bias of {judge} {value:.4f}, gap {gap:.3f}")


CLAIMS = (
    Claim(
        "gpt_4o_and_sonnet_favour_themselves_and_family", "Abstract",
        "GPT-4o and Claude 3.5 Sonnet score their own outputs higher, and those of their family.",
        "main: intervals of both self-biases and of both family-biases above 0",
        [is_so(above_zero, CLEAREST), is_so(above_zero, ("GPT", "Claude"), quantity="family_bias")],
    ),
    Claim(
        "accuracy_over_84", "4.3", "Raters' accuracy on the gold subset is over 84 % in every dimension.",
        "accuracy of 0.84 or more, to two decimals, in each dimension",
        [raters_agree(lambda value: round(value, 2) >= 0.84, "accuracy", DIMENSIONS)],
    ),
    Claim(
        "accuracy_average", "4.3", "Raters' accuracy on the gold subset is 91 % on average.",
        "average accuracy within 0.01 of 0.91", [raters_agree(lambda value: abs(value - 0.91) <= 0.01, "accuracy", [""])],
    ),
    Claim(
        "alpha_average", "4.3", "Krippendorff's alpha is 0.28 on average, and 0.47 in Completeness and Helpfulness.",
        "alpha within 0.01 of 0.28 on average, of 0.47 in these two dimensions",
        [
            raters_agree(lambda value: abs(value - 0.28) <= 0.01, "krippendorff_alpha", [""]),
            raters_agree(lambda value: abs(value - 0.47) <= 0.01, "krippendorff_alpha", AGREED),
        ],
    ),
    Claim(
        "pairs_of_raters_agree", "4.3", "Observed agreement of the raters is high, 81 %.",
        "share of pairs of raters with one score, averaged over dimensions, within 0.01 of 0.81",
        [raters_agree(lambda value: abs(value - 0.81) <= 0.01, "observed_agreement", [""])],
    ),
    Claim(
        "all_three_raters_agree", "4.3", "The observed agreement of 81 % is how often all three annotators agree.",
        "share of completions with one score from all three, averaged over dimensions, within 0.01 of 0.81",
        [raters_agree(lambda value: abs(value - 0.81) <= 0.01, "full_agreement", [""])],
    ),
    Claim(
        "strong_judges_correlate_more", "4.4", "Stronger models, such as GPT-4o and Claude 3.5 Sonnet, agree more with humans.",
        "mean Spearman over dimensions of each is above that of every other judge",
        [lambda results: strongest_judges(results, CLEAREST)],
    ),
    Claim(
        "agreed_dimensions_correlate_more", "4.4", "Judges agree more with humans where humans agree with each other.",
        "mean Spearman over judges in Completeness and in Helpfulness, each above the mean of the other dimensions",
        [lambda results: stronger_dimensions(results, AGREED)],
    ),
    Claim(
        "rho_above_0_4", "4.4", "In Completeness and Helpfulness the correlation with humans is above 0.4.",
        "in each of the two, Spearman above 0.4 for one judge at least",
        [lambda results: some_spearman_above(results, 0.4, AGREED)], dimensions=AGREED,
    ),
    Claim(
        "scores_cluster", "5.1", "Mean scores mostly lie between 0.90 and 1.0.",
        "more than half of the judges' means over all dimensions, to two decimals", [_clustered], most,
    ),
    Claim(
        "own_scores_look_high", "5.1", "Claude v2 and GPT-3.5 Turbo appear to give their own completions higher scores.",
        "own mean over all dimensions is the highest of its row or of its column, ties to 0.005 counted",
        [lambda results: own_is_top(results, ("Claude v2", "GPT-3.5 Turbo"))],
    ),
    Claim(
        "gpt_and_sonnet_favour_themselves", "5.2", "The GPT models and Claude 3.5 Sonnet have positive self-bias.",
        "main: interval above 0, each", [is_so(above_zero, FAVOUR_THEMSELVES)],
    ),
    Claim(
        "weaker_claude_almost_none", "5.2", "Claude v2 and Claude 3 Sonnet show almost no self-bias.",
        "main: estimate at most 0.01 from 0, each", [is_so(within(0.01), ("Claude v2", "Claude 3 Sonnet"))],
    ),
    Claim(
        "llama_8b_negative", "5.2", "Llama 3 8B has significant negative self-bias.",
        "main: interval below 0", [is_so(below_zero, ("Llama 3 8B",))],
    ),
    Claim(
        "claude_and_gpt_favour_family", "5.2", "Claude and GPT judges score other models of their family higher.",
        "main: interval above 0, each", [is_so(above_zero, ("Claude", "GPT"), quantity="family_bias")],
    ),
    Claim(
        "llama_and_mistral_do_not", "5.2", "Llama and Mistral judges do not favour their families.",
        "main: interval not above 0, each", [is_so(not_above_zero, ("Llama 3", "Mistral"), quantity="family_bias")],
    ),
    Claim(
        "gap_is_as_large_as_bias", "5.2", "Claude 3.5 Sonnet and GPT-4o differ by 0.02, about as much as their self-bias.",
        "gap of the human means within 0.01 of 0.02; both self-biases (main) within 0.01 of the gap",
        [_gap_of_a_fiftieth, _bias_like_gap],
    ),
    Claim(
        "consistent_over_dimensions", "6.1",
        "GPT, Claude and Mistral judges show no or small positive self-bias in most dimensions.",
        "by_dimension: interval includes 0, or estimate above 0 and at most 0.03, in more than half of the dimensions, each",
        [in_slices(none_or_small(0.03), CONSISTENT, spec="by_dimension", wanted="none or small", quorum=most)],
    ),
    Claim(
        "outlier_logical_correctness", "6.1", "GPT models and Claude 3.5 Sonnet favour themselves more in Logical correctness.",
        "by_dimension: estimate above that in every other dimension, each",
        [stands_out("Logical correctness", FAVOUR_THEMSELVES)],
    ),
    Claim(
        "outlier_faithfulness", "6.1", "Mistral Large favours itself more in Faithfulness than in other dimensions.",
        "by_dimension: estimate above that in every other dimension", [stands_out("Faithfulness", ("Mistral Large",))],
    ),
    Claim(
        "llama_8b_faithfulness", "6.1", "Llama 3 8B's negative self-bias is notably larger in Faithfulness.",
        "by_dimension: interval below 0, and estimate below that in every other dimension",
        [
            is_so(below_zero, ("Llama 3 8B",), spec="by_dimension", slices=("Faithfulness",)),
            stands_out("Faithfulness", ("Llama 3 8B",), lowest=True),
        ],
    ),
    Claim(
        "llama_marks_faithfulness_low", "6.1",
        "Humans see hardly a difference in Faithfulness; Llama judges score all models lower, themselves in particular.",
        "human means differ by 0.02 at most; each Llama judge's means below the humans' for every model, and its mean of "
        "itself below that of the other models",
        [
            humans_differ_little(0.02, "Faithfulness"),
            below_the_humans(LLAMA, "Faithfulness"),
            lower_for_itself(LLAMA, "Faithfulness"),
        ],
        dimensions=("Faithfulness",),
    ),
    Claim(
        "open_ended_higher", "6.1", "Most models have higher self-bias in open-ended QA than in summarization.",
        "by_task_type: higher estimate in open-ended qa for more than half of the judges",
        [
            compared(
                lambda one, two: one.value > two.value, JUDGES,
                spec="by_task_type", to="by_task_type", slices=("open-ended qa", "summarization"),
            )
        ],
        most,
    ),
    Claim(
        "only_some_dimensions_and_datasets", "7",
        "GPT-4o and Claude 3.5 Sonnet have significant self-bias in some dimensions and datasets, not in others.",
        "for each, among the slices of by_dimension and of by_dataset: one with an interval above 0, one without",
        [
            in_slices(test, CLEAREST, spec=spec, wanted=wanted)
            for spec in ("by_dimension", "by_dataset")
            for test, wanted in ((above_zero, "above 0"), (not_above_zero, "not above 0"))
        ],
    ),
)  # fmt: skip


FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
FAVOURED = ("Claude", "GPT")
KEPT = tuple(judge for judge in JUDGES if judge not in ("Llama 3 8B", "Mistral 7B"))  # without the weak models
SMALL = tuple(judge for judge in JUDGES if judge not in (*FAVOUR_THEMSELVES, "Llama 3 8B"))
AS_CODED = "length_control_as_coded"
LENGTH_ALONE = "length_alone"  # in no config of the project: no figure and no published number is made of it
WEAK = "weak_models_dropped_as_coded"
REFERENCE = {"spec": LLM_REFERENCE, "slices": None}
HELM_JUDGES = ("GPT-4 (0314)", "Claude v1.3")
HELM_DIMENSIONS = ("Completeness", "Conciseness", "Harmlessness", "Helpfulness", "Understandability")


def _both(test, to, **settings):
    """`test` of self- and family-biases in main, or another spec, and in `to`."""
    return [compared(test, JUDGES, to=to, **settings), compared(test, FAMILIES, to=to, quantity="family_bias", **settings)]


def _gpt_4_larger(results: Results) -> Iterator[Finding]:
    one, other = (results.estimate("main", "", "self_bias", judge) for judge in HELM_JUDGES)
    yield Finding(one.value > other.value, f"GPT-4 {one}, Claude v1.3 {other}")


CLAIMS_OF_ROBUSTNESS_CLAIMS = (
    Claim(
        "mostly_consistent", "6", "The trends of each model are mostly consistent across the robustness checks.",
        "self-biases with an interval off 0 in main keep their sign, in three quarters of their estimates with length control, "
        "with an LLM family as the reference and without weak models",
        [
            compared(same_sign, JUDGES, to=AS_CODED, among=clear_of_zero),
            compared(same_sign, KEPT, to=WEAK, among=clear_of_zero),
            consistent_references(JUDGES),
        ],
        three_quarters,
    ),
    Claim(
        "length_control_same_conclusions", "6.2", "Length control does not meaningfully affect self- and family-bias.",
        "main → length_control_as_coded: each interval stays above 0, below 0 or about 0", _both(same_conclusion, AS_CODED),
    ),
    Claim(
        "length_control_same_estimates", "6.2", "With length control, self- and family-bias are virtually unchanged.",
        "main → length_control_as_coded: each estimate stays within its interval of main", _both(inside_interval, AS_CODED),
    ),
    Claim(
        "length_goes_with_ratings", "6.2", "Longer completions get higher ratings, overall and in each dimension.",
        "length_alone, a spec for you to add (length: prompt_rows, terms: [judge], slice: dimension, whole: true): coefficient "
        "of length above 0 for each judge, overall and in each dimension",
        [is_so(positive, JUDGES, quantity="length", spec=LENGTH_ALONE, slices=("", *DIMENSIONS))],
    ),
    Claim(
        "length_effect_disappears", "6.2", "Given the reference scores, length has practically no association with ratings.",
        "length_control_as_coded: coefficient of length at most 0.01 from 0 for each judge",
        [is_so(within(0.01), JUDGES, quantity="length", spec=AS_CODED)],
    ),
    Claim(
        "global_length_comparable", "6.2", "Normalising lengths by global mean and variance gives comparable results.",
        "length_control_as_coded → length_control_global: no self- or family-bias moves by more than 0.005",
        _both(lambda one, two: abs(one.value - two.value) <= 0.005, "length_control_global", spec=AS_CODED),
    ),
    Claim(
        "ordinal_positive", "6.2", "With an ordinal logit, self-bias of the GPT models and Claude 3.5 Sonnet stays positive.",
        "ordinal_as_coded: estimate above 0 in every dimension, each",
        [is_so(positive, FAVOUR_THEMSELVES, spec="ordinal_as_coded", slices=DIMENSIONS)],
    ),
    Claim(
        "ordinal_llama_faithfulness", "6.2", "With an ordinal logit, the Llama models stay negative in Faithfulness.",
        "ordinal_as_coded: interval below 0, each",
        [is_so(below_zero, LLAMA, spec="ordinal_as_coded", slices=("Faithfulness",))], dimensions=("Faithfulness",),
    ),
    Claim(
        "gam_same_conclusions", "6.2", "With splines of the human score, the conclusions on bias are qualitatively the same.",
        "gam: intervals of self-bias above 0 for the GPT models and Claude 3.5 Sonnet, below 0 for Llama 3 8B; of family-bias "
        "above 0 for Claude and GPT",
        [
            is_so(above_zero, FAVOUR_THEMSELVES, spec="gam"),
            is_so(below_zero, ("Llama 3 8B",), spec="gam"),
            is_so(above_zero, FAVOURED, quantity="family_bias", spec="gam"),
        ],
    ),
    Claim(
        "llm_reference_self", "6.2", "GPT models and Claude 3.5 Sonnet show strong self-bias under every LLM reference.",
        "llm_reference_as_coded: interval above 0, each, for every other family as the reference",
        [is_so(above_zero, FAVOUR_THEMSELVES, **REFERENCE)],
    ),
    Claim(
        "llm_reference_llama_8b", "6.2", "Llama 3 8B shows negative self-bias under every LLM reference.",
        "llm_reference_as_coded: interval below 0 for every other family as the reference",
        [is_so(below_zero, ("Llama 3 8B",), **REFERENCE)],
    ),
    Claim(
        "llm_reference_others_small", "6.2", "Under LLM references the self-bias of the other judges is small.",
        "llm_reference_as_coded: estimate at most 0.01 from 0, each, for every other family as the reference",
        [is_so(within(0.01), SMALL, **REFERENCE)],
    ),
    Claim(
        "llm_reference_family", "6.2", "Family-bias of GPT and Claude remains substantial under LLM references.",
        "llm_reference_as_coded: interval above 0, each, for every other family as the reference",
        [is_so(above_zero, FAVOURED, quantity="family_bias", **REFERENCE)],
    ),
    Claim(
        "weak_models_decrease", "6.2", "Without the weak models the magnitude of self-bias decreases for all judges.",
        "main → weak_models_dropped_as_coded: estimate nearer to 0, each judge that is left",
        [compared(lambda one, two: abs(two.value) < abs(one.value), KEPT, to=WEAK)],
    ),
    Claim(
        "weak_models_self", "6.2", "Without the weak models GPT-4o and Claude 3.5 Sonnet still favour themselves.",
        "weak_models_dropped_as_coded: interval above 0, each", [is_so(above_zero, CLEAREST, spec=WEAK)],
    ),
    Claim(
        "weak_models_family", "6.2", "Without the weak models the family-bias of GPT and Claude stays positive.",
        "weak_models_dropped_as_coded: estimate above 0, each",
        [is_so(positive, FAVOURED, quantity="family_bias", spec=WEAK)],
    ),
)  # fmt: skip

# Judged on the study helm_instruct, whatever study is compared with the paper.
CLAIMS_ON_HELM = (
    Claim(
        "helm_positive", "C.2", "On HELM-Instruct both GPT-4 and Claude v1.3 have positive self-bias.",
        "main: estimate above 0, each", [is_so(positive, HELM_JUDGES)], dimensions=HELM_DIMENSIONS,
    ),
    Claim(
        "helm_gpt_4_larger", "C.2", "On HELM-Instruct GPT-4's self-bias is slightly the larger.",
        "main: estimate of GPT-4 above that of Claude v1.3",
        [_gpt_4_larger], dimensions=HELM_DIMENSIONS,
    ),
    Claim(
        "helm_gpt_family", "C.2", "On HELM-Instruct GPT-4 shows family-bias.",
        "main: interval above 0", [is_so(above_zero, ("GPT",), quantity="family_bias")], dimensions=HELM_DIMENSIONS,
    ),
)  # fmt: skip


CLAIMS_CLAIMS = (*CLAIMS, *CLAIMS_OF_ROBUSTNESS_CLAIMS, *CLAIMS_ON_HELM)
HOLDS, FAILS, ABSENT = "holds", "fails", "data absent"
STAND_IN = "no ratings of HELM-Instruct but a simulated stand-in, with biases that are declared"
NOTHING_LEFT = "no number that the criterion asks for"
LISTED = 12  # findings written out; of more, the first ones against the claim


def judged(claim: Claim, results: Results) -> tuple[str, str]:
    """Return the verdict on a claim, HOLDS, FAILS or ABSENT, and the evidence: the numbers that decided, or what is missing."""
    missing = [dimension for dimension in claim.dimensions if dimension not in results.dimensions]
    if missing:
        return ABSENT, f"no ratings of {', '.join(missing)}"
    try:
        findings = [finding for part in claim.parts for finding in part(results)]
    except AbsentError as error:
        return ABSENT, str(error)
    if not findings:
        return ABSENT, NOTHING_LEFT
    holds = claim.quorum([finding.holds for finding in findings])
    return HOLDS if holds else FAILS, evidence(findings)


def estimand_of(claim: Claim) -> str:
    """Name what the biases are gaps to that a claim rests on, by the specs in its criterion; "" of a claim of other numbers."""
    specs = [word for word in re.findall(r"\w+", claim.criterion) if word in ESTIMANDS]
    return "; ".join(dict.fromkeys(ESTIMANDS[spec] for spec in specs))


def evidence(findings: Sequence[Finding]) -> str:
    """Count and list findings: those against the claim first, and those for it only where there is room."""
    against = [finding.text for finding in findings if not finding.holds]
    support = [finding.text for finding in findings if finding.holds] if len(findings) <= LISTED else []
    more = [f"and {len(against) - LISTED} more"] if len(against) > LISTED else []
    parts = [f"{len(findings) - len(against)} of {len(findings)}"]
    parts += [f"against: {'; '.join(against[:LISTED] + more)}"] if against else []
    parts += [f"for: {'; '.join(support)}"] if support else []
    return ". ".join(parts)


def claims(study: str, results: Results, published: Results, *, kind: str, helm: Results | None = None) -> Iterator[dict]:
    """Yield the rows of the claims table: each claim's verdict on the study, and on the published values.

    kind: simulated, published or user, what the ratings of `results` are. helm: what a user's ratings of HELM-Instruct give, on
    which the claims of section C.2 are judged for every study; None where there are none, and these claims have no data.
    """
    for claim in CLAIMS_CLAIMS:
        ratings, whose = (helm, "user" if helm else "simulated") if claim in CLAIMS_ON_HELM else (results, kind)
        verdict, why = judged(claim, ratings) if ratings else (ABSENT, STAND_IN)
        theirs, why_theirs = judged(claim, published)
        yield {
            "study": study, "claim": claim.name, "section": claim.section, "sentence": claim.sentence,
            "criterion": claim.criterion, "estimand": estimand_of(claim), "kind": whose, "verdict": verdict, "evidence": why,
            "published": theirs, "published_evidence": why_theirs,
        }  # fmt: skip
