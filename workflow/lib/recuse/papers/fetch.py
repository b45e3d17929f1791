"""Published files, from a mirror: accepted only with their git blob id, cached, never fetched
twice.
"""

import hashlib
import http.client
import os
import re
import shutil
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from platform import node
from threading import Thread
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname
from uuid import uuid4

from recuse.base.errors import ConfigError, FetchError
from recuse.base.log import steps
from recuse.base.outputs import replacing
from recuse.base.words import counted

MIRROR_ADVICE = (
    "set `mirror:` in config or the environment variable RECUSE_MIRROR to a folder or URL "
    "that has the file as <repository>/<commit>/<path>"
)
CACHE_ADVICE = (
    "make room there or allow writing, or set the environment variable RECUSE_CACHE to another"
    " folder"
)


class _Failure(Exception):
    """One attempt failed: what was found instead of the file, and whether another attempt may
    succeed.
    """

    def __init__(self, found: str, *, transient: bool) -> None:
        super().__init__(found)
        self.transient = transient


def fetch(
    *,
    repository: str,
    commit: str,
    path: str,
    blob: str,
    mirror: str,
    cache: Path,
    destination: Path,
    timeout: tuple[float, float] = (10.0, 30.0),
    deadline: float = 300.0,
    attempts: int = 4,
    wait: float = 1.0,
    largest: int = 200_000_000,
    is_quiet: bool = False,
) -> None:
    """Put the file `path` of `repository` at `commit` at `destination`, if its git blob id is
    `blob`.

    It comes from `cache`/`blob` if that is undamaged, else from `mirror`, an http(s) or file URL or
    a folder, laid out <repository>/<commit>/<path>. `timeout`: seconds to connect, seconds of
    silence; `deadline`: seconds for a whole attempt; `wait`: seconds before the second of
    `attempts`, doubled for each further one; only transient failures are attempted again;
    `largest`: bytes of the largest file that is taken; `is_quiet`: print only what goes wrong.
    Raises FetchError, and then leaves nothing at `destination` and nothing unverified in the cache.
    """
    import tenacity

    inside = f"{repository}/{commit}/{path}"
    folder = url2pathname(urlsplit(mirror).path) if mirror.lower().startswith("file://") else mirror
    place = (
        f"{mirror.rstrip('/')}/{quote(inside)}"
        if "://" in folder
        else Path(folder).expanduser().absolute() / inside
    )
    cached = cache / blob

    def obtain() -> None:
        cached.parent.mkdir(parents=True, exist_ok=True)
        download = _new_beside(cached)
        with replacing(destination) as copy, replacing(cached, str(download)):
            if isinstance(place, Path):
                if not place.is_file():
                    found = "a folder" if place.is_dir() else "no such file"
                    raise _Failure(found, transient=False)
                _check_size(place.stat().st_size, largest)
                shutil.copyfile(place, download)
            else:
                _download(place, download, timeout, deadline, largest)
            _verify(download, blob, transient=isinstance(place, str))
            shutil.copyfile(download, copy)

    def announce(state: tenacity.RetryCallState) -> None:
        failure = state.outcome.exception()
        pause = state.next_action.sleep
        print(
            f"attempt {state.attempt_number} of {attempts}: {failure}; next in {pause:.1f} s",
            file=sys.stderr,
        )

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_exponential_jitter(multiplier=wait, max=60.0, jitter=wait),
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, _Failure) and error.transient
        ),
        before_sleep=announce,
        reraise=True,
    )
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.unlink(missing_ok=True)  # a failure must not leave an older file in its place
        is_cached = _take_from_cache(cached, destination, blob)
        if not is_cached:
            retrying(obtain)
        if not is_quiet:
            came = f"taken from {cached}" if is_cached else f"fetched {path}"
            print(f"{came}: {destination.stat().st_size} bytes", file=sys.stderr)
    except (_Failure, OSError) as failure:
        tried = counted(retrying.statistics.get("attempt_number", 0), "attempt")
        expected = f"blob {blob}" if isinstance(place, Path) else f"status 200 and blob {blob}"
        problem = failure
        advice = MIRROR_ADVICE
        if isinstance(failure, OSError):  # of a copy, the second name
            problem = (
                f"{failure.strerror or failure} at"
                f" {failure.filename2 or failure.filename or cached}"
            )
            advice = CACHE_ADVICE
        message = (
            f"{repository}: {path}: tried {place} ({tried}); expected {expected}, found {problem};"
            f" {advice}"
        )
        # Without the password in a URL
        raise FetchError(re.sub(r"://[^/\s@]*@", "://", message)) from failure


def git_blob_id(path: Path) -> str:
    """Git's id of the content of a file, 40 hexadecimal digits: sha1("blob <bytes>" NUL
    content).
    """
    header = b"blob %d\0" % path.stat().st_size
    with path.open("rb") as file:
        return hashlib.file_digest(
            file, lambda: hashlib.sha1(header, usedforsecurity=False)
        ).hexdigest()


