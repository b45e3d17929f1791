"""From files of judge ratings to the canonical table `ratings.parquet`, checked row by row, and its completeness."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from judgebias.database import connect, create_table, empty_folder, text
from judgebias.errors import DataError
from judgebias.ratings.canonical import first_twice, prompts_by_dimension, sort_rows, write_sorted
from judgebias.ratings.codes import Levels
from judgebias.ratings.registry import Registry
from judgebias.ratings.row_counts import CheckedRows, RowCounts, count_rows
from judgebias.settings import MOST_LEVELS
from judgebias.sources.checks import (
    KNOWN_MODEL,
    NAMES_MODEL,
    NAMES_PROMPT,
    OPTIONAL,
    RATING_ON_SCALE,
    REQUIRED,
    Check,
    RatingsFile,
    check_columns,
    columns_of,
    fault_number,
    place_of,
    raise_first_fault,
    reading,
    select_rows,
)
from judgebias.tables import COMPLETENESS, write_table

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
        "pred_length is not null and (length is null or not length between 0 and 1e9)",
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


def normalise(study: str, source: StudyFiles, *, ratings: str, completeness: str) -> None:
    """Write the canonical ratings (parquet) and the completeness table (CSV) of a study.

    Ratings have the columns judge, model, judge_family, model_family, dimension, dataset, task_type, prompt_id, rating and gt
    (raw), rating_unit and gt_unit ((x - lowest) / (highest - lowest) of the dimension's scale), length (tokens or NULL),
    scale_low, scale_high, and the codes group, reference_code (see judgebias.ratings.codes) and prompt, which counts the
    prompts from 0; they are sorted by prompt_id and group. A row without rating, gt or (where the study has lengths)
    pred_length is left out and counted.

    The rows pass by way of files in a folder beside `ratings`, gone afterwards, so that there may be more of them than memory
    holds.

    Raises DataError naming file, line and column for: a missing file or column, an empty file, text in a number, a value off
    its scale, an id or dimension or dataset that config does not know, a judge-model-dimension-prompt that stands twice.
    """
    connection = connect()
    rows = [_select(connection, file) for file in source.files]
    scales = _create_lookups(connection, source, rows)
    typed = [_typed(sql, any_dataset=not source.task_types) for sql in rows]
    with empty_folder(f"{ratings}.unsorted") as folder:
        checked = _check_rows(connection, source, typed, folder)
        counts = count_rows(connection, checked)
        levels = _levels(connection, source, checked, counts, scales)
        ordered = f"{folder}/sorted.parquet"
        sort_rows(connection, checked, counts, levels, ordered)
        _check_unique(connection, source.files, typed, first_twice(connection, ordered, levels))
        write_sorted(connection, ordered, levels, complete=counts.complete, ratings=ratings)
        found = counts.completeness(prompts_by_dimension(connection, ordered, levels))
    write_table(completeness, COMPLETENESS, ({"study": study, **row} for row in found))


def _select(connection: duckdb.DuckDBPyConnection, file: RatingsFile) -> str:
    columns = columns_of(connection, file.path)
    named = file.dimension is not None  # then the column need not be there
    needed = REQUIRED if named else (*REQUIRED, "dimension")
    check_columns(file.path, columns, needed, [column for column in OPTIONAL if column not in needed])
    return select_rows(file, columns)


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
    """SQL for the rows of a file: numbers as numbers, ids looked up, what does not fit NULL, and the number of its fault."""
    return f"""
        select *, {fault_number(CHECKS)} as fault from (
            select rows.*, judges.name as judge_name, judges.place as judge_place, models.name as model_name,
                   models.place as model_place, scales.low as scale_low, scales.high as scale_high,
                   scales.place as dimension_place, {"''" if any_dataset else "datasets.task_type"} as task_type,
                   try_cast(rating as double) as rating_number, try_cast(gt as double) as gt_number,
                   try_cast(pred_length as double) as length
            from ({rows}) as rows
            left join registry as judges on rows.judge = judges.id
            left join registry as models on rows.model = models.id
            left join scales using (dimension)
            left join datasets using (dataset))"""


def _check_rows(connection: duckdb.DuckDBPyConnection, source: StudyFiles, typed: Sequence[str], folder: str) -> CheckedRows:
    """Pass over every file once, to a file in `folder`, and count the faults; DataError about the first."""
    dimensions, names = sorted(source.scales), sorted(source.registry.families)
    key = f"(dimension_place::bigint * {len(names)} + judge_place) * {len(names)} + model_place"
    columns = f"{key} as key, dataset, prompt_id, try_cast(rating_number as integer) as rating, gt_number as gt, length, fault"
    paths, faults = [f"{folder}/{number}.parquet" for number in range(len(typed))], []
    for file, rows, path in zip(source.files, typed, paths, strict=True):
        with reading(file.path):
            query = f"copy (select {columns} from ({rows})) to {text(path)} (format parquet, compression uncompressed)"
            count = connection.execute(query).fetchone()[0]
        if count == 0:
            raise DataError(f"{file.path}: the file holds no rows; it needs one row per judge, model and prompt")
        found = connection.execute(f"select count(fault) from read_parquet({text(path)})").fetchone()[0]
        faults += [(file.path, rows, found)] if found else []
    if faults:
        _, rows, _ = min(faults)
        raise_first_fault(connection, f"({rows})", CHECKS, faults=sum(found for _, _, found in faults))
    return CheckedRows(paths, dimensions, names)


def _levels(
    connection: duckdb.DuckDBPyConnection, source: StudyFiles, checked: CheckedRows, counts: RowCounts, scales: Mapping
) -> Levels:
    """What occurs in the rows, and what config says of it."""
    dimensions, judges, models = (np.unique(names).tolist() for names in counts.names.values())
    datasets, references = (
        [value for (value,) in connection.execute(f"select distinct {column} from {checked.sql} order by all").fetchall()]
        for column in ("dataset", "gt")
    )
    families = source.registry.families
    return Levels(
        dimension=dimensions,
        judge=judges,
        model=models,
        dataset=datasets,
        reference=[gt for gt in references if gt is not None],
        scale=[list(scales[name]) for name in dimensions],
        judge_family=[families[name] for name in judges],
        model_family=[families[name] for name in models],
        task_type=[source.task_types.get(name, "") for name in datasets],
    )


def _check_unique(
    connection: duckdb.DuckDBPyConnection, files: Sequence[RatingsFile], typed: Sequence[str], twice: tuple | None
) -> None:
    """DataError if there is a judge, model, dimension and prompt that stands `twice`, naming the two places."""
    if twice is None:
        return
    places = []
    for file, rows in zip(files, typed, strict=True):
        same = "judge_name = ? and model_name = ? and dimension = ? and prompt_id = ?"
        found = connection.execute(f"select record from ({rows}) where {same} order by record limit 2", twice).fetchall()
        places += [(file.path, record) for (record,) in found]
    first, second = (place_of(*place) for place in sorted(places)[:2])
    judge, model, dimension, prompt = twice
    raise DataError(
        f"{second}, column prompt_id: judge '{judge}', model '{model}', dimension '{dimension}' and "
        f"prompt '{prompt}' stand already in {first}; keep one of the two rows"
    )
