"""The levels of judges: which judges shared answers link, and how much higher each rates the same
answers.

All comes from sums over prompts, kept in FOLDS parts of the prompts: leaving a part out gives
standard errors. Ratings are on the unit scale. An answer is a model's to a prompt, on one occasion,
rated in one dimension.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recuse.base.errors import check_known
from recuse.data.cells import Factors
from recuse.data.moments import RowBlock
from recuse.data.selection import EVERY_ROW
from recuse.data.study import StudyTables
from recuse.model.least_squares import connected_parts
from recuse.model.prompt_sums import SliceCells, add_prompts, places_of_sums

OCCASIONS = 2**24  # above the number of occasions of a prompt
FOLDS = 20  # parts of the prompts, by their codes in turn, so that each dataset is in each part
NOTHING = 1e-10  # share of the largest eigenvalue, below which a direction holds no information
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Crossing:
    """Which judges rate which models in which dimensions; only judges whose levels can be
    compared.
    """

    dimensions: np.ndarray  # (D,) of str
    models: np.ndarray  # (M,) of str
    judges: np.ndarray  # (J,) of str
    family: np.ndarray  # (M,) of str, of each model
    related: np.ndarray  # (M, J) of bool: the model is the judge, or of its family
    groups: np.ndarray  # places of the study's groups of rows that these judges rate
    cells: np.ndarray  # place of each of these in the raveled (D, M, J)
    folds: int

    @classmethod
    def of(
        cls,
        factors: Factors,
        judges: Sequence[str],
        folds: int,
        *,
        kept: np.ndarray | bool = True,
    ) -> "Crossing":
        """The crossing of some judges in groups of rows with these factors; kept: which groups
        count.
        """
        groups = np.flatnonzero(np.isin(factors["judge"], judges) & kept)
        names = {name: values[groups] for name, values in factors.items()}
        (dimensions, _, dimension), (models, of_model, model), (judges, of_judge, judge) = (
            np.unique(names[name], return_index=True, return_inverse=True)
            for name in ("dimension", "model", "judge")
        )
        family = names["model_family"][of_model]
        is_sibling = family[:, None] == names["judge_family"][of_judge]
        related = is_sibling | (models[:, None] == judges)
        shape = (len(dimensions), len(models), len(judges))
        cells = np.ravel_multi_index((dimension, model, judge), shape)
        return cls(dimensions, models, judges, family, related, groups, cells, folds)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(D, M, J)."""
        return len(self.dimensions), len(self.models), len(self.judges)

    def arrays(self, sums: np.ndarray) -> Arrays:
        """Whether there is a rating, the rating and the human score, (prompts, D, M, J) each, of
        sums by `sum_by_prompt`.
        """
        present, rating, human = (
            sums[:, place].reshape(-1, *self.shape) for place in places_of_sums(2)
        )
        return present > 0, rating, human

    def passed(self, study: StudyTables, *takers: object) -> None:
        """Pass once over the rows of the study; each taker adds the sums of prompts."""
        factors = study.moments().factors
        design = SliceCells(self.groups, self.cells, int(np.prod(self.shape)))
        blocks = map(by_occasion, study.row_blocks(EVERY_ROW, factors))
        add_prompts([(design, takers)], blocks, len(factors["judge"]))

    def fold_numbers(self, codes: np.ndarray) -> np.ndarray:
        """The fold of each code of a prompt and occasion, as `add` of a taker is given: occasions
        of a prompt are in one.
        """
        return codes // OCCASIONS % self.folds


def by_occasion(block: RowBlock) -> RowBlock:
    """The rows of a block with OCCASIONS x prompt + occasion in place of the prompt, in its order:
    an answer has one code.
    """
    code = block.prompt.astype(np.int64) * OCCASIONS
    if block.occasion is None or not block.occasion.any():
        return replace(block, prompt=code)
    code += block.occasion
    return replace(block, prompt=code).select(np.argsort(code, kind="stable"))


