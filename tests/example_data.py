"""The simulated example as data in memory."""

import recuse

COLUMNS = {
    "judge": "grader",
    "model": "candidate",
    "prompt": "item",
    "dimension": "metric",
    "rating": "score",
}
FAMILIES = {"GPT": ["gpt-4.1", "gpt-4.1-mini"], "Claude": ["claude-sonnet-4", "claude-haiku-4"]}


def ratings_of_example(judged=None, scores=None, **changes):
    """The ratings of the example, or of other tables like it; changes: of the arguments of
    `recuse.ratings`.
    """
    if judged is None:
        judged, scores = recuse.example()
    arguments = {**COLUMNS, "missing": ["ERROR"], "scale": (1, 10), "families": FAMILIES}
    if scores is not None:
        arguments |= {"references": scores, "human": ["first", "second"]}
    return recuse.ratings(judged, **{**arguments, **changes})
