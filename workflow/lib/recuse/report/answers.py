"""The answer to a study of ratings: the verdict on each judge, whether the judges track the humans, and what to do."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import nan

from recuse.base.words import capitalised, enumerated, level, number
from recuse.check.facts import STOP, WARNING
from recuse.data.describe import PEARSON, WEIGHTED_KAPPA
from recuse.data.registry import HUMAN, NO_HUMAN_SCORE
from recuse.inference.verdict import BEYOND, ESTABLISHED, NO_OWN_ANSWERS, SUGGESTIVE
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import BIASES
from recuse.report.gold import points_on_gold
from recuse.report.panel import panel_section
from recuse.report.verdict import Answer, Rows, Section, Unit, headline, shown, unit_of

SELF, FAMILY = BIASES
QUESTION = "Do these judges favour their own answers?"
OF_FAMILIES = "Do these judges favour their family's answers?"  # where none rates its own
MOST_CAVEATS = 3
WEAK = (
    "“Suggestive” is weak evidence: in simulated worlds without any self-bias, where judges merely prefer some models to "
    "others, about half of the judges get it. “Established” is given to any judge in at most 12 % of these (at 90 %)."
)
WEAK_OF_FAMILIES = (
    "“Suggestive” is weak evidence: one of the questions finds a bias, and ordinary preferences, or chance among many "
    "families, may be all there is."
)
NO_TRUTH = (
    "No row has a human score, so there is no way to know who is right: a judge that is right where the others are wrong looks "
    "the same as a biased one."
)
AMONG_JUDGES = "Compared with the other judges alone. "
SCORE = "Have people score some of the answers: only then can a biased judge be told from one that is right."


def answer_of_ratings(
    tables: Mapping[str, Rows], *, confidence: float, scales: Mapping[str, object], first: str = "main", relative: bool = False
) -> Answer:
    """Say what the tables of a study of ratings answer.

    tables: rows, as texts, of `verdicts` and, where they exist, of `pooled`, `wordings`, `correlations`, `main` (the estimates
    of the first spec), `mean_scores`, `leaderboard`, `panel`, `round_robin` and `check`. scales: of each dimension,
    [lowest, highest] or `observed`. first: the spec whose leaderboard counts; relative: no row has a human score.
    """
    unit, verdicts = unit_of(scales), tables["verdicts"]
    of_judges, of_families = ([row for row in verdicts if row["quantity"] == quantity] for quantity in BIASES)
    return Answer(
        question=QUESTION if of_judges or not of_families else OF_FAMILIES,
        headline=(AMONG_JUDGES if relative and any(row["question"] for row in verdicts) else "")
        + headline(of_judges, unit, beside=of_families),
        verdicts=shown(verdicts, unit),
        unit=unit.name,
        pooled=next(_pooled(_over_wordings(tables), unit, confidence), ""),
        wordings=_wordings(verdicts),
        tracking=None if relative else _tracking(tables, confidence),
        leaderboard=_leaderboard(tables, first, confidence),
        panel=panel_section(tables.get("panel", ()), tables.get("round_robin", ()), unit, confidence),
        caveats=[
            *([NO_TRUTH] if relative else []),
            *([WEAK if of_judges else WEAK_OF_FAMILIES] if any(row["verdict"] == SUGGESTIVE for row in verdicts) else []),
            *_without(tables.get("pooled", ()), unit),
            *_warnings(tables.get("check", ())),
        ][:MOST_CAVEATS],
        next_steps=[*([SCORE] if relative else []), *_next_steps(verdicts)],
        points=[*points_on_gold(tables.get("gold", ()), confidence)],
    )


ASKED = ", in the wordings asked"  # for which the plain mean of these judges holds
ONE_WORDING = "The verdicts hold for the wording of the rubric by which these judges were asked: another may move them."
TWO_WORDINGS = "two say little about others, so that intervals are very wide: ask by three or more"


def _wordings(verdicts: Rows) -> str:
    """For which wordings of the rubric the verdicts hold; "" if no verdict has a number."""
    numbers = {row["term"]: int(row["wordings"]) for row in verdicts if row["wordings"]}
    if not numbers:
        return ONE_WORDING if any(row["question"] for row in verdicts) else ""
    most = max(numbers.values())
    alone = [term for term, number in numbers.items() if number == 1]
    parts = [f"Verdicts and intervals are over wordings of the rubric, by {most} of which the judges were asked"]
    parts += [TWO_WORDINGS] if most == 2 else []
    parts += [f"those of {enumerated(alone, most=5)} hold for one wording only"] if alone else []
    return f"{'; '.join(parts)}."


def _over_wordings(tables: Mapping[str, Rows]) -> Rows:
    """The rows of the table of pooled biases; the mean self-bias has its interval over wordings, if there is one."""
    ends = ("ci_low", "ci_high")
    of_mean = [row for row in tables.get("wordings", ()) if (row["quantity"], row["term"]) == (SELF, ALL_JUDGES)]
    of_whole = {row["spec"]: {end: row[end] for end in ends} | {"asked": ASKED} for row in of_mean if row["ci_low"]}
    pooled = tables.get("pooled", ())
    whole = [not row["slice"] and not row["left_out"] and row["quantity"] == SELF for row in pooled]
    return [{**row, **of_whole.get(row["spec"], {})} if is_whole else row for row, is_whole in zip(pooled, whole, strict=True)]


def _pooled(rows: Rows, unit: Unit, confidence: float) -> Iterator[str]:
    """The mean self-bias of judges like these, with its interval, and the plain mean of these judges."""
    for row in rows:
        if (row["spec"], row["slice"], row["quantity"], row["left_out"]) != ("main", "", SELF, ""):
            continue
        if not row["estimate"]:
            yield f"No average over judges can be estimated: {row['reason'].removeprefix('not estimable: ')}."
            continue
        whole = f"{unit.text(row['estimate'])}{unit.mark} ({level(confidence)} interval {unit.span(row)})"
        plain = f"{unit.text(row['unweighted'])}{unit.mark} ({unit.span(row, 'unweighted_')})"
        verb = "excludes" if _side(row) else "includes"
        yield f"Average self-bias beyond ordinary preference: {whole} for judges like these, which {verb} 0; {plain} for " + (
            f"these {row['biases']} alone{row.get('asked', '')}."
        )


def _side(row: Mapping[str, str]) -> int:
    """1 for an interval above 0, -1 for one below, else 0."""
    return bool(row["ci_low"]) and (float(row["ci_low"]) > 0) - (float(row["ci_high"]) < 0)


def _without(rows: Rows, unit: Unit) -> Iterator[str]:
    """A caveat on the judges without whom the conclusion on the mean changes."""
    rows = [row for row in rows if (row["spec"], row["slice"], row["quantity"]) == ("main", "", SELF) and row["estimate"]]
    whole = [row for row in rows if not row["left_out"]]
    changed = [row for row in rows if row["left_out"] and _side(row) != _side(whole[0])] if whole else []
    if changed:
        names = enumerated([f"{row['left_out']} ({unit.text(row['estimate'])}, {unit.span(row)})" for row in changed], most=3)
        yield f"The average depends on single judges: its conclusion changes without {names}."


def _warnings(check: Rows) -> Iterator[str]:
    """The warnings of the check, most important first, one of each topic."""
    first: dict[str, Mapping[str, str]] = {}
    for row in check:
        elsewhere = row["topic"] in ("verdict", "ordinary preference") or NO_HUMAN_SCORE in row["words"].lower()
        if row["level"] in (STOP, WARNING) and not elsewhere:
            first.setdefault(row["topic"], row)
    for row in first.values():
        yield f"{capitalised('; '.join(filter(None, (row['words'], row['advice']))))}."


def _next_steps(verdicts: Rows) -> Iterator[str]:
    """What to do about the judges that have a verdict with a cure, and how to learn more."""

    def of(verdict: str) -> str:
        names = [row["term"] for row in verdicts if row["verdict"] == verdict and row["quantity"] == SELF]
        return (
            f"the ratings that {enumerated(names)} {'gives its' if len(names) == 1 else 'give their'} own answers"
            if names
            else ""
        )

    if ratings := of(ESTABLISHED):
        yield f"Leave out {ratings}, or use the debiased scores (debiased.parquet)."
    if ratings := of(SUGGESTIVE):
        yield f"Do not rely on {ratings} until more judges or models settle it."
    reasons = {row["reason"] for row in verdicts if row["quantity"] == SELF}
    if reasons == {NO_OWN_ANSWERS}:
        yield "Have the judges rate answers of their own models too: without these nothing can be said of a self-bias."
    elif any(row["question"] == BEYOND or row["missed"] for row in verdicts):
        yield "To find smaller biases, add models and judges rather than prompts."
    else:
        yield "Add judges and models of other families: without them nothing can be said beyond ordinary preference."


def _tracking(tables: Mapping[str, Rows], confidence: float) -> Section | None:
    """How well each judge follows the human scores, over all dimensions, and ranks the models as they do."""
    rows = [row for row in tables.get("correlations", ()) if not row["dimension"]]
    of_judge = {row["judge"]: row for row in rows if row["statistic"] == PEARSON}
    if not of_judge:
        return None
    kappas = {row["judge"]: row["value"] for row in rows if row["statistic"] == WEIGHTED_KAPPA}
    slopes = {row["term"]: row for row in tables.get("main", ()) if row["quantity"] == "slope" and not row["slice"]}
    pairs = _pairs_in_order(tables.get("mean_scores", ()))
    table = []
    for judge, row in sorted(of_judge.items(), key=lambda item: -float(item[1]["value"] or -1)):
        slope = _with_interval(slopes[judge], "estimate") if judge in slopes else ""
        table.append([judge, _with_interval(row, "value"), _two(kappas.get(judge, "")), slope, pairs.get(judge, "")])
    astray = [judge for judge, row in of_judge.items() if not row["value"] or _side(row) <= 0]
    values = [float(row["value"]) for row in of_judge.values() if row["value"]] or [nan]
    lowest, highest = (number(end(values), 2) for end in (min, max))
    words = f"correlations run from {lowest} to {highest}" if len(values) > 1 else f"the correlation is {lowest}"
    if astray:
        names = enumerated(astray, most=5)
        sentence = f"{names} {'does' if len(astray) == 1 else 'do'} not follow the human scores, so that nothing is said of "
        sentence += f"{'it' if len(astray) == 1 else 'them'} against humans; {words}."
    else:
        sentence = (
            f"{'The judge follows' if len(values) == 1 else f'All {len(values)} judges follow'} the human scores: {words}."
        )
    headings = [
        "judge",
        f"correlation ({level(confidence)} interval)",
        "weighted kappa",
        "slope",
        "pairs of models ordered as by humans",
    ]
    return Section("Do the judges track the humans?", sentence, headings, table)


def _with_interval(row: Mapping[str, str], value: str) -> str:
    ends = f" ({_two(row['ci_low'])} to {_two(row['ci_high'])})" if row["ci_low"] else ""
    return f"{_two(row[value]) or '–'}{ends}"


def _two(value: str | float) -> str:
    return "" if value == "" else number(float(value), 2)


def _pairs_in_order(mean_scores: Rows) -> dict[str, str]:
    """Of each judge, the share of pairs of models whose mean scores it orders as the humans do; {} without human scores."""
    means: dict[str, dict[str, float]] = {}
    for row in (row for row in mean_scores if not row["dimension"]):
        means.setdefault(row["judge"], {})[row["model"]] = float(row["mean"])
    human, shares = means.pop(HUMAN, {}), {}
    for judge, of_models in means.items():
        pairs = list(combinations(sorted(of_models.keys() & human.keys()), 2))
        alike = sum((of_models[one] - of_models[two]) * (human[one] - human[two]) > 0 for one, two in pairs)
        if pairs:
            shares[judge] = f"{alike} of {len(pairs)}"
    return shares


def _leaderboard(tables: Mapping[str, Rows], first: str, confidence: float) -> Section | None:
    """One row a model: its rank and score before and after the biases are removed, and by the humans."""
    rows = [row for row in tables.get("leaderboard", ()) if (row["spec"], row["slice"]) == (first, "") and row["rank"]]
    raw, debiased = ({row["model"]: row for row in rows if row["scores"] == kind} for kind in ("raw", "debiased"))
    models = sorted(raw.keys() & debiased.keys(), key=lambda model: int(debiased[model]["rank"]))
    if len(models) < 2:
        return None
    human = {
        row["model"]: float(row["mean"])
        for row in tables.get("mean_scores", ())
        if (row["judge"], row["dimension"]) == (HUMAN, "")
    }
    by_humans = {model: 1 + sum(other > mean for other in human.values()) for model, mean in human.items()}
    before, after = (
        {model: 1 + sum(int(board[other]["rank"]) < int(board[model]["rank"]) for other in models) for model in models}
        for board in (raw, debiased)
    )
    table = []
    for model in models:
        up, row = before[model] - after[model], debiased[model]
        ranks = f"{row['rank_low']} to {row['rank_high']}" if row["rank_low"] else ""
        arrow = f"▲ {up}" if up > 0 else f"▼ {-up}" if up < 0 else "–"
        score = [number(float(board[model]["score"]), 3) for board in (raw, debiased)]
        table.append([str(after[model]), model, *score, ranks, arrow, str(by_humans.get(model, ""))])
    moved = sum(before[model] != after[model] for model in models)
    top, old = (enumerated([model for model in models if ranks[model] == 1]) for ranks in (after, before))
    who = f"{moved or 'None'} of {len(models)} models {'changes' if moved == 1 else 'change'} rank"
    which = "with and without them" if top == old else f"instead of {old}"
    within = all(
        int(debiased[model]["rank_low"] or 0) <= before[model] <= int(debiased[model]["rank_high"] or 0) for model in models
    )
    certain = ", within the ranks that other prompts might give" if moved and within else ""
    sentence = f"{who} when the estimated biases are removed{certain}; {top} is first {which}."
    headings = ["rank", "model", "raw score", "debiased score", f"rank range ({level(confidence)})", "change", "rank by humans"]
    columns = len(headings) if by_humans else len(headings) - 1
    return Section("Does the ranking of models change?", sentence, headings[:columns], [row[:columns] for row in table])
