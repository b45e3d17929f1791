"""From judges' logs in any supported format to the raw ratings of a study: one table with human scores, and what went wrong.

Human scores are a column of the ratings, or in separate files, joined by model, prompt and dimension: one for each completion.
"""

from collections.abc import Iterator, Mapping, Sequence
from os.path import isfile

from recuse.base.database import Connection, connect, create_table, files, name, text, write_rows
from recuse.base.errors import DataError
from recuse.base.tables import IMPORTED, write_table
from recuse.base.words import enumerated, visible
from recuse.data.faults import DECLARED_SCALE, IS_LENGTH, NAMED, Check, first_twice, raise_first_fault
from recuse.data.files import SOURCE, as_number, header_of, place_of, reading
from recuse.data.imports.inspect_logs import EPOCH
from recuse.data.imports.logs import GOLD
from recuse.data.imports.readers import create_imported, recognised
from recuse.data.imports.rows import (
    ALL,
    FAILURE,
    OF_SCALE,
    Table,
    between_steps,
    create_scales,
    further,
    in_steps,
    value_checks,
    whole,
)
from recuse.data.imports.tools import READERS_OF_LOGS
from recuse.data.lines import check_declared, check_lines
from recuse.data.registry import FORMATS, HUMAN, RATED, Registry

CHECKS = (
    NAMED["judge"],
    Check("judge", f"judge = {text(HUMAN)}", "the name of the human scores in tables and figures", "'write another name'"),
    NAMED["model"],
    NAMED["prompt"],
    DECLARED_SCALE,
    *value_checks("rating"),
    *value_checks("gt", stepped=False),
    IS_LENGTH,
)
OTHER_DIMENSION = Check(
    "dimension",
    "scale_high is null and not observed",
    "a dimension that the study does not have",
    "'write one that is listed under `scales:` of the study in config'",
)
NO_SCORES = (
    "no rating has a human score: judges are compared only with other judges; if there are human scores, name their file under "
    "`references:` of `import` in config, or their column, `columns: {human: ...}`"
)
ROUNDED = "between two steps, rounded to the nearest"
KEY = ("model_name", "dimension", "prompt_id")  # of a completion, and its dataset if human scores have one
WORDS = {"model_name": "model", "model": "model", "dimension": "dimension", "prompt_id": "prompt", "dataset": "dataset"}
NEAR = 1e-9  # scores no farther apart are equal
NOT_IN_CONFIG = "not in config, taken as the only model of the family"


def import_ratings(
    study: str,
    paths: Sequence[str],
    references: Sequence[str],
    *,
    settings: Mapping,
    scales: Mapping,
    models: Mapping,
    outputs: Mapping[str, str],
    declared: Mapping[str, Mapping] | None = None,
) -> None:
    """Write the raw ratings of a study (parquet), its raters if there are any (parquet), and the table of what was imported.

    paths: the files of judgments, all in one format. references: the files of human scores. settings, scales, models: `import`,
    `scales` (in the units of the files) and `models` of config. outputs: paths of `ratings`, `imported` and, with single
    raters, `raters`. Ratings are written as whole numbers of steps, with the columns that `recuse.data.ratings.normalise`
    reads, `failure`, source_file, source_record, and every other column of the files, as text. A judge or model that config
    does not list is a family of its own, which is printed; prompts in several datasets, and what has no
    human score, are printed, too. Raises DataError naming file, line and column for whatever is wrong in a file, and if no
    completion with a human score is rated.
    """
    check_declared([*paths, *references], declared)
    connection, step, raters = connect(), settings.get("step", 1), "raters" in outputs
    registry = Registry.from_config(models, imported=True)
    create_table(connection, "registry", "id varchar, name varchar", registry.names.items())
    create_scales(connection, scales, settings)
    named, kept = create_imported(connection, paths, settings, RATED, scales=[*scales])
    connection.execute(f"""
        create temp view typed as
        select imported.*, coalesce(judges.name, judge) as judge_name, coalesce(models.name, model) as model_name,
               {OF_SCALE}, {as_number("rating")} as rating_number, {as_number("gt")} as gt_number
        from imported
        left join registry as judges on imported.judge = judges.id
        left join registry as models on imported.model = models.id
        left join declared using (dimension)""")
    raise_first_fault(connection, "typed", CHECKS, named=named)
    _check_one_score(connection, named.get("gt", "gt"))
    key = _create_human_scores(connection, references, settings.get("references", {}), scales=[*scales], raters=raters)
    rows = f"""
        select judge_name as judge, model_name as model, coalesce({in_steps("score", step)}, gt_step) as gt,
               dataset, prompt_id, rating_step as rating, {as_number("pred_length")} as pred_length,
               dimension, {FAILURE}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("typed", kept)}
        from (select *, {whole("rating_number", step)}::integer as rating_step,
                     {in_steps("gt_number", step)} as gt_step from typed) as typed
        left join human_scores using ({", ".join(key)})"""
    write_rows(connection, rows, outputs["ratings"])
    if raters:
        _write_raters(connection, outputs["raters"], key=key, step=step)
    rows = [*counts_of(connection, outputs["ratings"]), *_counts_of_scores(connection, key, raters=raters)]
    write_table(outputs["imported"], IMPORTED, ({"study": study, **row} for row in rows))
    names = connection.execute("select judge_name from typed union select model_name from typed order by all").fetchall()
    for (who,) in names:
        if who not in models:
            print(visible(f"{who}: {NOT_IN_CONFIG} {registry.family_of(who)}"))
    counts = "select (select count(gt_number) from typed) + (select count(*) from scored)"
    unscored = connection.execute(counts).fetchone() == (0,)
    for line in (
        _in_several_datasets(connection),
        _what_did_not_join(connection, key),
        f"{paths[0]}: {NO_SCORES}" if unscored else None,
    ):
        if line:
            print(visible(line))


