"""A spec fitted to given rows, slice by slice, with errors by prompt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judgebias.fits.clusters import FEW, FEW_CLUSTERS, Clusters, clustered
from judgebias.fits.design import Term
from judgebias.fits.linear import LeastSquares, Solution, solve
from judgebias.fits.prompt_sums import add_prompts
from judgebias.fits.slice_design import designs_of
from judgebias.fits.spec import Spec
from judgebias.fits.wald import wald_columns
from judgebias.ratings.moments import Moments
from judgebias.ratings.row_blocks import RowBlock

NO_ERROR = "no standard error: the rows leave no residual, or there are no more of them than terms, or all are of one prompt"


@dataclass(frozen=True)
class Refit:
    """The least-squares fit of one slice, with errors CR1."""

    label: str
    terms: Sequence[Term]
    n_terms: Sequence[int]  # rows that carry each
    solution: Solution
    result: LeastSquares
    prompts: int


def refit(spec: Spec, moments: Moments, blocks: Iterable[RowBlock]) -> list[Refit]:
    """Fit the slices of a spec, without what it absorbs, to `moments`; blocks: the rows behind these.

    A slice without rows, or without a term that they carry, is left out.
    """
    found = []
    for label, rows, design in designs_of(spec, moments):
        if design is not None:
            n_terms = [round(float(rows.n[term.carried].sum())) for term in design.terms]
            solution = solve(rows, design.regressors)
            found.append((label, design, n_terms, solution, Clusters(design.layouts, solution)))
    add_prompts([(design, [clusters]) for _, design, *_, clusters in found], blocks if found else (), len(moments.n))
    return [
        Refit(label, design.terms, n_terms, solution, clustered(solution, clusters), clusters.prompts)
        for label, design, n_terms, solution, clusters in found
    ]


def columns_by_prompt(estimate: float, std_error: float, *, df: float, confidence: float) -> dict:
    """Columns as by `wald_columns` of an estimate with an error CR1; `reason` where there is none, `note` of few prompts.

    df: P - 1, of P prompts.
    """
    columns = wald_columns(estimate, std_error, df=df, confidence=confidence)
    if not std_error > 0:
        return columns | {"reason": NO_ERROR}
    return columns | ({"note": FEW_CLUSTERS.format(covariance="CR1", clusters=df + 1, few=FEW)} if df + 1 < FEW else {})
