"""Tables of judgments in columns of any names: CSV, parquet, JSON Lines, or a JSON list of objects.

Verdicts on two answers in tables of any columns, and in MT-Bench's pair judgments.

Ratings of single answers in tables of any columns, and in MT-Bench's single judgments.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import duckdb

from recuse.base.database import text
from recuse.base.errors import DataError
from recuse.data.faults import Check
from recuse.data.files import MISSING as IN_NUMBERS
from recuse.data.files import columns_of, header_of, missing_as_null, read_as_texts
from recuse.data.imports.formats import check_name
from recuse.data.imports.rows import (
    ALL,
    RATING_COLUMNS,
    VERDICT_COLUMNS,
    Rows,
    create_objects,
    kept_fields,
    kept_names,
    pointer,
    selected,
    there,
)

MISSING = (*IN_NUMBERS, "#n/a")  # as spreadsheets have it


class Table:
    """A file of rows: attribute `columns`, its names; `source`, SQL for file, record and its columns."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, table: str) -> None:
        """Open the file, and create the temporary `table` of its objects if it is JSON; DataError if it cannot be read."""
        check_name(path)
        self.path = path
        if path.endswith((".jsonl", ".json")):
            self.columns = create_objects(connection, path, {}, (), table=table)
            self.source = table
            self._sql = {column: f"json_extract_string(json, {text(pointer(column))})" for column in self.columns}
            return
        self.columns = columns_of(connection, path, ("the names of its columns",))
        relation, own = read_as_texts(path, self.columns)
        # By place: a column may be called as one of the two that are added.
        listed = ", ".join(f"{own[column]} as c{place}" for place, column in enumerate(self.columns))
        self.source = f"(select {text(path)} as file, row_number() over () as record, {listed} from {relation})"
        whole = _whole if path.endswith(".parquet") else str
        self._sql = {column: whole(f"c{place}") for place, column in enumerate(self.columns)}

    def column(self, named: Mapping[str, str], key: str, *, or_else: Sequence[str] = ()) -> str | None:
        """The file's name of what config calls `key`: as `named` there, or the key itself or a name of `or_else`, if there.

        DataError about a name that config gives and the file does not have, or has twice.
        """
        found = [named[key]] if key in named else [column for column in (key, *or_else) if column in self.columns][:1]
        for column in found:
            if self.columns.count(column) != 1:
                problem = "not there" if column not in self.columns else "stands twice"
                raise DataError(
                    f"{header_of(self.path)}, column {column}: {problem}; found {', '.join(self.columns)}; write the name of "
                    f"one of them under `columns: {key}` in config"
                )
        return found[0] if found else None

    def needed(self, named: Mapping[str, str], key: str, *, or_else: Sequence[str] = ()) -> str:
        """The same; DataError if there is no such column."""
        found = self.column(named, key, or_else=or_else)
        if found is None:
            separator = next((mark for mark in (";", "\t", "|") if len(self.columns) == 1 and mark in self.columns[0]), None)
            mend = (
                f"write which of them it is under `columns:` in config, as in `{{{key}: <its name here>}}`"
                if separator is None
                else f"the fields are separated by {separator!r}; save the file with commas"
            )
            raise DataError(f"{header_of(self.path)}, column {key}: not there; found {', '.join(self.columns)}; {mend}")
        return found

    def kept(self, used: Collection[str], table: Sequence[str]) -> dict[str, str]:
        """The columns of the file that are not `used`, to be kept beside those of a `table`: name there -> SQL as text."""
        others = (column for column in dict.fromkeys(self.columns) if column not in used)
        return {free: self._sql[column] for column, free in kept_names(others, table).items()}

    def text(self, column: str) -> str:
        """SQL for a column as text, as it stands."""
        return self._sql[column]

    def name_text(self, column: str) -> str:
        """SQL for a column of names: NULL where empty."""
        return missing_as_null(f"({self._sql[column]})", ("",))

    def number_text(self, column: str) -> str:
        """SQL for a column of numbers: NULL where missing, however spelled."""
        return missing_as_null(f"({self._sql[column]})", MISSING)


