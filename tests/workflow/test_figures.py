"""Which job draws a figure, and which record it leaves, does not depend on what else is asked
for.
"""

import json

import pytest

from workflow_runs import (
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


def verify(folder, study, *configs):
    """AssertionError unless all results of a study belong together."""
    files = [word for path in configs for word in ("--config", path)]
    status, _, errors = verified(folder, study, *files)
    assert status == 0, errors


def figure_path(study, figure):
    return f"results/{study}/figures/{figure}.svg"


def test_no_figure_is_drawn_again_after_everything(project, long):
    alone = [[name] for name in FIGURES + OF_THE_PAPER] if long else [SOME]
    for names in alone:
        assert planned(project, *(figure_path("smoke", name) for name in names)) == {}, names


def test_another_format_is_drawn_alone_and_leaves_the_other_records(project):
    made = project / "results" / "smoke" / "made"
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    target = "results/smoke/figures/conclusions.png"
    assert planned(project, target) == {"figure_in_another_format": 1}
    run(project, target)
    for targets in ([target], []):
        assert planned(project, *targets, aside=()) == {}
    after = {path.name: path.read_bytes() for path in made.iterdir()}
    assert after.keys() - before.keys() == {"conclusions.png.json"}
    assert {name: after[name] for name in before} == before
    assert json.loads(after["conclusions.json"])["rule"] == "conclusions"
    verify(project, "smoke")
    for path in (project / target, made / "conclusions.png.json"):
        path.unlink()  # other tests list these folders


def test_a_format_added_to_the_configuration_draws_again_what_was_drawn_alone(project, overlay):
    picture = "results/mine/figures/fig03_self_family_bias.png"
    run(project, picture)
    overlay("formats: [svg, png]\n")
    settings = {"aside": (), "configs": [OVERLAY]}
    assert planned(project, picture, **settings) == {"figures_fit": 1}
    for path in (picture, "results/mine/made/fig03_self_family_bias.png.json"):
        (project / path).unlink()


def test_two_figures_of_ratings_then_everything_then_nothing(project):
    for targets in (["mine"], [figure_path("mine", figure) for figure in DRAWN_FIRST]):
        assert planned(project, *targets, aside=()) == {}
    verify(project, "mine")


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
    verify(folder, study, *configs, "changed.yaml")
