"""What a user would write to import some files: their format, or the columns of their tables, by
names and values.

Each guess is marked as one, to be checked: a column of the wrong name, or one judge for all rows,
gives other numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import NamedTuple

from recuse.base.database import Connection, connect, exists, values_in
from recuse.base.errors import ConfigError, DataError
from recuse.base.places import WORKFLOW
from recuse.base.settings import in_yaml
from recuse.base.templates import environment
from recuse.data.files import MISSING, is_number, missing_as_null, reading
from recuse.data.registry import (
    COMPARED,
    DEFAULT,
    FORMATS,
    RATED,
    files_in,
    usual_scale,
)
from recuse.data.verdicts import ORDERS
from recuse.imports.formats import LABELS
from recuse.imports.logs import NotNamed
from recuse.imports.names import group_families, known_family
from recuse.imports.readers import TIES, create_imported, recognised, score_ends
from recuse.imports.rows import BOOLEAN_WORDS, Table
from recuse.imports.settings import ColumnsOfReferences
from recuse.imports.words import fault, guessed

TEMPLATE = WORKFLOW / "report" / "guessed.yaml.j2"
ASKED = "asked: "  # before the question beside a key that is left empty
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?")
ROWS = 20_000  # of a file that are looked at
MOST_NAMES = 60  # different judges or models of a column
MOST_LEVELS = 101
REPEATS = 5  # rows with the same judge, model and prompt that are usual
# Share of a column's values that are numbers, or names of models, for it to be one of these
LEAST = 0.75
RATING_ROLES = (
    "human",
    "judge",
    "model",
    "rating",
    "dimension",
    "dataset",
    "occasion",
    "length",
    "prompt",
)
HUMAN_ROLES = ("rater", *RATING_ROLES[2:])
VERDICT_ROLES = ("model_a", "model_b", "outcome", "judge", "human", "prompt", "order")
ORDER = [
    "judge",
    "model",
    "model_a",
    "model_b",
    "prompt",
    "item",
    "dimension",
    "dataset",
    "occasion",
    "rating",
    "outcome",
    "order",
    "human",
    "length",
    "rater",
]
NAMING = ("judge", "model", "model_a", "model_b")
FAILED = (-9999, -999, -99, -9, -1, 99, 999, 9999)  # numbers that often mark a failure
MANY, FEW = 0.1, 2  # share and number of values above which none marks a failure by guess
POLES = {  # of a yes-no question, in lower case
    **dict.fromkeys(("true", "yes", "y", "t", "pass", "passed", "correct", "right"), 1),
    **dict.fromkeys(("false", "no", "n", "f", "fail", "failed", "incorrect", "wrong"), 0),
}
# Words for the outcome of a comparison, without brackets, hyphens and the noun before them
ANSWERS = {
    **dict.fromkeys(("a", "left", "first", "1"), "a"),
    **dict.fromkeys(("b", "right", "second", "2"), "b"),
    **dict.fromkeys(("tie", "tied", "draw", "both", "neither", "equal", "same", "c"), "tie"),
    **dict.fromkeys(("both good", "both bad", "bothbad", "tie (bothbad)", "1.5"), "tie"),
}
NOUN = re.compile(
    "^(the )?(assistant|answer|response|model|option|output|completion|system) ?(?=.)"
)
REPEATED_SIGN = re.compile(r"([<>=~])\1+")  # as in `A>>>B`
AS_THEY_ARE = {"a", "b", "tie", "error", "model_a", "model_b", *TIES}
INDEXES = {"1", "2", "1.5"}  # numbers that name the first answer, the second, and both
# Columns of numbers with these names are not scores, however few values they have
NOT_SCORES = re.compile(
    "(^|_)(n|num|number|count|len|length|words?|chars?|tokens?|turn|step|round|epoch|seed|run|trial"
    "|rank|index|idx|id|time|seconds|latency|cost|price|temperature|year|date)(_|$)"
)


@dataclass(frozen=True)
class GuessedColumn:
    """A column of a table, or a value within one, by what is in its first rows."""

    name: str
    values: Mapping[str, int]  # the most frequent, with their numbers
    filled: int  # values
    different: int
    numbers: int
    commas: int = 0  # values with a decimal comma

    @property
    def last_key(self) -> str:
        """The last key of its path, unless the dot is that of a version, as in gpt-4.1."""
        return re.split(r"\.(?!\d)", self.name)[-1]

    @property
    def words(self) -> list[str]:
        """The words of its name, in lower case."""
        apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.last_key)
        return re.findall(r"[a-z]+|\d+", apart.lower())

    def counts(self) -> dict[float, int]:
        """How often each of its numbers occurs, as far as they are listed."""
        return {
            float(v.replace(",", ".")): n for v, n in self.values.items() if NUMBER.fullmatch(v)
        }

    def failures(self) -> dict[float, int]:
        """Those of its numbers that look like failures, and how often each occurs.

        A failure is one of FAILED, beside scores from 0 up that it is far from; -1 beside 0 and 1
        alone may be a score.
        """
        counts = self.counts()
        scores = [x for x in counts if x not in FAILED]
        if not scores or min(scores) < 0 or {*scores} <= {0, 1}:
            return {}
        return {x: n for x, n in counts.items() if x in FAILED and (x < 0 or max(scores) <= x / 9)}

    def is_number(self) -> bool:
        """Whether it holds numbers, but for some words for failures."""
        return self.filled > 0 and self.numbers + self.commas >= LEAST * self.filled

    def is_rating(self) -> bool:
        """Whether it holds numbers, or words of a yes-no question."""
        of_poles = bool(self.values) and {value.lower() for value in self.values} <= POLES.keys()
        return self.is_number() or of_poles

    def is_score(self) -> bool:
        """Whether it may hold scores: ratings of few levels, not called a count or a place."""
        few = self.is_rating() and self.different <= MOST_LEVELS
        return few and not NOT_SCORES.search(self.last_key.lower())

    def is_outcome(self) -> bool:
        """Whether it has few values."""
        return 0 < self.different <= MOST_NAMES

    def is_label(self) -> bool:
        """Whether it has few values, and some of them in several rows."""
        return self.is_outcome() and self.different < self.filled

    def is_name(self) -> bool:
        """Whether it holds labels that are not numbers."""
        return self.is_label() and not self.is_number()

    def is_occasion(self) -> bool:
        """Whether it tells some rows apart, but not all."""
        return 1 < self.different <= MOST_LEVELS


class Role(NamedTuple):
    """What a column may stand for."""

    words: str  # in its name, the best first
    never: str = ""  # words of its name that say another role
    # Whether its values, of which there are some, may be such
    fits: Callable[[GuessedColumn], bool] = lambda column: True


JUDGES, HUMANS = "judge grader evaluator autorater scorer", "human gold gt expert"
SCORES = "score rating grade"
OTHERS = f"{JUDGES} {SCORES} model human"
ROLES = {
    "human": Role(
        "human gt gold expert annotation reference groundtruth truth",
        fits=GuessedColumn.is_rating,
    ),
    "rating": Role(
        "rating score grade mark points stars value passed correct pass verdict label result",
        HUMANS,
        GuessedColumn.is_rating,
    ),
    "model_a": Role(
        "modela model1 left assistanta responsea answera systema generator1",
        fits=GuessedColumn.is_name,
    ),
    "model_b": Role(
        "modelb model2 right assistantb responseb answerb systemb generator2",
        fits=GuessedColumn.is_name,
    ),
    "outcome": Role(
        "outcome winner preference preferred choice vote verdict", HUMANS, GuessedColumn.is_outcome
    ),
    "order": Role("order position shown first swapped flipped reversed swap flip game"),
    "judge": Role(
        "judge grader evaluator autorater annotator scorer critic rater",
        SCORES,
        GuessedColumn.is_name,
    ),
    "model": Role(
        "model candidate generator system respondent llm author assistant target",
        f"{JUDGES} {SCORES}",
        GuessedColumn.is_name,
    ),
    "dimension": Role(
        "dimension metric criterion criteria aspect attribute rubric quality",
        OTHERS,
        GuessedColumn.is_label,
    ),
    "dataset": Role(
        "dataset benchmark corpus source subset",
        OTHERS,
        GuessedColumn.is_name,
    ),
    "occasion": Role(
        "occasion turn step round epoch", "n num total max count", GuessedColumn.is_occasion
    ),
    "length": Role("length tokens ntokens words", fits=GuessedColumn.is_number),
    "rater": Role("rater annotator worker person who name", SCORES),
    "prompt": Role(
        "prompt item question qid instruction query task example sample doc id index", OTHERS
    ),
}


LABELS_OF_HUMANS = ROLES["human"]._replace(fits=GuessedColumn.is_outcome)
RATINGS_IN_WORDS = ROLES["rating"]._replace(fits=GuessedColumn.is_label)


@dataclass
class Guess:
    """What is written for some files."""

    format: str
    files: list[str]
    # Key of `columns:` -> column, columns or constant
    columns: dict[str, object] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # key -> why, as a comment
    others: dict[str, object] = field(default_factory=dict)  # further keys of `import:`
    judges: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    scores: list[GuessedColumn] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # words and numbers that may mark one
    # Lowest and highest score by dimension
    ends: dict[str, tuple[float, float]] = field(default_factory=dict)
    zero: bool = False  # whether 0 may be a score or a failure
    role: str = ""  # what each of several columns of scores stands for
    single: bool = False  # whether some comparisons are in one order only
    note: str = ""  # further words about the files, or why they cannot be read

    def set(self, key: str, value: object, why: str, /, **facts: object) -> None:
        """Add a key of `import:` with the code of the reason for its value; without a value, which
        `check` refuses, the reason is a question.
        """
        self.others[key], self.reasons[key] = value, guessed(why, **facts)

    def set_column(self, key: str, column: object, why: str, /, **facts: object) -> None:
        """The same of a key of `columns:`."""
        self.columns[key], self.reasons[key] = column, guessed(why, **facts)

    def add_names(self, role: str, names: Iterable[str]) -> None:
        """Add the names in a column of judges or models."""
        (self.judges if role == "judge" else self.models).extend(names)

    @property
    def scales(self) -> dict[str, tuple[float, float]]:
        """The usual scales on which the scores are."""
        return {name: usual_scale(*ends) for name, ends in self.ends.items()}


def guess(paths: Sequence[str], *, study: str = "mine") -> str:
    """Write the YAML file that imports the files at `paths`, each guess with a comment; the study
    is named `study`.

    Formats are recognised, columns of tables guessed from their names and values: a file without a
    judge beside one that has judges holds human scores. Raises DataError about a file that cannot
    be read, and about files of which nothing is known.
    """
    connection = connect()
    files = [file for path in paths for file in files_in(path)]
    kinds = {path: recognised(connection, path) for path in files}
    tables = {path: profiled(connection, path) for path in files if kinds[path] == "table"}
    logs = [path for path in files if path not in tables]
    parts = {path: _guess_table(path, columns) for path, columns in tables.items()}
    compared = any(FORMATS[kinds[path]].holds == (COMPARED,) for path in logs) or any(
        "model_a" in part.columns for part in parts.values()
    )
    if logs and FORMATS[kinds[logs[0]]].holds:
        main = _guess_logs(kinds[logs[0]], logs, compared)
    elif parts:
        main = _merged(_judged(parts))
    else:
        raise fault(files[0], "no_judgments", format=FORMATS[kinds[files[0]]].words)
    references = [
        _guess_table(path, tables[path], of_humans=not compared)
        if path in tables
        else Guess(kinds[path], [path])
        for path in (*tables, *logs)
        if path not in main.files
    ]
    if references and main.columns.pop("human", None) is not None:
        references[0].note = guessed("other_scores")
    _complete(main, compared)
    people = _as_references(_merged(references)) if references else None
    if people is not None and people.format == "table":
        _read_words(people, compared, main.models)
    for part in filter(None, (main, people)):
        part.files = _as_folders(paths, part.files)
    templates = environment(TEMPLATE.parent, keep_trailing_newline=True)
    templates.filters["yaml"] = _yaml
    return templates.get_template(TEMPLATE.name).render(
        study=study,
        main=main,
        people=people,
        compared=compared,
        families=group_families(main.judges, main.models + (people.models if people else [])),
        formats=FORMATS,
        order=ORDER,
        asked=ASKED,
    )


def _judged(parts: Mapping[str, Guess]) -> list[Guess]:
    """The tables of judgments, all with the same columns: those that have judges, else those whose
    names do not say that they hold human scores.
    """
    by_judge = [part for part in parts.values() if "judge" in {*part.columns, part.role}]
    judged = by_judge or [part for path, part in parts.items() if not _is_of_humans(path)]
    judged = judged or [*parts.values()]
    return [part for part in judged if part.columns == judged[0].columns]


def _as_folders(paths: Sequence[str], files: Sequence[str]) -> list[str]:
    """The files, with a folder of `paths` in place of its files if all are among them."""
    shown = []
    for path in paths:
        inside = files_in(path)
        found = [file for file in inside if file in files]
        shown += [path] if found == inside else found
    return shown


def profiled(connection: Connection, path: str) -> list[GuessedColumn]:
    """The columns of a table, and the values in its columns of objects, by its first rows;
    DataError if it cannot be read.
    """
    file, columns = Table(connection, path, {}), []
    with reading(path):
        for name in dict.fromkeys(file.columns):
            if file.columns.count(name) == 1:
                columns += _profiled(connection, file, name, depth=2)
    return columns


def _profiled(
    connection: Connection, file: Table, name: str, *, depth: int
) -> Iterator[GuessedColumn]:
    rows = (
        f"(select {missing_as_null(f'trim({file.texts[name]})', MISSING)} as value from"
        f" {file.source} limit {ROWS})"
    )
    counts = f"""
        select count(value), count(distinct value), count(as_number(value)),
               count(*) filter (regexp_full_match(value, '[+-]?[0-9]+,[0-9]+')),
               count(*) filter (case when json_valid(value) then json_type(value) end = 'OBJECT')
        from {rows}"""
    filled, different, numbers, commas, of_objects = connection.execute(counts).fetchone()
    if filled and filled == of_objects and depth:
        keys = (
            f"select distinct unnest(json_keys(value)) as key from {rows} order by key limit"
            f" {MOST_NAMES}"
        )
        for key in values_in(connection, keys):
            yield from _profiled(
                connection, file, file.existing("rating", f"{name}.{key}"), depth=depth - 1
            )
        return
    most = (
        f"select value, count(*) from {rows} where value is not null group by all order by 2 desc,"
        f" 1 limit {MOST_NAMES + 1}"
    )
    values = dict(connection.execute(most).fetchall())
    yield GuessedColumn(name, values, filled, different, numbers, commas)


def _guess_table(path: str, columns: Sequence[GuessedColumn], *, of_humans: bool = False) -> Guess:
    """The columns of a table by their roles: by name if their values fit, then by their values
    alone.

    of_humans: it holds human scores, by one rater in each of several columns, or named in a column.
    """
    left = [column for column in columns if column.filled]
    compared = all(_named(left, ROLES[role]) for role in ("model_a", "model_b"))
    # Columns that are called like models are not for one role each.
    like_models = [c for c in left if c.is_rating() and known_family(c.last_key)]
    aside = like_models if len(like_models) > 1 else []
    chosen: dict[str, GuessedColumn] = {}
    for role in VERDICT_ROLES if compared else HUMAN_ROLES if of_humans else RATING_ROLES:
        free = [column for column in left if column not in aside]
        if role == "prompt":
            free = _repeated_columns(free, chosen)
        column = _named(free, LABELS_OF_HUMANS if compared and role == "human" else ROLES[role])
        if column is not None and not (role == "rating" and aside):
            chosen[role] = column
            left.remove(column)
    result = Guess("table", [path])
    rated = compared or "rating" in chosen
    wide = [] if rated else _wide(left, chosen, of_humans=of_humans)
    if wide:
        result.role = _wide_role(chosen, of_humans=of_humans)
        by_name = of_humans and result.role == "model"
        names = _levels(wide, by_name=by_name)
        result.set_column("rating", names, "roles", role=result.role)
        result.scores += wide
        left = [column for column in left if column not in wide]
        if result.role in ("judge", "model"):
            named = names if by_name or isinstance(names, Mapping) else [c.last_key for c in wide]
            result.add_names(result.role, named)
    elif not rated and (words := _named(left, RATINGS_IN_WORDS)):
        chosen["rating"] = words
        left.remove(words)
    for role, column in chosen.items():
        key = "item" if compared and role == "prompt" else role
        result.columns[key] = column.name
        if role in NAMING:
            result.add_names(role, column.values)
            result.reasons[key] = guessed("names", different=column.different)
    if "order" in chosen:
        _ask_for_order(result, chosen["order"])
    result.scores += [chosen[role] for role in ("rating", "human", "outcome") if role in chosen]
    more = [column.name for column in left if _named([column], ROLES["human"])]
    if "human" in chosen and more and not compared:
        result.reasons["human"] = guessed("left_out", columns=more)
    return result


def _ask_for_order(result: Guess, column: GuessedColumn) -> None:
    """Ask what a column says of the order, unless by its words for orders or by names of models."""
    known = {*ORDERS, *map(str.lower, result.models)}
    if not {*map(str.lower, column.values)} <= known:
        result.set_column("order", None, "order", column=column.name)


def _repeated_columns(
    columns: Collection[GuessedColumn], chosen: Mapping[str, GuessedColumn]
) -> Collection[GuessedColumn]:
    """The columns that may be the prompt, if there are any, when each prompt has rows of several
    judges or models: else all.

    Such a column has another value in some rows only, but enough values for the rows, up to REPEATS
    by one judge of one model.
    """
    each = prod(
        chosen[role].different
        for role in ("judge", "model", "model_a", "model_b", "dimension")
        if role in chosen
    )
    several = [
        column
        for column in columns
        if column.different < column.filled <= REPEATS * each * column.different
    ]
    return (
        several
        if each > 1 and several and any(column.different == column.filled for column in columns)
        else columns
    )


def _named(columns: Collection[GuessedColumn], role: Role) -> GuessedColumn | None:
    """The column whose name is most like a role's words, and whose values fit the role."""
    alike = {column.name: _likeness(column.words, role) for column in columns if role.fits(column)}
    return min(
        (column for column in columns if alike.get(column.name)),
        key=lambda column: alike[column.name],
        default=None,
    )