def failure_of(value: str, given_up: Sequence[str]) -> str:
    """SQL for what a value (SQL, text) says of a failure: that there is none, or that it is one of `given_up`; else NULL."""
    shown = f"'value ''' || trim({value}) || ''''"
    words = ", ".join(text(str(word).strip().lower()) for word in given_up)
    number = ", ".join(f"{float(word)!r}::double" for word in given_up if _is_finite(word))
    conditions = [f"lower(trim({value})) in ({words})"] if words else []
    conditions += [f"try_cast({value} as double) in ({number})"] if number else []
    listed = f" when {' or '.join(conditions)} then {shown}" if conditions else ""
    return f"case when {missing_as_null(value, MISSING)} is null then 'no value'{listed} end"


def _whole(column: str) -> str:
    """SQL for a column of a parquet file as text, where 3.0 is 3: parts may store an id as another kind of number."""
    numbers = f"typeof({column}) in ('DOUBLE', 'FLOAT') or typeof({column}) like 'DECIMAL%'"
    return f"case when {numbers} then regexp_replace({column}::varchar, '\\.0+$', '') else {column}::varchar end"


def _is_finite(word: object) -> bool:
    """Whether a word is a number, which a file may spell otherwise: nan and inf are words."""
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


LENGTHS = ("length_a", "length_b")
NEEDED = ("judge", "item", "model_a", "model_b", "outcome")
WINNERS = {"model_1": "a", "model_2": "b", "tie": "tie", "error": "error"}  # of MT-Bench


def verdicts_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read a table in columns that config names: judge, item, model_a, model_b, outcome, and if there the other ones.

    outcome: a, b, tie or error, model_a or model_b, or the name of the model that won; order: ab or ba, or the name of the
    model that was shown first; without that column, model_a was. settings: config's `import`.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    own = {column: file.needed(named, column) for column in NEEDED}
    others = {column: file.column(named, column) for column in VERDICT_COLUMNS if column not in NEEDED}
    own |= {column: found for column, found in others.items() if found is not None}
    texts = {
        column: f"trim({(file.number_text if column in LENGTHS else file.name_text)(found)})" for column, found in own.items()
    }
    failure = failure_of(file.text(own["outcome"]), settings.get("missing", ()))
    texts["failure"] = f"coalesce({failure}, case when lower({texts['outcome']}) = 'error' then 'outcome error' end)"
    texts["outcome"] = f"case when {texts['failure']} is not null then 'error' else {winner(texts['outcome'], texts)} end"
    shown = texts.get("order", "'ab'")
    texts["order"] = f"case {shown} when {texts['model_a']} then 'ab' when {texts['model_b']} then 'ba' else lower({shown}) end"
    if "human" in texts:
        texts["human"] = winner(texts["human"], texts)
    kept = file.kept(own.values(), VERDICT_COLUMNS)
    return Rows(selected(texts, VERDICT_COLUMNS, kept, file.source), own, tuple(kept))


def winner(value: str, texts: Mapping[str, str]) -> str:
    """SQL for a or b of a winner (SQL) named by either letter, by model_a or model_b, or by its model."""
    letter = f"case lower({value}) when 'model_a' then 'a' when 'model_b' then 'b' else lower({value}) end"
    return f"case {value} when {texts['model_a']} then 'a' when {texts['model_b']} then 'b' else {letter} end"


