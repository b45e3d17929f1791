# What the rules share: the checked configuration, and which library modules a script uses.
import ast
import os
import re
import sys
from functools import cache
from pathlib import Path

import yaml

LIBRARY = Path(workflow.basedir, "workflow", "lib")
sys.path.insert(0, str(LIBRARY))

from judgebias.errors import ConfigError
from judgebias.settings import check, check_redefined, in_order_of, kind_of, with_stand_ins

PROJECT = yaml.safe_load(Path(workflow.basedir, "config.yaml").read_text("utf-8"))  # without what a user adds
settings = in_order_of(PROJECT, config)
config.clear()
config.update(settings)

try:
    check(config, yaml.safe_load(Path(workflow.basedir, "workflow", "schemas", "config.schema.yaml").read_text("utf-8")))
    check_redefined(config["specs"], PROJECT["specs"])
except ConfigError as error:
    raise WorkflowError(str(error)) from None
config["studies"] = with_stand_ins(config["studies"], os.path.isfile)


def check_names_of_studies(rules):
    """A study has a rule of its name; WorkflowError if another rule has it."""
    for study in config["studies"]:
        if study in rules:
            raise WorkflowError(f"config: studies: {study}: the name of a rule of this workflow; choose another")


def one_of(names):
    return "|".join(map(re.escape, names)) or "(?!)"


def studies_with(key):
    return one_of(name for name, study in config["studies"].items() if key in study)


wildcard_constraints:
    study=one_of(config["studies"]),


@cache
def code_of(script):
    """A script and the library modules that it uses, directly or through others: inputs of its rule, compared by content."""
    found, waiting = set(), [Path(workflow.basedir, "workflow", "scripts", script)]
    while waiting:
        path = waiting.pop()
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("judgebias."):
                used = LIBRARY.joinpath(*node.module.split(".")).with_suffix(".py")
                waiting += [] if used in found else [used]
    return [os.path.relpath(path) for path in sorted(found)]
