"""The workflow as its users run it: everything built, the right things rebuilt, errors that name what is wrong."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from judgebias.tables import read_table

pytestmark = pytest.mark.workflow
OF_SCORES = ("fig02_mean_scores", "fig05_correlations", "fig06_mean_scores_by_dimension")
OF_ESTIMATES = (
    "fig03_self_family_bias", "fig04_slices", "fig07_length_control", "fig08_ordinal", "fig09_llm_reference",
    "fig10_weak_models_dropped", "by_dataset", "one_model_dropped", "gam", "gam_smooths",
)  # fmt: skip
FIGURES = ("fig01_method", *OF_SCORES, *OF_ESTIMATES)
OF_THE_PAPER = ("fig11_helm_instruct", "scorecard")
PARTS = ("Snakefile", "config.yaml", "workflow", "envs", "profiles", "tests/smoke")
BOTH = ("smoke", "mine")


def copy_project(folder):
    for part in PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "results", ".snakemake"))
        else:
            shutil.copy(source, target)
    return folder


def snakemake(folder, *arguments, configs=(), **environment):
    """Run Snakemake in a checkout with the smoke studies; `configs` are further config files, the last goes first."""
    files = ["tests/smoke/config.yaml", *configs]
    command = [sys.executable, "-m", "snakemake", "--nocolor", *arguments, "--configfile", *files]
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )


def planned(folder, *targets, **options):
    """What a dry run would do: rule -> number of jobs; `all` and the rules named after studies aside."""
    result = snakemake(folder, "-n", *targets, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    table = result.stdout.partition("Job stats:")[2].partition("Reasons:")[0]
    jobs = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}
    return {name: count for name, count in jobs.items() if name not in ("total", "all", *BOTH)}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = copy_project(tmp_path_factory.mktemp("a project"))
    result = snakemake(folder, "--cores", "2")
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.fixture
def edit(project):
    """Append to a file of the project, and put it back afterwards."""
    before = {}

    def append(name, text):
        path = project / name
        before[path] = path.read_bytes()
        path.write_bytes(before[path] + text.encode())

    yield append
    for path, content in before.items():
        path.write_bytes(content)


def products(folder):
    """Path -> bytes of everything under results but logs and times."""
    results = folder / "results"
    files = (path for path in results.rglob("*") if path.is_file())
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in files
        if not {"logs", "benchmarks"} & set(path.relative_to(results).parts)
    }


def test_every_figure_in_three_formats(project):
    for study, figures in (("smoke", FIGURES + OF_THE_PAPER), ("mine", FIGURES)):
        for figure in figures:
            path = project / "results" / study / "figures" / figure
            assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
            assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
            assert "<svg" in path.with_suffix(".svg").read_text("utf-8")


def test_one_core_and_two_give_the_same_bytes(project, tmp_path):
    other = copy_project(tmp_path)
    result = snakemake(other, "--cores", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    ours, theirs = products(project), products(other)
    assert ours.keys() == theirs.keys()
    assert [path for path in ours if ours[path] != theirs[path]] == []


def test_nothing_is_written_elsewhere(project):
    written = {path.relative_to(project).parts[0] for path in project.rglob("*") if "__pycache__" not in path.parts}
    assert written - {"results", ".snakemake"} == {part.split("/")[0] for part in PARTS}


def test_nothing_to_do_when_all_is_there_or_merely_touched(project):
    assert planned(project) == {}
    for part in (*PARTS, "results"):
        for path in [project / part, *(project / part).rglob("*")]:
            os.utime(path)
    assert planned(project) == {}


def test_every_import_of_the_library_is_one_that_the_rules_follow():
    """Rules find the modules that a script uses by `from judgebias.module import ...`; another form would not rerun it."""
    for path in [*(ROOT / "workflow" / "scripts").glob("*.py"), *(ROOT / "workflow" / "lib").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("judgebias") for alias in node.names), path
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                assert node.module != "judgebias", path


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
SIMULATED = {
    "simulate": 2, "ratings": 2, "agreement": 1, "cells": 2, "describe": 1, "fit": 2, "recovery": 1, **PAPER,
    **dict.fromkeys((*OF_SCORES, *OF_ESTIMATES), 1),
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("style", ALL_FIGURES),
        ("heatmaps", in_both("fig02_mean_scores", "fig06_mean_scores_by_dimension")),
        ("correlation_panels", in_both("fig05_correlations")),
        ("method", in_both("fig01_method")),
        ("correlation", {**DESCRIBED, **{name: 1 for name in PAPER if name != "fig11_helm_instruct"}}),
        ("claims", {"compare_with_paper": 1, "scorecard": 1}),
        ("linear", FITTED),
        ("ordinal", FITTED),
        ("gam", FITTED),
        ("formula", FITTED),
        ("recovery", {"recovery": 1}),
        ("agreement", {"agreement": 1, "compare_with_paper": 1, "scorecard": 1}),
        ("moments", FITTED),
        ("crosscheck", {}),
        ("cells", {"cells": 3, **DESCRIBED, **FITTED}),
        ("ratings", RATED),
        ("stand_in", SIMULATED),
        ("fetch", {}),
    ],
)
def test_edited_library_module_reruns_what_uses_it(project, edit, module, jobs):
    edit(f"workflow/lib/judgebias/{module}.py", "\n# changed\n")
    assert planned(project) == jobs


@pytest.mark.parametrize(
    ("setting", "jobs"),
    [
        ("mirror: elsewhere\n", {}),
        ("specs: {main: {covariance: HC1}}\n", FITTED),
        ("families: {GPT: {colour: '#000000'}}\n", ALL_FIGURES),
        ("studies: {smoke: {title: renamed}}\n", {**DRAWN, "compare_with_paper": 1, "scorecard": 1}),
        ("studies: {another: {title: t, files: a.csv, scales: {A: [0, 1]}}}\n", {}),
        ("seed: 1\n", SIMULATED | in_both("fig01_method")),
        # The simulated studies do not know it.
        ("models: {Another: {family: GPT}}\n", {"ratings": 1, "cells": 1, "describe": 1, **FITTED_ONCE, **DRAWN}),
        ("models: {GPT-4o: {ids: [gpt-4o-2024-08-06]}}\n", {**RATED, **ALL_FIGURES, "ratings": 2, "cells": 2, "fit": 2}),
        ("confidence: 0.95\n", {**FITTED, **DESCRIBED}),
        ("specs: {mine_too: {subset: {models_dropped: [GPT-4o]}}}\n", {**FITTED, "ablation_mine_too": 2}),
    ],
)
def test_changed_setting_reruns_what_reads_it(project, setting, jobs):
    (project / "results" / "overlay.yaml").write_text(setting, "utf-8")
    assert planned(project, configs=["results/overlay.yaml"]) == jobs
    (project / "results" / "overlay.yaml").unlink()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("confidance: 0.9\n", "config: unknown key 'confidance'; did you mean 'confidence'?"),
        ("specs: {main: {covariance: HC9}}\n", "config: specs: main: covariance: 'HC9' is not one of"),
        ("build: [twins]\n", "config: build: 'twins' is not one of studies; did you mean 'twin'?"),
        ("seed: many\n", "config: seed: 'many' is not of type 'integer'"),
        ("studies: {fit: {title: t, files: a.csv, scales: {A: [0, 1]}}}\n", "config: studies: fit: the name of a rule"),
        ("studies: {mine: {files: none.csv}}\n", "config: studies: mine: files: 'none.csv': no such file"),
    ],
)
def test_wrong_setting_stops_before_anything_runs(project, setting, message):
    (project / "results" / "overlay.yaml").write_text(setting, "utf-8")
    result = snakemake(project, "-n", configs=["results/overlay.yaml"])
    (project / "results" / "overlay.yaml").unlink()
    assert result.returncode == 1
    assert message in result.stdout + result.stderr


def test_runs_from_any_folder_with_the_config_of_that_folder(project, tmp_path):
    """The project's config.yaml holds; that of the working directory adds to it."""
    shutil.copy(project / "tests" / "smoke" / "ratings.csv", tmp_path / "my ratings é.csv")
    study = "studies: {here: {title: t, files: my ratings é.csv, scales: {Tone: [1, 5], Usefulness: [1, 5]}}}\n"
    (tmp_path / "config.yaml").write_text(study, "utf-8")
    target = "results/here/estimates/main.csv"
    command = [sys.executable, "-m", "snakemake", "-s", str(project / "Snakefile"), "--cores", "1", target]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    theirs = (project / "results" / "mine" / "estimates" / "main.csv").read_text("utf-8")
    assert (tmp_path / target).read_text("utf-8") == theirs.replace("mine,", "here,")


