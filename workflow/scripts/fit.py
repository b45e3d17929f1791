"""Fit every spec of config to a study."""

from collections.abc import Mapping, Sequence

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import ESTIMATES, MULTIPLICITY, NOT_ESTIMABLE, REMARKS, SMOOTHS, write_table
from recuse.data.study import Study
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

# Of all specs together.
TABLES = {"not_estimable": NOT_ESTIMABLE, "remarks": REMARKS, "smooths": SMOOTHS, "multiplicity": MULTIPLICITY}


def fit(
    *, study: Study, specs: Mapping, confidence: float, seed: int | None, estimates: Sequence[str], tables: Mapping[str, str]
) -> None:
    found = {table: [] for table in TABLES}
    for spec, path in zip(Spec.from_config(specs), estimates, strict=True):
        estimated = estimate(spec, study, confidence=confidence, seed=seed)
        write_table(path, ESTIMATES, estimated.estimates)
        print(f"{spec.name}: {len(estimated.estimates)} coefficients, {len(estimated.not_estimable)} not estimable")
        for table, rows in found.items():
            rows += getattr(estimated, table)
    for table, rows in found.items():
        write_table(tables[table], TABLES[table], rows)


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        fit(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            specs=snakemake.params.specs,
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            estimates=snakemake.output.estimates,
            tables={table: snakemake.output[table] for table in TABLES},
        )
