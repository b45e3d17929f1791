"""Replies of whole classes against what docs/collect.md says of them: wrapped, negated, in
fractions, quoted, cut off.
"""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collecting import chat
from mutations import examples
from recuse.collect.parse import TRUNCATED, scores
from recuse.collect.requests import NUMBER, SCHEMA, Criterion, Endpoint, Request

NAME = "Helpfulness"
SCALES = {
    "1-5": [*map(str, range(1, 6))],
    "1-10": [*map(str, range(1, 11))],
    "0-100": [*map(str, range(101))],
    "words": [
        "not helpful at all",
        "very unhelpful",
        "somewhat helpful",
        "very helpful",
        "above and beyond",
    ],
    "letters": ["A", "tie", "B"],
}


def read(reply, labels, *, dimensions=(NAME,), mode=NUMBER, reads="reply", finish="stop", low=1):
    criteria = tuple(Criterion(each, "?", tuple(labels), low) for each in dimensions)
    request = Request(
        Endpoint("judge", "m"), ({"role": "user", "content": "?"},), {}, criteria, mode, reads
    )
    found = scores(request, chat(reply, finish))
    return {name: score.reason or score.value for name, score in found.items()}


# Every form in which a person reads the label without guessing; {0}: the label, {1}: the last
# label.
FORMS = [
    "{0}",
    " {0}\n",
    "{0}.",
    "**{0}**",
    "`{0}`",
    '"{0}"',
    "({0})",
    "\\boxed{{{0}}}",
    "$\\boxed{{{0}}}$.",
    "I thought about it.\n\n\\boxed{{{0}}}",
    "I thought about it.\n**\\boxed{{{0}}}**\nThat is all.",
    "\\[\\boxed{{{0}}}\\]",
    "‘{0}’",
    "«{0}»",
    "Answer：{0}",
    "Overall, my rating: {0}",
    "Answer: {0}",
    "answer = {0}",
    "**Answer:** {0}.",
    "Final rating: {0}",
    "My score: **{0}**",
    "Explanation: short but right, Answer: {0}",
    "It is short. Answer: {0}",
    "Helpfulness: {0}",
    "- Helpfulness: {0}\n",
    "Answer: {0}\n\nIt is short.",
    "<think>Is it Answer: Q? No, {{x}}.</think>\nAnswer: {0}",
    "<think>\nhm\n</think>{0}",
    "hm\nAnswer: Q\n</think>\nAnswer: {0}",
    "<think>a</think>\n<think>\nAnswer: Q\n</think>\nAnswer: {0}",
    "<thinking>\nAnswer: Q\n</thinking>\nAnswer: {0}",
    "```\n{0}\n```",
    "```text\r\n{0}\r\n```",
    '{{"Helpfulness": "{0}"}}',
    '{{"helpfulness": "{0}"}}',
    '{{"HELPFULNESS": "{0}",}}',
    '{{"score": "{0}"}}',
    '{{"Helpfulness": {{"score": "{0}"}}}}',
    '{{"ratings": {{"Helpfulness": "{0}", "why": "it helps"}}}}',
    '{{"Helpfulness": {{"reason": "short", "rating": "{0}"}},}}',
    '```json\n{{"Helpfulness": "{0}"}}\n```',
    'Here it is:\n```json\n{{"Helpfulness": "{0}"}}\n```\nI hope that this helps.',
    'Sure! {{"Helpfulness": "{0}"}}',
    "Sure:\n{{\n  score: {0}\n}}",
    'Here is my rating:\n{{"Helpfulness": "{0}"}}',
    '**Answer:** {{"score": "{0}"}}',
    '{{"why": "it ends with </think>", "Helpfulness": "{0}"}}',
    '{{"Helpfulness": "{0}"}} It is short.',
    '{{"why": "the text says Answer: 9 of 9", "Helpfulness": "{0}"}}',
    '<think>{{"Helpfulness": "Q"}}</think>{{"Helpfulness": "{0}"}}',
]
NUMERIC = [
    "{0}.0",
    "{0}/{1}",
    "{0} / {1}",
    "{0} out of {1}",
    "Answer: {0}/{1}",
    "**{0}/{1}**",
    "Score: **{0}**/{1}",
    '{{"Helpfulness": {0}}}',
    '{{"Helpfulness": {0}.0}}',
    '{{"Helpfulness": {0},}}',
    '{{"Helpfulness": "{0}/{1}"}}',
]
# What is not the label, though it contains it.
NOT_IT = [
    "Not a {0}",
    "not {0}",
    "-{0}",
    "+{0}",
    "<{0}",
    ">{0}",
    "~{0}",
    "{0} %",
    "{0}%",
    "{0}.7",
    "{0},7",
    "0.{0}",
    ".{0}",
    "{0}/1000",
    "{0} out of 1000",
    "{0} or {1}x",
    "{0}-{1}",
    "{0}th",
    "{0} stars",
    "x{0}",
    "{0}x",
    '"{0}',
    "{0}?",
    "Answer: not {0}",
    "Answer: {0}.7",
    "Answer: -{0}",
    "Answer: {0}/1000",
    "Answer: {0} %",
    "Answer: {0} or more",
    'The text says "Answer: {0}".',
    "the text says Answer: {0}",
    "Not answer: {0}",
    "<think>Answer: {0}",
    "<think>Answer: {0}</think>",
    "<think>{0}</think>",
    "<think>a</think><think>\nAnswer: {0}",
    "<think>a<think>b</think>\nAnswer: {0}\nno</think>\nI cannot say.",
    "<thinking>\nAnswer: {0}\n",
    "I start.\n<think>\nAnswer: {0}\n",
    "hm\nAnswer: {0}\n</think>\nI cannot say.",
    "if it were right, score: {0}",
    "somebody wrote, answer: {0}",
    '{{"Helpfulness": "{0}"',
    '{{"Helpfulness": "not {0}"}}',
    '{{"Helpfulness": ["{0}"]}}',
    '{{"Helpfulness": null, "score": "{0}"}}',
    '{{"Faithfulness": {{"score": "{0}"}}}}',
    '{{"unhelpfulness": "{0}"}}',
    '{{"max_score": "{0}"}}',
]
TWO = [  # with another label {1}
    "Answer: {0}\nAnswer: {1}",
    'The text says "Answer: {0}", but I say\nAnswer: {1}',
    "First I thought Answer: {0}\nbut then\nAnswer: {1}",
    "{0} {1}",
    "{0}\n{1}",
    '{{"Helpfulness": "{0}", "Helpfulness": "{1}"}}',
    '{{"Helpfulness": "{0}", "helpfulness": "{1}"}}',
    '{{"Helpfulness": "{0}", "score": "{1}"}}',
    '{{"Helpfulness": "{0}"}} {{"Helpfulness": "{1}"}}',
    'Answer: {0}\n{{"Helpfulness": "{1}"}}',
    '{{"Helpfulness": "{0}"}}\nAnswer: {1}',
    "Answer: {0}\n\\boxed{{{1}}}",
    "\\boxed{{{0}}}\n\\boxed{{{1}}}",
    "Answer: {0}\nAnswer：{1}",
    '{{"score": "{0}"}}\n{{"score": "{1}"',
]


