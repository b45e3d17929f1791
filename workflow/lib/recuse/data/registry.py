"""Names in the configuration by which data are read: files, models and their spellings, scales."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from os.path import isdir
from pathlib import Path

from recuse.base.errors import ConfigError
from recuse.base.tables import column_names

IMPORTED = column_names("study file kind n example")

HUMAN = "Human"  # the judge of the human scores in tables and figures; no model's name
RATERS = "raters"  # those whose mean score is the reference of the study
GOLD = "gold"  # a second, better trained team, on a random subset of the completions
TEAMS = (RATERS, GOLD)

TABLES = (".csv", ".tsv", ".gz", ".parquet")
SUFFIXES = (*TABLES, ".jsonl", ".json", ".eval")  # of files of judgments
# Column of imported verdicts of a tool that shows each pair in one order only
ORDER_DRAWN = "order_drawn"
# What a format holds, by the part of config that it goes under
RATED, COMPARED = "studies", "comparisons"

OBSERVED = "observed"  # a scale from 0 to the highest value in the files
# In the footer of imported ratings: the scale of each dimension in whole steps, and the steps
IMPORTED_SCALES = "scales"
DEFAULT = "default"  # the scale of every dimension, or of every judge, that is not named beside it
MOST_LEVELS = 101  # of a rating scale
USUAL_ENDS = (1, 2, 3, 4, 5, 6, 7, 10, 100)  # of a scale, from 0 or 1
NEAR = 1e-9
FEWEST = 10  # steps of a scale, of values that have any number of digits
# That ratings may show, if config does not say
SEEN_STEPS = (1, 0.5, 0.25, 0.2, 0.1, 0.05, 0.02, 0.01)
STEPS = tuple(float(f"{digit}e{power}") for power in range(-6, 6) for digit in (1, 2, 5))


def named_files(files: str | Sequence[str] | Mapping[str, str]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each entry of `files:`, as written; the dimension is None if the rows
    give it.
    """
    if isinstance(files, Mapping):
        return [(path, dimension) for dimension, path in files.items()]
    return [(path, None) for path in ([files] if isinstance(files, str) else files)]


