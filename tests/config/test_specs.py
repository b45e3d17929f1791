"""Which specs and settings the rules of the tables beside the estimates are told."""

from conftest import CONFIG
from recuse.config.specs import conclusions_params, inference_params, main_and_stand_in, specs_of_views, tables_of_views


def test_specs_of_tables_are_told_with_those_in_their_place():
    told = inference_params(CONFIG, ["placebo", "sensitivity"], "assignments")
    assert told["settings"] == {key: CONFIG["inference"][key] for key in ("placebo", "sensitivity", "assignments")}
    assert set(told["specs"]) == {"main", "by_dimension", "by_dataset", "by_task_type", "length_control"}
    assert told["specs"]["length_control"] == CONFIG["specs"]["length_control"]
    told = inference_params(CONFIG, ["sensitivity"], "without_human_scores", also=["gam"])
    assert set(told["specs"]) == {"gam", *CONFIG["inference"]["sensitivity"], "model_effects", "model_effects_by_dimension"}


def test_main_and_what_stands_in_its_place():
    assert main_and_stand_in(CONFIG) == ["main", "model_effects"]
    alone = {**CONFIG, "inference": {**CONFIG["inference"], "without_human_scores": {}}}
    assert main_and_stand_in(alone) == ["main"]


def test_views_of_the_conclusions_read_these_tables_and_specs():
    assert tables_of_views(CONFIG) == ["missingness", "multiplicity", "noisy_reference", "placebo", "sensitivity"]
    specs = specs_of_views(CONFIG)
    assert specs[:4] == ["main", "by_dimension", "clustered", "clustered_by_dimension"]
    assert len(specs) == len(set(specs))
    told = conclusions_params(CONFIG)
    assert list(told["views"]) == list(CONFIG["inference"]["conclusions"])
    assert {view["table"] for view in told["views"].values()} == {"estimates", *tables_of_views(CONFIG)}
    assert set(specs) <= set(told["specs"])
    assert (told["confidence"], told["power"]) == (0.9, 0.8)
