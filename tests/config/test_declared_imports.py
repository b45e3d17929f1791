"""What is said of an import, or of scales and families beside it, that cannot be."""

import pytest

from recuse.base.errors import ConfigError
from recuse.config.load import checked, project_settings
from recuse.data.registry import scales_in_steps

QUALITY = {"quality": [1, 10]}


@pytest.mark.parametrize(
    ("kind", "study", "said"),
    [
        ("studies", {"import": {"files": "a.csv"}, "files": "b.csv"}, "found files, import of"),
        ("studies", {"import": {"files": "a.csv"}, "shards": 4}, "found import with shards, which do not go together"),
        (
            "studies",
            {"import": {"files": "a.json", "format": "alpaca_eval"}},
            "import: format: alpaca_eval is read under `comparisons:`",
        ),
        (
            "studies",
            {"import": {"files": "a.csv", "format": "inspect", "columns": {"judge": "j"}}},
            "import: columns: only the format table has it",
        ),
        ("studies", {"import": {"files": "a.csv", "step": 0.3}}, "scale [1, 10] of quality has no whole number of such steps"),
        (
            "studies",
            {"import": {"files": "a.csv", "step": 0.01}},
            "has 901 levels, more than 101; write `step: 0.1` with `round: true`",
        ),
        (
            "studies",
            {"import": {"files": "a.csv", "step": 0.001, "round": True}, "scales": {"quality": [0, 1], "tone": [0.5, 5]}},
            "step: 0.001: the scale [0, 1] of quality has 1001 levels, more than 101; write `step: 0.05` with `round: true`",
        ),
        (
            "studies",
            {"import": {"files": "a.csv", "step": 0.01}, "scales": {"quality": [0, 1], "tone": [0, 100]}},
            "the scale [0, 100] of tone has 10001 levels, more than 101; write a study for each dimension, each with its step",
        ),
        (
            "studies",
            {"import": {"files": "a.csv"}, "scales": {"quality": [0.5, 5]}},
            "step: 1: the scale [0.5, 5] of quality has no whole number of such steps; write another step, such as 0.5",
        ),
        ("studies", {"import": {"files": "a.csv"}, "scales": {"quality": [5, 0.5]}}, "found [5, 0.5]; write [lowest, highest]"),
        ("studies", {"files": "a.csv", "scales": {"quality": [0.5, 5]}}, "found [0.5, 5]; write whole numbers, or, of ratings"),
        ("studies", {"files": "a.csv", "scales": {"quality": [0, 101]}}, "write [lowest, highest], at most 101 ratings"),
        ("comparisons", {"import": {"files": "a.csv", "round": True}}, "import: round: verdicts have no scale"),
        ("studies", {"import": {"files": "{a}.csv"}}, "braces mean a wildcard"),
        ("studies", {"import": {"files": "a.csv", "colums": {}}}, "import: unknown key 'colums'; did you mean 'columns'?"),
        ("studies", {"import": {"files": "a.csv"}, "families": {"X": ["a"], "Y": ["a"]}}, "families: 'a' stands in X and in Y"),
        ("studies", {"files": "a.csv", "families": {"X": ["a"]}}, "families: goes with `import`"),
        ("comparisons", {"import": {"files": "a.csv", "step": 0.5}}, "import: step: verdicts have no scale"),
        (
            "comparisons",
            {"import": {"files": "a.json", "baseline": "m", "format": "alpaca_eval"}},
            "import: baseline: only the format arena_hard has it",
        ),
    ],
)
def test_impossible_settings_are_named(kind, study, said):
    project = project_settings()
    own = {"title": "t", **({"scales": QUALITY} if kind == "studies" else {}), **study}
    with pytest.raises(ConfigError) as caught:
        checked({**project, kind: {**project[kind], "mine": own}}, project)
    assert said in str(caught.value)
    assert "mine" in str(caught.value)


@pytest.mark.parametrize(
    ("step", "scales", "in_steps"),
    [(0.5, [0.5, 5], [1, 10]), (0.01, [0, 1], [0, 100]), (10, [0, 1000], [0, 100]), (1, [1.0, 10], [1, 10])],
)
def test_scales_are_whole_numbers_of_steps(step, scales, in_steps):
    """A hundred steps and one are the most, whatever the units are."""
    project = project_settings()
    own = {"title": "t", "scales": {"quality": scales}, "import": {"files": "a.csv", "step": step, "round": True}}
    taken = checked({**project, "studies": {**project["studies"], "mine": own}}, project)["studies"]["mine"]
    assert scales_in_steps(taken["scales"], taken["import"]) == {"quality": in_steps}
