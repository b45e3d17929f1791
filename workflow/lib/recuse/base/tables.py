"""Tidy CSV tables: fixed columns for each kind of table, and floats that read back equal."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from recuse.base.outputs import replacing


def write_table(path: str | Path | int, columns: Sequence[str], rows: Iterable[Mapping], *, study: str | None = None) -> None:
    """Write `rows` as CSV under `columns`, to a path or to an open file by its number.

    A missing key, None or NaN is an empty field, a float its `repr`. study: of rows without one. Raises ValueError about a key
    not in `columns`.
    """
    place = nullcontext(path) if isinstance(path, int) else replacing(path)
    with place as target, open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        shared, names = {} if study is None else {"study": study}, set(columns)
        for row in rows:
            if unknown := row.keys() - names:
                raise ValueError(f"no column of the table: {', '.join(sorted(unknown))}")
            whole = shared | row
            writer.writerow([_field(whole.get(name)) for name in columns])


def read_table(path: str | Path) -> list[dict[str, str]]:
    """Read a CSV table as one dict of texts per row."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _field(value):
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else value


def columns(*lines: str) -> tuple[str, ...]:
    """The names in these lines, in their order."""
    return tuple(name for line in lines for name in line.split())


ESTIMATES = columns(
    "study spec slice quantity term",
    "estimate std_error ci_low ci_high p_value n n_term note",
    "effect effect_std_error effect_ci_low effect_ci_high",
    "boot_std_error boot_ci_low boot_ci_high estimand",
    "df wild_p_value wild_ci_low wild_ci_high",
)
SMOOTHS = columns("study spec slice judge reference value std_error ci_low ci_high")
CHECK = columns("study topic subject finding level words advice")
NOT_ESTIMABLE = columns("study spec slice quantity term reason")
REMARKS = columns("study spec slice remark")
MEAN_SCORES = columns("study dimension judge model mean n")
CORRELATIONS = columns("study dimension judge statistic value std_error ci_low ci_high n")
AGREEMENT = columns("study dimension statistic value n")
MULTIPLICITY = columns(
    "study spec slice estimand quantity term tests estimate std_error p_value",
    "holm_p_value bh_p_value max_t_p_value simultaneous_ci_low simultaneous_ci_high replicates",
)
IDIOSYNCRASY = columns(
    "study spec slice estimand quantity term",
    "estimate std_error df ci_low ci_high p_value shrunk shrunk_std_error probability_positive missing cells reason doubt",
)
POOLED = columns(
    "study spec slice estimand quantity left_out weight biases",
    "estimate std_error df ci_low ci_high p_value missing tau favouring_at_least",
    "unweighted unweighted_ci_low unweighted_ci_high reason",
)
RESIDUALS = columns("study spec slice estimand judge model relation residual std_error df band n reason")
IDENTIFIABILITY = columns(
    "study spec slice estimand quantity term reason words n n_term cells carried_by against",
    "n_against share_carried share_same_judge share_same_model share_others rank_deficiency tied_to",
)
LEADERBOARD = columns(
    "study spec slice scores estimand model judges score std_error ci_low ci_high",
    "rank rank_low rank_high change change_ci_low change_ci_high replicates note",
)
JUDGMENTS = columns("study estimand judge place dimension dataset prompt_id rating human expected gap")
PPI = columns("study model method prompts draws labels full_mean std_error width rmse covered saved note")
POWER = columns(
    "study estimand judges models dimensions raters prompts self_bias power",
    "detectable detectable_least floor prompts_needed bias size reason",
)
PANEL = columns(
    "study family_ratings size panel recommended",
    "bias_left bias_left_ci_low bias_left_ci_high worst_model worst_bias",
    "square_difference square_difference_ci_low square_difference_ci_high",
    "error error_ci_low error_ci_high effective effective_ci_low effective_ci_high note",
)
ROUND_ROBIN = columns(
    "study panel judges scheme answers ratings saved std_error factor",
    "bias_left total_error note",
)
ROUND_ROBIN_PLAN = columns("study dataset prompt_id occasion model judge")
RELIABILITY = columns("study dimension single raters mean origin")
MEASUREMENT_ERROR = columns(
    "study spec slice estimand method reliability quantity term",
    "estimate std_error df ci_low ci_high p_value n prompts reason note",
)
BREAKDOWNS = columns("study spec slice estimand quantity term sign_at_1 sign_at_lowest lowest breakdown reversal")
SENSITIVITY = columns(
    "study spec slice estimand quantity term",
    "estimate std_error classical_std_error df partial_r2",
    "robustness_value robustness_value_significance length_with_term length_with_rating bias_as_length",
    "as_length_ci_low as_length_ci_high reason note",
)
CONCLUSIONS = columns(
    "study slice quantity term check spec estimand estimate ci_low ci_high p_value",
    "conclusion first verdict reason doubt words detectable probability_positive missing note wordings",
)
WORDINGS = columns(
    "study check spec estimand quantity term wordings replicates",
    "estimate std_error df ci_low ci_high p_value detectable one_std_error one_ci_low one_ci_high one_p_value",
    "sd_wordings sd_replicates twice_prompts twice_wordings twice_replicates note",
)
VERDICTS = columns(
    "study kind quantity term verdict favours estimate ci_low ci_high p_value adjusted_p_value",
    "probability_positive detectable A A_ci_low A_ci_high B B_ci_low B_ci_high reason note wordings",
)
IMPORTED = columns("study file kind n example")
COLLECTED_RATINGS = columns("judge model prompt dataset dimension rating length wording replicate criteria")
COLLECTED_VERDICTS = columns("judge item model_a model_b order outcome length_a length_b dataset wording vote reason")
COLLECTED = columns(
    "study judge requests answered repaired ratings refusal truncated off_the_scale unreadable not_answered",
    "tokens_in tokens_out money",
)
COMPLETENESS = columns("study dimension judge model prompts absent missing_rating missing_gt missing_length used")
CLAIMS = columns("study claim section sentence criterion estimand kind verdict evidence published published_evidence")
SCORECARD = columns(
    "study item figure spec slice estimand quantity term model",
    "published published_ci_low published_ci_high ours ours_ci_low ours_ci_high",
    "deviation tolerance verdict cause",
)
RANKINGS = columns("study model group n mean bradley_terry rank")
PLANTED = columns("slice quantity term model planted")
RECOVERY = columns("study spec slice estimand quantity term planted expected estimate std_error ci_low ci_high z inside")
CROSSCHECK = columns("study spec slice estimand compared terms largest_difference tolerance")

