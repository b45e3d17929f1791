"""Intervals of self-biases over wordings of the rubric, in simulated studies whose judges' biases
vary by wording.

    python benchmarks/wordings.py [--studies 2000] [--of-c 100]

Six judges rate the answers of six models, one of each its own, to 60 prompts, by W wordings and R
replicates. The rating is

    y = a_j + l_jw + .8 t + (s_jw + u_jp + v_jpw) [own answer] + e

with t the human score, N(.6, .2^2), l_jw, the judge's leniency in a wording, N(0, .05^2), s_jw, its
self-bias in a wording, N(0, sd_j^2), u_jp, of a prompt, N(0, .1^2), v_jpw, of a prompt and wording,
N(0, .05^2), and e N(0, noise_j^2), noise from .08 to .3 by judge. sd_j is 0 to 2 times the world's.
The self-bias over wordings is 0. Printed are the percentages of 90 % intervals that hold it, of the
mean and of the lowest judge: intervals for the wordings asked, and those over wordings; and the
ratio of their standard errors. --of-c: studies, rounded to 101 levels, that the library reads from
the raw ratings on.
"""

import argparse
import os
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import yaml
from processes import ROOT

JUDGES, PROMPTS = 6, 60
NOISE, TIMES = np.linspace(0.08, 0.3, JUDGES), np.array([1.0, 0.0, 2.0, 0.5, 1.5, 1.0])
SDS = (0.0, 0.01, 0.03, 0.1)


def drawn(generator, *, sd, wordings, replicates):
    """Human scores (models, prompts), and ratings (judges, wordings, replicates, models,
    prompts).
    """

    def normal(spread, *shape):
        return spread * generator.standard_normal(shape)

    of_wording, own = (JUDGES, wordings, 1, 1, 1), np.eye(JUDGES)[:, None, None, :, None]
    score = 0.6 + normal(0.2, JUDGES, PROMPTS)
    leniency, bias = (
        normal(0.05, *of_wording),
        sd * TIMES[:, None, None, None, None] * normal(1.0, *of_wording),
    )
    shock = normal(0.1, JUDGES, 1, 1, 1, PROMPTS) + normal(0.05, JUDGES, wordings, 1, 1, PROMPTS)
    noise = NOISE[:, None, None, None, None] * normal(
        1.0, JUDGES, wordings, replicates, JUDGES, PROMPTS
    )
    return score, 0.1 + leniency + 0.8 * score + own * (bias + shock) + noise


def by_prompt(rating, score, judge):
    """Self-bias of a judge, by least squares on (1, score, own), with errors CR1 by prompt.

    rating: (..., models, prompts), NaN where it is missing.
    """
    from recuse.inference.wordings import Part

    rating = rating.reshape(-1, JUDGES, PROMPTS)
    own = np.broadcast_to((np.arange(JUDGES) == judge)[:, None], score.shape)
    x = np.broadcast_to(np.stack([np.ones_like(score), score, own], axis=-1), (*rating.shape, 3))
    kept = np.isfinite(rating)
    inverse = np.linalg.inv(x[kept].T @ x[kept])
    b = inverse @ x[kept].T @ rating[kept]
    # (prompts, terms)
    scores = np.where(kept[..., None], x * (np.nan_to_num(rating) - x @ b)[..., None], 0.0).sum(
        axis=(0, 1)
    )
    n = int(kept.sum())
    factor = PROMPTS / (PROMPTS - 1) * (n - 1) / (n - 3)
    error = np.sqrt(factor * (inverse @ scores.T @ scores @ inverse)[2, 2])
    return Part(b[2], error, PROMPTS - 1, float((kept & own).sum()))


def coverage(generator, studies, *, sd, wordings, replicates, lost=0.0):
    """Which intervals hold the self-bias, and its errors, (studies, judges, kinds); lost: share of
    the last wording.
    """
    from recuse.inference.wordings import Crossed
    from recuse.model.least_squares import quantile

    held, errors = np.empty((studies, JUDGES, 2), dtype=bool), np.empty((studies, JUDGES, 2))
    for study in range(studies):
        score, ratings = drawn(generator, sd=sd, wordings=wordings, replicates=replicates)
        ratings[:, -1][generator.random(ratings[:, -1].shape) < lost] = np.nan
        for judge, rating in enumerate(ratings):
            whole = by_prompt(rating, score, judge)
            crossed = Crossed(whole, [by_prompt(part, score, judge) for part in rating])
            for kind, (error, df) in enumerate(
                [(whole.std_error, whole.df), crossed.generalised()]
            ):
                held[study, judge, kind], errors[study, judge, kind] = (
                    abs(whole.estimate) <= quantile(0.9, df) * error,
                    error,
                )
    return held, errors


