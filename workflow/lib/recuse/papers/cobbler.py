"""CoBBLEr's released files: shares of biases, rates of valid verdicts, and rank-biased overlap with
the annotators' rankings.

The release has win counts of the judges and the annotators, shares of human biases, and a table of
the judges' shares, but no verdicts. The files are those of the manifest, to the byte
(`recuse.papers.fetch`), so their contents are not checked again.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import product
from math import comb

import numpy as np
import pandas as pd

from recuse.base.tables import column_names
from recuse.data.registry import HUMAN
from recuse.pairwise.questions import percentile_intervals
from recuse.papers.cognitive import CLOSED_FORM, against_random
from recuse.papers.sources import load_json

RBO = column_names(
    "study statistic form systems ties judge value as_coded rankings above_list ci_low ci_high",
)
VALID = column_names("study judge prompt comparisons valid rate quoted agrees")

BATCHES = "competitive-llms/human/batches"
QUOTED = "competitive-llms/human/cobbler_table2_anova.csv"
JUDGES = {  # name in the released files: name in the paper
    **{
        "gpt4": "GPT-4",
        "chatgpt": "ChatGPT",
        "instructgpt": "InstructGPT",
        "llamav2": "LLaMAv2",
        "llama": "LLaMA",
    },
    **{
        "cohere": "Cohere",
        "falcon": "Falcon",
        "alpaca": "Alpaca",
        "vicuna": "Vicuna",
        "openassist": "OpenAssist",
    },
    **{
        "dolly": "DollyV2",
        "baize": "Baize",
        "koala": "Koala",
        "wizardlm": "WizardLM",
        "mpt": "MPT",
    },
    **{"redpajama": "RedPajama", "mistral": "Mistral", "olmo": "OLMo"},
}
OLDER = ("dolly", "redpajama")  # judges of the first release alone
NEWER = ("llamav2", "mistral", "olmo")  # and of the second
RELEASED_NAMES = {"distraction": "attentional"}  # in the files: in the paper
NO_MODEL = "random"  # the authors' simulated judge, among the judges' files


def wins_of_judge(folder: str, prompt: str, judge: str) -> pd.DataFrame:
    """Win counts by a judge in the released folder of a prompt, such as `model_bias/order`; some
    runs were ended early.
    """
    return read_wins(f"{folder}/{BATCHES}/{prompt}/nC2_preferences_{judge}.json")


def read_wins(path: str) -> pd.DataFrame:
    """Read a released file of win counts: how many comparisons each system won, (instructions,
    systems).
    """
    return pd.DataFrame(load_json(path))


def read_human_shares(path: str, key: str) -> np.ndarray:
    """Read the shares of one human bias, (instructions, annotators), from a released file of
    objects {`key`: shares}.
    """
    return np.array([entry[key] for entry in load_json(path)], float)


def read_quoted(folder: str) -> list[dict]:
    """Read the released table of the judges' shares: judge (name in the files), size, bias (the
    paper's name), share, valid.

    The valid rate of salience is not released: None.
    """
    rows = []
    with open(f"{folder}/{QUOTED}", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            bias = RELEASED_NAMES.get(row["bias"], row["bias"])
            valid = None if bias == "salience" else float(row["valid"])
            rows.append(
                {
                    "judge": row["model"],
                    "size": row["size"],
                    "bias": bias,
                    "share": float(row["score"]),
                    "valid": valid,
                }
            )
    return rows


PERSISTENCE = 0.8  # p, as in CoBBLEr


def places(wins: np.ndarray) -> np.ndarray:
    """Place of each system, 0 for most wins, systems with equal wins in the order of their columns;
    wins: (..., systems).

    >>> places(np.array([3, 7, 3]))
    array([1, 0, 2])
    """
    ranking = np.argsort(-wins, axis=-1, kind="stable")
    return np.argsort(ranking, axis=-1, kind="stable")


def rank_biased_overlap(
    first: np.ndarray, second: np.ndarray, *, extrapolated: bool, persistence: float = PERSISTENCE
) -> np.ndarray:
    """Rank-biased overlap of rankings of the same k systems (Webber, Moffat and Zobel 2010,
    equations 4 and 23).

    truncated: (1 - p) sum_{d=1..k} p^(d-1) A_d, where A_d is the share of the d best of one that
    are among the d best of the other; it cannot exceed 1 - p^k. extrapolated: p^k A_k more, with
    A_k = 1 because both rank the same systems. A system is among the d best of both from the deeper
    of its two places on, so it adds (1 - p) sum_{d > deeper place} p^(d-1) / d.

    first, second: places from 0, (..., systems), of shapes that broadcast. Returns (...).

    >>> float(rank_biased_overlap(np.array([0, 1]), np.array([1, 0]), extrapolated=True).round(2))
    0.8
    """
    systems = first.shape[-1]
    depth = np.arange(1, systems + 1)
    by_depth = (1 - persistence) * persistence ** (depth - 1) / depth
    by_place = np.cumsum(by_depth[::-1])[::-1]
    truncated = by_place[np.maximum(first, second)].sum(axis=-1)
    return truncated + persistence**systems if extrapolated else truncated


ANNOTATORS = 6
FORMS = ("truncated", "extrapolated")
LISTED, BY_NAME = "listed", "by name"
BLIND = {  # statistic of the judges: that of the listing order, with the same annotators
    "judges_with_annotators": "listing_order",
    "judges_with_annotators_together": "listing_order_with_annotators_together",
}
DECIMALS = 3  # to which the published code rounds the mean of each pair of rankers


# Each release of rankings: the annotators' files, the folder of the judges' files, and the judges.
# LLaMAv2 is no judge of the first: the authors' aggregate is without it.
RELEASES = (
    ("annot_{}.json", "model_annotations", [judge for judge in JUDGES if judge not in NEWER]),
    (
        "annot_{}_new.json",
        "model_annotations/new",
        [judge for judge in JUDGES if judge not in OLDER],
    ),
)


def released_overlap(folder: str, *, confidence: float, seed: int) -> list[dict]:
    """Return the rank-biased overlap of the released rankings: rows of RBO, without the study.

    Systems are ranked by wins under each of 50 instructions, equal wins in the files' order (ties
    `listed`) or alphabetically by their names in the files (`by name`). form: see
    `rank_biased_overlap`; p = 0.8. statistic, where `together` is the ranking by the summed wins of
    the six annotators:

    * aggregate: the ranking by the summed wins of the judges with that of the annotators together.
    * judges_with_annotators: each judge with each annotator; judge is empty in the mean over
      judges.
    * judges_with_annotators_together: each judge with the annotators together, as in the bars of
      the authors' figure.
    * inter_annotator: each pair of annotators.
    * listing_order: the systems in the files' order, whatever they answered, with each annotator.
    * listing_order_with_annotators_together: the systems in the files' order with the annotators
      together.

    value is the mean over rankers and instructions, rankings the number of pairs of rankings in it.
    as_coded is what the published code prints: the means over instructions, rounded to three
    decimals, averaged over pairs of rankers; empty for the aggregate, which is of one pair.
    above_list, of a judge: its value minus that of the listing order with the same annotators, with
    its percentile interval by a bootstrap over the instructions (for fixed annotators).
    """
    rows = []
    for annotations, judges_folder, judged_by in RELEASES:
        paths = [
            f"{folder}/{BATCHES}/human_annotations/{annotations.format(number + 1)}"
            for number in range(ANNOTATORS)
        ]
        ranked = [read_wins(path) for path in paths]
        listed = list(ranked[0])
        annotators = np.stack([wins[listed] for wins in ranked])
        judges = np.stack(
            [wins_of_judge(folder, judges_folder, judge)[listed] for judge in judged_by]
        )
        names = [JUDGES[judge] for judge in judged_by]
        for ties, form in product((LISTED, BY_NAME), FORMS):
            columns = np.arange(len(listed)) if ties == LISTED else np.argsort(listed)
            overlaps = _overlaps(
                annotators[..., columns],
                judges[..., columns],
                columns,
                extrapolated=form == "extrapolated",
            )
            setting = {"form": form, "systems": len(listed), "ties": ties}
            rows += [
                {**setting, **row}
                for row in _rows(overlaps, names, confidence=confidence, seed=seed)
            ]
    return rows


def _overlaps(
    annotators: np.ndarray, judges: np.ndarray, listing: np.ndarray, *, extrapolated: bool
) -> dict[str, np.ndarray]:
    """Overlap by statistic, (one ranker, the other, instructions); the wins are (rankers,
    instructions, systems).
    """
    human = places(annotators)
    judged = places(judges)
    together = places(annotators.sum(axis=0)), places(judges.sum(axis=0))
    one, other = np.triu_indices(len(human), k=1)
    compared = {
        "aggregate": together,
        "judges_with_annotators": (judged[:, None], human),
        "judges_with_annotators_together": (judged[:, None], together[0]),
        "inter_annotator": (human[one], human[other]),
        "listing_order": (listing, human),
        "listing_order_with_annotators_together": (listing, together[0]),
    }
    overlaps = {
        name: rank_biased_overlap(*pair, extrapolated=extrapolated)
        for name, pair in compared.items()
    }
    return {name: overlap[(None,) * (3 - overlap.ndim)] for name, overlap in overlaps.items()}


def _rows(
    overlaps: dict[str, np.ndarray], judges: Sequence[str], *, confidence: float, seed: int
) -> Iterator[dict]:
    for statistic, overlap in overlaps.items():
        values = overlap.mean(axis=-1)  # (one ranker, the other)
        rounded = np.round(values, DECIMALS)
        if statistic in BLIND:
            # (instructions, judges)
            difference = (overlap - overlaps[BLIND[statistic]]).mean(axis=1).T
            low, high = mean_intervals(difference, confidence=confidence, seed=seed)
            above = difference.mean(axis=0)
            for number, judge in enumerate(judges):
                yield {
                    "statistic": statistic,
                    "judge": judge,
                    "value": float(values[number].mean()),
                    "as_coded": float(rounded[number].mean()),
                    "rankings": overlap[0].size,
                    "above_list": float(above[number]),
                    "ci_low": float(low[number]),
                    "ci_high": float(high[number]),
                }
        row = {"statistic": statistic, "value": float(values.mean()), "rankings": overlap.size}
        yield row if statistic == "aggregate" else {**row, "as_coded": float(rounded.mean())}


def mean_intervals(
    values: np.ndarray, *, confidence: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of percentile intervals, (k,) each, of means over instructions; values: (instructions,
    k).
    """
    return percentile_intervals(
        values, lambda totals: totals / len(values), confidence=confidence, seed=seed
    )


