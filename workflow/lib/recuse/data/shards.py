"""The plan of a study's canonical ratings: what their codes stand for, and which prompts each shard of them holds.

How many rows the checked files of a study hold of each judge, model and dimension, and how many of them are complete.

What is to be known of all rows of a study before any is written, additive over the groups of files checked apart.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from recuse.base.database import connect, files, literal_path, text
from recuse.data.levels import Levels, named_levels

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


KEY = "found"  # of a summary's own metadata, in its footer


@dataclass(frozen=True)
class Summary:
    """What the rows of some checked files hold."""

    counts: RowCounts
    datasets: Sequence[str]  # rising
    references: Sequence[float]  # gt, rising
    prompts: str  # SQL for a row per prompt_id and dimension (its place), in each group of files: how many rows, by COUNTED


def summarise(checked: CheckedRows, path: str) -> None:
    """Write the summary of checked files (parquet): the counts of each prompt as rows, all else in the footer."""
    connection = connect()
    by_key = connection.execute(f"select key, {COUNTS} from {checked.sql} group by key order by key").fetchnumpy()
    datasets, references = (
        [value for (value,) in connection.execute(f"select distinct {column} from {checked.sql} order by all").fetchall()]
        for column in ("dataset", "gt")
    )
    found = {
        "counts": {name: np.asarray(values).tolist() for name, values in by_key.items()},
        "datasets": datasets,
        "references": [gt for gt in references if gt is not None],
    }
    metadata = f"kv_metadata {{{KEY}: {text(json.dumps(found, ensure_ascii=False))}}}"
    _, judges, models = checked.shape
    by_prompt = f"select prompt_id, key // {judges * models} as dimension, {COUNTS} from {checked.sql} group by all"
    connection.execute(f"copy ({by_prompt}) to {text(path)} (format parquet, compression zstd, {metadata})")


def read_summaries(paths: Sequence[str], checked: CheckedRows) -> Summary:
    """Add up the summaries of all groups of files of a study; `checked` says what their keys stand for."""
    found = [_footer(path) for path in paths]
    return Summary(
        counts=_added([each["counts"] for each in found], checked),
        datasets=sorted({name for each in found for name in each["datasets"]}),
        references=sorted({gt for each in found for gt in each["references"]}),
        prompts=files(paths),
    )


def prompts_by_dimension(summary: Summary, dimensions: Sequence[str]) -> dict[str, int]:
    """Count the prompts of each of the `dimensions` that has any, complete or not; these are all of the study."""
    query = f"select dimension, count(*) from (select distinct prompt_id, dimension from {summary.prompts}) group by all"
    return {dimensions[place]: count for place, count in connect().execute(query).fetchall()}


def _footer(path: str) -> dict:
    query = f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) = {text(KEY)}"
    return json.loads(connect().execute(query).fetchone()[0])


def _added(counts: Sequence[Mapping[str, Sequence[int]]], checked: CheckedRows) -> RowCounts:
    key, place = np.unique(_joined(counts, "key"), return_inverse=True)
    total = {name: np.zeros(len(key), dtype=np.int64) for name in COUNTED}
    for name, values in total.items():
        np.add.at(values, place, _joined(counts, name))
    levels = (*checked.scales,), checked.names, checked.names
    places = np.unravel_index(key, checked.shape)
    factors = ("dimension", "judge", "model")
    names = {factor: np.array(known, dtype=str)[at] for factor, known, at in zip(factors, levels, places, strict=True)}
    return RowCounts(names, total)


def _joined(counts: Sequence[Mapping[str, Sequence[int]]], column: str) -> np.ndarray:
    return np.concatenate([np.array(each[column], dtype=np.int64) for each in counts])  # of a file without rows, too


@dataclass(frozen=True)
class Shard:
    """A run of consecutive prompts in the order of their ids, each with all its rows; None where it has no prompt."""

    first: str | None  # prompt_id
    last: str | None
    number: int  # how many prompts with a complete row are before it: the code of its own first


@dataclass(frozen=True)
class Plan:
    """What has to be known of the whole study to write the ratings of one shard."""

    levels: Levels
    complete: str  # which rows are ratings, a name in COUNTED
    shards: Sequence[Shard]

    def write(self, path: str) -> None:
        """Write the plan as JSON."""
        Path(path).write_text(json.dumps(asdict(self), ensure_ascii=False), "utf-8")

    @classmethod
    def read(cls, path: str) -> "Plan":
        """Read what `write` wrote."""
        found = json.loads(Path(path).read_text("utf-8"))
        shards = [Shard(**shard) for shard in found["shards"]]
        return cls(Levels(**found["levels"]), found["complete"], shards)


def plan_shards(
    summary: Summary,
    *,
    scales: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    task_types: Mapping[str, str],
    shards: int,
) -> Plan:
    """Plan so many shards of about equal rows; with fewer prompts than shards, or prompts of very many rows, some are empty.

    scales: (lowest, highest) rating of each dimension. families: of each model. task_types: of each dataset, or none.
    """
    levels = named_levels(
        *(np.unique(names).tolist() for names in summary.counts.names.values()),
        datasets=summary.datasets,
        references=summary.references,
        scales=scales,
        families=families,
        task_types=task_types,
    )
    complete = summary.counts.complete
    return Plan(levels, complete, _runs(summary.prompts, complete, shards))


def _runs(prompts: str, complete: str, shards: int) -> list[Shard]:
    """Cut the prompts in the order of their ids: a prompt is of the shard that its first row would be of by number of rows."""
    found = (
        connect()
        .execute(f"""
        with prompts as (
                 select prompt_id, sum(present)::bigint as n, sum({complete}) > 0 as numbered
                 from {prompts} group by prompt_id),
             placed as (
                 select prompt_id, numbered,
                        (sum(n) over (order by prompt_id) - n) * {shards} // sum(n) over () as shard
                 from prompts)
        select shard::integer, min(prompt_id), max(prompt_id), count(*) filter (numbered)
        from placed group by shard order by shard""")
        .fetchall()
    )
    runs = {shard: run for shard, *run in found}
    planned, number = [], 0
    for shard in range(shards):
        first, last, count = runs.get(shard, (None, None, 0))
        planned.append(Shard(first, last, number))
        number += count
    return planned
