"""Least squares of a spec on any rows, slice by slice, with errors by prompt, and its columns in a table."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from recuse.base.reasons import Reason, because
from recuse.data.moments import Moments, RowBlock
from recuse.model.covariance import FEW, FEW_CLUSTERS, Clusters
from recuse.model.design import Term, designs_of
from recuse.model.least_squares import LeastSquares, Solution, solve, wald_columns
from recuse.model.prompt_sums import add_prompts
from recuse.model.spec import Spec


@dataclass(frozen=True)
class Refit:
    """The least-squares fit of one slice, with errors CR1."""

    label: str
    terms: Sequence[Term]
    n_terms: Sequence[int]  # rows that carry each term
    solution: Solution
    result: LeastSquares
    prompts: int


def refit(spec: Spec, moments: Moments, blocks: Iterable[RowBlock]) -> list[Refit]:
    """Fit the slices of a spec, without what it absorbs, to `moments`; blocks: the rows behind these.

    A slice without rows, or without a term that they carry, is left out.
    """
    slices = []
    for label, rows, design in designs_of(spec, moments):
        if design is not None:
            n_terms = [round(float(rows.n[term.carried].sum())) for term in design.terms]
            solution = solve(rows, design.regressors)
            slices.append((label, design, n_terms, solution, Clusters(design.layouts, solution)))
    add_prompts([(design, [clusters]) for _, design, *_, clusters in slices], blocks if slices else (), len(moments.n))
    return [
        Refit(label, design.terms, n_terms, solution, clusters.result(), clusters.prompts)
        for label, design, n_terms, solution, clusters in slices
    ]


def coefficient_rows(
    terms: Sequence[Term],
    result: LeastSquares,
    prompts: int,
    *,
    confidence: float,
    reasons: Iterable[str] = repeat(because(Reason.COLLINEAR)),
) -> Iterator[dict]:
    """Yield the columns of each coefficient by `columns_by_prompt`; reasons: of each term, if it is not identified."""
    for term, estimate, error, identified, reason in zip(
        terms, result.estimate, result.std_error, result.identified, reasons, strict=False
    ):
        row = {"quantity": term.quantity, "term": term.term, "n": result.n, "prompts": prompts}
        numbers = columns_by_prompt(estimate, error, df=result.df, confidence=confidence) if identified else {"reason": reason}
        yield row | numbers


def columns_by_prompt(estimate: float, std_error: float, *, df: float, confidence: float) -> dict:
    """Columns by `wald_columns` of an estimate with an error CR1; `reason` if it has none, `note` of few prompts.

    df: P - 1, of P prompts.
    """
    columns = wald_columns(estimate, std_error, df=df, confidence=confidence)
    if not std_error > 0:
        return columns | {"reason": because(Reason.NO_STANDARD_ERROR)}
    return columns | ({"note": FEW_CLUSTERS.format(covariance="CR1", clusters=df + 1, few=FEW)} if df + 1 < FEW else {})
