"""recuse in Python: from a table of ratings, or of verdicts on two answers, to biases and verdicts, without files.

Rows are imported and checked by the code of the workflow, and every number is the workflow's:

>>> import recuse
>>> judged, human = recuse.example()
>>> ratings = recuse.ratings(
...     judged, judge="grader", model="candidate", prompt="item", dimension="metric", rating="score", missing=["ERROR"],
...     references=human, human=["first", "second"], scale=(1, 10),
...     families={"GPT": ["gpt-4.1", "gpt-4.1-mini"], "Claude": ["claude-sonnet-4", "claude-haiku-4"]},
... )
>>> ratings.judges
['claude-haiku-4', 'claude-sonnet-4', 'gpt-4.1', 'gpt-4.1-mini', 'qwen3-32b']
>>> recuse.verdict(ratings)[["term", "verdict"]].head(2)
           term      verdict
0       gpt-4.1    established
1  gpt-4.1-mini  no clear bias

An object keeps its tables in a folder of temporary files, which is removed with it.
"""

import os
import re
import shutil
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from recuse.base.database import Frame, bounded, bytes_of, connect, files
from recuse.base.errors import ConfigError, DataError, RecuseError, did_you_mean
from recuse.base.log import listening
from recuse.base.places import PROJECT
from recuse.base.tables import (
    CHECK,
    CHOICES,
    CORRELATIONS,
    ESTIMATES,
    IDIOSYNCRASY,
    IMPORTED,
    LEADERBOARD,
    MEAN_SCORES,
    MULTIPLICITY,
    NOT_ESTIMABLE,
    POWER,
    RESIDUALS,
    SMOOTHS,
    VERDICTS,
    columns,
    read_table,
    write_table,
)
from recuse.base.words import counted, enumerated, visible
from recuse.config.load import load, project_settings, read, with_study
from recuse.data.imports.ratings import NOT_IN_CONFIG
from recuse.data.registry import COMPARED, DEFAULT, RATED
from recuse.inputs import (
    KEPT,
    Inputs,
    findings_on,
    findings_on_pairs,
    imported,
    in_folder,
    inputs_in,
    pairs_of,
    reliability_in,
    tables_of,
    tables_of_pairs,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recuse.check.facts import Finding
    from recuse.data.study import Study
    from recuse.model.estimates import Estimated

Data: TypeAlias = Any  # a DataFrame of pandas or polars, an Arrow table, the path of a file, or several paths in a list
Column: TypeAlias = str | Mapping[str, str]  # its name, or {"value": one name for all rows}
Columns: TypeAlias = str | Sequence[str] | Mapping[str, str]  # also several, or names -> columns
Rows: TypeAlias = list[dict]

CONFIGURATION = (".yaml", ".yml")
IN_MEMORY, SCORES_IN_MEMORY = "DataFrame", "DataFrame of references"  # what messages call a table in memory
ENDS = (1, 2, 3, 4, 5, 7, 10, 100)  # of a usual scale, from 0 or 1
# Columns of texts; all others are numbers.
TEXTS = frozenset(
    columns("study spec slice quantity term note estimand verdict favours question rests_on reason advice")
    + columns("topic subject level words scores model file kind example")
)
IN_PYTHON = {  # what a message says of a configuration, as a pattern -> what it says of arguments
    r"list it under `missing:`(?: of `references:`)? in config": "list it in missing=",
    r"`missing: \[(.*?)\]`": r"missing=['\1']",
    r"write the name of one of them under `columns: prompt_id` in config": "name one of them by prompt=",
    r"write the name of one of them under `columns: (\w+)` in config": r"name one of them by \1=",
    r"name one of them under `columns:` in config, as in `\{(\w+): <its name here>\}`": r"name one of them by \1=",
    r"name their file under `references:` of `import` in config, or their column, `columns: \{human: ...\}`": (
        "name their column by human=, or pass their table as references="
    ),
    f"^({SCORES_IN_MEMORY}, .* by )rating=$": r"\1human=",
    r"write the step under `step:`": "pass the step, step=",
    r"`step:` under `import`": "step=",
    r"write `repeats: mean`, `first` or `last` under `import:`": "pass repeats='mean', 'first' or 'last'",
    r"^scales: default: ": "scale: ",
    r" (?:of `import` |of the study )?in config\b": "",
}
DRAWN = ("bootstrap", "wild")  # settings of a spec that its intervals by formula do not need
OF_SPECS = {"not_estimable": NOT_ESTIMABLE, "multiplicity": MULTIPLICITY, "smooths": SMOOTHS}  # tables of several specs
_ONE_AT_A_TIME = RLock()  # DuckDB's limits are those of the process


def ratings(
    data: Data,
    *,
    judge: Column | None = None,
    model: Column | None = None,
    prompt: str | None = None,
    rating: Columns | None = None,
    human: Columns | None = None,
    dimension: Column | None = None,
    dataset: Column | None = None,
    length: str | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    scale: tuple[float, float] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
    missing: Sequence[str | float] = (),
    values: Mapping[str, float] | None = None,
    step: float | None = None,
    repeats: str | None = None,
    references: Data | None = None,
    rater: str | None = None,
    format: str | None = None,
    study: str | None = None,
    confidence: float | None = None,
) -> "Ratings":
    """Read and check ratings of single answers.

    data: a DataFrame of pandas or polars, an Arrow table, the path of a file in any format that recuse reads, or several paths;
    or the path of a configuration, `mine.yaml`, of which only `study` names one. judge, model, prompt, rating, dimension,
    dataset, length: names of columns, each its own name by default; `judge={"value": "gpt-4o"}` is one name for all rows,
    `rating=["a", "b"]` a column for each judge, model or dimension; `length` is the tokens of an answer. human: the column of
    human scores, on the scale of the ratings; with `references`, a table of these with the same columns of model and prompt, it
    is the column there, or the columns of several raters; rater: the column of the rater, if each row there is one's.
    families: the models of each family; a model in none is a family of its own. scale: lowest and highest rating; scales: the
    same by dimension. Without either the scale is taken from the data, with a warning that says so. missing: values that mark a
    failed judgment; values: numbers that words stand for, as {"yes": 1, "no": 0}. step: between two ratings, such as 0.5, if it
    is not to be seen. repeats: mean, first, last or error (the default), of several ratings of an answer by one judge. format:
    of files, if it is not to be recognised. study: the name in the column `study` of the results. confidence: of intervals;
    default: 0.9.

    Raises DataError about the first row that is wrong, by its column and its number, from 1, and ConfigError about an argument.
    """
    columns = {"judge": judge, "model": model, "prompt": prompt, "rating": rating, "dimension": dimension}
    columns |= {"dataset": dataset, "length": length}
    if _is_configuration(data):
        others = {**columns, "human": human, "families": families, "scale": scale, "scales": scales, "step": step}
        others |= {"values": values, "repeats": repeats, "rater": rater}
        return Ratings(_configured(data, study, {**others, "references": references, "format": format}, RATED))
    if scale is not None and scales is not None:
        raise ConfigError("found scale and scales; pass one of them")
    words = {"missing": missing, "values": values}
    source = _Source(data, columns, **words, step=step, repeats=repeats, format=format)
    if references is None:
        source.name_column("human", human)
    else:
        keys = {key: columns[key] for key in ("model", "prompt", "dimension", "dataset")}
        source.refer_to(references, {**keys, "rating": human, "rater": rater}, **words)
    with _in_terms_of_arguments(study or "ratings"):
        given = scales or ({DEFAULT: scale} if scale is not None else source.scales())
        settings = {"scales": _plain(given), **_families(families)}
        read_in = Ratings(source.inputs(RATED, study or "ratings", settings, confidence))
    if unused := {name for names in (families or {}).values() for name in names} - {*read_in.models, *read_in.judges}:
        _warn(f"families: no judge and no model of these ratings is named {enumerated(sorted(unused))}")
    return read_in


def pairs(
    data: Data,
    *,
    judge: str | None = None,
    item: str | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    outcome: str | None = None,
    order: str | None = None,
    human: str | None = None,
    length_a: str | None = None,
    length_b: str | None = None,
    condition: str | None = None,
    experiment: str | None = None,
    vote: str | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str | float] = (),
    values: Mapping[str, str] | None = None,
    references: Data | None = None,
    both_orders: bool = True,
    format: str | None = None,
    study: str | None = None,
    confidence: float | None = None,
) -> "Pairs":
    """Read and check verdicts on two answers.

    data: as of `ratings`. judge, item, model_a, ...: names of columns, each its own name by default. item: the question;
    outcome: `a`, `b`, `tie` or `error`, or the model that won; order: `ab` or `ba`, or the model that was shown first; human:
    the humans' verdict, like `outcome`, here or in `references`, a table with the same columns of item and models; length_a,
    length_b: words of the answers. both_orders: whether each pair must have been shown in both orders. Other arguments, and
    errors, are those of `ratings`.

    >>> import pandas as pd
    >>> verdicts = pd.DataFrame(
    ...     {"judge": "A", "item": [1, 1], "model_a": "A", "model_b": "B", "order": ["ab", "ba"], "outcome": ["a", "tie"]}
    ... )
    >>> recuse.pairs(verdicts)
    Pairs: 2 verdicts by 1 judge on 1 question, of 2 models; no human verdicts
    """
    columns = {"judge": judge, "item": item, "model_a": model_a, "model_b": model_b, "outcome": outcome, "order": order}
    columns |= {"length_a": length_a, "length_b": length_b, "condition": condition, "experiment": experiment, "vote": vote}
    if _is_configuration(data):
        others = {**columns, "human": human, "families": families, "references": references, "format": format, "values": values}
        return Pairs(_configured(data, study, others, COMPARED))
    words = {"missing": missing, "values": values}
    source = _Source(data, columns, **words, format=format)
    if references is None:
        source.name_column("human", human)
    else:
        keys = {key: columns[key] for key in ("item", "model_a", "model_b", "experiment")}
        source.refer_to(references, {**keys, "human": human}, **words)
    settings = {"both_orders": both_orders, **_families(families)}
    with _in_terms_of_arguments(study or "pairs"):
        return Pairs(source.inputs(COMPARED, study or "pairs", settings, confidence))


