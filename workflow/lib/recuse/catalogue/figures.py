"""Every figure: what draws it, from which tables and settings, and which studies have it."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name

from recuse.base.errors import ConfigError, check_known, did_you_mean
from recuse.base.places import WORKFLOW
from recuse.base.products import registered
from recuse.base.words import with_gold_labels
from recuse.catalogue.tables import (
    Applies,
    estimates_of,
    of_ratings,
    tables_of,
    with_analysis,
    with_key,
    with_verdicts,
)
from recuse.config.studies import (
    DATA,
    STAGES,
    conclusions_params,
    config_of,
    every_spec,
    has_gold_labels,
    kind,
    models_of,
    section_of,
    settings_of,
    without_errors,
)
from recuse.model.covariance import COVARIANCES
from recuse.model.spec import (
    BIASES,
    SLICED,
    TESTED,
    A,
    B,
    C,
    Spec,
    changes_of,
    estimand_of,
    estimands_in_words,
    in_words,
)

CAPTIONS = os.path.relpath(WORKFLOW / "report")


def subject_of(config: Mapping, study: str) -> dict[str, object]:
    """What a figure shows: title and kind of the study, and the models and families of its
    colours.
    """
    about = {"label": settings_of(config, study)["title"], "kind": kind(config, study)}
    # Its judges are named next to their marks, and have no colours
    if study in config["comparisons"]:
        return {"models": {}, "families": {}, **about}
    if has_gold_labels(settings_of(config, study)):
        about["gold"] = True
    # All families, so that a family without a colour in config has the same colour in every study.
    return {"models": models_of(config, study), "families": config["families"], **about}


@dataclass(frozen=True)
class Figure:
    """A figure: what draws it, from which tables, and which studies have it.

    draw: `module:function`, imported by the figure's job alone and called with tables, subject and
    settings.
    title: of the files, before the study's.
    tables: argument of the function -> table of the study, as `tables/rbo` or `estimates/main`, or
    a list of them. settings: further arguments, which the caption also reads. ablation: name and
    words of a user's spec, for the caption. estimand: what the biases are gaps to, in words.
    caption: its template in workflow/report, if not the figure's name. of_study: the study whose
    tables and title it shows, if not the one it is made for.
    published: a file of published values, whose path is the argument of that name; beside: which
    studies it is drawn for. group: of figures that one job draws, by what they wait for: the main
    fit (`fit`), slices and ablations (`specs`) or `rest`.
    """

    draw: str
    title: str
    tables: Mapping[str, str | Sequence[str]]
    settings: Mapping[str, object] = field(default_factory=dict)
    applies: Applies = of_ratings
    estimand: str = ""
    caption: str = ""
    ablation: Mapping[str, str] | None = None
    of_study: str = "{study}"
    subject: Callable[[Mapping, str], dict[str, object]] = subject_of
    published: str = ""
    beside: Applies | None = None
    group: str = "rest"

    @property
    def specs(self) -> set[str]:
        """The specs whose estimates it shows."""
        paths = [
            path
            for tables in self.tables.values()
            for path in ([tables] if isinstance(tables, str) else tables)
        ]
        return {path.removeprefix("estimates/") for path in paths if path.startswith("estimates/")}

    def files(self, config: Mapping, study: str) -> dict[str, str | list[str]]:
        """Paths of what it is drawn from, for a study, by argument."""
        folder = f"results/{self.of_study.format(study=study)}"
        files: dict[str, str | list[str]] = {
            name: (
                f"{folder}/{tables}.csv"
                if isinstance(tables, str)
                else [f"{folder}/{table}.csv" for table in tables]
            )
            for name, tables in self.tables.items()
        }
        if self.beside is not None:
            files["published"] = [self.published] if self.beside(config, study) else []
        return files


def drawing_of(config: Mapping, study: str, *, figure: Figure) -> dict[str, object]:
    """What the script of figures needs to know about one, and its caption reads."""
    subject = figure.subject(config, figure.of_study.format(study=study))
    return {
        "draw": figure.draw,
        "title": (
            f"{with_gold_labels(figure.title) if subject.get('gold') else figure.title}:"
            f" {subject['label']}"
        ),
        "subject": {
            **subject,
            "estimand": "" if study in config["comparisons"] else figure.estimand,
        },
        "settings": figure.settings,
        "ablation": figure.ablation,
        "inputs": figure.files(config, study),
    }


def drawings(
    config: Mapping, study: str, *names: str, figures: Mapping[str, Figure]
) -> dict[str, dict[str, object]]:
    """Name -> drawing of figures of a study, by default of all that it has. ConfigError if it has
    no figure of a name.
    """
    present = figures_of(config, study, figures=figures)
    check_known(f"figures of {study}", names, present, "figures")
    return {name: drawing_of(config, study, figure=present[name]) for name in names or present}


def inputs_of(drawings: Mapping[str, Mapping]) -> list[str]:
    """Every file that drawings are made from, once."""
    paths = (path for drawing in drawings.values() for path in drawing["inputs"].values())
    return [
        *dict.fromkeys(
            each for path in paths for each in ([path] if isinstance(path, str) else path)
        )
    ]


def figures_by_group(
    config: Mapping, study: str, *, figures: Mapping[str, Figure]
) -> dict[str, dict[str, Figure]]:
    """Group -> name -> figure, of the figures of a study. One job draws a group."""
    groups: dict[str, dict[str, Figure]] = {}
    for name, figure in figures_of(config, study, figures=figures).items():
        groups.setdefault(figure.group, {})[name] = figure
    return groups


def of_table(
    draw: str, title: str, table: str, settings: Mapping | None = None, **further
) -> Figure:
    """A figure drawn from one table."""
    return Figure(draw, title, {"table": f"tables/{table}"}, settings or {}, **further)


def by_equation_1(config: Mapping) -> Figure:
    """Self- and family-bias by Equation 1."""
    return Figure(
        "recuse.plot.biases:self_family_bias",
        "Self-bias by judge and family-bias by family",
        {"estimates": "estimates/main", **tables_of_stage("fit", "not_estimable", "multiplicity")},
        {
            "spec": "main",
            "simultaneous": simultaneous_of(config, "main"),
            **interval_of(config, "main"),
        },
        estimand=measured(config, "main"),
        group="fit",
    )


def tables_of_stage(stage: str, *names: str) -> dict[str, str]:
    """Argument -> table, for tables on the fits of a stage and of those before."""
    return {name: f"{STAGES[stage]}/{name}" for name in names}


def by_slice(
    config: Mapping,
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
                {"spec": spec, "heading": heading, "simultaneous": simultaneous_of(config, spec)}
                for spec, heading in headings.items()
            ],
            "words": words,
            **interval_of(config, next(iter(headings))),
        },
        estimand=measured(config, *headings),
        group="specs",
    )


def compared(config: Mapping, title: str, labels: Mapping[str, str]) -> Figure:
    """Self- and family-bias of the specs on one axis; `labels`, by spec, are those of the
    legend.
    """
    variants = [
        {"spec": spec, "label": label, "covariance": config["specs"][spec].get("covariance", "HC0")}
        for spec, label in labels.items()
    ]
    return Figure(
        "recuse.plot.biases:compare_specs",
        title,
        {
            "estimates": [f"estimates/{spec}" for spec in labels],
            "not_estimable": "tables/not_estimable",
        },
        {"variants": variants, "confidence": config["confidence"]},
        estimand=measured(config, *labels),
        group="specs",
    )


def in_log_odds(config: Mapping, title: str, spec: str, *, words: str = "") -> Figure:
    """Self- and family-bias of an ordinal spec, a panel for each slice; `words` are at the foot."""
    return Figure(
        "recuse.plot.slices:ordinal",
        title,
        {"estimates": f"estimates/{spec}", "not_estimable": "tables/not_estimable"},
        {
            "spec": spec,
            "by": SLICED[config["specs"][spec]["slice"]],
            "words": words,
            **interval_of(config, spec),
        },
        estimand=measured(config, spec),
        group="specs",
    )


def ablation(config: Mapping, spec: str) -> Figure:
    """The figure of a spec that a user adds, compared with Equation 1."""
    settings = config["specs"][spec]
    words = in_words(settings)
    title = f"Ablation {spec}: {words}"
    if "slice" not in settings:
        label = changes_of(settings, whose="{slice}", most=3) or spec
        figure, caption = (
            compared(config, title, {"main": "Equation 1", spec: label}),
            "ablation_compare_specs",
        )
    elif settings.get("estimator") == "ordinal_logit":
        figure, caption = (
            in_log_odds(config, title, spec, words=f"{title}."),
            "ablation_fig08_ordinal",
        )
    else:
        heading = f"Self-bias {SLICED[settings['slice']]}"
        figure, caption = (
            by_slice(config, title, {spec: heading}, words=f"{title}.", stage="ablations"),
            "ablation_slices_of_specs",
        )
    return replace(
        figure, ablation={"name": spec, "words": words, "caption": caption}, caption=caption
    )


def interval_of(config: Mapping, spec: str) -> dict[str, object]:
    """Level and covariance of the intervals of a spec."""
    return {
        "confidence": config["confidence"],
        "covariance": config["specs"][spec].get("covariance", "HC0"),
    }


def simultaneous_of(config: Mapping, spec: str) -> dict[str, str] | None:
    """The simultaneous intervals of a spec's model: those of the first spec that fits it with a
    wild bootstrap, if any.
    """
    model = without_errors(config["specs"][spec])
    for name, settings in config["specs"].items():
        if "wild" in settings and without_errors(settings) == model:
            covariance = settings.get("covariance", "HC0")
            return {
                "spec": name,
                "tests": TESTED[frozenset(settings.get("tests", BIASES))],
                "sliced": SLICED.get(settings.get("slice"), ""),
                "errors": COVARIANCES[covariance].words,
            }
    return None


def measured(config: Mapping, *specs: str, further: Sequence[str] = ()) -> str:
    """The estimands of these specs, and `further` ones, in words."""
    fitted = Spec.from_config({spec: config["specs"][spec] for spec in specs})
    return estimands_in_words([*map(estimand_of, fitted), *further])


def figures(config: Mapping, project: Mapping) -> dict[str, Figure]:
    """Name -> figure, all in the order of the reports, those of products last.

    project: the configuration without a user's specs. config: as a study has it, for the figures of
    one with specs or settings of its own.
    """
    apart = {name for settings in config["studies"].values() for name in settings.get("specs", ())}
    added = [spec for spec in config["specs"] if spec not in {*project["specs"], *apart}]
    config = {**config, "specs": {**every_spec(project), **every_spec(config)}}
    ablations = {f"ablation_{spec}": ablation(config, spec) for spec in added}
    figures = {**figures_of_ratings(config), **ablations, **figures_of_comparisons(config)}
    for product in registered():
        if product.figures:
            figures |= resolve_name(product.figures)(config)
    return figures


def figures_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Those of `figures` that a study has: all whose specs are fitted to it, or those that it
    declares.
    """
    specs = {*config_of(config, study)["specs"]}
    present = {
        name: figure
        for name, figure in figures.items()
        if figure.applies(config, study) and figure.specs <= specs
    }
    declared = settings_of(config, study).get("figures", present)
    if unknown := [name for name in declared if name not in present]:
        section = section_of(config, study)
        raise ConfigError(
            f"config: {section}: {study}: figures:"
            f" '{unknown[0]}'{did_you_mean(unknown[0], present)}"
        )
    return {name: figure for name, figure in present.items() if name in declared}


