"""Intervals of a collection that may stop early: how often they exclude what is planted, by the
rule that stops it.

    python benchmarks/stopping.py --replicates 1000

Five judges rate each other's and their own answers in waves of prompts (first 40, then 1.5 times as
many, up to 400), without any self-bias on average. From prompt to prompt it varies, evenly or with
rare large values, as then errors that are found too small go with estimates that are off. Percent
of 90 % intervals (by prompt, A) that exclude 0 where the collection ends, of all judges and of the
worst; prompts: the mean and the most. Rules: precision, that of
recuse.collect.prompts_needed.enough, by widths from loose to strict; significance, the end as soon
as the interval of one judge excludes 0; none, all waves.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from processes import ROOT, print_machine

sys.path.insert(0, str(ROOT / "workflow" / "lib"))
CONFIDENCE, MOST = 0.9, 400
SPREADS = {"self-bias varies evenly": "normal", "rare large self-biases": "skewed"}


def rows(generator, spread: str):
    """Ratings of MOST prompts on the scale from 0 to 100, (prompt, judge, model), and human scores,
    (prompt, model).
    """
    import numpy as np

    quality = generator.normal(50, 8, (MOST, 1)) + generator.normal(0, 8, (MOST, 5))
    score = np.clip(np.round(quality + generator.normal(0, 5, quality.shape)), 0, 100)
    rare = np.where(generator.random((MOST, 5)) < 0.05, 30, 0) - 1.5
    varying = generator.normal(0, 6.5, (MOST, 5)) if spread == "normal" else rare
    rating = (
        5
        + 0.9 * quality[:, None, :]
        + generator.normal(0, 8, (MOST, 5, 5))
        + varying[:, :, None] * np.eye(5)
    )
    return np.clip(np.round(rating), 0, 100), score


def study_from(folder: Path, rating, score):
    """The study of the first prompts."""
    import pandas as pd

    from recuse.base.database import connect, text
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles
    from recuse.data.registry import Registry
    from recuse.data.study import StudyTables
    from recuse.steps.ratings import normalise_study

    names = [f"model {number}" for number in range(5)]
    index = pd.MultiIndex.from_product(
        [range(len(rating)), names, names], names=["prompt_id", "judge", "model"]
    )
    table = pd.DataFrame({"rating": rating.ravel()}, index=index).reset_index()
    table["gt"] = score[:, None].repeat(5, axis=1).ravel()
    connection, raw = connect(), folder / "raw.parquet"
    connection.register("given", table)
    columns = (
        "judge, model, gt, 'd' as dataset, prompt_id::varchar as prompt_id, rating, null as"
        " pred_length, 'd' as dimension"
    )
    connection.execute(f"copy (select {columns} from given) to {text(str(raw))} (format parquet)")
    registry = Registry.from_config({name: {"family": name} for name in names})
    source = StudyFiles([RatingsFile(str(raw))], {"d": (0, 100)}, {}, registry)
    paths = {name: str(folder / f"{name}.parquet") for name in ("ratings", "cells")}
    normalise_study(
        study="waves", source=source, **paths, completeness=str(folder / "completeness.csv")
    )
    return StudyTables("waves", paths["cells"], [paths["ratings"]])


def collected(spread: str, seed: int) -> list[tuple]:
    """Of each number of prompts after a wave: it, and estimates and half-widths of the five
    self-biases, (5,) each.
    """
    import numpy as np

    from recuse.collect.designs import waves
    from recuse.collect.prompts_needed import half_widths
    from recuse.model.estimates import estimate
    from recuse.model.spec import Spec

    rating, score = rows(np.random.default_rng(seed), spread)
    ends = np.cumsum(
        [
            len(wave)
            for wave in waves(
                list(map(str, range(MOST))), first=40, growth=1.5, most=MOST, seed=seed
            )
        ]
    )
    after = []
    for end in map(int, ends):
        with TemporaryDirectory() as folder:
            study = study_from(Path(folder), rating[:end], score[:end])
            widths = half_widths(study, confidence=CONFIDENCE)
            table = estimate(Spec.of("A", covariance="CR1"), study, confidence=CONFIDENCE).estimates
            by_judge = {
                row["term"]: row["estimate"] for row in table if row["quantity"] == "self_bias"
            }
            after.append(
                (end, np.array([by_judge[judge] for judge in widths]), np.array([*widths.values()]))
            )
    return after


RULES = {
    **{
        f"precision, {width:g}": lambda estimate, half, width=width: half.max() <= width
        for width in (0.03, 0.02, 0.0125)
    },
    "significance": lambda estimate, half: (abs(estimate) > half).any(),
    "none": lambda estimate, half: False,
}


def main() -> None:
    """Print the table."""
    import numpy as np

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=600)
    replicates = parser.parse_args().replicates
    print_machine()
    print(f"{'world':<26}{'rule':<20}{'all':>6}{'worst':>7}{'prompts':>9}{'most':>6}")
    for world, spread in SPREADS.items():
        drawn = [collected(spread, seed) for seed in range(replicates)]
        for rule, stops in RULES.items():
            ended = [
                next((wave for wave in waves if stops(*wave[1:])), waves[-1]) for waves in drawn
            ]
            excluded = 100 * np.mean([abs(estimate) > half for _, estimate, half in ended], axis=0)
            prompts = [end for end, *_ in ended]
            numbers = f"{excluded.mean():>6.1f}{excluded.max():>7.1f}{np.mean(prompts):>9.0f}{max(prompts):>6}"
            print(f"{world:<26}{rule:<20}{numbers}", flush=True)


if __name__ == "__main__":
    main()
