"""Simulate comparisons, by the judges that config declares or with the published success rates of attacks planted."""

from collections.abc import Mapping, Sequence

from judgebias.comparisons.schemas import PLANTED
from judgebias.errors import ConfigError
from judgebias.logs import logged
from judgebias.paper.published_attacks import read_attacks
from judgebias.simulation.coded_columns import write
from judgebias.simulation.comparison_world import declared_comparisons
from judgebias.simulation.comparisons import simulate_comparisons
from judgebias.simulation.planted_biases import planted_biases
from judgebias.simulation.published_votes import published_votes
from judgebias.tables import write_table


def simulate(
    *, study: str, published: str, settings: Mapping, worsening: Sequence[str], seed: int, outputs: Mapping[str, str]
) -> None:
    if "votes" in settings:
        drawn, planted = published_votes(read_attacks(published), seed=seed)
    else:
        try:
            world = declared_comparisons(settings, worsening=worsening)
        except ConfigError as error:
            raise ConfigError(f"config: comparisons: {study}: {error}") from None
        drawn, planted = simulate_comparisons(world, seed=seed), planted_biases(world)
    write(drawn, outputs["comparisons"])
    write_table(outputs["planted"], PLANTED, planted)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        simulate(
            study=snakemake.wildcards.study,
            published=next(iter(snakemake.input.published), ""),
            outputs=dict(snakemake.output.items()),
            **{key: snakemake.params[key] for key in ("settings", "worsening", "seed")},
        )
