"""What a user would write to import some files: their format, or the columns of their tables, by
names and values.

Each guess is marked as one, to be checked: a column of the wrong name, or one judge for all rows,
gives other numbers.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from recuse.base.database import Connection, connect
from recuse.base.errors import ColumnError, ConfigError, DataError, RecuseError
from recuse.base.words import counted, enumerated
from recuse.data.files import MISSING, as_number, missing_as_null, reading
from recuse.data.registry import (
    COMPARED,
    FORMATS,
    GOLD_LABELS,
    RATED,
    SEEN_STEPS,
    files_in,
    finest_step,
    fits,
    usual_scale,
)
from recuse.imports.inspect_logs import OF_KEYS
from recuse.imports.readers import TIES, create_imported, recognised
from recuse.imports.rows import BOOLEAN_WORDS, KEPT, POLES, Table, in_yaml

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
    "order": "order position shown first",
    "judge": "judge grader evaluator autorater annotator scorer critic rater",
    "model": "model candidate generator system respondent llm author assistant target",
    "dimension": "dimension metric criterion criteria aspect attribute rubric quality",
    "dataset": "dataset benchmark corpus source subset",
    "length": "length tokens ntokens words",
    "rater": "rater annotator worker person who name",
    "prompt": "prompt item question qid instruction query task example sample doc id index",
}
RATING_ROLES = ("human", "judge", "model", "rating", "dimension", "dataset", "length", "prompt")
VERDICT_ROLES = ("model_a", "model_b", "outcome", "judge", "human", "order", "prompt")
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
]
ORDER += ["length", "rater"]
NUMBERED, NAMING = ("human", "rating", "length"), ("judge", "model", "model_a", "model_b")
FAMILIES = {  # beginnings of the names of models, without their maker
    "GPT": r"(chat)?gpt|o[134]\b|o[134]-|davinci",
    "Claude": "claude",
    "Gemini": "gemini|bard|palm",
    "Gemma": "gemma",
    "Llama": r"(meta[-_. ]?)?llama|codellama",
    "Qwen": "qwen|qwq",
    "Mistral": "mistral|mixtral|ministral|magistral",
    "DeepSeek": "deepseek",
    "Cohere": "command|aya",
    "Phi": r"phi[-_ ]?\d",
    "Grok": "grok",
    "Vicuna": "vicuna",
    "Yi": r"yi[-_ ]",
    "Nova": "nova[-_ ]",
    "GLM": "glm|chatglm",
}
ANSWERS = {  # words for the outcome of a comparison, beside those that are read as they are
    "left": "a", "right": "b", "first": "a", "second": "b", "1": "a", "2": "b", "model 1": "a", "model 2": "b",
    "model_1": "a", "model_2": "b", "assistant a": "a", "assistant b": "b", "draw": "tie", "both": "tie", "neither": "tie",
    "equal": "tie", "0.5": "tie", "c": "tie",
}  # fmt: skip
FAILED = (-9999, -999, -99, -9, -1, 99, 999, 9999)  # numbers that often mark a failure
AS_THEY_ARE = {"a", "b", "tie", "error", "model_a", "model_b"}


@dataclass(frozen=True)
class Column:
    """A column of a table, or a value within one, by what is in its first rows."""

    name: str
    values: Mapping[str, int]  # the most frequent, with their numbers
    filled: int  # values
    different: int
    numbers: int
    # The lowest and highest number, of all and of those that are not in FAILED
    ends: Sequence[float] = ()
    steps: Sequence[bool] = ()  # whether all numbers are multiples of each of SEEN_STEPS
    commas: int = 0  # values with a decimal comma

    @property
    def words(self) -> list[str]:
        """The values that are no numbers, most frequent first, if all are listed."""
        return [
            value for value in self.values if not re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", value)
        ]

    def levels(self) -> tuple[list[float], list[float]]:
        """Its numbers in ascending order, as far as they are listed, and those at either end that
        look like failures.

        A failure is one of FAILED, beside scores from 0 up that it is far from; -1 beside 0 and 1
        alone may be a score.
        """
        numbers = {
            float(v.replace(",", "."))
            for v in self.values
            if re.fullmatch(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", v)
        }
        levels = sorted(numbers | {*self.ends})
        failures = [x for x in levels if x in FAILED]
        scores = [x for x in levels if x not in failures]
        if not scores or scores[0] < 0 or {*scores} <= {0, 1}:
            return levels, []
        failures = [x for x in failures if x < 0 or scores[-1] <= x / 9]
        return [x for x in levels if x not in failures], failures

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, but for some words for failures."""
        return self.filled > 0 and self.numbers + self.commas >= LEAST * self.filled

    @property
    def is_yes_or_no(self) -> bool:
        """Whether its words are of a yes-no question."""
        return bool(self.values) and {value.lower() for value in self.values} <= POLES.keys()

    @property
    def are_models(self) -> bool:
        """Whether it names language models."""
        known = sum(family_of(value) is not None for value in self.values)
        return 0 < self.different <= MOST_NAMES and known >= 0.5 * len(self.values)

    def fits(self, role: str) -> bool:
        """Whether its values may be what a role holds."""
        if role in NUMBERED:
            return self.is_number or (role != "length" and self.is_yes_or_no)
        if role in ("prompt", "order", "rater"):
            return self.filled > 0
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
    names: list[str] = field(default_factory=list)  # of judges and models
    scores: list[Column] = field(default_factory=list)
    scales: dict[str, tuple[float, float]] = field(default_factory=dict)
    zero: bool = False  # whether 0 may be a score or a failure
    note: str = ""  # further words about the files


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
    parts = [_of_table(path, columns) for path, columns in tables.items()]
    for part in parts:
        _check_understood(part, tables[part.files[0]])
    compared = any(FORMATS[kinds[path]].holds == (COMPARED,) for path in logs) or any(
        "model_a" in part.columns for part in parts
    )
    by_judge = [
        part for part in parts if "judge" in part.columns or part.others.get("role") == "judge"
    ]
    if logs and FORMATS[kinds[logs[0]]].holds:
        main = _of_logs(connection, kinds[logs[0]], logs, compared)
        references = [
            _of_table(path, columns, of_humans=not compared) for path, columns in tables.items()
        ]
    else:
        rated = by_judge or [part for part in parts if not _of_humans(part.files[0])] or parts
        if not rated:
            raise DataError(
                f"{files[0]}: found {FORMATS[kinds[files[0]]].words}, which holds no judgments;"
                " name those, too"
            )
        same = [part for part in rated if part.columns == rated[0].columns]
        main, references = _merged(same), [part for part in parts if part not in same]
        references = [
            _of_table(part.files[0], tables[part.files[0]], of_humans=not compared)
            for part in references
        ]
        references += [Guess(kinds[path], [path]) for path in logs]
    if references and main.columns.pop("human", None) is not None:
        references[0].note = "; human scores in the files above are left out"
    _complete(connection, main, tables, compared)
    return (
        "\n".join(_lines(study, main, _merged(references) if references else None, compared)) + "\n"
    )


