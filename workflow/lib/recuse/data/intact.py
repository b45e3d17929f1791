"""Whether the bytes of a file are those that were written: gzip's and parquet's own checksums, and
the lines of a CSV file.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from recuse.base.database import connect, literal_path, longest_line
from recuse.base.errors import DataError

PIECE = 1 << 20  # bytes read at once
AGAIN = "the file is damaged; copy or write it again"
TYPE, COMPRESSED_SIZE, CHECKSUM = 1, 3, 4  # fields of a page's header, see parquet.thrift
# Type of a data page -> structure in its header; its field with the number of values
DATA_PAGES, VALUES = {0: -5, 3: -8}, 1
LONGEST_HEADER = 1 << 16  # bytes; one with long statistics may have more
DEEPEST = 4  # structures within one another, more than in any header


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
    DuckDB does not read it.

    Raises what DuckDB raises about a file whose footer cannot be read.
    """
    chunks = (
        connect()
        .execute(f"""
        select coalesce(least(dictionary_page_offset, data_page_offset), data_page_offset), total_compressed_size,
               path_in_schema, row_group_id, num_values
        from parquet_metadata({literal_path(path)}) order by 1""")
        .fetchall()
    )
    with open(path, "rb") as file:
        # One writer wrote all of them: without a checksum in the first page of a column there is
        # none.
        if not any(_checksum_at(file, start) is not None for start, *_ in chunks):
            return
        for start, size, column, group, values in chunks:
            place = f"{path}, column {column}, row group {group + 1}"
            try:
                for number, (header, page) in enumerate(_pages(file, start, start + size), start=1):
                    if CHECKSUM in header and zlib.crc32(page) != header[CHECKSUM] & 0xFFFFFFFF:
                        raise DataError(f"{place}: page {number} fails its checksum; {AGAIN}")
                    values -= header.get(DATA_PAGES.get(header[TYPE]), {}).get(VALUES, 0)
                if values:
                    difference = (
                        f"{abs(values)} values {'fewer' if values > 0 else 'more'} than the footer"
                        " says"
                    )
                    raise DataError(f"{place}: the pages hold {difference}; {AGAIN}")
            except (LookupError, ValueError, OSError) as error:
                raise DataError(f"{place}: the pages cannot be read ({error}); {AGAIN}") from error


def _checksum_at(file: IO[bytes], start: int) -> int | None:
    """The checksum of the page at `start`; None if it has none, or its header cannot be read."""
    try:
        file.seek(start)
        fields, _ = _structure(file.read(LONGEST_HEADER))
    except (LookupError, ValueError, OSError):
        return None
    return fields.get(CHECKSUM)


def _pages(file: IO[bytes], start: int, end: int) -> Iterator[tuple[dict, bytes]]:
    """Header and content of each page of a column; LookupError, ValueError or OSError if its bytes
    are no such pages.
    """
    while start < end:
        file.seek(start)
        header = file.read(min(LONGEST_HEADER, end - start))
        try:
            fields, length = _structure(header)
        except LookupError:  # cut off
            fields, length = _structure(header + file.read(end - start - len(header)))
        size = fields[COMPRESSED_SIZE]
        file.seek(start + length)
        page = file.read(size) if 0 <= size <= end - start - length else b""
        if len(page) != size:
            raise ValueError("a page that does not end within its column")
        yield fields, page
        start += length + size


def _structure(content: bytes, place: int = 0, *, depth: int = 0) -> tuple[dict, int]:
    """The whole numbers in a structure in Thrift's compact protocol, by field, structures in it by
    -field, and where it ends.

    Raises LookupError if the content ends before the structure, ValueError if it is none.
    """
    fields, field = {}, 0
    while byte := content[place]:
        place, kind = place + 1, byte & 15
        if byte >> 4:
            field += byte >> 4
        else:
            field, place = _number(content, place)
        if kind in (4, 5, 6):  # 16, 32 and 64 bits
            fields[field], place = _number(content, place)
        elif kind == 8:  # a text
            length, place = _varint(content, place)
            place += length
        elif kind == 12 and depth < DEEPEST:
            fields[-field], place = _structure(content, place, depth=depth + 1)
        elif kind == 7:  # a double
            place += 8
        elif kind not in (1, 2):  # true and false
            raise ValueError("no header of a page")
    return fields, place + 1


def _number(content: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(content, place)
    return value >> 1 ^ -(value & 1), place


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while content[place] & 128:
        value |= (content[place] & 127) << shift
        place, shift = place + 1, shift + 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
    return value | content[place] << shift, place + 1
