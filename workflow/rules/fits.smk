# From cells to tables: estimates of every spec, scores and correlations, and the checks of the estimates.


# What a spec may read of a study.
STUDY = {"cells": "results/{study}/cells.parquet", "ratings": ratings_of}

# What tells how reliable its human scores are: the ratings of single raters, or their published agreement.
KNOWN_OF_HUMANS = {
    "raters": lambda wildcards: [f"results/{wildcards.study}/raters.parquet"] if has_raters(wildcards.study) else [],
    "alphas": lambda wildcards: [f"{DATA}/twin_facts.csv"] if has_alphas(wildcards.study) else [],
}


# Before any fit: what the ratings support.
rule check:
    input:
        **STUDY,
        **KNOWN_OF_HUMANS,
        completeness="results/{study}/tables/completeness.csv",
        code=code_of("check.py"),
    output:
        check="results/{study}/tables/check.csv",
    log:
        "results/{study}/logs/check.log",
    benchmark:
        "results/{study}/benchmarks/check.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        planner={key: config["inference"]["planner"][key] for key in ("gamma", "power")},
        of_alpha=config["inference"]["raters"],
        confidence=lookup("confidence", within=config),
        imports=lambda wildcards: import_of(wildcards.study),
        named=lookup("studies/{study}/families", within=config, default={}),
    message:
        "Say what the ratings of {wildcards.study} support."
    script:
        "../scripts/check.py"


# One job for all specs: starting costs more than fitting.
rule fit:
    input:
        **STUDY,
        code=code_of("fit.py"),
    output:
        estimates=expand("results/{{study}}/estimates/{spec}.csv", spec=config["specs"]),
        remarks="results/{study}/tables/remarks.csv",
        smooths="results/{study}/tables/smooths.csv",
        not_estimable="results/{study}/tables/not_estimable.csv",
        multiplicity="results/{study}/tables/multiplicity.csv",
    log:
        "results/{study}/logs/fit.log",
    benchmark:
        "results/{study}/benchmarks/fit.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=2000, runtime=20),
    params:
        specs=lookup("specs", within=config),
        confidence=lookup("confidence", within=config),
        # Only a bootstrap draws: another seed reruns no other fit.
        seed=config["seed"] if any({"bootstrap", "wild"} & set(spec) for spec in config["specs"].values()) else None,
    message:
        "Fit every spec to {wildcards.study}."
    script:
        "../scripts/fit.py"


rule describe:
    input:
        cells="results/{study}/cells.parquet",
        code=code_of("describe.py"),
    output:
        mean_scores="results/{study}/tables/mean_scores.csv",
        correlations="results/{study}/tables/correlations.csv",
    log:
        "results/{study}/logs/describe.log",
    benchmark:
        "results/{study}/benchmarks/describe.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        confidence=lookup("confidence", within=config),
    message:
        "Tabulate mean scores and judge-human correlations of {wildcards.study}."
    script:
        "../scripts/describe.py"


rule agreement:
    input:
        raw=lambda wildcards: raters_of(wildcards.study),
        ratings=STUDY["ratings"],
        code=code_of("agreement.py"),
    output:
        raters="results/{study}/raters.parquet",
        agreement="results/{study}/tables/agreement.csv",
    log:
        "results/{study}/logs/agreement.log",
    benchmark:
        "results/{study}/benchmarks/agreement.tsv"
    wildcard_constraints:
        study=one_of(filter(has_raters, config["studies"])),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        models=lambda wildcards: models_of(wildcards.study),
    message:
        "Check the raters of {wildcards.study} and tabulate how well they agree."
    script:
        "../scripts/agreement.py"


rule recovery:
    input:
        **STUDY,
        planted="results/{study}/raw/planted.csv",
        estimates=rules.fit.output.estimates,
        code=code_of("recovery.py"),
    output:
        recovery="results/{study}/tables/recovery.csv",
    log:
        "results/{study}/logs/recovery.log",
    benchmark:
        "results/{study}/benchmarks/recovery.tsv"
    wildcard_constraints:
        study=studies_with("simulate"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        specs=lookup("specs", within=config),
    message:
        "Compare what was planted in {wildcards.study} with what the specs recover."
    script:
        "../scripts/recovery.py"


# Not part of a study's targets: it refits every spec on raw rows, slowly. Ask for it by its path.
rule crosscheck:
    input:
        **STUDY,
        code=code_of("crosscheck.py"),
    output:
        crosscheck="results/{study}/tables/crosscheck.csv",
    log:
        "results/{study}/logs/crosscheck.log",
    benchmark:
        "results/{study}/benchmarks/crosscheck.tsv"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=4000, runtime=60),
    params:
        specs=lookup("specs", within=config),
        confidence=lookup("confidence", within=config),
    message:
        "Refit every spec of {wildcards.study} by statsmodels and pygam on raw rows and compare."
    script:
        "../scripts/crosscheck.py"
