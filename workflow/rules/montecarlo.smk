# Estimators and tests on the simulated worlds of montecarlo.yaml: `snakemake montecarlo`. One job
# per world of a grid.
from recuse.validation.settings import montecarlo_settings
from recuse.validation.estimators import (
    TABLES,
    world_dials,
    grid_estimators,
    world_titles,
    worlds_figure,
)

MONTECARLO = attempt(montecarlo_settings)
OF_MONTECARLO = [*TABLES, "worlds"]
WORLDS = [
    (grid, str(value))
    for grid, settings in MONTECARLO["grids"].items()
    for value in settings["values"]
]


rule montecarlo:
    input:
        expand("results/montecarlo/tables/{table}.csv", table=OF_MONTECARLO),
        expand("results/montecarlo/figures/worlds.{format}", format=SETTINGS.formats),


rule montecarlo_world:
    output:
        table="results/montecarlo/worlds/{grid}/{setting}.csv",
    log:
        "results/montecarlo/logs/{grid}_{setting}.log",
    benchmark:
        "results/montecarlo/benchmarks/{grid}_{setting}.tsv"
    wildcard_constraints:
        grid=only(MONTECARLO["grids"]),
        setting=only(sorted({setting for _, setting in WORLDS})),
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=1000, runtime=60),
    params:
        **SAMPLING,
        contents=contents("montecarlo_world.py"),
        dial=lambda wildcards: MONTECARLO["grids"][wildcards.grid]["dial"],
        world=lambda wildcards: world_dials(MONTECARLO, wildcards.grid, wildcards.setting),
        estimators=lambda wildcards: grid_estimators(MONTECARLO, wildcards.grid),
        replicates=MONTECARLO["replicates"],
        draws=MONTECARLO["draws"],
    message:
        "Try the estimators on worlds with {wildcards.grid} at {wildcards.setting}."
    script:
        "../scripts/montecarlo_world.py"


rule montecarlo_tables:
    input:
        results=[f"results/montecarlo/worlds/{grid}/{setting}.csv" for grid, setting in WORLDS],
    output:
        **{table: f"results/montecarlo/tables/{table}.csv" for table in OF_MONTECARLO},
    log:
        "results/montecarlo/logs/montecarlo_tables.log",
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    params:
        contents=contents("montecarlo_tables.py"),
        titles=world_titles(MONTECARLO),
    message:
        "Tabulate size, power, bias and coverage of the estimators."
    script:
        "../scripts/montecarlo_tables.py"


rule montecarlo_figure:
    input:
        table="results/montecarlo/tables/worlds.csv",
    output:
        pictures=drawn("worlds", "montecarlo", "Verdicts on simulated worlds", study="montecarlo"),
    log:
        "results/montecarlo/logs/figure_worlds.log",
    benchmark:
        "results/montecarlo/benchmarks/figure_worlds.tsv"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=checked_contents(code_files("figure.py", "recuse.validation.figure"), FIGURE_WORDS),
        figures=worlds_figure(MONTECARLO, SETTINGS.confidence),
    message:
        "Draw how often each verdict is given on simulated worlds."
    script:
        "../scripts/figure.py"
