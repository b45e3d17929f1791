"""Check the raw files of a study and write its canonical ratings."""

from judgebias.database import bounded_memory
from judgebias.logs import logged
from judgebias.ratings.checked_rows import StudyFiles
from judgebias.ratings.ratings import normalise

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        normalise(
            snakemake.wildcards.study,
            StudyFiles.from_config(snakemake.input.raw, **snakemake.params),
            ratings=snakemake.output.ratings,
            completeness=snakemake.output.completeness,
        )
