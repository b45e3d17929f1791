"""Import the verdicts of a study of comparisons, and the table of what was imported."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.imports.verdicts import import_verdicts

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        import_verdicts(
            snakemake.wildcards.study,
            snakemake.input.raw,
            snakemake.input.references,
            settings=snakemake.params.settings,
            outputs=dict(snakemake.output.items()),
        )
