"""How often a bias of just the size that recuse calls detectable is established, in simulated
studies.

    python benchmarks/detectable.py [--studies 100] [--judges 2]

For some unbiased judges of a study, drawn by chance among those whose error is known well enough,
C's error gives `detectable`, the bias that the verdict should establish in 80 % of studies. Just
that is added to the judge's ratings of its own answers, and C and the hierarchical model are
computed again. Two standard errors are of the share over studies, as judges of one study are not
independent.
"""

import argparse
import zlib
from dataclasses import replace
from math import sqrt

import numpy as np
from processes import print_table

from recuse.inference.idiosyncrasy import idiosyncrasies
from recuse.inference.power import detectable_bias, with_reaches
from recuse.inference.robustness import KNOWN_DF, Estimate
from recuse.inference.verdict import Reply, Verdict, verdict_on_reply
from recuse.model.spec import Spec
from recuse.validation.world import MonteCarloWorld

LEVEL = {"confidence": 0.9}
POWER = 0.8
BASE = {"dimensions": 6, "prompts": 100, "intercept": 0.3, "slope": 0.5, "noise": 0.25}
BASE |= {"families": [3, 2, 2, 2], "preference": 0.018}
BY_JUDGE = [0.006, 0.008, 0.0105, 0.014, 0.018, 0.024, 0.031, 0.041, 0.054]
BY_MODEL = [0.33, 0.43, 0.57, 0.76, 1, 1.32, 1.74, 2.3, 3]
WORLDS = {
    "4 judges of 4 models": {"families": [1, 1, 1, 1]},
    "9 judges of 9 models": {},
    "9 judges, preferences × 0.33–3 by judge": {"preference": BY_JUDGE},
    "18 judges": {"families": [6, 4, 4, 4]},
    "confirming: 6 judges of 6 models": {"families": [2, 2, 1, 1], "preference": 0.02},
    "confirming: 3 judges of 9 models": {"judges": 3},
    "confirming: 9 judges, 30 prompts": {"prompts": 30},
    "confirming: 9 judges, preferences × 0.33–3 by model": {"preference_factor": BY_MODEL},
    "confirming: 12 judges, preferences × 0.5–2 by judge": {
        "families": [4, 4, 2, 2],
        "preference": [0.009, 0.036],
    },
    "confirming: 9 judges, five others biased by 0.06": {"self_bias": [0.06, 0] * 4 + [0.06]},
    "confirming: 9 judges, six others biased by 0.06 or -0.06": {"self_bias": [0.06, -0.06, 0] * 3},
}


def self_biases(study):
    """C on a study, and its self-biases that are not refused, by judge."""
    (whole,) = idiosyncrasies(Spec.of("main"), study)
    return whole, {bias.term: bias for bias in whole.concluded("self_bias")}


def is_established(study, judge):
    """Whether the verdict establishes a self-bias of a judge."""
    whole, biases = self_biases(study)
    columns = biases[judge].columns(LEVEL["confidence"])
    numbers = {name: columns[name] for name in ("estimate", "ci_low", "ci_high", "p_value")}
    above = whole.posteriors["self_bias", judge].positive
    reply = Reply(**numbers, probability_positive=above, doubt=biases[judge].doubt)
    return verdict_on_reply(reply, numbers["p_value"], **LEVEL) is Verdict.ESTABLISHED


def shares_found(world, key, studies, judges):
    """The share of some judges of each study whose detectable bias is established, (studies,), and
    the size of each.
    """
    shares, sizes = [], []
    for place in range(studies):
        random = np.random.default_rng([zlib.crc32(key.encode()), place])
        study = world.draw(random)
        _, biases = self_biases(study)
        if not biases:
            continue
        estimates = {
            judge: Estimate(estimate=bias.estimate, std_error=bias.std_error, t_df=bias.df)
            for judge, bias in biases.items()
        }
        estimates = with_reaches(estimates, is_plan=False, **LEVEL)
        found = []
        already = world.planted["self_bias"]
        known = [
            judge for judge, bias in biases.items() if bias.df >= KNOWN_DF and not already[judge]
        ]
        for judge in random.permutation(known)[:judges]:
            bias = biases[judge]
            asked = {"power": POWER, "reach": estimates[judge].reach, **LEVEL}
            sizes.append(detectable_bias(bias.std_error, bias.df, **asked))
            # (J, M): 1 for the judge's own answers
            models = np.array(world.names)
            own = np.outer(models[world.judge_model] == judge, models == judge)
            planted = replace(study, rating=study.rating + sizes[-1] * own)
            found.append(is_established(planted, judge))
        shares += [np.mean(found)] if found else []
    return np.array(shares), np.array(sizes)


def main():
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--judges", type=int, default=2, help="of each study")
    asked = parser.parse_args()
    lines = []
    for name, dials in WORLDS.items():
        world = MonteCarloWorld(**BASE | dials)
        shares, sizes = shares_found(world, name, asked.studies, asked.judges)
        error = 2 * shares.std(ddof=1) / sqrt(len(shares))
        share = f"{100 * shares.mean():.0f} ± {100 * error:.0f} %"
        lines.append([name, f"{len(sizes)} of {len(shares)}", share, f"{np.median(sizes):.3f}"])
        print(*lines[-1], sep="  ", flush=True)
    print_table(["world", "judges of studies", "established", "median size"], lines)


if __name__ == "__main__":
    main()