def _likeness(words: Sequence[str], role: Role) -> tuple[int, int] | None:
    """How like a role's words those of a name are, the lowest first; None if they are not."""
    whole, names = "".join(words), {*words, *(word.removesuffix("s") for word in words)}
    if names & {*role.never.split()}:
        return None
    found = []
    for rank, word in enumerate(role.words.split()):
        if word == whole:
            found.append((0, rank))
        elif word in names:
            found.append((1, rank))
        elif len(word) > 4 and word in whole:
            found.append((2, rank))
    return min(found, default=None)


def _wide(
    left: Collection[GuessedColumn], chosen: Mapping[str, GuessedColumn], *, of_humans: bool
) -> list[GuessedColumn]:
    """Columns of ratings that stand side by side: named like models, or like nothing else, where
    judge and model are known.
    """
    numbers = [column for column in left if column.is_score()]
    names = {name for role in chosen.keys() & {"judge", "model"} for name in chosen[role].values}
    of_models = [c for c in numbers if known_family(c.last_key) or c.last_key in names]
    needed = {"model"} if of_humans else {"judge", "model"}
    if len(of_models) > 1 and not {"judge", "model"} <= chosen.keys():
        return of_models
    return numbers if len(numbers) > 1 and needed <= chosen.keys() else []


def _wide_role(chosen: Mapping[str, GuessedColumn], *, of_humans: bool) -> str:
    """What columns of ratings stand for: the first of model, judge and dimension that has no
    column; raters, if they are human scores.
    """
    if "model" not in chosen:
        return "model"
    if of_humans:
        return "rater"
    return "dimension" if "judge" in chosen else "judge"


