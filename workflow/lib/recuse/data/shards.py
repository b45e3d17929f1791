"""From checked rows in any order to the canonical ratings, sorted by prompt, in one shard or many: no step holds all rows.

Summaries of groups of files are additive; the plan made of them is all that one shard of prompts needs to know of the study.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from recuse.base.database import Connection, connect, files, footer, read_footer, text, write_rows
from recuse.base.outputs import write_text
from recuse.data.cells import Levels, as_metadata
from recuse.data.registry import scale_of

COUNTED = {
    "present": "true",
    "missing_rating": "rating is null",
    "missing_gt": "gt is null",
    "missing_length": "length is null",
    "rated": "rating is not null and gt is not null",
    "judged": "rating is not null",
}
COUNTS = ", ".join(f"count(*) filter ({condition}) as {name}" for name, condition in COUNTED.items())  # SQL
KEY = "summary"  # of the metadata in a summary's footer
AXIS = {"judge_family": "judge", "model_family": "model", "task_type": "dataset"}  # whose levels have these
LARGEST = {"usmallint": 2**16, "uinteger": 2**32, "bigint": 2**63}  # how many codes a column of each type holds


def summarise(checked: Sequence[str], path: str) -> None:
    """Write the summary of checked files (parquet): the counts of each prompt as rows, all else in the footer.

    checked: parquet files of rows without fault, in any order: judge, model, dimension, dataset, prompt_id, rating, gt, length.
    """
    connection, rows = connect(), files(checked)
    summary = {"counts": connection.execute(f"select dimension, judge, model, {COUNTS} from {rows} group by all").fetchall()}
    for key, column in (("datasets", "dataset"), ("references", "gt")):
        levels = connection.execute(f"select distinct {column} from {rows} where {column} is not null order by all").fetchall()
        summary[key] = [level for (level,) in levels]
    by_prompt = f"select prompt_id, dataset, dimension, {COUNTS} from {rows} group by all"
    write_rows(connection, by_prompt, path, footer(KEY, summary))


@dataclass(frozen=True)
class Summary:
    """Counts of checked rows, and what they are about."""

    counts: Mapping[tuple[str, str, str], Mapping[str, int]]  # (dimension, judge, model) -> rows, by COUNTED
    datasets: Sequence[str]  # rising
    references: Sequence[float]  # gt, rising
    prompts: str  # SQL for the rows, by COUNTED, of each prompt (prompt_id and dataset) and dimension in each group of files

    @classmethod
    def read(cls, paths: Sequence[str]) -> "Summary":
        """Add up what `summarise` wrote of all groups of files of a study."""
        parts = [read_footer(path, KEY) for path in paths]
        counts: dict[tuple[str, str, str], Counter] = defaultdict(Counter)
        for part in parts:
            for dimension, judge, model, *rows in part["counts"]:
                counts[dimension, judge, model].update(dict(zip(COUNTED, rows, strict=True)))
        return cls(
            counts=counts,
            datasets=sorted({name for part in parts for name in part["datasets"]}),
            references=sorted({gt for part in parts for gt in part["references"]}),
            prompts=files(paths),
        )

    @property
    def complete(self) -> str:
        """Which of COUNTED is a complete row: if any row has a human score, each needs one; only fits with length need one."""
        return "rated" if self._any("gt") else "judged"

    def _any(self, column: str) -> bool:
        return any(count[f"missing_{column}"] < count["present"] for count in self.counts.values())

    def completeness(self) -> Iterator[dict]:
        """Yield one row per dimension, judge and model: the dimension's prompts, by what is missing, and the rows used."""
        pairs = f"select distinct prompt_id, dataset, dimension from {self.prompts}"
        query = f"select dimension, count(*) from ({pairs}) group by all order by all"
        for dimension, prompts in connect().execute(query).fetchall():
            judges, models = (sorted({names[axis] for names in self.counts if names[0] == dimension}) for axis in (1, 2))
            for judge, model in product(judges, models):
                count = self.counts.get((dimension, judge, model), dict.fromkeys(COUNTED, 0))
                row = {"dimension": dimension, "judge": judge, "model": model, "prompts": prompts}
                row |= {"absent": prompts - count["present"], "missing_rating": count["missing_rating"]}
                row |= {f"missing_{c}": count[f"missing_{c}"] if self._any(c) else 0 for c in ("gt", "length")}
                yield row | {"used": count[self.complete]}


