"""Group moments: what least squares and its robust errors need to know of the rows, and nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from judgebias.database import connect
from judgebias.ratings.cells import Cells, references_of
from judgebias.ratings.codes import Levels
from judgebias.ratings.row_blocks import RowBlock

ORDER = 4  # highest order of the sums: a fit with HC0 errors needs products of four
RATING, REFERENCE, LENGTH = 1, 2, 3  # places in the vector u = (1, rating, reference, length) of a row


@dataclass(frozen=True)
class Moments:
    """Sums over the rows of each group of all products of four entries of u = (1, rating, reference[, length]).

    Within a group the factors are constant, so a linear fit and its residuals are linear in u; X'X, X'y and the sum of
    x x' e^2 are contractions of this tensor. It is additive over groups and over shards of rows.
    """

    factors: dict[str, np.ndarray]  # each (groups,) of str
    tensor: np.ndarray  # (groups, v, v, v, v), v = 3 or 4

    @property
    def n(self) -> np.ndarray:
        """Rows in each group, (groups,)."""
        return self.tensor[:, 0, 0, 0, 0]

    def select(self, mask: np.ndarray) -> "Moments":
        """Keep the groups where `mask`, (groups,) of bool, is true."""
        return Moments({factor: values[mask] for factor, values in self.factors.items()}, self.tensor[mask])

    def with_rating(self, expected: np.ndarray) -> "Moments":
        """Replace each row's rating by the linear function expected[g] @ (1, reference[, length]) of its group.

        expected: (groups, v - 1). With a world's planted coefficients, a fit of the result is the population value of any spec.
        """
        variables = self.tensor.shape[1]
        change = np.broadcast_to(np.eye(variables), (len(self.tensor), variables, variables)).copy()
        change[:, RATING] = 0.0
        change[:, RATING, [i for i in range(variables) if i != RATING]] = expected
        tensor = np.einsum("gai,gbj,gck,gdl,gijkl->gabcd", *[change] * 4, self.tensor, optimize=True)
        return replace(self, tensor=tensor)


def moments_of_cells(cells: Cells) -> Moments:
    """Sum the cells over (dimension, dataset, judge, model): the moments of (1, rating, reference), from exact counts."""
    unit = cells.ratings_unit
    # (cells, a): sum of rating^a over the rows of a cell; (cells, b): reference^b
    rating_sums = np.stack([(cells.counts * unit**a).sum(axis=1) for a in range(ORDER + 1)], axis=1)
    references = _or_0(cells.reference)[:, None] ** np.arange(ORDER + 1)
    sums = {(a, b): cells.sum_by_group(rating_sums[:, a] * references[:, b]) for a, b in exponents(2)}
    return Moments(cells.factors, tensor_of(sums, variables=3))


def moments_by_cell(cells: Cells) -> Moments:
    """Make a group of each cell, so that the rows of a group have one reference, hence one leverage."""
    factors = {name: cells.factor(name) for name in cells.factors}
    return moments_of_cells(replace(cells, factors=factors, group=np.arange(len(cells.group))))


def moments_of_rows(blocks: Iterable[str], levels: Levels) -> Moments:
    """Sum rows over each group; there may be none. Exact for least squares and its robust errors where x is a covariate.

    blocks: SQL for some of the rows each, the canonical ratings with a column x, the normalised length.
    """
    powers = exponents(3)
    # Rating and reference take few values: products of x alone are summed over rows, the others over what is left.
    sums = ", ".join(f"sum({' * '.join(['x'] * c)}) as s{c}" for c in range(1, ORDER + 1))
    group, total = np.empty(0, dtype=np.int64), np.empty((0, len(powers)))  # of the groups met so far, by their codes
    for rows in blocks:
        query = f"select group_code, reference_code, rating, count(*) as s0, {sums} from ({rows}) group by all"
        found = {key: np.asarray(values) for key, values in connect().execute(query).fetchnumpy().items()}
        low, high = levels.scales(found["group_code"]).T
        unit = [(raw - low) / (high - low) for raw in (found["rating"], references_of(levels, found["reference_code"]))]
        rating, reference = (_or_0(values) ** np.arange(ORDER + 1)[:, None] for values in unit)  # (powers, cells)
        met, at = np.unique(found["group_code"], return_inverse=True)
        group, total = _with_groups(group, total, met.astype(np.int64))
        here = np.searchsorted(group, met)
        for place, (a, b, c) in enumerate(powers):
            total[here, place] += np.bincount(at, rating[a] * reference[b] * found[f"s{c}"], len(met))
    dimension, judge, model, dataset = levels.places(group)
    order = np.lexsort((model, judge, dataset, dimension))
    return Moments(levels.factors(group[order]), tensor_of(dict(zip(powers, total[order].T, strict=True)), variables=4))


def _or_0(values: np.ndarray) -> np.ndarray:
    """0 for a reference that is not known: then none is, and no term is on it."""
    return np.nan_to_num(values)


def moments_of_blocks(blocks: Iterable[RowBlock], factors: Mapping[str, np.ndarray], *, covariates: int) -> Moments:
    """Sum rows over their groups, of which those without rows are left out; there may be none.

    factors: of the groups of the blocks, (groups,) of str each. covariates: how many a row has.
    """
    groups = len(next(iter(factors.values())))
    total = np.zeros((groups, len(exponents(covariates + 1))))
    for block in blocks:
        total += sums_of_rows(block, block.group, groups)
    met = np.flatnonzero(total[:, 0])
    sums = dict(zip(exponents(covariates + 1), total[met].T, strict=True))
    return Moments({name: values[met] for name, values in factors.items()}, tensor_of(sums, variables=covariates + 2))


def sums_of_rows(block: RowBlock, key: np.ndarray, keys: int) -> np.ndarray:
    """Sum the products of rating and covariates, by their `exponents`, over the rows with each key, (keys, products).

    key: (rows,), from 0 to keys - 1.
    """
    values = [block.rating, *block.covariates]
    sums = []
    for powers in exponents(len(values)):
        product = np.ones(len(key))
        for value, power in zip(values, powers, strict=True):
            for _ in range(power):  # a power by multiplication is many times as fast as by pow
                product *= value
        sums.append(np.bincount(key, product, keys))
    return np.stack(sums, axis=1)


def _with_groups(group: np.ndarray, total: np.ndarray, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rising codes of groups and their totals, (groups, sums), with those of `met` too, whose totals are 0 if they are new."""
    every = np.union1d(group, met)
    if len(every) == len(group):
        return group, total
    grown = np.zeros((len(every), total.shape[1]))
    grown[np.searchsorted(every, group)] = total
    return every, grown


def exponents(variables: int) -> list[tuple[int, ...]]:
    """Exponents of every product of `variables` quantities up to order four, e.g. (1, 2, 0): rating * reference^2.

    That of the rows, all 0, is first.
    """
    products = np.ndindex(*(ORDER + 1,) * variables)
    return [powers for powers in products if sum(powers) <= ORDER]


def tensor_of(sums: dict[tuple[int, ...], np.ndarray], *, variables: int) -> np.ndarray:
    """Lay sums keyed by exponents out as the symmetric tensor over u = (1, quantities...)."""
    groups = len(next(iter(sums.values())))
    tensor = np.empty((groups, *(variables,) * ORDER))
    for places in np.ndindex(*(variables,) * ORDER):
        powers = tuple(places.count(quantity) for quantity in range(1, variables))
        tensor[:, *places] = sums[powers]
    return tensor
