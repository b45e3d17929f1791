"""The scorecard of comparisons: what matches what is printed, what differs, and what cannot be
judged.
"""

from collections import Counter

import numpy as np
import pytest
from compare_comparisons import compare

from conftest import DATA
from drawings import artists, prose, row_names, subject
from picked_rows import fields, where
from planted_comparisons import as_texts
from recuse.base.tables import read_table, write_table
from recuse.pairwise.verbosity import PAIRWISE_AGREEMENT as AGREEMENT
from recuse.pairwise.verbosity import VERBOSITY
from recuse.papers.attack_values import read_attacks
from recuse.papers.attacks import ASR, RANKS, VOTE_SHARES, VOTES_BY_POSITION
from recuse.papers.cobbler import (
    JUDGES,
    NEWER,
    RBO,
    places,
    rank_biased_overlap,
    read_wins,
    wins_of_judge,
)
from recuse.papers.scorecard import (
    NO_VALUE,
    OTHER_RANKED,
    OTHER_VOTES,
    PLANTED,
    SCORECARD,
    scorecard_of_comparisons,
)
from recuse.papers.scorecard_figure import scorecard_figure
from recuse.plot.style import read_figure_table
from verdict_files import released

PUBLISHED = DATA / "comparisons_published.csv"
ATTACKS = DATA / "judgement_bias_published.csv"
ABSENT = "data absent"
PRINTED = read_table(PUBLISHED)
PRINTED_ATTACKS = read_attacks(str(ATTACKS))


def row(columns, **values):
    return as_texts([dict.fromkeys(columns) | values])[0]


def printed_by_judge(table):
    """What a printed table has of each judge: quantity -> value."""
    judges = {}
    for each in where(PRINTED_ATTACKS, table=table):
        judges.setdefault(each["judge"], {})[each["quantity"]] = each["value"]
    return judges


def own_tables():
    """Tables of a study that finds exactly what Chen et al. print."""
    keys = ("experiment", "condition", "judge", "model_a", "model_b")
    asr = [
        row(ASR, **{k: r[k] for k in keys}, asr=r["value"], n=60, rank=r["printed_rank"] or None)
        for r in where(PRINTED_ATTACKS, quantity="asr")
    ]
    ranks = [
        row(RANKS, experiment=r["experiment"], judge=r["judge"], average_rank=r["value"])
        for r in where(PRINTED_ATTACKS, quantity="average_rank")
    ]
    weak = {"experiment": "weak", "model_a": "GPT-3.5-Turbo"}
    shifts = {"7B": 0.05, "13B": -0.02, "70B": -0.03}
    votes = []
    for judge, shares in printed_by_judge("7").items():
        a, b = (float(shares[answer]) for answer in "ab")
        of_models = {f"LLaMA2-Chat-{size}": (a + by, b - by) for size, by in shifts.items()}
        of_models["GPT-3.5-Turbo (2)"] = 0.4, 0.3
        for model, (a, b) in of_models.items():
            votes.append(row(VOTE_SHARES, **weak, judge=judge, model_b=model, a=a, b=b))
    by_position = [
        row(VOTES_BY_POSITION, experiment="perturbations", judge=judge, **values)
        for judge, values in printed_by_judge("6").items()
    ]
    return {"asr": asr, "ranks": ranks, "vote_shares": votes, "votes_by_position": by_position}


def judged(tables, *, source="judgement_bias", kind="published"):
    return list(
        scorecard_of_comparisons(
            PRINTED, PRINTED_ATTACKS, tables, study="s", source=source, kind=kind
        )
    )


def test_chen_s_tables_match_themselves():
    rows = judged(own_tables())
    assert Counter((r["figure"][-1], r["verdict"]) for r in rows) == {
        (table, "match"): n
        for table, n in {"1": 24 + 24 + 8, "2": 4, "3": 28, "4": 35, "6": 56, "7": 12}.items()
    }
    assert max(abs(r["deviation"]) for r in rows) < 1e-6
    assert len({tuple(r.get(name) for name in SCORECARD[1:9]) for r in rows}) == len(rows)
    assert set().union(*rows) <= set(SCORECARD)


CHANCE = 2.576 * np.sqrt(0.08 * 0.92 / 60)
CAUSES = {"simulated": PLANTED, "user": OTHER_VOTES, "published": ""}


@pytest.mark.parametrize(
    ("kind", "wide"), [("published", 0.0), ("user", CHANCE), ("simulated", CHANCE)]
)
def test_tolerance_is_half_a_digit_and_chance_in_other_votes(kind, wide):
    tables = own_tables()
    for size, verdict in ((0.9, "match"), (-0.9, "match"), (1.1, "differs"), (-1.1, "differs")):
        tables["asr"][0]["asr"] = str(0.08 + size * (0.005 + wide))
        first = judged(tables, kind=kind)[0]
        place = ("Chen et al., Table 1", "factual_error", "Claude-3")
        assert fields(first, "figure slice term") == place
        assert first["tolerance"] == pytest.approx(0.005 + wide, abs=1e-6)
        assert first["deviation"] == pytest.approx(size, abs=1e-4)
        assert first["verdict"] == verdict
        assert first["cause"] == (
            "unknown" if (kind, verdict) == ("published", "differs") else CAUSES[kind]
        )


