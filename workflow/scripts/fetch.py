"""Put one published file, verified by its git blob id, in its place."""

import os
from collections.abc import Mapping
from pathlib import Path

from recuse.base.log import logged
from recuse.data.fetch import cache_folder, fetch, mirror_location


def fetch_file(*, file: Mapping[str, str], mirror: str, environment: Mapping[str, str], raw: str) -> None:
    place = mirror_location(mirror, environment)
    fetch(**file, mirror=place, cache=cache_folder(environment), destination=Path(raw))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fetch_file(
            file=snakemake.params.file,
            mirror=snakemake.config["mirror"],
            environment=os.environ,
            raw=snakemake.output.raw,
        )
