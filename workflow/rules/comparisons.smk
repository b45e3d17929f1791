# From files of verdicts on pairs of answers, imported if necessary, or a simulation, to tables of biases.
from recuse.catalogue.tables import from_source, tables_of, with_analysis
from recuse.base.tables import WORSENING

ATTACKS = f"{DATA}/judgement_bias_published.csv"  # the tables of Chen et al.


rule simulate_comparisons:
    input:
        published=where(studies.plants_published_attacks, ATTACKS),
    output:
        comparisons="results/{study}/raw/comparisons.parquet",
        planted="results/{study}/raw/planted.csv",
    log:
        "results/{study}/logs/simulate_comparisons.log",
    benchmark:
        "results/{study}/benchmarks/simulate_comparisons.tsv"
    wildcard_constraints:
        study=compared(studies.is_simulated),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        contents=contents("simulate_comparisons.py", where(studies.plants_published_attacks, ATTACKS), named=studies.simulator),
        simulator=of_study(studies.simulator),
        settings=setting("simulate"),
        worsening=setting("worsening", list(WORSENING)),
        seed=config["seed"],
    message:
        "Simulate the verdicts of {wildcards.study}."
    script:
        "../scripts/simulate_comparisons.py"


rule import_verdicts:
    input:
        raw=of_study(studies.imported_files),
        references=of_study(studies.reference_files),
    output:
        **tables("imported"),
        verdicts="results/{study}/raw/verdicts.parquet",
        made="results/{study}/made/import.json",
    log:
        "results/{study}/logs/import.log",
    benchmark:
        "results/{study}/benchmarks/import.tsv"
    wildcard_constraints:
        study=compared(studies.import_of),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("import_verdicts.py", of_study(studies.imported_files), of_study(studies.reference_files)),
        settings=setting("import"),
        models=of_study(studies.models_of),
        declared=of_study(studies.declared_of),
    message:
        "Import the verdicts of {wildcards.study}."
    script:
        "../scripts/import_verdicts.py"


rule comparisons:
    input:
        raw=of_study(studies.verdict_files),
    output:
        **tables("completeness"),
        comparisons="results/{study}/comparisons.parquet",
        made="results/{study}/made/comparisons.json",
    log:
        "results/{study}/logs/comparisons.log",
    benchmark:
        "results/{study}/benchmarks/comparisons.tsv"
    wildcard_constraints:
        study=compared(studies.analyses),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("comparisons.py", of_study(studies.verdict_files), named=studies.verdict_reader),
        reader=of_study(studies.verdict_reader),
        both_orders=setting("both_orders", True),
        declared=of_study(studies.declared_of),
        models=of_study(studies.models_of),
    message:
        "Check the verdicts of {wildcards.study}."
    script:
        "../scripts/comparisons.py"


