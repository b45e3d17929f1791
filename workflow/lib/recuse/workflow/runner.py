"""A rule's script as a plain function, with the arguments, log and memory that Snakemake passes."""

import gc
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any

from recuse.base.database import bounded, parse_bytes
from recuse.workflow.job_log import logged
from recuse.workflow.records import recorded

# Before Python looks for garbage: a figure has many that stay, and looking takes a tenth of its
# time
NEW_OBJECTS = 10_000


def run(functions: Callable[..., None] | Sequence[Callable[..., None]], snakemake: Any) -> None:
    """Call a function, or several in turn, with the arguments of a rule, within the rule's log and
    memory, and record what the results were made from.

    Each parameter of a function gets the wildcard, input, output or param of its name; files are a
    path or a list of paths. The parameters `inputs`, `outputs`, `params` and `config` get all of
    these, by name, without record and contents. One of a class with `from_files` gets what that
    makes of the arguments by its own names, all functions the same object. A parameter with a
    default may be missing from the rule. Messages go to the log, as by
    recuse.workflow.job_log.logged. DuckDB is limited by config's `memory_limit` and the rule's
    `mem_mb`, spills next to the log, and opens no files but the rule's. Raises TypeError if a
    parameter is none of the rule's names, or several.
    """
    log, config, of_job = snakemake.log[0], snakemake.config, snakemake.resources.get("mem_mb")
    limits = {
        "limit": config["memory_limit"],
        "longest_line": int(parse_bytes(config["line_limit"])),
        "of_job": of_job,
    }
    gc.set_threshold(NEW_OBJECTS)
    with (
        logged(log),
        bounded(
            **limits, folder=f"{log}.spill", files=[*snakemake.input], outputs=[*snakemake.output]
        ),
        recorded(snakemake),
    ):
        made: dict[type, Any] = {}
        for function in functions if isinstance(functions, Sequence) else [functions]:
            function(**arguments(function, snakemake, made))


def arguments(function: Callable, snakemake: Any, made: dict[type, Any]) -> dict[str, Any]:
    """The arguments that `run` calls `function` with; made: objects of classes with `from_files`,
    which functions of one job share.
    """
    inputs, outputs, wildcards = (
        _paths(snakemake.input),
        _results(snakemake),
        dict(snakemake.wildcards.items()),
    )
    params = {name: value for name, value in snakemake.params.items() if name != "contents"}
    whole = {"inputs": inputs, "outputs": outputs, "params": params, "config": snakemake.config}
    filled = {}
    for name, parameter in signature(function).parameters.items():
        kind = parameter.annotation
        if from_files := getattr(kind, "from_files", None):
            if kind not in made:
                made[kind] = from_files(**arguments(from_files, snakemake, made))
            filled[name] = made[kind]
            continue
        values = [part[name] for part in (wildcards, inputs, outputs, params) if name in part]
        values = values or ([whole[name]] if name in whole else [])
        if len(values) > 1 or (not values and parameter.default is Parameter.empty):
            raise TypeError(
                f"{function.__name__}: {name}: {'several' if values else 'none'} of the rule's"
                " names"
            )
        if values:
            filled[name] = values[0]
    return filled


def _paths(files: Any) -> dict[str, str | list[str]]:
    """Name -> path, or paths in a list, of a rule's named inputs or outputs."""
    return {name: paths if isinstance(paths, str) else list(paths) for name, paths in files.items()}


def _results(snakemake: Any) -> dict[str, str | list[str]]:
    """The outputs without the record of the job."""
    return {name: paths for name, paths in _paths(snakemake.output).items() if name != "made"}
