# What the rules share: the checked configuration, and which library modules a script uses.
import os
import re
import sys
from functools import cache
from pathlib import Path

LIBRARY = Path(workflow.basedir, "workflow", "lib")
sys.path.insert(0, str(LIBRARY))

from recuse.config.load import checked, project_settings
from recuse.base.errors import ConfigError
from recuse.model.spec import in_place
from recuse.config.origins import kind_of, with_stand_ins

PROJECT = project_settings()  # without what a user adds
try:
    settings = checked(config, PROJECT)
except ConfigError as error:
    raise WorkflowError(str(error)) from None
config.clear()
config.update(settings)
for kind_of_study in ("studies", "comparisons"):
    config[kind_of_study] = with_stand_ins(config[kind_of_study], os.path.exists)


def one_of(names):
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    study=one_of(config["studies"]),


@cache
def modules_of(path):
    """The library modules that a script or module imports, by the one form of import that the project uses."""
    names = re.findall(r"^ *from recuse\.([\w.]+) import ", path.read_text("utf-8"), re.MULTILINE)
    return [LIBRARY.joinpath("recuse", *name.split(".")).with_suffix(".py") for name in names]


def code_of(script):
    """A script and the library modules that it uses, directly or through others: inputs of its rule, compared by content."""
    found, waiting = set(), [Path(workflow.basedir, "workflow", "scripts", script)]
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting += [module for module in modules_of(path) if module not in found]
    return [os.path.relpath(path) for path in sorted(found)]


def told_of_inference(*keys, specs, also=()):
    """Params: these settings of `inference`, and the specs that it names under the keys `specs`, `also` and in their place."""
    settings = {key: config["inference"][key] for key in (*specs, *keys)}
    named = [*also, *(name for key in specs for name in settings[key])]
    named += in_place(named, settings.get("without_human_scores", {}))
    return {"settings": settings, "specs": {name: config["specs"][name] for name in named}}