@dataclass(frozen=True)
class Shard:
    """A run of consecutive prompt ids, each with all its rows; None where it has no prompt.

    An id in several datasets is that of several prompts, all in one shard.
    """

    first: str | None  # prompt_id
    last: str | None
    number: int  # prompts with a complete row before it: the code of its own first prompt


@dataclass(frozen=True)
class Plan:
    """All that one needs to know of the whole study to write the ratings of one shard."""

    levels: Levels
    complete: str  # the rows that are ratings, a name in COUNTED
    shards: Sequence[Shard]

    def write(self, path: str) -> None:
        """Write the plan as JSON."""
        write_text(path, json.dumps(asdict(self), ensure_ascii=False))

    @classmethod
    def read(cls, path: str) -> "Plan":
        """Read what `write` wrote."""
        plan = json.loads(Path(path).read_text("utf-8"))
        return cls(Levels(**plan["levels"]), plan["complete"], [Shard(**shard) for shard in plan["shards"]])


def plan_shards(
    summary: Summary,
    *,
    scales: Mapping[str, Sequence[int]],
    steps: Mapping[str, float],
    families: Mapping[str, str],
    task_types: Mapping[str, str],
    shards: int,
) -> Plan:
    """Plan shards of about equal rows; with fewer prompts than shards, or prompts of very many rows, some are empty.

    scales: (lowest, highest) rating of each dimension. steps: in which its ratings are counted, in the user's units, if not 1.
    families: of each model. task_types: of each dataset, or none.
    """
    dimensions, judges, models = (sorted(set(names)) for names in zip(*summary.counts, strict=True))
    levels = Levels(
        dimension=dimensions,
        judge=judges,
        model=models,
        dataset=summary.datasets,
        reference=summary.references,
        scale=[list(scale_of(scales, name)) for name in dimensions],
        step=[steps.get(name, 1) for name in dimensions] if steps else [],
        judge_family=[families[name] for name in judges],
        model_family=[families[name] for name in models],
        task_type=[task_types.get(name, "") for name in summary.datasets],
    )
    # In the order of their ids; an id belongs to the shard into which its first row falls.
    rows = connect().execute(f"""
        with prompts as (
                 select prompt_id, sum(present)::bigint as n, sum({summary.complete}) > 0 as numbered
                 from {summary.prompts} group by prompt_id, dataset),
             ids as (select prompt_id, sum(n) as n, count(*) filter (numbered) as numbered from prompts group by prompt_id),
             placed as (
                 select prompt_id, numbered,
                        (sum(n) over (order by prompt_id) - n) * {shards} // sum(n) over () as shard
                 from ids)
        select shard::integer, min(prompt_id), max(prompt_id), sum(numbered)::bigint
        from placed group by shard order by shard""")
    runs, planned, number = {shard: run for shard, *run in rows.fetchall()}, [], 0
    for shard in range(shards):
        first, last, count = runs.get(shard, (None, None, 0))
        planned.append(Shard(first, last, number))
        number += count
    return Plan(levels, summary.complete, planned)


def sort_rows(connection: Connection, checked: Sequence[str], levels: Levels, shard: Shard, path: str) -> None:
    """Write the checked rows of a shard's prompts to `path` (parquet), without names, by prompt_id, dataset and group_code.

    The group has the dataset, so two rows with the same prompt_id and group_code are a fault, and the order is unique.
    """
    inside = "false" if shard.first is None else f"prompt_id between {text(shard.first)} and {text(shard.last)}"
    rows = f"{coded(connection, checked, levels)} where {inside} order by prompt_id, dataset_places.place, group_code"
    write_rows(connection, rows, path, compression="uncompressed")


