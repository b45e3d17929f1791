"""A spec: its rows, slices, terms and errors, its estimand, and all of it in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from recuse.base.words import enumerated
from recuse.data.cells import Need
from recuse.data.selection import Selection
from recuse.model.covariance import COVARIANCES

# The settings of specs, or of robustness checks, by their names
Settings = Mapping[str, Mapping]
EQUATION_1 = ("judge", "judge:reference", "self", "same_family", "dimension")
ON_HUMAN_SCORES = ("reference", "judge:reference")  # terms with the reference as regressor
SELF, FAMILY = BIASES = ("self_bias", "family_bias")
BiasKey = tuple[str, str]  # (self_bias, judge) or (family_bias, family)


@dataclass(frozen=True)
class Model:
    """What is fitted to each slice: Equation 1 of Play Favorites by least squares, or another
    model.
    """

    terms: Sequence[str] = EQUATION_1  # as named in recuse.model.design.TERMS
    # Or ordinal_logit (proportional odds) or gam (splines of the reference)
    estimator: str = "least_squares"


@dataclass(frozen=True)
class Errors:
    """Standard errors, bootstraps and tests."""

    covariance: str = "HC0"  # one of recuse.model.covariance.COVARIANCES
    bootstrap: int | None = None  # replicates of a bootstrap by prompt
    wild: int | None = None  # draws of a wild bootstrap by prompt of each self- and family-bias
    tests: Sequence[str] = BIASES  # quantities whose tests in all slices are adjusted together

    @property
    def by_prompt(self) -> bool:
        """Whether they need the rows of each prompt."""
        return (COVARIANCES[self.covariance].of_prompts, self.bootstrap, self.wild) != (
            None,
            None,
            None,
        )


@dataclass(frozen=True)
class Spec:
    """One model of the study. `length` adds the terms judge:length; `absorb` removes the effects of
    completions.
    """

    name: str
    selection: Selection
    model: Model
    errors: Errors

    @classmethod
    def of(cls, name: str, **settings) -> "Spec":
        """Read one of config's `specs`: the fields of Selection, Model and Errors in one
        mapping.
        """
        return cls(name, Selection(), Model(), Errors()).changed(**settings)

    @classmethod
    def from_config(cls, specs: Settings) -> "dict[str, Spec]":
        """Name -> spec of config's `specs`."""
        return {name: cls.of(name, **settings) for name, settings in specs.items()}

    def changed(self, **settings) -> "Spec":
        """Change these fields of Selection, Model or Errors; TypeError about any other setting."""
        parts = {"selection": self.selection, "model": self.model, "errors": self.errors}
        for part, value in parts.items():
            names = settings.keys() & {field.name for field in fields(value)}
            parts[part] = replace(value, **{name: settings.pop(name) for name in names})
        if settings:
            raise TypeError(f"spec {self.name}: unknown settings {', '.join(settings)}")
        return replace(self, **parts)

    def shares_model_with(self, other: "Spec") -> bool:
        """Whether it fits what another spec fits, whatever their errors and tests."""
        return (self.selection, self.model) == (other.selection, other.model)

    @property
    def needs(self) -> list[Need]:
        """What it needs to know of the ratings that cells do not say."""
        selection, needs = self.selection, []
        if (selection.length, selection.reference, selection.absorb) != (None, None, None):
            needs.append(Need.ANSWERS)
        if self.errors.by_prompt:
            needs.append(Need.PROMPTS)
        return needs


def in_place(names: Iterable[str], instead: Mapping[str, str]) -> list[str]:
    """Names of specs, each once, some replaced by their substitutes."""
    return list(dict.fromkeys(instead.get(name, name) for name in names))


A = "A against humans"
A_OF_REFERENCE = "A against the reference judges"
B = "B against other judges, by {}"  # without preference that all judges share
C = "C beyond ordinary preference"


def estimand_name(spec: Spec) -> str:
    """Name the estimand of a spec: A, of Equation 1, or B, with effects of models or completions;
    "" if it has no bias.

    C is that of recuse.inference.idiosyncrasy.
    """
    if not {"self", "same_family"} & set(spec.model.terms):
        return ""
    if by := against_judges(spec):
        return B.format(by)
    return A if spec.selection.reference is None else A_OF_REFERENCE


