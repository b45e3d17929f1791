"""Why a number or a verdict is missing: a code with facts in tables, and a sentence where it is
shown.
"""

import json
from collections.abc import Iterable
from enum import StrEnum

from recuse.base.settings import Setting


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


SENTENCES = {
    Reason.NO_HUMAN_SCORE: "no row has a human score",
    Reason.FEW_SCORED_PROMPTS: (
        "answers to only {prompts} prompts have human scores, and {least} are needed"
    ),
    Reason.NOT_ALL_SCORED: "not every answer has a human score",
    Reason.NO_SCORED_ANSWERS: "none of these answers has a human score",
    Reason.NO_ROWS: "no row is left",
    Reason.NO_TERM: "no row carries a term of the model",
    Reason.NO_LENGTHS: "the ratings have no lengths",
    Reason.NO_TASK_TYPES: "the study declares no task types",
    Reason.NOT_IN_STUDY: "the study has no {kind} named {names}",
    Reason.COUNTS_WITHOUT_ANSWERS: (
        "counts do not say which ratings are of the same answer, nor how long it is; give the ratings"
        " themselves"
    ),
    Reason.COUNTS_WITHOUT_PROMPTS: (
        "these counts do not say which ratings are of the same prompt; count by prompt_id, too"
    ),
    Reason.ONE_REFERENCE_FAMILY: (
        "all judges are of one family, so no other judge is left to compare with its reference"
    ),
    Reason.ONE_FAMILY: (
        "all judges and models are of one family, so there is nothing to compare with"
    ),
    Reason.NO_OWN_ANSWERS: "it rates no answers of its own",
    Reason.NO_SIBLINGS: "this family's judges rate no other model of the family",
    Reason.COLLINEAR: "collinear with other terms",
    Reason.ABSORBED: "collinear with the effects of completions",
    Reason.RELATIVE: (
        "with effects of completions, intercepts and slopes are relative to this judge's"
    ),
    Reason.TIED: "other terms account for it (see tied_to)",
    Reason.REFERENCE_LEVEL: "the reference level: 0, because the thresholds are free",
    Reason.ONE_VALUE: "the judge always gives the same value",
    Reason.ONE_VALUE_EACH: "each of its judges always gives the same value",
    Reason.ONE_RATING: "all {n} rows of the fit have the rating {rating}",
    Reason.ONE_END: (
        "no finite estimate: all {n} of its rows have the rating {rating}, the {end} in use"
    ),
    Reason.SEPARATED: (
        "no finite estimate: together with {others} it predicts some ratings without error"
    ),
    Reason.NO_MARGINAL_EFFECT: (
        "no marginal effect: its rows have other terms without a finite estimate"
    ),
    Reason.NOT_FITTED: "{words}",
    Reason.NO_STANDARD_ERROR: "its standard error is 0 or unknown",
    Reason.REFERENCE_TOO_NOISY: (
        "with this reliability, all variation of the human scores in some judge's rows is error"
    ),
    Reason.RELIABILITY_UNKNOWN: "the reliability of the human scores is unknown for {names}",
    Reason.RELIABILITY_UNUSABLE: (
        "the reliability of the human scores is not between 0 and 1 for {names}"
    ),
    Reason.NO_RATERS: "no completion has two raters",
    Reason.LENGTH_LIKE_HALF: (
        "length explains half of the term or more, and nothing else can explain as much"
    ),
    Reason.NO_SLOPE: (
        "the human score does not vary within any dimension and model that this judge rates"
    ),
    Reason.NO_UNRELATED_CELL: "no judge and model of different families have ratings for {names}",
    Reason.NOT_LINKED: "judges and models of different families do not link {names}",
    Reason.NO_RESIDUAL: "judges and models of different families leave no residual",
    Reason.FEW_CELLS: (
        "too few cells separate ordinary preference from a bias (degrees of freedom: {df}, needed:"
        " {least})"
    ),
    Reason.FEW_PROMPTS: (
        "answers of {names} to only {prompts} prompts are judged, and {least} are needed"
    ),
    Reason.FEW_MODELS: (
        "answers of only {models} models of other families are judged, and {least} are needed to"
        " show how much preferences vary"
    ),
    Reason.DOMINANT_FAMILY: (
        "{share} of the models are of the family {family}, too many to separate ordinary"
        " preferences of families from a bias"
    ),
    Reason.FEW_FAMILIES: (
        "with models of fewer than {least} families, a preference of families for families looks"
        " like a bias"
    ),
    Reason.NOT_CONVERGED: "the estimate of ordinary preference did not converge",
    Reason.ONE_BIAS: "there are fewer than two biases to average",
    Reason.ONE_JUDGE: (
        "with a single judge, its preferences cannot be separated from how good the models are"
    ),
    Reason.LONE_LEVEL: (
        "{judge} alone gives {level}, far from its other ratings, to {others} of others' answers and"
        " {own} of its own: these may be failed judgments"
    ),
    Reason.OTHER_SCALE: (
        "{judge}'s ratings of {dimension} end at {top}, most judges' at {usual}: it may have used"
        " another scale"
    ),
    Reason.COPIED_RATINGS: (
        "{judge} gives the ratings of {whose} in {share} of the rows, so it is not an independent"
        " judge"
    ),
    Reason.NO_SHARED_ANSWERS: "no two judges are linked by a chain of shared answers",
    Reason.FEW_SHARED_ANSWERS: "too few shared answers link this judge's level to the others'",
    Reason.FEW_RATINGS_OUTSIDE: (
        "some model has no judge outside its family that rates it {least} times"
    ),
    Reason.FEW_PROMPTS_OF_PANEL: "ratings of fewer than {least} prompts do not show a panel's bias",
    Reason.NOTHING_TO_COMPARE: "no cells of other judges and models are left to compare with",
    Reason.UNKNOWN_PREFERENCES: (
        "judges' preferences for single models are unknown: too few cells are neither self nor same"
        " family"
    ),
    Reason.FLOOR_ABOVE_AIM: "no number of prompts is enough: the floor is above self_bias",
    Reason.OVERSIZED: (
        "with so many prompts the study's own test calls unbiased judges biased more than twice as"
        " often as its level"
    ),
    Reason.NOT_COMPARED: "the remaining judges do not compare this model with the others",
    Reason.FEW_RESAMPLES: (
        "no interval: all rows are of one prompt, or too few resamples determine every score"
    ),
    Reason.SHORT_INTERVALS: (
        "{prompts} prompts, fewer than {few}: intervals and rank sets may be too small, even with"
        " the t distribution"
    ),
    Reason.UNSCORED_DIMENSIONS: "people scored no answers on {names}",
    Reason.EQUAL_SCORES: (
        "nearly all human scores are equal: fewer than {least} differ from the most frequent one"
    ),
    Reason.CHOSEN_FOR_SCORES: (
        "people scored answers that do not look chosen at random: judges' ratings of these differ"
        " from those of the others by {gap} of the scale"
    ),
    Reason.UNDECLARED_DRAW: (
        "the study does not say that the answers with human scores were drawn at random; if they were"
        " picked, the models' estimated human scores may be off by more than their intervals suggest"
    ),
    Reason.FEW_AND_UNDECLARED: (
        "{prompts} prompts, fewer than {few}, have human scores, so that intervals and rank sets may"
        " be too small; and the study does not say that these were drawn at random: if they were"
        " picked, the models' estimated human scores may be off by still more"
    ),
    Reason.NO_ROW: "{table}.csv has no such row",
    Reason.NO_INTERVAL: "it has no interval, as its standard error is 0 or unknown",
    Reason.NO_BOOTSTRAP: "no bootstrap is drawn where A rests on all ratings",
    Reason.DISAGREES_WITH_PEOPLE: "it does not agree with people",
    Reason.HARDLY_AGREES: "hardly any agreement with people",
    Reason.HARDLY_AGREES_WITH_JUDGES: "hardly any agreement with the other judges",
    Reason.NO_SPREAD_FOUND: (
        "too few models to measure ordinary preferences; without them, this test has false alarms"
    ),
    Reason.MISSING_OWN: (
        "at least {share} of its ratings of its own answers are missing, more than of others'; the"
        " interval allows for any values of these"
    ),
    Reason.UNSUPPORTED: (
        "its own interval excludes 0, but given all judges a bias on this side is only {share}"
        " probable"
    ),
    Reason.NO_HUMAN_LABELS: "there are no human labels, so quality is not held fixed",
    Reason.FEW_QUESTIONS: "{questions} questions, fewer than {least}",
    Reason.ALL_DRAWS: "all its comparisons are draws",
    Reason.DEPENDS_ON_DRAWS: (
        "it depends on how draws count: {half} points if a draw is half a win, {excluded} if draws"
        " are left out"
    ),
    Reason.NO_OWN_COMPARED: "it compares no answers of its own",
    Reason.ONE_MODEL_COMPARED: "both answers of each pair are by one model",
    Reason.NO_SIBLINGS_COMPARED: (
        "this family's judges compare no answer of its other models with another family's"
    ),
    Reason.SAME_LENGTHS: "it compares no answers of different known lengths",
    Reason.ONE_ORDER: "it judged no pair in both orders",
    Reason.ALWAYS_OR_NEVER: (
        "it always or never chooses this answer, so that its size is not finite (see choices.csv)"
    ),
    Reason.NO_OTHER_JUDGE: "no judge of another family judged the same answers",
    Reason.TIED_TO_STRENGTHS: (
        "the other judges' verdicts do not separate it from how strong the models are"
    ),
    Reason.NO_SLOPE_ON_STRENGTHS: (
        "its comparisons of other models do not show how it follows people"
    ),
    Reason.NO_STRENGTH: "the verdicts do not link this model with the others, or always go one way",
    Reason.NO_OWN_OF_CASE: "it judges no answers of its own of this kind",
    Reason.NO_OTHER_ANSWERS: "it judged no other answers of this kind to the same questions",
    Reason.NO_COMMON_JUDGE: "no judge of another family judged both",
    Reason.DEPENDS_ON_SCALE: "it depends on the scale: differences of shares, ratios or log odds",
    Reason.ALL_ALIKE: "all answers are treated alike, so that there is no ratio",
    Reason.MANY_TESTED: ("its interval excludes 0, but not once all {tests} tests are allowed for"),
    Reason.NOT_BY_SIGNS: "a randomisation test does not confirm it",
    Reason.FAILURES_DIFFER: (
        "{failed_treated} replies with the treatment could not be read and {failed_control} without"
        " it, so those that could may differ"
    ),
    Reason.WORDINGS_DIFFER: (
        "it depends on the wording: {size_first} % in {first}, {size_second} % in {second}"
    ),
}

