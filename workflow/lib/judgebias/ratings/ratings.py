"""From files of judge ratings to the canonical ratings, checked row by row, and their completeness: in one go, or by shards.

A study of many rows is scattered over jobs and gathered: `check_files` for each group of its raw files, `plan_study` for all
of them together, `write_shard` for each shard of the canonical table. `normalise` is the same for one group and one shard.
"""

from collections.abc import Sequence

from judgebias.database import connect, empty_folder, text
from judgebias.errors import DataError
from judgebias.ratings.canonical import first_twice, sort_rows, write_sorted
from judgebias.ratings.checked_rows import StudyFiles, check_rows, raise_twice
from judgebias.ratings.plan import Plan, plan_shards
from judgebias.ratings.row_counts import CheckedRows
from judgebias.ratings.summaries import prompts_by_dimension, read_summaries, summarise
from judgebias.tables import COMPLETENESS, write_table


def normalise(study: str, source: StudyFiles, *, ratings: str, completeness: str) -> None:
    """Write the canonical ratings (parquet) and the completeness table (CSV) of a study.

    Ratings have the columns judge, model, judge_family, model_family, dimension, dataset, task_type, prompt_id, rating and gt
    (raw), rating_unit and gt_unit ((x - lowest) / (highest - lowest) of the dimension's scale), length (tokens or NULL),
    scale_low, scale_high, and the codes group_code, reference_code (see judgebias.ratings.codes) and prompt, which counts the
    prompts from 0; they are sorted by prompt_id and group_code. A row without rating, or without gt or pred_length where any
    row of the study has one, is left out and counted; where no row has a gt it is NULL.

    The rows pass by way of files in a folder beside `ratings`, gone afterwards, so that there may be more of them than memory
    holds.

    Raises DataError naming file, line and column for: a missing file or column, a CSV file or a study without rows, text in a
    number, a value off its scale, an id or dimension or dataset that config does not know, a judge-model-dimension-prompt that
    stands twice.
    """
    with empty_folder(f"{ratings}.unsorted") as folder:
        checked, summary = check_rows(source, folder), f"{folder}/summary.parquet"
        summarise(checked, summary)
        plan, rows = _planned(study, source, checked, [summary], shards=1)
        _write(source, checked, plan, 0, ratings=ratings, folder=folder)
    write_table(completeness, COMPLETENESS, ({"study": study, **row} for row in rows))


def check_files(source: StudyFiles, *, checked: str, summary: str) -> None:
    """Check some of a study's raw files, as `normalise` does, and write their rows by prompt_id, and what is in them (parquet).

    Sorted, the rows of one shard are found without reading those of the others.
    """
    with empty_folder(f"{checked}.unsorted") as folder:
        rows = check_rows(source, folder)
        summarise(rows, summary)
        columns = "key, dataset, prompt_id, rating, gt, length"
        ordered = f"select {columns} from {rows.sql} order by prompt_id"
        connect().execute(f"copy ({ordered}) to {text(checked)} (format parquet, compression zstd)")


def plan_study(study: str, source: StudyFiles, *, summaries: Sequence[str], shards: int, plan: str, completeness: str) -> None:
    """Write the plan (JSON) of so many shards, and the completeness table (CSV), from the summaries of all raw files."""
    planned, rows = _planned(study, source, _checked_by_shards(source, ()), summaries, shards=shards)
    planned.write(plan)
    write_table(completeness, COMPLETENESS, ({"study": study, **row} for row in rows))


def write_shard(source: StudyFiles, *, checked: Sequence[str], plan: str, shard: int, ratings: str) -> None:
    """Write the canonical ratings (parquet) of one shard, from 0, of the `plan`, from the `checked` rows of all raw files.

    The shards one after the other are what `normalise` writes. DataError if a judge-model-dimension-prompt stands twice.
    """
    with empty_folder(f"{ratings}.unsorted") as folder:
        rows = _checked_by_shards(source, checked)
        _write(source, rows, Plan.read(plan), shard, ratings=ratings, folder=folder)


def _checked_by_shards(source: StudyFiles, paths: Sequence[str]) -> CheckedRows:
    """The rows in the files of `check_files`; every scale is declared, as none is observed before all files are read."""
    return CheckedRows(paths, dict(sorted(source.scales.items())), sorted(source.registry.families))


def _planned(
    study: str, source: StudyFiles, checked: CheckedRows, summaries: Sequence[str], *, shards: int
) -> tuple[Plan, list[dict]]:
    """The plan, and the rows of the completeness table; DataError if there is no row."""
    summary = read_summaries(summaries, checked)
    if not summary.datasets:
        where = ", ".join(file.path for file in source.files) or f"studies: {study}: files"
        raise DataError(f"{where}: no file holds a row; the study needs one row per judge, model and prompt")
    plan = plan_shards(
        summary, scales=checked.scales, families=source.registry.families, task_types=source.task_types, shards=shards
    )
    return plan, list(summary.counts.completeness(prompts_by_dimension(summary, [*checked.scales])))


def _write(source: StudyFiles, checked: CheckedRows, plan: Plan, shard: int, *, ratings: str, folder: str) -> None:
    connection, ordered = connect(), f"{folder}/sorted.parquet"
    sort_rows(connection, checked, plan.levels, plan.shards[shard], ordered)
    twice = first_twice(connection, ordered, plan.levels)
    if twice is not None:
        raise_twice(source, twice)
    write_sorted(connection, ordered, plan, first=plan.shards[shard].number, ratings=ratings)
