"""The design of a slice: its terms laid out as the regressors of each group of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recuse.data.moments import Moments, completions_of
from recuse.model.prompt_sums import SliceCells
from recuse.model.spec import Spec
from recuse.model.terms import Term, estimable_terms


def layout_of(spec: Spec, terms: list[Term], rows: Moments) -> np.ndarray:
    """Lay the terms out as B, (groups, v - 1, terms), as design.regressors_of; with `absorb`, less the means of completions.

    A row's regressors are then x - mean of x over the rows of its completion, M X of all: with A = (X'MX)^-1, the coefficients
    are A X'My, as with a dummy for each completion, and the score of a prompt is X'M(y - X b) over its rows, since each
    completion is of one prompt. Errors CR1 do not count the completions among the regressors: they are nested in the clusters.
    `rows` are then moments that tell apart which judges rated a completion, with one group for each of them.
    Source: Frisch, Waugh and Lovell; Cameron and Miller (2015), section III.B, on effects nested in clusters.
    """
    layout = regressors_of(terms, len(rows.n), rows.tensor.shape[1] - 1)
    if spec.selection.absorb is None or not terms:
        return layout
    kind = completions_of(rows.factors)
    means = np.zeros((kind.max(initial=-1) + 1, *layout.shape[1:]))
    np.add.at(means, kind, layout)
    return layout - (means / np.bincount(kind)[:, None, None])[kind]


def regressors_of(terms: list[Term], groups: int, width: int) -> np.ndarray:
    """Lay the terms out as B, (groups, width, terms): a row's regressors are (1, reference[, length]) @ B[group]."""
    layout = np.zeros((groups, width, len(terms)))
    for place, term in enumerate(terms):
        layout[term.carried, term.regressor, place] = 1.0
    return layout


def distinct_layouts(layout: np.ndarray, factor: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Number the kinds of groups, of one entry of B each: the first group of each kind, (kinds,), and the kind of each group.

    They are told apart by their bytes; where all are 0 or 1, by bytes of bits, which sort faster. factor: (groups,) of str,
    where it is to be one in each kind, too.
    """
    flat = np.ascontiguousarray(layout.reshape(len(layout), -1)) + 0.0  # of the two zeros, one
    binary = ((flat == 0) | (flat == 1)).all()
    keys = np.packbits(flat != 0, axis=1) if binary else flat.view(np.uint8)
    _, first, kind = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True)
    if factor is not None:
        levels, level = np.unique(factor, return_inverse=True)
        _, first, kind = np.unique(kind * len(levels) + level, return_index=True, return_inverse=True)
    return first, kind


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
    terms = estimable_terms(spec, rows.factors) if len(group) else []
    if not terms:
        return None
    layout = layout_of(spec, terms, rows)
    kinds, cell = distinct_layouts(layout, None if apart is None else rows.factors[apart])
    return SliceDesign(group, cell.astype(np.int32), len(kinds), terms, layout[kinds], group[kinds])


def designs_of(spec: Spec, moments: Moments, *, apart: str | None = None) -> Iterator[tuple[str, Moments, SliceDesign | None]]:
    """Yield the label, the rows and the design of each slice of a spec; moments: of the rows of all slices."""
    for label, mask in spec.selection.slices(moments.factors):
        rows = moments.select(mask)
        yield label, rows, design_of(spec, rows, np.flatnonzero(mask), apart=apart)
