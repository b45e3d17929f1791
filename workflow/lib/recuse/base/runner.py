"""A rule's script as a plain function, with the arguments, log and memory that Snakemake passes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from recuse.base.database import bounded, bytes_of, error_of_duckdb
from recuse.base.errors import DataError
from recuse.base.log import logged

RESULTS = "results"  # the folder of what jobs write


def run(function: Callable[..., None], snakemake: Any) -> None:
    """Call `function` with the arguments of a rule, within the rule's log and memory.

    Each parameter of `function` gets the wildcard, input, output or param of its name; files are a path or a list of paths. The
    parameters `inputs` (without the code), `outputs`, `params` and `config` get all of these, by name. A parameter with a
    default may be missing from the rule. Messages go to the log, as by recuse.base.log.logged. DuckDB is limited by config's
    `memory_limit` and the rule's `mem_mb`, spills next to the log, and opens no files but the rule's. Raises TypeError if a
    parameter is none of the rule's names, or several.
    """
    log, config, of_job = snakemake.log[0], snakemake.config, snakemake.resources.get("mem_mb")
    files, outputs = _flat(_inputs(snakemake)), _flat(_paths(snakemake.output))
    limits = {"limit": config["memory_limit"], "longest_line": int(bytes_of(config["line_limit"])), "of_job": of_job}
    with logged(log), bounded(**limits, folder=f"{log}.spill", files=files, outputs=outputs), _intact(files):
        function(**arguments(function, snakemake))


@contextmanager
def _intact(inputs: Sequence[str]) -> Iterator[None]:
    """Raise DataError about an input of 0 bytes from an earlier job, and about one that DuckDB cannot read."""
    results = [path for path in inputs if Path(path).parts[0] == RESULTS]
    remedy = "delete it and run again, which makes it anew"
    for path in results:
        if Path(path).is_file() and Path(path).stat().st_size == 0:
            raise DataError(f"{path}: found 0 bytes where an earlier job wrote a file; {remedy}")
    try:
        yield
    except error_of_duckdb() as error:
        path = next((path for path in results if path in str(error)), None)
        if path is None:
            raise
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]}); {remedy}") from error


def arguments(function: Callable, snakemake: Any) -> dict[str, Any]:
    """The arguments that `run` calls `function` with."""
    inputs, outputs = _inputs(snakemake), _paths(snakemake.output)
    wildcards, params = dict(snakemake.wildcards.items()), dict(snakemake.params.items())
    whole = {"inputs": inputs, "outputs": outputs, "params": params, "config": snakemake.config}
    filled = {}
    for name, parameter in signature(function).parameters.items():
        values = [part[name] for part in (wildcards, inputs, outputs, params) if name in part]
        values = values or ([whole[name]] if name in whole else [])
        if len(values) > 1 or (not values and parameter.default is Parameter.empty):
            raise TypeError(f"{function.__name__}: {name}: {'several' if values else 'none'} of the rule's names")
        if values:
            filled[name] = values[0]
    return filled


def _inputs(snakemake: Any) -> dict[str, str | list[str]]:
    """The rule's inputs but for the code."""
    return {name: paths for name, paths in _paths(snakemake.input).items() if name != "code"}


def _flat(named: dict[str, str | list[str]]) -> list[str]:
    return [path for paths in named.values() for path in ([paths] if isinstance(paths, str) else paths)]


def _paths(files: Any) -> dict[str, str | list[str]]:
    """Name -> path, or paths in a list, of a rule's named inputs or outputs."""
    return {name: paths if isinstance(paths, str) else list(paths) for name, paths in files.items()}
