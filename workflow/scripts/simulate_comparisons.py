"""Simulate comparisons, by the judges that config declares or with the published success rates of
attacks planted.
"""

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name

from recuse.base.errors import ConfigError
from recuse.base.tables import write_table
from recuse.simulate.gold import declared_key_world, planted_by_key, simulate_keyed
from recuse.simulate.pairwise import declared_comparisons, planted_biases, simulate_comparisons
from recuse.simulate.votes import PAIRWISE_PLANTED, write_comparisons
from recuse.workflow.runner import run


def simulate_study(
    *,
    study: str,
    published: Sequence[str],
    simulator: str,
    settings: Mapping,
    worsening: Sequence[str],
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    if simulator:
        drawn, planted = resolve_name(simulator)(published, seed=seed)
    else:
        try:
            if "accuracy" in settings:
                key_world = declared_key_world(settings)
                drawn, planted = simulate_keyed(key_world, seed=seed), planted_by_key(key_world)
            else:
                world = declared_comparisons(settings, worsening=worsening)
                drawn, planted = simulate_comparisons(world, seed=seed), planted_biases(world)
        except ConfigError as error:
            raise ConfigError(f"config: comparisons: {study}: {error}") from None
    write_comparisons(drawn, outputs["comparisons"])
    write_table(outputs["planted"], PAIRWISE_PLANTED, planted)


if __name__ == "__main__":
    run(simulate_study, snakemake)