def verdicts_of_mt_bench(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read MT-Bench pair judgments (model_judgment/<judge>_pair.jsonl): two games a line, the second with the answers turned.

    Each line has question_id, model_1, model_2, judge ([name, prompt template]), g1_winner and g2_winner (model_1, model_2,
    tie or error), and turn; the second turn of question 81 is the item `81, turn 2`.
    """
    words, own = "MT-Bench pair judgments", ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "turn")
    checks = [there(field, words) for field in ("judge", *own[:-1])]
    made = "made of the scores of single answers: no pair was shown"
    checks.append(
        Check("m1_score", "m1_score is not null", made, "'import the file of single judgments, <judge>_single.jsonl'")
    )
    listed = f"{', '.join([*WINNERS][:-1])} or {[*WINNERS][-1]}"
    unknown, mend = "{0} is null or {0} not in " + str(tuple(WINNERS)), text(f"write {listed}")
    checks += [Check(game, unknown.format(game), "which is no winner", mend) for game in own[3:5]]
    fields = {"judge": "/judge/0", "plain_judge": "/judge", **{key: f"/{key}" for key in (*own, "m1_score")}}
    keys = create_objects(connection, path, fields, checks, table="objects")
    games = "(values ('ab', 'g1_winner'), ('ba', 'g2_winner')) as games(shown, game)"
    winner = "case game when 'g1_winner' then g1_winner else g2_winner end"
    outcome = " ".join(f"when {text(word)} then {text(letter)}" for word, letter in WINNERS.items())
    columns = {
        "judge": "coalesce(judge, plain_judge)", "model_a": "model_1", "model_b": "model_2", "order": "shown",
        "item": "question_id || case when coalesce(turn, '1') = '1' then '' else ', turn ' || turn end",
        "outcome": f"case {winner} {outcome} end",
        "failure": f"case when {winner} = 'error' then 'no winner in the judgment (error)' end",
    }  # fmt: skip
    kept = kept_fields((key for key in keys if key not in (*own, "judge")), VERDICT_COLUMNS)
    kept |= {"turn": "turn", "judge_prompt": "json_extract_string(json, '/judge/1')"}
    source = f"(select * from objects cross join {games})"
    return Rows(selected(columns, VERDICT_COLUMNS, kept, source), {"outcome": "g1_winner"}, tuple(kept))


COLUMNS = {"judge": (), "model": (), "prompt": ("prompt_id",), "rating": ()}  # key of config -> other names by default
OPTIONAL = {"dimension": (), "dataset": (), "human": ("gt",), "length": ("pred_length",)}
SCORES = ("rating", "gt")
NO_NUMBER = "score is not null and try_cast(score as double) is null"
RENAMED = {"prompt": "prompt_id", "human": "gt", "length": "pred_length"}  # key of config -> column of the table


def ratings_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table in columns that config names: judge, model, prompt, rating, and if there dimension, dataset, human, length.

    settings: config's `import`. scales: the dimensions of the study; where the file has no column for them, the only one.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    found = {key: file.needed(named, key, or_else=names) for key, names in COLUMNS.items()}
    found |= {key: file.column(named, key, or_else=names) for key, names in OPTIONAL.items()}
    if found["dimension"] is None and len(scales) != 1:
        found["dimension"] = file.needed(named, "dimension")
    own = {RENAMED.get(key, key): column for key, column in found.items() if column is not None}
    names = ("judge", "model", "prompt_id", "dimension", "dataset")
    texts = {column: f"trim({file.name_text(own[column])})" for column in names if column in own}
    texts |= {"pred_length": file.number_text(own["pred_length"])} if "pred_length" in own else {}
    texts = {"dimension": text(scales[0]), "dataset": text(ALL)} | texts
    failures = {column: failure_of(file.text(own[column]), settings.get("missing", ())) for column in SCORES if column in own}
    texts |= {column: f"case when {why} is null then trim({file.text(own[column])}) end" for column, why in failures.items()}
    texts["failure"] = failures["rating"]
    kept = file.kept(own.values(), RATING_COLUMNS)
    return Rows(selected(texts, RATING_COLUMNS, kept, file.source), own, tuple(kept))


def ratings_of_mt_bench(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read MT-Bench single judgments (model_judgment/<judge>_single.jsonl), whose dimensions are `turn 1` and `turn 2`.

    Each line has question_id, model, judge ([name, prompt template]), score (-1: the judge's answer held none) and turn.
    """
    words, own = "MT-Bench single judgments", ("question_id", "model", "score", "turn")
    checks = [there(field, words) for field in ("question_id", "model", "judge", "score")]
    checks.append(Check("score", NO_NUMBER, "which is no number", "'write a number, or -1 if the judge gave none'"))
    fields = {"judge": "/judge/0", "plain_judge": "/judge", **{key: f"/{key}" for key in own}}
    keys = create_objects(connection, path, fields, checks, table="objects")
    failure = """case when json_extract_string(json, '/judgment') = '$ERROR$' then 'the call failed ($ERROR$)'
                      when coalesce(try_cast(score as double), -1) = -1 then 'no score in the judgment (-1)' end"""
    columns = {
        "judge": "coalesce(judge, plain_judge)", "model": "model", "prompt_id": "question_id", "dataset": "'mt-bench'",
        "dimension": "'turn ' || coalesce(turn, '1')", "failure": failure,
        "rating": f"case when {failure} is null then score end",
    }  # fmt: skip
    kept = kept_fields((key for key in keys if key not in (*own, "judge")), RATING_COLUMNS)
    kept |= {"judge_prompt": "json_extract_string(json, '/judge/1')"}
    named = {"prompt_id": "question_id", "rating": "score", "dimension": "turn"}
    return Rows(selected(columns, RATING_COLUMNS, kept, "objects"), named, tuple(kept))
