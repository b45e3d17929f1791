"""Compare the planted biases of simulated comparisons with the tables."""

from collections.abc import Mapping

from recuse.base.tables import read_table, write_table
from recuse.simulate.recovery import PAIRWISE_RECOVERY, recovery_of_biases
from recuse.workflow.runner import run


def compare(*, study: str, inputs: Mapping[str, str], recovery: str) -> None:
    tables = {name: read_table(path) for name, path in inputs.items()}
    write_table(
        recovery,
        PAIRWISE_RECOVERY,
        recovery_of_biases(tables.pop("planted"), **tables),
        study=study,
    )


if __name__ == "__main__":
    run(compare, snakemake)
