"""The jobs of inference on studies that lack what a spec reads: lengths, some of them, or the rows
that main keeps.
"""

import duckdb
import pytest
import yaml

from conftest import DATA, changed_twin
from picked_rows import fields
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names, read_table
from recuse.model.estimates import OF_SPECS as TABLES
from recuse.steps.conclusions import rank
from recuse.steps.fit import fit_specs
from recuse.steps.robustness import estimands, sensitivity

pytestmark = pytest.mark.usefixtures("few_sweeps")
LENGTH = ("length_control", "length_by_dimension")
DIMENSIONS = ("Completeness", "Faithfulness", "Helpfulness")
OF_SPECS = column_names(
    "idiosyncrasy pooled identifiability measurement_error sensitivity leaderboard"
)
LEVEL = {"confidence": 0.9, "seed": 1}
SETTINGS = {
    **{table: ["main", *LENGTH] for table in OF_SPECS},
    "debias": "C",
    "replicates": 100,
    "raters": 3,
    "power": {"self_bias": 0.02, "power": 0.8, "prompts": [100], "raters": [3], "copies": [1]},
    "without_human_scores": {},
}
OUTPUTS = yaml.safe_load("""
estimands: [idiosyncrasy, pooled, residuals, identifiability, wordings]
sensitivity: [reliability, measurement_error, reliability_curve, breakdowns, sensitivity]
leaderboard: [leaderboard, calibration, judgments, power]
""")


def tables_from(study, folder):
    """Run the four jobs; their tables by name."""
    specs = {
        "main": {},
        "length_control": {"length": "prompt"},
        "length_by_dimension": {"length": "prompt", "slice": "dimension"},
    }
    paths = {
        name: f"{folder}/{name}.csv" for names in (*OUTPUTS.values(), TABLES) for name in names
    }
    of = {job: {name: paths[name] for name in names} for job, names in OUTPUTS.items()}
    arguments = {"tables": study, "specs": specs}
    fit_specs(
        **arguments,
        before=[],
        order=list(specs),
        **LEVEL,
        estimates=[f"{folder}/{spec}.csv" for spec in specs],
        outputs=paths,
    )
    tables = {"tables": study}
    settings = {"specs": specs, "settings": SETTINGS}
    asked = {"checks": {}, "specs": {}, "power": 0.8, "confidence": 0.9}
    preference = {**settings, "asked": asked}
    estimands(**tables, confidence=0.9, preference=preference, outputs=of["estimands"])
    tables |= {"distortion": settings, "raters": [], "alphas": [f"{DATA}/twin_facts.csv"]}
    sensitivity(**tables, confidence=0.9, outputs=of["sensitivity"])
    outputs = of["leaderboard"] | {"debiased": f"{folder}/debiased.parquet"}
    read = {name: paths[name] for name in ("idiosyncrasy", "reliability")}
    read |= {"fitted": [f"{folder}/main.csv"], "ranking": settings}
    rank(tables=study, **LEVEL, **read, outputs=outputs)
    return {name: read_table(path) for name, path in paths.items()}


def specs_from(rows):
    return {row["spec"] for row in rows}


def test_specs_of_length_are_left_out_of_a_study_without_lengths_and_said_to_be(twin, tmp_path):
    rows = "select * exclude pred_length from raw where dimension = 'Faithfulness'"
    tables = tables_from(changed_twin(twin, tmp_path, rows), tmp_path)
    assert all(specs_from(tables[table]) == {"main"} for table in OF_SPECS)
    assert {fields(row, "spec slice reason") for row in tables["not_estimable"]} == {
        (spec, "", because(Reason.NO_LENGTHS)) for spec in LENGTH
    }
    assert {row["length_with_term"] for row in tables["sensitivity"]} == {""}


def test_rows_without_length_are_left_out_of_fits_with_length_alone(twin, tmp_path):
    """One dimension has none, and of the others a fifth of the completions."""
    gone = "dimension = 'Faithfulness' or hash(prompt_id, model) % 5 = 0"
    length = f"if({gone}, null, pred_length) as pred_length"
    rows = f"select * replace ({length}) from raw where dimension in {DIMENSIONS}"
    tables = tables_from(changed_twin(twin, tmp_path, rows), tmp_path)
    kept = {*DIMENSIONS} - {"Faithfulness"}
    for table in OF_SPECS:
        assert specs_from(tables[table]) == {"main", *LENGTH}
        assert {
            row["slice"] for row in tables[table] if row["spec"] == "length_by_dimension"
        } == kept
    every, kept_rows = duckdb.sql(
        f"select count(*), count(pred_length) from '{tmp_path}/raw.parquet'"
    ).fetchall()[0]
    of_whole = [
        row
        for row in tables["identifiability"]
        if row["slice"] == "" and row["estimand"] != "C" and row["n"]
    ]
    assert {(row["spec"], int(row["n"])) for row in of_whole} == {
        ("main", every),
        ("length_control", kept_rows),
    }
    assert all(
        0 < float(row["length_with_rating"]) < 1
        for row in tables["sensitivity"]
        if row["spec"] == "length_control"
    )
