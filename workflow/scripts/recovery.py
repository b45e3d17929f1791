"""Compare the planted values of a simulated study with the estimates of the specs."""

from collections.abc import Mapping, Sequence

from recuse.base.tables import read_table, write_table
from recuse.data.study import StudyTables
from recuse.model.spec import Spec
from recuse.simulate.recovery import RECOVERY
from recuse.simulate.recovery import recovery as recovered
from recuse.workflow.runner import run


def compare(
    *,
    tables: StudyTables,
    specs: Mapping,
    planted: str,
    estimates: Sequence[str],
    recovery: str,
) -> None:
    rows = {spec: read_table(path) for spec, path in zip(specs, estimates, strict=True)}
    write_table(
        recovery,
        RECOVERY,
        recovered(Spec.from_config(specs).values(), tables, read_table(planted), rows),
    )


if __name__ == "__main__":
    run(compare, snakemake)