def _is_of_humans(path: str) -> bool:
    """Whether the name of a file says that it holds human scores."""
    return bool(re.search("human|gold|annotat", Path(path).stem.lower()))


def _levels(wide: Sequence[GuessedColumn], *, by_name: bool) -> list[str] | dict[str, str]:
    """The columns as config names them: those whose names end alike, as in `gpt-4o_score`, by their
    beginnings; by_name: others by the last key of each.
    """
    names = [column.last_key for column in wide]
    ends = re.compile(r"[ _.-](rating|score|grade|mark|points|result)s?$", re.IGNORECASE)
    if all(map(ends.search, names)):
        names, by_name = [ends.sub("", name) for name in names], True
    columns = [column.name for column in wide]
    return dict(zip(names, columns, strict=True)) if by_name else columns


def _merged(parts: Sequence[Guess]) -> Guess:
    """The guesses about files with the columns of the first as one; a note names the others."""
    first, note = parts[0], parts[0].note
    same = [part for part in parts if part.columns == first.columns]
    others = [path for part in parts if part.columns != first.columns for path in part.files]
    if others:
        note += guessed("other_columns", files=others)
    return replace(
        first,
        note=note,
        files=[path for part in same for path in part.files],
        judges=[name for part in parts for name in part.judges],
        models=[name for part in parts for name in part.models],
        scores=[s for p in same for s in p.scores],
    )


