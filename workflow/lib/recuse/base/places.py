"""Where the project's own files are, in a checkout or in the folder `project` of what is installed;
and where results are.
"""

import os
from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_INSTALLED = PACKAGE / "project"
# With Snakefile, config.yaml, workflow
PROJECT = _INSTALLED if _INSTALLED.is_dir() else PACKAGE.parents[2]
WORKFLOW = PROJECT / "workflow"
SHIPPED = PACKAGE if _INSTALLED.is_dir() else WORKFLOW  # holds all code and data that jobs read


def is_result(path: str, config: Mapping) -> bool:
    """Whether a path is that of a result of this workflow, and not of a file from outside."""
    parts = Path(os.path.normpath(path)).parts
    names = (*config["studies"], *config["comparisons"], "montecarlo")
    return len(parts) > 2 and parts[0] == "results" and parts[1] in names


def version() -> str:
    """The version that is installed; of a checkout that is not, `0+checkout`."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("recuse")
    except PackageNotFoundError:
        return "0+checkout"