TAKEN_UP = ("results/smoke/tables/recovery.csv", "results/smoke/figures/fig03_self_family_bias.pdf")


def test_interrupted_run_is_taken_up_again(project, tmp_path):
    folder = copy_project(tmp_path)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *TAKEN_UP, "--configfile", "tests/smoke/config.yaml"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    log = folder / "results" / "smoke" / "logs" / "fit.log"
    for _ in range(600):
        if log.exists():
            break
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    run.wait(timeout=60)
    assert run.returncode != 0
    again = snakemake(folder, "--cores", "2", *TAKEN_UP)
    assert again.returncode == 0, again.stdout + again.stderr
    ours, theirs = products(project), products(folder)
    assert theirs
    assert [path for path in theirs if theirs[path] != ours[path]] == []


def test_unknown_study_or_spec_by_path(project):
    for path in ("results/twins/tables/mean_scores.csv", "results/smoke/estimates/by_judge.csv"):
        result = snakemake(project, "-n", path)
        assert result.returncode == 1
        assert path in result.stdout + result.stderr


def test_faulty_rating_is_named_and_leaves_nothing(tmp_path):
    folder = copy_project(tmp_path)
    path = folder / "tests" / "smoke" / "ratings.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[4] = lines[4].replace(",t0,", ",t0,9", 1)
    path.write_text("\n".join(lines), "utf-8")
    result = snakemake(folder, "--cores", "1", "mine")
    assert result.returncode == 1
    assert "error: tests/smoke/ratings.csv, line 5, column rating: found '9" in result.stdout + result.stderr
    assert not list((folder / "results" / "mine").rglob("*.parquet"))
    assert not list((folder / "results" / "mine").rglob("*.csv"))
    assert "line 5, column rating" in (folder / "results" / "mine" / "logs" / "ratings.log").read_text("utf-8")


