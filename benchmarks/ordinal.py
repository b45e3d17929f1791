"""The six ordinal fits: Newton's method on cells against OrderedModel of statsmodels and polr of
MASS on rows.

    python benchmarks/ordinal.py [--runs 7] [--ordered-model 1] [--without-polr]

The rows are the simulated twin's. Processor seconds of the fit alone, with standard errors, on a
design made beforehand for all three: of ours, from the cells of the dimension, the robust errors
and the marginal effects included, median of the runs; of OrderedModel, by bfgs, on as many
dimensions as --ordered-model says, those with the fewest rows first, as each takes from a quarter
of a minute to more than a minute; of polr, with its Hessian, as it stops by itself and with a tight
tolerance, where Rscript and MASS are installed. The log-likelihoods stand side by side: none may be
above ours.
"""

import json

from processes import ONE_THREAD, ROOT, measure, print_machine, print_table, run_step_or, step_from
from twin import make_twin

ABOVE = 1e-10  # of a log-likelihood: what rounding of its sum over the rows leaves
OURS, ORDERED_MODEL, POLR, POLR_TIGHT = "ours", "OrderedModel", "polr", "polr, tight"


def slices(folder: str) -> list[tuple]:
    """(dimension, cells, terms) of each ordinal fit, the dimension with the fewest rows first."""
    from recuse.data.study import StudyTables
    from recuse.model.design import estimable_terms
    from recuse.model.estimable import spec_slices
    from recuse.model.spec import Spec

    spec = Spec.of("ordinal", estimator="ordinal_logit", slice="dimension")
    found = [
        (dimension, cells, estimable_terms(spec, cells.factors))
        for dimension, cells in spec_slices(spec, StudyTables("twin", f"{folder}/cells.parquet"))
    ]
    return sorted(found, key=lambda each: each[1].n.sum())


def prepare(folder: str) -> None:
    """Make the twin; write rating and design of each dimension, one line a row, as <number>.csv and
    .npz; print their rows.
    """
    import numpy as np

    from recuse.model.design import term_layout
    from recuse.model.ordinal import fit_ordinal

    make_twin(folder)
    sizes = {}
    for number, (dimension, cells, terms) in enumerate(slices(folder)):
        finite = np.flatnonzero(
            ~np.isnan(fit_ordinal(cells, terms).estimate[: len(terms)])
        )  # not the reference level of the intercepts
        layout = term_layout(terms, len(cells.factors["judge"]), 2)[:, :, finite][cells.group]
        covariates = layout[:, 0] + layout[:, 1] * cells.reference[:, None]
        repeats = cells.counts.ravel()
        rating = np.repeat(np.tile(cells.ratings, len(cells.counts)), repeats)
        design = np.repeat(np.repeat(covariates, len(cells.ratings), axis=0), repeats, axis=0)
        design = design[:, np.abs(design).any(axis=0)]
        np.savez(f"{folder}/{number}.npz", rating=rating, design=design)
        header = ",".join(["rating", *(f"x{column}" for column in range(design.shape[1]))])
        table = np.column_stack([rating, design])
        np.savetxt(
            f"{folder}/{number}.csv", table, delimiter=",", header=header, comments="", fmt="%.17g"
        )
        sizes[dimension] = len(rating)
    print(json.dumps(sizes))


def fit_ours(folder: str, runs: str) -> None:
    """Print seconds and log-likelihood of each dimension."""
    import statistics
    import time

    from recuse.model.ordinal import fit_ordinal

    found = []
    for _, cells, terms in slices(folder):
        fit, seconds = fit_ordinal(cells, terms), []  # not counted: the first calls of numpy
        for _ in range(int(runs)):
            start = time.process_time()
            fit = fit_ordinal(cells, terms)
            seconds.append(time.process_time() - start)
        found.append((statistics.median(seconds), fit.log_likelihood))
    print(json.dumps(found))


