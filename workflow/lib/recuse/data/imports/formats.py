"""The formats of files of judgments: what messages call them, what they hold, and the keys by which they are known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isdir
from pathlib import Path

from recuse.base.errors import ConfigError, DataError

TABLES = (".csv", ".gz", ".parquet")
SUFFIXES = (*TABLES, ".jsonl", ".json", ".eval")
RATED, COMPARED = "studies", "comparisons"  # what a format holds, by the part of config that it goes under


@dataclass(frozen=True)
class Format:
    """A format of files: what messages call it, what it holds, and the keys by which it is known."""

    words: str
    holds: tuple[str, ...]
    signs: frozenset[str] = frozenset()  # keys of each of its objects, which no other format has together


FORMATS = {
    "table": Format("a table", (RATED, COMPARED)),
    "mt_bench_single": Format("MT-Bench single judgments", (RATED,), frozenset({"question_id", "model", "judge", "score"})),
    "mt_bench_pair": Format("MT-Bench pair judgments", (COMPARED,), frozenset({"question_id", "model_1", "model_2", "judge"})),
    "alpaca_eval": Format("AlpacaEval annotations", (COMPARED,), frozenset({"instruction", "output_1", "preference"})),
    "arena_hard": Format("Arena-Hard judgments", (COMPARED,), frozenset({"model", "judge", "games"})),
    "inspect": Format("an Inspect log", (RATED,), frozenset({"version", "status", "eval"})),
}


def tells_raters(settings: Mapping) -> bool:
    """True if the human scores of an import are those of single raters."""
    columns = settings.get("references", {}).get("columns", {})
    return "rater" in columns or not isinstance(columns.get("rating", ""), str)


def check_name(path: str) -> None:
    """DataError unless a file ends as one that can be read does: of packed ones, only CSV is."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise DataError(
            f"{path}: found a name that ends in '{suffix}'; import a file that ends in one of {', '.join(SUFFIXES)}"
        )
    packed = Path(path).with_suffix("").suffix
    if suffix == ".gz" and packed in SUFFIXES and packed != ".csv":
        raise DataError(f"{path}: found a name that ends in '{packed}.gz', and only CSV is read packed; unpack it (gunzip)")


def files_in(path: str) -> list[str]:
    """The files of a folder and of those in it that end as a format does, by name, but not hidden ones; a file alone.

    ConfigError where a folder has none, or one whose name Snakemake cannot take.
    """
    if not isdir(path):
        return [path]
    inside = (file for file in sorted(Path(path).rglob("*")) if file.is_file() and file.suffix in SUFFIXES)
    files = [str(file) for file in inside if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not files:
        raise ConfigError(f"'{path}': the folder holds no file that ends in one of {', '.join(SUFFIXES)}")
    for each in files:
        if re.search("[\ud800-\udfff]", each):  # which stand for bytes that are no UTF-8
            raise ConfigError(f"{each!a}: the name is not UTF-8; rename the file")
        if "{" in each or "}" in each:
            raise ConfigError(f"'{each}': braces mean a wildcard to Snakemake; rename the file")
    return files