def check(data: "Ratings | Pairs") -> "Check":
    """What the data support before any fit: which biases, how small, and what is wrong; printed, it is the page.

    >>> print(recuse.check(ratings).page[:69])
    ratings: what these ratings support
    <BLANKLINE>
      supports: self-bias of 5 of 5
    """
    from recuse.check.check import page_of

    with data._opened():
        findings = data._findings()
    page = visible(page_of(data.study, findings, of_ratings=isinstance(data, Ratings)), but="\n")
    return Check(_frame(CHECK, ({"study": data.study, **finding.row} for finding in findings)), page)


def fit(ratings: "Ratings", spec: str = "main", **settings: Any) -> "Fit":
    """Fit Equation 1, or another spec of the configuration, or either one changed by these settings, to the ratings.

    spec: its name, such as `main` (Equation 1), `clustered` or `model_effects`. settings: those of a spec, such as
    `slice="dimension"`, `covariance="CR1"`, `terms=[...]` or `length="prompt"`; see docs/configuration.md. The table has the
    rows of the workflow's estimates/<spec>.csv; ConfigError about an unknown setting.

    >>> recuse.fit(ratings, covariance="CR1").biases[["quantity", "term", "estimate"]].round(3).head(2)
        quantity             term  estimate
    0  self_bias   claude-haiku-4     0.014
    1  self_bias  claude-sonnet-4     0.092
    """
    _check_is(ratings, Ratings, "fit")
    config = ratings._inputs.config
    _check_named("spec", spec, config["specs"], "specs of the configuration")
    name, wanted = spec, config["specs"][spec]
    if settings:
        name, wanted = "changed", {**wanted, **settings}
        config = with_study(config, specs={name: wanted})
    with ratings._opened():
        return Fit(ratings.study, name, wanted, config, ratings._estimated(name, wanted))