def _check_understood(part: Guess, columns: Sequence[Column]) -> None:
    """DataError about a table whose rows are within a value, or that holds pairs without the better
    one in a column.
    """
    within = [
        column.name
        for column in columns
        if column.filled == 1 and re.match(r"\[\s*\{", next(iter(column.values)))
    ]
    if within:
        raise DataError(
            f"{part.files[0]}: the rows are under `{within[0]}`; write that list alone as a file"
        )
    names = {_last(column.name).lower(): column.name for column in columns}
    pairs = (
        ("chosen", "rejected"),
        ("winner", "loser"),
        ("score_a", "score_b"),
        ("model_a", "model_b"),
    )
    pair = next(([names[name] for name in pair] for pair in pairs if {*pair} <= names.keys()), None)
    if pair is None and "model_a" in part.columns:
        pair = [str(part.columns[key]) for key in ("model_a", "model_b")]
    if (
        pair
        and not {"outcome", "human"} & part.columns.keys()
        and ("model_a" in part.columns or "rating" not in part.columns)
    ):
        remedy = (
            "recuse needs `model_a`, `model_b` and `outcome` (a, b or tie); write these columns"
        )
        raise DataError(
            f"{part.files[0]}: {enumerated(pair)} look like verdicts on two answers; {remedy}"
        )


