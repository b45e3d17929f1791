"""Replies of judges as ratings: what is read, and what is missing for which reason."""

import math

import pytest

from collecting import chat
from recuse.collect.parse import OFF_SCALE, REFUSAL, TRUNCATED, UNREADABLE, Score, repair, scores
from recuse.collect.requests import (
    FIRST_LINE,
    LAST_LINE,
    LOGPROBS,
    NUMBER,
    SCHEMA,
    Criterion,
    Endpoint,
    Request,
)
from recuse.collect.responses import choice_in
from recuse.collect.rubrics import find_criterion, find_wording, verdict_criterion
from text_tables import cases

ENDPOINT = Endpoint("judge", "m")
PLAIN = find_wording("ratings", "plain", {})
PAPER = find_wording("ratings", "play_favorites", {})
ONE = (find_criterion("Helpfulness", PLAIN, {}),)


def request(criteria=ONE, mode=SCHEMA, reads="reply"):
    return Request(ENDPOINT, ({"role": "user", "content": "?"},), {}, criteria, mode, reads)


def read(content, criteria=ONE, mode=SCHEMA, finish="stop", reads="reply", **message):
    return [*scores(request(criteria, mode, reads), chat(content, finish, **message)).values()]


REPLIES = """
{"Helpfulness": 4}
    4
{"Helpfulness": 6}
    off the scale
{"Helpfulness": 0}
    off the scale
{"Helpfulness": 3.5}
    off the scale
{"Helpfulness": true}
    unreadable
{"Helpfulness": null}
    unreadable
{"Helpfulness": [{"score": 4}]}
    unreadable
3,7
    unreadable
3 %
    unreadable
1e0
    unreadable
-3
    off the scale
4/10
    unreadable
4 of 5
    4
**4** out of 5
    4
4,
    4
4;
    4
4!
    4
'4'
    4
“4”
    4
[4]
    4
<4>
    4
$4$
    4
Answer: {4}
    4
\\(\\boxed{4}\\)
    4
Unanswer: 5. Answer: 4
    4
# Answer: 4
    4
1) Answer: 4
    4
• Answer: 4
    4
_Answer_: 4
    4
> Answer: 4
    unreadable
(Answer: 4)
    unreadable
My final rating: 4
    4
It is short; answer: 4
    4
It is short: answer: 4
    unreadable
I count 1, answer: 4
    4
Score: 4, Grade: 4. Verdict: 4; vote: 4
    4
Grade: 4
    4
Verdict: 4
    4
Vote: 4
    4
I'm sorry, but I cannot rate this.
    refusal
I can't judge that.
    refusal
"""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        *cases(REPLIES),
        ("It is short.\n$\\boxed{4}$", "4"),
        ("[" * 100_000, UNREADABLE),
        ("", UNREADABLE),
    ],
)
def test_json_is_read_or_missing_with_its_reason(content, expected):
    (score,) = read(content)
    assert str(score.value or score.reason) == expected


REPLIES_ABOUT_TWO = """
{"Tone": {"score": 2}, "Usefulness": {"rating": 4}}
    2, 4
{"score": 2, "Usefulness": 4}
    unreadable, 4
Score: 2, Usefulness: 4
    unreadable, 4
\\boxed{4}
    unreadable, unreadable
I'm sorry, but I cannot rate the tone. Usefulness: 4
    unreadable, 4
I'm sorry, but I cannot rate this.
    refusal, refusal
"""


@pytest.mark.parametrize(("content", "expected"), cases(REPLIES_ABOUT_TWO))
def test_a_reply_about_two_criteria_names_each(content, expected):
    criteria = [Criterion(name, "?", "12345") for name in ("Tone", "Usefulness")]
    found = [str(score.value or score.reason) for score in read(content, criteria)]
    assert ", ".join(found) == expected


def test_a_line_is_of_the_criterion_that_it_starts_with():
    criteria = [
        Criterion(name, "?", "12345") for name in ("Quality", "Writing quality", "Style (tone)")
    ]
    text = "1. **Quality**: 5\n* Writing quality: 2\n  Style (tone) = 3"
    unreadable, *others = Score(None, UNREADABLE), Score(2), Score(3)
    assert read(text, criteria, NUMBER) == [Score(5), *others]
    assert read("Writing quality: 2\nStyle (tone): 3", criteria, NUMBER) == [unreadable, *others]
    assert read(f"{text}\nQuality: 4", criteria, NUMBER) == [unreadable, *others]


