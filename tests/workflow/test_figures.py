"""Which job draws a figure, and which record it leaves, does not depend on what else is asked
for.
"""

import json

import pytest

from workflow_runs import (
    BOTH,
    DRAWN_FIRST,
    FIGURES,
    OF_THE_PAPER,
    OVERLAY,
    build,
    planned,
    verified,
)

pytestmark = pytest.mark.workflow


def figure_path(study, figure):
    return f"results/{study}/figures/{figure}.svg"


def test_another_format_is_drawn_alone_and_leaves_the_other_records(project, overlay):
    """Added to the configuration, it draws again what was drawn alone; nothing else draws a figure
    again, one that was drawn before everything neither.
    """
    made = project / "results" / "smoke" / "made"
    figures = [figure_path("mine", name) for name in DRAWN_FIRST]
    figures += [figure_path("smoke", name) for name in FIGURES + OF_THE_PAPER]
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    target = "results/smoke/figures/conclusions.png"
    picture = "results/mine/figures/fig03_self_family_bias.png"
    drawn = [project / target, project / picture]
    records = [path.parents[1] / "made" / f"{path.name}.json" for path in drawn]
    try:
        assert "2 of 2 steps" in build(project, "--cores", "2", target, picture).stderr
        assert planned(project, target, picture, *figures, *BOTH, aside=()) == {}
        rules = [json.loads(record.read_text("utf-8"))["rule"] for record in records]
        assert rules == 2 * ["figure_in_another_format"]
        after = {path.name: path.read_bytes() for path in made.iterdir()}
        assert after.keys() - before.keys() == {"conclusions.png.json"}
        assert {name: after[name] for name in before} == before
        assert json.loads(after["conclusions.json"])["rule"] == "conclusions"
        status, _, errors = verified(project, *BOTH)
        assert status == 0, errors
        overlay("formats: [svg, png]\n")
        settings = {"aside": (), "configs": [OVERLAY]}
        assert planned(project, picture, **settings) == {"figures_fit": 1}
    finally:
        # Other tests list these folders
        for path in drawn + records:
            path.unlink(missing_ok=True)
