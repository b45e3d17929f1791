"""The attack success rates of Chen et al. from the observations of an audit of their texts, beside
those that they printed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from recuse.audit.published import PERTURBED
from recuse.audit.treatments import PLAIN
from recuse.base.database import connect
from recuse.base.places import WORKFLOW
from recuse.base.tables import column_names, read_table, write_table
from recuse.data.verdicts import CONTROL, WORSENING
from recuse.papers.attacks import create_samples, success_rates

PUBLISHED = WORKFLOW / "data" / "judgement_bias_published.csv"
RATES = column_names(
    "judge condition asr ci_low ci_high shifted n samples left_out votes errors source",
)
VOTES = column_names("judge experiment condition item model_a model_b outcome")
# What the paper calls a perturbation that its file calls otherwise
PRINTED = {"reference": "fake_reference"}
OUTCOMES = {1.0: "b", 0.5: "tie", 0.0: "a", None: "error"}  # b: for the perturbed answer


def attack_rates(observations: Iterable[Mapping], *, confidence: float) -> list[dict]:
    """Rows of RATES: of each judge and perturbation the attack success rate, as of
    recuse.papers.attacks.success_rates, then the rates that the paper prints of its judges.

    observations: verdicts. The control group of a perturbation is the same pairs with the raw
    answer; replicates and orders are the votes of a sample.
    """
    votes: dict[str, list[str]] = {name: [] for name in VOTES}
    for row in observations:
        if row["treatment"] not in PERTURBED:
            continue
        condition = PERTURBED[row["treatment"]]
        vote = {
            "judge": row["judge"],
            "experiment": condition,
            "condition": CONTROL if row["arm"] == PLAIN else condition,
            "item": row["prompt"],
            "model_a": "raw",
            "model_b": "perturbed",
            "outcome": OUTCOMES[row["value"]],
        }
        for name, value in vote.items():
            votes[name].append(value)
    rows = []
    connection = connect()
    connection.register("given", {name: np.array(each, object) for name, each in votes.items()})
    texts = ", ".join(f"{name}::varchar as {name}" for name in VOTES)
    connection.execute(f"create temp table votes as select {texts} from given")
    create_samples(connection)
    for rate in success_rates(connection, worsening=WORSENING, confidence=confidence):
        condition = PRINTED.get(rate["condition"], rate["condition"])
        rows.append({name: rate.get(name) for name in RATES} | {"condition": condition})
    for row in read_table(PUBLISHED):
        if (row["table"], row["quantity"]) == ("1", "asr"):
            printed = {"judge": row["judge"], "condition": row["condition"], "asr": row["value"]}
            rows.append(printed | {"source": f"{row['paper']}, Table 1"})
    return rows


def write_attack_rates(folder: Path, observations: list[dict], *, confidence: float) -> None:
    """Write attack_rates.csv into a folder."""
    rows = attack_rates(observations, confidence=confidence)
    write_table(folder / "attack_rates.csv", RATES, rows)
