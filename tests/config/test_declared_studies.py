"""Messages about invalid studies of comparisons, imports, scales and families."""

import copy
import csv
import re

import pytest
import yaml

from conftest import CONFIG, DATA
from recuse.base.errors import ConfigError
from recuse.config.declared.settings import check_settings
from recuse.config.load import checked
from recuse.config.read import project_settings
from recuse.data.registry import fits
from text_tables import cases

QUALITY = {"quality": [1, 10]}
KEYED = """
title: t
simulate:
  accuracy: {A: 0.5, B: 0.5}
  judges: {J: {mistake: 0.3, struggle: 0.1, harmful: 0.1}}
  first: 0.1
  convincing: {A: 0.1}
analyses: [gold]
"""


@pytest.mark.parametrize(
    ("study", "message"),
    cases(
        r"""
{title: t, simulate: {accuracy: {A: 0.5, B: 0.5}, judges: {J: {}}}, analyses: [verbosity]}
    accuracy: these verdicts have a key alone; write `analyses: \[gold\]`
{title: t, simulate: {models: [A, B], judges: {J: {}}}, analyses: [gold]}
    analyses: gold: needs answers with a key; write `accuracy`
{title: t, simulate: {accuracy: {A: 0.5, B: 0.5}, judges: {J: {}}, models: [A, B]}, analyses: [gold]}
    found accuracy with models, which cannot be combined
{title: t, simulate: {accuracy: {A: 0.5, B: 0.5}, judges: {J: {}}, convincing: {C: 0.1}}, analyses: [gold]}
    'C' is not one of `accuracy`
{title: t, simulate: {accuracy: {A: 0.5, B: 0.5}, judges: {J: {own: 0.7}}}, analyses: [gold]}
    judges: J: own: answers with a key have none; leave it out
{title: t, simulate: {accuracy: {A: 0.5, B: 0.5}, judges: {J: {mistake: 0.9, struggle: 0.2}}}, analyses: [gold]}
    it would choose wrong answers with probabilities from
{title: t, simulate: {models: [A, B], judges: {J: {}}, first: 0.1}}
    first: needs `accuracy`
{title: t, simulate: {models: [A, B], judges: {J: {harmful: 0.1}}}}
    judges: J: harmful: needs `accuracy`; leave `harmful` out
"""
    ),
)
def test_settings_of_answers_with_a_key(study, message):
    check_verdicts("mine", yaml.safe_load(KEYED))
    with pytest.raises(ConfigError, match=message):
        check_verdicts("mine", yaml.safe_load(study))


def check_verdicts(name, study):
    config = copy.deepcopy(CONFIG)
    config["comparisons"][name] = study
    check_settings(config)


