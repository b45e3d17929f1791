"""The passes over a study's rows that errors clustered by prompt and the bootstrap by prompt take, for all slices of a spec."""

from collections.abc import Iterable, Sequence
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
    """What the prompts of a slice say of the errors of its fit."""

    clusters: Clusters
    replicates: np.ndarray | None  # (replicates, terms) coefficients of the bootstrap, if the spec asks for one and it can be


@dataclass(frozen=True)
class SliceDesign:
    """The terms of a slice in each design cell, and its fit."""

    layouts: np.ndarray  # (cells, w, terms), 0 in cells that the slice does not have
    solution: Solution


@dataclass(frozen=True)
class SpecDesign:
    """The design cells that all slices of a spec have in common: in each, every slice has one layout of its terms."""

    cell: np.ndarray  # (groups,) cell of each group, -1 where no slice has it
    cells: int
    slices: Sequence[SliceDesign | None]  # None for a slice without rows


def prompt_errors(spec: Spec, study: Study, *, seed: int | None) -> list[PromptErrors | None]:
    """Pass over the rows of a least-squares spec: its slices in their order, None for one without rows.

    One pass sums the scores of all slices. The bootstrap takes another, as it needs the number of prompts beforehand.
    """
    moments = study.moments_for(spec)
    design = design_of(spec, moments)
    found = [each for each in design.slices if each is not None]
    if not found:
        return [None] * len(design.slices)
    clusters = [Clusters(each.layouts, each.solution) for each in found]
    _pass(clusters, design, study.row_blocks(spec, moments.factors))
    replicates = [None] * len(found)
    if spec.bootstrap is not None:
        bootstraps = [
            PromptBootstrap(each.layouts, each.solution, prompts=known.prompts, replicates=spec.bootstrap, seed=seed)
            for each, known in zip(found, clusters, strict=True)
        ]
        _pass(bootstraps, design, study.row_blocks(spec, moments.factors))
        replicates = [each.estimates() if known.prompts > 1 else None for each, known in zip(bootstraps, clusters, strict=True)]
    errors = map(PromptErrors, clusters, replicates)
    return [None if each is None else next(errors) for each in design.slices]


def _pass(takers: Sequence[Clusters] | Sequence[PromptBootstrap], design: SpecDesign, blocks: Iterable[RowBlock]) -> None:
    for block in blocks:
        for sums in sum_by_prompt(block, design.cell, design.cells):
            for taker in takers:
                taker.add(sums)


def design_of(spec: Spec, moments: Moments) -> SpecDesign:
    """Lay out the terms of all slices of a spec side by side, and solve each; moments: of the rows of all slices."""
    width = moments.tensor.shape[1] - 1
    regressors, solutions = [], []
    for _, mask in spec.slices(moments.factors):
        rows = moments.select(mask)
        terms = spec.terms_of(rows.factors) if mask.any() else []
        present = [term for term in terms if term.carried.any()]
        regressors.append(np.zeros((len(mask), width, len(present))))
        regressors[-1][mask] = regressors_of(present, len(rows.n), width)
        solutions.append(solve(rows, regressors[-1][mask]) if present else None)
    if not any(solutions):
        return SpecDesign(np.full(len(moments.n), -1), 0, solutions)
    layouts, cell = distinct_layouts(np.concatenate(regressors, axis=2))
    cell = np.where(layouts.any(axis=(1, 2))[cell], cell, -1)
    own = np.split(layouts, np.cumsum([each.shape[2] for each in regressors])[:-1], axis=2)
    slices = [solution and SliceDesign(layout, solution) for layout, solution in zip(own, solutions, strict=True)]
    return SpecDesign(cell, len(layouts), slices)
