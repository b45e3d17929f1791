"""A judge with known biases, as a server: its mean verdict or rating of an answer is the answer's
quality and what is planted, which the test knows.
"""

import json
import random
import re

from mock_server import Mock, digest

ALONE = re.compile(r"\[Output\]\n(.*?)\n\[End of output\]", re.S)
FIRST = re.compile(r"\[Output 1\]\n(.*?)\n\[End of output 1\]", re.S)
SECOND = re.compile(r"\[Output 2\]\n(.*?)\n\[End of output 2\]", re.S)
QUALITY = re.compile(r"quality (0\.\d+)")


class BiasedJudge(Mock):
    """biases: text that an answer may have -> what that adds to its value, as a share of the scale;
    place: what the first place of a pair adds.
    """

    def __init__(self, biases, *, place=0.0, **settings):
        super().__init__(**settings)
        self.biases, self.place = biases, place
        self.asked = []

    def value(self, answer):
        added = sum(size for text, size in self.biases.items() if text in answer)
        return float(QUALITY.search(answer)[1]) + added

    def completion(self, body):
        text = body["messages"][-1]["content"]
        self.asked.append(text)
        reply = super().completion(body)
        content = self.judgment(body, text) if "response_format" in body else self.restated(text)
        reply["choices"][0]["message"]["content"] = content
        return reply

    def judgment(self, body, text):
        """JSON with one of the two labels next to the answer's value: their mean is the value."""
        luck = random.Random(digest(f"{self.seed}{text}")).random()
        ((name, schema),) = body["response_format"]["json_schema"]["schema"]["properties"].items()
        labels = schema["enum"]
        if found := ALONE.search(text):
            value = self.value(found[1])
        else:
            first, second = (self.value(each.search(text)[1]) for each in (FIRST, SECOND))
            value = (1 - first + second - self.place) / 2
        place = (len(labels) - 1) * value
        low = int(place)
        return json.dumps({name: labels[low + (luck < place - low)]})

    def restated(self, text):
        """What a writer makes of the answer at the end of a request."""
        return text.rpartition("\n\n")[2] + " In other words, restated."
