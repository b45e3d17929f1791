"""What is built again, and what is not, when a file or a setting changes."""

import os
from collections import Counter

import pytest

from workflow_runs import FIGURES, OF_ESTIMATES, OF_SCORES, OF_THE_PAPER, OVERLAY, PARTS, planned

pytestmark = pytest.mark.workflow

# Job -> what reads its files. A figure is drawn by a job of its name, but where the job of a table has it.
OF_LEADERBOARD = ("leaderboard_figure", "ppi", "power")
READ_BY = {
    "simulate": ("ratings", "agreement", "recovery"),
    "ratings": ("agreement", "cells"),
    "cells": ("check", "describe", "fit", "estimands", "sensitivity", "leaderboard"),
    "describe": (*OF_SCORES, "conclusions", "compare_with_paper"),
    "agreement": ("check", "sensitivity", "compare_with_paper"),
    "fit": ("recovery", "leaderboard", "conclusions", "compare_with_paper", "fig11_helm_instruct", *OF_ESTIMATES),
    "estimands": ("conclusions", "verdicts", "idiosyncrasy"),
    "sensitivity": ("leaderboard", "conclusions", "reliability"),
    "leaderboard": OF_LEADERBOARD,
    "conclusions": ("conclusions_figure",),
    "compare_with_paper": ("scorecard",),
}
FITTED = ("fit", "estimands", "sensitivity", "leaderboard")  # what fits specs to cells or rows
DRAWN = {f"{figure}_figure" if figure in READ_BY else figure for figure in FIGURES}
EVERYWHERE = {"ratings", "cells", "check", "describe", *FITTED, "conclusions", *DRAWN}
STUDIES = {
    "smoke": EVERYWHERE | {"simulate", "agreement", "recovery", "compare_with_paper", "scorecard"},
    "mine": EVERYWHERE,
    "helm_instruct": {"simulate", "ratings", "cells", "fit", "fig11_helm_instruct"},  # for that figure of smoke
}


def after(*changed, of=STUDIES):
    """Jobs that some studies need when these are to be done again, they and all that follows: job -> how many."""
    jobs = Counter()
    for study in of:
        found, new = set(), set(changed) & STUDIES[study]
        while new:
            found |= new
            new = {reader for job in new for reader in READ_BY.get(job, ())} & STUDIES[study] - found
        jobs.update(found)
    return jobs


def test_nothing_to_do_when_all_is_there_or_merely_touched(project):
    assert planned(project) == {}
    for part in (*PARTS, "results"):
        for path in [project / part, *(project / part).rglob("*")]:
            os.utime(path)
    assert planned(project) == {}


DRAWN_BY = {
    "slices": ("fig04_slices", "by_dataset", "one_model_dropped", "fig08_ordinal"),
    "scores": ("fig02_mean_scores", "fig05_correlations", "fig06_mean_scores_by_dimension", "gam_smooths"),
    "robustness": ("conclusions_figure",),
    "idiosyncrasy": ("idiosyncrasy",),
    "leaderboard": ("leaderboard_figure",),
    "power": ("ppi", "power"),
    "reliability": ("reliability",),
    "method": ("fig01_method",),
    "scorecard": ("scorecard",),
}


@pytest.mark.parametrize("module", DRAWN_BY)
def test_edited_module_redraws_its_figures_alone(project, edit, module):
    edit(f"workflow/lib/recuse/plot/{module}.py", "\n# changed\n")
    assert planned(project) == after(*DRAWN_BY[module])
    job = DRAWN_BY[module][0]
    assert planned(project, f"results/smoke/figures/{job.removesuffix('_figure')}.pdf") == {job: 1}


