"""The tables of a report, in the order of the page: of each the columns, rows and numbers as one reads them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from recuse.base.words import number
from recuse.model.estimable import missing
from recuse.model.spec import BIASES

Row = Mapping[str, str]


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a table: its title, a sentence, columns of the CSV file, of which rows, and what of each."""

    title: str
    words: str
    columns: str
    rows: Callable[[Row], bool] = lambda row: True
    row: Callable[[Row], Row] = lambda row: row  # the part of a row that is shown, if not all of it


def of_whole(row: Row) -> bool:
    """True for a row of a self- or family-bias in the whole study."""
    return row["quantity"] in BIASES and not row["slice"]


def of_models_there(row: Row) -> bool:
    """False for a spec that leaves out models which the study does not have: it is about other data."""
    return not row["reason"].startswith(missing("models_dropped", ()))


# Of columns whose name in the file is not the heading over them.
HEADINGS = {
    "quantity": "bias", "term": "judge or family", "estimate": "gap", "ci_low": "from", "ci_high": "to", "p_value": "p",
    "n": "of", "n_term": "own rows", "first": "the first check says", "conclusion": "this check says", "words": "in words",
    "rank_low": "rank from", "rank_high": "rank to", "change": "change by debiasing", "reason": "why not",
    "inside": "planted value inside", "verbosity_bias": "bias", "draws": "draws are", "n_shorter": "shorter preferred",
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
        "Gap to the human scale in points of the unit scale. “Own rows” are the ratings that carry the bias.",
        f"{BIAS} estimate {INTERVAL} p_value n_term n",
        of_whole,
    ),
    "conclusions": Excerpt(
        "What becomes of each conclusion",
        "Each check asks another question of the same bias; what the first says is held against it.",
        f"{BIAS} check estimate {INTERVAL} p_value first conclusion verdict words",
        of_whole,
    ),
    "leaderboard": Excerpt(
        "Models ranked, with and without the biases",
        "Mean score over judges on the unit scale: raw; with the estimated biases taken off (debiased); without what judges "
        "give themselves; without what they give their families. All true ranks lie in “rank from” to “rank to” at once.",
        f"scores model score {INTERVAL} rank rank_low rank_high change note",
        lambda row: not row["slice"] and row["spec"] == "main",
        lambda row: row if row["scores"] == "debiased" else {**row, "change": ""},
    ),
    "estimates": Excerpt(
        "Self- and family-bias by every spec",
        "Of all ratings together; estimates by dimension, dataset or task type are in the files below.",
        f"spec {BIAS} estimate {INTERVAL} p_value estimand",
        of_whole,
    ),
    "idiosyncrasy": Excerpt(
        "Biases beside ordinary preference",
        "Estimand C: how far a judge's own cell stands out from what the judge and the model lead one to expect.",
        f"{BIAS} estimate {INTERVAL} p_value cells reason",
        lambda row: of_whole(row) and row["spec"] == "main",
    ),
    "identifiability": Excerpt(
        "What the biases rest on",
        "The judge × model cells that carry each bias, and those it is set against.",
        f"spec {BIAS} n_term words tied_to",
        of_whole,
    ),
    "not_estimable": Excerpt(
        "Not estimable",
        "Terms, slices and specs that these ratings do not determine; not those that leave out models which are not there.",
        f"spec slice {BIAS} reason",
        of_models_there,
    ),
    "remarks": Excerpt("Remarks", "What a reader of the estimates is to know.", "spec slice remark"),
    "recovery": Excerpt(
        "What was planted and what was found",
        "The data are simulated: of each bias the planted value, the estimate, and whether the interval holds it.",
        f"spec slice {GROUP} judge {BIAS} planted estimate {INTERVAL} inside",
        lambda row: row["quantity"] not in ("intercept", "slope"),
    ),
    "verbosity": Excerpt(
        "Verbosity bias",
        "How much more often verdicts part from the humans where these prefer the shorter answer.",
        f"{GROUP} judge order draws verbosity_bias {INTERVAL} n_shorter n_longer",
    ),
    "position": Excerpt(
        "Position",
        "How far verdicts follow the place of an answer; 0.5 is no preference for the answer shown first. Of comparisons in a "
        "single order, drawn at random, the shares for the answer shown first, the longer and the judge's own.",
        f"{GROUP} judge statistic value {INTERVAL} n",
    ),
    "agreement": Excerpt(
        "Agreement with the humans",
        "Of the judges with the human labels, or of the human raters with each other.",
        f"{GROUP} dimension judge order statistic value {INTERVAL} n",
    ),
    "cognitive_biases": Excerpt(
        "Cognitive biases",
        "Share of comparisons that show each bias, beside what two random choices give. Of a judge that now and then "
        "calls a tie, or errs, chance is less.",
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
    "rbo": Excerpt(
        "Overlap of rankings",
        "Rank-biased overlap with the annotators' rankings, and how far it is above that of the order of listing.",
        f"statistic form systems judge value above_list {INTERVAL} rankings",
    ),
    "scorecard": Excerpt(
        "Published values that differ",
        "What the paper prints beside what is found here. Deviations are in units of the tolerance.",
        "figure spec slice quantity term model published ours deviation cause",
        lambda row: row["verdict"] == "differs" and row["item"] != "claim",
    ),
    "claims": Excerpt(
        "Claims",
        "Sentences of the paper in this project's words, and what they are taken to mean.",
        "section sentence criterion verdict published evidence",
    ),
    "check": Excerpt(
        "What the ratings support",
        "Found before any fit, with what would help.",
        "topic subject level words advice",
        lambda row: row["level"] != "fine" or row["topic"] == "verdict",
    ),
    "imported": Excerpt(
        "What was imported",
        "Rows of each file, and of each kind that is no rating or verdict, with an example.",
        "file kind n example",
    ),
    "completeness": Excerpt(
        "Completeness",
        "How many ratings, or comparisons, each judge was to give, and what is missing of them.",
        f"dimension {GROUP} judge model prompts absent missing_rating missing_gt missing_length "
        "used comparisons verdicts errors one_order no_human no_length",
    ),
}
# Of a study without human scores, in the place of those above.
EXCERPTS_WITHOUT_HUMAN_SCORES = {
    "main": replace(
        EXCERPTS["main"],
        title="Self- and family-bias against the other judges",
        words="Gap to what the other judges give the same models (estimand B), in points of the unit scale. “Own rows” are the "
        "ratings that carry the bias.",
    ),
    "leaderboard": replace(
        EXCERPTS["leaderboard"],
        words=f"{EXCERPTS['leaderboard'].words} The biases are gaps to the other judges (estimand B).",
        rows=lambda row: not row["slice"],
    ),
}
MOST = 200  # rows that a page holds of one table
FEW = 40  # rows: a longer table is folded up
DECIMALS = 4
SMALLEST_P = 1e-4
# Columns of names, be they of digits.
TEXTS = {"judge", "model", "term", "spec", "slice", "dimension", "experiment", "systems", "figure", "section"}
KEYS = {"statistic", "bias", "scores", "condition", "draws"}  # columns of words with underscores
QUANTITIES = {"self_bias": "self-bias", "family_bias": "family-bias"}
ENDLESS = {"inf": "∞", "-inf": "−∞"}