def pictures_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> list[str]:
    """The files of the figures that the report of a study shows."""
    return [
        f"results/{study}/figures/{name}.svg" for name in figures_of(config, study, figures=figures)
    ]


def files_of(config: Mapping, study: str, *, figures: Mapping[str, Figure]) -> list[str]:
    """Every file of a study for a reader: estimates, tables, figures, and the page that shows
    them.
    """
    pictures = pictures_of(config, study, figures=figures)
    return [
        *([f"results/{study}/debiased.parquet"] if study in config["studies"] else []),
        *estimates_of(config, study),
        *tables_of(config, study).values(),
        *(f"{path.removesuffix('svg')}{form}" for path in pictures for form in config["formats"]),
        f"results/{study}/summary.json",
        f"results/{study}/report.html",
    ]


def captions_of(
    config: Mapping, study: str, *, figures: Mapping[str, Figure]
) -> dict[str, dict[str, object]]:
    """For each figure of a study: its caption's template, the tables it is drawn from, and its
    drawing.
    """
    captions = {}
    for name, figure in figures_of(config, study, figures=figures).items():
        drawing = drawing_of(config, study, figure=figure)
        tables = [path for path in inputs_of({name: drawing}) if path != figure.published]
        captions[name] = {
            "caption": f"{CAPTIONS}/{figure.caption or name}.rst",
            "tables": tables,
            "drawing": drawing,
        }
    return captions


