"""Codes of the canonical ratings: the small numbers that stand for names and references, and the footer that lists them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from recuse.base.database import footer, read_footer
from recuse.base.errors import DataError

KEY = "levels"  # of the file's own metadata, in its footer
AXES = ("dimension", "judge", "model", "dataset")  # what a group is, in the order of its code


@dataclass(frozen=True)
class Levels:
    """What the codes of a study's ratings stand for; every list of levels rises.

    `group_code` is ((dimension * judges + judge) * models + model) * datasets + dataset, each the place of its level;
    `reference_code` is the place of gt in `reference`.
    """

    dimension: Sequence[str]
    judge: Sequence[str]
    model: Sequence[str]
    dataset: Sequence[str]
    reference: Sequence[float]  # gt, raw
    scale: Sequence[Sequence[int]]  # (lowest, highest) rating of each dimension
    judge_family: Sequence[str]  # of each judge
    model_family: Sequence[str]  # of each model
    task_type: Sequence[str]  # of each dataset

    @property
    def groups(self) -> int:
        """Number of codes of groups: every combination, met in the rows or not."""
        return math.prod(self._sizes)

    def places(self, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Places of dimension, judge, model and dataset of each code, (codes,) each."""
        return np.unravel_index(group, self._sizes)

    def code(self, dimension: np.ndarray, judge: np.ndarray, model: np.ndarray, dataset: np.ndarray) -> np.ndarray:
        """Code of each combination of places, (codes,)."""
        return np.ravel_multi_index((dimension, judge, model, dataset), self._sizes)

    def code_of(self, factors: Mapping[str, np.ndarray]) -> np.ndarray:
        """Code of each group by the names of its factors, (groups,) of str each."""
        return self.code(*(np.searchsorted(np.array(getattr(self, axis), dtype=str), factors[axis]) for axis in AXES))

    def sql_place(self, axis: str, code: str = "group_code") -> str:
        """SQL for the place of the level of one of AXES, from a column of codes."""
        return f"{code} // {self._stride(axis)} % {len(getattr(self, axis))}"

    def sql_without(self, axis: str, code: str = "group_code") -> str:
        """SQL for the code of the same group with the first level of one of AXES: equal where groups differ in no other."""
        return f"{code} - {self.sql_place(axis, code)} * {self._stride(axis)}"

    def factors(self, group: np.ndarray) -> dict[str, np.ndarray]:
        """Names of each code by factor, (codes,) of str each."""
        dimension, judge, model, dataset = self.places(group)
        places = {"dimension": dimension, "dataset": dataset, "task_type": dataset}
        places |= {"judge": judge, "model": model, "judge_family": judge, "model_family": model}
        return {factor: np.array(getattr(self, factor), dtype=str)[place] for factor, place in places.items()}

    def references(self, code: np.ndarray) -> np.ndarray:
        """Raw references, (codes,), of codes; NaN throughout of a study without any."""
        return np.array(self.reference)[code] if self.reference else np.full(len(code), np.nan)

    def scales(self, group: np.ndarray) -> np.ndarray:
        """Lowest and highest rating of each code's dimension, (codes, 2)."""
        return np.array(self.scale, dtype=np.int64).reshape(-1, 2)[self.places(group)[0]]

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(getattr(self, axis)) for axis in AXES)

    def _stride(self, axis: str) -> int:
        """How far apart the codes of two neighbouring levels are."""
        return math.prod(self._sizes[AXES.index(axis) + 1 :])


def as_metadata(levels: Levels) -> str:
    """SQL for the option of `copy` that puts the levels into the footer of a parquet file."""
    return footer(KEY, asdict(levels))


def levels_of(path: str) -> Levels:
    """Read the levels of the canonical ratings at `path`; DataError if its footer has none."""
    levels = read_footer(path, KEY)
    if levels is None:
        raise DataError(f"{path}: its footer does not say what its codes stand for; make the file again from the raw ratings")
    return Levels(**levels)
