"""The plan of a study's canonical ratings: what their codes stand for, and which prompts each shard of them holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from judgebias.database import connect
from judgebias.ratings.codes import Levels, named_levels
from judgebias.ratings.summaries import Summary


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
