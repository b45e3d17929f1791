"""Estimands in words: in tables, figures and captions, and side by side in one figure."""

import pandas as pd
import pytest

from drawings import INTERVAL, artists, gaps, spec_table, subject, texts
from recuse.base import tables
from recuse.config.load import project_settings
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import A_OF_REFERENCE, BIASES, MEANINGS, A, B, C, Spec, estimand_of, estimands_in_words
from recuse.model.words import PLACEBO
from recuse.plot.compare_specs import GAPS, compare_specs, with_placebo, without_variant
from recuse.published.claims import CLAIMS
from recuse.published.claims import estimand_of as estimand_of_claim
from recuse.published.values import ESTIMANDS

CONFIG = project_settings()
OF_MAIN = [(None, "self_bias", "GPT-4o", 0.1, 0.05, 0.15), (None, "self_bias", "Claude v2", 0.0, -0.1, 0.1)]


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


def test_placebo_cells_are_a_variant_with_a_prediction_interval():
    entries = [{"label": "A", "spec": "main", "covariance": "HC0"}, {"label": "C", "spec": PLACEBO}]

    def drawn(rows):
        tables = [spec_table(OF_MAIN, "main")], gaps(), [placebo_table(rows)]
        return compare_specs(*tables, subject(), variants=entries, confidence=0.9)

    figure = drawn(PLACEBO_ROWS)
    assert [point.get_xdata()[0] for point in artists(figure, "point")] == [0.0, 0.1, 0.2]
    assert [tuple(bar.get_xdata()) for bar in artists(figure, "interval")][2] == (0.1, 0.3)
    said = " ".join(texts(figure))
    assert all(text in said for text in ("C (90 % prediction interval)", f"A ({INTERVAL})", GAPS))
    figure = drawn(PLACEBO_ROWS[1:])
    assert figure.axes == []
    assert "Nothing to compare with: A." in " ".join(texts(figure))


def test_reasons_of_placebo_cells_are_those_of_the_spec_where_all_lack_an_estimate():
    reasons = gaps(("a", None, "x"))
    tables, joined = with_placebo([spec_table(OF_MAIN)], reasons, placebo_table(), spec="main")
    assert tables[1]["term"].tolist() == ["GPT-4o"]
    assert joined[["spec", "term", "reason"]].values.tolist()[1:] == [[PLACEBO, "Claude v2", "why not"]]
    tables, joined = with_placebo([spec_table(OF_MAIN)], reasons, placebo_table(PLACEBO_ROWS[1:]), spec="main")
    assert tables[1].empty
    assert joined["quantity"].isna().tolist() == [True, True]
    entry = {"label": "C: ordinary taste", "spec": PLACEBO}
    assert without_variant(entry, tables[1], joined) == {"C: ordinary taste": "why not"}
