"""Every fit of the study at the paper's size, in one process, beside statsmodels on raw rows.

    python benchmarks/every_fit.py [--runs 5] [--study results/twin] [--without-statsmodels]

Ours: whole processes of one thread, from cells.parquet and ratings.parquet (the simulated twin's,
or those of a built study) through every spec of config.yaml, the correlations, errors clustered by
prompt and 10,000 bootstrap replicates of Equation 1; median of the runs. statsmodels: once, with
all threads; its formula for each least-squares fit, OrderedModel and GLMGam for one of the ordinal
and GAM fits each, that of the dimension with the fewest rows, imports not counted. Of ours, each
part holds the imports that it is the first to need.
"""

import json
import time

from processes import (
    ONE_THREAD,
    ROOT,
    Measured,
    in_turn,
    measure,
    medians,
    print_machine,
    print_table,
    run_step_or,
    step_from,
)
from twin import make_twin

STUDY, REPLICATES, SEED = "twin", 10_000, 1
START = "start of Python, imports, specs"
LINEAR, LENGTH = (
    ("least squares from cells", "references of families"),
    "length control and length alone",
)
ORDINAL, GAM = "ordinal", "GAM"
EVERY_LINEAR = "all of least squares"


def groups_from(settings: dict) -> dict:
    """The specs of config by what they cost."""
    from recuse.model.spec import Spec

    specs = Spec.from_config(settings).values()
    least_squares = [spec for spec in specs if spec.model.estimator == "least_squares"]
    plain, with_reference = LINEAR
    return {
        plain: [
            spec
            for spec in least_squares
            if spec.selection.length is None and spec.selection.reference is None
        ],
        with_reference: [spec for spec in least_squares if spec.selection.reference is not None],
        LENGTH: [spec for spec in least_squares if spec.selection.length is not None],
        ORDINAL: [spec for spec in specs if spec.model.estimator == "ordinal_logit"],
        GAM: [spec for spec in specs if spec.model.estimator == "gam"],
    }


