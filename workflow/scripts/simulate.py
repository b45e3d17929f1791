"""Simulate a study, from the world that config declares or the published one: ratings, raters and
planted values.
"""

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name

from recuse.base.database import write_parquet
from recuse.base.errors import ConfigError
from recuse.base.tables import write_table
from recuse.simulate.ratings import PLANTED, planted, simulate
from recuse.simulate.world import declared_world
from recuse.workflow.runner import run


def simulate_study(
    *,
    study: str,
    published: Sequence[str],
    simulator: str,
    settings: Mapping,
    families: Mapping,
    scales: Mapping,
    task_types: Mapping,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    try:
        if simulator:
            world = resolve_name(simulator)(published, models=families, scales=scales)
        else:
            world = declared_world(
                settings, models=families, scales=scales, task_types=task_types, seed=seed
            )
        drawn = simulate(world, prompts=settings["prompts"], seed=seed)
    except ConfigError as error:
        raise ConfigError(f"config: studies: {study}: {error}") from None
    write_parquet(drawn.ratings, outputs["ratings"])
    write_parquet(drawn.raters, outputs["raters"])
    write_table(outputs["planted"], PLANTED, planted(world))


if __name__ == "__main__":
    run(simulate_study, snakemake)