def _in_several_datasets(connection: Connection) -> str | None:
    """A line about ids of prompts that occur in several datasets, if any: in each the id is that of another prompt."""
    several = "having min(dataset) <> max(dataset)"
    ids = f"select prompt_id, min(dataset), max(dataset), count(*) over () from typed group by prompt_id {several}"
    first = connection.execute(f"{ids} order by all limit 1").fetchone()
    if first is None:
        return None
    words = "prompt ids in several datasets, in each taken as another prompt: {3}, the first is '{0}', in '{1}' and '{2}'"
    return words.format(*first)


def _check_one_score(connection: Connection, column: str) -> None:
    """DataError if the ratings have two human scores for one completion; column: the name of theirs in the file."""
    key = ("model_name", "dimension", "dataset", "prompt_id")
    completion = connection.execute(f"""
        select {", ".join(key)} from typed where gt_number is not null group by all
        having max(gt_number) - min(gt_number) > {NEAR} order by all limit 1""").fetchone()
    if completion is None:
        return
    same = " and ".join(f"{column} is not distinct from ?" for column in key)
    rows = f"select file, record, gt, gt_number from typed where {same} and gt_number is not null order by file, record"
    scores = connection.execute(rows, completion).fetchall()
    *first, shown, score = scores[0]
    *second, other, _ = next(row for row in scores if abs(row[-1] - score) > NEAR)
    raise DataError(
        f"{place_of(*second)}, column {column}: found '{other}' for {_words_of(key, completion)}, and '{shown}' in "
        f"{place_of(*first)}; write one score for each completion, the same in all its rows; scores of single raters belong in "
        "a separate file, under `references:` of `import` in config"
    )


