"""The tables of a report, in the order of the page: the columns and rows shown, and their numbers
as a reader sees them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite

from recuse.base.reasons import in_words, parse
from recuse.base.words import number
from recuse.model.spec import BIASES

Row = Mapping[str, str]


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a table: its title, a sentence, columns of the CSV file, and which rows."""

    title: str
    words: str
    columns: str
    rows: Callable[[Row], bool] = lambda row: True
    coded: str = "reason"  # the column of codes with facts


def of_whole(row: Row) -> bool:
    """True for a row of a self- or family-bias in the whole study."""
    return row["quantity"] in BIASES and not row["slice"]


# Headings of columns that differ from the name in the file.
HEADINGS = {
    "quantity": "bias", "term": "judge or family", "estimate": "gap", "ci_low": "from", "ci_high": "to", "p_value": "p",
    "n": "of", "n_term": "own rows", "first": "first check", "conclusion": "this check", "words": "in words",
    "win_rate": "share", "win_rate_low": "from", "win_rate_high": "to",
    "rank_low": "rank from", "rank_high": "rank to", "change": "change from raw", "reason": "why not",
    "inside": "in the interval", "verbosity_bias": "bias", "draws": "draws", "n_shorter": "shorter preferred",
    "n_longer": "longer preferred", "order": "order rule", "random": "random choices",
    "chance": "chance, with ties", "above_random": "above chance",
    "asr": "success rate", "difference": "first less second", "above_list": "above the list", "ours": "here",
    "sentence": "claim", "verdict": "verdict here", "published": "in the paper", "evidence": "numbers here",
    "missing_rating": "no rating", "missing_gt": "no human score", "missing_length": "no length", "one_order": "one order only",
    "no_human": "no human label",
}  # fmt: skip
BIAS = "quantity term"
INTERVAL = "ci_low ci_high"
GROUP = "experiment condition"
EXCERPTS = {
    "main": Excerpt(
        "Self- and family-bias by Equation 1",
        "Gap to the human scores in points of the unit scale. “Own rows” are the ratings that"
        " identify the bias.",
        f"{BIAS} estimate {INTERVAL} p_value n_term n",
        of_whole,
    ),
    "verdicts": Excerpt(
        "Verdicts",
        "The verdict on each judge and family with the numbers that decide it. A: its gap to"
        " people; B: to the other judges.",
        f"{BIAS} verdict estimate {INTERVAL} p_value adjusted_p_value detectable A B reason",
    ),
    "conclusions": Excerpt(
        "Robustness checks of each conclusion",
        "Each check asks another question about the same bias; its result is compared with the"
        " first.",
        f"{BIAS} check estimate {INTERVAL} p_value first conclusion verdict words reason",
        of_whole,
    ),
    "panel": Excerpt(
        "Which judges to combine",
        "All judges, each alone, and all but one, with ratings of the judges' own families or"
        " without. “square difference”: of the squares of the bias left, from the first panel's,"
        " with intervals that hold for all rows at once. “effective”: how many independent judges"
        " carry as much information.",
        "family_ratings size recommended panel bias_left bias_left_ci_low bias_left_ci_high"
        " square_difference_ci_low square_difference_ci_high error error_ci_low error_ci_high"
        " effective note",
        coded="note",
    ),
    "round_robin": Excerpt(
        "One judge for each prompt",
        "What it costs in precision if one judge rates all answers to a prompt, but those of its"
        " family. “factor”: of the variance of a model's score less the mean score.",
        "panel judges scheme ratings saved std_error factor bias_left total_error note",
    ),
    "judgments": Excerpt(
        "The judgments that carry each self-bias most",
        "Up to twenty ratings of a judge's own answers, those with the largest gap to what the"
        " model expects, on the scale from 0 to 1.",
        "estimand judge dimension dataset prompt_id rating human expected gap",
    ),
    "leaderboard": Excerpt(
        "Models ranked, with and without the biases",
        "Mean score over judges on the unit scale: raw; with the estimated biases removed"
        " (debiased); without judges' ratings of their own answers; without those of their"
        " families'; and as people would rate them, where only some answers have human scores"
        " (as_people). All true ranks lie in “rank from” to “rank to” at once.",
        f"scores estimand model score {INTERVAL} rank rank_low rank_high change note",
        lambda row: not row["slice"],
        coded="note",
    ),
    "estimates": Excerpt(
        "Self- and family-bias by every spec",
        "All ratings together; estimates by dimension, dataset or task type are in the files"
        " below.",
        f"spec {BIAS} estimate {INTERVAL} p_value estimand",
        of_whole,
    ),
    "idiosyncrasy": Excerpt(
        "Biases beyond ordinary preference",
        "Estimand C: the gap between a judge's own cell and the value expected from judge and"
        " model, where each judge has a spread and use of the scale of its own.",
        f"{BIAS} estimate {INTERVAL} p_value shrunk probability_positive missing cells reason",
        lambda row: of_whole(row) and row["spec"] == "main",
    ),
    "pooled": Excerpt(
        "Mean bias over judges and families",
        "Estimand C: biases taken as draws around a mean, with standard deviation tau; then without"
        " each judge or family in turn. “weight” is that of the one left out in the mean of all.",
        f"quantity left_out weight biases estimate {INTERVAL} p_value "
        "tau unweighted unweighted_ci_low unweighted_ci_high favouring_at_least reason",
        lambda row: of_whole(row) and row["spec"] == "main",
    ),
    "wordings": Excerpt(
        "Biases over wordings of the rubric",
        "Of each robustness check, intervals over prompts and wordings, and (one_) for those that"
        " were asked; the standard deviation of a bias from wording to wording, and of its estimate"
        " from replicate to replicate; the standard error with twice as many prompts, wordings or"
        " replicates.",
        f"check {BIAS} wordings replicates estimate {INTERVAL} p_value one_ci_low one_ci_high"
        " sd_wordings sd_replicates std_error twice_prompts twice_wordings twice_replicates note",
    ),
    "identifiability": Excerpt(
        "What identifies the biases",
        "The judge × model cells that identify each bias, and those it is compared with.",
        f"spec {BIAS} n_term words reason tied_to",
        of_whole,
    ),
    "not_estimable": Excerpt(
        "Not estimable",
        "Terms, slices and specs that these ratings do not determine, except specs that drop models"
        " the study does not have.",
        f"spec slice {BIAS} reason",
        lambda row: parse(row["reason"])[1].get("kind") != "model",
    ),
    "remarks": Excerpt("Remarks", "Notes on the estimates.", "spec slice remark"),
    "recovery": Excerpt(
        "Planted and estimated biases",
        "The data are simulated: the planted value of each bias, its estimate, and whether the"
        " interval contains it. For ratings, whether it contains the expected value: what the"
        " estimate is on average, as humans score with error and judges have preferences.",
        f"spec slice {GROUP} judge {BIAS} planted expected estimate {INTERVAL} inside",
        lambda row: row["quantity"] not in ("intercept", "slope"),
    ),
    "choices": Excerpt(
        "What judges and humans choose",
        "Share of comparisons in which an answer of this kind wins, by judge and humans, and the"
        " difference. Draws are half a win, or left out.",
        f"quantity term model draws judge_share human_share estimate {INTERVAL} p_value n"
        " questions",
    ),
    "gold": Excerpt(
        "Own answers, right and wrong",
        "How often a judge prefers (or passes, or fails) its own answers, what each baseline"
        " expects, and the contrast: a difference of shares, or the log of a ratio. The verdict is"
        " in the row of the baseline “both”.",
        f"case quantity term baseline share baseline_share estimate {INTERVAL} p_value log_odds "
        "n questions verdict detectable reason",
    ),
    "strengths": Excerpt(
        "Models ranked by the verdicts",
        "Share of verdicts that would choose a model over an average one: as the verdicts are;"
        " without own, family and position terms; and at equal length. All true ranks lie in “rank"
        " from” to “rank to” at once.",
        "scores model win_rate win_rate_low win_rate_high rank rank_low rank_high note",
        coded="note",
    ),
    "label_noise": Excerpt(
        "If human labels are wrong",
        "The same differences, if this share of the human labels is wrong (“votes”: as single human"
        " votes disagree), and the share from which the interval leads to another conclusion.",
        f"quantity term origin flip_rate agreement estimate {INTERVAL} changes_at",
    ),
    "verbosity": Excerpt(
        "Verbosity bias",
        "How much more often verdicts disagree with humans who prefer the shorter answer than with"
        " others. Wrong human labels alone make it large; the table of choices says whether a judge"
        " chooses longer answers more often than humans do.",
        f"{GROUP} judge order draws verbosity_bias {INTERVAL} n_shorter n_longer",
    ),
    "position": Excerpt(
        "Position",
        "How far verdicts follow the place of an answer; 0.5 is no preference for the answer shown"
        " first. For comparisons in a single order, drawn at random: the shares for the answer"
        " shown first, the longer and the judge's own.",
        f"{GROUP} judge statistic value {INTERVAL} n",
    ),
    "agreement": Excerpt(
        "Agreement with the humans",
        "Agreement of the judges with the human labels, or of the human raters with one another.",
        f"{GROUP} dimension judge order statistic value {INTERVAL} n",
    ),
    "cognitive_biases": Excerpt(
        "Cognitive biases",
        "Share of comparisons that show each bias, and the share that two random choices give. For"
        " a judge with ties or errors, chance is less.",
        f"experiment bias judge origin share {INTERVAL} n random chance above_random",
    ),
    "asr": Excerpt(
        "Attack success",
        "Share of samples in which a perturbation of the other answer wins the judge over.",
        f"{GROUP} judge asr {INTERVAL} n rank",
    ),
    "votes_by_position": Excerpt(
        "Votes by place",
        "Shares of votes for the answer shown first, a tie, and the answer shown second.",
        f"experiment judge first tie second difference {INTERVAL} n",
    ),
    "length_confound": Excerpt(
        "Change of the answers' length",
        "How much longer a perturbation makes the words of an answer, by level of Bloom's taxonomy,"
        " and the share of answers that become longer. A perturbation that makes answers longer may"
        " win by that.",
        f"perturbation level relative_change {INTERVAL} longer n",
        lambda row: (row["answers"], row["unit"]) == ("perturbed", "words"),
    ),
    "rbo": Excerpt(
        "Overlap of rankings",
        "Rank-biased overlap with the annotators' rankings, and how far it exceeds that of the"
        " listing order.",
        f"statistic form systems judge value above_list {INTERVAL} rankings",
    ),
    "scorecard": Excerpt(
        "Published values that differ",
        "The paper's values and this study's. Deviations are in units of the tolerance.",
        "figure spec slice quantity term model published ours deviation cause",
        lambda row: row["verdict"] == "differs" and row["item"] != "claim",
    ),
    "claims": Excerpt(
        "Claims",
        "Results that the paper states, in this project's words, and how they are interpreted.",
        "section sentence criterion verdict published evidence",
    ),
    "check": Excerpt(
        "What the ratings support",
        "Checked before any fit, with advice.",
        "topic subject level words advice",
        lambda row: row["level"] != "fine" or row["topic"] == "verdict",
    ),
    "collected": Excerpt(
        "What judges were asked",
        "Requests to each judge, its ratings or verdicts, why others are missing, and what the"
        " servers counted.",
        "judge requests answered repaired ratings refusal truncated off_the_scale unreadable"
        " not_answered tokens_in tokens_out money",
    ),
    "imported": Excerpt(
        "What was imported",
        "Rows read from each file, and rows that are no rating or verdict by kind, with an"
        " example.",
        "file kind n example",
    ),
    "completeness": Excerpt(
        "Completeness",
        "How many ratings, or comparisons, each judge should have given, and which are missing.",
        f"dimension {GROUP} judge model prompts absent missing_rating missing_gt missing_length "
        "used comparisons verdicts errors one_order no_human no_length",
    ),
}
# For a study without human scores, these replace the above.
EXCERPTS_WITHOUT_HUMAN_SCORES = {
    "main": replace(
        EXCERPTS["main"],
        title="Self- and family-bias against the other judges",
        words=(
            "Gap to what the other judges give the same models (estimand B), in points of the unit"
            " scale. “Own rows” are the ratings that identify the bias."
        ),
    ),
}
MOST = 60  # rows of a table on a page; a longer one is a link
DECIMALS = 4
SMALLEST_P = 1e-4
# Columns of names, even if these are digits.
TEXTS = {
    "prompt_id",
    "dataset",
    "judge",
    "model",
    "term",
    "spec",
    "slice",
    "dimension",
    "experiment",
    "systems",
    "figure",
    "section",
}
# Columns of codes, whose underscores are spaces to a reader; other columns may hold users' names
CODES = {
    "quantity",
    "statistic",
    "bias",
    "scores",
    "condition",
    "draws",
    "first",
    "conclusion",
    "family_ratings",
}
QUANTITIES = {"self_bias": "self-bias", "family_bias": "family-bias"}
ENDLESS = {"inf": "∞", "-inf": "−∞"}


