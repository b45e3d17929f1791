"""Group moments, the sums over rows that least squares and its robust errors need; for errors by
prompt, blocks of rows.

To absorb the effects of completions, groups are split by the judges that rated a completion. The
covariates of a row, reference and length, are the completion's: among completions that the same
judges rated, the mean of a regressor over the rows of each is one linear function of these.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from recuse.base.database import connect, literal_path
from recuse.base.log import steps
from recuse.data.cells import Cells, Factors, Levels, read_levels
from recuse.data.selection import REFERENCE_FAMILY

ROWS = 1_000_000  # of a block, if no prompt has more
HELD = 2 * ROWS  # of all blocks, that are kept for the next pass


@dataclass(frozen=True)
class PromptRange:
    """Consecutive prompts of one file of ratings, by their codes."""

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class RowBlock:
    """All rows of some prompts. On the unit scale, (rows,) each."""

    prompt: np.ndarray  # code, rising
    group: np.ndarray  # place of the row's group among those of the fit
    rating: np.ndarray
    covariates: Sequence[np.ndarray]  # reference[, length]
    # Which of the model's answers to the prompt it is about; None: each gave one
    occasion: np.ndarray | None = None

    def select(self, rows: np.ndarray) -> "RowBlock":
        """The rows at these places."""
        covariates = [values[rows] for values in self.covariates]
        occasion = None if self.occasion is None else self.occasion[rows]
        return RowBlock(
            self.prompt[rows], self.group[rows], self.rating[rows], covariates, occasion
        )


def row_blocks(
    ratings: Sequence[str],
    rows_in: Callable[[PromptRange], str],
    factors: Factors,
    *,
    by: Sequence[str] = (),
) -> Iterator[RowBlock]:
    """Yield the rows of the canonical ratings (parquet files, sorted by prompt) in blocks; the next
    is read while one is used.

    rows_in: SQL for the rows of some prompts, rising by prompt, with the columns prompt,
    group_code, level, occasion_code, rating and the covariates; `level` is the place in `by` of the
    level of a further factor, 0 without one.
    factors: of the groups of the fit, all that the rows have, (groups,) of str each; a further
    factor is the first of them.
    """
    levels = read_levels(ratings[0])
    code = levels.group_codes(factors)
    if by:
        code = (
            code
            + np.searchsorted(np.array(by, dtype=str), next(iter(factors.values()))) * levels.groups
        )
    order = np.argsort(code)
    code = code[order]
    connection = connect()
    # Reading the footer takes longer than reading a block
    connection.execute("set parquet_metadata_cache = true")

    def read(span: PromptRange) -> RowBlock:
        columns = connection.execute(rows_in(span)).fetchnumpy().values()
        prompt, group, level, occasion, rating, *covariates = map(np.asarray, columns)
        place = order[np.searchsorted(code, level.astype(np.int64) * levels.groups + group)]
        return RowBlock(prompt, place, rating, covariates, occasion)

    with ThreadPoolExecutor(1) as reader:
        pending = None
        # A row has about as many references as there are levels
        spans = list(prompt_ranges(ratings, ROWS // max(1, len(by))))
        for span in steps(spans, "reading ratings", unit="blocks"):
            previous, pending = pending, reader.submit(read, span)
            if previous is not None:
                yield previous.result()
        if pending is not None:
            yield pending.result()


class Blocks:
    """Blocks of rows to pass over several times: HELD rows or fewer are kept, more are read
    again.
    """

    def __init__(self, read: Callable[[], Iterable[RowBlock]]) -> None:
        """read: begins a pass over the blocks."""
        self._read, self._kept = read, None

    def __iter__(self) -> Iterator[RowBlock]:
        """Yield the blocks."""
        if self._kept is not None:
            yield from self._kept
            return
        kept, rows = [], 0
        for block in self._read():
            rows += len(block.prompt)
            kept = [*kept, block] if rows <= HELD else []
            yield block
        if rows <= HELD:
            self._kept = kept


def prompt_ranges(ratings: Sequence[str], rows: int = ROWS) -> Iterator[PromptRange]:
    """Yield the prompts of each block, from the row groups in the footers; no block is of two
    files.
    """
    footer = """
        select row_group_num_rows, stats_min_value::bigint, stats_max_value::bigint from parquet_metadata({})
        where path_in_schema = 'prompt' order by row_group_id"""
    for path in ratings:
        first, last, size = None, -1, 0
        for count, lowest, highest in (
            connect().execute(footer.format(literal_path(path))).fetchall()
        ):
            if highest == last and not size:
                continue  # all of one prompt, the last of the block before
            first = max(lowest, last + 1) if not size else first
            last, size = highest, size + count
            if size >= rows:
                yield PromptRange(path, first, last)
                size = 0
        if size:
            yield PromptRange(path, first, last)


ORDER = 4  # highest order of the sums: a fit with HC0 errors needs products of four
# Places in the vector u = (1, rating, reference, length) of a row
RATING, REFERENCE, LENGTH = 1, 2, 3


@dataclass(frozen=True)
class Moments:
    """Sums over the rows of each group of all products of four entries of u = (1, rating,
    reference[, length]).

    Within a group the factors are constant, so a linear fit and its residuals are linear in u; X'X,
    X'y and the sum of x x' e^2 are contractions of this tensor. It is additive over groups and
    shards.
    """

    factors: dict[str, np.ndarray]  # each (groups,) of str
    tensor: np.ndarray  # (groups, v, v, v, v), v = 3 or 4

    @property
    def n(self) -> np.ndarray:
        """Rows in each group, (groups,)."""
        return self.tensor[:, 0, 0, 0, 0]

    @property
    def regressors(self) -> list[int]:
        """Places in u of w = (1, reference[, length]), all but the rating."""
        return [place for place in range(self.tensor.shape[1]) if place != RATING]

    @property
    def regressor_sums(self) -> np.ndarray:
        """Sums of w w' over the rows of each group, (groups, v - 1, v - 1)."""
        return self.tensor[:, 0, 0][:, self.regressors][:, :, self.regressors]

    def reference_sums(self, code: np.ndarray) -> tuple[np.ndarray, ...]:
        """Rows, and sums of the reference and its square, by the code of each group, (codes,)
        each; code: (groups,).
        """
        sums = self.tensor[:, 0, 0]
        parts = (sums[:, 0, 0], sums[:, 0, REFERENCE], sums[:, REFERENCE, REFERENCE])
        return tuple(np.bincount(code, part) for part in parts)

    def select(self, mask: np.ndarray) -> "Moments":
        """Keep the groups where `mask`, (groups,) of bool, is true."""
        return Moments(
            {factor: values[mask] for factor, values in self.factors.items()}, self.tensor[mask]
        )

    def with_rating(self, expected: np.ndarray) -> "Moments":
        """Replace each row's rating by the linear function expected[g] @ (1, reference[, length])
        of its group.

        expected: (groups, v - 1). With a world's planted coefficients, a fit of the result is any
        spec's population value.
        """
        variables = self.tensor.shape[1]
        change = np.broadcast_to(np.eye(variables), (len(self.tensor), variables, variables)).copy()
        change[:, RATING] = 0.0
        change[:, RATING, self.regressors] = expected
        tensor = np.einsum(
            "gai,gbj,gck,gdl,gijkl->gabcd", *[change] * 4, self.tensor, optimize=True
        )
        return replace(self, tensor=tensor)