def _guess_logs(format: str, paths: Sequence[str], compared: bool) -> Guess:
    """What a log in a format of another tool needs beside its name: the judge, if it names none,
    and the scales it shows.

    What is wrong with a file of comparisons is a note; DataError about one of ratings.
    """
    result, kind = Guess(format, list(paths)), COMPARED if compared else RATED
    if kind not in FORMATS[format].holds:
        return result
    try:
        connection = _read_log(result, kind)
    except DataError as error:
        if not compared:
            raise
        result.note = str(error)
        return result
    if not compared:
        _add_ends(connection, result)
    for role in ("judge", "model_a", "model_b") if compared else ("judge", "model"):
        if role not in result.columns:
            listed = f"select distinct {role} from imported where {role} is not null order by all"
            result.add_names(role, values_in(connection, listed))
    for key in result.columns:
        result.set_column(key, None, "key_of_record", key=key)
    return result


def _read_log(result: Guess, kind: str) -> Connection:
    """A connection with the view `imported` of a log; each part that no record names is added to
    the guess, with its own name as the value.
    """
    while True:
        try:
            return _imported(result, kind)
        except (ConfigError, NotNamed) as error:
            part = error.part if isinstance(error, NotNamed) else "judge"
            if part in {*result.columns, *result.others}:
                raise
            if part == "judge":
                result.set("judge", "judge", "no_judge")
            else:
                result.columns[part] = {"value": part}