@pytest.mark.parametrize(
    ("study", "message"),
    cases(
        """
mine: {title: t}
    comparisons: mine: found none of simulate, files, import, source; write one of them
mine: {files: v.csv}
    comparisons: mine: 'title' is required
twin: {title: t, files: v.csv}
    comparisons: twin: a study of ratings has this name; choose another
mine: {title: t, source: prdd}
    'prdd' is not one of the sources of comparisons that
mine: {title: t, source: play_favorites}
    'play_favorites' is not one of the sources of comparisons
mine: {title: t, source: prd, files: v.csv}
    found source prd with files, which cannot
mine: {title: t, source: cobbler, simulate: {models: [A, B], judges: {J: {}}}}
    found source cobbler with simulate, which
mine: {title: t, source: cobbler, pools: {A: [a]}}
    pools: this source has no single verdicts
mine: {title: t, files: ['{a}.csv']}
    files: 0: '{a}.csv': braces mean a wildcard to Snakemake; rename
mine: {title: t, files: v.csv, worsening: [x]}
    worsening: only the analysis attacks reads it
mine: {title: t, files: v.csv, analyses: [attacks], pools: {A: [a]}}
    only the analysis verb
mine: {title: t, simulate: {votes: published}}
    on attacks only; write `analyses: [attacks]`
mine: {title: t, simulate: {models: [A, B], judges: {J: {attacks: {control: 0.1}}}}}
    attacks: control: this name is not an attack's
mine: {title: t, simulate: {models: [A, B], judges: {J: {own: 0.7}}}}
    judges: J: own: this judge is not one of `models`; leave
mine: {title: t, simulate: {models: [A, B], judges: {J: {first: 0.6, second: 0.6}}}}
    comparisons: mine: simulate: judges: J
mine: {title: t, source: cobbler, analyses: [verbosity]}
    this source has no single verdicts; leave
mine: {title: t, files: v.csv, analyses: [verbose]}
    analyses: 0: should be 'verbosity',
mine: {title: t, files: v.csv, pool: {}}
    mine: pool: unknown key; did you mean 'pools'?
mine: {title: t, files: v.csv, scales: {}}
    mine: scales: unknown key; only studies under `studies:` have it
mine: {title: t, files: v.csv, pools: {All: []}}
    pools: All: should not be empty, found []
mine: {title: t, files: v.csv, both_orders: 'yes'}
    both_orders: should be true or false, found 'yes'
Mine: {title: t, files: v.csv}
    comparisons: names should match ^[a-z][a-z0-9_]*$, found 'Mine'
"""
    ),
)
def test_invalid_comparisons_are_named(study, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_verdicts(*yaml.safe_load(study).popitem())


def test_a_users_studies_are_valid():
    check_verdicts("mine", {"title": "t", "files": ["a.csv", "b.parquet"], "both_orders": False})
    attacks = {"analyses": ["attacks"], "worsening": ["shuffled"]}
    check_verdicts("mine", {"title": "t", "files": "v.csv", **attacks})


@pytest.mark.parametrize(
    "source", [source for source, settings in CONFIG["sources"].items() if "manifest" in settings]
)
def test_manifests_name_each_file_once_with_a_git_blob_id(source):
    with open(
        DATA / "sources" / CONFIG["sources"][source]["manifest"], newline="", encoding="utf-8"
    ) as table:
        rows = list(csv.DictReader(table))
    assert rows
    assert len({row["path"] for row in rows}) == len(rows)
    assert all(
        len(row["blob"]) == 40 and set(row["blob"]) <= set("0123456789abcdef") for row in rows
    )
    assert not any(row["path"].startswith("/") or ".." in row["path"] for row in rows)


@pytest.mark.parametrize(
    ("study", "message"),
    cases(
        """
studies: {import: {files: a.csv}, files: b.csv}
    found files, import of
studies: {import: {files: a.csv}, shards: 4}
    found import with shards, which cannot be combined
studies: {files: a.csv, counts: rating}
    counts: found 'rating', a column of the ratings; name the column of counts
studies: {import: {files: a.json, format: alpaca_eval}}
    import: format: alpaca_eval is read under `comparisons:`
studies: {import: {files: a.json, format: inspect, decimal: ','}}
    import: decimal: only for format table
studies: {import: {files: a.csv, step: 0.3}}
    scale [1, 10] of quality has ends that are no mult
studies: {import: {files: a.csv, step: 0.01}}
    has 901 levels, more than 101; write `step: 0.1` with `round: true`
studies: {import: {files: a.csv, step: 0.001, round: true}, scales: {quality: [0, 1], tone: [0.5, 5]}}
    step: 0.001: the scale [0, 1] of quality has 1001 levels, more than 101; write `step: 0.05` with `round: true`
studies: {import: {files: a.csv, step: 0.01}, scales: {quality: [0, 1], tone: [0, 100]}}
    the scale [0, 100] of tone has 10001 levels, more than 101; write a study for each dimension, each with its step
studies: {import: {files: a.csv, round: true}, scales: {quality: [0.5, 5]}}
    step: 1: the scale [0.5, 5] of quality has ends that are no multiples of this step; write another step
studies: {import: {files: a.csv}, scales: {quality: [5, 0.5]}}
    found [5, 0.5]; write [lowest, highest]
studies: {files: a.csv, scales: {quality: [0.5, 5]}}
    found [0.5, 5]; write whole numbers or, for ratings
studies: {files: a.csv, scales: {quality: [0, 101]}}
    write [lowest, highest], with at most 101 ratings
studies: {import: {files: a.csv, values: {'Yes': 1, 'yes': 0}}}
    values: Yes and yes are the same in a file
studies: {import: {files: a.csv, values: {true: 1, 'on': 0}}}
    values: True and on are the same in a file
studies: {import: {files: a.csv, values: {'2': 1, '2.0': 0}}}
    values: 2 and 2.0 are the same in a file
comparisons: {import: {files: a.csv, values: {A: tie, a: b}}}
    values: A and a are the same
studies: {import: {files: a.csv, missing: ['1'], values: {1.0: 5}}}
    values: 1.0 is listed under `missing:`, too
studies: {import: {files: a.csv, missing: ['no'], values: {false: 0}}}
    values: False is listed under `missing:`, too
comparisons: {import: {files: a.csv, round: true}}
    import: round: unknown key
studies: {import: {files: '{a}.csv'}}
    braces mean a wildcard
studies: {import: {files: a.csv, colums: {}}}
    import: colums: unknown key; did you mean 'columns'?
studies: {import: {files: a.csv}, families: {X: [a], Y: [a]}}
    'a' is listed under X and Y
studies: {files: a.csv, families: {X: [a]}}
    families: needs `import`
comparisons: {import: {files: a.json, baseline: m, format: alpaca_eval}}
    import: baseline: only for format arena_hard
comparisons: {import: {files: a.csv, step: 0.5}}
    import: step: unknown key
"""
    ),
)
def test_invalid_imports_and_scales_are_named(study, message):
    project = project_settings()
    kind, study = yaml.safe_load(study).popitem()
    own = {"title": "t", **({"scales": QUALITY} if kind == "studies" else {}), **study}
    with pytest.raises(ConfigError) as caught:
        checked({**project, kind: {**project[kind], "mine": own}}, project)
    assert message in str(caught.value)
    assert "mine" in str(caught.value)


@pytest.mark.parametrize(
    ("step", "scales"), [(0.5, [0.5, 5]), (0.01, [0, 1]), (10, [0, 1000]), (1, [1.0, 10])]
)
def test_scales_are_whole_numbers_of_steps(step, scales):
    """A hundred steps and one are the most, whatever the units are."""
    project = project_settings()
    own = {
        "title": "t",
        "scales": {"quality": scales},
        "import": {"files": "a.csv", "step": step, "round": True},
    }
    settings = checked({**project, "studies": {**project["studies"], "mine": own}}, project)
    taken = settings.studies["mine"]
    assert fits(taken.import_.step, [taken.scales["quality"]])
