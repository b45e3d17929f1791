"""Designs are balanced, and hang on names and seed alone."""

import random
from collections import Counter
from itertools import chain, product

import numpy as np
import pandas as pd
import pytest

from rated_tables import FIVE
from recuse.base.errors import ConfigError
from recuse.collect.designs import assigned, in_random_order, waves

PROMPTS = [f"p{number}" for number in range(30)]
STRATA = {prompt: "short" if number < 9 else "long" for number, prompt in enumerate(PROMPTS)}


def names(judges, models, both):
    """Names of judges and of models, of which so many are both."""
    return (
        [f"both {n}" for n in range(both)] + [f"only {who} {n}" for n in range(count - both)]
        for who, count in (("judge", judges), ("model", models))
    )


def test_with_all_judges_every_judge_rates_every_answer():
    assert assigned(PROMPTS, "AB", "BC", 2, seed=1) == {*product("BC", PROMPTS, "AB")}


@pytest.mark.parametrize(
    ("judges", "models", "both"), [(9, 9, 9), (5, 4, 2), (3, 8, 3), (6, 7, 0), (7, 6, 6), (4, 4, 3)]
)
def test_answers_have_k_judges_and_judges_the_same_number_of_ratings_in_each_stratum(
    judges, models, both
):
    of_judges, of_models = names(judges, models, both)
    for k, seed in product(range(2, judges), range(3)):
        ratings = assigned(PROMPTS, of_models, of_judges, k, seed, STRATA)
        answers = Counter((prompt, model) for _, prompt, model in ratings)
        assert answers == dict.fromkeys(product(PROMPTS, of_models), k)
        assert {(name, prompt, name) for name in of_judges[:both] for prompt in PROMPTS} <= ratings
        loads = Counter((STRATA[prompt], judge) for judge, prompt, _ in ratings)
        for stratum in ("short", "long"):
            assert np.ptp([loads[stratum, judge] for judge in of_judges]) <= 1


def test_loads_are_also_even_where_few_answers_are_left_to_make_them_so():
    """On the last prompt a judge cannot be dealt its own answer once more."""
    for prompts, k, seed in product(range(1, 13), (2, 3, 4), range(4)):
        loads = Counter(judge for judge, *_ in assigned(PROMPTS[:prompts], FIVE, FIVE, k, seed))
        assert loads == dict.fromkeys(FIVE, k * prompts)


def test_judges_rate_others_models_and_meet_each_other_about_equally_often():
    ratings = assigned(range(300), FIVE, FIVE, 3, seed=4)
    frame = pd.DataFrame(ratings, columns=["judge", "prompt", "model"])
    others = frame.query("judge != model").groupby(["judge", "model"]).size()
    assert len(others) == 20
    assert np.ptp(others) <= 3
    pairs = frame.merge(frame, on=["prompt", "model"]).query("judge_x < judge_y")
    together = pairs.groupby(["judge_x", "judge_y"]).size()
    assert len(together) == 10
    assert together.max() < 1.05 * together.min()


def test_a_design_hangs_on_names_and_seed_alone():
    shuffled = random.Random(0).sample(PROMPTS, 30)
    one = assigned(PROMPTS, FIVE, FIVE, 3, 2, STRATA)
    assert assigned(shuffled, FIVE[::-1], FIVE[2:] + FIVE[:2], 3, 2, STRATA) == one
    assert assigned(PROMPTS, FIVE, FIVE, 3, 3, STRATA) != one
    assert (
        in_random_order(shuffled, 2, STRATA)
        == in_random_order(PROMPTS, 2, STRATA)
        != in_random_order(PROMPTS, 3, STRATA)
    )


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        (6, "found 6 judges of each answer of 5 judges; write 1 to 5"),
        (0, "found 0"),
        (1, "judges_per_answer: 1 leaves the answers of a model that judges to itself alone"),
    ],
)
def test_a_number_of_judges_that_says_nothing_is_refused(judges, words):
    with pytest.raises(ConfigError, match=words):
        assigned(PROMPTS, FIVE, FIVE, judges, seed=1)


def test_waves_are_parts_of_one_order_each_with_the_shares_of_the_strata():
    parts = waves(PROMPTS, first=10, growth=1.5, most=28, seed=5, strata=STRATA)
    assert [*map(len, parts)] == [10, 5, 8, 5]
    asked = [*chain(*parts)]
    assert asked == in_random_order(PROMPTS, 5, STRATA)[:28]
    for size in (10, 15, 23, 28):
        assert abs(sum(STRATA[prompt] == "short" for prompt in asked[:size]) - 0.3 * size) < 1
    slow = waves(PROMPTS, first=1, growth=1.01, most=4, seed=5)
    assert [*map(len, slow)] == [1, 1, 1, 1]
    assert [*map(len, waves(PROMPTS, first=30, growth=2, most=30, seed=5))] == [30]
