"""Sums over the rows of each prompt: what errors clustered by prompt and the bootstrap by prompt need to know of the rows.

Pieces of a study's prompts: what is drawn for prompts is drawn for so many codes at a time, whatever prompts a slice has.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from recuse.data.moments import RowBlock
from recuse.model.least_squares import determined, inverted

ENTRIES = 2**20  # prompts x design cells summed at a time: bounds what is held, whatever the prompts of a block of rows


class TakesPrompts(Protocol):
    """What sums of prompts are for: prompts come a few at a time, each with all its rows."""

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""


@dataclass(frozen=True)
class SliceCells:
    """Cells, which are sets of groups, of one slice: no more than a cell's number is held for each of its groups."""

    group: np.ndarray  # (own groups,) places among all groups of the spec
    cell: np.ndarray  # (own groups,)
    cells: int


def add_prompts(slices: Sequence[tuple[SliceCells, Sequence[TakesPrompts]]], blocks: Iterable[RowBlock], groups: int) -> None:
    """Pass over the rows of a spec once: what takes the prompts of a slice gets their sums in the slice's cells.

    blocks: the rows, of so many groups.
    """
    for block in blocks:
        for own, takers in slices:
            cell = np.full(groups, -1, dtype=np.int32)
            cell[own.group] = own.cell
            for prompts, sums in sum_by_prompt(block, cell, own.cells):
                for taker in takers:
                    taker.add(prompts, sums)


def products(width: int) -> list[tuple[int, int]]:
    """Places in (w, rating) of the factors of each product that is summed, (0, 0), the rows, first; `width` is the rating's."""
    return [(a, b) for a in range(width) for b in range(a, width + 1)]


