"""What is left of the bias of the recommended panel of judges, in simulated studies whose judges'
preferences are planted.

    python benchmarks/panels.py [--studies 200]

Nine judges of four families rate one another's answers to 150 prompts in two dimensions. The best
model is better than the worst by .1; judges favour themselves by 0 to .06 and their families by
.02. Human scores have a reliability of .7. Ordinary preferences for models have a standard
deviation of .02, unless the world says otherwise.

Printed are how often the 90 % interval of the recommended panel contains its true bias, with two
standard errors of that share; how often another panel than all judges without ratings of own
families is recommended, and of these studies, in how many the interval contains the true bias and
in how many the panel is truly the better one; and means over studies of the true bias of the
recommended panel, of all judges without ratings of own families, and of all judges with them, in
percent of the scale.
"""

import argparse
from dataclasses import replace

import numpy as np
from processes import print_table

from recuse.inference.judge_levels import linked_judges
from recuse.inference.panel import BETWEEN, KEPT, LEFT_OUT, panel_rows
from recuse.validation.world import MEAN_QUALITY, MonteCarloWorld

FAMILIES, JUDGES, SD = [3, 2, 2, 2], 9, 0.02
BASE = {
    "families": FAMILIES,
    "dimensions": 2,
    "prompts": 150,
    "intercept": [0.1, 0.0],
    "slope": 1.0,
    "noise": 0.15,
}
BASE |= {
    "completion_shock": 0.05,
    "quality_gap": 0.1,
    "reliability": 0.7,
    "self_bias": [0.0, 0.06],
    "family_bias": 0.02,
}
ONE_NOISY = np.append(np.ones(JUDGES - 1), 4.0)
WORLDS = {  # dials of the world, and standard deviations of preferences, by judge and model
    "equal preferences": ({}, SD),
    "preferences differ by judge": ({}, SD * np.linspace(0, 2, JUDGES)[:, None]),
    "preferences differ by model": ({}, SD * np.linspace(0, 2, JUDGES)),
    "preferences between families": ({"family_preference": SD}, SD / 2),
    "one noisy judge": ({"noise": (0.15 * ONE_NOISY).tolist()}, SD * ONE_NOISY[:, None]),
    "slopes 0.8 to 1.2": ({"slope": [0.8, 1.2]}, SD),
    "no preferences": ({}, 0.0),
    "no human scores": ({"humans": False}, SD),
}


def true_bias(world, leanings, judges, family_ratings):
    """Root mean square over models of the bias of a panel, judges (J,) of bool, from what is
    planted, (J, M).
    """
    quality = MEAN_QUALITY + world.quality_gap * np.linspace(-0.5, 0.5, JUDGES)
    expected = world.by_one("slope")[:, None] * quality + leanings
    related = world.model_family[:, None] == world.model_family
    judge, model = np.nonzero(~related)
    design = np.hstack([np.eye(JUDGES)[judge], np.eye(JUDGES)[model]])
    levels = np.linalg.lstsq(design, expected[judge, model])[0][:JUDGES]
    counted = judges[:, None] & (~related | (family_ratings == KEPT))
    bias = (counted * (expected - levels[:, None])).sum(axis=0) / counted.sum(axis=0) - quality
    return bias.std()


def study_from(random, dials, sd):
    """The world, what judges are planted to think of each model, (J, M), and a study."""
    blocks = dials.get("family_preference", 0.0) * random.standard_normal((len(FAMILIES),) * 2)
    world = MonteCarloWorld(**BASE | dials | {"family_preference": 0.0})
    preferences = (
        sd * random.standard_normal((JUDGES, JUDGES))
        + blocks[world.model_family][:, world.model_family]
    )
    study = world.draw(random)
    return world, world.bias + preferences, replace(study, rating=study.rating + preferences)


def main():
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    asked = parser.parse_args()
    header = [
        "world",
        "contains the true bias",
        "another panel",
        "contains",
        "is better",
        "recommended",
        "left out",
        "kept",
    ]
    lines = []
    for number, (name, (dials, sd)) in enumerate(WORLDS.items()):
        inside, others, biases = [], [], []
        for place in range(asked.studies):
            world, leanings, study = study_from(np.random.default_rng([number, place]), dials, sd)
            reliability = dict.fromkeys(study.factors["dimension"], study.reliability)
            rows = panel_rows(
                linked_judges(study), study, reliability, [], least=30, confidence=0.9
            )
            (row,) = (row for row in rows if "recommended" in row)
            judges, everyone = (
                np.isin(world.names, row["panel"].split(BETWEEN)),
                np.ones(JUDGES, dtype=bool),
            )
            panels = (judges, row["family_ratings"]), (everyone, LEFT_OUT), (everyone, KEPT)
            biases.append([true_bias(world, leanings, *panel) for panel in panels])
            others.append(row is not rows[0])
            inside.append(
                row.get("bias_left_ci_low", np.nan)
                <= biases[-1][0]
                <= row.get("bias_left_ci_high", np.nan)
            )
        inside, others, biases = np.array(inside), np.array(others), np.array(biases)
        share = inside.mean()
        held = f"{100 * share:.0f} ± {200 * np.sqrt(share * (1 - share) / len(inside)):.0f} %"
        chosen = [
            f"{of[others].sum()} of {others.sum()}" for of in (inside, biases[:, 0] < biases[:, 1])
        ]
        means = [f"{100 * value:.2f}" for value in biases.mean(axis=0)]
        lines.append(
            [
                name,
                held if "bias_left" in row else "no interval",
                f"{100 * others.mean():.0f} %",
                *chosen,
                *means,
            ]
        )
    print_table(header, lines)


if __name__ == "__main__":
    main()
