# Where the files are that a study is imported from.
from recuse.data.imports.formats import files_in, tells_raters
from recuse.data.registry import models_with
from recuse.data.scales import scales_in_steps


def import_of(study):
    """What config says of the import of a study, {} if it is none."""
    return (COMPARISONS.get(study) or config["studies"][study]).get("import", {})


def is_imported(study):
    return bool(import_of(study))


def files_there(study, settings, *, key):
    """The files that a part of an `import` names, those of a folder one by one."""
    of = "comparisons" if study in COMPARISONS else "studies"
    try:
        paths = [path for given, _ in named_files(settings.get("files", ())) for path in files_in(given)]
    except ConfigError as error:
        raise WorkflowError(f"config: {of}: {study}: {key}: {error}") from None
    return [there(study, key, path, of=of) for path in paths]


def imported_files(study):
    return files_there(study, import_of(study), key="import: files")


def reference_files(study):
    return files_there(study, import_of(study).get("references", {}), key="import: references: files")
