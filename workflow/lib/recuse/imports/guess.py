"""What a user would write to import some files: their format, or the columns of their tables, by
names and values.

Each guess is marked as one, to be checked: a column of the wrong name, or one judge for all rows,
gives other numbers.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from recuse.base.database import Connection, connect, create_table
from recuse.base.errors import ConfigError, DataError
from recuse.base.settings import in_yaml
from recuse.base.words import counted, enumerated
from recuse.data.files import MISSING, as_number, is_number, missing_as_null, reading
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
from recuse.imports.readers import TIES, create_imported, recognised
from recuse.imports.rows import BOOLEAN_WORDS, Table

ASKED = "asked: "  # before the question beside a key that is left empty
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?")
ROWS = 20_000  # of a file that are looked at
MOST_NAMES = 60  # different judges or models of a column
MOST_LEVELS = 101
REPEATS = 5  # rows with the same judge, model and prompt that are usual
# Share of a column's values that are numbers, or names of models, for it to be one of these
LEAST = 0.75
# Words in the names of columns, the best first.
WORDS = {
    "human": "human gt gold expert annotation reference groundtruth truth",
    "rating": "rating score grade mark points stars value passed correct pass verdict label result",
    "model_a": "modela model1 left assistanta responsea answera systema generator1",
    "model_b": "modelb model2 right assistantb responseb answerb systemb generator2",
    "outcome": "outcome winner preference preferred choice vote verdict",
    "order": "order position shown first swapped flipped reversed swap flip game",
    "judge": "judge grader evaluator autorater annotator scorer critic rater",
    "model": "model candidate generator system respondent llm author assistant target",
    "dimension": "dimension metric criterion criteria aspect attribute rubric quality",
    "dataset": "dataset benchmark corpus source subset",
    "occasion": "occasion turn step round epoch",
    "length": "length tokens ntokens words",
    "rater": "rater annotator worker person who name",
    "prompt": "prompt item question qid instruction query task example sample doc id index",
}
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
NUMBERED, NAMING = ("human", "rating", "length"), ("judge", "model", "model_a", "model_b")
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
        far = [x for x in counts if x in FAILED and (x < 0 or max(scores) <= x / 9)]
        return {x: counts[x] for x in far}

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, but for some words for failures."""
        return self.filled > 0 and self.numbers + self.commas >= LEAST * self.filled

    @property
    def is_yes_or_no(self) -> bool:
        """Whether its words are of a yes-no question."""
        return bool(self.values) and {value.lower() for value in self.values} <= POLES.keys()

    def is_score(self) -> bool:
        """Whether it may hold scores: numbers of few levels, not called a count or a place."""
        few = self.fits("rating") and self.different <= MOST_LEVELS
        return few and not NOT_SCORES.search(_last(self.name).lower())

    def fits(self, role: str) -> bool:
        """Whether its values may be what a role holds."""
        if role in NUMBERED:
            return self.is_number or (role != "length" and self.is_yes_or_no)
        if role in ("prompt", "order", "rater"):
            return self.filled > 0
        if role == "occasion":
            return 1 < self.different <= MOST_LEVELS
        if role == "outcome":
            return 0 < self.different <= MOST_NAMES
        return (
            0 < self.different <= MOST_NAMES
            and (not self.is_number or role == "dimension")
            and self.different < self.filled
        )


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

    def ask(self, key: str, question: str) -> None:
        """Leave a key of `import:` empty, which `check` refuses, with a question beside it."""
        self.others[key], self.reasons[key] = None, question

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
    logs = [path for path in files if kinds[path] != "table"]
    tables = {path: profiled(connection, path) for path in files if kinds[path] == "table"}
    parts = [_guess_table(path, columns) for path, columns in tables.items()]
    compared = any(FORMATS[kinds[path]].holds == (COMPARED,) for path in logs) or any(
        "model_a" in part.columns for part in parts
    )
    by_judge = [part for part in parts if "judge" in part.columns or part.role == "judge"]
    if logs and FORMATS[kinds[logs[0]]].holds:
        main = _guess_logs(kinds[logs[0]], logs, compared)
        references = [
            _guess_table(path, columns, of_humans=not compared) for path, columns in tables.items()
        ]
    else:
        rated = by_judge or [part for part in parts if not _is_of_humans(part.files[0])] or parts
        if not rated:
            raise DataError(
                f"{files[0]}: found {FORMATS[kinds[files[0]]].words}, which holds no judgments;"
                " name those, too"
            )
        same = [part for part in rated if part.columns == rated[0].columns]
        main, references = _merged(same), [part for part in parts if part not in same]
        references = [
            _guess_table(part.files[0], tables[part.files[0]], of_humans=not compared)
            for part in references
        ]
        references += [Guess(kinds[path], [path]) for path in logs]
    if references and main.columns.pop("human", None) is not None:
        references[0].note = "; human scores in the files above are left out"
    _complete(main, compared)
    people = _merged(references) if references else None
    if people is not None and people.format == "table":
        _read_words(people, compared, main.models)
    for part in filter(None, (main, people)):
        part.files = _as_folders(paths, part.files)
    return "\n".join(_lines(study, main, people, compared)) + "\n"


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
    file, columns = Table(connection, path, {}, table="guessed_objects"), []
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
    objects = (
        "select count(value), count(*) filter (case when json_valid(value) then json_type(value)"
        f" end = 'OBJECT') from {rows}"
    )
    filled, of_objects = connection.execute(objects).fetchone()
    if filled and filled == of_objects and depth:
        keys = (
            f"select distinct unnest(json_keys(value)) as key from {rows} order by key limit"
            f" {MOST_NAMES}"
        )
        for (key,) in connection.execute(keys).fetchall():
            yield from _profiled(
                connection, file, file.existing("rating", f"{name}.{key}"), depth=depth - 1
            )
        return
    commas = "count(*) filter (regexp_full_match(value, '[+-]?[0-9]+,[0-9]+'))"
    numbers = f"select count(distinct value), count({as_number('value')}), {commas} from {rows}"
    different, count, commas = connection.execute(numbers).fetchone()
    most = (
        f"select value, count(*) from {rows} where value is not null group by all order by 2 desc,"
        f" 1 limit {MOST_NAMES + 1}"
    )
    values = dict(connection.execute(most).fetchall())
    yield GuessedColumn(
        name,
        values,
        filled,
        different,
        count,
        commas,
    )


