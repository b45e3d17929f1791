"""From the arguments of `recuse.ratings` and `recuse.pairs` to a study, with tables in memory in
place of files.
"""

import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from tempfile import mkdtemp
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from recuse.base.database import Frame, bounded
from recuse.base.errors import ConfigError, DataError
from recuse.base.products import registered
from recuse.base.settings import Keys
from recuse.base.words import enumerated, visible
from recuse.config.load import load_studies, with_study
from recuse.config.read import project_settings, read
from recuse.config.studies import Study
from recuse.data.registry import COMPARED, RATED, usual_scale
from recuse.inputs import Inputs, inputs_in

if TYPE_CHECKING:
    import pandas as pd

# A DataFrame of pandas or polars, an Arrow table, the path of a file, or several paths in a list
Data: TypeAlias = Any
OneColumn: TypeAlias = str | Mapping[str, str]  # its name, or {"value": one name for all rows}
# Also several, or names -> columns, in one level or two
Columns: TypeAlias = str | Sequence[str] | Mapping[str, str | Mapping[str, str]]

CONFIGURATION = (".yaml", ".yml")
NAME_OF_STUDY = "[a-z][a-z0-9_]*"
# What messages call a table in memory
IN_MEMORY, SCORES_IN_MEMORY = "DataFrame", "DataFrame of references"

ARGUMENTS = {  # of the settings whose arguments are not named like their last keys
    ("files",): "data",
    ("scales", "default"): "scale",
    ("references", "columns", "rating"): "human",
}
# Keys that lead to a setting and are no part of an argument's name
AROUND = ("import", "references", "columns", "specs", "changed", "inference", "power")
ONE_AT_A_TIME = RLock()  # DuckDB's limits are those of the process


def argument_named(keys: Keys) -> str:
    """The argument by which a setting is passed, with the keys below it."""
    if keys[:1] in ((RATED,), (COMPARED,)):
        keys = keys[2:]
    while keys not in ARGUMENTS and len(keys) > 1 and keys[0] in AROUND:
        keys = keys[1:]
    return ARGUMENTS.get(keys, ": ".join(map(str, keys)))


def is_configuration(data: Data) -> bool:
    """Whether the data are named by a configuration."""
    return isinstance(data, str | os.PathLike) and os.fspath(data).endswith(CONFIGURATION)


def configured(function: Callable, arguments: Mapping[str, Any], kind: str) -> Inputs:
    """The study of a configuration, from all arguments of a function; ConfigError about any but
    `data` and `study`.
    """
    path, study = os.fspath(arguments["data"]), arguments["study"]
    others = [
        name
        for name, parameter in signature(function).parameters.items()
        if name not in ("data", "study")
        if arguments[name] is not parameter.default
    ]
    if others:
        raise ConfigError(
            f"{path}: found {enumerated(others)} with a configuration; write them there, or pass the"
            " data itself"
        )
    several = [
        each
        for each in inputs_in(load_studies(path), read(Path(path)), study, compared=True)
        if each.study.section == kind
    ]
    if len(several) != 1:
        named = ", ".join(each.study.name for each in several) or f"none under `{kind}:`"
        raise ConfigError(f"{path}: pass study=, one of its studies under `{kind}:`; found {named}")
    return several[0]


def families_as_named(families: Mapping[str, Sequence[str]] | None) -> dict[str, dict]:
    """The key `families` of a study, if there are any."""
    return {"families": plain(families)} if families else {}


