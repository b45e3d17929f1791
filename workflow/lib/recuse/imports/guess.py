"""What a user would write to import some files: their format, or the columns of their tables, by
names and values.

Each guess is marked as one, to be checked: a column of the wrong name, or one judge for all rows,
gives other numbers. What names and values do not show is asked.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import NamedTuple

from recuse.base.database import Connection, connect, exists, values_in
from recuse.base.errors import DataError
from recuse.base.places import WORKFLOW
from recuse.base.settings import in_yaml
from recuse.base.templates import environment
from recuse.data.files import MISSING, is_number, missing_as_null, reading
from recuse.data.registry import COMPARED, DEFAULT, RATED, files_in, usual_scale
from recuse.data.verdicts import ORDERS
from recuse.imports.formats import LABELS
from recuse.imports.logs import NotNamed
from recuse.imports.names import group_families, known_family
from recuse.imports.readers import TIES, create_imported, recognised, score_ends
from recuse.imports.registry import FORMATS
from recuse.imports.rows import BOOLEAN_WORDS, Table
from recuse.imports.settings import ColumnsOfReferences
from recuse.imports.words import fault, guessed

TEMPLATE = WORKFLOW / "report" / "guessed.yaml.j2"
ASKED = "asked: "  # before the question beside a key that is left empty
ROWS = 20_000  # of a file that are looked at
MOST_NAMES = 60  # different judges or models of a column
MOST_LEVELS = 101
REPEATS = 5  # rows with the same judge, model and prompt that are usual
NUMERIC_SHARE = 0.75  # least share of a column's values that are numbers, if it holds numbers
# Most failures that are guessed, by their share of the scores or, if that is more, their number
RARE_SHARE, RARE_NUMBER = 0.1, 2
RATING_ROLES = ("human", "judge", "model", "rating", "dimension", "dataset", "length", "prompt")
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
    "rating",
    "outcome",
    "order",
    "human",
    "length",
    "rater",
]
NAMING = ("judge", "model", "model_a", "model_b")
FAILED = {-9999, -999, -99, -9, -1, 99, 999, 9999}  # numbers that often mark a failure
TIMES_HIGHEST = 9  # how far above the highest score such a number is at least
POLES = {  # of a yes-no question, in lower case
    **dict.fromkeys(("true", "yes", "y", "t", "pass", "passed", "correct", "right"), 1),
    **dict.fromkeys(("false", "no", "n", "f", "fail", "failed", "incorrect", "wrong"), 0),
}
# Words for the outcome of a comparison, without brackets, hyphens and the noun before them
ANSWERS = {
    **dict.fromkeys(("a", "left", "first", "1"), "a"),
    **dict.fromkeys(("b", "right", "second", "2"), "b"),
    **dict.fromkeys(("tie", "tied", "draw", "both", "neither", "equal", "same", "c"), "tie"),
    **dict.fromkeys(("both good", "both bad"), "tie"),
}
NOUN = re.compile(
    "^(the )?(assistant|answer|response|model|option|output|completion|system) ?(?=.)"
)
REPEATED_SIGN = re.compile(r"([<>=~])\1+")  # as in `A>>>B`
AS_THEY_ARE = {"a", "b", "tie", "error", "model_a", "model_b", *TIES}
# Columns of numbers with these names are not scores, however few values they have
NOT_SCORES = re.compile(
    "(^|_)(n|num|number|count|len|length|words?|chars?|tokens?|turn|step|round|epoch|seed|run|trial"
    "|rank|index|idx|id|time|seconds|latency|cost|price|temperature|year|date)(_|$)"
)
# In the names of columns of ratings, after the names of models
OF_SCORES = re.compile(r"[ _.-](rating|score|grade|mark|points|result)s?$", re.IGNORECASE)


@dataclass(frozen=True)
class GuessedColumn:
    """A column of a table, or a value within one, by what is in its first rows."""

    name: str
    values: Mapping[str, int]  # the most frequent, with their numbers
    filled: int  # values
    different: int
    numbers: int
    commas: int  # values with a decimal comma

    @property
    def last_key(self) -> str:
        """The last key of its path, unless the dot is that of a version, as in gpt-4.1."""
        return re.split(r"\.(?!\d)", self.name)[-1]

    @property
    def words(self) -> list[str]:
        """The words of its name, in lower case."""
        apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.last_key)
        return re.findall(r"[a-z]+|\d+", apart.lower())

    def is_number(self) -> bool:
        """Whether it holds numbers, but for some words for failures."""
        return self.numbers + self.commas >= NUMERIC_SHARE * self.filled

    def is_rating(self) -> bool:
        """Whether it holds numbers, or words of a yes-no question."""
        return self.is_number() or {value.lower() for value in self.values} <= POLES.keys()

    def is_score(self) -> bool:
        """Whether it may hold scores: ratings of few levels, not called a count or a place."""
        few = self.is_rating() and self.different <= MOST_LEVELS
        return few and not NOT_SCORES.search(self.last_key.lower())

    def has_few_values(self) -> bool:
        """Whether it has few values."""
        return self.different <= MOST_NAMES

    def repeats_few_values(self) -> bool:
        """Whether it has few values, and some of them in several rows."""
        return self.has_few_values() and self.different < self.filled

    def is_name(self) -> bool:
        """Whether it holds labels that are not numbers."""
        return self.repeats_few_values() and not self.is_number()


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
        "outcome winner preference preferred choice vote verdict",
        HUMANS,
        GuessedColumn.has_few_values,
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
        GuessedColumn.repeats_few_values,
    ),
    "dataset": Role(
        "dataset benchmark corpus source subset",
        OTHERS,
        GuessedColumn.is_name,
    ),
    "length": Role("length tokens ntokens words", fits=GuessedColumn.is_number),
    "rater": Role("rater annotator worker person who name", SCORES),
    "prompt": Role(
        "prompt item question qid instruction query task example sample doc id index", OTHERS
    ),
}


LABELS_OF_HUMANS = ROLES["human"]._replace(fits=GuessedColumn.has_few_values)
RATINGS_IN_WORDS = ROLES["rating"]._replace(fits=GuessedColumn.repeats_few_values)


@dataclass
class Guess:
    """What is written for some files."""

    format: str
    files: list[str]
    # Key of `columns:` -> column, columns or constant
    columns: dict[str, object] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # key -> why, as a comment
    others: dict[str, object] = field(default_factory=dict)  # further keys of `import:`
    scores: list[GuessedColumn] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # words and numbers that may mark one
    # Those that a table of pairs names, in lower case.
    models: set[str] = field(default_factory=set)
    role: str = ""  # what each of several columns of scores stands for
    note: str = ""  # further words about the files, or why they cannot be read

    def set_column(self, key: str, value: object, why: str, /, **facts: object) -> None:
        """Add a key of `columns:` with the code of the reason for its value; without a value, which
        `check` refuses, the reason is a question.
        """
        self.columns[key], self.reasons[key] = value, guessed(why, **facts)

    def set_other(self, key: str, value: object, why: str, /, **facts: object) -> None:
        """Add a further key of `import:`, as `set_column` adds one of `columns:`."""
        self.others[key], self.reasons[key] = value, guessed(why, **facts)


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
    compared = any(COMPARED in FORMATS[kinds[path]].holds for path in logs) or any(
        "model_a" in part.columns for part in parts.values()
    )
    if logs and FORMATS[kinds[logs[0]]].holds:
        main = Guess(kinds[logs[0]], logs)
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
    people = _as_references(_merged(references)) if references else None
    if people and main.columns.pop("human", None) is not None:
        people.note += guessed("other_scores")
    others = [path for part in references for path in part.files if path not in people.files]
    if others:
        people.note += guessed("other_columns", files=others)
    for part in filter(None, (main, people)):
        _read_words(part, compared, main.models)
    shown = {"families": {}, "ends": {}, "scales": {}, "zero": False, "single": False}
    shown |= _read(main, compared)
    for part in filter(None, (main, people)):
        part.files = _as_folders(paths, part.files)
    templates = environment(TEMPLATE.parent, as_yaml, keep_trailing_newline=True)
    return templates.get_template(TEMPLATE.name).render(
        study=study,
        main=main,
        people=people,
        compared=compared,
        formats=FORMATS,
        order=ORDER,
        asked=ASKED,
        **shown,
    )


def _judged(parts: Mapping[str, Guess]) -> list[Guess]:
    """The tables of judgments: those that have judges, else those whose names do not say that they
    hold human scores.
    """
    by_judge = [part for part in parts.values() if "judge" in {*part.columns, part.role}]
    of_humans = re.compile("human|gold|annotat", re.IGNORECASE)
    judged = by_judge or [p for path, p in parts.items() if not of_humans.search(Path(path).stem)]
    return judged or [*parts.values()]


def _as_folders(paths: Sequence[str], files: Sequence[str]) -> list[str]:
    """The files, with a folder of `paths` in place of its files if all are among them."""
    shown = []
    for path in paths:
        found = [file for file in files_in(path) if file in files]
        shown += [path] if found == files_in(path) else found
    return shown


def profiled(connection: Connection, path: str) -> list[GuessedColumn]:
    """The columns of a table, and the values in its columns of objects, by its first rows; those
    without a value are left out. DataError if it cannot be read.
    """
    file = Table(connection, path, {})
    names = [name for name in file.columns if file.columns.count(name) == 1]
    with reading(path):
        return list(_profiled(connection, file, names, depth=2))


def _profiled(
    connection: Connection, file: Table, names: Sequence[str], *, depth: int
) -> Iterator[GuessedColumn]:
    rows = f"(from {file.source} limit {ROWS})"
    texts = [missing_as_null(f"trim({file.texts[name]})", MISSING) for name in names]
    # All columns in one query, as planning a query takes longer than reading a small file
    counts = f"""
        select place, sum(n), count(*), min((-n, value), {MOST_NAMES + 1}),
               sum(if(as_number(value) is null, 0, n)),
               sum(if(regexp_full_match(value, '[+-]?[0-9]+,[0-9]+'), n, 0)),
               sum(if(case when json_valid(value) then json_type(value) end = 'OBJECT', n, 0))
        from (select place, value, count(*) as n
              from (select unnest(range({len(texts)})) as place,
                           unnest([{", ".join(texts)}]::varchar[]) as value
                    from {rows})
              where value is not null group by all)
        group by place order by place"""
    for place, filled, different, most, *numbers, objects in connection.execute(counts).fetchall():
        if depth and objects == filled:
            keys = f"""
                select distinct unnest(json_keys({texts[place]})) as key from {rows}
                order by key limit {MOST_NAMES}"""
            inner = [
                file.existing("rating", f"{names[place]}.{key}")
                for key in values_in(connection, keys)
            ]
            yield from _profiled(connection, file, inner, depth=depth - 1)
        else:
            values = {value: -n for n, value in most}
            yield GuessedColumn(names[place], values, filled, different, *numbers)


def _guess_table(path: str, columns: Sequence[GuessedColumn], *, of_humans: bool = False) -> Guess:
    """The columns of a table by their roles: by name if their values fit, then by their values
    alone.

    of_humans: it holds human scores, by one rater in each of several columns, or named in a column.
    """
    compared = all(_named(columns, ROLES[role]) for role in ("model_a", "model_b"))
    # Columns that are called like models, or like this table's own, are not for one role each.
    naming = filter(None, (_named(columns, ROLES[role]) for role in ("judge", "model")))
    names = {name for column in naming for name in column.values}
    wide = [
        column
        for column in columns
        if column.is_score() and (column.last_key in names or known_family(column.last_key))
    ]
    wide = wide if len(wide) > 1 else []
    left = [column for column in columns if column not in wide]
    chosen: dict[str, GuessedColumn] = {}
    for role in VERDICT_ROLES if compared else HUMAN_ROLES if of_humans else RATING_ROLES:
        wanted = LABELS_OF_HUMANS if compared and role == "human" else ROLES[role]
        repeated = _repeated_columns(left, chosen) if role == "prompt" else []
        column = _named(repeated, wanted) or _named(left, wanted)
        if column is not None and not (role == "rating" and wide):
            chosen[role] = column
            left.remove(column)
    result = Guess("table", [path])
    unrated = not (compared or wide or "rating" in chosen)
    if unrated and ({"model"} if of_humans else {"judge", "model"}) <= chosen.keys():
        wide = [column for column in left if column.is_score()]
    words = _named(left, RATINGS_IN_WORDS)
    if len(wide) > 1 and not compared:
        _add_wide(result, wide, chosen, of_humans=of_humans)
    elif unrated and words:
        chosen["rating"] = words
    for role, column in chosen.items():
        key = "item" if compared and role == "prompt" else role
        result.columns[key] = column.name
        if role in NAMING:
            result.reasons[key] = guessed("names", different=column.different)
        if role in ("model_a", "model_b"):
            result.models.update(map(str.lower, column.values))
    # What a column says of the order is known by its words for orders and by names of models alone
    if "order" in chosen:
        order = chosen["order"]
        if not {*map(str.lower, order.values)} <= {*ORDERS, *result.models}:
            result.set_column("order", None, "order", column=order.name)
    result.scores += [chosen[role] for role in ("rating", "human", "outcome") if role in chosen]
    more = [column.name for column in left if _named([column], ROLES["human"])]
    if "human" in chosen and more and not compared:
        result.reasons["human"] = guessed("left_out", columns=more)
    return result


def _repeated_columns(
    columns: Collection[GuessedColumn], chosen: Mapping[str, GuessedColumn]
) -> list[GuessedColumn]:
    """The columns that may be the prompt, as each prompt has rows of several judges or models.

    Such a column has another value in some rows only, but enough values for the rows, up to REPEATS
    by one judge of one model.
    """
    roles = chosen.keys() & {*NAMING, "dimension"}
    each = prod(chosen[role].different for role in roles)
    return [
        column
        for column in columns
        if each > 1 and column.different < column.filled <= REPEATS * each * column.different
    ]


def _named(columns: Collection[GuessedColumn], role: Role) -> GuessedColumn | None:
    """The column whose name is most like a role's words, and whose values fit the role."""
    fitting = (column for column in columns if role.fits(column) and _likeness(column, role))
    return min(fitting, key=lambda column: _likeness(column, role), default=None)