def test_every_fit_of_the_smoke_studies_equals_statsmodels(project):
    paths = [f"results/{study}/tables/crosscheck.csv" for study in BOTH]
    result = snakemake(project, "--cores", "2", *paths)
    assert result.returncode == 0, result.stdout + result.stderr
    for path in paths:
        rows = read_table(project / path)
        assert {row["compared"] for row in rows} == {"estimates and intervals", "log-likelihood"}
        limits = {"estimates and intervals": 1e-9, "log-likelihood": 1e-6}
        assert all(float(row["largest_difference"]) < limits[row["compared"]] for row in rows)


@pytest.mark.mirror
def test_published_files_are_fetched_verified_and_fetched_once(published_folder, project, tmp_path):
    cache = tmp_path / "cache"
    mirror = str(published_folder.parents[3].resolve())
    target = "results/play_favorites_2d/raw/Faithfulness.csv"
    result = snakemake(project, "--cores", "1", target, JUDGEBIAS_MIRROR=mirror, JUDGEBIAS_CACHE=str(cache))
    assert result.returncode == 0, result.stdout + result.stderr
    assert (project / target).read_bytes() == (published_folder / "Faithfulness.csv").read_bytes()
    (project / target).unlink()
    again = snakemake(project, "--cores", "1", target, JUDGEBIAS_MIRROR=str(tmp_path), JUDGEBIAS_CACHE=str(cache))
    assert again.returncode == 0, again.stdout + again.stderr


def test_file_that_the_mirror_lacks_is_named(project, tmp_path):
    target = "results/play_favorites/raw/Helpfulness.csv"
    result = snakemake(project, "--cores", "1", target, JUDGEBIAS_MIRROR=str(tmp_path), JUDGEBIAS_CACHE=str(tmp_path / "cache"))
    assert result.returncode == 1
    said = result.stdout + result.stderr
    assert "data/Helpfulness.csv" in said
    assert "9aab7eaff4acb6bfe198623db071207560c5eb3a" in said
    assert not (project / target).exists()
