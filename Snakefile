# recuse: does an LLM judge favour its own answers? The flow of data:
#   raw -> ratings -> cells -> estimates, tables -> figures   (a folder of results/ per study)

import atexit
import gc
import os
import sys
from pathlib import Path

# This process and its jobs import from the library and the environment, never from the working
# folder. As a module, they may: the other workflow's own rules may need its folder. An installed
# package is its own library.
HOME = os.fspath(workflow.current_basedir)
IS_MODULE = os.path.abspath(workflow.basedir) not in (HOME, f"{HOME}/workflow")
CHECKOUT = f"{HOME}/workflow/lib"
LIBRARY = [CHECKOUT] if os.path.isdir(CHECKOUT) else []
NOT_FROM = () if IS_MODULE else (workflow.basedir, os.getcwd())
sys.path[:] = [*LIBRARY, *(path for path in sys.path if path not in NOT_FROM)]
inherited = {"PYTHONPATH": "", **os.environ}["PYTHONPATH"]
SAFE = {} if IS_MODULE else {"PYTHONSAFEPATH": "1"}
os.environ.update(SAFE, PYTHONPATH=os.pathsep.join(filter(None, [*LIBRARY, inherited])))

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.config.read import read

if set("{}") & set(str(PROJECT)):
    raise WorkflowError(f"{PROJECT}: braces mean a wildcard to Snakemake; rename the folder")
if workflow.modifier.path_modifier.prefix:
    raise WorkflowError(
        "recuse: found `prefix:`; leave it out, as results have the names of their studies: results/<study>/"
    )
HERE = ["config.yaml"] if Path("config.yaml").exists() and not IS_MODULE else []
CONFIGURATIONS = [*HERE, *workflow.overwrite_configfiles]
try:
    for path in CONFIGURATIONS:
        read(path)
except ConfigError as error:
    raise WorkflowError(str(error)) from None


# The project's own config.yaml, then that of the working directory if it is another, then
# `--configfile`; as a module, the project's own and `config:` of the module.
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
include: "workflow/rules/audit.smk"


# Without this, Python spends a third of a second at its end looking for garbage in all of Snakemake.
atexit.register(gc.freeze)


# `snakemake --cores N` builds the studies that config names under `build`.
rule all:
    default_target: True
    input:
        [answer(final_files, study) for study in SETTINGS.build],
    message:
        f"{', '.join(SETTINGS.build)}: complete."


# `snakemake --cores N <study>` builds that study.
attempt(check_study_names, STUDIES, [*filter(rules.has, STUDIES)])
for study in STUDIES:

    rule:
        name:
            study
        input:
            answer(final_files, study),
        message:
            f"{study}: complete."
