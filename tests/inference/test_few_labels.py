"""A study in which few prompts have human scores: A rests on these, all else on every rating."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import recuse
from rated_tables import FIVE, NINE, by_subject, findings_from, rated, study_of_rows
from recuse.base.errors import ConfigError, DataError
from recuse.base.reasons import Reason, because
from recuse.check.facts import WARNING
from recuse.data.selection import EVERY_ROW
from recuse.inference.human_scale import (
    BATCH,
    human_scale_means,
    next_label_rows,
    read_answer_scores,
)

pytestmark = pytest.mark.usefixtures("few_sweeps")
FOUR = ("Aster", "Basil", "Clove", "Dill")
LABELLED = 12
PROMPTS = 60
UNDRAWN = "^(?!boot|wild)"  # columns that no bootstrap draws
OF_A = ["A", "A_ci_low", "A_ci_high"]


@pytest.fixture(scope="module")
def frame():
    """Clove favours its own answers by 0.9 of 9 points; people score answers to every fifth
    prompt.
    """
    draws = default_rng(7)
    rows = []
    for prompt in range(PROMPTS):
        for model in FOUR:
            quality = draws.normal(5.5, 1.5)
            human = round(np.clip(quality + draws.normal(0, 0.7), 1, 10))
            for judge in FOUR:
                own = 0.9 * (judge == model == "Clove")
                rating = round(np.clip(quality + own + draws.normal(0, 0.7), 1, 10))
                rows.append((judge, model, f"q{prompt}", rating, None if prompt % 5 else human))
    return pd.DataFrame(rows, columns=["judge", "model", "prompt", "rating", "human"])


@pytest.fixture(scope="module")
def studies(frame):
    """The study, the same without human scores, and its labelled prompts alone."""
    frames = frame, frame.drop(columns="human"), frame.dropna()
    return [recuse.ratings(each, scale=(1, 10)) for each in frames]


@pytest.fixture(scope="module")
def boards(studies):
    """Their leaderboards."""
    return [recuse.leaderboard(each).frame for each in studies]


def test_what_needs_no_people_is_as_without_human_scores(studies, boards):
    study, without, _ = studies
    for spec in ("model_effects", "model_dimension_effects", "completion_effects"):
        fits = (recuse.fit(each, spec).frame for each in (study, without))
        pd.testing.assert_frame_equal(*fits, check_exact=True)
    tables = [board.drop(columns="spec") for board in boards[:2]]
    tables[0] = tables[0][tables[0]["scores"] != "as_people"].reset_index(drop=True)
    pd.testing.assert_frame_equal(*tables, check_exact=True, check_dtype=False)
    verdicts = [recuse.verdict(each).frame for each in (study, without)]
    assert verdicts[0].loc[:3, OF_A].notna().all(axis=None)
    others = (
        table.drop(columns=OF_A).drop(columns=table.filter(like="agreement")) for table in verdicts
    )
    pd.testing.assert_frame_equal(*others, check_exact=True, check_dtype=False)


def test_a_is_that_of_the_labelled_rows(studies):
    study, _, labelled = studies
    assert (len(study), len(labelled)) == (16 * PROMPTS, 16 * LABELLED)
    for spec in ("main", "clustered", "ordinal"):
        fits = [recuse.fit(each, spec).frame.filter(regex=UNDRAWN) for each in (study, labelled)]
        if spec == "clustered":  # whose biases rest on all ratings
            fits = [fit[fit["quantity"] != "self_bias"] for fit in fits]
        pd.testing.assert_frame_equal(*fits, check_exact=True)


def test_ranks_as_by_people_rest_on_all_ratings(boards):
    study, without, labelled = boards
    assert not (pd.concat([without, labelled])["scores"] == "as_people").any()
    board, alone = (
        each[each["slice"] == ""].set_index(["scores", "model"]) for each in (study, labelled)
    )
    assert board.loc["raw"]["rank"].idxmin() == "Clove"
    assert board.loc["as_people"]["rank"].idxmin() != "Clove"
    assert "human" not in board.index
    errors = board.loc["as_people"]["std_error"], alone.loc["human"]["std_error"]
    both, labelled_only = (each.astype(float) for each in errors)
    assert (both < 0.8 * labelled_only).all()


def labelled(kept, **settings):
    """Rows with human scores where kept(row)."""
    return [row | ({} if kept(row) else {"gt": ""}) for row in rated(**settings)]


def every_fourth(row):
    return int(row["prompt_id"][1:]) % 4 == 0


def answers_from(folder, chance):
    """The answers of a study whose rows state this chance of a human score."""
    folder.mkdir(exist_ok=True)
    rows = [row | {"labelling_probability": chance(row)} for row in labelled(every_fourth)]
    study = study_of_rows(folder, rows)
    return read_answer_scores(study, EVERY_ROW.rows(study.ratings))


def test_a_stated_probability_weighs_where_there_is_a_score(tmp_path):
    chances = {
        "everywhere": lambda row: 0.25,
        "scored": lambda row: 0.25 if row["gt"] else "",
        "unstated": lambda row: "",
    }
    everywhere, scored, unstated = (
        answers_from(tmp_path / name, chance) for name, chance in chances.items()
    )
    assert (everywhere.labelling_probability[everywhere.is_scored] == 0.25).all()
    assert unstated.labelling_probability is None
    score = human_scale_means(unstated).score
    for stated in (everywhere, scored):
        assert human_scale_means(stated).score == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("judge", "changed", "message"),
    [("GPT-4o", 0.4, "two values for one answer"), (None, "", "found none for 5 scored answers")],
)
def test_probabilities_that_do_not_fit_are_refused(tmp_path, judge, changed, message):
    def chance(row):
        is_changed = row["prompt_id"] == "p4" and judge in (row["judge"], None)
        return changed if is_changed else 0.2

    with pytest.raises(DataError, match=message):
        answers_from(tmp_path, chance)


def with_people(frame, people):
    """The rows that are read where human scores are in a table of their own."""
    ratings = frame.drop(columns="human")
    study = recuse.ratings(ratings, references=people, human="human", scale=(1, 10))
    return study.to_pandas()


def people_in(frame, *raters):
    """A row for each scored answer and rater, with a probability that differs by prompt."""
    people = frame.dropna().drop_duplicates(["model", "prompt"])
    people = people.assign(labelling_probability=0.1 + people.prompt.str[1:].astype(int) / 100)
    columns = ["model", "prompt", "human", "labelling_probability"]
    return pd.concat([people[columns].assign(rater=rater) for rater in raters or ("one",)])


def test_a_probability_is_read_beside_human_scores_in_a_table_of_their_own(frame):
    people = people_in(frame)
    chances = people.drop_duplicates("prompt").set_index("prompt")["labelling_probability"]
    stated = frame.assign(labelling_probability=frame.prompt.map(chances))
    whole = recuse.ratings(stated, scale=(1, 10)).to_pandas()
    assert {*whole["labelling_probability"].dropna()} == {*chances}
    pd.testing.assert_frame_equal(with_people(frame, people), whole, check_exact=True)


@pytest.mark.parametrize(
    ("chance", "message"),
    [(0.9, "one of several for this answer"), (1.5, "which is not a probability")],
)
def test_a_wrong_probability_beside_human_scores_is_refused(frame, chance, message):
    people = people_in(frame, "one", "two")
    people["labelling_probability"] = np.where(
        np.arange(len(people)) == 3, chance, people["labelling_probability"]
    )
    with pytest.raises(DataError, match=rf"labelling_probability: found '{chance}', {message}"):
        with_people(frame, people)


@pytest.mark.parametrize("found", ["0", "1.5", "-0.1", "likely"])
def test_a_probability_that_is_none_is_refused(tmp_path, found):
    rows = [row | {"labelling_probability": 0.5} for row in rated(prompts=12)]
    rows[7]["labelling_probability"] = found
    message = rf"made up.csv, line 9, column labelling_probability: found '{found}', .* write a number above 0"
    with pytest.raises(DataError, match=message):
        study_of_rows(tmp_path, rows)


def test_the_next_batch_to_score_is_balanced_with_more_own_answers(tmp_path):
    alone = next(name for name in NINE if name not in FIVE)  # does not judge
    rows = rated(models=(*FIVE, alone), prompts=60, dimensions=("Tone", "Wit"))
    scored = {f"p{number}" for number in range(15)}
    for row in rows:
        row["gt"] = row["gt"] if row["prompt_id"] in scored else ""
    study = study_of_rows(tmp_path, rows)
    batch = pd.DataFrame(next_label_rows(study, seed=1))
    assert len(batch) == len(batch.drop_duplicates()) == BATCH
    assert not set(batch["prompt_id"]) & scored
    counts = batch.groupby(["model", "dimension"]).size().unstack()
    assert (counts["Tone"] - counts["Wit"]).abs().max() <= 2
    assert counts.loc[alone].sum() < 0.6 * counts.drop(alone).sum(axis=1).min()
    assert set(batch["model"][batch["own"] == 0]) == {alone}
    again, other = (pd.DataFrame(next_label_rows(study, seed=seed)) for seed in (1, 2))
    assert again.equals(batch)
    assert not other.equals(batch)


def test_one_number_says_that_answers_were_drawn_at_random(frame, boards):
    board = recuse.leaderboard(
        recuse.ratings(frame, scale=(1, 10), labelling_probability=0.2)
    ).frame
    stated, unstated = (each[each["scores"] == "as_people"] for each in (board, boards[0]))
    columns = ["score", "ci_low", "ci_high", "rank_low", "rank_high"]
    pd.testing.assert_frame_equal(stated[columns], unstated[columns], check_exact=True)
    assert {note.split(" ")[0] for note in unstated["note"]} == {Reason.FEW_AND_UNDECLARED}
    assert {note.split(" ")[0] for note in stated["note"]} == {Reason.SHORT_INTERVALS}


@pytest.mark.parametrize("found", [0, 1.5, True])
def test_a_number_that_is_no_probability_is_refused(frame, found):
    with pytest.raises(ConfigError, match=f"labelling_probability: should be .*, found {found}"):
        recuse.ratings(frame, scale=(1, 10), labelling_probability=found)


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """Those of the check where every fourth prompt has human scores."""
    return by_subject(findings_from(tmp_path_factory.mktemp("check"), labelled(every_fourth))[0])


def test_check_doubts_a_draw_that_nobody_states(findings, tmp_path):
    rows = labelled(every_fourth)
    finding = findings["human scores", "draw"]
    assert finding.level == WARNING
    assert finding.words.startswith(
        "the study does not say that the answers with human scores were drawn"
    )
    stated = [row | {"labelling_probability": 0.25} for row in rows]
    assert ("human scores", "draw") not in by_subject(findings_from(tmp_path, stated)[0])


def test_check_counts_what_each_question_rests_on(findings):
    assert findings["contents", "A"].words == (
        "A rests on 250 ratings with human scores, on answers to 10 prompts (clusters)"
    )
    assert findings["contents", "B, C and the ranking"].words == (
        "B, C and the ranking rest on 1,000 ratings, on answers to 40 prompts (clusters)"
    )
    assert ("human scores", "chosen") not in findings
    for subject in ("more human scores: A", "more human scores: how people rate a model"):
        narrower = findings["contents", subject]
        now = float(narrower.words.rpartition("±")[2].removesuffix(")"))
        # 150 scored answers instead of 50
        assert narrower.value == pytest.approx(now / 3**0.5, abs=5e-4)


def test_fewer_than_ten_labelled_prompts_say_nothing_about_a(tmp_path):
    rows = labelled(lambda row: row["prompt_id"] in ("p1", "p7"))
    findings, facts = findings_from(tmp_path, rows)
    assert facts.study.scored is facts.study
    lacking = by_subject(findings)["estimable", "A: self-bias of GPT-4o"]
    assert "answers to only 2 prompts" in lacking.words
    reason = because(Reason.FEW_SCORED_PROMPTS, prompts=2, least=10)
    study = recuse.ratings(pd.DataFrame(rows).replace("", None), scale=(1, 5))
    assert set(recuse.fit(study, "main").not_estimable["reason"]) == {reason}
    assert recuse.verdict(study).frame["A"].isna().all()


def test_labels_of_easy_prompts_alone_are_not_chosen_at_random(tmp_path):
    rows = rated()
    means = pd.DataFrame(rows).groupby("prompt_id")["rating"].mean()
    easy = set(means.nlargest(12).index)
    rows = [row | ({} if row["prompt_id"] in easy else {"gt": ""}) for row in rows]
    finding = by_subject(findings_from(tmp_path, rows)[0])["human scores", "chosen"]
    assert (finding.level, finding.value > 0.1) == (WARNING, True)
