"""What `recuse.ratings` and `recuse.pairs` make: rows that were read and checked, whose results are
made when they are first asked for.
"""

import os
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from html import escape
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Generic, TypeVar

from recuse.arguments import ONE_AT_A_TIME, argument_named, tell
from recuse.base.database import connect, files
from recuse.base.errors import DataError
from recuse.base.log import listening
from recuse.base.settings import named_as_arguments
from recuse.base.tables import read_table
from recuse.base.words import counted, visible
from recuse.data.cells import Need
from recuse.data.registry import IMPORTED
from recuse.inputs import Inputs
from recuse.pipeline import PairsPipeline, Pipeline, RatingsPipeline, in_folder, pipeline
from recuse.results import frame

if TYPE_CHECKING:
    import pandas as pd

    from recuse.check.facts import Finding

AnyPipeline = TypeVar("AnyPipeline", bound=Pipeline)


class Checked(Generic[AnyPipeline]):
    """Rows that were read and checked, and their results, in a folder of temporary files that goes
    with the object.
    """

    def __init__(self, inputs: Inputs) -> None:
        """Read and check the rows; nothing is left if an error is raised."""
        self.study, self._folder = inputs.study.name, mkdtemp(prefix="recuse-")
        self._found: list[Finding] | None = None
        self._is_open = False  # within `results`, which holds the lock
        remove = weakref.finalize(self, _remove, self._folder, os.getpid())
        try:
            with ONE_AT_A_TIME, listening() as lines, in_folder(inputs, self._folder):
                self._results: AnyPipeline = pipeline(inputs, self._folder)
                self._results.inputs = self._results.inputs._replace(frames={})
                self._count()
        except BaseException:
            remove()
            raise
        for line in lines:
            tell(line.removeprefix("warning: "))

    def __reduce__(self) -> str:
        """Refuse to be copied or pickled: the folder of tables goes with this object."""
        raise DataError(
            "an object of recuse cannot be copied, as its tables go with it; use the object itself"
        )

    @property
    def imported(self) -> "pd.DataFrame":
        """What was read: rows, failed judgments by reason, repeats, words read as numbers, human
        scores.
        """
        path = f"{self._folder}/imported.csv"
        return frame(IMPORTED, read_table(path) if os.path.exists(path) else [])

    @property
    def has_gold_labels(self) -> bool:
        """Whether the reference are labels by a key, right or wrong, not scores by people."""
        return self._results.study.has_gold_labels()

    @contextmanager
    def results(self) -> Iterator[AnyPipeline]:
        """The results, of which one thread of one process at a time makes more."""
        with named_as_arguments(argument_named), ONE_AT_A_TIME:
            if self._is_open:
                yield self._results
                return
            with open(f"{self._folder}/lock", "w") as lock:
                flock(lock, LOCK_EX)
                with in_folder(self._results.inputs, self._folder, reads_inputs=False):
                    self._is_open = True
                    try:
                        yield self._results
                    finally:
                        self._is_open = False

    def findings(self) -> "list[Finding]":
        """What the data support, most important first."""
        if self._found is None:
            with self.results() as results:
                self._found = results.findings()
        return self._found

    def _count(self) -> None:
        raise NotImplementedError

    def _shown(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Counts."""
        return visible(f"{type(self).__name__}: {self._shown()}")

    def _repr_html_(self) -> str:
        """Counts, and what the data support."""
        supported = [finding.words for finding in self.findings() if finding.topic == "verdict"]
        listed = "".join(f"<li>{escape(visible(words))}</li>" for words in supported)
        return f"<p>{escape(repr(self))}</p><ul>{listed}</ul>"


class Ratings(Checked[RatingsPipeline]):
    """Ratings of single answers, read and checked; made by `ratings`."""

    def _count(self) -> None:
        study = self._results.tables
        cells = study.cells()
        self._names = {
            name: [str(level) for level in dict.fromkeys(cells.factors[name].tolist())]
            for name in ("judge", "model", "dimension")
        }
        self._rows = int(cells.counts.sum())
        self._prompts = None if Need.PROMPTS in study.lacks else self._results.prompts
        self._results.release()
        families = zip(cells.factors["model"], cells.factors["model_family"], strict=True)
        self.families: dict[str, str] = {
            str(model): str(family) for model, family in sorted(set(families))
        }
        self.has_human_scores: bool = study.scored.has_human_scores

    @property
    def judges(self) -> list[str]:
        """Their names, by alphabet."""
        return sorted(self._names["judge"])

    @property
    def models(self) -> list[str]:
        """Names of the models whose answers are rated, by alphabet."""
        return sorted(self._names["model"])

    @property
    def dimensions(self) -> list[str]:
        """What is rated."""
        return sorted(self._names["dimension"])

    def __len__(self) -> int:
        """The number of complete ratings."""
        return self._rows

    def to_pandas(self) -> "pd.DataFrame":
        """The complete ratings, one in a row, with names as the fits use them, in the units of what
        was passed.
        """
        from recuse.data.cells import read_levels
        from recuse.data.ratings import in_units

        with self.results() as results:
            ratings = results.tables.ratings
            levels = read_levels(ratings[0])
            steps = dict(zip(levels.dimension, levels.step, strict=False))  # none if all are 1
            columns = ("rating", "gt", "scale_low", "scale_high")
            return connect().execute(in_units(ratings, steps, columns)).df()

    def _shown(self) -> str:
        kind = "gold labels" if self.has_gold_labels else "human scores"
        human = f"with {kind}" if self.has_human_scores else "no human scores"
        prompts = "" if self._prompts is None else f" on {counted(self._prompts, 'prompt')}"
        return (
            f"{counted(self._rows, 'rating')} by {counted(len(self.judges), 'judge')} of"
            f" {counted(len(self.models), 'model')}{prompts} in"
            f" {counted(len(self.dimensions), 'dimension')}; {human}"
        )

    def _repr_html_(self) -> str:
        """Counts, and what the data support; of ratings without prompts, counts alone."""
        if self._prompts is None:
            return f"<p>{escape(repr(self))}</p>"
        return super()._repr_html_()


class Pairs(Checked[PairsPipeline]):
    """Verdicts on two answers, read and checked; made by `pairs`."""

    def _count(self) -> None:
        kept = files([self._results.comparisons])
        models = "select model_a from kept union select model_b from kept"
        counts = f"""
            with kept as (from {kept})
            select count(*), count(distinct judge), count(distinct item), (select count(*) from ({models})), count(human)
            from kept"""
        self._verdicts, self._judges, self._items, self._models, self._labels = (
            connect().execute(counts).fetchone()
        )

    def __len__(self) -> int:
        """The number of verdicts."""
        return self._verdicts

    def _shown(self) -> str:
        human = "with human verdicts" if self._labels else "no human verdicts"
        return (
            f"{counted(self._verdicts, 'verdict')} by {counted(self._judges, 'judge')} on"
            f" {counted(self._items, 'question')}, of {counted(self._models, 'model')}; {human}"
        )


def _remove(folder: str, process: int) -> None:
    """Remove a folder, unless this is a process that shares the object with the one that made
    it.
    """
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
