# From published files, a simulation or a user's files, imported if necessary, to ratings and cells.

from recuse.collect.inputs import ledger_found
from recuse.collect.ledger import SEEN
from recuse.papers.values import FILES

PUBLISHED = [f"{DATA}/{name}" for name in FILES.values()]
# Settings for checking the ratings of a study.
OF_RATINGS = {
    "scales": setting("scales"),
    "task_types": setting("task_types"),
    "models": of_study(Study.models),
    "trusted": setting("trusted"),
}


wildcard_constraints:
    part=r"[1-9]\d*",
    shard=r"\d+",
    shards=r"\d+",


# The mirror comes from the environment or snakemake.config, not from a param: another mirror reruns
# nothing.
rule fetch:
    output:
        raw=["results/{study}/raw/{dimension}.csv"],
    log:
        "results/{study}/logs/fetch_{dimension}.log",
    wildcard_constraints:
        study=rated(Study.source, unless(Study.is_released)),
        dimension=only(
            {name for source in SETTINGS.sources.values() for name in source.files or {}}
        ),
    retries: 0
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    params:
        contents=contents("fetch.py"),
        source=of_study(Study.repository),
        files=of_study(Study.published_files, "dimension"),
    message:
        "Fetch {wildcards.dimension} of {wildcards.study} and verify its git blob id."
    script:
        "../scripts/fetch.py"


for study in studies_that(Study.has_manifest):

    rule:
        name:
            f"fetch_{study}"
        output:
            raw=answer(Study.released_files, study),
        log:
            f"results/{study}/logs/fetch.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/recuse.yaml"
        params:
            contents=contents("fetch.py"),
            source=answer(Study.repository, study),
            files=answer(Study.published_files, study),
        message:
            f"Fetch the published files of {study} and verify their git blob ids."
        script:
            "../scripts/fetch.py"


rule released_ratings:
    input:
        raw=of_study(Study.released_files),
    output:
        **tables("imported"),
        ratings="results/{study}/raw/ratings.parquet",
    log:
        "results/{study}/logs/released_ratings.log",
    benchmark:
        "results/{study}/benchmarks/released_ratings.tsv"
    wildcard_constraints:
        study=rated(Study.is_released),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        contents=contents("released_ratings.py"),
    message:
        "Read the published ratings of {wildcards.study}."
    script:
        "../scripts/released_ratings.py"


