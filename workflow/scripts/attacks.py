"""Count how often perturbations win a judge over, and what else single votes tell: position, length, shares."""

from collections.abc import Sequence

from recuse.base.database import bounded_memory, connect
from recuse.base.log import logged
from recuse.base.tables import ASR, LENGTH_CURVE, RANKS, VOTE_SHARES, VOTES_BY_POSITION, write_table
from recuse.pairwise.attacks import (
    average_ranks,
    create_samples,
    create_votes,
    length_curve,
    success_rates,
    vote_shares,
    votes_by_position,
    worsening_among,
)


def attacks(*, study: str, comparisons: str, worsening: Sequence[str], confidence: float, seed: int, outputs: Sequence[str]):
    connection = connect()
    create_votes(connection, comparisons)
    create_samples(connection)
    rates = success_rates(connection, worsening=worsening, confidence=confidence)
    print(worsening_among(rates, worsening, study=study))
    sampling = {"confidence": confidence, "seed": seed}
    by_position, curve = votes_by_position(connection, **sampling), length_curve(connection, **sampling)
    rows = rates, average_ranks(rates), by_position, curve, vote_shares(connection)
    for path, columns, found in zip(outputs, (ASR, RANKS, VOTES_BY_POSITION, LENGTH_CURVE, VOTE_SHARES), rows, strict=True):
        write_table(path, columns, ({"study": study, **row} for row in found))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        attacks(
            study=snakemake.wildcards.study,
            comparisons=snakemake.input.comparisons,
            worsening=snakemake.params.worsening,
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            outputs=[snakemake.output[name] for name in ("asr", "ranks", "votes_by_position", "length_curve", "vote_shares")],
        )
