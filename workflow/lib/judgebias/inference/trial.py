"""One draw of a simulated world, and what several estimators read of it, computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from judgebias.fits.linear import Solution, solve
from judgebias.fits.prompt_sums import TakesPrompts, sum_by_prompt
from judgebias.fits.slice_design import SliceDesign, design_of
from judgebias.fits.spec import Spec
from judgebias.ratings.completions import blocks_by_judges, moments_by_judges
from judgebias.ratings.moments import Moments
from judgebias.ratings.row_blocks import RowBlock
from judgebias.simulation.validity_world import Drawn

Taker = TypeVar("Taker", bound=TakesPrompts)


@dataclass
class Trial:
    """One draw, the level of the intervals, and what estimators draw with; `kept` is of all draws of a world."""

    drawn: Drawn
    confidence: float
    seed: int  # of estimators that draw
    draws: int  # of each of them
    kept: dict = field(default_factory=dict)
    _found: dict = field(default_factory=dict)

    @property
    def moments(self) -> Moments:
        """Moments of the draw, with the length where there is one."""
        return self.drawn.moments

    def once(self, key: object, compute: Callable):
        """What `compute` returns, computed once for this draw."""
        if key not in self._found:
            self._found[key] = compute()
        return self._found[key]

    def of_world(self, key: object, compute: Callable):
        """What `compute` returns, computed once for all draws of the world: it may not depend on the ratings."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def design(self, spec: Spec) -> SliceDesign:
        """Lay out the terms of a spec."""
        return self.of_world(spec.name, lambda: design_of(spec, self.moments, np.arange(len(self.moments.n))))

    def solution(self, spec: Spec) -> Solution:
        """Solve for the coefficients of a spec."""
        return self.once(("solution", spec.name), lambda: solve(self.moments, self.design(spec).regressors))

    def add_prompts(self, spec: Spec, taker: Taker) -> Taker:
        """Add the sums of the prompts in the cells of a spec to what takes them, and return it."""
        design, block = self.design(spec), self.drawn.block
        found = self.once(("prompt sums", spec.name), lambda: list(sum_by_prompt(block, design.cell, design.cells)))
        for prompts, sums in found:
            taker.add(prompts, sums)
        return taker

    @property
    def judges(self) -> np.ndarray:
        """Names of the judges, (J,), rising."""
        return np.unique(self.drawn.factors["judge"])

    @property
    def by_judges(self) -> Moments:
        """Moments that tell completions apart by the judges that rated them."""
        block = self.drawn.block
        return self.once("by judges", lambda: moments_by_judges([block], self.drawn.factors, covariates=len(block.covariates)))

    def blocks_by_judges(self, factors: Mapping[str, np.ndarray]) -> list[RowBlock]:
        """The rows with their groups numbered as in `factors`, of such moments or some of their groups."""
        return list(blocks_by_judges([self.drawn.block], self.drawn.factors, factors))

    def with_rater_errors(self) -> Trial:
        """The same trial with the error variance that the raters show in the place of the length."""
        kept = self.of_world("with rater errors", dict)
        return self.once("with rater errors", lambda: replace(self, drawn=self.drawn.with_rater_errors(), kept=kept, _found={}))
