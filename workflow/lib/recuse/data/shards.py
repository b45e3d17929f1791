"""From checked rows in any order to the canonical ratings, sorted by prompt, in one shard or many:
no step holds all rows.

Summaries of groups of files are additive; the plan made of them is all that one shard of prompts
needs to know of the study.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from recuse.base.database import (
    Connection,
    exists,
    files,
    text,
    write_rows,
)
from recuse.base.outputs import write_text
from recuse.data.cells import AXES, FACTORS, Levels, Need, as_metadata
from recuse.data.codes import COLUMNS, CodedRows
from recuse.data.files import PROBABILITY, asked_in
from recuse.data.registry import scale_for

COUNTED = {  # SQL for how many of the n ratings of a row
    "present": "n",
    "missing_rating": "if(rating is null, n, 0)",
    "missing_gt": "if(gt is null, n, 0)",
    "missing_length": "if(length is null, n, 0)",
    "judged": "if(rating is null, 0, n)",
}
COUNTS = ", ".join(f"sum({count})::bigint as {name}" for name, count in COUNTED.items())


def summarise(coded: CodedRows) -> tuple[dict, str]:
    """Summarise checked rows: SQL for the counts of each prompt, and, before it, all else."""
    group, prompt = "dimension, judge, model", "prompt_id, dataset, dimension, occasion"
    columns = ("dimension", "judge", "model", "prompt_id", "dataset", "occasion")
    counts = (
        f"select {', '.join(columns)}, {COUNTS} from ({coded.rows()})"
        f" group by grouping sets (({group}), ({prompt}))"
    )
    coded.connection.execute(f"create temp table counts as {coded.named(counts, columns)}")
    counted = ", ".join(COUNTED)
    groups = f"select {group}, {counted} from counts where prompt_id is null"
    summary = {
        "counts": coded.connection.execute(groups).fetchall(),
        "datasets": coded.values("dataset"),
        "references": coded.values("gt"),
    }
    return summary, f"select {prompt}, {counted} from counts where prompt_id is not null"


def count_prompts(coded: CodedRows) -> int:
    """The number of prompts with a rating, of rows that were summarised."""
    rated = "from counts where prompt_id is not null and judged > 0"
    query = f"select count(distinct (prompt_id, dataset)) {rated}"
    return coded.connection.execute(query).fetchone()[0]


@dataclass(frozen=True)
class Summary:
    """Counts of checked rows, and what they are about."""

    connection: Connection
    # (dimension, judge, model) -> rows, by COUNTED
    counts: Mapping[tuple[str, str, str], Mapping[str, int]]
    datasets: Sequence[str]  # rising
    references: Sequence[float]  # gt, rising
    # SQL for the rows, by COUNTED, of each prompt (prompt_id and dataset), occasion and dimension
    # in each group of files.
    prompts: str

    @classmethod
    def add_up(cls, connection: Connection, parts: Sequence[Mapping], prompts: str) -> "Summary":
        """Add up what `summarise` says of all groups of files of a study."""
        counts: dict[tuple[str, str, str], Counter] = defaultdict(Counter)
        for part in parts:
            for dimension, judge, model, *rows in part["counts"]:
                counts[dimension, judge, model].update(dict(zip(COUNTED, rows, strict=True)))
        return cls(
            connection=connection,
            counts=counts,
            datasets=sorted({name for part in parts for name in part["datasets"]}),
            references=sorted({gt for part in parts for gt in part["references"]}),
            prompts=prompts,
        )

    def _any(self, column: str) -> bool:
        return any(count[f"missing_{column}"] < count["present"] for count in self.counts.values())

    def completeness(self) -> Iterator[dict]:
        """Yield one row per dimension, judge and model: the dimension's prompts, by what is
        missing, and the rows used.

        A prompt that was answered on several occasions counts on each.
        """
        pairs = f"select distinct prompt_id, dataset, dimension, occasion from ({self.prompts})"
        query = f"select dimension, count(*) from ({pairs}) group by all order by all"
        has_scores, has_lengths = self._any("gt"), self._any("length")
        for dimension, prompts in self.connection.execute(query).fetchall():
            judges, models = (
                sorted({names[axis] for names in self.counts if names[0] == dimension})
                for axis in (1, 2)
            )
            for judge, model in product(judges, models):
                count = self.counts.get((dimension, judge, model), dict.fromkeys(COUNTED, 0))
                due = max(prompts, count["present"])  # counts may be of several answers to a prompt
                yield {
                    "dimension": dimension,
                    "judge": judge,
                    "model": model,
                    "prompts": due,
                    "absent": due - count["present"],
                    "missing_rating": count["missing_rating"],
                    "missing_gt": count["missing_gt"] if has_scores else 0,
                    "missing_length": count["missing_length"] if has_lengths else 0,
                    "used": count["judged"],
                }


@dataclass(frozen=True)
class Shard:
    """A run of consecutive prompt ids, each with all its rows; None where it has no prompt.

    An id in several datasets is that of several prompts, all in one shard.
    """

    first: str | None  # prompt_id
    last: str | None
    number: int  # prompts with a rating before it: the code of its own first prompt

    @property
    def sql(self) -> str:
        """The condition on prompt_id that the rows of the shard meet."""
        return (
            "false"
            if self.first is None
            else f"prompt_id between {text(self.first)} and {text(self.last)}"
        )


@dataclass(frozen=True)
class ShardPlan:
    """All that one needs to know of the whole study to write the ratings of one shard."""

    levels: Levels
    shards: Sequence[Shard]

    def write(self, path: str) -> None:
        """Write the plan as JSON."""
        write_text(path, json.dumps(asdict(self), ensure_ascii=False))

    @classmethod
    def read(cls, path: str) -> "ShardPlan":
        """Read what `write` wrote."""
        plan = json.loads(Path(path).read_text("utf-8"))
        return cls(Levels(**plan["levels"]), [Shard(**shard) for shard in plan["shards"]])


def plan_shards(
    summary: Summary,
    *,
    scales: Mapping[str, Sequence[int]],
    steps: Mapping[str, float],
    families: Mapping[str, str],
    task_types: Mapping[str, str],
    trusted: Sequence[str] = (),
    lacks: Sequence[Need] = (),
    shards: int,
) -> ShardPlan:
    """Plan shards of about equal rows; with fewer prompts than shards, or prompts of very many
    rows, some are empty.

    scales: (lowest, highest) rating of each dimension. steps: in which its ratings are counted, in
    the user's units, if not 1. families: of each model. task_types: of each dataset, or none.
    trusted: judges whose ratings count whatever `check` doubts. lacks: what the rows do not say.
    """
    dimensions, judges, models = (sorted(set(names)) for names in zip(*summary.counts, strict=True))
    levels = Levels(
        dimension=dimensions,
        judge=judges,
        model=models,
        dataset=summary.datasets,
        reference=summary.references,
        scale=[list(scale_for(scales, name)) for name in dimensions],
        step=[steps.get(name, 1) for name in dimensions] if steps else [],
        judge_family=[families[name] for name in judges],
        model_family=[families[name] for name in models],
        task_type=[task_types.get(name, "") for name in summary.datasets],
        trusted=sorted(trusted),
        lacks=list(lacks),
    )
    # In the order of their ids; an id belongs to the shard into which its first row falls.
    rows = summary.connection.execute(f"""
        with prompts as (
                 select prompt_id, sum(present)::bigint as n, sum(judged) > 0 as numbered
                 from ({summary.prompts}) group by prompt_id, dataset),
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
    return ShardPlan(levels, planned)