def _imported(part: Guess, kind: str) -> Connection:
    """A connection with the view `imported` of what the guessed settings read."""
    keys = ("judge", "values", "decimal")
    settings = {key: part.others[key] for key in keys if part.others.get(key) is not None}
    if part.columns:
        columns = {key: column for key, column in part.columns.items() if column is not None}
        settings |= {"missing": part.failures, "columns": columns}
    connection = connect()
    create_imported(connection, part.files, settings, kind)
    return connection


def _add_ends(connection: Connection, part: Guess) -> None:
    """Add the lowest and highest score in `imported`, of each dimension if their scales differ, and
    whether 0 may mark a failure.
    """
    for dimension, low, high, zero in score_ends(connection):
        part.ends[dimension] = (low, high)
        part.zero = part.zero or zero
    if part.format == "table" and part.ends and len({*part.scales.values()}) == 1:
        lows, highs = zip(*part.ends.values(), strict=True)
        part.ends = {DEFAULT: (min(lows), max(highs))}


def _complete(main: Guess, compared: bool) -> None:
    """Add what the values of a table's columns of scores ask for: constants, words, decimals, a
    scale, repeats.
    """
    if main.format != "table":
        return
    known = {*main.columns, main.role}
    missing = [key for key in (("judge",) if compared else ("judge", "model")) if key not in known]
    for key in missing:
        main.set_column(key, {"value": key}, "no_column", key=key, files=len(main.files))
    _read_words(main, compared, main.models)
    connection = _imported(main, COMPARED if compared else RATED)
    if compared:
        one_order = """
            select 1 from imported group by judge, item, list_sort([model_a, model_b])
            having count(distinct [model_a, "order"]) = 1"""
        main.single = exists(connection, one_order) and main.columns.get("order", "") is not None
    else:
        _add_ends(connection, main)
        _tell_repeats_apart(connection, main)


