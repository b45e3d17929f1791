"""Compute the published ranks and differences again from the published values beside them."""

from collections import Counter

from recuse.base.runner import run
from recuse.base.tables import PUBLISHED_RANKS, read_table, write_table
from recuse.published.attacks import published_ranks as ranks_again


def rank_again(*, published: str, published_ranks: str) -> None:
    rows = list(ranks_again(read_table(published)))
    print(f"verdicts: {dict(Counter(row['verdict'] for row in rows))}")
    write_table(published_ranks, PUBLISHED_RANKS, rows)


if __name__ == "__main__":
    run(rank_again, snakemake)
