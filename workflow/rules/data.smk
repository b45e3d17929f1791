# From published files, a simulation or a user's own files to ratings, and from ratings to cells.


PUBLISHED = (
    "play_favorites_estimates",
    "play_favorites_mean_scores",
    "play_favorites_correlations",
    "play_favorites_agreement",
    "twin_facts",
)


# Where the mirror is comes from the environment or snakemake.config, not from a param: another mirror reruns nothing.
rule fetch:
    input:
        code=code_of("fetch.py"),
    output:
        raw="results/{study}/raw/{dimension}.csv",
    log:
        "results/{study}/logs/fetch_{dimension}.log",
    wildcard_constraints:
        study=studies_with("source"),
        dimension=one_of({name for source in config.get("sources", {}).values() for name in source.get("files", {})}),
    retries: 0
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    params:
        file=published_file,
    message:
        "Fetch {wildcards.dimension} of {wildcards.study} and verify its git blob id."
    script:
        "../scripts/fetch.py"


rule simulate:
    input:
        published=expand(f"{DATA}/{{table}}.csv", table=PUBLISHED),
        code=code_of("simulate.py"),
    output:
        ratings="results/{study}/raw/ratings.parquet",
        raters="results/{study}/raw/raters.parquet",
        planted="results/{study}/raw/planted.csv",
    log:
        "results/{study}/logs/simulate.log",
    benchmark:
        "results/{study}/benchmarks/simulate.tsv"
    wildcard_constraints:
        study=studies_with("simulate", without="shards"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        settings=lookup("studies/{study}/simulate", within=config),
        scales=lookup("studies/{study}/scales", within=config),
        task_types=lookup("studies/{study}/task_types", within=config, default={}),
        families=lambda wildcards: {name: model["family"] for name, model in models_of(wildcards.study).items()},
        seed=lookup("seed", within=config),
    message:
        "Simulate the ratings of {wildcards.study}."
    script:
        "../scripts/simulate.py"


# What config says of the ratings of a study, to whatever checks them.
OF_RATINGS = {
    "scales": lambda wildcards: scales_in_steps(config["studies"][wildcards.study]["scales"], import_of(wildcards.study)),
    "task_types": lookup("studies/{study}/task_types", within=config, default={}),
    "models": lambda wildcards: models_of(wildcards.study),
}


rule ratings:
    input:
        raw=lambda wildcards: [path for path, _ in raw_of(wildcards.study)],
        code=code_of("ratings.py"),
    output:
        ratings="results/{study}/ratings.parquet",
        completeness="results/{study}/tables/completeness.csv",
    log:
        "results/{study}/logs/ratings.log",
    benchmark:
        "results/{study}/benchmarks/ratings.tsv"
    wildcard_constraints:
        study=studies_with(without="shards"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        **OF_RATINGS,
        dimensions=lambda wildcards: [dimension for _, dimension in raw_of(wildcards.study)],
    message:
        "Check and normalise the ratings of {wildcards.study}."
    script:
        "../scripts/ratings.py"


rule cells:
    input:
        ratings="results/{study}/ratings.parquet",
        code=code_of("cells.py"),
    output:
        cells="results/{study}/cells.parquet",
    log:
        "results/{study}/logs/cells.log",
    benchmark:
        "results/{study}/benchmarks/cells.tsv"
    wildcard_constraints:
        study=studies_with(without="shards"),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    message:
        "Collapse the ratings of {wildcards.study} into cells."
    script:
        "../scripts/cells.py"