def moments_of_cells(cells: Cells, *, by_cell: bool = False) -> Moments:
    """Sum the cells over (dimension, dataset, judge, model): the moments of (1, rating, reference),
    from exact counts.

    by_cell: a group for each cell, so that the rows of a group have one reference, hence one
    leverage. Missing references count as 0: then all are missing, and no term uses them.
    """
    if by_cell:
        factors = {name: cells.factor(name) for name in cells.factors}
        cells = replace(cells, factors=factors, group=np.arange(len(cells.group)))
    unit = cells.ratings_unit
    # (cells, a): sum of rating^a over the rows of a cell; (cells, b): reference^b
    rating_sums = np.stack([(cells.counts * unit**a).sum(axis=1) for a in range(ORDER + 1)], axis=1)
    references = np.nan_to_num(cells.reference)[:, None] ** np.arange(ORDER + 1)
    sums = {
        (a, b): cells.sum_by_group(rating_sums[:, a] * references[:, b]) for a, b in exponents(2)
    }
    return Moments(cells.factors, symmetric_tensor(sums, variables=3))


def moments_of_rows(blocks: Iterable[str], levels: Levels) -> Moments:
    """Sum rows over each group; there may be none. Exact for least squares and its robust errors
    with the covariate x.

    blocks: SQL for some of the rows each, the canonical ratings with a column x, the normalised
    length.
    """
    powers = exponents(3)
    # Rating and reference take few values: products of x alone are summed over rows, the others
    # over the cells of these sums.
    sums = ", ".join(f"sum({' * '.join(['x'] * c)}) as s{c}" for c in range(1, ORDER + 1))
    # Of the groups so far, by their codes
    group, total = np.empty(0, dtype=np.int64), np.empty((0, len(powers)))
    for rows in blocks:
        query = (
            f"select group_code, reference_code, rating, count(*) as s0, {sums} from ({rows}) group"
            " by all"
        )
        cells = connect().execute(query).fetchnumpy()
        low, high = levels.scales(cells["group_code"]).T
        unit = [
            (raw - low) / (high - low)
            for raw in (cells["rating"], levels.references(cells["reference_code"]))
        ]
        # (powers, cells)
        rating, reference = (
            np.nan_to_num(values) ** np.arange(ORDER + 1)[:, None] for values in unit
        )
        codes, cell_code = np.unique(cells["group_code"].astype(np.int64), return_inverse=True)
        united = np.union1d(group, codes)
        grown = np.zeros((len(united), len(powers)))
        grown[np.searchsorted(united, group)] = total
        group, total = united, grown
        places = np.searchsorted(group, codes)
        for place, (a, b, c) in enumerate(powers):
            total[places, place] += np.bincount(
                cell_code, rating[a] * reference[b] * cells[f"s{c}"], len(codes)
            )
    dimension, judge, model, dataset = levels.places(group)
    order = np.lexsort((model, judge, dataset, dimension))
    return Moments(
        levels.factors(group[order]),
        symmetric_tensor(dict(zip(powers, total[order].T, strict=True)), variables=4),
    )


