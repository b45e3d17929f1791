"""Simulate the twin of the published ratings: what judges and raters gave, and what was planted."""

from collections.abc import Mapping
from pathlib import Path

from judgebias.database import write_parquet
from judgebias.logs import logged
from judgebias.simulate import planted, simulate
from judgebias.tables import PLANTED, write_table
from judgebias.twin import load_published, published_world


def simulate_twin(
    *, published: str, families: Mapping, scales: Mapping, prompts: int, seed: int, outputs: Mapping[str, str]
) -> None:
    world = published_world(**load_published(Path(published).parent), models=families, scales=scales)
    drawn = simulate(world, prompts=prompts, seed=seed)
    write_parquet(drawn.ratings, outputs["ratings"])
    write_parquet(drawn.raters, outputs["raters"])
    write_table(outputs["planted"], PLANTED, planted(world))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        simulate_twin(
            published=snakemake.input.published[0],
            families=snakemake.params.families,
            scales=snakemake.params.scales,
            prompts=snakemake.params.prompts,
            seed=snakemake.params.seed,
            outputs=dict(snakemake.output.items()),
        )
