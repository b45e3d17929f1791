"""Where the project's own files are: around the library in a checkout, in its folder `project` where it is installed."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_INSTALLED = PACKAGE / "project"
PROJECT = _INSTALLED if _INSTALLED.is_dir() else PACKAGE.parents[2]  # with Snakefile, config.yaml, workflow
WORKFLOW = PROJECT / "workflow"
SHIPPED = PACKAGE if _INSTALLED.is_dir() else WORKFLOW  # holds all code and data that jobs read


def version() -> str:
    """The version that is installed; of a checkout that is not, `0+checkout`."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("recuse")
    except PackageNotFoundError:
        return "0+checkout"
