"""What the tables of comparisons hold: names of columns, words of outcomes, orders and rules."""

OUTCOMES = ("a", "b", "tie", "error")  # of a verdict: which answer won, whatever the order they were shown in
LABELS = ("a", "b", "tie")  # of the humans
ORDERS = ("ab", "ba")  # the answer of `model_a` shown first, or that of `model_b`
CONTROL = "control"  # the condition with unperturbed answers
# One row per verdict. `favoured` is the answer that an added statement speaks for; `vote` tells repeated verdicts apart.
COMPARISONS = (
    "judge", "item", "model_a", "model_b", "order", "outcome", "human", "length_a", "length_b",
    "condition", "experiment", "favoured", "vote",
)  # fmt: skip
COMPLETENESS = (
    "study", "experiment", "condition", "judge", "comparisons", "verdicts", "errors", "one_order", "no_human", "no_length",
)  # fmt: skip
VERBOSITY = (
    "study", "experiment", "condition", "judge", "order", "draws", "verbosity_bias", "ci_low", "ci_high", "few",
    "accuracy_parity_gap", "rate_shorter", "wrong_shorter", "n_shorter", "rate_longer", "wrong_longer", "n_longer",
    "judge_draws", "human_ties", "equal_lengths", "errors", "no_human", "no_length", "questions",
)  # fmt: skip
POSITION = ("study", "experiment", "condition", "judge", "statistic", "value", "ci_low", "ci_high", "n", "questions")
AGREEMENT = (
    "study", "experiment", "condition", "judge", "order", "value", "ci_low", "ci_high", "agree", "n", "errors",
    "value_errors_wrong", "questions",
)  # fmt: skip
SCORE_CURVES = (
    "study", "experiment", "condition", "judge", "order", "bin_low", "bin_high", "mean", "std_dev", "n", "no_length",
)  # fmt: skip
ALIGNMENT_CURVES = (
    "study", "experiment", "condition", "judge", "bin_low", "bin_high", "agreement", "ci_low", "ci_high", "agree", "n",
    "no_length",
)  # fmt: skip
COGNITIVE_BIASES = (
    "study", "experiment", "judge", "size", "bias", "origin", "share", "ci_low", "ci_high", "biased", "n", "left_out",
    "valid", "random", "chance", "above_random",
)  # fmt: skip
RANDOM = ("study", "bias", "closed_form", "simulated", "std_error", "replicates")
RBO = (
    "study", "statistic", "form", "systems", "ties", "judge", "value", "as_coded", "rankings",
    "above_list", "ci_low", "ci_high",
)  # fmt: skip
VALID = ("study", "judge", "prompt", "comparisons", "valid", "rate", "quoted", "agrees")
ASR = (
    "study", "experiment", "condition", "model_a", "model_b", "judge", "asr", "ci_low", "ci_high", "shifted", "n",
    "samples", "left_out", "votes", "errors", "rank",
)  # fmt: skip
RANKS = ("study", "experiment", "judge", "average_rank", "columns", "place")
VOTES_BY_POSITION = (
    "study", "experiment", "judge", "first", "tie", "second", "difference", "ci_low", "ci_high", "n", "errors",
)  # fmt: skip
LENGTH_CURVE = (
    "study", "experiment", "judge", "bin_low", "bin_high", "preference", "ci_low", "ci_high", "n", "questions",
    "equal_lengths", "no_length", "errors",
)  # fmt: skip
VOTE_SHARES = ("study", "experiment", "model_a", "model_b", "judge", "a", "tie", "b", "n", "errors")
LENGTH_CONFOUND = (
    "study", "perturbation", "level", "unit", "answers", "relative_change", "ci_low", "ci_high", "longer", "n",
)  # fmt: skip
PUBLISHED_RANKS = (
    "table", "judge", "column", "asr", "printed", "recomputed", "lowest_possible", "highest_possible", "verdict",
)  # fmt: skip
PLANTED = ("experiment", "condition", "judge", "model_b", "quantity", "planted")
RECOVERY = ("study", *PLANTED, "estimate", "ci_low", "ci_high", "n", "inside")
