"""Gather what the estimators did on all worlds: size, power, bias, coverage, and what was expected."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import VALIDITY, VALIDITY_EXPECTED, read_table, write_table
from recuse.montecarlo.run import TABLES, compared, table


def validity_tables(*, worlds: Sequence[str], expected: Sequence[Mapping], outputs: Mapping[str, str]) -> None:
    rows = [row for path in worlds for row in read_table(path)]
    for name in TABLES:
        write_table(outputs[name], VALIDITY, table(name, rows))
    verdicts = list(compared(rows, expected))
    write_table(outputs["expected"], VALIDITY_EXPECTED, verdicts)
    for row in verdicts:
        print(f"{row['grid']} {row['setting']}: {row['estimator']} {row['statistic']}: {row['verdict']}")


if __name__ == "__main__":
    run(validity_tables, snakemake)
