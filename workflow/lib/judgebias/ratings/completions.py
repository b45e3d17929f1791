"""Completions told apart by the judges that rated them: what taking the effects of completions out of a fit needs to know.

All covariates of a row, the reference and the length, are the completion's. So among completions that the same judges rated,
the mean of a regressor over the rows of each is the same linear function of these, whatever the completion.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from judgebias.ratings.moments import Moments, exponents, sums_of_rows, tensor_of
from judgebias.ratings.references import REFERENCE_FAMILY
from judgebias.ratings.row_blocks import RowBlock

JUDGED_BY = "judged_by"  # the factor: 1 for each judge that rated the completion and 0 for each other one, by alphabet
WORD = 52  # judges whose bits a double holds exactly


def completions_of(factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Number the kinds of completions of groups of rows, (groups,): those of one kind differ in nothing but the judge.

    A completion is a prompt's of a model in a dimension and a dataset; for another reference, it is another one.
    """
    names = ["dimension", "dataset", "model", *(name for name in (REFERENCE_FAMILY, JUDGED_BY) if name in factors)]
    codes = np.stack([np.unique(factors[name], return_inverse=True)[1] for name in names], axis=1)
    return np.unique(codes, axis=0, return_inverse=True)[1]


def moments_by_judges(blocks: Iterable[RowBlock], factors: Mapping[str, np.ndarray], *, covariates: int) -> Moments:
    """Sum the rows over their groups, apart by the judges that rated the completion; there may be none.

    blocks: rows of whole prompts. factors: of their groups, (groups,) of str each. covariates: how many a row has.
    """
    groups, powers = len(factors["judge"]), exponents(covariates + 1)
    totals: dict[str, np.ndarray] = {}
    for block in blocks:
        patterns, place = _patterns(block, factors)
        sums = sums_of_rows(block, place * groups + block.group, len(patterns) * groups)
        for pattern, found in zip(patterns, sums.reshape(len(patterns), groups, len(powers)), strict=True):
            totals[pattern] = totals.get(pattern, 0.0) + found
    patterns = sorted(totals)
    total = np.array([totals[pattern] for pattern in patterns]).reshape(-1, groups, len(powers))
    group, pattern = np.nonzero(total[:, :, 0].T)
    sums = dict(zip(powers, total[pattern, group].T, strict=True))
    named = {JUDGED_BY: np.array(patterns, dtype=str)[pattern]} | {name: values[group] for name, values in factors.items()}
    return Moments(named, tensor_of(sums, variables=covariates + 2))


def blocks_by_judges(
    blocks: Iterable[RowBlock], factors: Mapping[str, np.ndarray], numbered: Mapping[str, np.ndarray]
) -> Iterator[RowBlock]:
    """Yield the rows of the groups in `numbered`, which are apart by judges, with the number of their group in it."""
    numbers = {key: number for number, key in enumerate(zip(*(numbered[name] for name in (JUDGED_BY, *factors)), strict=True))}
    names = list(zip(*factors.values(), strict=True))
    for block in blocks:
        patterns, place = _patterns(block, factors)
        known = np.array([[numbers.get((pattern, *name), -1) for name in names] for pattern in patterns], dtype=np.int32)
        group = known.reshape(-1, len(names))[place, block.group]
        kept = slice(None) if group.min(initial=0) >= 0 else np.flatnonzero(group >= 0)
        yield RowBlock(block.prompt[kept], group[kept], block.rating[kept], [values[kept] for values in block.covariates])


def _patterns(block: RowBlock, factors: Mapping[str, np.ndarray]) -> tuple[list[str], np.ndarray]:
    """The values of JUDGED_BY in a block, and the place among them of each row, (rows,)."""
    kinds = completions_of(factors)
    judges, judge = np.unique(factors["judge"], return_inverse=True)
    key = block.prompt.astype(np.int64) * (kinds.max(initial=0) + 1) + kinds[block.group]
    _, completion = np.unique(key, return_inverse=True)
    words = []
    for first in range(0, len(judges), WORD):
        bit = np.where((judge >= first) & (judge < first + WORD), 2.0 ** (judge - first), 0.0)
        words.append(np.bincount(completion, bit[block.group]))
    found, place = np.unique(np.stack(words, axis=1), axis=0, return_inverse=True)
    bits = [[int(word) >> shift & 1 for word in row for shift in range(WORD)][: len(judges)] for row in found]
    return ["".join(map(str, row)) for row in bits], place[completion]
