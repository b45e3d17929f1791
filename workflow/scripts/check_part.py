"""Check some of the raw files of a study and write their rows by prompt."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.ratings import StudyFiles, check_files

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        check_files(
            StudyFiles.from_config(snakemake.input.raw, **snakemake.params),
            checked=snakemake.output.checked,
            summary=snakemake.output.summary,
        )
