"""Every figure of a study once: what draws it, from which tables, and which studies have it."""

import os
from collections.abc import Mapping
from dataclasses import replace

from recuse.base.rules import WORKFLOW
from recuse.catalogue.figure import (
    Figure,
    ablation,
    by_equation_1,
    by_slice,
    compared,
    figure_params,
    in_log_odds,
    interval_of,
    measured,
    subject_of_texts,
)
from recuse.catalogue.tables import (
    against_a_paper,
    estimates_of,
    from_source,
    is_published,
    tables_of,
    with_analysis,
    with_cognitive_biases,
)
from recuse.config.specs import conclusions_params
from recuse.config.studies import DATA, is_of_the_paper
from recuse.model.spec import A, B, C, changes_of, estimands_in_words

CAPTIONS = os.path.relpath(WORKFLOW / "report")


def figures(config: Mapping, project: Mapping) -> dict[str, Figure]:
    """Name -> figure of all that there are, in the order of the reports; project: the configuration without a user's specs."""
    own = {f"ablation_{spec}": ablation(config, spec) for spec in config["specs"] if spec not in project["specs"]}
    return {**figures_of_ratings(config), **own, **figures_of_the_paper(config), **figures_of_comparisons(config)}


def figures_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Those of `figures` that a study has."""
    return {name: figure for name, figure in figures.items() if figure.applies(config, study)}


def pictures_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> list[str]:
    """The files of the figures that the report of a study shows."""
    return [f"results/{study}/figures/{name}.svg" for name in figures_of(config, study, figures=figures)]


def files_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> list[str]:
    """Every file of a study that a reader wants: estimates, tables, figures, and the page that shows them."""
    pictures = pictures_of(config, study, figures=figures)
    return [
        *([f"results/{study}/debiased.parquet"] if study in config["studies"] else []),
        *estimates_of(config, study),
        *tables_of(config, study).values(),
        *(path.removesuffix(".svg") + suffix for path in pictures for suffix in (".pdf", ".svg", ".png")),
        f"results/{study}/report.html",
    ]


def captions_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> dict[str, dict[str, object]]:
    """What the report tells of each figure of a study: its caption's template, the tables it draws, and its params."""
    return {
        name: {
            "caption": f"{CAPTIONS}/{figure.caption or name}.rst",
            "tables": [path.format(study=study) for path in figure.paths],
            "params": figure_params(config, study, figure=figure),
        }
        for name, figure in figures_of(config, study, figures=figures).items()
    }


def figures_of_ratings(config: Mapping) -> dict[str, Figure]:
    """Figures that every study of ratings has."""
    level = {"confidence": config["confidence"]}
    weak = "weak_models_dropped", "weak_models_and_claude_v2_dropped"
    return {
        "fig01_method": Figure(
            "recuse.plot.method:method",
            "The method on three simulated worlds, whatever the study",
            {},
            {"seed": config["seed"]},
            estimand=measured(config, "main"),
        ),
        "fig02_mean_scores": Figure(
            "recuse.plot.heatmaps:mean_scores",
            "Mean score of each model's completions by judge",
            {"table": "tables/mean_scores"},
        ),
        "fig03_self_family_bias": by_equation_1(config),
        "fig04_slices": by_slice(
            config,
            "Self-bias by dimension and task type",
            {"by_dimension": "Self-bias by dimension", "by_task_type": "by task type"},
        ),
        "fig05_correlations": Figure(
            "recuse.plot.correlations:correlations",
            "Correlation of each judge with the humans by dimension",
            {"table": "tables/correlations"},
            level,
        ),
        "fig06_mean_scores_by_dimension": Figure(
            "recuse.plot.heatmaps:mean_scores_by_dimension",
            "Mean score of each model's completions by judge and dimension",
            {"table": "tables/mean_scores"},
        ),
        "fig07_length_control": compared(
            config,
            "Self- and family-bias with and without length control",
            {
                "main": "Equation 1",
                "length_control": "length-controlled, by prompt",
                "length_control_global": "length-controlled, over all completions",
            },
        ),
        "fig08_ordinal": in_log_odds(config, "Self- and family-bias by dimension in a proportional-odds model", "ordinal"),
        "fig09_llm_reference": compared(
            config,
            "Self- and family-bias by reference",
            {"main": "human scores as reference", "llm_reference": "{slice} judges as reference"},
        ),
        "fig10_weak_models_dropped": compared(
            config,
            "Self- and family-bias with and without weak models",
            {"main": "all data", **{spec: changes_of(config["specs"][spec]) for spec in weak}},
        ),
        "by_dataset": by_slice(config, "Self-bias by dataset", {"by_dataset": "Self-bias by dataset"}),
        "one_model_dropped": by_slice(
            config,
            "Self-bias with one model left out",
            {"one_model_dropped": "Self-bias when one model is left out (named above each panel)"},
        ),
        "gam": compared(
            config,
            "Self- and family-bias with straight lines and with curves",
            {"main": "straight lines (Equation 1)", "gam": "GAM, pooled"},
        ),
        "estimands": compared(
            config,
            "Self- and family-bias by three estimands",
            {
                "main": "A: Equation 1",
                "clustered": "A: errors by prompt",
                "model_effects": "B: against the other judges, by model",
                "model_dimension_effects": "B: by model and dimension",
                "completion_effects": "B: by completion",
            },
            placebo="C: beyond ordinary taste",
        ),
        "placebo": Figure(
            "recuse.plot.idiosyncrasy:tastes",
            "Taste of each judge for each model, beyond what is expected of both",
            {"table": "tables/tastes"},
            {"spec": "main", **level},
            estimand=estimands_in_words([C]),
        ),
        "reliability": Figure(
            "recuse.plot.reliability:reliability",
            "Self- and family-bias against the reliability of the human scores",
            {
                "curves": "tables/reliability_curve",
                "breakdowns": "tables/breakdowns",
                "noisy_reference": "tables/noisy_reference",
                "reliabilities": "tables/reliability",
            },
            level,
            estimand=measured(config, *config["inference"]["noisy_reference"]),
        ),
        "leaderboard": Figure(
            "recuse.plot.leaderboard:leaderboard",
            "Models ranked before and after the biases are taken off",
            {"table": "tables/leaderboard"},
            level,
        ),
        "few_labels": Figure(
            "recuse.plot.ppi:few_labels", "Human means of models from few labels", {"table": "tables/few_labels"}, level
        ),
        "planner": Figure(
            "recuse.plot.power:planner",
            "Self-bias that studies like this one would detect",
            {"table": "tables/planner"},
            level,
            estimand=estimands_in_words([A, B, C]),
        ),
        "conclusions": Figure(
            "recuse.plot.robustness:conclusions",
            "Which conclusions stand in other views",
            {"table": "tables/conclusions", "not_estimable": "tables/not_estimable"},
            conclusions_params(config),
            estimand=estimands_in_words([A, B, C]),
        ),
        "gam_smooths": Figure(
            "recuse.plot.smooths:smooths",
            "Expected rating by human score, a curve for each judge",
            {"table": "tables/smooths"},
            interval_of(config, "gam"),
        ),
    }


