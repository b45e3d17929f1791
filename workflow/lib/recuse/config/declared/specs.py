"""What the configuration says of a spec: one model, fitted to every study."""

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from recuse.base.errors import ConfigError
from recuse.config.declared.sections import Names, Section, Some, SomeKeys, optional
from recuse.data.selection import NORMALISATIONS
from recuse.model.covariance import COVARIANCES
from recuse.model.design import TERMS
from recuse.model.fit import ESTIMATORS
from recuse.model.spec import BIASES, REFERENCES, SLICED

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

    @model_validator(mode="after")
    def _goes_together(self) -> "SpecSettings":
        """At most one key, or value, of each of these sets is taken."""
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
            estimator | keys & {"bootstrap"},
            estimator | keys & {"wild"},
            estimator | keys & {"absorb"},  # sums by prompt, too
        ):
            if len(clash) > 1:
                raise ValueError(f"found {' with '.join(sorted(clash))}, which do not go together; keep one")
        if self.whole and not self.slice:
            raise ValueError("whole: there is no slice beside it; leave `whole` out, it is the default then")
        if self.absorb and not covariance.by_prompt_alone:
            raise ValueError("absorb: its errors are by prompt; write `covariance: CR1` or `covariance: CR3` beside it")
        return self

    @model_validator(mode="after")
    def _has_levels_of_judges(self) -> "SpecSettings":
        terms = {*(self.terms or ["judge"])}
        for one, other in CONTAINED:
            if {one, other} <= terms:
                raise ValueError(f"terms: found {one} with {other}, of which one contains the other; keep one")
        if not terms & {"intercept", "judge"}:
            raise ValueError("terms: found neither intercept nor judge; write one of them")
        return self


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