def moments_of_blocks(blocks: Iterable[RowBlock], factors: Factors, *, covariates: int) -> Moments:
    """Sum rows over their groups, without empty groups; there may be none.

    factors: of the groups of the blocks, (groups,) of str each. covariates: how many a row has.
    """
    groups = len(next(iter(factors.values())))
    total = np.zeros((groups, len(exponents(covariates + 1))))
    for block in blocks:
        total += sums_of_rows(block, block.group, groups)
    filled = np.flatnonzero(total[:, 0])
    sums = dict(zip(exponents(covariates + 1), total[filled].T, strict=True))
    return Moments(
        {name: values[filled] for name, values in factors.items()},
        symmetric_tensor(sums, variables=covariates + 2),
    )


def sums_of_rows(block: RowBlock, key: np.ndarray, keys: int) -> np.ndarray:
    """Sum the products of rating and covariates, by their `exponents`, over the rows with each key,
    (keys, products).

    key: (rows,), from 0 to keys - 1.
    """
    values = [block.rating, *block.covariates]
    sums = []
    for powers in exponents(len(values)):
        product = np.ones(len(key))
        for value, power in zip(values, powers, strict=True):
            for _ in range(power):  # many times as fast as pow
                product *= value
        sums.append(np.bincount(key, product, keys))
    return np.stack(sums, axis=1)


def exponents(variables: int) -> list[tuple[int, ...]]:
    """Exponents of every product of `variables` quantities up to order four, e.g. (1, 2, 0): rating
    * reference^2; 0s first.
    """
    return [powers for powers in np.ndindex(*(ORDER + 1,) * variables) if sum(powers) <= ORDER]


def symmetric_tensor(sums: dict[tuple[int, ...], np.ndarray], *, variables: int) -> np.ndarray:
    """Lay sums keyed by exponents out as the symmetric tensor over u = (1, quantities...)."""
    groups = len(next(iter(sums.values())))
    tensor = np.empty((groups, *(variables,) * ORDER))
    for places in np.ndindex(*(variables,) * ORDER):
        powers = tuple(places.count(quantity) for quantity in range(1, variables))
        tensor[:, *places] = sums[powers]
    return tensor


# The factor: 1 for each judge that rated the completion and 0 for each other one, by alphabet
JUDGED_BY = "judged_by"
WORD = 52  # judges whose bits a double holds exactly


def number_completions(factors: Factors) -> np.ndarray:
    """Number the kinds of completions of groups of rows, (groups,): groups of one kind differ only
    in the judge.

    A completion is identified by dataset, prompt, occasion, model, dimension and, if there are
    several, the reference.
    """
    names = [
        "dimension",
        "dataset",
        "model",
        *(name for name in (REFERENCE_FAMILY, JUDGED_BY) if name in factors),
    ]
    codes = np.stack([np.unique(factors[name], return_inverse=True)[1] for name in names], axis=1)
    return np.unique(codes, axis=0, return_inverse=True)[1]


