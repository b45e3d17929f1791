"""Check the verdicts of a study and write its canonical comparisons."""

from judgebias.comparisons.normalise import VerdictFiles, normalise
from judgebias.database import bounded_memory
from judgebias.logs import logged

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        normalise(
            snakemake.wildcards.study,
            VerdictFiles(snakemake.input.raw, snakemake.params.format, snakemake.params.both_orders),
            comparisons=snakemake.output.comparisons,
            completeness=snakemake.output.completeness,
        )
