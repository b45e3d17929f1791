"""Tabulate CoBBLEr's published files: shares of biases, rank-biased overlap, rates of valid
verdicts.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table
from recuse.papers.cobbler import RBO, VALID, released_biases, released_overlap, valid_rates
from recuse.papers.cognitive import COGNITIVE_BIASES
from recuse.workflow.runner import run


def tabulate(
    *,
    study: str,
    raw: Sequence[str],
    folder: str,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    biases = released_biases(folder, confidence=confidence, seed=seed)
    write_table(outputs["cognitive_biases"], COGNITIVE_BIASES, biases, study=study)
    write_table(
        outputs["rbo"], RBO, released_overlap(folder, confidence=confidence, seed=seed), study=study
    )
    write_table(outputs["valid_rates"], VALID, valid_rates(raw, folder), study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