HUMAN_SHARES = {  # bias: the released file and the name of its shares
    "order_first": ("order/all_bias_order.json", "first-order"),
    "order_last": ("order/all_bias_order.json", "last_order"),
    "salience": ("salience/all_bias_salience.json", "longer"),
    "bandwagon": ("bandwagon/all_bias_bandwagon.json", "bandwagon"),
    "attentional": ("distraction/all_bias_distraction.json", "distraction"),
}
# Released folder of win counts: the bias for which the authors' table gives the valid rate of the
# same prompt.
QUOTED_BESIDE = {
    "model_bias/bandwagon": "bandwagon",
    "model_bias/compassion": "compassion_first",
    "model_bias/distraction": "attentional",
    "model_bias/order": "order_first",
    "model_annotations": "order_first",
    "model_annotations/new": "order_first",
}
ROUNDING = 1e-9  # quoted rates have ten decimals


def released_biases(folder: str, *, confidence: float, seed: int) -> list[dict]:
    """Return the released shares of each bias: rows of COGNITIVE_BIASES, without the study.

    For the judges (origin `quoted`) the release holds one table of shares and valid rates, without
    counts and intervals. For the humans (`released shares`) it holds the share of each of three
    annotators under each of 25 instructions: share is their mean, ci_low and ci_high a percentile
    interval by a bootstrap over the instructions.
    """
    quoted = read_quoted(folder)
    quoted.sort(
        key=lambda row: (list(JUDGES).index(row["judge"]), list(CLOSED_FORM).index(row["bias"]))
    )
    rows = [
        {
            **row,
            "judge": JUDGES[row["judge"]],
            "origin": "quoted",
            **against_random(row["bias"], row["share"]),
        }
        for row in quoted
    ]
    for bias, (path, key) in HUMAN_SHARES.items():
        # (instructions,)
        shares = read_human_shares(f"{folder}/{BATCHES}/human_bias/{path}", key).mean(axis=1)
        (low,), (high,) = mean_intervals(shares[:, None], confidence=confidence, seed=seed)
        row = {
            "judge": HUMAN,
            "bias": bias,
            "origin": "released shares",
            **against_random(bias, float(shares.mean())),
        }
        rows.append({**row, "ci_low": float(low), "ci_high": float(high)})
    return rows


