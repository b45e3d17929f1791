"""The scorecard of comparisons: what matches what is printed, what differs, and what cannot be
judged.
"""

import numpy as np
import pandas as pd
import pytest
from compare_comparisons import compare

from conftest import DATA
from drawings import artists, prose, row_names, subject
from picked_rows import fields
from planted_comparisons import as_texts
from recuse.base.tables import read_table
from recuse.papers.attack_values import read_attacks
from recuse.papers.attacks import ASR, RANKS, VOTES_BY_POSITION
from recuse.papers.cobbler import (
    JUDGES,
    NEWER,
    places,
    rank_biased_overlap,
    read_wins,
    wins_of_judge,
)
from recuse.papers.scorecard import (
    ABSENT,
    NO_VALUE,
    OTHER_RANKED,
    OTHER_VOTES,
    PLANTED,
    SCORECARD,
    scorecard_of_comparisons,
)
from recuse.papers.scorecard_figure import scorecard_figure
from recuse.plot.style import read_figure_table
from text_tables import csv_frame
from verdict_files import released

PUBLISHED = DATA / "comparisons_published.csv"
ATTACKS = DATA / "judgement_bias_published.csv"
# Added to the votes on weaker models; their mean is 0
SHIFTS = {"7B": 0.05, "13B": -0.02, "70B": -0.03}
PRINTED = read_table(PUBLISHED)
PRINTED_ATTACKS = read_attacks(str(ATTACKS))


def own_tables():
    """Tables of a study that finds exactly what Chen et al. print."""
    printed = pd.DataFrame(PRINTED_ATTACKS)
    asr = printed[printed["quantity"] == "asr"].rename(columns={"printed_rank": "rank"})
    ranks = printed[printed["quantity"] == "average_rank"]
    by_judge = printed[printed["table"].isin(["6", "7"])].pivot_table(
        "value", ["table", "judge"], "quantity", "first"
    )
    shares = by_judge.loc["7", ["a", "b"]].astype(float)
    votes = {f"LLaMA2-Chat-{size}": shares.add([by, -by]) for size, by in SHIFTS.items()}
    votes["GPT-3.5-Turbo (2)"] = shares.assign(a=0.4, b=0.3)
    vote_shares = pd.concat(votes, names=["model_b"]).reset_index()
    return {
        "asr": asr.assign(asr=asr["value"], n=60).reindex(columns=ASR),
        "ranks": ranks.assign(average_rank=ranks["value"]).reindex(columns=RANKS),
        "vote_shares": vote_shares.assign(experiment="weak", model_a="GPT-3.5-Turbo"),
        "votes_by_position": by_judge.loc["6"]
        .reset_index()
        .assign(experiment="perturbations")
        .reindex(columns=VOTES_BY_POSITION),
    }


def judged(tables, *, source="judgement_bias", kind="published"):
    """The scorecard, a frame, of a study's tables, which are frames."""
    texts = {name: as_texts(table.to_dict("records")) for name, table in tables.items()}
    return pd.DataFrame(
        scorecard_of_comparisons(
            PRINTED, PRINTED_ATTACKS, texts, study="s", source=source, kind=kind
        )
    )


def test_chen_s_tables_match_themselves():
    rows = judged(own_tables())
    assert (rows["verdict"] == "match").all()
    counts = rows["figure"].str[-1].value_counts()
    assert counts.to_dict() == {"1": 24 + 24 + 8, "2": 4, "3": 28, "4": 35, "6": 56, "7": 12}
    assert rows["deviation"].abs().max() < 1e-6
    assert not rows.reindex(columns=SCORECARD[1:9]).duplicated().any()
    assert set(rows) <= set(SCORECARD)


CHANCE = 2.576 * np.sqrt(0.08 * 0.92 / 60)
CAUSES = {"simulated": PLANTED, "user": OTHER_VOTES, "published": ""}


