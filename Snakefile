# recuse: does an LLM judge favour its own answers? The flow of data:
#   raw -> ratings -> cells -> estimates, tables -> figures        (one folder per study under results/)

import atexit
import gc
import os
import sys
from pathlib import Path

# Modules are taken from the library and the environment, never from the working folder, by this process and by its jobs; but not
# so in another workflow, whose own rules may need that. An installed package is its own library.
IS_MODULE = workflow.modifier.base_snakefile is not None
CHECKOUT = f"{os.fspath(workflow.current_basedir)}/workflow/lib"
LIBRARY = [CHECKOUT] if os.path.isdir(CHECKOUT) else []
NOT_FROM = () if IS_MODULE else (workflow.basedir, os.getcwd())
sys.path[:] = [*LIBRARY, *(path for path in sys.path if path not in NOT_FROM)]
inherited = {"PYTHONPATH": "", **os.environ}["PYTHONPATH"]
SAFE = {} if IS_MODULE else {"PYTHONSAFEPATH": "1"}
os.environ.update(SAFE, PYTHONPATH=os.pathsep.join(filter(None, [*LIBRARY, inherited])))

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.config.read import check_structure

if set("{}") & set(str(PROJECT)):
    raise WorkflowError(f"{PROJECT}: braces mean a wildcard to Snakemake; rename the folder")
OF_OTHERS = {*workflow.rules}  # of the workflow that uses this one as a module
if workflow.modifier.path_modifier.prefix:
    raise WorkflowError("recuse: found `prefix:`; leave it out, as results have the names of their studies: results/<study>/")
HERE = ["config.yaml"] if Path("config.yaml").exists() and not IS_MODULE else []
try:
    for path in (*HERE, *workflow.overwrite_configfiles):
        check_structure(path)
except ConfigError as error:
    raise WorkflowError(str(error)) from None


# The project's own config.yaml, then that of the working directory if it is another, then `--configfile`; as a module, the
# project's own and `config:` of the module.
configfile: f"{PROJECT}/config.yaml"


for path in HERE:

    configfile: path


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/estimates.smk"
include: "workflow/rules/comparisons.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/montecarlo.smk"


if workflow.is_main_process and not IS_MODULE:
    bring_to_now("results")


# Snakemake compares times and, of small files, contents. Digests among the params see every change of a file from outside.
OF_RECUSE = [step for step in workflow.rules if step.output and step not in OF_OTHERS]
decide_by_records(frozenset(step.name for step in OF_RECUSE))
for step in OF_RECUSE:
    step.set_params(contents=contents_read_by(step))


# The terminal shows progress alone, and after Snakemake's last words the answer of each study, also of one that was there
# already; or on a failure the rule, its log and the log's last lines, which say what to do.
FAILED = []
if workflow.is_main_process and not IS_MODULE:
    show_in_short(workflow)
    atexit.register(print_last_words, workflow, STUDIES, FAILED)
    atexit.register(gc.freeze)  # or Python looks through all of Snakemake for garbage before it ends, for a third of a second


# Snakemake spreads the starts of jobs over time for the sake of a cluster; its timers would hold up a run on this machine.
onstart:
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onerror:
    FAILED.extend(failures_in_short("".join(Path(path).read_text("utf-8") for path in log)))


# `snakemake --cores N` builds the studies that config names under `build`.
rule all:
    default_target: True
    input:
        [answer(files_of, study) for study in config["build"]],
    message:
        f"All of {', '.join(config['build'])} is there."


# `snakemake --cores N <study>` builds that study.
answer(studies.check_names, frozenset(filter(rules.has, STUDIES)))
for study in STUDIES:

    rule:
        name:
            study
        input:
            answer(files_of, study),
        message:
            f"All of {study} is there."
