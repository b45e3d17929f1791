"""Check the verdicts of a study and write its canonical comparisons."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.pairwise.table import VerdictFiles, normalise

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        normalise(
            snakemake.wildcards.study,
            VerdictFiles(snakemake.input.raw, snakemake.params.format, snakemake.params.both_orders),
            comparisons=snakemake.output.comparisons,
            completeness=snakemake.output.completeness,
        )
