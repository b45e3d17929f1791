"""Whether the bytes of a file are those that were written: gzip's and parquet's own checksums, and
the lines of a CSV file.
"""

import gzip
import re
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO

import numpy as np

from recuse.base.database import connect, literal_path, longest_line
from recuse.base.errors import DataError
from recuse.base.log import warn

PIECE = 1 << 20  # bytes read at once
AGAIN = "the file is damaged; copy or write it again"
# How the header of a parquet page with a checksum begins, in Thrift's compact protocol: the page's
# type, its sizes before and after compression, and the checksum are 32-bit fields 1 to 4. Without
# one, the next field is not a number.
WITH_CHECKSUM, LONGEST_BEGINNING = re.compile(rb"(\x15[\x80-\xff]{0,4}[\x00-\x7f]){3}\x15"), 19


@dataclass(frozen=True)
class Lines:
    """The lines of a CSV file, also those that are blank or within a quoted field."""

    count: int
    mark: str  # what ends them: a line feed, else a carriage return
    last_has_mark: bool


def count_lines(path: str, file: IO[bytes], longest: int) -> Lines:
    """Count the lines of a CSV file, opened by `opened`.

    Raises DataError if a line is much longer than `longest` bytes (DuckDB refuses the others),
    before it is held in memory, and if a gzip file is cut off, fails its checksums, or goes on
    after its end.
    """
    feeds, returns, last, begun = 0, 0, b"", 0
    try:
        while piece := file.read(PIECE):
            content = np.frombuffer(piece, np.uint8)  # many times faster than to count in bytes
            feeds += np.count_nonzero(content == ord("\n"))
            returns += 0 if feeds else np.count_nonzero(content == ord("\r"))
            last = piece[-1:]
            mark = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            # Bytes of the line that has not ended
            begun = len(piece) - mark - 1 if mark >= 0 else begun + len(piece)
            if begun > longest:
                raise DataError(f"{path}, line {(feeds or returns) + 1}: {too_long()}")
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(
            f"{path}: not a whole gzip file ({str(error).rstrip('.')}); {AGAIN}"
        ) from error
    last_has_mark = last in (b"\n", b"\r", b"")
    return Lines((feeds or returns) + (not last_has_mark), "\n" if feeds else "\r", last_has_mark)


def too_long() -> str:
    """What is wrong with a line that is longer than `longest_line`, and what to do."""
    limit = f"{longest_line():,} bytes"
    return (
        f"longer than {limit}; break it where it should end, or write a larger `line_limit:` in"
        " config"
    )


def opened(path: str) -> IO[bytes]:
    """Open a file for reading bytes, unpacked if its name ends in .gz."""
    return gzip.open(path) if path.endswith(".gz") else open(path, "rb")


def check_pages(path: str) -> None:
    """Raise DataError if a page of a parquet file fails its checksum; few writers add one, and
    DuckDB does not read it. pyarrow verifies them where it is installed; else a warning says so.

    Raises what DuckDB raises about a file whose footer cannot be read.
    """
    starts = (
        connect()
        .execute(f"""
        select distinct coalesce(least(dictionary_page_offset, data_page_offset), data_page_offset)
        from parquet_metadata({literal_path(path)}) order by 1""")
        .fetchall()
    )
    with open(path, "rb") as file:
        # One writer wrote all pages: without a checksum in the first of any column there is none.
        if not any(_has_checksum(file, start) for (start,) in starts):
            return
    if find_spec("pyarrow") is None:
        warn(
            f"{path}: its pages have checksums, which are verified only where pyarrow is installed"
        )
        return
    _verify_pages(path)


def _has_checksum(file: IO[bytes], start: int) -> bool:
    try:
        file.seek(start)
    except (OSError, ValueError):
        return False  # a damaged footer
    return WITH_CHECKSUM.match(file.read(LONGEST_BEGINNING)) is not None


def _verify_pages(path: str) -> None:
    """Read each column with pyarrow, which verifies checksums, and count its values: no checksum
    covers the header of a page.
    """
    import pyarrow
    from pyarrow import parquet

    place = path
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                for column in file.schema_arrow.names:
                    place = f"{path}, column {column}, row group {group + 1}"
                    found = file.read_row_group(group, [column], use_threads=False).num_rows
                    if found != rows:
                        raise DataError(
                            f"{place}: the pages hold {found} values, the footer says {rows}; {AGAIN}"
                        )
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{place}: the pages cannot be read ({error}); {AGAIN}") from error