def _likeness(column: GuessedColumn, role: Role) -> tuple[int, int, int] | None:
    """Whether a column's name has one of a role's words only within a word of its own, the place of
    this word among the role's, and the number of words of the name: the lowest is most like the
    role. None if it is not like it.
    """
    words, whole = column.words, "".join(column.words)
    names = {whole, *words, *(word.removesuffix("s") for word in words)}
    wanted, never = role.words.split(), role.never.split()
    # As in `judgename`; but `preference` does not name a reference
    within = {
        word for word in (*wanted, *never) if len(word) > 4 and re.search(f"(^|...){word}", whole)
    }
    for place, found in enumerate((names, within)):
        if found.intersection(never):
            return None
        ranks = [rank for rank, word in enumerate(wanted) if word in found]
        if ranks:
            return place, ranks[0], len(words)
    return None


def _add_wide(
    result: Guess,
    wide: Sequence[GuessedColumn],
    chosen: Mapping[str, GuessedColumn],
    *,
    of_humans: bool,
) -> None:
    """Add columns of ratings that stand side by side, for the first of model, judge and dimension
    that has no column; for raters, if they are human scores.

    Columns whose names end alike, as in `gpt-4o_score`, are named by their beginnings.
    """
    if "model" not in chosen:
        result.role = "model"
    elif of_humans:
        result.role = "rater"
    else:
        result.role = "dimension" if "judge" in chosen else "judge"
    listed = [column.name for column in wide]
    end_alike = all(OF_SCORES.search(column.last_key) for column in wide)
    if result.role != "rater" and (end_alike or of_humans):
        listed = {OF_SCORES.sub("", column.last_key): column.name for column in wide}
    result.set_column("rating", listed, "roles", role=result.role)
    result.scores += wide


