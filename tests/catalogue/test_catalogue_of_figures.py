"""Every figure is declared once: what it draws, its caption, and which studies have it."""

import re
from pathlib import Path

import pytest

from conftest import ROOT
from recuse.base.errors import ConfigError
from recuse.catalogue.figures import (
    figures,
    simultaneous_intervals,
    study_figures,
)
from recuse.catalogue.tables import table_paths
from recuse.config.load import project, with_study
from recuse.config.studies import STAGES, Study, studies_in, with_placeholders
from recuse.model.spec import A_OF_REFERENCE, A, C
from recuse.report.html import rendered_caption
from recuse.workflow.figures import (
    captions,
    drawing_inputs,
    drawings,
    figures_by_group,
    files_for_readers,
    pictures,
)
from recuse.workflow.fits import stage_by_spec

PROJECT = with_placeholders(project(), lambda path: False)
MORE = {
    "on_cnn": {"subset": {"dataset": ["cnn"]}},
    "clustered_by_dataset": {"slice": "dataset", "wild": 99},
}
OF_BIASES = """
    fig01_method fig03_self_family_bias fig04_slices fig07_length_control fig08_ordinal
    fig09_llm_reference fig10_weak_models_dropped fig11_helm_instruct by_dataset
    one_model_dropped gam verdicts idiosyncrasy scorecard ablation_on_cnn
    ablation_clustered_by_dataset
"""
CONFIG = with_study(PROJECT.as_written(), specs=MORE)
STUDIES = studies_in(CONFIG)
FIGURES = figures(STUDIES["twin"])
OF_STUDY = {name: study_figures(study) for name, study in STUDIES.items()}
PRINTED = ("verbosity_bias", "attack_success")


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_the_tables_that_its_figures_draw(name):
    """Except Figure 11, which shows another study."""
    study, figures = STUDIES[name], OF_STUDY[name]
    files = {*table_paths(study).values(), *study.estimates()}
    files |= {
        study.path(f"{STAGES[stage]}/{table}.csv")
        for stage in STAGES
        for table in ("not_estimable", "multiplicity")
    }
    for each, figure in figures.items():
        paths = [
            path
            for path in drawing_inputs(drawings(study, figures, each))
            if path != figure.published
        ]
        assert set(paths) <= files or each == "fig11_helm_instruct"
        assert captions(study, figures)[each]["tables"] == paths


# Group of figures -> the stages of fits and the further tables that they wait for.
WAITED_FOR = {
    "fit": (["fit"], set()),
    "specs": (
        [*STAGES],
        {"mean_scores", "correlations", "not_estimable", "multiplicity", "smooths"},
    ),
}


def test_the_figures_of_a_group_wait_for_the_same_stage_and_no_later_one():
    stages = stage_by_spec(CONFIG.specs_by_name)
    for study in ("twin", "comparisons_twin"):
        groups = figures_by_group(OF_STUDY[study])
        assert len(groups) == (3 if study == "twin" else 1)
        assert [*groups] == [group for group in groups if groups[group]]
        for group in groups.keys() - {"rest"}:
            reached, tables = WAITED_FOR[group]
            for figure in groups[group].values():
                assert {stages[spec] for spec in figure.specs} <= set(reached)
                assert tables_without_estimates(figure) <= {f"tables/{name}" for name in tables} | {
                    f"{STAGES[stage]}/{name}"
                    for stage in reached
                    for name in ("not_estimable", "multiplicity")
                }


def tables_without_estimates(figure):
    return {name for name in figure.every_table if not name.startswith("estimates/")}


def test_every_figure_of_biases_names_the_estimand():
    assert {name for name, figure in FIGURES.items() if figure.estimand} >= {*OF_BIASES.split()}
    for figure in FIGURES.values():
        drawing = figure.drawing(next(filter(figure.applies, STUDIES.values())))
        assert drawing["subject"]["estimand"] == figure.estimand
        assert drawing["title"] == f"{figure.title}: {drawing['subject']['label']}"
    assert FIGURES["fig03_self_family_bias"].estimand == A
    assert FIGURES["fig09_llm_reference"].estimand == f"{A} and {A_OF_REFERENCE}"
    assert FIGURES["verdicts"].estimand == f"{A}, B against other judges and {C}"
    assert FIGURES["idiosyncrasy"].estimand == C