def first_repeated_row(coded: CodedRows) -> tuple[str, ...] | None:
    """The first judge, model, dimension, dataset, prompt_id and occasion that two rows share, or
    None.
    """
    columns = ("judge", "model", "dimension", "dataset", "prompt_id", "occasion")
    key = "prompt_id, group_code, occasion"
    repeated = f"select {key} from coded group by all having count(*) > 1"
    # Each of 64 groups sets a bit of its own: fewer bits than rows means that a row repeats
    if not exists(
        coded.connection,
        "select count(*) from coded group by prompt_id, occasion, group_code // 64"
        " having count(*) > bit_count(bit_or(1::ubigint << (group_code % 64)::ubigint))",
    ):
        return None
    rows = f"select {', '.join(columns)} from ({coded.rows()}) semi join ({repeated}) using ({key})"
    return coded.connection.execute(
        f"from ({coded.named(rows, columns)}) order by all limit 1"
    ).fetchone()


def _with_prompts(rows: str, coded: CodedRows) -> str:
    """SQL for rows of the table `coded` that have a rating, with the codes in AXES and that of
    their prompt, from 0.
    """
    prompts = f"select distinct prompt_id, dataset from ({coded.rows()}) where rating is not null"
    numbered = (
        f"select *, row_number() over (order by prompt_id, dataset) - 1 as prompt from ({prompts})"
    )
    # A left join keeps the order of the rows
    return f"select * from ({coded.rows(rows)}) left join ({numbered}) using (prompt_id, dataset)"


