"""Does the study find what was planted, and do its intervals cover as often as they say?"""

import numpy as np
import pytest
from test_simulate import expectation

from conftest import CONFIG, twin_in
from picked_rows import column, fields, keyed, where
from planted_comparisons import as_texts
from recuse.base.database import write_parquet
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.simulate.ratings import simulate
from recuse.simulate.recovery import recovery

# The table has no draws
SPECS = [
    spec.changed(bootstrap=None, wild=None) for spec in Spec.from_config(CONFIG["specs"]).values()
]
PROMPTS = 150  # of a replicate
QUANTITIES = ("intercept", "slope", "self_bias", "family_bias")


def recovered(world, plan, folder, *, prompts, seed, specs, lengths=True):
    ratings = simulate(world, prompts=prompts, seed=seed).ratings
    if not lengths:
        del ratings["pred_length"]
    write_parquet(ratings, str(folder / "raw.parquet"))
    study = twin_in(folder)
    return recovered_from(study, plan, specs)


def is_tabulated(spec):
    """Mean ratings are linear in the human score only."""
    return spec.model.estimator == "least_squares" and spec.selection.reference is None


def recovered_from(study, plan, specs):
    """Rows of the table of recovery of a study, which needs no estimates of other specs."""
    estimates = {spec.name: estimated(spec, study) for spec in specs if is_tabulated(spec)}
    return list(recovery(specs, study, plan, estimates))


def estimated(spec, study):
    """Estimates as they are read from a file."""
    return as_texts(estimate(spec, study, confidence=0.9).estimates)


def test_every_coefficient_within_four_standard_errors_of_its_expectation(world, plan, tmp_path):
    rows = recovered(world, plan, tmp_path, prompts=596, seed=CONFIG["seed"], specs=SPECS)
    by_dimension = keyed(where(rows, spec="by_dimension"), "slice quantity term")
    planted = {
        fields(r, "slice quantity term"): r["planted"] for r in plan if r["quantity"] in QUANTITIES
    }
    assert {key: row["planted"] for key, row in by_dimension.items()} == pytest.approx(
        planted, abs=1e-9
    )
    # What is expected of the rows at hand is what the closed form says, but for the rows that are
    # absent by chance.
    for d, dimension in enumerate(world.dimensions):
        for term, value in expectation(world, [d]).items():
            row = by_dimension[dimension, *term]
            assert row["expected"] == pytest.approx(value, abs=0.4 * row["std_error"])
    pooled = keyed(where(rows, spec="main"), "quantity term")
    of_dimensions = [planted[dimension, "self_bias", "GPT-4o"] for dimension in world.dimensions]
    assert min(of_dimensions) < pooled["self_bias", "GPT-4o"]["planted"] < max(of_dimensions)
    assert pooled["slope", "GPT-4o"]["planted"] is None  # differs by dimension
    intercepts = where(rows, spec="model_effects", quantity="intercept")
    assert {row["planted"] for row in intercepts} == {None}
    assert {row["spec"] for row in rows} == {spec.name for spec in SPECS if is_tabulated(spec)}
    distances = [(row["estimate"] - row["expected"]) / row["std_error"] for row in rows]
    assert column(rows, "z") == pytest.approx(distances)
    assert max(map(abs, distances)) < 4
    # Summed with the weights that find biases simulated in another proportion than planted.
    of_biases = [
        row for row in by_dimension.values() if row["quantity"] in ("self_bias", "family_bias")
    ]
    weights = [row["planted"] / row["std_error"] for row in of_biases]
    assert abs(np.dot(weights, column(of_biases, "z"))) < 4 * np.linalg.norm(weights)
    assert 0.8 < np.std(distances) < 1.2


@pytest.mark.long
def test_intervals_cover_as_often_as_they_say(world, plan, tmp_path, request):
    replicates = request.config.getoption("replicates")
    specs = [spec for spec in SPECS if spec.name in ("main", "by_dimension")]
    inside = [
        row["inside"]
        for seed in range(replicates)
        for row in recovered(
            world, plan, tmp_path, prompts=PROMPTS, seed=seed, specs=specs, lengths=False
        )
        if row["quantity"] in ("self_bias", "family_bias")
    ]
    assert len(inside) == replicates * 13 * 7
    print(
        f"{replicates} replicates of {PROMPTS} prompts: the 90 % interval covers"
        f" {np.mean(inside):.1%}"
    )
    assert 0.86 <= np.mean(inside) <= 0.94


def test_plan_that_lacks_a_term_is_an_error(twin, plan):
    spec = Spec.of("main")
    shorter = [row for row in plan if row["term"] != "GPT-4o"]
    with pytest.raises(KeyError, match="GPT-4o"):
        recovered_from(twin, shorter, [spec])


def test_estimate_without_standard_error_has_no_row(twin, plan):
    rows = estimated(Spec.of("main"), twin)
    rows[3] |= {"std_error": "0.0", "ci_low": "", "ci_high": "", "p_value": ""}
    results = list(recovery([Spec.of("main")], twin, plan, {"main": rows}))
    assert len(results) == len(rows) - 1
    assert fields(rows[3], "quantity term") not in {fields(row, "quantity term") for row in results}
