"""Small tables of votes about perturbed answers, in the canonical form, and the tables that are
made from them.
"""

import itertools

from analyses import attack_tables
from numpy.random import default_rng

from random_comparisons import write
from text_tables import lines

SCORES = {"a": 0.0, "tie": 0.5, "b": 1.0}
TABLES = ("asr", "ranks", "votes_by_position", "length_curve", "vote_shares")
GROUPS = """
main control        A1     A2
main factual_error  A1     A2
main fake_reference A1     A2
weak control        anchor m1
weak control        anchor m2
weak fake_reference anchor m1
weak fake_reference anchor m2
"""


def write_votes(path, rows):
    """Write dicts of judge, item, condition, order, outcome, ... as a canonical table; what is not
    said has a default.
    """
    names = {"judge": "J", "model_a": "A1", "model_b": "A2", "experiment": "main", "order": "ab"}
    return write([{**names, "vote": number + 1, **row} for number, row in enumerate(rows)], path)


def sample(item, condition, outcomes, **names):
    """The votes on one sample: words of `outcomes` (a, b, tie, error), the order of the answers
    changing from vote to vote.
    """
    orders = itertools.cycle(("ab", "ba"))
    return [
        {"item": item, "condition": condition, "outcome": o, "order": next(orders), **names}
        for o in outcomes.split()
    ]


def random_votes(seed, judges=("J1", "J2", "J3")):
    """Votes of several judges in two experiments, one of them with two pairs of models, some
    samples and groups missing.
    """
    draw = default_rng(seed)
    rows = []
    models = ("A1", "A2", "anchor", "m1", "m2")
    lengths = {key: int(draw.integers(1, 90)) for key in itertools.product(range(25), models)}
    for judge, group, item in itertools.product(judges, lines(GROUPS), range(25)):
        experiment, condition, a, b = group
        if draw.random() < 0.1 or (judge == "J3" and b == "m2"):
            continue
        shares = draw.dirichlet((2, 1, 2, 0.3))
        outcomes = draw.choice((*SCORES, "error"), size=draw.integers(1, 7), p=shares)
        names = {"judge": judge, "experiment": experiment, "model_a": a, "model_b": b}
        told = {"length_a": lengths[item, a], "length_b": lengths[item, b]}
        rows += sample(f"q{item}", condition, " ".join(outcomes), **names, **told)
    return rows


def tabulated(comparisons, folder, worsening=()):
    """Paths of the five tables of votes, by their name."""
    outputs = {name: f"{folder}/{name}.csv" for name in TABLES}
    settings = {"worsening": [*worsening], "confidence": 0.9, "seed": 1}
    attack_tables(study="s", comparisons=comparisons, outputs=outputs, **settings)
    return outputs
