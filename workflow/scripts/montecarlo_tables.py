"""Gather size, power, bias and coverage of the estimators on all worlds."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import MONTECARLO, read_table, write_table
from recuse.montecarlo.estimators import TABLES, table


def montecarlo_tables(*, worlds: Sequence[str], outputs: Mapping[str, str]) -> None:
    rows = [row for path in worlds for row in read_table(path)]
    for name in TABLES:
        write_table(outputs[name], MONTECARLO, table(name, rows))


if __name__ == "__main__":
    run(montecarlo_tables, snakemake)
