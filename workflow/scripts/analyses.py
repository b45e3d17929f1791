"""Tabulate the analyses of a set of comparisons that a study declares, the verdict on each judge,
and what the data support.
"""

from collections.abc import Mapping, Sequence

from recuse.base.database import connect
from recuse.base.tables import write_tables
from recuse.papers.attacks import (
    ASR,
    LENGTH_CURVE,
    RANKS,
    VOTE_SHARES,
    VOTES_BY_POSITION,
    average_ranks,
    create_samples,
    create_votes,
    length_curve,
    success_rates,
    vote_shares,
    votes_by_position,
    worsening_among,
)
from recuse.papers.cognitive import cognitive_table
from recuse.steps.pairs import (
    choices_tables,
    gold_table,
    regression_tables,
    verbosity_tables,
)
from recuse.workflow.runner import run


def attack_tables(
    *,
    study: str,
    comparisons: str,
    worsening: Sequence[str],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    connection = connect()
    create_votes(connection, comparisons)
    create_samples(connection)
    rates = success_rates(connection, worsening=worsening, confidence=confidence)
    print(worsening_among(rates, worsening, study=study))
    sampling = {"confidence": confidence, "seed": seed}
    written = {
        "asr": (ASR, rates),
        "ranks": (RANKS, average_ranks(rates)),
        "votes_by_position": (VOTES_BY_POSITION, votes_by_position(connection, **sampling)),
        "length_curve": (LENGTH_CURVE, length_curve(connection, **sampling)),
        "vote_shares": (VOTE_SHARES, vote_shares(connection)),
    }
    write_tables(outputs, written, study=study)


def tabulate(
    *,
    study: str,
    comparisons: str,
    analyses: Sequence[str],
    families: Mapping[str, str],
    pools: Mapping[str, list[str]],
    worsening: Sequence[str],
    confidence: float,
    seed: int,
    power: float,
    outputs: Mapping[str, str],
) -> None:
    tables = {
        "study": study,
        "comparisons": comparisons,
        "confidence": confidence,
        "outputs": outputs,
    }
    if "verbosity" in analyses:
        verbosity_tables(**tables, pools=pools, seed=seed)
    if "regression" in analyses:
        regression_tables(**tables, families=families, seed=seed)
    if "choices" in outputs:
        regression = [outputs["regression"]] if "regression" in outputs else []
        choices_tables(**tables, regression=regression, families=families, seed=seed, power=power)
    if "cognitive_biases" in analyses:
        cognitive_table(**tables, seed=seed)
    if "attacks" in analyses:
        attack_tables(**tables, worsening=worsening, seed=seed)
    if "gold" in analyses:
        path = outputs["gold"]
        gold_table(
            study=study,
            comparisons=comparisons,
            families=families,
            confidence=confidence,
            power=power,
            gold=path,
        )


if __name__ == "__main__":
    run(tabulate, snakemake)
