"""Compare the biases that were planted in simulated comparisons with what the tables recover."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.base.tables import PAIRWISE_RECOVERY as RECOVERY
from recuse.base.tables import read_table, write_table
from recuse.simulate.recovery import recovery_of_biases

TABLES = ("verbosity", "position", "cognitive_biases", "asr")  # those that the study has


def recover(*, study: str, planted: str, tables: Mapping[str, str], output: str) -> None:
    rows = recovery_of_biases(read_table(planted), **{name: read_table(path) for name, path in tables.items()})
    write_table(output, RECOVERY, ({"study": study, **row} for row in rows))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        recover(
            study=snakemake.wildcards.study,
            planted=snakemake.input.planted,
            tables={name: path for name in TABLES if (path := snakemake.input.get(name))},
            output=snakemake.output.recovery,
        )
