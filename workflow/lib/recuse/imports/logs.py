"""Logs of other tools as Python objects: strict access to their keys, and the scores in them as
rows for DuckDB.

A reader takes a Log and adds each score that it finds; who gave a score makes it a rating, a human
score or a gold label.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recuse.base.database import Connection
from recuse.base.database import name as quoted
from recuse.base.errors import DataError
from recuse.data.files import PROBABILITY, record_place
from recuse.data.registry import HUMAN
from recuse.imports.registry import GOLD_LABELS
from recuse.imports.rows import (
    ALL,
    RATING_COLUMNS,
    WORD,
    ImportedRows,
    as_rows,
    create_objects,
    spellings,
    wrong_in_json,
)
from recuse.imports.words import fault, note, problem

YES_NO = {"yes": "1", "true": "1", "no": "0", "false": "0"}
GOLD = "gold label"
KINDS = {HUMAN: "human score", GOLD_LABELS: GOLD}  # who gave a score -> what it is, if no judge's
CODE = "code"  # who gave a score that is neither a judge's nor a human's
SCORED = (
    "file",
    "record",
    "model",
    "prompt_id",
    "dimension",
    "dataset",
    "rater",
    "rating",
    "failure",
    "kind",
    WORD,
    PROBABILITY,
)


class NotNamed(DataError):
    """A record without its judge, or another part of its key that config may name: `part`."""

    def __init__(self, error: DataError, part: str) -> None:
        """Take the error, and the key of `import` or of its `columns` that is missing."""
        super().__init__(*error.args)
        self.part = part


class Fields(dict):
    """An object of JSON; `twice` is a key that it has twice, if any."""

    twice: str | None = None


def _fields(pairs: list[tuple[str, object]]) -> Fields:
    fields = Fields(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        fields.twice = next(key for key in keys if keys.count(key) > 1)
    return fields


def parsed(content: bytes | str) -> object:
    """The value in JSON; NaN is a number. ValueError (malformed) or RecursionError (nested too
    deeply).
    """
    # A number of thousands of digits is not converted: Python refuses to.
    return json.loads(
        content,
        object_pairs_hook=_fields,
        parse_int=lambda digits: int(digits) if len(digits) < 400 else digits,
    )


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a log; `key` leads to it from its record. An absent one is None, and so is what is
    in it.
    """

    value: object
    path: str
    record: int
    key: str = ""

    def __bool__(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def fault(self, code: str, **facts: object) -> DataError:
        """The error about this value: its place, what it is, what is wrong with it, and what to
        do.
        """
        place, wrong = record_place(self.path, self.record), problem(code, **facts)
        return fault(place, "value", column=self.key, value=self.value, problem=wrong)

    def at(self, key: str | int, value: object) -> "Node":
        """A value within this one."""
        inner = f"{self.key}.{key}" if self.key else str(key)
        return Node(value, self.path, self.record, inner)

    @property
    def fields(self) -> Mapping[str, object]:
        """The keys of an object; none of an absent one."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Fields):
            raise self.fault("no_object")
        if self.value.twice is not None:
            raise Node(self.value.twice, self.path, self.record, "key").fault("twice")
        return self.value

    def get(self, *ways: str) -> "Node":
        """The first value at `ways` that is not null: a key, or `a.b` for the key b of a."""
        return next(filter(None, map(self._find, ways)), self.at(ways[0], None))

    def _find(self, way: str) -> "Node":
        first, _, rest = way.partition(".")
        if rest and way not in self.fields:
            return self._find(first)._find(rest)
        return self.at(way, self.fields.get(way))

    def __getitem__(self, key: str) -> "Node":
        """The value of a key that has to be there; it may be null."""
        if key not in self.fields:
            raise self.at(key, None).fault("no_key", keys=list(self.fields))
        return self.at(key, self.fields[key])

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """Each key of an object with its value."""
        return ((key, self.at(key, value)) for key, value in self.fields.items())

    def entries(self, *, records: bool = False) -> Iterator["Node"]:
        """The entries of a list; none of an absent one. records: each is a record of its own."""
        if self.value is not None and not isinstance(self.value, list):
            raise self.fault("no_list")
        for place, value in enumerate(self.value or (), start=1):
            yield Node(value, self.path, place) if records else self.at(place, value)

    @property
    def text(self) -> str | None:
        """A name or a text, trimmed; None if absent or empty. Whole numbers are names, too."""
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int, type(None))):
            raise self.fault("no_text")
        value = str(self.value or "" if not isinstance(self.value, int) else self.value).strip()
        if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise self.fault("no_unicode")
        return value or None

    @property
    def name(self) -> str:
        """A name or a text, which has to be there."""
        value = self.text
        if value is None:
            raise self.fault("no_name")
        return value

    @property
    def words(self) -> str | None:
        """The same of any value; of an object or a list its JSON."""
        if isinstance(self.value, (dict, list, float, bool)):
            return json.dumps(self.value, sort_keys=True)
        return self.text

    def score(self) -> tuple[str | None, str | None]:
        """The value as a word, and why there is none: one of the two is None. NaN is none."""
        if isinstance(self.value, (bool, int)):
            return str(self.value).lower(), None
        if isinstance(self.value, float):
            if math.isinf(self.value):
                raise self.fault("infinite")
            return (None, "unscored (NaN)") if math.isnan(self.value) else (repr(self.value), None)
        if isinstance(self.value, (dict, list)):
            raise self.fault("several_values")
        shown = self.text
        if shown is None:
            return None, "no score"
        return (None, "unscored (NaN)") if shown.lower() == "nan" else (shown, None)


def read_records(connection: Connection, path: str) -> list[Node]:
    """The lines of a JSON Lines file, the entries of a list, or the one object of a file; DataError
    if it is not JSON.
    """
    create_objects(connection, path, (), (), table="log_objects")
    objects = connection.execute("select record, json::varchar from log_objects order by record")
    try:
        return [Node(parsed(content), path, record) for record, content in objects.fetchall()]
    except (ValueError, RecursionError) as error:
        raise DataError(wrong_in_json(path, str(error))) from error


def present(records: Iterable[Node], *keys: str) -> str:
    """The first of `keys` that any record has: a record without it is damaged, and no other key
    stands in for it there.
    """
    found = {key for record in records for key in keys if record.get(key)}
    return next((key for key in keys if key in found), keys[0])


def failure(what: str, reason: str | None) -> str | None:
    """Why a score is missing, if there is a reason: what failed, with the reason's beginning."""
    return f"the {what} failed: {reason[:60]}" if reason else None


def one(records: Sequence[Node], words: str) -> Node:
    """The only record of a file that is one object, as `words` say; DataError if there are
    several.
    """
    if len(records) > 1:
        raise records[1].fault("several_objects", words=words)
    return records[0]


class Log:
    """The scores in a file, as a reader adds them."""

    def __init__(
        self, path: str, settings: Mapping, scales: Sequence[str], grades: Mapping[str, str]
    ) -> None:
        """Take config's words for a file, and its tool's: `grades` are the numbers of words, in
        lower case, if config gives no `values`.

        settings: config's `import`, whose `judge` is the name of the judge, or that of each scorer
        that is one, and whose `columns` say where a record names its model, prompt, judge,
        dimension or dataset, whose `values` are numbers for words, and whose `missing` are words
        for failures. scales: the dimensions of the study.
        """
        self.path, self.scales, self.grades = path, scales, grades
        self.judges, self.columns = settings.get("judge"), settings.get("columns", {})
        values = settings.get("values", {}).items()
        self.values = {
            spelling: str(value) for word, value in values for spelling in spellings(word)
        }
        self.missing = {
            spelling for word in settings.get("missing", ()) for spelling in spellings(word)
        }
        self.scores: list[dict] = []  # `kind` is None if they are a judge's
        self.scorers: dict[str, None] = {}  # in their order, also those that are no judges
        self.by_judge: dict[tuple, dict[str, None]] = {}  # judge and dimension -> scorers
        self.left_out: Counter[str] = Counter()  # by scorer, scores of none that is a judge
        # Number of a record -> whether it has a score that is taken
        self.records: dict[int, bool] = {}

    def each(self, records: Iterable[Node]) -> Iterator[Node]:
        """The records, of which those without a score that is taken are told."""
        for record in records:
            self.records.setdefault(record.record, False)
            yield record

    def part(self, node: Node, key: str, otherwise: str | None = None) -> str:
        """What `columns` of config name for `key` in a record, else `otherwise`; DataError if there
        is neither.
        """
        column = self.columns.get(key)
        if isinstance(column, str):
            otherwise = node.get(column).words
        elif column is not None:  # one for all
            otherwise = str(column["value"] if isinstance(column, Mapping) else column)
        if otherwise is None:
            absent = Node(None, self.path, node.record, column or key)
            raise NotNamed(absent.fault("no_part", key=key), key)
        return otherwise

    def add(
        self,
        record: Node,
        value: Node,
        *,
        scorer: str,
        failed: str | None = None,
        by: str | None = None,
        judge: str | None = None,
        model: str | None = None,
        prompt: str | None = None,
        dimension: str | None = None,
        dataset: str | None = None,
        rater: str | None = None,
        **kept: str | None,
    ) -> None:
        """Add the score in `value`: a rating by `judge`, else by the one that config names, also
        for `scorer`, or a reference.

        Config's `values` say what a word counts; without any, the tool's grades do; else it is its
        own number. failed: why there is no score. by: HUMAN, GOLD_LABELS or CODE, if the file says
        so; a score by code is left out unless config's `judge` lists its scorer, and so is one by a
        scorer of which neither the file nor config knows a judge. dimension: else the only one of
        the study, or the scorer.
        """
        self.scorers[scorer] = None
        if isinstance(self.judges, Mapping):
            by = self.judges.get(scorer, by or self.judges.get(judge or ""))
        elif by is None:
            named = judge or "judge" in self.columns
            by = self.part(record, "judge", judge) if named else self.judges
        if by in (None, CODE):
            self.left_out[scorer] += 1
            return
        self.records[record.record] = True
        word, failed = (None, failed) if failed else value.score()
        (spelling,) = spellings(word or "")
        if spelling in self.missing:
            word, failed = None, f"value '{word}'"
        meaning = self.values.get(spelling)
        grade = word if self.values else self.grades.get((word or "").lower(), word)
        row = {
            "file": self.path,
            "record": record.record,
            "model": self.part(record, "model", model),
            "prompt_id": self.part(record, "prompt", prompt),
            "dimension": dimension or self.dimension(scorer),
            "dataset": self.part(record, "dataset", dataset or ALL),
            "rating": meaning or grade,
            "failure": failed,
            WORD: word if meaning else None,
        }
        if "dimension" in self.columns:
            row["dimension"] = self.part(record, "dimension")
        kind = KINDS.get(by)
        if kind is None:
            self.by_judge.setdefault((by, row["dimension"]), {})[scorer] = None
            self.scores.append(row | {"judge": by, "scorer": scorer, "kind": None} | kept)
            return
        if self.judges and row["dimension"] not in self.scales:
            row["dimension"] = self.dimension(row["dimension"])
        row |= {"rater": rater or "", "kind": kind}
        if PROBABILITY in self.columns:
            column = self.columns[PROBABILITY]
            if isinstance(column, str) and not record.get(column):
                raise record.get(column).fault("no_probability")
            row[PROBABILITY] = self.part(record, PROBABILITY)
        self.scores.append(row)

    def dimension(self, otherwise: str) -> str:
        """The only dimension of the study, if it has one."""
        return self.scales[0] if len(self.scales) == 1 else otherwise

    def rows(self, connection: Connection, named: Mapping[str, str]) -> ImportedRows:
        """The ratings as rows, and the human scores or gold labels beside them.

        named: column of the table -> its name in the file. Raises DataError if there is none, as
        neither the file nor config names a judge, or if several scorers are one judge of a
        dimension.
        """
        if self.left_out:
            note("no_judges", path=self.path, left_out=sorted(self.left_out.items()))
        empty = [record for record, scored in self.records.items() if not scored]
        if empty:
            first, records = record_place(self.path, empty[0]), len(self.records)
            note("unread", path=self.path, empty=len(empty), records=records, first=first)
        if not self.scores:
            scorers = [*self.scorers]
            error = fault(self.path, "no_scores", scorers=scorers, judge=self.judges)
            raise NotNamed(error, "judge")
        for (judge, dimension), scorers in self.by_judge.items():
            if len(scorers) > 1:
                raise fault(
                    self.path,
                    "several_scorers",
                    scorers=sorted(scorers),
                    judge=judge,
                    dimension=dimension,
                )
        picked = {column: column for column in (*RATING_COLUMNS, "failure", WORD)}
        ratings = [row for row in self.scores if row["kind"] is None]
        read = {"file", "record", "kind", *picked}
        kept = {key: quoted(key) for row in ratings for key in row if key not in read}
        columns = {
            column: np.array([row.get(column) for row in self.scores], dtype=object)
            for column in (*SCORED, *picked, *kept)
        }
        connection.register("given", columns)
        connection.execute("""
            create or replace temp table log_scores as
            select record::bigint as record, columns(* exclude (record))::varchar from given""")
        connection.unregister("given")
        source = "(from log_scores where kind is null)"
        rows = as_rows(source, picked, RATING_COLUMNS, named=named, texts=kept, used=())
        given = f"(select {', '.join(SCORED)} from log_scores where kind is not null)"
        return replace(rows, scores=given if len(ratings) < len(self.scores) else None)
