"""Measure how each perturbation changes the lengths of the published answers."""

from recuse.base.runner import run
from recuse.base.tables import LENGTH_CONFOUND, write_table
from recuse.pairwise.attacks import length_confound as changes_of_length


def text_lengths(*, study: str, folder: str, confidence: float, seed: int, length_confound: str) -> None:
    write_table(length_confound, LENGTH_CONFOUND, changes_of_length(folder, confidence=confidence, seed=seed), study=study)


if __name__ == "__main__":
    run(text_lengths, snakemake)
