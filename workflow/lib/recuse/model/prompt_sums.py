"""Sums over the rows of each prompt: all that errors and bootstraps by prompt need of the rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recuse.data.cells import Cells
from recuse.data.moments import RowBlock
from recuse.model.least_squares import connected_parts, determined, inverted

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Places = tuple[np.ndarray, np.ndarray]  # rows and columns of entries of a matrix
ENTRIES = 2**20  # prompts x design cells summed at a time: bounds memory


@dataclass(frozen=True)
class SliceCells:
    """The cells of one slice, which are sets of groups."""

    group: np.ndarray  # (own groups,) places among all groups of the spec
    cell: np.ndarray  # (own groups,)
    cells: int


def add_prompts(
    slices: Sequence[tuple[SliceCells, Sequence]], blocks: Iterable[RowBlock], groups: int
) -> None:
    """Pass once over the rows of a spec, of so many groups; each slice's takers `add` the sums of
    prompts in its cells.
    """
    for block in blocks:
        # Small integers are sorted fastest.
        order = np.argsort(block.group.astype(np.min_scalar_type(groups)), kind="stable")
        rows_of_groups = np.split(order, np.bincount(block.group, minlength=groups).cumsum()[:-1])
        for design, takers in slices:
            of_slice = block
            if len(design.group) < groups:
                rows = [rows_of_groups[group] for group in design.group]
                of_slice = block.select(np.sort(np.concatenate(rows)))
            cell = np.full(groups, -1, dtype=np.int32)
            cell[design.group] = design.cell
            for prompts, sums in sum_by_prompt(of_slice, cell, design.cells):
                for taker in takers:
                    taker.add(prompts, sums)


def products(width: int) -> list[tuple[int, int]]:
    """Places in (w, rating) of the factors of each summed product; (0, 0), the rows, is first.
    width: the rating's place.
    """
    return [(a, b) for a in range(width) for b in range(a, width + 1)]


def places_of_sums(width: int) -> list[int]:
    """Places among `products` of the rows and the sums of the rating and of the human score."""
    return [products(width).index(product) for product in ((0, 0), (0, width), (0, 1))]


def sum_by_prompt(
    block: RowBlock, cell_of_group: np.ndarray, cells: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield codes of prompts, (prompts,), and the sums of `products` over their rows in each cell,
    (prompts, products, cells).

    w = (1, reference[, length]). Whatever is linear in a prompt's rows is linear in its sums.
    Prompts with a row in a cell come some at a time, in their order. cell_of_group: (groups,), -1
    for groups in no cell.
    """
    cell = cell_of_group[block.group]
    kept = slice(None) if cell.size and cell.min() >= 0 else np.flatnonzero(cell >= 0)
    cell = cell[kept].astype(np.int64)
    # None: 1 in every row
    values = [None, *(covariate[kept] for covariate in block.covariates), block.rating[kept]]
    prompt = block.prompt[kept].astype(np.int64)
    begins = np.diff(prompt, prepend=-1) > 0
    pairs = products(len(values) - 1)
    most = max(1, ENTRIES // max(1, cells))
    for start, end in pairwise([*np.flatnonzero(begins)[::most], len(cell)]):
        number = np.cumsum(begins[start:end]) - 1
        prompts = int(number[-1]) + 1
        key = number * cells + cell[start:end]
        among = [None if column is None else column[start:end] for column in values]
        sums = np.empty((prompts, len(pairs), cells))
        for place, (a, b) in enumerate(pairs):
            weights = among[b] if a == 0 else among[a] * among[b]
            sums[:, place] = np.bincount(key, weights, minlength=prompts * cells).reshape(
                prompts, cells
            )
        yield prompt[start:end][begins[start:end]], sums


@dataclass(frozen=True)
class RowsOfCells:
    """The rows of one slice with their prompts, for fits whose score of a row follows from its cell
    and its rating.
    """

    cells: Cells
    group: np.ndarray  # (own groups,) places of the groups of `cells` among all groups of the spec
    blocks: Callable[[], Iterable[RowBlock]]

    def squared_scores(
        self, scores: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[np.ndarray, int]:
        """Sum s s' over prompts, (parameters, parameters), with s the sum of the scores of a
        prompt; and the number of prompts.

        scores: sums by prompt, (prompts, parameters), of rows with these places of their prompts,
        cells and ratings.
        """
        place = np.full(self.group.max() + 1, -1)
        place[self.group] = np.arange(len(self.group))
        keys = 2 * self.cells.group + self.cells.reference  # rising
        total, number = 0.0, 0
        for block in self.blocks():
            inside = np.flatnonzero(np.isin(block.group, self.group))
            prompts, prompt = np.unique(block.prompt[inside], return_inverse=True)
            if len(prompts):
                # The nearest, as the reference may be rounded differently.
                key = 2 * place[block.group[inside]] + block.covariates[0][inside]
                cell = np.searchsorted((keys[1:] + keys[:-1]) / 2, key)
                low, high = self.cells.scale[cell].T
                rating = np.rint(low + block.rating[inside] * (high - low))
                sums = scores(prompt, cell, np.searchsorted(self.cells.ratings, rating))
                total, number = total + sums.T @ sums, number + len(prompts)
        return total, number


def mapped(sums: np.ndarray, weights: "np.ndarray | csr_array") -> np.ndarray:
    """Sum each prompt's sums with `weights`, (products x cells, quantities): (prompts,
    quantities).
    """
    return sums.reshape(len(sums), -1) @ weights


def score_weights(layouts: np.ndarray, estimate: np.ndarray) -> "csr_array":
    """Weights, (products x cells, terms), of a prompt's sums in its score X'(y - X estimate);
    layouts: (cells, w, terms).
    """
    carried = sparse_layouts(layouts)
    return _product_weights(-(layouts @ estimate).T[:, :, None], carried, carried)


def _product_weights(
    rows: Sequence, columns: Sequence["csr_array"], rated: Sequence["csr_array"] = ()
) -> "csr_array":
    """Weights, (products x cells, quantities), of a prompt's sums in the sum over its rows of
    (w r)(w c) + (w s) y, with w = (1, reference[, length]) and y the rating of a row.

    rows, columns, rated: r, c and s of each cell, (cells, quantities) for each entry of w; without
    `rated`, s is 0.
    """
    from scipy.sparse import csr_array, vstack

    weights = []
    for a, b in products(len(columns)):
        if b == len(columns):
            weights.append(rated[a] if rated else csr_array(columns[a].shape))
        elif a == b:
            weights.append(columns[a].multiply(rows[a]))
        else:
            weights.append(columns[b].multiply(rows[a]) + columns[a].multiply(rows[b]))
    return vstack(weights, format="csr")


def sparse_layouts(layouts: np.ndarray) -> list["csc_array"]:
    """The coefficients of each entry of w in the regressors, (cells, terms) each."""
    from scipy.sparse import csc_array

    return [csc_array(layouts[:, a]) for a in range(layouts.shape[1])]


def image_weights(
    layouts: np.ndarray, directions: np.ndarray, kept: np.ndarray
) -> list["csr_array"]:
    """Weights, (products x cells, kept terms), of a prompt's sums in X'X d of each direction d.

    directions: (n, terms); kept: (n, terms) of bool, of X'X d.
    """
    carried, images = sparse_layouts(layouts), []
    for direction, terms in zip(directions, kept, strict=True):
        along = (layouts @ direction)[:, :, None].swapaxes(0, 1)  # (w, cells, 1)
        images.append(_product_weights(along, [of[:, np.flatnonzero(terms)] for of in carried]))
    return images


def gram_and_score_weights(
    layouts: np.ndarray, places: Places, estimate: np.ndarray
) -> "csr_array":
    """Weights, (products x cells, entries + terms), of a prompt's sums in the entries of its X'X at
    `places`, then its score.
    """
    from scipy.sparse import hstack

    rows, columns = ([of[:, terms] for of in sparse_layouts(layouts)] for terms in places)
    scores = score_weights(layouts, estimate)
    return hstack([_product_weights(rows, columns), scores], format="csr")


def image_of_entries(places: Places, direction: np.ndarray) -> "csr_array":
    """Weights, (entries, terms), of the entries of a symmetric matrix at `places`, on and above its
    diagonal, in its product with a direction, (terms,).
    """
    from scipy.sparse import csr_array

    row, column = places
    values = np.stack([direction[column], np.where(row == column, 0.0, direction[row])])
    entries = np.tile(np.arange(len(row)), 2), np.concatenate(places)
    return csr_array((values.ravel(), entries), shape=(len(row), len(direction)))


def square_weights(layouts: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Weights, (products x cells, directions), of a prompt's sums in its sum of (x d)^2 over rows;
    d: (terms, directions).
    """
    width, along = layouts.shape[1], layouts @ directions  # (cells, w, directions)
    weights = []
    for a, b in products(width):
        factor = 0.0 if b == width else 1.0 if a == b else 2.0
        weights.append(factor * along[:, a] * along[:, min(b, width - 1)])
    return np.concatenate(weights)


def gram_places(layouts: np.ndarray) -> Places:
    """Rows and columns of the entries of X'X that can differ from 0, of terms that share a cell,
    and of the whole diagonal.
    """
    from scipy.sparse import csr_array

    # (cells, terms); with fixed effects, a term may be 0 in all cells
    used = csr_array(layouts.any(axis=1).astype(float))
    return np.nonzero(np.triu((used.T @ used).toarray() + np.eye(used.shape[1])))


def joined_blocks(places: Places, terms: int) -> np.ndarray:
    """Number of the block of X'X of each term, (terms,); between blocks X'X and its inverse are
    0.
    """
    joined = np.zeros((terms, terms), dtype=bool)
    joined[places] = True
    return connected_parts(joined)


CORNER = 1e300  # above any sum of squares that Cholesky's method takes from it
# Share of a term's variation that the terms before it leave: below it, a replicate is solved by
# itself
SINGULAR = 1e-9
NOTHING = 1e-12  # A smaller part of a term in a direction without information is rounding.


def unlinked_terms(joined: np.ndarray) -> np.ndarray:
    """Terms of which no two are joined, such as the effects of dimensions, (terms,) of bool: found
    one by one, those joined to fewest first; joined: (terms, terms) of bool.
    """
    joined = joined & ~np.eye(len(joined), dtype=bool)
    unlinked = np.zeros(len(joined), dtype=bool)
    for term in np.argsort(joined.sum(axis=0), kind="stable"):
        unlinked[term] = not (joined[term] & unlinked).any()
    return unlinked


def solved_shifts(totals: np.ndarray, places: Places, null: np.ndarray) -> np.ndarray:
    """Solve each replicate's G shift = s, (replicates, terms); NaN where G does not determine it.

    totals: (replicates, entries + terms), the entries of G at `places`, on and above its diagonal,
    then s. null: (terms, directions) without information in any replicate, which are filled up.
    Blocks of terms are solved by themselves.
    """
    row = places[0]
    entries, scores = np.split(totals, [len(row)], axis=1)
    block, shifts = joined_blocks(places, scores.shape[1]), np.empty_like(scores)
    for number in np.unique(block):
        terms, among = np.flatnonzero(block == number), block[row] == number
        inside = tuple(np.searchsorted(terms, of[among]) for of in places)
        shifts[:, terms] = _solved_block(entries[:, among], scores[:, terms], inside, null[terms])
    return shifts


def _solved_block(
    entries: np.ndarray, scores: np.ndarray, places: Places, null: np.ndarray
) -> np.ndarray:
    """Solve one block of terms. Those of which G joins no two are eliminated first, so that many of
    them, as of dimensions, take time in proportion.
    """
    row, column = places
    diagonal = entries[:, row == column]
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    filled = null @ null.T
    filled[np.abs(filled) < NOTHING] = 0.0
    joined = filled != 0
    joined[places], joined[places[::-1]] = True, True
    unlinked = unlinked_terms(joined)
    first, rest = np.flatnonzero(unlinked), np.flatnonzero(~unlinked)
    place = np.where(unlinked, np.cumsum(unlinked), np.cumsum(~unlinked)) - 1
    values = entries * scale[:, row] * scale[:, column]
    pivots = values[:, (row == column) & unlinked[row]] + filled.diagonal()[first]
    is_singular = (pivots <= SINGULAR).any(axis=1)
    pivots = np.where(pivots <= SINGULAR, 1.0, pivots)
    # The scores are one more column.
    edges = np.zeros((len(scores), len(first), len(rest) + 1))
    edges[:, :, :-1], edges[:, :, -1] = filled[first][:, rest], (scores * scale)[:, first]
    for one, other in (places, places[::-1]):
        among = unlinked[one] & ~unlinked[other]
        edges[:, place[one[among]], place[other[among]]] += values[:, among]
    # With the scores as one more row, Cholesky's factor L ends with y of L y = s. Only the lower
    # triangle is read.
    terms = len(rest)
    scaled = np.zeros((len(scores), terms + 1, terms + 1))
    among = ~unlinked[row] & ~unlinked[column]
    scaled[:, place[column[among]], place[row[among]]] = values[:, among]
    scaled[:, :terms, :terms] += filled[rest][:, rest]
    scaled[:, terms, :terms], scaled[:, terms, terms] = (scores * scale)[:, rest], CORNER
    scaled -= (edges / pivots[:, :, None]).swapaxes(1, 2) @ edges
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:  # numpy does not say of which replicate
        if len(scores) == 1:
            return _singular_shift(entries[0], places, scores[0])[None]
        halves = zip(np.array_split(entries, 2), np.array_split(scores, 2), strict=True)
        return np.concatenate([_solved_block(*half, places, null) for half in halves])
    solved = factor[:, terms, :terms].copy()
    for term in reversed(range(terms)):  # L'x = y
        solved[:, term] /= factor[:, term, term]
        solved[:, :term] -= factor[:, term, :term] * solved[:, term, None]
    shifts = np.empty_like(scores)
    left = edges[:, :, -1] - (edges[:, :, :-1] @ solved[:, :, None])[:, :, 0]
    shifts[:, rest], shifts[:, first] = solved, left / pivots
    shifts *= scale
    is_singular |= (np.einsum("rtt->rt", factor)[:, :terms] ** 2 <= SINGULAR).any(axis=1)
    for replicate in np.flatnonzero(is_singular):
        shifts[replicate] = _singular_shift(entries[replicate], places, scores[replicate])
    return shifts


def _singular_shift(entries: np.ndarray, places: Places, score: np.ndarray) -> np.ndarray:
    gram = np.zeros((len(score),) * 2)
    gram[places], gram[places[::-1]] = entries, entries
    inverse, null = inverted(gram)
    return np.where(determined(null), inverse @ score, np.nan)
