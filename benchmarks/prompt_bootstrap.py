"""The bootstrap by prompt of Equation 1 at the paper's size, against refits by statsmodels to the
rows of the same resamples.

    python benchmarks/prompt_bootstrap.py [--replicates 10000] [--runs 5] [--refits 10]

The rows are the simulated twin's. Ours is the median of whole processes, from ratings.parquet to
the table with the intervals; beside it the part that is the bootstrap's, the pass over the rows
included. A refit is statsmodels' OLS on the rows of a resample, without a formula and without
errors, their design made beforehand; some are measured, and scaled up to as many as there are
replicates.
"""

from processes import in_turn, measure, medians, print_machine, print_table, run_step_or, step_from
from twin import STUDY, collapse, make_twin

SEED = 1
EQUAL = 1e-10  # largest difference of a replicate's coefficients


def bootstrap(folder: str, replicates: str) -> None:
    """Collapse the rows, fit, resample and write the table; print the seconds that the bootstrap
    takes of that.
    """
    import time

    from recuse.base.tables import write_table
    from recuse.data.study import StudyTables
    from recuse.model.estimates import ESTIMATES, estimate
    from recuse.model.spec import Spec

    collapse(folder)
    study = StudyTables(STUDY, f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"])
    estimate(Spec.of("main"), study, confidence=0.9)
    start = time.perf_counter()
    found = estimate(Spec.of("main", bootstrap=int(replicates)), study, confidence=0.9, seed=SEED)
    print(time.perf_counter() - start)
    write_table(f"{folder}/main.csv", ESTIMATES, found.estimates)


def refit(folder: str, replicates: str, refits: str) -> None:
    """Refit to the rows of the first resamples; print the seconds of a refit and the largest
    difference from ours.
    """
    import time

    import duckdb
    import numpy as np
    from statsmodels.regression.linear_model import OLS

    from recuse.data.study import StudyTables
    from recuse.model.design import estimable_terms
    from recuse.model.fit import fitted_slices
    from recuse.model.resampling import Resamples
    from recuse.model.spec import Spec

    spec = Spec.of("main", bootstrap=int(replicates))
    (ours,) = fitted_slices(
        spec,
        StudyTables(STUDY, f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"]),
        seed=SEED,
    )
    frame = duckdb.execute("from read_parquet(?)", [f"{folder}/ratings.parquet"]).df()
    names = ("judge", "model", "judge_family", "model_family", "dimension")
    terms = estimable_terms(spec, {name: frame[name].to_numpy(dtype=str) for name in names})
    x = np.stack([term.carried * (1.0, frame["gt_unit"])[term.regressor] for term in terms], axis=1)
    y, prompt = frame["rating_unit"].to_numpy(), frame["prompt"].to_numpy()
    resamples = Resamples(prompt.max() + 1, replicates=spec.errors.bootstrap, seed=SEED)
    drawn = next(resamples.piece_draws(0))[: int(refits)].astype(int)
    start = time.perf_counter()
    found = []
    for times in drawn:
        rows = np.repeat(np.arange(len(y)), times[prompt])
        found.append(OLS(y[rows], x[rows]).fit().params)
    seconds = (time.perf_counter() - start) / len(drawn)
    wanted = np.stack([row.replicates[: len(drawn)] for row in ours.coefficients], axis=1)
    print(seconds, np.abs(np.array(found) - wanted).max())


def main() -> None:
    """Measure and print the table."""
    import argparse
    import statistics
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--refits", type=int, default=10, help="at most 250")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(step_from(__file__, "prepare", folder))
        arguments = folder, str(given.replicates)
        runs = in_turn({"ours": step_from(__file__, "bootstrap", *arguments)}, given.runs)["ours"]
        theirs = measure(step_from(__file__, "refit", *arguments, str(given.refits)))
    whole, own = medians(runs), statistics.median(float(run.printed) for run in runs)
    seconds, difference = map(float, theirs.printed.split())
    print_machine(("numpy", "duckdb", "statsmodels"))
    numbers = f"{whole.wall:.2f}", f"{whole.processor:.2f}", f"{whole.peak:.0f}"
    rows = [
        (f"ratings.parquet to intervals, median of {given.runs}", *numbers),
        ("of that the bootstrap", f"{own:.2f}", "", ""),
        (
            f"OLS refits to rows, from {given.refits} of them",
            f"{seconds * given.replicates:,.0f}",
            "",
            f"{theirs.peak:.0f}",
        ),
    ]
    print_table((f"{given.replicates:,} replicates", "s", "cpu s", "peak MiB"), rows)
    print(f"refits / the bootstrap: {seconds * given.replicates / own:,.0f}")
    print(
        f"largest difference of a coefficient: {difference:.1e} (at most {EQUAL:g}:"
        f" {'yes' if difference <= EQUAL else 'NO'})"
    )


if __name__ == "__main__":
    run_step_or(main, {"prepare": make_twin, "bootstrap": bootstrap, "refit": refit})