def shown(
    name: str,
    excerpt: Excerpt,
    rows: Iterable[Row],
    file: str,
    words: Mapping[str, Mapping[str, str]],
) -> dict[str, object]:
    """What a page shows of the table `name`: columns with some value, and the excerpt's rows, but
    for those of a file with more than MOST.

    rows: texts; file: the CSV file, next to the page, "" if the rows are from several; words: what
    stands for a name, by column. `headings`
    are words, and whether the column holds numbers; cells of `rows` are pairs of text and, if
    rounded, the full value; `count` is of all rows.
    """
    kept = [row for row in rows if excerpt.rows(row)]
    columns = [column for column in excerpt.columns.split() if any(row.get(column) for row in kept)]
    numeric = {
        column: column not in TEXTS and all(_is_number(row[column]) for row in kept if row[column])
        for column in columns
    }
    return {
        "name": name,
        "title": excerpt.title,
        "words": excerpt.words,
        "headings": [
            (HEADINGS.get(column, column.replace("_", " ")), is_numeric)
            for column, is_numeric in numeric.items()
        ],
        "rows": [
            [_cell(column, row, numeric, excerpt.coded, words) for column in columns]
            for row in (kept if len(kept) <= MOST or not file else [])
        ],
        "count": len(kept),
        "file": file,
    }


def _is_number(text: str) -> bool:
    """True for what Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def in_figures(text: str, *, is_p: bool = False) -> str:
    """A number of a CSV file for a reader: four decimals, commas between thousands, and a lower
    limit for p-values.
    """
    value = float(text)
    if is_p and value < SMALLEST_P:
        return "< 0.0001"
    if text.lstrip("-").isdigit():
        return f"{value:,.0f}".replace("-", "−")
    return number(value, DECIMALS) if isfinite(value) else ENDLESS.get(text, text)


def _cell(
    column: str,
    row: Row,
    numeric: Mapping[str, bool],
    coded: str,
    words: Mapping[str, Mapping[str, str]],
) -> tuple[str, str]:
    """What is shown of a cell, and the full value of a rounded number."""
    text = row[column]
    if text and numeric[column]:
        rounded = in_figures(text, is_p=column == "p_value")
        return rounded, "" if rounded == text else text
    names = words.get(column, QUANTITIES if column == "quantity" else {})
    if text in names:
        return names[text], ""
    if column == coded:
        return in_words(text), ""
    return text.replace("_", " ") if column in CODES else text, ""
