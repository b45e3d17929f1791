"""Tidy CSV tables, whose floats read back equal. The function that gives the rows of a table stands
below its columns.
"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from recuse.base.outputs import replacing

# A row of a table, with texts as in a CSV file
Row = Mapping[str, str]


def write_table(
    path: str | Path | int,
    columns: Sequence[str],
    rows: Iterable[Mapping],
    *,
    study: str | None = None,
) -> None:
    """Write `rows` as CSV under `columns`, to a path or to an open file by its number.

    A missing key, None or NaN is an empty field, a float its `repr`. study: of rows without one.
    Raises ValueError about a key not in `columns`.
    """
    place = nullcontext(path) if isinstance(path, int) else replacing(path)
    with place as target, open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        shared, names = {} if study is None else {"study": study}, set(columns)
        for row in rows:
            if unknown := row.keys() - names:
                raise ValueError(f"no column of the table: {', '.join(sorted(unknown))}")
            whole = shared | row
            writer.writerow([_field(whole.get(name)) for name in columns])


def write_tables(paths: Mapping[str, str], tables: Mapping[str, tuple], *, study: str) -> None:
    """Write tables of a study, name -> columns and rows, to the paths of these names."""
    for name, (columns, rows) in tables.items():
        write_table(paths[name], columns, rows, study=study)


def read_table(path: str | Path) -> list[dict[str, str]]:
    """Read a CSV table as one dict of texts per row."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _field(value):
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else value


def column_names(*lines: str) -> tuple[str, ...]:
    """The names in these lines, in their order."""
    return tuple(name for line in lines for name in line.split())