def raw_files(named: Sequence[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each file to be read for the entries of `named_files`; ConfigError about
    a folder without parts.
    """
    files = []
    for path, dimension in named:
        files += [(part, dimension) for part in parquet_parts(path)]
        if not parquet_parts(path):
            raise ConfigError(f"'{path}': the folder holds no *.parquet; put the parts into it")
    return files


def parquet_parts(path: str) -> list[str]:
    """The parquet files of a folder in the order of their names, but not hidden ones; anything else
    alone.
    """
    if not isdir(path):  # a name that is too long to be one is no folder, either
        return [path]
    return [str(part) for part in sorted(Path(path).glob("[!.]*.parquet"))]


def files_in(path: str) -> list[str]:
    """The files of judgments in a folder and its subfolders, by name, without hidden ones; a file
    alone.

    ConfigError if a folder has none, or one whose name Snakemake cannot take.
    """
    if not isdir(path):
        return [path]
    inside = (
        file for file in sorted(Path(path).rglob("*")) if file.is_file() and file.suffix in SUFFIXES
    )
    files = [
        str(file)
        for file in inside
        if not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if not files:
        raise ConfigError(
            f"'{path}': the folder holds no file ending in one of {', '.join(SUFFIXES)}; put the"
            " files into it"
        )
    for file in files:
        if re.search("[\ud800-\udfff]", file):  # bytes that are not UTF-8
            raise ConfigError(f"{file!a}: the name is not UTF-8; rename the file")
        if "{" in file or "}" in file:
            raise ConfigError(f"'{file}': braces mean a wildcard to Snakemake; rename the file")
    return files


@dataclass(frozen=True)
class Registry:
    """Display names in the order of the figures, their families, and every id that stands for a
    name.
    """

    families: dict[str, str]  # name -> family
    names: dict[str, str]  # id or name -> name
    # A judge or model that config does not list keeps its name, in a family of its own
    imported: bool = False

    @classmethod
    def from_config(cls, models: Mapping[str, Mapping], *, imported: bool = False) -> "Registry":
        """Read config's `models`; ConfigError if one id is listed under two models. imported: of a
        study with `import`.
        """
        names: dict[str, str] = {name: name for name in models}
        for name, entry in models.items():
            for model_id in entry.get("ids", ()):
                if names.setdefault(model_id, name) != name:
                    both = f"'{names[model_id]}' and '{name}'"
                    problem = f"found the id '{model_id}' under {both}; write it under one of them"
                    raise ConfigError.at(["models"], problem)
        return cls({name: entry["family"] for name, entry in models.items()}, names, imported)

    def family(self, name: str) -> str:
        """The family that config gives a judge or model; of one that it does not list, a family of
        its own.
        """
        return self.families.get(
            name, f"{name} (alone)" if name in self.families.values() else name
        )

    def sql_name(self, looked_up: str, written: str) -> str:
        """SQL for the name of a judge or model, from its id as `looked_up` in `names` (NULL if
        absent) and as `written`.
        """
        return f"coalesce({looked_up}, {written})" if self.imported else looked_up


def named_as(value: str) -> str:
    """SQL for the name that config gives a judge or model (SQL), from the table `registry`; else
    its own.
    """
    return f"coalesce((select name from registry where id = {value}), {value})"


def models_with(
    families: Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]],
    models: Mapping[str, Mapping],
) -> dict[str, dict]:
    """Config's `models` and those of a study's own `families`, which take their names and ids from
    config's.

    families: family -> models, or -> model -> its other spellings.
    """
    added: dict[str, dict] = {}
    for family, members in families.items():
        spelt = members if isinstance(members, Mapping) else dict.fromkeys(members, ())
        for model, ids in spelt.items():
            added[model] = {"family": family, "ids": [*ids]}
    taken = Registry.from_config(added).names.keys()
    others = {name: {**entry} for name, entry in models.items() if name not in taken}
    for entry in others.values():
        entry["ids"] = [spelling for spelling in entry.get("ids", ()) if spelling not in taken]
    return {**added, **others}


def scale_for(scales: Mapping, dimension: str) -> Mapping | Sequence[float] | str | None:
    """What config's `scales` say of a dimension, by its name or for all others; None if nothing."""
    return scales.get(dimension, scales.get(DEFAULT))


def usual_scale(low: float, high: float) -> tuple[float, float]:
    """The smallest usual scale on which these ratings are; else from one to the other, with 0.

    The next usual scale after 1 to 10 is 0 to 100; on it, half or more would not be used by scores
    of up to 50, whose ceiling it would hide.
    """
    start = 0 if low < 1 or high <= 1 or high > 10 else 1
    if low < 0 or high > USUAL_ENDS[-1]:
        return min(0, low), max(0, high)
    if USUAL_ENDS[-2] < high <= USUAL_ENDS[-1] / 2:
        return start, ceil(high)
    return start, next(end for end in USUAL_ENDS if start < end >= high)


def shared_scale(scale: Mapping | Sequence[float] | str) -> Sequence[float] | str:
    """The scale of a dimension, to which the ratings of judges with another one are mapped."""
    return scale[DEFAULT] if isinstance(scale, Mapping) else scale


def declared_in(scales: Mapping) -> list[Sequence[float]]:
    """Every [lowest, highest] in config's `scales`."""
    listed = [
        end
        for scale in scales.values()
        for end in (scale.values() if isinstance(scale, Mapping) else [scale])
    ]
    return [scale for scale in listed if not isinstance(scale, str)]


def possible_steps(scales: Sequence[Sequence[float]]) -> list[float]:
    """Steps of 1, 2 or 5 and a power of ten, rising, that make at most MOST_LEVELS levels of every
    scale.
    """
    return [step for step in STEPS if scales and fits(step, scales)]


def fits(step: float, scales: Sequence[Sequence[float]]) -> bool:
    """Whether every scale is a whole number of steps, with at most MOST_LEVELS levels."""
    return all(
        in_whole_steps(scale, step) and (scale[1] - scale[0]) / step < MOST_LEVELS - 1 + NEAR
        for scale in scales
    )


def finest_step(scales: Sequence[Sequence[float]]) -> float | None:
    """The finest of the possible steps; None if there is none, or if a scale would have fewer than
    FEWEST of them.
    """
    widths = [scale[1] - scale[0] for scale in scales]
    return next(
        (step for step in possible_steps(scales) if min(widths) / step > FEWEST - NEAR), None
    )


def in_whole_steps(scale: Sequence[float], step: float) -> bool:
    """Whether both ends of a scale, and what is between them, are whole numbers of steps, one or
    more.
    """
    ends = [end / step for end in scale]
    return all(abs(end - round(end)) <= NEAR * max(1, abs(end)) for end in ends) and round(
        ends[1]
    ) > round(ends[0])
