"""From judges' logs in any known format to the raw ratings of a study: one table with human scores, and what went wrong."""

from collections.abc import Iterator, Mapping, Sequence

import duckdb

from recuse.base.database import connect, create_table, files, text
from recuse.base.tables import IMPORTED, write_table
from recuse.data.faults import IS_LENGTH, NAMES_JUDGE, NAMES_MODEL, NAMES_PROMPT, Check, fault_number, raise_first_fault
from recuse.data.files import SOURCE, place_of, with_families
from recuse.data.imports.formats import RATED
from recuse.data.imports.human_scores import (
    HUMAN_SCORES,
    KEY,
    SCORED,
    check_one_score,
    create_human_scores,
    what_did_not_join,
)
from recuse.data.imports.readers import create_imported
from recuse.data.imports.rows import FAILURE, further
from recuse.data.imports.values import OF_SCALE, between_steps, create_scales, in_steps, value_checks, whole
from recuse.data.registry import HUMAN, Registry

CHECKS = (
    NAMES_JUDGE,
    Check("judge", f"judge = {text(HUMAN)}", "which stands for the human scores in tables and figures", "'write another name'"),
    NAMES_MODEL,
    NAMES_PROMPT,
    Check(
        "dimension",
        "scale_high is null and not observed",
        "a dimension of no declared scale",
        "'add it with its scale under `scales:` of the study in config'",
    ),
    *value_checks("rating"),
    *value_checks("gt", stepped=False),
    IS_LENGTH,
)
NO_SCORES = (
    "no human score stands beside any rating: judges are compared with the other judges alone; if there are any, name their "
    "file under `references:` of `import` in config, or their column, `columns: {human: ...}`"
)
ROWS = "rows"  # kind: all rows of a file
NO_HUMAN_SCORE = "rating without a human score"
NOT_RATED = "human score without a rating"
ROUNDED = "between two steps, taken to the nearest"
REPEATED = "repeated"  # table of ids
# SQL for the id of a prompt, over prompt_id and dataset.
PROMPT = f"""prompt_id || case when prompt_id in (select prompt_id from {REPEATED})
                                then ' (' || coalesce(dataset, '') || ')' else '' end"""


def import_ratings(
    study: str,
    paths: Sequence[str],
    references: Sequence[str],
    *,
    settings: Mapping,
    scales: Mapping,
    models: Mapping,
    outputs: Mapping[str, str],
) -> None:
    """Write the raw ratings of a study (parquet), its raters if there are any (parquet), and the table of what was imported.

    paths: the files of judgments, all in one format. references: those of human scores. settings: config's `import`. scales:
    config's `scales`, in the units of the files; ratings are written in steps (`step`, 1 if not given), so that they are whole.
    models: config's `models`. outputs: paths of `ratings`, `imported` and, where single raters are known, `raters`. Ratings
    have the columns that `recuse.data.ratings.normalise` reads, `failure`, source_file, source_record, and every other
    column of the files, as text. A judge or model that config does not know is taken by its name, in a family of its own: that
    is printed, and stands in the footer. Without any human score gt is NULL, which is printed, too.
    Raises DataError naming file, line and column for whatever is wrong in a file, and for human scores in files of their own
    of which none is of a completion that is rated.
    """
    connection, step, raters = connect(), settings.get("step", 1), "raters" in outputs
    create_table(connection, "registry", "id varchar, name varchar", Registry.from_config(models).names.items())
    create_scales(connection, scales, settings)
    named, kept = create_imported(connection, paths, settings, RATED, scales=[*scales])
    connection.execute(f"""
        create temp view typed as
        select *, {fault_number(CHECKS)} as fault
        from (select imported.*, coalesce(judges.name, judge) as judge_name, coalesce(models.name, model) as model_name,
                     {OF_SCALE}, try_cast(rating as double) as rating_number, try_cast(gt as double) as gt_number
              from imported
              left join registry as judges on imported.judge = judges.id
              left join registry as models on imported.model = models.id
              left join declared using (dimension))""")
    raise_first_fault(connection, "typed", CHECKS, named=named)
    check_one_score(connection, named.get("gt", "gt"))
    repeated = _create_repeated(connection)
    key = create_human_scores(connection, references, settings.get("references", {}), scales=[*scales], raters=raters)
    families = _families_of_strangers(connection, models)
    footer = with_families(families)
    connection.execute(f"""
        copy (select judge_name as judge, model_name as model, coalesce({in_steps("score", step)}, gt_step) as gt,
                     dataset, {PROMPT} as prompt_id, rating_step as rating, try_cast(pred_length as double) as pred_length,
                     dimension, {FAILURE}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("typed", kept)}
              from (select *, {whole("rating_number", step)}::integer as rating_step,
                           {in_steps("gt_number", step)} as gt_step from typed) as typed
              left join {HUMAN_SCORES} using ({", ".join(key)}))
        to {text(outputs["ratings"])} (format parquet, compression zstd, {footer})""")
    if raters:
        _write_raters(connection, outputs["raters"], key=key, step=step, footer=footer)
    rows = [*counts_of(connection, outputs["ratings"]), *_counts_of_scores(connection, key, raters=raters)]
    write_table(outputs["imported"], IMPORTED, ({"study": study, **row} for row in rows))
    for stranger, family in families.items():
        print(f"{stranger}: not in config, taken as it is, the only model of the family {family}")
    unscored = not references and connection.execute("select count(gt_number) from typed").fetchone() == (0,)
    for line in (repeated, what_did_not_join(connection, key), f"{paths[0]}: {NO_SCORES}" if unscored else None):
        if line:
            print(line)


