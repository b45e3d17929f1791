"""Every table of a study, and which studies have it; and what else the report of a study reads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pkgutil import resolve_name

from recuse.base.products import registered
from recuse.base.words import setting_in_words
from recuse.config.studies import (
    analyses,
    asks_judges,
    config_of,
    has_gold_labels,
    has_raters,
    is_imported,
    is_keyed,
    is_simulated,
    kind,
    origin_of,
    replicates_play_favorites,
    section_of,
    settings_of,
    source_of,
)
from recuse.data.registry import of_all_judges

# Of a configuration and a study: something true if the study has it
Applies = Callable[[Mapping, str], object]


def with_analysis(*any_of: str) -> Applies:
    """True of comparisons for which one of these is computed."""
    return lambda config, study: not {*any_of}.isdisjoint(analyses(config, study))


def from_source(source: str) -> Applies:
    """True of a study with this published source."""
    return lambda config, study: source_of(config, study) == source


def with_cognitive_biases(config: Mapping, study: str) -> bool:
    """True of comparisons whose cognitive biases are counted, or published."""
    return "cognitive_biases" in analyses(config, study) or source_of(config, study) == "cobbler"


def with_key(config: Mapping, study: str) -> bool:
    """True of ratings with gold labels, and of comparisons of answers that are right or wrong by a
    key.
    """
    return is_keyed(config, study) or "gold" in analyses(config, study)


def with_verdicts(config: Mapping, study: str) -> bool:
    """True of ratings, and of comparisons whose choices are counted."""
    return of_ratings(config, study) or "verbosity" in analyses(config, study)


def of_ratings(config: Mapping, study: str) -> bool:
    """True of ratings, not of comparisons."""
    return study in config["studies"]


# Of a study of ratings, in the order of its report.
TABLES: dict[str, Applies] = {
    **dict.fromkeys(
        ("check", "completeness", "mean_scores", "correlations", "smooths", "not_estimable"),
        of_ratings,
    ),
    "remarks": of_ratings,
    "recovery": is_simulated,
    "agreement": has_raters,
    "collected": asks_judges,
    "imported": is_imported,
    "gold": with_key,
    **dict.fromkeys(
        ("multiplicity", "idiosyncrasy", "pooled", "residuals", "identifiability"), of_ratings
    ),
    **dict.fromkeys(
        ("reliability", "measurement_error", "reliability_curve", "breakdowns"), of_ratings
    ),
    **dict.fromkeys(
        (
            "sensitivity",
            "leaderboard",
            "judgments",
            "power",
            "conclusions",
            "verdicts",
            "wordings",
        ),
        of_ratings,
    ),
    **dict.fromkeys(("panel", "round_robin"), of_ratings),
}
# Analysis of verdicts -> its tables.
OF_ANALYSES = {
    "regression": ("regression", "strengths"),
    "verbosity": ("verbosity", "position", "agreement", "score_curves", "alignment_curves"),
    "gold": ("gold",),
    "cognitive_biases": ("cognitive_biases",),
    "attacks": ("asr", "ranks", "votes_by_position", "length_curve", "vote_shares"),
}
OF_VERDICTS = ("verdicts", "choices", "label_noise", "check")  # with either of these two analyses:
WITH_VERDICTS = ("verbosity", "regression")
# Of a study of comparisons.
TABLES_OF_COMPARISONS: dict[str, Applies] = {
    "completeness": analyses,
    "collected": asks_judges,
    "imported": is_imported,
    **dict.fromkeys(OF_VERDICTS, with_analysis(*WITH_VERDICTS)),
    **{
        table: with_analysis(analysis)
        for analysis, tables in OF_ANALYSES.items()
        for table in tables
    },
    "cognitive_biases": with_cognitive_biases,
    "recovery": is_simulated,
}


def tables_of_analyses(kinds: Sequence[str]) -> list[str]:
    """The tables of analyses of verdicts."""
    tables = [*OF_VERDICTS] if {*kinds} & {*WITH_VERDICTS} else []
    return tables + [table for kind in kinds for table in OF_ANALYSES[kind]]


# Tables of comparisons that are compared with planted values, and with a paper's.
READ_BY = {
    "recovery": ("choices", "gold", "verbosity", "position", "cognitive_biases", "asr"),
    "scorecard": (
        "verbosity",
        "agreement",
        "asr",
        "ranks",
        "votes_by_position",
        "vote_shares",
        "rbo",
    ),
}


def tables_in(section: str) -> dict[str, Applies]:
    """The tables of studies of ratings, `studies`, or of `comparisons`: the core's, then those of
    products.
    """
    tables = dict(TABLES if section == "studies" else TABLES_OF_COMPARISONS)
    for product in registered():
        if product.tables:
            tables |= resolve_name(product.tables)[section]
    return tables


def tables_of(config: Mapping, study: str, *, read_by: str | None = None) -> dict[str, str]:
    """Name -> path of a study's tables, or of those that the table `read_by` of comparisons is made
    from.
    """
    names = [
        name
        for name, applies in tables_in(section_of(config, study)).items()
        if applies(config, study)
    ]
    return {
        name: f"results/{study}/tables/{name}.csv"
        for name in names
        if read_by is None or name in READ_BY[read_by]
    }


def estimates_of(config: Mapping, study: str) -> list[str]:
    """The estimates of a study of ratings, a file for each spec; [] for comparisons."""
    return [
        f"results/{study}/estimates/{spec}.csv"
        for spec in config_of(config, study)["specs"]
        if study in config["studies"]
    ]


def pages_of(config: Mapping, study: str) -> list[str]:
    """Pages that show a table of ratings in full."""
    return [f"results/{study}/scorecard.html"] if replicates_play_favorites(config, study) else []


def report_params(config: Mapping, study: str, *, project: Mapping) -> dict[str, object]:
    """What `recuse.report.page.report` needs to know about a study; project: the configuration
    without a user's additions.
    """
    section, settings = section_of(config, study), settings_of(config, study)
    of_ratings = ("families", "models", "specs", "inference") if section == "studies" else ()

    def settings_in(config: Mapping) -> dict:
        shared = {key: config[key] for key in ("confidence", "seed", *of_ratings)}
        return {
            **shared,
            section: {study: config[section][study]} if study in config[section] else {},
        }

    gold = {"gold": True} if has_gold_labels(settings) else {}
    return {
        "subject": {"label": settings["title"], "kind": kind(config, study)} | gold,
        "specs": config["specs"] if of_ratings else {},
        "analyses": analyses(config, study),
        "scales": {
            name: of_all_judges(scale) for name, scale in settings.get("scales", {}).items()
        },
        "checks": {
            name: check["title"]
            for name, check in config["inference"].get("robustness_checks", {}).items()
        },
        "origin": origin_of(config, study),
        "settings": list(differences(settings_in(config), settings_in(project))),
        "confidence": config["confidence"],
        "seed": config["seed"],
        **(
            {"substitute": config["inference"]["without_human_scores"]["main"]}
            if of_ratings
            else {}
        ),
    }


def differences(settings: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each setting that differs from the project's."""
    if not (isinstance(settings, Mapping) and isinstance(project, Mapping)):
        yield key, setting_in_words(settings)
        return
    before = f"{key}." if key else ""
    for name in settings:
        if name not in project or settings[name] != project[name]:
            yield from differences(settings[name], project.get(name), f"{before}{name}")
    yield from ((f"{before}{name}", "left out") for name in project if name not in settings)
