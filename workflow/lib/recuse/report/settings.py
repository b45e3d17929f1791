"""What the report is told of a study: its kind and origin, the settings it was made with, and which of these differ."""

from collections.abc import Iterator, Mapping

from recuse.base.words import setting_in_words
from recuse.config.studies import analyses, kind, origin_of, section_of, settings_of

OF_RATINGS = ("families", "models", "specs", "inference")  # settings that ratings are read and fitted by


def report_params(config: Mapping, study: str, *, project: Mapping) -> dict[str, object]:
    """What recuse.report.page.report is told `about` a study; project: the configuration without what a user adds."""
    section, settings = section_of(config, study), settings_of(config, study)
    shared = ("confidence", "seed", *(OF_RATINGS if section == "studies" else ()))
    own = {key: config[key] for key in shared} | {section: {study: settings}}
    theirs = {key: project[key] for key in shared} | {
        section: {name: each for name, each in project[section].items() if name == study}
    }
    about = {
        "subject": {"label": settings["title"], "kind": kind(config, study)},
        "specs": {},
        "analyses": analyses(config, study),
        "scales": {},
        "views": {name: view["title"] for name, view in config["inference"].get("conclusions", {}).items()},
        "origin": origin_of(config, study),
        "settings": list(differences(own, theirs)),
        "confidence": config["confidence"],
        "seed": config["seed"],
    }
    if section == "studies":
        stand_in = config["inference"]["without_human_scores"]["main"]
        about |= {"specs": config["specs"], "scales": settings["scales"], "stand_in": stand_in}
    return about


def differences(own: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield key, with dots between the levels, and value of each setting that is not the project's own."""
    if not (isinstance(own, Mapping) and isinstance(project, Mapping)):
        yield key, setting_in_words(own)
        return
    before = f"{key}." if key else ""
    for name in own:
        if name not in project or own[name] != project[name]:
            yield from differences(own[name], project.get(name), f"{before}{name}")
    yield from ((f"{before}{name}", "left out") for name in project if name not in own)
