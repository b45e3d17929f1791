"""The settings of a spec in words, for titles, headings, legends and captions.

Estimates, intervals and p-values of conclusions in so many digits that a reader can see what decides.

Pages to read: one HTML file each that needs nothing else, from a template and the frame that all have.

Characters that no text of a study may hold.

What readers are told of the kind of a study's data.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path

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
SUBSETS = {"dimension": "dimension", "dataset": "dataset", "task_type": "task type"}
REFERENCES = {
    "family": "with {whose} judges as reference",
    "family_completions_kept": "with {whose} judges as reference, completions kept",
}
ERRORS = {
    "CR1": "prompt-clustered (CR1)",
    "CR3": "prompt-clustered, jackknifed (CR3)",
    "two_way": "prompt- and judge-clustered",
}
PLACEBO = "C"  # what figures call estimand C among specs, none of which can have this name
TESTED = {
    frozenset({"self_bias", "family_bias"}): "self- and family-biases",
    frozenset({"self_bias"}): "self-biases",
    frozenset({"family_bias"}): "family-biases",
}
EACH = "each family's"


def enumerated(names: Sequence[str]) -> str:
    """`names` as in `a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def changes_of(settings: Mapping, *, whose: str = EACH, most: int | None = None) -> str:
    """What a spec, an entry of config's `specs`, changes of Equation 1, but for its slices; nothing if it changes nothing.

    `whose` judges are the reference where the spec has another than the humans. Of more than `most` names only some are given,
    and the number of the others.
    """
    return ", ".join(_changes(settings, whose, most))


def in_words(settings: Mapping) -> str:
    """The model that a spec, an entry of config's `specs`, fits, as in `Equation 1 without Llama 3 8B, by dataset`."""
    changes = [*_changes(settings, EACH, None), *([SLICED[settings["slice"]]] if settings.get("slice") else [])]
    return " ".join(["Equation 1", *filter(None, [", ".join(changes)])])


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
        yield f"without {_some(subset['models_dropped'], most)}"
    for factor, name in SUBSETS.items():
        if factor in subset:
            yield f"on the {name}{'s' if len(subset[factor]) > 1 else ''} {_some(subset[factor], most)}"
    if settings.get("covariance", "HC0") != "HC0":
        yield f"with {ERRORS.get(settings['covariance'], settings['covariance'])} standard errors"


def _some(names: Sequence[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return enumerated(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


WORDS_ALONE = "words_alone"  # id of a drawing that has nothing but words to show


def rendered(template: str | Path, **values) -> str:
    """Render a Jinja template, which finds the frame that it extends in its own folder; `values` are escaped.

    Filters: `number`, and `signed`, the same with its sign.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(template).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "signed": signed}
    return environment.get_template(Path(template).name).render(**values)


def number(value: float | None, digits: int = 4) -> str:
    """`value` with so many decimals and a true minus sign; a dash where there is none."""
    if value is None or not isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    """The same with a sign in front; what rounds to 0 has none."""
    if value is None or not isfinite(value):
        return number(value)
    rounded = round(value, digits) or 0.0
    return f"+{number(rounded, digits)}" if rounded > 0 else number(rounded, digits)


DIGITS = 3
MOST_DIGITS = 12  # smaller is rounding


def is_known(value: float | None) -> bool:
    """True for a number that a row has."""
    return value is not None and math.isfinite(value)


def end(value: float) -> str:
    """An end of an interval with three decimals, or as many as show its sign: +0.012, −0.0005."""
    return next((text for digits in range(DIGITS, MOST_DIGITS) if (text := signed(value, digits))[0] in "+−"), signed(value))


def p_value_text(p_value: float, level: float) -> str:
    """A p-value with two digits, or as many as show on which side of the level it is: p 0.03, p 0.1004."""
    exact = p_value <= level * (1 + 1e-12)
    return next(text for digits in range(2, 18) if (float(text := f"{p_value:.{digits}g}") <= level * (1 + 1e-12)) == exact)


def with_interval(row: Mapping, *, confidence: float, prefix: str = "") -> str:
    """An estimate and its interval, or its p-value where it has none, as in `+0.031 [+0.023, +0.039]`."""
    value, ends = signed(row[prefix.removesuffix("_") or "estimate"]), [row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]]
    if is_known(ends[0]):
        return f"{value} [{', '.join(map(end, ends))}]"
    return f"{value} (p {p_value_text(row['p_value'], 1 - confidence)})" if is_known(row.get("p_value")) else value


def span(sizes: Sequence[float]) -> str:
    """From the smallest to the largest size, as in `0.023 to 0.034`."""
    return " to ".join(dict.fromkeys(f"{size:.{DIGITS}f}" for size in (min(sizes), max(sizes))))


# In no table (NUL, surrogates) or in no drawing (XML 1.0).
UNWRITABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


BADGES = {"simulated": "SIMULATED DATA", "published": "PUBLISHED DATA", "user": "USER'S DATA"}