def sum_by_prompt(block: RowBlock, cell_of_group: np.ndarray, cells: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield codes of prompts, (prompts,), and sums of the `products` over the rows of each in each design cell, (prompts,
    products, cells).

    Cells of a design are sets of groups with the same layout of terms, (w, terms); w numbers the regressors (1, reference[,
    length]). What is linear in a prompt's rows is linear in its sums. Prompts with a row in a cell come some at a time, in
    their order. cell_of_group: (groups,), -1 for groups that are in no cell.
    """
    cell = cell_of_group[block.group]
    kept = slice(None) if cell.size and cell.min() >= 0 else np.flatnonzero(cell >= 0)
    cell = cell[kept].astype(np.int64)
    values = [None, *(covariate[kept] for covariate in block.covariates), block.rating[kept]]  # None: 1 in every row
    prompt = block.prompt[kept].astype(np.int64)
    begins = np.diff(prompt, prepend=-1) > 0
    most = max(1, ENTRIES // max(1, cells))
    bounds = [*np.flatnonzero(begins)[::most], len(cell)]
    for start, end in pairwise(bounds):
        number = np.cumsum(begins[start:end]) - 1
        among = [None if column is None else column[start:end] for column in values]
        sums = _summed(number * cells + cell[start:end], among, int(number[-1]) + 1, cells)
        yield prompt[start:end][begins[start:end]], sums


def _summed(key: np.ndarray, values: Sequence[np.ndarray | None], prompts: int, cells: int) -> np.ndarray:
    """Sum the products of `values` by key = prompt * cells + cell."""
    pairs = products(len(values) - 1)
    sums = np.empty((prompts, len(pairs), cells))
    for place, (a, b) in enumerate(pairs):
        weights = values[b] if a == 0 else values[a] * values[b]
        sums[:, place] = np.bincount(key, weights, minlength=prompts * cells).reshape(prompts, cells)
    return sums


def mapped(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum each prompt's sums with `weights`, (products, cells, quantities): (prompts, quantities)."""
    products, cells, quantities = weights.shape
    return sums.reshape(len(sums), products * cells) @ weights.reshape(products * cells, quantities)


def score_weights(layouts: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """Weights, (products, cells, terms), that make a prompt's score X'(y - X estimate) of its sums.

    layouts: (cells, w, terms).
    """
    width = layouts.shape[1]
    fitted = layouts @ estimate  # (cells, w)
    weights = []
    for a, b in products(width):
        if b == width:
            weights.append(layouts[:, a])
        else:
            weight = -layouts[:, a] * fitted[:, b, None]
            weights.append(weight if a == b else weight - layouts[:, b] * fitted[:, a, None])
    return np.stack(weights)


def gram_weights(layouts: np.ndarray, places: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Weights, (products, cells, entries), that make the entries of a prompt's Gram matrix X'X at `places` of its sums."""
    width, (row, column) = layouts.shape[1], places
    weights = []
    for a, b in products(width):
        if b == width:
            weights.append(np.zeros((len(layouts), len(row))))
        else:
            weight = layouts[:, a][:, row] * layouts[:, b][:, column]
            weights.append(weight if a == b else weight + layouts[:, b][:, row] * layouts[:, a][:, column])
    return np.stack(weights)


def gram_and_score_weights(layouts: np.ndarray, places: tuple[np.ndarray, np.ndarray], estimate: np.ndarray) -> np.ndarray:
    """Weights, (products, cells, entries + terms), that make both of a prompt's sums, the entries of X'X first."""
    return np.concatenate([gram_weights(layouts, places), score_weights(layouts, estimate)], axis=-1)


def gram_places(layouts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries on and above the diagonal of X'X that can differ from 0: of terms that share a cell.

    The diagonal is there as a whole: what absorption leaves of a term may be 0 in all cells.
    """
    used = layouts.any(axis=1)  # (cells, terms)
    return np.nonzero(np.triu(used.T.astype(float) @ used + np.eye(used.shape[1])))


CORNER = 1e300  # above any sum of squares that Cholesky's method takes from it
SINGULAR = 1e-9  # share of a term's variation that the terms before it leave: below it, a replicate is looked at by itself


def shifts_of(totals: np.ndarray, places: tuple[np.ndarray, np.ndarray], null: np.ndarray) -> np.ndarray:
    """Solve each replicate's G shift = s, (replicates, terms); NaN where G does not determine it.

    totals: (replicates, entries + terms), the entries of G at `places`, on and above its diagonal, then s. null: (terms,
    directions) without information in any replicate: filling them up leaves what is determined as it is.
    """
    row, column = places
    entries, scores = np.split(totals, [len(row)], axis=1)
    scale = 1 / np.sqrt(np.where((diagonal := entries[:, row == column]) > 0, diagonal, 1.0))
    terms = scores.shape[1]
    # The scores as one more row: the factor ends with their forward substitution. Cholesky's method reads the lower triangle.
    scaled = np.zeros((len(totals), terms + 1, terms + 1))
    scaled[:, column, row] = entries * scale[:, row] * scale[:, column]
    if null.size:
        scaled[:, :terms, :terms] += null @ null.T
    scaled[:, terms, :terms], scaled[:, terms, terms] = scores * scale, CORNER
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:  # of one replicate at least: numpy does not say which
        if len(totals) == 1:
            return _singular_shift(entries[0], places, scores[0])[None]
        half = len(totals) // 2
        return np.concatenate([shifts_of(totals[part], places, null) for part in (slice(half), slice(half, None))])
    shifts = _back_substituted(factor) * scale
    pivots = np.einsum("rtt->rt", factor)[:, :terms]
    for replicate in np.flatnonzero((pivots**2 <= SINGULAR).any(axis=1)):
        shifts[replicate] = _singular_shift(entries[replicate], places, scores[replicate])
    return shifts


def _back_substituted(factor: np.ndarray) -> np.ndarray:
    """Solve L'x = y of each replicate, (replicates, terms); factor: (replicates, terms + 1, terms + 1), L with y' below."""
    terms = factor.shape[1] - 1
    solved = factor[:, terms, :terms].copy()
    for term in reversed(range(terms)):
        solved[:, term] /= factor[:, term, term]
        solved[:, :term] -= factor[:, term, :term] * solved[:, term, None]
    return solved


def _singular_shift(entries: np.ndarray, places: tuple[np.ndarray, np.ndarray], score: np.ndarray) -> np.ndarray:
    gram = np.zeros((len(score),) * 2)
    gram[places], gram[places[::-1]] = entries, entries
    inverse, null = inverted(gram)
    return np.where(determined(null), inverse @ score, np.nan)


PROMPTS = 1024  # codes of a piece: of it depends what a seed gives, and how many prompts are held


class Pieces:
    """Values of the prompts of a slice, which come a few at a time, rising by code, and are handed on by piece."""

    def __init__(self) -> None:
        """Start without prompts."""
        self._held: list[tuple[np.ndarray, np.ndarray]] = []  # codes and values, all of one piece

    def add(self, prompts: np.ndarray, values: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Take the next prompts, (prompts,) and (prompts, quantities), and yield the pieces that are whole.

        Of each its number, the places in it of the prompts that came, and their values. The last piece is held until `rest`.
        """
        bounds = np.flatnonzero(np.diff(prompts // PROMPTS)) + 1
        for codes, rows in zip(np.split(prompts, bounds), np.split(values, bounds), strict=True):
            if self._held and self._held[0][0][0] // PROMPTS != codes[0] // PROMPTS:
                yield from self.rest()
            self._held.append((codes, rows))

    def rest(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the last piece, of which no more prompts come, if there is one."""
        if self._held:
            codes, values = map(np.concatenate, zip(*self._held, strict=True))
            self._held = []
            piece = int(codes[0]) // PROMPTS
            yield piece, codes - piece * PROMPTS, values


def size_of(piece: int, prompts: int) -> int:
    """Number of codes in a piece, of so many of the study."""
    return min(PROMPTS, prompts - piece * PROMPTS)
