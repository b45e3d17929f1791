"""Which judges rate which answers, and in what order prompts are asked: fixed by a seed before any
answer is seen.
"""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from types import MappingProxyType

import numpy as np

from recuse.base.errors import ConfigError

WHERE = "config: collect: design"


def in_random_order(
    prompts: Sequence[str], seed: int, strata: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """The prompts in a random order in which the first n, for any n, have about the shares of the
    strata in all.

    The order depends on the seed and the names alone, not on the order of `prompts`: the k-th of a
    stratum of m prompts comes at (k - 1 + u) / m, with u drawn once for each stratum, so that also
    a small stratum is among the first as often as its share.
    """

    def drawn(prompt: str) -> bytes:
        return hashlib.sha256(f"{seed} {prompt}".encode("utf-8", "surrogatepass")).digest()

    by_stratum: dict[str, list[str]] = {}
    for prompt in sorted(set(prompts), key=drawn):
        by_stratum.setdefault(strata.get(prompt, ""), []).append(prompt)
    place = {}
    for stratum, names in by_stratum.items():
        start = random.Random(f"{seed}: stratum {stratum}").random()
        place |= {prompt: (rank + start) / len(names) for rank, prompt in enumerate(names)}
    return sorted(place, key=lambda prompt: (place[prompt], drawn(prompt)))


def assigned(
    prompts: Sequence[str],
    models: Sequence[str],
    judges: Sequence[str],
    number: int,
    seed: int,
    strata: Mapping[str, str] = MappingProxyType({}),
) -> set[tuple[str, str, str]]:
    """The judge, prompt and model of every rating, if so many judges rate each answer.

    With k judges of each answer, a judge that is a model rates all answers of its own, and each
    answer goes to the judges with the fewest ratings so far in the stratum, then of the model, then
    together with the judges that already rate the answer. In a stratum, all judges then have the
    same number of ratings, or one more, unless own answers alone are more than an equal share (k
    models < judges). The order of names makes no difference; another prompt changes which judges
    rate the others, so that all waves of a plan are dealt at once. Raises ConfigError about a
    number of judges that there are not, and about one judge an answer where that would be its own
    model's.
    """
    models = sorted(set(models))
    judges = sorted(set(judges))
    if number == len(judges):
        return set(product(judges, prompts, models))
    if not 1 <= number <= len(judges):
        raise ConfigError(
            f"{WHERE}: found {number} judges of each answer of {len(judges)} judges; write 1 to"
            f" {len(judges)}"
        )
    own = [model for model in models if model in judges]
    if number == 1 and own:
        raise ConfigError(
            f"{WHERE}: judges_per_answer: 1 leaves the answers of a model that judges to itself"
            " alone, where a self-bias and a good answer look the same; write 2 or more"
        )
    luck_of_prompt = np.random.default_rng(seed)
    of_model = Counter()  # ratings by judge and model
    together = Counter()  # answers by two judges that rate them
    ratings = set()
    ordered = in_random_order(prompts, seed, strata)
    for name in sorted({strata.get(prompt, "") for prompt in ordered}):
        # Ratings of each judge in the stratum, with those of its own answers to this prompt
        load = Counter()
        stratum = [prompt for prompt in ordered if strata.get(prompt, "") == name]
        for turn, prompt in enumerate(stratum):
            luck = dict(zip(judges, luck_of_prompt.permutation(len(judges)), strict=True))
            load.update(own)
            # Own answers to the last prompt that are still to come
            ahead = set(own) if turn == len(stratum) - 1 else set()
            for step in range(len(models)):
                model = models[(turn + step) % len(models)]
                raters = [model] if model in own else []
                ahead -= set(raters)
                while len(raters) < number:
                    ranked = []
                    for judge in judges:
                        if judge not in raters:
                            shared = sum(together[judge, rater] for rater in raters)
                            rank = (
                                load[judge],
                                judge not in ahead,
                                of_model[judge, model],
                                shared,
                                luck[judge],
                            )
                            ranked.append((rank, judge))
                    _, judge = min(ranked)
                    load[judge] += 1
                    raters.append(judge)
                of_model.update((judge, model) for judge in raters)
                together.update(product(raters, raters))
                ratings.update((judge, prompt, model) for judge in raters)
    return ratings


def waves(
    prompts: Sequence[str],
    *,
    first: int,
    growth: float,
    most: int,
    seed: int,
    strata: Mapping[str, str] = MappingProxyType({}),
) -> list[list[str]]:
    """Prompts in the waves in which a design that may stop early asks them: `first`, then enough
    for `growth` times as many.

    The waves end with `most` prompts, which is fixed beforehand; 1 <= first <= most, and growth is
    above 1.
    """
    ordered = in_random_order(prompts, seed, strata)
    ends = [0, first]
    while ends[-1] < most:
        ends.append(min(most, max(ends[-1] + 1, math.ceil(ends[-1] * growth))))
    return [ordered[start:end] for start, end in pairwise(ends)]
