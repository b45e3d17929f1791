"""The tables of one study that fits read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judgebias.cells import read_cells
from judgebias.moments import Moments, moments_of_cells, read_moments
from judgebias.spec import Spec


@dataclass(frozen=True)
class Study:
    """A study by the paths of its tables; each is read when first asked for, once."""

    name: str
    cells: str
    moments: Sequence[str] = ()  # one for each way of normalising the length, <way>.parquet
    ratings: str = ""  # needed by the engine statsmodels alone
    _read: dict[str | None, Moments] = field(default_factory=dict, repr=False, compare=False)

    def moments_for(self, spec: Spec) -> Moments:
        """Return the moments of (1, rating, reference), from the cells, or with the length that the spec controls for."""
        if spec.length not in self._read:
            self._read[spec.length] = (
                moments_of_cells(read_cells(self.cells))
                if spec.length is None
                else read_moments(next(path for path in self.moments if Path(path).stem == spec.length))
            )
        return self._read[spec.length]
