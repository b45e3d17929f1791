"""From judges' logs in any supported format to the raw verdicts of a study of comparisons, with
human labels.
"""

from collections.abc import Mapping, Sequence

from recuse.base.database import Connection, connect, exists, name, write_rows
from recuse.base.tables import write_table
from recuse.data.faults import filled, one_of, raise_first_fault
from recuse.data.files import SOURCE, header_place, reading
from recuse.data.lines import check_declared, check_in_all, check_lines
from recuse.data.registry import COMPARED, IMPORTED, Registry, named_as
from recuse.data.verdicts import LABELS
from recuse.imports.ratings import ROWS, count_rows_of_kinds, first_key
from recuse.imports.readers import count_rows, create_imported, winner
from recuse.imports.rows import FAILURE, VERDICT_COLUMNS, Table, further
from recuse.imports.words import fault

COLUMNS = ("item", "model_a", "model_b", "human")
NAMED = ("judge", "model_a", "model_b")
LABELLED = ("human", "humans_a", "humans_b", "humans_tie")
# LMArena's columns of votes, of which the data sets have one id or the other.
BY_LMARENA = {"item": ("question_id", "id"), "human": ("winner",)}
TURNS = "from imported where item like '%, turn %'"
VOTES = "case human when 'a' then 1 when 'b' then -1 when 'tie' then 0 end"
CHECKS = (
    *(filled(column, f"the {column}") for column in COLUMNS[:3]),
    one_of("human", LABELS),
)


def import_verdicts(
    study: str,
    paths: Sequence[str],
    references: Sequence[str],
    *,
    settings: Mapping,
    outputs: Mapping[str, str],
    models: Mapping[str, Mapping] | None = None,
    declared: Mapping[str, Mapping] | None = None,
) -> None:
    """Write the raw verdicts of a study (parquet), and the table of what was imported (CSV).

    paths: the files of verdicts, all in one format. references: the files of human verdicts.
    settings: config's `import`. outputs: paths of `verdicts` and `imported`. models: config's, by
    whose `ids` judges and models get one name. Verdicts have the columns that
    `recuse.pairwise.table` reads and checks, `failure`, source_file, source_record, and every other
    column of the files, as text. Raises DataError naming file, line and column.
    """
    check_declared([*paths, *references], declared, rows_in=count_rows)
    connection = connect()
    registry = Registry.from_config(models or {}, imported=True)
    _, kept = create_imported(connection, paths, settings, COMPARED, names=registry.names)
    names = ", ".join(f"{named_as(column)} as {column}" for column in NAMED)
    connection.execute(f"create temp view named as select * replace ({names}) from imported")
    same = _create_labels(connection, references, settings.get("references", {}))
    columns = ", ".join(
        (
            f"coalesce(named.{column}, labels.{column}) as {column}"
            if column in LABELLED
            else f"named.{name(column)}"
        )
        for column in (*VERDICT_COLUMNS, FAILURE)
    )
    rows = f"""
        select {columns}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("named", kept)} from named
        left join labels on {same}"""
    write_rows(connection, rows, outputs["verdicts"])
    write_table(
        outputs["imported"],
        IMPORTED,
        ({"study": study, **row} for row in count_rows_of_kinds(connection, ROWS)),
    )


def _create_labels(connection: Connection, paths: Sequence[str], references: Mapping) -> str:
    """Create the table `labels`: a pair's key, human (a, b or tie) and votes, in both orders; empty
    without files.

    Returns SQL for the match with a row of `named`: by item, models and, if the files and the
    verdicts have it, experiment. paths: files of human verdicts, one per row. references: config's
    entry for them. The label of a pair is the sign of the sum of its votes. Raises DataError for a
    row that is not a verdict, and if no pair is one of `named`.
    """
    names = ", ".join(f"{column} varchar" for column in ("file", *COLUMNS, "experiment"))
    connection.execute(f"create temp table votes (record bigint, {names})")
    by_experiment: dict[bool, str] = {}  # whether a file has experiments -> the first such file
    for path in paths:
        file = Table(connection, path, references, within=("references",))
        texts = {
            column: file.take(column, *BY_LMARENA.get(column, ()), needed=True)
            for column in COLUMNS
        }
        experiment = file.take("experiment")
        by_experiment.setdefault(experiment is not None, path)
        columns, texts["experiment"] = file.named, experiment or "null"
        texts |= {column: named_as(texts[column]) for column in NAMED if column in texts}
        texts["human"] = winner(file.answer(columns["human"]), texts)
        turn = file.column("turn") if exists(connection, TURNS) else None
        # MT-Bench's human judgments; elsewhere `turn` is their number
        if turn and columns["item"] == "question_id":
            texts["item"] += (
                f" || case {file.name(turn)} when '1' then '' else ', turn ' ||"
                f" {file.name(turn)} end"
            )
        picked = ", ".join(f"{value} as {column}" for column, value in texts.items())
        with reading(path):
            added = f"insert into votes by name select file, record, {picked} from {file.source}"
            (count,) = connection.execute(added).fetchone()
        check_lines(path, count, {*columns.values()} - {columns["item"]})
        raise_first_fault(connection, "votes", CHECKS, named=columns)
    check_in_all("experiment", by_experiment)
    judged = "from named where experiment is not null"
    several = True in by_experiment and exists(connection, judged)
    key = (*COLUMNS[:3], "experiment") if several else COLUMNS[:3]
    of_experiment = ", experiment" if several else ""
    connection.execute(f"""
        create temp table labels as
        with both_orders as (select item, model_a, model_b{of_experiment}, {VOTES} as vote from votes where human is not null
                             union all
                             select item, model_b, model_a{of_experiment}, -({VOTES}) from votes where human is not null)
        select {", ".join(key)}, case sign(sum(vote)) when 1 then 'a' when -1 then 'b' else 'tie' end as human,
               count(*) filter (vote = 1)::varchar as humans_a, count(*) filter (vote = -1)::varchar as humans_b,
               count(*) filter (vote = 0)::varchar as humans_tie
        from both_orders group by all order by all""")
    same = " and ".join(f"labels.{column} is not distinct from named.{column}" for column in key)
    joined = f"select 1 from named join labels on {same}"
    if paths and not exists(connection, joined):
        theirs, ours = (
            [*map(repr, first_key(connection, table, key))] for table in ("votes", "named")
        )
        raise fault(header_place(paths[0]), "nothing_judged", theirs=theirs, ours=ours)
    return same
