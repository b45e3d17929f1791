"""An audit in the papers' own metrics: attack success rates (Chen et al.) and shares of cognitive
biases (CoBBLEr), with the published values.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from recuse.audit.plan import FIRST
from recuse.audit.published import PERTURBED, QUOTED_SHARES
from recuse.audit.treatments import PLAIN
from recuse.base.database import connect, write_parquet
from recuse.base.places import WORKFLOW
from recuse.base.tables import column_names, read_table, write_table
from recuse.data.verdicts import COMPARISONS, CONTROL, WORSENING
from recuse.pairwise.cognitive import cognitive_biases
from recuse.papers.attacks import create_samples, create_votes, success_rates

PRINTED_RATES = WORKFLOW / "data" / "judgement_bias_published.csv"
RATES = column_names(
    "judge condition asr ci_low ci_high shifted n samples left_out votes errors source",
)
SHARES = column_names(
    "judge experiment bias share ci_low ci_high biased n left_out valid random chance above_random",
    "source",
)
# Perturbations that have another name in the paper than in its files
PRINTED = {"reference": "fake_reference"}
OUTCOMES = {1.0: "b", 0.5: "tie", 0.0: "a", None: "error"}  # b is the treated answer
# (treatment, arm) -> condition of CoBBLEr, and the answer that the added text favours
ADDED = {
    ("order", "first"): ("order", None),
    ("order", "second"): ("order", None),
    ("majority", "for"): ("bandwagon", "b"),
    ("majority", "against"): ("bandwagon", "a"),
    ("distraction", "irrelevant sentence"): ("attentional", "b"),
}
NUMBERS = ("length_a", "length_b", "humans_a", "humans_b", "humans_tie", "right_a", "right_b")


def as_comparisons(observations: Iterable[Mapping]) -> Iterator[dict]:
    """Yield verdicts of an audit as rows of COMPARISONS; model_b's answer is the treated one.

    The control group of a perturbation of Chen et al. is the same pair with the raw answer. Its
    models are called `raw` and `perturbed`, as either of the two answers may be perturbed. Claims
    for and against an answer are separate experiments.
    """
    for row in observations:
        treatment, arm = row["treatment"], row["arm"]
        place = row["order"] or arm
        shared = {
            "judge": row["judge"],
            "item": row["prompt"],
            "order": "ba" if place == FIRST else "ab",
            "outcome": OUTCOMES[row["value"]],
            "vote": row["replicate"],
            "wording": row["wording"],
        }
        if (treatment, arm) in ADDED:
            condition, favoured = ADDED[treatment, arm]
            names = {"model_a": row["other"], "model_b": row["model"]}
            experiment = "" if favoured is None else f"{treatment} {arm}"
            yield (
                shared
                | names
                | {
                    "experiment": experiment,
                    "condition": condition,
                    "favoured": favoured,
                }
            )
        elif treatment in PERTURBED:
            perturbation = PERTURBED[treatment]
            condition = CONTROL if arm == PLAIN else perturbation
            names = {"model_a": "raw", "model_b": "perturbed"}
            yield shared | names | {"experiment": perturbation, "condition": condition}


def write_paper_metrics(
    folder: Path, observations: Iterable[Mapping], *, confidence: float, seed: int
) -> None:
    """Write attack_rates.csv and cognitive_biases.csv into a folder: values of the audit's judges,
    from recuse.papers.attacks.success_rates and recuse.pairwise.cognitive.cognitive_biases, then
    published values with their `source`. A table is left out if the audit has none of its
    treatments.
    """
    rows = [*as_comparisons(observations)]
    with TemporaryDirectory() as place:
        path = f"{place}/comparisons.parquet"
        types = {name: "integer" if name in NUMBERS else "varchar" for name in COMPARISONS}
        texts = ", ".join(f'"{name}"::{kind} as "{name}"' for name, kind in types.items())
        columns = {
            name: np.array([_text(row.get(name)) for row in rows], object) for name in COMPARISONS
        }
        write_parquet(columns, path, f"select {texts} from columns")
        rates = _attack_rates(path, confidence)
        shares = [*cognitive_biases(path, confidence=confidence, seed=seed)]
    if rates:
        write_table(folder / "attack_rates.csv", RATES, [*rates, *_printed_rates()])
    if shares := [row for row in shares if row["share"] is not None]:
        found = [{name: row[name] for name in SHARES if name in row} for row in shares]
        quoted = folder / "texts" / QUOTED_SHARES
        published = read_table(quoted) if quoted.exists() else []
        write_table(folder / "cognitive_biases.csv", SHARES, [*found, *published])


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _attack_rates(comparisons: str, confidence: float) -> list[dict]:
    connection = connect()
    create_votes(connection, comparisons)
    create_samples(connection)
    rows = []
    for rate in success_rates(connection, worsening=WORSENING, confidence=confidence):
        condition = PRINTED.get(rate["condition"], rate["condition"])
        rows.append({name: rate.get(name) for name in RATES} | {"condition": condition})
    return rows


def _printed_rates() -> Iterator[dict]:
    for row in read_table(PRINTED_RATES):
        if (row["table"], row["quantity"]) == ("1", "asr"):
            printed = {"judge": row["judge"], "condition": row["condition"], "asr": row["value"]}
            yield printed | {"source": f"{row['paper']}, Table 1"}
