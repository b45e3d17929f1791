"""Configurations that are nearly valid, or look like code: each is accepted or refused, and nothing
is executed.
"""

import os
import re

import pytest
import yaml
from hypothesis import given

from mutations import bytes_like, documents_like, done_or_refused, examples
from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError
from recuse.config.load import load
from recuse.config.read import read
from recuse.config.studies import studies_in, with_placeholders
from recuse.data.files import RawFile
from recuse.data.registry import (
    Registry,
    declared_in,
    finest_step,
    models_with,
    raw_files,
)
from recuse.imports.rows import first_keys
from recuse.model.spec import Spec
from recuse.plot.style import Subject
from text_tables import lines

OWN = """\
build: [ours, verdicts]
seed: 3
confidence: 0.9
memory_limit: 1GB
families: {Mine: {colour: "#0072B2"}}
models:
  My model: {family: Mine, ids: [mine-1, "2"]}
  gpt-5: {family: GPT}
studies:
  ours:
    title: "ours"
    files: {A: a.csv, B: b.parquet}
    raters: r.csv
    scales: {A: [0, 4], B: observed}
    task_types: {qa: [x, y]}
  logs:
    title: logs
    import:
      files: [a.csv, b.csv]
      columns: {judge: grader, rating: score}
      references: {files: h.csv, columns: {rating: [u, v]}}
      missing: [-1, ERROR]
      step: 0.5
    families: {Mine: [m1, m2]}
    scales: {Q: [1, 10]}
  world:
    title: a world
    simulate:
      prompts: 12
      quality: {gpt-5: 0.5, GPT-4o: 0.6}
      judges: {gpt-5: {self_bias: 0.1, slope: 0.5}}
      family_bias: {GPT: 0.1}
      dispersion: {raters: 3}
    scales: {A: [0, 4]}
    shards: 3
specs:
  mine: {subset: {models_dropped: [gpt-5], dimension: [A]}, slice: dimension, whole: true, covariance: CR1, bootstrap: 100}
  two: {terms: [judge, "judge:reference", self], absorb: completion, covariance: CR3}
inference: {idiosyncrasy: [main, by_dimension, mine], replicates: 100}
comparisons:
  verdicts: {title: v, files: [v.csv], analyses: [verbosity, attacks], pools: {p: [c]}, both_orders: false, worsening: [e]}
  made_up:
    title: z
    simulate: {questions: 12, models: [A, B], judges: {A: {first: 0.1, own: 0.5, attacks: {e: 0.5}}}}
"""


def start(path):
    """Read a configuration and do what the workflow does before any job."""
    config = load(str(path))
    assert Spec.from_config(config.specs_by_name)
    for study in studies_in(with_placeholders(config, os.path.exists)).values():
        study.kind()
        study.analyses()
        if study.has_ratings():
            written = config.as_written()
            Registry.from_config(models_with(study.setting("families"), written["models"]))
            finest_step(declared_in(study.settings.scales))
            raw_files(study.entries())
            colours = {key: written[key] for key in ("models", "families")}
            Subject.from_config(label=study.name, kind="user", **colours)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Path of a configuration in the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "own.yaml"


def test_configuration_as_it_is(path):
    path.write_text(OWN, "utf-8")
    start(path)


def test_a_name_too_long_for_a_file(path):
    long = "x" * 3000 + ".csv"
    path.write_text(OWN.replace("a.csv", long), "utf-8")
    start(path)
    for first_read in (lambda: RawFile.open(long), lambda: first_keys(connect(), long)):
        with pytest.raises(DataError, match=f"{long}: no such file"):
            first_read()


@examples(280)
@given(documents_like(yaml.safe_load(OWN)))
def test_values_of_a_configuration(path, document):
    path.write_text(yaml.safe_dump(document), "utf-8")
    with done_or_refused("config: ", str(path), made=[]):
        start(path)


@examples(350)
@given(bytes_like(OWN.encode()))
def test_bytes_of_a_configuration(path, content):
    path.write_bytes(content)
    with done_or_refused("config: ", str(path), made=[]):
        start(path)


