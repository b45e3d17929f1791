"""The regression of verdicts on pairs: time against other packages, time and memory by size, and
size and power by simulation.

    python benchmarks/pairs.py times [--python <python with choix and evalica>]
    python benchmarks/pairs.py sizes 1e5 1e6
    python benchmarks/pairs.py worlds --replicates 260
    python benchmarks/pairs.py wordings --replicates 120

times: Bradley-Terry strengths of 50 models, all from one array of 1e6 winners and losers in memory,
each in a process of its own; seconds are of the fit without imports. sizes: the whole regression of
50 judges and 50 models: terms of all three questions with errors, and strengths with rank sets.
worlds: how often the intervals (90 %) of self- and family-biases exclude 0 in worlds of
tests/pair_worlds.py, and hold what is planted. wordings: how often intervals of self-biases of 0,
which vary from wording to wording, hold 0: those over wordings, and those for the wordings asked.
"""

import sys
import time
from itertools import product

from processes import ONE_THREAD, ROOT, measure, print_machine, print_table, run_step_or, step_from

sys.path.insert(0, str(ROOT / "tests"))
MODELS, VERDICTS = 50, 1_000_000
PACKAGES = ("ours", "statsmodels", "choix", "evalica")
NULL = {
    "nothing": {},
    "places, lengths, ties, sensitivities": {
        **{
            "positions": (-0.8, 1.0),
            "length": 0.8,
            "length_human": 0.4,
            "ties": 0.4,
            "sensitivities": (0.4, 1.6),
        },
        **{"both_orders": True, "questions": 30},
    },
    "questions differ, ties": {"question_sd": 0.8, "ties": 0.3},
    "a quarter of the labels wrong": {"flipped": 0.25, "sensitivities": (0.5, 1.5)},
    "models alike": {"strength_sd": 0.05},
    "one order, against a baseline": {"baseline": True, "questions": 150, "positions": (-0.5, 0.5)},
    "5 judges, 5 models": {"judges": 5, "models": 5, "questions": 80, "alone": True},
    "4 judges, 6 models, 20 questions": {"judges": 4, "models": 6, "questions": 20},
}
ORDINARY = {
    "preferences, sd 0.3": {"preference_sd": 0.3},
    "half of them common to families": {"preference_sd": 0.3, "common": 0.5},
    "preferences, 5 judges, 5 models": {
        "judges": 5,
        "models": 5,
        "questions": 80,
        "preference_sd": 0.3,
        "alone": True,
    },
}
BIASED = {
    "self 0.5, family 0.3": {"self_bias": 0.5, "family_bias": 0.3},
    "the same, preferences, sd 0.2": {"self_bias": 0.5, "family_bias": 0.3, "preference_sd": 0.2},
    "self 0.5, 5 judges, 5 models": {
        "judges": 5,
        "models": 5,
        "questions": 80,
        "self_bias": 0.5,
        "alone": True,
    },
}


def drawn() -> tuple:
    """First and second model of each verdict, and whether the first wins."""
    import numpy as np

    generator = np.random.default_rng(1)
    first = generator.integers(MODELS, size=VERDICTS)
    second = (first + generator.integers(1, MODELS, size=VERDICTS)) % MODELS
    strength = generator.normal(size=MODELS)
    wins = generator.random(VERDICTS) < 1 / (1 + np.exp(strength[second] - strength[first]))
    return first, second, wins


def ours(first, second, wins):
    """Strengths and errors clustered by question, of a thousand."""
    import numpy as np

    from recuse.pairwise.davidson import STRENGTH, PairCells, Verdicts
    from recuse.pairwise.maximum import fit_maximum

    names = [str(model) for model in range(MODELS)]
    nobody = {
        "judge": np.zeros(VERDICTS, dtype=np.int64),
        "sign": np.ones(VERDICTS),
        "x": np.zeros(VERDICTS),
    }
    of = {
        "first": first,
        "second": second,
        "outcome": np.where(wins, 0, 1),
        "item": np.arange(VERDICTS) % 1000,
        "items": 1000,
    }
    families = {
        "family_of_judge": np.array([0]),
        "family_of_model": np.zeros(MODELS, dtype=np.int64),
    }
    fitted = fit_maximum(
        PairCells(Verdicts(["judge"], names, ["family"], **families, **of, **nobody)), [STRENGTH]
    )
    errors = np.sqrt(fitted.covariance(fitted.influence).diagonal())
    return fitted.coefficients[:MODELS], errors


