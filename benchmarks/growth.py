"""From 1e5 to 1e8 rows: seconds, rows per second and peak memory of whole processes.

    python benchmarks/growth.py 1e5 1e6 1e7 1e8 [--runs 5] [--memory-limit 512MB] [--clustered]

Two steps for each number of rows: a raw parquet file checked and written as ratings.parquet; and from that to the table of
Equation 1, by way of the cells; with --clustered, with errors clustered by prompt. Median of the runs; the first step runs
once. The data are made in a temporary folder, which takes 5 GB for 1e8 rows (TMPDIR says where it is).
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "lib"))

FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
MODELS = {f"{FAMILIES[number % 4]} {number}": FAMILIES[number % 4] for number in range(9)}
DIMENSIONS = ("Completeness", "Conciseness", "Faithfulness", "Helpfulness", "Logical correctness", "Understandability")
DATASETS = ("chatbot arena", "helm instruct", "mt-bench", "stanford", "summeval", "wildbench")
# A row for each prompt, model, judge and dimension; the human score is a mean of three, and the judge's own answers gain.
ROWS = """
    with place as (select i, i // 486 as p, i % 486 // 54 as m, i % 54 // 6 as j, i % 6 as d from range(0, {rows}) as t(i)),
         human as (select *, (hash(p * 1000 + m * 10 + d) % 13)::integer as thirds, hash(i) % 1000 / 1000 as chance from place)
    select {models}[j + 1] as judge, {models}[m + 1] as model, {dimensions}[d + 1] as dimension,
           {datasets}[p % 6 + 1] as dataset, {datasets}[p % 6 + 1] || '-' || lpad(p::varchar, 7, '0') as prompt_id,
           1 + thirds / 3 as gt, 20 + hash(p * 9 + m) % 600 as pred_length,
           1 + round(greatest(0, least(4, thirds / 3 + 3 * chance - 1.5 + (if(j = m, 0.4, 0)))))::integer as rating
    from human"""


def make(rows: str, folder: str, memory_limit: str) -> None:
    """Write the raw parquet file."""
    from judgebias.database import bounded_memory, connect, text

    lists = {"models": list(MODELS), "dimensions": DIMENSIONS, "datasets": DATASETS}
    filled = ROWS.format(rows=int(float(rows)), **{key: f"[{', '.join(map(text, names))}]" for key, names in lists.items()})
    with bounded_memory(memory_limit, f"{folder}/spill"):
        connect().execute(f"copy ({filled}) to {text(f'{folder}/raw.parquet')} (format parquet, compression zstd)")


def check(rows: str, folder: str, memory_limit: str) -> None:
    """Check the raw ratings and write them as canonical ones, as the rule `ratings` does."""
    from judgebias.database import bounded_memory
    from judgebias.ratings.ratings import StudyFiles, normalise
    from judgebias.ratings.registry import Registry
    from judgebias.sources.checks import RatingsFile

    registry = Registry.from_config({name: {"family": family} for name, family in MODELS.items()})
    source = StudyFiles([RatingsFile(f"{folder}/raw.parquet")], dict.fromkeys(DIMENSIONS, (1, 5)), {}, registry)
    with bounded_memory(memory_limit, f"{folder}/spill"):
        normalise("grown", source, ratings=f"{folder}/ratings.parquet", completeness=f"{folder}/completeness.csv")


def estimate(rows: str, folder: str, memory_limit: str, covariance: str) -> None:
    """Collapse the canonical ratings into cells and fit Equation 1, as the rules `cells` and `fit` do."""
    from judgebias.database import bounded_memory
    from judgebias.fits.estimates import estimate
    from judgebias.fits.spec import Spec
    from judgebias.ratings.cells import build_cells
    from judgebias.ratings.study import Study
    from judgebias.tables import ESTIMATES, write_table

    with bounded_memory(memory_limit, f"{folder}/spill"):
        build_cells(f"{folder}/ratings.parquet", f"{folder}/cells.parquet")
        study = Study("grown", f"{folder}/cells.parquet", f"{folder}/ratings.parquet")
        found = estimate(Spec("main", covariance=covariance), study, confidence=0.9)
    write_table(f"{folder}/main.csv", ESTIMATES, found.estimates)


STEPS = {"make": make, "check": check, "estimate": estimate}


def measure(step: str, *arguments: str) -> tuple[float, float]:
    """Wall seconds and peak MiB of one whole process.

    This process stays small: the system counts the memory of the parent at the fork among the child's.
    """
    import os
    import subprocess
    import time

    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, "--one", step, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{step} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Measure every number of rows and print the table."""
    import argparse
    import statistics
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="numbers of rows, such as 1e6")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory-limit", default="512MB")
    parser.add_argument("--clustered", action="store_true", help="errors clustered by prompt")
    given = parser.parse_args()
    covariance = "CR1" if given.clustered else "HC0"
    print(f"{'':9}   raw parquet -> ratings.parquet     ratings.parquet -> estimates, median of {given.runs}")
    print(f"{'rows':>9} {'s':>8} {'rows/s':>12} {'peak MiB':>10} {'s':>12} {'rows/s':>14} {'peak MiB':>10}")
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            arguments = rows, folder, given.memory_limit
            measure("make", *arguments)
            seconds, peak = measure("check", *arguments)
            measure("estimate", *arguments, covariance)  # not counted: fills the file cache
            runs = [measure("estimate", *arguments, covariance) for _ in range(given.runs)]
        fitting, fitting_peak = (statistics.median(run[which] for run in runs) for which in (0, 1))
        n = float(rows)
        print(
            f"{rows:>9} {seconds:8.2f} {n / seconds:12,.0f} {peak:10.0f}"
            f" {fitting:12.2f} {n / fitting:14,.0f} {fitting_peak:10.0f}",
            flush=True,
        )


if __name__ == "__main__":
    # A measured process imports nothing but what its step needs.
    if sys.argv[1:2] == ["--one"]:
        STEPS[sys.argv[2]](*sys.argv[3:])
    else:
        main()
