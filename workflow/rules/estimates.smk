# From cells to tables: what the ratings support, estimates of every spec, and robustness checks.


rule check:
    input:
        **STUDY,
        **HUMANS,
        completeness="results/{study}/tables/completeness.csv",
    output:
        **tables("check"),
    log:
        "results/{study}/logs/check.log",
    benchmark:
        "results/{study}/benchmarks/check.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        code=code_of("check.py"),
        power={key: config["inference"]["power"][key] for key in ("self_bias", "power")},
        of_alpha=config["inference"]["raters"],
        confidence=config["confidence"],
        imports=of_study(studies.import_of),
        named=setting("families", {}),
    message:
        "Say what the ratings of {wildcards.study} support."
    script:
        "../scripts/check.py"


# One job for all specs: starting costs more than fitting. A study with specs of its own has a rule of its own.
for rule_name, fitted_studies, specs in studies.fits_of(config):

    rule:
        name:
            rule_name
        input:
            **STUDY,
        output:
            **tables("remarks", "smooths", "not_estimable", "multiplicity"),
            estimates=estimates(specs),
        log:
            "results/{study}/logs/fit.log",
        benchmark:
            "results/{study}/benchmarks/fit.tsv"
        wildcard_constraints:
            study=one_of(fitted_studies),
        priority: 1  # the longest, and most of the rest waits for it
        group:
            "tables_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks_by_rows(mem_mb=2000, runtime=20),
        params:
            code=code_of("fit.py"),
            specs=dict(specs),
            confidence=config["confidence"],
            # Only a bootstrap draws: another seed reruns no other fit.
            seed=config["seed"] if any({"bootstrap", "wild"} & set(spec) for spec in specs.values()) else None,
        message:
            "Fit every spec to {wildcards.study}."
        script:
            "../scripts/fit.py"


rule describe:
    input:
        cells="results/{study}/cells.parquet",
    output:
        **tables("mean_scores", "correlations"),
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
        code=code_of("describe.py"),
        confidence=config["confidence"],
    message:
        "Tabulate mean scores and judge-human correlations of {wildcards.study}."
    script:
        "../scripts/describe.py"


rule agreement:
    input:
        raw=of_study(studies.raters_of),
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
        study=rated(studies.has_raters),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        code=code_of("agreement.py"),
        models=of_study(studies.models_of),
        imported=of_study(studies.is_imported),
        declared=of_study(studies.declared_of),
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
        study=rated(studies.is_keyed),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        code=code_of("gold_of_ratings.py"),
        pass_mark=of_study(lambda config, study: config["inference"]["pass_mark"]),
        confidence=config["confidence"],
        power=config["inference"]["power"]["power"],
    message:
        "Compare how judges mark own right and wrong answers in {wildcards.study}."
    script:
        "../scripts/gold_of_ratings.py"


rule recovery:
    input:
        **STUDY,
        planted="results/{study}/raw/planted.csv",
        estimates=rules.fit.output.estimates,
    output:
        **tables("recovery"),
    log:
        "results/{study}/logs/recovery.log",
    benchmark:
        "results/{study}/benchmarks/recovery.tsv"
    wildcard_constraints:
        study=rated(studies.is_simulated),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **params_of(dict, "specs"),
        code=code_of("recovery.py"),
    message:
        "Compare what was planted in {wildcards.study} with what the specs recover."
    script:
        "../scripts/recovery.py"


# Not part of a study's targets, since it refits every spec on raw rows, slowly. Ask for it by its path.
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
        **params_of(dict, "specs"),
        code=code_of("crosscheck.py"),
        confidence=config["confidence"],
    message:
        "Refit every spec of {wildcards.study} by statsmodels and pygam on raw rows and compare."
    script:
        "../scripts/crosscheck.py"


rule estimands:
    input:
        **STUDY,
    output:
        **tables("idiosyncrasy", "pooled", "residuals", "identifiability", "wordings"),
    log:
        "results/{study}/logs/estimands.log",
    benchmark:
        "results/{study}/benchmarks/estimands.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **inference("idiosyncrasy", "identifiability"),
        confidence=config["confidence"],
        code=code_of("estimands.py"),
        asked=of_study(lambda config, study: studies.conclusions_params(config)),
    message:
        "Compare the biases of {wildcards.study} with ordinary preference, and list the cells that identify them."
    script:
        "../scripts/estimands.py"


# One job: each table takes a pass over the rows, and starting costs as much.
rule sensitivity:
    input:
        **STUDY,
        **HUMANS,
    output:
        **tables("reliability", "measurement_error", "reliability_curve", "breakdowns", "sensitivity"),
    log:
        "results/{study}/logs/sensitivity.log",
    benchmark:
        "results/{study}/benchmarks/sensitivity.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **inference("measurement_error", "sensitivity", keys=["raters", "without_human_scores"]),
        code=code_of("sensitivity.py"),
        confidence=config["confidence"],
    message:
        "Tabulate what measurement error and omitted variables could do to the biases of {wildcards.study}."
    script:
        "../scripts/sensitivity.py"


rule leaderboard:
    input:
        **STUDY,
        estimates=estimates_of_specs(studies.specs_of_leaderboard),
        idiosyncrasy=rules.estimands.output.idiosyncrasy,
        reliability=rules.sensitivity.output.reliability,
    output:
        **tables("leaderboard", "judgments", "ppi", "power"),
        debiased="results/{study}/debiased.parquet",
    log:
        "results/{study}/logs/leaderboard.log",
    benchmark:
        "results/{study}/benchmarks/leaderboard.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **inference("leaderboard", keys=["debias", "replicates", "ppi", "power", "without_human_scores"], also=["main"]),
        **SAMPLING,
        code=code_of("leaderboard.py"),
    message:
        "Rank the models of {wildcards.study} without the biases, and compute PPI and power."
    script:
        "../scripts/leaderboard.py"


rule panel:
    input:
        **STUDY,
        reliability=rules.sensitivity.output.reliability,
        verdicts="results/{study}/tables/verdicts.csv",
    output:
        **tables("panel", "round_robin"),
    log:
        "results/{study}/logs/panel.log",
    benchmark:
        "results/{study}/benchmarks/panel.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        code=code_of("panel.py"),
        settings=of_study(lambda config, study: config["inference"]["panel"]),
        confidence=config["confidence"],
    message:
        "Say which judges of {wildcards.study} to combine."
    script:
        "../scripts/panel.py"


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
        code=code_of("round_robin_plan.py"),
        seed=config["seed"],
    message:
        "Deal the answers of {wildcards.study} to judges outside their families."
    script:
        "../scripts/round_robin_plan.py"


rule conclusions:
    input:
        **tables(*studies.tables_of_checks(config)),
        estimates=estimates_of_specs(studies.specs_of_checks),
        not_estimable=rules.fit.output.not_estimable,
        completeness="results/{study}/tables/completeness.csv",
        correlations=rules.describe.output.correlations,
        wordings="results/{study}/tables/wordings.csv",
    output:
        **tables("conclusions", "verdicts"),
    log:
        "results/{study}/logs/conclusions.log",
    benchmark:
        "results/{study}/benchmarks/conclusions.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        **params_of(studies.conclusions_params, "checks", "specs", "confidence", "power"),
        code=code_of("conclusions.py"),
        instead=of_study(lambda config, study: config["inference"]["without_human_scores"]),
        order=of_study(studies.order_of),  # as in the figures
        verdict=of_study(lambda config, study: config["inference"]["verdict"]),
    message:
        "Say which conclusions of {wildcards.study} hold in the robustness checks, and the verdict on each judge."
    script:
        "../scripts/conclusions.py"
