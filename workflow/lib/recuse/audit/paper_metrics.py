"""An audit in the papers' own metrics, with the published values: attack success rates (Chen et
al.), shares of cognitive biases (CoBBLEr), agreement with labels (PRD, LLMBar), agreement of both
orders (PRD), and verbosity bias (Saito et al.).
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from recuse.audit.plan import FIRST, SECOND
from recuse.audit.published import PERTURBED, QUOTED_SHARES, RELEASED
from recuse.audit.treatments import PLAIN
from recuse.base.database import connect, files, text, write_parquet, write_rows
from recuse.base.errors import DataError
from recuse.base.places import WORKFLOW
from recuse.base.tables import column_names, read_table, write_table
from recuse.data.verdicts import COMPARISONS, CONTROL, WORSENING
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import (
    PAIRWISE_AGREEMENT,
    POSITION,
    VERBOSITY,
    human_agreement,
    position,
    verbosity,
)
from recuse.papers.attacks import create_samples, create_votes, success_rates
from recuse.papers.cognitive import cognitive_biases

PRINTED_RATES = WORKFLOW / "data" / "judgement_bias_published.csv"
PRINTED_VALUES = WORKFLOW / "data" / "comparisons_published.csv"
RATES = column_names(
    "judge condition asr ci_low ci_high shifted n samples left_out votes errors source",
)
SHARES = column_names(
    "judge experiment bias share ci_low ci_high biased n left_out valid random chance above_random",
    "source",
)
# Perturbations that have another name in the paper than in its files
PRINTED = {"reference": "fake_reference"}
RELEASED_VERDICTS = "released verdicts"
OUTCOMES = {1.0: "b", 0.5: "tie", 0.0: "a", None: "error"}  # b is the treated answer
# (treatment, arm) -> condition of CoBBLEr, and the answer that the added text favours
ADDED = {
    ("order", "first"): ("order", None),
    ("order", "second"): ("order", None),
    ("majority", "for"): ("bandwagon", "b"),
    ("majority", "against"): ("bandwagon", "a"),
    ("distraction", "irrelevant sentence"): ("attentional", "b"),
}
# Table -> its columns and the function that yields its rows
LABELLED = {
    "agreement": (PAIRWISE_AGREEMENT, human_agreement),
    "position": (POSITION, position),
    "verbosity": (VERBOSITY, verbosity),
}
NUMBERS = ("length_a", "length_b", "humans_a", "humans_b", "humans_tie", "right_a", "right_b")


def as_comparisons(observations: Iterable[Mapping]) -> Iterator[dict]:
    """Yield verdicts of an audit as rows of COMPARISONS; model_b's answer is the treated one.

    The control group of a perturbation of Chen et al. is the same pair with the raw answer. Its
    models are called `raw` and `perturbed`, as either of the two answers may be perturbed. Claims
    for and against an answer are separate experiments. In the condition `order`, both answers are
    shown as they are, and model_b is the later one by name.
    """
    for row in observations:
        if row["treatment"] == "order" and row["model"] < row["other"]:
            row = _about_other(row)
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
            yield {
                **shared,
                "model_a": row["other"],
                "model_b": row["model"],
                "experiment": "" if favoured is None else f"{treatment} {arm}",
                "condition": condition,
                "favoured": favoured,
            }
        elif treatment in PERTURBED:
            perturbation = PERTURBED[treatment]
            yield {
                **shared,
                "model_a": "raw",
                "model_b": "perturbed",
                "experiment": perturbation,
                "condition": CONTROL if arm == PLAIN else perturbation,
            }


def _about_other(row: Mapping) -> dict:
    """A verdict of the treatment `order` as one about the other answer of the pair."""
    return {
        **row,
        "model": row["other"],
        "other": row["model"],
        "arm": SECOND if row["arm"] == FIRST else FIRST,
        "value": None if row["value"] is None else 1 - row["value"],
    }


def write_paper_metrics(
    folder: Path, observations: Iterable[Mapping], *, confidence: float, seed: int
) -> None:
    """Write attack_rates.csv, cognitive_biases.csv and the tables LABELLED into a folder: values of
    the audit's judges, from recuse.papers.attacks.success_rates, cognitive_biases and
    recuse.pairwise.verbosity, then published values with their `source`. A table is left out if the
    audit has none of its treatments, or if the paper has no labels.
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
        settings = {"confidence": confidence, "seed": seed}
        shares = [*cognitive_biases(path, **settings)]
        released = folder / "texts" / RELEASED
        if released.exists():
            labelled = f"{place}/labelled.parquet"
            _write_labelled(path, str(released), labelled)
            pairs = open_pairs(labelled, {})
            for name, (columns, tabulate) in LABELLED.items():
                found = [*tabulate(pairs, **settings)]
                for row in found:
                    row["source"] = row.pop("experiment")
                if name == "verbosity":
                    found += _printed_verbosity()
                _, _, *shown = columns  # without study and experiment
                write_table(folder / f"{name}.csv", [*shown, "source"], found)
        else:
            for name in LABELLED:
                (folder / f"{name}.csv").unlink(missing_ok=True)
    if rates:
        write_table(folder / "attack_rates.csv", RATES, [*rates, *_printed_rates()])
    if shares := [row for row in shares if row["share"] is not None]:
        found = [{name: row[name] for name in SHARES if name in row} for row in shares]
        quoted = folder / "texts" / QUOTED_SHARES
        published = read_table(quoted) if quoted.exists() else []
        write_table(folder / "cognitive_biases.csv", SHARES, [*found, *published])


def _write_labelled(asked: str, released: str, path: str) -> None:
    """Write the verdicts of an audit in the condition `order`, with the labels, lengths and
    conditions that a paper's released verdicts have for the same answers, and the released ones, as
    the experiment RELEASED_VERDICTS. DataError if a pair has no label.
    """
    connection = connect()
    unlabelled = connection.execute(
        f"""
        select item, model_a, model_b from {files([asked])} as asked
        anti join {files([released])} using (item, model_a, model_b)
        where asked.condition = 'order' order by all limit 1"""
    ).fetchone()
    if unlabelled:
        item, first, second = unlabelled
        raise DataError(
            f"{released}: found no label for prompt {item}, {first} and {second}; delete this file,"
            " and run `recuse audit` again to fetch it"
        )
    write_rows(
        connection,
        f"""
        select * replace ({text(RELEASED_VERDICTS)} as experiment) from {files([released])}
        union all by name
        select asked.* replace (label.human as human, label.condition as condition,
                                label.length_a as length_a, label.length_b as length_b)
        from {files([asked])} as asked
        join (select distinct item, model_a, model_b, human, condition, length_a, length_b
              from {files([released])}) as label using (item, model_a, model_b)
        where asked.condition = 'order'""",
        path,
    )


def _printed_verbosity() -> Iterator[dict]:
    """Verbosity biases that Saito et al. print, for verdicts that were not released."""
    for row in read_table(PRINTED_VALUES):
        if row["quantity"] == "verbosity_bias":
            yield {
                "order": "debiased",
                "draws": "excluded",
                "judge": row["judge"],
                "verbosity_bias": row["value"],
                "source": row["place"],
            }


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
