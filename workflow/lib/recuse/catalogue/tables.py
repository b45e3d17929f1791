"""Every table of a study once: its columns, and which studies have it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.tables import (
    AGREEMENT,
    ALIGNMENT_CURVES,
    ASR,
    BREAKDOWNS,
    CHECK,
    CLAIMS,
    COGNITIVE_BIASES,
    COMPLETENESS,
    CONCLUSIONS,
    CORRELATIONS,
    FEW_LABELS,
    IDENTIFIABILITY,
    IMPORTED,
    LEADERBOARD,
    LENGTH_CONFOUND,
    LENGTH_CURVE,
    MEAN_SCORES,
    MISSINGNESS,
    MULTIPLICITY,
    NOISY_REFERENCE,
    NOT_ESTIMABLE,
    PAIRWISE_AGREEMENT,
    PAIRWISE_COMPLETENESS,
    PAIRWISE_RECOVERY,
    PLACEBO,
    PLANNER,
    POSITION,
    PUBLISHED_RANKS,
    RANDOM,
    RANKS,
    RBO,
    RECOVERY,
    RELIABILITY,
    REMARKS,
    SCORE_CURVES,
    SCORECARD,
    SENSITIVITY,
    SMOOTHS,
    TASTES,
    VALID,
    VERBOSITY,
    VOTE_SHARES,
    VOTES_BY_POSITION,
)
from recuse.config.studies import analyses, has_raters, is_imported, is_of_the_paper, is_simulated, kind, source_of

Applies = Callable[[Mapping, str], bool]  # whether a study, of a configuration, has something


@dataclass(frozen=True)
class Table:
    """A table of a study, a file of its name: the columns, and which studies have it.

    read_by: `recovery` and `scorecard` of comparisons, which hold it against what was planted and what a paper prints.
    """

    columns: Sequence[str]
    applies: Applies
    read_by: Sequence[str] = ()


def always(config: Mapping, study: str) -> bool:
    """True of every study."""
    return True


def with_verdicts(config: Mapping, study: str) -> bool:
    """True of comparisons whose verdicts are there, not only what was made of them."""
    return bool(analyses(config, study))


def with_analysis(analysis: str) -> Applies:
    """True of comparisons of which this is computed."""
    return lambda config, study: analysis in analyses(config, study)


def from_source(source: str) -> Applies:
    """True of what is published in this repository."""
    return lambda config, study: source_of(config, study) == source


def with_cognitive_biases(config: Mapping, study: str) -> bool:
    """True of comparisons whose cognitive biases are counted, or published."""
    return "cognitive_biases" in analyses(config, study) or source_of(config, study) == "cobbler"


def from_any_source(config: Mapping, study: str) -> bool:
    """True of comparisons that are published, whatever the source."""
    return source_of(config, study) is not None


def of_ratings(config: Mapping, study: str) -> bool:
    """True of ratings, not of comparisons."""
    return study in config["studies"]


def never(config: Mapping, study: str) -> bool:
    """True of no study."""
    return False


def is_published(config: Mapping, study: str) -> bool:
    """True of a study whose data are published, neither simulated nor a user's."""
    return kind(config, study) == "published"


def against_a_paper(config: Mapping, study: str) -> bool:
    """True of a study that is held against what a paper prints."""
    return is_of_the_paper(config, study) or (study in config["comparisons"] and from_any_source(config, study))


