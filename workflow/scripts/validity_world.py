"""Try the estimators of a grid on one of its worlds."""

from collections.abc import Mapping, Sequence

from recuse.base.log import logged
from recuse.base.tables import VALIDITY, write_table
from recuse.montecarlo.run import try_estimators
from recuse.montecarlo.world import ValidityWorld


def validity_world(
    *, grid: str, dial: str, setting: str, world: Mapping, estimators: Sequence[str], output: str, **settings: float
) -> None:
    rows = try_estimators(ValidityWorld(**world), estimators, key=f"{grid} {setting}", **settings)
    about = {"grid": grid, "dial": dial, "setting": setting}
    write_table(output, VALIDITY, ({**about, **row} for row in rows))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        validity_world(**dict(snakemake.wildcards.items()), **snakemake.params, output=snakemake.output.table)
