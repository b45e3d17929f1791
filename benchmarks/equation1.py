"""Equation 1 at paper size from one raw CSV file, whole processes in turn: this library, as a
command and in Python, statsmodels, pyfixest, duckreg, linearmodels and R.

    python benchmarks/equation1.py [--runs 7] [--python pyfixest=<python>] [--python
    duckreg=<python>] [--python linearmodels=<python>]

Each reads the same file (the twin's 251,562 rows) and writes estimates with HC0 errors, which must
be equal to 1e-10; ours checks every row besides. Ours also starts from ratings.parquet, and
statsmodels also from a dense design made by numpy, as does linearmodels. pyfixest, duckreg and
linearmodels run in environments of their own (requirements-pyfixest.txt and so on); one whose
Python is not given is left out, and so is R (lm, with the package sandwich) where there is no
Rscript.
"""

import csv
import json
import re
import shutil
import sys

from processes import (
    LIBRARY,
    ROOT,
    in_turn,
    measure,
    medians,
    print_machine,
    print_table,
    ratios,
    run_step_or,
    step_from,
)
from twin import STUDY, collapse, make_twin

OURS, PYTHON, TABLE, FORMULA, DENSE = (
    "ours, raw CSV",
    "ours, in Python",
    "ours, ratings.parquet",
    "statsmodels formula",
    "statsmodels dense",
)
OTHERS = ("pyfixest", "duckreg", "linearmodels")  # each with a Python of its own
R = "R, lm and sandwich"
EQUAL = 1e-10
FORMULA_1 = "judge + judge:gt_unit + own + same_family + dimension"
QUANTITIES = {
    "judge": "intercept",
    "own": "self_bias",
    "same_family": "family_bias",
    "dimension": "dimension",
}


