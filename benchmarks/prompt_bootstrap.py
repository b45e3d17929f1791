"""The bootstrap by prompt of Equation 1 at the paper's size, against refits to the rows of the same resamples.

    python benchmarks/prompt_bootstrap.py [--replicates 10000] [--runs 5] [--refits 20]

The rows are a simulated twin of the published study. Ours is the median of whole processes, from ratings.parquet to the table
with the intervals; beside it the part that is the bootstrap's, the sums by prompt included. A refit is numpy's least squares by
normal equations on the rows of a resample; what is measured of some refits is scaled up to as many as there are replicates.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "lib"))
SEED = 1


def bootstrap(ratings: str, replicates: str, output: str) -> None:
    """Collapse the rows, fit, resample and write the table; print the seconds that the bootstrap takes of that."""
    import time

    from judgebias.fits.estimates import estimate
    from judgebias.fits.spec import Spec
    from judgebias.ratings.cells import build_cells
    from judgebias.ratings.study import Study
    from judgebias.tables import ESTIMATES, write_table

    build_cells(ratings, f"{output}.cells.parquet")
    study = Study("twin", f"{output}.cells.parquet", ratings)
    estimate(Spec("main"), study, confidence=0.9)
    start = time.perf_counter()
    found = estimate(Spec("main", bootstrap=int(replicates)), study, confidence=0.9, seed=SEED)
    print(time.perf_counter() - start)
    write_table(output, ESTIMATES, found.estimates)


def refit(ratings: str, replicates: str, output: str) -> None:
    """Refit to the rows of the first resamples; print the seconds of a refit and the largest difference from ours."""
    import time

    import duckdb
    import numpy as np

    from judgebias.fits.fit import fits
    from judgebias.fits.prompt_bootstrap import resamples
    from judgebias.fits.spec import Spec
    from judgebias.ratings.study import Study

    refits, all_replicates = map(int, replicates.split(" of "))
    spec = Spec("main", bootstrap=all_replicates)
    (ours,) = fits(spec, Study("twin", f"{output}.cells.parquet", ratings), seed=SEED)
    frame = duckdb.execute("from read_parquet(?)", [ratings]).df()
    names = ("judge", "model", "judge_family", "model_family", "dimension")
    terms = [term for term in spec.terms_of({name: frame[name].to_numpy(dtype=str) for name in names}) if term.carried.any()]
    x = np.stack([term.carried * (1.0, frame["gt_unit"])[term.regressor] for term in terms], axis=1)
    y, prompt = frame["rating_unit"].to_numpy(), frame["prompt"].to_numpy()
    drawn = next(resamples(len(np.unique(prompt)), replicates=all_replicates, seed=SEED))[:refits].astype(int)
    start = time.perf_counter()
    found = []
    for times in drawn:
        rows = np.repeat(np.arange(len(y)), times[prompt])
        found.append(np.linalg.solve(x[rows].T @ x[rows], x[rows].T @ y[rows]))
    seconds = (time.perf_counter() - start) / refits
    wanted = np.stack([row.replicates[:refits] for row in ours.coefficients], axis=1)
    print(seconds, np.abs(np.array(found) - wanted).max())


def measure(step: str, *arguments: str) -> tuple[float, float, list[float]]:
    """Wall seconds and peak MiB of one whole process, and the numbers that it prints.

    This process stays small: the system counts the memory of the parent at the fork among the child's.
    """
    import os
    import subprocess
    import time

    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, "--one", step, *arguments], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{step} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, [float(number) for number in printed.split()]


def prepare(ratings: str, folder: str) -> None:
    """Write the twin's canonical ratings."""
    from equation1 import prepare

    prepare(ratings, folder)


STEPS = {"prepare": prepare, "bootstrap": bootstrap, "refit": refit}


def main() -> None:
    """Measure and print the table."""
    import argparse
    import statistics
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--refits", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratings, output = f"{folder}/ratings.parquet", f"{folder}/main.csv"
        measure("prepare", ratings, folder)
        runs = [measure("bootstrap", ratings, str(given.replicates), output) for _ in range(given.runs + 1)][1:]
        _, peak, (seconds, difference) = measure("refit", ratings, f"{given.refits} of {given.replicates}", output)
    whole, own = statistics.median(run[0] for run in runs), statistics.median(run[2][0] for run in runs)
    print(f"{given.replicates:,} replicates, median of {given.runs} runs {'s':>12} {'peak MiB':>10}")
    print(f"{'from ratings.parquet to intervals':40} {whole:10.2f} {statistics.median(run[1] for run in runs):10.0f}")
    print(f"{'of that the bootstrap':40} {own:10.2f}")
    print(f"{f'refits to rows, from {given.refits} of them':40} {seconds * given.replicates:10.0f} {peak:10.0f}")
    print(f"refits / the bootstrap: {seconds * given.replicates / own:,.0f}; largest difference: {difference:.1e}")


if __name__ == "__main__":
    # A measured process imports nothing but what its step needs.
    if sys.argv[1:2] == ["--one"]:
        STEPS[sys.argv[2]](*sys.argv[3:])
    else:
        main()