def study_from(folder: str):
    """The study whose tables are in `folder`, nothing of it read yet."""
    from recuse.data.study import StudyTables

    return StudyTables(STUDY, f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"])


def fit_every(folder: str, settings: str) -> None:
    """Fit everything; print the fits and the wall and processor seconds of each part."""

    from recuse.data.describe import correlations
    from recuse.model.estimates import estimate
    from recuse.model.spec import Spec

    study, groups = study_from(folder), groups_from(json.loads(settings))
    by_prompt = {
        "clustered by prompt": {"covariance": "CR1"},
        f"{REPLICATES:,} replicates": {"bootstrap": REPLICATES},
    }
    groups |= {name: [Spec.of("main").changed(**changes)] for name, changes in by_prompt.items()}
    parts = {START: (0, time.process_time(), time.process_time())}  # nothing waits there
    for name, specs in groups.items():
        start = time.perf_counter(), time.process_time()
        fits = sum(
            len({row["slice"] for row in estimate(s, study, confidence=0.9, seed=SEED).estimates})
            for s in specs
        )
        parts[name] = fits, time.perf_counter() - start[0], time.process_time() - start[1]
    start = time.perf_counter(), time.process_time()
    rows = list(correlations(study.cells(), confidence=0.9))
    parts["correlations"] = (
        len(rows),
        time.perf_counter() - start[0],
        time.process_time() - start[1],
    )
    print(json.dumps(parts))


def fit_by_statsmodels(folder: str, settings: str) -> None:
    """Fit the same on raw rows; print the fits and the seconds of each part, imports not
    counted.
    """

    import statsmodels.formula.api  # noqa: F401

    from recuse.validation.statsmodels import fits_by_formula

    groups, parts = groups_from(json.loads(settings)), {}
    for name in (*LINEAR, LENGTH):
        start, study = time.perf_counter(), study_from(folder)
        fitted = [slice_ for spec in groups[name] for slice_ in fits_by_formula(spec, study)]
        parts[name] = (
            sum(bool(slice_.coefficients) for slice_ in fitted),
            time.perf_counter() - start,
        )
    for name, fit in ((ORDINAL, by_ordered_model), (GAM, by_glmgam)):
        frame = fewest_rows(folder)
        parts[name] = 1, fit(frame)
    print(json.dumps(parts))


def fewest_rows(folder: str):
    """Raw rows of the dimension with the fewest, with the columns of the formula."""
    import duckdb

    frame = duckdb.execute("from read_parquet(?)", [f"{folder}/ratings.parquet"]).df()
    frame = frame[frame["dimension"] == frame["dimension"].value_counts().index[-1]].copy()
    own = frame["judge"] == frame["model"]
    frame["own"] = frame["judge"].where(own, " none")
    frame["same_family"] = frame["judge_family"].where(
        (frame["judge_family"] == frame["model_family"]) & ~own, " none"
    )
    return frame


def by_ordered_model(frame) -> float:
    """Seconds of one ordinal fit, with its Hessian."""
    import patsy
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    start = time.perf_counter()
    design = patsy.dmatrix(
        "judge + judge:gt_unit + own + same_family", frame, return_type="dataframe"
    ).iloc[:, 1:]
    OrderedModel(frame["rating"].to_numpy(), design, distr="logit").fit(
        method="bfgs", maxiter=300, disp=False
    )
    return time.perf_counter() - start


def by_glmgam(frame) -> float:
    """Seconds of one GAM: a cubic spline of the human score for each judge, its penalty given."""
    import numpy as np
    from statsmodels.gam.api import BSplines, GLMGam

    start = time.perf_counter()
    judges = np.unique(frame["judge"])
    smooth = np.stack(
        [np.where(frame["judge"] == judge, frame["gt_unit"], 0.0) for judge in judges], axis=1
    )
    splines = BSplines(smooth, df=[10] * len(judges), degree=[3] * len(judges))
    GLMGam.from_formula(
        "rating_unit ~ 0 + judge + own + same_family",
        frame,
        smoother=splines,
        alpha=[1.0] * len(judges),
    ).fit()
    return time.perf_counter() - start


def print_parts(runs: list[Measured], theirs: dict) -> None:
    """Print the parts of our processes, each the median of the runs, beside statsmodels, and the
    whole.
    """
    import statistics

    printed = [json.loads(run.printed) for run in runs]
    ours = {
        name: [statistics.median(each[name][k] for each in printed) for k in range(3)]
        for name in printed[0]
    }
    linear = (*LINEAR, LENGTH)
    ours[EVERY_LINEAR] = [sum(ours[name][k] for name in linear) for k in range(3)]
    if theirs:
        theirs = theirs | {
            EVERY_LINEAR: [sum(theirs[name][k] for name in linear) for k in range(2)]
        }
    rows = []
    for name, (fits, wall, processor) in ours.items():
        if name == START:
            rows.append((name, "", "", f"{processor:.3f}", "", ""))
            continue
        beside = "", ""
        if name in theirs:
            their_fits, seconds = theirs[name]
            beside = (
                f"{seconds:.1f}" + (" (one)" if their_fits < fits else ""),
                f"{seconds / their_fits / (wall / fits):.0f}",
            )
        rows.append((name, f"{fits:.0f}", f"{wall:.3f}", f"{processor:.3f}", *beside))
    whole = medians(runs)
    rows.append(("the whole process", "", f"{whole.wall:.3f}", f"{whole.processor:.3f}", "", ""))
    print_table(("", "fits", "s", "cpu s", "statsmodels s", "a fit, ratio"), rows)
    print(f"peak memory of the whole process: {whole.peak:.0f} MiB")


def main() -> None:
    """Measure and print the table."""
    import argparse
    import tempfile

    import yaml

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--study", help="folder of a built study, instead of a twin made for the purpose"
    )
    parser.add_argument("--without-statsmodels", action="store_true", help="ours only")
    given = parser.parse_args()
    settings = json.dumps(yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))["specs"])
    with tempfile.TemporaryDirectory() as folder:
        if given.study is None:
            measure(step_from(__file__, "prepare", folder))
        arguments = given.study or folder, settings
        runs = in_turn(
            {"ours": step_from(__file__, "fit_every", *arguments)},
            given.runs,
            environment=ONE_THREAD,
        )["ours"]
        command = step_from(__file__, "fit_by_statsmodels", *arguments)
        theirs = {} if given.without_statsmodels else json.loads(measure(command).printed)
    print_machine(("numpy", "duckdb", *([] if given.without_statsmodels else ["statsmodels"])))
    print_parts(runs, theirs)


if __name__ == "__main__":
    run_step_or(
        main,
        {"prepare": make_twin, "fit_every": fit_every, "fit_by_statsmodels": fit_by_statsmodels},
    )