def is_numeric(labels):
    return all(label.isdigit() for label in labels)


def placed(labels):
    """About twelve labels of a scale with their places, the first and the last among them."""
    step = max(1, len(labels) // 12)
    places = [*range(0, len(labels) - 1, step), len(labels) - 1]
    return [(place, labels[place]) for place in places]


@pytest.mark.parametrize("mode", [SCHEMA, NUMBER])
@pytest.mark.parametrize("scale", SCALES)
def test_a_label_is_read_in_every_form_that_needs_no_guess(scale, mode):
    labels = SCALES[scale]
    for form in FORMS + NUMERIC * is_numeric(labels):
        for place, label in placed(labels):
            reply = form.format(label, labels[-1])
            assert read(reply, labels, mode=mode) == {NAME: 1 + place}, reply


@pytest.mark.parametrize("reads", ["reply", "first line", "last line"])
@pytest.mark.parametrize("scale", SCALES)
def test_a_part_of_a_number_or_of_a_sentence_is_never_a_label(scale, reads):
    labels = SCALES[scale]
    for form in NOT_IT:
        for _, label in placed(labels):
            reply = form.format(label, labels[-1])
            if reply == "0.0":  # which is the 0 of 0 to 100
                continue
            found = read(reply, labels, reads=reads)
            assert isinstance(found[NAME], str), (reply, found)


@pytest.mark.parametrize("scale", SCALES)
def test_two_labels_are_none(scale):
    labels = SCALES[scale]
    for form in TWO:
        for place, label in placed(labels):
            other = labels[place - 1]
            for reply in (form.format(label, other), form.format(other, label)):
                assert read(reply, labels) == {NAME: "unreadable"}, reply


@pytest.mark.parametrize("scale", SCALES)
def test_a_reply_cut_at_any_byte_is_what_is_left_of_it_or_truncated(scale):
    """JSON that was cut off is never read, whatever the server says of its end."""
    labels = SCALES[scale]
    for form in FORMS + NUMERIC * is_numeric(labels):
        reply = form.format(labels[-1], labels[-1]).encode()
        for end in range(1, len(reply)):
            cut = reply[:end].decode("utf-8", "ignore")
            if "{" in cut and "}" not in cut:
                assert isinstance(read(cut, labels)[NAME], str), cut
            if cut.strip():
                for finish in ("length", "MAX_TOKENS"):
                    assert read(cut, labels, finish=finish) == {NAME: TRUNCATED}


PIECES = st.sampled_from(
    [
        *(
            "1",
            "2",
            "5",
            "10",
            "3.0",
            "3.7",
            "/5",
            " out of 5",
            "%",
            "-",
            "not ",
            "**",
            "_",
            "`",
            '"',
            "'",
            "(",
            ")",
            "<",
            ">",
        ),
        *(
            "Answer: ",
            "answer=",
            "Final score: ",
            "Helpfulness: ",
            "Writing quality: ",
            "quality = ",
            "rating",
            ":",
            "=",
            ", ",
        ),
        *(
            ". ",
            "; ",
            "\n",
            "\n\n",
            " ",
            "- ",
            "1. ",
            "```",
            "```json\n",
            "<think>",
            "</think>",
            "\\boxed{",
            "}",
            "{",
            "$",
            "[",
            "]",
        ),
        *(
            '{"Helpfulness": 4}',
            '"score": 2',
            '{"quality": {"score": 3}}',
            '"helpfulness": "4",',
            '"Helpfulness": 1',
            ",}",
            "my ",
            "overall, ",
            "score: ",
            "Answer：",
            "<thinking>",
            "\n\\boxed{4}\n",
        ),
    ]
)


@examples(2000)
@given(
    pieces=st.lists(PIECES, max_size=9),
    dimensions=st.sampled_from([(NAME,), (NAME, "Quality"), ("Quality", "Writing quality")]),
    reads=st.sampled_from(["reply", "first line", "last line"]),
)
def test_a_rating_is_read_only_where_its_label_is(pieces, dimensions, reads):
    reply = "".join(pieces)
    for found in read(reply, SCALES["1-5"], dimensions=dimensions, reads=reads).values():
        assert isinstance(found, str) or str(found) in reply, reply


@pytest.mark.parametrize(
    "piece",
    [
        "!",
        " ",
        "()",
        "(",
        "1",
        "4 of ",
        "answer: ",
        "answer ",
        "{",
        '{"a":',
        ", ",
        "\n",
        "<think>",
        "`",
        "[",
        "*_",
    ],
)
def test_a_reply_of_any_length_is_read_at_once(piece):
    for reply in (piece * 50_000 + "x", "x" + piece * 50_000, f"a{piece * 50_000}b"):
        started = time.process_time()
        assert isinstance(read(reply, SCALES["1-5"])[NAME], str)
        assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "labels",
    [["A", "A*"], ["C", "C#", "C++"], ["_", "__"], ["1", "2"], ["(a)", "(b)"], ["ja.", "nein."]],
)
def test_labels_of_any_characters_are_read_as_themselves(labels):
    for place, label in enumerate(labels):
        for reply in (
            label,
            f"Answer: {label}",
            json.dumps({NAME: label}),
            json.dumps({"score": f'"{label}"'}),
        ):
            assert read(reply, labels) == {NAME: 1 + place}, reply
    assert read("1/2", ["1", "2"]) == {NAME: "unreadable"}  # either of the two


@pytest.mark.parametrize(
    "names",
    [
        ("Clarity", "Overall clarity"),
        ("Tone", "Tone of voice"),
        ("tone_of_voice", "fit"),
        ("Harm", "No harm"),
    ],
)
def test_a_name_within_another_is_not_taken_for_it(names):
    for name in names:
        for reply in (
            f"{name}: 4",
            f"**{name.upper()}:** 4",
            json.dumps({name: 4}),
            json.dumps({name.replace(" ", "_"): "4"}),
        ):
            expected = {each: 4 if each == name else "unreadable" for each in names}
            assert read(reply, SCALES["1-5"], dimensions=names) == expected, reply


def test_labels_below_zero_and_digits_of_other_scripts():
    labels = ["-2", "-1", "0", "1", "2"]
    for reply, expected in (
        ("-2.0", -2),
        ("Answer: -1", -1),
        ("0/2", "unreadable"),
        ("−1", "unreadable"),
        ("１", "unreadable"),
    ):
        assert read(reply, labels, low=-2) == {NAME: expected}, reply
