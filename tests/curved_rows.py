"""Rows of three judges whose ratings follow curves of the reference, and their cells."""

import numpy as np
from numpy.random import default_rng

from recuse.data.cells import FACTORS, Cells

JUDGES = {"a1": "A", "a2": "A", "b1": "B"}
TOP = 40  # of the raw scale


def rows_from(*, references, curve, self_bias=0.0, spread=0.05, dimensions=("d",)):
    """Rows (judge, model, dimension, reference, raw rating), rating = curve(judge, reference) +
    self_bias + noise, rounded.

    references: (generator, judge, model) -> (400,) on the unit scale.
    """
    generator = default_rng(0)
    rows = []
    for dimension in dimensions:
        for judge in JUDGES:
            for model in JUDGES:
                reference = references(generator, judge, model)
                rating = (
                    curve(judge, reference)
                    + self_bias * (judge == model)
                    + spread * generator.standard_normal(len(reference))
                )
                rows += [
                    (judge, model, dimension, x, y)
                    for x, y in zip(reference, np.rint(TOP * rating).astype(int), strict=True)
                ]
    return tuple(map(np.array, zip(*rows, strict=True)))


def cells_from(judge, model, dimension, reference, rating):
    """The cells of such rows."""
    family = np.vectorize(JUDGES.get)
    names = np.stack([dimension, judge, model])
    groups, group = np.unique(names, axis=1, return_inverse=True)
    keys, cell = np.unique(np.stack([group, reference]), axis=1, return_inverse=True)
    counts = np.zeros((keys.shape[1], TOP + 1), dtype=int)
    np.add.at(counts, (cell, rating), 1)
    factors = dict.fromkeys(FACTORS, np.full(groups.shape[1], "")) | dict(
        zip(("dimension", "judge", "model"), groups, strict=True)
    )
    factors |= {"judge_family": family(groups[1]), "model_family": family(groups[2])}
    scale = np.tile([0, TOP], (keys.shape[1], 1))
    return Cells(
        factors, keys[0].astype(int), keys[1], TOP * keys[1], counts, np.arange(TOP + 1), scale
    )


def on(*values):
    return lambda generator, judge, model: generator.choice(values, 400)


def bent(judge, reference):
    """A judge that hardly distinguishes low references, and then rises steeply."""
    return 0.3 + 0.35 * reference**3