# Nothing is concluded from a comparison with people
WITHOUT_PEOPLE = (Reason.NO_HUMAN_SCORE, Reason.FEW_SCORED_PROMPTS)
# The same without facts, where these differ from judge to judge.
SHORT = {
    Reason.NO_UNRELATED_CELL: "some have no ratings with judges or models of other families",
    Reason.NOT_LINKED: "some are not linked with the others",
    Reason.FEW_CELLS: "too few cells separate ordinary preference from a bias",
    Reason.FEW_PROMPTS: "too few prompts",
    Reason.FEW_MODELS: "the judges rate too few models of other families",
    Reason.FEW_QUESTIONS: "too few questions",
    Reason.DEPENDS_ON_DRAWS: "it depends on how draws count",
    Reason.LONE_LEVEL: "some judges alone give a level that may stand for failed judgments",
    Reason.OTHER_SCALE: "some judges may have used another scale",
    Reason.COPIED_RATINGS: "some judges only repeat the ratings of others",
    Reason.SHORT_INTERVALS: (
        "few prompts: intervals and rank sets may be too small, even with the t distribution"
    ),
    Reason.FEW_AND_UNDECLARED: (
        "few prompts have human scores, so that intervals and rank sets may be too small; and the"
        " study does not say that these were drawn at random: if they were picked, the models'"
        " estimated human scores may be off by still more"
    ),
}
OF_SEVERAL = {
    Reason.NO_OWN_ANSWERS: "they rate no answers of their own",
    Reason.NO_SIBLINGS: "their judges rate no other model of their family",
    Reason.NO_OWN_COMPARED: "they compare no answers of their own",
    Reason.NO_SIBLINGS_COMPARED: (
        "their judges compare no answer of another model of their family with another family's"
    ),
    Reason.SAME_LENGTHS: "they compare no answers of different known lengths",
    Reason.ONE_ORDER: "they judged no pair in both orders",
}
DECLARE_DRAW = (
    "set `labelling_probability` to the chance that an answer was chosen: one number if they were"
    " drawn at random, otherwise a column"
)
# What would make an inconclusive verdict conclusive; where nothing is listed, more judges or
# models.
MORE_JUDGES = "add judges or models of other families"
SEPARATED_BY_JUDGES = (
    Reason.ONE_FAMILY,
    Reason.ONE_JUDGE,
    Reason.NO_UNRELATED_CELL,
    Reason.NOT_LINKED,
    Reason.NO_RESIDUAL,
    Reason.FEW_CELLS,
    Reason.FEW_MODELS,
    Reason.DOMINANT_FAMILY,
    Reason.TIED_TO_STRENGTHS,
    Reason.NO_SLOPE_ON_STRENGTHS,
    Reason.NO_STRENGTH,
)
CURES = {
    Reason.NO_OWN_ANSWERS: "add ratings of own answers",
    Reason.NO_SIBLINGS: "add ratings of another model of the family",
    Reason.FEW_PROMPTS: "rate answers to more prompts",
    Reason.LONE_LEVEL: (
        "say what this level is: list it as `missing` if it marks failed judgments, or the judge as"
        " `trusted` if it is a rating"
    ),
    Reason.OTHER_SCALE: (
        "give the judge its own scale {scales}, or list it as `trusted` if it is only strict"
    ),
    Reason.COPIED_RATINGS: (
        "leave the judge out, or list it as `trusted` if it rated the answers itself"
    ),
    Reason.UNDECLARED_DRAW: DECLARE_DRAW,
    Reason.FEW_AND_UNDECLARED: DECLARE_DRAW,
    Reason.NO_SLOPE: "add prompts whose answers people score differently",
    Reason.NO_HUMAN_LABELS: "have people judge some of these comparisons",
    Reason.FEW_QUESTIONS: "judge more questions",
    Reason.ALL_DRAWS: "use a more consistent judge that calls fewer ties",
    Reason.DEPENDS_ON_DRAWS: "use a more consistent judge that calls fewer ties",
    Reason.NO_OWN_COMPARED: (
        "add comparisons of its own answers; if its model has another name there, list that under"
        " `ids`"
    ),
    Reason.NO_SIBLINGS_COMPARED: "add comparisons of another model of the family",
    Reason.SAME_LENGTHS: "add the lengths of the answers",
    Reason.ONE_ORDER: "judge each pair in both orders",
    Reason.ALWAYS_OR_NEVER: "judge more questions",
    Reason.NO_OTHER_JUDGE: "have a judge of another family judge the same answers",
    **dict.fromkeys(SEPARATED_BY_JUDGES, MORE_JUDGES),
    Reason.NO_OWN_OF_CASE: "add verdicts on own answers of this kind",
    Reason.NO_OTHER_ANSWERS: "add verdicts on other answers to the same questions",
    Reason.NO_COMMON_JUDGE: "have a judge of another family judge both",
}


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
    return SENTENCES[reason].format(**facts)


def in_short(texts: Iterable[str], *, several: bool = False) -> str:
    """The sentences of several reasons, one for each code, without the facts if these differ.

    several: they are about several judges or families.

    >>> in_short([because(Reason.FEW_QUESTIONS, questions=number, least=10) for number in (7, 8)])
    'too few questions'
    """
    sentences: dict[Reason | None, str] = {}
    for text in dict.fromkeys(texts):
        reason = code(text)
        sentence = OF_SEVERAL.get(reason, in_words(text)) if several else in_words(text)
        sentences[reason] = SHORT.get(reason, sentence) if reason in sentences else sentence
    if Reason.FEW_AND_UNDECLARED in sentences:
        sentences.pop(Reason.UNDECLARED_DRAW, None)  # It says both.
    return "; ".join(sentences.values())


def cure(text: str) -> str:
    """What would make a verdict conclusive that is inconclusive for the reason in a text by
    `because`; "" if unknown.
    """
    scales = Setting("scales").place
    return CURES.get(code(text), "").format(scales=scales)
