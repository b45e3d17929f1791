"""Count how often perturbations win a judge over, and what else single votes tell: position, length, shares."""

from collections.abc import Sequence

from judgebias.comparisons.attacks import success_rates, worsening_among
from judgebias.comparisons.preferences import create_samples, create_votes
from judgebias.comparisons.ranks import average_ranks
from judgebias.comparisons.schemas import ASR, LENGTH_CURVE, RANKS, VOTE_SHARES, VOTES_BY_POSITION
from judgebias.comparisons.votes import length_curve, vote_shares, votes_by_position
from judgebias.database import bounded_memory, connect
from judgebias.logs import logged
from judgebias.tables import write_table


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
