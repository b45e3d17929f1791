"""From judges' logs in any known format to the raw ratings of a study: one table with human scores, and what went wrong.

What was imported: how many rows of each file, and how many of them hold no judgment, and why.
"""

from collections.abc import Iterator, Mapping, Sequence

import duckdb

from recuse.base.database import connect, create_table, files, text
from recuse.base.tables import IMPORTED, write_table
from recuse.data.faults import LENGTHS, NAMES_MODEL, NAMES_PROMPT, Check, fault_number, raise_first_fault
from recuse.data.files import SOURCE, place_of, with_families
from recuse.data.imports.formats import RATED
from recuse.data.imports.human_scores import (
    HUMAN_SCORES,
    SCORED,
    check_one_score,
    create_human_scores,
    what_did_not_join,
    write_raters,
)
from recuse.data.imports.readers import create_imported
from recuse.data.imports.rows import FAILURE, further
from recuse.data.imports.values import (
    OF_SCALE,
    PROMPT,
    between_steps,
    create_repeated,
    create_scales,
    in_steps,
    number,
    value_checks,
    whole,
)
from recuse.data.registry import HUMAN, Registry

ROWS = "rows"  # kind: all rows of a file
NO_HUMAN_SCORE = "rating without a human score"
NOT_RATED = "human score without a rating"
ROUNDED = "between two steps, taken to the nearest"


def counts_of(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[dict]:
    """Yield the rows of the table of what was imported: file, kind, n, and where the first one of that kind is.

    table: path of the imported ratings or verdicts (parquet).
    """
    file, record = SOURCE
    imported = f"(select {FAILURE}, {file} as file, {record} as record from {files([table])})"
    yield from _counted(connection, imported, {f"'{ROWS}'": "true", FAILURE: f"{FAILURE} is not null"})


def counts_of_scores(connection: duckdb.DuckDBPyConnection, key: Sequence[str], *, raters: bool) -> Iterator[dict]:
    """Yield what else there is to count of ratings: those that were rounded, those without a human score, and human scores.

    Over the view `typed` and the tables of human scores with their `key`, as by `create_human_scores`. raters: whether single
    raters' scores are kept, in steps. Where no rating has a human score, none is said to lack one.
    """
    columns = ", ".join(key)
    joined = f"(select * from typed left join {HUMAN_SCORES} using ({columns}))"
    without = f"{FAILURE} is null and gt_number is null and score is null"
    kinds = {f"'{ROUNDED}'": f"rounded and {between_steps('rating_number')}"}
    has_scores = "gt_number is not null or score is not null"
    if connection.execute(f"select 1 from {joined} where {has_scores} limit 1").fetchone() is not None:
        kinds[f"'{NO_HUMAN_SCORE}'"] = without
    yield from _counted(connection, joined, kinds)
    rated = f"(select distinct {columns}, true as rated from typed)"
    scored = f"(select scored.*, coalesce(rated, false) as rated from {SCORED} as scored left join {rated} using ({columns}))"
    kinds = {"kind": "true", FAILURE: f"{FAILURE} is not null", f"'{NOT_RATED}'": f"{FAILURE} is null and not rated"}
    yield from _counted(
        connection, scored, kinds | ({f"'{ROUNDED}'": f"rounded and {between_steps('score')}"} if raters else {})
    )


def _counted(connection: duckdb.DuckDBPyConnection, rows: str, kinds: dict[str, str]) -> Iterator[dict]:
    """Counts of rows by file and kind; kinds: SQL for the kind -> SQL for which rows are of one."""
    for kind, condition in kinds.items():
        query = f"select file, {kind} as kind, count(*), min(record) from {rows} where {condition} group by all order by all"
        for path, named, n, first in connection.execute(query).fetchall():
            yield {"file": path, "kind": named, "n": n, "example": place_of(path, first)}


CHECKS = (
    Check("judge", "judge is null", "which names no judge", "'write the id of the judge'"),
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
    Check(
        "pred_length",
        f"pred_length is not null and coalesce(not try_cast(pred_length as double) {LENGTHS}, true)",
        "which is not a length",
        "'write a number of tokens, 0 or more, or leave it empty if missing'",
    ),
)
NO_SCORES = (
    "no human score stands beside any rating: judges are compared with the other judges alone; if there are any, name their "
    "file under `references:` of `import` in config, or their column, `columns: {human: ...}`"
)


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
    connection, step = connect(), settings.get("step", 1)
    create_table(connection, "registry", "id varchar, name varchar", Registry.from_config(models).names.items())
    create_scales(connection, scales, settings)
    named, kept = create_imported(connection, paths, settings, RATED, scales=[*scales])
    connection.execute(_typed())
    raise_first_fault(connection, "typed", CHECKS, named=named)
    check_one_score(connection, named.get("gt", "gt"))
    repeated = create_repeated(connection)
    of_humans = settings.get("references", {})
    key = create_human_scores(connection, references, of_humans, scales=[*scales], raters="raters" in outputs)
    families = _families_of_strangers(connection, models)
    _write_ratings(connection, outputs["ratings"], kept, key=key, step=step, families=families)
    if "raters" in outputs:
        write_raters(connection, outputs["raters"], key=key, step=step, footer=with_families(families))
    rows = [*counts_of(connection, outputs["ratings"]), *counts_of_scores(connection, key, raters="raters" in outputs)]
    write_table(outputs["imported"], IMPORTED, ({"study": study, **row} for row in rows))
    _say(families, repeated, what_did_not_join(connection, key), _without_scores(connection, paths, references))


def _without_scores(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], references: Sequence[str]) -> str | None:
    """A line where there is no human score at all; those in files of their own are known to be joined."""
    none = not references and connection.execute("select count(gt_number) from typed").fetchone() == (0,)
    return f"{paths[0]}: {NO_SCORES}" if none else None


