"""Means on the human scale against ppi-python, and the GAM against pygam.

    python benchmarks/peers.py [--python <python with ppi-python>] [--runs 3]

Means: of 20 models, from the ratings of 5,000 answers each, the first 500 of which have a human
score; ours also has their covariance over prompts, ppi-python their intervals. It gets the tuned
weight that ours finds, so that the means must be equal to 1e-10. GAM: the dimension of the twin
with the fewest rows, a cubic spline of the human score for each judge; ours from cells, and with
smoothing by cross-validation, pygam from rows, with its own default smoothing. CPU seconds are
of the fits without imports, each in a process of its own. Without --python, ppi-python is left
out (requirements-ppi.txt).
"""

import json
import sys
import time

from processes import ONE_THREAD, measure, print_machine, print_table, run_step_or, step_from
from twin import STUDY, make_twin

MODELS, ANSWERS, SCORED, EQUAL = 20, 5_000, 500, 1e-10


def drawn():
    """Human scores and ratings, (models, answers) each."""
    import numpy as np

    random = np.random.default_rng(0)
    human = 0.5 + 0.2 * random.standard_normal((MODELS, ANSWERS))
    return human, 0.6 * human + 0.1 * random.standard_normal(human.shape)


def our_means() -> None:
    """Print seconds, the means, and the weight of the ratings in them."""
    import numpy as np

    from recuse.inference.human_scale import AnswerScores, human_scale_means

    human, rating = drawn()
    human[:, SCORED:] = np.nan
    models = np.arange(MODELS)
    answers = AnswerScores(
        prompt=np.tile(np.arange(ANSWERS), MODELS),
        model=np.repeat(models, ANSWERS),
        dimension=np.zeros(human.size, dtype=int),
        human=human.ravel(),
        panel=rating.ravel(),
        models=models.astype(str),
        dimensions=np.array(["quality"]),
    )
    __import__("scipy.sparse")  # seconds are without imports
    start = time.process_time()
    found = human_scale_means(answers)
    seconds = time.process_time() - start
    weight = float(found.slope[0]) * (1 - SCORED / ANSWERS)
    print(json.dumps([seconds, found.score.tolist(), weight]))


def their_means(weight: str) -> None:
    """Print seconds and the means of ppi-python, with intervals computed as well."""
    import numpy as np
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    human, rating = drawn()
    start, means = time.process_time(), []
    for own, of_model in zip(human[:, :SCORED], rating, strict=True):
        parts = own, of_model[:SCORED], of_model[SCORED:]
        means.append(float(np.ravel(ppi_mean_pointestimate(*parts, lam=float(weight)))[0]))
        ppi_mean_ci(*parts, alpha=0.1, lam=float(weight))
    print(json.dumps([time.process_time() - start, means]))


def our_gam(folder: str) -> None:
    """Print the seconds of our GAM."""
    from recuse.data.cells import read_cells
    from recuse.model.design import design_terms
    from recuse.model.gam import fit_gam

    cells = _fewest(read_cells(f"{folder}/cells.parquet"))
    terms = [term for term in design_terms(cells.factors) if term.carried.any()]
    start = time.process_time()
    fit_gam(cells, terms, covariance="HC0")
    print(json.dumps([time.process_time() - start]))


def their_gam(folder: str) -> None:
    """Print the seconds of pygam."""
    from functools import reduce
    from operator import add

    import numpy as np
    from pygam import LinearGAM, s

    from recuse.data.cells import read_cells

    cells = _fewest(read_cells(f"{folder}/cells.parquet"))
    judges = np.unique(cells.factors["judge"])
    of_judge = cells.factor("judge")[:, None] == judges
    cell, rating = np.nonzero(cells.counts)
    times = cells.counts[cell, rating]
    features = np.column_stack([cells.reference, of_judge])[np.repeat(cell, times)]
    ratings = np.repeat(cells.ratings_unit[cell, rating], times)
    curves = reduce(add, (s(0, by=1 + place) for place in range(len(judges))))
    start = time.process_time()
    LinearGAM(curves).fit(features, ratings)
    print(json.dumps([time.process_time() - start]))


def _fewest(cells):
    """The cells of the dimension with the fewest rows."""
    dimension = cells.factors["dimension"]
    rows = {name: cells.select(dimension == name).n.sum() for name in dict.fromkeys(dimension)}
    return cells.select(dimension == min(rows, key=rows.get))


def fastest(step: str, *arguments: str, runs: int, python: str = sys.executable) -> list:
    """What a step prints, of the run with the fewest seconds."""
    command = step_from(__file__, step, *arguments, python=python)
    printed = [measure(command, environment=ONE_THREAD).printed for _ in range(runs)]
    return min(map(json.loads, printed))


def main() -> None:
    """Measure both pairs and print the table."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print_machine(("numpy", "pygam"))
    seconds, scores, weight = fastest("our_means", runs=given.runs)
    rows = [("means: ours", seconds, "")]
    if given.python is not None:
        means = "their_means", str(weight)
        theirs, found = fastest(*means, runs=given.runs, python=given.python)
        gap = max(abs(one - other) for one, other in zip(scores, found, strict=True))
        rows.append(
            ("means: ppi-python", theirs, f"{gap:.1e}{'' if gap < EQUAL else ' NOT EQUAL'}")
        )
    with tempfile.TemporaryDirectory() as folder:
        measure(step_from(__file__, "make_twin", folder))
        for name, step in (("GAM: ours", "our_gam"), ("GAM: pygam", "their_gam")):
            rows.append((name, *fastest(step, folder, runs=given.runs), ""))
    print(f"{STUDY}, {MODELS} models")
    table = [(name, f"{seconds:.4f}", gap) for name, seconds, gap in rows]
    print_table(("", "cpu s of the fit", "largest difference"), table)


if __name__ == "__main__":
    steps = (make_twin, our_means, their_means, our_gam, their_gam)
    run_step_or(main, {step.__name__: step for step in steps})
