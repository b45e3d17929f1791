"""Compare what was planted in a simulated study with what the specs recover."""

from collections.abc import Mapping, Sequence

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import RECOVERY, read_table, write_table
from recuse.data.study import Study
from recuse.model.spec import Spec
from recuse.simulate.recovery import recovery


def compare(*, study: Study, specs: Mapping, planted: str, estimates: Sequence[str], output: str) -> None:
    found = {spec: read_table(path) for spec, path in zip(specs, estimates, strict=True)}
    write_table(output, RECOVERY, recovery(Spec.from_config(specs), study, read_table(planted), found))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        compare(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            specs=snakemake.params.specs,
            planted=snakemake.input.planted,
            estimates=snakemake.input.estimates,
            output=snakemake.output.recovery,
        )
