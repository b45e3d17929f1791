"""The workflow as its users run it: everything built, the same bytes every time, errors that name
what is wrong.
"""

import os
import re
import shutil
from urllib.parse import unquote

import duckdb
import pytest

from picked_rows import column
from recuse.base.tables import read_table
from report_pages import Elements
from snakemake_forks import forked
from workflow_runs import (
    BOTH,
    FIGURES,
    OF_THE_PAPER,
    OVERLAY,
    PARTS,
    ROOT,
    assert_success,
    build,
    copy_project,
    planned,
    refused,
    snakemake,
)

pytestmark = pytest.mark.workflow
STUDIES = ["mine", pytest.param("smoke", marks=pytest.mark.long)]


# Figures of three judges of three families in a user's file, which have nothing to show.
SILENT = {
    "smoke": (),
    "mine": ("fig09_llm_reference", "fig10_weak_models_dropped", "idiosyncrasy"),
}


def test_report_of_each_study_shows_every_figure_and_leads_to_every_file(project):
    for study, figures in (("smoke", FIGURES + OF_THE_PAPER), ("mine", FIGURES)):
        folder = project / "results" / study
        html = (folder / "report.html").read_text("utf-8")
        drawn = [each for each in Elements(html).of("svg") if each["class"] == "picture"]
        pictures = column(drawn, "aria-labelledby")
        silent = SILENT[study]
        assert sorted(pictures) == sorted(
            f"{figure}-title" for figure in figures if figure not in silent
        )
        assert all(
            f'<a href="figures/{figure}.svg">' in html.partition("nothing to show")[2]
            for figure in silent
        )
        files = [unquote(link) for link in re.findall(r'href="([^#":]+)"', html)]
        assert [file for file in files if not (folder / file).exists()] == []
        assert {
            f"tables/{path.name}"
            for path in (folder / "tables").glob("*.csv")
            if path.stem != "crosscheck"
        } <= set(files)
        assert ("These data are simulated" in html) == (study == "smoke")
        assert str(project) not in html


OF_INFERENCE = {
    "multiplicity",
    "idiosyncrasy",
    "pooled",
    "residuals",
    "identifiability",
    "reliability",
    "measurement_error",
    "reliability_curve",
    "breakdowns",
    "sensitivity",
    "leaderboard",
    "panel",
    "round_robin",
    "power",
    "conclusions",
}


@pytest.mark.parametrize("study", BOTH)
def test_every_table_beside_the_estimates(project, study):
    """A user's file of a few prompts, without single raters, says nothing of fewer labels, fewer
    judges or errors of people.
    """
    tables = {
        path.stem: read_table(path)
        for path in (project / "results" / study / "tables").glob("*.csv")
    }
    without_rows = {"reliability", "round_robin"} if study == "mine" else set()
    assert {name for name in OF_INFERENCE if not tables[name]} == without_rows
    assert {row["study"] for name in OF_INFERENCE for row in tables[name]} == {study}
    paths = [project / "results" / study / name for name in ("debiased.parquet", "ratings.parquet")]
    rows, ratings = (
        duckdb.sql(f"select judge, model, rating_unit from '{path}'").fetchall() for path in paths
    )
    assert rows == ratings


def test_nothing_is_written_elsewhere(project):
    written = {
        path.relative_to(project).parts[0]
        for path in project.rglob("*")
        if "__pycache__" not in path.parts
    }
    assert written - {"results", ".snakemake"} == {part.split("/")[0] for part in PARTS}


def test_wrong_setting_stops_before_anything_runs(project, overlay):
    overlay("studies: {fit: {title: t, files: a.csv, scales: {A: [0, 1]}}}")
    said = refused(project, "-n", configs=[OVERLAY])
    assert f"{OVERLAY}, line 1: studies: fit: the name of a rule" in said


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "config.yaml",
            "seed: 1\nseed: 2\n",
            "line 2: seed: already in line 1; keep one of the two",
        ),
        (
            "named.yaml",
            "\n".join(
                ["0: &0 [a]", *(f"{n}: &{n} [{', '.join([f'*{n - 1}'] * 8)}]" for n in range(1, 9))]
            ),
            "more than 100,000",
        ),
    ],
)
def test_hostile_configuration_stops_before_snakemake_uses_it(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, "utf-8")
    configs = ["--configfile", name] if name != "config.yaml" else []
    result = forked(
        ["-n", "-s", str(ROOT / "Snakefile"), *configs],
        cwd=tmp_path,
        env=dict(os.environ),
        timeout=60,
    )
    assert result.returncode != 0
    assert f"{name}, line " in result.stdout + result.stderr
    assert message in result.stdout + result.stderr


def test_braces_in_the_path_of_the_checkout_are_refused(tmp_path):
    folder = tmp_path / "a {b}"
    folder.mkdir()
    result = snakemake(copy_project(folder), "-n")
    assert result.returncode != 0
    assert (
        "a {b}: braces mean a wildcard to Snakemake; rename the folder"
        in result.stdout + result.stderr
    )


