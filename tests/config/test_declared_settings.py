"""Messages about an invalid configuration."""

import copy

import pytest
import yaml

from conftest import CONFIG
from recuse.base.database import bounded
from recuse.base.errors import ConfigError
from recuse.config.declared.inference import check_redefined
from recuse.config.declared.settings import check_settings
from text_tables import cases


def place(config, path, value):
    """Write a value to the place with these keys, between slashes."""
    *parents, last = path.split("/")
    for key in parents:
        config = config[key]
    config[last] = value


@pytest.mark.parametrize(
    ("changed", "message"),
    cases(
        r"""
confidance: 0.9
    confidance: unknown key; did you mean 'confidence'
inference/placebo: [main]
    inference: placebo: unknown key; its name is now 'idiosyncrasy'
inference/bounds: [main]
    inference: bounds: unknown key
inference/robustness_checks/length/methods: [moments]
    methods: unknown key; its name is now 'method'
inference/power/gamma: 0.02
    power: gamma: unknown key; its name is now 'self_bias'
specs/main/covarience: HC1
    specs: main: covarience: unknown key; did you mean 'covariance'
specs/main/covariance: HC9
    specs: main: covariance: should be 'HC0', .* or 'two_way', found 'HC9'
specs/main/slice: judge
    specs: main: slice: should be 'dimension', .*, found 'judge'
specs/Mine: {}
    specs: names should match .*, found 'Mine'
specs: {w: {wild: 98}, Mine: {}}
    specs: names should match .*, found 'Mine'
confidence: '0.9'
    confidence: should be a number, found '0.9'
confidence: 1.0
    confidence: should be below 1, found 1.0
seed: -1
    seed: should be at least 0, found -1
memory_limit: 4gb
    such as 4GB or 512MB
memory_limit: 0GB
    such as 4GB or 512MB
memory_limit: 0.0GB
    such as 4GB or 512MB
memory_limit: GB
    such as 4GB or 512MB
memory_limit: '4'
    such as 4GB or 512MB
build: [twinn]
    build: 'twinn' is not one of studies; did you mean 'twin'
models/GPT-4o/family: GTP
    models: GPT-4o: family: 'GTP' is not one of families; did you mean 'GPT'
families/GPT/colour: red
    families: GPT: colour:
specs/w: {subset: {models_dropped: [GPT-5]}}
    models_dropped: 'GPT-5' is not one of models
specs/w: {subset: {dimension: [Charm]}}
    specs: w: subset: dimension: 'Charm' is not one of
specs/w: {subset: {dataset: [xsumm]}}
    did you mean 'xsum'
specs/w: {slice: dimension, reference: family}
    specs: w: found reference with slice, which cannot
specs/w: {length: prompt, reference: family}
    specs: w: found length with reference, which cannot
specs/w: {length: prompt, estimator: gam}
    specs: w: found gam with length, which cannot be
specs/w: {estimator: gam, terms: [judge]}
    specs: w: found gam with terms, which cannot be combined
specs/w: {estimator: ordinal_logit, bootstrap: 200}
    specs: w: found bootstrap with ordinal_logit
specs/w: {estimator: ordinal_logit, covariance: HC3}
    specs: w: found HC3 with ordinal_logit, which
specs/w: {estimator: gam, covariance: two_way}
    specs: w: found gam with two_way, which cannot
specs/w: {length: prompt, covariance: HC2}
    specs: w: found HC2 with length, which cannot
specs/w: {estimator: gam, wild: 999}
    specs: w: found gam with wild, which cannot be combined
specs/w: {wild: 98}
    specs: w: wild: should be at least 99, found 98
specs/w: {tests: [slope]}
    specs: w: tests: 0: should be 'self_bias' or 'family_bias', found 'slope'
specs/w: {absorb: completion, covariance: HC1}
    w: absorb: its errors are clustered; add
specs/w: {bootstrap: 99}
    specs: w: bootstrap: should be at least 100, found 99
specs/w: {whole: true}
    specs: w: whole: without `slice` all rows
specs/w: {terms: [judge, intercept]}
    w: terms: found intercept with judge, which contains it
specs/w: {terms: [judge, reference, 'judge:reference']}
    terms: found reference with judge:reference
specs/w: {terms: [judge, model, 'model:dimension']}
    terms: found model with model:dimension, which
specs/w: {absorb: completion}
    specs: w: absorb: its errors are clustered; add `cov
studies/multivac/specs/main: {}
    studies: multivac: specs: main: the name of a shared spec
studies/multivac/specs/w: {subset: {models_dropped: [glm_4_8]}}
    studies: multivac: specs: w: subset: models_dropped: 'glm_4_8'.*did you mean
studies/multivac/inference/leaderboard: [absent]
    studies: multivac: inference: leaderboard: 'absent'
studies/multivac/source: prd
    studies: multivac: source: 'prd' holds no ratings that are read here
specs/w: {absorb: prompt, covariance: CR1}
    specs: w: absorb: should be 'completion', found 'prompt'
specs/w: {absorb: completion, estimator: gam}
    specs: w: found absorb with gam, which cannot
specs/w: {terms: [self, reference]}
    specs: w: terms: found neither intercept nor judge
specs/w: {terms: [judge, length]}
    specs: w: terms: 1: should be 'intercept', .*, found 'length'
studies/twin/scales/Helpfulness: [6, 0]
    studies: twin: scales: Helpfulness: found \[6, 0\]
studies/twin/shards: 1
    studies: twin: shards: should be at least 2, found 1
{studies/twin/shards: 2, studies/twin/scales: {Helpfulness: observed}}
    studies: twin: scales: Helpfulness: observed needs all files at once, `shards` splits them
studies/twin/source: play_favorites
    studies: twin: found simulate, source of simulate, files
studies/twin/raters: raters.csv
    studies: twin: raters: needs `files`
studies/helm_instruct/simulate/quality/GPT-5: 0.5
    simulate: quality: 'GPT-5' is not one
studies/helm_instruct/simulate/judges/GPT-4o: {}
    simulate: judges: 'GPT-4o' is not one of
studies/helm_instruct/simulate/family_bias/Llama 3: 0.1
    family_bias: 'Llama 3' is not one of
studies/twin/simulate/family_bias: {GPT: 0.1}
    found family_bias without quality; add `quality`
studies/twin/kind: published
    studies: twin: kind: unknown key
studies/twin/scales/Helpfulness: [0, 1000]
    found \[0, 1000\]; write .* at most 101 ratings
studies/twin/scales: {5: [0, 4]}
    studies: twin: scales: names should be text, found 5
models/Human: {family: GPT}
    models: Human: the name of the human scores
sources/play_favorites/files: {a/b: {path: x, blob: '0000000000000000000000000000000000000000'}}
    files: names should match
studies/play_favorites/source: play
    studies: play_favorites: source: 'play' is not one of sources
studies/play_favorites/scales: {Charm: [0, 4]}
    studies: play_favorites: scales: 'Charm' is not one of
studies/twin/task_types/other: [cnn]
    task_types: the dataset 'cnn' is listed under summar
sources/play_favorites/commit: main
    sources: play_favorites: commit: should match .*, found 'main'
studies/mine: {title: t, scales: {A: [0, 1]}}
    studies: mine: found none of
studies/mine: {title: t, files: '{x}.csv', scales: {A: [0, 1]}}
    braces mean a wildcard
studies/mine: {titel: t, scales: {A: [0, 1]}}
    mine: titel: unknown key; did you mean 'title'
studies/mine: {title: t, files: a.csv}
    mine: 'scales' is required .The study's dimensions, each
studies/mine: {title: t, files: [a], scales: {A: [0, 1]}}
    should be text or a mapping, found
studies/twin/scales/Helpfulness: [0, 1, 2]
    should have at most 2 entries, found \[0, 1, 2\] .The
studies/twin/simulate/prompts: 12.0
    simulate: prompts: should be a whole number, found 12.0 .Number
studies/twin/simulate: null
    studies: twin: simulate: is empty; it should be a mapping .Simulate a twin
models/GPT-4o/ids: []
    models: GPT-4o: ids: should not be empty, found \[\] .Other spellings of
models/GPT-4o/ids: [a, a]
    ids: should have no entry twice, found \['a', 'a'\]
sources/prd/files: {A: {path: a, blob: '0000000000000000000000000000000000000000'}}
    prd: write either `files` or `manifest`
sources/play_favorites/files/A: {path: ../a, blob: '0000000000000000000000000000000000000000'}
    leads out of the repository
specs/w: {subset: {}}
    specs: w: subset: should not be empty, found {} .Rows to keep
inference/robustness_checks/holm/by: p_value
    robustness_checks: holm: by: should be 'ci',
"""
    ),
)
def test_invalid_settings_are_named(changed, message):
    config = copy.deepcopy(CONFIG)
    for path, value in yaml.safe_load(changed).items():
        place(config, path, value)
    with pytest.raises(ConfigError, match=message):
        check_settings(config)