@dataclass(frozen=True)
class Shown:
    """A table as a page shows it."""

    name: str
    title: str
    words: str
    headings: Sequence[tuple[str, bool]]  # the words, and whether the column holds numbers
    rows: Sequence[Sequence[tuple[str, str]]]  # of each cell what is shown and, if it says more, the whole value
    count: int  # of rows that there are
    file: str  # beside the page; "" if the rows are of several

    @property
    def folded(self) -> bool:
        """True for a table that is opened on demand."""
        return len(self.rows) > FEW


def shown(name: str, excerpt: Excerpt, rows: Iterable[Row], file: str) -> Shown:
    """What a page shows of the table `name`, rows of texts, whose CSV file is `file` beside the page.

    Columns without a value are left out, and rows after the first MOST.
    """
    kept = [excerpt.row(row) for row in rows if excerpt.rows(row)]
    columns = [column for column in excerpt.columns.split() if any(row.get(column) for row in kept)]
    numeric = {column: column not in TEXTS and all(is_number(row[column]) for row in kept if row[column]) for column in columns}
    headings = [(HEADINGS.get(column, column.replace("_", " ")), numbers) for column, numbers in numeric.items()]
    cells = [[_cell(column, row[column], numbers) for column, numbers in numeric.items()] for row in kept[:MOST]]
    return Shown(name, excerpt.title, excerpt.words, headings, cells, len(kept), file)


def is_number(text: str) -> bool:
    """True for what Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def in_figures(text: str, *, is_p: bool = False) -> str:
    """A number of a CSV file as one reads it: four decimals, thousands apart, a p-value no smaller than one believes."""
    value = float(text)
    if is_p and value < SMALLEST_P:
        return "< 0.0001"
    if text.lstrip("-").isdigit():
        return f"{value:,.0f}".replace("-", "−")
    return number(value, DECIMALS) if isfinite(value) else ENDLESS.get(text, text)


def _cell(column: str, text: str, is_numeric: bool) -> tuple[str, str]:
    """What is shown of a cell, and the whole of a number that is rounded."""
    if text and is_numeric:
        rounded = in_figures(text, is_p=column == "p_value")
        return rounded, "" if rounded == text else text
    if column == "quantity":
        return QUANTITIES.get(text, text), ""
    return text.replace("_", " ") if column in KEYS else text, ""
