"""Write the canonical ratings of one shard of a study, and their counts."""

from collections.abc import Sequence

from recuse.data.cells import count_shard
from recuse.data.ratings import StudyFiles, write_shard
from recuse.workflow.runner import run


def normalise_shard(
    *,
    source: StudyFiles,
    checked: Sequence[str],
    plan: str,
    shard: str,
    ratings: str,
    counts: str,
) -> None:
    write_shard(source, checked=checked, plan=plan, shard=int(shard) - 1, ratings=ratings)
    count_shard(ratings, counts)


if __name__ == "__main__":
    run(normalise_shard, snakemake)