@pytest.mark.parametrize("limit", ["4GB", "0.5GB", "0.25 TiB", "10.5MB", "512 MiB"])
def test_duckdb_accepts_valid_memory_limits(limit, tmp_path):
    check_settings({**CONFIG, "memory_limit": limit})
    with bounded(limit, tmp_path / "spill"):
        pass


def test_user_files_name_the_dimensions_of_the_study():
    config = copy.deepcopy(CONFIG)
    config["studies"]["mine"] = {
        "title": "t",
        "files": {"A": "a.csv"},
        "scales": {"A": [0, 1], "B": [0, 1]},
    }
    with pytest.raises(
        ConfigError, match="studies: mine: scales: 'B' is not one of `files`; known: A"
    ):
        check_settings(config)
    config["studies"]["mine"]["files"] = "all.csv"
    # A study without task types may hold any dataset
    config["specs"]["some"] = {"subset": {"dataset": ["any of mine"]}}
    check_settings(config)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"main": {"length": "prompt"}},
            "specs: main: length: found prompt; figures are named after this spec",
        ),
        ({"by_dimension": {"slice": "dataset"}}, "specs: by_dimension: slice: found dataset"),
        ({"gam": {"slice": "dimension", "estimator": "gam"}}, "specs: gam: whole: found None"),
    ],
)
def test_specs_that_figures_are_named_after_stay_the_same_models(changed, message):
    with pytest.raises(ConfigError, match=message):
        check_redefined(CONFIG["specs"] | changed, CONFIG["specs"])


def test_projects_specs_may_have_another_subset_and_covariance():
    other = {
        "weak_models_dropped": {"subset": {"models_dropped": ["GPT-4o"]}},
        "main": {"covariance": "HC1"},
        "mine": {},
    }
    check_redefined(CONFIG["specs"] | other, CONFIG["specs"])
    check_redefined(
        CONFIG["specs"] | {"main": {"covariance": "CR1", "bootstrap": 10_000}}, CONFIG["specs"]
    )