def verdict(data: "Ratings | Pairs") -> "pd.DataFrame":
    """The table of the report: a verdict on each judge and family, what it rests on, and what to do.

    Rows and numbers are those of the workflow's tables/verdicts.csv; sizes are shares of the scale.
    """
    with data._opened():
        return _frame(VERDICTS, data._table("verdicts"))


def leaderboard(ratings: "Ratings", *, by_dimension: bool = False) -> "pd.DataFrame":
    """Models by their mean rating, as rated and without the biases of Equation 1, each with its rank and interval.

    `scores` says how ratings count: raw, debiased, leave_self_out, leave_family_out, human. by_dimension: also a leaderboard
    for each dimension, as in the workflow's tables/leaderboard.csv.
    """
    _check_is(ratings, Ratings, "leaderboard")
    with ratings._opened():
        table = _frame(LEADERBOARD, ratings._table("leaderboard"))
    return table if by_dimension else table[table["slice"] == ""].reset_index(drop=True)


def power(
    ratings: "Ratings",
    *,
    self_bias: float | None = None,
    power: float | None = None,
    prompts: Sequence[int] | None = None,
    raters: Sequence[int] | None = None,
    copies: Sequence[int] | None = None,
) -> "pd.DataFrame":
    """How small a self-bias studies like this one would find (`detectable`), and how many prompts a given one needs.

    self_bias: to be found with probability `power`, as a share of the scale. prompts, raters, copies: numbers of prompts, of
    human raters of an answer, and of models and judges as multiples of these. Defaults are the configuration's; without
    arguments the rows are those of the workflow's tables/power.csv.

    >>> rows = recuse.power(ratings, prompts=[200], copies=[1])
    >>> rows[["estimand", "raters", "detectable", "floor"]].round(3).head(1)
               estimand  raters  detectable  floor
    0  A against humans       1       0.066  0.063
    """
    _check_is(ratings, Ratings, "power")
    given = {"self_bias": self_bias, "power": power, "prompts": prompts, "raters": raters, "copies": copies}
    given = {name: list(value) if isinstance(value, Iterable) else value for name, value in given.items() if value is not None}
    inference = {"inference": {"power": given}}
    changed = with_study(ratings._inputs.config, **inference) if given else ratings._inputs.config
    with ratings._opened():
        return _frame(POWER, ratings._power(changed["inference"]["power"]))


