"""The tables of one study that fits read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recuse.base.database import connect, text
from recuse.data.cells import Cells, cells_of_rows, read_cells
from recuse.data.levels import levels_of
from recuse.data.moments import (
    Moments,
    PromptRange,
    RowBlock,
    blocks_by_judges,
    moments_by_cell,
    moments_by_judges,
    moments_of_cells,
    moments_of_rows,
    prompt_count,
    prompt_ranges,
    row_blocks,
)
from recuse.data.references import NORMALISATIONS, REFERENCE_FAMILY, length_sets, with_family_references, with_normalised_length
from recuse.model.least_squares import LEVERAGED
from recuse.model.spec import Spec


@dataclass(frozen=True)
class Study:
    """A study by the paths of its tables; each is read when first asked for, once."""

    name: str
    cells: str | Cells  # the path of the table, or what it would hold
    ratings: Sequence[str] = ()  # one file, or its shards; for specs with a reference or a length, and the engine statsmodels
    _read: dict[tuple, Cells | Moments] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise TypeError about one path in the place of a sequence of them: it would be one of letters."""
        if isinstance(self.ratings, str):
            raise TypeError(f"ratings: found the path '{self.ratings}'; write a list, of this file or of all shards")

    def slices(self, spec: Spec) -> Iterator[tuple[str, Cells | Moments]]:
        """Yield (label, rows) of each fit of the spec: group moments for least squares, cells for the other estimators.

        A slice may hold no rows, and there may be no slice: both are for the caller to report.
        """
        rows = self.moments_for(spec) if spec.estimator == "least_squares" else self.cells_for(spec)
        for label, mask in spec.slices(rows.factors):
            yield label, rows.select(mask)

    @property
    def prompts(self) -> int:
        """Number of prompts, whatever a spec takes of them: the codes of prompts in `row_blocks` are below it."""
        return self._once(("prompts",), lambda: prompt_count(self.ratings))

    @property
    def has_human_scores(self) -> bool:
        """Whether its rows have human scores: all have one, or none has."""
        return self.all_cells().has_reference

    def all_cells(self) -> Cells:
        """Return the cells of all rows, with the human score as reference."""
        return self.cells if isinstance(self.cells, Cells) else self._once(("cells",), lambda: read_cells(self.cells))

    def cells_for(self, spec: Spec) -> Cells:
        """Return cells that hold the rows of the spec, with the human score or, apart, each family's mean as reference."""
        if spec.reference is None:
            return self.all_cells()
        levels = levels_of(self.ratings[0])
        blocks = [with_family_references(_rows(spec, span), levels) for span in prompt_ranges(self.ratings)]
        return self._once(("cells", *blocks), lambda: cells_of_rows(blocks, levels, by=REFERENCE_FAMILY))

    def moments_for(self, spec: Spec) -> Moments:
        """Return moments that hold the rows of the spec: of (1, rating, reference), and of the length it controls for.

        Of a spec with `absorb`, they are apart by the judges that rated a completion.
        """
        if spec.absorb is not None:
            key = ("judged by", spec.rows(self.ratings), spec.length, spec.reference)
            covariates = 1 if spec.length is None else 2
            return self._once(key, lambda: moments_by_judges(*self._not_absorbed(spec), covariates=covariates))
        if spec.length is not None:
            sets = self._length_sets(spec)
            spans = prompt_ranges(self.ratings)
            blocks = [with_normalised_length(_rows(spec, span), spec.length, sets=sets) for span in spans]
            return self._once(("moments", *blocks), lambda: moments_of_rows(blocks, levels_of(self.ratings[0])))
        cells = self.cells_for(spec)
        if spec.covariance in LEVERAGED:
            return self._once(("moments by cell", id(cells)), lambda: moments_by_cell(cells))
        return self._once(("moments", id(cells)), lambda: moments_of_cells(cells))

    def row_blocks(self, spec: Spec, factors: Mapping[str, np.ndarray]) -> Iterator[RowBlock]:
        """Yield the rows behind `moments_for`, some prompts at a time; their groups are numbered as in `factors`, of these."""
        if spec.absorb is not None:
            return blocks_by_judges(*self._not_absorbed(spec), factors)
        families = [str(family) for family in np.unique(factors[REFERENCE_FAMILY])] if spec.reference else []
        levels = levels_of(self.ratings[0])

        def rows_of(span: PromptRange) -> str:
            rows, columns = _rows(spec, span), "rating_unit, coalesce(gt_unit, 0)"  # as in moments
            if spec.reference:
                level = f"list_position([{', '.join(map(text, families))}], {REFERENCE_FAMILY}) - 1"
                rows = with_family_references(rows, levels)
                return f"select prompt, group_code, {level}, {columns} from ({rows}) order by prompt"
            if spec.length:
                rows = with_normalised_length(rows, spec.length, sets=self._length_sets(spec))
                return f"select prompt, group_code, 0::utinyint, {columns}, x from ({rows}) order by prompt"
            return f"select prompt, group_code, 0::utinyint, {columns} from ({rows})"

        return row_blocks(self.ratings, rows_of, factors, by=families)

    def _not_absorbed(self, spec: Spec) -> tuple[Iterator[RowBlock], dict[str, np.ndarray]]:
        """Rows of a spec with `absorb` in the groups, and these, that they have without."""
        whole = replace(spec, absorb=None)
        factors = self.moments_for(whole).factors
        return self.row_blocks(whole, factors), factors

    def _length_sets(self, spec: Spec) -> str | None:
        """SQL for the mean and sd of all lengths of the spec, where they are of more than a prompt."""
        keys, _ = NORMALISATIONS[spec.length]
        if "prompt" in keys:
            return None
        query = length_sets(spec.rows(self.ratings), spec.length)
        mean, sd = self._once(("lengths", query), lambda: connect().execute(query).fetchone())
        return f"select {_double(mean)} as mean, {_double(sd)} as sd"

    def _once(self, key, read):
        if key not in self._read:
            self._read[key] = read()
        return self._read[key]


def _rows(spec: Spec, span: PromptRange) -> str:
    """SQL for the rows of the spec in some prompts."""
    return spec.rows([span.path], prompts=(span.first, span.last))


def _double(value: float | None) -> str:
    """SQL for a number as it is; as a literal it would be a decimal first, which may round it."""
    return "null" if value is None else f"{text(repr(value))}::double"
