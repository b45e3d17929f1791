"""Settings guessed for files: those of the awkward tables and of every format, checked by import,
not by eye.
"""

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
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
from recuse.imports.guess import ASKED, guess
from recuse.imports.names import group_families
from text_tables import cases, lines

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = ROOT / "tests" / "formats"


def settings_for(files):
    """What is guessed for files, by their contents or copied into the folder, and written as
    mine.yaml there: its only study, and its text.
    """
    for name, content in files.items():
        Path(name).write_bytes(as_bytes(content))
    text = guess([*files])
    Path("mine.yaml").write_text(text, "utf-8")
    (section,) = yaml.safe_load(text).values()
    return section["mine"], text


def guessed(files):
    """The guessed settings of files, which are valid, and their text."""
    study = settings_for(files)
    load("mine.yaml")
    return study


def rated(header, *rows, name="own.csv"):
    """A file of these rows, whose cells are text or numbers."""
    return {name: "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"}


def answers(name="own.csv", **columns):
    """A file of answers of two models to 40 prompts, and these columns, whose values recur."""
    known = {
        "judge": ["gpt-4o"],
        "model": ["gpt-4o", "claude-3"],
        "prompt": np.repeat(range(40), 2),
    }
    columns = known | columns
    frame = pd.DataFrame({key: np.resize(np.array(columns[key], object), 80) for key in columns})
    return {name: frame.to_csv(index=False)}


@pytest.mark.parametrize(
    "table", [table for table in TABLES if table is not a_scale_for_each_judge]
)
def test_awkward_tables_are_understood_without_a_word(table):
    """Every rating and human score is what it is with the settings of a user; but for a judge that
    no column names.
    """
    files, truth, scale = table()
    study, text = guessed(files)
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
    families = study["families"]
    assert sorted(families["GPT"]) == ["gpt-4.1", "gpt-4.1-mini"]
    assert sorted(families["Claude"]) == ["claude-haiku-4", "claude-sonnet-4"]


def test_files_of_raters_and_words_for_failures():
    """As in the example of the documentation."""
    example = ROOT / "docs" / "example"
    study, _ = guessed(
        {name: (example / name).read_bytes() for name in ("judged.csv", "human.csv")}
    )
    settings = study["import"]
    named = {"model": "candidate", "prompt": "item", "dimension": "metric"}
    assert settings["columns"] == named | {"judge": "grader", "rating": "score"}
    assert settings["missing"] == ["error"]
    human = {"files": "human.csv", "columns": named | {"rating": ["first", "second"]}}
    assert settings["references"] == human
    assert study["scales"] == {"default": [1, 10]}


def test_scales_of_dimensions_differ():
    ratings = [2, 1, 9, 3, 5, 4, 4, 5, 7, 2]
    study, _ = guessed(answers(metric=["wit", "tone"], rating=ratings))
    assert study["scales"] == {"tone": [1, 5], "wit": [1, 10]}


