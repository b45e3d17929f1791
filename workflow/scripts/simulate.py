"""Simulate the twin of the published ratings: what judges and raters gave, and what was planted."""

from collections.abc import Mapping
from pathlib import Path

from judgebias.database import write_parquet
from judgebias.logs import logged
from judgebias.simulate import planted, simulate
from judgebias.tables import PLANTED, write_table
from judgebias.twin import load_published, published_world


def simulate_twin(
    *,
    published: Path,
    prompts: int,
    seed: int,
    scales: Mapping,
    models: Mapping,
    ratings: str,
    raters: str,
    plan: str,
) -> None:
    families = {name: model["family"] for name, model in models.items()}
    world = published_world(**load_published(published), models=families, scales=scales)
    drawn = simulate(world, prompts=prompts, seed=seed)
    write_parquet(drawn.ratings, ratings)
    write_parquet(drawn.raters, raters)
    write_table(plan, PLANTED, planted(world))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        simulate_twin(
            published=Path(snakemake.input.published[0]).parent,
            prompts=snakemake.params.prompts,
            seed=snakemake.params.seed,
            scales=snakemake.params.scales,
            models=snakemake.params.models,
            ratings=snakemake.output.ratings,
            raters=snakemake.output.raters,
            plan=snakemake.output.planted,
        )