def _guess_table(path: str, columns: Sequence[GuessedColumn], *, of_humans: bool = False) -> Guess:
    """The columns of a table by their roles: by name if their values fit, then by their values
    alone.

    of_humans: it holds human scores, by one rater in each of several columns, or named in a column.
    """
    left = {column.name: column for column in columns if column.filled}
    compared = all(_named(left.values(), role) for role in ("model_a", "model_b"))
    chosen: dict[str, GuessedColumn] = {}
    result = Guess("table", [path])
    like_models = [
        column
        for column in left.values()
        if column.fits("rating") and known_family(_last(column.name))
    ]
    aside = (
        {column.name: left.pop(column.name) for column in like_models}
        if len(like_models) > 1
        else {}
    )
    roles = (
        VERDICT_ROLES if compared else ("rater", *RATING_ROLES[2:]) if of_humans else RATING_ROLES
    )
    for role in roles:
        kind = "outcome" if compared and role == "human" else role
        within = _repeated_columns(left.values(), chosen) if role == "prompt" else left.values()
        if not (role == "rating" and aside) and (column := _named(within, role, kind)):
            chosen[role] = left.pop(column.name)
            result.reasons[role] = "by its name"
    left |= aside
    wide = [] if compared or "rating" in chosen else _wide(left, chosen, of_humans=of_humans)
    if wide:
        names = _levels(wide)
        result.role = "judge" if "judge" not in chosen and "model" in chosen else "dimension"
        result.role = result.role if "model" in chosen else "model"
        if of_humans:
            result.role = "rater" if "model" in chosen else "model"
            names = (
                {_last(name): name for name in names}
                if isinstance(names, list) and "model" not in chosen
                else names
            )
        result.columns["rating"] = names
        result.reasons["rating"] = f"one column for each {result.role}"
        result.scores += wide
        for column in wide:
            left.pop(column.name)
    words = _named(left.values(), "rating", "dimension") if not (wide or compared) else None
    if "rating" not in chosen and words is not None:
        chosen["rating"] = left.pop(words.name)
        result.reasons["rating"] = "by its name"
    for role, column in chosen.items():
        key = "item" if compared and role == "prompt" else role
        result.columns[key] = column.name
        result.reasons[key] = result.reasons.pop(role)
        if role in NAMING:
            (result.judges if role == "judge" else result.models).extend(column.values)
            result.reasons[key] += f", {counted(column.different, 'name')}"
    if "order" in chosen and not {*map(str.lower, chosen["order"].values)} <= {
        *ORDERS,
        *map(str.lower, result.models),
    }:
        result.columns["order"] = None
        result.reasons["order"] = (
            f"does `{chosen['order'].name}` say which answer was shown first? Then name a column of"
            " ab (that of model_a), ba or names of models here, else delete this line"
        )
    result.scores += [chosen[role] for role in ("rating", "human", "outcome") if role in chosen]
    more = [column.name for column in left.values() if not compared and _named([column], "human")]
    if "human" in chosen and more:
        result.reasons["human"] += f"; left out: {enumerated(more)}"
    if result.role in ("judge", "model"):
        asked = result.columns["rating"]
        named = asked if isinstance(asked, Mapping) else map(_last, asked)
        (result.judges if result.role == "judge" else result.models).extend(named)
    return result


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


