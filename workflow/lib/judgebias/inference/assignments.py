"""Own-ness reassigned: which mean residual would judges have for models that are neither themselves nor of their family?"""

from dataclasses import dataclass

import numpy as np

BATCH, BATCHES = 20_000, 50  # assignments drawn at a time, and how often at most: few may hit the cells that they must
SINGULAR = 1e-9  # smallest eigenvalue: below it, the cells that are left do not identify all that are assigned


@dataclass(frozen=True)
class Assignments:
    """Random assignments of a model to each judge, none twice, all in the cells of an additive fit."""

    cells: np.ndarray  # (draws, judges) places of the assigned cells among those of the fit
    weights: np.ndarray  # (draws, judges) of the cells' residuals in the standardised mean

    def means(self, residuals: np.ndarray) -> np.ndarray:
        """Mean residual of the assigned cells from the fit to the others, in sd of a cell over its standard error, (draws,).

        residuals: (cells,) of the fit to all. Those from a fit without a set T are M_TT^-1 e_T, M = I - H; their mean has the
        variance 1' M_TT^-1 1 / |T|^2 in units of a cell's variance.
        """
        return (self.weights * residuals[self.cells]).sum(axis=1)


def draw_assignments(place: np.ndarray, leftover: np.ndarray, *, draws: int, seed: int) -> Assignments:
    """Draw assignments uniformly from those possible; fewer than `draws`, or none, where hardly any is.

    place: (judges, models) of each cell among those of the fit, -1 where there is none. leftover: M = I - H of the fit.
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    judges, models = place.shape
    found, count = [], 0
    for _ in range(BATCHES if draws and 0 < judges <= models and (place >= 0).any(axis=1).all() else 0):
        order = generator.permuted(np.tile(np.arange(models), (BATCH, 1)), axis=1)[:, :judges]
        cells = place[np.arange(judges), order]
        cells = cells[(cells >= 0).all(axis=1)]
        blocks = leftover[cells[:, :, None], cells[:, None, :]]
        found.append(cells[np.linalg.eigvalsh(blocks)[:, 0] > SINGULAR] if len(cells) else cells)
        count += len(found[-1])
        if count >= draws:
            break
    cells = np.concatenate([np.empty((0, judges), dtype=np.int64), *found])[:draws]
    blocks = leftover[cells[:, :, None], cells[:, None, :]]
    solved = np.linalg.solve(blocks, np.ones((*cells.shape, 1)))[..., 0]
    return Assignments(cells, solved / np.sqrt(solved.sum(axis=1, keepdims=True)))
