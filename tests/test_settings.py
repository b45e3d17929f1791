"""What is said of a wrong configuration."""

import copy

import pytest

from conftest import CONFIG, SCHEMA
from judgebias.errors import ConfigError
from judgebias.settings import check


def place(config, path, value):
    *parents, last = path
    for key in parents:
        config = config[key]
    config[last] = value


def test_the_projects_own_config_is_valid():
    check(CONFIG, SCHEMA)


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
        (["build"], ["twinn"], "build: 'twinn' is not one of studies; did you mean 'twin'"),
        (["models", "GPT-4o", "family"], "GTP", "models: GPT-4o: family: 'GTP' is not one of families; did you mean 'GPT'"),
        (["families", "GPT", "colour"], "red", "families: GPT: colour: "),
        (["specs", "w"], {"subset": {"models_dropped": ["GPT-5"]}}, "models_dropped: 'GPT-5' is not one of models"),
        (["specs", "w"], {"subset": {"dimension": ["Charm"]}}, "specs: w: subset: dimension: 'Charm' is not one of"),
        (["specs", "w"], {"subset": {"dataset": ["xsumm"]}}, "did you mean 'xsum'"),
        (["studies", "twin", "scales", "Helpfulness"], [6, 0], r"studies: twin: scales: Helpfulness: found \[6, 0\]"),
        (["studies", "twin", "source"], "play_favorites", "studies: twin: found simulate, source of simulate, source, files"),
        (["studies", "twin", "kind"], "real", "studies: twin: kind: 'real' is not one of"),
        (["studies", "play_favorites", "source"], "play", "studies: play_favorites: source: 'play' is not one of sources"),
        (["studies", "play_favorites", "scales"], {"Charm": [0, 4]}, "studies: play_favorites: scales: 'Charm' is not one of"),
        (["studies", "twin", "task_types", "other"], ["cnn"], "task_types: the dataset 'cnn' has two task types"),
        (["sources", "play_favorites", "commit"], "main", "sources: play_favorites: commit: 'main' does not match"),
        (["studies", "mine"], {"title": "t", "kind": "user", "scales": {"A": [0, 1]}}, "studies: mine: found none of"),
    ],
)  # fmt: skip
def test_wrong_setting_is_named(path, value, message):
    config = copy.deepcopy(CONFIG)
    place(config, path, value)
    with pytest.raises(ConfigError, match=message):
        check(config, SCHEMA)


def test_every_key_of_the_schema_is_described():
    def undescribed(node, path=()):
        for name, child in node.get("properties", {}).items():
            if "description" not in child:
                yield (*path, name)
            yield from undescribed(child, (*path, name))
        if isinstance(node.get("additionalProperties"), dict):
            yield from undescribed(node["additionalProperties"], (*path, "*"))

    assert list(undescribed(SCHEMA)) == []


def test_user_files_name_the_dimensions_of_the_study():
    config = copy.deepcopy(CONFIG)
    config["studies"]["mine"] = {"title": "t", "kind": "user", "files": {"A": "a.csv"}, "scales": {"A": [0, 1], "B": [0, 1]}}
    with pytest.raises(ConfigError, match="studies: mine: scales: 'B' is not one of studies: mine: files"):
        check(config, SCHEMA)
    config["studies"]["mine"]["files"] = "all.csv"
    check(config, SCHEMA)