def advice(path: str) -> list[str]:
    """Lines for the user of a table that is not understood: the nearest formats, and the `columns:`
    that can be guessed.

    No lines if the file cannot be read.
    """
    try:
        columns = profiled(connect(), path)
        part = _of_table(path, columns)
    except RecuseError:
        return []
    names = {column.name for column in columns if "." not in column.name}
    near = nearest(names)
    lines = [f"nearest formats: {'; '.join(near)}"] if near else []
    if part.columns:
        written = ", ".join(f"{key}: {_yaml(value)}" for key, value in part.columns.items())
        lines.append(f"guessed from names and values, to be checked: `columns: {{{written}}}`")
    lines.append(
        "`recuse import --guess`, with these files, writes a whole file of settings and checks it"
    )
    return lines


@contextmanager
def advising(paths: Sequence[str]) -> Iterator[None]:
    """Add to the error about a table that lacks a column, one of `paths`, what is known of it."""
    try:
        yield
    except ColumnError as error:
        path = next((path for path in paths if str(error).startswith(path)), None)
        raise DataError(*error.args, *(advice(path) if path is not None else ())) from error


def nearest(keys: set[str]) -> list[str]:
    """The three formats whose objects share most of their keys with these, in words, with what is
    lacking.
    """
    ranked = []
    for name, entry in FORMATS.items():
        for sign in entry.signs:
            shared = len(sign & keys) / len(sign | keys & sign)
            if len(sign) > 1 and shared:
                ranked.append(
                    (
                        -shared,
                        name,
                        f"`{name}` ({entry.words}), without {enumerated(sorted(sign - keys))}",
                    )
                )
    best = {name: words for _, name, words in sorted(ranked, reverse=True)}
    order = {name: share for share, name, _ in sorted(ranked, reverse=True)}
    return [best[name] for name in sorted(best, key=lambda name: (order[name], name))][:3]


def profiled(connection: Connection, path: str) -> list[Column]:
    """The columns of a table, and the values in its columns of objects, by its first rows;
    DataError if it cannot be read.
    """
    file, columns = Table(connection, path, {}, table="guessed_objects"), []
    with reading(path):
        for name in dict.fromkeys(file.columns):
            if file.columns.count(name) == 1:
                columns += _profiled(connection, file, name, depth=2)
    return columns


def _profiled(connection: Connection, file: Table, name: str, *, depth: int) -> Iterator[Column]:
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
    multiples = ", ".join(
        f"coalesce(bool_and(abs(x / {s} - round(x / {s})) <= 1e-9), true)" for s in SEEN_STEPS
    )
    commas = "count(*) filter (regexp_full_match(value, '[+-]?[0-9]+,[0-9]+'))"
    numbers = f"(select *, {as_number('value')} as x from {rows})"
    ends = ", ".join(
        f"{end}(x){some}" for end in ("min", "max") for some in ("", f" filter (x not in {FAILED})")
    )
    query = (
        f"select count(distinct value), count(x), [{ends}], [{multiples}], {commas} from {numbers}"
    )
    different, count, ends, steps, commas = connection.execute(query).fetchone()
    most = (
        f"select value, count(*) from {rows} where value is not null group by all order by 2 desc,"
        f" 1 limit {MOST_NAMES + 1}"
    )
    values = dict(connection.execute(most).fetchall())
    yield Column(
        name,
        values,
        filled,
        different,
        count,
        [end for end in ends if end is not None],
        steps,
        commas,
    )