# Each line is eight times the one before.
LAUGHS = "\n".join(
    ["x0: &x0 [a]", *(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 8)}]" for n in range(1, 11)), ""]
)
MERGED = "\n".join(
    [
        "y0: &y0 {a: 1}",
        *(f"y{n}: &y{n} {{<<: [{', '.join([f'*y{n - 1}'] * 8)}]}}" for n in range(1, 11)),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        MERGED,
        f"{LAUGHS}studies: {{m: *x9}}",
        "a: " + "[" * 100_000 + "]" * 100_000,
        "a: " + "{b: " * 100_000,
        "a:\n  " + "- " * 100_000,
        "a: &a {b: {c: *a}}",
        "seed: 0x" + "f" * 5000,
        "seed: 1\nseed: 2",
        "studies: {m: {title: t, files: a.csv, title: u, scales: {A: [0, 1]}}}",
        'studies: {m: {title: t, files: a.csv, scales: {A: [0, 1], "A": [0, 2]}}}',
        "confidence: .9999999999999999",
        "confidence: 0.0000000000000001",
        "memory_limit: 99999999999999TB",
        "memory_limit: " + "9" * 400 + "GB",
        "line_limit: 0.000001KB",
        "title: !!python/object/apply:os.system ['touch owned']",
        "title: !!python/name:os.system",
        "seed: 2024-13-45",
        "seed: !!int x",
        "seed: !!int ''",
        "seed: !!bool x",
        "seed: !!timestamp x",
        "seed: 0x_",
        "seed: " + "9" * 5000,
        "seed: 2024-01-01 00:00:00 +99:99",
        "a: &a [*a]",
        "[" * 3000,
        "studies: &s {m: *s}",
        "{[a]: b}",
        "\0",
        "seed: .nan",
        "confidence: .inf",
        'models: {"\\0": {family: GPT}}',
        'models: {"\\uD800": {family: GPT}}',
        'specs: {"mine\\n": {}}',
        'studies: {"../x": {}}',
        'studies: {"/x": {}}',
        'studies: {"{wildcards.study}": {}}',
        'studies: {"x\\n": {title: t, files: a.csv, scales: {A: [0, 1]}}}',
        "specs: {../x: {}}",
        "comparisons: {/x: {}}",
        "studies: {m: {title: t, files: a.csv, scales: {A: [4000000000, 4000000004]}}}",
        "sources: {s: {repository: a/b, commit: "
        + "0" * 40
        + ", files: {../x: {path: a, blob: "
        + "0" * 40
        + "}}}}",
        "sources: {s: {repository: a/b, commit: "
        + "0" * 40
        + ", files: {x: {path: ../a, blob: "
        + "0" * 40
        + "}}}}",
        "sources: {s: {repository: a/b, commit: " + "0" * 40 + ", manifest: ../a.csv}}",
    ],
)
def test_invalid_values_are_refused(path, text):
    """Tags that name code, values that YAML cannot make, names that lead to other folders, text
    that no file can contain.
    """
    path.write_text(text, "utf-8")
    with pytest.raises(
        ConfigError, match=rf"^(config: |{path}: not YAML |{path}, line \d+: )"
    ) as refused:
        load(str(path))
    assert len(str(refused.value)) < 1000
    assert os.listdir() == ["own.yaml"]


def test_both_lines_of_a_key_are_named(path):
    path.write_text("studies:\n  m:\n    title: t\n    files: a.csv\n    title: u\n", "utf-8")
    with pytest.raises(
        ConfigError, match=r"own\.yaml, line 5: title: already in line 3; keep one of the two"
    ):
        load(str(path))


@pytest.mark.parametrize(
    ("text", "number"),
    lines("""
        1_0 10
        -1_000 -1000
        010 8
        0x1F 31
        1:30 90
        1_0.5 10.5
    """),
)
def test_value_that_yaml_takes_for_another_number_is_named(path, text, number):
    path.write_text(f"seed: {text}\n", "utf-8")
    message = (
        f"{path}, line 1: found {text}, which YAML reads as {number}; write {number}, or '{text}'"
        " if it is a text"
    )
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(str(path))


@pytest.mark.parametrize(
    "text",
    ["10", "1e3", "0.50", "0", "-0.5", "'1_0'", "gpt_4_1", "2024-08-06", "4o_mini", "00:a", "1."],
)
def test_other_values_are_taken_as_they_are(path, text):
    path.write_text(f"a: {text}\n", "utf-8")
    read(path)


def test_an_anchor_may_be_used_often_and_a_key_in_several_mappings(path):
    scales = "a.csv, scales: {A: [0, 4]}"
    path.write_text(
        f"studies:\n  m: &m {{title: t, files: {scales}}}\n  n: *m\n  o: {{<<: *m, title: o}}\n",
        "utf-8",
    )
    assert [load(str(path)).studies[name].title for name in "mno"] == ["t", "t", "o"]