def coded(connection: Connection, checked: Sequence[str], levels: Levels) -> str:
    """SQL, on this connection, for checked rows with their codes."""
    names = zip(*product(levels.dimension, levels.judge, levels.model), strict=True)
    groups = {axis: np.array(column, dtype=object) for axis, column in zip(("dimension", "judge", "model"), names, strict=True)}
    groups["base"] = np.arange(len(groups["judge"])) * len(levels.dataset)  # the code with the first dataset
    datasets, references = np.array(levels.dataset, dtype=object), np.array(levels.reference)
    connection.register("groups", groups)
    connection.register("dataset_places", {"dataset": datasets, "place": np.arange(len(datasets))})
    connection.register("reference_places", {"gt": references, "place": np.arange(len(references))})
    return f"""
        select prompt_id, (base + dataset_places.place)::{_type_of(levels.groups)} as group_code, rating, gt,
               reference_places.place::{_type_of(len(levels.reference))} as reference_code, length
        from {files(checked)} join groups using (dimension, judge, model) join dataset_places using (dataset)
             left join reference_places using (gt)"""


def first_twice(connection: Connection, repeated: str, levels: Levels) -> tuple[str, ...] | None:
    """The first judge, model, dimension, dataset and prompt_id of `repeated`, SQL for what rows share, with their codes."""
    names = ", ".join(_name(levels, factor) for factor in ("judge", "model", "dimension", "dataset"))
    return connection.execute(f"select {names}, prompt_id from ({repeated}) order by all limit 1").fetchone()


def repeated_in(path: str) -> str:
    """SQL for those of the sorted rows that have the prompt and the group of the row before."""
    return f"select * from ({_with_last(path)}) where prompt_id = last_prompt and group_code = last_group"


def write_sorted(connection: Connection, path: str, plan: Plan, *, first: int, ratings: str) -> None:
    """Write the complete rows among sorted ones as canonical ratings: names, units, prompts numbered from `first` on."""
    levels = plan.levels
    low, high = (_element([scale[end] for scale in levels.scale], levels.sql_place("dimension")) for end in (0, 1))
    factors = ("judge", "model", "judge_family", "model_family", "dimension", "dataset", "task_type")
    columns = {factor: _name(levels, factor) for factor in factors}
    columns |= {column: column for column in ("prompt_id", "rating", "gt")}
    columns |= {f"{score}_unit": f"({score} - {low}) / ({high} - {low})" for score in ("rating", "gt")}
    columns |= {"length": "length", "scale_low": low, "scale_high": high}
    columns |= {code: code for code in ("group_code", "reference_code")}
    begun = "count(*) filter (begins) over (rows between unbounded preceding and current row)"
    columns["prompt"] = f"({first} - 1 + {begun})::uinteger"
    selected = ", ".join(f"{value} as {column}" for column, value in columns.items())
    dataset, last = (levels.sql_place("dataset", code) for code in ("group_code", "last_group"))
    begins = f"prompt_id is distinct from last_prompt or {dataset} <> {last}"
    rows = f"select *, {begins} as begins from ({_with_last(path, COUNTED[plan.complete])})"
    write_rows(connection, f"select {selected} from ({rows})", ratings, as_metadata(levels))


def _with_last(path: str, condition: str = "true") -> str:
    """SQL for the sorted rows where `condition` holds, each with the prompt and the group of the row before."""
    return f"""select *, lag(prompt_id) over () as last_prompt, lag(group_code) over () as last_group
               from {files([path])} where {condition}"""


def _name(levels: Levels, factor: str) -> str:
    """SQL for the name of a factor, from the code of the group; an enum is written as fast as numbers are."""
    names = [text(name) for name in getattr(levels, factor)]
    return _element(names, levels.sql_place(AXIS.get(factor, factor)), f"enum({', '.join(dict.fromkeys(names))})")


def _element(values: Sequence, place: str, kind: str = "integer") -> str:
    return f"([{', '.join(map(str, values))}]::{kind}[])[1 + {place}]"


def _type_of(codes: int) -> str:
    return next(kind for kind, most in LARGEST.items() if codes <= most)
