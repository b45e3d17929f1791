"""Fit the specs of a stage to a study, and add what is said of their fits to the tables of the
stages before.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recuse.base.tables import read_table, write_table
from recuse.data.study import StudyTables
from recuse.model.estimates import ESTIMATES, OF_SPECS, estimate
from recuse.model.spec import Spec


def fit_specs(
    *,
    tables: StudyTables,
    before: Sequence[str],
    specs: Mapping,
    order: Sequence[str],
    confidence: float,
    seed: int | None,
    estimates: Sequence[str],
    outputs: Mapping[str, str],
) -> None:
    """Write the `estimates` of each spec to a table (CSV), and to the `outputs` those of OF_SPECS.

    before: the tables of OF_SPECS that earlier stages wrote; order: of the specs in these tables.
    """
    rows = {table: [] for table in OF_SPECS}
    for path in before:
        rows[Path(path).stem] += read_table(path)
    for spec, path in zip(Spec.from_config(specs).values(), estimates, strict=True):
        estimated = estimate(spec, tables, confidence=confidence, seed=seed)
        write_table(path, ESTIMATES, estimated.estimates)
        print(
            f"{spec.name}: {len(estimated.estimates)} coefficients, {len(estimated.not_estimable)}"
            " not estimable"
        )
        for table in OF_SPECS:
            rows[table] += getattr(estimated, table)
    for table, columns in OF_SPECS.items():
        write_table(
            outputs[table], columns, sorted(rows[table], key=lambda row: order.index(row["spec"]))
        )
