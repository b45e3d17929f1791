"""Small tables of votes about perturbed answers, in the canonical form, and the naive counts that
they give.
"""

import itertools

from numpy.random import default_rng

from random_comparisons import write

SCORES = {"a": 0.0, "tie": 0.5, "b": 1.0}


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


def random_votes(seed, items=25, judges=("J1", "J2", "J3")):
    """Votes of several judges in two experiments, one of them with two pairs of models, some
    samples and groups missing.
    """
    generator = default_rng(seed)
    groups = [("main", c, "A1", "A2") for c in ("control", "factual_error", "fake_reference")]
    groups += [
        ("weak", c, "anchor", m) for c in ("control", "fake_reference") for m in ("m1", "m2")
    ]
    rows = []
    lengths = {
        (item, model): int(generator.integers(1, 90))
        for item in range(items)
        for model in ("A1", "A2", "anchor", "m1", "m2")
    }
    for judge, (experiment, condition, a, b), item in itertools.product(
        judges, groups, range(items)
    ):
        if generator.random() < 0.1 or (judge == "J3" and b == "m2"):
            continue
        shares = generator.dirichlet((2, 1, 2, 0.3))
        outcomes = generator.choice(
            ("a", "tie", "b", "error"), size=generator.integers(1, 7), p=shares
        )
        names = {"judge": judge, "experiment": experiment, "model_a": a, "model_b": b}
        told = {"length_a": lengths[item, a], "length_b": lengths[item, b]}
        rows += sample(f"q{item}", condition, " ".join(outcomes), **names, **told)
    return rows


def preference(votes):
    """Preference of one sample by its votes."""
    scores = [SCORES[row["outcome"]] for row in votes if row["outcome"] != "error"]
    if not scores:
        return None
    mean = sum(scores) / len(scores)
    return "a" if mean < 0.5 else "b" if mean > 0.5 else "tie"
