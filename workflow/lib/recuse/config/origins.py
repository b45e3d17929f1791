"""Where the data of a study come from, and what that makes of them: simulated, published or a user's."""

from collections.abc import Callable, Mapping

from recuse.data.registry import named_files

# Where ratings come from -> what they are.
ORIGINS = {"simulate": "simulated", "source": "published", "files": "user", "import": "user"}
STAND_IN = {"files", "simulate"}  # a simulation in the place of files that are not there
# Where verdicts come from -> what they are, the first that a study has.
VERDICTS_OF = {"simulate": "simulated", "files": "user", "import": "user", "source": "published"}
# The published sources that there is a reader for -> whether they hold single verdicts, or what was made of them, or texts.
VERDICTS, RANKINGS, TEXTS = "verdicts", "rankings", "texts"
SOURCES = {"prd": VERDICTS, "llmbar": VERDICTS, "cobbler": RANKINGS, "judgement_bias": TEXTS}
DEFAULT_ANALYSES = ("verbosity",)


def kind_of(study: Mapping) -> str:
    """What the ratings of a study are: simulated, published or user, by where they come from."""
    return next(kind for origin, kind in ORIGINS.items() if origin in study)


def with_stand_ins(studies: Mapping[str, Mapping], exists: Callable[[str], bool]) -> dict[str, dict]:
    """Return `studies` with one origin each: of `files` and `simulate` the files if they exist, else the stand-in, so named."""
    settled = {}
    for name, study in studies.items():
        settled[name] = dict(study)
        if set(study) >= STAND_IN:
            # A file that is not there beside others is missed when the study is built.
            there = any(exists(path) for path, _ in named_files(study["files"]))
            settled[name] = {key: value for key, value in study.items() if key != ("simulate" if there else "files")}
            settled[name]["title"] = study["title"] if there else f"simulated stand-in for {study['title']}"
    return settled


def origin_of_verdicts(study: Mapping) -> str | None:
    """Where the verdicts of a study come from, one of VERDICTS_OF; None where only what was made of them is published."""
    origin = next(origin for origin in VERDICTS_OF if origin in study)
    return None if origin == "source" and SOURCES[study["source"]] != VERDICTS else origin


def kind_of_verdicts(study: Mapping) -> str:
    """What the verdicts of a study are: simulated, published or user."""
    return VERDICTS_OF[origin_of_verdicts(study) or "source"]


def analyses_of(study: Mapping) -> list[str]:
    """What is computed of the verdicts of a study; nothing where it has none."""
    return list(study.get("analyses", DEFAULT_ANALYSES)) if origin_of_verdicts(study) else []
