"""Where the project's own files are, in a checkout or in the folder `project` of what is installed;
and where results are.
"""

import os
from collections.abc import Container
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_INSTALLED = PACKAGE / "project"
# With Snakefile, config.yaml, workflow
PROJECT = _INSTALLED if _INSTALLED.is_dir() else PACKAGE.parents[2]
WORKFLOW = PROJECT / "workflow"
SHIPPED = PACKAGE if _INSTALLED.is_dir() else WORKFLOW  # holds all code and data that jobs read


def is_result(path: str, studies: Container[str]) -> bool:
    """Whether a path is that of a result of these studies or of the simulations, and not of a file
    from outside.
    """
    parts = Path(os.path.normpath(path)).parts
    if len(parts) < 3 or parts[0] != "results":
        return False
    return parts[1] == "montecarlo" or parts[1] in studies


def version() -> str:
    """The version that is installed; of a checkout that is not, `0+checkout`."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("recuse")
    except PackageNotFoundError:
        return "0+checkout"
