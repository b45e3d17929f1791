"""Measure how each perturbation changes the lengths of the published answers."""

from recuse.base.log import logged
from recuse.base.tables import LENGTH_CONFOUND, write_table
from recuse.pairwise.attacks import length_confound


def text_lengths(*, study: str, folder: str, confidence: float, seed: int, output: str) -> None:
    rows = length_confound(folder, confidence=confidence, seed=seed)
    write_table(output, LENGTH_CONFOUND, ({"study": study, **row} for row in rows))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        text_lengths(
            study=snakemake.wildcards.study,
            folder=snakemake.params.folder,
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            output=snakemake.output.length_confound,
        )
