"""From files of judge ratings to the canonical ratings, checked row by row, and their completeness:
at once, or by shards.

By shards: `check_files` for each group of raw files, `plan_study` for all groups together,
`write_shard` for each shard.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recuse.base.database import (
    Connection,
    connect,
    create_table,
    error_of_duckdb,
    files,
    footer,
    read_footer,
    text,
    write_rows,
)
from recuse.base.errors import DataError, check_known
from recuse.base.outputs import empty_folder, work_folder
from recuse.base.settings import Setting
from recuse.base.tables import column_names, write_table
from recuse.data.cells import Cells, Levels, Need, cells_of_counts
from recuse.data.codes import COLUMNS, ONE, CodedRows, code_checked, code_rows
from recuse.data.counts import NUMBER, check_counts, counts_files, raise_no_prompts, repeat_rows
from recuse.data.faults import (
    DECLARED_SCALE,
    IS_LENGTH,
    IS_PROBABILITY,
    NAMED,
    Check,
    fault_number,
    filled,
    known,
    on_scale,
    raise_first_fault,
)
from recuse.data.files import (
    OPTIONAL,
    PROBABILITY,
    READ,
    REQUIRED,
    RatingsFile,
    reading,
    record_place,
    texts_as_read,
)
from recuse.data.lines import check_declared, check_filled, check_lines
from recuse.data.registry import (
    DEFAULT,
    IMPORTED_SCALES,
    MOST_LEVELS,
    OBSERVED,
    Registry,
    scale_for,
)
from recuse.data.shards import (
    ShardPlan,
    Summary,
    first_repeated_row,
    plan_shards,
    summarise,
    write_sorted,
)

SUMMARY = "summary"  # key of the metadata in a summary's footer
COMPLETENESS = column_names(
    "study dimension judge model prompts absent missing_rating missing_gt missing_length used",
)

ON_ONE_LINE = {*REQUIRED, *OPTIONAL} - {"prompt_id", "wording"}  # these may be their own ids
CHECKS = (
    NAMED["judge"],
    NAMED["model"],
    filled("dataset", "the name of the dataset"),
    NAMED["prompt"],
    known("judge"),
    known("model"),
    Check(
        "dimension",
        "named is not null and dimension is distinct from named",
        "which is not the dimension that config gives this file",
        "write {named}, or list the file under the other dimension at `files:` in config",
    ),
    DECLARED_SCALE,
    Check(
        "dataset",
        "task_type is null",
        "a dataset without a declared task type",
        "add it under `task_types:` of the study in config",
    ),
    *on_scale("rating", "an integer"),
    *on_scale("gt", "a number"),
    IS_LENGTH,
    IS_PROBABILITY,
)
# A row breaks a check if its values in one of these sets of columns do: each combination that
# occurs is checked once.
TOGETHER = (
    ("judge",),
    ("model",),
    ("dataset",),
    ("prompt_id",),
    ("named", "dimension", "rating"),
    ("named", "dimension", "gt"),
    ("pred_length",),
    ("occasion",),
    (PROBABILITY,),
)
# Of a checked row: the column as it is stored, and what its value means
MEANINGS = {
    "judge": ("judge", "judge_name"),
    "model": ("model", "model_name"),
    "dataset": ("dataset", "dataset"),
    "prompt_id": ("prompt_id", "prompt_id"),
    "dimension": ("dimension", "dimension"),
    "rating": ("rating", "try_cast(rating_number as integer)"),
    "gt": ("gt", "gt_number"),
    "length": ("pred_length", "length"),
    "occasion": ("occasion", "occasion"),
    PROBABILITY: (PROBABILITY, "probability"),
}


@dataclass(frozen=True)
class StudyFiles:
    """The raw files of a study, and what config declares about their rows."""

    files: Sequence[RatingsFile]
    # (lowest, highest) rating of each dimension, of DEFAULT for all that are not named; OBSERVED: 0
    # to the highest rating or gt, as in Play Favorites' code.
    scales: Mapping[str, Sequence[int] | str]
    task_types: Mapping[str, str]  # of each dataset; empty: any dataset, no type
    registry: Registry
    declared: Mapping[str, Mapping] | None = None  # path -> what it must be, see recuse.data.lines
    # Of imported ratings, which are in these: 1 if not named
    steps: Mapping[str, float] = field(default_factory=dict)
    trusted: Sequence[str] = ()  # judges, by any spelling
    lacks: Sequence[Need] = ()  # what the rows do not say, which are counts then

    @classmethod
    def from_files(
        cls,
        raw: Sequence[str],
        dimensions: Sequence[str | None],
        *,
        scales: Mapping,
        task_types: Mapping,
        models: Mapping,
        imported: bool = False,
        declared: Mapping | None = None,
        trusted: Sequence[str] = (),
        counts: str = "",
    ) -> "StudyFiles":
        """Read config: the files `raw`, each with its dimension or None, and scales, task types,
        models, `verify` and `trusted`.

        imported: whether the files are what an import wrote; they then say what the scales are.
        counts: the column that says how many ratings a row stands for, if not one.
        """
        files = [
            RatingsFile(path, dimension) for path, dimension in zip(raw, dimensions, strict=True)
        ]
        lacks = []
        if counts:
            files, lacks = counts_files(files, counts)
        types = {
            dataset: task_type for task_type, datasets in task_types.items() for dataset in datasets
        }
        footers = [read_footer(file.path, IMPORTED_SCALES) for file in files] if imported else []
        of_import = next(filter(None, footers), {"scales": scales, "steps": {}})
        registry = Registry.from_config(models, imported=imported)
        return cls(
            files,
            of_import["scales"],
            types,
            registry,
            declared,
            of_import["steps"],
            trusted,
            lacks,
        )


def normalise_ratings(study: str, source: StudyFiles, *, ratings: str, completeness: str) -> Cells:
    """Write the canonical ratings (parquet) and the completeness table (CSV) of a study; return the
    cells.

    Ratings have the columns judge, model, judge_family, model_family, dimension, dataset,
    task_type, prompt_id, rating and gt (raw), rating_unit and gt_unit ((x - lowest) / (highest -
    lowest) of the dimension's scale), length (tokens or NULL), scale_low, scale_high, occasion,
    wording, replicate (text or NULL), and the codes group_code, reference_code (see
    recuse.data.cells), prompt, from 0, of each prompt_id in each dataset, and occasion_code, of the
    three; they are sorted by prompt_id, dataset, group_code and occasion_code. A row without rating
    is left out and counted. One without gt, or without pred_length, is counted and kept: what needs
    it leaves the row out. Memory need not hold all rows, which are read several times.

    Raises DataError naming file, line and column for a missing file or column, a CSV file or a
    study without rows, what CHECKS refuses, and a judge-model-dimension-dataset-prompt that occurs
    twice, unless occasion, wording or replicate differ.
    """
    check_prompts(source)
    coded, levels, cells = check_ratings(study, source, ratings=ratings, completeness=completeness)
    repeat_counts(source, coded)
    write_sorted(coded, levels, first=0, ratings=ratings)
    return cells


def check_prompts(source: StudyFiles) -> None:
    """Raise DataError about counts that are not by prompt."""
    if Need.PROMPTS in source.lacks:
        raise_no_prompts(source.files[0].path)


def repeat_counts(source: StudyFiles, coded: CodedRows) -> None:
    """Expand counts into rows, which are none without prompts; DataError about too many."""
    if source.lacks:
        repeat_rows(coded, by_prompt=Need.PROMPTS not in source.lacks, place=_paths(source.files))


def in_units(ratings: Sequence[str], steps: Mapping[str, float], columns: Sequence[str]) -> str:
    """SQL for the rows of ratings (parquet files) with these columns in the units of the user's
    files.

    steps: dimension -> what they count in; 1 if not named.
    """
    of = " ".join(
        f"when {text(dimension)} then {step!r}::double"
        for dimension, step in steps.items()
        if step != 1
    )
    values = ", ".join(
        f"round({column} * case dimension {of} else 1 end, 12) as {column}" for column in columns
    )
    return f"select * replace ({values}) from {files(ratings)}" if of else f"from {files(ratings)}"


def check_ratings(
    study: str, source: StudyFiles, *, ratings: str, completeness: str
) -> tuple[CodedRows, Levels, Cells]:
    """Check a study's rows and write the completeness table, as `normalise_ratings` does, and
    raise what it raises; ratings: the path of the canonical ratings, which are not written.
    """
    with empty_folder(work_folder(ratings)) as folder, reading(_paths(source.files)):
        coded, scales = _check_rows(source, folder)
        rest, prompts = summarise(coded)
        summary = Summary.add_up(coded.connection, [rest], prompts)
        plan, rows = _planned(study, source, scales, summary, shards=1)
        if not any(row["used"] for row in rows):
            place = _paths(source.files)
            raise DataError(f"{place}: no complete row: each lacks the rating; fill it in")
        cells = _count(coded, plan.levels)
        if not source.lacks:
            _raise_repeated(source, coded)
    write_table(completeness, COMPLETENESS, rows)
    return coded, plan.levels, cells


def _count(coded: CodedRows, levels: Levels) -> Cells:
    """The cells of checked rows."""
    counts = (
        "select group_code, gt as reference_code, rating, sum(n)::bigint as n from coded"
        " where rating is not null group by all"
    )
    rows = coded.connection.execute(coded.named(counts, ["rating"])).fetchnumpy()
    return cells_of_counts(levels, rows)


def _paths(files: Sequence[RatingsFile]) -> str:
    return ", ".join(file.path for file in files)


def check_files(source: StudyFiles, *, checked: str, summary: str) -> None:
    """Check some of a study's raw files, as `normalise_ratings` does; write their rows, sorted by
    prompt_id, and a summary (parquet).

    Sorted, the rows of one shard are found without reading the others.
    """
    with empty_folder(work_folder(checked)) as folder, reading(_paths(source.files)):
        coded, _ = _check_rows(source, folder)
        rest, prompts = summarise(coded)
        write_rows(coded.connection, prompts, summary, footer(SUMMARY, rest))
        write_rows(
            coded.connection, coded.named(f"{coded.rows()} order by prompt_id", COLUMNS), checked
        )


def plan_study(
    study: str,
    source: StudyFiles,
    *,
    summaries: Sequence[str],
    shards: int,
    plan: str,
    completeness: str,
) -> None:
    """Write the plan (JSON) of so many shards, and the completeness table (CSV), from the summaries
    of all raw files.

    Every scale must be declared: none can be observed before all files are read.
    """
    parts = [read_footer(path, SUMMARY) for path in summaries]
    summary = Summary.add_up(connect(), parts, f"from {files(summaries)}")
    planned, rows = _planned(study, source, source.scales, summary, shards=shards)
    planned.write(plan)
    write_table(completeness, COMPLETENESS, rows)


def write_shard(
    source: StudyFiles, *, checked: Sequence[str], plan: str, shard: int, ratings: str
) -> None:
    """Write the canonical ratings (parquet) of one shard, from 0, of the `plan`, from the `checked`
    rows of all raw files.

    All shards in order are what `normalise_ratings` writes. DataError if a
    judge-model-dimension-dataset-prompt occurs twice.
    """
    read = ShardPlan.read(plan)
    coded = code_checked(connect(), checked, read.levels, read.shards[shard].sql)
    _raise_repeated(source, coded)
    write_sorted(coded, read.levels, first=read.shards[shard].number, ratings=ratings)


def _planned(
    study: str, source: StudyFiles, scales: Mapping, summary: Summary, *, shards: int
) -> tuple[ShardPlan, list[dict]]:
    if not summary.datasets:
        place = _paths(source.files) or f"studies: {study}: files"
        raise DataError(
            f"{place}: no file holds a row; the study needs one row per judge, model and prompt"
        )
    families = {
        name: source.registry.family(name) for _, *names in summary.counts for name in names
    }
    trusted = [source.registry.names.get(name, name) for name in source.trusted]
    check_known(["trusted"], trusted, {judge for _, judge, _ in summary.counts}, "the judges")
    plan = plan_shards(
        summary,
        scales=scales,
        steps=source.steps,
        families=families,
        task_types=source.task_types,
        trusted=trusted,
        lacks=source.lacks,
        shards=shards,
    )
    return plan, [{"study": study, **row} for row in summary.completeness()]


def _check_rows(source: StudyFiles, folder: str) -> tuple[CodedRows, dict[str, tuple[int, int]]]:
    """The rows of the raw files, and the scales; temporary files stay in `folder`. DataError about
    the first fault.
    """
    check_declared([file.path for file in source.files], source.declared)
    connection, kept = connect(), {}
    for number, file in enumerate(source.files):
        kept[file.path] = _kept_rows(connection, file, f"{folder}/{number}.parquet")
    try:
        if source.lacks:
            check_counts(connection, source.files)
        typed, scales = _open(connection, source, kept)
        # Types of columns -> SQL for the rows of files that have these
        alike: dict[tuple, list[str]] = {}
        for rows in kept.values():
            types = tuple(kind for _, kind, *_ in connection.execute(f"describe {rows}").fetchall())
            alike.setdefault(types, []).append(rows)
        tables, faults = [], 0
        for number, parts in enumerate(alike.values()):
            rows = " union all ".join(parts)
            faults += _check_values(connection, rows, typed, f"values_{number}")
            tables.append((rows, _meanings(f"values_{number}")))
        if faults:
            raise_first_fault(connection, f"({typed.format(_texts(source.files))})", CHECKS)
        return code_rows(connection, tables, n=NUMBER if source.lacks else ONE), scales
    except error_of_duckdb():
        for path, rows in kept.items():
            with reading(path):
                connection.execute(f"select max(hash(columns(*))) from ({rows})")
        raise


def _texts(files: Sequence[RatingsFile]) -> str:
    return " union all ".join(file.texts() for file in files)


def _meanings(values: str) -> dict[str, tuple[str, str]]:
    """What is coded, as of `code_rows`, by the table of `_check_values`."""
    meanings = {}
    for column, (stored, value) in MEANINGS.items():
        meant = f"stored_{stored} as stored, {value} as value"
        meanings[column] = stored, f"select distinct {meant} from {values}"
    return meanings


def _kept_rows(connection: Connection, file: RatingsFile, copy: str) -> str:
    """SQL for the rows of a file as they are stored; of one that is not parquet, those of a copy,
    so that it is read once. DataError about its lines.
    """
    rows = f"select * exclude (file, record) from ({file.stored()})"
    if file.path.endswith(".parquet"):
        return rows
    with reading(file.path):
        count = write_rows(connection, rows, copy, compression="uncompressed")
    check_filled(file.path, count, "judge, model and prompt")  # parts may have no rows
    check_lines(file.path, count, ON_ONE_LINE)
    return f"from {files([copy])}"


def _check_values(connection: Connection, rows: str, typed: str, table: str) -> int:
    """Create the table of the values in rows, typed, with their place in TOGETHER as `part`; return
    how many break a check.
    """
    checks = []
    for check in CHECKS:
        parts = (str(part) for part, columns in enumerate(TOGETHER) if check.column in columns)
        checks.append(replace(check, broken=f"part in ({', '.join(parts)}) and ({check.broken})"))
    # The last column of each set is in no other
    parts = " ".join(
        f"when grouping({columns[-1]}) = 0 then {part}" for part, columns in enumerate(TOGETHER)
    )
    sets = ", ".join(f"({', '.join(columns)})" for columns in TOGETHER)
    values = (
        f"select case {parts} end as part, named, {', '.join(READ)} from ({rows})"
        f" group by grouping sets ({sets})"
    )
    stored = ", ".join(f"{column} as stored_{column}" for column in READ)
    texts = f"select part, named, {stored}, {texts_as_read()} from ({values})"
    connection.execute(
        f"create temp table {table} as select *, {fault_number(checks)} as fault from"
        f" ({typed.format(texts)})"
    )
    return connection.execute(f"select count(fault) from {table}").fetchone()[0]


def _raise_repeated(source: StudyFiles, coded: CodedRows) -> None:
    """Raise DataError about a judge, model, dimension, dataset, prompt_id and occasion that occur
    twice, if any do.
    """
    repeated = first_repeated_row(coded)
    if repeated is None:
        return
    judge, model, dimension, dataset, prompt, occasion = repeated
    spellings = [
        [name, *(spelling for spelling, of in source.registry.names.items() if of == name)]
        for name in (judge, model)
    ]
    connection = connect()
    rows = _texts(source.files)
    same = "judge in ? and model in ? and dimension = ? and dataset = ? and prompt_id = ?"
    same += " and occasion is null" if occasion is None else f" and occasion = {text(occasion)}"
    # The first two as the files are read, which ends there: to join or order millions of equal rows
    # takes minutes.
    places = connection.execute(
        f"select file, record from ({rows}) where {same} limit 2",
        [*spellings, dimension, dataset, prompt],
    )
    first, second = (record_place(*place) for place in sorted(places.fetchall()))
    repeats = (
        ", or, if the answer was rated more than once, say by a column `wording` or `replicate`"
        " which rating it is"
    )
    if source.registry.imported:
        repeats += f", or {Setting('repeats').given('mean', 'first', 'last')}"
    raise DataError(
        f"{second}, column prompt_id: judge '{judge}', model '{model}', dimension '{dimension}',"
        f" dataset '{dataset}' and prompt '{prompt}' are already in {first}; keep one of the two"
        f" rows{repeats}"
    )


def _open(
    connection: Connection, source: StudyFiles, kept: Mapping[str, str]
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Create the tables of the names that config lists, and find the scales; kept: path -> SQL for
    the rows of a file.

    The first is SQL on the connection for typed rows, with {} for those of `RatingsFile.texts`.
    """
    registry = source.registry
    scales = {
        dimension: (
            (0, _highest(connection, source.files, dimension))
            if scale == OBSERVED
            else tuple(scale)
        )
        for dimension, scale in _scales_by_name(connection, source, kept).items()
    }
    create_table(connection, "registry", "id varchar, name varchar", registry.names.items())
    bounds = ((dimension, low, high) for dimension, (low, high) in scales.items())
    create_table(connection, "scales", "dimension varchar, low bigint, high bigint", bounds)
    create_table(
        connection, "datasets", "dataset varchar, task_type varchar", source.task_types.items()
    )
    # Numbers as numbers (a gt of -0 is 0), ids looked up, NULL for what does not fit.
    typed = f"""
        select rows.*, {registry.sql_name("judges.name", "judge")} as judge_name,
               {registry.sql_name("models.name", "model")} as model_name, scales.low as scale_low, scales.high as scale_high,
               {"datasets.task_type" if source.task_types else "''"} as task_type, as_number(rating) as rating_number,
               as_number(gt) + 0 as gt_number, as_number(pred_length) as length, as_number({PROBABILITY}) as probability
        from ({{}}) as rows
        left join registry as judges on rows.judge = judges.id
        left join registry as models on rows.model = models.id
        left join scales using (dimension)
        left join datasets using (dataset)"""
    return typed, scales


def _scales_by_name(
    connection: Connection, source: StudyFiles, kept: Mapping[str, str]
) -> dict[str, Sequence[int] | str]:
    """The scale of each dimension by its name: those in the files may have the default one."""
    named = {dimension: scale for dimension, scale in source.scales.items() if dimension != DEFAULT}
    if DEFAULT in source.scales:
        texts = " union all ".join(
            f"select named, {texts_as_read()} from ({rows})" for rows in kept.values()
        )
        found = f"select distinct dimension from ({texts}) where dimension is not null order by all"
        for (dimension,) in connection.execute(found).fetchall():
            named[dimension] = scale_for(source.scales, dimension)
    return named


def _highest(connection: Connection, files: Sequence[RatingsFile], dimension: str) -> int:
    """Highest finite rating or gt of a dimension, rounded up; DataError if it makes no scale."""
    score = "greatest(as_number(rating), as_number(gt))"
    scores = f"select file, record, {score} as x from ({_texts(files)}) where dimension = ?"
    query = f"select max(x), arg_max(file, x), arg_max(record, x) from ({scores}) where isfinite(x)"
    highest, path, record = connection.execute(query, [dimension]).fetchone()
    if highest is None or not 0 < highest < MOST_LEVELS:
        place = _paths(files) if path is None else record_place(path, record)
        raise DataError(
            f"{place}: scales: {dimension}: observed: the highest rating or gt found is"
            f" {highest or 0:g}, which makes no scale from 0 to at most {MOST_LEVELS - 1}; declare the"
            " scale as [lowest, highest]"
        )
    return math.ceil(highest)
