"""Small simulated ratings for the ordinal fit, and the likelihood written down row by row."""

from dataclasses import replace

import numpy as np
from numpy.random import default_rng

from designs_on_rows import carried_terms, term_places
from recuse.data.cells import Cells
from recuse.model.design import term_layout
from recuse.model.spec import EQUATION_1

FAMILY = {"a": "x", "b": "x", "c": "y", "d": "y"}
REFERENCES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def simulated(seed=0, *, per_cell=6, top=3, judges="abcd", dimensions=("q",)):
    """Cells of a full judge x model x reference design.

    P(rating <= k) = logistic(threshold_k - eta), thresholds evenly spread between -1.5 and 2.5; eta
    of a row is its judge's intercept and slope times the reference, plus self-bias or family-bias,
    plus 0.7 in the second dimension.
    """
    generator = default_rng(seed)
    keys = [(d, j, m) for d in dimensions for j in judges for m in judges]
    dimension, judge, model = (np.array(part) for part in zip(*keys, strict=True))
    family = np.vectorize(FAMILY.get)
    groups = {
        "dimension": dimension,
        "dataset": np.full(len(keys), "s"),
        "task_type": np.full(len(keys), ""),
        "judge": judge,
        "model": model,
        "judge_family": family(judge),
        "model_family": family(model),
    }
    group, level = (index.ravel() for index in np.indices((len(keys), len(REFERENCES))))
    empty = np.zeros((len(group), top + 1), dtype=np.int64)
    scale = np.tile([0, top], (len(group), 1))
    cells = Cells(
        groups, group, REFERENCES[level], REFERENCES[level] * top, empty, np.arange(top + 1), scale
    )
    terms = terms_for(cells)
    truth = generator.normal(0.5, 0.6, len(terms)).round(2)
    place = term_places(terms)
    truth[place["intercept", min(judges)]] = 0.0
    truth[[place["dimension", name] for name in dimensions[1:]]] = 0.7
    eta = design_from(cells, terms) @ truth
    below = 1 / (1 + np.exp(eta[:, None] - (4 * np.arange(top) + 2) / top + 1.5))
    probabilities = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return replace(cells, counts=generator.multinomial(per_cell, probabilities))


def terms_for(cells):
    return carried_terms(cells.factors, names=EQUATION_1)


def design_from(cells, terms):
    layout = term_layout(terms, len(cells.factors["judge"]), 2)[cells.group]
    return layout[:, 0] + layout[:, 1] * cells.reference[:, None]


def with_ratings(cells, rows, rating):
    """Give every row of the cells where `rows` the same rating."""
    counts = cells.counts.copy()
    counts[rows] = 0
    counts[rows, rating] = cells.n[rows]
    return replace(cells, counts=counts)


def expanded(cells):
    """One cell for each row, in the order of the cells."""
    place, rating = np.nonzero(cells.counts)
    times = cells.counts[place, rating]
    place, rating = np.repeat(place, times), np.repeat(rating, times)
    counts = (rating[:, None] == np.arange(len(cells.ratings))).astype(np.int64)
    parts = {
        key: getattr(cells, key)[place] for key in ("group", "reference", "reference_raw", "scale")
    }
    return replace(cells, counts=counts, **parts)


def on_a_scale_of_hundred():
    """One cell for each row, rated 0 to 100, each with a human score of its own."""
    cells = expanded(simulated(3, per_cell=30, top=100))
    moved = default_rng(3).uniform(-0.1, 0.1, len(cells.group))
    return replace(cells, reference=np.clip(cells.reference + moved, 0, 1))


def log_probabilities(cells, terms, point):
    """log(F(threshold_k - eta) - F(threshold_(k-1) - eta)) of each row, as the model is written."""
    rows = expanded(cells)
    rating = rows.counts[:, rows.counts.any(axis=0)].argmax(axis=1)
    thresholds = np.concatenate([[-np.inf], point[len(terms) :], [np.inf]])
    eta = design_from(rows, terms) @ point[: len(terms)]
    upper, lower = thresholds[rating + 1] - eta, thresholds[rating] - eta
    mirrored = lower > 0  # 1 - F of the upper tail, where F has no digits left
    upper, lower = np.where(mirrored, -lower, upper), np.where(mirrored, -upper, lower)
    with np.errstate(over="ignore"):
        return np.log(1 / (1 + np.exp(-upper)) - 1 / (1 + np.exp(-lower)))


def derivative(function, point, places, step=1e-3):
    """Derivative of `function` by central differences of fourth order, (places, ...)."""
    columns = []
    for place in places:
        move = np.zeros(len(point))
        move[place] = step
        near = function(point + move) - function(point - move)
        far = function(point + 2 * move) - function(point - 2 * move)
        columns.append((8 * near - far) / (12 * step))
    return np.array(columns)
