"""The tables of one study that fits read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from judgebias.cells import Cells, read_cells
from judgebias.moments import Moments, moments_of_cells, read_moments
from judgebias.spec import Spec

TABLES = ("cells", "references", "moments", "ratings")  # of a study, in the order of its arguments


@dataclass(frozen=True)
class Study:
    """A study by the paths of its tables; each is read when first asked for, once."""

    name: str
    cells: str
    references: str = ""  # cells whose reference is a family's judges; needed by specs with `reference`
    moments: Sequence[str] = ()  # one for each way of normalising the length, <way>.parquet
    ratings: str = ""  # needed by the engine statsmodels alone
    _read: dict[tuple, Cells | Moments] = field(default_factory=dict, repr=False, compare=False)

    def slices(self, spec: Spec) -> Iterator[tuple[str, Cells | Moments]]:
        """Yield (label, rows) of each fit of the spec: group moments for least squares, cells for the other estimators.

        A slice may hold no rows, and is then for the caller to report.
        """
        families = self.judge_families() if spec.reference else [""]
        for family in families:
            rows = self.moments_for(spec, family) if spec.estimator == "least_squares" else self.cells_for(family)
            for label, mask in spec.slices(rows.factors, family):
                yield label, rows.select(mask)

    def judge_families(self) -> list[str]:
        """Return the families that have judges, in alphabetical order."""
        return [str(family) for family in np.unique(self.cells_for().factors["judge_family"])]

    def cells_for(self, reference_family: str = "") -> Cells:
        """Return the cells whose reference is the human score, or the mean rating of a family's judges."""
        path = self.references if reference_family else self.cells
        return self._once(("cells", reference_family), lambda: read_cells(path, reference_family))

    def moments_for(self, spec: Spec, reference_family: str = "") -> Moments:
        """Return the moments of (1, rating, reference), from the cells, or with the length that the spec controls for."""
        if spec.length is None:
            return self._once(("moments", reference_family), lambda: moments_of_cells(self.cells_for(reference_family)))
        path = next(path for path in self.moments if Path(path).stem == spec.length)
        return self._once(("moments", spec.length), lambda: read_moments(path))

    def _once(self, key, read):
        if key not in self._read:
            self._read[key] = read()
        return self._read[key]
