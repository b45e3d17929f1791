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
# A figure of a group, one with the name of a rule, and one that shows another study.
SOME = ("fig04_slices", "conclusions", "fig11_helm_instruct")


def figure_path(study, figure):
    return f"results/{study}/figures/{figure}.svg"


def test_no_figure_is_drawn_again_after_everything(project, long):
    """Nor is what was drawn before everything."""
    first = [figure_path("mine", name) for name in DRAWN_FIRST]
    paths = [figure_path("smoke", name) for name in (FIGURES + OF_THE_PAPER if long else SOME)]
    apart = [[*first, "mine"], *([path] for path in paths)]
    for targets in apart if long else [[*first, *paths, "mine"]]:
        assert planned(project, *targets) == {}, targets


def test_another_format_is_drawn_alone_and_leaves_the_other_records(project, overlay):
    """Added to the configuration, it draws again what was drawn alone."""
    made = project / "results" / "smoke" / "made"
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    target = "results/smoke/figures/conclusions.png"
    picture = "results/mine/figures/fig03_self_family_bias.png"
    try:
        assert planned(project, target, picture) == {"figure_in_another_format": 2}
        build(project, "--cores", "2", target, picture)
        assert planned(project, target, picture, *BOTH, aside=()) == {}
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
        for path in (target, picture):
            record = project / path.replace("/figures/", "/made/")
            (project / path).unlink(missing_ok=True)
            record.with_suffix(".png.json").unlink(missing_ok=True)
