"""Small random comparisons with everything that may be missing, and frames of them."""

import itertools
from collections import defaultdict

import duckdb
import numpy as np
import pandas as pd
from numpy.random import default_rng
from scipy.special import betaincinv

from recuse.data.verdicts import COMPARISONS
from recuse.pairwise.questions import percentile_intervals

POOLS = {"one and two": ["one", "two"]}
SETTINGS = {"confidence": 0.9, "seed": 7}
TYPES = dict.fromkeys(COMPARISONS, "varchar") | {
    **dict.fromkeys(("length_a", "length_b"), "double"),
    **dict.fromkeys(("vote", "humans_a", "humans_b", "humans_tie"), "integer"),
    **dict.fromkeys(("right_a", "right_b"), "boolean"),
}

DEFAULTS = {"condition": "", "experiment": "", "vote": 1}


def random_rows(seed, *, questions=7):
    """Verdicts of three judges under three conditions; `unlabelled` has no human label, `Blind`
    makes nothing but errors.

    A second experiment, `again`, has one of the conditions, with the same items and other labels
    and lengths.
    """
    draw = default_rng(seed)
    rows = []
    pairs = [("m", "n"), ("m", "o"), ("o", "n")]
    places = [(condition, "") for condition in ("one", "two", "unlabelled")] + [("one", "again")]
    for (condition, experiment), item, (a, b) in itertools.product(places, range(questions), pairs):
        human = (
            None
            if condition == "unlabelled"
            else draw.choice(["a", "b", "tie", None], p=[0.4, 0.4, 0.1, 0.1])
        )
        lengths = [None if draw.random() < 0.05 else float(draw.integers(0, 9)) for _ in "ab"]
        for judge, vote, order in itertools.product(
            ("Blind", "Careful", "Hasty"), (1, 2), ("ab", "ba")
        ):
            if draw.random() < (0.1 if judge == "Careful" else 0.3):
                continue
            outcome = (
                "error"
                if judge == "Blind"
                else draw.choice(["a", "b", "tie", "error"], p=[0.4, 0.4, 0.15, 0.05])
            )
            values = (
                judge,
                f"q{item}",
                a,
                b,
                order,
                outcome,
                human,
                *lengths,
                condition,
                experiment,
                None,
                vote,
                *[None] * 6,
            )
            rows.append(dict(zip(COMPARISONS, values, strict=True)))
    return rows


def own_rows(seed):
    """Random comparisons in which the two judges that do not only err have answers of their own."""
    names = {"m": "Careful", "o": "Hasty"}
    return [
        row | {side: names.get(row[side], row[side]) for side in ("model_a", "model_b")}
        for row in random_rows(seed, questions=8)
        if not (row["judge"] == "Blind" and row["condition"] == "two")
    ]


def write(rows, path):
    """Write verdicts as a canonical table and return its path; what is not said is empty, or vote
    1.
    """
    connection = duckdb.connect()
    columns = ", ".join(f'"{column}" {kind}' for column, kind in TYPES.items())
    connection.execute(f"create table comparisons ({columns})")
    # Row by row takes a hundred times as long
    values = ", ".join(f"unnest(?::{TYPES[column]}[])" for column in COMPARISONS)
    columns = [
        [DEFAULTS.get(column) if row.get(column) in ("", None) else row[column] for row in rows]
        for column in COMPARISONS
    ]
    connection.execute(f"insert into comparisons select {values}", columns)
    connection.execute(f"copy comparisons to '{path}' (format parquet)")
    return str(path)


def labels_from(condition, pools=POOLS):
    """The labels under which a condition is tabulated."""
    return [condition, *(pool for pool, named in pools.items() if condition in named)]


def compared(rows):
    """Both orders of each comparison: one dict each with `ab`, `ba` and `debiased`; an absent order
    is None.
    """
    found = defaultdict(dict)
    for row in rows:
        key = tuple(
            row[name]
            for name in ("experiment", "condition", "judge", "item", "model_a", "model_b", "vote")
        )
        found[key] |= {**row, row["order"]: row["outcome"]}
    for pair in found.values():
        both = pair.get("ab"), pair.get("ba")
        agreed = both[0] if both[0] == both[1] else "tie"
        pair["debiased"] = "error" if set(both) & {None, "error"} else agreed
    return list(found.values())


def labelled(rows):
    """The comparisons as a frame, each under every label of its condition; `within` is the
    condition.
    """
    pairs = pd.DataFrame(compared(rows))
    pairs["within"], pairs["condition"] = pairs["condition"], pairs["condition"].map(labels_from)
    return pairs.explode("condition", ignore_index=True)


def verdicts(rows):
    """What every rule for the order makes of each comparison, as a frame: none, one verdict or
    two.
    """
    pairs = labelled(rows)
    rules = [
        ("ab", "ab"),
        ("ba", "ba"),
        ("debiased", "debiased"),
        ("pooled", "ab"),
        ("pooled", "ba"),
    ]
    by_rule = [pairs.assign(order=rule, verdict=pairs[name]) for rule, name in rules]
    return pd.concat(by_rule).dropna(subset="verdict")


def resampled_ends(values, by_question, *, confidence=0.9):
    """Ends of the interval of a share: quantiles of its resamples, or, where all questions have the
    same one, exact ends.
    """
    known = [share for share in by_question if not np.isnan(share)]
    tail = (1 - confidence) / 2
    if len(known) < 2:
        return [np.nan, np.nan]
    if len(set(known)) > 1:
        return list(
            np.quantile([value for value in values if np.isfinite(value)], [tail, 1 - tail])
        )
    differ = float(betaincinv(1, len(known), 1 - tail))  # the upper end for none of them
    return [known[0] - known[0] * differ, known[0] + (1 - known[0]) * differ]


def few_replicates(monkeypatch, replicates):
    """Let the intervals of the library be of so many replicates as a loop can follow."""
    monkeypatch.setattr(percentile_intervals, "__kwdefaults__", {"replicates": replicates})


def resampled(questions, *, seed, replicates):
    """How often each of `questions` is drawn in each replicate, a row, as the bootstrap of the
    library draws them, one by one.
    """
    generator, number = default_rng(seed), len(questions)
    drawn = (generator.integers(number, size=number) for _ in range(replicates))
    times = [np.bincount(places, minlength=number) for places in drawn]
    return pd.DataFrame(times, columns=[*questions])