def _named(
    columns: Collection[GuessedColumn], role: str, kind: str | None = None
) -> GuessedColumn | None:
    """The column whose name is most like a role's words, and whose values fit the role, or the role
    `kind`.
    """
    best = None
    for place, column in enumerate(columns):
        parts = re.findall(
            r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _last(column.name)).lower()
        )
        whole, names = "".join(parts), {*parts, *(part.removesuffix("s") for part in parts)}
        for rank, word in enumerate(WORDS[role].split()):
            grade = (
                0
                if whole == word
                else 1
                if word in names
                else 2
                if len(word) > 4 and word in whole
                else None
            )
            if (
                grade is not None
                and column.fits(kind or role)
                and not _names_another_role(role, parts)
            ):
                best = min(
                    filter(None, [best, (grade, rank, place, column)]), key=lambda of: of[:3]
                )
    return best and best[3]


def _names_another_role(role: str, parts: Sequence[str]) -> bool:
    """Whether a name such as `judge_model` or `human_score` says another role than its last
    word.
    """
    names = {*parts}
    judges = names & {"judge", "grader", "evaluator", "autorater", "scorer"}
    if role == "model":
        return bool(judges)
    if role in ("rating", "outcome"):
        return bool(names & {"human", "gold", "gt", "expert"})
    if role == "occasion":
        return bool(names & {"n", "num", "total", "max", "count"})
    return role in ("prompt", "dimension", "dataset") and bool(
        judges or names & {"model", "human", "score", "rating"}
    )


def _wide(
    left: Mapping[str, GuessedColumn], chosen: Mapping[str, GuessedColumn], *, of_humans: bool
) -> list[GuessedColumn]:
    """Columns of ratings that stand side by side: named like models, or like nothing else, where
    judge and model are known.
    """
    numbers = [column for column in left.values() if column.is_score()]
    of_models = [
        column
        for column in numbers
        if known_family(_last(column.name)) or _last(column.name) in _models(chosen)
    ]
    if len(of_models) > 1 and not {"judge", "model"} <= chosen.keys():
        return of_models
    needed = {"model"} if of_humans else {"judge", "model"}
    return numbers if len(numbers) > 1 and needed <= chosen.keys() else []


