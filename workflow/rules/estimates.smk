# From cells to tables: what the ratings support, estimates of every spec, and robustness checks.

FITTING = {
    "fit": "Fit the main model to",
    "slices": "Fit the slices of",
    "ablations": "Run the ablations of",
}


# The main fit, the slices and the ablations are a job each: starting one for each spec costs more
# than fitting. A study with specs of its own has rules of its own.
for fit in fit_rules(STUDIES.values()):

    rule:
        name:
            fit.rule
        input:
            **STUDY,
            before=tables_before(fit.stage),
        output:
            **tables_of_fits(fit.stage),
            estimates=estimates(fit.specs),
        log:
            f"results/{{study}}/logs/{fit.stage}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{fit.stage}.tsv"
        wildcard_constraints:
            study=only(fit.studies),
        priority: 1  # as most of the rest waits for it
        group:
            "tables_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks_by_rows(mem_mb=2000, runtime=20),
        params:
            contents=contents("fit.py"),
            specs=dict(fit.specs),
            order=fit.order,
            confidence=SETTINGS.confidence,
            # Only a bootstrap draws: another seed reruns no other fit.
            seed=(
                SETTINGS.seed
                if any({"bootstrap", "wild"} & set(spec) for spec in fit.specs.values())
                else None
            ),
        message:
            f"{FITTING[fit.stage]} {{wildcards.study}}."
        script:
            "../scripts/fit.py"


rule describe:
    input:
        **STUDY,
        **HUMANS,
        completeness="results/{study}/tables/completeness.csv",
    output:
        **tables("mean_scores", "correlations", "check"),
    log:
        "results/{study}/logs/describe.log",
    benchmark:
        "results/{study}/benchmarks/describe.tsv"
    priority: 1  # as figures wait for it
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("describe.py", HUMANS["alphas"], FINDINGS),
        power=of_study(Study.power_settings),
        of_alpha=inference("raters"),
        confidence=SETTINGS.confidence,
        imports=of_study(Study.import_settings),
        named=setting("families"),
    message:
        "Say what the ratings of {wildcards.study} support, and tabulate mean scores and judge-human correlations."
    script:
        "../scripts/describe.py"


rule agreement:
    input:
        raw=of_study(Study.rater_files),
        ratings=STUDY["ratings"],
    output:
        **tables("agreement"),
        raters="results/{study}/raters.parquet",
        made="results/{study}/made/agreement.json",
    log:
        "results/{study}/logs/agreement.log",
    benchmark:
        "results/{study}/benchmarks/agreement.tsv"
    wildcard_constraints:
        study=rated(Study.has_raters),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("agreement.py", of_study(Study.rater_files)),
        models=of_study(Study.models),
        imported=of_study(Study.is_imported),
        declared=of_study(Study.declared_files),
    message:
        "Check the raters of {wildcards.study} and tabulate how well they agree."
    script:
        "../scripts/agreement.py"


rule gold_of_ratings:
    input:
        ratings=STUDY["ratings"],
    output:
        **tables("gold"),
    log:
        "results/{study}/logs/gold.log",
    benchmark:
        "results/{study}/benchmarks/gold.tsv"
    wildcard_constraints:
        study=rated(Study.has_gold_labels),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("gold_of_ratings.py"),
        pass_mark=inference("pass_mark"),
        confidence=SETTINGS.confidence,
        power=of_study(lambda study: study.inference.power.power),
    message:
        "Compare how judges mark own right and wrong answers in {wildcards.study}."
    script:
        "../scripts/gold_of_ratings.py"


rule recovery:
    input:
        **STUDY,
        planted="results/{study}/raw/planted.csv",
        estimates=of_study(Study.estimates),
    output:
        **tables("recovery"),
    log:
        "results/{study}/logs/recovery.log",
    benchmark:
        "results/{study}/benchmarks/recovery.tsv"
    wildcard_constraints:
        study=rated(Study.is_simulated),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        specs=of_study(lambda study: study.specs),
        contents=contents("recovery.py"),
    message:
        "Compare what was planted in {wildcards.study} with what the specs recover."
    script:
        "../scripts/recovery.py"


