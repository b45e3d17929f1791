"""What an imported table says of itself: where each row comes from, and the families of models that config does not know."""

import json
from collections.abc import Iterable, Mapping
from os.path import isfile

import duckdb

from judgebias.database import connect, literal_path, text

SOURCE = ("source_file", "source_record")  # columns: where each row comes from
FAMILIES = "families"  # key of the footer


def place_in(path: str, own: Mapping[str, str]) -> str:
    """SQL for file and record of a row of the file at `path`; of an imported table, which is parquet, where the row comes from.

    own: the columns of the file, as by `judgebias.sources.checks.read_as_texts`.
    """
    if set(SOURCE) <= set(own) and path.endswith(".parquet"):
        return f"{own[SOURCE[0]]} as file, {own[SOURCE[1]]} as record"
    return f"{text(path)} as file, row_number() over () as record"


def families_in(paths: Iterable[str]) -> dict[str, str]:
    """Name -> family of the models that the footers of these files list; a file that is no imported table lists none."""
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".parquet") and isfile(path):
            query = f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) = {text(FAMILIES)}"
            try:
                row = connect().execute(query).fetchone()
            except duckdb.Error:  # its reader says what is wrong with it
                continue
            found |= json.loads(row[0]) if row else {}
    return found


def with_families(families: Mapping[str, str]) -> str:
    """SQL for the option of `copy` that puts families into the footer of a parquet file."""
    return f"kv_metadata {{{FAMILIES}: {text(json.dumps(families, ensure_ascii=False))}}}"
