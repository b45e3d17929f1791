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
    copy_project,
    planned,
    verified,
)

pytestmark = pytest.mark.workflow
OF_COMPARISONS = {
    "verdicts": (
        "verdicts",
        "verbosity_bias",
        "score_curves",
        "alignment_curves",
        "position",
        "strengths",
    ),
    "world": (
        "verdicts",
        "position",
        "bias_jitter",
        "bias_profile",
        "bias_by_size",
        "attack_success",
        "votes_by_position",
    ),
}
CONFIGS = {
    "smoke": [],
    "mine": [],
    "verdicts": ["tests/smoke/comparisons.yaml"],
    "world": ["tests/smoke/comparisons.yaml"],
}
# A figure of a group, one with the name of a rule, and one that shows another study.
SOME = ("fig04_slices", "conclusions", "fig11_helm_instruct")
ALL = [
    *(("smoke", name) for name in FIGURES + OF_THE_PAPER),
    *((study, name) for study, names in OF_COMPARISONS.items() for name in names),
]


def run(folder, *targets, **options):
    build(folder, "--cores", "2", *targets, **options)


def verify(folder, *studies, configs=()):
    """AssertionError unless all results of some studies belong together."""
    files = [word for path in configs for word in ("--config", path)]
    status, _, errors = verified(folder, *studies, *files)
    assert status == 0, errors


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
        run(project, target, picture)
        assert planned(project, target, picture, *BOTH, aside=()) == {}
        after = {path.name: path.read_bytes() for path in made.iterdir()}
        assert after.keys() - before.keys() == {"conclusions.png.json"}
        assert {name: after[name] for name in before} == before
        assert json.loads(after["conclusions.json"])["rule"] == "conclusions"
        verify(project, *BOTH)
        overlay("formats: [svg, png]\n")
        settings = {"aside": (), "configs": [OVERLAY]}
        assert planned(project, picture, **settings) == {"figures_fit": 1}
    finally:
        # Other tests list these folders
        for path in (target, picture):
            record = project / path.replace("/figures/", "/made/")
            (project / path).unlink(missing_ok=True)
            record.with_suffix(".png.json").unlink(missing_ok=True)


@pytest.mark.long
@pytest.mark.parametrize(("study", "figure"), ALL)
def test_a_figure_then_everything_then_nothing(tmp_path, study, figure):
    """Of every figure, after a changed setting too; the test above asks it of two figures, and
    test_reruns of settings.
    """
    folder, target, configs = copy_project(tmp_path), figure_path(study, figure), CONFIGS[study]
    run(folder, target, configs=configs)
    (folder / "changed.yaml").write_text("confidence: 0.8\n", "utf-8")
    changed = {"configs": ["changed.yaml", *configs]}
    for made in (target, study):
        run(folder, made, **changed)
        assert planned(folder, made, aside=(), **changed) == {}
    assert planned(folder, target, aside=(), **changed) == {}
    verify(folder, study, configs=[*configs, "changed.yaml"])
