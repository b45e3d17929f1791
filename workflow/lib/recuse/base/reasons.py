"""Why a number or a verdict is missing: a code with facts in tables, and a sentence where it is
shown, from workflow/report/reasons.yaml.
"""

import json
from collections.abc import Iterable
from enum import StrEnum

from recuse.base.places import WORKFLOW
from recuse.base.settings import Setting
from recuse.base.words import entries


class Reason(StrEnum):
    """The codes."""

    # The rows and the spec.
    NO_HUMAN_SCORE = "no_human_score"
    FEW_SCORED_PROMPTS = "few_scored_prompts"
    NOT_ALL_SCORED = "not_all_scored"
    NO_SCORED_ANSWERS = "no_scored_answers"
    NO_ROWS = "no_rows"
    NO_TERM = "no_term"
    NO_LENGTHS = "no_lengths"
    NO_TASK_TYPES = "no_task_types"
    NOT_IN_STUDY = "not_in_study"
    COUNTS_WITHOUT_ANSWERS = "counts_without_answers"
    COUNTS_WITHOUT_PROMPTS = "counts_without_prompts"
    ONE_REFERENCE_FAMILY = "one_reference_family"
    ONE_FAMILY = "one_family"
    # One term of a fit.
    NO_OWN_ANSWERS = "no_own_answers"
    NO_SIBLINGS = "no_siblings"
    COLLINEAR = "collinear"
    ABSORBED = "absorbed"
    RELATIVE = "relative"
    TIED = "tied"
    REFERENCE_LEVEL = "reference_level"
    ONE_VALUE = "one_value"
    ONE_VALUE_EACH = "one_value_each"
    ONE_RATING = "one_rating"
    ONE_END = "one_end"
    SEPARATED = "separated"
    NO_MARGINAL_EFFECT = "no_marginal_effect"
    NOT_FITTED = "not_fitted"
    NO_STANDARD_ERROR = "no_standard_error"
    REFERENCE_TOO_NOISY = "reference_too_noisy"
    RELIABILITY_UNKNOWN = "reliability_unknown"
    RELIABILITY_UNUSABLE = "reliability_unusable"
    NO_RATERS = "no_raters"
    LENGTH_LIKE_HALF = "length_like_half"
    # Beyond ordinary preference.
    NO_SLOPE = "no_slope"
    NO_UNRELATED_CELL = "no_unrelated_cell"
    NOT_LINKED = "not_linked"
    NO_RESIDUAL = "no_residual"
    FEW_CELLS = "few_cells"
    FEW_PROMPTS = "few_prompts"
    FEW_MODELS = "few_models"
    DOMINANT_FAMILY = "dominant_family"
    FEW_FAMILIES = "few_families"
    NOT_CONVERGED = "not_converged"
    ONE_BIAS = "one_bias"
    ONE_JUDGE = "one_judge"
    # Ratings that may not be what they seem.
    LONE_LEVEL = "lone_level"
    OTHER_SCALE = "other_scale"
    COPIED_RATINGS = "copied_ratings"
    # Panels of judges.
    NO_SHARED_ANSWERS = "no_shared_answers"
    FEW_SHARED_ANSWERS = "few_shared_answers"
    FEW_RATINGS_OUTSIDE = "few_ratings_outside"
    FEW_PROMPTS_OF_PANEL = "few_prompts_of_panel"
    # Planned studies.
    NOTHING_TO_COMPARE = "nothing_to_compare"
    UNKNOWN_PREFERENCES = "unknown_preferences"
    FLOOR_ABOVE_AIM = "floor_above_aim"
    OVERSIZED = "oversized"
    # The leaderboard.
    NOT_COMPARED = "not_compared"
    FEW_RESAMPLES = "few_resamples"
    SHORT_INTERVALS = "short_intervals"
    UNSCORED_DIMENSIONS = "unscored_dimensions"
    EQUAL_SCORES = "equal_scores"
    CHOSEN_FOR_SCORES = "chosen_for_scores"
    UNDECLARED_DRAW = "undeclared_draw"
    FEW_AND_UNDECLARED = "few_and_undeclared"
    # Verdicts and robustness checks.
    NO_ROW = "no_row"
    NO_INTERVAL = "no_interval"
    NO_BOOTSTRAP = "no_bootstrap"
    DISAGREES_WITH_PEOPLE = "disagrees_with_people"
    HARDLY_AGREES = "hardly_agrees"
    HARDLY_AGREES_WITH_JUDGES = "hardly_agrees_with_judges"
    NO_SPREAD_FOUND = "no_spread_found"
    MISSING_OWN = "missing_own"
    UNSUPPORTED = "unsupported"
    # Verdicts on two answers.
    NO_HUMAN_LABELS = "no_human_labels"
    FEW_QUESTIONS = "few_questions"
    ALL_DRAWS = "all_draws"
    DEPENDS_ON_DRAWS = "depends_on_draws"
    NO_OWN_COMPARED = "no_own_compared"
    ONE_MODEL_COMPARED = "one_model_compared"
    NO_SIBLINGS_COMPARED = "no_siblings_compared"
    SAME_LENGTHS = "same_lengths"
    ONE_ORDER = "one_order"
    ALWAYS_OR_NEVER = "always_or_never"
    NO_OTHER_JUDGE = "no_other_judge"
    TIED_TO_STRENGTHS = "tied_to_strengths"
    NO_SLOPE_ON_STRENGTHS = "no_slope_on_strengths"
    NO_STRENGTH = "no_strength"
    # Answers that are right or wrong by a key.
    NO_OWN_OF_CASE = "no_own_of_case"
    NO_OTHER_ANSWERS = "no_other_answers"
    NO_COMMON_JUDGE = "no_common_judge"
    DEPENDS_ON_SCALE = "depends_on_scale"
    ALL_ALIKE = "all_alike"
    # Effects of treatments.
    MANY_TESTED = "many_tested"
    NOT_BY_SIGNS = "not_by_signs"
    FAILURES_DIFFER = "failures_differ"
    WORDINGS_DIFFER = "wordings_differ"


