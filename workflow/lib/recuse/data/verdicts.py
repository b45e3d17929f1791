"""What a table of verdicts on two answers holds."""

from recuse.base.tables import column_names

# Of a verdict: which answer won, whatever the order they were shown in
OUTCOMES = ("a", "b", "tie", "error")
# After the name of a model that wrote both answers of a pair, which count as two models
PLACES = (" (first answer)", " (second answer)")
LABELS = ("a", "b", "tie")  # of the humans
ORDERS = ("ab", "ba")  # the answer of `model_a` shown first, or that of `model_b`
CONTROL = "control"  # the condition with unperturbed answers
# Perturbations that make an answer worse, unless the configuration names others
WORSENING = ("factual_error",)
# One row per verdict. `favoured` is the answer that an added statement supports; `vote` numbers
# repeated verdicts; `humans_a`, `humans_b` and `humans_tie` count single human votes; `right_a` and
# `right_b` say whether the answers are right by a key.
COMPARISONS = column_names(
    "judge item model_a model_b order outcome human length_a length_b condition experiment",
    "favoured vote humans_a humans_b",
    "humans_tie right_a right_b wording",
)
