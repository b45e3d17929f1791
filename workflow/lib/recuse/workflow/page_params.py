"""What the rule of reports needs to know about a study."""

from collections.abc import Iterator, Mapping
from os.path import exists

from recuse.base.words import setting_in_words
from recuse.catalogue.tables import study_heading
from recuse.config.load import project
from recuse.config.studies import Study, with_placeholders


def further_pages(study: Study) -> list[str]:
    """Pages that show a table of ratings in full."""
    return [study.path("scorecard.html")] if study.replicates_play_favorites() else []


def report_params(study: Study) -> dict:
    """What `recuse.report.page.report` needs to know about a study."""
    inference = study.inference
    params = {
        "subject": study_heading(study),
        "specs": {},
        "analyses": study.analyses(),
        "scales": {},
        "checks": {name: check.title for name, check in inference.robustness_checks.items()},
        "origin": study.origin(),
        "settings": list(_settings_changed(study)),
        "confidence": study.confidence,
        "seed": study.seed,
    }
    if study.has_ratings():
        params |= {
            "specs": study.specs,
            "scales": study.setting("scales"),
            "substitute": inference.without_human_scores["main"],
        }
    return params


def _settings_changed(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each setting of a study that differs from the
    project's.
    """
    own = {"specs": study.specs, "inference": study.inference.as_written()}
    ours = study.shared.as_written() | own
    before = with_placeholders(project(), exists).as_written()
    keys = ["confidence", "seed"]
    if study.has_ratings():
        keys += ["families", "models", "specs", "inference"]
    for key in keys:
        yield from changed_settings(ours[key], before[key], key)
    entry, place = before[study.section].get(study.name), f"{study.section}.{study.name}"
    yield from changed_settings(study.settings.as_written(), entry, place)


def changed_settings(settings: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each setting that differs from the project's."""
    if settings == project:
        return
    if not (isinstance(settings, Mapping) and isinstance(project, Mapping)):
        yield key, setting_in_words(settings)
        return
    for name in {**settings, **project}:
        place = f"{key}.{name}" if key else name
        if name in settings:
            yield from changed_settings(settings[name], project.get(name), place)
        else:
            yield place, "left out"
