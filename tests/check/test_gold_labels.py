"""A study whose reference are gold labels says so: in its check, its figures and its pages, with
the same numbers.
"""

import pytest
from matplotlib.figure import Figure

from recuse.base.words import with_gold_labels
from recuse.plot import style
from text_tables import cases


@pytest.mark.parametrize(
    ("words", "gold"),
    cases("""
no row has a human score
    no row has a gold label
Human scores do not vary
    Gold labels do not vary
the human labels of 3 pairs
    the gold labels of 3 pairs
A, against humans
    A, against gold labels
Against humans and judges
    Against gold labels and judges
closer to the humans than to the others
    closer to the gold labels than to the others
The humans and the judges
    The gold labels and the judges
any gap to the human scale
    any gap to the scale of the gold labels
Human
    Gold
<td>Human</td>
    <td>Gold</td>
HumanEval and inhuman scorers
    HumanEval and inhuman scorers
"""),
)
def test_words_for_gold_labels(words, gold):
    assert with_gold_labels(words) == gold


def figure_in_words(*, subject, **_):
    figure = Figure()
    figure.text(0, 0, "rating by human score")
    figure.add_subplot().set_yticks([0, 1], ["Human", "GPT-4o"])
    return figure


def test_texts_of_figures():
    about = {"label": "mine", "kind": "user", "models": {}, "families": {}}
    for gold, text, human in (
        ({}, "rating by human score", "Human"),
        ({"gold": True}, "rating by gold label", "Gold"),
    ):
        draw = f"{__name__}:figure_in_words"
        figure = style.drawn(draw, {}, subject=about | gold, settings={})
        assert [drawn.get_text() for drawn in figure.texts] == [text]
        figure.canvas.draw()
        ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
        assert ticks == [human, "GPT-4o"]
