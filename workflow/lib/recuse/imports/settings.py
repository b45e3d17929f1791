"""The keys under `import`: what files of judgments are, in whichever format."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from recuse.config.declared.sections import (
    Files,
    Name,
    Section,
    Some,
    SomeKeys,
    by_kind,
    optional,
    required,
)
from recuse.data.registry import COMPARED, RATED
from recuse.data.verdicts import ORDERS, OUTCOMES
from recuse.imports.registry import FORMATS, refused_key
from recuse.imports.rows import names_and_columns, spellings
from recuse.imports.words import problem


def _several(columns: list | dict) -> list | dict:
    listed = [*names_and_columns(columns)]
    if len(listed) < 2:
        raise ValueError(problem("few_columns", columns=columns))
    if len({column for _, column in listed}) < len(listed):
        raise ValueError(problem("columns_twice", columns=columns))
    if len({len(names) for names, _ in listed}) > 1:
        raise ValueError(problem("uneven_columns", columns=columns))
    return columns


class Constant(Section):
    """One name for all rows."""

    value: by_kind({"text": Name, "a number": float}) = required("The same for all rows.")


Failures = Some[by_kind({"text": str, "a number": float})]
FAILURES = (
    "Values that mark a failed judgment, such as -1 or ERROR; they and empty values count as"
    " missing."
)


def _column_or_columns(inner: object) -> object:
    """The type of a column or of several: a list, or a mapping from names to columns or to mappings
    of the type `inner`.
    """
    column = by_kind({"text": Name, "a mapping": inner})
    listed = Annotated[Some[Name], AfterValidator(_several)]
    by_name = Annotated[dict[Name, column], Field(min_length=1), AfterValidator(_several)]
    return by_kind({"text": Name, "a list": listed, "a mapping": by_name})


ColumnOrColumns = _column_or_columns(Annotated[dict[Name, Name], Field(min_length=1)])
Outcomes = _column_or_columns(Annotated[dict[Literal[ORDERS], Name], Field(min_length=1)])
ColumnOrConstant = by_kind({"text": Name, "a mapping": Constant})
ColumnOrProbability = by_kind({"text": Name, "a number": Annotated[float, Field(gt=0, le=1)]})
WordValues = Annotated[
    dict[bool | float | str, by_kind({"text": Literal[OUTCOMES], "a number": float})],
    Field(min_length=1),
]
VALUES = (
    "What words stand for, in any case: `{yes: 1, no: 0}`, `{poor: 1, good: 2}`; of verdicts,"
    " `{left: a, right: b}`. `true` without quotes stands for true, yes and on in the file, `false`"
    " for false, no and off."
)
JudgeOrJudges = by_kind(
    {"text": Name, "a mapping": Annotated[dict[str, Name], Field(min_length=1)]}
)


class ColumnsOfJudgments(SomeKeys):
    """Names of the columns of judgments, or a name for all rows; `metadata.judge` is the key
    `judge` in a column of objects.
    """

    judge: ColumnOrConstant = optional("The judge.")
    model: ColumnOrConstant = optional("Ratings: the model that wrote the answer.")
    prompt: Name = optional("Ratings: id of the prompt.")
    rating: ColumnOrColumns = optional(
        "Ratings: the judge's rating; or several columns, one for each judge, model or dimension"
        " (whichever has no column of its own): a list of columns named like these, or a mapping"
        " from their names to the columns. With a column for each judge and model, `{<judge>:"
        " {<model>: <column>}}`."
    )
    dimension: ColumnOrConstant = optional(
        "Ratings: what was rated; required if `scales` names several dimensions."
    )
    dataset: ColumnOrConstant = optional("Ratings: the dataset of the prompt.")
    occasion: Name = optional(
        "Ratings: which of a model's answers to the prompt, if it gave several."
    )
    wording: Name = optional(
        "The wording of the rubric by which the judge was asked, if there are several."
    )
    replicate: Name = optional("Ratings: which of several identical requests to the judge.")
    human: Name = optional(
        "Human score, on the same scale; verdicts: human label (a, b, tie or the model)."
    )
    length: Name = optional("Ratings: tokens of the answer.")
    labelling_probability: ColumnOrProbability = optional(
        "Ratings: the probability, above 0 and at most 1, with which an answer was chosen for a"
        " human score, or in a log the path to it; or the number, if it is the same for all answers."
    )
    item: Name = optional("Verdicts: id of the question.")
    model_a: Name = optional("Verdicts: model of one answer.")
    model_b: Name = optional("Verdicts: model of the other answer.")
    outcome: Outcomes = optional(
        "Verdicts: a, b, tie or error, or the model that won; or several columns: a list of columns"
        " named like the judges, a mapping from judges to columns, `{ab: <column>, ba: <column>}` for"
        " the two orders, or `{<judge>: {ab: <column>, ba: <column>}}`. In each, `a` is the answer of"
        " model_a, whichever was shown first."
    )
    order: Name = optional("Verdicts: ab, ba or the model shown first; default: model_a was.")
    length_a: Name = optional("Verdicts: words of model_a's answer.")
    length_b: Name = optional("Verdicts: words of model_b's answer.")
    condition: ColumnOrConstant = optional(
        "Verdicts: a condition; each has its own rows in the tables."
    )
    experiment: ColumnOrConstant = optional(
        "Verdicts: an experiment; each has its own rows in the tables."
    )
    favoured: Name = optional("Verdicts: the answer that an added statement supports.")
    vote: Name = optional("Verdicts: a number, if a judge was asked more than once.")
    humans_a: Name = optional("Verdicts: how many humans chose the answer of model_a.")
    humans_b: Name = optional("Verdicts: how many humans chose the answer of model_b.")
    humans_tie: Name = optional("Verdicts: how many humans called a tie.")
    right_a: Name = optional(
        "Verdicts: whether the answer of model_a is right by a key (true or false, 1 or 0)."
    )
    right_b: Name = optional("Verdicts: whether the answer of model_b is right.")


class ColumnsOfReferences(SomeKeys):
    """Names of the columns of human scores and human verdicts."""

    model: ColumnOrConstant = optional("Scores: the model that wrote the answer.")
    prompt: Name = optional("Scores: id of the prompt.")
    dataset: ColumnOrConstant = optional(
        "Scores: the dataset, as in the ratings; required if two datasets share a prompt id."
    )
    dimension: ColumnOrConstant = optional(
        "Scores: what was scored; required if the ratings have several dimensions."
    )
    rating: ColumnOrColumns = optional(
        "Scores: the score; or a list of columns, one for each rater; or a mapping from names to"
        " columns, one for each model or dimension, whichever has no column of its own."
    )
    rater: Name = optional("Scores: the rater, if each row is one rater's.")
    labelling_probability: ColumnOrProbability = optional(
        "Scores: the probability with which the answer was chosen for a score, unless the ratings have it."
    )
    item: Name = optional("Verdicts: id of the question.")
    model_a: Name = optional("Verdicts: model of one answer.")
    model_b: Name = optional("Verdicts: model of the other answer.")
    human: Name = optional("Verdicts: a, b, tie or the model; one row for each human verdict.")
    experiment: Name = optional(
        "Verdicts: the experiment, as in the verdicts; required if two experiments share an item."
    )


class FilesAndWords(Section):
    """Files, and what words in them mean."""

    files: Files
    missing: Failures = optional(FAILURES)
    values: WordValues = optional(VALUES)
    decimal: Literal[",", "."] = optional("Decimal separator: `,` for 7,5; default: a point.")

    def _check(self) -> None:
        """Check that no word has two meanings."""
        failures = {spelling for value in self.missing or () for spelling in spellings(value)}
        first: dict[float | str, object] = {}
        for word in self.values or ():
            for spelling in spellings(word):
                if spelling in failures:
                    raise ValueError(problem("word_and_failure", word=word))
                if spelling in first:
                    raise ValueError(problem("words_alike", first=first[spelling], word=word))
                first[spelling] = word


class References(FilesAndWords):
    """Human scores or verdicts in files of their own."""

    files: Files = required("Files of human scores or verdicts: tables, or a folder of tables.")
    columns: ColumnsOfReferences = optional(
        "Names of their columns, where they differ from these keys."
    )


class Import(FilesAndWords):
    """Files of judgments, all in one format."""

    files: Files = required(
        "Files of judgments, all in one format: CSV (plain or gzip), parquet, JSON Lines, JSON or"
        " .eval; a folder stands for all such files in it and its subfolders."
    )
    format: Literal[*FORMATS] = optional(
        "Format of the files; default: recognised from their names and keys. `table`, columns of"
        " any names; `mt_bench_single` and `mt_bench_pair`, model_judgment of FastChat;"
        " `alpaca_eval`, annotations.json; `arena_hard`, model_judgment of Arena-Hard 0.1 and 2;"
        " `inspect`, a log of inspect_ai; the others are in docs/own-data.md."
    )
    columns: ColumnsOfJudgments = optional(
        "Names of a table's columns, where they differ from these keys."
    )
    references: References = optional(
        "Human scores or verdicts in files of their own: tables with any columns."
    )
    judge: JudgeOrJudges = optional(
        "Logs of tools: the judge, or the judge of each scorer that is one, where the log does not"
        " name it. `Human` marks a scorer whose scores come from people, `Gold` one that compares"
        " with an answer key. If a judge is also one of the models, write its name as the log does."
    )
    baseline: Name = optional(
        "Arena-Hard 0.1, whose judgments omit it: the model with which all others are compared."
    )

    holds: ClassVar[str]  # the kind of study

    def _check(self) -> None:
        super()._check()
        if self.format is not None:
            holds = FORMATS[self.format].holds
            if self.holds not in holds:
                wrong = problem("format_elsewhere", format=self.format, holds=[*holds])
                raise ValueError("format", wrong)
            refused = refused_key(self.format, self.model_fields_set)
            if refused is not None:
                key, having = refused
                raise ValueError(key, problem("only_for", key=key, having=having))
        outcomes = [] if self.holds == RATED else OUTCOMES
        parts = [((), self.values)]
        if self.references is not None:
            parts.append((("references",), self.references.values))
        for keys, values in parts:
            for word, meaning in (values or {}).items():
                if isinstance(meaning, str) is not bool(outcomes):
                    wrong = problem(
                        "wrong_meaning", word=word, meaning=repr(meaning), outcomes=outcomes
                    )
                    raise ValueError(*keys, wrong)


class ImportOfRatings(Import):
    """Files of ratings."""

    holds = RATED

    step: float = optional(
        "Step of the rating scales, such as 0.5; default: the coarsest of 1, 0.5, 0.25, 0.2, 0.1,"
        " 0.05, 0.02 and 0.01 of which all ratings are multiples, which is reported unless it is 1."
        " A scale can have at most 101 levels.",
        gt=0,
    )
    round: bool = optional(
        "Round ratings between two steps (of 1, if `step` is not given), halves away from 0, and"
        " count them; default: an error."
    )
    repeats: Literal["mean", "first", "last", "error"] = optional(
        "Ratings of one answer by one judge, in the order of the files: their mean, the first or"
        " the last that is not missing, or an error (the default). The others are counted."
    )
    gold: bool = optional(
        "Whether the human scores are gold labels: right or wrong according to an answer key, or by"
        " spans that humans marked. The check, the report and the figures then say so, and a further"
        " table compares own right and wrong answers."
    )

    def _check(self) -> None:
        super()._check()
        if self.references is None:
            return
        if self.columns is not None and self.columns.human is not None:
            raise ValueError(problem("human_twice"))
        columns = self.references.columns
        if columns is not None and isinstance(columns.rating, list) and columns.rater is not None:
            raise ValueError(problem("rater_twice"))


class ImportOfVerdicts(Import):
    """Files of verdicts."""

    holds = COMPARED

    def _check(self) -> None:
        super()._check()
        if self.columns is not None and self.columns.rating is not None:
            raise ValueError(problem("no_rating"))
