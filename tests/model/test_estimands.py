"""Estimands in words: in tables, figures and captions, and side by side in one figure."""

from pathlib import Path

import pandas as pd
import pytest
from compare_specs import compare_specs

from drawings import COMMON, INTERVAL, artists, gaps, spec_table, texts
from recuse.base import tables
from recuse.config.load import project_settings
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import A_OF_REFERENCE, BIASES, MEANINGS, A, B, C, Spec, estimand_of, estimands_in_words
from recuse.model.words import PLACEBO
from recuse.plot.compare_specs import GAPS, with_placebo, without_variant
from recuse.published.claims import CLAIMS
from recuse.published.claims import estimand_of as estimand_of_claim
from recuse.published.values import ESTIMANDS

WORKFLOW = Path(__file__).parents[2] / "workflow"
CONFIG = project_settings()
OF_MAIN = [(None, "self_bias", "GPT-4o", 0.1, 0.05, 0.15), (None, "self_bias", "Claude v2", 0.0, -0.1, 0.1)]
MORE = {"on_cnn": {"subset": {"dataset": ["cnn"]}}, "clustered_by_dataset": {"slice": "dataset", "wild": 99}}
OF_BIASES = {
    "fig01_method", "fig03_self_family_bias", "fig04_slices", "fig07_length_control", "fig08_ordinal", "fig09_llm_reference",
    "fig10_weak_models_dropped", "fig11_helm_instruct", "by_dataset", "one_model_dropped", "gam", "estimands", "placebo",
    "scorecard", "ablation_on_cnn", "ablation_clustered_by_dataset",
}  # fmt: skip


@pytest.fixture(scope="module")
def drawings():
    """What the workflow's table of drawings holds for the project's config and two specs of a user."""
    names = {
        "config": {**CONFIG, "specs": {**CONFIG["specs"], **MORE}},
        "PROJECT": CONFIG,
        "COMPARISONS": CONFIG["comparisons"],
    }
    names |= {
        "kind_of": lambda _: "user",
        "models_of": lambda *_: {},
        "one_of": "|".join,
        "source_of": lambda *_: None,
        "ASKED": {},
    }
    exec(compile((WORKFLOW / "rules" / "drawings.smk").read_text("utf-8"), "drawings.smk", "exec"), names)
    return names


def test_every_figure_of_biases_and_its_caption_name_the_estimand(drawings):
    found = drawings["FIGURES"] | drawings["FIGURES_OF_THE_PAPER"]
    assert {figure for figure, drawing in found.items() if drawing.get("estimand")} >= OF_BIASES
    for figure, drawing in found.items():
        caption = (WORKFLOW / "report" / f"{drawing.get('caption', figure)}.rst").read_text("utf-8")
        assert ("snakemake.params.subject.estimand" in caption) == bool(drawing.get("estimand"))
        wildcards = type("Wildcards", (), {"study": "twin"})
        assert drawings["subject_for"](drawing)(wildcards)["estimand"] == drawing.get("estimand", "")
    assert found["fig03_self_family_bias"]["estimand"] == f"Estimand {A}."
    assert found["fig09_llm_reference"]["estimand"] == f"Estimand {A}; {A_OF_REFERENCE}."
    assert [line[0] for line in found["estimands"]["estimand"].split("\n")] == list(MEANINGS)
    assert found["placebo"]["estimand"] == f"Estimand {C}."


def test_simultaneous_intervals_are_of_the_same_model_with_a_wild_bootstrap(drawings):
    of = drawings["simultaneous_of"]
    both = {"tests": "self- and family-biases", "errors": "prompt-clustered (CR1)"}
    assert of("main") == {"spec": "clustered", "sliced": "", **both}
    assert of("by_dimension") == {"spec": "clustered_by_dimension", "sliced": "by dimension", **both}
    assert of("by_task_type") == {"spec": "clustered_by_task_type", "sliced": "by task type", **both}
    assert of("by_dataset")["spec"] == "clustered_by_dataset"
    assert of("one_model_dropped") is None
    assert of("length_control") is None


def test_estimands_in_words():
    assert estimands_in_words([]) == estimands_in_words([""]) == ""
    assert estimands_in_words([A, "", A]) == "Estimand A: gap to the human scale."
    model, completion = (B.format(of) for of in ("model", "completion"))
    assert estimands_in_words([model, completion]) == f"Estimand {model}; {completion}."
    assert estimands_in_words([C, A]) == f"C: {MEANINGS['C']}\nA: {MEANINGS['A']}"


