"""The columns of every table, wherever the library declares them."""

import re
from importlib import import_module

from conftest import ROOT

LIBRARY = ROOT / "workflow" / "lib"


def columns_by_table():
    """Name of a table, such as ESTIMATES -> its columns."""
    columns = {}
    for path in LIBRARY.glob("recuse/*/*.py"):
        for name in re.findall(
            r"^([A-Z_]+) = column_names\(", path.read_text("utf-8"), re.MULTILINE
        ):
            module = import_module(".".join(path.relative_to(LIBRARY).with_suffix("").parts))
            assert name not in columns, f"{path}: {name} is the name of another table"
            columns[name] = getattr(module, name)
    return columns
