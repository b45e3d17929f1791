"""Human verdicts on pairs of answers in a file of their own, joined by item and the two models."""

from collections.abc import Mapping, Sequence

import duckdb

from judgebias.comparisons.schemas import LABELS
from judgebias.errors import DataError
from judgebias.imports.tables import Table
from judgebias.imports.verdict_tables import winner
from judgebias.sources.checks import Check, fault_number, header_of, raise_first_fault, reading

COLUMNS = ("item", "model_a", "model_b", "human")
VOTES = "case human when 'a' then 1 when 'b' then -1 when 'tie' then 0 end"
CHECKS = (
    *(Check(column, f"{column} is null", "which is empty", f"'write the {column}'") for column in COLUMNS[:3]),
    Check(
        "human",
        f"human is not null and human not in {LABELS}",
        "which is none of a, b and tie, and neither model",
        "'write one of these, or leave it empty'",
    ),
)


def create_labels(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], references: Mapping) -> None:
    """Create the table `labels`: item, model_a, model_b, human (a, b or tie), each pair both ways round; empty without any.

    paths: files of human verdicts, a row for each. references: what config says of their columns item, model_a, model_b and
    human. The label of a pair is the sign of the sum of its votes. Raises DataError naming file, line and column for a row that
    is none, and where no pair is one of `imported`.
    """
    connection.execute("create temp table votes (item varchar, model_a varchar, model_b varchar, human varchar)")
    for path in paths:
        _read(connection, path, references.get("columns", {}))
    connection.execute(f"""
        create temp table labels as
        with turned as (select item, model_a, model_b, {VOTES} as vote from votes where human is not null
                      union all select item, model_b, model_a, -({VOTES}) from votes where human is not null)
        select item, model_a, model_b, case sign(sum(vote)) when 1 then 'a' when -1 then 'b' else 'tie' end as human
        from turned group by all order by all""")
    joined = "select 1 from imported join labels using (item, model_a, model_b) limit 1"
    if paths and connection.execute(joined).fetchone() is None:
        pairs = (f"select {', '.join(COLUMNS[:3])} from {table} order by all limit 1" for table in ("votes", "imported"))
        theirs, ours = (connection.execute(query).fetchone() or ("none",) * 3 for query in pairs)
        raise DataError(
            f"{header_of(paths[0])}: none of its pairs is one of the verdicts: found item and models "
            f"{', '.join(map(repr, theirs))}, and in the verdicts {', '.join(map(repr, ours))}; write the same names in both"
        )


def _read(connection: duckdb.DuckDBPyConnection, path: str, named: Mapping[str, str]) -> None:
    file = Table(connection, path, table="references_found")
    own = {column: file.needed(named, column) for column in COLUMNS}
    texts = {column: f"trim({file.name_text(found)})" for column, found in own.items()}
    texts["human"] = winner(texts["human"], texts)
    picked = ", ".join(f"{value} as {column}" for column, value in texts.items())
    rows = f"select *, {fault_number(CHECKS)} as fault from (select file, record, {picked} from {file.source})"
    with reading(path):
        connection.execute(f"create or replace temp table votes_found as {rows}")
    raise_first_fault(connection, "votes_found", CHECKS, named=own)
    connection.execute(f"insert into votes select {', '.join(COLUMNS)} from votes_found")
