"""The raw files of a study checked row by row: what is wrong is named by file, line and column, what is right is passed on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from judgebias.database import connect, create_table, files, text
from judgebias.errors import DataError
from judgebias.ratings.registry import Registry
from judgebias.ratings.row_counts import CheckedRows
from judgebias.settings import MOST_LEVELS
from judgebias.sources.checks import (
    KNOWN_MODEL,
    LENGTHS,
    NAMES_MODEL,
    NAMES_PROMPT,
    RATING_ON_SCALE,
    Check,
    RatingsFile,
    checked_columns,
    fault_number,
    place_of,
    raise_first_fault,
    reading,
    select_rows,
)
from judgebias.sources.imported import families_in

OBSERVED = "observed"

CHECKS = (
    Check("judge", "judge is null", "which names no judge", "'write the id of the judge'"),
    NAMES_MODEL,
    Check("dataset", "dataset is null", "which names no dataset", "'write the name of the dataset'"),
    NAMES_PROMPT,
    Check(
        "judge",
        "judge_name is null",
        "an id that the registry does not know",
        "'write a known id or add this one to a model under `models:` in config'",
    ),
    KNOWN_MODEL,
    Check(
        "dimension",
        "named is not null and dimension is distinct from named",
        "which is not the dimension that config gives this file",
        "'write ' || named || ', or list the file for the other dimension under `files:` in config'",
    ),
    Check(
        "dimension",
        "scale_high is null",
        "a dimension of no declared scale",
        "'add it with its scale under `scales:` of the study in config'",
    ),
    Check(
        "dataset",
        "task_type is null",
        "a dataset of no declared task type",
        "'add it under `task_types:` of the study in config'",
    ),
    *RATING_ON_SCALE,
    Check(
        "gt",
        "gt is not null and gt_number is null",
        "which is not a number",
        "'write a number from ' || scale_low || ' to ' || scale_high || ', or leave it empty if missing'",
    ),
    Check(
        "gt",
        "gt_number is not null and not gt_number between scale_low and scale_high",
        "which is off the scale of the dimension",
        "'write a number from ' || scale_low || ' to ' || scale_high",
    ),
    Check(
        "pred_length",
        f"pred_length is not null and (length is null or not length {LENGTHS})",
        "which is not a length",
        "'write a number of tokens, 0 or more, or leave it empty if missing'",
    ),
)


@dataclass(frozen=True)
class StudyFiles:
    """What a study says of its raw data.

    `scales` maps a dimension to its (lowest, highest) rating, or to OBSERVED: 0 to the highest rating or gt found, which is
    what the published code of Play Favorites does. `task_types` maps a dataset to its task type; empty: any dataset, no type.
    """

    files: Sequence[RatingsFile]
    scales: Mapping[str, Sequence[int] | str]
    task_types: Mapping[str, str]
    registry: Registry

    @classmethod
    def from_config(
        cls, raw: Sequence[str], dimensions: Sequence[str | None], *, scales: Mapping, task_types: Mapping, models: Mapping
    ) -> "StudyFiles":
        """Read what config says of a study: the files `raw`, each with its dimension or None, task types and models."""
        files = [RatingsFile(path, dimension) for path, dimension in zip(raw, dimensions, strict=True)]
        types = {dataset: task_type for task_type, datasets in task_types.items() for dataset in datasets}
        return cls(files, scales, types, Registry.from_config(models).with_families(families_in(raw)))


def check_rows(source: StudyFiles, folder: str) -> CheckedRows:
    """Pass over every raw file once, to a file in `folder`, and count its faults; DataError about the first of all files."""
    connection, typed, scales = _open(source)
    names = sorted(source.registry.families)
    paths, faults = [f"{folder}/{number}.parquet" for number in range(len(typed))], []
    for file, rows, path in zip(source.files, typed, paths, strict=True):
        with reading(file.path):
            query = f"copy (select {coded(names)} from ({rows})) to {text(path)} (format parquet, compression uncompressed)"
            count = connection.execute(query).fetchone()[0]
        if count == 0 and not file.path.endswith(".parquet"):  # of parts, some may have no rows
            raise DataError(f"{file.path}: the file holds no rows; it needs one row per judge, model and prompt")
        found = connection.execute(f"select count(fault) from {files([path])}").fetchone()[0]
        faults += [(file.path, rows, found)] if found else []
    if faults:
        _, rows, _ = min(faults)
        raise_first_fault(connection, f"({rows})", CHECKS, faults=sum(found for _, _, found in faults))
    return CheckedRows(paths, dict(sorted(scales.items())), names)


def raise_twice(source: StudyFiles, twice: tuple[str, str, str, str]) -> None:
    """Raise DataError about a judge, model, dimension and prompt that stands `twice`, naming the two places."""
    connection, typed, _ = _open(source)
    places = []
    for rows in typed:
        same = "judge_name = ? and model_name = ? and dimension = ? and prompt_id = ?"
        places += connection.execute(f"select file, record from ({rows}) where {same} order by all limit 2", twice).fetchall()
    first, second = (place_of(*place) for place in sorted(places)[:2])
    judge, model, dimension, prompt = twice
    raise DataError(
        f"{second}, column prompt_id: judge '{judge}', model '{model}', dimension '{dimension}' and "
        f"prompt '{prompt}' stand already in {first}; keep one of the two rows"
    )


def _open(source: StudyFiles) -> tuple[duckdb.DuckDBPyConnection, list[str], dict[str, tuple[int, int]]]:
    """A connection, SQL for the rows of each file on it, and the scales."""
    connection = connect()
    rows = [select_rows(file, checked_columns(connection, file)) for file in source.files]
    return connection, *typed_rows(connection, source, rows)


def typed_rows(
    connection: duckdb.DuckDBPyConnection, source: StudyFiles, rows: Sequence[str]
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """SQL, on this connection, for the typed rows of each file from its `rows` as texts (SQL); and the scales."""
    scales = _create_lookups(connection, source, rows)
    return [_typed(sql, any_dataset=not source.task_types) for sql in rows], scales


def coded(names: Sequence[str]) -> str:
    """SQL for the columns of CheckedRows, and the number of the fault, of typed rows; names: of all models, rising."""
    key = f"(dimension_place::bigint * {len(names)} + judge_place) * {len(names)} + model_place"
    return f"{key} as key, dataset, prompt_id, try_cast(rating_number as integer) as rating, gt_number as gt, length, fault"


def _create_lookups(connection: duckdb.DuckDBPyConnection, source: StudyFiles, rows: Sequence[str]) -> dict:
    """Create the tables of what config knows, each level with its place; the scales, also those that are observed."""
    registry = source.registry
    place = {name: place for place, name in enumerate(sorted(registry.families))}
    known = ((model_id, name, place[name]) for model_id, name in registry.names.items())
    create_table(connection, "registry", "id varchar, name varchar, place integer", known)
    scales = {
        dimension: (0, _highest(connection, source.files, rows, dimension)) if scale == OBSERVED else tuple(scale)
        for dimension, scale in source.scales.items()
    }
    places = ((dimension, *scales[dimension], place) for place, dimension in enumerate(sorted(scales)))
    create_table(connection, "scales", "dimension varchar, low bigint, high bigint, place integer", places)
    create_table(connection, "datasets", "dataset varchar, task_type varchar", source.task_types.items())
    return scales


def _highest(connection: duckdb.DuckDBPyConnection, files: Sequence[RatingsFile], rows: Sequence[str], dimension: str) -> int:
    """Highest finite rating or gt of a dimension, rounded up; DataError if it makes no scale."""
    found = []
    for file, sql in zip(files, rows, strict=True):
        numbers = (
            f"select record, greatest(try_cast(rating as double), try_cast(gt as double)) as x from ({sql}) where dimension = ?"
        )
        with reading(file.path):
            query = f"select max(x), arg_max(record, x) from ({numbers}) where isfinite(x)"
            highest, record = connection.execute(query, [dimension]).fetchone()
        found += [] if highest is None else [(highest, file.path, record)]
    highest, path, record = max(found, default=(0, ", ".join(file.path for file in files), None))
    if not 0 < highest < MOST_LEVELS:
        where = path if record is None else place_of(path, record)
        raise DataError(
            f"{where}: scales: {dimension}: observed: the highest rating or gt found is {highest:g}, which makes no scale "
            f"from 0 to at most {MOST_LEVELS - 1}; declare the scale as [lowest, highest]"
        )
    return math.ceil(highest)


def _typed(rows: str, *, any_dataset: bool) -> str:
    """SQL for the rows of a file: numbers as numbers, ids looked up, what does not fit NULL, and the number of its fault.

    A gt of -0 is 0.
    """
    return f"""
        select *, {fault_number(CHECKS)} as fault from (
            select rows.*, judges.name as judge_name, judges.place as judge_place, models.name as model_name,
                   models.place as model_place, scales.low as scale_low, scales.high as scale_high,
                   scales.place as dimension_place, {"''" if any_dataset else "datasets.task_type"} as task_type,
                   try_cast(rating as double) as rating_number, try_cast(gt as double) + 0 as gt_number,
                   try_cast(pred_length as double) as length
            from ({rows}) as rows
            left join registry as judges on rows.judge = judges.id
            left join registry as models on rows.model = models.id
            left join scales using (dimension)
            left join datasets using (dataset))"""
