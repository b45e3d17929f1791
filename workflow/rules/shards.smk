# A study of many rows, scattered over jobs and gathered: its raw files are checked by as many jobs as it has shards, or by one for
# each file if there are fewer; then each shard, a run of prompts, takes its rows from all of them. Jobs of their own on a
# cluster, therefore in no group; what comes after is as of any other study.


SHARDED = studies_with("shards")


wildcard_constraints:
    part=r"[1-9]\d*",
    shard=r"\d+",
    shards=r"\d+",


# A job of its own, too: with the tables, which wait for the shards, it would be a job that waits for itself.
use rule simulate as simulate_for_shards with:
    wildcard_constraints:
        study=studies_with("simulate", "shards"),
    group:
        "raw_{study}"


rule check_part:
    input:
        raw=lambda wildcards: [path for path, _ in of_check(wildcards)],
        code=code_of("check_part.py"),
    output:
        checked=temp("results/{study}/checked/{part}.rows.parquet"),
        summary=temp("results/{study}/checked/{part}.summary.parquet"),
    log:
        "results/{study}/logs/check_part_{part}.log",
    benchmark:
        "results/{study}/benchmarks/check_part_{part}.tsv"
    wildcard_constraints:
        study=SHARDED,
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(
            mem_mb=1000, runtime=20, megabytes=lambda wildcards: megabytes_of([path for path, _ in of_check(wildcards)])
        ),
    params:
        **OF_RATINGS,
        dimensions=lambda wildcards: [dimension for _, dimension in of_check(wildcards)],
    message:
        "Check part {wildcards.part} of the ratings of {wildcards.study}."
    script:
        "../scripts/check_part.py"


rule plan_shards:
    input:
        summaries=checked_files("summary"),
        code=code_of("plan_shards.py"),
    output:
        plan="results/{study}/shards/plan.json",
        completeness="results/{study}/tables/completeness.csv",
    log:
        "results/{study}/logs/plan_shards.log",
    benchmark:
        "results/{study}/benchmarks/plan_shards.tsv"
    wildcard_constraints:
        study=SHARDED,
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=2000, runtime=20),
    params:
        **OF_RATINGS,
        shards=lookup("studies/{study}/shards", within=config),
    message:
        "Plan the shards of {wildcards.study}."
    script:
        "../scripts/plan_shards.py"


# The raw files are opened only to say where a row stands that stands twice.
rule shard:
    input:
        checked=checked_files("rows"),
        plan="results/{study}/shards/plan.json",
        raw=raw_of_shard,
        code=code_of("shard.py"),
    output:
        ratings="results/{study}/shards/{shard}-of-{shards}/ratings.parquet",
        counts="results/{study}/shards/{shard}-of-{shards}/counts.parquet",
    log:
        "results/{study}/logs/shard_{shard}-of-{shards}.log",
    benchmark:
        "results/{study}/benchmarks/shard_{shard}-of-{shards}.tsv"
    wildcard_constraints:
        study=SHARDED,
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(
            mem_mb=1000,
            runtime=20,
            megabytes=lambda wildcards: raw_megabytes(wildcards.study) / len(shards_of(wildcards.study)),
        ),
    params:
        **OF_RATINGS,
        dimensions=lambda wildcards: [dimension for _, dimension in raw_of(wildcards.study)],
    message:
        "Normalise shard {wildcards.shard} of {wildcards.shards} of the ratings of {wildcards.study}."
    script:
        "../scripts/shard.py"


rule gather_cells:
    input:
        counts=of_every_shard("counts.parquet"),
        code=code_of("gather_cells.py"),
    output:
        cells="results/{study}/cells.parquet",
    log:
        "results/{study}/logs/gather_cells.log",
    benchmark:
        "results/{study}/benchmarks/gather_cells.tsv"
    wildcard_constraints:
        study=SHARDED,
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    message:
        "Add up the shards of {wildcards.study} as cells."
    script:
        "../scripts/gather_cells.py"
