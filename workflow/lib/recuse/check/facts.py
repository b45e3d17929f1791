"""What a check reads of a study (cells, completeness, counts of rows) and what it returns: findings in words, with advice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recuse.base.database import connect, files
from recuse.base.tables import read_table
from recuse.data.cells import Cells, levels_of
from recuse.data.study import Study

COUNTS = ("prompts", "absent", "missing_rating", "missing_gt", "missing_length", "used")  # columns of completeness


@dataclass(frozen=True)
class Facts:
    """What is known of a study before any fit."""

    study: Study
    completeness: Mapping[str, np.ndarray]  # dimension, judge, model: (rows,) of str, and COUNTS: (rows,)
    prompts: int  # with a complete row
    shared: int  # ids of prompts that occur in several datasets
    with_length: int  # rows
    whole: int  # completions (dimension, prompt, model) that every judge with a complete row in the dimension rated
    completions: int
    imports: Mapping  # config's `import`, {} if the files have canonical columns
    named: Mapping[str, Sequence[str]]  # config's `families` of the study

    @property
    def cells(self) -> Cells:
        """Cells of all complete rows."""
        return self.study.cells()

    @property
    def present(self) -> np.ndarray:
        """Rows of each dimension, judge and model, complete or not, as in `completeness`."""
        return self.completeness["prompts"] - self.completeness["absent"]

    @property
    def judged(self) -> np.ndarray:
        """Those of `present` with a rating, even if the human score or the length is missing."""
        return self.present - self.completeness["missing_rating"]

    @property
    def step(self) -> float:
        """Step between two ratings, in the units of the user's files."""
        return self.imports.get("step", 1)

    @property
    def rows(self) -> int:
        """Number of complete rows."""
        return int(self.cells.counts.sum())

    def cells_of(self, factor: str, name: str) -> Cells:
        """Cells of one level of a factor."""
        return self.cells.select(self.cells.factors[factor] == name)

    def names(self, factor: str) -> list[str]:
        """Sorted levels of a factor in the complete rows."""
        return list(map(str, np.unique(self.cells.factors[factor])))

    def rows_of(self, factor: str) -> dict[str, int]:
        """Rows of each level, sorted, of dimension, judge or model, complete or not."""
        names, present = self.completeness[factor], self.present
        return {str(name): int(present[names == name].sum()) for name in np.unique(names)}

    def as_one(self, pairs: Sequence[tuple[str, str, str]]) -> "Facts":
        """The facts with spellings merged in `completeness`; pairs: (judge or model, rarer name, other name)."""
        table, other_name = dict(self.completeness), {}
        for _, rare, name in pairs:
            if other_name.get(name) != rare:
                other_name[rare] = name
        for factor in ("judge", "model"):
            for _ in other_name:  # for three spellings or more
                table[factor] = np.array([other_name.get(name, name) for name in table[factor].tolist()], dtype=str)
        keys = np.stack([table["dimension"], table["judge"], table["model"]])
        names, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        sums = {name: np.bincount(place.ravel(), table[name]).astype(int) for name in COUNTS}
        sums["prompts"] = table["prompts"][first]  # of the dimension
        sums["absent"] = sums["prompts"] - np.bincount(place.ravel(), self.present).astype(int)
        return replace(self, completeness=dict(zip(("dimension", "judge", "model"), names, strict=True)) | sums)

    def in_units(self, value: float) -> str:
        """A raw rating or score in the units of the user's files."""
        return f"{value * self.step:.6g}"

    def families(self) -> dict[str, str]:
        """Family of each judge and model."""
        factors = self.cells.factors
        pairs = ((who, f"{who}_family") for who in ("model", "judge"))
        return {str(name): str(family) for who, of in pairs for name, family in zip(factors[who], factors[of], strict=True)}


def facts_of(
    study: Study, completeness: str, *, imports: Mapping | None = None, named: Mapping[str, Sequence[str]] | None = None
) -> Facts:
    """Read what is known of a study with cells and ratings; completeness: path of its table (CSV).

    imports, named: config's `import` and `families` of the study, if it has any.
    """
    table = read_table(completeness)
    columns = {name: np.array([row[name] for row in table], dtype=str) for name in ("dimension", "judge", "model")}
    columns |= {name: np.array([int(row[name]) for row in table]) for name in COUNTS}
    query = f"select max(prompt) + 1, count(length) from {files(study.ratings)}"
    prompts, with_length = map(int, connect().execute(query).fetchone())
    ids = f"select prompt, any_value(prompt_id) as id from {files(study.ratings)} group by prompt"
    (shared,) = connect().execute(f"select count(*) from (select 1 from ({ids}) group by id having count(*) > 1)").fetchone()
    return Facts(study, columns, prompts, shared, with_length, *_completions(study), imports or {}, named or {})


def _completions(study: Study) -> tuple[int, int]:
    """Numbers of completions: those that every judge of their dimension rated, and all."""
    levels, factors = levels_of(study.ratings[0]), study.cells().factors
    completion, dimension = levels.sql_without("judge"), levels.sql_place("dimension", "completion")
    rated = f"select {completion} as completion, count(*) as judges from {files(study.ratings)} group by completion, prompt"
    query = f"select {dimension} as dimension, judges, count(*) from ({rated}) group by dimension, judges"
    due = {name: len(np.unique(factors["judge"][factors["dimension"] == name])) for name in np.unique(factors["dimension"])}
    counts = [(judges == due[levels.dimension[place]], count) for place, judges, count in connect().execute(query).fetchall()]
    return sum(count for whole, count in counts if whole), sum(count for _, count in counts)


STOP, WARNING, NOTE, FINE = LEVELS = ("stop", "warning", "note", "fine")  # most important first, like TOPICS
TOPICS = [
    *(
        "agreement",
        "verdict",
        "spelling",
        "left out",
        "range",
        "one value",
        "prompts",
        "estimable",
        "human scores",
        "own ratings missing",
    ),
    *("no human score", "reliability", "ordinary preference", "ceiling", "floor", "scale use", "missing", "detectable"),
    *("families", "names", "lengths", "contents"),
]


@dataclass(frozen=True)
class Finding:
    """One fact about `subject` (a judge, model, family, dimension, ..., or the whole study if empty)."""

    topic: str  # one of TOPICS
    subject: str
    words: str
    value: float | int | None = None
    level: str = FINE
    remedy: str = ""
    weight: float = 0.0  # importance among those of its level and topic

    @property
    def advice(self) -> str:
        """What to do, unless all is fine."""
        return "" if self.level == FINE else self.remedy

    @property
    def is_first(self) -> bool:
        """Whether all else is of no use if it is right: that ratings and scores may not belong together."""
        return self.topic == "agreement" and self.level == WARNING

    @property
    def row(self) -> dict:
        """The columns of the table except the study."""
        columns = {name: getattr(self, name) for name in ("topic", "subject", "level", "words", "advice")}
        return columns | {"finding": self.value}


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings: warnings that data may be wrong, the verdict, then by level, topic and weight; ties keep their order."""
    by_topic = sorted(findings, key=lambda finding: (TOPICS.index(finding.topic), -finding.weight))
    return sorted(by_topic, key=lambda finding: (not finding.is_first, finding.topic != "verdict", LEVELS.index(finding.level)))


def graded(value: float, *, note: float, warning: float) -> str:
    """Level of a value for which higher is worse."""
    return WARNING if value >= warning else NOTE if value >= note else FINE
