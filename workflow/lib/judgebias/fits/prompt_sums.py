"""Sums over the rows of each prompt: what errors clustered by prompt and the bootstrap by prompt need to know of the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.ratings.row_blocks import RowBlock

ENTRIES = 2**20  # prompts x design cells summed at a time: bounds what is held, whatever the prompts of a block of rows


@dataclass(frozen=True)
class PromptSums:
    """Sums over the rows of each prompt in each design cell of the products that least squares is made of.

    A design cell is a set of groups with the same layout of terms, (w, terms); w numbers the regressors (1, reference[,
    length]). Additive over rows, hence over shards, by `merge`. What is linear in a prompt's rows is linear in its sums.
    """

    prompt: np.ndarray  # (prompts,) rising: codes, or ids where shards are merged
    sums: np.ndarray  # (prompts, products, cells), the products in the order of `products`

    def select(self, layouts: np.ndarray) -> "PromptSums":
        """Keep the cells with terms in `layouts`, (cells, w, terms), and the prompts with rows in these."""
        cells = layouts.any(axis=(1, 2))
        sums = self.sums if cells.all() else np.take(self.sums, np.flatnonzero(cells), axis=2)
        return _with_rows(self.prompt, sums)

    def mapped(self, weights: np.ndarray) -> np.ndarray:
        """Sum each prompt's sums with `weights`, (products, cells, quantities): (prompts, quantities)."""
        products, cells, quantities = weights.shape
        return self.sums.reshape(len(self.sums), products * cells) @ weights.reshape(products * cells, quantities)


def products(width: int) -> list[tuple[int, int]]:
    """Places in (w, rating) of the factors of each product that is summed, (0, 0), the rows, first; `width` is the rating's."""
    return [(a, b) for a in range(width) for b in range(a, width + 1)]


def sum_by_prompt(block: RowBlock, cell_of_group: np.ndarray, cells: int) -> Iterator[PromptSums]:
    """Sum the rows of a block, some prompts at a time. cell_of_group: (groups,), -1 for groups that are in no cell."""
    cell = np.append(cell_of_group, -1)[block.group]  # the group of a row may be none of the fit's, -1
    kept = slice(None) if cell.size and cell.min() >= 0 else np.flatnonzero(cell >= 0)
    prompt, cell = block.prompt[kept].astype(np.int64), cell[kept]
    values = [None, *(covariate[kept] for covariate in block.covariates), block.rating[kept]]  # None: 1 in every row
    most = max(1, ENTRIES // cells)
    start = 0
    while start < len(prompt):
        first = prompt[start]
        end = start + np.searchsorted(prompt[start:], first + most)
        key = (prompt[start:end] - first) * cells + cell[start:end]
        among = [None if column is None else column[start:end] for column in values]
        yield _summed(key, among, first, int(prompt[end - 1] - first) + 1, cells)
        start = end


def _summed(key: np.ndarray, values: Sequence[np.ndarray | None], first: int, prompts: int, cells: int) -> PromptSums:
    """Sum the products of `values` by key = (prompt - first) * cells + cell."""
    pairs = products(len(values) - 1)
    sums = np.empty((prompts, len(pairs), cells))
    for place, (a, b) in enumerate(pairs):
        weights = values[b] if a == 0 else values[a] * values[b]
        sums[:, place] = np.bincount(key, weights, minlength=prompts * cells).reshape(prompts, cells)
    return _with_rows(np.arange(first, first + prompts), sums)


def _with_rows(prompt: np.ndarray, sums: np.ndarray) -> PromptSums:
    """The sums of those prompts that have rows."""
    rows = sums[:, 0].any(axis=1)
    return PromptSums(prompt, sums) if rows.all() else PromptSums(prompt[rows], sums[rows])


def merge(shards: Sequence[PromptSums]) -> PromptSums:
    """Add up the sums of shards of rows in the same cells: a prompt, known by its id, may have rows in several of them."""
    prompt, place = np.unique(np.concatenate([shard.prompt for shard in shards]), return_inverse=True)
    sums = np.zeros((len(prompt), *shards[0].sums.shape[1:]))
    for shard, own in zip(shards, np.split(place, np.cumsum([len(shard.prompt) for shard in shards])[:-1]), strict=True):
        sums[own] += shard.sums  # no prompt stands twice in a shard
    return PromptSums(prompt, sums)


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


def gram_places(layouts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries on and above the diagonal of X'X that can differ from 0: of terms that share a cell."""
    used = layouts.any(axis=1)  # (cells, terms)
    return np.nonzero(np.triu(used.T.astype(float) @ used))