# Of a study of ratings, in the order of its report.
TABLES = {
    "check": Table(CHECK, always),
    "completeness": Table(COMPLETENESS, always),
    "mean_scores": Table(MEAN_SCORES, always),
    "correlations": Table(CORRELATIONS, always),
    "smooths": Table(SMOOTHS, always),
    "not_estimable": Table(NOT_ESTIMABLE, always),
    "remarks": Table(REMARKS, always),
    "recovery": Table(RECOVERY, is_simulated),
    "agreement": Table(AGREEMENT, has_raters),
    "imported": Table(IMPORTED, is_imported),
    "claims": Table(CLAIMS, is_of_the_paper),
    "scorecard": Table(SCORECARD, is_of_the_paper),
    "multiplicity": Table(MULTIPLICITY, always),
    "placebo": Table(PLACEBO, always),
    "tastes": Table(TASTES, always),
    "identifiability": Table(IDENTIFIABILITY, always),
    "reliability": Table(RELIABILITY, always),
    "noisy_reference": Table(NOISY_REFERENCE, always),
    "reliability_curve": Table(NOISY_REFERENCE, always),
    "breakdowns": Table(BREAKDOWNS, always),
    "sensitivity": Table(SENSITIVITY, always),
    "missingness": Table(MISSINGNESS, always),
    "leaderboard": Table(LEADERBOARD, always),
    "few_labels": Table(FEW_LABELS, always),
    "planner": Table(PLANNER, always),
    "conclusions": Table(CONCLUSIONS, always),
}
# Of a study of comparisons.
TABLES_OF_COMPARISONS = {
    "completeness": Table(PAIRWISE_COMPLETENESS, with_verdicts),
    "imported": Table(IMPORTED, is_imported),
    "verbosity": Table(VERBOSITY, with_analysis("verbosity"), read_by=("recovery", "scorecard")),
    "position": Table(POSITION, with_analysis("verbosity"), read_by=("recovery",)),
    "agreement": Table(PAIRWISE_AGREEMENT, with_analysis("verbosity"), read_by=("scorecard",)),
    "score_curves": Table(SCORE_CURVES, with_analysis("verbosity")),
    "alignment_curves": Table(ALIGNMENT_CURVES, with_analysis("verbosity")),
    "cognitive_biases": Table(COGNITIVE_BIASES, with_cognitive_biases, read_by=("recovery",)),
    "random_thresholds": Table(RANDOM, with_cognitive_biases),
    "asr": Table(ASR, with_analysis("attacks"), read_by=("recovery", "scorecard")),
    "ranks": Table(RANKS, with_analysis("attacks"), read_by=("scorecard",)),
    "votes_by_position": Table(VOTES_BY_POSITION, with_analysis("attacks"), read_by=("scorecard",)),
    "length_curve": Table(LENGTH_CURVE, with_analysis("attacks")),
    "vote_shares": Table(VOTE_SHARES, with_analysis("attacks"), read_by=("scorecard",)),
    "rbo": Table(RBO, from_source("cobbler"), read_by=("scorecard",)),
    "valid_rates": Table(VALID, from_source("cobbler")),
    "length_confound": Table(LENGTH_CONFOUND, from_source("judgement_bias")),
    "published_ranks": Table(PUBLISHED_RANKS, from_source("judgement_bias")),
    "recovery": Table(PAIRWISE_RECOVERY, is_simulated),
    "scorecard": Table(SCORECARD, from_any_source),
}


def tables_of(config: Mapping, study: str, *, read_by: str | None = None) -> dict[str, str]:
    """Name -> path of the tables of a study, or of those that the table `read_by` reads."""
    tables = TABLES_OF_COMPARISONS if study in config["comparisons"] else TABLES
    return {
        name: f"results/{study}/tables/{name}.csv"
        for name, table in tables.items()
        if table.applies(config, study) and read_by in (None, *table.read_by)
    }


def estimates_of(config: Mapping, study: str) -> list[str]:
    """The estimates of a study, a file for each spec; of comparisons there are none."""
    return [f"results/{study}/estimates/{spec}.csv" for spec in config["specs"] if study in config["studies"]]


def pages_of(config: Mapping, study: str) -> list[str]:
    """Pages that say more of a table of ratings."""
    names = tables_of(config, study) if study in config["studies"] else ()
    return [f"results/{study}/{name}.html" for name in ("conclusions", "scorecard") if name in names]