def _read_words(part: Guess, compared: bool, models: Sequence[str]) -> None:
    """Add how the words and numbers of a table's columns of scores are read."""
    if any(column.commas for column in part.scores):
        part.set("decimal", ",", "decimal")
    counts: Counter[str] = Counter()
    for column in part.scores:
        if compared or column.different <= MOST_NAMES:
            for value, n in column.values.items():
                counts[value.lower()] += n
    most = max(FEW, MANY * sum(column.filled for column in part.scores))
    if compared:
        _read_answers(part, counts, most, models)
    else:
        _read_ratings(part, counts, most)


def _read_answers(part: Guess, counts: Counter[str], most: float, models: Sequence[str]) -> None:
    """Add which answer won by each word; ask if some are open.

    counts: the words, and how often they occur. most: how often a word for failures may occur.
    """
    taken = AS_THEY_ARE | {name.lower() for name in models}
    words = [word for word in counts if word not in taken]
    numbers = [
        word
        for word in words
        if is_number(word) and not (float(word) in FAILED and counts[word] <= most)
    ]
    indexes = len(numbers) > 1 and {f"{float(word):g}" for word in numbers} <= INDEXES
    read_as: dict[str, str] = {}
    for word in words:
        shown = f"{float(word):g}" if is_number(word) else _without_nouns(word)
        if shown in ANSWERS and (indexes or not is_number(word)):
            read_as[word] = ANSWERS[shown]
        elif side := LABELS.get(REPEATED_SIGN.sub(r"\1", shown.upper().replace(" ", ""))):
            read_as[word] = side.lower()
    left = [word for word in words if word not in read_as]
    if any(counts[word] > most for word in left):
        _ask_for_answers(part, left, read_as)
        return
    if read_as and "order" in part.columns:
        part.set("values", None, "models_or_places", read_as=_yaml(read_as))
    elif read_as:
        part.set("values", read_as, "answers")
    if left:
        part.set("missing", left, "no_answers")


