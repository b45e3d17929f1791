# From files of verdicts on pairs of answers, imported if necessary, or a simulation, to tables of
# biases.
from recuse.catalogue.tables import from_source, table_paths, tables_of_analyses

ATTACKS = f"{DATA}/judgement_bias_published.csv"  # the tables of Chen et al.


rule simulate_comparisons:
    input:
        published=where(Study.plants_published_attacks, ATTACKS),
    output:
        comparisons="results/{study}/raw/comparisons.parquet",
        planted="results/{study}/raw/planted.csv",
    log:
        "results/{study}/logs/simulate_comparisons.log",
    benchmark:
        "results/{study}/benchmarks/simulate_comparisons.tsv"
    wildcard_constraints:
        study=compared(Study.is_simulated),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        contents=contents(
            "simulate_comparisons.py",
            where(Study.plants_published_attacks, ATTACKS),
            named=Study.simulator,
        ),
        simulator=of_study(Study.simulator),
        settings=setting("simulate"),
        worsening=setting("worsening"),
        seed=SETTINGS.seed,
    message:
        "Simulate the verdicts of {wildcards.study}."
    script:
        "../scripts/simulate_comparisons.py"


rule import_verdicts:
    input:
        raw=of_study(Study.imported_files),
        references=of_study(Study.reference_files),
    output:
        **tables("imported"),
        verdicts="results/{study}/raw/verdicts.parquet",
        made="results/{study}/made/import.json",
    log:
        "results/{study}/logs/import.log",
    benchmark:
        "results/{study}/benchmarks/import.tsv"
    wildcard_constraints:
        study=compared(Study.import_settings),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents(
            "import_verdicts.py",
            of_study(Study.imported_files),
            of_study(Study.reference_files),
            IMPORTS,
        ),
        settings=setting("import"),
        models=of_study(Study.models),
        declared=of_study(Study.declared_files),
    message:
        "Import the verdicts of {wildcards.study}."
    script:
        "../scripts/import_verdicts.py"


rule comparisons:
    input:
        raw=of_study(Study.verdict_files),
    output:
        **tables("completeness"),
        comparisons="results/{study}/comparisons.parquet",
        made="results/{study}/made/comparisons.json",
    log:
        "results/{study}/logs/comparisons.log",
    benchmark:
        "results/{study}/benchmarks/comparisons.tsv"
    wildcard_constraints:
        study=compared(Study.analyses),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents(
            "comparisons.py", of_study(Study.verdict_files), named=Study.verdict_reader
        ),
        reader=of_study(Study.verdict_reader),
        both_orders=setting("both_orders"),
        declared=of_study(Study.declared_files),
        models=of_study(Study.models),
    message:
        "Check the verdicts of {wildcards.study}."
    script:
        "../scripts/comparisons.py"


# One job for all analyses of a study: starting costs as much as most of them. A rule for each set
# of analyses that a study has.
for kinds in sorted({tuple(answer(Study.analyses, name)) for name in STUDIES} - {()}):

    rule:
        name:
            f"analyses_{'_'.join(kinds)}"
        input:
            comparisons="results/{study}/comparisons.parquet",
        output:
            **tables(*tables_of_analyses(kinds)),
        log:
            "results/{study}/logs/analyses.log",
        benchmark:
            "results/{study}/benchmarks/analyses.tsv"
        wildcard_constraints:
            study=only(name for name in STUDIES if answer(Study.analyses, name) == [*kinds]),
        group:
            "tables_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks_by_rows(mem_mb=1000, runtime=30),
        params:
            **SAMPLING,
            contents=contents("analyses.py", FINDINGS),
            analyses=[*kinds],
            families=of_study(Study.families),
            pools=setting("pools"),
            worsening=setting("worsening"),
            power=SETTINGS.inference.power.power,
        message:
            f"Tabulate {', '.join(kinds)} of {{wildcards.study}}."
        script:
            "../scripts/analyses.py"


# CoBBLEr publishes rankings and shares made from verdicts, not the verdicts.
rule released_rankings:
    input:
        raw=of_study(Study.released_files),
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


# The published texts and tables of Chen et al.
rule published_attacks:
    input:
        raw=of_study(Study.released_files),
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
        unpack(of_study(partial(table_paths, read_by="recovery"))),
        planted="results/{study}/raw/planted.csv",
    output:
        **tables("recovery"),
    log:
        "results/{study}/logs/recovery_of_comparisons.log",
    wildcard_constraints:
        study=compared(Study.is_simulated),
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