def valid_rates(raw: Sequence[str], folder: str) -> list[dict]:
    """Return how many comparisons each judge gave a valid verdict on: rows of VALID, without the
    study.

    prompt is the folder of the win counts among the files `raw`; `model_annotations` is also of the
    prompt `order`. A comparison is a pair of systems under one instruction, judged in both orders,
    with one winner at most: comparisons = instructions k (k - 1) / 2 with k systems, valid is the
    sum of the wins, rate = valid / comparisons. quoted is the valid rate of the same prompt in the
    authors' table, empty if there is none; agrees says whether it equals rate. The simulated judge
    `random` is left out.
    """
    quoted = {(row["judge"], row["bias"]): row["valid"] for row in read_quoted(folder)}
    pattern = re.compile(
        re.escape(f"{folder}/{BATCHES}/")
        + r"(model_bias/\w+|model_annotations(?:/new)?)/nC2_preferences_(\w+)\.json"
    )
    rows = []
    for match in filter(None, map(pattern.fullmatch, sorted(raw))):
        prompt, judge = match.groups()
        if judge == NO_MODEL:
            continue
        wins = wins_of_judge(folder, prompt, judge)
        comparisons = comb(len(wins.columns), 2) * len(wins)
        valid = int(wins.to_numpy().sum())
        row = {
            "judge": JUDGES[judge],
            "prompt": prompt.removeprefix("model_bias/"),
            "comparisons": comparisons,
            "valid": valid,
        }
        row["rate"] = valid / comparisons
        rate = quoted.get((judge, QUOTED_BESIDE.get(prompt)))
        if rate is not None:
            row |= {
                "quoted": rate,
                "agrees": "yes" if abs(row["rate"] - rate) <= ROUNDING else "no",
            }
        rows.append(row)
    return rows
