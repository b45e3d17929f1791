"""What the configuration says of an import: files in the format of another tool, or in columns of other names."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from recuse.config.declared.sections import Files, Name, Section, Some, SomeKeys, by_kind, optional, required
from recuse.data.registry import COMPARED, FORMATS, RATED

OF_FORMAT = {"columns": "table", "missing": "table", "judge": "inspect", "baseline": "arena_hard"}  # key -> its only format


def _several(columns: list[str]) -> list[str]:
    if len(columns) < 2:
        raise ValueError(f"{columns} is too short; write the column of each rater, or the only column as text")
    return columns


Failures = Some[by_kind(text=str, number=float)]
FAILURES = "Values that stand for a failure, such as -1 or ERROR. They are missing then, and counted; so is an empty value."
ColumnOrColumns = by_kind(text=Name, list=Annotated[Some[Name], AfterValidator(_several)])
JudgeOrJudges = by_kind(text=Name, mapping=Annotated[dict[str, Name], Field(min_length=1)])


class ColumnsOfJudgments(SomeKeys):
    """Names of the columns of judgments."""

    judge: Name = optional("The judge.")
    model: Name = optional("Of ratings, the model that wrote the answer.")
    prompt: Name = optional("Of ratings, the id of the prompt.")
    rating: Name = optional("Of ratings, the judge's.")
    dimension: Name = optional("Of ratings, what was rated; needed if `scales` has several.")
    dataset: Name = optional("Of ratings, the set that the prompt is from, if there is one.")
    human: Name = optional("The human score on the same scale; of verdicts the human label - a, b, tie or the model.")
    length: Name = optional("Of ratings, tokens of the answer, if known.")
    item: Name = optional("Of verdicts, the id of the question.")
    model_a: Name = optional("Of verdicts, the model of one answer.")
    model_b: Name = optional("Of verdicts, the model of the other.")
    outcome: Name = optional("Of verdicts - a, b, tie or error, or the model that won.")
    order: Name = optional("Of verdicts - ab, ba or the model shown first. Without it, model_a was.")
    length_a: Name = optional("Of verdicts, words of the answer of model_a.")
    length_b: Name = optional("Of verdicts, words of that of model_b.")
    condition: Name = optional("Of verdicts; tables are made apart for each.")
    experiment: Name = optional("Of verdicts; tables are made apart for each.")
    favoured: Name = optional("Of verdicts, the answer that an added statement speaks for.")
    vote: Name = optional("Of verdicts, a number if a judge was asked more than once.")


class ColumnsOfReferences(SomeKeys):
    """Names of the columns of human scores and human verdicts."""

    model: Name = optional("Of scores, the model that wrote the answer.")
    prompt: Name = optional("Of scores, the id of the prompt.")
    dataset: Name = optional("Of scores, as that of the ratings; needed if one prompt id stands in two sets.")
    dimension: Name = optional("Of scores, what was scored; needed if `scales` has several.")
    rating: ColumnOrColumns = optional("Of scores, the score; or several columns, each of one rater.")
    rater: Name = optional("Of scores, who gave it, where each row is of one rater.")
    item: Name = optional("Of verdicts, the id of the question.")
    model_a: Name = optional("Of verdicts, the model of one answer.")
    model_b: Name = optional("Of verdicts, the model of the other.")
    human: Name = optional("Of verdicts - a, b, tie or the model; a row for each human verdict.")


class References(Section):
    """Human scores or verdicts in files of their own."""

    files: Files = required("As `files` of judgments, but tables only.")
    columns: ColumnsOfReferences = optional("What they call their columns, where otherwise than the keys here.")
    missing: Failures = optional(FAILURES)


class Import(Section):
    """Files of judgments, all of one format."""

    files: Files = required(
        "The files of judgments, all of one format: CSV (plain or gzip), parquet, JSON Lines, JSON or .eval; in the place of a "
        "file, a folder takes every such file in it and below."
    )
    format: Literal[*FORMATS] = optional(
        "The format of the files, if it shall not be told by their names and keys: `table`, columns of any names; "
        "`mt_bench_single` and `mt_bench_pair`, model_judgment of FastChat; `alpaca_eval`, annotations.json; `arena_hard`, "
        "model_judgment of Arena-Hard 0.1 and 2; `inspect`, a log of inspect_ai."
    )
    columns: ColumnsOfJudgments = optional("What a table calls its columns, where otherwise than the keys here.")
    references: References = optional("Human scores or verdicts in files of their own, in tables of any columns.")
    missing: Failures = optional(FAILURES)
    step: float = optional(
        "Step of the rating scales, of ratings such as 7.5; 1 if not given. A scale has at most 101 levels.",
        gt=0,
    )
    round: bool = optional(
        "Of ratings between two steps, take each to the nearest step, and half-way to the one farther from 0; they are "
        "counted. Without it, the first one is an error."
    )
    judge: JudgeOrJudges = optional(
        "Of Inspect logs, which name scorers: the name of the judge, or the judge of each scorer that is one. To be a judge of "
        "itself, a model has the name here that the log gives it."
    )
    baseline: Name = optional("Of Arena-Hard 0.1, whose judgments do not name it: the model that all are compared with.")

    holds: ClassVar[str]  # the kind of study

    @model_validator(mode="after")
    def _keys_of_the_format(self) -> "Import":
        if self.format is not None and self.holds not in FORMATS[self.format].holds:
            raise ValueError(f"format: {self.format} is read under `{FORMATS[self.format].holds[0]}:`; put the study there")
        for key, only in OF_FORMAT.items():
            if key in self.model_fields_set and self.format not in (None, only):
                raise ValueError(f"{key}: only the format {only} has it; leave `{key}` out")
        return self


class ImportOfRatings(Import):
    """Files of ratings."""

    holds = RATED

    @model_validator(mode="after")
    def _one_human_score(self) -> "ImportOfRatings":
        if self.references is None:
            return self
        if self.columns is not None and self.columns.human is not None:
            raise ValueError("found references with columns: human, of which one is enough; keep one")
        columns = self.references.columns
        if columns is not None and isinstance(columns.rating, list) and columns.rater is not None:
            raise ValueError(
                "references: found rater with several columns of ratings, each of which is one; keep one of the two"
            )
        return self


class ImportOfVerdicts(Import):
    """Files of verdicts."""

    holds = COMPARED

    @model_validator(mode="after")
    def _without_a_scale(self) -> "ImportOfVerdicts":
        for key in ("step", "round"):
            if key in self.model_fields_set:
                raise ValueError(f"{key}: verdicts have no scale; leave `{key}` out")
        return self
