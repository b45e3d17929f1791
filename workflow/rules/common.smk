# What the rules share: the checked configuration, and how they ask the library for a study's files and settings.
import os
import re
import sys
from functools import cache, partial

sys.path.insert(0, f"{workflow.basedir}/workflow/lib")

from recuse.base.errors import ConfigError
from recuse.base.rules import asks, asks_by_size, code_of
from recuse.config import studies
from recuse.config.load import checked, project_settings
from recuse.config.studies import DATA, with_placeholders


@cache
def answer(function, *names):
    """What `function` says of the configuration and of what is named; its ConfigError stops the workflow as one sentence."""
    try:
        return function(config, *names)
    except ConfigError as error:
        raise WorkflowError(str(error)) from None


def of_study(function, *further):
    """What `function` says of a job's study and of `further` wildcards: an input or a param."""
    return lambda wildcards: answer(function, wildcards.study, *(wildcards[name] for name in further))


WORKFLOW = os.path.relpath(f"{workflow.basedir}/workflow")
PROJECT = project_settings()  # without what a user adds
settings = answer(lambda config: checked(config, PROJECT))
config.clear()
config.update(settings)
for settings in (config, PROJECT):
    for section in ("studies", "comparisons"):
        settings[section] = with_placeholders(settings[section], os.path.exists)


def one_of(names):
    """A pattern of these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


def studies_that(*applies, among=("studies", "comparisons")):
    """A pattern of the studies of which all these functions are true."""
    names = (study for section in among for study in config[section])
    return one_of(study for study in names if all(answer(each, study) for each in applies))


rated = partial(studies_that, among=["studies"])
compared = partial(studies_that, among=["comparisons"])


def unless(function):
    return lambda config, study: not function(config, study)


def where(applies, path):
    """The file at `path`, in a list, for studies of which `applies` is true; none for others."""
    return lambda wildcards: [path] if answer(applies, wildcards.study) else []


def estimates(specs):
    """The estimates of these specs."""
    return [f"results/{{study}}/estimates/{spec}.csv" for spec in specs]


def tables(*names):
    """Name -> path of these tables of a study."""
    return {name: f"results/{{study}}/tables/{name}.csv" for name in names}


def page(name):
    """A page of a study that Snakemake's report has, too."""
    labels = {"figure": f"{name}, page"}
    return report(f"results/{{study}}/{name}.html", caption=f"../report/{name}_page.rst", category="{study}", labels=labels)


def drawn(name, caption, study="{study}"):
    """The three formats of a figure; the SVG is the one that Snakemake's report shows."""
    path = f"results/{study}/figures/{name}"
    picture = report(f"{path}.svg", caption=f"../report/{caption}.rst", category=study, labels={"figure": name})
    return {"pdf": f"{path}.pdf", "svg": picture, "png": f"{path}.png"}


wildcard_constraints:
    study=rated(),


# Inputs of rules that fit specs; and of rules that ask how reliable the human scores are (raters, or their published agreement).
STUDY = {"cells": "results/{study}/cells.parquet", "ratings": of_study(studies.ratings_of)}
HUMANS = {
    "raters": where(studies.has_raters, "results/{study}/raters.parquet"),
    "alphas": where(studies.has_alphas, f"{DATA}/twin_facts.csv"),
}
SAMPLING = {"confidence": config["confidence"], "seed": config["seed"]}
# What a job asks of a cluster that reads every row of its study.
asks_by_rows = partial(asks_by_size, megabytes=of_study(studies.raw_megabytes))
