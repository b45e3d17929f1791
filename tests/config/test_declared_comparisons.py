"""What is said of a wrong study of comparisons, and what the verdicts of a right one are."""

import copy
import csv

import pytest

from conftest import CONFIG, DATA
from recuse.base.errors import ConfigError
from recuse.config.declared.settings import check


def world(**judge):
    return {"models": ["A", "B"], "judges": {"J": judge}}


WORLD = world()


def checked(name, study):
    config = copy.deepcopy(CONFIG)
    config["comparisons"][name] = study
    check(config)


@pytest.mark.parametrize(
    ("name", "study", "message"),
    [
        ("mine", {"title": "t"}, "comparisons: mine: found none of simulate, files, import, source; write one of them"),
        ("mine", {"files": "v.csv"}, "comparisons: mine: 'title' is a required property"),
        ("twin", {"title": "t", "files": "v.csv"}, "comparisons: twin: a study of ratings has this name; choose another"),
        (
            "mine",
            {"title": "t", "source": "prdd"},
            "'prdd' is not one of the sources of comparisons that",
        ),
        ("mine", {"title": "t", "source": "play_favorites"}, "'play_favorites' is not one of the sources of comparisons"),
        (
            "mine",
            {"title": "t", "source": "prd", "files": "v.csv"},
            "found source prd with files, of which only one",
        ),
        ("mine", {"title": "t", "source": "cobbler", "simulate": WORLD}, "found source cobbler with simulate, of which only"),
        ("mine", {"title": "t", "source": "cobbler", "pools": {"A": ["a"]}}, "pools: its source holds no single verdicts"),
        ("mine", {"title": "t", "files": ["{a}.csv"]}, "files: 0: '{a}.csv': braces mean a wildcard to Snakemake; rename"),
        ("mine", {"title": "t", "files": "v.csv", "worsening": ["x"]}, "worsening: only the analysis attacks reads it"),
        (
            "mine",
            {"title": "t", "files": "v.csv", "analyses": ["attacks"], "pools": {"A": ["a"]}},
            "only the analysis verb",
        ),
        ("mine", {"title": "t", "simulate": {"votes": "published"}}, "these are attacks alone; write `analyses: [attacks]`"),
        (
            "mine",
            {"title": "t", "simulate": world(attacks={"control": 0.1})},
            "attacks: control: no attack; choose another",
        ),
        ("mine", {"title": "t", "simulate": world(own=0.7)}, "judges: J: own: it is none of `models`; leave `own` out"),
        ("mine", {"title": "t", "simulate": world(first=0.6, second=0.6)}, "comparisons: mine: simulate: judges: J"),
        ("mine", {"title": "t", "source": "cobbler", "analyses": ["verbosity"]}, "its source holds no single verdicts; leave"),
        ("mine", {"title": "t", "files": "v.csv", "analyses": ["verbose"]}, "analyses: 0: 'verbose' is not one of"),
        ("mine", {"title": "t", "files": "v.csv", "pool": {}}, "mine: unknown key 'pool'; did you mean 'pools'?"),
        ("mine", {"title": "t", "files": "v.csv", "pools": {"All": []}}, "pools: All: "),
        ("mine", {"title": "t", "files": "v.csv", "both_orders": "yes"}, "both_orders: 'yes' is not of type 'boolean'"),
        ("Mine", {"title": "t", "files": "v.csv"}, "'Mine' does not match"),
    ],
)
def test_wrong_study_is_named(name, study, message):
    with pytest.raises(ConfigError) as raised:
        checked(name, study)
    assert message in str(raised.value)


def test_studies_of_the_project_and_a_users_are_valid():
    check(CONFIG)
    checked("mine", {"title": "t", "files": ["a.csv", "b.parquet"], "both_orders": False})
    checked("mine", {"title": "t", "files": "v.csv", "analyses": ["attacks"], "worsening": ["shuffled"]})


@pytest.mark.parametrize("source", [source for source, settings in CONFIG["sources"].items() if "manifest" in settings])
def test_manifests_name_each_file_once_with_a_git_blob_id(source):
    with open(DATA / "sources" / CONFIG["sources"][source]["manifest"], newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert rows
    assert len({row["path"] for row in rows}) == len(rows)
    assert all(len(row["blob"]) == 40 and set(row["blob"]) <= set("0123456789abcdef") for row in rows)
    assert not any(row["path"].startswith("/") or ".." in row["path"] for row in rows)
