"""Tabulate verbosity bias, position, agreement with the humans, and the curves against length of a set of comparisons."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import ALIGNMENT_CURVES, PAIRWISE_AGREEMENT, POSITION, SCORE_CURVES, VERBOSITY, write_table
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import agreement, alignment_curves, position, score_curves, verbosity


def tabulate(
    *, study: str, comparisons: str, pools: Mapping[str, list[str]], confidence: float, seed: int, outputs: Mapping[str, str]
) -> None:
    pairs, sampling = open_pairs(comparisons, pools), {"confidence": confidence, "seed": seed}
    curves = alignment_curves(pairs, confidence=confidence)
    write_table(outputs["verbosity"], VERBOSITY, verbosity(pairs, **sampling), study=study)
    write_table(outputs["position"], POSITION, position(pairs, **sampling), study=study)
    write_table(outputs["agreement"], PAIRWISE_AGREEMENT, agreement(pairs, **sampling), study=study)
    write_table(outputs["score_curves"], SCORE_CURVES, score_curves(pairs), study=study)
    write_table(outputs["alignment_curves"], ALIGNMENT_CURVES, curves, study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
