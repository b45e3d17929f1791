"""SHA-256 of files, remembered for as long as a file's size, times and inode are the same.

Among the times is that of the last change of the inode (ctime). No program can set it, so `touch
-d`, `cp -p`, `mv`, `rsync -t`, `tar x` and `unzip` cannot hide a replaced file.
"""

import json
import os
import platform
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from recuse.base.digests import file_sha256
from recuse.base.outputs import replacing

MEMORY = ".snakemake/digests.json"
# Seconds: a file that changed more recently may change again within a tick of its clock, and is not
# remembered
SETTLED = 2.0


def file_digests(paths: Iterable[str], *, always: bool = False) -> dict[str, str]:
    """Path -> SHA-256 of each file, from MEMORY if it has not changed since; always: read it even
    then.
    """
    remembered, digests, fresh = _memory(), {}, {}
    for path in paths:
        key, state = os.path.abspath(path), _state(path)
        digest, *of_digest = remembered.get(key, [None])
        if always or state is None or of_digest != state:
            digest = file_sha256(path)
            if (
                state is not None
                and state == _state(path)
                and time.time_ns() - state[-1] > SETTLED * 1e9
            ):
                fresh[key] = [digest, *state]
        digests[path] = digest
    if fresh:
        _remember(fresh)
    return digests


def _state(path: str) -> list[int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return [stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _memory() -> dict[str, list]:
    with suppress(OSError, ValueError):
        memory = json.loads(Path(MEMORY).read_text("utf-8"))
        if isinstance(memory, dict) and all(
            isinstance(entry, list) and entry for entry in memory.values()
        ):
            return memory
    return {}


def _remember(fresh: dict[str, list]) -> None:
    """Add digests to MEMORY: of two processes that do so at once, one is forgotten, and its files
    are read again.
    """
    with suppress(OSError):  # not even a full disk matters
        Path(MEMORY).parent.mkdir(exist_ok=True)
        with replacing(MEMORY, f"{MEMORY}.{platform.node()}.{os.getpid()}") as part:
            Path(part).write_text(json.dumps(_memory() | fresh), "utf-8")
