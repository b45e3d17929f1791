# What every figure draws: its script, the tables it reads, and what the script is told beside the subject of the figure.
from recuse.config.specs import conclusions_params
from recuse.config.studies import is_of_the_paper
from recuse.config.origins import kind_of, kind_of_verdicts
from recuse.model.covariance import COVARIANCES
from recuse.model.words import PLACEBO, SLICED, TESTED, changes_of, in_words
from recuse.model.spec import A, B, C, estimand_of, estimands_in_words
from recuse.model.spec import BIASES, Spec

OF_ERRORS = {"covariance", "bootstrap", "wild", "tests"}  # what may differ between specs of one model


def table(name):
    return f"results/{{study}}/tables/{name}.csv"


def estimates(spec):
    return f"results/{{study}}/estimates/{spec}.csv"


def covariance_of(spec):
    return config["specs"][spec].get("covariance", "HC0")


def intervals_of(spec):
    """What a figure says of the intervals of a spec."""
    return {"confidence": config["confidence"], "covariance": covariance_of(spec)}


def estimands_of(specs):
    return [estimand_of(spec) for spec in Spec.from_config({spec: config["specs"][spec] for spec in specs})]


def measured(*specs):
    """What a figure says of the estimands of these specs."""
    return estimands_in_words(estimands_of(specs))


def simultaneous_of(spec):
    """What a figure is told of the simultaneous intervals of a spec's model: those of the first that fits it with a wild bootstrap."""

    def model(settings):
        return {key: value for key, value in settings.items() if key not in OF_ERRORS}

    for name, settings in config["specs"].items():
        if "wild" in settings and model(settings) == model(config["specs"][spec]):
            covariance = covariance_of(name)
            words = {"tests": TESTED[frozenset(settings.get("tests", BIASES))], "errors": COVARIANCES[covariance].words}
            return {"spec": name, "sliced": SLICED.get(settings.get("slice"), ""), **words}


def by_slice(title, words="", /, **headings):
    """Self-bias, a panel for each slice of the specs: `headings` stand over the panels of each spec, `words` at the foot."""
    return {
        "script": "slices_of_specs.py",
        "tables": {
            "estimates": [estimates(spec) for spec in headings],
            "whole": estimates("main"),
            "not_estimable": table("not_estimable"),
            "multiplicity": table("multiplicity"),
        },
        "estimand": measured(*headings),
        "told": {
            "title": title,
            "words": words,
            "blocks": [
                {"spec": spec, "heading": heading, "simultaneous": simultaneous_of(spec)} for spec, heading in headings.items()
            ],
            **intervals_of(next(iter(headings))),
        },
    }


def beside_each_other(title, placebo="", /, **labels):
    """Self- and family-bias of the specs on one axis; `labels` are the words of the legend, by spec.

    With words for it, estimand C of the first spec, where the table of placebo cells has it, is another variant.
    """
    has_placebo = bool(placebo) and next(iter(labels)) in config["inference"]["placebo"]
    variants = [
        {"spec": spec, "label": label, "slice": None, "covariance": covariance_of(spec)} for spec, label in labels.items()
    ]
    variants += [{"spec": PLACEBO, "label": placebo, "slice": None}] * has_placebo
    return {
        "script": "compare_specs.py",
        "tables": {
            "estimates": [estimates(spec) for spec in labels],
            "not_estimable": table("not_estimable"),
            "placebo": [table("placebo")] * has_placebo,
        },
        "estimand": estimands_in_words([*estimands_of(labels), *[C] * has_placebo]),
        "told": {"title": title, "confidence": config["confidence"], "variants": variants},
    }


def beside_estimates(drawing, title, *tables, estimand=""):
    """What stands beside the estimates, from these tables."""
    return {
        "script": "inference_figure.py",
        "tables": {name: table(name) for name in tables},
        "estimand": estimand,
        "told": {"drawing": drawing, "title": title, "confidence": config["confidence"]},
    }


def of_main(study):
    """Self- and family-bias by Equation 1."""
    paths = {"estimates": estimates("main"), **{name: table(name) for name in ("not_estimable", "multiplicity")}}
    return {
        "script": "fig03_self_family_bias.py",
        "tables": {name: path.replace("{study}", study) for name, path in paths.items()},
        "estimand": measured("main"),
        "told": {"spec": "main", "simultaneous": simultaneous_of("main"), **intervals_of("main")},
    }


def in_log_odds(title, spec, words=""):
    """Self- and family-bias of an ordinal spec, a panel for each slice; `words` stand at the foot."""
    return {
        "script": "fig08_ordinal.py",
        "tables": {"estimates": estimates(spec), "not_estimable": table("not_estimable")},
        "estimand": measured(spec),
        "told": {
            "title": title,
            "words": words,
            "spec": spec,
            "by": SLICED[config["specs"][spec]["slice"]],
            **intervals_of(spec),
        },
    }


def ablation(spec):
    """The figure of a spec that a user adds: what it changes of Equation 1."""
    settings = config["specs"][spec]
    ablation = {"name": spec, "words": in_words(settings)}
    title = f"Ablation {spec}: {ablation['words']}"
    if "slice" not in settings:
        label = changes_of(settings, whose="{slice}", most=3) or spec
        drawing = beside_each_other(title, main="Equation 1", **{spec: label})
    elif settings.get("estimator") == "ordinal_logit":
        drawing = in_log_odds(title, spec, f"{title}.")
    else:
        drawing = by_slice(title, f"{title}.", **{spec: f"Self-bias {SLICED[settings['slice']]}"})
    told = drawing["told"] | {"ablation": ablation}
    return {**drawing, "told": told, "caption": f"ablation_{drawing['script'].removesuffix('.py')}"}


