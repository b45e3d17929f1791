"""What is to be known of all rows of a study before any is written, additive over the groups of files checked apart."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.database import connect, files, literal_path, text
from judgebias.ratings.row_counts import COUNTED, COUNTS, CheckedRows, RowCounts

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
