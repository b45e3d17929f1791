"""The tables of one study, read as fits need them: as cells, moments and rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from recuse.base.database import connect, files, text
from recuse.base.reasons import Reason, code
from recuse.data.cells import Cells, Factors, Levels, Need, cells_of_rows, read_cells, read_levels
from recuse.data.doubts import Doubt, answers_by_judge, doubts
from recuse.data.moments import (
    Blocks,
    Moments,
    PromptRange,
    RowBlock,
    blocks_by_judges,
    moments_by_judges,
    moments_of_cells,
    moments_of_rows,
    prompt_ranges,
    row_blocks,
)
from recuse.data.selection import (
    EVERY_ROW,
    NORMALISATIONS,
    REFERENCE_FAMILY,
    Selection,
    length_sets,
    with_family_references,
    with_normalised_length,
    with_panel_references,
)

# Prompts with human scores: with fewer, nothing is concluded from a comparison with people
LEAST_SCORED = 10


class Reference(Enum):
    """Which rows count, and what stands for the human scores of their answers."""

    HUMAN_OR_NONE = 1  # All rows; without human scores if only some have one.
    HUMAN = 2  # The rows with a human score.
    PANEL = 3  # All rows; the mean rating of the answer by all judges.
    PANEL_OF_SCORED = 4  # The same mean, of the rows with a human score.


@dataclass(frozen=True)
class View:
    """How a study is read: with which reference, and without which judges."""

    reference: Reference = Reference.HUMAN_OR_NONE
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyTables:
    """A study by the paths of its tables, each read once, when needed, for all views of it.

    If some of its rows have human scores and others have none, it is read as if none had any, so
    that all ratings count and are treated alike; what compares judges with people reads `scored`.
    """

    name: str
    cells_from: str | Cells  # the path of the table of cells, or the cells
    # The path of the ratings, or of their shards, for what cells do not hold; or what writes them
    # when they are needed, and returns the path
    ratings_from: Sequence[str] | Callable[[], Sequence[str]] = ()
    view: View = View()
    # If known without reading the ratings: their levels, and what finds the doubts
    levels: Levels | None = None
    find_doubts: Callable[[], Sequence[Doubt]] | None = None
    # Shared by all views: a key of what depends on the view has it, or SQL for its rows
    _read: dict[tuple, object] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_files(cls, *, study: str, cells: str, ratings: Sequence[str]) -> "StudyTables":
        """The tables of a study at these paths."""
        return cls(study, cells, ratings)

    def __post_init__(self) -> None:
        """Raise TypeError about one path instead of a list of paths."""
        if isinstance(self.ratings_from, str):
            raise TypeError(
                f"ratings: found the path '{self.ratings_from}'; write a list, of this file or of all"
                " shards"
            )

    @property
    def ratings(self) -> Sequence[str]:
        """The paths of the ratings."""
        return self.ratings_from() if callable(self.ratings_from) else self.ratings_from

    def with_reference(self, reference: Reference) -> "StudyTables":
        """The study with another reference."""
        return replace(self, view=replace(self.view, reference=reference))

    @property
    def prompts(self) -> int:
        """Number of prompts of the whole study: the codes of prompts in `row_blocks` are below
        it.
        """
        return self._once(
            ("prompts",),
            lambda: 1 + max((span.last for span in prompt_ranges(self.ratings)), default=-1),
        )

    @property
    def has_human_scores(self) -> bool:
        """Whether its rows have human scores that count: all rows, or none."""
        return self.cells().has_reference

    @property
    def is_partly_scored(self) -> bool:
        """Whether some of its rows, but not all, have human scores."""
        lacking = np.isnan(self.every_cell.reference)
        return bool(lacking.any() and not lacking.all())

    @property
    def scored(self) -> "StudyTables":
        """The rows with human scores, if these are on LEAST_SCORED prompts or more; otherwise, and
        if all rows or none have scores, the study itself.
        """
        if not self.is_partly_scored or self.scored_prompts < LEAST_SCORED:
            return self
        return self.with_reference(Reference.HUMAN)

    @property
    def lacks(self) -> set[Need]:
        """What its ratings do not say, which is all of it where there are cells alone."""
        if not self.ratings_from:
            return {*Need}
        return {*self._levels.lacks}

    @property
    def doubts(self) -> Sequence[Doubt]:
        """Why there is no verdict on some judges, by all rows."""
        find = self.find_doubts or self._find_doubts
        return self._once(("doubts",), find) if self.ratings_from else ()

    @property
    def independent(self) -> "StudyTables":
        """The rows that compare judges with one another: without those of a judge whose ratings
        are a copy of others'.
        """
        copies = [
            doubt.judge for doubt in self.doubts if code(doubt.reason) is Reason.COPIED_RATINGS
        ]
        return replace(self, view=replace(self.view, without=tuple(copies))) if copies else self

    @property
    def scored_prompts(self) -> int:
        """Number of prompts with a human score, in the rows of all judges."""
        query = f"select count(distinct prompt) from {files(self.ratings)} where gt is not null"
        return self._once(("scored prompts",), lambda: connect().execute(query).fetchone()[0])

    @property
    def every_cell(self) -> Cells:
        """Cells of all rows by the human scores that they have."""
        cells = self._once(("all cells",), self._read_cells)
        if not self.view.without:
            return cells
        kept = ~np.isin(cells.factors["judge"], self.view.without)
        return self._once(("every cell", self.view.without), lambda: cells.select(kept))

    def cells(self, selection: Selection = EVERY_ROW) -> Cells:
        """Return cells of all rows or, if a family's mean rating is the reference, of the rows of a
        selection, by family.

        Of a selection of one wording or replicate they are those of its rows.
        """
        if selection.reference is not None or selection.asked is not None or self._is_by_panel:
            by = {} if selection.reference is None else {"by": REFERENCE_FAMILY}
            rows = [self._rows(selection, span) for span in prompt_ranges(self.ratings)]
            return self._once(("cells", *rows), lambda: cells_of_rows(rows, self._levels, **by))
        if not self.is_partly_scored:
            return self.every_cell
        part = "scored" if self.view.reference is Reference.HUMAN else "unscored"
        return self._once(("cells", self.view), lambda: getattr(self.every_cell, part))

    def moments(self, selection: Selection = EVERY_ROW, *, by_cell: bool = False) -> Moments:
        """Return moments of a selection's rows: of (1, rating, reference), and of the length, if it
        has one.

        With `absorb`, groups are split by the judges that rated a completion. by_cell: a group for
        each cell, without length or `absorb`, so that the rows of a group have one reference.
        """
        if selection.absorb is not None:
            key = ("judged by", self.rows(selection), selection.length, selection.reference)
            covariates = 1 if selection.length is None else 2
            return self._once(
                key, lambda: moments_by_judges(*self._unsplit(selection), covariates=covariates)
            )
        if selection.length is not None:
            rows = [self._rows(selection, span) for span in prompt_ranges(self.ratings)]
            return self._once(("moments", *rows), lambda: moments_of_rows(rows, self._levels))
        cells = self.cells(selection)
        return self._once(
            ("moments", id(cells), by_cell), lambda: moments_of_cells(cells, by_cell=by_cell)
        )

    def row_blocks(self, selection: Selection, factors: Factors) -> Iterator[RowBlock]:
        """Yield the rows of `moments`, some prompts at a time; their groups are numbered as in
        `factors` of these.
        """
        if selection.absorb is not None:
            return self._blocks(
                "split",
                selection,
                factors,
                lambda: blocks_by_judges(*self._unsplit(selection), factors),
            )
        level, length, families = "0::utinyint", "", []
        if selection.reference is not None:
            families = [str(family) for family in np.unique(factors[REFERENCE_FAMILY])]
            level = f"list_position([{', '.join(map(text, families))}], {REFERENCE_FAMILY}) - 1"
        elif selection.length is not None:
            length = ", x"
        # Rows that are joined are in no order
        joined = (
            selection.reference is not None or selection.length is not None or self._is_by_panel
        )

        def rows_in(span: PromptRange) -> str:
            # As in moments
            columns = (
                f"prompt, group_code, {level}, occasion_code, rating_unit, coalesce(gt_unit,"
                f" 0){length}"
            )
            return (
                f"select {columns} from"
                f" ({self._rows(selection, span)}){' order by prompt' if joined else ''}"
            )

        return self._blocks(
            "rows",
            selection,
            factors,
            lambda: row_blocks(self.ratings, rows_in, factors, by=families),
        )

    def _blocks(
        self,
        kind: str,
        selection: Selection,
        factors: Factors,
        read: Callable[[], Iterable[RowBlock]],
    ) -> Iterator[RowBlock]:
        """The blocks of this view's latest selection of this kind, kept if they are few; slices
        make no difference.
        """
        key, place = replace(selection, slice=None, whole=False), ("blocks", kind, self.view)
        latest, numbered, blocks = self._read.get(place, (None, None, None))
        if latest != key or numbered is not factors:
            blocks = Blocks(read)
            self._read[place] = key, factors, blocks
        return iter(blocks)

    def rows(self, selection: Selection, span: PromptRange | None = None) -> str:
        """SQL for the rows of a selection, in some prompts or all, with the human scores that
        count.
        """
        paths, prompts = self.ratings, None
        if span is not None:
            paths, prompts = [span.path], (span.first, span.last)
        rows = selection.rows(paths, prompts=prompts)
        if without := self.view.without:
            rows = f"select * from ({rows}) where judge not in ({', '.join(map(text, without))})"
        if self._is_by_panel:
            only_scored = self.view.reference is Reference.PANEL_OF_SCORED
            return with_panel_references(rows, self._levels, only_scored=only_scored)
        if self.view.reference is Reference.HUMAN:
            return f"select * from ({rows}) where gt is not null"
        if not self.is_partly_scored:
            return rows
        nothing = ", ".join(f"null as {name}" for name in ("gt", "gt_unit", "reference_code"))
        return f"select * replace ({nothing}) from ({rows})"

    @property
    def _is_by_panel(self) -> bool:
        return self.view.reference in (Reference.PANEL, Reference.PANEL_OF_SCORED)

    def _read_cells(self) -> Cells:
        is_read = isinstance(self.cells_from, Cells)
        return self.cells_from if is_read else read_cells(self.cells_from)

    def _find_doubts(self) -> list[Doubt]:
        levels = read_levels(self.ratings[0])
        answers = answers_by_judge(connect(), f"from {files(self.ratings)}", levels)
        return doubts(self._once(("all cells",), self._read_cells), answers, levels)

    def _rows(self, selection: Selection, span: PromptRange) -> str:
        """SQL for the rows of a selection in some prompts, with the covariates that cells do not
        hold.
        """
        rows = self.rows(selection, span)
        if selection.reference is not None:
            return with_family_references(rows, self._levels)
        if selection.length is not None:
            return with_normalised_length(rows, selection.length, sets=self._length_sets(selection))
        return rows

    @property
    def _levels(self) -> Levels:
        """The levels of the ratings, without references where rows are read without these."""
        levels = self.levels or self._once(("levels",), lambda: read_levels(self.ratings[0]))
        scored = self.view.reference in (Reference.HUMAN, Reference.PANEL_OF_SCORED)
        return replace(levels, reference=()) if self.is_partly_scored and not scored else levels

    def _unsplit(self, selection: Selection) -> tuple[Iterator[RowBlock], dict[str, np.ndarray]]:
        """Rows and groups of a selection without its `absorb`."""
        whole = replace(selection, absorb=None)
        factors = self.moments(whole).factors
        return self.row_blocks(whole, factors), factors

    def _length_sets(self, selection: Selection) -> str | None:
        """SQL for the mean and sd of all lengths of a selection, if they are taken over more than a
        prompt.
        """
        keys, _ = NORMALISATIONS[selection.length]
        if "prompt" in keys:
            return None
        query = length_sets(self.rows(selection), selection.length)
        lengths = self._once(("lengths", query), lambda: connect().execute(query).fetchone())
        # A literal number would be read as a decimal, which may be rounded.
        mean, sd = (
            "null" if value is None else f"{text(repr(value))}::double" for value in lengths
        )
        return f"select {mean} as mean, {sd} as sd"

    def _once(self, key, read):
        if key not in self._read:
            self._read[key] = read()
        return self._read[key]