def _models(chosen: Mapping[str, GuessedColumn]) -> set[str]:
    return {value for role in ("judge", "model") if role in chosen for value in chosen[role].values}


def _is_of_humans(path: str) -> bool:
    """Whether the name of a file says that it holds human scores."""
    return bool(re.search("human|gold|annotat", Path(path).stem.lower()))


def _levels(wide: Sequence[GuessedColumn]) -> list[str] | dict[str, str]:
    """The columns as config names them: those whose names end alike, as in `gpt-4o_score`, by their
    beginnings.
    """
    names = [_last(column.name) for column in wide]
    ends = re.compile(r"[ _.-](rating|score|grade|mark|points|result)s?$", re.IGNORECASE)
    if all(map(ends.search, names)):
        return {ends.sub("", name): column.name for name, column in zip(names, wide, strict=True)}
    return [column.name for column in wide]


def _last(name: str) -> str:
    """The last key of a path, unless the dot is that of a version, as in gpt-4.1."""
    return re.split(r"\.(?!\d)", name)[-1]


def _merged(parts: Sequence[Guess]) -> Guess:
    """The guesses about files with the same columns as one; the columns are those of the first."""
    first = parts[0]
    same = [part for part in parts if part.columns == first.columns]
    return replace(
        first,
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
    connection = None
    while connection is None:
        try:
            connection = _imported(result, kind)
        except (ConfigError, NotNamed) as error:
            part = error.part if isinstance(error, NotNamed) else "judge"
            if part in result.columns or part in result.others:
                raise
            if part == "judge":
                result.others["judge"] = "judge"
                result.reasons["judge"] = "the log names none: write its name"
            else:
                result.columns[part] = {"value": part}
        except DataError as error:
            if not compared:
                raise
            result.note = str(error)
            return result
    if not compared:
        _add_ends(connection, result)
    roles = {"judge": result.judges} | dict.fromkeys(
        ("model_a", "model_b") if compared else ("model",), result.models
    )
    for role, names in roles.items():
        listed = f"select distinct {role} from imported where {role} is not null order by all"
        found = [name for (name,) in connection.execute(listed).fetchall()]
        names += found if role not in result.columns else []
    for key in result.columns:
        result.columns[key] = None
        result.reasons[key] = (
            f"which key of a record names the {key}? As in `metadata.{key}`, or, if it is one for"
            " all, `{value: <its name>}`"
        )
    return result


def _imported(part: Guess, kind: str) -> Connection:
    """A connection with the view `imported` of what the guessed settings read."""
    keys = ("judge", "values", "decimal")
    settings = {key: part.others[key] for key in keys if part.others.get(key) is not None}
    if part.columns:
        columns = {key: column for key, column in part.columns.items() if column is not None}
        settings |= {"missing": part.failures, "columns": columns}
    connection = connect()
    create_table(connection, "registry", "id varchar, name varchar", ())
    create_imported(connection, part.files, settings, kind)
    return connection


def _add_ends(connection: Connection, part: Guess) -> None:
    """Add the lowest and highest score in `imported`, of each dimension if their scales differ, and
    whether 0 may mark a failure.
    """
    query = f"""
        select dimension, min(x), max(x),
               min(x) = 0 and max(x) <= 10 and count(distinct x) > 2 and min(x) filter (x > 0) >= 1
        from (select dimension, unnest([{as_number("rating")}, {as_number("gt")}]) as x from imported)
        where x is not null group by all order by all"""
    for dimension, low, high, zero in connection.execute(query).fetchall():
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
        main.columns[key] = {"value": key}
        main.reasons[key] = f"no column names the {key}: write its name"
        if len(main.files) > 1:
            main.reasons[key] += f"; if each file is of another {key}, add a column for it"
    _read_words(main, compared, main.models)
    connection = _imported(main, COMPARED if compared else RATED)
    if compared:
        one_order = connection.execute("""
            select 1 from imported group by judge, item, list_sort([model_a, model_b])
            having count(distinct [model_a, "order"]) = 1 limit 1""").fetchone()
        main.single = one_order is not None and main.columns.get("order", "") is not None
    else:
        _add_ends(connection, main)
        _tell_repeats_apart(connection, main)


def _read_words(part: Guess, compared: bool, models: Sequence[str]) -> None:
    """Add how the words and numbers of a table's columns of scores are read."""
    if any(column.commas for column in part.scores):
        part.others["decimal"] = ","
        part.reasons["decimal"] = "numbers such as 7,5"
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
        part.ask("values", _question(left, read_as))
        return
    if read_as and "order" in part.columns:
        part.ask(
            "values",
            "do these words name models, or the answers shown first and second? For models write"
            f" `{_yaml(read_as)}`; for places, write the models that won into the file",
        )
    elif read_as:
        part.others["values"] = read_as
        part.reasons["values"] = "words for the answers"
    if left:
        part.others["missing"] = left
        part.reasons["missing"] = "rare, and neither answer: failed judgments?"


def _without_nouns(word: str) -> str:
    """A word for an answer without brackets, hyphens and a noun such as `assistant`."""
    return NOUN.sub("", re.sub(r"[\s_-]+", " ", re.sub(r"[][]", "", word)).strip())


def _question(words: Sequence[str], read_as: Mapping[str, str]) -> str:
    """What to ask about words for answers; read_as: those that are known."""
    numbers = sorted(words, key=float) if all(map(is_number, words)) else []
    if [*map(float, numbers)] in ([0, 1], [-1, 1], [0, 0.5, 1], [-1, 0, 1]):
        low, *middle, high = numbers
        tied = dict.fromkeys(middle, "tie")
        ways = [
            _yaml({low: low_wins, **tied, high: high_wins}) for low_wins, high_wins in ("ba", "ab")
        ]
        return (
            f"which answer won at {high}: that of model_a, `{ways[0]}`, or that of model_b,"
            f" `{ways[1]}`?"
        )
    example = {**read_as, **dict.fromkeys(words[:5], "<a, b or tie>")}
    return (
        f"which answer won at {enumerated(words, most=5)}? Write it, as in `{_yaml(example)}`;"
        " words for failures go under `missing:`"
    )


def _read_ratings(part: Guess, counts: Counter[str], most: float) -> None:
    """Add what words stand for among ratings, and which words and numbers mark failures; ask about
    frequent ones.

    counts, most: as of `_read_answers`.
    """
    words = [word for word in counts if not NUMBER.fullmatch(word)]
    poles = {word: POLES[word] for word in POLES if word in words}
    if 1 in poles.values() or (poles and not any(column.numbers for column in part.scores)):
        part.others["values"] = poles
        part.reasons["values"] = "words of a yes-no question"
    failures = [word for word in words if word not in part.others.get("values", {})]
    only_words = len(words) == len(counts) and not poles
    if any(only_words or counts[word] > most for word in failures):
        part.ask(
            "values",
            f"what do {enumerated(failures, most=5)} count? Write it, as in `{{{failures[0]}: 1}}`;"
            " words for failures go under `missing:`",
        )
        failures = []
    isolated: Counter[float] = Counter()
    for column in part.scores:
        isolated.update(column.failures())
    listed = part.failures = [*failures, *(f"{x:g}" for x in sorted(isolated))]
    if any(count > most for count in isolated.values()):
        question = "does this mark failed judgments, and not a score? Then write"
        part.ask("missing", f"{question} `{_yaml(listed)}`, else delete this line")
    elif listed:
        part.others["missing"] = listed
        part.reasons["missing"] = "rare, and no numbers or far from the scores: failed judgments?"


def _tell_repeats_apart(connection: Connection, main: Guess) -> None:
    """Leave out the column of the occasion if it is not needed, and ask what tells repeated ratings
    of one answer apart if it does not.
    """

    def repeated(*occasion: str) -> bool:
        by = ", ".join(("judge", "model", "prompt_id", "dimension", "dataset", *occasion))
        query = f"select 1 from imported group by {by} having count(*) > 1 limit 1"
        return connection.execute(query).fetchone() is not None

    if not repeated():
        main.columns.pop("occasion", None)
    elif repeated("occasion"):
        main.ask(
            "repeats",
            "some answers are rated more than once by one judge: which column tells these ratings apart?"
            " If the model answered again, write `occasion: <it>` under `columns:` in place of this"
            " line, if the judge was asked again, `replicate: <it>`; else `mean` here",
        )


def _lines(study: str, main: Guess, references: Guess | None, compared: bool) -> Iterator[str]:
    """The lines of the YAML file."""
    yield (
        "# Check every line with `guessed`; then `recuse check` on this file says what the data"
        " support."
    )
    yield f"{COMPARED if compared else RATED}:"
    yield f"  {study}:"
    yield f"    title: {in_yaml(study)}"
    yield from (f"    # not read: {line}" for line in main.note.splitlines())
    yield "    import:"
    yield from _import_lines(main, "      ")
    if references is not None:
        yield (
            "      references:  # guessed: a file without judges is of human"
            f" scores{references.note}"
        )
        keys = (
            ("item", "model_a", "model_b", "human")
            if compared
            else ("model", "prompt", "dimension", "dataset", "rating", "rater")
        )
        columns = {key: value for key, value in references.columns.items() if key in keys}
        if compared and "human" not in columns and "outcome" in references.columns:
            columns["human"] = references.columns["outcome"]
        if not compared and "rating" not in columns and "human" in references.columns:
            columns["rating"] = references.columns["human"]
        words = ("values", "missing", "decimal")
        others = {key: value for key, value in references.others.items() if key in words}
        yield from _import_lines(replace(references, columns=columns, others=others), "        ")
    if compared:
        if main.single:
            yield "    both_orders: false  # guessed: some comparisons are in one order only"
    else:
        yield _scales_line(main)
    models = main.models + (references.models if references is not None else [])
    families = group_families(main.judges, models)
    if families:
        yield (
            "    families:  # guessed: from how the names begin; others are families of their own; in"
            " brackets, other spellings of one model"
        )
        for family, members in families.items():
            written = members if any(members.values()) else list(members)
            yield f"      {in_yaml(family)}: {_yaml(written)}"


def _scales_line(main: Guess) -> str:
    if FORMATS[main.format].scale is not None:
        low, high = FORMATS[main.format].scale
        return f"    scales: {{default: [{low}, {high}]}}  # that of {FORMATS[main.format].words}"
    if not main.ends:
        return f"    scales:  # {ASKED}what are the lowest and highest rating? As in `{{default: [1, 5]}}`"
    scales = ", ".join(
        f"{in_yaml(name)}: [{low:g}, {high:g}]" for name, (low, high) in main.scales.items()
    )
    usual = "a usual scale for these scores"
    reason = "the lowest and highest score" if main.scales == main.ends else usual
    if main.zero:
        reason += "; does 0 mark a failure? then `missing: [0]` under `import`, and the scale begins with 1"
    return f"    scales: {{{scales}}}  # guessed: {reason}"


def _import_lines(part: Guess, indent: str) -> Iterator[str]:
    yield f"{indent}files: {_yaml(part.files[0] if len(part.files) == 1 else part.files)}"
    if part.format != "table":
        yield f"{indent}format: {part.format}  # guessed: {FORMATS[part.format].words}, by its keys"
    if part.columns:
        yield f"{indent}columns:"
    for key, column in sorted(part.columns.items(), key=lambda entry: ORDER.index(entry[0])):
        yield f"{indent}  {_line(key, column, part.reasons.get(key, 'by its name'))}"
    for key, value in part.others.items():
        yield f"{indent}{_line(key, value, part.reasons.get(key))}"


def _line(key: str, value: object, reason: str | None) -> str:
    """A key with its value and the reason; without a value the reason is a question."""
    if value is None:
        return f"{key}:  # {ASKED}{reason}"
    return f"{key}: {_yaml(value)}" + (f"  # guessed: {reason}" if reason else "")


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
    return in_yaml(value)