def numbered_ratings(coded: CodedRows) -> str:
    """SQL for the rows with a rating, with the codes that `write_sorted` gives them."""
    rows = "from coded where rating is not null"
    columns = "prompt, occasion as occasion_code, group_code, rating"
    return coded.named(f"select {columns} from ({_with_prompts(rows, coded)})", ["rating"])


def write_sorted(coded: CodedRows, levels: Levels, *, first: int, ratings: str) -> None:
    """Write the rows with a rating as canonical ratings: names, units, prompts numbered from
    `first` on.

    They are sorted by prompt_id, dataset, group_code and occasion, which no two rows share.
    """
    connection = coded.connection
    by_dataset = (
        f"({levels.sql_place('dataset')} * {levels.groups // len(levels.dataset)} + group_code //"
        f" {len(levels.dataset)})"
    )
    ordered = f"from coded where rating is not null order by prompt_id, {by_dataset}, occasion"
    numbers = (
        f"({first} + prompt)::uinteger as prompt, gt as reference_code, occasion as occasion_code"
    )
    rows = (
        f"select prompt_id, occasion, gt, rating, length, {PROBABILITY}, group_code, {numbers} from"
        f" ({_with_prompts(ordered, coded)})"
    )
    named = coded.named(rows, [column for column in COLUMNS if column not in AXES])
    codes = connection.execute("select distinct group_code from coded").fetchnumpy()["group_code"]
    low, high = levels.scales(codes).T
    factors = {factor: names.astype(object) for factor, names in levels.factors(codes).items()}
    connection.register(
        "numbered", {"group_code": codes, **factors, "scale_low": low, "scale_high": high}
    )
    # As enums, which are written as fast as numbers are
    enums = ", ".join(
        f"{factor}::{_enum(getattr(levels, factor))} as {factor}" for factor in FACTORS
    )
    ends = "scale_low::integer as scale_low, scale_high::integer as scale_high"
    groups = f"select group_code, {enums}, {ends} from numbered"
    rating, gt = (f"({score} - scale_low) / (scale_high - scale_low)" for score in ("rating", "gt"))
    query = f"""
        select judge, model, judge_family, model_family, dimension, dataset, task_type, prompt_id,
               rating, gt, {rating} as rating_unit, {gt} as gt_unit,
               length, {PROBABILITY}, scale_low, scale_high, group_code, reference_code, prompt,
               {", ".join(asked_in("occasion"))}, occasion_code
        from ({named}) as sorted left join ({groups}) using (group_code)"""
    write_rows(connection, query, ratings, as_metadata(levels))
    # A join keeps the order of its left side only if DuckDB takes the right one for the smaller and
    # it fits into memory.
    place = "(prompt, group_code, occasion_code)"
    before = f"select {place} as place, lag({place}) over () as last from {files([ratings])}"
    if connection.execute(f"select 1 from ({before}) where place <= last limit 1").fetchone():
        write_rows(
            connection,
            f"{query} order by prompt, group_code, occasion_code",
            ratings,
            as_metadata(levels),
        )


def _enum(names: Sequence[str]) -> str:
    """SQL for the type of these names."""
    return f"enum({', '.join(map(text, dict.fromkeys(names)))})"