def bias_quantities(spec: Spec) -> list[str]:
    """The biases that a spec has terms of; both, if it has neither."""
    of_terms = {"self": "self_bias", "same_family": "family_bias"}
    return [bias for term, bias in of_terms.items() if term in spec.model.terms] or [*BIASES]


def against_judges(spec: Spec) -> str:
    """What the other judges rate that biases are gaps to, such as a model; "" if they are gaps to
    human scores.
    """
    if spec.selection.absorb is not None:
        return spec.selection.absorb
    if "model:dimension" in spec.model.terms:
        return "model and dimension"
    return "model" if "model" in spec.model.terms else ""


def estimands_in_words(estimands: Iterable[str]) -> str:
    """The estimands of a figure's biases, each once; if of several letters, those alone and what
    they compare with.
    """
    named = list(filter(None, dict.fromkeys(estimands)))
    several = len({estimand[0] for estimand in named}) > 1
    return enumerated(
        list(
            dict.fromkeys(
                estimand.partition(", by ")[0] if several else estimand for estimand in named
            )
        )
    )


SLICED = {
    "dimension": "by dimension",
    "dataset": "by dataset",
    "task_type": "by task type",
    "model_dropped": "with one model left out",
    "judge_dropped": "with one judge left out",
}
ESTIMATORS = {
    "ordinal_logit": "as a proportional-odds model of the raw ratings",
    "gam": "with a smooth curve of the human score for each judge",
}
LENGTHS = {
    "prompt": "with length control by prompt",
    "prompt_rows": "with length control over all rows of a prompt",
    "global": "with length control over all completions",
}
# Words for each of recuse.model.design.TERMS
TERM_WORDS = {
    "intercept": "one level",
    "judge": "judges",
    "reference": "one slope on human scores",
    "judge:reference": "judges' slopes on human scores",
    "self": "own answers",
    "same_family": "own families",
    "dimension": "dimensions",
    "model": "models",
    "model:dimension": "models by dimension",
}
REFERENCES = {
    "family": "with {whose} judges as reference",
    "family_completions_kept": "with {whose} judges as reference, completions kept",
}
TESTED = {
    frozenset({"self_bias", "family_bias"}): "self- and family-biases",
    frozenset({"self_bias"}): "self-biases",
    frozenset({"family_bias"}): "family-biases",
}


def changes_in_words(spec: Spec, *, whose: str = "each family's", most: int | None = None) -> str:
    """How a spec differs from Equation 1, slices aside; "" if it does not.

    whose: the reference judges. most: of more names, only some are listed, with the number of the
    others.
    """
    selection, model, covariance = spec.selection, spec.model, spec.errors.covariance
    changes, subset = [], selection.subset
    if model.estimator != Model.estimator:
        changes.append(ESTIMATORS[model.estimator])
    if model.terms != EQUATION_1:
        changes.append(f"with {enumerated([TERM_WORDS[term] for term in model.terms])} as terms")
    if selection.absorb:
        changes.append(f"with effects of {selection.absorb}s removed")
    if selection.length:
        changes.append(LENGTHS[selection.length])
    if selection.reference:
        changes.append(REFERENCES[selection.reference].format(whose=whose))
    if "models_dropped" in subset:
        changes.append(f"without {enumerated(subset['models_dropped'], most)}")
    changes += [
        f"on the {factor.replace('_', ' ')}{'s' if len(names) > 1 else ''}"
        f" {enumerated(names, most)}"
        for factor in ("dimension", "dataset", "task_type")
        if (names := subset.get(factor))
    ]
    if covariance != Errors.covariance:
        changes.append(f"with {COVARIANCES[covariance].words} standard errors")
    return ", ".join(changes)


def spec_in_words(spec: Spec) -> str:
    """The model of a spec, as in `Equation 1 without Llama 3 8B, by dataset`."""
    changes = [changes_in_words(spec), SLICED.get(spec.selection.slice, "")]
    return f"Equation 1 {', '.join(filter(None, changes))}".rstrip()
