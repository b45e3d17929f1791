"""Draw one of the tables of what the estimators did on simulated worlds."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.plot.montecarlo import validity
from recuse.plot.style import Subject, read, save


def validity_figure(
    *,
    table: str,
    statistic: str,
    grids: Mapping[str, Mapping],
    world: str,
    subject: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    drawn = Subject.from_config(**subject)
    figure = validity(read(table), statistic, drawn, grids=grids, world=world, confidence=confidence)
    save(figure, list(outputs.values()), title=f"Estimators of self-bias on simulated worlds: {statistic}")


if __name__ == "__main__":
    run(validity_figure, snakemake)