def fit_ordered_model(folder: str, number: str) -> None:
    """Print seconds and log-likelihood of OrderedModel on one dimension."""
    import time

    import numpy as np
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    rows = np.load(f"{folder}/{number}.npz")
    start = time.process_time()
    model = OrderedModel(rows["rating"], rows["design"], distr="logit", hasconst=False)
    result = model.fit(method="bfgs", maxiter=1000, disp=False, warn_convergence=False)
    print(json.dumps((time.process_time() - start, float(result.llf))))


def fits_of_polr(folder: str, numbers: int) -> dict[str, list]:
    """(seconds, log-likelihood) of each dimension by polr, and by polr with a tight tolerance; {}
    without Rscript or MASS.
    """
    import shutil
    import subprocess

    rscript = shutil.which("Rscript")
    if (
        rscript is None
        or subprocess.run(
            [rscript, "-e", "library(MASS)"], capture_output=True, check=False
        ).returncode
    ):
        print("polr is left out: Rscript with the package MASS is not installed")
        return {}
    command = [rscript, str(ROOT / "benchmarks" / "polr.R"), folder, *map(str, range(numbers))]
    printed = [
        line.split() for line in measure(command, environment=ONE_THREAD).printed.splitlines()
    ]
    fits = [(float(seconds), float(likelihood)) for _, seconds, likelihood in printed]
    return {POLR: fits[::2], POLR_TIGHT: fits[1::2]}


def print_fits(sizes: dict[str, int], found: dict[str, list]) -> None:
    """Print seconds, ratios and log-likelihoods by dimension, then the sums over the dimensions
    that both ways have.
    """
    ours, rows, above = found.pop(OURS), [], 0.0
    for number, (dimension, size) in enumerate(sizes.items()):
        seconds, likelihood = ours[number]
        rows.append((dimension, f"{size:,}", OURS, f"{seconds:.4f}", "", f"{likelihood:.6f}", ""))
        for way, fits in found.items():
            if number < len(fits):
                theirs, reached = fits[number]
                above = max(above, (reached - likelihood) / abs(likelihood))
                numbers = (
                    f"{theirs:.2f}",
                    f"{theirs / seconds:,.0f}",
                    f"{reached:.6f}",
                    f"{reached - likelihood:.1e}",
                )
                rows.append(("", "", way, *numbers))
    print_table(("dimension", "rows", "", "cpu s", "ratio", "log-likelihood", "minus ours"), rows)
    for way, fits in found.items():
        theirs, own = (sum(seconds for seconds, _ in each[: len(fits)]) for each in (fits, ours))
        print(
            f"{way} / ours, {len(fits)} of {len(sizes)} dimensions: {theirs:.1f} s / {own:.4f} s ="
            f" {theirs / own:,.0f}"
        )
    print(
        f"a log-likelihood above ours: {'NO' if above <= ABOVE else 'YES'} (at most {above:.0e}"
        " of it)"
    )


def main() -> None:
    """Measure and print the table."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--ordered-model", type=int, default=1, help="on how many dimensions it runs, 0 to 6"
    )
    parser.add_argument("--without-polr", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes = json.loads(measure(step_from(__file__, "prepare", folder)).printed)
        ours = step_from(__file__, "ours", folder, str(given.runs))
        found = {OURS: json.loads(measure(ours, environment=ONE_THREAD).printed)}
        commands = [
            step_from(__file__, "ordered_model", folder, str(number))
            for number in range(given.ordered_model)
        ]
        found[ORDERED_MODEL] = [
            json.loads(measure(command, environment=ONE_THREAD).printed) for command in commands
        ]
        if not given.without_polr:
            found |= fits_of_polr(folder, len(sizes))
    print_machine(("numpy", "statsmodels"))
    print_fits(sizes, {way: fits for way, fits in found.items() if fits})


if __name__ == "__main__":
    run_step_or(main, {"prepare": prepare, "ours": fit_ours, "ordered_model": fit_ordered_model})
