# recuse: does an LLM judge favour its own answers? The flow of data:
#   raw -> ratings -> cells -> estimates, tables -> figures        (one folder per study under results/)

import atexit
from pathlib import Path


# The project's own config.yaml, then that of the working directory if it is another, then `--configfile`.
configfile: f"{workflow.basedir}/config.yaml"


if Path("config.yaml").exists():

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/estimates.smk"
include: "workflow/rules/comparisons.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/montecarlo.smk"


# A run ends by printing the paths of its reports; what is registered last is printed first.
onsuccess:
    pages = {job.wildcards.study: job.output.page for job in workflow.dag.jobs if job.rule.name == "page"}
    for study in reversed([study for study in (*config["studies"], *config["comparisons"]) if study in pages]):
        atexit.register(print, f"Report of {study}: {pages[study]}", file=sys.stderr)


# After Snakemake's own messages on a failure: the rule, its log and the log's last lines.
onerror:
    from recuse.base.rules import failures_in_short

    for line in failures_in_short("".join(Path(path).read_text("utf-8") for path in log)):
        print(line, file=sys.stderr)


# `snakemake --cores N` builds the studies that config names under `build`.
rule all:
    default_target: True
    input:
        [answer(files_of, study) for study in config["build"]],
    message:
        f"All of {', '.join(config['build'])} is there."


# `snakemake --cores N <study>` builds that study.
answer(studies.check_names, frozenset(rule.name for rule in workflow.rules))
for study in (*config["studies"], *config["comparisons"]):

    rule:
        name:
            study
        input:
            answer(files_of, study),
        message:
            f"All of {study} is there."