def moments_by_judges(blocks: Iterable[RowBlock], factors: Factors, *, covariates: int) -> Moments:
    """Sum the rows over their groups, split by the judges that rated the completion; there may be
    none.

    blocks: rows of whole prompts. factors: of their groups, (groups,) of str each. covariates: how
    many a row has.
    """
    groups, powers = len(factors["judge"]), exponents(covariates + 1)
    # JUDGED_BY, group, sums
    parts = [(np.empty(0, dtype=str), np.empty(0, dtype=np.int64), np.empty((0, len(powers))))]
    for block in blocks:
        patterns, place = _patterns(block, factors)
        filled, key = np.unique(place * groups + block.group, return_inverse=True)
        parts.append(
            (patterns[filled // groups], filled % groups, sums_of_rows(block, key, len(filled)))
        )
    names, group, sums = map(np.concatenate, zip(*parts, strict=True))
    distinct, pattern = np.unique(names, return_inverse=True)
    filled, key = np.unique(group * len(distinct) + pattern, return_inverse=True)
    total = np.zeros((len(filled), len(powers)))
    np.add.at(total, key, sums)
    group, pattern = np.divmod(filled, max(1, len(distinct)))
    split = {JUDGED_BY: distinct[pattern]} | {
        name: values[group] for name, values in factors.items()
    }
    return Moments(
        split, symmetric_tensor(dict(zip(powers, total.T, strict=True)), variables=covariates + 2)
    )


def blocks_by_judges(
    blocks: Iterable[RowBlock], factors: Factors, split: Factors
) -> Iterator[RowBlock]:
    """Yield the rows with the place of their group in `split`, the groups of
    `moments_by_judges`.
    """
    groups = len(factors["judge"])
    distinct, of_split = np.unique(split[JUDGED_BY], return_inverse=True)
    keys = of_split * groups + _places(split, factors)
    order = np.argsort(keys)
    for block in blocks:
        patterns, pattern = _patterns(block, factors)
        key = np.searchsorted(distinct, patterns)[pattern] * groups + block.group
        yield replace(block, group=order[np.searchsorted(keys[order], key)])


def less_completion_means(blocks: Iterable[RowBlock], factors: Factors) -> Iterator[RowBlock]:
    """Yield the rows with the rating less its mean over the rows of the completion; factors: of
    their groups.
    """
    kinds = number_completions(factors)
    for block in blocks:
        completion = _completion_of_rows(block, kinds)
        mean = np.bincount(completion, block.rating) / np.bincount(completion)
        yield replace(block, rating=block.rating - mean[completion])


def _completion_of_rows(block: RowBlock, kinds: np.ndarray) -> np.ndarray:
    """Number the completions of a block, (rows,); kinds: of groups, by `number_completions`."""
    key = block.prompt.astype(np.int64) * (kinds.max(initial=0) + 1) + kinds[block.group]
    _, completion = np.unique(key, return_inverse=True)
    if block.occasion is None or not block.occasion.any():
        return completion
    return np.unique(np.stack([completion, block.occasion]), axis=1, return_inverse=True)[1]


def _places(split: Factors, factors: Factors) -> np.ndarray:
    """The group in `factors` with the names of each group in `split`, (groups of split,)."""
    groups = zip(*(names.tolist() for names in factors.values()), strict=True)
    places = {names: place for place, names in enumerate(groups)}
    wanted = zip(*(split[name].tolist() for name in factors), strict=True)
    return np.array([places[names] for names in wanted], dtype=np.int64)


def _patterns(block: RowBlock, factors: Factors) -> tuple[np.ndarray, np.ndarray]:
    """The values of JUDGED_BY in a block, and each row's place among them, (rows,)."""
    completion = _completion_of_rows(block, number_completions(factors))
    judges, judge = np.unique(factors["judge"], return_inverse=True)
    words = []
    for first in range(0, len(judges), WORD):
        bit = np.where((judge >= first) & (judge < first + WORD), 2.0 ** (judge - first), 0.0)
        words.append(np.bincount(completion, bit[block.group]))
    distinct, place = np.unique(np.stack(words, axis=1), axis=0, return_inverse=True)
    bits = distinct.astype(np.int64)[:, :, None] >> np.arange(WORD) & 1
    digits = bits.reshape(len(distinct), len(words) * WORD)[:, : len(judges)].astype(
        np.uint8
    ) + ord("0")
    return (
        np.ascontiguousarray(digits).view(f"S{len(judges)}").ravel().astype(str),
        place[completion],
    )