rule simulate:
    input:
        published=PUBLISHED,
    output:
        ratings="results/{study}/raw/ratings.parquet",
        raters="results/{study}/raw/raters.parquet",
        planted="results/{study}/raw/planted.csv",
    log:
        "results/{study}/logs/simulate.log",
    benchmark:
        "results/{study}/benchmarks/simulate.tsv"
    wildcard_constraints:
        study=rated(Study.is_simulated, unless(Study.shards)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        contents=contents("simulate.py", PUBLISHED, named=Study.simulator),
        simulator=of_study(Study.simulator),
        settings=setting("simulate"),
        scales=setting("scales"),
        task_types=setting("task_types"),
        families=of_study(Study.families),
        seed=SETTINGS.seed,
    message:
        "Simulate the ratings of {wildcards.study}."
    script:
        "../scripts/simulate.py"


# The ledger, to which this adds, is no output: Snakemake removes those of a job that fails.
rule collect:
    input:
        tables=of_study(Study.collect_files),
    output:
        **tables("collected"),
        answered="results/{study}/raw/collected.csv",
        seen=SEEN,
        made="results/{study}/made/collect.json",
    log:
        "results/{study}/logs/collect.log",
    wildcard_constraints:
        study=only(studies_that(Study.asks_judges)),
    retries: 0
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    params:
        contents=contents("collect.py", of_study(Study.collect_files)),
        ledger=of_study(ledger_found),
        settings=setting("collect"),
        families=setting("families"),
        seed=SETTINGS.seed,
    message:
        "Ask the judges of {wildcards.study} what its ledger has no answer to."
    script:
        "../scripts/collect.py"


rule import_ratings:
    input:
        raw=of_study(Study.imported_files),
        references=of_study(Study.reference_files),
    output:
        ratings="results/{study}/raw/ratings.parquet",
        imported="results/{study}/tables/imported.csv",
        made="results/{study}/made/import.json",
    log:
        "results/{study}/logs/import.log",
    benchmark:
        "results/{study}/benchmarks/import.tsv"
    wildcard_constraints:
        study=rated(Study.import_settings, unless(Study.has_raters)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        contents=contents(
            "import_ratings.py",
            of_study(Study.imported_files),
            of_study(Study.reference_files),
            IMPORTS,
        ),
        settings=setting("import"),
        scales=setting("scales"),
        models=of_study(Study.models),
        declared=of_study(Study.declared_files),
    message:
        "Import the ratings of {wildcards.study}."
    script:
        "../scripts/import_ratings.py"


use rule import_ratings as import_ratings_and_raters with:
    output:
        ratings="results/{study}/raw/ratings.parquet",
        raters="results/{study}/raw/raters.parquet",
        imported="results/{study}/tables/imported.csv",
        made="results/{study}/made/import.json",
    wildcard_constraints:
        study=rated(Study.import_settings, Study.has_raters),


# The raters are an input so that the import is done again where a changed setting adds them to its
# outputs.
rule ratings:
    input:
        raw=of_study(Study.raw_paths),
        raters=where(Study.imports_raters, "results/{study}/raw/raters.parquet"),
    output:
        **tables("completeness"),
        ratings="results/{study}/ratings.parquet",
        cells="results/{study}/cells.parquet",
        made="results/{study}/made/ratings.json",
    log:
        "results/{study}/logs/ratings.log",
    benchmark:
        "results/{study}/benchmarks/ratings.tsv"
    wildcard_constraints:
        study=rated(unless(Study.shards)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_rows(mem_mb=1000, runtime=20),
    params:
        **OF_RATINGS,
        counts=setting("counts"),
        contents=contents("ratings.py", of_study(Study.raw_paths)),
        dimensions=of_study(Study.raw_dimensions),
        imported=of_study(Study.is_imported),
        declared=of_study(Study.declared_files),
    message:
        "Check and normalise the ratings of {wildcards.study}, and collapse them into cells."
    script:
        "../scripts/ratings.py"


# A study of many rows is scattered over jobs and gathered: its raw files are checked by one job per
# shard, or per file if there are fewer files; then each shard, a run of prompts, takes its rows
# from all of them. These jobs are in no group: in one with the tables, which wait for the shards,
# the job would wait for itself.
use rule simulate as simulate_for_shards with:
    wildcard_constraints:
        study=rated(Study.is_simulated, Study.shards),
    group:
        "raw_{study}"


rule check_part:
    input:
        raw=of_study(Study.raw_paths, "part"),
    output:
        checked=temp("results/{study}/checked/{part}.rows.parquet"),
        summary=temp("results/{study}/checked/{part}.summary.parquet"),
        made="results/{study}/made/check_part_{part}.json",
    log:
        "results/{study}/logs/check_part_{part}.log",
    benchmark:
        "results/{study}/benchmarks/check_part_{part}.tsv"
    wildcard_constraints:
        study=rated(Study.shards),
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=20, megabytes=of_study(Study.raw_megabytes, "part")),
    params:
        **OF_RATINGS,
        contents=contents("check_part.py", of_study(Study.raw_paths, "part")),
        dimensions=of_study(Study.raw_dimensions, "part"),
        declared=of_study(Study.declared_files),
    message:
        "Check part {wildcards.part} of the ratings of {wildcards.study}."
    script:
        "../scripts/check_part.py"


rule plan_shards:
    input:
        summaries=of_study(partial(Study.part_files, name="summary")),
    output:
        **tables("completeness"),
        plan="results/{study}/shards/plan.json",
    log:
        "results/{study}/logs/plan_shards.log",
    benchmark:
        "results/{study}/benchmarks/plan_shards.tsv"
    wildcard_constraints:
        study=rated(Study.shards),
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=2000, runtime=20),
    params:
        **OF_RATINGS,
        contents=contents("plan_shards.py"),
        number=setting("shards"),
    message:
        "Plan the shards of {wildcards.study}."
    script:
        "../scripts/plan_shards.py"


# The raw files are opened only to locate duplicate rows in them.
rule shard:
    input:
        checked=of_study(partial(Study.part_files, name="rows")),
        plan="results/{study}/shards/plan.json",
        raw=of_study(Study.raw_paths_of_shard, "shard", "shards"),
    output:
        ratings="results/{study}/shards/{shard}-of-{shards}/ratings.parquet",
        counts="results/{study}/shards/{shard}-of-{shards}/counts.parquet",
    log:
        "results/{study}/logs/shard_{shard}-of-{shards}.log",
    benchmark:
        "results/{study}/benchmarks/shard_{shard}-of-{shards}.tsv"
    wildcard_constraints:
        study=rated(Study.shards),
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=20, megabytes=of_study(Study.shard_megabytes)),
    params:
        **OF_RATINGS,
        contents=contents("shard.py", of_study(Study.raw_paths_of_shard, "shard", "shards")),
        dimensions=of_study(Study.raw_dimensions),
    message:
        "Normalise shard {wildcards.shard} of {wildcards.shards} of the ratings of {wildcards.study}."
    script:
        "../scripts/shard.py"


rule gather_cells:
    input:
        counts=of_study(partial(Study.shard_files, name="counts.parquet")),
    output:
        cells="results/{study}/cells.parquet",
    log:
        "results/{study}/logs/gather_cells.log",
    benchmark:
        "results/{study}/benchmarks/gather_cells.tsv"
    wildcard_constraints:
        study=rated(Study.shards),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=10),
    params:
        contents=contents("gather_cells.py"),
    message:
        "Add up the shards of {wildcards.study} as cells."
    script:
        "../scripts/gather_cells.py"
