# What every figure of comparisons draws, in the form of drawings.smk, by what it needs of a study.


def of_table(script, *tables, studies, beside=None, **told):
    """A drawing of tables of the same study, and of inputs `beside` them, for `studies`, a regular expression."""
    return {
        "script": script,
        "tables": {name: table(name) for name in tables} | (beside or {}),
        "studies": studies,
        "told": told,
    }


def subject_of_texts(study):
    """The subject of a figure of the published texts, which are real whatever the votes are."""
    repository = config["sources"][source_of(study)]["repository"]
    return {"models": {}, "families": {}, "label": f"texts of {repository}", "kind": "published"}


def saito_where_published(wildcards):
    """Values of the same judges on other data; none beside judges that are simulated or a user's."""
    published = kind_of_verdicts(COMPARISONS[wildcards.study]) == "published"
    return [f"{DATA}/comparisons_published.csv"] if published else []


WITH_VERBOSITY, WITH_ATTACKS = comparisons_with("verbosity"), comparisons_with("attacks")
WITH_BIASES = "|".join([comparisons_with("cognitive_biases"), comparisons_from("cobbler")])
OF_INTERVALS = {"confidence": config["confidence"]}
JITTER = {"seed": config["seed"], **OF_INTERVALS}
FIGURES_OF_COMPARISONS = {
    "verbosity_bias": of_table(
        "verbosity_bias.py",
        "verbosity",
        studies=WITH_VERBOSITY,
        beside={"published": saito_where_published},
        **OF_INTERVALS,
    ),
    "score_curves": of_table("score_curves.py", "score_curves", studies=WITH_VERBOSITY),
    "alignment_curves": of_table("alignment_curves.py", "alignment_curves", studies=WITH_VERBOSITY, **OF_INTERVALS),
    "position": of_table("position.py", "position", studies=WITH_VERBOSITY, **OF_INTERVALS),
    "bias_jitter": of_table("bias_jitter.py", "cognitive_biases", "random_thresholds", studies=WITH_BIASES, **JITTER),
    "bias_polygon": of_table("bias_polygon.py", "cognitive_biases", studies=WITH_BIASES),
    "bias_by_size": of_table("bias_by_size.py", "cognitive_biases", studies=WITH_BIASES),
    "rbo": of_table("rbo.py", "rbo", "valid_rates", studies=comparisons_from("cobbler")),
    "attack_success": of_table(
        "attack_success.py", "asr", "ranks", studies=WITH_ATTACKS, beside={"published": published_attacks}, **OF_INTERVALS
    ),
    "votes_by_position": of_table("votes_by_position.py", "votes_by_position", studies=WITH_ATTACKS, **OF_INTERVALS),
    "length_bias_curve": of_table("length_bias_curve.py", "length_curve", studies=WITH_ATTACKS, **OF_INTERVALS),
    "length_confound": of_table(
        "length_confound.py", "length_confound", studies=comparisons_from("judgement_bias"), **OF_INTERVALS
    )
    | {"subject": subject_of_texts},
}


def everything_of_comparisons(study):
    """Every file of a study of comparisons that a reader wants: tables and figures."""
    settings, source = COMPARISONS[study], source_of(study)
    analyses = analyses_of(settings)
    tables = ["completeness"] if analyses else []
    tables += ["imported"] if is_imported(study) else []
    tables += ["verbosity", "position", "agreement", "score_curves", "alignment_curves"] if "verbosity" in analyses else []
    tables += ["cognitive_biases", "random_thresholds"] if re.fullmatch(WITH_BIASES, study) else []
    tables += ["asr", "ranks", "votes_by_position", "length_curve", "vote_shares"] if "attacks" in analyses else []
    tables += ["rbo", "valid_rates"] if source == "cobbler" else []
    tables += ["length_confound", "published_ranks"] if source == "judgement_bias" else []
    tables += ["recovery"] if "simulate" in settings else []
    tables += ["scorecard"] if source else []
    figures = [name for name, drawing in FIGURES_OF_COMPARISONS.items() if re.fullmatch(drawing["studies"], study)]
    figures += ["scorecard"] if source else []
    return [
        *(f"results/{study}/tables/{name}.csv" for name in tables),
        *(f"results/{study}/figures/{figure}{suffix}" for figure in figures for suffix in (".pdf", ".svg", ".png")),
    ]


def files_of(study):
    """Every file of a study that a reader wants, and the page that shows them."""
    files = everything_of_comparisons(study) if study in COMPARISONS else everything_of(study)
    return [*files, f"results/{study}/report.html"]