def test_a_text_that_was_filtered_is_none_and_half_a_surrogate_can_be_sent():
    assert choice_in(chat("It is", finish="content_filter")).text is None
    assert choice_in(chat("It is", finish="length")).text == "It is"
    assert choice_in(chat(" a \ud800 b")).text == "a ? b"
    assert choice_in({"choices": [{"message": "no mapping"}]}) is None


def test_labels_of_the_paper_are_numbers_of_its_data():
    criterion = (find_criterion("Helpfulness", PAPER, {}),)
    content = "Explanation: fine, Answer: neither helpful nor unhelpful"
    assert read(content, criterion, NUMBER) == [Score(3)]
    somewhat = "Explanation: fine. Answer: somewhat"
    assert read(somewhat, criterion, NUMBER) == [Score(None, UNREADABLE)]
    ends = [find_criterion(name, PAPER, {}) for name in ("Faithfulness", "Logical correctness")]
    assert [each.rating_for(each.labels[-1]) for each in ends] == [4, 2]


def test_verdicts_are_read_where_their_wording_has_them():
    last = find_wording("verdicts", "chen_explanation_first", {})
    how = {"criteria": [verdict_criterion(last)], "mode": NUMBER, "reads": LAST_LINE}
    assert read("Answer1 is longer.\nAnswer2", **how) == [Score(2)]
    assert read("Tie\nAnswer1 is longer", **how | {"reads": FIRST_LINE}) == [Score(1)]
    for content in ("Answer1 or Answer2", "Answer12"):
        assert read(content, **how) == [Score(None, UNREADABLE)]


def test_refusals_and_truncated_replies_are_missing_even_if_a_number_is_there():
    assert read('{"Helpfulness": 1}', refusal="no") == [Score(None, REFUSAL)]
    assert read('{"Helpfulness": 1}', finish="content_filter") == [Score(None, REFUSAL)]
    assert read("Answer: 1", mode=NUMBER, finish="length") == [Score(None, TRUNCATED)]
    for empty in ({}, {"choices": []}, {"choices": [None]}, {"choices": [{"message": None}]}):
        assert [*scores(request(), empty).values()] == [Score(None, UNREADABLE)]


def read_logprobs(likeliest):
    """The scores of a reply by the log probabilities of its likeliest tokens."""
    reply = chat("5", finish="length")
    top = likeliest and [{"token": token, "logprob": value} for token, value in likeliest.items()]
    reply["choices"][0]["logprobs"] = {"content": [{"top_logprobs": top}]}
    return [*scores(request(mode=LOGPROBS), reply).values()]


def test_a_score_by_logprobs_is_the_expected_rating():
    likeliest = {" 5": math.log(0.5), "1": math.log(0.25), "the": math.log(0.2)}
    (score,) = read_logprobs(likeliest | {"9": math.log(0.005)})
    assert score.value == pytest.approx((5 * 0.5 + 1 * 0.25) / 0.75)
    # Three labels may have that much each
    assert read_logprobs(likeliest | {"9": math.log(0.02)}) == [Score(None, OFF_SCALE)]


@pytest.mark.parametrize(
    ("likeliest", "score"),
    [
        ({"5": -1e-9, "the": -30.0}, 5),  # a judge that is certain
        ({"5": -1e-9, "1": -9999.0}, 5),
        ({"5": -9999.0, "1": -9999.0}, None),
        ({"the": -0.1, "5": -9.0}, None),
        ({"the": -0.1}, None),
        ({"5": None}, None),
        (None, None),
    ],
)
def test_a_score_by_logprobs_is_missing_where_other_labels_might_be_likely(likeliest, score):
    (read,) = read_logprobs(likeliest)
    assert read.value == (score and pytest.approx(score))


def test_an_unreadable_reply_is_repaired_once_and_others_never():
    asked = request()
    second = repair(asked, chat('{"Helpfulness": 7}'))
    assert second.repairs == asked.key
    assert second.key != asked.key
    assert second.messages[1] == {"role": "assistant", "content": '{"Helpfulness": 7}'}
    assert repair(second, chat('{"Helpfulness": 7}')) is None
    read = chat('{"Helpfulness": 5}')
    for each in (read, chat("no", refusal="no"), chat('{"Help', finish="length")):
        assert repair(asked, each) is None
