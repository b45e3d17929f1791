"""Put the published files of a study, each verified by its git blob id, in their places."""

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recuse.base.log import logged
from recuse.data.fetch import cache_folder, fetch, mirror_location

AT_ONCE = 8  # small files: most of the time is waiting for answers


def fetch_files(
    *,
    source: Mapping[str, str],
    files: Sequence[tuple[str, str]],
    mirror: str,
    environment: Mapping[str, str],
    folder: str,
) -> None:
    settings = {**source, "mirror": mirror_location(mirror, environment), "cache": cache_folder(environment)}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(fetch, path=path, blob=blob, destination=Path(folder, path), **settings) for path, blob in files]
        try:
            for number, done in enumerate(waiting, start=1):
                done.result()
                print(f"{number} of {len(files)} files", file=sys.stderr)
        finally:
            pool.shutdown(cancel_futures=True)  # after a failure the rest need not be asked for


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fetch_files(
            **{key: snakemake.params[key] for key in ("source", "files", "folder")},
            mirror=snakemake.config["mirror"],
            environment=os.environ,
        )
