"""Tabulate what CoBBLEr released: shares of biases, random thresholds, rank-biased overlap, rates of valid verdicts."""

from collections.abc import Mapping, Sequence

from recuse.base.log import logged
from recuse.base.tables import COGNITIVE_BIASES, RANDOM, RBO, VALID, write_table
from recuse.pairwise.cobbler import released_biases, released_overlap, valid_rates
from recuse.pairwise.cognitive import random_thresholds

TABLES = {"cognitive_biases": COGNITIVE_BIASES, "random_thresholds": RANDOM, "rbo": RBO, "valid_rates": VALID}


def tabulate(
    *, study: str, raw: Sequence[str], folder: str, confidence: float, seed: int, outputs: Mapping[str, str]
) -> None:  # fmt: skip
    found = {
        "cognitive_biases": released_biases(folder, confidence=confidence, seed=seed),
        "random_thresholds": random_thresholds(seed=seed),
        "rbo": released_overlap(folder, confidence=confidence, seed=seed),
        "valid_rates": valid_rates(raw, folder),
    }
    for table, columns in TABLES.items():
        write_table(outputs[table], columns, ({"study": study, **row} for row in found[table]))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        tabulate(
            study=snakemake.wildcards.study,
            raw=snakemake.input.raw,
            folder=snakemake.params.folder,
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            outputs={table: snakemake.output[table] for table in TABLES},
        )
