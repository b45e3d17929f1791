"""Measure how each perturbation changes the lengths of the published answers, and rank the
published success rates again.
"""

from collections import Counter
from collections.abc import Mapping

from recuse.base.tables import read_table, write_table
from recuse.papers.attack_values import PUBLISHED_RANKS, published_ranks
from recuse.papers.attacks import LENGTH_CONFOUND, length_confound
from recuse.workflow.runner import run


def tabulate(
    *,
    study: str,
    folder: str,
    published: str,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    changes = length_confound(folder, confidence=confidence, seed=seed)
    write_table(outputs["length_confound"], LENGTH_CONFOUND, changes, study=study)
    ranks = list(published_ranks(read_table(published)))
    print(f"verdicts: {dict(Counter(row['verdict'] for row in ranks))}")
    write_table(outputs["published_ranks"], PUBLISHED_RANKS, ranks)


if __name__ == "__main__":
    run(tabulate, snakemake)