# Nothing is concluded from a comparison with people
WITHOUT_PEOPLE = (Reason.NO_HUMAN_SCORE, Reason.FEW_SCORED_PROMPTS)
# Of each reason `words`; of some `short`, `several` and `cure`.
SENTENCES = WORKFLOW / "report" / "reasons.yaml"


def because(reason: Reason, **facts: str | int | float) -> str:
    """The text of a reason and its facts in a table: the code and, if there are facts, a JSON
    object.

    >>> because(Reason.FEW_QUESTIONS, questions=8, least=10)
    'few_questions {"questions": 8, "least": 10}'
    """
    return f"{reason} {json.dumps(facts, ensure_ascii=False)}" if facts else str(reason)


def parse(text: str) -> tuple[Reason, dict]:
    """The reason and the facts in a text by `because`."""
    code, _, facts = text.partition(" ")
    return Reason(code), json.loads(facts) if facts else {}


def code(text: str) -> Reason | None:
    """The reason in a text by `because`, None if it is empty."""
    return parse(text)[0] if text else None


def in_words(text: str) -> str:
    """A sentence without a capital letter and a full stop for a text by `because`; "" for "".

    >>> in_words('few_questions {"questions": 8, "least": 10}')
    '8 questions, fewer than 10'
    """
    if not text:
        return ""
    reason, facts = parse(text)
    for name, value in facts.items():
        if isinstance(value, float):
            facts[name] = str(value).replace("-", "\N{MINUS SIGN}")
    return entries(SENTENCES)[reason]["words"].format(**facts)


def in_short(texts: Iterable[str], *, several: bool = False) -> str:
    """The sentences of several reasons, one for each code, without the facts if these differ.

    several: they are about several judges or families.

    >>> in_short([because(Reason.FEW_QUESTIONS, questions=number, least=10) for number in (7, 8)])
    'too few questions'
    """
    shown = {}
    for text in filter(None, dict.fromkeys(texts)):
        reason = code(text)
        written = entries(SENTENCES)[reason]
        sentence = written.get("several", in_words(text)) if several else in_words(text)
        shown[reason] = written.get("short", sentence) if reason in shown else sentence
    if Reason.FEW_AND_UNDECLARED in shown:
        shown.pop(Reason.UNDECLARED_DRAW, None)  # It says both.
    return "; ".join(shown.values())


def cure(text: str) -> str:
    """What would make a verdict conclusive that is inconclusive for the reason in a text by
    `because`; "" if unknown.
    """
    words = entries(SENTENCES)[code(text)].get("cure", "") if text else ""
    return words.format(scales=Setting("scales").place)