@pytest.mark.parametrize(
    ("kind", "wide"), [("published", 0.0), ("user", CHANCE), ("simulated", CHANCE)]
)
def test_tolerance_is_half_a_digit_and_chance_in_other_votes(kind, wide):
    tables = own_tables()
    for size, verdict in ((0.9, "match"), (-0.9, "match"), (1.1, "differs"), (-1.1, "differs")):
        tables["asr"].iloc[0, ASR.index("asr")] = str(0.08 + size * (0.005 + wide))
        first = judged(tables, kind=kind).iloc[0]
        place = ("Chen et al., Table 1", "factual_error", "Claude-3")
        assert fields(first, "figure slice term") == place
        assert first["tolerance"] == pytest.approx(0.005 + wide, abs=1e-6)
        assert first["deviation"] == pytest.approx(size, abs=1e-4)
        assert first["verdict"] == verdict
        assert first["cause"] == (
            "unknown" if (kind, verdict) == ("published", "differs") else CAUSES[kind]
        )


def test_what_is_not_planted_is_shown_and_not_judged():
    rows = judged(own_tables(), kind="simulated").set_index("item")
    rows = rows.loc[["rank", "ranks", "votes_by_position", "vote_shares"]]
    assert (rows["verdict"] == ABSENT).all()
    assert rows["cause"].str.contains("not planted").all()
    assert rows["ours"].notna().all()
    assert rows["deviation"].isna().all()
    of_users = judged(own_tables(), kind="user").set_index("item").loc["votes_by_position"]
    assert set(of_users["verdict"]) == {ABSENT}
    assert set(of_users["cause"]) == {OTHER_VOTES}


def test_a_judge_that_was_not_asked_is_absent():
    rows = judged({name: rows[rows["judge"] != "Ernie"] for name, rows in own_tables().items()})
    of_all = ["rank", "ranks"]  # which the absent judge stands among
    absent = rows[(rows["verdict"] == ABSENT) & ~rows["item"].isin(of_all)]
    assert set(absent["term"]) == {"Ernie"}
    assert set(absent["cause"]) == {NO_VALUE}
    nothing = judged({})
    assert set(nothing["verdict"]) == {ABSENT}
    assert "ours" not in nothing


def test_answers_may_have_other_names_where_there_is_one_pair():
    tables = own_tables()
    asr = tables["asr"]
    asr.loc[asr["experiment"] == "perturbations", ["model_a", "model_b"]] = ["A1", "A2"]
    asr["model_b"] = asr["model_b"].replace("LLaMA2-Chat-7B", "B")
    rows = judged(tables)
    assert set(rows.loc[rows["figure"] == "Chen et al., Table 1", "verdict"]) == {"match"}
    absent = rows[(rows["verdict"] == ABSENT) & (rows["item"] == "asr")]
    assert set(absent["figure"] + absent["model"]) == {"Chen et al., Table 4LLaMA2-Chat-7B"}


def ranks_with(asr, *, item="ranks", table="4", column=None):
    """Verdict and cause of the ranks in one of Chen et al.'s tables, with these success rates."""
    rows = judged(own_tables() | {"asr": asr})
    rows = rows[(rows["item"] == item) & (rows["figure"] == f"Chen et al., Table {table}")]
    rows = rows if column is None else rows[rows["slice"] == column]
    return set(zip(rows["verdict"], rows["cause"], strict=True))


