"""Every table of a study, and which studies have it; and what else the report of a study reads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pkgutil import resolve_name

from recuse.base.products import registered
from recuse.base.words import setting_in_words
from recuse.config.studies import Study

Applies = Callable[[Study], object]  # gives something true if the study has the table or figure


def with_analysis(*any_of: str) -> Applies:
    """True of comparisons for which one of these is computed."""
    return lambda study: not {*any_of}.isdisjoint(study.analyses())


def from_source(source: str) -> Applies:
    """True of a study with this published source."""
    return lambda study: study.source() == source


def with_cognitive_biases(study: Study) -> bool:
    """True of comparisons whose cognitive biases are counted, or published."""
    return "cognitive_biases" in study.analyses() or study.source() == "cobbler"


def with_key(study: Study) -> bool:
    """True of ratings with gold labels, and of comparisons of answers that are right or wrong by a
    key.
    """
    return study.has_gold_labels() or "gold" in study.analyses()


def with_verdicts(study: Study) -> bool:
    """True of ratings, and of comparisons whose choices are counted."""
    return study.has_ratings() or "verbosity" in study.analyses()


# Of a study of ratings, in the order of its report.
TABLES: dict[str, Applies] = {
    **dict.fromkeys(
        (
            "check",
            "completeness",
            "mean_scores",
            "correlations",
            "smooths",
            "not_estimable",
            "remarks",
        ),
        Study.has_ratings,
    ),
    "recovery": Study.is_simulated,
    "agreement": Study.has_raters,
    "collected": Study.asks_judges,
    "imported": Study.is_imported,
    "gold": with_key,
    **dict.fromkeys(
        (
            "multiplicity",
            "idiosyncrasy",
            "pooled",
            "residuals",
            "identifiability",
            "reliability",
            "measurement_error",
            "reliability_curve",
            "breakdowns",
            "sensitivity",
            "leaderboard",
            "calibration",
            "judgments",
            "power",
            "conclusions",
            "verdicts",
            "wordings",
            "panel",
            "round_robin",
        ),
        Study.has_ratings,
    ),
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
    "completeness": Study.analyses,
    "collected": Study.asks_judges,
    "imported": Study.is_imported,
    **dict.fromkeys(OF_VERDICTS, with_analysis(*WITH_VERDICTS)),
    **{
        table: with_analysis(analysis)
        for analysis, tables in OF_ANALYSES.items()
        for table in tables
    },
    "cognitive_biases": with_cognitive_biases,
    "recovery": Study.is_simulated,
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


def table_paths(study: Study, *, read_by: str | None = None) -> dict[str, str]:
    """Name -> path of a study's tables, or of those that the table `read_by` of comparisons is made
    from.
    """
    return {
        name: study.path(f"tables/{name}.csv")
        for name, applies in tables_in(study.section).items()
        if applies(study) and (read_by is None or name in READ_BY[read_by])
    }


def further_pages(study: Study) -> list[str]:
    """Pages that show a table of ratings in full."""
    return [study.path("scorecard.html")] if study.replicates_play_favorites() else []


def report_params(study: Study, *, project: Mapping) -> dict[str, object]:
    """What `recuse.report.page.report` needs to know about a study; project: the configuration
    without a user's additions.
    """
    config, settings, name = study.config, study.settings, study.name
    of_ratings = ("families", "models", "specs", "inference") if study.has_ratings() else ()

    def settings_in(config: Mapping) -> dict:
        shared = {key: config[key] for key in ("confidence", "seed", *of_ratings)}
        entries = config[study.section]
        return {**shared, study.section: {name: entries[name]} if name in entries else {}}

    gold = {"gold": True} if study.has_gold_labels() else {}
    return {
        "subject": {"label": settings["title"], "kind": study.kind()} | gold,
        "specs": config["specs"] if of_ratings else {},
        "analyses": study.analyses(),
        "scales": settings.get("scales", {}),
        "checks": {
            name: check["title"]
            for name, check in config["inference"].get("robustness_checks", {}).items()
        },
        "origin": study.origin(),
        "settings": list(changed_settings(settings_in(config), settings_in(project))),
        "confidence": config["confidence"],
        "seed": config["seed"],
        **(
            {"substitute": config["inference"]["without_human_scores"]["main"]}
            if of_ratings
            else {}
        ),
    }


def changed_settings(settings: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each setting that differs from the project's."""
    if not (isinstance(settings, Mapping) and isinstance(project, Mapping)):
        yield key, setting_in_words(settings)
        return
    before = f"{key}." if key else ""
    for name in settings:
        if name not in project or settings[name] != project[name]:
            yield from changed_settings(settings[name], project.get(name), f"{before}{name}")
    yield from ((f"{before}{name}", "left out") for name in project if name not in settings)