def test_edited_script_of_figures_redraws_all(project, edit):
    edit("workflow/scripts/figure.py", "\n# changed\n")
    assert planned(project) == after(*DRAWN, *OF_THE_PAPER)


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("plot/style", after(*DRAWN, *OF_THE_PAPER)),
        ("data/fetch", {}),
        ("data/ratings", after("ratings", "check")),
        ("data/raters", after("agreement")),
        ("simulate/twin", after("simulate")),
        ("simulate/recovery", after("recovery")),
        ("model/estimates", after("fit")),
        ("check/support", after("check")),
        ("inference/identifiability", after("check", "estimands")),
        ("inference/sensitivity", after("sensitivity")),
        ("inference/leaderboard", after("leaderboard")),
        ("inference/robustness", after("conclusions")),
        ("published/scorecard", after("compare_with_paper")),
        ("crosscheck/compare", {}),
        ("montecarlo/estimators", {}),
        # What the rules are made from reruns what it changes of them.
        ("catalogue/figures", {}),
        ("config/studies", {}),
    ],
)
def test_edited_library_module_reruns_what_uses_it(project, edit, module, jobs):
    edit(f"workflow/lib/recuse/{module}.py", "\n# changed\n")
    assert planned(project) == jobs


@pytest.mark.parametrize(
    ("setting", "jobs"),
    [
        ("mirror: elsewhere\n", {}),
        ("memory_limit: 1GB\n", {}),
        ("specs: {main: {covariance: HC1}}\n", after(*FITTED)),
        ("families: {GPT: {colour: '#000000'}}\n", after(*DRAWN, *OF_THE_PAPER)),
        ("studies: {smoke: {title: renamed}}\n", after("compare_with_paper", *DRAWN, of=["smoke"])),
        ("studies: {another: {title: t, files: a.csv, scales: {A: [0, 1]}}}\n", {}),
        # All that draws, of the simulated studies all there is.
        ("seed: 1\n", after("simulate") | after("fit", "estimands", "leaderboard", "fig01_method")),
        # The simulated studies do not know it.
        ("models: {Another: {family: GPT}}\n", after("ratings", *DRAWN, of=["mine"])),
        ("models: {GPT-4o: {ids: [gpt-4o-2024-08-06]}}\n", after("ratings", *DRAWN, of=["smoke", "mine"])),
        ("confidence: 0.95\n", after("check", "describe", *FITTED, "conclusions", "idiosyncrasy")),
        ("inference: {raters: 5}\n", after("check", "sensitivity")),
        ("inference: {sensitivity: [main, length_control]}\n", after("sensitivity")),
        ("inference: {assignments: 99}\n", after("estimands")),
        ("inference: {identifiability: [main]}\n", after("estimands")),
        ("inference: {replicates: 100}\n", after("leaderboard")),
        ("inference: {power: {self_bias: 0.05}}\n", after("check", "leaderboard")),
        ("specs: {completion_effects: {covariance: CR3}}\n", after("fit", "estimands")),
    ],
)
def test_changed_setting_reruns_what_reads_it(project, overlay, setting, jobs):
    overlay(setting)
    assert planned(project, configs=[OVERLAY]) == jobs


@pytest.mark.parametrize("file", ["report/report.css", "report/fig05_correlations.rst", "lib/recuse/report/answers.py"])
def test_report_alone_is_written_again_for_its_own_parts_and_captions(project, edit, file):
    edit(f"workflow/{file}", "\n# changed\n")
    assert planned(project, aside=()) == {"page": 2}


def test_report_is_written_again_where_it_tells_of_a_setting_or_of_what_is_made_again(project, overlay):
    overlay("studies: {smoke: {title: renamed}}\nmirror: elsewhere\n")
    assert planned(project, configs=[OVERLAY], aside=())["page"] == 1


def test_further_spec_is_fitted_and_drawn(project, overlay):
    overlay("specs: {mine_too: {subset: {models_dropped: [GPT-4o]}}}\n")
    assert planned(project, "mine", configs=[OVERLAY]) == {**after("fit", of=["mine"]), "ablation_mine_too": 1}
