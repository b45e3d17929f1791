"""From judges' logs in any supported format to the raw ratings of a study: one table with human
scores, and what went wrong.

Human scores are a column of the ratings, or in separate files, joined by model, prompt and
dimension: one for each completion.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import isfile

from recuse.base.database import (
    Connection,
    connect,
    create_table,
    exists,
    footer,
    name,
    text,
    values_in,
    write_rows,
)
from recuse.base.errors import ConfigError
from recuse.base.settings import Setting, are_arguments
from recuse.base.tables import write_table
from recuse.base.words import enumerated
from recuse.config.read import project_settings
from recuse.data.faults import (
    DECLARED_SCALE,
    IS_LENGTH,
    IS_PROBABILITY,
    NAMED,
    Check,
    first_twice,
    raise_first_fault,
)
from recuse.data.files import (
    ASKED,
    IN_ONE,
    PROBABILITY,
    SOURCE,
    header_place,
    reading,
    record_place,
)
from recuse.data.lines import check_declared, check_in_all, check_lines
from recuse.data.registry import (
    DEFAULT,
    HUMAN,
    IMPORTED,
    IMPORTED_SCALES,
    MOST_LEVELS,
    OBSERVED,
    RATED,
    SEEN_STEPS,
    Registry,
    declared_in,
    finest_step,
    fits,
    named_as,
    scale_for,
    shared_scale,
)
from recuse.imports.logs import GOLD
from recuse.imports.readers import (
    check_keys,
    count_rows,
    create_imported,
    read_scores_table,
    recognised,
)
from recuse.imports.registry import FORMATS
from recuse.imports.rows import (
    ALL,
    COLUMN,
    FAILURE,
    WORD,
    ImportedRows,
    between_steps,
    further,
    in_steps,
    value_checks,
    whole,
)
from recuse.imports.tools import TOOLS
from recuse.imports.words import fault, note, problem

NAMES = (
    NAMED["judge"],
    Check(
        "judge",
        f"judge = {text(HUMAN)}",
        "the name of the human scores in tables and figures",
        "write another name",
    ),
    NAMED["model"],
    NAMED["prompt"],
    DECLARED_SCALE,
)
OTHER_DIMENSION = Check(
    "dimension",
    "scale_high is null and not observed",
    "a dimension that the study does not have",
    "write one that is listed",
    setting=Setting("scales"),
)
ONE_PROBABILITY = Check(
    PROBABILITY,
    "probabilities > 1",
    "one of several for this answer",
    "write the same in the row of each rater",
)
ROUNDED = "'between two steps, rounded to the nearest'"
REPEATED = {  # config's `repeats` -> what the other ratings of one answer by one judge are
    "mean": "repeated rating, merged into the mean",
    "first": "repeated rating, of which the first counts",
    "last": "repeated rating, of which the last counts",
}
# Rows that are counted, as of `count_rows_of_kinds`: every rating or verdict, also a repeated one
ROWS = (("imported", "'rows'", "true"), ("imported", FAILURE, f"{FAILURE} is not null"))
READ_AS = (
    f"'value ''' || {WORD} || ''' read as ' || rating",
    f"{WORD} is not null and {FAILURE} is null",
)
IN_STEPS = "'between whole numbers, in steps of ' || printf('%g', step)"
OF_SCALE = ("scale_low", "scale_high", "step", "finest", "rounded", "observed", "inferred")
# The mean rating, on the scale of the dimension, in final steps: exact, unless ratings are rounded.
MAPPED = """case when scale_low = dimension_low and (scale_high = dimension_high or observed) then mean
                 else dimension_low + (mean - scale_low) * (dimension_high - dimension_low) / (scale_high - scale_low) end"""
WIDTHS = """coalesce((total * round((dimension_high - dimension_low) / dimension_step)::bigint * parts)
                 // (times * round((scale_high - scale_low) / step)::bigint), total * parts // times)"""
IN_FINAL_STEPS = f"""case when rating_number is null then null when rounded then {whole(MAPPED, "dimension_step")}
                          else round(dimension_low / dimension_step) * parts + {WIDTHS} end"""
# Of a completion, and its dataset if human scores have one
KEY = ("model_name", "dimension", "prompt_id")
WORDS = {name: name for name in ("model", "dimension", "dataset", "occasion")} | {
    "model_name": "model",
    "prompt_id": "prompt",
}
NEAR = 1e-9  # scores no farther apart are equal


# Ratings as they are kept, with names and numbers, which many queries read
NAMED_ROWS = """
    select rows.*, coalesce(judges.name, judge) as judge_name, coalesce(models.name, model) as model_name,
           as_number(rating) as rating_number, as_number(gt) as gt_number
    from ({}) as rows
    left join registry as judges on rows.judge = judges.id
    left join registry as models on rows.model = models.id"""
# Scores of humans, and gold labels, as they are in the files
MARKS = f"""
    create temp table marks (
        file varchar, record bigint, model varchar, model_name varchar, prompt_id varchar, dimension varchar,
        dataset varchar, rater varchar, rating varchar, rating_number double, {FAILURE} varchar, kind varchar,
        {PROBABILITY} varchar, {COLUMN} varchar, {WORD} varchar)"""


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
    """Write the raw ratings of a study (parquet), its raters if there are any (parquet), and the
    table of what was imported.

    paths: the files of judgments, all in one format. references: the files of human scores.
    settings, scales, models: `import`, `scales` (in the units of the files) and `models` of config.
    outputs: paths of `ratings`, `imported` and, with single raters, `raters`. Ratings are written
    as whole numbers of steps, with the columns that `recuse.data.ratings.normalise_ratings` reads,
    `failure`, source_file, source_record, and every other column of the files, as text. A judge or
    model that config does not list is a family of its own, which is printed, as is what has no
    human score. Raises DataError naming file, line and column for whatever is wrong in a file, and
    if no completion with a human score is rated.
    """
    check_declared([*paths, *references], declared, rows_in=count_rows)
    connection, raters = connect(), "raters" in outputs
    registry = Registry.from_config(models, imported=True)
    dimensions = [dimension for dimension in scales if dimension != DEFAULT]
    named, kept = create_imported(
        connection,
        paths,
        settings,
        RATED,
        scales=dimensions,
        names=registry.names,
        stored=NAMED_ROWS,
    )
    rated = (
        "select distinct dimension from imported where dimension is not null order by all limit 2"
    )
    dimensions = dimensions or values_in(connection, rated)
    scored_in, named_scores = _create_marks(
        connection, references, settings.get("references", {}), dimensions=dimensions
    )
    _create_declared(connection, scales, settings, registry, raters=raters and bool(scored_in))
    connection.execute(f"""
        create temp view typed as
        select imported.*, {", ".join(f"coalesce(judges.{end}, every.{end}) as {end}" for end in OF_SCALE)},
               every.scale_low as dimension_low, every.scale_high as dimension_high, every.step as dimension_step
        from imported
        left join declared as judges on imported.dimension = judges.dimension and imported.judge_name = judges.judge
        left join declared as every on imported.dimension = every.dimension and every.judge is null""")
    scores = value_checks("gt", stepped=False, scale="dimension")
    checks = (*NAMES, *value_checks("rating", where=COLUMN), *scores, IS_LENGTH, IS_PROBABILITY)
    raise_first_fault(connection, "typed", checks, named=named)
    _check_one_score(connection, named.get("gt", "gt"))
    if scored_in and "occasion" in named:
        _check_one_occasion(connection, scored_in[0])
    key = _create_human_scores(connection, scored_in, named=named_scores, raters=raters)
    _create_rated(connection, paths, settings)
    steps = _create_steps(connection, paths, settings)
    apart = ["occasion", *(column for column in ASKED if column in named)]
    rows = f"""
        select judge_name as judge, model_name as model, {", ".join(apart)},
               coalesce({in_steps("score", "final_step")}, {in_steps("gt_number", "final_step")}) as gt, dataset, prompt_id,
               {IN_FINAL_STEPS}::integer as rating, as_number(pred_length) as pred_length,
               coalesce(as_number({PROBABILITY}), probability) as {PROBABILITY},
               dimension, {FAILURE}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("rated", kept)}
        from rated left join final using (dimension) left join human_scores using ({", ".join(key)})"""
    write_rows(connection, rows, outputs["ratings"], footer(IMPORTED_SCALES, steps))
    if raters:
        _write_raters(connection, outputs["raters"], key=key)
    kinds = _kinds(key, settings, scored=bool(scored_in), raters=raters)
    counts = count_rows_of_kinds(connection, kinds)
    write_table(outputs["imported"], IMPORTED, ({"study": study, **row} for row in counts))
    _print_notes(connection, paths[0], settings, registry, models, key)


def _print_notes(
    connection: Connection,
    path: str,
    settings: Mapping,
    registry: Registry,
    models: Mapping,
    key: Sequence[str],
) -> None:
    """Print lines about names, scales and human scores that a user may want to correct in
    config.
    """
    spelt = "select distinct judge from imported union select distinct model from imported"
    listed = values_in(connection, f"{spelt} order by all")
    names = {spelling: registry.names.get(spelling, spelling) for spelling in listed}
    # In Python, `families` of the ratings shows these names
    unnamed = set() if are_arguments() else {*names.values()} - models.keys()
    for who in sorted(unnamed):
        note("not_in_config", name=who, family=registry.family(who))
    of_project = project_settings()["models"]
    for spelling, who in names.items():
        # Not where the user wrote the name
        if spelling != who and models[who] == of_project.get(who):
            note("taken_as", name=spelling, model=who, family=registry.family(who))
    _print_scales(connection)
    labels = f"from marks where kind = {text(GOLD)}"
    if not settings.get("gold") and exists(connection, labels):
        note("gold", path=path)
    _print_unjoined(connection, key)
    scores = "select 1 from imported where gt_number is not null union all select 1 from marks"
    if not exists(connection, scores):
        note("no_human_score", path=path)


def _print_scales(connection: Connection) -> None:
    """Print lines about steps that the ratings show, and judges whose ratings are mapped to another
    scale.
    """
    query = """
        select judges.dimension, judges.judge, judges.scale_low, judges.scale_high, every.scale_low, every.scale_high,
               judges.step, judges.inferred
        from declared as judges join declared as every on judges.dimension = every.dimension and every.judge is null
        order by judges.rowid"""
    for dimension, judge, low, high, whole_low, whole_high, step, inferred in connection.execute(
        query
    ).fetchall():
        if inferred:
            note("steps", dimension=dimension, judge=judge, step=step)
        if judge is not None:
            note(
                "mapped",
                dimension=dimension,
                judge=judge,
                low=low,
                high=high,
                to_low=whole_low,
                to_high=whole_high,
            )


def _check_one_occasion(connection: Connection, path: str) -> None:
    """DataError if human scores, of the file `path`, would be joined to several answers of a model
    to one prompt.
    """
    several = connection.execute("""
        select model_name, prompt_id from imported group by model_name, dimension, dataset, prompt_id
        having min(occasion) <> max(occasion) order by all limit 1""").fetchone()
    if several is not None:
        model, prompt = several
        raise fault(path, "several_occasions", model=model, prompt=prompt)


def _check_one_score(connection: Connection, column: str) -> None:
    """DataError if the ratings have two human scores for one completion; column: the name of theirs
    in the file.
    """
    key = ("model_name", "dimension", "dataset", "prompt_id", "occasion")
    completion = connection.execute(f"""
        select {", ".join(key)} from imported where gt_number is not null group by all
        having max(gt_number) - min(gt_number) > {NEAR} order by all limit 1""").fetchone()
    if completion is None:
        return
    same = " and ".join(f"{column} is not distinct from ?" for column in key)
    rows = (
        f"select file, record, gt, gt_number from imported where {same} and gt_number is not null"
        " order by file, record"
    )
    scores = connection.execute(rows, completion).fetchall()
    *first, shown, score = scores[0]
    *second, other, _ = next(row for row in scores if abs(row[-1] - score) > NEAR)
    raise fault(
        record_place(*second),
        "two_scores",
        column=column,
        other=other,
        completion=_in_words(key, completion),
        score=shown,
        place=record_place(*first),
    )


def _create_declared(
    connection: Connection, scales: Mapping, settings: Mapping, registry: Registry, *, raters: bool
) -> None:
    """Create the table `declared`: the columns in OF_SCALE for each dimension, and for each judge
    that has its own scale.

    Reads `imported` and, with single raters, `marks`. An observed scale starts at 0 and has no end.
    Without `step` and `round` in config's `import`, the step is the coarsest of SEEN_STEPS of which
    all ratings on the scale are multiples.
    ConfigError about a scale of a judge that rates nothing in that dimension.
    """
    marks = " union select dimension, null, rating_number from marks" if raters else ""
    connection.execute(f"""
        create temp table seen as
        select distinct dimension, judge_name as judge, rating_number as x from imported{marks}""")
    listed = """
        select dimension, list(distinct judge) from seen
        where dimension is not null group by dimension order by dimension"""
    judges = {dimension: () for dimension in scales if dimension != DEFAULT}
    judges |= dict(connection.execute(listed).fetchall())
    _check_judges(scales, registry, judges)
    declared: dict[tuple[str, str | None], Sequence[float] | str] = {}
    for dimension in judges:
        scale = scale_for(scales, dimension)
        if scale is None:
            continue
        declared[dimension, None] = shared_scale(scale)
        for spelling, ends in scale.items() if isinstance(scale, Mapping) else ():
            judge = registry.names.get(spelling, spelling)
            if judge in judges[dimension] and judge != DEFAULT:
                declared[dimension, judge] = ends
    own = [place for place in declared if place[1] is not None]
    create_table(connection, "own_scales", "dimension varchar, judge varchar", own)
    multiples = ", ".join(
        f"coalesce(bool_and(not isfinite(x) or abs(x / {s} - round(x / {s})) <= {NEAR}), true)"
        for s in SEEN_STEPS
    )
    seen = {
        (dimension, judge): multiple
        for dimension, judge, multiple in connection.execute(f"""
            select dimension, own_scales.judge, [{multiples}]
            from seen left join own_scales using (dimension, judge)
            group by all""").fetchall()
    }
    finest, rounded, rows = finest_step(declared_in(scales)), settings.get("round", False), []
    for place, ends in declared.items():
        step, inferred, observed = settings.get("step"), False, ends == OBSERVED
        if step is None and not rounded:
            multiple = zip(SEEN_STEPS, seen.get(place, [True] * len(SEEN_STEPS)), strict=True)
            shown = (each for each, is_multiple in multiple if is_multiple)
            step = next((each for each in shown if observed or fits(each, [ends])), 1)
            inferred = step != 1
        low, high = (0, None) if observed else ends
        rows.append((*place, low, high, step or 1, finest, rounded, observed, inferred))
    kinds = zip(OF_SCALE, [*("double",) * 4, *("boolean",) * 3], strict=True)
    columns = ", ".join(f"{column} {kind}" for column, kind in kinds)
    create_table(connection, "declared", f"dimension varchar, judge varchar, {columns}", rows)


def _check_judges(
    scales: Mapping, registry: Registry, seen: Mapping[str, Iterable[str | None]]
) -> None:
    """ConfigError about a judge who has two scales, or rates nothing in that dimension, or in any;
    seen: its judges.
    """
    for dimension, scale in scales.items():
        named = seen if dimension == DEFAULT else [dimension]
        judges = {judge for name in named for judge in seen[name] if judge is not None}
        spelt: dict[str, str] = {}  # name of a judge -> how config writes it
        for spelling in scale if isinstance(scale, Mapping) else ():
            judge = registry.names.get(spelling, spelling)
            if (other := spelt.setdefault(judge, spelling)) != spelling:
                wrong = problem("one_judge", one=other, other=spelling)
                raise ConfigError.at(["scales", dimension], wrong)
            if spelling != DEFAULT and judge not in judges:
                wrong = problem("no_such_judge", judge=spelling, judges=sorted(judges))
                raise ConfigError.at(["scales", dimension], wrong)


def _create_rated(connection: Connection, paths: Sequence[str], settings: Mapping) -> None:
    """Create the table `rated`: of several ratings of one answer by one judge, the one that
    config's `repeats` says.

    It is that row of `typed`, with `times` and `total`: how many ratings it stands for, and their
    sum in steps above the lowest rating; `mean`, their mean. A missing rating is none of them. The
    view `ranked` has all rows; the `turn` of this one is 1.
    """
    steps = f"({whole('rating_number', 'step')} - round(scale_low / step))::bigint"
    repeats = settings.get("repeats", "error")
    answer = f"partition by judge_name, {', '.join((*KEY, *IN_ONE, 'dataset'))}"
    down = " desc" if repeats == "last" else ""
    listed = ", ".join(map(text, paths))
    order = f"order by rating_number is null, list_position([{listed}], file){down}, record{down}"
    replaced = f"""
        replace (max(gt_number) over ({answer}) as gt_number,
                 coalesce(pred_length, (max(as_number(pred_length)) over ({answer}))::varchar) as pred_length)"""
    turn = f"row_number() over ({answer} {order})"
    times, total, mean = "(rating_number is not null)::bigint", steps, "rating_number"
    if repeats == "error":
        turn, replaced = "1", ""
    if repeats == "mean":
        times, total, mean = (
            f"{each} over ({answer})"
            for each in ("count(rating_number)", f"sum({steps})", "avg(rating_number)")
        )
    connection.execute(f"""
        create temp {"view" if repeats == "error" else "table"} ranked as
        select * {replaced}, {times} as times, {total} as total, {mean} as mean, {turn} as turn
        from typed""")
    connection.execute(
        "create temp view rated as select * exclude (turn) from ranked where turn = 1"
    )


def _create_steps(connection: Connection, paths: Sequence[str], settings: Mapping) -> dict:
    """Create the table `final`: dimension, final_step, in which all its ratings are whole, and how
    many make a step (`parts`).

    Ratings of judges with a scale of their own, mapped to that of the dimension, and means of
    repeated ratings may be between two steps. With `round`, a part is the step. Returns scales in
    whole final steps, and these steps, by dimension. DataError if a scale has too many levels.
    """
    width = "coalesce(round((dimension_high - dimension_low) / dimension_step), 1)::bigint"
    parts = "times * coalesce(round((scale_high - scale_low) / step), 1)::bigint"
    query = f"""
        select distinct dimension, ({parts}) // gcd(total * {width}, {parts})
        from rated where times > 0 order by all"""
    needed: dict[str, int] = {}
    means = settings.get("repeats") == "mean"
    between = means or exists(connection, "from declared where judge is not null")
    if between and not settings.get("round"):
        for dimension, part in connection.execute(query).fetchall():
            needed[dimension] = math.lcm(needed.get(dimension, 1), part)
    declared = (
        "select dimension, scale_low, scale_high, step, observed from declared where judge is null"
        " order by rowid"
    )
    scales, steps, rows = {}, {}, []
    for dimension, low, high, step, observed in connection.execute(declared).fetchall():
        part = needed.get(dimension, 1)
        ends = OBSERVED if observed else [round(low / step) * part, round(high / step) * part]
        if not observed and part > 1 and ends[1] - ends[0] >= MOST_LEVELS:
            raise fault(
                paths[0],
                "many_levels",
                dimension=dimension,
                are_means=means,
                levels=ends[1] - ends[0] + 1,
                most=MOST_LEVELS,
            )
        scales[dimension], steps[dimension] = ends, step / part
        rows.append((dimension, step / part, part))
    create_table(connection, "final", "dimension varchar, final_step double, parts bigint", rows)
    return {"scales": scales, "steps": steps}


def _create_marks(
    connection: Connection, paths: Sequence[str], references: Mapping, *, dimensions: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Create the table `marks`, a row for each human score in the files and in logs; return these,
    and names for its columns.

    references: config's entry for the files. dimensions: of the study; a file without a column for
    them has the only one. Raises DataError if some are human scores and some gold labels.
    """
    connection.execute(MARKS)
    sources = [(path, _scores_in(connection, path, references, dimensions)) for path in paths]
    (path,) = values_in(connection, "select min(file) from in_logs")
    if path is not None:
        sources.append((path, _scores_of_logs(connection, "in_logs")))
    named: dict[str, str] = {}
    by_dataset: dict[bool, str] = {}  # whether a file has datasets -> the first such file
    for path, rows in sources:
        named |= rows.named
        by_dataset.setdefault("dataset" in rows.named, path)
        with reading(path):
            (count,) = connection.execute(f"""
                insert into marks by name
                select texts.*, {named_as("model")} as model_name, as_number(rating) as rating_number
                from ({rows.sql}) as texts""").fetchone()
        check_lines(path, count // max(1, len(rows.columns)), rows.on_one_line)
    check_in_all("dataset", by_dataset)
    _check_one_kind(connection)
    return [path for path, _ in sources], named


def _scores_in(
    connection: Connection, path: str, references: Mapping, dimensions: Sequence[str]
) -> ImportedRows:
    """The scores in a file: a table, or a log of a tool."""
    shown = recognised(connection, path) if isfile(path) else "table"
    if shown not in TOOLS:
        return read_scores_table(connection, path, references, dimensions)
    check_keys(path, shown, references)
    rows = TOOLS[shown](connection, path, references, dimensions)
    if rows.scores is None:
        raise fault(path, "no_references", format=FORMATS[shown].words)
    connection.execute(f"create temp table {name(path)} as {rows.scores}")
    return _scores_of_logs(connection, name(path))


def _scores_of_logs(connection: Connection, table: str) -> ImportedRows:
    """The scores of logs, in a table with the columns logs.SCORED."""
    has_datasets = exists(connection, f"from {table} where dataset <> {text(ALL)}")
    named = {"dataset": "dataset"} if has_datasets else {}
    return ImportedRows(f"from {table}", named, ())


def _create_human_scores(
    connection: Connection, paths: Sequence[str], *, named: Mapping[str, str], raters: bool
) -> tuple[str, ...]:
    """Create the view `scored`, a row for each of `marks`, and `human_scores`, one for each
    completion.

    Returns the key of a completion: KEY, and the dataset if both these files and the ratings have
    one. Its score is the mean of its raters' scores. raters: whether they have single raters, by a
    column `rater` or several columns of ratings; then each score is a whole number of steps.
    """
    connection.execute(
        f"""
        create temp view scored as
        select marks.*, {", ".join(f"declared.{end}" for end in OF_SCALE)}, rating_number as score,
               count(distinct as_number({PROBABILITY}))
                 over (partition by model_name, marks.dimension, prompt_id, dataset) as probabilities
        from marks left join declared on marks.dimension = declared.dimension and declared.judge is null"""
    )
    values = value_checks(
        "rating", stepped=raters, missing=Setting("references", "missing"), where=COLUMN
    )
    names = (NAMED["model"], NAMED["prompt"], OTHER_DIMENSION, NAMED["rater"])
    checks = (*names, *values, IS_PROBABILITY, ONE_PROBABILITY)
    rated = f"from imported where dataset <> {text(ALL)}"
    by_dataset = "dataset" in named and exists(connection, rated)
    key = (*KEY, "dataset") if by_dataset else KEY
    connection.execute(
        f"""
        create temp table human_scores as
        select {", ".join(key)}, avg(score) as score, max(as_number({PROBABILITY})) as probability
        from scored where score is not null group by all order by all"""
    )
    if paths:
        raise_first_fault(connection, "scored", checks, named=named)
        twice = first_twice(connection, "scored", (*key, "rater"))
        if twice is not None:
            (*completion, rater), first, second = twice
            raise fault(
                second,
                "scored_twice",
                completion=_in_words(key, completion),
                first=first,
                raters=raters,
                rater=rater,
            )
        _check_joined(connection, paths, key)
    return key


def _check_one_kind(connection: Connection) -> None:
    """DataError if some scores are human and some are gold labels: which of the two is the
    reference is not known.
    """
    kind = f"if(kind = {text(GOLD)}, kind, 'human score')"
    kinds = f"select {kind} as kind, min(file) from marks group by all"
    files_of = dict(connection.execute(kinds).fetchall())
    if len(files_of) > 1:
        raise fault(files_of.pop(GOLD), "two_kinds", other=min(files_of.values()))


def _check_joined(connection: Connection, paths: Sequence[str], key: Sequence[str]) -> None:
    """DataError unless a completion with a human score is rated, and each such completion in one
    dataset.
    """
    columns = ", ".join(key)
    if not exists(connection, "from human_scores"):
        raise fault(header_place(paths[0]), "no_number")
    joined = f"from imported join human_scores using ({columns})"
    if not exists(connection, joined):
        theirs, ours = (first_key(connection, table, key) for table in ("human_scores", "imported"))
        raise fault(
            header_place(paths[0]),
            "nothing_scored",
            theirs=_in_words(key, theirs),
            ours=_in_words(key, ours),
        )
    if "dataset" in key:
        return
    several = connection.execute(f"""
        select {columns}, min(dataset), max(dataset) {joined}
        group by all having min(dataset) <> max(dataset) order by all limit 1""").fetchone()
    if several is not None:
        *completion, one, other = several
        raise fault(
            header_place(paths[0]),
            "no_dataset",
            column="dataset",
            completion=_in_words(key, completion),
            one=one,
            other=other,
        )


def first_key(connection: Connection, table: str, key: Sequence[str]) -> tuple[str, ...]:
    """The first values of a key in a table, by alphabet."""
    query = f"select {', '.join(key)} from {table} order by all limit 1"
    return connection.execute(query).fetchone() or ("none",) * len(key)


def _write_raters(connection: Connection, path: str, *, key: Sequence[str]) -> None:
    """Write single raters' scores of rated completions (parquet), in whole steps, for
    `recuse.data.raters`.
    """
    dataset = "dataset" if "dataset" in key else "min(dataset) as dataset"
    rows = f"""
        select model_name as model, dimension, dataset, prompt_id, rater, ({whole("score", "step")} * parts)::integer as rating
        from (select scores.* exclude (dataset), rated.dataset
              from (select *, row_number() over () as place from scored where score is not null) as scores
              join (select {", ".join(KEY)}, {dataset} from imported group by all) as rated using ({", ".join(key)}))
        join final using (dimension) order by place"""
    write_rows(connection, rows, path)


def count_rows_of_kinds(
    connection: Connection, kinds: Iterable[tuple[str, str, str]]
) -> Iterator[dict]:
    """Yield the rows of the table of what was imported: file, kind, n, and the place of the first
    row of that kind.

    kinds: each with its rows, SQL for the kind, and SQL for which of the rows are meant.
    """
    for rows, kind, condition in kinds:
        query = (
            f"select file, {kind} as kind, count(*), min(record) from {rows} where {condition}"
            " group by all order by all"
        )
        for path, label, n, first in connection.execute(query).fetchall():
            yield {"file": path, "kind": label, "n": n, "example": record_place(path, first)}


def _kinds(
    key: Sequence[str], settings: Mapping, *, scored: bool, raters: bool
) -> list[tuple[str, str, str]]:
    """What is counted of ratings and human scores, as of `count_rows_of_kinds`.

    Ratings without a human score are not counted if all are. settings: config's `import`. scored:
    whether any file has human scores alone. raters: whether single raters' scores are kept, in
    steps.
    """
    columns = ", ".join(key)
    repeated = text(REPEATED.get(settings.get("repeats"), ""))
    joined = f"(select * from imported left join human_scores using ({columns}))"
    has_score = "(gt_number is not null or score is not null)"
    unscored = f"not {has_score} and exists (from {joined} where {has_score})"
    kinds = [
        *ROWS,
        ("ranked", repeated, "turn > 1 and rating_number is not null"),
        ("imported", *READ_AS),
    ]
    if settings.get("round"):
        kinds.append(("rated", ROUNDED, between_steps(f"({MAPPED})", "dimension_step")))
    kinds += [
        ("typed", IN_STEPS, f"inferred and {between_steps('rating_number', '1')}"),
        (joined, "'rating without a human score'", f"{FAILURE} is null and {unscored}"),
    ]
    if scored:
        rated = f"(select distinct {columns}, true as rated from imported)"
        marks = (
            f"(select scored.*, coalesce(rated, false) as rated from scored left join {rated}"
            f" using ({columns}))"
        )
        kinds += [
            (marks, "kind", "true"),
            (marks, FAILURE, f"{FAILURE} is not null"),
            (marks, "'human score without a rating'", f"{FAILURE} is null and not rated"),
            (marks, ROUNDED, f"{raters} and rounded and {between_steps('score')}"),
            (marks, *READ_AS),
        ]
    return kinds


def _print_unjoined(connection: Connection, key: Sequence[str]) -> None:
    """Print a line about completions without human scores and human scores without a completion,
    with the first of each, by the names in its file, if any.
    """
    if not exists(connection, "from marks"):
        return
    columns = ", ".join(key)
    written = ["model" if column == "model_name" else column for column in key]
    picked = ", ".join(dict.fromkeys(["file", "record", *written, *key, FAILURE]))
    total, *unjoined = connection.execute(f"""
        select count(*) filter (rated),
               count(*) filter (not scored), min(first) filter (not scored),
               count(*) filter (not rated), min(first) filter (not rated)
        from (select bool_or(rated) as rated, bool_or(not rated) as scored,
                     bool_or(rated or {FAILURE} is null) as counted,
                     min((file, record, {", ".join(written)}))
                     filter (rated or {FAILURE} is null) as first
              from (select {picked}, true as rated from imported
                    union all select {picked}, false from scored)
              group by {columns})
        where counted""").fetchone()
    unscored, first_unscored, unrated, first_unrated = unjoined
    if not (unscored or unrated):
        return

    def described(first: tuple | None) -> str:
        if first is None:
            return ""
        file, record, *completion = first
        return f"{_in_words(written, completion)} in {record_place(file, record)}"

    note(
        "unjoined",
        total=total,
        unscored=unscored,
        first_unscored=described(first_unscored),
        unrated=unrated,
        first_unrated=described(first_unrated),
    )


def _in_words(key: Sequence[str], values: Sequence[str]) -> str:
    """A completion in words: model 'a', dimension 'b' and prompt 'c'."""
    named = [
        (column, value) for column, value in zip(key, values, strict=True) if value is not None
    ]
    return enumerated([f"{WORDS[column]} '{value}'" for column, value in named])