class Source:
    """Where rows come from: files or tables in memory, under `import` of a study."""

    def __init__(
        self, data: Data, columns: Mapping[str, Columns | None], **settings: object
    ) -> None:
        """Take the data as `import` of a study, with these columns and further keys."""
        self.frames: dict[str, Frame] = {}
        self.files = self._named(data, IN_MEMORY)
        self.settings: dict[str, Any] = {"files": self.files, **passed_arguments(settings)}
        if named := passed_arguments(columns):
            self.settings["columns"] = named

    def name_column(self, key: str, column: Columns | None) -> None:
        """Name a further column."""
        if column is not None:
            self.settings.setdefault("columns", {})[key] = plain(column)

    def refer_to(
        self, data: Data, columns: Mapping[str, Columns | None], **settings: object
    ) -> None:
        """Take the human scores or verdicts from another table."""
        paths, named = self._named(data, SCORES_IN_MEMORY), passed_arguments(columns)
        if frame := self.frames.get(paths[0]):  # these may be missing where they are not needed
            named = {
                key: name
                for key, name in named.items()
                if key not in ("dimension", "dataset") or name in frame.columns
            }
        self.settings["references"] = {
            "files": paths,
            **({"columns": named} if named else {}),
            **passed_arguments(settings),
        }

    def _named(self, data: Data, name: str) -> list[str]:
        if (
            isinstance(data, list | tuple)
            and data
            and all(isinstance(each, str | os.PathLike) for each in data)
        ):
            return [os.fspath(path) for path in data]
        if isinstance(data, str | os.PathLike):
            return [os.fspath(data)]
        self.frames[name] = as_frame(data)
        return [name]

    def scales(self) -> dict[str, tuple[float, float]]:
        """The scale of each dimension that the data show, with a warning."""
        ranges = self._ranges()
        taken = {name: usual_scale(*ends) for name, ends in ranges.items()}
        ends = {
            name: "{:g} to {:g} (found {:g} to {:g})".format(*taken[name], *ranges[name])
            for name in taken
        }
        shown = "; ".join(f"{name} from {words}" for name, words in ends.items())
        tell(
            f"no scale was passed; taken from the data: {shown}. Pass scale=(lowest, highest), or"
            " scales= by dimension"
        )
        return taken

    def _ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest number of each dimension."""
        find_ranges = resolve_name(
            next(product.ranges for product in registered() if product.ranges)
        )
        config, folder = project_settings(), mkdtemp(prefix="recuse-")
        try:
            with (
                ONE_AT_A_TIME,
                bounded(config["memory_limit"], f"{folder}/work", frames=self.frames),
            ):
                ranges = find_ranges(self.files, self.settings)
        finally:
            shutil.rmtree(folder)
        if not ranges:
            raise DataError(f"{self.files[0]}: no rating is a number; name their column: rating=")
        return ranges

    def inputs(self, kind: str, study: str, settings: Mapping, confidence: float | None) -> Inputs:
        """The study, as a configuration would describe it."""
        from recuse.data.files import RatingsFile

        if not re.fullmatch(NAME_OF_STUDY, study):
            raise ConfigError(
                f"study: found {study!r}; write lower-case letters, digits and _, and begin with a"
                " letter"
            )
        described = {"title": study, "import": self.settings, **settings}
        others = {} if confidence is None else {"confidence": plain(confidence)}
        project = project_settings()  # whose study of this name, if any, is another one
        project = project | {
            part: {name: each for name, each in project[part].items() if name != study}
            for part in (RATED, COMPARED)
        }
        config = with_study(project, **{kind: {study: described}}, **others)
        files = [RatingsFile(path) for path in self.files]
        return Inputs(Study(study, config), files, self.frames)


def passed_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments that are passed, as a configuration has them."""
    return {
        key: plain(value)
        for key, value in arguments.items()
        if value is not None and not (isinstance(value, tuple) and not value)
    }


def listed(value: object) -> list:
    """One value, or several, as a list."""
    value = plain(value)
    return value if isinstance(value, list) else [value]


def plain(value: object) -> object:
    """Texts, numbers, lists and mappings as YAML has them, also of what numpy or pandas hold."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return (
        [*map(plain, value)]
        if isinstance(value, Iterable) and not isinstance(value, str)
        else value
    )


class _Stream:
    """A table by Arrow's C interface alone, which DuckDB reads without pyarrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def as_frame(data: Data) -> Frame:
    """A table in memory that DuckDB reads, as it is; DataError about anything else.

    Levels of an index with names are columns, too.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _pandas_frame(data)
    if type(data).__module__.partition(".")[0] == "polars" and hasattr(data, "collect"):
        data = data.collect()  # a lazy one
    if hasattr(data, "read_all"):  # Arrow's readers can be read once
        data = data.read_all()
    names = (
        getattr(data, "column_names", None)
        or getattr(data, "columns", None)
        or getattr(getattr(data, "schema", None), "names", None)
    )
    if hasattr(data, "__arrow_c_stream__") and names:
        return Frame(_Stream(data), [str(name) for name in names])
    raise DataError(
        f"data: found {type(data).__name__}; pass a DataFrame of pandas or polars, an Arrow table,"
        " or the path of a file"
    )


def _pandas_frame(data: "pd.DataFrame") -> Frame:
    import pandas as pd

    levels = {name: data.index.get_level_values(name) for name in data.index.names if name}
    columns = [(name, level.to_series()) for name, level in levels.items() if name not in data]
    columns += [(name, data.iloc[:, place]) for place, name in enumerate(data.columns)]
    plain_columns = {place: _plain_column(column) for place, (_, column) in enumerate(columns)}
    return Frame(pd.DataFrame(plain_columns, copy=False), [str(name) for name, _ in columns])


def _plain_column(column: "pd.Series") -> object:
    """The values of a column as DuckDB reads them: those of types that it lacks as numbers or
    texts.
    """
    import numpy as np

    kind = str(getattr(column.dtype, "categories", column).dtype)
    if kind.startswith("Sparse"):
        column = column.sparse.to_dense()
    elif kind.startswith(("complex", "interval", "period")):
        return column.astype(str).array
    values = column.array
    if isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        if values.dtype.itemsize > 8 and values.dtype.kind == "f":
            return values.astype(float)
        # DuckDB follows no steps from the last to the first, and no other order of bytes.
        native = values.astype(values.dtype.newbyteorder("="), copy=False)
        return native if min(native.strides) >= 0 else native.copy()
    return values


def tell(message: str) -> None:
    """Warn the user, at the line that called the library."""
    warnings.warn(visible(message), UserWarning, stacklevel=4)
