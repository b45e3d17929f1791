"""The terms of each slice of a spec, laid out in design cells: what its fit and its errors by prompt are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.fits.absorption import layout_of
from judgebias.fits.design import Term, distinct_layouts
from judgebias.fits.present_terms import present_terms
from judgebias.fits.prompt_sums import SliceCells
from judgebias.fits.spec import Spec
from judgebias.ratings.moments import Moments


@dataclass(frozen=True)
class SliceDesign(SliceCells):
    """The terms of a slice in its design cells: groups with the same layout of terms, also with none, are one cell."""

    terms: Sequence[Term]
    layouts: np.ndarray  # (cells, w, terms)
    first: np.ndarray  # (cells,) a group of each cell, its place among all groups of the spec

    @property
    def regressors(self) -> np.ndarray:
        """B of the slice's own groups, (own groups, w, terms), as by `layout_of`."""
        return self.layouts[self.cell]


def design_of(spec: Spec, rows: Moments, group: np.ndarray, *, apart: str | None = None) -> SliceDesign | None:
    """Lay out the terms of a spec that some of the rows carry; None if there is none.

    group: (own groups,) places of the groups of `rows` among all of the spec. apart: a factor that is to be one in each cell.
    """
    terms = present_terms(spec, rows.factors) if len(group) else []
    if not terms:
        return None
    layout = layout_of(spec, terms, rows)
    kinds, cell = distinct_layouts(layout, None if apart is None else rows.factors[apart])
    return SliceDesign(group, cell.astype(np.int32), len(kinds), terms, layout[kinds], group[kinds])


def designs_of(spec: Spec, moments: Moments, *, apart: str | None = None) -> Iterator[tuple[str, Moments, SliceDesign | None]]:
    """Yield the label, the rows and the design of each slice of a spec; moments: of the rows of all slices."""
    for label, mask in spec.slices(moments.factors):
        rows = moments.select(mask)
        yield label, rows, design_of(spec, rows, np.flatnonzero(mask), apart=apart)
