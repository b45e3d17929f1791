"""What is said of a wrong configuration."""

import copy

import pytest

from conftest import CONFIG
from recuse.base.database import bounded_memory
from recuse.base.errors import ConfigError
from recuse.config.declared.inference import check_redefined
from recuse.config.declared.settings import check


def place(config, path, value):
    *parents, last = path
    for key in parents:
        config = config[key]
    config[last] = value


def test_the_projects_own_config_is_valid():
    check(CONFIG)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["confidance"], 0.9, "unknown key 'confidance'; did you mean 'confidence'"),
        (["specs", "main", "covarience"], "HC1", "specs: main: unknown key 'covarience'; did you mean 'covariance'"),
        (["specs", "main", "covariance"], "HC9", "specs: main: covariance: 'HC9' is not one of"),
        (["specs", "main", "slice"], "judge", "specs: main: slice: 'judge' is not one of"),
        (["specs", "Mine"], {}, "'Mine' does not match"),
        (["confidence"], "0.9", "confidence: '0.9' is not of type 'number'"),
        (["confidence"], 1.0, "confidence: "),
        (["seed"], -1, "seed: "),
        *((["memory_limit"], limit, "such as 4GB or 512MB") for limit in ("4gb", "0GB", "0.0GB", "GB", "4")),
        (["build"], ["twinn"], "build: 'twinn' is not one of studies; did you mean 'twin'"),
        (["models", "GPT-4o", "family"], "GTP", "models: GPT-4o: family: 'GTP' is not one of families; did you mean 'GPT'"),
        (["families", "GPT", "colour"], "red", "families: GPT: colour: "),
        (["specs", "w"], {"subset": {"models_dropped": ["GPT-5"]}}, "models_dropped: 'GPT-5' is not one of models"),
        (["specs", "w"], {"subset": {"dimension": ["Charm"]}}, "specs: w: subset: dimension: 'Charm' is not one of"),
        (["specs", "w"], {"subset": {"dataset": ["xsumm"]}}, "did you mean 'xsum'"),
        (["specs", "w"], {"slice": "dimension", "reference": "family"}, "specs: w: found reference with slice, which do not"),
        (["specs", "w"], {"length": "prompt", "reference": "family"}, "specs: w: found length with reference, which"),
        (["specs", "w"], {"length": "prompt", "estimator": "gam"}, "specs: w: found gam with length, which do not go"),
        (["specs", "w"], {"estimator": "gam", "terms": ["judge"]}, "specs: w: found gam with terms, which do not go together"),
        (["specs", "w"], {"estimator": "gam", "covariance": "CR1"}, "specs: w: found CR1 with gam, which do not go together"),
        (["specs", "w"], {"estimator": "ordinal_logit", "bootstrap": 200}, "specs: w: found bootstrap with ordinal_logit"),
        (["specs", "w"], {"estimator": "ordinal_logit", "covariance": "HC3"}, "specs: w: found HC3 with ordinal_logit, which"),
        (["specs", "w"], {"estimator": "gam", "covariance": "two_way"}, "specs: w: found gam with two_way, which do not go"),
        (["specs", "w"], {"length": "prompt", "covariance": "HC2"}, "specs: w: found HC2 with length, which do not go"),
        (["specs", "w"], {"estimator": "gam", "wild": 999}, "specs: w: found gam with wild, which do not go together"),
        (["specs", "w"], {"wild": 98}, "specs: w: wild: 98 is less than the minimum of 99"),
        (["specs", "w"], {"tests": ["slope"]}, "specs: w: tests: 0: 'slope' is not one of"),
        (["specs", "w"], {"absorb": "completion", "covariance": "two_way"}, "w: absorb: its errors are by prompt; write `cov"),
        (["specs", "w"], {"bootstrap": 99}, "specs: w: bootstrap: 99 is less than the minimum of 100"),
        (["specs", "w"], {"whole": True}, "specs: w: whole: there is no slice beside it"),
        (["specs", "w"], {"terms": ["judge", "intercept"]}, "w: terms: found intercept with judge, of which one"),
        (["specs", "w"], {"terms": ["judge", "reference", "judge:reference"]}, "terms: found reference with judge:reference"),
        (["specs", "w"], {"terms": ["judge", "model", "model:dimension"]}, "terms: found model with model:dimension, of which"),
        (["specs", "w"], {"absorb": "completion"}, "specs: w: absorb: its errors are by prompt; write `covariance: CR1`"),
        (["specs", "w"], {"absorb": "prompt", "covariance": "CR1"}, "specs: w: absorb: 'completion' was expected"),
        (["specs", "w"], {"absorb": "completion", "estimator": "gam"}, "specs: w: found absorb with gam, which do not go"),
        (["specs", "w"], {"terms": ["self", "reference"]}, "specs: w: terms: found neither intercept nor judge"),
        (["specs", "w"], {"terms": ["judge", "length"]}, "specs: w: terms: 1: 'length' is not one of"),
        (["studies", "twin", "scales", "Helpfulness"], [6, 0], r"studies: twin: scales: Helpfulness: found \[6, 0\]"),
        (["studies", "twin", "shards"], 1, "studies: twin: shards: 1 is less than the minimum of 2"),
        (
            ["studies", "twin"],
            {**CONFIG["studies"]["twin"], "shards": 2, "scales": {"Helpfulness": "observed"}},
            "studies: twin: scales: Helpfulness: observed, which takes all files at once, does not go with `shards`",
        ),
        (["studies", "twin", "source"], "play_favorites", "studies: twin: found simulate, source of simulate, source, files"),
        (["studies", "twin", "raters"], "raters.csv", "studies: twin: raters: goes with `files`"),
        (["studies", "helm_instruct", "simulate", "quality", "GPT-5"], 0.5, "simulate: quality: 'GPT-5' is not one"),
        (["studies", "helm_instruct", "simulate", "judges", "GPT-4o"], {}, "simulate: judges: 'GPT-4o' is not one of"),
        (["studies", "helm_instruct", "simulate", "family_bias", "Llama 3"], 0.1, "family_bias: 'Llama 3' is not one of"),
        (["studies", "twin", "simulate", "family_bias"], {"GPT": 0.1}, "'quality' is a dependency of 'family_bias'"),
        (["studies", "twin", "kind"], "published", "studies: twin: unknown key 'kind'"),
        (["studies", "twin", "scales", "Helpfulness"], [0, 1000], r"found \[0, 1000\]; write .* at most 101 ratings"),
        (["studies", "twin", "scales"], {5: [0, 4]}, "studies: twin: scales: 5 is not of type 'string'"),
        (["models", "Human"], {"family": "GPT"}, "models: Human: the name of the human scores"),
        (["sources", "play_favorites", "files", "a/b"], {"path": "x", "blob": "0" * 40}, "files: 'a/b' does not match"),
        (["studies", "play_favorites", "source"], "play", "studies: play_favorites: source: 'play' is not one of sources"),
        (["studies", "play_favorites", "scales"], {"Charm": [0, 4]}, "studies: play_favorites: scales: 'Charm' is not one of"),
        (["studies", "twin", "task_types", "other"], ["cnn"], "task_types: the dataset 'cnn' has two task types"),
        (["sources", "play_favorites", "commit"], "main", "sources: play_favorites: commit: 'main' does not match"),
        (["studies", "mine"], {"title": "t", "scales": {"A": [0, 1]}}, "studies: mine: found none of"),
        (["studies", "mine"], {"title": "t", "files": "{x}.csv", "scales": {"A": [0, 1]}}, "braces mean a wildcard"),
        (["studies", "mine"], {"titel": "t", "scales": {"A": [0, 1]}}, "mine: unknown key 'titel'; did you mean 'title'"),
        (["studies", "mine"], {"title": "t", "files": "a.csv"}, "mine: 'scales' is a required property .Lowest and highest"),
        (["studies", "mine"], {"title": "t", "files": ["a"], "scales": {"A": [0, 1]}}, "is not a text or a mapping"),
        (["studies", "twin", "scales", "Helpfulness"], [0, 1, 2], r"\[0, 1, 2\] is too long; write 2 at most .Lowest"),
        (["studies", "twin", "simulate", "prompts"], 12.0, "simulate: prompts: 12.0 is not of type 'integer' .Number of prom"),
        (["studies", "twin", "simulate"], None, "studies: twin: simulate: None is not of type 'object' .Simulate a twin"),
        (["models", "GPT-4o", "ids"], [], r"models: GPT-4o: ids: \[\] should be non-empty .Spellings of the model"),
        (["models", "GPT-4o", "ids"], ["a", "a"], r"ids: \['a', 'a'\] has non-unique elements .Spellings of the model"),
        (["sources", "prd", "files"], {"A": {"path": "a", "blob": "0" * 40}}, "prd: write either `files` or `manifest`"),
        (["sources", "play_favorites", "files", "A"], {"path": "../a", "blob": "0" * 40}, "leads out of the repository"),
        (["specs", "w"], {"subset": {}}, "specs: w: subset: {} should be non-empty .Rows to keep"),
        (["inference", "robustness_checks", "holm", "by"], "p_value", "robustness_checks: holm: by: 'p_value' is not one of"),
    ],
)
def test_wrong_setting_is_named(path, value, message):
    config = copy.deepcopy(CONFIG)
    place(config, path, value)
    with pytest.raises(ConfigError, match=message):
        check(config)


