"""How strong an omitted variable must be to explain a bias away, compared with the length of
completions.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.data.moments import Moments
from recuse.data.study import StudyTables
from recuse.inference.measurement_error import remark_by_prompt
from recuse.model.design import Term, design_layout, estimable_terms
from recuse.model.estimable import spec_slices
from recuse.model.fit import PromptErrors, prompt_errors
from recuse.model.least_squares import Solution, inverted, quantile, weighted_squares
from recuse.model.spec import BIASES, Spec, estimand_name

SENSITIVITY = column_names(
    "study spec slice estimand quantity term",
    "estimate std_error classical_std_error df partial_r2",
    "robustness_value robustness_value_significance length_with_term length_with_rating",
    "bias_as_length",
    "as_length_ci_low as_length_ci_high reason note",
)


class Strength(NamedTuple):
    """Partial R2 of a variable with a term, given the other terms, and with the rating, given all
    terms.
    """

    with_term: float
    with_rating: float


def robustness_value(f: float) -> float:
    """Compute RV = (sqrt(f^4 + 4 f^2) - f^2) / 2, with f the partial Cohen's f of a term and the
    rating, |t| / sqrt(df).

    An omitted variable must explain this share of the residual variance of both the term and the
    rating to move the estimate by f sqrt(df) = |t| standard errors, to 0. t is the classical one: f
    is a partial correlation, whatever the errors are. Source: Cinelli and Hazlett (2020), J. R.
    Stat. Soc. B 82, equation 18.
    """
    f = np.maximum(f, 0.0)
    return float(np.sqrt(f**4 + 4 * f**2) - f**2) / 2


def bias_in_errors(strength: Strength, df: float) -> float:
    """Compute the omitted-variable bias in classical standard errors: sqrt(df R2_rating R2_term /
    (1 - R2_term)).

    Source: Cinelli and Hazlett (2020), equation 12.
    """
    return math.sqrt(df * strength.with_rating * strength.with_term / (1 - strength.with_term))


def as_strong_as(covariates: Strength) -> Strength | None:
    """Bound the strength of an omitted variable that is as strong as some covariates of the fit; R2
    at most 1.

    As strong means that it explains as much of the term and of the rating as these do, given all
    other covariates. None where these explain half of the term or more: nothing else can explain as
    much.
    Source: Cinelli and Hazlett (2020), section 4.4 and appendix B.1 (k = 1), as in their sensemakr.
    """
    ratio = covariates.with_term / (1 - covariates.with_term)
    if ratio >= 1:
        return None
    # The R2 of the omitted variable with these covariates, given the term, is ratio^2.
    excess = (1 + ratio) / math.sqrt(1 - ratio**2)
    return Strength(
        ratio, min(1.0, excess**2 * covariates.with_rating / (1 - covariates.with_rating))
    )


def sensitivity_rows(spec: Spec, study: StudyTables, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the sensitivity table of a least-squares spec: of each bias of each slice.

    robustness_value: to bring the estimate to 0. robustness_value_significance: to bring it within
    its interval's half width, t times the error CR1, of 0. With length in the spec,
    length_with_term and length_with_rating are the partial R2 of the length of the judges that
    carry the bias, and bias_as_length is how far an omitted variable as strong can move the
    estimate; the interval of errors CR1, wider by that on both sides, runs from as_length_ci_low to
    as_length_ci_high.
    """
    clustered = spec.changed(covariance="CR1", bootstrap=None, wild=None)
    errors = prompt_errors(clustered, study, seed=None)
    for (label, rows), slice_errors in zip(spec_slices(clustered, study), errors, strict=True):
        where = {"spec": spec.name, "slice": label, "estimand": estimand_name(spec)}
        if slice_errors is not None:
            yield from (where | row for row in _rows_of_slice(spec, rows, slice_errors, confidence))


def _rows_of_slice(
    spec: Spec, rows: Moments, errors: PromptErrors, confidence: float
) -> Iterator[dict]:
    terms = estimable_terms(spec, rows.factors)
    solution = errors.solution
    result = errors.clusters.result()
    df = solution.n - solution.rank
    residual = float(
        weighted_squares(rows, design_layout(spec, terms, rows), solution)[:, 0, 0].sum()
    )
    for place, term in enumerate(terms):
        if term.quantity not in BIASES:
            continue
        row = {"quantity": term.quantity, "term": term.term}
        if not solution.identified[place]:
            yield row | {"reason": because(Reason.COLLINEAR)}
            continue
        estimate, error = float(result.estimate[place]), float(result.std_error[place])
        row |= {"estimate": estimate, "std_error": error} | remark_by_prompt(error, result.df)
        if not residual > 0 or df < 1:
            yield row | {"reason": because(Reason.NO_STANDARD_ERROR)}
            continue
        classical = math.sqrt(solution.inverse[place, place] * residual / df)
        half = quantile(confidence, result.df) * error if error > 0 else math.nan
        t = abs(estimate / classical)
        f = t / math.sqrt(df)
        left = (t - half / classical) / math.sqrt(df)
        row |= {
            "classical_std_error": classical,
            "df": df,
            "partial_r2": f**2 / (1 + f**2),
            "robustness_value": robustness_value(f),
            "robustness_value_significance": robustness_value(left),
        }
        if spec.selection.length is not None:
            length = _strength_of_length(rows, terms, place, solution, residual)
            row |= {"length_with_term": length.with_term, "length_with_rating": length.with_rating}
            strength = as_strong_as(length)
            if strength is None:
                yield row | {"reason": because(Reason.LENGTH_LIKE_HALF)}
                continue
            moved = bias_in_errors(strength, df) * classical
            row |= {
                "bias_as_length": moved,
                "as_length_ci_low": estimate - moved - half,
                "as_length_ci_high": estimate + moved + half,
            }
        yield row


def _strength_of_length(
    rows: Moments, terms: Sequence[Term], place: int, solution: Solution, residual: float
) -> Strength:
    """Compute the partial R2 of the length terms of the judges whose rows carry the term at
    `place`.

    With A = (X'X)^-1, 1 / A_kk is the residual sum of squares of term k on all others; that of the
    rating is y'y - b'X'y.
    """
    judges = set(map(str, rows.factors["judge"][terms[place].carried]))
    kept = [
        number
        for number, term in enumerate(terms)
        if term.quantity != "length" or term.term not in judges
    ]
    cross = solution.gram @ solution.estimate  # X'y
    inverse, _ = inverted(solution.gram[np.ix_(kept, kept)])
    row = kept.index(place)
    with_term = 1 - inverse[row, row] / solution.inverse[place, place]
    explained = solution.estimate @ cross - cross[kept] @ inverse @ cross[kept]
    return Strength(max(0.0, float(with_term)), max(0.0, float(explained / (residual + explained))))