def test_published_biases_have_the_estimand_of_their_spec():
    specs = {spec.name: spec for spec in Spec.from_config(CONFIG["specs"])}
    assert {name: estimand_of(specs[name]) for name in ESTIMANDS} == ESTIMANDS
    of_claims = {claim.name: estimand_of_claim(claim) for claim in CLAIMS}
    assert of_claims["llm_reference_self"] == A_OF_REFERENCE
    assert of_claims["mostly_consistent"] == of_claims["gap_is_as_large_as_bias"] == of_claims["gam_same_conclusions"] == A
    assert of_claims["accuracy_over_84"] == of_claims["scores_cluster"] == of_claims["length_goes_with_ratings"] == ""
    biased = [claim for claim in CLAIMS if "bias" in claim.sentence or any(of in claim.criterion for of in BIASES)]
    assert all(of_claims[claim.name] for claim in biased)


@pytest.mark.parametrize(
    "table",
    ["ESTIMATES", "MULTIPLICITY", "PLACEBO", "TASTES", "IDENTIFIABILITY", "LEADERBOARD", "PLANNER", "NOISY_REFERENCE",
     "BREAKDOWNS", "SENSITIVITY", "MISSINGNESS", "CONCLUSIONS", "CLAIMS", "SCORECARD", "RECOVERY", "CROSSCHECK", "VALIDITY"],
)  # fmt: skip
def test_tables_of_biases_have_a_column_for_the_estimand(table):
    assert "estimand" in getattr(tables, table)


PLACEBO_ROWS = [
    ("main", None, "self_bias", "GPT-4o", 0.2, 0.1, 0.3, None),
    ("main", None, "self_bias", "Claude v2", None, None, None, "why not"),
    ("main", None, "self_bias", ALL_JUDGES, 0.9, 0.8, 1.0, None),
    ("by_dimension", "Tone", "self_bias", "Claude v2", 0.9, 0.8, 1.0, None),
]


def placebo_table(rows=PLACEBO_ROWS):
    columns = ["spec", "slice", "quantity", "term", "estimate", "ci_low", "ci_high", "reason"]
    return pd.DataFrame(rows, columns=columns).reindex(columns=tables.PLACEBO)


def test_placebo_cells_are_a_variant_with_a_prediction_interval(tmp_path, monkeypatch):
    spec_table(OF_MAIN, "main").to_csv(tmp_path / "main.csv", index=False)
    gaps().to_csv(tmp_path / "gaps.csv", index=False)
    placebo_table().to_csv(tmp_path / "placebo.csv", index=False)
    entries = [
        {"label": "A", "spec": "main", "slice": None, "covariance": "HC0"},
        {"label": "C", "spec": PLACEBO, "slice": None},
    ]
    settings = {"estimates": [str(tmp_path / "main.csv")], "variants": entries, "not_estimable": str(tmp_path / "gaps.csv")}
    settings |= {"placebo": [str(tmp_path / "placebo.csv")], "confidence": 0.9, "title": "", "outputs": []}
    drawn = []
    monkeypatch.setattr("compare_specs.save", lambda figure, outputs, title: drawn.append(figure))
    compare_specs(**settings, **COMMON)
    assert [point.get_xdata()[0] for point in artists(drawn[0], "point")] == [0.0, 0.1, 0.2]
    assert [tuple(bar.get_xdata()) for bar in artists(drawn[0], "interval")][2] == (0.1, 0.3)
    said = " ".join(texts(drawn[0]))
    assert all(text in said for text in ("C (90 % prediction interval)", f"A ({INTERVAL})", GAPS))
    placebo_table(PLACEBO_ROWS[1:]).to_csv(tmp_path / "placebo.csv", index=False)
    compare_specs(**settings, **COMMON)
    assert drawn[1].axes == []
    assert "Nothing to compare with: A." in " ".join(texts(drawn[1]))


def test_reasons_of_placebo_cells_are_those_of_the_spec_where_all_lack_an_estimate():
    reasons = gaps(("a", None, "x"))
    tables, joined = with_placebo([spec_table(OF_MAIN)], reasons, placebo_table(), spec="main")
    assert tables[1]["term"].tolist() == ["GPT-4o"]
    assert joined[["spec", "term", "reason"]].values.tolist()[1:] == [[PLACEBO, "Claude v2", "why not"]]
    tables, joined = with_placebo([spec_table(OF_MAIN)], reasons, placebo_table(PLACEBO_ROWS[1:]), spec="main")
    assert tables[1].empty
    assert joined["quantity"].isna().tolist() == [True, True]
    entry = {"label": "C: ordinary taste", "spec": PLACEBO, "slice": None}
    assert without_variant(entry, tables[1], joined) == {"C: ordinary taste": "why not"}