def mirror_location(config_mirror: str, environment: Mapping[str, str]) -> str:
    """The place of published files: RECUSE_MIRROR if not empty, else `mirror:` of config, else
    ConfigError.
    """
    location = environment.get("RECUSE_MIRROR") or config_mirror
    if not location:
        raise ConfigError(
            "mirror: found nothing in config and in RECUSE_MIRROR; write a folder or URL"
        )
    return location


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of fetched files: RECUSE_CACHE if not empty, else the cache folder of the user."""
    from platformdirs import user_cache_path

    return Path(environment.get("RECUSE_CACHE") or user_cache_path("recuse")).expanduser()


def _verify(file: Path, blob: str, *, transient: bool) -> None:
    actual = git_blob_id(file)
    if actual != blob:
        raise _Failure(f"blob {actual} of {file.stat().st_size} bytes", transient=transient)


def _take_from_cache(cached: Path, destination: Path, blob: str) -> bool:
    """Copy the cached file to `destination`; False if it is absent, or damaged and now removed."""
    try:
        # The copy is verified, not the cached file, which another process may replace or remove
        # meanwhile.
        with replacing(destination) as copy:
            shutil.copyfile(cached, copy)
            _verify(Path(copy), blob, transient=False)
    except FileNotFoundError:
        return False
    except _Failure as failure:
        print(f"removed the damaged {cached}: {failure}", file=sys.stderr)
        cached.unlink(missing_ok=True)
        return False
    return True


def _new_beside(path: Path) -> Path:
    """A name beside `path` that no other process has; leftovers of killed processes are removed."""
    # Not tempfile: its files are readable by their owner only, and a cache may be shared, also
    # between machines.
    machine = f".{node()}."
    for part in path.parent.glob(f"{machine}*.part"):
        pid, _, _ = part.name.removeprefix(machine).partition(".")
        if pid.isdecimal() and not _runs(int(pid)):
            part.unlink(missing_ok=True)
    return path.with_name(f"{machine}{os.getpid()}.{uuid4().hex}.part")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # which only asks
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True


def _check_size(size: int, largest: int) -> None:
    if size > largest:
        raise _Failure(
            f"more than {largest:,} bytes, the `download_limit:` in config", transient=False
        )


def _download(
    url: str, target: Path, timeout: tuple[float, float], deadline: float, largest: int
) -> None:
    """Write the body at `url`, at most `largest` bytes, to the new file `target`, within `deadline`
    seconds.

    The timeouts of a socket start again with every byte, so only a second thread ends the wait for
    a server that sends one byte at a time. As a daemon it does not outlive the process.
    """
    import requests

    outcome: Future[None] = Future()

    def stream() -> None:
        try:
            # Uncompressed, so that Content-Length counts the bytes of the file.
            with requests.get(
                url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
            ) as response:
                status = response.status_code
                if status != 200:
                    raise _Failure(
                        f"{status} {response.reason}", transient=status == 429 or status >= 500
                    )
                declared = response.headers.get("Content-Length", "")
                size = int(declared) if re.fullmatch("[0-9]{1,18}", declared) else 0
                _check_size(size, largest)
                chunks = response.iter_content(chunk_size=1 << 14)
                for chunk in steps(chunks, "fetching", unit="bytes", total=size, size=len):
                    file.write(chunk)
                    _check_size(file.tell(), largest)
            outcome.set_result(None)
        except BaseException as error:  # `result` raises it
            outcome.set_exception(error)

    # Opened here, not in the thread: after the deadline it is closed, and a late thread can write
    # nothing.
    with target.open("xb") as file:
        Thread(target=stream, daemon=True).start()
        try:
            outcome.result(timeout=deadline)
        except requests.RequestException as error:
            broken = (
                requests.exceptions.ChunkedEncodingError,
                requests.exceptions.ContentDecodingError,
            )
            transient = isinstance(error, (requests.ConnectionError, requests.Timeout, *broken))
            raise _Failure(_network_problem(error, timeout), transient=transient) from error
        # Of headers that no library expects
        except (ValueError, LookupError, http.client.HTTPException) as error:
            raise _Failure(f"an answer that is not HTTP ({error})", transient=False) from error
        except TimeoutError as error:
            raise _Failure(
                f"an answer still incomplete after {deadline:g} s", transient=True
            ) from error


def _network_problem(error: Exception, timeout: tuple[float, float]) -> str:
    """The network's problem in words, from the first of a chain of exceptions."""
    import requests

    root: BaseException = error
    while root.__context__ is not None:
        root = root.__context__
    if isinstance(error, requests.ConnectTimeout):
        return f"no connection within {timeout[0]:g} s"
    if isinstance(root, TimeoutError):
        return f"no answer within {timeout[1]:g} s"
    if isinstance(root, http.client.IncompleteRead):
        # Without a Content-Length, the missing bytes are not counted.
        has_length = isinstance(root.partial, int) and isinstance(root.expected, int)
        return (
            f"truncated: {root.partial} of {root.partial + root.expected} bytes"
            if has_length
            else "truncated"
        )
    reason = (isinstance(root, OSError) and root.strerror) or str(root)
    return reason[:1].lower() + reason[1:]