@pytest.mark.parametrize("study", STUDIES)
def test_captions_have_at_most_60_words(study):
    for name, of_figure in captions(STUDIES[study], OF_STUDY[study]).items():
        template = (ROOT / "workflow" / "report" / Path(of_figure["caption"]).name).read_text(
            "utf-8"
        )
        params = {"figures": {name: of_figure["drawing"]}}
        caption = rendered_caption(
            template, {"params": params, "wildcards": {"study": study}, "config": CONFIG}
        )
        words = re.sub("<[^>]*>", " ", caption).split()
        assert 0 < len(words) <= 60, f"{name}: {len(words)} words"


def test_the_caption_of_worlds_has_at_most_60_words():
    template = (ROOT / "workflow" / "report" / "montecarlo.rst").read_text("utf-8")
    assert 0 < len(rendered_caption(template, {}).split()) <= 60


def test_a_figure_of_another_study_says_so():
    shown = FIGURES["fig11_helm_instruct"].drawing(STUDIES["twin"])["subject"]
    assert shown["label"] == CONFIG.studies["helm_instruct"].title


def test_published_values_are_drawn_only_with_published_data():
    beside = {
        name: [study for study in CONFIG.comparisons if FIGURES[name].beside(STUDIES[study])]
        for name in PRINTED
    }
    assert beside == {
        "verbosity_bias": ["prd_vicuna80", "llmbar", "cobbler"],
        "attack_success": ["judgement_bias"],
    }


def test_a_figure_that_a_study_lacks_is_named():
    with pytest.raises(ConfigError, match="figures of twin: 'rbo' is not one of figures"):
        drawings(STUDIES["twin"], OF_STUDY["twin"], "rbo")


def test_a_users_spec_has_its_own_figure():
    assert FIGURES.keys() - figures(Study("twin", PROJECT)).keys() == {
        f"ablation_{spec}" for spec in MORE
    }
    compared, sliced = (FIGURES[f"ablation_{spec}"] for spec in MORE)
    assert compared.caption == "ablation_compare_specs"
    in_words = {"name": "on_cnn", "words": "Equation 1 on the dataset cnn"}
    assert compared.ablation == {**in_words, "caption": "ablation_compare_specs"}
    assert compared.tables["estimates"] == ["estimates/main", "estimates/on_cnn"]
    assert sliced.caption == "ablation_slices_of_specs"
    assert sliced.settings["words"] == "Ablation clustered_by_dataset: Equation 1 by dataset."
    mine = {"slice": "dataset", "estimator": "ordinal_logit"}
    ordinal = with_study(CONFIG.as_written(), specs={"mine": mine})
    assert figures(Study("twin", ordinal))["ablation_mine"].caption == "ablation_fig08_ordinal"


@pytest.mark.parametrize(
    ("spec", "other", "sliced"),
    [
        ("main", "clustered", ""),
        ("by_dimension", "clustered_by_dimension", "by dimension"),
        ("by_task_type", "clustered_by_task_type", "by task type"),
        ("by_dataset", "clustered_by_dataset", "by dataset"),
    ],
)
def test_simultaneous_intervals_are_of_the_same_model_with_a_wild_bootstrap(spec, other, sliced):
    intervals = simultaneous_intervals(STUDIES["twin"], spec)
    assert (intervals["spec"], intervals["sliced"], intervals["tests"]) == (
        other,
        sliced,
        "self- and family-biases",
    )
    if spec != "by_dataset":
        assert intervals["errors"] == "prompt-clustered (CR1)"


def test_no_spec_of_some_models_has_simultaneous_intervals():
    assert simultaneous_intervals(STUDIES["twin"], "one_model_dropped") is None
    assert simultaneous_intervals(STUDIES["twin"], "length_control") is None


@pytest.mark.parametrize("study", STUDIES)
def test_the_files_of_a_study_are_its_tables_figures_and_report(study):
    in_two_formats = Study(study, CONFIG.changed(formats=["svg", "pdf"]))
    files = files_for_readers(in_two_formats, OF_STUDY[study])
    assert len(files) == len(set(files))
    assert files[-1] == f"results/{study}/report.html"
    shown = pictures(STUDIES[study], OF_STUDY[study])
    assert [path for path in files if path.endswith(".svg")] == shown
    expected = {*table_paths(STUDIES[study]).values(), *shown}
    expected |= {f"{path[:-4]}.pdf" for path in shown}
    expected |= {f"results/{study}/{name}" for name in ("summary.json", "report.html")}
    if study in CONFIG.studies:
        expected |= {f"results/{study}/debiased.parquet", *STUDIES[study].estimates()}
    assert set(files) == expected
