"""The passes over a study's rows that errors clustered by prompt and the bootstrap by prompt take, for all slices of a spec."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.fits.clusters import Clusters
from judgebias.fits.design import distinct_layouts, regressors_of
from judgebias.fits.linear import Solution, solve
from judgebias.fits.prompt_bootstrap import PromptBootstrap
from judgebias.fits.prompt_sums import sum_by_prompt
from judgebias.fits.spec import Spec
from judgebias.ratings.moments import Moments
from judgebias.ratings.row_blocks import RowBlock
from judgebias.ratings.study import Study


@dataclass(frozen=True)
class PromptErrors:
    """The fit of a slice, and what its prompts say of the errors."""

    solution: Solution
    clusters: Clusters
    replicates: np.ndarray | None  # (replicates, terms) coefficients of the bootstrap, if the spec asks for one and it can be


@dataclass(frozen=True)
class SliceDesign:
    """The terms of a slice in its design cells, and its fit: no more than a cell's number is held for each of its groups."""

    group: np.ndarray  # (own groups,) places among all groups of the spec
    cell: np.ndarray  # (own groups,) groups with the same layout of terms, also with none, are one cell
    layouts: np.ndarray  # (cells, w, terms)
    solution: Solution


def prompt_errors(spec: Spec, study: Study, *, seed: int | None) -> list[PromptErrors | None]:
    """Pass over the rows of a least-squares spec: its slices in their order, None for one without rows, or without a term.

    One pass sums the scores of all slices. The bootstrap takes another, as it needs the number of prompts beforehand.
    """
    moments = study.moments_for(spec)
    slices = list(_designs(spec, moments))
    found = [each for each in slices if each is not None]
    if not found:
        return [None] * len(slices)
    clusters = [Clusters(each.layouts, each.solution) for each in found]
    _pass(clusters, found, len(moments.n), study.row_blocks(spec, moments.factors))
    replicates = [None] * len(found)
    if spec.bootstrap is not None:
        bootstraps = [
            PromptBootstrap(each.layouts, each.solution, prompts=known.prompts, replicates=spec.bootstrap, seed=seed)
            for each, known in zip(found, clusters, strict=True)
        ]
        _pass(bootstraps, found, len(moments.n), study.row_blocks(spec, moments.factors))
        replicates = [each.estimates() if known.prompts > 1 else None for each, known in zip(bootstraps, clusters, strict=True)]
    errors = map(PromptErrors, (each.solution for each in found), clusters, replicates)
    return [None if each is None else next(errors) for each in slices]


def _pass(
    takers: Sequence[Clusters | PromptBootstrap], slices: Sequence[SliceDesign], groups: int, blocks: Iterable[RowBlock]
) -> None:
    for block in blocks:
        for taker, own in zip(takers, slices, strict=True):
            cell = np.full(groups, -1, dtype=np.int32)
            cell[own.group] = own.cell
            for sums in sum_by_prompt(block, cell, len(own.layouts)):
                taker.add(sums)


def _designs(spec: Spec, moments: Moments) -> Iterator[SliceDesign | None]:
    """Lay out the terms of each slice of a spec, and solve it; moments: of the rows of all slices."""
    for _, mask in spec.slices(moments.factors):
        rows = moments.select(mask)
        present = [term for term in spec.terms_of(rows.factors) if term.carried.any()] if mask.any() else []
        if not present:
            yield None
            continue
        regressors = regressors_of(present, len(rows.n), moments.tensor.shape[1] - 1)
        layouts, cell = distinct_layouts(regressors)
        yield SliceDesign(np.flatnonzero(mask), cell.astype(np.int32), layouts, solve(rows, regressors))
