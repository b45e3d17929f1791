"""Simulated worlds in words: what they have in common, and the dials of each grid."""

from collections.abc import Mapping

# Dials as a figure names them; what each does is in judgebias.simulation.validity_world.
DIALS = {
    "dimensions": "dimensions",
    "prompts": "prompts",
    "intercept": "judges' intercept",
    "slope": "judges' slope on the true score",
    "noise": "sd of the errors",
    "self_bias": "self-bias of every other judge",
    "family_bias": "bias of every other family",
    "taste": "sd of a judge's taste for a model",
    "shared_taste": "sd of all judges' taste for a model",
    "length_taste": "mean over judges of what a unit of length adds",
    "prompt_shock": "sd of what a prompt's ratings in a dimension share",
    "completion_shock": "sd of what a completion's ratings share",
    "judge_shock": "sd of what a judge's ratings of a prompt share",
    "quality_gap": "best model above the worst in true score by",
    "reliability": "reliability of the human scores",
    "ceiling": "ratings above 1 are 1",
    "missing": "mean share missing of judges' ratings of themselves",
}
SIZE = ("families", "prompts", "dimensions", "intercept", "slope", "noise")  # that every world has


def dials_in_words(grid: Mapping) -> list[str]:
    """What the worlds of a grid are: its dial with the values, and the others that it sets, a line each."""
    values = ", ".join(f"{value:g}" for value in grid["values"])
    return [f"{DIALS[grid['dial']]}: {values}", *([f"with {_others(grid['world'])}"] if grid.get("world") else [])]


def world_in_words(world: Mapping) -> str:
    """What the worlds of all grids have in common where a panel does not say otherwise; every other trouble is absent."""
    families, prompts, dimensions = world["families"], world["prompts"], world["dimensions"]
    others = _others({dial: value for dial, value in world.items() if dial not in SIZE})
    return (
        f"Where a panel does not say otherwise, {sum(families)} models of {len(families)} families rate one another on "
        f"{prompts} prompts in {dimensions} dimensions, {world['intercept']:g} + {world['slope']:g} times the true score with "
        f"errors of standard deviation {world['noise']:g}{f', with {others}' if others else ''}; but for what is said, models "
        "are equally good, human scores exact, and nobody has a taste or a bias."
    )


def _others(dials: Mapping) -> str:
    found = {dial: value for dial, value in dials.items() if value is not False}
    return "; ".join(DIALS[dial] if value is True else f"{DIALS[dial]} {value:g}" for dial, value in found.items())
