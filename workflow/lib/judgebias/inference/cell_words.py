"""Judge x model cells in words: short where they are many, and exact."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

FEW = 2  # judges and models up to so many are named


@dataclass(frozen=True)
class CellWords:
    """The cells of a slice, in the order of judge and model."""

    judge: np.ndarray  # (cells,) of str
    model: np.ndarray  # (cells,) of str
    kin: np.ndarray  # (cells,) of bool: the model is the judge or of its family

    def listed(self, chosen: np.ndarray, *, named: bool) -> str:
        """Some of the cells, `chosen` (cells,) of bool, as in `A: all 9 models but B; the other 8 judges: all 9 models`.

        All models are those that the judge rates. If not `named`, judges and models are counted: `8 judges: 3 of 9 models`.
        """
        phrases = {str(judge): self._models(self.judge == judge, chosen, named) for judge in np.unique(self.judge[chosen])}
        sizes = Counter(phrases.values())
        # The largest group comes last, so that it can be `the other judges`.
        order = sorted(sizes, key=lambda phrase: named and sizes[phrase] > FEW and sizes[phrase] == max(sizes.values()))
        of_all = len(phrases) == len(np.unique(self.judge))
        return "; ".join(f"{self._judges(phrase, phrases, order, of_all, named)}: {phrase}" for phrase in order)

    def _models(self, mine: np.ndarray, chosen: np.ndarray, named: bool) -> str:
        rated, taken = self.model[mine], chosen[mine]
        count = f"all {len(rated)} models"
        if taken.all() and len(rated) > FEW:
            return count
        if not named:
            return f"{taken.sum()} of {len(rated)} models"
        if taken.any() and (taken == ~self.kin[mine]).all() and taken.sum() > FEW:
            return "all models of other families"
        if 0 < (~taken).sum() < taken.sum():
            return f"{count} but {', '.join(rated[~taken])}"
        return ", ".join(rated[taken])

    @staticmethod
    def _judges(phrase: str, phrases: dict[str, str], order: list[str], of_all: bool, named: bool) -> str:
        judges = [judge for judge, own in phrases.items() if own == phrase]
        if len(judges) > FEW and of_all and len(order) == 1:
            return f"all {len(judges)} judges"
        if not named:
            return f"{len(judges)} judge{'s' if len(judges) > 1 else ''}"
        if len(judges) > FEW and of_all and phrase == order[-1]:
            return f"the other {len(judges)} judges"
        return ", ".join(judges)
