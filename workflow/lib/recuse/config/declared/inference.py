"""The settings of models and inference: specs, the tables beside the estimates, robustness
checks.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from recuse.base.errors import ConfigError, check_known
from recuse.config.declared.sections import (
    Key,
    Name,
    Names,
    NamesOrNone,
    Proportion,
    Section,
    Share,
    Some,
    SomeKeys,
    optional,
    refuse_unknown,
    required,
)
from recuse.data.selection import NORMALISATIONS
from recuse.inference.robustness import TABLES, RobustnessCheck
from recuse.model.covariance import COVARIANCES
from recuse.model.design import TERMS
from recuse.model.fit import ESTIMATORS
from recuse.model.spec import BIASES, REFERENCES, SLICED, Errors, Model

CONTAINED = (("intercept", "judge"), ("reference", "judge:reference"), ("model", "model:dimension"))
ONLY_LEAST_SQUARES = [name for name, kind in COVARIANCES.items() if len(kind.estimators) == 1]
LEVERAGED = [name for name, kind in COVARIANCES.items() if kind.leveraged]
# What may change in a spec that the project's figures are named after: other studies have other
# weak models.
MAY_CHANGE = {"subset", "covariance", "bootstrap", "wild", "tests"}


class Subset(SomeKeys):
    """Rows to keep."""

    dimension: Names = optional("Dimensions to keep.")
    dataset: Names = optional("Datasets to keep.")
    task_type: Names = optional("Task types to keep.")
    models_dropped: Names = optional("Models to drop, by name or id.")


class SpecSettings(Section):
    """Equation 1 of Play Favorites, changed by these keys."""

    slice: Literal[*SLICED] = optional(
        "Fit each dimension, dataset or task type alone, or leave out each model in turn."
    )
    whole: bool = optional("Also fit all rows together, beside the slices.")
    subset: Subset = optional(
        "Rows to keep, by factor; `models_dropped` are dropped both as judges and as models."
    )
    length: Literal[*NORMALISATIONS] = optional(
        "Add judge:length, with the length normalised over the completions of a prompt (`prompt`),"
        " all rows of a prompt (`prompt_rows`) or all completions (`global`)."
    )
    terms: Some[Literal[*TERMS]] = optional(
        f"Terms of the model; default: those of Equation 1, {', '.join(Model.terms)}. `intercept`"
        " and `reference` are an intercept and a slope shared by all judges; `model` and"
        " `model:dimension` are effects of the models, the same in all dimensions or one for each.",
        default=[*Model.terms],
    )
    absorb: Literal["completion"] = optional(
        "Absorb effects of completions (dimension, prompt and model), so that a judge is compared"
        " with the others on the same completion; least squares only, with `covariance: CR1`,"
        " `CR3`, `CR1_judge` or `two_way`."
    )
    reference: Literal[*REFERENCES] = optional(
        "Replace the human scores by the mean rating of each family's judges in turn. Rows of that"
        " family's judges are dropped, and its completions too (`family`) or not"
        " (`family_completions_kept`)."
    )
    estimator: Literal[*ESTIMATORS] = optional(
        f"`{Model.estimator}` (default); `ordinal_logit`, proportional odds of the raw rating;"
        " `gam`, with a penalised cubic spline of the human score for each judge.",
        default=Model.estimator,
    )
    covariance: Literal[*COVARIANCES] = optional(
        f"Standard errors, {Errors.covariance} by default:"
        f" {'; '.join(f'{name}, {kind.meaning}' for name, kind in COVARIANCES.items())}. Least"
        f" squares only: {', '.join(ONLY_LEAST_SQUARES)}. Not with `length`:"
        f" {', '.join(LEVERAGED)}.",
        default=Errors.covariance,
    )
    bootstrap: int = optional(
        "Replicates of a bootstrap over prompts, least squares only: columns boot_std_error,"
        " boot_ci_low and boot_ci_high of the estimates, and p-values adjusted for multiple tests"
        " by Holm and by Benjamini and Hochberg.",
        ge=100,
    )
    wild: int = optional(
        "Draws of a wild cluster bootstrap over prompts of each self- and family-bias, least"
        " squares only: columns wild_p_value, wild_ci_low and wild_ci_high of the estimates, and"
        " p-values adjusted as for `bootstrap` and by max-t, with simultaneous intervals. 999 or"
        " 9999 make the levels of tests exact.",
        ge=99,
    )
    tests: Some[Literal[*BIASES]] = optional(
        "Biases whose tests, over all slices, are adjusted together; default: both.",
        default=[*Errors.tests],
    )

    def _check(self) -> None:
        keys = {key for key in self.model_fields_set if getattr(self, key)}
        estimator = {self.estimator} - {Model.estimator}
        covariance = COVARIANCES[self.covariance]
        of_least_squares = {self.covariance} if estimator - {*covariance.estimators} else set()
        leveraged = {self.covariance} if covariance.leveraged else set()
        for clash in (
            keys & {"slice", "reference"},  # the reference families are the slices
            keys & {"length", "reference"},  # cells of another reference have no lengths
            estimator | keys & {"length"},  # nor have those that the other estimators read
            estimator & {"gam"} | keys & {"terms"},  # its splines are by judge
            # Leverages and most errors by cluster are of least squares
            estimator | of_least_squares,
            leveraged | keys & {"length"},  # cells, which have one leverage, have no lengths
            # Sums by prompt
            *(estimator | keys & {key} for key in ("bootstrap", "wild", "absorb")),
        ):
            if len(clash) > 1:
                raise ValueError(
                    f"found {' with '.join(sorted(clash))}, which cannot be combined; keep one"
                )
        if self.whole and not self.slice:
            raise ValueError(
                "whole", "without `slice` all rows are fitted anyway; leave `whole` out"
            )
        if self.absorb and not covariance.of_prompts:
            raise ValueError(
                "absorb",
                "its errors are clustered; add `covariance: CR1`, `CR3`, `CR1_judge` or `two_way`",
            )
        terms = {*self.terms}
        for part, whole in CONTAINED:
            if {part, whole} <= terms:
                raise ValueError("terms", f"found {part} with {whole}, which contains it; keep one")
        if not terms & {"intercept", "judge"}:
            raise ValueError("terms", "found neither intercept nor judge; write one of them")


def check_redefined(specs: Mapping[str, Mapping], project_specs: Mapping[str, Mapping]) -> None:
    """Raise ConfigError if `specs` turns one of the project's, which figures are named after, into
    another model.

    Its subset and its errors may change.
    """
    for name, settings in project_specs.items():
        for key in sorted({*settings, *specs[name]} - MAY_CHANGE):
            if settings.get(key) != specs[name].get(key):
                raise ConfigError.at(
                    ["specs", name, key],
                    f"found {specs[name].get(key)}; figures are named after this spec, so write"
                    " yours under another name",
                )


# Tables of specs
OF_SPECS = ("idiosyncrasy", "identifiability", "measurement_error", "sensitivity", "leaderboard")
PromptCounts = Some[Annotated[int, Field(ge=2)]]
Counts = Some[Annotated[int, Field(ge=1)]]


class PowerSettings(Section):
    """Power of studies like this one."""

    self_bias: float = required("Self-bias to be detected, as a share of the scale.", gt=0)
    power: Share = required("Probability of detecting it.")
    prompts: PromptCounts = required("Numbers of prompts.")
    raters: Counts = required("Numbers of human raters of a completion.")
    copies: Counts = required(
        "Multiples of the number of models, and of judges, in the same families."
    )


class PanelSettings(Section):
    """Which judges to combine."""

    least: int = required("Ratings of a model by a judge below which they do not count.", ge=2)
    dimensions: Names = optional("Dimensions that count; default: all.")


class RobustnessCheckSettings(Section):
    """One robustness check."""

    title: Name = required("Title in the figure and on the page.")
    specs: Names = required(
        "Specs whose rows are read: one of the whole study, one by dimension, or both."
    )
    table: Literal[*TABLES] = optional(
        "Table that is read; default: the estimates of the specs.",
        default=RobustnessCheck.table,
    )
    method: Name = optional("Method of measurement_error that is read.")
    by: Literal[*dict.fromkeys(by for table in TABLES.values() for by in table.by)] = optional(
        "Criterion: an interval that excludes 0, or a p-value of at most 1 - confidence. estimates:"
        " ci (default) or, with `wild`, wild_ci; multiplicity: holm_p_value, bh_p_value or, with"
        " `wild`, max_t_p_value; sensitivity: as_length_ci, with `length`; other tables: ci.",
        default=RobustnessCheck.by,
    )
    asks: Name = required("Question that the check asks, without question mark.")
    lost: Name = optional("What it means if a conclusion is lost.")

    def _check(self) -> None:
        table = TABLES[self.table]
        if self.by not in table.by:
            raise ValueError(
                "by",
                f"found {self.by}, which the table {self.table} does not have; write"
                f" {' or '.join(table.by)}",
            )
        if self.method and not table.methods:
            raise ValueError("method", f"the table {self.table} has none; leave this key out")
        if table.methods and not self.method:
            raise ValueError(
                "method",
                f"the table {self.table} has several; write one of {', '.join(table.methods)}",
            )
        if table.methods:
            refuse_unknown(
                "method", [self.method], table.methods, f"the methods of the table {self.table}"
            )


class VerdictSettings(Section):
    """The robustness check that answers each question of the verdict, in the whole study."""

    A: Name = optional(
        "Is a judge's gap to the human scores larger for its own answers? Left out for a study"
        " without any."
    )
    B: Name = required("Its gap to the other judges of the same models?")
    C: Name = required("Is it more than its ordinary preference for one model or another?")


class Inference(Section):
    """The tables beside the estimates."""

    without_human_scores: dict[str, Annotated[Name, Field(description="Its substitute.")]] = (
        required(
            "For studies without human scores: by the name of a spec, the spec that replaces it,"
            " which compares judges with one another."
        )
    )
    idiosyncrasy: NamesOrNone = required(
        "Specs on whose rows biases beyond ordinary preference (C) are estimated; of their terms,"
        " only those of biases matter."
    )
    identifiability: NamesOrNone = required(
        "Specs for which the cells that identify each bias are listed."
    )
    measurement_error: NamesOrNone = required(
        "Specs that are corrected for measurement error in the human scores."
    )
    raters: int = required(
        "Human raters per completion where only their published agreement is known.", ge=1
    )
    pass_mark: Proportion = required(
        "With gold labels: share of the scale at or above which a rating counts as a pass."
    )
    sensitivity: NamesOrNone = required(
        "Specs that are tested for sensitivity to an omitted variable."
    )
    leaderboard: NamesOrNone = required(
        "Specs whose biases are subtracted from the models' scores."
    )
    debias: Literal["C", "regression"] = required(
        "What is subtracted from ratings and scores: `C`, the bias beyond ordinary preference, on"
        " which the verdicts rest, shrunk towards the mean of all judges; or `regression`, the"
        " coefficients of the spec itself."
    )
    replicates: int = required("Bootstrap replicates, over prompts, of the leaderboard.", ge=100)
    power: PowerSettings = required("Power of studies like this one.")
    panel: PanelSettings = required("Which judges to combine.")
    robustness_checks: dict[Key, RobustnessCheckSettings] = required(
        "Tests of each bias, each from rows of a table. The first is the baseline of the others.",
        min_length=1,
    )
    verdict: VerdictSettings = required("Which checks the verdict rests on.")

    def _check(self) -> None:
        if "main" not in self.without_human_scores:
            raise ValueError("without_human_scores", "'main' is required")
        titles = {}
        for name, check in self.robustness_checks.items():
            first = titles.setdefault(check.title, name)
            if first != name:
                problem = f"'{check.title}' is also that of {first}; write another"
                raise ValueError("robustness_checks", name, "title", problem)


def check_inference(inference: Inference, specs: Mapping[str, SpecSettings]) -> None:
    """Raise ConfigError, naming the key, unless each table has specs that suit it, and each
    robustness check has rows.
    """
    for key in OF_SPECS:
        check_known(["inference", key], getattr(inference, key), specs, "specs")
        for name in getattr(inference, key):
            _check_spec(
                ["inference", key, name],
                specs[name],
                absorbs=key in ("identifiability", "idiosyncrasy"),
            )
    if inference.debias == "C":
        read = (
            "inference: idiosyncrasy, whose biases are subtracted (or write `debias: regression`)"
        )
        check_known(
            ["inference", "leaderboard"], inference.leaderboard, inference.idiosyncrasy, read
        )
    for name, substitute in inference.without_human_scores.items():
        where = ["inference", "without_human_scores", name]
        check_known(["inference", "without_human_scores"], [name], specs, "specs")
        check_known(where, [substitute], specs, "specs")
        spec = specs[substitute]
        _check_spec(where, spec, absorbs=True)
        if not spec.absorb and not {"model", "model:dimension"} & {*spec.terms}:
            raise ConfigError.at(
                where,
                f"the spec {substitute} needs human scores; write one with the term model or"
                " model:dimension, or with absorb",
            )
        if spec.slice != specs[name].slice:
            problem = f"the spec {substitute} has other slices; write one with those of {name}"
            raise ConfigError.at(where, problem)
    for name, check in inference.robustness_checks.items():
        _check_rows(["inference", "robustness_checks", name], check, inference, specs)
    for letter, name in inference.verdict:
        named = [name] if name is not None else []
        check_known(
            ["inference", "verdict", letter],
            named,
            inference.robustness_checks,
            "inference: robustness_checks",
        )


def _check_spec(keys: Sequence[str], spec: SpecSettings, *, absorbs: bool = False) -> None:
    """Refuse a spec that the tables beside the estimates cannot have."""
    unfit = {
        "estimator": spec.estimator != Model.estimator,
        "reference": spec.reference is not None,
        "absorb": spec.absorb is not None and not absorbs,
    }
    for key in (key for key, is_unfit in unfit.items() if is_unfit):
        raise ConfigError.at(keys, f"this table takes no spec with {key}; leave it out")
    _check_biases(keys, spec)


def _check_biases(keys: Sequence[str], spec: SpecSettings) -> None:
    if not {"self", "same_family"} & {*spec.terms}:
        raise ConfigError.at(
            keys,
            "this spec estimates no self- or family-bias; write one with the term self or"
            " same_family",
        )


def _check_rows(
    where: Sequence[str],
    check: RobustnessCheckSettings,
    inference: Inference,
    specs: Mapping[str, SpecSettings],
) -> None:
    """Refuse specs that do not exist or have no rows on biases as a share of the scale."""
    keys = [*where, "specs"]
    check_known(keys, check.specs, specs, "specs")
    for name in check.specs:
        place, spec = [*keys, name], specs[name]
        if (
            spec.slice not in (None, "dimension")
            or spec.reference
            or spec.estimator == "ordinal_logit"
        ):
            raise ConfigError.at(
                place,
                "found slices other than dimensions, a reference or log-odds; write another spec",
            )
        _check_biases(place, spec)
        needed = TABLES[check.table].by[check.by].needs
        if needed and not any(getattr(spec, key) for key in needed):
            raise ConfigError.at(
                place,
                f"{check.by} needs {' or '.join(needed)}; add it to this spec, or write another",
            )
        if check.table in OF_SPECS:
            of_table = getattr(inference, check.table)
            check_known(
                keys,
                [name],
                of_table,
                f"inference: {check.table}, the specs of its table",
            )
    slices = [specs[name].slice for name in check.specs]
    if len(set(slices)) < len(slices) or (
        None in slices and any(specs[name].whole for name in check.specs)
    ):
        raise ConfigError.at(
            keys,
            f"{' and '.join(check.specs)} have rows on the same ratings; write a check for each",
        )