def statsmodels(first, second, wins):
    """Logistic regression of the raw rows, with errors clustered by question."""
    import numpy as np
    from statsmodels.api import GLM, families

    design = np.eye(MODELS)[first] - np.eye(MODELS)[second]
    model = GLM(wins.astype(float), design[:, 1:], family=families.Binomial())
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": np.arange(VERDICTS) % 1000})
    return np.insert(fitted.params, 0, 0), None


def choix(first, second, wins):
    """Minorisation-maximisation on the list of winner and loser; no errors."""
    import numpy as np
    from choix import ilsr_pairwise

    pairs = np.where(
        wins[:, None], np.stack([first, second], axis=1), np.stack([second, first], axis=1)
    )
    return ilsr_pairwise(MODELS, pairs.tolist()), None


def evalica(first, second, wins):
    """Bradley-Terry by its Rust code on lists of names; no errors."""
    import numpy as np
    from evalica import Winner, bradley_terry

    names = [f"{model:02}" for model in range(MODELS)]
    winners = [Winner.X if win else Winner.Y for win in wins]
    fitted = bradley_terry(
        [names[at] for at in first],
        [names[at] for at in second],
        winners,
        tolerance=1e-10,
        limit=10_000,
    )
    return np.log(fitted.scores.sort_index().to_numpy()), None


def timed(package: str) -> None:
    """Fit once after the data are made, and print seconds and a check: the largest strength less
    the mean.
    """
    import numpy as np

    data = drawn()
    fit_by = globals()[package]
    __import__(
        {"ours": "recuse.pairwise.maximum", "statsmodels": "statsmodels.api"}.get(package, package)
    )
    start = time.perf_counter()
    strengths, _ = fit_by(*data)
    print(f"{time.perf_counter() - start:.3f} {(strengths - np.mean(strengths)).max():.9f}")


def times(other: str | None) -> None:
    """Measure every package and print the table."""
    table = []
    for package in PACKAGES:
        python = other if other and package in ("choix", "evalica") else sys.executable
        if not other and package in ("choix", "evalica"):
            continue
        runs = [
            measure(step_from(__file__, "timed", package, python=python), environment=ONE_THREAD)
            for _ in range(3)
        ]
        seconds, check = sorted(run.printed.split() for run in runs)[1]
        table.append((package, seconds, f"{runs[0].peak:.0f}", check))
    print_table(("package", "fit s", "peak MiB", "largest strength"), table)


def sized(verdicts: str, lengths: str) -> None:
    """Fit everything once, and print seconds."""
    from pair_worlds import PairWorld, draw
    from recuse.pairwise.regression import Regression, regression_rows
    from recuse.pairwise.strengths import strength_rows

    questions, settings = (
        max(1, round(float(verdicts) / 50 / 1225)),
        {"self_bias": 0.3, "preference_sd": 0.2, "ties": 0.3},
    )
    world = PairWorld(
        judges=50,
        models=50,
        questions=max(2, questions),
        length=0.5 * (lengths == "yes"),
        **settings,
    )
    compared = draw(world, 1)
    start = time.perf_counter()
    of = Regression(compared)
    list(regression_rows(of, confidence=0.9))
    list(strength_rows(of, confidence=0.9, seed=1))
    print(f"{time.perf_counter() - start:.2f} {len(compared.judges.judge)}")


def sizes(numbers: list[str]) -> None:
    """Measure the regression at every size and print the table."""
    table = []
    for number in numbers:
        for lengths in ("no", "yes"):
            run = measure(step_from(__file__, "sized", number, lengths), environment=ONE_THREAD)
            seconds, verdicts = run.printed.split()
            table.append((f"{int(verdicts):,}", lengths, seconds, f"{run.peak:.0f}"))
    print_table(("verdicts", "lengths", "s", "peak MiB"), table)


