# From files of verdicts on pairs of answers, or a simulation of them, to tables of biases.


for study in (study for study in COMPARISONS if source_of(study)):

    rule:
        name:
            f"fetch_{study}"
        input:
            code=code_of("fetch_files.py"),
        output:
            raw=released_files(study),
        log:
            f"results/{study}/logs/fetch.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/recuse.yaml"
        params:
            source={key: config["sources"][source_of(study)][key] for key in ("repository", "commit")},
            files=manifest_of(source_of(study)),
            folder=lambda wildcards, study=study: f"results/{study}/raw",
        message:
            f"Fetch the published files of {study} and verify their git blob ids."
        script:
            "../scripts/fetch_files.py"


rule simulate_comparisons:
    input:
        published=lambda wildcards: published_attacks(wildcards, needed="votes" in COMPARISONS[wildcards.study]["simulate"]),
        code=code_of("simulate_comparisons.py"),
    output:
        comparisons="results/{study}/raw/comparisons.parquet",
        planted="results/{study}/raw/planted.csv",
    log:
        "results/{study}/logs/simulate_comparisons.log",
    benchmark:
        "results/{study}/benchmarks/simulate_comparisons.tsv"
    wildcard_constraints:
        study=one_of(study for study, settings in COMPARISONS.items() if "simulate" in settings),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        settings=lookup("comparisons/{study}/simulate", within=config),
        worsening=lookup("comparisons/{study}/worsening", within=config, default=list(WORSENING)),
        seed=lookup("seed", within=config),
    message:
        "Simulate the verdicts of {wildcards.study}."
    script:
        "../scripts/simulate_comparisons.py"


rule comparisons:
    input:
        raw=lambda wildcards: verdict_files(wildcards.study),
        code=code_of("comparisons.py"),
    output:
        comparisons="results/{study}/comparisons.parquet",
        completeness="results/{study}/tables/completeness.csv",
    log:
        "results/{study}/logs/comparisons.log",
    benchmark:
        "results/{study}/benchmarks/comparisons.tsv"
    wildcard_constraints:
        study=one_of(study for study, settings in COMPARISONS.items() if origin_of_verdicts(settings)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        format=lambda wildcards: (
            "table" if origin_of_verdicts(COMPARISONS[wildcards.study]) != "source" else source_of(wildcards.study)
        ),
        both_orders=lookup("comparisons/{study}/both_orders", within=config, default=True),
    message:
        "Check the verdicts of {wildcards.study}."
    script:
        "../scripts/comparisons.py"


# One job for all that is told from verdicts and human labels.
rule verbosity:
    input:
        comparisons="results/{study}/comparisons.parquet",
        code=code_of("verbosity.py"),
    output:
        verbosity="results/{study}/tables/verbosity.csv",
        position="results/{study}/tables/position.csv",
        agreement="results/{study}/tables/agreement.csv",
        score_curves="results/{study}/tables/score_curves.csv",
        alignment_curves="results/{study}/tables/alignment_curves.csv",
    log:
        "results/{study}/logs/verbosity.log",
    benchmark:
        "results/{study}/benchmarks/verbosity.tsv"
    wildcard_constraints:
        study=comparisons_with("verbosity"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        pools=lookup("comparisons/{study}/pools", within=config, default={}),
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Measure verbosity bias, position and human agreement in {wildcards.study}."
    script:
        "../scripts/verbosity.py"


rule cognitive_biases:
    input:
        comparisons="results/{study}/comparisons.parquet",
        code=code_of("cognitive_biases.py"),
    output:
        cognitive_biases="results/{study}/tables/cognitive_biases.csv",
        random_thresholds="results/{study}/tables/random_thresholds.csv",
    log:
        "results/{study}/logs/cognitive_biases.log",
    benchmark:
        "results/{study}/benchmarks/cognitive_biases.tsv"
    wildcard_constraints:
        study=comparisons_with("cognitive_biases"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Count the cognitive biases in {wildcards.study}."
    script:
        "../scripts/cognitive_biases.py"


# The published files of CoBBLEr: what was made of verdicts, not the verdicts.
rule released_rankings:
    input:
        raw=lambda wildcards: released_files(wildcards.study),
        code=code_of("cobbler.py"),
    output:
        cognitive_biases="results/{study}/tables/cognitive_biases.csv",
        random_thresholds="results/{study}/tables/random_thresholds.csv",
        rbo="results/{study}/tables/rbo.csv",
        valid_rates="results/{study}/tables/valid_rates.csv",
    log:
        "results/{study}/logs/released_rankings.log",
    benchmark:
        "results/{study}/benchmarks/released_rankings.tsv"
    wildcard_constraints:
        study=comparisons_from("cobbler"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=10),
    params:
        folder="results/{study}/raw",
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Compare the published rankings of {wildcards.study}."
    script:
        "../scripts/cobbler.py"


rule attacks:
    input:
        comparisons="results/{study}/comparisons.parquet",
        code=code_of("attacks.py"),
    output:
        asr="results/{study}/tables/asr.csv",
        ranks="results/{study}/tables/ranks.csv",
        votes_by_position="results/{study}/tables/votes_by_position.csv",
        length_curve="results/{study}/tables/length_curve.csv",
        vote_shares="results/{study}/tables/vote_shares.csv",
    log:
        "results/{study}/logs/attacks.log",
    benchmark:
        "results/{study}/benchmarks/attacks.tsv"
    wildcard_constraints:
        study=comparisons_with("attacks"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        worsening=lookup("comparisons/{study}/worsening", within=config, default=list(WORSENING)),
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Count the attacks that succeed in {wildcards.study}."
    script:
        "../scripts/attacks.py"


rule text_lengths:
    input:
        raw=lambda wildcards: released_files(wildcards.study),
        code=code_of("text_lengths.py"),
    output:
        length_confound="results/{study}/tables/length_confound.csv",
    log:
        "results/{study}/logs/text_lengths.log",
    wildcard_constraints:
        study=comparisons_from("judgement_bias"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        folder="results/{study}/raw",
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Measure how each perturbation changes the lengths of the texts of {wildcards.study}."
    script:
        "../scripts/text_lengths.py"


rule published_ranks:
    input:
        published=f"{DATA}/judgement_bias_published.csv",
        code=code_of("published_ranks.py"),
    output:
        published_ranks="results/{study}/tables/published_ranks.csv",
    log:
        "results/{study}/logs/published_ranks.log",
    wildcard_constraints:
        study=comparisons_from("judgement_bias"),
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    message:
        "Rank the published attack success rates again."
    script:
        "../scripts/published_ranks.py"


rule recovery_of_comparisons:
    input:
        unpack(recovered_tables),
        planted="results/{study}/raw/planted.csv",
        code=code_of("recovery_of_comparisons.py"),
    output:
        recovery="results/{study}/tables/recovery.csv",
    log:
        "results/{study}/logs/recovery_of_comparisons.log",
    wildcard_constraints:
        study=one_of(study for study, settings in COMPARISONS.items() if "simulate" in settings),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    message:
        "Compare the estimates of {wildcards.study} with what was planted."
    script:
        "../scripts/recovery_of_comparisons.py"