def _merged(parts: Sequence[Guess]) -> Guess:
    """The guesses about the files with the columns of the first, as one."""
    same = [part for part in parts if part.columns == parts[0].columns]
    return replace(
        parts[0],
        files=[path for part in same for path in part.files],
        scores=[column for part in same for column in part.scores],
        models={name for part in same for name in part.models},
    )


def _read_words(part: Guess, compared: bool, models: Collection[str]) -> None:
    """Add how the words and numbers of a table's columns of scores are read: those of known meaning
    count, rare others mark failures; if others are frequent, or may be scores, all are asked about.
    """
    if any(column.commas for column in part.scores):
        part.set_other("decimal", ",", "decimal")
    counts: Counter[str] = Counter()
    for column in part.scores:
        for value, n in column.values.items():
            counts[value.lower()] += n
    most = max(RARE_NUMBER, RARE_SHARE * sum(column.filled for column in part.scores))
    if compared:
        words = [word for word in counts if word not in AS_THEY_ARE | models]
        known = {word: answer for word in words if (answer := _answer(word))}
        never_failures = set()
    else:
        numbers = {word: number for word in counts if (number := _number(word)) is not None}
        scores = {*numbers.values()} - _far_numbers(numbers.values())
        # Beside 0 and 1, a frequent -1 is a score, and a rare one may be
        below = [word for word, number in numbers.items() if number == -1 and scores <= {0, 1}]
        if sum(counts[word] for word in below) > most:
            scores.add(-1)
        words = [word for word in counts if numbers.get(word) not in scores]
        known = {word: POLES[word] for word in words if word in POLES and scores <= {0, 1}}
        never_failures = {*POLES, *below}
    left = part.failures = [word for word in words if word not in known]
    if sum(counts[word] for word in left) > most or never_failures.intersection(left):
        # All of them are asked about: beside other grades, an F is not `false`
        part.failures = words
        meaning = "<a, b or tie>" if compared else "<number>"
        part.set_other(
            "values",
            None,
            "words",
            words=words,
            compared=compared,
            example=as_yaml(dict.fromkeys(words[:5], meaning)),
            missing=as_yaml(words),
        )
        return
    if known and "order" in part.columns:
        part.set_other("values", None, "models_or_places", read_as=as_yaml(known))
    elif known:
        part.set_other("values", known, "known_words")
    if left:
        part.set_other("missing", left, "rare")