# One job for all tables of verdicts and human labels.
rule verbosity:
    input:
        comparisons="results/{study}/comparisons.parquet",
    output:
        **tables("verbosity", "position", "agreement", "score_curves", "alignment_curves"),
    log:
        "results/{study}/logs/verbosity.log",
    benchmark:
        "results/{study}/benchmarks/verbosity.tsv"
    wildcard_constraints:
        study=compared(with_analysis("verbosity")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("verbosity.py"),
        pools=setting("pools", {}),
    message:
        "Measure verbosity bias, position and human agreement in {wildcards.study}."
    script:
        "../scripts/verbosity.py"


rule choices:
    input:
        comparisons="results/{study}/comparisons.parquet",
        regression=where(with_analysis("regression"), "results/{study}/tables/regression.csv"),
    output:
        **tables("choices", "label_noise", "verdicts", "check"),
    log:
        "results/{study}/logs/choices.log",
    benchmark:
        "results/{study}/benchmarks/choices.tsv"
    wildcard_constraints:
        study=compared(with_analysis("verbosity", "regression")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("choices.py"),
        families=of_study(studies.families_of),
        power=config["inference"]["power"]["power"],
    message:
        "Compare the choices of judges and people in {wildcards.study}."
    script:
        "../scripts/choices.py"


rule gold:
    input:
        comparisons="results/{study}/comparisons.parquet",
    output:
        **tables("gold"),
    log:
        "results/{study}/logs/gold.log",
    benchmark:
        "results/{study}/benchmarks/gold.tsv"
    wildcard_constraints:
        study=compared(with_analysis("gold")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents("gold.py"),
        families=of_study(studies.families_of),
        confidence=config["confidence"],
        power=config["inference"]["power"]["power"],
    message:
        "Compare preferences for own right and wrong answers in {wildcards.study}."
    script:
        "../scripts/gold.py"


rule regression:
    input:
        comparisons="results/{study}/comparisons.parquet",
    output:
        **tables("regression", "strengths"),
    log:
        "results/{study}/logs/regression.log",
    benchmark:
        "results/{study}/benchmarks/regression.tsv"
    wildcard_constraints:
        study=compared(with_analysis("regression")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("regression.py"),
        families=of_study(studies.families_of),
    message:
        "Regress the verdicts of {wildcards.study} on strengths, own answers and places."
    script:
        "../scripts/regression.py"


rule cognitive_biases:
    input:
        comparisons="results/{study}/comparisons.parquet",
    output:
        **tables("cognitive_biases"),
    log:
        "results/{study}/logs/cognitive_biases.log",
    benchmark:
        "results/{study}/benchmarks/cognitive_biases.tsv"
    wildcard_constraints:
        study=compared(with_analysis("cognitive_biases")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("cognitive_biases.py"),
    message:
        "Count the cognitive biases in {wildcards.study}."
    script:
        "../scripts/cognitive_biases.py"


# CoBBLEr publishes rankings and shares made from verdicts, not the verdicts.
rule released_rankings:
    input:
        raw=of_study(studies.released_files),
    output:
        **tables("cognitive_biases", "rbo", "valid_rates"),
    log:
        "results/{study}/logs/released_rankings.log",
    benchmark:
        "results/{study}/benchmarks/released_rankings.tsv"
    wildcard_constraints:
        study=compared(from_source("cobbler")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=10),
    params:
        **SAMPLING,
        contents=contents("cobbler.py"),
        folder="results/{study}/raw",
    message:
        "Compare the published rankings of {wildcards.study}."
    script:
        "../scripts/cobbler.py"


rule attacks:
    input:
        comparisons="results/{study}/comparisons.parquet",
    output:
        **tables("asr", "ranks", "votes_by_position", "length_curve", "vote_shares"),
    log:
        "results/{study}/logs/attacks.log",
    benchmark:
        "results/{study}/benchmarks/attacks.tsv"
    wildcard_constraints:
        study=compared(with_analysis("attacks")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **SAMPLING,
        contents=contents("attacks.py"),
        worsening=setting("worsening", list(WORSENING)),
    message:
        "Count the attacks that succeed in {wildcards.study}."
    script:
        "../scripts/attacks.py"


# The published texts and tables of Chen et al.
rule published_attacks:
    input:
        raw=of_study(studies.released_files),
        published=ATTACKS,
    output:
        **tables("length_confound", "published_ranks"),
    log:
        "results/{study}/logs/published_attacks.log",
    wildcard_constraints:
        study=compared(from_source("judgement_bias")),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        **SAMPLING,
        contents=contents("published_attacks.py", [ATTACKS]),
        folder="results/{study}/raw",
    message:
        "Measure lengths in the published texts of {wildcards.study}, and rank the published success rates again."
    script:
        "../scripts/published_attacks.py"


rule recovery_of_comparisons:
    input:
        unpack(of_study(partial(tables_of, read_by="recovery"))),
        planted="results/{study}/raw/planted.csv",
    output:
        **tables("recovery"),
    log:
        "results/{study}/logs/recovery_of_comparisons.log",
    wildcard_constraints:
        study=compared(studies.is_simulated),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=contents("recovery_of_comparisons.py"),
    message:
        "Compare the estimates of {wildcards.study} with what was planted."
    script:
        "../scripts/recovery_of_comparisons.py"
