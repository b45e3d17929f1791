"""What a check reads of a study (cells, completeness, counts of rows) and what it returns: findings
in words, with advice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from recuse.base.database import connect, files, values_in
from recuse.base.places import WORKFLOW
from recuse.base.tables import column_names, read_table
from recuse.base.templates import sentence
from recuse.base.words import entries, with_gold_labels
from recuse.data.cells import Cells, read_levels
from recuse.data.study import StudyTables

CHECK = column_names("study topic subject finding level words advice")

NEARLY = 0.9  # of the prompts: with more in effect, their numbers of ratings are about equal
# Share of prompts that a model answers: below it, models answer some of the prompts by design
CROSSED = 0.5
NAMES, COUNTS = (
    ("dimension", "judge", "model"),
    ("prompts", "absent", "missing_rating", "missing_gt"),
)


# Judge or model, the rarer name and the other of two that may be spellings of one
Pair: TypeAlias = tuple[str, str, str]


class Carriers(NamedTuple):
    """Prompts whose rows carry a coefficient."""

    prompts: int
    # (sum n)^2 / sum n^2 over the prompts, of n rows each (Carter, Schnepel and Steigerwald 2017)
    effective: float

    @property
    def is_uneven(self) -> bool:
        """Whether few of the prompts have most of the rows."""
        return self.effective < NEARLY * self.prompts


@dataclass(frozen=True)
class Facts:
    """What is known of a study before any fit."""

    study: StudyTables
    # Its columns NAMES and COUNTS: (rows,)
    completeness: Mapping[str, np.ndarray]
    prompts: int  # with a complete row
    shared: int  # ids of prompts that occur in several datasets
    with_length: int  # rows
    answered: float  # share of the prompts and models of which there is a rated answer
    carriers: Mapping[tuple[str, str], Carriers]  # (self_bias, judge) or (family_bias, family)
    # Sets of models that answer no prompt in common, smallest first; one set is normal
    apart: Sequence[Sequence[str]]
    imports: Mapping  # config's `import`, {} if the files have canonical columns
    named: Mapping[str, Sequence[str]]  # config's `families` of the study
    # Between two ratings of each dimension, in the units of the user's files
    steps: Mapping[str, float]

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
    def due(self) -> np.ndarray:
        """Ratings that there should be: one for each prompt, but of a design where models answer
        some prompts the rows.
        """
        return self.completeness["prompts"] if self.answered >= CROSSED else self.present

    @property
    def rows(self) -> int:
        """Number of complete rows."""
        return int(self.cells.counts.sum())

    @property
    def scored(self) -> Cells:
        """Cells of the rows with human scores that count; of all rows, if none do."""
        return self.study.scored.cells()

    @property
    def scored_prompts(self) -> int:
        """Number of prompts that comparisons with human scores rest on."""
        part = self.study.scored
        return self.prompts if part is self.study else part.scored_prompts

    def names(self, factor: str) -> list[str]:
        """Sorted levels of a factor in the complete rows."""
        return list(map(str, np.unique(self.cells.factors[factor])))

    def groups(self, *factors: str) -> Iterator[tuple[str, str, np.ndarray]]:
        """Each level of these factors in the complete rows: the factor, its name, and whether a row
        of `completeness` has it.
        """
        for factor in factors:
            for name in self.names(factor):
                yield factor, name, self.completeness[factor] == name

    def rows_by(self, factor: str) -> dict[str, int]:
        """Rows of each level, sorted, of dimension, judge or model, complete or not."""
        names, present = self.completeness[factor], self.present
        return {str(name): int(present[names == name].sum()) for name in np.unique(names)}

    def as_one(self, pairs: Sequence[Pair]) -> "Facts":
        """The facts with these spellings merged in `completeness`."""
        table, other_name = {**self.completeness, "present": self.present}, {}
        for _, rare, name in pairs:
            if other_name.get(name) != rare:
                other_name[rare] = name
        for factor in ("judge", "model"):
            for _ in other_name:  # for three spellings or more
                names = [other_name.get(name, name) for name in table[factor].tolist()]
                table[factor] = np.array(names, dtype=str)
        connection = connect()
        connection.register("counted", table)
        merged = connection.execute("""
            select dimension, judge, model, max(prompts) as prompts,
                   max(prompts) - sum(present)::bigint as absent,
                   sum(missing_rating)::bigint as missing_rating,
                   sum(missing_gt)::bigint as missing_gt
            from counted group by all order by all""")
        return replace(self, completeness=merged.fetchnumpy())

    def may_be_one(self, *pair: str) -> bool:
        """Whether two judges, or models, may be one: together they have no more rows in a dimension
        than there are prompts.
        """
        merged = self.as_one([pair])
        return bool((merged.completeness["absent"] >= 0).all())

    def in_units(self, dimension: str, value: float) -> str:
        """A raw rating or score of a dimension in the units of the user's files."""
        return f"{value * self.steps[dimension]:.6g}"

    def families(self) -> dict[str, str]:
        """Family of each judge and model."""
        factors = self.cells.factors
        return {
            str(name): str(family)
            for who in ("model", "judge")
            for name, family in zip(factors[who], factors[f"{who}_family"], strict=True)
        }


