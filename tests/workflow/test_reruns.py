"""What is built again, and what is not, when a file or a setting changes."""

import os
from collections import Counter

import pytest

from workflow_runs import BOTH, OVERLAY, PARTS, planned

pytestmark = pytest.mark.workflow

DRAWN = ("figures_fit", "figures_specs", "figures_rest")
# Job -> what reads its files.
READ_BY = {
    "simulate": ("ratings", "agreement", "recovery"),
    "ratings": (
        "agreement",
        "describe",
        *(FITTED := ("fit", "slices", "ablations", "robustness", "conclusions")),
    ),
    "describe": ("figures_specs", "conclusions", "compare_with_paper"),
    "agreement": ("describe", "robustness", "compare_with_paper"),
    "fit": ("slices", "conclusions", "compare_with_paper", "figures_fit", "figures_specs"),
    "slices": ("ablations", "conclusions", "figures_specs"),
    "ablations": ("recovery", "conclusions", "compare_with_paper", "figures_specs"),
    "robustness": ("conclusions", "figures_rest"),
    "conclusions": ("figures_rest",),
    "compare_with_paper": ("figures_rest",),
}
EVERYWHERE = {"ratings", "describe", *FITTED, "conclusions", *DRAWN}
STUDIES = {
    "smoke": EVERYWHERE | {"simulate", "agreement", "recovery", "compare_with_paper"},
    "mine": EVERYWHERE,
    "helm_instruct": {"simulate", "ratings", "fit"},  # for a figure of smoke
}


def also_long(*parameters):
    return [pytest.param(*values, marks=pytest.mark.long) for values in parameters]


def after(*changed, of=STUDIES):
    """Jobs that some studies need when these are to be done again, they and all that follows: job
    -> how many.
    """
    jobs = Counter()
    for study in of:
        found, new = set(), set(changed) & STUDIES[study]
        while new:
            found |= new
            new = {reader for job in new for reader in READ_BY.get(job, ())} & STUDIES[
                study
            ] - found
        jobs.update(found)
    return jobs


def test_nothing_to_do_when_all_is_merely_touched(project):
    for part in (*PARTS, "results"):
        for path in [project / part, *(project / part).rglob("*")]:
            os.utime(path)
    assert planned(project) == {}


def test_edited_library_module_reruns_what_uses_it(project, edit):
    """Which modules a script uses is tested in test_rules, for every script. Of all but one here,
    the rules are made: the rules rerun what these change of them.
    """
    modules = "papers/fetch catalogue/figures validation/compare config/studies"
    for module in (*modules.split(), "papers/scorecard_figure"):
        edit(f"workflow/lib/recuse/{module}.py", "\n# changed\n")
    assert planned(project) == after("figures_rest", of=["smoke"])


@pytest.mark.parametrize(
    ("file", "jobs", "studies"),
    [
        ("lib/recuse/data/ratings.py", ["ratings", "describe"], STUDIES),
        ("report/figures.j2", DRAWN, BOTH),
        ("report/check.txt.j2", ["describe"], BOTH),
        *also_long(
            ("lib/recuse/plot/slices.py", ["figures_specs"], BOTH),
            ("scripts/figure.py", DRAWN, BOTH),
        ),
    ],
)
def test_an_edited_file_reruns_the_jobs_of_studies_that_read_it(project, edit, file, jobs, studies):
    edit(f"workflow/{file}", "\n# changed\n")
    assert planned(project) == after(*jobs, of=studies)


@pytest.mark.parametrize(
    ("setting", "jobs"),
    [
        ("specs: {main: {covariance: HC1}}\n", after(*FITTED)),
        # All that draws, of the simulated studies all there is.
        ("seed: 1\n", after("simulate") | after("fit", "slices", "conclusions")),
        ("specs: {completion_effects: {covariance: CR3}}\n", after("ablations", "robustness")),
        *also_long(
            ("families: {GPT: {colour: '#000000'}}\n", after(*DRAWN, of=BOTH)),
            # The simulated studies do not know it.
            ("models: {Another: {family: GPT}}\n", after("ratings", *DRAWN, of=["mine"])),
            ("inference: {power: {self_bias: 0.05}}\n", after("describe", "conclusions")),
            ("inference: {raters: 5}\n", after("describe", "robustness")),
            ("models: {GPT-4o: {ids: [gpt-4o-2024-08-06]}}\n", after("ratings", *DRAWN, of=BOTH)),
            ("confidence: 0.95\n", after("describe", *FITTED, "conclusions", *DRAWN)),
            ("inference: {sensitivity: [main, length_control]}\n", after("robustness")),
            ("inference: {identifiability: [main]}\n", after("robustness")),
            ("inference: {replicates: 100}\n", after("conclusions")),
            ("inference: {debias: regression}\n", after("conclusions")),
            ("inference: {panel: {least: 20}}\n", after("conclusions")),
        ),
    ],
)
def test_changed_setting_reruns_what_reads_it(project, overlay, setting, jobs):
    overlay(setting)
    assert planned(project, configs=[OVERLAY]) == jobs


@pytest.mark.parametrize(
    "file",
    [
        "report/report.css",
        *(
            pytest.param(file, marks=pytest.mark.long)
            for file in ("report/fig05_correlations.rst", "lib/recuse/report/answers.py")
        ),
    ],
)
def test_report_alone_is_written_again_for_its_own_parts_and_captions(project, edit, file):
    edit(f"workflow/{file}", "\n# changed\n")
    assert planned(project, aside=()) == {"page": 2}


def test_report_is_written_again_where_it_tells_of_a_setting_or_of_what_is_made_again(
    project, overlay
):
    """Other places, limits and studies rerun nothing."""
    another = "another: {title: t, files: a.csv, scales: {A: [0, 1]}}"
    studies = f"studies: {{smoke: {{title: renamed}}, {another}}}"
    overlay(f"{studies}\nmirror: elsewhere\nmemory_limit: 1GB\n")
    drawn = after("compare_with_paper", *DRAWN, of=["smoke"])
    assert planned(project, configs=[OVERLAY], aside=()) == {**drawn, "page": 1}


def test_further_spec_is_fitted_and_drawn(project, overlay):
    overlay("specs: {mine_too: {subset: {models_dropped: [GPT-4o]}}}\n")
    assert planned(project, "mine", configs=[OVERLAY]) == after("ablations", of=["mine"])
