"""Files that a command imports first: those of a study with `import`, in the format of another tool or in other columns."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from os.path import normpath

from judgebias.sources.checks import RatingsFile
from judgebias.sources.raw_files import named_files

RAW, RATERS = "raw.parquet", "raw_raters.parquet"  # what an import makes in a folder


def imported_study(config: Mapping, name: str | None, paths: Sequence[str]) -> str | None:
    """The study of that name, or, without one, the study that imports the files at `paths`; None if it imports nothing."""
    studies = {study: settings["import"] for study, settings in config["studies"].items() if "import" in settings}
    if name is not None:
        return name if name in studies else None
    given = {normpath(path) for path in paths}
    return next((study for study, settings in studies.items() if given == {normpath(path) for path in _paths(settings)}), None)


def tells_single_raters(settings: Mapping) -> bool:
    """Whether a study imports the scores of single raters."""
    from judgebias.imports.settings import tells_raters

    return tells_raters(settings.get("import", {}))


def import_files(study: str, config: Mapping, files: Sequence[RatingsFile], folder: str) -> RatingsFile:
    """Import the files of a study into `folder`, as the workflow does; the file to check. Raises what the import raises."""
    from judgebias.imports.formats import files_in
    from judgebias.imports.import_ratings import import_ratings
    from judgebias.imports.settings import models_with

    settings = config["studies"][study]
    outputs = {"ratings": f"{folder}/{RAW}", "imported": f"{folder}/imported.csv"}
    outputs |= {"raters": f"{folder}/{RATERS}"} if tells_single_raters(settings) else {}
    paths, references = (
        [each for path in given for each in files_in(path)]
        for given in ([file.path for file in files], _paths(settings["import"].get("references", {})))
    )
    models = models_with(settings.get("families", {}), config["models"])
    with redirect_stdout(sys.stderr):  # the standard output is for what the command finds
        import_ratings(
            study, paths, references, settings=settings["import"], scales=settings["scales"], models=models, outputs=outputs
        )
    return RatingsFile(outputs["ratings"])


def _paths(settings: Mapping) -> list[str]:
    return [path for path, _ in named_files(settings.get("files", ()))]
