"""SHA-256 of files."""

import hashlib
from pathlib import Path

from recuse.base.errors import DataError

ABSENT = "absent"  # in place of the digest of a file that is not there


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal; ABSENT if there is none. Raises DataError if it cannot be
    read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
