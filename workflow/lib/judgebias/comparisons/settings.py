"""What the configuration says of a study of comparisons."""

from collections.abc import Mapping

from judgebias.comparisons.schemas import CONTROL
from judgebias.errors import ConfigError
from judgebias.settings import check_braces, check_known
from judgebias.simulation.comparison_world import declared_comparisons

# Where verdicts come from -> what they are.
VERDICTS_OF = {"simulate": "simulated", "files": "user", "import": "user", "source": "published"}
# The published sources that there is a reader for -> whether they hold single verdicts, or what was made of them, or texts.
VERDICTS, RANKINGS, TEXTS = "verdicts", "rankings", "texts"
SOURCES = {"prd": VERDICTS, "llmbar": VERDICTS, "cobbler": RANKINGS, "judgement_bias": TEXTS}
DEFAULT_ANALYSES = ("verbosity",)
ANALYSIS_OF = {"pools": "verbosity", "worsening": "attacks"}  # setting -> the only analysis that reads it


def check_comparisons(config: Mapping) -> None:
    """Raise ConfigError, naming the key, unless the studies of comparisons in `config` are possible."""
    for name, study in config["comparisons"].items():
        where = f"comparisons: {name}"
        if name in config["studies"]:
            raise ConfigError(f"config: {where}: a study of ratings has this name; choose another")
        if not set(VERDICTS_OF) & set(study):
            raise ConfigError(f"config: {where}: found none of {', '.join(VERDICTS_OF)}; write one of them")
        if "source" in study:
            _check_source(where, study, config.get("sources", {}))
        check_braces(where, study)
        _check_analyses(where, study)
        if "models" in study.get("simulate", {}):
            _check_world(where, study)


def _check_source(where: str, study: Mapping, sources: Mapping) -> None:
    source = study["source"]
    readable = [name for name in SOURCES if "manifest" in sources.get(name, {})]
    check_known(f"{where}: source", [source], readable, "the sources of comparisons that there is a reader for")
    own = [key for key in ("files", "simulate") if key in study]
    if own and SOURCES[source] != TEXTS:
        raise ConfigError(f"config: {where}: found source {source} with {own[0]}, of which only one can be read; keep one")


def _check_analyses(where: str, study: Mapping) -> None:
    """Refuse an analysis of verdicts that are not there, and settings that nothing reads."""
    if origin_of_verdicts(study) is None:
        for key in ("analyses", "both_orders", *ANALYSIS_OF):
            if key in study:
                raise ConfigError(f"config: {where}: {key}: its source holds no single verdicts; leave `{key}` out")
    for key, analysis in ANALYSIS_OF.items():
        if key in study and analysis not in analyses_of(study):
            raise ConfigError(f"config: {where}: {key}: only the analysis {analysis} reads it; leave it out, or add {analysis}")
    if "votes" in study.get("simulate", {}) and set(analyses_of(study)) != {"attacks"}:
        raise ConfigError(f"config: {where}: simulate: votes: these are attacks alone; write `analyses: [attacks]`")


def _check_world(where: str, study: Mapping) -> None:
    simulate = study["simulate"]
    for name, judge in simulate["judges"].items():
        if CONTROL in judge.get("attacks", {}):
            raise ConfigError(f"config: {where}: simulate: judges: {name}: attacks: {CONTROL}: no attack; choose another name")
        if "own" in judge and name not in simulate["models"]:
            raise ConfigError(f"config: {where}: simulate: judges: {name}: own: it is none of `models`; leave `own` out")
    try:
        declared_comparisons(simulate)
    except ConfigError as error:
        raise ConfigError(f"config: {where}: {error}") from None


def origin_of_verdicts(study: Mapping) -> str | None:
    """Where the verdicts of a study come from, one of VERDICTS_OF; None where only what was made of them is published."""
    for origin in ("simulate", "files", "import"):
        if origin in study:
            return origin
    return "source" if SOURCES[study["source"]] == VERDICTS else None


def kind_of_verdicts(study: Mapping) -> str:
    """What the verdicts of a study are: simulated, published or user."""
    return VERDICTS_OF[origin_of_verdicts(study) or "source"]


def analyses_of(study: Mapping) -> list[str]:
    """What is computed of the verdicts of a study; nothing where it has none."""
    return list(study.get("analyses", DEFAULT_ANALYSES)) if origin_of_verdicts(study) else []
