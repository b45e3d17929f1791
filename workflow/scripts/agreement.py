"""Check the single raters' scores of a study and tabulate how well they agree."""

from collections.abc import Mapping, Sequence

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import AGREEMENT, write_table
from recuse.data.files import families_in
from recuse.data.raters import agreement, check_raters
from recuse.data.registry import Registry


def tabulate(*, study: str, raw: str, ratings: Sequence[str], models: Mapping, raters: str, output: str) -> None:
    check_raters(raw, Registry.from_config(models).with_families(families_in([raw])), ratings=ratings, output=raters)
    write_table(output, AGREEMENT, ({"study": study, **row} for row in agreement(raters)))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        tabulate(
            study=snakemake.wildcards.study,
            raw=snakemake.input.raw[0],
            ratings=snakemake.input.ratings,
            models=snakemake.params.models,
            raters=snakemake.output.raters,
            output=snakemake.output.agreement,
        )