def _number(word: str) -> float | None:
    """A word as a number, with a decimal point or comma; None if it is not one."""
    with_point = word.replace(",", ".")
    return float(with_point) if is_number(with_point) else None


def _far_numbers(numbers: Collection[float]) -> set[float]:
    """Those of FAILED that are far from scores from 0 up."""
    scores = {*numbers} - FAILED
    if min(scores, default=0) < 0:
        return set()
    above = TIMES_HIGHEST * max(scores, default=0)
    return {x for x in FAILED.intersection(numbers) if x < 0 or x >= above}


def _answer(word: str) -> str | None:
    """The answer that a word such as `[[A]]`, `A>>B` or `Assistant-B` names: a, b or tie."""
    if is_number(word):
        return None
    plain = NOUN.sub("", re.sub(r"[][\s_-]+", " ", word).strip())
    label = LABELS.get(REPEATED_SIGN.sub(r"\1", plain.upper().replace(" ", "")), "")
    return ANSWERS.get(plain) or label.lower() or None


def _imported(part: Guess, kind: str) -> Connection:
    """A connection with the view `imported` of what the guessed settings read.

    Each part that no record of a log names is added to the guess, with its own name as the value.
    """
    while True:
        keys = ("judge", "values", "decimal")
        settings = {key: part.others[key] for key in keys if part.others.get(key) is not None}
        if part.columns:
            columns = {key: column for key, column in part.columns.items() if column is not None}
            settings |= {"missing": part.failures, "columns": columns}
        connection = connect()
        try:
            create_imported(connection, part.files, settings, kind)
        except NotNamed as error:
            key = error.part
            if key in {*part.columns, *part.others}:
                raise
            if key == "judge":
                part.set_other(key, key, "no_judge")
            else:
                part.columns[key] = {"value": key}
        else:
            return connection