def test_what_is_not_planted_is_shown_and_not_judged():
    rows = judged(own_tables(), kind="simulated")
    for item in ("rank", "ranks", "votes_by_position", "vote_shares"):
        of_item = where(rows, item=item)
        assert of_item
        assert all("not planted" in r["cause"] and r["verdict"] == ABSENT for r in of_item)
        assert all("ours" in r and "deviation" not in r for r in of_item)
    of_users = judged(own_tables(), kind="user")
    assert {fields(r, "verdict cause") for r in of_users if r["item"] == "votes_by_position"} == {
        (ABSENT, OTHER_VOTES)
    }


def test_a_judge_that_was_not_asked_is_absent():
    tables = {
        name: [r for r in rows if r["judge"] != "Ernie"] for name, rows in own_tables().items()
    }
    rows = judged(tables)
    of_all = ("rank", "ranks")  # which the absent judge stands among
    absent = [r for r in rows if r["verdict"] == ABSENT and r["item"] not in of_all]
    assert {r["term"] for r in absent} == {"Ernie"}
    assert {r["cause"] for r in absent} == {NO_VALUE}
    assert {r["verdict"] for r in judged({})} == {ABSENT}
    assert not any("ours" in r for r in judged({}))


def test_answers_may_have_other_names_where_there_is_one_pair():
    tables = own_tables()
    tables["asr"] = [
        r | {"model_a": "A1", "model_b": "A2"} if r["experiment"] == "perturbations" else r
        for r in tables["asr"]
    ]
    assert {r["verdict"] for r in judged(tables) if r["figure"] == "Chen et al., Table 1"} == {
        "match"
    }
    tables["asr"] = [
        r | {"model_b": "B"} if r["model_b"] == "LLaMA2-Chat-7B" else r for r in tables["asr"]
    ]
    absent = where(judged(tables), verdict=ABSENT, item="asr")
    assert {fields(r, "figure model") for r in absent} == {
        ("Chen et al., Table 4", "LLaMA2-Chat-7B")
    }


def ranked(rows, verdicts, *, item, table="4"):
    results = where(rows, item=item, figure=f"Chen et al., Table {table}")
    assert results
    assert {r["verdict"] for r in results} == verdicts
    return {r["cause"] for r in results if "ours" in r}


def test_ranks_are_judged_among_the_same_judges_and_columns_only():
    tables = own_tables()
    every = tables["asr"]

    def judged_with(asr):
        return judged(tables | {"asr": asr})

    fewer = [r for r in every if r["model_b"] != "LLaMA2-Chat-7B"]
    gender = [r | {"condition": "gender"} for r in where(fewer, experiment="weak")]
    ernie = where(every, experiment="weak", judge="Ernie")
    other = [r | {"judge": "Another"} if r["judge"] == "Ernie" else r for r in every]
    missing = [r | {"asr": ""} if r in ernie else r for r in every]
    for asr in (fewer, every + gender, other, missing):
        assert ranked(judged_with(asr), {ABSENT}, item="ranks") == {OTHER_RANKED}
    new = [r | {"judge": "J9"} for r in where(every, condition="factual_error")]
    rows = judged_with(every + new)
    assert ranked(rows, {"match"}, item="ranks") == {""}
    assert ranked(rows, {ABSENT}, item="ranks", table="1") == {OTHER_RANKED}
    of_column = {r["slice"]: r["verdict"] for r in where(rows, item="rank")}
    assert of_column == {
        "factual_error": ABSENT,
        "fake_reference": "match",
        "rich_content": "match",
    }
    # What no sample is eligible for is no column.
    empty = [r | {"condition": "gender", "asr": "", "n": "0"} for r in every]
    assert ranked(judged_with(every + empty), {"match"}, item="ranks") == {""}


def test_table_7_takes_each_weaker_model_of_its_own_experiment_and_anchor():
    tables = own_tables()
    shares = tables["vote_shares"]
    others = [
        r | change | {"a": "0.99", "b": "0.01"}
        for r in shares
        for change in ({"experiment": "x"}, {"model_a": "x"})
    ]
    rows = judged(tables | {"vote_shares": [*others, *shares]})
    assert {r["verdict"] for r in rows if r["item"] == "vote_shares"} == {"match"}
    for partial in (others, [r for r in shares if r["model_b"] != "LLaMA2-Chat-70B"]):
        rows = judged(tables | {"vote_shares": partial})
        assert {(r["verdict"], "ours" in r) for r in rows if r["item"] == "vote_shares"} == {
            (ABSENT, False)
        }


