"""Settings guessed for files: those of the awkward tables and of every format, checked by import,
not by eye.
"""

import csv
import re
import shutil
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from importing import import_files
from test_awkward_tables import (
    TABLES,
    a_scale_for_each_judge,
    as_bytes,
    assert_units,
    checked,
    one_judge_in_each_file,
)

import mutations
from conftest import ROOT
from mutations import as_csv, examples, tables_like
from recuse.base.errors import ConfigError, DataError, RecuseError
from recuse.config.load import load
from recuse.config.read import read
from recuse.imports.guess import ASKED, guess
from recuse.imports.names import group_families
from text_tables import cases, fields, lines

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = ROOT / "tests" / "formats"


def written(files):
    """What is guessed for files, by their contents or copied into the folder: the text of
    mine.yaml there.
    """
    for name, content in files.items():
        Path(name).write_bytes(as_bytes(content))
    text = guess([*files])
    Path("mine.yaml").write_text(text, "utf-8")
    return text


def guessed(files, asked=""):
    """The settings guessed for files, those of the import among them; what is asked under these
    keys, and no other, is there in place of a value. Config refuses an empty key.
    """
    text = written(files)
    ((study,),) = (section.values() for section in read("mine.yaml").values())
    lines = [line.strip() for line in text.splitlines() if ASKED in line]
    questions = dict(line.split(f":  # {ASKED}") for line in lines)
    assert questions.keys() == {*asked.split()}
    with pytest.raises(ConfigError, match="is empty") if asked else nullcontext():
        load("mine.yaml")
    return study | study["import"] | questions


def comments():
    """The text of the settings that were guessed last."""
    return Path("mine.yaml").read_text("utf-8")


def recurring(name="own.csv", rows=80, **columns):
    """A file of these columns, whose values recur down its rows."""
    cells = {key: np.resize(np.array(values, object), rows) for key, values in columns.items()}
    return {name: pd.DataFrame(cells).to_csv(index=False)}


JUDGE, MODELS, TWICE = ["gpt-4o"], ["gpt-4o", "claude-3"], np.repeat(range(60), 2)
FIVE = [1, 2, 3, 4, 5]
ONE_ORDER = {"judge": JUDGE, "question": TWICE, "model_1": MODELS[:1], "model_2": MODELS[1:]}


def answers(**columns):
    """A file of answers of two models to 40 prompts, and these columns."""
    return recurring(**{"judge": JUDGE, "model": MODELS, "prompt": TWICE} | columns)