def line(held, errors):
    """Coverage of the mean and the lowest judge, of both kinds, and the ratio of their errors."""
    share = 100 * held.mean(axis=0)
    ratio = np.sqrt((errors[..., 0] ** 2).mean() / (errors[..., 1] ** 2).mean())
    return (
        " | ".join(f"{share[:, kind].mean():.0f} | {share[:, kind].min():.0f}" for kind in range(2))
        + f" | {ratio:.2f}"
    )


def library_coverage(generator, studies, *, sd, wordings):
    """Coverage of A, B and C in studies that the library reads: (studies, judges, checks, kinds),
    NaN without an interval.
    """
    import duckdb

    from recuse.config.studies import conclusions_params
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles
    from recuse.data.registry import Registry
    from recuse.data.study import StudyTables
    from recuse.inference.wordings import wording_rows
    from recuse.steps.ratings import normalise_study

    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    asked, names = conclusions_params(config), [f"m{number}" for number in range(JUDGES)]
    asked["checks"] = {
        name: asked["checks"][name] for name in config["inference"]["verdict"].values()
    }
    models = {name: {"family": f"f{name}"} for name in names}
    held = np.full((studies, JUDGES, 3, 2), np.nan)
    for study in range(studies):
        score, ratings = drawn(generator, sd=sd, wordings=wordings, replicates=1)
        places = np.stack(np.indices(ratings.shape), axis=-1).reshape(-1, 5)
        columns = {
            "judge": places[:, 0],
            "wording": places[:, 1],
            "model": places[:, 3],
            "prompt_id": places[:, 4],
        }
        columns |= {"gt": np.broadcast_to(score, ratings.shape).ravel(), "rating": ratings.ravel()}
        for column in ("gt", "rating"):
            columns[column] = np.clip(np.rint(columns[column] * 100), 0, 100).astype(int)
        with tempfile.TemporaryDirectory() as folder:
            values = duckdb.sql(
                "select 'm' || judge as judge, 'm' || model as model, gt, 'd' as dataset,"
                " prompt_id, rating, wording, 'Tone' as dimension from columns"
            )
            values.write_parquet(f"{folder}/raw.parquet")
            source = StudyFiles(
                [RatingsFile(f"{folder}/raw.parquet")],
                {"Tone": (0, 100)},
                {},
                Registry.from_config(models),
            )
            normalise_study(
                study="s",
                source=source,
                ratings=f"{folder}/r.parquet",
                cells=f"{folder}/cells.parquet",
                completeness=f"{folder}/completeness.csv",
            )
            tables = StudyTables("s", f"{folder}/cells.parquet", [f"{folder}/r.parquet"])
            for row in wording_rows(study=tables, **asked):
                if row["quantity"] == "self_bias" and row["term"] in names:
                    at = study, names.index(row["term"]), [*asked["checks"]].index(row["check"])
                    held[at] = [
                        row[f"{kind}ci_low"] <= 0 <= row[f"{kind}ci_high"] for kind in ("one_", "")
                    ]
    return held


def main():
    """Print a table of each part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--of-c", type=int, default=100)
    given = parser.parse_args()
    print(
        "| wordings | replicates | sd by wording | these: mean | lowest | over wordings: mean |"
        " lowest | ratio of errors |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for wordings in (2, 3, 5):
        for replicates in (1, 2, 3):
            for sd in SDS:
                generator = np.random.default_rng([wordings, replicates, int(1000 * sd)])
                counts = {"wordings": wordings, "replicates": replicates, "sd": sd}
                print(
                    f"| {wordings} | {replicates} | {sd} |",
                    line(*coverage(generator, given.studies, **counts)),
                    "|",
                    flush=True,
                )
    for wordings in (2, 3, 5):
        generator = np.random.default_rng([wordings, 9])
        counts = {"wordings": wordings, "replicates": 1, "sd": 0.1, "lost": 0.8}
        print(
            f"| {wordings}, one with a fifth | 1 | 0.1 |",
            line(*coverage(generator, given.studies, **counts)),
            "|",
            flush=True,
        )
    for wordings, sd in ((2, 0.1), (3, 0.0), (3, 0.03), (3, 0.1), (5, 0.1)):
        held = 100 * library_coverage(
            np.random.default_rng([wordings, 8]), given.of_c, sd=sd, wordings=wordings
        ).mean(axis=0)
        for place, letter in enumerate("ABC"):
            shares = [
                f"{held[:, place, kind].mean():.0f} | {held[:, place, kind].min():.0f}"
                for kind in range(2)
            ]
            print(f"| {letter}: {wordings} | 1 | {sd} |", " | ".join(shares), "| |", flush=True)


if __name__ == "__main__":
    main()