def _of_table(path: str, columns: Sequence[Column], *, of_humans: bool = False) -> Guess:
    """The columns of a table by their roles: by name if their values fit, then by their values
    alone.

    of_humans: it holds human scores, by one rater in each of several columns, or named in a column.
    """
    left = {column.name: column for column in columns if column.filled}
    compared = all(_named(left.values(), role) for role in ("model_a", "model_b"))
    chosen: dict[str, Column] = {}
    result = Guess("table", [path])
    like_models = [
        column
        for column in left.values()
        if column.fits("rating") and family_of(_last(column.name))
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
        within = _of_several(left.values(), chosen) if role == "prompt" else left.values()
        if not (role == "rating" and aside) and (column := _named(within, role, kind)):
            chosen[role] = left.pop(column.name)
            result.reasons[role] = "by its name"
    # Names of models without a name that says so: judges are fewer
    for role in () if compared else ("judge", "model"):
        named = [column for column in left.values() if column.are_models and not column.is_number]
        if (
            role not in chosen
            and named
            and (role == "model" or len(named) > 1 or "model" in chosen)
        ):
            chosen[role] = left.pop(
                min(named, key=lambda column: (column.different, column.name)).name
            )
            result.reasons[role] = "its values are names of models"
    left |= aside
    wide = [] if compared or "rating" in chosen else _wide(left, chosen, of_humans=of_humans)
    if wide:
        names = _levels(wide)
        result.others["role"] = (
            "judge" if "judge" not in chosen and "model" in chosen else "dimension"
        )
        result.others["role"] = "model" if "model" not in chosen else result.others["role"]
        if of_humans:
            result.others["role"] = "rater" if "model" in chosen else "model"
            names = (
                {_last(name): name for name in names}
                if isinstance(names, list) and "model" not in chosen
                else names
            )
        result.columns["rating"] = names
        result.reasons["rating"] = f"one column for each {result.others['role']}"
        result.scores += wide
        for column in wide:
            left.pop(column.name)
    if "rating" not in chosen and not wide and not compared:
        scores = [
            column
            for column in left.values()
            if column.fits("rating") and column.different <= MOST_LEVELS
        ]
        if scores:
            chosen["rating"] = left.pop(min(scores, key=lambda column: column.different).name)
            result.reasons["rating"] = "numbers of few levels"
    if "prompt" not in chosen and left:
        column = max(
            _of_several(left.values(), chosen), key=lambda column: (column.different, column.name)
        )
        chosen["prompt"] = left.pop(column.name)
        result.reasons["prompt"] = "it has the most different values"
    for role in sorted(chosen, key=ORDER.index):
        column = chosen[role]
        key = "item" if compared and role == "prompt" else role
        result.columns[key] = column.name
        result.reasons[key] = result.reasons.pop(role)
        if role in NAMING:
            result.names += list(column.values)
            result.reasons[key] += f", {counted(column.different, 'name')}"
    result.scores += [chosen[role] for role in ("rating", "human", "outcome") if role in chosen]
    more = [column.name for column in left.values() if not compared and _named([column], "human")]
    if "human" in chosen and more:
        raters = in_yaml([chosen["human"].name, *more])
        result.reasons["human"] += (
            f"; left out: {enumerated(more)}; to use all, write them as a file with model and"
            " prompt, and"
        )
        result.reasons["human"] += (
            " in place of this line, name it under `references:`, with `columns: {rating:"
            f" {raters}}}`"
        )
    if result.others.get("role") in ("judge", "model"):
        asked = result.columns["rating"]
        result.names += list(asked if isinstance(asked, Mapping) else map(_last, asked))
    return result


def _of_several(columns: Collection[Column], chosen: Mapping[str, Column]) -> Collection[Column]:
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


def _named(columns: Collection[Column], role: str, kind: str | None = None) -> Column | None:
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
            if grade is not None and column.fits(kind or role) and not _of_another(role, parts):
                best = min(
                    filter(None, [best, (grade, rank, place, column)]), key=lambda of: of[:3]
                )
    return best and best[3]


def _of_another(role: str, parts: Sequence[str]) -> bool:
    """Whether a name such as `judge_model` or `human_score` says another role than its last
    word.
    """
    names = {*parts}
    judges = names & {"judge", "grader", "evaluator", "autorater", "scorer"}
    if role == "model":
        return bool(judges)
    if role in ("rating", "outcome"):
        return bool(names & {"human", "gold", "gt", "expert"})
    return role in ("prompt", "dimension", "dataset") and bool(
        judges or names & {"model", "human", "score", "rating"}
    )


def _wide(
    left: Mapping[str, Column], chosen: Mapping[str, Column], *, of_humans: bool
) -> list[Column]:
    """Columns of ratings that stand side by side: named like models, or like nothing else, where
    judge and model are known.
    """
    numbers = [
        column
        for column in left.values()
        if column.fits("rating") and column.different <= MOST_LEVELS
    ]
    of_models = [
        column
        for column in numbers
        if family_of(_last(column.name)) or _last(column.name) in _models(chosen)
    ]
    if len(of_models) > 1 and not {"judge", "model"} <= chosen.keys():
        return of_models
    needed = {"model"} if of_humans else {"judge", "model"}
    return numbers if len(numbers) > 1 and needed <= chosen.keys() else []


def _models(chosen: Mapping[str, Column]) -> set[str]:
    return {value for role in ("judge", "model") if role in chosen for value in chosen[role].values}


def _of_humans(path: str) -> bool:
    """Whether the name of a file says that it holds human scores."""
    return bool(re.search("human|gold|annotat", Path(path).stem.lower()))


def _levels(wide: Sequence[Column]) -> list[str] | dict[str, str]:
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


def family_of(name: str) -> str | None:
    """The family that the name of a model begins with, after its maker, or None."""
    own = re.sub(r"^.*[/:]", "", name.strip().lower())
    own = re.sub(
        r"^(openai|anthropic|google|meta|mistralai|cohere|deepseek-ai|amazon|azure|us|eu)[._-]",
        "",
        own,
    )
    return next((family for family, begins in FAMILIES.items() if re.match(begins, own)), None)


def _merged(parts: Sequence[Guess]) -> Guess:
    """The guesses about files with the same columns as one; the columns are those of the first."""
    first = parts[0]
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    same = [part for part in parts if part.columns == first.columns]
    return replace(
        first,
        files=[path for part in same for path in part.files],
        names=names,
        scores=[s for p in same for s in p.scores],
    )


def _of_logs(connection: Connection, format: str, paths: Sequence[str], compared: bool) -> Guess:
    """What a log in a format of another tool needs beside its name: the judge, if it names none,
    and the scales it shows.
    """
    result = Guess(format, list(paths))
    if compared or RATED not in FORMATS[format].holds:
        try:
            create_imported(connection, paths, {}, COMPARED)
        except DataError as error:
            if "baseline" not in str(error):
                raise
            result.others["baseline"] = "gpt-4-0314"
            result.reasons["baseline"] = "that of Arena-Hard 0.1"
        return result
    settings: dict[str, object] = {}
    for judge in (None, "judge"):
        settings = {} if judge is None else {"judge": judge}
        try:
            create_imported(connection, paths, settings, RATED, scales=[])
        except ConfigError:
            continue
        break
    if settings:
        result.others["judge"] = "judge"
        result.reasons["judge"] = "the log names none: write its name"
        if format == "inspect":
            _name_scorers(connection, result)
    query = (
        f"select dimension, min({as_number('rating')}), max({as_number('rating')}) from imported"
        " group by all order by all"
    )
    for dimension, low, high in connection.execute(query).fetchall():
        if low is not None:
            result.scales[dimension] = usual_scale(low, high)
    names = "select distinct unnest([judge, model]) as name from imported order by all"
    result.names = [name for (name,) in connection.execute(names).fetchall() if name]
    return result


def _name_scorers(connection: Connection, part: Guess) -> None:
    """Add which scorers of an Inspect log, imported with one judge for all, are that judge, and
    which compare with a key.
    """
    scorers = connection.execute(
        f'select distinct "{KEPT}scorer" from imported order by all'
    ).fetchall()
    judges, other = {scorer: "judge" for (scorer,) in scorers}, connect()
    create_imported(
        other, part.files, {"judge": dict.fromkeys(OF_KEYS, GOLD_LABELS) | judges}, RATED, scales=[]
    )
    keyed: list[str] = []
    if other.execute("select 1 from duckdb_views() where view_name = 'in_logs'").fetchone():
        dimensions = other.execute("select distinct dimension from in_logs order by all").fetchall()
        keyed = [dimension for (dimension,) in dimensions if dimension in OF_KEYS]
    of_one = connection.execute("select count(distinct dimension) from imported").fetchone() == (1,)
    if keyed and not of_one:  # there is no dimension that their labels would be of
        part.reasons["judge"] += f"; left out, as compared with a key: {enumerated(keyed)}"
        keyed = []
    elif keyed:
        part.others["gold"] = True
        part.reasons["gold"] = (
            f"{enumerated(keyed)} {'compare' if len(keyed) > 1 else 'compares'} with a key"
        )
    if len(judges) + len(keyed) > 1:
        part.others["judge"] = judges | dict.fromkeys(keyed, GOLD_LABELS)


def _complete(
    connection: Connection, main: Guess, tables: Mapping[str, Sequence[Column]], compared: bool
) -> None:
    """Add what the values of a table's columns of scores ask for: constants, words, decimals, a
    scale, repeats.
    """
    if main.format != "table":
        return
    missing = [] if main.others.get("role") == "judge" or "judge" in main.columns else ["judge"]
    missing += (
        []
        if compared or main.others.get("role") == "model" or "model" in main.columns
        else ["model"]
    )
    for key in missing:
        main.columns[key] = {"value": key}
        main.reasons[key] = f"no column names the {key}: write its name"
        if len(main.files) > 1:
            each = enumerated([Path(path.removesuffix(".gz")).stem for path in main.files], most=5)
            main.reasons[key] += (
                f"; if each file is of another {key} ({each}?), add a column `{key}` to the files"
            )
    if any(column.commas for column in main.scores):
        main.others["decimal"] = ","
        main.reasons["decimal"] = "numbers such as 7,5"
    words = [
        word.lower()
        for column in main.scores
        for word in column.words
        if column.different <= MOST_NAMES
    ]
    words = list(dict.fromkeys(word for word in words if not re.fullmatch(r"[+-]?\d+,\d+", word)))
    if compared:
        main.others["single"] = _has_rows(
            connection, main, "judge item", "count(distinct {shown}) = 1"
        )
        given = list(
            dict.fromkeys(word.lower() for column in main.scores for word in column.values)
        )
        if read_as := {word: ANSWERS[word] for word in given if word in ANSWERS}:
            main.others["values"] = read_as
            main.reasons["values"] = "words for the answers"
        if {"0", "1", "2"} <= {*given}:
            main.others["values"] = {"0": "tie"} | read_as
            main.reasons["values"] += (
                "; is 0 a tie? if it marks a failure, write `missing: ['0']` instead"
            )
            read_as = main.others["values"]
        taken = {*AS_THEY_ARE, *TIES, *read_as, *map(str.lower, main.names)}
        if failures := [word for word in given if word not in taken]:
            main.others["missing"] = failures
            main.reasons["missing"] = "neither answer: failed judgments?"
        return
    poles = {
        word: POLES[word]
        for word in sorted(words, key=lambda word: -POLES.get(word, 0))
        if word in POLES
    }
    if 1 in poles.values() or (poles and not any(column.numbers for column in main.scores)):
        main.others["values"] = poles
        main.reasons["values"] = "words of a yes-no question"
    failures = [word for word in words if word not in main.others.get("values", {})]
    if failures:
        main.others["missing"] = failures
        main.reasons["missing"] = "no numbers: failed judgments?"
    levels = [column.levels() for column in main.scores]
    if isolated := sorted({x for _, failed in levels for x in failed}):
        main.others["missing"] = [*failures, *(f"{x:g}" for x in isolated)]
        main.reasons["missing"] = (
            f"{'no numbers, or ' * bool(failures)}far from the scores: failed judgments?"
        )
    ends = [end for scores, _ in levels if scores for end in (scores[0], scores[-1])]
    ends += [float(value) for value in main.others.get("values", {}).values()]
    main.zero = any(
        len(scores) > 2 and scores[0] == 0 and scores[1] >= 1 and scores[-1] <= 10
        for scores, _ in levels
    )
    if ends:
        main.scales = dict(_scales_by_dimension(connection, main)) or {
            "default": usual_scale(min(ends), max(ends))
        }
        multiple = [
            all(flags)
            for flags in zip(*(column.steps for column in main.scores if column.steps), strict=True)
        ]
        scales = list(main.scales.values())
        if multiple and not any(
            fit and fits(step, scales) for step, fit in zip(SEEN_STEPS, multiple, strict=True)
        ):
            main.others |= {"step": finest_step(scales) or 1, "round": True}
            main.reasons["step"] = "scores with many digits"
    if _has_rows(connection, main, "judge model prompt dimension dataset", "count(*) > 1"):
        main.others["repeats"] = "mean"
        main.reasons["repeats"] = "some answers are rated more than once by one judge"


def _scales_by_dimension(
    connection: Connection, main: Guess
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The scale of each dimension in a column, if its ratings show that they differ."""
    dimension, rating = (main.columns.get(key) for key in ("dimension", "rating"))
    if not isinstance(dimension, str) or not isinstance(rating, str):
        return
    scales: dict[str, tuple[float, float]] = {}
    for path in main.files:
        file = Table(
            connection, path, {"missing": main.others.get("missing", ())}, table="guessed_objects"
        )
        of, score = (
            file.texts[file.existing(dimension, dimension)],
            file.score(file.existing(rating, rating)),
        )
        with reading(path):
            query = (
                f"select {of}, min({as_number(score)}), max({as_number(score)}) from {file.source}"
                " group by all order by all"
            )
            for name, low, high in connection.execute(query).fetchall():
                if name and low is not None:
                    before = scales.get(name, (low, high))
                    scales[name] = (min(low, before[0]), max(high, before[1]))
    found = {name: usual_scale(*ends) for name, ends in scales.items()}
    if len(set(found.values())) > 1 and len(found) <= MOST_NAMES:
        yield from found.items()


def _has_rows(connection: Connection, main: Guess, keys: str, condition: str) -> bool:
    """Whether the rows of a file with the same values in these columns meet a condition (SQL), for
    any values.

    Those of verdicts are also of one pair of models, in any order; `{shown}` in the condition is
    the order that was shown.
    """
    columns = {key: column for key, column in main.columns.items() if isinstance(column, str)}
    for path in main.files if columns and main.others.get("role") is None else ():
        file = Table(connection, path, {}, table="guessed_objects")
        texts = {key: file.texts[file.existing(column, column)] for key, column in columns.items()}
        pair = [texts[key] for key in ("model_a", "model_b") if key in texts]
        by = [texts[key] for key in keys.split() if key in texts] + (
            [f"list_sort([{', '.join(pair)}])"] if pair else []
        )
        shown = f"[{', '.join([*pair, *(texts[key] for key in ('order',) if key in texts)])}]"
        with reading(path):
            having = condition.format(shown=shown)
            query = (
                f"select 1 from {file.source} group by {', '.join(by)} having {having} limit 1"
                if by
                else "select 1 limit 0"
            )
            if connection.execute(query).fetchone():
                return True
    return False


def _lines(study: str, main: Guess, references: Guess | None, compared: bool) -> Iterator[str]:
    """The lines of the YAML file."""
    yield (
        "# Check every line with `guessed`; then `recuse check` on this file says what the data"
        " support."
    )
    yield f"{COMPARED if compared else RATED}:"
    yield f"  {study}:"
    yield f"    title: {in_yaml(study)}"
    yield "    import:"
    yield from _lines_of(main, "      ")
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
        yield from _lines_of(replace(references, columns=columns, others={}), "        ")
    if compared:
        if main.others.get("single"):
            yield "    both_orders: false  # guessed: some comparisons are in one order only"
    else:
        scales = ", ".join(
            f"{in_yaml(name)}: [{low:g}, {high:g}]" for name, (low, high) in main.scales.items()
        )
        asked = (
            "; does 0 mark a failure? then `missing: [0]` under `import`, and the scale begins"
            " with 1"
            if main.zero
            else ""
        )
        yield (
            f"    scales: {{{scales or 'default: [1, 5]'}}}  # guessed: from the lowest and highest"
            f" score{asked}"
        )
    names = main.names + (references.names if references is not None else [])
    families: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if (family := family_of(name)) is not None:
            families.setdefault(family, []).append(name)
    if families:
        yield "    families:  # guessed: from how the names begin; others are families of their own"
        for family, members in families.items():
            yield f"      {family}: {in_yaml(members)}"


def _lines_of(part: Guess, indent: str) -> Iterator[str]:
    yield f"{indent}files: {_yaml(part.files[0] if len(part.files) == 1 else part.files)}"
    if part.format != "table":
        yield f"{indent}format: {part.format}  # guessed: {FORMATS[part.format].words}, by its keys"
    if part.columns:
        yield f"{indent}columns:"
    for key, column in sorted(part.columns.items(), key=lambda entry: ORDER.index(entry[0])):
        yield f"{indent}  {key}: {_yaml(column)}  # guessed: {part.reasons.get(key, 'by its name')}"
    for key, value in part.others.items():
        if key not in ("role", "single"):
            yield f"{indent}{key}: {_yaml(value)}" + (
                f"  # guessed: {part.reasons[key]}" if key in part.reasons else ""
            )


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
