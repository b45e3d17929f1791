"""Cells straight from raw files in which nothing is wrong: no table of all rows is written, or sorted."""

from collections.abc import Sequence

import duckdb
import numpy as np

from judgebias.ratings.cells import Cells, cells_of_counts
from judgebias.ratings.checked_rows import StudyFiles, coded, typed_rows
from judgebias.ratings.codes import named_levels
from judgebias.ratings.row_counts import COUNTED, CheckedRows, complete_rows

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd: no two keys have one multiple of it, and those of near keys are far apart


def cells_of_distinct_rows(connection: duckdb.DuckDBPyConnection, source: StudyFiles, distinct: Sequence[str]) -> Cells | None:
    """Cells of the raw files of a study from their distinct rows (SQL, as by judgebias.sources.distinct_rows, for each file).

    The same that `normalise` and `build_cells` make of the files. None where these would raise an error: a file has no row, a
    row breaks a check, no row is complete. That no judge, model, dimension and prompt stands twice is for `repeated` to say.
    """
    typed, scales = typed_rows(connection, source, distinct)
    known = CheckedRows((), dict(sorted(scales.items())), sorted(source.registry.families))
    columns = f"{coded(known.names)}, prompts"
    every = " union all ".join(f"select {columns}, {number} as file from ({rows})" for number, rows in enumerate(typed))
    connection.execute(f"create temp table typed_rows as {every}")
    found = "select count(fault), count(gt), count(length), count(distinct file) from typed_rows"
    faults, scores, lengths, not_empty = connection.execute(found).fetchone()
    if faults or not_empty < len(distinct):
        return None
    complete = COUNTED[complete_rows(human=scores > 0, length=lengths > 0)]
    counted = connection.execute(f"""
        select key, place, gt as reference, rating, sum(len(prompts))::bigint as n
        from typed_rows join (select dataset, row_number() over (order by dataset) - 1 as place
                              from (select distinct dataset from typed_rows)) using (dataset)
        where {complete} group by all""").fetchnumpy()
    return _coded_cells(connection, source, known, counted) if len(counted["n"]) else None


def _coded_cells(connection: duckdb.DuckDBPyConnection, source: StudyFiles, known: CheckedRows, counted: dict) -> Cells:
    datasets = connection.execute("select distinct dataset from typed_rows order by all").fetchall()
    keys = connection.execute("select distinct key from typed_rows").fetchnumpy()["key"]
    found = [np.unique(places) for places in np.unravel_index(keys, known.shape)]  # with those of incomplete rows
    named = zip(([*known.scales], known.names, known.names), found, strict=True)
    levels = named_levels(
        *(np.array(names, dtype=str)[places].tolist() for names, places in named),
        datasets=[name for (name,) in datasets],
        references=(),
        scales=known.scales,
        families=source.registry.families,
        task_types=source.task_types,
    )
    places = np.unravel_index(counted.pop("key"), known.shape)
    axes = [np.searchsorted(levels, place) for levels, place in zip(found, places, strict=True)]
    return cells_of_counts(levels, counted | {"group_code": levels.code(*axes, counted["place"])})


def repeated(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a judge, model, dimension and prompt stands twice; it may also be that two hashes happen to be equal.

    Reads what `cells_of_distinct_rows` left on this connection.
    """
    found = connection.execute("select key, unnest(prompts) as prompt from typed_rows").fetchnumpy()
    rows = found["prompt"] ^ (found["key"].astype(np.uint64) * SPREAD)  # equal where both are
    rows.sort()
    return bool((rows[1:] == rows[:-1]).any())
