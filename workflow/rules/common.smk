# Shared by the rules: the checked configuration, its studies, and functions for their files and
# settings.
import os
import re
from functools import cache, partial

from recuse.base import places
from recuse.base.errors import ConfigError, RecuseError
from recuse.base.products import register
from recuse.workflow.records import content_digests
from recuse.workflow.figures import drawing_inputs, drawings
from recuse.workflow.fits import fit_rules, tables_of_checks
from recuse.workflow.rules import asks, check_study_names, code_files
from recuse.catalogue.figures import study_figures
from recuse.config.load import checked, merged
from recuse.config.read import located, project_settings
from recuse.config.studies import (
    DATA,
    STAGES,
    Study,
    studies_in,
    with_placeholders,
)
from recuse.products import PRODUCTS

register(PRODUCTS)


def attempt(function, *arguments):
    """The result of `function`; an error of the project stops the workflow as one sentence, which
    names the line of a setting.
    """
    try:
        return function(*arguments)
    except ConfigError as error:
        raise WorkflowError(str(located(error, CONFIGURATIONS))) from None
    except RecuseError as error:
        raise WorkflowError(str(error)) from None


WORKFLOW = os.path.relpath(places.WORKFLOW)
REASONS = [f"{WORKFLOW}/report/reasons.yaml"]
FIGURE_WORDS = [f"{WORKFLOW}/report/{name}" for name in ("figures.j2", "sentences.j2")]
written = project_settings()
SETTINGS = attempt(checked, merged(written, config), written)
SETTINGS = with_placeholders(SETTINGS, os.path.exists)
config.clear()
config.update(SETTINGS.as_written())  # Scripts read it as plain values.
STUDIES = studies_in(SETTINGS)


@cache
def answer(function, study, *further):
    """The result of `function` for the study of this name and further arguments."""
    return attempt(function, STUDIES[study], *further)


def of_study(function, *further):
    """An input or a param: the result of `function` for a job's study and `further` wildcards."""
    return lambda wildcards: answer(
        function, wildcards.study, *(wildcards[name] for name in further)
    )


def setting(key):
    """A param: this setting of a job's study, or its default."""
    return of_study(lambda study: study.setting(key))


def inference(key):
    """A param: this setting of `inference` as a job's study has it."""
    return of_study(lambda study: study.inference.as_written()[key])


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
        return checked_contents(code_files(script, *filter(None, [function])), files)

    return digests


def checked_contents(code, files):
    """The contents of code and files, and of the sentences of reasons if the code has reasons."""
    sentences = REASONS if any(path.endswith("base/reasons.py") for path in code) else []
    digests = partial(content_digests, always=SETTINGS.hash_always)
    return attempt(digests, [*code, *sentences, *files], STUDIES)


def only(names):
    """A pattern that matches only these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def studies_that(*applies):
    """The names of the studies for which all these functions are true."""
    return [name for name in STUDIES if all(answer(each, name) for each in applies)]


def rated(*applies):
    """A pattern that matches the studies of ratings for which all these functions are true."""
    return only(studies_that(Study.has_ratings, *applies))


def compared(*applies):
    """A pattern that matches the studies of comparisons for which all these functions are true."""
    return only(studies_that(unless(Study.has_ratings), *applies))


def unless(function):
    return lambda study: not function(study)


def where(applies, path):
    """The file at `path`, in a list, for studies for which `applies` is true; [] for others."""
    return lambda wildcards: [path] if answer(applies, wildcards.study) else []


def estimates(specs):
    """The estimates of these specs."""
    return [f"results/{{study}}/estimates/{spec}.csv" for spec in specs]


def tables(*names):
    """Name -> path of these tables of a study."""
    return {name: f"results/{{study}}/tables/{name}.csv" for name in names}


def tables_of_fits(stage):
    """Name -> path of the tables on the fits of a stage and of those before."""
    names = ("remarks", "smooths", "not_estimable", "multiplicity")
    return {name: f"results/{{study}}/{STAGES[stage]}/{name}.csv" for name in names}


def tables_before(stage):
    """The tables on the fits of the stage before, if there is one."""
    stages = [*STAGES]
    return [*tables_of_fits(stages[stages.index(stage) - 1]).values()] if stage != stages[0] else []


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
    files = {form: f"results/{study}/figures/{name}.{form}" for form in SETTINGS.formats}
    files["svg"] = report(
        files["svg"], caption=f"../report/{caption}.rst", category=study, labels={"figure": title}
    )
    return [*files.values()]


figures_for = cache(study_figures)


def with_figures(function):
    """A function of the catalogue, of a study and its figures, as one of the study."""
    return lambda study, *further: function(study, figures_for(study), *further)


study_drawings = with_figures(drawings)


def of_drawings(function, *names):
    """An input or a param: the result of `function` for the drawings of these figures, or else of
    the wildcard's.
    """
    return lambda wildcards: function(
        answer(study_drawings, wildcards.study, *(names or [wildcards.figure]))
    )


def contents_of_drawings(drawings):
    """The contents of the script of figures, of what draws these, of their words, and of the
    published values in them.
    """
    functions = {drawing["draw"] for drawing in drawings.values()}
    files = [*FIGURE_WORDS, *drawing_inputs(drawings)]
    return checked_contents(code_files("figure.py", *functions), files)


wildcard_constraints:
    study=rated(),


# Inputs of rules that fit specs, and of rules that need the reliability of the human scores (raters
# or their published agreement).
STUDY = {"cells": "results/{study}/cells.parquet", "ratings": of_study(Study.ratings)}
HUMANS = {
    "raters": where(Study.has_raters, "results/{study}/raters.parquet"),
    "alphas": where(Study.has_alphas, f"{DATA}/twin_facts.csv"),
}
# The words and the page of what ratings and verdicts support.
FINDINGS = [f"{WORKFLOW}/report/{name}" for name in ("findings.yaml", "check.txt.j2")]
# The words of errors and notes of imports.
IMPORTS = [f"{WORKFLOW}/report/imports.yaml"]
SAMPLING = {"confidence": SETTINGS.confidence, "seed": SETTINGS.seed}
# Resources of a job that reads every row of its study.
asks_by_rows = partial(asks, megabytes=of_study(Study.raw_megabytes))
