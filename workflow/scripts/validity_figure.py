"""Draw one of the tables of what the estimators did on simulated worlds."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.plot.montecarlo import validity
from recuse.plot.style import Subject, read, save


def validity_figure(
    *,
    table: str,
    statistic: str,
    grids: Mapping[str, Mapping],
    world: str,
    subject: Subject,
    confidence: float,
    outputs: list[str],
) -> None:
    figure = validity(read(table), statistic, subject, grids=grids, world=world, confidence=confidence)
    save(figure, outputs, title=f"Estimators of self-bias on simulated worlds: {statistic}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        validity_figure(
            table=snakemake.input.table,
            statistic=snakemake.wildcards.statistic,
            grids=snakemake.params.grids,
            world=snakemake.params.world,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
