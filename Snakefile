# judge-bias: does an LLM judge favour its own answers? The way of the data:
#   raw -> ratings -> cells -> estimates, tables -> figures        (one folder per study under results/)


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/paths.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/fits.smk"
include: "workflow/rules/figures.smk"


# `snakemake --cores N` builds the studies that config names under `build`.
rule all:
    default_target: True
    input:
        [everything_of(study) for study in config["build"]],


# `snakemake --cores N <study>` builds that study.
for study in config["studies"]:

    rule:
        name:
            study
        input:
            everything_of(study),
