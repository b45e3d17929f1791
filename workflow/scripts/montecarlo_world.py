"""Try the estimators of a grid on one of its worlds."""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table
from recuse.validation.estimators import MONTECARLO, try_estimators
from recuse.validation.world import MonteCarloWorld
from recuse.workflow.runner import run


def try_on_world(
    *,
    grid: str,
    dial: str,
    setting: str,
    world: Mapping,
    estimators: Sequence[str],
    replicates: int,
    draws: int,
    confidence: float,
    seed: int,
    table: str,
) -> None:
    tried = MonteCarloWorld(**world)
    drawn = {"replicates": replicates, "draws": draws, "confidence": confidence, "seed": seed}
    rows = try_estimators(tried, estimators, key=f"{grid} {setting}", **drawn)
    about = {"grid": grid, "dial": dial, "setting": setting}
    write_table(table, MONTECARLO, ({**about, **row} for row in rows))


if __name__ == "__main__":
    run(try_on_world, snakemake)
