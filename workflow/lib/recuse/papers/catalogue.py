"""The tables and figures of published studies, and of the analyses that are theirs alone."""

from dataclasses import replace

from recuse.catalogue.figures import Figure, by_equation_1, figure_from_table, measured
from recuse.catalogue.tables import Applies, from_source, with_analysis, with_cognitive_biases
from recuse.config.studies import DATA, Study


def is_in_a_paper(study: Study) -> bool:
    """Whether a study of either kind is compared with the values of a paper."""
    return study.replicates_play_favorites() or study.source() is not None


# By the part of the configuration, in the order of a study's report.
TABLES: dict[str, dict[str, Applies]] = {
    "studies": {
        "claims": Study.replicates_play_favorites,
        "scorecard": is_in_a_paper,
        "rankings": Study.is_released,
    },
    "comparisons": {
        **dict.fromkeys(("rbo", "valid_rates"), from_source("cobbler")),
        **dict.fromkeys(("length_confound", "published_ranks"), from_source("judgement_bias")),
        "scorecard": is_in_a_paper,
    },
}


def paper_figures(study: Study) -> dict[str, Figure]:
    """Name -> figure, in the order of the reports."""
    level = {"confidence": study.confidence}
    return {
        "fig11_helm_instruct": replace(
            by_equation_1(study),
            shown="helm_instruct",
            applies=Study.replicates_play_favorites,
            group="rest",
        ),
        "bias_jitter": figure_from_table(
            "recuse.papers.cobbler_figures:bias_jitter",
            "Share of biased comparisons by cognitive bias and judge",
            "cognitive_biases",
            {"seed": study.seed, **level},
            applies=with_cognitive_biases,
        ),
        "bias_profile": figure_from_table(
            "recuse.papers.cobbler_figures:bias_profile",
            "Profile of cognitive biases by judge",
            "cognitive_biases",
            applies=with_cognitive_biases,
        ),
        "bias_by_size": figure_from_table(
            "recuse.papers.cobbler_figures:bias_by_size",
            "Average share of biased comparisons by size of the judge",
            "cognitive_biases",
            applies=with_cognitive_biases,
        ),
        "rbo": Figure(
            "recuse.papers.cobbler_figures:rank_overlap_bars",
            "Rank-biased overlap of each judge with the annotators",
            {"table": "tables/rbo", "valid": "tables/valid_rates"},
            applies=from_source("cobbler"),
        ),
        "attack_success": Figure(
            "recuse.papers.attack_figures:attack_success",
            "Attack success rate by perturbation and judge",
            {"rates": "tables/asr", "ranks": "tables/ranks"},
            level,
            applies=with_analysis("attacks"),
            published=f"{DATA}/judgement_bias_published.csv",
            beside=from_source("judgement_bias"),
        ),
        "votes_by_position": figure_from_table(
            "recuse.papers.attack_figures:votes_by_position_figure",
            "Votes by the place of the answers",
            "votes_by_position",
            level,
            applies=with_analysis("attacks"),
        ),
        "length_bias_curve": figure_from_table(
            "recuse.papers.attack_figures:length_bias_curve",
            "Preference for the longer answer by difference of length",
            "length_curve",
            level,
            applies=with_analysis("attacks"),
        ),
        "scorecard": figure_from_table(
            "recuse.papers.scorecard_figure:scorecard_figure",
            "Published values against this study's",
            "scorecard",
            applies=is_in_a_paper,
            estimand=measured(study, "main", "llm_reference_as_coded"),
        ),
    }
