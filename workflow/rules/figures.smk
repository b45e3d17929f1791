# From tables to figures: one rule, one script, one caption a figure; `{study}` is the only wildcard.


rule fig02_mean_scores:
    input:
        mean_scores="results/{study}/tables/mean_scores.csv",
        code=code_of("fig02_mean_scores.py"),
    output:
        **drawn("fig02_mean_scores"),
    log:
        "results/{study}/logs/fig02_mean_scores.log",
    benchmark:
        "results/{study}/benchmarks/fig02_mean_scores.tsv"
    conda:
        "../../envs/judge-bias.yaml"
    params:
        models=lambda wildcards: models_of(wildcards.study),
        families=lambda wildcards: families_of(wildcards.study),
        label=lookup("studies/{study}/title", within=config),
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
    message:
        "Draw Figure 2 of {wildcards.study}: mean score by judge and model."
    script:
        "../scripts/fig02_mean_scores.py"


rule fig03_self_family_bias:
    input:
        estimates="results/{study}/estimates/main.csv",
        code=code_of("fig03_self_family_bias.py"),
    output:
        **drawn("fig03_self_family_bias"),
    log:
        "results/{study}/logs/fig03_self_family_bias.log",
    benchmark:
        "results/{study}/benchmarks/fig03_self_family_bias.tsv"
    conda:
        "../../envs/judge-bias.yaml"
    params:
        models=lambda wildcards: models_of(wildcards.study),
        families=lambda wildcards: families_of(wildcards.study),
        label=lookup("studies/{study}/title", within=config),
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
        confidence=lookup("confidence", within=config),
        covariance=lookup("specs/main/covariance", within=config, default="HC0"),
    message:
        "Draw Figure 3 of {wildcards.study}: self-bias by judge, family-bias by family."
    script:
        "../scripts/fig03_self_family_bias.py"


rule fig05_correlations:
    input:
        correlations="results/{study}/tables/correlations.csv",
        code=code_of("fig05_correlations.py"),
    output:
        **drawn("fig05_correlations"),
    log:
        "results/{study}/logs/fig05_correlations.log",
    benchmark:
        "results/{study}/benchmarks/fig05_correlations.tsv"
    conda:
        "../../envs/judge-bias.yaml"
    params:
        models=lambda wildcards: models_of(wildcards.study),
        families=lambda wildcards: families_of(wildcards.study),
        label=lookup("studies/{study}/title", within=config),
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
        confidence=lookup("confidence", within=config),
    message:
        "Draw Figure 5 of {wildcards.study}: judge-human correlations by dimension."
    script:
        "../scripts/fig05_correlations.py"


rule fig06_mean_scores_by_dimension:
    input:
        mean_scores="results/{study}/tables/mean_scores.csv",
        code=code_of("fig06_mean_scores_by_dimension.py"),
    output:
        **drawn("fig06_mean_scores_by_dimension"),
    log:
        "results/{study}/logs/fig06_mean_scores_by_dimension.log",
    benchmark:
        "results/{study}/benchmarks/fig06_mean_scores_by_dimension.tsv"
    conda:
        "../../envs/judge-bias.yaml"
    params:
        models=lambda wildcards: models_of(wildcards.study),
        families=lambda wildcards: families_of(wildcards.study),
        label=lookup("studies/{study}/title", within=config),
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
    message:
        "Draw Figure 6 of {wildcards.study}: mean score by judge, model and dimension."
    script:
        "../scripts/fig06_mean_scores_by_dimension.py"
