"""Every table of a study, and which studies have it; and what else the report of a study reads."""

from collections.abc import Callable, Sequence
from pkgutil import resolve_name

from recuse.base.products import registered
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


def study_heading(study: Study) -> dict:
    """What a page or a figure says about a study above its contents."""
    about = {"label": study.title, "kind": study.kind()}
    return about | {"gold": True} if study.has_gold_labels() else about