def prepare(folder: str) -> None:
    """Write the twin, its raw ratings as CSV, and what a person would know of it: scales and
    families.
    """
    import duckdb
    import yaml

    make_twin(folder)
    duckdb.execute(f"copy (select * from '{folder}/raw.parquet') to '{folder}/raw.csv'")
    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    families = {name: model["family"] for name, model in config["models"].items()}
    scales = config["studies"][STUDY]["scales"]
    with open(f"{folder}/facts.json", "w", encoding="utf-8") as file:
        json.dump({"scales": scales, "families": families}, file)
    tables = {
        "scales": [("dimension", "low", "high"), *((name, *ends) for name, ends in scales.items())],
        "families": [("model", "family"), *families.items()],
    }
    for name, rows in tables.items():
        with open(f"{folder}/{name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


def fit_from_table(folder: str, output: str) -> None:
    """Collapse the rows of ratings.parquet and fit, as the workflow does."""
    from recuse.base.tables import write_table
    from recuse.data.study import StudyTables
    from recuse.model.estimates import ESTIMATES, estimate
    from recuse.model.spec import Spec

    collapse(folder)
    found = estimate(Spec.of("main"), StudyTables(STUDY, f"{folder}/cells.parquet"), confidence=0.9)
    write_table(output, ESTIMATES, found.estimates)


def fit_in_python(folder: str, output: str) -> None:
    """Fit the raw file as a pandas frame, as one would at a prompt."""
    import pandas as pd

    import recuse

    with open(f"{folder}/facts.json", encoding="utf-8") as file:
        facts = json.load(file)
    frame = pd.read_csv(f"{folder}/raw.csv")
    families: dict[str, list[str]] = {}
    for model in frame["model"].unique():
        families.setdefault(facts["families"][model], []).append(model)
    columns = {"prompt": "prompt_id", "human": "gt", "length": "pred_length"}
    ratings = recuse.ratings(frame, **columns, scales=facts["scales"], families=families)
    recuse.fit(ratings).frame.to_csv(output, index=False)


def frame_from(folder: str):
    """The raw file as one would read and normalise it by hand, a pandas frame."""
    import pandas as pd

    with open(f"{folder}/facts.json", encoding="utf-8") as file:
        facts = json.load(file)
    frame = pd.read_csv(f"{folder}/raw.csv")
    low, high = (
        frame["dimension"].map({name: scale[end] for name, scale in facts["scales"].items()})
        for end in (0, 1)
    )
    for raw in ("rating", "gt"):
        frame[f"{raw}_unit"] = (frame[raw] - low) / (high - low)
    own = frame["judge"] == frame["model"]
    family, of_model = (frame[name].map(facts["families"]) for name in ("judge", "model"))
    frame["own"] = frame["judge"].where(own, " none")
    frame["same_family"] = family.where((family == of_model) & ~own, " none")
    return frame


def fit_by_formula(folder: str, output: str) -> None:
    """Fit the formula of statsmodels to rows."""
    from statsmodels.formula.api import ols

    fitted = ols(f"rating_unit ~ 0 + {FORMULA_1}", frame_from(folder)).fit(cov_type="HC0")
    _write(output, fitted.params.index, fitted.params, fitted.bse)


def fit_by_pyfixest(folder: str, output: str) -> None:
    """Fit the formula of pyfixest to rows."""
    import pyfixest

    ssc = pyfixest.ssc(k_adj=False, G_adj=False)
    fitted = pyfixest.feols(
        f"rating_unit ~ -1 + {FORMULA_1}", frame_from(folder), vcov="hetero", ssc=ssc
    ).tidy()
    _write(output, fitted.index, fitted["Estimate"], fitted["Std. Error"])


def design_from(frame) -> dict:
    """Columns of the design by the name that a formula gives them."""
    levels = {factor: sorted(set(frame[factor]) - {" none"}) for factor in QUANTITIES}
    levels["dimension"] = levels["dimension"][1:]
    design = {
        f"{factor}[{level}]": frame[factor] == level
        for factor, names in levels.items()
        for level in names
    }
    return design | {
        f"{name}:gt_unit": design[name] * frame["gt_unit"]
        for name in design
        if name.startswith("judge[")
    }


def dense_from(folder: str):
    """The ratings, the names of the design's columns, and the columns laid out by numpy."""
    import numpy as np

    frame = frame_from(folder)
    design = design_from(frame)
    columns = np.column_stack([np.asarray(column, dtype=float) for column in design.values()])
    return frame["rating_unit"].to_numpy(), list(design), columns


def fit_dense(folder: str, output: str) -> None:
    """Fit statsmodels' OLS to a dense design."""
    from statsmodels.regression.linear_model import OLS

    rating, names, columns = dense_from(folder)
    fitted = OLS(rating, columns).fit(cov_type="HC0")
    _write(output, names, fitted.params, fitted.bse)


def fit_by_linearmodels(folder: str, output: str) -> None:
    """Fit linearmodels' OLS, two-stage least squares without instruments, to a dense design."""
    from linearmodels.iv import IV2SLS

    rating, names, columns = dense_from(folder)
    fitted = IV2SLS(rating, columns, None, None).fit(cov_type="robust", debiased=False)
    _write(output, names, fitted.params, fitted.std_errors)


def fit_by_duckreg(folder: str, output: str) -> None:
    """Fit duckreg's compressed regression to a table of the design's columns; its constant takes
    the place of one judge.
    """
    import duckdb
    import pandas as pd
    from duckreg.estimators import DuckRegression

    frame = frame_from(folder)
    design = design_from(frame)
    constant, *names = design
    columns = pd.DataFrame(
        {"y": frame["rating_unit"], **{f"x{i}": design[name] * 1.0 for i, name in enumerate(names)}}
    )
    with duckdb.connect(f"{output}.db") as database:
        database.execute("create or replace table design as select * from columns")
    regressors = " + ".join(columns.columns[1:])
    model = DuckRegression(
        f"{output}.db", "design", f"y ~ {regressors}", "", seed=1, n_bootstraps=0
    )
    model.fit()
    model.fit_vcov()
    found = model.summary()
    to_hc0 = (1 - len(design) / len(frame)) ** 0.5  # from HC1, which is what it has
    rows = {}
    for name, value, error in zip(
        design, found["point_estimate"].ravel(), found["standard_error"].ravel(), strict=True
    ):
        # Of the judges but the first it estimates the difference from the first: the errors are
        # those of other quantities.
        later = name in names and re.fullmatch(r"judge\[.*\]", name)
        rows[name] = (value + rows[constant][0], None) if later else (value, error * to_hc0)
    _write(output, rows, *zip(*rows.values(), strict=True))


def _write(output: str, names, estimates, errors) -> None:
    rows = {
        name: (float(b), None if e is None else float(e))
        for name, b, e in zip(names, estimates, errors, strict=True)
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(rows, file)


def read(output: str, way: str) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Estimate and standard error by quantity and term; a term that no row carries has none."""
    if way in (OURS, PYTHON, TABLE):
        with open(output, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {
            (row["quantity"], row["term"]): (float(row["estimate"]), float(row["std_error"]))
            for row in rows
        }
    with open(output, newline="", encoding="utf-8") as file:
        if way == R:
            numbers = {
                name: (float(estimate), float(error)) for name, estimate, error in csv.reader(file)
            }
        else:
            numbers = json.load(file)
    found = {}
    for name, pair in numbers.items():
        factor, level, slope = re.fullmatch(r"(\w+)\[(?:T\.)?(.+?)\](:gt_unit)?", name).groups()
        found["slope" if slope else QUANTITIES[factor], level] = pair
    return found


def largest_difference(one: dict, other: dict) -> float:
    """Of any estimate, and of any standard error that both have; infinite where one has a term that
    the other has not.
    """
    if one.keys() != other.keys():
        return float("inf")
    pairs = [pair for key in one for pair in zip(one[key], other[key], strict=True)]
    return max(abs(a - b) for a, b in pairs if a is not None and b is not None)


def main() -> None:
    """Measure every way in turn and print the table."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="engine=python",
        help=f"engine: {' or '.join(OTHERS)}",
    )
    given = parser.parse_args()
    pythons = dict(argument.split("=", 1) for argument in given.python)
    with tempfile.TemporaryDirectory() as folder:
        measure(step_from(__file__, "prepare", folder))
        outputs = {way: f"{folder}/{number}.out" for number, way in enumerate([OURS, *WAYS])}
        fit = [
            sys.executable,
            "-m",
            "recuse",
            "fit",
            f"{folder}/raw.csv",
            "--study",
            STUDY,
            "--output",
            outputs[OURS],
        ]
        commands = {OURS: fit}
        for way in WAYS:
            if way in OTHERS and way not in pythons:
                print(
                    f"{way} is left out: give --python {way}=<a Python that has it, see"
                    f" benchmarks/requirements-{way}.txt>"
                )
            else:
                commands[way] = step_from(
                    __file__, way, folder, outputs[way], python=pythons.get(way, sys.executable)
                )
        if shutil.which("Rscript"):
            outputs[R] = f"{folder}/r.csv"
            commands[R] = ["Rscript", f"{ROOT}/benchmarks/equation1.R", folder, outputs[R]]
        measured = in_turn(commands, given.runs, environment={"PYTHONPATH": str(LIBRARY)})
        found = {way: read(outputs[way], way) for way in commands}
    print_machine(("numpy", "duckdb", "pandas", "statsmodels"))
    print_ways(measured, found)


def print_ways(measured: dict[str, list], found: dict[str, dict]) -> None:
    """Print what each way took, its ratio to ours round by round, and how far its numbers are from
    ours.
    """
    rows = []
    for way, runs in measured.items():
        wall, processor, peak, _ = medians(runs)
        middle, low, high = ratios(runs, measured[OURS])
        of_processor, _, _ = ratios(runs, measured[OURS], "processor")
        ratio = f"{middle:.1f}", f"{low:.1f} to {high:.1f}", f"{of_processor:.1f}"
        difference = largest_difference(found[way], found[OURS])
        equal = f"{difference:.1e}" + ("" if difference <= EQUAL else " NOT EQUAL")
        rows.append((way, f"{wall:.2f}", f"{processor:.2f}", f"{peak:.0f}", *ratio, equal))
    print_table(
        (
            "",
            "wall s",
            "cpu s",
            "peak MiB",
            "wall ratio",
            "of runs",
            "cpu ratio",
            "largest difference",
        ),
        rows,
    )


WAYS = {
    PYTHON: fit_in_python,
    TABLE: fit_from_table,
    FORMULA: fit_by_formula,
    DENSE: fit_dense,
    "pyfixest": fit_by_pyfixest,
    "duckreg": fit_by_duckreg,
    "linearmodels": fit_by_linearmodels,
}

if __name__ == "__main__":
    run_step_or(main, {"prepare": prepare, **WAYS})
