"""The settings of a spec in words, for titles, headings, legends and captions."""

from collections.abc import Iterable, Mapping

from recuse.base.words import enumerated
from recuse.model.covariance import COVARIANCES

SLICED = {
    "dimension": "by dimension",
    "dataset": "by dataset",
    "task_type": "by task type",
    "model_dropped": "with one model left out",
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
SUBSETS = ("dimension", "dataset", "task_type")
REFERENCES = {
    "family": "with {whose} judges as reference",
    "family_completions_kept": "with {whose} judges as reference, completions kept",
}
PLACEBO = "C"  # what figures call estimand C among specs, none of which can have this name
TESTED = {
    frozenset({"self_bias", "family_bias"}): "self- and family-biases",
    frozenset({"self_bias"}): "self-biases",
    frozenset({"family_bias"}): "family-biases",
}
EACH = "each family's"


def changes_of(settings: Mapping, *, whose: str = EACH, most: int | None = None) -> str:
    """What a spec, an entry of config's `specs`, changes of Equation 1, but for its slices; nothing if it changes nothing.

    `whose` judges are the reference where the spec has another than the humans. Of more than `most` names only some are given,
    and the number of the others.
    """
    return ", ".join(_changes(settings, whose, most))


def in_words(settings: Mapping) -> str:
    """The model that a spec, an entry of config's `specs`, fits, as in `Equation 1 without Llama 3 8B, by dataset`."""
    changes = [*_changes(settings, EACH, None), *([SLICED[settings["slice"]]] if settings.get("slice") else [])]
    return f"Equation 1 {', '.join(changes)}".rstrip()


def _changes(settings: Mapping, whose: str, most: int | None) -> Iterable[str]:
    subset = settings.get("subset", {})
    if settings.get("estimator", "least_squares") != "least_squares":
        yield ESTIMATORS[settings["estimator"]]
    if "terms" in settings:
        yield f"with the terms {enumerated(settings['terms'])}"
    if settings.get("absorb"):
        yield f"with effects of {settings['absorb']}s taken out"
    if settings.get("length"):
        yield LENGTHS[settings["length"]]
    if settings.get("reference"):
        yield REFERENCES[settings["reference"]].format(whose=whose)
    if "models_dropped" in subset:
        yield f"without {enumerated(subset['models_dropped'], most)}"
    for factor in SUBSETS:
        if names := subset.get(factor):
            yield f"on the {factor.replace('_', ' ')}{'s' if len(names) > 1 else ''} {enumerated(names, most)}"
    if settings.get("covariance", "HC0") != "HC0":
        yield f"with {COVARIANCES[settings['covariance']].words} standard errors"