def test_runs_from_any_folder_with_the_config_of_that_folder(project, tmp_path):
    """The project's config.yaml holds, and that of the working directory adds to it; parts are as
    good as one file.
    """
    parts = tmp_path / "my parts"
    parts.mkdir()
    shutil.copy(project / "tests" / "smoke" / "ratings.csv", tmp_path / "my ratings é.csv")
    rows = f"from '{project}/tests/smoke/ratings.csv'"
    for part in (1, 0):
        duckdb.sql(
            f"copy ({rows} where hash(prompt_id, judge) % 2 = {part}) to '{parts}/part"
            f" {part}.parquet'"
        )
    (parts / "_SUCCESS").write_text("")
    one = (
        "one: &one {title: t, files: my ratings é.csv, scales: {Tone: [1, 5], Usefulness: [1, 5]}}"
    )
    several = "several: {<<: *one, files: my parts/}"
    (tmp_path / "config.yaml").write_text(f"studies:\n  {one}\n  {several}\n", "utf-8")
    targets = [f"results/{name}/estimates/main.csv" for name in ("one", "several")]

    def run(*arguments):
        arguments = ["-s", str(project / "Snakefile"), "--cores", "1", *targets, *arguments]
        return forked(arguments, cwd=tmp_path, env=dict(os.environ), timeout=300)

    result = run()
    assert_success(result)
    theirs = (project / "results" / "mine" / "estimates" / "main.csv").read_text("utf-8")
    for target in targets:
        assert (tmp_path / target).read_text("utf-8") == theirs.replace(
            "mine,", f"{target.split('/')[1]},"
        )
    assert not [
        path for path in tmp_path.rglob("*") if path.suffix in (".spill", ".unsorted", ".part")
    ]
    duckdb.sql(f"copy ({rows} limit 0) to '{parts}/part 2.parquet'")
    assert "part 2.parquet" in run("-n").stdout  # a further part reruns the study


@pytest.mark.parametrize(
    "path",
    [
        "results/smoke/estimates/by_judge.csv",
        pytest.param("results/twins/tables/mean_scores.csv", marks=pytest.mark.long),
    ],
)
def test_unknown_study_or_spec_by_path(project, path):
    assert path in refused(project, "-n", path)


def test_faulty_rating_is_named_and_leaves_nothing(tmp_path):
    folder = copy_project(tmp_path)
    path = folder / "tests" / "smoke" / "ratings.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[4] = lines[4].replace(",t0,", ",t0,9", 1)
    path.write_text("\n".join([*lines, ""]), "utf-8")
    result = snakemake(folder, "--cores", "1", "mine")
    assert result.returncode == 1
    assert (
        "error: tests/smoke/ratings.csv, line 5, column rating: found '9"
        in result.stdout + result.stderr
    )
    assert not list((folder / "results" / "mine").rglob("*.parquet"))
    assert not list((folder / "results" / "mine").rglob("*.csv"))
    assert "line 5, column rating" in (
        folder / "results" / "mine" / "logs" / "ratings.log"
    ).read_text("utf-8")
    assert (
        "\nFailed: ratings, log results/mine/logs/ratings.log\n    error: tests/smoke/ratings.csv,"
        " line 5" in result.stderr
    )


@pytest.mark.parametrize("study", STUDIES)
def test_every_fit_of_a_study_equals_statsmodels(project, study):
    path = f"results/{study}/tables/crosscheck.csv"
    build(project, "--cores", "2", path)
    rows = read_table(project / path)
    limits = {"estimates and intervals": 1e-9, "log-likelihood": 1e-6, "estimates and curves": 1e-7}
    assert {row["compared"] for row in rows} == set(limits)
    assert all(float(row["largest_difference"]) < limits[row["compared"]] for row in rows)


def test_own_ablation_is_one_entry_with_a_table_and_a_figure(project, tmp_path, long):
    """Its figure is drawn with --long alone, as the job draws a dozen others, too."""
    folder = shutil.copytree(project, tmp_path / "a copy")
    shutil.rmtree(folder / "results" / "mine" / "figures")
    (folder / "own.yaml").write_text(
        "specs: {without_gpt_4o: {subset: {models_dropped: [GPT-4o]}, slice: dimension}}", "utf-8"
    )
    table = "results/mine/estimates/without_gpt_4o.csv"
    figure = "results/mine/figures/ablation_without_gpt_4o.svg"
    build(folder, "--cores", "2", figure if long else table, configs=["own.yaml"])
    rows = read_table(folder / table)
    assert {row["slice"] for row in rows} == {"Tone", "Usefulness"}
    assert "GPT-4o" not in {row["term"] for row in rows}
    if not long:
        assert planned(folder, figure, configs=["own.yaml"]) == {"figures_specs": 1}
        return
    drawn = {path.stem for path in (folder / "results" / "mine" / "figures").iterdir()}
    assert "gam" in drawn  # which waits for the ablations, too
    assert not {"fig03_self_family_bias", "conclusions"} & drawn


@pytest.mark.mirror
def test_published_files_are_fetched_verified_and_fetched_once(published_folder, project, tmp_path):
    cache = tmp_path / "cache"
    mirror = str(published_folder.parents[3].resolve())
    target = "results/play_favorites_2d/raw/Faithfulness.csv"
    build(project, "--cores", "1", target, RECUSE_MIRROR=mirror, RECUSE_CACHE=str(cache))
    assert (project / target).read_bytes() == (published_folder / "Faithfulness.csv").read_bytes()
    (project / target).unlink()
    build(project, "--cores", "1", target, RECUSE_MIRROR=str(tmp_path), RECUSE_CACHE=str(cache))
