"""Every figure: what draws it, from which tables and settings, and which studies have it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name

from recuse.base.errors import did_you_mean
from recuse.base.products import registered
from recuse.base.words import with_gold_labels
from recuse.catalogue.tables import (
    Applies,
    study_heading,
    with_analysis,
    with_key,
    with_verdicts,
)
from recuse.config.load import project
from recuse.config.studies import DATA, STAGES, Study
from recuse.model.covariance import COVARIANCES
from recuse.model.spec import (
    SLICED,
    TESTED,
    A,
    B,
    C,
    changes_in_words,
    estimand_name,
    estimands_in_words,
    spec_in_words,
)


def flattened(values: Iterable[str | Sequence[str]]) -> list[str]:
    """These names, and those in lists among them."""
    return [name for value in values for name in ([value] if isinstance(value, str) else value)]


def subject(study: Study) -> dict:
    """What a figure shows: title and kind of the study, and the models and families of its
    colours.
    """
    # The judges of pairs are named next to their marks, and have no colours.
    if not study.has_ratings():
        return {"models": {}, "families": {}, **study_heading(study)}
    # All families, so that a family without a colour in config has the same colour in every study.
    families = study.shared.as_written()["families"]
    return {"models": study.models(), "families": families, **study_heading(study)}


@dataclass(frozen=True)
class Figure:
    """A figure: what draws it, from which tables, and which studies have it.

    draw: `module:function`, imported by the figure's job alone and called with tables, subject and
    settings.
    title: of the files, before the study's.
    tables: argument of the function -> table of the study, as `tables/rbo` or `estimates/main`, or
    a list of them. settings: further arguments, which the caption also reads. ablation: name and
    words of a user's spec, for the caption. estimand: what the biases are gaps to, in words.
    caption: its template in workflow/report, if not the figure's name. shown: the study whose
    tables and title it shows, if not the one it is made for.
    published: a file of published values, whose path is the argument of that name; beside: which
    studies it is drawn for. group: of figures that one job draws, by what they wait for: the main
    fit (`fit`), slices and ablations (`specs`) or `rest`.
    """

    draw: str
    title: str
    tables: Mapping[str, str | Sequence[str]]
    settings: Mapping = field(default_factory=dict)
    applies: Applies = Study.has_ratings
    estimand: str = ""
    caption: str = ""
    ablation: Mapping[str, str] | None = None
    shown: str = ""
    published: str = ""
    beside: Applies | None = None
    group: str = "rest"

    @property
    def every_table(self) -> list[str]:
        """The tables that it is drawn from, as in `tables`."""
        return flattened(self.tables.values())

    @property
    def specs(self) -> set[str]:
        """The specs whose estimates it shows."""
        return {name.partition("/")[2] for name in self.every_table if name.startswith("estimates")}

    def study_shown(self, study: Study) -> Study:
        """The study whose tables and title it shows, if made for this one."""
        return replace(study, name=self.shown) if self.shown else study

    def located(self, place: Callable[[str], str]) -> dict[str, str | list[str]]:
        """Paths of what it is drawn from, by argument; place: gives that of a table."""
        return {
            name: place(tables) if isinstance(tables, str) else [*map(place, tables)]
            for name, tables in self.tables.items()
        }

    def files(self, study: Study) -> dict[str, str | list[str]]:
        """Paths of what it is drawn from, for a study, by argument."""
        shown = self.study_shown(study)
        files = self.located(lambda table: shown.path(f"{table}.csv"))
        if self.beside is not None:
            files["published"] = [self.published] if self.beside(study) else []
        return files

    def drawing(self, study: Study) -> dict:
        """What the script of figures needs to know about it, and its caption reads."""
        about = subject(self.study_shown(study))
        title = with_gold_labels(self.title) if about.get("gold") else self.title
        return {
            "draw": self.draw,
            "title": f"{title}: {about['label']}",
            "subject": {**about, "estimand": self.estimand if study.has_ratings() else ""},
            "settings": self.settings,
            "ablation": self.ablation,
            "inputs": self.files(study),
        }


def figure_from_table(
    draw: str, title: str, table: str, settings: Mapping | None = None, **further
) -> Figure:
    """A figure drawn from one table."""
    return Figure(draw, title, {"table": f"tables/{table}"}, settings or {}, **further)


def by_equation_1(study: Study) -> Figure:
    """Self- and family-bias by Equation 1."""
    return Figure(
        "recuse.plot.biases:self_family_bias",
        "Self-bias by judge and family-bias by family",
        {"estimates": "estimates/main", **tables_of_stage("fit", "not_estimable", "multiplicity")},
        {
            "spec": "main",
            "simultaneous": simultaneous_intervals(study, "main"),
            **interval_settings(study, "main"),
        },
        estimand=measured(study, "main"),
        group="fit",
    )


def tables_of_stage(stage: str, *names: str) -> dict[str, str]:
    """Argument -> table, for tables on the fits of a stage and of those before."""
    return {name: f"{STAGES[stage]}/{name}" for name in names}


def by_slice(
    study: Study,
    title: str,
    headings: Mapping[str, str],
    *,
    words: str = "",
    stage: str = "slices",
) -> Figure:
    """Self-bias, a panel for each slice of the specs; `headings`, by spec, are above their panels,
    `words` at the foot.

    stage: of the specs' fits.
    """
    return Figure(
        "recuse.plot.slices:slices_of_specs",
        title,
        {
            "estimates": [f"estimates/{spec}" for spec in headings],
            "whole": "estimates/main",
            **tables_of_stage(stage, "not_estimable", "multiplicity"),
        },
        {
            "blocks": [
                {
                    "spec": spec,
                    "heading": heading,
                    "simultaneous": simultaneous_intervals(study, spec),
                }
                for spec, heading in headings.items()
            ],
            "words": words,
            **interval_settings(study, next(iter(headings))),
        },
        estimand=measured(study, *headings),
        group="specs",
    )


def spec_comparison(study: Study, title: str, labels: Mapping[str, str]) -> Figure:
    """Self- and family-bias of the specs on one axis; `labels`, by spec, are those of the
    legend.
    """
    variants = [
        {"spec": spec, "label": label, "covariance": study.every_spec[spec].errors.covariance}
        for spec, label in labels.items()
    ]
    return Figure(
        "recuse.plot.biases:compare_specs",
        title,
        {
            "estimates": [f"estimates/{spec}" for spec in labels],
            "not_estimable": "tables/not_estimable",
        },
        {"variants": variants, "confidence": study.confidence},
        estimand=measured(study, *labels),
        group="specs",
    )


def in_log_odds(study: Study, title: str, spec: str, *, words: str = "") -> Figure:
    """Self- and family-bias of an ordinal spec, a panel for each slice; `words` are at the foot."""
    return Figure(
        "recuse.plot.slices:ordinal",
        title,
        {"estimates": f"estimates/{spec}", "not_estimable": "tables/not_estimable"},
        {
            "spec": spec,
            "by": SLICED[study.every_spec[spec].selection.slice],
            "words": words,
            **interval_settings(study, spec),
        },
        estimand=measured(study, spec),
        group="specs",
    )


def ablation(study: Study, spec: str) -> Figure:
    """The figure of a spec that a user adds, compared with Equation 1."""
    fitted = study.every_spec[spec]
    words = spec_in_words(fitted)
    title = f"Ablation {spec}: {words}"
    if fitted.selection.slice is None:
        label = changes_in_words(fitted, whose="{slice}", most=3) or spec
        figure = spec_comparison(study, title, {"main": "Equation 1", spec: label})
        caption = "ablation_compare_specs"
    elif fitted.model.estimator == "ordinal_logit":
        figure = in_log_odds(study, title, spec, words=f"{title}.")
        caption = "ablation_fig08_ordinal"
    else:
        headings = {spec: f"Self-bias {SLICED[fitted.selection.slice]}"}
        figure = by_slice(study, title, headings, words=f"{title}.", stage="ablations")
        caption = "ablation_slices_of_specs"
    return replace(
        figure, ablation={"name": spec, "words": words, "caption": caption}, caption=caption
    )


def interval_settings(study: Study, spec: str) -> dict:
    """Level and covariance of the intervals of a spec."""
    covariance = study.every_spec[spec].errors.covariance
    return {"confidence": study.confidence, "covariance": covariance}


def simultaneous_intervals(study: Study, spec: str) -> dict[str, str] | None:
    """The simultaneous intervals of a spec's model: those of the first spec that fits it with a
    wild bootstrap, if any.
    """
    wanted = study.every_spec[spec]
    for each in study.every_spec.values():
        if each.errors.wild is not None and each.shares_model_with(wanted):
            return {
                "spec": each.name,
                "tests": TESTED[frozenset(each.errors.tests)],
                "sliced": SLICED.get(each.selection.slice, ""),
                "errors": COVARIANCES[each.errors.covariance].words,
            }
    return None


def measured(study: Study, *specs: str) -> str:
    """The estimands of these specs in words."""
    return estimands_in_words(estimand_name(study.every_spec[spec]) for spec in specs)


def figures(study: Study) -> dict[str, Figure]:
    """Name -> figure, all in the order of the reports, those of products last, with the settings
    that a study has. A spec that a user adds to the project's has a figure of its own.
    """
    added = [spec for spec in study.shared.specs if spec not in project().specs]
    ablations = {f"ablation_{spec}": ablation(study, spec) for spec in added}
    figures = {**figures_of_ratings(study), **ablations, **figures_of_comparisons(study)}
    for product in registered():
        if product.figures:
            figures |= resolve_name(product.figures)(study)
    return figures


def study_figures(study: Study) -> dict[str, Figure]:
    """Name -> figure of those that a study has: all whose specs are fitted to it, or those that it
    declares.
    """
    specs = study.specs.keys()
    present = {
        name: figure
        for name, figure in figures(study).items()
        if figure.applies(study) and figure.specs <= specs
    }
    declared = getattr(study.settings, "figures", None) or present
    for name in declared:
        if name not in present:
            raise study.refusal(["figures"], f"'{name}'{did_you_mean(name, present)}")
    return {name: figure for name, figure in present.items() if name in declared}


def figures_of_ratings(study: Study) -> dict[str, Figure]:
    """Figures that every study of ratings has."""
    level = {"confidence": study.confidence}
    weak = "weak_models_dropped", "weak_models_and_claude_v2_dropped"
    return {
        "verdicts": figure_from_table(
            "recuse.plot.verdicts:verdicts_figure",
            "The verdict on each judge and family, with its gaps to people and to the other judges",
            "verdicts",
            level,
            applies=with_verdicts,
            estimand=estimands_in_words([A, B, C]),
        ),
        "fig01_method": Figure(
            "recuse.plot.method:method",
            "The method on three simulated worlds, the same in every study",
            {},
            {"seed": study.seed},
            estimand=measured(study, "main"),
            group="specs",
        ),
        "fig02_mean_scores": figure_from_table(
            "recuse.plot.scores:mean_scores_figure",
            "Mean score of each model's completions by judge",
            "mean_scores",
            group="specs",
        ),
        "fig03_self_family_bias": by_equation_1(study),
        "fig04_slices": by_slice(
            study,
            "Self-bias by dimension and task type",
            {"by_dimension": "Self-bias by dimension", "by_task_type": "by task type"},
        ),
        "fig05_correlations": figure_from_table(
            "recuse.plot.scores:correlations_figure",
            "Correlation of each judge with the humans by dimension",
            "correlations",
            level,
            group="specs",
        ),
        "fig06_mean_scores_by_dimension": figure_from_table(
            "recuse.plot.scores:mean_scores_by_dimension",
            "Mean score of each model's completions by judge and dimension",
            "mean_scores",
            group="specs",
        ),
        "fig07_length_control": spec_comparison(
            study,
            "Self- and family-bias with and without length control",
            {
                "main": "Equation 1",
                "length_control": "length-controlled, by prompt",
                "length_control_global": "length-controlled, over all completions",
            },
        ),
        "fig08_ordinal": in_log_odds(
            study, "Self- and family-bias by dimension in a proportional-odds model", "ordinal"
        ),
        "fig09_llm_reference": spec_comparison(
            study,
            "Self- and family-bias by reference",
            {"main": "human scores as reference", "llm_reference": "{slice} judges as reference"},
        ),
        "fig10_weak_models_dropped": spec_comparison(
            study,
            "Self- and family-bias with and without weak models",
            {
                "main": "all data",
                **{spec: changes_in_words(study.every_spec[spec]) for spec in weak},
            },
        ),
        "by_dataset": by_slice(
            study, "Self-bias by dataset", {"by_dataset": "Self-bias by dataset"}
        ),
        "one_model_dropped": by_slice(
            study,
            "Self-bias with one model left out",
            {"one_model_dropped": "Self-bias when one model is left out (named above each panel)"},
        ),
        "gam": spec_comparison(
            study,
            "Self- and family-bias with straight lines and with curves",
            {"main": "straight lines (Equation 1)", "gam": "GAM, pooled"},
        ),
        "idiosyncrasy": figure_from_table(
            "recuse.plot.idiosyncrasy:residuals",
            "Preference of each judge for each model, beyond what is expected from both",
            "residuals",
            {"spec": next(iter(study.inference.idiosyncrasy), "main"), **level},
            estimand=estimands_in_words([C]),
        ),
        "reliability": Figure(
            "recuse.plot.reliability:reliability_figure",
            "Self- and family-bias against the reliability of the human scores",
            {
                "curves": "tables/reliability_curve",
                "breakdowns": "tables/breakdowns",
                "measurement_error": "tables/measurement_error",
                "reliabilities": "tables/reliability",
            },
            level,
            estimand=measured(study, *study.inference.measurement_error),
        ),
        "leaderboard": figure_from_table(
            "recuse.plot.leaderboard:leaderboard_figure",
            "Models ranked before and after the biases are removed",
            "leaderboard",
            level,
        ),
        "power": figure_from_table(
            "recuse.plot.power:power_figure",
            "Self-bias that studies like this one would detect",
            "power",
            level,
            estimand=estimands_in_words([A, B, C]),
        ),
        "conclusions": Figure(
            "recuse.plot.robustness:conclusions_figure",
            "Which conclusions hold in the robustness checks",
            {"table": "tables/conclusions", "not_estimable": "tables/not_estimable"},
            study.conclusions_params(),
            estimand=estimands_in_words([A, B, C]),
        ),
        "gam_smooths": figure_from_table(
            "recuse.plot.scores:smooths",
            "Expected rating by human score, a curve for each judge",
            "smooths",
            interval_settings(study, "gam"),
            group="specs",
        ),
    }


def figures_of_comparisons(study: Study) -> dict[str, Figure]:
    """Figures of comparisons, and of answers that are right or wrong by a key."""
    level = {"confidence": study.confidence}
    verbosity = {"applies": with_analysis("verbosity")}
    regression = {"applies": with_analysis("regression")}
    return {
        "gold": figure_from_table(
            "recuse.plot.gold:gold_figure",
            "Own right and wrong answers",
            "gold",
            level,
            applies=with_key,
        ),
        "strengths": figure_from_table(
            "recuse.plot.leaderboard:strengths",
            "Models ranked by the judges' verdicts",
            "strengths",
            level,
            **regression,
        ),
        "verbosity_bias": figure_from_table(
            "recuse.plot.verbosity:verbosity_bias",
            "Verbosity bias of each judge",
            "verbosity",
            level,
            **verbosity,
            published=f"{DATA}/comparisons_published.csv",
            # On other data, published values of the same judges mean nothing for simulated judges
            # or a user's.
            beside=lambda study: study.kind() == "published",
        ),
        "score_curves": figure_from_table(
            "recuse.plot.length:score_curves_figure",
            "Score of an answer by its relative length, for each judge",
            "score_curves",
            **verbosity,
        ),
        "alignment_curves": figure_from_table(
            "recuse.plot.length:alignment_curves_figure",
            "Agreement of each judge with the humans by relative length",
            "alignment_curves",
            level,
            **verbosity,
        ),
        "position": figure_from_table(
            "recuse.plot.verbosity:position_figure",
            "Effect of the order of the answers on each judge",
            "position",
            level,
            **verbosity,
        ),
    }