def ratings_with(failure, scale="1 2 3 4 5"):
    """Ratings, every eleventh of which is this value."""
    values = scale.split()
    ratings = [values[(n + n // 2) % len(values)] for n in range(80)]
    ratings[::11] = [failure] * 8
    return answers(rating=ratings)


def pairs_with(words, counts=12):
    """Comparisons in both orders, whose outcomes are these words, so often."""
    outcomes = np.repeat(words.split("," if "," in words else None), counts)
    pairs = {"left": MODELS, "right": MODELS[::-1], "winner": outcomes}
    return recurring("pairs.csv", len(outcomes), grader=JUDGE, question=TWICE, **pairs)


def fixture(name, old="", new=""):
    """A fixture, in which one text may stand for another."""
    return {name: (FORMATS / name).read_text("utf-8").replace(old, new)}


@pytest.mark.parametrize(
    "table", [table for table in TABLES if table is not a_scale_for_each_judge]
)
def test_awkward_tables_are_understood_without_a_word(table):
    """Every rating and human score is what it is with the settings of a user; but for a judge that
    no column names.
    """
    files, truth, scale = table()
    families = guessed(files)["families"]
    text = comments()
    named = [
        line
        for line in text.splitlines()
        if line.startswith(" " * 8) and not line.strip().startswith(("columns", "files"))
    ]
    assert all("# guessed: " in line for line in named)
    if table is one_judge_in_each_file:
        assert "judge: {value: judge}  # guessed: no column names the judge: write its name" in text
        Path("mine.yaml").write_text(text.replace("{value: judge}", "{value: gpt-4.1}"), "utf-8")
    rows, _, _ = checked()
    assert_units(rows, truth, scale)
    assert sorted(families["GPT"]) == ["gpt-4.1", "gpt-4.1-mini"]
    assert sorted(families["Claude"]) == ["claude-haiku-4", "claude-sonnet-4"]


def test_files_of_raters_and_words_for_failures():
    """As in the example of the documentation."""
    example = ROOT / "docs" / "example"
    found = guessed({name: (example / name).read_bytes() for name in ("judged.csv", "human.csv")})
    named = {"model": "candidate", "prompt": "item", "dimension": "metric"}
    assert found["columns"] == named | {"judge": "grader", "rating": "score"}
    assert found["missing"] == ["error"]
    human = {"files": "human.csv", "columns": named | {"rating": ["first", "second"]}}
    assert found["references"] == human
    assert found["scales"] == {"default": [1, 10]}


def test_scales_of_dimensions_differ():
    ratings = [2, 1, 9, 3, 5, 4, 4, 5, 7, 2]
    found = guessed(answers(metric=["wit", "tone"], rating=ratings))
    assert found["scales"] == {"tone": [1, 5], "wit": [1, 10]}


# A rare value, the others, and the scale
FAILURES = """
-1    | 1 2 3 4 5            | 1 5
99    | 1 2 3 4 5            | 1 5
-99   | 0 0.5 1              | 0 1
999   | 1 2 3 4 5 6 7 8 9 10 | 1 10
-9    | 0 1                  | 0 1
99    | 0 1                  | 0 1
-9999 | 0 1                  | 0 1
"""
RARE = "# guessed: rare, and neither scores nor answers: failed judgments?"


@pytest.mark.parametrize(("failure", "others", "scale"), fields(FAILURES))
def test_a_number_far_from_the_scores_marks_failures(failure, others, scale):
    found = guessed(ratings_with(failure, others))
    assert [*map(float, found["missing"])] == [float(failure)]
    assert RARE in comments()
    assert found["scales"] == {"default": [*map(int, scale.split())]}


def test_a_number_that_may_be_a_score_is_asked_about_or_left():
    assert guessed(ratings_with(0))["scales"] == {"default": [0, 5]}
    assert "does 0 mark a failure? then `missing: [0]`" in comments()
    scales = (
        (-1, "-1 0 1"),
        (99, "90 91 92 93 94 95 96 97 98 99 100"),
        (99, "12 13"),
        (0, "0 1"),
    )
    for failure, scale in scales:
        assert "missing" not in guessed(ratings_with(failure, scale))
        assert "mark a failure" not in comments()


@pytest.mark.parametrize(
    ("every", "yes", "no"), [(1, "correct", "incorrect"), (9, "True", "False"), (1, "y", "n")]
)
def test_words_beside_0_and_1_are_read(every, yes, no):
    """However many: those of people in a few rows, or those of a judge among its numbers."""
    ratings = np.resize([0, 0, 1, 1], 80)
    words = np.where(TWICE[:80] % every, "", np.where(ratings, yes, no))
    mixed = np.where(TWICE[:80] % every, ratings, words)
    for files in (answers(rating=ratings, human=words), answers(rating=mixed)):
        found = guessed(files)
        values = {str(word).lower(): number for word, number in found["values"].items()}
        assert values == {yes.lower(): 1, no.lower(): 0}
        assert "missing" not in found


# A rare rating, and the others; the words that are asked about. Beside 0 and 1, only -1 may be a
# score; a word of a yes-no question marks no failure.
UNCLEAR = """
-1      | 0 1       | -1
correct | 1 2 3 4 5 | correct
oops    | good 1 2  | good oops
"""


def words_asked(files, keys="values"):
    """The words whose meaning a question leaves open, as its example has them."""
    return re.findall(r"[{ ]'?([^\s{']+?)'?: '?<", guessed(files, keys)["values"])


@pytest.mark.parametrize(("rare", "others", "asked"), fields(UNCLEAR))
def test_ratings_of_no_clear_meaning_are_asked_about(rare, others, asked):
    assert words_asked(ratings_with(rare, others)) == asked.split()


def test_a_scale_of_words_is_asked_for_too():
    """An F among grades is not `false`."""
    assert words_asked(ratings_with("F", "A B C D"), "values scales") == [*"abcdf"]
    assert guessed(answers(rating=["poor", "good", "fine"]), "values scales")


def test_a_scale_stays_beside_a_question_about_a_rare_number():
    assert guessed(ratings_with(-1, "0 1"), "values")["scales"] == {"default": [0, 1]}


def test_a_word_in_many_rows_marks_no_failure():
    """A rare one does; one in two rows of a short file is rare. No other word is filled in beside
    one that is asked about.
    """
    for counts in ([45, 45, 10], [4, 4, 2]):
        assert guessed(pairs_with("A B oops", counts))["missing"] == ["oops"]
        assert RARE in comments()
    for counts in ([44, 44, 12], [4, 4, 3]):
        assert words_asked(pairs_with("A B oops", counts)) == ["oops"]
    assert words_asked(pairs_with("[[A]] [[B]] ?", 20)) == ["?", "[[a]]", "[[b]]"]


# A rare rating of 3 beside others, and a part of the question
FOR_FAILURES = """
-1 1 2      | which rating is meant by -1? Write it
-1 1 2      | ; if it marks failures, write `missing: ['-1']` in place of this line
good oops 1 | ; values that mark failures go under `missing:`
"""


@pytest.mark.parametrize(("scale", "words"), fields(FOR_FAILURES))
def test_a_question_says_what_to_write_for_failures(scale, words):
    assert words in guessed(ratings_with(3, scale), "values")["values"]


def test_a_value_of_one_row_alone_is_no_prompt():
    """Unless no other column has enough values, as in a file of one model's answers."""
    of_all = {"judge": np.repeat(MODELS, 2), "model": MODELS}
    numbered = {"question_no": np.repeat(range(20), 4), "rating": np.repeat(FIVE, 4)}
    notes = [f"text {n}" for n in range(80)]
    for name in ("id", "prompt"):
        found = guessed(recurring(**{name: range(80)}, **of_all, **numbered, note=notes))
        assert found["columns"]["prompt"] == "question_no"
    of_one = {"judge": JUDGE, "model": MODELS[1:], "id": range(80), "subject": range(3)}
    assert guessed(recurring(**of_one, rating=FIVE))["columns"]["prompt"] == "id"


@pytest.mark.parametrize("human", [{}, {"human": [3]}])
def test_files_with_the_same_columns_are_of_one_kind(human):
    """Without a column for the judge, each may be of one judge, and none is of human scores, but by
    its name.
    """
    (table,) = recurring(model=MODELS, prompt=TWICE, rating=FIVE, **human).values()
    found = guessed({"claude-3.5.csv": table, "gpt-4o.csv": table.replace("-", "-new-")})
    assert found["files"] == ["claude-3.5.csv", "gpt-4o.csv"]
    assert "references" not in found
    assert "if each file is of another judge, add a column for it" in comments()
    found = guessed({"human.csv": table, "gpt-4o.csv": table})
    assert found["files"] == "gpt-4o.csv"
    assert found["references"]["files"] == "human.csv"
    assert "human" not in found["columns"]
    assert ("human scores in the files above are left out" in comments()) == bool(human)


def test_a_second_human_column_is_told():
    scores = {"human_1": [1, 2, 3, 4], "human_2": [1, 2, 3], "human_note": ["text"]}
    assert guessed(answers(rating=FIVE, **scores))["columns"]["human"] == "human_1"
    assert "guessed: by its name; left out: human_2" in comments()


@pytest.mark.parametrize("score", ["annotator_score", "raterRating", "score_by_annotator"])
def test_the_score_of_a_rater_is_not_the_rater(score):
    human = recurring("human.csv", model=MODELS, prompt=TWICE, **{score: FIVE})
    columns = {"model": "model", "prompt": "prompt", "rating": score}
    assert guessed(ratings_with(3) | human)["references"]["columns"] == columns


@pytest.mark.parametrize(
    ("first", "second", "scores"),
    [
        ("chosen", "rejected", ()),
        ("model_a", "model_b", ("score_a", "score_b")),
        ("model_1", "model_2", ("a_wins",)),
    ],
)
def test_pairs_without_an_outcome_are_told(first, second, scores):
    columns = {first: MODELS, second: MODELS[::-1]} | {score: [0, 1] for score in scores}
    message = r"^pairs\.csv, line 1, column (outcome|rating): missing; found judge"
    with pytest.raises(DataError, match=message):
        guessed(recurring("pairs.csv", judge=JUDGE, question=TWICE, **columns))


def test_both_orders_of_a_pair_are_counted():
    """Whether the models change their places or a column names the order; one comparison in one
    order is enough for `false`.
    """
    swapped = ONE_ORDER | {"model_1": MODELS, "model_2": MODELS[::-1]}
    for columns in (swapped, ONE_ORDER | {"order": ["ab", "ba"]}):
        columns = columns | {"winner": ["a", "b"]}
        assert "both_orders" not in guessed(recurring(**columns))
        assert guessed(recurring(rows=79, **columns))["both_orders"] is False


# Words; below them the answers they stand for
WORDS = """
[[A]] [[B]] [[C]]
    a b tie
left right both
    a b tie
A>>B A>B A=B B>A B>>A B<A
    a a tie b b a
a>>>b a==b a<<<b
    a tie b
assistant_a Assistant-B tie
    a b None
Response 1,Response 2,same
    a b tie
"""


@pytest.mark.parametrize(("words", "answers"), cases(WORDS))
def test_words_for_the_answers_are_read(words, answers):
    found = guessed(pairs_with(words))
    expected = zip(words.split("," if "," in words else None), answers.split(), strict=True)
    assert found["values"] == {
        word.lower(): answer for word, answer in expected if answer != "None"
    }
    columns = {"judge": "grader", "model_a": "left", "model_b": "right", "item": "question"}
    assert found["columns"] == columns | {"outcome": "winner"}
    assert "missing" not in found


def test_human_scores_with_other_columns_are_left_out_by_name():
    models, four = ["m1", "m2"], np.repeat(range(20), 4)
    rated = {"judge": np.repeat(["j1", "j2"], 2), "model": models, "prompt": four, "score": FIVE}
    labels = {"model": models, "human": [1, 2, 3, 4]}
    files = recurring("ratings.csv", **rated)
    files |= recurring("people.csv", 40, prompt=TWICE, **labels)
    files |= recurring("more.csv", 40, item=TWICE, **labels)
    assert guessed(files)["references"]["files"] == "people.csv"
    assert "; left out, as columns differ: more.csv" in comments()


# Words for two or three outcomes; below them how the question begins
OPEN = """
0 1
    0 or 1? Write it, as in `{'0': '<a, b or tie>', '1':
1 1.5 2
    1, 1.5 or 2?
much-better equal worse
    equal, much-better or worse? Write it, as in
true false
    false or true?
"""


@pytest.mark.parametrize(("words", "question"), cases(OPEN))
def test_a_direction_that_is_open_is_asked_for(words, question):
    found = guessed(pairs_with(words), "values")
    assert found["values"].startswith(f"which answer won where the file says {question}")
    assert "missing" not in found


def with_order(column, words, winners):
    """Comparisons with these winners, and a further column of these words in turn."""
    return recurring(**ONE_ORDER, winner=np.repeat(winners, 2), **{column: words})


@pytest.mark.parametrize(
    ("column", "first", "second"),
    lines("""
        order       original swapped
        swapped     false    true
        position    1        2
        game        1        2
        is_flipped  0        1
        answerOrder AB       A-B
    """),
)
def test_order_in_other_words_is_asked_for(column, first, second):
    """No number of orders is guessed then."""
    found = guessed(with_order(column, [first, second], ["a", "b"]), "order")
    assert found["order"].startswith(f"does `{column}` say which answer was shown first?")
    assert "both_orders" not in found
    assert found["columns"]["item"] == "question"


LETTERS = ["[[A]]", "[[B]]"]


@pytest.mark.parametrize("words", [["ab", "ba"], ["AB", "BA"], ["gpt-4o", "Claude-3"]])
def test_letters_beside_an_order_are_asked_for(words):
    """`[[A]]` may be the answer of model_a or the one shown first; `a` is that of model_a."""
    found = guessed(with_order("first_shown", words, LETTERS), "values")
    question = "do these words name models, or the answers shown first and second? For models write"
    assert found["values"].startswith(f"{question} `{{'[[a]]': a")
    assert found["columns"]["order"] == "first_shown"
    found = guessed(with_order("first_shown", words, ["a", "b"]))
    assert found["columns"]["order"] == "first_shown"


def test_letters_beside_an_order_in_other_words_are_asked_for_too():
    assert guessed(with_order("swapped", ["no", "yes"], LETTERS), "order values")


@pytest.mark.parametrize(("key", "role"), [("judge", "model"), ("model", "judge")])
def test_columns_with_the_names_of_judges_or_models_are_of_these(key, role):
    """As when each of them judges all; a score of the question is not theirs."""
    names, prompts = ["alpha", "beta", "gamma"], np.arange(81) // 3
    scores = {"alpha": FIVE, "beta": [2], "gamma": [1, 2, 3, 4], "difficulty": prompts % 3 + 1}
    found = guessed(recurring(rows=81, **{key: names}, question=prompts, **scores))
    assert found["columns"]["rating"] == names
    assert f"# guessed: one column for each {role}" in comments()


def test_words_of_a_name_need_no_separators():
    """Those with separators go first, and a part of a word is not taken for a word."""
    parts = {"judgename": JUDGE, "modelname": MODELS, "questionid": TWICE}
    columns = dict(zip(("judge", "model", "prompt"), parts, strict=True))
    scores = {"judgescore": FIVE, "humanscore": [1, 2, 3, 4]}
    assert guessed(recurring(**scores, **parts))["columns"] == columns | {
        "rating": "judgescore",
        "human": "humanscore",
    }
    scores = {"overallscore": FIVE, "preference": [1, 2, 3, 4]}
    columns = {role: role for role in columns}
    assert guessed(answers(**scores))["columns"] == columns | {"rating": "overallscore"}
    found = guessed(answers(**scores, final_score=FIVE))
    assert found["columns"] == columns | {"rating": "final_score"}


def test_human_verdicts_in_a_file_of_their_own_are_read():
    pair = {"model_a": MODELS[:1], "model_b": MODELS[1:], "winner": LETTERS}
    human = recurring("human.csv", 20, question=range(20), **pair)
    references = guessed(pairs_with("A B", 20) | human)["references"]
    assert references["values"] == {"[[a]]": "a", "[[b]]": "b"}
    assert references["columns"]["human"] == "winner"


@pytest.mark.parametrize(
    ("levels", "scale", "reason"),
    [
        (range(12), [0, 11], "the lowest and highest score"),
        (range(1, 21), [0, 20], "a usual scale for these scores"),
        (range(2, 9), [1, 10], "a usual scale for these scores"),
    ],
)
def test_a_scale_is_the_one_that_the_scores_use(levels, scale, reason):
    """One that is wider would hide a ceiling."""
    assert guessed(answers(rating=np.repeat(levels, 2)))["scales"] == {"default": scale}
    assert f"# guessed: {reason}" in comments()


def test_counts_are_no_ratings():
    with pytest.raises(DataError, match="column rating: missing; found judge, model, prompt, word"):
        guessed(answers(word_count=range(100, 107)))


def test_columns_called_like_models_may_repeat_few_numbers_with_decimal_commas():
    scores = dict.fromkeys(MODELS, ("1,5", "2,5"))
    found = guessed(recurring(judge=JUDGE, prompt=range(80), **scores))
    assert (found["columns"]["rating"], found["decimal"]) == (MODELS, ",")


@pytest.mark.parametrize("column", ["turn", "Step", "epoch", "seed"])
def test_several_ratings_of_one_answer_are_asked_about(column):
    """They may be of several answers, or of one that was judged again."""
    twice = {"prompt": np.repeat(range(20), 4), "rating": FIVE}
    found = guessed(answers(**twice, **{column: [1, 1, 2, 2]}), "repeats")
    assert found["repeats"].startswith("some answers are rated more than once by one judge: which")
    assert "repeats" not in guessed(answers(rating=FIVE, **{column: [1]}))


def test_a_folder_stays_a_folder():
    Path("judged").mkdir()
    for place in range(9):
        prompts = [f"{place}-{n // 2}" for n in range(80)]
        (content,) = answers(prompt=prompts, rating=FIVE).values()
        Path(f"judged/{place}.csv").write_text(content, "utf-8")
    assert "files: judged\n" in guess(["judged"])


def test_spellings_of_one_model_are_one():
    """A judge with the prefix of its provider judges its own answers."""
    judges = ["openai/gpt-4o", "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0"]
    models = ["gpt-4o", "claude-3.5-sonnet"]
    of_all = {"judge": np.repeat(judges, 2), "model": models, "prompt": np.repeat(range(20), 4)}
    assert guessed(recurring(**of_all, rating=FIVE))["families"] == {
        "GPT": {"gpt-4o": ["openai/gpt-4o"]},
        "Claude": {"claude-3.5-sonnet": [judges[1]]},
    }
    assert "in brackets, other spellings of one model" in comments()
    found, _, _ = checked()
    assert {*found["judge"]} == {*found["model"]} == {*models}


@pytest.mark.parametrize(
    ("judges", "models", "families"),
    [
        (  # two snapshots are two models
            ["openai/gpt-4o"],
            ["gpt-4o", "gpt-4o-2024-05-13"],
            {"GPT": {"gpt-4o": ["openai/gpt-4o"], "gpt-4o-2024-05-13": []}},
        ),
        (
            ["claude-3-5-sonnet-20240620"],
            ["claude-3-5-sonnet@20241022"],
            {"Claude": {"claude-3-5-sonnet-20240620": [], "claude-3-5-sonnet@20241022": []}},
        ),
        (  # names that begin alike, unless all names may
            ["LGAI-EXAONE/EXAONE-3.5-32B-Instruct", "guanaco-33b"],
            ["EXAONE-3.5-7.8B", "guanaco-65b", "system-1", "system-2", "bob"],
            {
                "EXAONE": {"LGAI-EXAONE/EXAONE-3.5-32B-Instruct": [], "EXAONE-3.5-7.8B": []},
                "guanaco": {"guanaco-33b": [], "guanaco-65b": []},
            },
        ),
        (
            ["ollama/llama3:8b"],
            ["llama3:70b"],
            {"Llama": {"ollama/llama3:8b": [], "llama3:70b": []}},
        ),
        (["openai/gpt-4o, google/gemini-2.0-flash"], ["bob"], {}),  # one vote of several models
    ],
)
def test_which_names_are_one_model_and_which_models_a_family(judges, models, families):
    assert group_families(judges, models) == families


RECOGNISED = """
    alpaca_eval.json arena_hard_v0.1.jsonl arena_hard_v2.jsonl deepeval.json helm.json
    helm_jury.json inspect.json inspect_rubric.json judge_bench.jsonl mlflow.json
    mt_bench_pair.jsonl mt_bench_single.jsonl promptfoo.json
"""


@pytest.mark.parametrize("name", RECOGNISED.split())
def test_formats_are_recognised_and_read(name):
    found = guessed(fixture(name))
    assert name.startswith(found["format"].removesuffix("_single").removesuffix("_pair"))
    assert "by its keys" in comments()
    if "scales" in found:
        import_files([name], settings=found["import"], scales=found["scales"])


def test_what_is_lacking_is_told():
    shutil.copy(FORMATS / "lm_eval.jsonl", ".")
    with pytest.raises(RecuseError, match=r"^lm_eval\.jsonl.*holds no judgments"):
        guess(["lm_eval.jsonl"])


@pytest.mark.parametrize("name", ["langfuse_scores.json", "phoenix.json"])
def test_parts_that_no_record_names_are_asked_for(name):
    """With the judge that none names, and the scale of the scores."""
    found = guessed(fixture(name), "model prompt")
    assert found["model"].startswith("which key of a record names the model? As in `metadata.")
    assert found["judge"] == "judge"
    assert found["scales"]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("phoenix.json", ('"LLM"', '"OTHER"'), "found 'OTHER', which does not say who gave"),
        ("langfuse.json", ('"EVAL"', '"API"'), "found human scores or gold labels only"),
        ("mlflow.json", ('"LLM_JUDGE"', '"CODE"'), "its scorers are|found human scores"),
    ],
)
def test_a_log_that_is_wrong_otherwise_is_refused(name, change, message):
    """Once what it does not name has been added."""
    with pytest.raises(DataError, match=message):
        guessed(fixture(name, *change))


def test_why_verdicts_cannot_be_read_is_a_note():
    guessed(fixture("arena_hard_v2.jsonl", "A=B", "A?B"))
    assert "# not read: arena_hard_v2.jsonl" in comments()
    assert "'A?B'" in comments()


def test_what_a_format_says_is_not_guessed():
    """MT-Bench's scale does not depend on its scores; verdicts in a tool's format have families."""
    assert guessed(fixture("mt_bench_single.jsonl"))["scales"] == {"default": [1, 10]}
    assert guessed(fixture("arena_hard_v2.jsonl"))["families"] == {
        "GPT": ["gpt-4.1", "o3-mini-2025-01-31"],
        "Gemini": ["gemini-2.0-flash-001"],
    }


def test_spoilt_tables_are_guessed_or_refused():
    """Whatever is in the cells, the settings are valid YAML, and name columns that the file has."""
    whole = [*csv.reader((FORMATS / "judged.csv").open(newline="", encoding="utf-8"))]
    outcomes = Counter()

    @examples(100)
    @given(tables_like(whole))
    def guessed_or_refused(rows):
        Path("own.csv").write_bytes(as_csv(rows))
        try:
            text = guess(["own.csv"])
        except RecuseError as error:
            outcomes["refused" if str(error).startswith("own.csv") else "elsewhere"] += 1
            return
        outcomes["guessed"] += 1
        Path("mine.yaml").write_text(text, "utf-8")
        if f":  # {ASKED}" in text:
            with pytest.raises(ConfigError):
                load("mine.yaml")
            return
        study = load("mine.yaml").studies["mine"].as_written()
        named = study["import"].get("columns", {}).values()
        assert {column for column in named if isinstance(column, str)} <= {*rows[0]}

    guessed_or_refused()
    assert not outcomes["elsewhere"]
    assert outcomes["guessed"] > 30 * mutations.share