# Not part of a study's targets, since it refits every spec on raw rows, slowly. Ask for it by its
# path.
rule crosscheck:
    input:
        **STUDY,
    output:
        **tables("crosscheck"),
    log:
        "results/{study}/logs/crosscheck.log",
    benchmark:
        "results/{study}/benchmarks/crosscheck.tsv"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=4000, runtime=60),
    params:
        specs=of_study(lambda study: study.specs),
        contents=contents("crosscheck.py"),
        confidence=SETTINGS.confidence,
    message:
        "Refit every spec of {wildcards.study} by statsmodels and pygam on raw rows and compare."
    script:
        "../scripts/crosscheck.py"


# One job: each table takes a pass over the rows, and starting costs as much.
rule robustness:
    input:
        **STUDY,
        **HUMANS,
    output:
        **tables("idiosyncrasy", "pooled", "residuals", "identifiability", "wordings"),
        **tables(
            "reliability", "measurement_error", "reliability_curve", "breakdowns", "sensitivity"
        ),
    log:
        "results/{study}/logs/robustness.log",
    benchmark:
        "results/{study}/benchmarks/robustness.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=30),
    params:
        contents=contents("robustness.py", HUMANS["alphas"]),
        preference=of_study(Study.preference_settings),
        distortion=of_study(Study.distortion_settings),
        confidence=SETTINGS.confidence,
    message:
        "Compare the biases of {wildcards.study} with ordinary preference, and tabulate what could have distorted them."
    script:
        "../scripts/robustness.py"


# Not part of a study's targets: it has a row for each answer. Ask for it by its path.
rule round_robin_plan:
    input:
        **STUDY,
    output:
        table="results/{study}/tables/round_robin_plan.csv",
    log:
        "results/{study}/logs/round_robin_plan.log",
    benchmark:
        "results/{study}/benchmarks/round_robin_plan.tsv"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("round_robin_plan.py"),
        seed=SETTINGS.seed,
    message:
        "Deal the answers of {wildcards.study} to judges outside their families."
    script:
        "../scripts/round_robin_plan.py"


# Not part of a study's targets either: people score it.
rule next_labels:
    input:
        **STUDY,
    output:
        table="results/{study}/tables/next_labels.csv",
    log:
        "results/{study}/logs/next_labels.log",
    benchmark:
        "results/{study}/benchmarks/next_labels.tsv"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("next_labels.py"),
        seed=SETTINGS.seed,
    message:
        "Draw answers of {wildcards.study} that people should score next."
    script:
        "../scripts/next_labels.py"


rule conclusions:
    input:
        **STUDY,
        **tables(*sorted({*tables_of_checks(STUDIES.values()), "idiosyncrasy"})),
        estimates=of_study(Study.estimates_of_checks),
        fitted=of_study(Study.estimates_of_leaderboard),
        not_estimable="results/{study}/tables/not_estimable.csv",
        completeness="results/{study}/tables/completeness.csv",
        correlations=rules.describe.output.correlations,
        wordings=rules.robustness.output.wordings,
        reliability=rules.robustness.output.reliability,
    output:
        **tables(
            "leaderboard",
            "calibration",
            "judgments",
            "power",
            "conclusions",
            "verdicts",
            "panel",
            "round_robin",
        ),
        debiased="results/{study}/debiased.parquet",
    log:
        "results/{study}/logs/conclusions.log",
    benchmark:
        "results/{study}/benchmarks/conclusions.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("conclusions.py"),
        ranking=of_study(Study.ranking_settings),
        settings=of_study(Study.conclusions_settings),
        panels=inference("panel"),
    message:
        "Rank the models of {wildcards.study} without the biases, and say what holds of each judge in the robustness checks."
    script:
        "../scripts/conclusions.py"
