# From judgments in the format of another tool, or in columns of other names, to the raw files of a study.


rule import_ratings:
    input:
        raw=lambda wildcards: imported_files(wildcards.study),
        references=lambda wildcards: reference_files(wildcards.study),
        code=code_of("import_ratings.py"),
    output:
        ratings="results/{study}/raw/ratings.parquet",
        imported="results/{study}/tables/imported.csv",
    log:
        "results/{study}/logs/import.log",
    benchmark:
        "results/{study}/benchmarks/import.tsv"
    wildcard_constraints:
        study=one_of(study for study in config["studies"] if is_imported(study) and not has_raters(study)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        settings=lookup("studies/{study}/import", within=config),
        scales=lookup("studies/{study}/scales", within=config),
        models=lambda wildcards: models_of(wildcards.study),
    message:
        "Import the ratings of {wildcards.study}."
    script:
        "../scripts/import_ratings.py"


use rule import_ratings as import_ratings_and_raters with:
    output:
        ratings="results/{study}/raw/ratings.parquet",
        raters="results/{study}/raw/raters.parquet",
        imported="results/{study}/tables/imported.csv",
    wildcard_constraints:
        study=one_of(study for study in config["studies"] if is_imported(study) and has_raters(study)),


rule import_verdicts:
    input:
        raw=lambda wildcards: imported_files(wildcards.study),
        references=lambda wildcards: reference_files(wildcards.study),
        code=code_of("import_verdicts.py"),
    output:
        verdicts="results/{study}/raw/verdicts.parquet",
        imported="results/{study}/tables/imported.csv",
    log:
        "results/{study}/logs/import.log",
    benchmark:
        "results/{study}/benchmarks/import.tsv"
    wildcard_constraints:
        study=one_of(filter(is_imported, COMPARISONS)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        settings=lookup("comparisons/{study}/import", within=config),
    message:
        "Import the verdicts of {wildcards.study}."
    script:
        "../scripts/import_verdicts.py"