def _create_human_scores(
    connection: Connection, paths: Sequence[str], references: Mapping, *, scales: Sequence[str], raters: bool
) -> tuple[str, ...]:
    """Create the table `scored`, a row for each score in the files at `paths`, and `human_scores`, one for each completion.

    So are the scores that `create_imported` found in logs. Returns the key of a completion: KEY, and the dataset if both the
    scores and the ratings have one. Its score is the mean of its raters' scores. references: config's entry for the files.
    raters: whether they have single raters, by a column `rater` or several columns of ratings; then each score is a whole
    number of steps. Raises DataError if some are human scores and some gold labels.
    """
    sources = [_scores_in(connection, path, references, scales) for path in paths]
    if connection.execute("select 1 from duckdb_views() where view_name = 'in_logs'").fetchone():
        (path,) = connection.execute("select min(file) from in_logs").fetchone()
        sources.append(_scores_of_logs(connection, path, "(from in_logs)"))
    if not sources:
        names = ", ".join(f"{column} varchar" for column in KEY)
        others = "file varchar, record bigint, failure varchar, kind varchar, rounded boolean, step double"
        connection.execute(f"create temp table scored ({others}, {names}, score double)")
        connection.execute(f"create temp table human_scores ({names}, score double)")
        return KEY
    values = value_checks("rating", stepped=raters, under="`missing:` of `references:`")
    checks = (NAMED["model"], NAMED["prompt"], OTHER_DIMENSION, NAMED["rater"], *values)
    named: dict[str, str] = {}
    by_dataset: dict[bool, str] = {}  # whether a file has datasets -> the first such file
    for place, (path, rows, columns, scores) in enumerate(sources):
        named |= columns
        by_dataset.setdefault("dataset" in columns, path)
        verb = "insert into scored by name" if place else "create temp table scored as"
        with reading(path):
            (count,) = connection.execute(f"""
                {verb} select texts.*, coalesce(registry.name, model) as model_name, {OF_SCALE},
                              {as_number("rating")} as rating_number, rating_number as score
                from ({rows}) as texts left join registry on model = id left join declared using (dimension)""").fetchone()
        check_lines(connection, path, count // len(scores), {*columns.values(), *scores} - {columns.get("prompt_id")})
    raise_first_fault(connection, "scored", checks, named=named)
    _check_one_kind(connection)
    if len(by_dataset) > 1:
        place = header_of(by_dataset[False])
        raise DataError(f"{place}, column dataset: missing, but {by_dataset[True]} has it; write it in all files, or in none")
    rated = connection.execute(f"select 1 from typed where dataset <> {text(ALL)} limit 1").fetchone()
    key = (*KEY, "dataset") if True in by_dataset and rated is not None else KEY
    twice = first_twice(connection, "scored", (*key, "rater"))
    if twice is not None:
        (*completion, rater), first, second = twice
        who, remedy = "", "keep one, or, if their raters differ, name the column of the `rater` under `columns:`"
        if raters:
            who, remedy = f" by rater '{rater}'", "keep one of the two rows"
        raise DataError(f"{second}: {_words_of(key, completion)} already have a row{who} in {first}; {remedy}")
    connection.execute(f"""
        create temp table human_scores as
        select {", ".join(key)}, avg(score) as score from scored where score is not null group by all order by all""")
    _check_joined(connection, [path for path, *_ in sources], key)
    return key


def _check_one_kind(connection: Connection) -> None:
    """DataError if some scores are human and some are gold labels: which of the two is the reference is not known."""
    kind = f"if(kind = {text(GOLD)}, kind, 'human score')"
    kinds = f"select {kind} as kind, min(file) from scored group by all"
    files_of = dict(connection.execute(kinds).fetchall())
    if len(files_of) > 1:
        (gold, path), *others = sorted(files_of.items())
        remedy = "leave one of them out, for example by `judge: {<scorer>: <its judge>}` of `import` in config"
        raise DataError(f"{path}: found {gold}s, and {others[0][0]}s in {others[0][1]}; {remedy}")


def _scores_of_logs(connection: Connection, path: str, rows: str) -> tuple[str, str, dict[str, str], list[str]]:
    """The scores of a log, of the columns logs.SCORED, as of `_scores_in`."""
    several = connection.execute(f"select 1 from {rows} where dataset <> {text(ALL)} limit 1").fetchone()
    return path, f"select * from {rows}", {"dataset": "dataset"} if several else {}, ["rating"]


def _scores_in(
    connection: Connection, path: str, references: Mapping, scales: Sequence[str]
) -> tuple[str, str, dict[str, str], list[str]]:
    """A file, SQL for its scores as texts, a row for each, its names of its columns, and its columns of scores."""
    shown = recognised(connection, path) if isfile(path) else "table"
    if shown in READERS_OF_LOGS:
        rows = READERS_OF_LOGS[shown](connection, path, references, scales)
        if rows.scores is None:
            raise DataError(f"{path}: found no human score or gold label ({FORMATS[shown].words}); name another file")
        connection.execute(f"create temp table {name(path)} as {rows.scores}")
        return _scores_of_logs(connection, path, f"(from {name(path)})")
    file, named = Table(connection, path, table="human_objects"), references.get("columns", {})
    single = {key: value for key, value in named.items() if isinstance(value, str)}
    several = () if "rating" in single else named.get("rating", ())
    columns = {"model": file.needed(single, "model"), "prompt_id": file.needed(single, "prompt", "prompt_id")}
    columns["dimension"] = file.column(single, "dimension") if len(scales) == 1 else file.needed(single, "dimension")
    scores = [file.needed({"rating": column}, "rating") for column in several] or [file.needed(single, "rating")]
    columns["rater"] = file.needed(single, "rater") if "rater" in single else None
    columns["dataset"] = file.column(single, "dataset")
    columns = {key: column for key, column in columns.items() if column is not None}
    texts = {"dimension": text(scales[0]), "dataset": "null", "rater": text("")}
    texts |= {key: file.name(column) for key, column in columns.items()}
    texts["dataset"] = f"coalesce({texts['dataset']}, '')"  # no rating has an empty one
    texts["kind"] = text("scores" if len(scores) > 1 else "rows")
    parts = []
    for column in scores:
        texts["rating"], texts["failure"] = file.score(column, references.get("missing", ()))
        if len(scores) > 1:
            texts["rater"] = text(column)
        picked = ", ".join(f"({expression})::varchar as {name}" for name, expression in texts.items())
        parts.append(f"select file, record, {picked} from {file.source}")
    return path, " union all ".join(parts), columns | {"rating": ", ".join(scores)}, scores


def _check_joined(connection: Connection, paths: Sequence[str], key: Sequence[str]) -> None:
    """DataError unless a completion with a human score is rated, and each such completion in one dataset."""
    columns = ", ".join(key)
    if connection.execute("select 1 from human_scores limit 1").fetchone() is None:
        problem = "found no score that is a number: each is empty or listed under `missing:`"
        raise DataError(f"{header_of(paths[0])}: {problem}; write the scores, or leave out `references:`")
    if connection.execute(f"select 1 from typed join human_scores using ({columns}) limit 1").fetchone() is None:
        theirs, ours = (
            connection.execute(f"select {columns} from {table} order by all limit 1").fetchone() or ("none",) * len(key)
            for table in ("human_scores", "typed")
        )
        raise DataError(
            f"{header_of(paths[0])}: found no score of a rated completion: the first score is of {_words_of(key, theirs)}, the "
            f"first rating of {_words_of(key, ours)}; write the same names in both"
        )
    if "dataset" in key:
        return
    several = connection.execute(f"""
        select {columns}, min(dataset), max(dataset) from typed join human_scores using ({columns})
        group by all having min(dataset) <> max(dataset) order by all limit 1""").fetchone()
    if several is not None:
        *completion, one, other = several
        raise DataError(
            f"{header_of(paths[0])}, column dataset: missing, but {_words_of(key, completion)} are rated in the datasets "
            f"'{one}' and '{other}', and the human score may be of either; add the dataset of each score, and name its "
            "column under `references: columns: dataset` if it has another name"
        )


def _write_raters(connection: Connection, path: str, *, key: Sequence[str], step: float) -> None:
    """Write single raters' scores of rated completions (parquet), in whole steps, for `recuse.data.raters`."""
    dataset = "dataset" if "dataset" in key else "min(dataset) as dataset"
    rows = f"""
        select model_name as model, dimension, dataset, prompt_id, rater, {whole("score", step)}::integer as rating
        from (select scores.* exclude (dataset), rated.dataset
              from (select *, row_number() over () as place from scored where score is not null) as scores
              join (select {", ".join(KEY)}, {dataset} from typed group by all) as rated using ({", ".join(key)}))
        order by place"""
    write_rows(connection, rows, path)


def counts_of(connection: Connection, table: str) -> Iterator[dict]:
    """Yield the rows of the table of what was imported: file, kind, n, and the place of the first row of that kind.

    table: path of the imported ratings or verdicts (parquet).
    """
    file, record = SOURCE
    imported = f"(select {FAILURE}, {file} as file, {record} as record from {files([table])})"
    yield from _counted(connection, imported, {"'rows'": "true", FAILURE: f"{FAILURE} is not null"})


def _counts_of_scores(connection: Connection, key: Sequence[str], *, raters: bool) -> Iterator[dict]:
    """Yield the counts of ratings that were rounded or lack a human score (unless all do), and of human scores.

    raters: whether single raters' scores are kept, in steps.
    """
    columns = ", ".join(key)
    joined = f"(select * from typed left join human_scores using ({columns}))"
    kinds = {f"'{ROUNDED}'": f"rounded and {between_steps('rating_number')}"}
    has_score = "(gt_number is not null or score is not null)"
    if connection.execute(f"select 1 from {joined} where {has_score} limit 1").fetchone() is not None:
        kinds["'rating without a human score'"] = f"{FAILURE} is null and not {has_score}"
    yield from _counted(connection, joined, kinds)
    rated = f"(select distinct {columns}, true as rated from typed)"
    scored = f"(select scored.*, coalesce(rated, false) as rated from scored as scored left join {rated} using ({columns}))"
    kinds = {"kind": "true", FAILURE: f"{FAILURE} is not null"}
    kinds["'human score without a rating'"] = f"{FAILURE} is null and not rated"
    if raters:
        kinds[f"'{ROUNDED}'"] = f"rounded and {between_steps('score')}"
    yield from _counted(connection, scored, kinds)


def _counted(connection: Connection, rows: str, kinds: dict[str, str]) -> Iterator[dict]:
    """Counts of rows by file and kind; kinds: SQL for the kind -> SQL for its rows."""
    for kind, condition in kinds.items():
        query = f"select file, {kind} as kind, count(*), min(record) from {rows} where {condition} group by all order by all"
        for path, label, n, first in connection.execute(query).fetchall():
            yield {"file": path, "kind": label, "n": n, "example": place_of(path, first)}


def _what_did_not_join(connection: Connection, key: Sequence[str]) -> str | None:
    """A line about completions without human scores and human scores without a completion, with the first of each, if any."""
    if connection.execute("select 1 from scored limit 1").fetchone() is None:
        return None
    columns = ", ".join(key)
    unscored, first_unscored = _first_unjoined(connection, "typed", "scored", key)
    unrated, first_unrated = _first_unjoined(connection, "(select * from scored where failure is null)", "typed", key)
    parts = []
    if unscored:
        (total,) = connection.execute(f"select count(*) from (select distinct {columns} from typed)").fetchone()
        parts.append(f"without a human score: {unscored} of {total} rated completions, the first is {first_unscored}")
    if unrated:
        parts.append(f"with a human score, but without a rating: {unrated}, the first is {first_unrated}")
    if unscored and unrated:
        parts.append("if these are the same completions, write the same names in both")
    base = f"regexp_replace(prompt_id, '{EPOCH}[0-9]+$', '')"
    epoch = connection.execute(f"""
        select prompt_id, {base} from typed anti join scored using ({columns})
        where {base} <> prompt_id and {base} in (select prompt_id from scored) order by file, record limit 1""").fetchone()
    if epoch is not None:
        parts.append(
            "each epoch is another answer: a score of '{1}' is not one of '{0}', so write '{0}' for that".format(*epoch)
        )
    return "; ".join(parts) or None


def _first_unjoined(connection: Connection, rows: str, others: str, key: Sequence[str]) -> tuple[int, str]:
    """The number of completions of `rows` (SQL) not in `others`, and the first one in words, by the names in its file."""
    columns = ", ".join(key)
    unjoined = f"{rows} as rows anti join {others} as others using ({columns})"
    (count,) = connection.execute(f"select count(*) from (select distinct {columns} from {unjoined})").fetchone()
    if not count:
        return 0, ""
    written = ["model" if column == "model_name" else column for column in key]
    first = f"select file, record, {', '.join(written)} from {unjoined} order by file, record limit 1"
    file, record, *completion = connection.execute(first).fetchone()
    return count, f"{_words_of(written, completion)} in {place_of(file, record)}"


def _words_of(key: Sequence[str], values: Sequence[str]) -> str:
    """A completion in words: model 'a', dimension 'b' and prompt 'c'."""
    return enumerated([f"{WORDS[column]} '{value}'" for column, value in zip(key, values, strict=True)])