def read_facts(
    study: StudyTables,
    completeness: str,
    *,
    imports: Mapping | None = None,
    named: Mapping[str, Sequence[str]] | None = None,
) -> Facts:
    """Read what is known of a study with cells and ratings; completeness: path of its table (CSV).

    imports, named: config's `import` and `families` of the study, if it has any.
    """
    table = read_table(completeness)
    columns = {
        name: np.array([row[name] for row in table], dtype=int if name in COUNTS else str)
        for name in (*NAMES, *COUNTS)
    }
    rows = files(study.ratings)
    ids = f"select prompt, any_value(prompt_id) as id from {rows} group by prompt"
    counts = (
        connect()
        .execute(f"""
            select max(prompt) + 1,
                   (select count(*) from (from ({ids}) select 1 group by id having count(*) > 1)),
                   count(length),
                   count(distinct (prompt, model)) / (max(prompt) + 1) / count(distinct model)
            from {rows}""")
        .fetchone()
    )
    levels = read_levels(study.ratings[0])
    steps = (
        dict(zip(levels.dimension, levels.step, strict=True))
        if levels.step
        else dict.fromkeys(levels.dimension, 1)
    )
    sets = _carriers(study), _apart(study)
    return Facts(study, columns, *counts, *sets, imports or {}, named or {}, steps)


def _carriers(study: StudyTables) -> dict[tuple[str, str], Carriers]:
    """The prompts that carry each bias: with ratings of own answers, or of a sibling's."""
    factors, levels = study.cells().factors, read_levels(study.ratings[0])
    related = factors["judge_family"] == factors["model_family"]
    judge, model, family = (factors[name][related] for name in ("judge", "model", "judge_family"))
    connection = connect()
    connection.register(
        "carried",
        {
            "group_code": levels.group_codes(factors)[related],
            "quantity": np.where(judge == model, "self_bias", "family_bias"),
            "term": np.where(judge == model, judge, family),
        },
    )
    rows = connection.execute(f"""
        select quantity, term, count(*), sum(n) ^ 2 / sum(n * n)
        from (select quantity, term, prompt, count(*)::double as n
              from {files(study.ratings)} join carried using (group_code) group by all)
        group by all order by all""").fetchall()
    return {(quantity, term): Carriers(*numbers) for quantity, term, *numbers in rows}


def _apart(study: StudyTables) -> list[list[str]]:
    levels, linked = read_levels(study.ratings[0]), []
    answered = (
        f"select list_sort(list(distinct {levels.sql_place('model')})) as models from"
        f" {files(study.ratings)}"
    )
    for prompts in ("where prompt = 0", ""):  # often the first has answers of all models
        query = f"select distinct models from ({answered} {prompts} group by prompt)"
        for models in values_in(connect(), query):
            joined = [of for of in linked if not of.isdisjoint(models)]
            linked = [of for of in linked if of.isdisjoint(models)] + [set(models).union(*joined)]
        if len(linked) == 1 and len(linked[0]) == len(np.unique(study.cells().factors["model"])):
            break
    return sorted(
        (sorted(levels.model[place] for place in of) for of in linked),
        key=lambda names: (len(names), names),
    )


LETTERS = ("A", "B", "C")  # of the estimands
STOP, WARNING, NOTE, FINE = LEVELS = ("stop", "warning", "note", "fine")  # most important first
SENTENCES = WORKFLOW / "report" / "findings.yaml"


said = partial(sentence, SENTENCES)


class Finding:
    """One fact about `term` (a judge, model, family, dimension, ..., or the whole study if empty),
    whose subject, words and advice findings.yaml has under its code.
    """

    gold = False  # whether the reference are gold labels

    def __init__(
        self,
        code: str,
        term: str = "",
        value: float | int | None = None,
        level: str = FINE,
        weight: float = 0.0,
        **facts: object,
    ) -> None:
        """Store it; weight: importance among those of its level and topic; facts: what its
        sentences name beside the term, value and level.
        """
        self.code, self.topic = code, code.partition("/")[0]
        self.value, self.level, self.weight = value, level, weight
        self.facts = {"term": term, "value": value, "level": level, **facts}
        self.subject = said(code, "subject", **self.facts) or term
        self.facts["subject"] = self.subject

    @cached_property
    def words(self) -> str:
        """What was found."""
        return self.sentence("words")

    @cached_property
    def advice(self) -> str:
        """What to do, unless all is fine."""
        return "" if self.level == FINE else self.sentence("advice")

    def sentence(self, part: str, **changes: object) -> str:
        """A part of what findings.yaml has under its code, with changes to its facts."""
        text = said(self.code, part, **self.facts | changes)
        return with_gold_labels(text) if self.gold else text

    @property
    def is_first(self) -> bool:
        """Whether all else is of no use if it is right: that ratings and scores may not belong
        together, or that a judge's ratings are not what they seem.
        """
        return self.topic in ("agreement", "doubt") and self.level == WARNING

    @property
    def row(self) -> dict:
        """The columns of the table except the study."""
        names = ("topic", "subject", "level", "words", "advice")
        return {"finding": self.value} | {name: getattr(self, name) for name in names}


Findings: TypeAlias = Iterator[Finding]


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings: warnings that data may be wrong, the verdict, then by level, the order of
    topics in findings.yaml and weight; ties keep their order.
    """
    topics = [code.partition("/")[0] for code in entries(SENTENCES)]

    def importance(finding: Finding) -> tuple:
        return (
            not finding.is_first,
            finding.topic != "verdict",
            LEVELS.index(finding.level),
            topics.index(finding.topic),
            -finding.weight,
        )

    return sorted(findings, key=importance)


def cells_with(cells: Cells, factor: str, name: str) -> Cells:
    """Cells of one level of a factor."""
    return cells.select(cells.factors[factor] == name)


def graded(value: float, *, note: float, warning: float) -> str:
    """Level of a value for which higher is worse."""
    return WARNING if value >= warning else NOTE if value >= note else FINE
