"""From judges' logs in any known format to the raw verdicts of a study of comparisons, and what went wrong."""

from collections.abc import Mapping, Sequence

from judgebias.database import connect, name, text
from judgebias.imports.formats import COMPARED
from judgebias.imports.human_verdicts import create_labels
from judgebias.imports.readers import create_imported
from judgebias.imports.rows import FAILURE, VERDICT_COLUMNS, further
from judgebias.imports.summary import IMPORTED, counts_of
from judgebias.sources.imported import SOURCE
from judgebias.tables import write_table


def import_verdicts(
    study: str, paths: Sequence[str], references: Sequence[str], *, settings: Mapping, outputs: Mapping[str, str]
) -> None:
    """Write the raw verdicts of a study (parquet), and the table of what was imported (CSV).

    paths: the files of verdicts, all in one format. references: those of human verdicts. settings: config's `import`. outputs:
    paths of `verdicts` and `imported`.
    Verdicts have the columns that `judgebias.comparisons.normalise` reads, `failure`, source_file, source_record, and every
    other column of the files, as text. What else is to hold of them is checked there, and named by their source.
    Raises DataError naming file, line and column for what is wrong in a file.
    """
    connection = connect()
    _, kept = create_imported(connection, paths, settings, COMPARED)
    create_labels(connection, references, settings.get("references", {}))
    columns = ", ".join(
        "coalesce(imported.human, labels.human) as human" if column == "human" else f"imported.{name(column)}"
        for column in (*VERDICT_COLUMNS, FAILURE)
    )
    connection.execute(f"""
        copy (select {columns}, file as {SOURCE[0]}, record as {SOURCE[1]}{further("imported", kept)} from imported
              left join labels using (item, model_a, model_b))
        to {text(outputs["verdicts"])} (format parquet, compression zstd)""")
    write_table(outputs["imported"], IMPORTED, ({"study": study, **row} for row in counts_of(connection, outputs["verdicts"])))