def _without_nouns(word: str) -> str:
    """A word for an answer without brackets, hyphens and a noun such as `assistant`."""
    return NOUN.sub("", re.sub(r"[\s_-]+", " ", re.sub(r"[][]", "", word)).strip())


def _ask_for_answers(part: Guess, words: Sequence[str], read_as: Mapping[str, str]) -> None:
    """Ask about words for answers; read_as: those that are known."""
    numbers = sorted(words, key=float) if all(map(is_number, words)) else []
    if [*map(float, numbers)] in ([0, 1], [-1, 1], [0, 0.5, 1], [-1, 0, 1]):
        low, *middle, high = numbers
        tied = dict.fromkeys(middle, "tie")
        first, second = (
            _yaml({low: low_wins, **tied, high: high_wins}) for low_wins, high_wins in ("ba", "ab")
        )
        part.set("values", None, "which_won", high=high, first=first, second=second)
        return
    example = {**read_as, **dict.fromkeys(words[:5], "<a, b or tie>")}
    part.set("values", None, "which_answers", words=words, example=_yaml(example))


def _read_ratings(part: Guess, counts: Counter[str], most: float) -> None:
    """Add what words stand for among ratings, and which words and numbers mark failures; ask about
    frequent ones.

    counts, most: as of `_read_answers`.
    """
    words = [word for word in counts if not NUMBER.fullmatch(word)]
    poles = {word: POLES[word] for word in POLES if word in words}
    failures = words
    if 1 in poles.values() or (poles and not any(column.numbers for column in part.scores)):
        part.set("values", poles, "yes_no")
        failures = [word for word in words if word not in poles]
    only_words = len(words) == len(counts) and not poles
    if any(only_words or counts[word] > most for word in failures):
        part.set("values", None, "numbers", words=failures)
        failures = []
    isolated: Counter[float] = Counter()
    for column in part.scores:
        isolated.update(column.failures())
    listed = part.failures = [*failures, *(f"{x:g}" for x in sorted(isolated))]
    if any(count > most for count in isolated.values()):
        part.set("missing", None, "failures", listed=_yaml(listed))
    elif listed:
        part.set("missing", listed, "rare")


def _tell_repeats_apart(connection: Connection, main: Guess) -> None:
    """Leave out the column of the occasion if it is not needed, and ask what tells repeated ratings
    of one answer apart if it does not.
    """

    def repeated(*occasion: str) -> bool:
        by = ", ".join(("judge", "model", "prompt_id", "dimension", "dataset", *occasion))
        return exists(connection, f"select 1 from imported group by {by} having count(*) > 1")

    if not repeated():
        main.columns.pop("occasion", None)
    elif repeated("occasion"):
        main.set("repeats", None, "repeats")


def _as_references(part: Guess) -> Guess:
    """The guess about files of human scores, with the columns that `references:` takes."""
    columns = dict(part.columns)
    if "outcome" in columns:
        columns.setdefault("human", columns["outcome"])
    taken = ColumnsOfReferences.model_fields
    return replace(part, columns={key: columns[key] for key in columns if key in taken})


def _yaml(value: object) -> str:
    """A value of config in one line; words that YAML reads as true and false stay as they are among
    the names of a mapping.
    """
    if isinstance(value, Mapping):
        pairs = (
            f"{key if key in BOOLEAN_WORDS else in_yaml(key)}: {_yaml(entry)}"
            for key, entry in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):  # the ends of a scale
        return f"[{', '.join(f'{end:g}' for end in value)}]"
    return in_yaml(value)
