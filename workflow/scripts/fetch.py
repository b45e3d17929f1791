"""Fetch published files, each verified by its git blob id."""

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recuse.base.database import parse_bytes
from recuse.papers.fetch import cache_folder, fetch, mirror_location
from recuse.workflow.runner import run

AT_ONCE = 8  # small files: most of the time is spent waiting


def fetch_files(
    *,
    source: Mapping[str, str],
    files: Sequence[tuple[str, str]],
    raw: Sequence[str],
    config: Mapping,
) -> None:
    places = {
        "mirror": mirror_location(config["mirror"], os.environ),
        "cache": cache_folder(os.environ),
    }
    largest = int(parse_bytes(config["download_limit"]))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [
            pool.submit(
                fetch,
                path=path,
                blob=blob,
                destination=Path(destination),
                largest=largest,
                **source,
                **places,
            )
            for (path, blob), destination in zip(files, raw, strict=True)
        ]
        try:
            for number, done in enumerate(waiting, start=1):
                done.result()
                print(f"{number} of {len(files)} files", file=sys.stderr)
        finally:
            pool.shutdown(cancel_futures=True)  # after a failure the rest are not needed


if __name__ == "__main__":
    run(fetch_files, snakemake)