@pytest.mark.parametrize("limit", ["4GB", "0.5GB", "0.25 TiB", "10.5MB", "512 MiB"])
def test_limits_of_memory_are_what_duckdb_takes(limit, tmp_path):
    check({**CONFIG, "memory_limit": limit})
    with bounded_memory(limit, tmp_path / "spill"):
        pass


def test_user_files_name_the_dimensions_of_the_study():
    config = copy.deepcopy(CONFIG)
    config["studies"]["mine"] = {"title": "t", "files": {"A": "a.csv"}, "scales": {"A": [0, 1], "B": [0, 1]}}
    with pytest.raises(ConfigError, match="studies: mine: scales: 'B' is not one of `files`; known: A"):
        check(config)
    config["studies"]["mine"]["files"] = "all.csv"
    config["specs"]["some"] = {"subset": {"dataset": ["any of mine"]}}  # a study without task types may hold any dataset
    check(config)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"main": {"length": "prompt"}}, "specs: main: length: found prompt; this spec is what the figures call it"),
        ({"by_dimension": {"slice": "dataset"}}, "specs: by_dimension: slice: found dataset"),
        ({"gam": {"slice": "dimension", "estimator": "gam"}}, "specs: gam: whole: found None"),
    ],
)
def test_projects_specs_stay_what_figures_call_them(changed, message):
    with pytest.raises(ConfigError, match=message):
        check_redefined(CONFIG["specs"] | changed, CONFIG["specs"])


def test_projects_specs_may_have_another_subset_and_covariance():
    other = {"weak_models_dropped": {"subset": {"models_dropped": ["GPT-4o"]}}, "main": {"covariance": "HC1"}, "mine": {}}
    check_redefined(CONFIG["specs"] | other, CONFIG["specs"])
    check_redefined(CONFIG["specs"] | {"main": {"covariance": "CR1", "bootstrap": 10_000}}, CONFIG["specs"])
