"""What is built again, and what is not, when a file or a setting changes."""

import os

import pytest

from workflow_runs import FIGURES, OF_ESTIMATES, OF_SCORES, OF_THE_PAPER, OVERLAY, PARTS, planned

pytestmark = pytest.mark.workflow


def test_nothing_to_do_when_all_is_there_or_merely_touched(project):
    assert planned(project) == {}
    for part in (*PARTS, "results"):
        for path in [project / part, *(project / part).rglob("*")]:
            os.utime(path)
    assert planned(project) == {}


SCRIPTS = {
    "slices_of_specs": ("fig04_slices", "by_dataset", "one_model_dropped"),
    "compare_specs": ("fig07_length_control", "fig09_llm_reference", "fig10_weak_models_dropped", "gam"),
    "fig03_self_family_bias": ("fig03_self_family_bias", "fig11_helm_instruct"),
    **{
        figure: (figure,)
        for figure in (*OF_SCORES, "fig01_method", "fig08_ordinal", "gam_smooths", "scorecard")
    },
}  # fmt: skip


def in_both(*figures):
    """Jobs that draw these figures of both studies; those of the paper are of one."""
    return {figure: 1 if figure in OF_THE_PAPER else 2 for figure in figures}


@pytest.mark.parametrize("script", SCRIPTS)
def test_edited_figure_script_redraws_its_figures_alone(project, edit, script):
    edit(f"workflow/scripts/{script}.py", "\n# changed\n")
    assert planned(project) == in_both(*SCRIPTS[script])
    figure = SCRIPTS[script][0]
    assert planned(project, f"results/smoke/figures/{figure}.pdf") == {figure: 1}


ALL_FIGURES = in_both(*FIGURES, *OF_THE_PAPER)
SCORED = in_both(*OF_SCORES)
DRAWN = dict.fromkeys(FIGURES, 1)  # of one study
PAPER = {"compare_with_paper": 1, **in_both(*OF_THE_PAPER)}
FITTED = {"fit": 3, "recovery": 1, **PAPER, **in_both(*OF_ESTIMATES)}  # the two studies, and helm_instruct for Figure 11
FITTED_ONCE = {"fit": 1, **dict.fromkeys(OF_ESTIMATES, 1)}
DESCRIBED = {"describe": 2, **SCORED}
RATED = {"ratings": 3, "agreement": 1, "cells": 3, **DESCRIBED, **FITTED}
TWO_OF_THREE = {"ratings": 2, "cells": 2, "fit": 2, "fig11_helm_instruct": 0}  # helm_instruct is not concerned
SIMULATED = {
    "simulate": 2, "ratings": 2, "agreement": 1, "cells": 2, "describe": 1, "fit": 2, "recovery": 1, **PAPER,
    **dict.fromkeys((*OF_SCORES, *OF_ESTIMATES), 1),
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("drawing/style", ALL_FIGURES),
        ("drawing/heatmaps", in_both("fig02_mean_scores", "fig06_mean_scores_by_dimension")),
        ("drawing/correlation_panels", in_both("fig05_correlations")),
        ("drawing/method", in_both("fig01_method")),
        ("ratings/correlation", {**DESCRIBED, **{name: 1 for name in PAPER if name != "fig11_helm_instruct"}}),
        ("paper/claims", {"compare_with_paper": 1, "scorecard": 1}),
        ("fits/linear", FITTED),
        ("fits/ordinal", FITTED),
        ("fits/gam", FITTED),
        ("fits/formula", FITTED),
        ("simulation/recovery", {"recovery": 1}),
        ("ratings/agreement", {"agreement": 1, "compare_with_paper": 1, "scorecard": 1}),
        ("ratings/moments", FITTED),
        ("fits/crosscheck", {}),
        ("ratings/cells", {"cells": 3, **DESCRIBED, **FITTED}),
        ("ratings/ratings", RATED),
        ("simulation/stand_in", SIMULATED),
        ("sources/fetch", {}),
    ],
)
def test_edited_library_module_reruns_what_uses_it(project, edit, module, jobs):
    edit(f"workflow/lib/judgebias/{module}.py", "\n# changed\n")
    assert planned(project) == jobs


@pytest.mark.parametrize(
    ("setting", "jobs"),
    [
        ("mirror: elsewhere\n", {}),
        ("memory_limit: 1GB\n", {}),
        ("specs: {main: {covariance: HC1}}\n", FITTED),
        ("families: {GPT: {colour: '#000000'}}\n", ALL_FIGURES),
        ("studies: {smoke: {title: renamed}}\n", {**DRAWN, "compare_with_paper": 1, "scorecard": 1}),
        ("studies: {another: {title: t, files: a.csv, scales: {A: [0, 1]}}}\n", {}),
        ("seed: 1\n", SIMULATED | in_both("fig01_method")),
        # The simulated studies do not know it.
        ("models: {Another: {family: GPT}}\n", {"ratings": 1, "cells": 1, "describe": 1, **FITTED_ONCE, **DRAWN}),
        ("models: {GPT-4o: {ids: [gpt-4o-2024-08-06]}}\n", {**RATED, **ALL_FIGURES, **TWO_OF_THREE}),
        ("confidence: 0.95\n", {**FITTED, **DESCRIBED}),
    ],
)
def test_changed_setting_reruns_what_reads_it(project, overlay, setting, jobs):
    overlay(setting)
    assert planned(project, configs=[OVERLAY]) == {name: count for name, count in jobs.items() if count}


def test_further_spec_is_fitted_and_drawn(project, overlay):
    overlay("specs: {mine_too: {subset: {models_dropped: [GPT-4o]}}}\n")
    assert planned(project, "mine", configs=[OVERLAY]) == {**FITTED_ONCE, "ablation_mine_too": 1}