def rates(settings: dict, replicates: int) -> dict[str, float]:
    """Shares, of the biases with an interval, of intervals that exclude 0 and that hold the truth,
    by question and quantity.
    """
    import numpy as np

    from pair_worlds import PairWorld, draw
    from recuse.model.design import ALL_JUDGES
    from recuse.pairwise.regression import Regression, regression_rows

    world, excluded = PairWorld(**settings), {}
    for seed in range(replicates):
        for row in regression_rows(Regression(draw(world, seed)), confidence=0.9):
            if row["quantity"] not in ("self_bias", "family_bias"):
                continue
            if row["term"] != ALL_JUDGES and (row["reason"] or "ci_low" not in row):
                continue
            truth = world.self_bias if row["quantity"] == "self_bias" else world.family_bias
            kind = "mean" if row["term"] == ALL_JUDGES else row["quantity"].removesuffix("_bias")
            excludes = row["ci_low"] > 0 or row["ci_high"] < 0
            excluded.setdefault(f"{row['question']} {kind}", []).append(
                (excludes, row["ci_low"] <= truth <= row["ci_high"])
            )
    return {name: np.mean(values, axis=0) for name, values in excluded.items()}


def covered(wordings: str, sd: str, replicates: str) -> None:
    """Print shares of intervals that hold 0, by question: over wordings, mean and lowest judge; for
    those asked, the same.
    """
    import numpy as np

    from pair_worlds import PairWorld, draw
    from recuse.model.design import ALL_JUDGES
    from recuse.pairwise.regression import Regression
    from recuse.pairwise.wordings import rows_over_wordings

    world, held = PairWorld(wordings=int(wordings), wording_sd=float(sd)), {}
    for seed in range(int(replicates)):
        for row in rows_over_wordings(Regression(draw(world, seed)), confidence=0.9):
            if row["quantity"] == "self_bias" and row["term"] != ALL_JUDGES and "ci_low" in row:
                ends = [(row[f"{kind}ci_low"], row[f"{kind}ci_high"]) for kind in ("", "one_")]
                held.setdefault(row["question"], {}).setdefault(row["term"], []).append(
                    [low <= 0 <= high for low, high in ends]
                )
    for question, of_judges in held.items():
        shares = 100 * np.array([np.mean(each, axis=0) for each in of_judges.values()])
        print(
            question, *(f"{share:.0f}" for kind in shares.T for share in (kind.mean(), kind.min()))
        )


def wordings(replicates: int) -> None:
    """Print how often intervals hold 0 where self-biases vary from wording to wording."""
    table = []
    for number, sd in product((2, 3, 5), (0.0, 0.3, 0.6)):
        run = measure(
            step_from(__file__, "covered", str(number), str(sd), str(replicates)),
            environment=ONE_THREAD,
        )
        table += [(str(number), str(sd), *line.split()) for line in run.printed.splitlines()]
    print_table(
        ("wordings", "sd", "question", "over: mean", "lowest judge", "asked: mean", "lowest judge"),
        table,
    )


COLUMNS = tuple(f"{letter} {kind}" for letter in "ABC" for kind in ("self", "family", "mean"))


def world(name: str, replicates: str) -> None:
    """Print the rates of one world."""
    settings = (NULL | ORDINARY | BIASED)[name]
    shares = rates(settings, int(replicates))
    for place in range(2 if name in BIASED else 1):
        print(
            *(
                f"{100 * shares[column][place]:.1f}" if column in shares else "-"
                for column in COLUMNS
            )
        )


def worlds(replicates: int) -> None:
    """Print how often intervals exclude 0; in worlds with biases also how often they hold what is
    planted.
    """
    table = []
    for name in (*NULL, *ORDINARY, *BIASED):
        lines = measure(
            step_from(__file__, "world", name, str(replicates)), environment=ONE_THREAD
        ).printed.splitlines()
        for line, what in zip(lines, ("excludes 0", "holds the truth"), strict=False):
            table.append((f"{name}: {what}", *line.split()))
    print_table(("world", *COLUMNS), table)


def main() -> None:
    """Run one of the four."""
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("times", "sizes", "worlds", "wordings"))
    parser.add_argument("numbers", nargs="*", default=["1e5", "1e6"])
    parser.add_argument("--python")
    parser.add_argument("--replicates", type=int, default=260)
    given = parser.parse_args()
    print_machine(("numpy", "scipy", "statsmodels"))
    if given.what == "times":
        times(given.python)
    elif given.what == "sizes":
        sizes(given.numbers)
    else:
        {"worlds": worlds, "wordings": wordings}[given.what](given.replicates)


if __name__ == "__main__":
    run_step_or(main, {"timed": timed, "sized": sized, "world": world, "covered": covered})
