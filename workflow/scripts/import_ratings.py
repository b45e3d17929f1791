"""Import the ratings of a study: its raw ratings, its raters if there are any, and the table of what was imported."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.data.imports.ratings import import_ratings

if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        import_ratings(
            snakemake.wildcards.study,
            snakemake.input.raw,
            snakemake.input.references,
            outputs=dict(snakemake.output.items()),
            **{key: snakemake.params[key] for key in ("settings", "scales", "models")},
        )
