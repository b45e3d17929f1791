"""What rules that draw figures, and show them in a report, need of the catalogue: their files and
params.
"""

import os
from collections.abc import Iterable, Mapping

from recuse.base.errors import check_known
from recuse.base.places import WORKFLOW
from recuse.catalogue.figures import Figure, flattened
from recuse.catalogue.tables import table_paths
from recuse.config.studies import Study

CAPTIONS = os.path.relpath(WORKFLOW / "report")


def drawings(study: Study, figures: Mapping[str, Figure], *names: str) -> dict[str, dict]:
    """Name -> drawing of the figures of a study, by default of all. ConfigError if it has no figure
    of a name.
    """
    check_known([f"figures of {study.name}"], names, figures, "figures")
    return {name: figures[name].drawing(study) for name in names or figures}


def drawing_inputs(drawings: Mapping[str, Mapping]) -> list[str]:
    """Every file that drawings are made from, once."""
    inputs = [drawing["inputs"].values() for drawing in drawings.values()]
    return [*dict.fromkeys(path for paths in inputs for path in flattened(paths))]


def figures_by_group(figures: Mapping[str, Figure]) -> dict[str, dict[str, Figure]]:
    """Group -> name -> figure. One job draws a group."""
    groups = {}
    for name, figure in figures.items():
        groups.setdefault(figure.group, {})[name] = figure
    return groups


def pictures(study: Study, figures: Iterable[str]) -> list[str]:
    """The files of these figures that the report of a study shows."""
    return [study.path(f"figures/{name}.svg") for name in figures]


def files_for_readers(study: Study, figures: Iterable[str]) -> list[str]:
    """Every file of a study for a reader: estimates, tables, these figures, and the page that shows
    them.
    """
    formats = study.shared.formats
    return [
        *([study.path("debiased.parquet")] if study.has_ratings() else []),
        *study.estimates(),
        *table_paths(study).values(),
        *(study.path(f"figures/{name}.{form}") for name in figures for form in formats),
        study.path("summary.json"),
        study.path("report.html"),
    ]


def caption_files(study: Study, figures: Mapping[str, Figure]) -> list[str]:
    """The templates of the captions of these figures."""
    return [f"{CAPTIONS}/{figure.caption or name}.rst" for name, figure in figures.items()]


def captions(study: Study, figures: Mapping[str, Figure]) -> dict[str, dict]:
    """For each of these figures of a study: its caption's template, the tables it is drawn from,
    and its drawing.
    """
    described = {}
    for template, name in zip(caption_files(study, figures), figures, strict=True):
        figure = figures[name]
        drawing = figure.drawing(study)
        tables = [path for path in drawing_inputs({name: drawing}) if path != figure.published]
        described[name] = {
            "caption": template,
            "tables": tables,
            "drawing": drawing,
        }
    return described