class LinkedJudges:
    """Judges whose levels can be compared, and what these follow from, by fold: answers that two
    judges rated, and their deviations on these.

    Only ratings of models that are not of the judge's family count.
    """

    def __init__(self, crossing: Crossing, everyone: np.ndarray) -> None:
        """Start without prompts; everyone: the judges of the study."""
        dimensions, models, judges = crossing.shape
        self.crossing = crossing
        self.unlinked = np.setdiff1d(everyone, crossing.judges).tolist()
        self.gram = np.zeros((crossing.folds, dimensions, judges, judges))
        self.right = np.zeros((crossing.folds, dimensions, judges))
        # Ratings, those of the judge's own family among them
        self.number = np.zeros((crossing.folds, models, judges))
        # Rows, and sums of ratings y, human scores h, y h and h^2.
        self.line = np.zeros((5, dimensions, judges))

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        present, rating, human = self.crossing.arrays(sums)
        counted = (present & ~self.crossing.related).astype(float)
        share = counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1)
        within = counted * (rating - (share * rating).sum(axis=-1, keepdims=True))
        fold = self.crossing.fold_numbers(prompts)
        own = counted.sum(axis=2)[..., None] * np.eye(counted.shape[-1])
        np.add.at(self.gram, fold, own - counted.swapaxes(2, 3) @ share)
        np.add.at(self.right, fold, within.sum(axis=2))
        np.add.at(self.number, fold, present.sum(axis=1))
        powers = (1.0, rating, human, rating * human, human**2)
        self.line += np.stack([(counted * power).sum(axis=(0, 2)) for power in powers])

    @cached_property
    def levels(self) -> np.ndarray:
        """Levels of judges by all prompts, (D, J)."""
        return self.levels_in(slice(None))

    def levels_in(self, folds: np.ndarray | slice) -> np.ndarray:
        """Levels a_jd, (D, J), of least squares of rating = answer + a_jd over these folds; their
        mean is 0 in a dimension.
        """
        gram, right = self.gram[folds].sum(axis=0), self.right[folds].sum(axis=0)
        return (np.linalg.pinv(gram, rcond=NOTHING, hermitian=True) @ right[..., None])[..., 0]

    def means(self, levels: np.ndarray) -> np.ndarray:
        """Mean of rating - a_jd in each dimension, (D,)."""
        rows, total = self.line[:2]
        return (total - rows * levels).sum(axis=1) / np.maximum(rows.sum(axis=1), 1)

    def linked(self) -> np.ndarray:
        """Judges whose levels can be compared in every dimension, (J,) of bool: the most that
        shared answers link.

        `gram` is the Laplacian of who shares answers with whom: not 0 where two judges share any.
        """
        kept = np.ones(self.gram.shape[-1], dtype=bool)
        for gram in self.gram.sum(axis=0):
            part = connected_parts(gram != 0)
            kept &= part == np.bincount(part).argmax()
        return kept


def linked_judges(study: StudyTables, *, dimensions: Sequence[str] = ()) -> LinkedJudges | None:
    """The judges of a study that shared answers link, in a pass over its rows; None if fewer than
    two judges share answers.

    dimensions: that count; none: all. Raises ConfigError about a dimension that the study does not
    have.
    """
    factors = study.moments().factors
    check_known(
        ["inference", "panel", "dimensions"],
        dimensions,
        np.unique(factors["dimension"]).tolist(),
        "dimensions",
    )
    kept = np.isin(factors["dimension"], dimensions or factors["dimension"])
    folds = max(1, min(FOLDS, study.prompts))
    judges = everyone = np.unique(factors["judge"][kept])
    while True:
        crossing = Crossing.of(factors, judges, folds, kept=kept)
        found = LinkedJudges(crossing, everyone)
        crossing.passed(study, found)
        linked = found.linked()
        if linked.all():
            return found if len(judges) > 1 else None
        judges = judges[linked]
