# What every figure draws: its script, the tables it reads, and what the script is told beside the subject of the figure.


def table(name):
    return f"results/{{study}}/tables/{name}.csv"


def estimates(spec):
    return f"results/{{study}}/estimates/{spec}.csv"


def covariance_of(spec):
    return config["specs"][spec].get("covariance", "HC0")


def intervals_of(spec):
    """What a figure says of the intervals of a spec."""
    return {"confidence": config["confidence"], "covariance": covariance_of(spec)}


def by_slice(title, **headings):
    """Self-bias, a panel for each slice of the specs; `headings` are the words over the panels, by spec."""
    return {
        "script": "slices_of_specs.py",
        "tables": {
            "estimates": [estimates(spec) for spec in headings],
            "whole": estimates("main"),
            "not_estimable": table("not_estimable"),
        },
        "told": {
            "title": title,
            "blocks": [{"spec": spec, "heading": heading} for spec, heading in headings.items()],
            **intervals_of(next(iter(headings))),
        },
    }


def compared(title, **labels):
    """Self- and family-bias of the specs on one axis; `labels` are the words of the legend, by spec."""
    return {
        "script": "compare_specs.py",
        "tables": {"estimates": [estimates(spec) for spec in labels], "not_estimable": table("not_estimable")},
        "told": {
            "title": title,
            "confidence": config["confidence"],
            "variants": [
                {"spec": spec, "label": label, "slice": None, "covariance": covariance_of(spec)}
                for spec, label in labels.items()
            ],
        },
    }


def in_log_odds(spec):
    """Self- and family-bias of an ordinal spec, a panel for each slice."""
    slices = {"model_dropped": "when one model is left out", "task_type": "by task type"}
    sliced_by = config["specs"][spec]["slice"]
    return {
        "script": "fig08_ordinal.py",
        "tables": {"estimates": estimates(spec), "not_estimable": table("not_estimable")},
        "told": {"spec": spec, "by": slices.get(sliced_by, f"by {sliced_by}"), **intervals_of(spec)},
    }


def ablation(spec):
    """The figure of a spec that a user adds: what it changes of Equation 1."""
    settings, words = config["specs"][spec], spec.replace("_", " ")
    if "slice" not in settings:
        label = f"{words}: {{slice}} judges as reference" if "reference" in settings else words
        drawing = compared(f"Self- and family-bias by {words}", main="Equation 1", **{spec: label})
    elif settings.get("estimator") == "ordinal_logit":
        drawing = in_log_odds(spec)
    else:
        drawing = by_slice(f"Self-bias by {words}", **{spec: words})
    return {**drawing, "caption": f"ablation_{drawing['script'].removesuffix('.py')}"}


def subject_of(study):
    """What a figure says of the study that it shows, whatever the study it is drawn for."""
    models = models_of(study)
    settings = config["studies"][study]
    return {"models": models, "families": families_of(study), "label": settings["title"], "kind": kind_of(settings)}


WEAK = ", ".join(config["specs"]["weak_models_dropped"]["subset"]["models_dropped"])
FIGURES = {
    "fig01_method": {"script": "fig01_method.py", "told": {"seed": config["seed"]}},
    "fig02_mean_scores": {"script": "fig02_mean_scores.py", "tables": {"mean_scores": table("mean_scores")}},
    "fig03_self_family_bias": {
        "script": "fig03_self_family_bias.py",
        "tables": {"estimates": estimates("main")},
        "told": intervals_of("main"),
    },
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
    "fig07_length_control": compared(
        "Self- and family-bias with and without length control",
        main="Equation 1",
        length_control="length-controlled, by prompt",
        length_control_global="length-controlled, over all completions",
    ),
    "fig08_ordinal": in_log_odds("ordinal"),
    "fig09_llm_reference": compared(
        "Self- and family-bias by reference", main="human scores as reference", llm_reference="{slice} judges as reference"
    ),
    "fig10_weak_models_dropped": compared(
        "Self- and family-bias with and without weak models",
        main="all data",
        weak_models_dropped=f"without {WEAK}",
        weak_models_and_claude_v2_dropped="and without Claude v2",
    ),
    "by_dataset": by_slice("Self-bias by dataset", by_dataset="Self-bias by dataset"),
    "one_model_dropped": by_slice(
        "Self-bias with one model left out", one_model_dropped="Self-bias when one model is left out (named above each panel)"
    ),
    "gam": compared(
        "Self- and family-bias with straight lines and with curves", main="straight lines (Equation 1)", gam="GAM, pooled"
    ),
    "gam_smooths": {
        "script": "gam_smooths.py",
        "tables": {"smooths": table("smooths")},
        "told": intervals_of("gam"),
    },
    **{f"ablation_{spec}": ablation(spec) for spec in config["specs"] if spec not in PROJECT["specs"]},
}
# Of the paper itself: for its ratings, published or simulated.
FIGURES_OF_THE_PAPER = {
    "fig11_helm_instruct": {
        "script": "fig03_self_family_bias.py",
        "tables": {"estimates": "results/helm_instruct/estimates/main.csv"},
        "told": {**intervals_of("main"), "subject": subject_of("helm_instruct")},
    },
    "scorecard": {"script": "scorecard.py", "tables": {"scorecard": table("scorecard")}},
}
