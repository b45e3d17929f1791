"""Ratings that judges did not give: a spec on the completions that all judges rated, and with the worst that may be missing.

The rows of completions are told apart by the judges that rated them, by judgebias.ratings.completions. A rating is missing
where a judge did not rate a completion that another judge rated, in a dimension of which it rated others. Completions that no
judge rated are not known of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from judgebias.fits.design import COLLINEAR
from judgebias.fits.estimands import estimand_of
from judgebias.fits.spec import BIASES, Spec
from judgebias.inference.clustered_fits import Refit, columns_by_prompt, refit
from judgebias.inference.worst_case import bounds
from judgebias.ratings.completions import JUDGED_BY
from judgebias.ratings.moments import Moments
from judgebias.ratings.row_blocks import RowBlock
from judgebias.ratings.study import Study

ALL_ROWS, COMPLETE = "all rows", "complete blocks"
OWN = ("lowest by own missing", "highest by own missing")  # what judges' missing ratings of themselves can make of a self-bias
ANY = ("lowest by any missing", "highest by any missing")  # what all missing ratings can make of a bias
Blocks = Callable[[Mapping[str, np.ndarray]], Iterable[RowBlock]]  # the rows with their groups numbered as in these factors


def complete_blocks(apart: Moments, judges: np.ndarray) -> Moments:
    """Keep the completions of which no rating is missing.

    apart: as by `moments_by_judges`. judges: the names behind the bits of JUDGED_BY, (judges,) of str.
    """
    return apart.select(~_missing(apart, judges).any(axis=1))


@dataclass(frozen=True)
class Filled:
    """Rows with missing ratings put in, at 0."""

    moments: Moments  # the groups before, then those that are put in
    added: np.ndarray  # (groups before, judges) the group that takes the covariates of a group's rows, -1 if there is none

    def blocks(self, blocks: Iterable[RowBlock]) -> Iterator[RowBlock]:
        """Add the rows to blocks whose groups are numbered as before."""
        for block in blocks:
            added = self.added[block.group]
            lent, judge = np.nonzero(added >= 0)
            order = np.argsort(np.concatenate([block.prompt, block.prompt[lent]]), kind="stable")
            parts = [(block.prompt, block.prompt[lent]), (block.group, added[lent, judge])]
            parts += [(block.rating, np.zeros(len(lent))), *((each, each[lent]) for each in block.covariates)]
            prompt, group, rating, *covariates = (np.concatenate(part)[order] for part in parts)
            yield RowBlock(prompt, group, rating, covariates)


def filled(apart: Moments, judges: np.ndarray, *, own: bool) -> Filled:
    """Put in the missing ratings, or those of judges of themselves alone; arguments as of `complete_blocks`."""
    factors = apart.factors
    # The first judge that rated a completion lends the others its covariates.
    lends = _bits(apart).argmax(axis=1) == np.searchsorted(judges, factors["judge"])
    wanted = lends[:, None] & _missing(apart, judges)
    if own:
        wanted &= factors["model"][:, None] == judges
    lender, judge = np.nonzero(wanted)
    lent = apart.select(lender)
    lent = lent.with_rating(np.zeros((len(lender), apart.tensor.shape[1] - 1)))
    family = dict(zip(factors["judge"], factors["judge_family"], strict=True))
    families = np.array([family.get(name, "") for name in judges], dtype=factors["judge_family"].dtype)
    names = lent.factors | {"judge": judges[judge], "judge_family": families[judge]}
    moments = Moments(
        {name: np.concatenate([values, names[name]]) for name, values in factors.items()},
        np.concatenate([apart.tensor, lent.tensor]),
    )
    added = np.full(wanted.shape, -1)
    added[lender, judge] = len(lends) + np.arange(len(lender))
    return Filled(moments, added)


def missingness(spec: Spec, apart: Moments, judges: np.ndarray, blocks: Blocks) -> Iterator[tuple[str, Refit]]:
    """Yield the refits of a spec to all rows and to complete blocks, and the bounds on its biases, by slice.

    Complete blocks mend what is missing because of the completion; not what is missing because of the rating itself. For that
    are the bounds: the bias would be between them whatever the missing ratings were, and could be either. They are of OWN
    missing ratings, for self-biases, and of ANY, for all biases.
    Source: Manski (1990) for worst-case bounds.
    """
    yield from ((ALL_ROWS, each) for each in refit(spec, apart, blocks(apart.factors)))
    whole = complete_blocks(apart, judges)
    if len(whole.n):
        yield from ((COMPLETE, each) for each in refit(spec, whole, blocks(whole.factors)))
    for methods in (OWN, ANY):
        found = missing_bounds(spec, apart, judges, blocks, own=methods is OWN)
        yield from ((method, each) for ends in found for method, each in zip(methods, ends, strict=True))


def missing_bounds(spec: Spec, apart: Moments, judges: np.ndarray, blocks: Blocks, *, own: bool) -> list[tuple[Refit, Refit]]:
    """Find the lowest and the highest self-biases by missing own ratings, or biases by all missing ones, by slice."""
    rows, quantities = filled(apart, judges, own=own), ["self_bias"] if own else BIASES
    return bounds(spec, rows.moments, lambda: rows.blocks(blocks(apart.factors)), first=len(apart.n), quantities=quantities)


def missingness_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the missingness table of a least-squares spec: by method, slice and coefficient, with errors CR1."""
    by_judges, whole = (replace(spec, absorb=absorb, covariance="CR1") for absorb in ("completion", None))
    judges = np.unique(study.moments_for(whole).factors["judge"])
    apart = study.moments_for(by_judges)
    if not len(apart.n):
        return
    for method, each in missingness(whole, apart, judges, lambda factors: study.row_blocks(by_judges, factors)):
        where = {"study": study.name, "spec": spec.name, "slice": each.label, "estimand": estimand_of(whole), "method": method}
        result = each.result
        numbers = zip(each.terms, each.n_terms, result.estimate, result.std_error, result.identified, strict=True)
        for term, n_term, estimate, error, identified in numbers:
            row = {"quantity": term.quantity, "term": term.term, "n_term": n_term, "n": result.n, "prompts": each.prompts}
            known = columns_by_prompt(estimate, error, df=result.df, confidence=confidence) if identified else {}
            yield {**where, **row, **(known or {"reason": COLLINEAR})}


def _missing(apart: Moments, judges: np.ndarray) -> np.ndarray:
    """Of which judges the ratings of each group's completions are missing, (groups, judges) of bool."""
    dimension, missing = apart.factors["dimension"], ~_bits(apart)
    for level in np.unique(dimension):
        own = dimension == level
        missing[own] &= np.isin(judges, apart.factors["judge"][own])
    return missing


def _bits(apart: Moments) -> np.ndarray:
    """Which judges rated the completions of each group, (groups, judges) of bool."""
    return np.array([[bit == "1" for bit in pattern] for pattern in apart.factors[JUDGED_BY]])