def subject_of(study):
    """What a figure says of the study that it shows, whatever the study it is drawn for."""
    if study in config["comparisons"]:  # its judges are named beside their marks, and have no colours
        settings = config["comparisons"][study]
        return {"models": {}, "families": {}, "label": settings["title"], "kind": kind_of_verdicts(settings)}
    settings = config["studies"][study]
    # All families, so that one without a colour of its own has the same in every study.
    families = config["families"]
    return {"models": models_of(config, study), "families": families, "label": settings["title"], "kind": kind_of(settings)}


def subject_for(drawing):
    """The param `subject` of a drawing's rule."""
    of_study = drawing.get("subject", subject_of)

    def subject(wildcards):
        estimand = "" if wildcards.study in config["comparisons"] else drawing.get("estimand", "")
        return {**of_study(wildcards.study), "estimand": estimand}

    return subject


FIGURES = {
    "fig01_method": {"script": "fig01_method.py", "estimand": measured("main"), "told": {"seed": config["seed"]}},
    "fig02_mean_scores": {"script": "fig02_mean_scores.py", "tables": {"mean_scores": table("mean_scores")}},
    "fig03_self_family_bias": of_main("{study}"),
    "fig04_slices": by_slice(
        "Self-bias by dimension and task type", by_dimension="Self-bias by dimension", by_task_type="by task type"
    ),
    "fig05_correlations": {
        "script": "fig05_correlations.py",
        "tables": {"correlations": table("correlations")},
        "told": {"confidence": config["confidence"]},
    },
    "fig06_mean_scores_by_dimension": {
        "script": "fig06_mean_scores_by_dimension.py",
        "tables": {"mean_scores": table("mean_scores")},
    },
    "fig07_length_control": beside_each_other(
        "Self- and family-bias with and without length control",
        main="Equation 1",
        length_control="length-controlled, by prompt",
        length_control_global="length-controlled, over all completions",
    ),
    "fig08_ordinal": in_log_odds("Self- and family-bias by dimension in a proportional-odds model", "ordinal"),
    "fig09_llm_reference": beside_each_other(
        "Self- and family-bias by reference", main="human scores as reference", llm_reference="{slice} judges as reference"
    ),
    "fig10_weak_models_dropped": beside_each_other(
        "Self- and family-bias with and without weak models",
        main="all data",
        **{spec: changes_of(config["specs"][spec]) for spec in ("weak_models_dropped", "weak_models_and_claude_v2_dropped")},
    ),
    "by_dataset": by_slice("Self-bias by dataset", by_dataset="Self-bias by dataset"),
    "one_model_dropped": by_slice(
        "Self-bias with one model left out", one_model_dropped="Self-bias when one model is left out (named above each panel)"
    ),
    "gam": beside_each_other(
        "Self- and family-bias with straight lines and with curves", main="straight lines (Equation 1)", gam="GAM, pooled"
    ),
    "estimands": beside_each_other(
        "Self- and family-bias by three estimands",
        "C: beyond ordinary taste",
        main="A: Equation 1",
        clustered="A: errors by prompt",
        model_effects="B: against the other judges, by model",
        model_dimension_effects="B: by model and dimension",
        completion_effects="B: by completion",
    ),
    "placebo": {
        "script": "placebo.py",
        "tables": {"tastes": table("tastes")},
        "estimand": estimands_in_words([C]),
        "told": {
            "title": "Taste of each judge for each model, beyond what is expected of both",
            "spec": "main",
            "confidence": config["confidence"],
        },
    },
    "reliability": beside_estimates(
        "reliability",
        "Self- and family-bias against the reliability of the human scores",
        *("reliability_curve", "breakdowns", "noisy_reference", "reliability"),
        estimand=measured(*config["inference"]["noisy_reference"]),
    ),
    "leaderboard": beside_estimates("leaderboard", "Models ranked before and after the biases are taken off", "leaderboard"),
    "few_labels": beside_estimates("few_labels", "Human means of models from few labels", "few_labels"),
    "planner": beside_estimates(
        "planner", "Self-bias that studies like this one would detect", "planner", estimand=estimands_in_words([A, B, C])
    ),
    "conclusions": {
        "script": "conclusions_figure.py",
        "tables": {name: table(name) for name in ("conclusions", "not_estimable")},
        "estimand": estimands_in_words([A, B, C]),
        "told": conclusions_params(config),
    },
    "gam_smooths": {
        "script": "gam_smooths.py",
        "tables": {"smooths": table("smooths")},
        "told": intervals_of("gam"),
    },
    **{f"ablation_{spec}": ablation(spec) for spec in config["specs"] if spec not in PROJECT["specs"]},
}
# Of the paper itself: for its ratings, published or simulated.
FIGURES_OF_THE_PAPER = {
    "fig11_helm_instruct": {**of_main("helm_instruct"), "subject": lambda study: subject_of("helm_instruct")},
    "scorecard": {
        "script": "scorecard.py",
        "tables": {"scorecard": table("scorecard")},
        "estimand": measured("main", "llm_reference_as_coded"),
        "studies": one_of([*config["studies"], *(study for study in config["comparisons"] if source_of(config, study))]),
    },
}