def _say(families: Mapping[str, str], *lines: str | None) -> None:
    for name_of_model, family in families.items():
        print(f"{name_of_model}: not in config, taken as it is, the only model of the family {family}")
    for line in filter(None, lines):
        print(line)


def _typed() -> str:
    """SQL that creates the view `typed`: rows with display names and scales, and the number of the fault of each."""
    return f"""
        create temp view typed as
        select *, {fault_number(CHECKS)} as fault
        from (select imported.*, coalesce(judges.name, judge) as judge_name, coalesce(models.name, model) as model_name,
                     {OF_SCALE}, {number("rating")} as rating_number, {number("gt")} as gt_number
              from imported
              left join registry as judges on imported.judge = judges.id
              left join registry as models on imported.model = models.id
              left join declared using (dimension))"""


def _families_of_strangers(connection: duckdb.DuckDBPyConnection, models: Mapping[str, Mapping]) -> dict[str, str]:
    """Name -> family of the judges and models that config does not know: a family of its own, of no other name."""
    found = connection.execute(
        "select judge_name as name from typed union select model_name from typed order by name"
    ).fetchall()
    known = {model["family"] for model in models.values()}
    strangers = [stranger for (stranger,) in found if stranger not in models]
    return {stranger: f"{stranger} (alone)" if stranger in known else stranger for stranger in strangers}


def _write_ratings(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    kept: Sequence[str],
    *,
    key: Sequence[str],
    step: float,
    families: Mapping[str, str],
) -> None:
    connection.execute(f"""
        copy (select judge_name as judge, model_name as model, coalesce({in_steps("score", step)}, gt_step) as gt,
                     dataset, {PROMPT} as prompt_id, rating_step as rating, try_cast(pred_length as double) as pred_length,
                     dimension, {FAILURE}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("typed", kept)}
              from (select *, {whole("rating_number", step)}::integer as rating_step,
                           {in_steps("gt_number", step)} as gt_step from typed) as typed
              left join {HUMAN_SCORES} using ({", ".join(key)}))
        to {text(path)} (format parquet, compression zstd, {with_families(families)})""")