def figures_of_ratings(config: Mapping) -> dict[str, Figure]:
    """Figures that every study of ratings has."""
    level = {"confidence": config["confidence"]}
    weak = "weak_models_dropped", "weak_models_and_claude_v2_dropped"
    return {
        "verdicts": of_table(
            "recuse.plot.verdicts:verdicts",
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
            {"seed": config["seed"]},
            estimand=measured(config, "main"),
            group="specs",
        ),
        "fig02_mean_scores": of_table(
            "recuse.plot.scores:mean_scores",
            "Mean score of each model's completions by judge",
            "mean_scores",
            group="specs",
        ),
        "fig03_self_family_bias": by_equation_1(config),
        "fig04_slices": by_slice(
            config,
            "Self-bias by dimension and task type",
            {"by_dimension": "Self-bias by dimension", "by_task_type": "by task type"},
        ),
        "fig05_correlations": of_table(
            "recuse.plot.scores:correlations",
            "Correlation of each judge with the humans by dimension",
            "correlations",
            level,
            group="specs",
        ),
        "fig06_mean_scores_by_dimension": of_table(
            "recuse.plot.scores:mean_scores_by_dimension",
            "Mean score of each model's completions by judge and dimension",
            "mean_scores",
            group="specs",
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
        "fig08_ordinal": in_log_odds(
            config, "Self- and family-bias by dimension in a proportional-odds model", "ordinal"
        ),
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
        "by_dataset": by_slice(
            config, "Self-bias by dataset", {"by_dataset": "Self-bias by dataset"}
        ),
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
        "idiosyncrasy": of_table(
            "recuse.plot.idiosyncrasy:residuals",
            "Preference of each judge for each model, beyond what is expected from both",
            "residuals",
            {"spec": next(iter(config["inference"]["idiosyncrasy"]), "main"), **level},
            estimand=estimands_in_words([C]),
        ),
        "reliability": Figure(
            "recuse.plot.reliability:reliability",
            "Self- and family-bias against the reliability of the human scores",
            {
                "curves": "tables/reliability_curve",
                "breakdowns": "tables/breakdowns",
                "measurement_error": "tables/measurement_error",
                "reliabilities": "tables/reliability",
            },
            level,
            estimand=measured(config, *config["inference"]["measurement_error"]),
        ),
        "leaderboard": of_table(
            "recuse.plot.leaderboard:leaderboard",
            "Models ranked before and after the biases are removed",
            "leaderboard",
            level,
        ),
        "panel": of_table("recuse.plot.panel:panel", "Which judges to combine", "panel", level),
        "power": of_table(
            "recuse.plot.power:power",
            "Self-bias that studies like this one would detect",
            "power",
            level,
            estimand=estimands_in_words([A, B, C]),
        ),
        "conclusions": Figure(
            "recuse.plot.robustness:conclusions",
            "Which conclusions hold in the robustness checks",
            {"table": "tables/conclusions", "not_estimable": "tables/not_estimable"},
            conclusions_params(config),
            estimand=estimands_in_words([A, B, C]),
        ),
        "gam_smooths": of_table(
            "recuse.plot.scores:smooths",
            "Expected rating by human score, a curve for each judge",
            "smooths",
            interval_of(config, "gam"),
            group="specs",
        ),
    }


def figures_of_comparisons(config: Mapping) -> dict[str, Figure]:
    """Figures of comparisons, and of answers that are right or wrong by a key."""
    level = {"confidence": config["confidence"]}
    verbosity, regression = (
        {"applies": with_analysis("verbosity")},
        {"applies": with_analysis("regression")},
    )
    return {
        "gold": of_table(
            "recuse.plot.gold:gold", "Own right and wrong answers", "gold", level, applies=with_key
        ),
        "strengths": of_table(
            "recuse.plot.regression:strengths",
            "Models ranked by the judges' verdicts",
            "strengths",
            level,
            **regression,
        ),
        "verbosity_bias": of_table(
            "recuse.plot.verbosity:verbosity_bias",
            "Verbosity bias of each judge",
            "verbosity",
            level,
            **verbosity,
            published=f"{DATA}/comparisons_published.csv",
            # On other data, published values of the same judges mean nothing for simulated judges
            # or a user's.
            beside=lambda config, study: kind(config, study) == "published",
        ),
        "score_curves": of_table(
            "recuse.plot.length:score_curves",
            "Score of an answer by its relative length, for each judge",
            "score_curves",
            **verbosity,
        ),
        "alignment_curves": of_table(
            "recuse.plot.length:alignment_curves",
            "Agreement of each judge with the humans by relative length",
            "alignment_curves",
            level,
            **verbosity,
        ),
        "position": of_table(
            "recuse.plot.verbosity:position",
            "Effect of the order of the answers on each judge",
            "position",
            level,
            **verbosity,
        ),
    }
