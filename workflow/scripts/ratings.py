"""Check the raw files of a study and write its canonical ratings."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.ratings import StudyFiles, normalise

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        normalise(
            snakemake.wildcards.study,
            StudyFiles.from_config(snakemake.input.raw, **snakemake.params),
            ratings=snakemake.output.ratings,
            completeness=snakemake.output.completeness,
        )