def plot(data: "Ratings | Pairs", figure: str = "verdicts") -> "Figure":
    """Draw a figure of the report, by matplotlib.

    figure: `verdicts`, `self_family_bias`, `mean_scores`, `correlations`, `slices`, `leaderboard`, `power`, `idiosyncrasy` or
    another one of the report that needs no other tables; of verdicts on two answers, `choices`. Needs the extra `plot`.
    """
    try:
        from recuse.plot.style import Drawing, drawn
    except ModuleNotFoundError as error:
        raise DataError(f"plot: {error.name} is not installed; install it: pip install 'recuse[plot]'") from error
    from recuse.catalogue.figures import figure_params, figures

    config = data._inputs.config
    entries = figures(config, project_settings())
    entries = {name: entry for name, entry in entries.items() if entry.applies(config, data.study)}
    entries = {name: entry for name, entry in entries.items() if all(map(data._has, _tables_in(entry)))}
    names = {name.partition("_")[2] if name.startswith("fig") else name: name for name in entries}
    name = names.get(figure, figure)
    _check_named("figure", name, {*entries, *names}, "figures of these data")
    entry = entries[name]
    params = figure_params(config, data.study, figure=entry)
    with data._opened():
        specs = {spec for table in _tables_in(entry) if (spec := table.removeprefix("estimates/")) != table}
        specs |= set(_simultaneous(entry.settings)) if "tables/multiplicity" in _tables_in(entry) else set()
        paths = {
            argument: data._written(of, specs) if isinstance(of, str) else [data._written(each, specs) for each in of]
            for argument, of in entry.tables.items()
        }
        made = drawn(params["draw"], paths, subject=params["subject"], settings=params["settings"])
    made.__class__ = Drawing
    return made


def example() -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Simulated ratings by five judges, of which some favour themselves or their families, and scores by two humans."""
    import pandas as pd

    folder = PROJECT / "docs" / "example"
    return pd.read_csv(folder / "judged.csv"), pd.read_csv(folder / "human.csv")


@contextmanager
def _in_terms_of_arguments(study: str) -> Iterator[None]:
    """Let errors name arguments where they would name keys of a configuration."""
    try:
        yield
    except RecuseError as error:
        lines = [re.sub(f"^config: (?:{RATED}|{COMPARED}): {re.escape(study)}: ", "", str(line)) for line in error.args]
        raise type(error)(*map(_in_python, lines)) from error


def _in_python(message: str) -> str:
    for phrase, words in IN_PYTHON.items():
        message = re.sub(phrase, words, message)
    return message


def _is_configuration(data: Data) -> bool:
    return isinstance(data, str | os.PathLike) and os.fspath(data).endswith(CONFIGURATION)


def _configured(path: str | os.PathLike, study: str | None, others: Mapping[str, object], kind: str) -> Inputs:
    """The study of a configuration; ConfigError about any further argument."""
    path = os.fspath(path)
    if given := [name for name, value in others.items() if value is not None]:
        raise ConfigError(f"{path}: found {enumerated(given)} with a configuration; write them there, or pass the data itself")
    several = [
        each for each in inputs_in(load(path), read(Path(path)), study, compared=True) if each.compared == (kind == COMPARED)
    ]
    if len(several) != 1:
        named = ", ".join(each.study for each in several) or f"none under `{kind}:`"
        raise ConfigError(f"{path}: pass study=, one of its studies under `{kind}:`; found {named}")
    return several[0]


def _families(families: Mapping[str, Sequence[str]] | None) -> dict[str, dict]:
    return {"families": _plain(families)} if families else {}


def _check_is(data: object, kind: type, name: str) -> None:
    if not isinstance(data, kind):
        raise DataError(f"{name}: found {type(data).__name__}; it is for what recuse.{kind.__name__.lower()}(...) returns")


def _check_named(argument: str, name: str, known: Iterable[str], place: str) -> None:
    if name not in (known := [*known]):
        raise ConfigError(f"{argument}: '{name}' is none of the {place}{did_you_mean(name, known)}")


class _Source:
    """Where rows come from: files or tables in memory, under `import` of a study."""

    def __init__(self, data: Data, columns: Mapping[str, Columns | None], **settings: object) -> None:
        self.frames: dict[str, Frame] = {}
        self.files = self._named(data, IN_MEMORY)
        self.settings: dict[str, Any] = {"files": self.files, **_given(settings)}
        if named := _given(columns):
            self.settings["columns"] = named

    def name_column(self, key: str, column: Columns | None) -> None:
        if column is not None:
            self.settings.setdefault("columns", {})[key] = _plain(column)

    def refer_to(self, data: Data, columns: Mapping[str, Columns | None], **settings: object) -> None:
        """Take the human scores or verdicts from another table."""
        paths, named = self._named(data, SCORES_IN_MEMORY), _given(columns)
        if frame := self.frames.get(paths[0]):  # these may be missing where they are not needed
            named = {key: name for key, name in named.items() if key not in ("dimension", "dataset") or name in frame.columns}
        self.settings["references"] = {"files": paths, **({"columns": named} if named else {}), **_given(settings)}

    def _named(self, data: Data, name: str) -> list[str]:
        if isinstance(data, list | tuple) and data and all(isinstance(each, str | os.PathLike) for each in data):
            return [os.fspath(path) for path in data]
        if isinstance(data, str | os.PathLike):
            return [os.fspath(data)]
        self.frames[name] = _frame_of(data)
        return [name]

    def scales(self) -> dict[str, tuple[float, float]]:
        """The scale of each dimension that the data show, with a warning."""
        ranges = self._ranges()
        taken = {name: _usual_scale(*ends) for name, ends in ranges.items()}
        ends = {name: "{:g} to {:g} (found {:g} to {:g})".format(*taken[name], *ranges[name]) for name in taken}
        shown = "; ".join(f"{name} from {words}" for name, words in ends.items())
        _warn(f"no scale was passed; taken from the data: {shown}. Pass scale=(lowest, highest), or scales= by dimension")
        return taken

    def _ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest number of each dimension."""
        from recuse.data.files import as_number
        from recuse.data.imports.readers import create_imported

        config, folder = project_settings(), mkdtemp(prefix="recuse-")
        try:
            with _ONE_AT_A_TIME, bounded(config["memory_limit"], f"{folder}/work", frames=self.frames):
                connection = connect()
                create_imported(connection, self.files, self.settings, RATED)
                numbers = " union all ".join(
                    f"select dimension, {as_number(name)} as x from imported" for name in ("rating", "gt")
                )
                rows = connection.execute(f"select dimension, min(x), max(x) from ({numbers}) group by 1 order by 1").fetchall()
        finally:
            shutil.rmtree(folder)
        ranges = {name: (low, high) for name, low, high in rows if name is not None and low is not None}
        if not ranges:
            raise DataError(f"{self.files[0]}: no rating is a number; name their column: rating=")
        return ranges

    def inputs(self, kind: str, study: str, settings: Mapping, confidence: float | None) -> Inputs:
        """The study, as a configuration would describe it."""
        from recuse.data.files import RatingsFile

        described = {"title": study, "import": self.settings, **settings}
        others = {} if confidence is None else {"confidence": confidence}
        config = with_study(project_settings(), **{kind: {study: described}}, **others)
        return Inputs(study, [RatingsFile(path) for path in self.files], config, self.frames)


