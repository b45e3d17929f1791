"""The tables of one study that fits read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from judgebias.cells import Cells, cells_of_rows, read_cells
from judgebias.lengths import with_normalised_length
from judgebias.moments import Moments, moments_of_cells, moments_of_rows
from judgebias.references import with_family_reference
from judgebias.spec import Spec


@dataclass(frozen=True)
class Study:
    """A study by the paths of its tables; each is read when first asked for, once."""

    name: str
    cells: str
    ratings: str = ""  # needed by specs with a reference or a length, which pass over the rows, and by the engine statsmodels
    _read: dict[tuple, Cells | Moments] = field(default_factory=dict, repr=False, compare=False)

    def slices(self, spec: Spec) -> Iterator[tuple[str, Cells | Moments]]:
        """Yield (label, rows) of each fit of the spec: group moments for least squares, cells for the other estimators.

        A slice may hold no rows, and is then for the caller to report.
        """
        for family in self.judge_families() if spec.reference else [""]:
            rows = self.moments_for(spec, family) if spec.estimator == "least_squares" else self.cells_for(spec, family)
            for label, mask in spec.slices(rows.factors, family):
                yield label, rows.select(mask)

    def judge_families(self) -> list[str]:
        """Return the families that have judges, in alphabetical order."""
        return [str(family) for family in np.unique(self.all_cells().factors["judge_family"])]

    def all_cells(self) -> Cells:
        """Return the cells of all rows, with the human score as reference."""
        return self._once(("cells",), lambda: read_cells(self.cells))

    def cells_for(self, spec: Spec, reference_family: str = "") -> Cells:
        """Return cells that hold the rows of the spec, with the human score or a family's mean rating as reference."""
        if not reference_family:
            return self.all_cells()
        rows = with_family_reference(spec.rows(self.ratings), reference_family)
        return self._once(("cells", rows), lambda: cells_of_rows(rows))

    def moments_for(self, spec: Spec, reference_family: str = "") -> Moments:
        """Return moments that hold the rows of the spec: of (1, rating, reference), and of the length it controls for."""
        if spec.length is not None:
            rows = with_normalised_length(spec.rows(self.ratings), spec.length)
            return self._once(("moments", rows), lambda: moments_of_rows(rows))
        cells = self.cells_for(spec, reference_family)
        return self._once(("moments", id(cells)), lambda: moments_of_cells(cells))

    def _once(self, key, read):
        if key not in self._read:
            self._read[key] = read()
        return self._read[key]
