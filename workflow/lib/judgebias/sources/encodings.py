"""How a file's characters are encoded, where its first bytes say that it is not UTF-8."""

import gzip
from codecs import BOM_UTF16_BE, BOM_UTF16_LE


def is_utf16(path: str) -> bool:
    """Whether the first bytes of a file (plain or gzip) are the mark of UTF-16. Raises what reading raises."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)
