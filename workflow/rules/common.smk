# Shared by the rules: the checked configuration, and functions for a study's files and settings.
import os
import re
from functools import cache, partial

from recuse.base import places
from recuse.base.errors import ConfigError, RecuseError
from recuse.base.products import register
from recuse.workflow.records import contents_of
from recuse.workflow.rules import asks, code_of
from recuse.catalogue.figures import drawings, figures, inputs_of
from recuse.config import studies
from recuse.config.load import checked, merged
from recuse.config.read import project_settings
from recuse.config.studies import DATA, with_placeholders
from recuse.products import PRODUCTS

register(PRODUCTS)


@cache
def config_of(study=None):
    """The configuration, as this study has it."""
    return config if study is None else studies.config_of(config, study)


@cache
def answer(function, *names):
    """The result of `function` for the configuration and these names; its ConfigError stops the
    workflow as one sentence.
    """
    try:
        return function(config_of(*names[:1]), *names)
    except ConfigError as error:
        raise WorkflowError(str(error)) from None


def of_study(function, *further):
    """An input or a param: the result of `function` for a job's study and `further` wildcards."""
    return lambda wildcards: answer(
        function, wildcards.study, *(wildcards[name] for name in further)
    )


def setting(name, default=None):
    """A param: this setting of a job's study."""
    return of_study(lambda config, study: studies.settings_of(config, study).get(name, default))


def contents(script, *outside, named=None):
    """A param: SHA-256 of a job's code and of the files from outside that it reads.

    outside: paths, or inputs that give them; named: a function of a study that gives the `module:function` that the script
    imports by name, or "".
    """

    def digests(wildcards):
        files = [
            path for paths in outside for path in (paths(wildcards) if callable(paths) else paths)
        ]
        function = answer(named, wildcards.study) if named else ""
        return checked_contents(code_of(script, *filter(None, [function])), files)

    return digests


def checked_contents(code, files):
    """The contents of code and files; an error about one of them stops the workflow as one
    sentence.
    """
    try:
        return contents_of([*code, *files], config, always=config["hash_always"])
    except RecuseError as error:
        raise WorkflowError(str(error)) from None


WORKFLOW = os.path.relpath(places.WORKFLOW)
PROJECT = project_settings()  # without a user's additions
settings = answer(lambda config: checked(merged(PROJECT, config), PROJECT))
config.clear()
config.update(settings)
for settings in (config, PROJECT):
    for section in ("studies", "comparisons"):
        settings[section] = with_placeholders(settings[section], os.path.exists)


def one_of(names):
    """A pattern that matches only these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def studies_that(*applies, among=("studies", "comparisons")):
    """A pattern that matches the studies for which all these functions are true."""
    names = (study for section in among for study in config[section])
    return one_of(study for study in names if all(answer(each, study) for each in applies))


rated = partial(studies_that, among=["studies"])
compared = partial(studies_that, among=["comparisons"])


def unless(function):
    return lambda config, study: not function(config, study)


def where(applies, path):
    """The file at `path`, in a list, for studies for which `applies` is true; [] for others."""
    return lambda wildcards: [path] if answer(applies, wildcards.study) else []


def estimates(specs):
    """The estimates of these specs."""
    return [f"results/{{study}}/estimates/{spec}.csv" for spec in specs]


def estimates_of_specs(function):
    """An input: the estimates of the specs that `function` names, of the configuration as a study
    has it.
    """
    return of_study(
        lambda config, study: [path.format(study=study) for path in estimates(function(config))]
    )


def tables(*names):
    """Name -> path of these tables of a study."""
    return {name: f"results/{{study}}/tables/{name}.csv" for name in names}


def tables_of_fits(stage):
    """Name -> path of the tables on the fits of a stage and of those before."""
    names = ("remarks", "smooths", "not_estimable", "multiplicity")
    return {name: f"results/{{study}}/{studies.STAGES[stage]}/{name}.csv" for name in names}


def tables_before(stage):
    """The tables on the fits of the stage before, if there is one."""
    stages = [*studies.STAGES]
    return [*tables_of_fits(stages[stages.index(stage) - 1]).values()] if stage != stages[0] else []


def caption_files(captions):
    """The templates of captions."""
    return [figure["caption"] for figure in captions.values()]


def page(name):
    """A page of a study, also for Snakemake's report."""
    labels = {"figure": f"{name}, page"}
    return report(
        f"results/{{study}}/{name}.html",
        caption=f"../report/{name}_page.rst",
        category="{study}",
        labels=labels,
    )


def drawn(name, caption, title, study="{study}"):
    """A figure in the formats of the configuration; Snakemake's report shows the SVG under its
    title.
    """
    files = {form: f"results/{study}/figures/{name}.{form}" for form in config["formats"]}
    files["svg"] = report(
        files["svg"], caption=f"../report/{caption}.rst", category=study, labels={"figure": title}
    )
    return [*files.values()]


@cache
def figures_for(study):
    """Name -> figure, of those that a study may have."""
    return answer(lambda config, study: figures(config, PROJECT), study)


def with_figures(function):
    """A function of the catalogue, of a configuration and a study, with the figures that the study
    may have.
    """
    return lambda config, study, *further, **named: function(
        config, study, *further, figures=figures_for(study), **named
    )


drawings_of = with_figures(drawings)


def of_drawings(function, *names):
    """An input or a param: the result of `function` for the drawings of these figures, or else of
    the wildcard's.
    """
    return lambda wildcards: function(
        answer(drawings_of, wildcards.study, *(names or [wildcards.figure]))
    )


def contents_of_drawings(drawings):
    """The contents of the script of figures, of what draws these, and of the published values in
    them.
    """
    functions = {drawing["draw"] for drawing in drawings.values()}
    return checked_contents(code_of("figure.py", *functions), inputs_of(drawings))


wildcard_constraints:
    study=rated(),


# Inputs of rules that fit specs, and of rules that need the reliability of the human scores (raters
# or their published agreement).
STUDY = {"cells": "results/{study}/cells.parquet", "ratings": of_study(studies.ratings_of)}
HUMANS = {
    "raters": where(studies.has_raters, "results/{study}/raters.parquet"),
    "alphas": where(studies.has_alphas, f"{DATA}/twin_facts.csv"),
}
SAMPLING = {"confidence": config["confidence"], "seed": config["seed"]}
# Resources of a job that reads every row of its study.
asks_by_rows = partial(asks, megabytes=of_study(studies.raw_megabytes))