def _read(main: Guess, compared: bool) -> dict[str, object]:
    """What the rows of the judgments show: families, scales, and whether pairs are in one order.

    Adds judges and models that no column names, and what else is asked about the rows.
    """
    of_table = main.format == "table"
    for key in ("judge",) if compared else ("judge", "model"):
        if of_table and key not in {*main.columns, main.role}:
            constant, files = {"value": key}, len(main.files)
            main.set_column(key, constant, "no_column", key=key, files=files)
    try:
        connection = _imported(main, COMPARED if compared else RATED)
    except DataError as error:
        if of_table or not compared:
            raise
        main.note = str(error)
        return {}
    shown = {"families": _families(connection, "model_a, model_b" if compared else "model")}
    if not compared:
        shown |= _scales(connection, of_table)
    for key in () if of_table else main.columns:
        main.set_column(key, None, "key_of_record", key=key)
    if of_table and compared:
        one_order = """
            select 1 from imported group by judge, item, list_sort([model_a, model_b])
            having count(distinct [model_a, "order"]) = 1"""
        asked = "order" in main.columns and main.columns["order"] is None
        shown["single"] = not asked and exists(connection, one_order)
    elif of_table:
        repeated = """
            select 1 from imported group by judge, model, prompt_id, dimension, dataset
            having count(*) > 1"""
        if exists(connection, repeated):
            main.set_other("repeats", None, "repeats")
    return shown


