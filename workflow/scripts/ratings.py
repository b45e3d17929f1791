"""Check the raw files of a study and write its canonical ratings."""

from collections.abc import Mapping, Sequence

from judgebias.database import bounded_memory
from judgebias.logs import logged
from judgebias.ratings.ratings import StudyFiles, normalise
from judgebias.ratings.registry import Registry
from judgebias.sources.checks import RatingsFile


def write_ratings(
    *, study: str, raw: Sequence[str], dimensions: Sequence[str | None], scales: Mapping, task_types: Mapping,
    models: Mapping, ratings: str, completeness: str,
) -> None:  # fmt: skip
    files = [RatingsFile(path, dimension) for path, dimension in zip(raw, dimensions, strict=True)]
    types = {dataset: task_type for task_type, datasets in task_types.items() for dataset in datasets}
    source = StudyFiles(files, scales, types, Registry.from_config(models))
    normalise(study, source, ratings=ratings, completeness=completeness)


if __name__ == "__main__":
    with logged(snakemake.log[0]), bounded_memory(snakemake.config["memory_limit"], f"{snakemake.log[0]}.spill"):
        write_ratings(
            study=snakemake.wildcards.study,
            raw=snakemake.input.raw,
            dimensions=snakemake.params.dimensions,
            scales=snakemake.params.scales,
            task_types=snakemake.params.task_types,
            models=snakemake.params.models,
            ratings=snakemake.output.ratings,
            completeness=snakemake.output.completeness,
        )
