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
    repository = config["sources"][source_of(config, study)]["repository"]
    return {"models": {}, "families": {}, "label": f"texts of {repository}", "kind": "published"}


def saito_where_published(wildcards):
    """Values of the same judges on other data; none beside judges that are simulated or a user's."""
    published = kind_of_verdicts(config["comparisons"][wildcards.study]) == "published"
    return [f"{DATA}/comparisons_published.csv"] if published else []


WITH_VERBOSITY, WITH_ATTACKS = compared(with_analysis("verbosity")), compared(with_analysis("attacks"))
WITH_BIASES = "|".join([compared(with_analysis("cognitive_biases")), compared(from_source("cobbler"))])
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
    "rbo": of_table("rbo.py", "rbo", "valid_rates", studies=compared(from_source("cobbler"))),
    "attack_success": of_table(
        "attack_success.py", "asr", "ranks", studies=WITH_ATTACKS, beside={"published": where(from_source("judgement_bias"), ATTACKS)}, **OF_INTERVALS
    ),
    "votes_by_position": of_table("votes_by_position.py", "votes_by_position", studies=WITH_ATTACKS, **OF_INTERVALS),
    "length_bias_curve": of_table("length_bias_curve.py", "length_curve", studies=WITH_ATTACKS, **OF_INTERVALS),
    "length_confound": of_table(
        "length_confound.py", "length_confound", studies=compared(from_source("judgement_bias")), **OF_INTERVALS
    )
    | {"subject": subject_of_texts},
}


def drawn(figure, caption):
    """The three formats of a figure; the SVG is the one that the report shows."""
    path = f"results/{{study}}/figures/{figure}"
    picture = report(f"{path}.svg", caption=f"../report/{caption}.rst", category="{study}", labels={"figure": figure})
    return {"pdf": f"{path}.pdf", "svg": picture, "png": f"{path}.png"}


def figures_of(study):
    if study in config["studies"]:
        return [*FIGURES, *(FIGURES_OF_THE_PAPER if is_of_the_paper(config, study) else [])]
    figures = [name for name, drawing in FIGURES_OF_COMPARISONS.items() if re.fullmatch(drawing["studies"], study)]
    return [*figures, *(["scorecard"] if source_of(config, study) else [])]


def files_of(config, study):
    """Every file of a study that a reader wants, and the page that shows them."""
    estimates = [f"results/{study}/estimates/{spec}.csv" for spec in config["specs"]]
    return [
        *([f"results/{study}/debiased.parquet", *estimates] if study in config["studies"] else []),
        *tables_of(config, study).values(),
        *(f"results/{study}/figures/{name}{suffix}" for name in figures_of(study) for suffix in (".pdf", ".svg", ".png")),
        f"results/{study}/report.html",
    ]
