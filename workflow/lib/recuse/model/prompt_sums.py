"""Sums over the rows of each prompt: all that errors and bootstraps by prompt need of the rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recuse.data.cells import Cells
from recuse.data.moments import RowBlock
from recuse.model.least_squares import determined, inverted

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
        for design, takers in slices:
            cell = np.full(groups, -1, dtype=np.int32)
            cell[design.group] = design.cell
            for prompts, sums in sum_by_prompt(block, cell, design.cells):
                for taker in takers:
                    taker.add(prompts, sums)


def products(width: int) -> list[tuple[int, int]]:
    """Places in (w, rating) of the factors of each summed product; (0, 0), the rows, is first.
    width: the rating's place.
    """
    return [(a, b) for a in range(width) for b in range(a, width + 1)]


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


def mapped(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum each prompt's sums with `weights`, (products, cells, quantities): (prompts,
    quantities).
    """
    products, cells, quantities = weights.shape
    return sums.reshape(len(sums), products * cells) @ weights.reshape(products * cells, quantities)


def score_weights(layouts: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """Weights, (products, cells, terms), of a prompt's sums in its score X'(y - X estimate);
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


def gram_and_score_weights(
    layouts: np.ndarray, places: tuple[np.ndarray, np.ndarray], estimate: np.ndarray
) -> np.ndarray:
    """Weights, (products, cells, entries + terms), of a prompt's sums in the entries of its X'X at
    `places`, then its score.
    """
    width, (row, column) = layouts.shape[1], places
    weights = []
    for a, b in products(width):
        if b == width:
            weights.append(np.zeros((len(layouts), len(row))))
        else:
            weight = layouts[:, a][:, row] * layouts[:, b][:, column]
            weights.append(
                weight if a == b else weight + layouts[:, b][:, row] * layouts[:, a][:, column]
            )
    return np.concatenate([np.stack(weights), score_weights(layouts, estimate)], axis=-1)


def square_weights(layouts: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Weights, (products, cells, directions), of a prompt's sums in its sum of (x d)^2 over rows;
    d: (terms, directions).
    """
    width, along = layouts.shape[1], layouts @ directions  # (cells, w, directions)
    weights = []
    for a, b in products(width):
        factor = 0.0 if b == width else 1.0 if a == b else 2.0
        weights.append(factor * along[:, a] * along[:, min(b, width - 1)])
    return np.stack(weights)


def gram_places(layouts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of X'X that can differ from 0, of terms that share a cell,
    and of the whole diagonal.
    """
    used = layouts.any(axis=1)  # (cells, terms); with fixed effects, a term may be 0 in all cells
    return np.nonzero(np.triu(used.T.astype(float) @ used + np.eye(used.shape[1])))


def joined_blocks(places: tuple[np.ndarray, np.ndarray], terms: int) -> np.ndarray:
    """Number of the block of X'X of each term, (terms,), its first term; between blocks X'X and its
    inverse are 0.
    """
    block = np.arange(terms)
    while True:
        lowest = block.copy()
        for one, other in (places, places[::-1]):
            np.minimum.at(lowest, one, block[other])
        if (lowest == block).all():
            return block
        block = lowest


CORNER = 1e300  # above any sum of squares that Cholesky's method takes from it
# Share of a term's variation that the terms before it leave: below it, a replicate is solved by
# itself
SINGULAR = 1e-9


def shifts_of(
    totals: np.ndarray, places: tuple[np.ndarray, np.ndarray], null: np.ndarray
) -> np.ndarray:
    """Solve each replicate's G shift = s, (replicates, terms); NaN where G does not determine it.

    totals: (replicates, entries + terms), the entries of G at `places`, on and above its diagonal,
    then s. null: (terms, directions) without information in any replicate, which are filled up.
    Blocks of terms are solved by themselves.
    """
    row, column = places
    entries, scores = np.split(totals, [len(row)], axis=1)
    block = joined_blocks(places, scores.shape[1])
    if block.any():
        shifts = np.empty_like(scores)
        for number in np.unique(block):
            terms, among = np.flatnonzero(block == number), block[row] == number
            inside = tuple(np.searchsorted(terms, of[among]) for of in places)
            shifts[:, terms] = shifts_of(
                np.concatenate([entries[:, among], scores[:, terms]], axis=1), inside, null[terms]
            )
        return shifts
    scale = 1 / np.sqrt(np.where((diagonal := entries[:, row == column]) > 0, diagonal, 1.0))
    terms = scores.shape[1]
    # With the scores as one more row, Cholesky's factor L ends with y of L y = s. Only the lower
    # triangle is read.
    scaled = np.zeros((len(totals), terms + 1, terms + 1))
    scaled[:, column, row] = entries * scale[:, row] * scale[:, column]
    if null.size:
        scaled[:, :terms, :terms] += null @ null.T
    scaled[:, terms, :terms], scaled[:, terms, terms] = scores * scale, CORNER
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:  # numpy does not say of which replicate
        if len(totals) == 1:
            return _singular_shift(entries[0], places, scores[0])[None]
        half = len(totals) // 2
        return np.concatenate(
            [shifts_of(totals[part], places, null) for part in (slice(half), slice(half, None))]
        )
    solved = factor[:, terms, :terms].copy()
    for term in reversed(range(terms)):  # L'x = y
        solved[:, term] /= factor[:, term, term]
        solved[:, :term] -= factor[:, term, :term] * solved[:, term, None]
    shifts = solved * scale
    pivots = np.einsum("rtt->rt", factor)[:, :terms]
    for replicate in np.flatnonzero((pivots**2 <= SINGULAR).any(axis=1)):
        shifts[replicate] = _singular_shift(entries[replicate], places, scores[replicate])
    return shifts


def _singular_shift(
    entries: np.ndarray, places: tuple[np.ndarray, np.ndarray], score: np.ndarray
) -> np.ndarray:
    gram = np.zeros((len(score),) * 2)
    gram[places], gram[places[::-1]] = entries, entries
    inverse, null = inverted(gram)
    return np.where(determined(null), inverse @ score, np.nan)
