"""The rows behind a fit, in blocks: of whole prompts, few enough to hold at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from judgebias.database import connect, literal_path
from judgebias.progress import steps
from judgebias.ratings.codes import Levels, levels_of

ROWS = 1_000_000  # of a block, if no prompt has more
LISTED = 2**24  # codes, of 4 bytes each: of more, the groups of a fit are searched and not looked up


@dataclass(frozen=True)
class PromptRange:
    """Some prompts of one file of ratings, by their codes."""

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


def row_blocks(
    ratings: Sequence[str], rows_of: Callable[[PromptRange], str], factors: Mapping[str, np.ndarray], *, by: Sequence[str] = ()
) -> Iterator[RowBlock]:
    """Yield the rows of the canonical ratings (parquet files, sorted by prompt) in blocks; the next is read while one is used.

    rows_of: SQL for the rows of some prompts, rising by prompt; its columns are prompt, group_code, level, rating and the
    covariates. `level` is the place in `by` of the level of a further factor, 0 without one.
    factors: of the groups of the fit, all that the rows have, (groups,) of str each; a further factor is the first of them.
    """
    place_of = _places(levels_of(ratings[0]), factors, by)
    connection = connect()
    connection.execute("set parquet_metadata_cache = true")  # reading the footer takes longer than reading a block

    def read(span: PromptRange) -> RowBlock:
        found = connection.execute(rows_of(span)).fetchnumpy()
        prompt, group, level, rating, *covariates = map(np.asarray, found.values())
        return RowBlock(prompt, place_of(level, group), rating, covariates)

    with ThreadPoolExecutor(1) as reader:
        coming = None
        spans = list(prompt_ranges(ratings, ROWS // max(1, len(by))))  # a row has about as many references as there are levels
        for span in steps(spans, "reading ratings", unit="blocks"):
            done, coming = coming, reader.submit(read, span)
            if done is not None:
                yield done.result()
        if coming is not None:
            yield coming.result()


def prompt_ranges(ratings: Sequence[str], rows: int = ROWS) -> Iterator[PromptRange]:
    """Yield the prompts of each block, by what the footers say of groups of rows; no block is of two files."""
    for path in ratings:
        for first, last in _ranges(path, rows):
            yield PromptRange(path, first, last)


def prompt_count(ratings: Sequence[str]) -> int:
    """Number of prompts in all files, whose codes are the numbers below it, by what the footers say of groups of rows."""
    highest = "select max(stats_max_value::bigint) from parquet_metadata({}) where path_in_schema = 'prompt'"
    found = [connect().execute(highest.format(literal_path(path))).fetchone()[0] for path in ratings]
    return 1 + max((last for last in found if last is not None), default=-1)


def _ranges(path: str, rows: int) -> Iterator[tuple[int, int]]:
    footer = f"""
        select row_group_num_rows, stats_min_value::bigint, stats_max_value::bigint from parquet_metadata({literal_path(path)})
        where path_in_schema = 'prompt' order by row_group_id"""
    first, last, held = None, -1, 0
    for count, lowest, highest in connect().execute(footer).fetchall():
        if highest == last and not held:
            continue  # all of one prompt, the last of the block before
        first = max(lowest, last + 1) if not held else first
        last, held = highest, held + count
        if held >= rows:
            yield first, last
            held = 0
    if held:
        yield first, last


def _places(
    levels: Levels, factors: Mapping[str, np.ndarray], by: Sequence[str]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """How to find the places among the groups of the fit of rows by the place of their level in `by` and the group_code."""
    code = levels.code_of(factors)
    level = np.searchsorted(np.array(by, dtype=str), next(iter(factors.values()))) if by else np.zeros_like(code)
    if max(1, len(by)) * levels.groups <= LISTED:
        place = np.empty((max(1, len(by)), levels.groups), dtype=np.int32)
        place[level, code] = np.arange(len(code))
        return lambda level, code: place[level, code]
    key = level * levels.groups + code
    order = np.argsort(key)
    key = key[order]
    return lambda level, code: order[np.searchsorted(key, level.astype(np.int64) * levels.groups + code)]
