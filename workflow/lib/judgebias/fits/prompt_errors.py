"""The passes over a study's rows that errors clustered by prompt and the bootstrap by prompt take, for all slices of a spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from judgebias.fits.clusters import Clusters
from judgebias.fits.jackknife import Jackknife
from judgebias.fits.linear import Solution, solve
from judgebias.fits.prompt_bootstrap import PromptBootstrap
from judgebias.fits.prompt_sums import add_prompts
from judgebias.fits.slice_design import SliceDesign, designs_of
from judgebias.fits.spec import BIASES, Spec
from judgebias.fits.two_way import TwoWay
from judgebias.fits.wild_bootstrap import WildBootstrap, WildTest
from judgebias.ratings.moments import Moments
from judgebias.ratings.study import Study


@dataclass(frozen=True)
class PromptErrors:
    """The fit of a slice, and what its prompts say of the errors."""

    solution: Solution
    clusters: Clusters | Jackknife | TwoWay
    replicates: np.ndarray | None  # (replicates, terms) coefficients of the bootstrap, if the spec asks for one and it can be
    wild: Mapping[int, WildTest] = field(default_factory=dict)  # by place of the term, if the spec asks for one


def prompt_errors(spec: Spec, study: Study, *, seed: int | None) -> list[PromptErrors | None]:
    """Pass over the rows of a least-squares spec: its slices in their order, None for one without rows, or without a term.

    One pass sums the scores of all slices, and draws the wild bootstrap. The bootstrap takes another, so that what the draws of
    both are summed up in is not held at once.
    """
    moments = study.moments_for(spec)
    apart = "judge" if spec.covariance == "two_way" else None
    slices = [(design, design and solve(rows, design.regressors)) for _, rows, design in designs_of(spec, moments, apart=apart)]
    found = [each for each in slices if each[0] is not None]
    if not found:
        return [None] * len(slices)
    clusters = [_clusters(spec, moments, *each) for each in found]
    wild = [[] if spec.wild is None else [_wild(spec, *each, study.prompts, seed)] for each in found]
    takers = [(design, [own, *draws]) for (design, _), own, draws in zip(found, clusters, wild, strict=True)]
    add_prompts(takers, study.row_blocks(spec, moments.factors), len(moments.n))
    tests = [draws[0].tests() if draws else {} for draws in wild]
    del takers, wild
    replicates = [None] * len(found)
    if spec.bootstrap is not None:
        bootstraps = [
            PromptBootstrap(design.layouts, solution, prompts=study.prompts, replicates=spec.bootstrap, seed=seed)
            for design, solution in found
        ]
        takers = [(design, [own]) for (design, _), own in zip(found, bootstraps, strict=True)]
        add_prompts(takers, study.row_blocks(spec, moments.factors), len(moments.n))
        replicates = [each.estimates() if known.prompts > 1 else None for each, known in zip(bootstraps, clusters, strict=True)]
    errors = map(PromptErrors, (solution for _, solution in found), clusters, replicates, tests)
    return [None if design is None else next(errors) for design, _ in slices]


def _clusters(spec: Spec, moments: Moments, design: SliceDesign, solution: Solution) -> Clusters | Jackknife | TwoWay:
    if spec.covariance == "two_way":
        return TwoWay(design.layouts, solution, moments.factors["judge"][design.first])
    return (Jackknife if spec.covariance == "CR3" else Clusters)(design.layouts, solution)


def _wild(spec: Spec, design: SliceDesign, solution: Solution, prompts: int, seed: int) -> WildBootstrap:
    places = [place for place, term in enumerate(design.terms) if term.quantity in BIASES]
    return WildBootstrap(design.layouts, solution, places, prompts=prompts, draws=spec.wild, seed=seed)