def test_other_data_are_shown_but_not_judged():
    base = {"condition": "", "judge": "GPT-4", "order": "debiased"}
    rules = [
        row(VERBOSITY, **base, draws=draws, verbosity_bias=value, ci_low=0.3, ci_high=0.5)
        for draws, value in (("disagreement", 0.1), ("excluded", 0.44))
    ]
    results = {
        ("GPT-4", "debiased"): 0.7,
        ("GPT-4", "pooled"): 0.6425,
        ("Claude", "pooled"): 0.6069,
    }
    agree = [
        row(AGREEMENT, condition="", judge=judge, order=order, value=value)
        for (judge, order), value in results.items()
    ]
    rows = judged({"verbosity": rules, "agreement": agree}, source="prd", kind="published")
    assert [fields(r, "figure term verdict") for r in rows] == [
        ("Saito et al., Table 1", "GPT-4", ABSENT),
        ("Saito et al., Table 1", "GPT-3.5", ABSENT),
        ("Li et al., accuracy", "GPT-4", "match"),
        ("Li et al., accuracy", "GPT-3.5", ABSENT),
        ("Li et al., accuracy", "Claude", "differs"),
    ]
    assert fields(rows[0], "published ours ours_ci_low") == (0.328, 0.44, 0.3)
    assert rows[0]["cause"].startswith("other data")
    assert "deviation" not in rows[0]
    assert rows[4]["cause"] == "unknown; restated: the paper's own table was not at hand"
    assert rows[4]["deviation"] == pytest.approx(50, rel=0.01)


def test_overlap_is_that_of_the_first_release():
    settings = {"form": "truncated", "systems": 15, "ties": "listed"}
    right = row(RBO, statistic="aggregate", **settings, value=0.49630142557)
    wrong = [
        row(RBO, statistic="aggregate", **(settings | other), value=0.7)
        for other in ({"form": "extrapolated"}, {"systems": 13}, {"ties": "by name"})
    ]
    rows = judged({"rbo": [*wrong, right]}, source="cobbler", kind="published")
    assert len(rows) == 17
    assert fields(rows[0], "quantity verdict ours") == ("aggregate", "match", 0.49630142557)
    assert {r["verdict"] for r in rows[1:]} == {ABSENT}
    causes = {r["quantity"]: r["cause"] for r in rows[1:]}
    assert causes["share_biased"].startswith("the abstract does not say how it averages")
    assert causes["judges_with_annotators_together"] == NO_VALUE


@pytest.mark.mirror
def test_the_released_bars_are_each_judge_with_the_annotators_together():
    """Fifteen bars, three decimals: the first release, ties in the files' order, truncated; the
    mean over 50 instructions.
    """
    folder, _ = released("cobbler")
    of_humans = f"{folder}/competitive-llms/human/batches/human_annotations"
    annotators = [read_wins(f"{of_humans}/annot_{number}.json") for number in range(1, 7)]
    listed = list(annotators[0])
    together = places(sum(wins[listed].to_numpy() for wins in annotators))
    bars = {
        r["judge"]: float(r["value"])
        for r in PRINTED
        if r["quantity"] == "judges_with_annotators_together"
    }
    results = {
        JUDGES[judge]: rank_biased_overlap(
            places(wins_of_judge(folder, "model_annotations", judge)[listed].to_numpy()),
            together,
            extrapolated=False,
        ).mean()
        for judge in JUDGES.keys() - {*NEWER}
    }
    assert len(bars) == 15
    assert {judge: round(float(value), 3) for judge, value in results.items()} == bars


def test_the_figure_shows_the_scorecard_that_the_script_writes(tmp_path):
    inputs = {"published": str(PUBLISHED), "attacks": [str(ATTACKS)]}
    for name, rows in own_tables().items():
        path = str(tmp_path / f"{name}.csv")
        write_table(path, list(rows[0]), rows)
        inputs[name] = path
    scorecard = str(tmp_path / "scorecard.csv")
    compare(
        study="s",
        source="judgement_bias",
        kind="simulated",
        inputs=inputs,
        published=inputs["published"],
        attacks=inputs["attacks"],
        scorecard=scorecard,
    )
    table = read_figure_table(scorecard)
    figure = scorecard_figure(table, subject())
    (strips,) = figure.axes
    points = [place for marks in artists(figure, "value") for place in marks.get_offsets()]
    assert len(points) == (table["verdict"] != ABSENT).sum() > 0
    assert row_names(strips) == [f"Chen et al., Table {number}" for number in (1, 2, 3, 4, 6, 7)]
    words = prose(figure)
    assert "Attack success rate: simulated: this value is planted" in words
    assert "human raters" not in words
