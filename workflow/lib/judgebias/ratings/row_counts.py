"""How many rows the checked files of a study hold of each judge, model and dimension, and how many of them are complete."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.database import files

COUNTED = {
    "present": "true",
    "missing_rating": "rating is null",
    "missing_gt": "gt is null",
    "missing_length": "length is null",
    "rated": "rating is not null and gt is not null",
    "rated_with_length": "rating is not null and gt is not null and length is not null",
    "judged": "rating is not null",
    "judged_with_length": "rating is not null and length is not null",
}
COUNTS = ", ".join(f"count(*) filter ({condition}) as {name}" for name, condition in COUNTED.items())  # SQL


def complete_rows(*, human: bool, length: bool) -> str:
    """Which of COUNTED is a complete row of a study: it has human scores, or lengths, then each row needs one, or has none."""
    return f"{'rated' if human else 'judged'}{'_with_length' if length else ''}"


@dataclass(frozen=True)
class CheckedRows:
    """Rows without fault: parquet files with the columns key, dataset, prompt_id, rating, gt and length, in any order.

    key is (dimension * names + judge) * names + model, places in the dimensions of `scales` and in `names`.
    """

    paths: Sequence[str]
    scales: Mapping[str, Sequence[int]]  # (lowest, highest) rating of each dimension of the study; these rise
    names: Sequence[str]  # of all models that config knows, rising

    @property
    def sql(self) -> str:
        """SQL for the rows of all files."""
        return files(self.paths)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of dimensions, judges and models that `key` numbers."""
        return len(self.scales), len(self.names), len(self.names)


@dataclass(frozen=True)
class RowCounts:
    """Counts of the rows of each dimension, judge and model that occur together."""

    names: dict[str, np.ndarray]  # dimension, judge, model: (keys,) of str
    counts: dict[str, np.ndarray]  # each of COUNTED: (keys,)

    @property
    def complete(self) -> str:
        """Which of COUNTED is a complete row."""
        return complete_rows(human=self._has("gt"), length=self._has("length"))

    def _has(self, column: str) -> bool:
        """Whether any row has it."""
        return bool((self.counts[f"missing_{column}"] < self.counts["present"]).any())

    def completeness(self, prompts: Mapping[str, int]) -> Iterator[dict]:
        """Yield one row per dimension, judge and model: how many `prompts` the dimension has, and what became of them."""
        has_human, has_length = self._has("gt"), self._has("length")
        rows = {names: place for place, names in enumerate(zip(*map(np.ndarray.tolist, self.names.values()), strict=True))}
        for dimension in sorted(prompts):
            judges, models = (sorted({names[which] for names in rows if names[0] == dimension}) for which in (1, 2))
            for judge, model in ((judge, model) for judge in judges for model in models):
                place = rows.get((dimension, judge, model))
                count = {name: 0 if place is None else int(values[place]) for name, values in self.counts.items()}
                yield {
                    "dimension": dimension, "judge": judge, "model": model, "prompts": prompts[dimension],
                    "absent": prompts[dimension] - count["present"], "missing_rating": count["missing_rating"],
                    "missing_gt": count["missing_gt"] if has_human else 0,
                    "missing_length": count["missing_length"] if has_length else 0,
                    "used": count[self.complete],
                }  # fmt: skip
