"""Which coefficients a logistic likelihood determines, and which it drives to infinity: from design and counts alone."""

import numpy as np

from judgebias.errors import DesignError

RANK_TOLERANCE = 1e-10  # of the largest eigenvalue of the scaled C'C: below it, a direction changes no contrast
ROUNDING = 1e-6  # of a direction's largest entry: a smaller one is 0


def span(contrasts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split the parameter space into directions that change some contrast and directions that change none.

    contrasts: (contrasts, parameters). Returns (parameters, r) and (parameters, parameters - r), r the rank; the largest entry
    of each direction of the second kind is 1.
    """
    gram = contrasts.T @ contrasts
    norms = np.sqrt(gram.diagonal())
    scale = 1 / np.where(norms > ROUNDING * norms.max(initial=0.0), norms, 1.0)  # what is 0 but for rounding stays so
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    informed = values > RANK_TOLERANCE * values.max(initial=0.0)
    directions = scale[:, None] * vectors
    free = directions[:, ~informed]
    return directions[:, informed], free / np.abs(free).max(axis=0, initial=0.0)


def determined(contrasts: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Contrasts, (contrasts, parameters), that no direction of `free`, as `span` returns it, changes: (contrasts,) of bool."""
    return (np.abs(contrasts @ free) < ROUNDING).all(axis=1)


def recession(contrasts: np.ndarray, rises: np.ndarray, falls: np.ndarray) -> np.ndarray:
    """Find a direction d, (parameters,), along which a separated likelihood rises for ever; zeros where it is not separated.

    The log-likelihood is a sum over contrasts c, (contrasts, parameters), of concave terms that increase in c p towards 0 where
    `rises`, and of such that decrease in it where `falls`, (contrasts,) of bool. It has no maximum if there is a d with
    c d >= 0 wherever it rises, c d <= 0 wherever it falls, and one of these not 0. The d returned has |c d| >= 1 for every
    contrast that any such direction moves: in the limit these terms are 0, and the others, with c d = 0, have a maximum.
    Source: Albert and Anderson (1984); found by linear programming, Konis (2007); the limit, Geyer (2009).
    Contrasts that both rise and fall fix c d = 0. Mostly they leave nothing free, and no linear program is solved.
    """
    basis, _ = span(contrasts[rises | falls])
    _, free = span(contrasts[rises & falls] @ basis)
    one_sided = rises ^ falls
    signs = np.where(rises, 1.0, -1.0)[one_sided]
    gains = signs[:, None] * (contrasts[one_sided] @ basis @ free)
    if gains.size == 0:
        return np.zeros(contrasts.shape[1])
    return basis @ free @ _most_gains(gains)


def _most_gains(gains: np.ndarray) -> np.ndarray:
    """Solve for v with gains @ v >= 0, and >= 1 in as many rows as can be: maximise sum t, 0 <= t <= 1, gains @ v >= t."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    rows, free = gains.shape
    solution = linprog(
        np.repeat([0.0, -1.0], [free, rows]),
        A_ub=hstack([csr_array(-gains), eye_array(rows)]).tocsr(),
        b_ub=np.zeros(rows),
        bounds=[(None, None)] * free + [(0.0, 1.0)] * rows,
        method="highs",
    )
    if not solution.success:
        raise DesignError(f"the linear program that looks for separated ratings was not solved: {solution.message}")
    return solution.x[:free]
