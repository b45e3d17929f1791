"""Rating scales as the configuration declares them, and the steps of scales whose ratings are imported."""

from collections.abc import Mapping, Sequence

OBSERVED = "observed"  # a scale from 0 to the highest value in the files
MOST_LEVELS = 101  # of a rating scale
NEAR = 1e-9
FEW = 10  # steps of a scale, of values that have any number of digits
STEPS = tuple(float(f"{digit}e{power}") for power in range(-6, 6) for digit in (1, 2, 5))


def scales_in_steps(scales: Mapping, settings: Mapping) -> dict:
    """The scales of a study in the units of its raw ratings: steps of config's `import`."""
    step = settings.get("step", 1)
    return {
        dimension: scale if isinstance(scale, str) else [round(end / step) for end in scale]
        for dimension, scale in scales.items()
    }


def possible_steps(scales: Mapping) -> list[float]:
    """Steps of 1, 2 or 5 and a power of ten, rising, that make at most MOST_LEVELS levels of every declared scale."""
    declared = [scale for scale in scales.values() if not isinstance(scale, str)]
    widths = [scale[1] - scale[0] for scale in declared]
    return [
        step
        for step in STEPS
        if widths and max(widths) / step < MOST_LEVELS - 1 + NEAR and all(in_whole_steps(scale, step) for scale in declared)
    ]


def finest_step(scales: Mapping) -> float | None:
    """The finest of the possible steps; None if there is none, or if a scale would have fewer than FEW of them."""
    widths = [scale[1] - scale[0] for scale in scales.values() if not isinstance(scale, str)]
    return next((step for step in possible_steps(scales) if min(widths) / step > FEW - NEAR), None)


def in_whole_steps(scale: Sequence[float], step: float) -> bool:
    """Whether both ends of a scale, and what is between them, are whole numbers of steps, one or more."""
    ends = [end / step for end in scale]
    return all(abs(end - round(end)) <= NEAR * max(1, abs(end)) for end in ends) and round(ends[1]) > round(ends[0])
