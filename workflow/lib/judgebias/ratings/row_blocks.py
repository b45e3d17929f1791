"""The rows behind a fit, in blocks: of whole prompts, few enough to hold at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from judgebias.database import connect, text
from judgebias.ratings.codes import Levels, levels_of

ROWS = 1_000_000  # of a block, if no prompt has more
GROUP = ("dimension", "judge", "model", "dataset")  # the factors that a code of `group` stands for, in its order


@dataclass(frozen=True)
class RowBlock:
    """All rows of some prompts. On the unit scale, (rows,) each."""

    prompt: np.ndarray  # code, rising
    group: np.ndarray  # place of the row's group among those of the fit; -1 if it is none of them
    rating: np.ndarray
    covariates: Sequence[np.ndarray]  # reference[, length]


def row_blocks(
    ratings: str, rows_between: Callable[[int, int], str], factors: Mapping[str, np.ndarray], *, by: Sequence[str] = ()
) -> Iterator[RowBlock]:
    """Yield the rows of the canonical ratings (parquet, sorted by prompt) in blocks; the next is read while one is used.

    rows_between: SQL for the rows of the prompts with codes from a first to a last, rising by prompt; its columns are prompt,
    "group", level, rating and the covariates. `level` is the place in `by` of the level of a further factor, 0 without one.
    factors: of the groups of the fit, (groups,) of str each; where there is a further factor, it is the first.
    """
    place = _places(levels_of(ratings), factors, by)
    connection = connect()
    connection.execute("set parquet_metadata_cache = true")  # reading the footer takes longer than reading a block

    def read(first: int, last: int) -> RowBlock:
        found = connection.execute(rows_between(first, last)).fetchnumpy()
        prompt, group, level, rating, *covariates = map(np.asarray, found.values())
        return RowBlock(prompt, place[level, group], rating, covariates)

    with ThreadPoolExecutor(1) as reader:
        coming = None
        for span in prompt_ranges(ratings, ROWS // max(1, len(by))):  # a row has about as many references as there are levels
            done, coming = coming, reader.submit(read, *span)
            if done is not None:
                yield done.result()
        if coming is not None:
            yield coming.result()


def prompt_ranges(ratings: str, rows: int = ROWS) -> Iterator[tuple[int, int]]:
    """Yield the first and the last code of prompt of each block, by what the footer says of groups of rows."""
    footer = f"""
        select row_group_num_rows, stats_max_value::bigint from parquet_metadata({text(ratings)})
        where path_in_schema = 'prompt' order by row_group_id"""
    first, last, held = 0, -1, 0
    for count, highest in connect().execute(footer).fetchall():
        last, held = max(last, highest), held + count
        if held >= rows:
            yield first, last
            first, held = last + 1, 0
    if last >= first:
        yield first, last


def _places(levels: Levels, factors: Mapping[str, np.ndarray], by: Sequence[str]) -> np.ndarray:
    """Place among the groups of the fit of each (level, code of group), (levels, codes); -1 if it is none of them."""
    level = _found(by, next(iter(factors.values()))) if by else np.zeros(len(factors["judge"]), dtype=np.int64)
    parts = [_found(getattr(levels, factor), factors[factor]) for factor in GROUP]
    known = np.flatnonzero(np.min([level, *parts], axis=0) >= 0)
    code = np.ravel_multi_index([part[known] for part in parts], [len(getattr(levels, factor)) for factor in GROUP])
    place = np.full((max(1, len(by)), levels.groups), -1, dtype=np.int32)
    place[level[known], code] = known
    return place


def _found(levels: Sequence[str], names: np.ndarray) -> np.ndarray:
    """Place of each name among rising levels; -1 if it is none of them."""
    levels = np.array(levels, dtype=str)
    place = np.minimum(np.searchsorted(levels, names), len(levels) - 1)
    return np.where(levels[place] == names, place, -1)
