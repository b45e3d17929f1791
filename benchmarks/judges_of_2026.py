"""Size and power of the family-biases of The Multivac's design, by simulation: two-way errors,
errors by judge, wild, and C.

    snakemake --cores 2 results/multivac/ratings.parquet
    python benchmarks/judges_of_2026.py --replicates 250

Scores are simulated for the judges, responses and gaps of the published ones, whose raw ratings
have to be in results/multivac: response (sd 0.5 of models and 0.9 within), judge (level 7.2, sd
0.5; slope 1, sd 0.3), judge's preference for a model (sd 0.3), error (sd 0.5), and `--bias` for a
judge and a sibling. Printed: how often p-values are at most 0.1, by family, and how often a bias is
established.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from processes import ROOT, print_table

from recuse.base.database import connect, footer, write_rows
from recuse.config.load import project
from recuse.config.studies import Study
from recuse.data.ratings import StudyFiles
from recuse.data.registry import IMPORTED_SCALES
from recuse.data.study import StudyTables
from recuse.inference.idiosyncrasy import idiosyncrasies, idiosyncrasy_rows, pooled_rows
from recuse.inference.verdict import KINDS, Reply, Verdict, verdict_rows
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.steps.ratings import normalise_study

RAW = ROOT / "results" / "multivac" / "raw" / "ratings.parquet"
WITHIN = {"absorb": "completion", "terms": ("judge", "same_family")}
STEP, HIGHEST = 0.05, 10
KEYS = ("judge", "model", "dataset", "prompt_id", "occasion")


def scores(base, models, generator, *, bias, slope, preference):
    """Scores in steps of STEP, (rows,)."""
    family = {key: model["family"] for model in models.values() for key in model["ids"]}
    judges, judge = np.unique(base["judge"].astype(str), return_inverse=True)
    names, model = np.unique(base["model"].astype(str), return_inverse=True)
    answers = np.char.add(np.char.add(base["occasion"].astype(str), " "), base["model"].astype(str))
    _, first, answer = np.unique(answers, return_index=True, return_inverse=True)
    quality = generator.normal(0, 0.5, len(names))[model[first]] + generator.normal(
        0, 0.9, len(first)
    )
    slopes, levels = (
        generator.normal(1, slope, len(judges)),
        generator.normal(7.2, 0.5, len(judges)),
    )
    liked = generator.normal(0, preference, (len(judges), len(names)))[judge, model]
    siblings = np.array(
        [
            family[one] == family[other]
            for one, other in zip(base["judge"], base["model"], strict=True)
        ]
    )
    score = (
        levels[judge]
        + slopes[judge] * quality[answer]
        + liked
        + bias * siblings
        + generator.normal(0, 0.5, len(judge))
    )
    return np.clip(np.round(score / STEP), 0, round(HIGHEST / STEP)).astype(int)


def p_values(study):
    """Yield method, family and p-value of each family-bias of a study."""
    for covariance, column, settings in (
        ("two_way", "p_value", {}),
        ("CR1_judge", "wild_p_value", {"wild": 399}),
    ):
        rows = estimate(
            Spec.of("s", **WITHIN, covariance=covariance, **settings), study, confidence=0.9, seed=1
        ).estimates
        for row in rows:
            if row["quantity"] == "family_bias" and row.get("p_value") is not None:
                yield covariance, row["term"], row["p_value"]
                if covariance == "CR1_judge":
                    yield "wild by judge", row["term"], row[column]
    slices, replies = idiosyncrasies(Spec.of("s", **WITHIN, covariance="two_way"), study), {}
    for row in idiosyncrasy_rows(slices, confidence=0.9):
        if row["quantity"] == "family_bias" and not row["reason"]:
            yield "C", row["term"], row["p_value"]
            numbers = {
                name: row[name]
                for name in ("estimate", "ci_low", "ci_high", "p_value", "probability_positive")
            }
            replies[row["term"]] = {"C": Reply(**numbers, doubt=row["doubt"])}
    found = {
        row["term"]: row["verdict"]
        for row in verdict_rows(KINDS["ratings"], "family_bias", replies, confidence=0.9)
    }
    for term, verdict in found.items():
        yield "established", term, float(verdict != Verdict.ESTABLISHED)
    yield "established, any family", "all", float(Verdict.ESTABLISHED not in found.values())
    for row in pooled_rows(slices, confidence=0.9):
        if "left_out" not in row and "p_value" in row:
            yield "C, mean over families", "all", row["p_value"]


def main():
    """Simulate, fit and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (
        ("replicates", 250),
        ("bias", 0.0),
        ("slope", 0.3),
        ("preference", 0.3),
        ("seed", 1),
    ):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    asked = parser.parse_args()
    settings = project()
    models, connection = Study("multivac", settings).models(), connect()
    rows = (
        f"select {', '.join(KEYS)} from '{RAW}' where dimension = 'Score' and rating is not null"
        " order by all"
    )
    base, excluded = connection.execute(rows).fetchnumpy(), defaultdict(list)
    scales = {"scales": {"Score": [0, round(HIGHEST / STEP)]}, "steps": {"Score": STEP}}
    columns = (
        f"{', '.join(KEYS)}, rating, null::double as gt, null::double as pred_length, 'Score' as"
        " dimension"
    )
    with tempfile.TemporaryDirectory() as folder:
        raw, ratings, cells = (f"{folder}/{name}.parquet" for name in ("raw", "ratings", "cells"))
        for number in range(asked.replicates):
            drawn = np.random.default_rng([asked.seed, number])
            given = scores(
                base, models, drawn, bias=asked.bias, slope=asked.slope, preference=asked.preference
            )
            connection.register("given", base | {"rating": given})
            write_rows(
                connection, f"select {columns} from given", raw, footer(IMPORTED_SCALES, scales)
            )
            connection.unregister("given")
            source = StudyFiles.from_files(
                [raw], [None], scales={}, task_types={}, models=models, imported=True
            )
            normalise_study(
                study="s",
                source=source,
                ratings=ratings,
                cells=cells,
                completeness=str(Path(folder, "completeness.csv")),
            )
            for method, family, p_value in p_values(StudyTables("s", cells, [ratings])):
                excluded[method, family].append(p_value <= 0.1)
    methods = list(dict.fromkeys(method for method, _ in excluded))
    shares = {
        method: {family: np.mean(of) for (name, family), of in excluded.items() if name == method}
        for method in methods
    }
    print_table(
        ["method", "all families", "least", "most"],
        [
            [
                method,
                *(
                    f"{100 * value:.0f} %"
                    for value in (np.mean([*of.values()]), min(of.values()), max(of.values()))
                ),
            ]
            for method, of in shares.items()
        ],
    )


if __name__ == "__main__":
    main()
