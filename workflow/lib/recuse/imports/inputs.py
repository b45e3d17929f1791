"""From a study that imports files to inputs: what the workflow would import, without Snakemake."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout

from recuse.base.database import connect, frame_at
from recuse.data.files import RatingsFile
from recuse.data.registry import RATED, files_in
from recuse.imports.ratings import import_ratings
from recuse.imports.readers import create_imported, score_ends
from recuse.imports.verdicts import import_verdicts
from recuse.inputs import RATERS, RAW, Inputs


def imported(inputs: Inputs, folder: str, files: Sequence[str] | None = None) -> Inputs:
    """The inputs, with what the workflow would import from the files, now in `folder`.

    files: paths to read in place of the files of the inputs.
    """
    if files is None:
        files = [path for file in inputs.files for path in _files_at(file.path)]
    study = inputs.study
    settings, key = study.import_settings(), "ratings" if study.has_ratings() else "verdicts"
    outputs = {key: f"{folder}/{RAW}", "imported": f"{folder}/imported.csv"}
    references = [path for named in study.references() for path in _files_at(named)]
    shared = {"settings": settings, "outputs": outputs, "declared": study.setting("verify")}
    shared["models"] = study.models()
    if study.imports_raters() and study.has_ratings():
        outputs["raters"] = f"{folder}/{RATERS}"
    with redirect_stdout(sys.stderr):  # the standard output is for the command's results
        if study.has_ratings():
            scales = study.setting("scales")
            import_ratings(study.name, files, references, **shared, scales=scales)
        else:
            import_verdicts(study.name, files, references, **shared)
    return inputs._replace(files=[RatingsFile(outputs[key])])


def _files_at(path: str) -> list[str]:
    return [path] if frame_at(path) else files_in(path)


def ranges(files: Sequence[str], settings: Mapping) -> dict[str, tuple[float, float]]:
    """The lowest and the highest number of each dimension in files of ratings, human scores
    included; settings: `import`.
    """
    connection = connect()
    create_imported(connection, files, settings, RATED)
    return {dimension: (low, high) for dimension, low, high, _ in score_ends(connection)}
