"""Gather size, power, bias and coverage of the estimators on all worlds, and their tests by judge
in those of self-bias.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import read_table, write_table
from recuse.validation.estimators import MONTECARLO, TABLES, WORLDS, table, worlds_rows
from recuse.workflow.runner import run


def montecarlo_tables(
    *, results: Sequence[str], titles: Mapping[str, str], outputs: Mapping[str, str]
) -> None:
    rows = [row for path in results for row in read_table(path)]
    for name in TABLES:
        write_table(outputs[name], MONTECARLO, table(name, rows))
    write_table(outputs["worlds"], WORLDS, worlds_rows(rows, titles))


if __name__ == "__main__":
    run(montecarlo_tables, snakemake)