def test_ranks_are_judged_among_the_same_judges_and_columns_only():
    every = own_tables()["asr"]
    fewer = every[every["model_b"] != "LLaMA2-Chat-7B"]
    gender = fewer[fewer["experiment"] == "weak"].assign(condition="gender")
    other = every.assign(judge=every["judge"].replace("Ernie", "Another"))
    is_missing = (every["experiment"] == "weak") & (every["judge"] == "Ernie")
    missing = every.assign(asr=every["asr"].mask(is_missing))
    same, others = {("match", "")}, {(ABSENT, OTHER_RANKED)}
    for asr in (fewer, pd.concat([every, gender]), other, missing):
        assert ranks_with(asr) == others
    new = every[every["condition"] == "factual_error"].assign(judge="J9")
    rates = pd.concat([every, new])
    assert ranks_with(rates) == same
    assert ranks_with(rates, table="1") == others
    for column in ("factual_error", "fake_reference", "rich_content"):
        expected = others if column == "factual_error" else same
        assert ranks_with(rates, item="rank", table="1", column=column) == expected
    # What no sample is eligible for is no column.
    empty = every.assign(condition="gender", asr=None, n=0)
    assert ranks_with(pd.concat([every, empty])) == same


def test_table_7_takes_each_weaker_model_of_its_own_experiment_and_anchor():
    shares = own_tables()["vote_shares"]
    others = pd.concat([shares.assign(experiment="x"), shares.assign(model_a="x")])
    others = others.assign(a=0.99, b=0.01)

    def table_7(votes):
        return judged({"vote_shares": votes}).set_index("item").loc["vote_shares"]

    assert set(table_7(pd.concat([others, shares]))["verdict"]) == {"match"}
    partial = shares[shares["model_b"] != "LLaMA2-Chat-70B"]
    for votes in (others, partial):
        rows = table_7(votes)
        assert set(rows["verdict"]) == {ABSENT}
        assert "ours" not in rows


def test_other_data_are_shown_but_not_judged():
    verbosity = csv_frame("""
judge,condition,order,draws,verbosity_bias,ci_low,ci_high
GPT-4,,debiased,disagreement,0.1,0.3,0.5
GPT-4,,debiased,excluded,0.44,0.3,0.5
""")
    agreement = csv_frame("""
judge,condition,order,value,ci_low,ci_high
GPT-4,,debiased,0.7,,
GPT-4,,pooled,0.6425,,
Claude,,pooled,0.6069,,
""")
    rows = judged({"verbosity": verbosity, "agreement": agreement}, source="prd")
    assert rows[["figure", "term", "verdict"]].to_numpy().tolist() == [
        ["Saito et al., Table 1", "GPT-4", ABSENT],
        ["Saito et al., Table 1", "GPT-3.5", ABSENT],
        ["Li et al., accuracy", "GPT-4", "match"],
        ["Li et al., accuracy", "GPT-3.5", ABSENT],
        ["Li et al., accuracy", "Claude", "differs"],
    ]
    first, *_, last = rows.to_dict("records")
    assert fields(first, "published ours ours_ci_low") == (0.328, 0.44, 0.3)
    assert first["cause"].startswith("other data")
    assert np.isnan(first["deviation"])
    assert last["cause"] == "unknown; restated: the paper's own table was not at hand"
    assert last["deviation"] == pytest.approx(50, rel=0.01)


def test_overlap_is_that_of_the_first_release():
    overlaps = csv_frame("""
statistic,form,systems,ties,judge,value,ci_low,ci_high
aggregate,extrapolated,15,listed,,0.7,,
aggregate,truncated,13,listed,,0.7,,
aggregate,truncated,15,by name,,0.7,,
aggregate,truncated,15,listed,,0.49630142557,,
""")
    rows = judged({"rbo": overlaps}, source="cobbler").set_index("quantity")
    assert len(rows) == 17
    assert rows.loc["aggregate", ["verdict", "ours"]].to_list() == ["match", 0.49630142557]
    rest = rows.drop("aggregate")
    assert set(rest["verdict"]) == {ABSENT}
    assert rest["cause"]["share_biased"].startswith("the abstract does not say how it averages")
    assert set(rest["cause"]["judges_with_annotators_together"]) == {NO_VALUE}


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
        inputs[name] = str(tmp_path / f"{name}.csv")
        rows.to_csv(inputs[name], index=False)
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
