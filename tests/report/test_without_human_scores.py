"""Every table, figure and page of a study without human scores: gaps to the other judges, and words for all else."""

import re

import pytest
from compare_specs import compare_specs
from conclusions import conclude
from conclusions_figure import conclusions_figure
from describe import describe
from estimands import estimands
from fig02_mean_scores import fig02_mean_scores
from fig03_self_family_bias import fig03_self_family_bias
from fig05_correlations import fig05_correlations
from fig06_mean_scores_by_dimension import fig06_mean_scores_by_dimension
from fig08_ordinal import fig08_ordinal
from fit import fit
from gam_smooths import gam_smooths
from inference_figure import DRAWINGS, inference_figure
from leaderboard import rank
from placebo import placebo
from sensitivity import tabulate
from slices_of_specs import slices_of_specs

from conftest import CONFIG, ROOT
from rated_tables import study_of_rows, unscored
from recuse.base.database import connect
from recuse.base.tables import CHECK, read_table, write_table
from recuse.base.words import WORDS_ALONE
from recuse.data.registry import NO_HUMAN_SCORE
from recuse.plot.style import Palette, Subject
from recuse.report.answers import NO_TRUTH
from recuse.report.page import report
from report_pages import Elements

INFERENCE, LEVEL = CONFIG["inference"], {"confidence": 0.9, "seed": 1}
INSTEAD = INFERENCE["without_human_scores"]
SPECS = CONFIG["specs"]
VIEWS = {name: {"table": "estimates", **view} for name, view in INFERENCE["conclusions"].items()}
ASKED = {"views": VIEWS, "specs": SPECS, "confidence": 0.9, "power": 0.8}
SUBJECT = Subject("ours", "user", Palette(CONFIG["models"], CONFIG["families"]), "")
TOLD = {"confidence": 0.9, "covariance": "HC0", "title": "t"}
SILENT = {"fig03", "slices", "fig05", "length", "fig08", "gam_smooths", "reliability", "few_labels", "planner"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All tables of a study, by the scripts of the workflow."""
    folder = tmp_path_factory.mktemp("unscored")
    made = study_of_rows(folder, unscored(prompts=20))
    study = {"study": "ours", "cells": made.cells_from, "ratings": made.ratings}
    outputs = {name: str(folder / f"tables/{name}.csv") for name in tables_of_study()}
    outputs |= {"debiased": str(folder / "d.parquet"), "page": str(folder / "conclusions.html")}
    for name in ("tables", "estimates", "figures"):
        (folder / name).mkdir()
    estimates = {spec: str(folder / f"estimates/{spec}.csv") for spec in SPECS}
    fit(**study, specs=SPECS, estimates=estimates.values(), outputs=outputs, **LEVEL)
    describe(study="ours", cells=made.cells_from, confidence=0.9, outputs=outputs)
    estimands(**study, specs=SPECS, settings={**INFERENCE, "assignments": 99}, outputs=outputs, **LEVEL)
    tabulate(**study, raters=[], alphas=[], specs=SPECS, settings=INFERENCE, confidence=0.9, outputs=outputs)
    rank(
        **study,
        estimates=[estimates["main"], estimates["model_effects"]],
        reliability=outputs["reliability"],
        specs=SPECS,
        settings={**INFERENCE, "replicates": 100},
        outputs=outputs,
        **LEVEL,
    )
    template = ROOT / "workflow" / "report" / "conclusions.html.j2"
    conclude(
        **ASKED,
        study="ours",
        inputs={**outputs, "estimates": estimates.values(), "scorecard": [], "template": template},
        order={},
        instead=INSTEAD,
        label="ours",
        kind="user",
        outputs=outputs,
    )
    write_table(outputs["check"], CHECK, [])
    return folder


def tables_of_study():
    return (
        *("not_estimable", "remarks", "smooths", "multiplicity", "mean_scores", "correlations", "placebo", "tastes"),
        *("identifiability", "reliability", "noisy_reference", "reliability_curve", "breakdowns", "sensitivity", "missingness"),
        *("leaderboard", "few_labels", "planner", "conclusions", "check"),
    )


@pytest.fixture(scope="module")
def figures(folder):
    """Every figure that a study has, by the scripts of the workflow: name -> SVG."""
    drawn = {}

    def path(name):
        return str(folder / f"{'estimates' if name in SPECS else 'tables'}/{name}.csv")

    def draw(name, script, tables, **told):
        output = folder / "figures" / f"{name}.svg"
        script(**{key: [path(each) for each in of] if isinstance(of, list) else path(of) for key, of in tables.items()},
               **told, subject=SUBJECT, outputs=[output])  # fmt: skip
        drawn[name] = output.read_text("utf-8")

    def compared(name, *specs, placebo=()):
        variants = [{"spec": spec, "label": spec, "slice": None, "covariance": "CR1"} for spec in specs]
        variants += [{"spec": "C", "label": "C", "slice": None}] * len(placebo)
        tables = {"estimates": [*specs], "not_estimable": "not_estimable", "placebo": [*placebo]}
        draw(name, compare_specs, tables, variants=variants, confidence=0.9, title="t")

    reasons = {"not_estimable": "not_estimable", "multiplicity": "multiplicity"}
    draw("fig02", fig02_mean_scores, {"mean_scores": "mean_scores"})
    draw("fig06", fig06_mean_scores_by_dimension, {"mean_scores": "mean_scores"})
    plain = {"confidence": 0.9, "covariance": "HC0"}
    draw("fig03", fig03_self_family_bias, {"estimates": "main", **reasons}, spec="main", simultaneous=None, **plain)
    draw("fig05", fig05_correlations, {"correlations": "correlations"}, confidence=0.9)
    draw(
        "fig08",
        fig08_ordinal,
        {"estimates": "ordinal", "not_estimable": "not_estimable"},
        spec="ordinal",
        by="",
        words="",
        **TOLD,
    )
    draw("gam_smooths", gam_smooths, {"smooths": "smooths"}, **plain)
    draw("placebo", placebo, {"tastes": "tastes"}, spec="main", confidence=0.9, title="t")
    blocks = [{"heading": "by dimension", "spec": "by_dimension", "simultaneous": None}]
    draw(
        "slices", slices_of_specs, {"estimates": ["by_dimension"], "whole": "main", **reasons}, blocks=blocks, words="", **TOLD
    )
    compared("length", "main", "length_control")
    compared("estimands", "main", "clustered", "model_effects", "completion_effects", placebo=["placebo"])
    for name in DRAWINGS:
        tables = ("reliability_curve", "breakdowns", "noisy_reference", "reliability") if name == "reliability" else (name,)
        inference_figure(
            drawing=name, tables={each: path(each) for each in tables}, subject=SUBJECT, confidence=0.9, title="t",
            outputs=[folder / "figures" / f"{name}.svg"],
        )  # fmt: skip
        drawn[name] = (folder / "figures" / f"{name}.svg").read_text("utf-8")
    tables = {"table": "conclusions", "not_estimable": "not_estimable"}
    draw("conclusions", conclusions_figure, tables, **ASKED)
    return drawn


def test_tables_that_rest_on_human_scores_have_a_header_alone(folder):
    empty = {name for name in tables_of_study() if not read_table(folder / f"tables/{name}.csv")} - {"check"}
    assert empty == {
        "smooths", "multiplicity", "correlations", "reliability", "noisy_reference", "reliability_curve", "breakdowns",
        "few_labels", "planner",
    }  # fmt: skip
    named = {row["spec"]: row["estimand"] for row in read_table(folder / "tables/missingness.csv")}
    assert named.keys() == {"model_effects", "model_effects_by_dimension"}
    named |= {row["spec"]: row["estimand"] for row in read_table(folder / "tables/sensitivity.csv")}
    assert {estimand[0] for estimand in named.values()} == {"B"}


def test_debiased_ratings_are_less_the_gap_to_the_other_judges(folder):
    found = read_table(folder / "estimates/model_effects.csv")
    own = {row["term"]: float(row["estimate"]) for row in found if row["quantity"] == "self_bias"}
    query = f"select judge, bias, rating_unit - debiased_unit from '{folder}/d.parquet' where judge = model"
    taken_off = connect().execute(query).fetchall()
    assert {judge for judge, *_ in taken_off} == own.keys()
    for judge, *both in taken_off:
        assert both == pytest.approx([own[judge]] * 2, abs=1e-12)


def test_the_first_view_is_the_gap_to_the_other_judges(folder):
    rows = read_table(folder / "tables/conclusions.csv")
    assert list(dict.fromkeys(row["view"] for row in rows)) == [
        "model_effects", "model_dimension_effects", "completion_effects", "placebo", "missing",
    ]  # fmt: skip
    assert {row["estimand"][:1] for row in rows} == {"B", "C", ""}
    first = {(row["slice"], row["term"]): row["conclusion"] for row in rows if row["view"] == "model_effects"}
    assert first["", "GPT-4o"] == first["Tone", "GPT-4o"] == "favours itself"
    said = Elements((folder / "conclusions.html").read_text("utf-8")).text
    assert (
        "“B: by model” is Equation 1 with the terms judge, self, same_family, dimension and model, with prompt-clustered"
        in said
    )
    assert "No row has a human score: a bias is a gap to the other judges" in said
    assert "Of 5 judges, 1 favours itself by “B: by model”, compared with the other judges" in said
    assert "judge:reference" not in said


def test_figures_draw_what_there_is_and_say_why_there_is_nothing_else(figures):
    assert {name for name, svg in figures.items() if f'id="{WORDS_ALONE}"' in svg} == SILENT
    assert set(figures) == SILENT | {"fig02", "fig06", "placebo", "estimands", "leaderboard", "conclusions"}
    for svg in figures.values():
        assert "nan" not in svg


@pytest.fixture(scope="module")
def page(folder, figures):
    about = {
        "subject": {"label": "ours", "kind": "user"}, "specs": SPECS, "analyses": [], "confidence": 0.9, "seed": 1,
        "stand_in": "model_effects", "scales": {"Tone": [1, 5], "Use": [1, 5]}, "origin": {}, "settings": [],
        "views": {name: view["title"] for name, view in VIEWS.items()},
    }  # fmt: skip
    names = {"fig03": "fig03_self_family_bias"}
    for name, other in names.items():
        (folder / f"figures/{other}.svg").write_text(figures[name], "utf-8")
    drawn = [names.get(name, name) for name in figures]
    told = {"tables": [], "params": {"subject": {"label": "ours", "kind": "user", "estimand": ""}, **ASKED}}
    captions = {name: {**told, "caption": str(ROOT / "workflow" / "report" / "conclusions.rst")} for name in drawn}
    inputs = {
        "figures": [str(folder / f"figures/{name}.svg") for name in drawn], "pages": [], "raw": [],
        "tables": [str(folder / f"tables/{name}.csv") for name in tables_of_study()],
        "estimates": [str(folder / f"estimates/{spec}.csv") for spec in SPECS],
        "template": [str(ROOT / "workflow" / "report" / "report.html.j2")],
    }  # fmt: skip
    told = {"wildcards": {"study": "ours"}, "config": {}}
    return report(study="ours", about=about, figures=captions, inputs=inputs, told=told, page=str(folder / "report.html"))


def test_the_report_answers_against_the_other_judges_and_says_what_it_cannot_tell(page):
    said = Elements(page).text
    assert re.search(r"1 of 5 judges favours itself, compared with the other judges of the same models", said)
    assert "what the other judges give the same models (estimand B)" in said
    assert NO_TRUTH in said
    assert f"Equation 1: {NO_HUMAN_SCORE}" in said
    assert "with CR1 standard errors" in said
    assert "Does the ranking of models change?" in said
    assert "In this study no row has a human score." in said
    assert "noise of the human scores" not in said
    assert "A: Equation 1:" not in said  # a view that the caption of the conclusions would name
    assert said.index("Figures with nothing to show") > said.index("Answer")
    answer = page[: page.index('id="figures"')]
    assert 'id="estimands"' in answer
    assert 'id="conclusions"' in answer
    assert 'id="fig03_self_family_bias"' not in page