def figures_of_the_paper(config: Mapping) -> dict[str, Figure]:
    """Figures of ratings that are held against Play Favorites."""
    helm_instruct = by_equation_1(config)
    return {"fig11_helm_instruct": replace(helm_instruct, of_study="helm_instruct", applies=is_of_the_paper)}


def figures_of_comparisons(config: Mapping) -> dict[str, Figure]:
    """Figures of what is computed of comparisons; and the scorecard, of these or of ratings."""
    level = {"confidence": config["confidence"]}
    verbosity, attacks = with_analysis("verbosity"), with_analysis("attacks")
    return {
        "verbosity_bias": Figure(
            "recuse.plot.verbosity:verbosity_bias",
            "Verbosity bias of each judge",
            {"table": "tables/verbosity"},
            level,
            applies=verbosity,
            published=f"{DATA}/comparisons_published.csv",
            beside=is_published,  # values of the same judges on other data say nothing beside judges simulated, or a user's
        ),
        "score_curves": Figure(
            "recuse.plot.length_curves:score_curves",
            "Score of an answer by its relative length, for each judge",
            {"table": "tables/score_curves"},
            applies=verbosity,
        ),
        "alignment_curves": Figure(
            "recuse.plot.length_curves:alignment_curves",
            "Agreement of each judge with the humans by relative length",
            {"table": "tables/alignment_curves"},
            level,
            applies=verbosity,
        ),
        "position": Figure(
            "recuse.plot.position:position",
            "What the order of the answers does to each judge",
            {"table": "tables/position"},
            level,
            applies=verbosity,
        ),
        "bias_jitter": Figure(
            "recuse.plot.cognitive:bias_jitter",
            "Share of biased comparisons by cognitive bias and judge",
            {"table": "tables/cognitive_biases", "random": "tables/random_thresholds"},
            {"seed": config["seed"], **level},
            applies=with_cognitive_biases,
        ),
        "bias_polygon": Figure(
            "recuse.plot.cognitive:bias_polygon",
            "Profile of cognitive biases by judge",
            {"table": "tables/cognitive_biases"},
            applies=with_cognitive_biases,
        ),
        "bias_by_size": Figure(
            "recuse.plot.cognitive:bias_by_size",
            "Average share of biased comparisons by size of the judge",
            {"table": "tables/cognitive_biases"},
            applies=with_cognitive_biases,
        ),
        "rbo": Figure(
            "recuse.plot.rank_overlap:rank_overlap_bars",
            "Rank-biased overlap of each judge with the annotators",
            {"table": "tables/rbo", "valid": "tables/valid_rates"},
            applies=from_source("cobbler"),
        ),
        "attack_success": Figure(
            "recuse.plot.attacks:attack_success",
            "Attack success rate by perturbation and judge",
            {"rates": "tables/asr", "ranks": "tables/ranks"},
            level,
            applies=attacks,
            published=f"{DATA}/judgement_bias_published.csv",
            beside=from_source("judgement_bias"),
        ),
        "votes_by_position": Figure(
            "recuse.plot.attacks:votes_by_position",
            "Votes by the place of the answers",
            {"table": "tables/votes_by_position"},
            level,
            applies=attacks,
        ),
        "length_bias_curve": Figure(
            "recuse.plot.length_bias:length_bias_curve",
            "Preference for the longer answer by difference of length",
            {"table": "tables/length_curve"},
            level,
            applies=attacks,
        ),
        "length_confound": Figure(
            "recuse.plot.length_bias:length_confound",
            "Change of the answers' length by perturbation and Bloom level",
            {"table": "tables/length_confound"},
            level,
            applies=from_source("judgement_bias"),
            subject=subject_of_texts,
        ),
        "scorecard": Figure(
            "recuse.plot.scorecard:scorecard",
            "Published values against this study's",
            {"table": "tables/scorecard"},
            applies=against_a_paper,
            estimand=measured(config, "main", "llm_reference_as_coded"),
        ),
    }