def _families_of_strangers(connection: duckdb.DuckDBPyConnection, models: Mapping[str, Mapping]) -> dict[str, str]:
    """Name -> family of the judges and models that config does not know: a family of its own, of no other name."""
    query = "select judge_name as name from typed union select model_name from typed order by name"
    strangers = [name for (name,) in connection.execute(query).fetchall() if name not in models]
    taken = {model["family"] for model in models.values()}
    return {name: f"{name} (alone)" if name in taken else name for name in strangers}


def _write_raters(connection: duckdb.DuckDBPyConnection, path: str, *, key: Sequence[str], step: float, footer: str) -> None:
    """Write the scores of single raters of completions that are rated (parquet), as `recuse.data.raters` reads them.

    key: as by `create_human_scores`. The scores are whole numbers of steps, the nearest ones. Over the view `typed` and the
    table of repeated prompts.
    """
    dataset = "dataset" if "dataset" in key else "min(dataset) as dataset"
    connection.execute(f"""
        copy (select model_name as model, dimension, dataset, {PROMPT} as prompt_id, rater,
                     {whole("score", step)}::integer as rating
              from (select found.* exclude (dataset), rated.dataset
                    from (select *, row_number() over () as place from {SCORED} where score is not null) as found
                    join (select {", ".join(KEY)}, {dataset} from typed group by all) as rated using ({", ".join(key)}))
              order by place) to {text(path)} (format parquet, compression zstd, {footer})""")


def _create_repeated(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Create REPEATED, of the prompts of the view `typed` whose id stands in several datasets; a line about them, None of none.

    It is empty unless a judge rates answers of one model to such prompts in several datasets: else a prompt that goes by two
    datasets is one prompt.
    """
    several = "having min(dataset) <> max(dataset)"
    twice = f"select 1 from typed group by judge_name, model_name, dimension, prompt_id {several} limit 1"
    needed = connection.execute(twice).fetchone() is not None
    prompts = f"select prompt_id, min(dataset) as one, max(dataset) as other from typed group by prompt_id {several}"
    connection.execute(f"create temp table {REPEATED} as {prompts} order by all {'' if needed else 'limit 0'}")
    first = connection.execute(f"select *, count(*) over () from {REPEATED} limit 1").fetchone()
    if first is None:
        return None
    prompt, one, other, count = first
    return (
        f"prompts in several datasets, told apart by these: {count}, the first is '{prompt}', now '{prompt} ({one})' and "
        f"'{prompt} ({other})'"
    )


def counts_of(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[dict]:
    """Yield the rows of the table of what was imported: file, kind, n, and where the first one of that kind is.

    table: path of the imported ratings or verdicts (parquet).
    """
    file, record = SOURCE
    imported = f"(select {FAILURE}, {file} as file, {record} as record from {files([table])})"
    yield from _counted(connection, imported, {f"'{ROWS}'": "true", FAILURE: f"{FAILURE} is not null"})


def _counts_of_scores(connection: duckdb.DuckDBPyConnection, key: Sequence[str], *, raters: bool) -> Iterator[dict]:
    """Yield what else there is to count of ratings: those that were rounded, those without a human score, and human scores.

    Over the view `typed` and the tables of human scores with their `key`, as by `create_human_scores`. raters: whether single
    raters' scores are kept, in steps. Where no rating has a human score, none is said to lack one.
    """
    columns = ", ".join(key)
    joined = f"(select * from typed left join {HUMAN_SCORES} using ({columns}))"
    kinds = {f"'{ROUNDED}'": f"rounded and {between_steps('rating_number')}"}
    has_scores = "gt_number is not null or score is not null"
    if connection.execute(f"select 1 from {joined} where {has_scores} limit 1").fetchone() is not None:
        kinds[f"'{NO_HUMAN_SCORE}'"] = f"{FAILURE} is null and not ({has_scores})"
    yield from _counted(connection, joined, kinds)
    rated = f"(select distinct {columns}, true as rated from typed)"
    scored = f"(select scored.*, coalesce(rated, false) as rated from {SCORED} as scored left join {rated} using ({columns}))"
    kinds = {"kind": "true", FAILURE: f"{FAILURE} is not null", f"'{NOT_RATED}'": f"{FAILURE} is null and not rated"}
    if raters:
        kinds[f"'{ROUNDED}'"] = f"rounded and {between_steps('score')}"
    yield from _counted(connection, scored, kinds)


def _counted(connection: duckdb.DuckDBPyConnection, rows: str, kinds: dict[str, str]) -> Iterator[dict]:
    """Counts of rows by file and kind; kinds: SQL for the kind -> SQL for which rows are of one."""
    for kind, condition in kinds.items():
        query = f"select file, {kind} as kind, count(*), min(record) from {rows} where {condition} group by all order by all"
        for path, named, n, first in connection.execute(query).fetchall():
            yield {"file": path, "kind": named, "n": n, "example": place_of(path, first)}