def ratings_with(failure, scale=(1, 2, 3, 4, 5)):
    """Ratings, every eleventh of which is this value."""
    ratings = [scale[(n + n // 2) % len(scale)] for n in range(80)]
    ratings[::11] = [failure] * 8
    return answers(rating=ratings)


@pytest.mark.parametrize(
    ("failure", "scale"),
    [(-1, (1, 2, 3, 4, 5)), (99, (1, 2, 3, 4, 5)), (-99, (0, 0.5, 1)), (999, range(1, 11))],
)
def test_a_number_far_from_the_scores_marks_failures(failure, scale):
    study, text = guessed(ratings_with(failure, scale))
    assert [float(value) for value in study["import"]["missing"]] == [failure]
    assert "# guessed: rare, and neither scores nor answers: failed judgments?" in text
    assert study["scales"] == {"default": [scale[0], scale[-1]]}


def test_a_number_that_may_be_a_score_is_asked_about_or_left():
    study, text = guessed(ratings_with(0))
    assert study["scales"] == {"default": [0, 5]}
    assert "does 0 mark a failure? then `missing: [0]`" in text
    for failure, scale in ((-1, (-1, 0, 1)), (99, range(90, 101)), (0, (0, 1))):
        study, text = guessed(ratings_with(failure, scale))
        assert "missing" not in study["import"]
        assert "mark a failure" not in text


@pytest.mark.parametrize("failure", [-9, 99, -9999])
def test_beside_0_and_1_only_minus_1_may_be_a_score(failure):
    """A rare one is asked about; other numbers mark failures as they do beside other scores."""
    study, _ = guessed(ratings_with(failure, (0, 1)))
    assert study["import"]["missing"] == [str(failure)]
    assert study["scales"] == {"default": [0, 1]}
    study, asked = asked_from(ratings_with(-1, (0, 1)))
    assert words_asked(asked["values"]) == ["-1"]
    assert study["scales"] == {"default": [0, 1]}


@pytest.mark.parametrize(("yes", "no"), [("correct", "incorrect"), ("True", "False"), ("y", "n")])
@pytest.mark.parametrize("every", [1, 9])
def test_words_beside_0_and_1_are_read(yes, no, every):
    """However many: those of people in a few rows, or those of a judge among its numbers."""
    words = [(no, yes)[n // 2 % 2] if n // 2 % every == 0 else "" for n in range(80)]
    ratings = [n // 2 % 2 for n in range(80)]
    mixed = [word or rating for word, rating in zip(words, ratings, strict=True)]
    for files in (answers(rating=ratings, human=words), answers(rating=mixed)):
        study, _ = guessed(files)
        values = {str(word).lower(): number for word, number in study["import"]["values"].items()}
        assert values == {yes.lower(): 1, no.lower(): 0}
        assert "missing" not in study["import"]


def test_words_of_a_yes_no_question_beside_other_numbers_are_asked_about():
    """However rare: none of them marks a failure."""
    _, asked = asked_from(ratings_with("correct"))
    assert words_asked(asked["values"]) == ["correct"]


def test_no_word_is_filled_in_beside_one_that_is_asked_about():
    """An F among grades is not `false`."""
    _, asked = asked_from(ratings_with("F", scale="ABCD"))
    assert words_asked(asked["values"]) == ["a", "b", "c", "d", "f"]
    _, asked = asked_from(pairs_with(["[[A]]", "[[B]]", "?"], [20] * 3))
    assert words_asked(asked["values"]) == ["?", "[[a]]", "[[b]]"]


@pytest.mark.parametrize(
    "header",
    [
        "id,judge,model,question_no,rating,note",
        "prompt,judge,model,question_no,rating,note",
    ],
)
def test_a_value_of_one_row_alone_is_no_prompt(header):
    """Unless no other column has enough values, as in a file of one model's answers."""
    rows = [
        (judge, model, prompt, 1 + prompt % 5)
        for prompt in range(40)
        for model in ("gpt-4o", "claude-3")
        for judge in ("gpt-4o", "claude-3")
    ]
    files = rated(header, *((n, *row, f"text {n}") for n, row in enumerate(rows)))
    study, _ = guessed(files)
    assert study["import"]["columns"]["prompt"] == "question_no"
    rows = [("gpt-4o", "claude-3", n, n % 3, n % 5 + 1) for n in range(40)]
    study, _ = guessed(rated("judge,model,id,subject,rating", *rows))
    assert study["import"]["columns"]["prompt"] == "id"


@pytest.mark.parametrize("human", ["", ",3"])
def test_files_with_the_same_columns_are_of_one_kind(human):
    """Without a column for the judge, each may be of one judge, and none is of human scores, but by
    its name.
    """
    rows = [f"{m},{p},{p % 5 + 1}{human}" for p in range(20) for m in ("gpt-4o", "claude-3")]
    table = "\n".join([f"model,prompt,rating{human and ',human'}", *rows])
    other = table.replace("\n", "\nnew-")
    study, text = guessed({"claude-3.5.csv": table, "gpt-4o.csv": other})
    assert study["import"]["files"] == ["claude-3.5.csv", "gpt-4o.csv"]
    assert "references" not in study["import"]
    assert "if each file is of another judge, add a column for it" in text
    study, text = guessed({"human.csv": table, "gpt-4o.csv": table})
    assert study["import"]["files"] == "gpt-4o.csv"
    assert study["import"]["references"]["files"] == "human.csv"
    assert "human" not in study["import"]["columns"]
    assert ("human scores in the files above are left out" in text) == bool(human)


def test_a_second_human_column_is_told():
    scores = {"human_1": [1, 2, 3, 4], "human_2": [1, 2, 3], "human_note": ["text"]}
    study, text = guessed(answers(rating=[1, 2, 3, 4, 5], **scores))
    assert study["import"]["columns"]["human"] == "human_1"
    assert "guessed: by its name; left out: human_2" in text


@pytest.mark.parametrize("score", ["annotator_score", "raterRating", "score_by_annotator"])
def test_the_score_of_a_rater_is_not_the_rater(score):
    rows = [(m, p, p % 5 + 1) for p in range(40) for m in ("gpt-4o", "claude-3")]
    files = ratings_with(3) | rated(f"model,prompt,{score}", *rows, name="human.csv")
    study, _ = guessed(files)
    columns = {"model": "model", "prompt": "prompt", "rating": score}
    assert study["import"]["references"]["columns"] == columns


@pytest.mark.parametrize(
    "header", ["chosen,rejected", "model_a,model_b,score_a,score_b", "model_1,model_2,a_wins"]
)
def test_pairs_without_an_outcome_are_told(header):
    pairs = [("gpt-4o,claude-3", "claude-3,gpt-4o")[n % 3 == 0] for n in range(30)]
    rows = [
        ("gpt-4o", f"q{n}", pair, *[0, 1][: header.count(",") - 1]) for n, pair in enumerate(pairs)
    ]
    message = r"^pairs\.csv, line 1, column (outcome|rating): missing; found judge"
    (text,) = rated(f"judge,question,{header}", *rows).values()
    Path("pairs.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        guess(["pairs.csv"])


def test_both_orders_of_a_pair_are_counted():
    """Whether the models change their places or a column names the order; one comparison in one
    order is enough for `false`.
    """
    pairs = ("gpt-4o,claude-3", "claude-3,gpt-4o")
    swapped = [("gpt-4o", n // 2, pairs[n % 2], "ab"[n % 2]) for n in range(40)]
    ordered = [("gpt-4o", n // 2, pairs[0], "ab"[n % 2], ("ab", "ba")[n % 2]) for n in range(40)]
    header = "judge,question,model_1,model_2,winner"
    for head, rows in ((header, swapped), (f"{header},order", ordered)):
        study, _ = guessed(rated(head, *rows))
        assert "both_orders" not in study
        study, _ = guessed(rated(head, *rows[:-1]))
        assert study["both_orders"] is False


def pairs_with(words, counts):
    """Comparisons in both orders, whose outcomes are these words, so often."""
    outcomes = [word for word, n in zip(words, counts, strict=True) for _ in range(n)]
    pairs = (("gpt-4o", "claude-3"), ("claude-3", "gpt-4o"))
    rows = [("gpt-4o", n // 2, *pairs[n % 2], word) for n, word in enumerate(outcomes)]
    return rated("grader,question,left,right,winner", *rows, name="pairs.csv")


@pytest.mark.parametrize(
    ("words", "answers"),
    cases("""
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
"""),
)
def test_words_for_the_answers_are_read(words, answers):
    words = words.split("," if "," in words else None)
    study, _ = guessed(pairs_with(words, [12] * len(words)))
    expected = zip(words, answers.split(), strict=True)
    assert study["import"]["values"] == {
        word.lower(): answer for word, answer in expected if answer != "None"
    }
    columns = {"judge": "grader", "model_a": "left", "model_b": "right", "item": "question"}
    assert study["import"]["columns"] == columns | {"outcome": "winner"}
    assert "missing" not in study["import"]


def test_human_scores_with_other_columns_are_left_out_by_name():
    rows = "".join(f"j{j},m{m},{p},{1 + p % 5}\n" for j in (1, 2) for m in (1, 2) for p in range(9))
    labels = "".join(f"m{m},{p},{1 + p % 4}\n" for m in (1, 2) for p in range(9))
    files = {
        "ratings.csv": f"judge,model,prompt,score\n{rows}",
        "people.csv": f"model,prompt,human\n{labels}",
        "more.csv": f"model,item,human\n{labels}",
    }
    study, text = guessed(files)
    assert study["import"]["references"]["files"] == "people.csv"
    assert "; left out, as columns differ: more.csv" in text


def asked_from(files):
    """The settings, and what is asked under each key that is left empty; config refuses these."""
    study, text = settings_for(files)
    with pytest.raises(ConfigError, match="is empty"):
        load("mine.yaml")
    asked = [line.strip() for line in text.splitlines() if ASKED in line]
    return study, dict(line.split(f":  # {ASKED}") for line in asked)


def words_asked(question):
    """The words whose meaning a question leaves open, as its example has them."""
    return re.findall(r"[{ ]'?([^\s{']+?)'?: '?<", question)


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("0 1", "0 or 1? Write it, as in `{'0': '<a, b or tie>', '1': "),
        ("1 1.5 2", "1, 1.5 or 2?"),
        ("much-better equal worse", "equal, much-better or worse? Write it, as in"),
        ("true false", "false or true?"),
    ],
)
def test_a_direction_that_is_open_is_asked_for(words, question):
    files = pairs_with(words.split(), [12] * len(words.split()))
    study, asked = asked_from(files)
    assert asked.keys() == {"values"}
    assert asked["values"].startswith(f"which answer won where the file says {question}")
    assert "missing" not in study["import"]


def with_order(column, words, winners):
    """Comparisons with these winners, and a further column of these words in turn."""
    rows = [
        ("gpt-4o", n // 2, "gpt-4o,claude-3", winners[n // 2 % 2], words[n % 2]) for n in range(40)
    ]
    return rated(f"judge,question,model_a,model_b,winner,{column}", *rows, name="pairs.csv")


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
    files = with_order(column, (first, second), "ab")
    study, asked = asked_from(files)
    assert asked.keys() == {"order"}
    assert asked["order"].startswith(f"does `{column}` say which answer was shown first?")
    assert "both_orders" not in study
    assert study["import"]["columns"]["item"] == "question"


@pytest.mark.parametrize("words", [("ab", "ba"), ("AB", "BA"), ("gpt-4o", "Claude-3")])
def test_letters_beside_an_order_are_asked_for(words):
    """`[[A]]` may be the answer of model_a or the one shown first; `a` is that of model_a."""
    files = with_order("first_shown", words, ("[[A]]", "[[B]]"))
    study, asked = asked_from(files)
    assert asked.keys() == {"values"}
    question = "do these words name models, or the answers shown first and second? For models write"
    assert asked["values"].startswith(f"{question} `{{'[[a]]': a")
    assert study["import"]["columns"]["order"] == "first_shown"
    study, _ = guessed(with_order("first_shown", words, ("a", "b")))
    assert study["import"]["columns"]["order"] == "first_shown"


def test_letters_beside_an_order_in_other_words_are_asked_for_too():
    files = with_order("swapped", ("no", "yes"), ("[[A]]", "[[B]]"))
    assert asked_from(files)[1].keys() == {"order", "values"}


def test_a_word_in_many_rows_marks_no_failure():
    """A rare one does, among verdicts and ratings; one in two rows of a short file is rare."""
    for numbers in ([40, 40, 4], [4, 4, 2]):
        study, text = guessed(pairs_with(["A", "B", "oops"], numbers))
        assert study["import"]["missing"] == ["oops"]
        assert "# guessed: rare, and neither scores nor answers: failed judgments?" in text
    for numbers in ([40, 40, 20], [4, 4, 3]):
        _, asked = asked_from(pairs_with(["A", "B", "oops"], numbers))
        assert words_asked(asked["values"]) == ["oops"]
    _, asked = asked_from(ratings_with("oops", scale=("good", 1, 2)))
    assert words_asked(asked["values"]) == ["good", "oops"]
    _, asked = asked_from(answers(rating=["poor", "good", "fine"]))
    assert asked.keys() == {"values", "scales"}
    _, asked = asked_from(ratings_with(3, scale=(-1, 1, 2)))
    assert asked["values"].startswith("which rating is meant by -1? Write it")


@pytest.mark.parametrize(
    ("scale", "how"),
    [
        ((-1, 1, 2), "if it marks failures, write `missing: ['-1']` in place of this line"),
        (("good", "oops", 1), "values that mark failures go under `missing:`"),
    ],
)
def test_a_question_says_what_to_write_for_failures(scale, how):
    _, asked = asked_from(ratings_with(3, scale))
    assert f"; {how}" in asked["values"]


@pytest.mark.parametrize(("key", "role"), [("judge", "model"), ("model", "judge")])
def test_columns_with_the_names_of_judges_or_models_are_of_these(key, role):
    """As when each of them judges all; a score of the question is not theirs."""
    names = ("alpha", "beta", "gamma")
    rows = [(name, p, 1 + p % 5, 2, 1 + p % 4, 1 + p % 3) for p in range(12) for name in names]
    header = f"{key},question,{','.join(names)},difficulty"
    study, text = guessed(rated(header, *rows))
    assert study["import"]["columns"]["rating"] == [*names]
    assert f"# guessed: one column for each {role}" in text


def test_words_of_a_name_need_no_separators():
    """Those with separators go first, and a part of a word is not taken for a word."""
    header = "judgescore,humanscore,judgename,modelname,questionid"
    rows = [
        (p % 5 + 1, p % 4 + 1, "gpt-4o", m, p) for p in range(40) for m in ("gpt-4o", "claude-3")
    ]
    columns = {"judge": "judgename", "model": "modelname", "prompt": "questionid"}
    columns |= {"rating": "judgescore", "human": "humanscore"}
    study, _ = guessed(rated(header, *rows))
    assert study["import"]["columns"] == columns
    header = "overallscore,preference,judge,model,question"
    study, _ = guessed(rated(header, *rows))
    columns = {"judge": "judge", "model": "model", "prompt": "question", "rating": "overallscore"}
    assert study["import"]["columns"] == columns
    rows = [(*row, row[0]) for row in rows]
    study, _ = guessed(rated(f"{header},final_score", *rows))
    assert study["import"]["columns"] == columns | {"rating": "final_score"}


def test_human_verdicts_in_a_file_of_their_own_are_read():
    files = pairs_with(["A", "B"], [20, 20])
    rows = [(n, "gpt-4o", "claude-3", ("[[A]]", "[[B]]")[n % 2]) for n in range(20)]
    files |= rated("question,model_a,model_b,winner", *rows, name="human.csv")
    study, _ = guessed(files)
    references = study["import"]["references"]
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
    study, text = guessed(answers(rating=np.repeat(levels, 2)))
    assert study["scales"] == {"default": scale}
    assert f"# guessed: {reason}" in text


def test_counts_are_no_ratings():
    with pytest.raises(DataError, match="column rating: missing; found judge, model, prompt, word"):
        guessed(answers(word_count=range(100, 107)))


@pytest.mark.parametrize("column", ["turn", "Step", "epoch", "seed"])
def test_several_ratings_of_one_answer_are_asked_about(column):
    """They may be of several answers, or of one that was judged again."""
    twice = {"prompt": np.repeat(range(20), 4), "rating": [1, 2, 3, 4, 5]}
    _, asked = asked_from(answers(**twice, **{column: [1, 1, 2, 2]}))
    assert asked["repeats"].startswith("some answers are rated more than once by one judge: which")
    study, _ = guessed(answers(rating=[1, 2, 3, 4, 5], **{column: [1]}))
    assert "repeats" not in study["import"]


def test_a_folder_stays_a_folder():
    Path("judged").mkdir()
    for place in range(9):
        prompts = [f"{place}-{n // 2}" for n in range(80)]
        (content,) = answers(prompt=prompts, rating=[1, 2, 3, 4, 5]).values()
        Path(f"judged/{place}.csv").write_text(content, "utf-8")
    assert yaml.safe_load(guess(["judged"]))["studies"]["mine"]["import"]["files"] == "judged"


def test_spellings_of_one_model_are_one():
    """A judge with the prefix of its provider judges its own answers."""
    judges = ("openai/gpt-4o", "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0")
    models = ("gpt-4o", "claude-3.5-sonnet")
    rows = [(j, m, p, (p + len(m)) % 5 + 1) for p in range(9) for j in judges for m in models]
    files = rated("judge,model,prompt,rating", *rows)
    study, text = guessed(files)
    assert study["families"] == {
        "GPT": {"gpt-4o": ["openai/gpt-4o"]},
        "Claude": {"claude-3.5-sonnet": [judges[1]]},
    }
    assert "in brackets, other spellings of one model" in text
    Path("mine.yaml").write_text(text, "utf-8")
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
    study, text = guessed({name: (FORMATS / name).read_bytes()})
    assert name.startswith(study["import"]["format"].removesuffix("_single").removesuffix("_pair"))
    assert "by its keys" in text
    if "scales" in study:
        import_files([name], settings=study["import"], scales=study["scales"])


def test_what_is_lacking_is_told():
    shutil.copy(FORMATS / "lm_eval.jsonl", ".")
    with pytest.raises(RecuseError, match=r"^lm_eval\.jsonl.*holds no judgments"):
        guess(["lm_eval.jsonl"])


@pytest.mark.parametrize("name", ["langfuse_scores.json", "phoenix.json"])
def test_parts_that_no_record_names_are_asked_for(name):
    """With the judge that none names, and the scale of the scores."""
    study, asked = asked_from({name: (FORMATS / name).read_text("utf-8")})
    assert asked.keys() == {"model", "prompt"}
    assert asked["model"].startswith("which key of a record names the model? As in `metadata.")
    assert study["import"]["judge"] == "judge"
    assert study["scales"]


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
    log = (FORMATS / name).read_text("utf-8").replace(*change)
    with pytest.raises(DataError, match=message):
        guessed({name: log})


def test_why_verdicts_cannot_be_read_is_a_note():
    log = (FORMATS / "arena_hard_v2.jsonl").read_text("utf-8").replace("A=B", "A?B")
    _, text = guessed({"log.jsonl": log})
    assert "# not read: log.jsonl" in text
    assert "'A?B'" in text


def test_what_a_format_says_is_not_guessed():
    """MT-Bench's scale does not depend on its scores; verdicts in a tool's format have families."""
    name = "mt_bench_single.jsonl"
    study, _ = guessed({name: (FORMATS / name).read_bytes()})
    assert study["scales"] == {"default": [1, 10]}
    name = "arena_hard_v2.jsonl"
    study, _ = guessed({name: (FORMATS / name).read_bytes()})
    assert study["families"] == {
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
