"""Compute the published ranks and differences again from the published values beside them."""

from collections import Counter

from recuse.base.log import logged
from recuse.base.tables import PUBLISHED_RANKS, read_table, write_table
from recuse.published.attacks import published_ranks as recomputed


def published_ranks(*, published: str, output: str) -> None:
    rows = list(recomputed(read_table(published)))
    print(f"verdicts: {dict(Counter(row['verdict'] for row in rows))}")
    write_table(output, PUBLISHED_RANKS, rows)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        published_ranks(published=snakemake.input.published, output=snakemake.output.published_ranks)