def _given(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments that are passed, as a configuration has them."""
    return {key: _plain(value) for key, value in arguments.items() if value is not None and value != ()}


def _plain(value: object) -> object:
    """Texts, numbers, lists and mappings as YAML has them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, Iterable) and not isinstance(value, str) else value


def _usual_scale(low: float, high: float) -> tuple[float, float]:
    """The smallest usual scale with these numbers; the numbers themselves if there is none."""
    start = 0 if low < 1 or high > 10 else 1
    end = next((end for end in ENDS if high <= end and end > start), None)
    if low < 0 or end is None:
        return low, high
    return start, end


class _Stream:
    """A table by Arrow's C interface alone, which DuckDB reads without pyarrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def _frame_of(data: Data) -> Frame:
    """A table in memory that DuckDB reads, as it is; DataError about anything else."""
    maker = type(data).__module__.partition(".")[0]
    if maker == "polars" and hasattr(data, "collect"):  # a lazy one
        data = data.collect()
    if hasattr(data, "read_all"):  # Arrow's readers can be read once
        data = data.read_all()
    if maker == "pandas" and hasattr(data, "columns"):
        return Frame(data, [str(column) for column in data.columns])
    names = (
        getattr(data, "column_names", None)
        or getattr(data, "columns", None)
        or getattr(getattr(data, "schema", None), "names", None)
    )
    if hasattr(data, "__arrow_c_stream__") and names:
        return Frame(_Stream(data), [str(name) for name in names])
    raise DataError(
        f"data: found {type(data).__name__}; pass a DataFrame of pandas or polars, an Arrow table, or the path of a file"
    )


def _frame(columns: Sequence[str], rows: Iterable[Mapping]) -> "pd.DataFrame":
    """Rows as a DataFrame: texts are empty where there are none, numbers NaN."""
    import pandas as pd

    rows = list(rows)
    table = pd.DataFrame({name: [row.get(name) for row in rows] for name in columns})
    for name in columns:
        if name in TEXTS:
            table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
        else:
            table[name] = pd.to_numeric(table[name].replace("", None))
    return table


def _warn(message: str) -> None:
    warnings.warn(visible(message), UserWarning, stacklevel=4)


@dataclass(frozen=True)
class Check:
    """What the data support: the findings, most important first, as a table, and as the page of `recuse check`."""

    table: "pd.DataFrame"
    page: str

    def __str__(self) -> str:
        """The page."""
        return self.page

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.page)}</pre>"


class Fit:
    """A spec fitted to ratings.

    table: the rows of the workflow's estimates/<spec>.csv; biases: those of self-bias and family-bias, in short; not_estimable:
    what has no estimate, and why; remarks: lines on the fit; words: the model.
    """

    def __init__(self, study: str, spec: str, settings: Mapping, config: Mapping, estimated: "Estimated") -> None:
        """Take the tables of the fit."""
        from recuse.model.spec import BIASES, in_words

        self.spec, self.words = spec, in_words(settings)
        self.table = _frame(ESTIMATES, estimated.estimates)
        self.not_estimable = _frame(NOT_ESTIMABLE, estimated.not_estimable)
        self.remarks = [row["remark"] for row in estimated.remarks]
        shown = ["slice"] if self.table["slice"].any() else []
        shown += ["quantity", "term", "estimate", "std_error", "ci_low", "ci_high", "p_value"]
        self.biases = self.table.loc[self.table["quantity"].isin(BIASES), shown].reset_index(drop=True)
        self._heading = f"{study}: {self.words}; {100 * config['confidence']:g} % intervals, sizes as shares of the scale"
        self._lines = [*self.remarks, *self._without_estimate()]

    def _without_estimate(self) -> list[str]:
        return [
            f"not estimable: {' of '.join(filter(None, (row.quantity, row.term))) or 'the fit'}: "
            f"{row.reason.removeprefix('not estimable: ')}"
            for row in self.not_estimable.itertuples()
        ]

    def __repr__(self) -> str:
        """The biases in words and numbers."""
        return "\n".join([visible(self._heading), self.biases.round(4).to_string(index=False), *map(visible, self._lines)])

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(visible(line))}</p>" for line in self._lines)
        return f"<p>{escape(visible(self._heading))}</p>{self.biases.round(4).to_html(index=False, border=0)}{lines}"


class _Rows:
    """Rows that were read and checked, as tables in a folder of temporary files that goes with the object."""

    def __init__(self, inputs: Inputs) -> None:
        self.study = inputs.study
        self._folder = mkdtemp(prefix="recuse-")
        self._estimates: dict[tuple[str, bool], Estimated] = {}
        self._tables: dict[str, Rows] = {}
        remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        try:
            with _ONE_AT_A_TIME, listening() as lines, in_folder(inputs, self._folder):
                self._inputs = imported(inputs, self._folder)._replace(frames={})
                self._read()
        except BaseException:
            remove()
            raise
        for line in lines:
            if NOT_IN_CONFIG not in line:  # families are shown
                _warn(_in_python(line.removeprefix("warning: ")))

    @property
    def imported(self) -> "pd.DataFrame":
        """What was read: rows, failed judgments by reason, repeats, words read as numbers, human scores."""
        path = f"{self._folder}/imported.csv"
        return _frame(IMPORTED, read_table(path) if os.path.exists(path) else [])

    def _read(self) -> None:
        raise NotImplementedError

    def _findings(self) -> "list[Finding]":
        raise NotImplementedError

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Limit DuckDB to this object's tables, one thread at a time."""
        config, own = self._inputs.config, [f"{self._folder}/{name}" for name in KEPT]
        raters = filter(None, [self._inputs.settings.get("raters")])
        limits = {"limit": config["memory_limit"], "longest_line": int(bytes_of(config["line_limit"]))}
        with _ONE_AT_A_TIME, bounded(**limits, folder=f"{self._folder}/work", files=raters, outputs=own):
            yield

    def _has(self, name: str) -> bool:
        return name.removeprefix("tables/") in self._tabulated()

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        raise NotImplementedError

    def _table(self, name: str) -> Rows:
        """The rows of a table, made when first asked for."""
        if name not in self._tables:
            self._tables[name] = list(self._tabulated()[name][1]())
        return self._tables[name]

    def _as_in_file(self, name: str, columns: Sequence[str], rows: Iterable[Mapping]) -> str:
        """The path of the rows as the workflow writes them."""
        path = f"{self._folder}/{name.replace('/', '_')}.csv"
        write_table(path, columns, rows, study=self.study)
        return path

    def _written(self, name: str, specs: Iterable[str]) -> str:
        """The path of a table of a figure, `tables/power` or `estimates/main`."""
        table = name.removeprefix("tables/")
        return self._as_in_file(name, self._tabulated()[table][0], self._table(table))

    def _shown(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Counts."""
        return visible(f"{type(self).__name__}: {self._shown()}")

    def _repr_html_(self) -> str:
        """Counts, and what the data support."""
        with self._opened():
            supported = [finding.words for finding in self._findings() if finding.topic == "verdict"]
        listed = "".join(f"<li>{escape(visible(words))}</li>" for words in supported)
        return f"<p>{escape(repr(self))}</p><ul>{listed}</ul>"


class Ratings(_Rows):
    """Ratings of single answers, read and checked; made by `ratings`."""

    def _read(self) -> None:
        self._study: Study = tables_of(self._inputs, self._folder)
        cells = self._study.cells()
        self._counts = {
            name: [str(level) for level in dict.fromkeys(cells.factors[name].tolist())]
            for name in ("judge", "model", "dimension")
        }
        self._rows, self._prompts = int(cells.counts.sum()), self._study.prompts
        families = zip(cells.factors["model"], cells.factors["model_family"], strict=True)
        self.families: dict[str, str] = {str(model): str(family) for model, family in sorted(set(families))}
        self.has_human_scores: bool = self._study.has_human_scores

    @property
    def judges(self) -> list[str]:
        """Their names, by alphabet."""
        return sorted(self._counts["judge"])

    @property
    def models(self) -> list[str]:
        """Names of the models whose answers are rated, by alphabet."""
        return sorted(self._counts["model"])

    @property
    def dimensions(self) -> list[str]:
        """What is rated."""
        return sorted(self._counts["dimension"])

    def __len__(self) -> int:
        """The number of complete ratings."""
        return self._rows

    def to_pandas(self) -> "pd.DataFrame":
        """The complete ratings, one in a row, with names and scales as the fits use them."""
        with self._opened():
            return connect().execute(f"from {files(self._study.ratings)}").df()

    def _shown(self) -> str:
        human = "with human scores" if self.has_human_scores else "no human scores"
        return (
            f"{counted(self._rows, 'rating')} by {counted(len(self.judges), 'judge')} of {counted(len(self.models), 'model')} "
            f"on {counted(self._prompts, 'prompt')} in {counted(len(self.dimensions), 'dimension')}; {human}"
        )

    def _findings(self) -> "list[Finding]":
        return findings_on(self._inputs, self._study, self._folder)

    def _estimated(self, name: str, settings: Mapping, *, drawn: bool = True) -> "Estimated":
        """The fit of a spec; drawn: with its bootstraps, which the intervals of a fit do not need."""
        from recuse.model.estimates import estimate
        from recuse.model.spec import Spec

        config = self._inputs.config
        kept = {key: value for key, value in settings.items() if drawn or key not in DRAWN}
        return estimate(Spec.of(name, **kept), self._study, confidence=config["confidence"], seed=config["seed"])

    def _of_config(self, name: str, *, drawn: bool = False) -> "Estimated":
        if (name, drawn) not in self._estimates:
            self._estimates[name, drawn] = self._estimated(name, self._inputs.config["specs"][name], drawn=drawn)
        return self._estimates[name, drawn]

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        return {
            "mean_scores": (MEAN_SCORES, self._mean_scores),
            "correlations": (CORRELATIONS, self._correlations),
            "idiosyncrasy": (IDIOSYNCRASY, self._idiosyncrasy),
            "residuals": (RESIDUALS, self._residuals),
            "leaderboard": (LEADERBOARD, self._leaderboard),
            "power": (POWER, lambda: self._power(self._inputs.config["inference"]["power"])),
            "verdicts": (VERDICTS, self._verdicts),
        }

    def _has(self, name: str) -> bool:
        return name.startswith("estimates/") or name.removeprefix("tables/") in OF_SPECS or super()._has(name)

    def _written(self, name: str, specs: Iterable[str]) -> str:
        of_specs, drawn = OF_SPECS.get(name.removeprefix("tables/")), name == "tables/multiplicity"
        if name.startswith("estimates/"):
            return self._as_in_file(name, ESTIMATES, self._of_config(name.removeprefix("estimates/")).estimates)
        if of_specs is None:
            return super()._written(name, specs)
        table = name.removeprefix("tables/")
        rows = [row for spec in sorted(specs) for row in getattr(self._of_config(spec, drawn=drawn), table)]
        return self._as_in_file(name, of_specs, rows)

    def _mean_scores(self) -> Rows:
        from recuse.data.describe import mean_scores

        return list(mean_scores(self._study.cells()))

    def _correlations(self) -> Rows:
        from recuse.data.describe import correlations

        return list(correlations(self._study.cells(), confidence=self._inputs.config["confidence"]))

    def _slices(self, names: Iterable[str]) -> list:
        from recuse.inference.idiosyncrasy import idiosyncrasies
        from recuse.model.estimable import sliced_by

        config = self._inputs.config
        specs = sliced_by(config["specs"], names, self._study)
        return [each for spec in specs for each in idiosyncrasies(spec, self._study, seed=config["seed"], draws=0)]

    def _idiosyncrasy(self) -> Rows:
        from recuse.inference.idiosyncrasy import idiosyncrasy_rows

        return list(idiosyncrasy_rows(self._slices(["main"]), confidence=self._inputs.config["confidence"]))

    def _residuals(self) -> Rows:
        from recuse.inference.idiosyncrasy import residual_rows

        return list(residual_rows(self._slices(["main"]), confidence=self._inputs.config["confidence"]))

    def _leaderboard(self) -> Rows:
        from recuse.inference.leaderboard import leaderboards
        from recuse.model.estimable import estimable_specs

        config, inference = self._inputs.config, self._inputs.config["inference"]
        drawn = {"replicates": inference["replicates"], "confidence": config["confidence"], "seed": config["seed"]}
        instead = inference["without_human_scores"]
        specs = estimable_specs(config["specs"], inference["leaderboard"], self._study, instead=instead)
        return [row | {"study": self.study} for spec in specs for row in leaderboards(spec, self._study, **drawn)]

    def _power(self, settings: Mapping) -> Rows:
        from recuse.inference.power import power_rows
        from recuse.model.spec import Spec

        config = self._inputs.config
        reliability = reliability_in(self._inputs, self._study, self._folder)
        of_dimensions = [{"dimension": dimension, **vars(each)} for dimension, each in reliability.items()]
        main = Spec.of("main", **config["specs"]["main"])
        rows = power_rows(main, self._study, of_dimensions, **settings, confidence=config["confidence"])
        return [{"study": self.study, **row} for row in rows]

    def _verdicts(self) -> Rows:
        """The rows of the table of verdicts, from the first robustness check and those that answer the three questions."""
        from recuse.config.studies import conclusions_params, order_of
        from recuse.inference.robustness import ESTIMATES as OF_FITS
        from recuse.inference.robustness import Robustness, RobustnessCheck, conclusions
        from recuse.inference.robustness import Tables as CheckedTables
        from recuse.inference.verdict import judges_astray, rating_judges, verdict_rows

        config, inference = self._inputs.config, self._inputs.config["inference"]
        params = conclusions_params(config)
        first, asked = next(iter(params["checks"])), inference["verdict"]
        checks = [
            replace(each, specs=list(filter(None, [each.spec_of("", params["specs"])])))
            for each in RobustnessCheck.from_config(params["checks"])
            if each.name in {first, *asked.values()}
        ]
        if others := {each.table for each in checks} - {OF_FITS, "idiosyncrasy"}:
            raise ConfigError(f"config: inference: verdict: a check reads {', '.join(sorted(others))}.csv; run the workflow")
        specs = dict.fromkeys(spec for each in checks for spec in each.specs)
        drawn = any(each.by != "ci" for each in checks)
        fits = [self._of_config(spec, drawn=drawn) for spec in specs]
        rows = {
            OF_FITS: (ESTIMATES, [row for fit in fits for row in fit.estimates]),
            "not_estimable": (NOT_ESTIMABLE, [row for fit in fits for row in fit.not_estimable]),
            "correlations": (CORRELATIONS, self._table("correlations")),
            "idiosyncrasy": (IDIOSYNCRASY, self._table("idiosyncrasy")),
        }
        read = {name: read_table(self._as_in_file(name, *of)) for name, of in rows.items()}
        reasons, tables = (
            read["not_estimable"],
            CheckedTables({name: read[name] for name in (OF_FITS, "idiosyncrasy")}, read["not_estimable"]),
        )
        robustness = Robustness(checks, params["specs"], params["confidence"], params["power"])
        robustness = robustness.of_study(tables, reasons, instead=inference["without_human_scores"])
        order = order_of(config, self.study)
        concluded = conclusions(robustness, tables, [], order=order)
        judges = rating_judges(read_table(f"{self._folder}/completeness.csv"), order["self_bias"])
        told = verdict_rows(
            concluded, judges, judges_astray(read["correlations"]), checks=asked, confidence=config["confidence"]
        )
        return [{"study": self.study, **row} for row in told]


class Pairs(_Rows):
    """Verdicts on two answers, read and checked; made by `pairs`."""

    def _read(self) -> None:
        self._comparisons = pairs_of(self._inputs, self._folder)
        connection, kept = connect(), files([self._comparisons])
        models = "select model_a from kept union select model_b from kept"
        query = f"""
            with kept as (from {kept})
            select count(*), count(distinct judge), count(distinct item), (select count(*) from ({models})), count(human)
            from kept"""
        self._verdicts, self._judges, self._items, self._models, self._labels = connection.execute(query).fetchone()

    def __len__(self) -> int:
        """The number of verdicts."""
        return self._verdicts

    def _shown(self) -> str:
        human = "with human verdicts" if self._labels else "no human verdicts"
        return (
            f"{counted(self._verdicts, 'verdict')} by {counted(self._judges, 'judge')} on {counted(self._items, 'question')}, "
            f"of {counted(self._models, 'model')}; {human}"
        )

    def _findings(self) -> "list[Finding]":
        return findings_on_pairs(self._inputs, self._comparisons)

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        return {
            "choices": (CHOICES, self._choices),
            "verdicts": (VERDICTS, lambda: self._choices() and self._tables["verdicts"]),
        }

    def _choices(self) -> Rows:
        tables = tables_of_pairs(self._inputs, self._comparisons)
        self._tables["verdicts"] = [{"study": self.study, **row} for row in tables.verdicts]
        return tables.choices


def _tables_in(figure: Any) -> list[str]:
    """The tables that a figure of the catalogue is drawn from."""
    return [each for of in figure.tables.values() for each in ([of] if isinstance(of, str) else of)]


def _simultaneous(settings: object) -> Iterator[str]:
    """The specs whose simultaneous intervals the settings of a figure name."""
    if isinstance(settings, Mapping):
        if isinstance(named := settings.get("simultaneous"), Mapping):
            yield named["spec"]
        settings = settings.values()
    if isinstance(settings, Iterable) and not isinstance(settings, str):
        for each in settings:
            yield from _simultaneous(each)
