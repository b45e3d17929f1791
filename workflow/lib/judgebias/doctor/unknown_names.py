"""Names of judges and models in raw files that config does not know, all at once, and what to write for them."""

import json
from collections.abc import Mapping, Sequence

from judgebias.database import connect
from judgebias.doctor.findings import listed
from judgebias.doctor.spellings import alike
from judgebias.ratings.checked_rows import StudyFiles
from judgebias.sources.checks import checked_columns, reading, select_rows


def unknown_names(source: StudyFiles) -> list[str]:
    """List the names of judges and models in the files that the registry does not know, rising.

    Raises DataError, as every reader of these files.
    """
    connection, found = connect(), set()
    for file in source.files:
        rows = select_rows(file, checked_columns(connection, file))
        with reading(file.path):
            query = f"select distinct unnest([judge, model]) from ({rows})"
            found |= {name for (name,) in connection.execute(query).fetchall() if name is not None}
    return sorted(found - source.registry.names.keys())


def what_to_write(names: Sequence[str], models: Mapping[str, Mapping]) -> str:
    """The lines of a configuration that make these names known: as `ids` of a model of config that looks alike, or anew."""
    lines = ["names in these files that config does not know; write in a file for --config:", "models:"]
    spellings: dict[str | None, list[str]] = {}
    for name in names:
        spellings.setdefault(_model_of(name, models), []).append(name)
    new = spellings.pop(None, [])
    for model, found in spellings.items():
        ids = json.dumps([*models[model].get("ids", ()), *found], ensure_ascii=False)
        lines.append(f"  {_quoted(model)}: {{ids: {ids}}}  # if it is also {listed(found)}")
    return "\n".join([*lines, *(f"  {_quoted(name)}: {_family_of(name, models)}" for name in new)])


def _model_of(name: str, models: Mapping[str, Mapping]) -> str | None:
    spellings = {spelling: model for model, entry in models.items() for spelling in (model, *entry.get("ids", ()))}
    return spellings.get(alike(name, spellings))


def _family_of(name: str, models: Mapping[str, Mapping]) -> str:
    """A family of config whose first word is in the name, or the place to write one in."""
    families = sorted({entry["family"] for entry in models.values()})
    own = next((family for family in families if family.split()[0].lower() in name.lower()), None)
    if own is not None:
        return f"{{family: {_quoted(own)}}}"
    return f"{{family: <its family>}}  # {', '.join(families)}, or a new one under `families:` with its colour"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
