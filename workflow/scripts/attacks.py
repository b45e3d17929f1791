"""Count how often perturbations win a judge over, and tabulate position, length and shares of single votes."""

from collections.abc import Mapping, Sequence

from recuse.base.database import connect
from recuse.base.runner import run
from recuse.base.tables import ASR, LENGTH_CURVE, RANKS, VOTE_SHARES, VOTES_BY_POSITION, write_table
from recuse.papers.attacks import (
    average_ranks,
    create_samples,
    create_votes,
    length_curve,
    success_rates,
    vote_shares,
    votes_by_position,
    worsening_among,
)


def attacks(
    *, study: str, comparisons: str, worsening: Sequence[str], confidence: float, seed: int, outputs: Mapping[str, str]
) -> None:
    connection = connect()
    create_votes(connection, comparisons)
    create_samples(connection)
    rates = success_rates(connection, worsening=worsening, confidence=confidence)
    print(worsening_among(rates, worsening, study=study))
    sampling = {"confidence": confidence, "seed": seed}
    write_table(outputs["asr"], ASR, rates, study=study)
    write_table(outputs["ranks"], RANKS, average_ranks(rates), study=study)
    write_table(outputs["votes_by_position"], VOTES_BY_POSITION, votes_by_position(connection, **sampling), study=study)
    write_table(outputs["length_curve"], LENGTH_CURVE, length_curve(connection, **sampling), study=study)
    write_table(outputs["vote_shares"], VOTE_SHARES, vote_shares(connection), study=study)


if __name__ == "__main__":
    run(attacks, snakemake)