MONTECARLO = columns("grid dial setting estimator estimand quantity term planted statistic value mc_error replicates")
WORLDS = columns(
    "grid title estimator planted lowest mean highest any any_or_family pooled refused pooled_refused mc_error replicates"
)

OUTCOMES = ("a", "b", "tie", "error")  # of a verdict: which answer won, whatever the order they were shown in
LABELS = ("a", "b", "tie")  # of the humans
ORDERS = ("ab", "ba")  # the answer of `model_a` shown first, or that of `model_b`
CONTROL = "control"  # the condition with unperturbed answers
WORSENING = ("factual_error",)  # perturbations that make an answer worse, unless the configuration names others
# One row per verdict. `favoured` is the answer that an added statement supports; `vote` numbers repeated verdicts; `humans_a`,
# `humans_b` and `humans_tie` count single human votes; `right_a` and `right_b` say whether the answers are right by a key.
COMPARISONS = columns(
    "judge item model_a model_b order outcome human length_a length_b condition experiment favoured vote humans_a humans_b",
    "humans_tie right_a right_b wording",
)
PAIRWISE_COMPLETENESS = columns("study experiment condition judge comparisons verdicts errors one_order no_human no_length")
VERBOSITY = columns(
    "study experiment condition judge order draws verbosity_bias ci_low ci_high few",
    "accuracy_parity_gap rate_shorter wrong_shorter n_shorter rate_longer wrong_longer n_longer",
    "judge_draws human_ties equal_lengths errors no_human no_length questions",
)
CHOICES = columns(
    "study quantity term model draws question judge_share human_share",
    "estimate std_error ci_low ci_high p_value n questions",
)
GOLD = columns(
    "study quantity term case baseline share baseline_share measure",
    "estimate std_error df ci_low ci_high p_value log_odds log_odds_ci_low log_odds_ci_high log_odds_p_value",
    "n questions verdict favours detectable reason",
)
LABEL_NOISE = columns("study quantity term origin flip_rate agreement vote_pairs estimate ci_low ci_high changes_at")
REGRESSION = columns(
    "study question quantity term estimate std_error ci_low ci_high p_value df",
    "n questions spread reason doubt wordings one_ci_low one_ci_high",
)
STRENGTHS = columns(
    "study scores model strength std_error ci_low ci_high win_rate win_rate_low win_rate_high",
    "rank rank_low rank_high change change_ci_low change_ci_high note",
)
POSITION = columns("study experiment condition judge statistic value ci_low ci_high n questions")
PAIRWISE_AGREEMENT = columns(
    "study experiment condition judge order value ci_low ci_high agree n errors",
    "value_errors_wrong questions",
)
SCORE_CURVES = columns("study experiment condition judge order bin_low bin_high mean std_dev n no_length")
ALIGNMENT_CURVES = columns("study experiment condition judge bin_low bin_high agreement ci_low ci_high agree n no_length")
COGNITIVE_BIASES = columns(
    "study experiment judge size bias origin share ci_low ci_high biased n left_out",
    "valid random chance above_random",
)
RBO = columns("study statistic form systems ties judge value as_coded rankings above_list ci_low ci_high")
VALID = columns("study judge prompt comparisons valid rate quoted agrees")
ASR = columns(
    "study experiment condition model_a model_b judge asr ci_low ci_high shifted n",
    "samples left_out votes errors rank",
)
RANKS = columns("study experiment judge average_rank columns place")
VOTES_BY_POSITION = columns("study experiment judge first tie second difference ci_low ci_high n errors")
LENGTH_CURVE = columns(
    "study experiment judge bin_low bin_high preference ci_low ci_high n questions",
    "equal_lengths no_length errors",
)
VOTE_SHARES = columns("study experiment model_a model_b judge a tie b n errors")
LENGTH_CONFOUND = columns("study perturbation level unit answers relative_change ci_low ci_high longer n")
PUBLISHED_RANKS = columns("table judge column asr printed recomputed lowest_possible highest_possible verdict")
PAIRWISE_PLANTED = columns("experiment condition judge model_b quantity planted")
PAIRWISE_RECOVERY = ("study", *PAIRWISE_PLANTED, "estimate", "ci_low", "ci_high", "n", "inside")
