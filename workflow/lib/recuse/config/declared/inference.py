"""What the configuration says of models and inference: specs, tables beside the estimates, checks of the conclusions."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from recuse.base.errors import ConfigError, check_known
from recuse.config.declared.sections import (
    Key,
    Name,
    Names,
    Section,
    Share,
    Some,
    SomeKeys,
    optional,
    refuse_unknown,
    required,
)
from recuse.data.selection import NORMALISATIONS
from recuse.inference.robustness import ESTIMATES, TABLES
from recuse.model.covariance import COVARIANCES
from recuse.model.design import TERMS
from recuse.model.fit import ESTIMATORS
from recuse.model.spec import BIASES, EQUATION_1, REFERENCES, SLICED

CONTAINED = (("intercept", "judge"), ("reference", "judge:reference"), ("model", "model:dimension"))
ONLY_LEAST_SQUARES = [name for name, kind in COVARIANCES.items() if len(kind.estimators) == 1]
LEVERAGED = [name for name, kind in COVARIANCES.items() if kind.leveraged]
# What may change in a spec that the project's figures are named after: other studies have other weak models.
MAY_CHANGE = {"subset", "covariance", "bootstrap", "wild", "tests"}


class Subset(SomeKeys):
    """Rows to keep."""

    dimension: Names = optional("Dimensions to keep.")
    dataset: Names = optional("Datasets to keep.")
    task_type: Names = optional("Task types to keep.")
    models_dropped: Names = optional("Models to leave out.")


class SpecSettings(Section):
    """Equation 1 of Play Favorites, changed by these keys."""

    slice: Literal[*SLICED] = optional("Fit each dimension, dataset or task type alone, or leave out each model in turn.")
    whole: bool = optional("Beside the slices, fit all rows together.")
    subset: Subset = optional("Rows to keep, by factor; `models_dropped` leave both as judges and as models.")
    length: Literal[*NORMALISATIONS] = optional(
        "Add judge:length, the length normalised over the completions of the prompt (`prompt`), over every row of the prompt "
        "(`prompt_rows`) or over all completions (`global`)."
    )
    terms: Some[Literal[*TERMS]] = optional(
        "Terms of the model; without it those of Equation 1: judge, judge:reference, self, same_family, dimension. `intercept` "
        "and `reference` are an intercept and a slope that all judges share; `model` and `model:dimension` are effects of the "
        "models, in all dimensions alike or in each."
    )
    absorb: Literal["completion"] = optional(
        "Take the effects of completions (dimension, prompt and model) out of the fit, of least squares, so that a judge is "
        "compared with the others on the same completion; with `covariance: CR1` or `CR3`."
    )
    reference: Literal[*REFERENCES] = optional(
        "Put the mean rating of each family's judges in turn in the humans' place. The family's judges leave the rows, and its "
        "completions too (`family`) or not (`family_completions_kept`)."
    )
    estimator: Literal[*ESTIMATORS] = optional(
        "`least_squares` (default); `ordinal_logit`, proportional odds of the raw rating; `gam`, with a penalised cubic spline "
        "of the human score for each judge."
    )
    covariance: Literal[*COVARIANCES] = optional(
        f"Standard errors, HC0 by default: {'; '.join(f'{name}, {kind.meaning}' for name, kind in COVARIANCES.items())}. Of "
        f"least squares alone: {', '.join(ONLY_LEAST_SQUARES)}; of these, without `length`: {', '.join(LEVERAGED)}."
    )
    bootstrap: int = optional(
        "Replicates of a bootstrap by prompt, of least squares, beside the standard errors: the columns boot_std_error, "
        "boot_ci_low and boot_ci_high of the estimates; and p-values of its tests adjusted for their number, by Holm and by "
        "Benjamini and Hochberg.",
        ge=100,
    )
    wild: int = optional(
        "Draws of a wild bootstrap by prompt of each self- and family-bias, of least squares, beside the standard errors: the "
        "columns wild_p_value, wild_ci_low and wild_ci_high of the estimates. 999 or 9999 make the levels of tests exact. The "
        "tests are adjusted for their number, also by max-t, with simultaneous intervals.",
        ge=99,
    )
    tests: Some[Literal[*BIASES]] = optional(
        "Quantities whose tests, in all slices, are one family: p-values are adjusted for their number. By default both."
    )

    def _check(self) -> None:
        keys = {key for key, value in self if value}
        estimator = {self.estimator} - {None, "least_squares"}
        covariance = COVARIANCES[self.covariance or "HC0"]
        of_least_squares = {self.covariance} if estimator - {*covariance.estimators} else set()
        leveraged = {self.covariance} if covariance.leveraged else set()
        for clash in (
            keys & {"slice", "reference"},  # the reference families are the slices
            keys & {"length", "reference"},  # cells of another reference hold no lengths
            estimator | keys & {"length"},  # nor do those that the other estimators read
            estimator & {"gam"} | keys & {"terms"},  # its splines are by judge
            estimator | of_least_squares,  # so are leverages and sums by prompt
            leveraged | keys & {"length"},  # cells, which have one leverage, hold no lengths
            *(estimator | keys & {key} for key in ("bootstrap", "wild", "absorb")),  # sums by prompt, too
        ):
            if len(clash) > 1:
                raise ValueError(f"found {' with '.join(sorted(clash))}, which do not go together; keep one")
        if self.whole and not self.slice:
            raise ValueError("whole: there is no slice beside it; leave `whole` out, it is the default then")
        if self.absorb and not covariance.by_prompt_alone:
            raise ValueError("absorb: its errors are by prompt; write `covariance: CR1` or `covariance: CR3` beside it")
        terms = {*(self.terms or ["judge"])}
        for one, other in CONTAINED:
            if {one, other} <= terms:
                raise ValueError(f"terms: found {one} with {other}, of which one contains the other; keep one")
        if not terms & {"intercept", "judge"}:
            raise ValueError("terms: found neither intercept nor judge; write one of them")


def check_redefined(specs: Mapping[str, Mapping], own: Mapping[str, Mapping]) -> None:
    """Raise ConfigError where `specs` makes another model of one of the project's `own` specs, which figures are named after.

    Its subset and its errors may change.
    """
    for name, settings in own.items():
        for key in sorted({*settings, *specs[name]} - MAY_CHANGE):
            if settings.get(key) != specs[name].get(key):
                raise ConfigError(
                    f"config: specs: {name}: {key}: found {specs[name].get(key)}; this spec is what the figures call it, so "
                    "write yours under a name of its own"
                )


OF_SPECS = ("idiosyncrasy", "identifiability", "measurement_error", "sensitivity", "bounds", "leaderboard")  # tables of specs
Prompts = Some[Annotated[int, Field(ge=2)]]
Numbers = Some[Annotated[int, Field(ge=1)]]


class PpiSettings(Section):
    """Means of human scores from few labels and the ratings of all."""

    labelled: Prompts = required("Numbers of prompts with human labels.")
    draws: int = required("Random sets of so many prompts.", ge=2)


class PowerSettings(Section):
    """Power of studies like this one."""

    self_bias: float = required("Self-bias to be detected, in points of the unit scale.", gt=0)
    power: Share = required("Probability of detecting it.")
    prompts: Prompts = required("Numbers of prompts.")
    raters: Numbers = required("Numbers of human raters of a completion.")
    copies: Numbers = required("How many times as many models, and judges, of the same families.")


class RobustnessCheckSettings(Section):
    """One check of what is concluded."""

    title: Name = required("What figure and page call the check.")
    specs: Names = required("Of which spec the rows are: of the whole study, by dimension, or one of each.")
    table: Literal[*TABLES] = optional("The table that holds them; the estimates of the specs if not given.", default=ESTIMATES)
    methods: Names = optional(
        "The methods of the table, measurement_error or bounds, whose rows count; of several, what all say."
    )
    by: Literal[*dict.fromkeys(by for table in TABLES.values() for by in table.by)] = optional(
        "What decides: an interval that leaves out 0, or a p-value of 1 less the confidence at most. Of estimates ci (default) "
        "or, with `wild`, wild_ci; of multiplicity holm_p_value, bh_p_value or, with `wild`, simultaneous_ci; of sensitivity "
        "as_length_ci, with `length`; of the other tables ci.",
        default="ci",
    )
    asks: Name = required("What the check asks, without question mark.")
    lost: Name = optional("What it means that a conclusion is lost in it.")

    def _check(self) -> None:
        table = TABLES[self.table]
        if self.by not in table.by:
            raise ValueError(f"by: found {self.by}, which the table {self.table} does not have; write {' or '.join(table.by)}")
        if self.methods and not table.methods:
            raise ValueError(f"methods: the table {self.table} has none; leave this key out")
        refuse_unknown("methods", self.methods or (), table.methods, f"the methods of the table {self.table}")
        if table.methods and not self.methods:
            raise ValueError(
                f"methods: the table {self.table} has several rows of a bias; write some of {', '.join(table.methods)}"
            )


class Inference(Section):
    """What is computed beside the estimates."""

    without_human_scores: dict[str, Annotated[Name, Field(description="The spec in its place.")]] = required(
        "Specs that compare judges with the other judges, by the name of the one whose place each takes in the tables of a "
        "study without human scores, and in its report."
    )
    idiosyncrasy: Names = required("Specs whose slices are tested against the cells that are neither self nor family.")
    assignments: int = required("Random assignments of models to judges, of the randomisation test.", ge=99)
    identifiability: Names = required("Specs of which is said which cells identify each coefficient.")
    measurement_error: Names = required("Specs that are corrected for errors of the human scores.")
    raters: int = required("Human raters of a completion where their agreement is known from publication only.", ge=1)
    sensitivity: Names = required("Specs of which is said how strong an omitted variable must be.")
    bounds: Names = required("Specs that are refitted to complete blocks and with bounds for missing ratings.")
    leaderboard: Names = required("Specs whose biases are taken off the models' scores.")
    replicates: int = required("Replicates of the leaderboard's bootstrap by prompt.", ge=100)
    ppi: PpiSettings = required("How few human labels would do.")
    power: PowerSettings = required("What studies like this one would detect.")
    robustness_checks: dict[Key, RobustnessCheckSettings] = required(
        "Ways to draw a conclusion about each judge and family. The others are compared with the first.", min_length=1
    )

    def _check(self) -> None:
        if "main" not in self.without_human_scores:
            raise ValueError("without_human_scores: 'main' is a required property")
        titles: dict[str, str] = {}
        for name, conclusion in self.robustness_checks.items():
            first = titles.setdefault(conclusion.title, name)
            if first != name:
                raise ValueError(
                    f"robustness_checks: {name}: title: '{conclusion.title}' is also that of {first}; write another"
                )


def check_inference(inference: Inference, specs: Mapping[str, SpecSettings]) -> None:
    """Raise ConfigError, naming the key, unless each table is of specs that have one, and each conclusion of its rows."""
    for key in OF_SPECS:
        check_known(f"inference: {key}", getattr(inference, key), specs, "specs")
        for name in getattr(inference, key):
            _check_spec(f"inference: {key}: {name}", specs[name], absorbs=key == "identifiability")
    for name, substitute in inference.without_human_scores.items():
        where = f"inference: without_human_scores: {name}"
        check_known("inference: without_human_scores", [name], specs, "specs")
        check_known(where, [substitute], specs, "specs")
        spec = specs[substitute]
        _check_spec(where, spec)
        if not {"model", "model:dimension"} & {*(spec.terms or ())}:
            raise ConfigError(
                f"config: {where}: the spec {substitute} needs human scores; take one with the term model or model:dimension"
            )
        if spec.slice != specs[name].slice:
            raise ConfigError(f"config: {where}: the spec {substitute} has other slices; take one with those of {name}")
    for name, conclusion in inference.robustness_checks.items():
        _check_rows(f"inference: robustness_checks: {name}", conclusion, inference, specs)


def _check_spec(where: str, spec: SpecSettings, *, absorbs: bool = False) -> None:
    """Refuse a spec that has no table beside its estimates."""
    unfit = {
        "estimator": spec.estimator not in (None, "least_squares"),
        "reference": spec.reference is not None,
        "absorb": spec.absorb is not None and not absorbs,
    }
    for key in (key for key, is_unfit in unfit.items() if is_unfit):
        raise ConfigError(f"config: {where}: a spec with {key}, which has no such table; leave it out")
    _check_biases(where, spec)


def _check_biases(where: str, spec: SpecSettings) -> None:
    if not {"self", "same_family"} & {*(spec.terms or EQUATION_1)}:
        raise ConfigError(
            f"config: {where}: a spec that estimates no self- or family-bias; take one with the term self or same_family"
        )


def _check_rows(
    where: str, conclusion: RobustnessCheckSettings, inference: Inference, specs: Mapping[str, SpecSettings]
) -> None:
    """Refuse specs that are not there or without such rows of judges' own models, in points of the unit scale."""
    check_known(f"{where}: specs", conclusion.specs, specs, "specs")
    for name in conclusion.specs:
        place, spec = f"{where}: specs: {name}", specs[name]
        if spec.slice not in (None, "dimension") or spec.reference or spec.estimator == "ordinal_logit":
            raise ConfigError(f"config: {place}: found a slice not by dimension, a reference or log-odds; take another")
        _check_biases(place, spec)
        needed = TABLES[conclusion.table].by[conclusion.by].needs
        if needed and not any(getattr(spec, key) for key in needed):
            raise ConfigError(
                f"config: {place}: found no {' and no '.join(needed)}, without which there is no {conclusion.by}; write it in "
                "this spec, or take another"
            )
        if conclusion.table in OF_SPECS:
            known = getattr(inference, conclusion.table)
            check_known(f"{where}: specs", [name], known, f"inference: {conclusion.table}, where its table comes from")
    slices = [specs[name].slice for name in conclusion.specs]
    if len(set(slices)) < len(slices) or (None in slices and any(specs[name].whole for name in conclusion.specs)):
        raise ConfigError(
            f"config: {where}: specs: {' and '.join(conclusion.specs)} have rows of the same ratings; write a check for each"
        )
