"""Judges whose ratings are not what they seem: false verdicts with and without the doubts about
them, and doubts about judges of clean studies.

    python benchmarks/doubts.py [--studies 200] [--prompts 100]

Each study has four judges of five models, human scores, ordinary preferences with a standard
deviation of 3 % of the scale, and no self-bias. In three kinds one judge is then spoilt: a fifth of
its ratings of others' answers are 0, or its scale is 0 to 1, or 1 to 5 of 1 to 10. A verdict is
false if it names that judge; "before" is as if it were trusted.
"""

import argparse
import os
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd

os.environ.setdefault("OMP_NUM_THREADS", "1")

MODELS, JUDGES, SPOILT = ("m0", "m1", "m2", "m3", "m4"), 4, "m0"
LOW_HIGH = {"clean": (0, 10), "zeros": (0, 10), "0-1 of 0-10": (0, 10), "1-5 of 1-10": (1, 10)}


def study(kind: str, prompts: int, seed: int) -> pd.DataFrame:
    """Ratings without a self-bias, with one judge spoilt as `kind` says."""
    rng = np.random.default_rng((seed, prompts))
    low, high = LOW_HIGH[kind]
    quality = rng.uniform(0.5, 0.75, len(MODELS))
    preference = rng.normal(0, 0.03, (JUDGES, len(MODELS)))
    strictness = rng.normal(0, 0.05, JUDGES)
    answer = quality[:, None] + rng.normal(0, 0.15, (len(MODELS), prompts))
    human = answer + rng.normal(0, 0.08, answer.shape)
    rows = []
    for judge in range(JUDGES):
        noise = rng.normal(0, 0.1, answer.shape)
        share = np.clip(answer + preference[judge][:, None] + strictness[judge] + noise, 0, 1)
        ends, is_spoilt = (low, high), MODELS[judge] == SPOILT
        if is_spoilt and kind == "0-1 of 0-10":
            rating = np.round(share, 1)
        else:
            if is_spoilt and kind == "1-5 of 1-10":
                ends = (1, 5)
            rating = np.round(ends[0] + share * (ends[1] - ends[0]))
        if is_spoilt and kind == "zeros":
            failed = rng.random(answer.shape) < 0.2
            failed[judge] = False
            rating = np.where(failed, 0, rating)
        for place, model in enumerate(MODELS):
            scores = low + np.clip(human[place], 0, 1) * (high - low)
            columns = {"judge": MODELS[judge], "model": model, "prompt": np.arange(prompts)}
            rows.append(
                pd.DataFrame({**columns, "rating": rating[place], "human": scores.round(1)})
            )
    return pd.concat(rows)


def judged(kind: str, prompts: int, seed: int) -> tuple[bool, str]:
    """Whether any judge of a study is doubted, and the verdict on the spoilt judge if it is
    trusted; "" for a clean study.
    """
    import recuse
    from recuse.base.database import connect, files
    from recuse.data.cells import read_levels
    from recuse.data.doubts import answers_by_judge, doubts

    ratings = study(kind, prompts, seed)
    read = recuse.ratings(ratings, human="human", scale=LOW_HIGH[kind], step=0.1, trusted=SPOILT)
    with read.results() as results:
        tables = results.tables
        levels = replace(read_levels(tables.ratings[0]), trusted=[])
        answers = answers_by_judge(connect(), f"from {files(tables.ratings)}", levels)
        is_doubted = bool(doubts(tables.every_cell, answers, levels))
    if kind == "clean":
        return is_doubted, ""
    rows = recuse.verdict(read).frame
    of_spoilt = rows[(rows.quantity == "self_bias") & (rows.term == SPOILT)]
    return is_doubted, of_spoilt.verdict.item()


def main() -> None:
    """Print a line for each kind of study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--prompts", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for kind in LOW_HIGH:
        found = [judged(kind, options.prompts, seed) for seed in range(options.studies)]
        line = f"{kind}: doubted in {sum(doubt for doubt, _ in found)} of {options.studies}"
        if kind != "clean":
            before = [verdict for _, verdict in found]
            after = [verdict for doubt, verdict in found if not doubt]
            for label, verdicts in (("before", before), ("after", after)):
                established, likely = map(verdicts.count, ("established", "likely"))
                line += f"; {label}: named in {established + likely}, established in {established}"
        print(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
