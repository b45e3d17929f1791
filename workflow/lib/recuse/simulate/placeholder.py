"""A world declared in config: a placeholder for a study whose data are not at hand, or a plan of one's own.

What is planted is what config says; nothing in it is measured.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from recuse.base.errors import ConfigError
from recuse.simulate.world import World, relations

SLOPE = 0.6  # of a judge that config gives none
# Dispersions where config gives none: the raters' alpha is about 0.5 then, and so is a judge's correlation with the humans.
DISPERSION = {"quality": 4.0, "raters": 8.0, "judges": 8.0}
DATASET = "simulated"  # of a study that names no datasets


def declared_world(
    settings: Mapping, *, models: Mapping[str, str], scales: Mapping[str, Sequence[int]], task_types: Mapping
) -> World:
    """Return the world that a study's `simulate` declares, the same in each of its dimensions.

    settings: `quality`, the mean human score of each model, between 0 and 1 on the unit scale; `judges`, those of the models
    that judge, each with self_bias (default 0), slope (SLOPE) and intercept (such that the judge's mean without biases is the
    humans': (1 - slope) x mean quality); `family_bias` by family (0); `dispersion` of `quality`, `raters` and `judges`, the
    larger, the less they vary (DISPERSION). models: name -> family; the models of `quality` keep their order. scales: dimension
    -> [lowest, highest]. task_types: task type -> datasets, which share the prompts equally; {} is one dataset. Every
    completion is rated by three raters and all judges; there are no lengths and no gold team.

    Raises ConfigError, naming the key, for a name that is not known, a family-bias that no rows would carry, a scale that is
    not declared as two numbers, and an expected rating off the scale.
    """
    quality = settings["quality"]
    _known("quality", quality, models, "`models:` of config; add it there with its family")
    _known("judges", settings["judges"], quality, "`quality`; a judge here is one of the models that are rated")
    names = tuple(name for name in models if name in quality)
    judges = tuple(name for name in names if name in settings["judges"])
    families = tuple(dict.fromkeys(models[name] for name in names))
    family_of = np.array([families.index(models[name]) for name in names])
    judge_of = np.array([names.index(judge) for judge in judges])
    human = np.array([quality[name] for name in names], dtype=float)
    datasets = tuple(dataset for group in task_types.values() for dataset in group) or (DATASET,)
    lowest, highest = _scales(scales)
    dispersion = DISPERSION | dict(settings.get("dispersion", {}))
    everywhere = np.ones((len(scales), 1))  # every dimension is like every other
    of_dimension = everywhere[:, 0]
    coefficients = _judges([settings["judges"][judge] for judge in judges], human.mean())
    world = World(
        dimensions=tuple(scales),
        models=names,
        families=families,
        datasets=datasets,
        family_of=family_of,
        judge_of=judge_of,
        scale_minimum=lowest,
        scale_maximum=highest,
        **{name: everywhere * values for name, values in coefficients.items()},
        family_bias=_family_biases(settings.get("family_bias", {}), families, family_of, judge_of),
        dispersion=np.full((len(scales), len(judges)), dispersion["judges"]),
        human_mean=everywhere * human,
        quality_dispersion=of_dimension * dispersion["quality"],
        rater_dispersion=of_dimension * dispersion["raters"],
        gold_share=0.0,
        gold_insight=of_dimension,
        gold_dispersion=of_dimension,
        prompts=np.ones(len(datasets)),
        rated=np.ones((len(scales), len(datasets)), dtype=bool),
        absent=np.zeros((len(scales), len(judges))),
        absent_for_all=np.zeros(len(scales)),
        lengths=None,
    )
    _check_expected(world)
    return world


def _judges(settings: Sequence[Mapping], mean_quality: float) -> dict[str, np.ndarray]:
    """Intercept, slope and self-bias of each judge, (J,) each."""
    slope = np.array([judge.get("slope", SLOPE) for judge in settings], dtype=float)
    neutral = (1 - slope) * mean_quality
    intercept = [judge.get("intercept", default) for judge, default in zip(settings, neutral, strict=True)]
    self_bias = [judge.get("self_bias", 0.0) for judge in settings]
    return {"intercept": np.array(intercept, dtype=float), "slope": slope, "self_bias": np.array(self_bias, dtype=float)}


def _family_biases(settings: Mapping, families: tuple, family_of: np.ndarray, judge_of: np.ndarray) -> np.ndarray:
    """Family-bias of each family, (F,)."""
    _, same_family = relations(family_of, judge_of)
    carried = {families[f] for f in family_of[judge_of][same_family.any(axis=1)]}
    _known("family_bias", settings, carried, "the families of which a judge rates another model; leave it out")
    return np.array([settings.get(family, 0.0) for family in families], dtype=float)


def _scales(scales: Mapping) -> tuple[np.ndarray, np.ndarray]:
    for dimension, scale in scales.items():
        if isinstance(scale, str):
            raise ConfigError(f"scales: {dimension}: {scale} cannot be simulated; write [lowest, highest], such as [1, 5]")
    lowest, highest = np.array(list(scales.values())).T
    return lowest, highest


def _check_expected(world: World) -> None:
    """Raise ConfigError unless every judge's expected rating is on the scale, whatever the human score."""
    for j, judge in enumerate(world.judges):
        bias = np.append(world.biases[0, j], 0.0)
        ends = world.intercept[0, j] + world.slope[0, j] * np.array([0.0, 1.0])
        low, high = ends.min() + bias.min(), ends.max() + bias.max()
        if low < 0 or high > 1:
            raise ConfigError(
                f"simulate: judges: {judge}: expected ratings run from {low:.3f} to {high:.3f} of the unit scale (intercept "
                f"{ends[0]:.3f}, slope {world.slope[0, j]:.3f}, biases from {bias.min():.3f} to {bias.max():.3f}); "
                "choose an intercept, a slope and biases that keep them within 0 and 1"
            )


def _known(key: str, names: Collection[str], known: Collection[str], place: str) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"simulate: {key}: '{name}' is not one of {place} (known: {', '.join(sorted(known)) or 'none'})")
