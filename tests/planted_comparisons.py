"""Simulated comparisons with planted biases, and everything that the study's tables find in
them.
"""

from recuse.base.database import connect
from recuse.pairwise.choices import choices, count_choices
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import position, verbosity
from recuse.papers.attacks import create_samples, create_votes, success_rates
from recuse.papers.cognitive import cognitive_biases
from recuse.simulate.recovery import recovery_of_biases
from recuse.simulate.votes import write_comparisons

BIASED = {
    "first": 0.2,
    "second": 0.05,
    "tie": 0.1,
    "error_shorter": 0.4,
    "error_longer": 0.15,
    "own": 0.7,
    "compassion": {"first": 0.1, "second": 0.3, "own": 0.55},
    "bandwagon": 0.6,
    "attentional": 0.15,
    "invalid": 0.04,
    "attacks": {"factual_error": 0.2, "fake_reference": 0.6, "rich_content": 0.35},
    "votes_first": 0.4,
    "votes_second": 0.1,
}


def recovered(drawn, planted, folder, *, seed=1):
    """Rows of the table of recovery, of comparisons just drawn."""
    path = str(folder / "comparisons.parquet")
    write_comparisons(drawn, path)
    pairs = open_pairs(path, {})
    votes = connect()
    create_votes(votes, path)
    create_samples(votes)
    sampling = {"confidence": 0.9, "seed": seed}
    tables = {
        "choices": choices(count_choices(pairs, {}), **sampling),
        "verbosity": verbosity(pairs, **sampling),
        "position": position(pairs, **sampling),
        "cognitive_biases": cognitive_biases(path, **sampling),
        "asr": success_rates(votes, worsening=["factual_error"], confidence=0.9),
    }
    return list(
        recovery_of_biases(
            as_texts(planted), **{name: as_texts(rows) for name, rows in tables.items()}
        )
    )


def as_texts(rows):
    """Rows as they are read from a file."""
    return [
        {name: "" if value is None or value != value else str(value) for name, value in row.items()}
        for row in rows
    ]