def _families(connection: Connection, roles: str) -> dict[str, dict[str, list[str]]]:
    """The families of the judges and models in `imported`."""
    names = f"""
        select list_sort(list_distinct(list(distinct judge))),
               list_sort(list_distinct(flatten(list(distinct [{roles}]))))
        from imported"""
    return group_families(*connection.execute(names).fetchone())


def _scales(connection: Connection, of_table: bool) -> dict[str, object]:
    """The lowest and highest score in `imported` and the usual scales for these, of each dimension
    if they differ, and whether 0 may mark a failure.
    """
    found = score_ends(connection)
    ends = {dimension: (low, high) for dimension, low, high, _ in found}
    if of_table and len({usual_scale(*each) for each in ends.values()}) == 1:
        lows, highs = zip(*ends.values(), strict=True)
        ends = {DEFAULT: (min(lows), max(highs))}
    scales = {dimension: usual_scale(*each) for dimension, each in ends.items()}
    return {"ends": ends, "scales": scales, "zero": any(zero for *_, zero in found)}


def _as_references(part: Guess) -> Guess:
    """The guess about files of human scores, with the columns that `references:` takes."""
    columns = dict(part.columns)
    if "outcome" in columns:
        columns.setdefault("human", columns["outcome"])
    taken = ColumnsOfReferences.model_fields
    return replace(part, columns={key: columns[key] for key in columns if key in taken})


def as_yaml(value: object) -> str:
    """A value of config in one line; words that YAML reads as true and false stay as they are among
    the names of a mapping.
    """
    if isinstance(value, Mapping):
        pairs = (
            f"{key if key in BOOLEAN_WORDS else in_yaml(key)}: {as_yaml(entry)}"
            for key, entry in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):  # the ends of a scale
        return f"[{', '.join(f'{end:g}' for end in value)}]"
    return in_yaml(value)
