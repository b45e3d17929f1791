"""Simulate comparisons, by the judges that config declares or with the published success rates of attacks planted."""

from collections.abc import Mapping, Sequence

from recuse.base.errors import ConfigError
from recuse.base.log import logged
from recuse.base.tables import PAIRWISE_PLANTED as PLANTED
from recuse.base.tables import write_table
from recuse.published.attacks import read_attacks
from recuse.simulate.pairwise import declared_comparisons, planted_biases, published_votes, simulate_comparisons
from recuse.simulate.ratings import write


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
