"""Which panel to take: panels of each size tried, the best of them, how these do on other prompts, and their price."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.base.errors import check_known
from recuse.base.reasons import Reason, code
from recuse.inference.judge_errors import JudgeErrors
from recuse.inference.panel import FEW_FOLDS, KEPT, LEFT_OUT, Panels, independent_judges, jackknife_error, leave_one_out
from recuse.inference.verdict import Verdict
from recuse.model.least_squares import quantile
from recuse.model.spec import BIASES

HUMANS, JUDGES = "humans", "judges outside the model's family"  # the reference
BIAS, ERROR = "bias_left", "error"  # by which a panel is the best of its size
PURPOSES = {BIAS: "models", ERROR: "answers"}  # what the best panel is for: to compare models, or to score single answers
MOST_PANELS = 6_000  # of one size; if there are more, only those that add a judge to one of the best of the size below
MOST_LISTED = 150  # of one size, in the table, beside the best and the last
BETWEEN = "; "  # names of judges
NO_LEVELS = "no two judges are linked by a chain of shared answers"
UNLINKED = "too few shared answers link this judge's level to the others'"
NOT_RATED = "fewer than {least} ratings count for some model, or on answers that two of the judges share"
NOT_ALL = "only panels that add a judge to one of the best of the size below were tried"
EXACT = "human scores taken as exact: errors may be smaller and judges more independent"
AMONG_JUDGES = "assumes that judges err independently; what all of them get wrong does not show"
WITHOUT_RATINGS = (Reason.NO_OWN_ANSWERS, Reason.NO_SIBLINGS)  # there is nothing to leave out


def panel_rows(
    errors: JudgeErrors | None,
    verdicts: Iterable[Mapping],
    *,
    judges: int,
    least: int,
    confidence: float,
    prices: Mapping[str, float] | None = None,
) -> list[dict]:
    """The rows of the table of panels: by whether family ratings are kept, size, and place by bias.

    bias_left: root mean square over models of the panel's bias, each less the mean over models; error: root mean square of the
    errors of answers. best: whether this panel has the least bias of its size, the least error, or both. held_out: of
    panels chosen so on half of the prompts, by the other half. recommended: for models or for answers, see
    `recommended`. Intervals are those of the best panels and of single judges. verdicts: rows of the table of verdicts. judges:
    of the largest panel, beside that of all; prices: money for a judge's rating.
    Raises ConfigError about a price of a judge that the study does not have.
    """
    if errors is None:
        return [{"note": NO_LEVELS}]
    options = [Panels(errors, kept, least) for kept in (KEPT, LEFT_OUT)]
    rows = [row for each in options for row in _rows_of(each, judges, confidence)]
    verdicts = list(verdicts)
    doubted, disagreeing = doubted_judges(errors, verdicts), set()
    for row in verdicts:
        if code(row.get("note", "")) is Reason.DISAGREES_WITH_PEOPLE:
            disagreeing.add(row["term"])
    advisable = []
    for row in rows:
        unfit = disagreeing if row["family_ratings"] == LEFT_OUT else disagreeing | doubted
        if not unfit & {*row.get("panel", "").split(BETWEEN)}:
            advisable.append(row)
    for name, purpose in PURPOSES.items():
        choice = recommended(advisable, name, confidence=confidence)
        if choice is not None:
            choice["recommended"] = " ".join(filter(None, (choice.get("recommended"), purpose)))
    if prices:
        names = [*errors.crossing.judges.tolist(), *errors.left_out]
        check_known("prices", prices, names, "judges of the study")
        _put_prices(rows, errors, prices)
    return rows + [{"panel": name, "size": 1, "note": UNLINKED} for name in errors.left_out]


def doubted_judges(errors: JudgeErrors, verdicts: Iterable[Mapping]) -> set[str]:
    """Judges whose ratings of their own or their family's answers should be left out.

    Those are the ones with a verdict other than `not shown` on their self-bias or their family's bias.
    """
    crossing, doubted = errors.crossing, set()
    for row in verdicts:
        if row["verdict"] != Verdict.NOT_SHOWN and code(row.get("reason", "")) not in WITHOUT_RATINGS:
            if row["quantity"] == BIASES[0]:
                doubted.add(row["term"])
            elif row["quantity"] == BIASES[1]:
                doubted |= {*crossing.judges[crossing.related[crossing.family == row["term"]].any(axis=0)].tolist()}
    return doubted


def recommended(rows: Sequence[dict], name: str, *, confidence: float) -> dict | None:
    """The smallest panel, of the best of their size in `name`, with a mean square within a standard error of the least.

    By held-out prompts, where there are enough, as the best of many looks better than it is. Of two of one size, the better.
    None if no row has a best. Source: the one-standard-error rule of Breiman et al. (1984), section 3.4.3.
    """
    best = [row for row in rows if name in row.get("best", "").split()]
    if not best:
        return None
    held_out = [row for row in best if f"held_out_{name}" in row]
    best, key = (held_out, f"held_out_{name}") if held_out else (best, name)
    least, margin = min(best, key=lambda row: row[key]), 0.0
    if f"{name}_ci_high" in least:
        margin = (least[f"{name}_ci_high"] ** 2 - least[name] ** 2) / quantile(confidence)
    within = [row for row in best if row[key] ** 2 <= least[key] ** 2 + margin]
    return min(within, key=lambda row: (row["size"], row[key]))


def larger(best: np.ndarray) -> np.ndarray:
    """The panels with one judge more than one of the best, each once."""
    more = (best[:, None] | np.eye(best.shape[1], dtype=bool)).reshape(-1, best.shape[1])
    return np.unique(more[more.sum(axis=1) > best[0].sum()], axis=0)[::-1]


@dataclass(frozen=True)
class Tried:
    """The panels of one size that were tried, n, with mean squares of bias and error, NaN where they are not estimable."""

    panels: np.ndarray  # (n, J) of bool
    squares: Mapping[str, np.ndarray]  # BIAS and ERROR -> (n,)

    @classmethod
    def of(cls, options: Panels, panels: np.ndarray) -> "Tried":
        """Try these panels."""
        return cls(panels, {BIAS: options.bias(panels)[0], ERROR: options.error(panels)})

    @cached_property
    def order(self) -> np.ndarray:
        """Places of the estimable panels, those with a bias or an error, by bias and then by error."""
        bias, error = (np.nan_to_num(square, nan=np.inf) for square in self.squares.values())
        order = np.lexsort((error, bias))
        return order[np.isfinite(np.minimum(bias, error)[order])]

    @cached_property
    def best(self) -> dict[str, int]:
        """BIAS and ERROR -> the place of the panel with the least, where any is estimable."""
        return {name: int(np.nanargmin(square)) for name, square in self.squares.items() if not np.isnan(square).all()}

    @cached_property
    def listed(self) -> np.ndarray:
        """Places in `order` of the first MOST_LISTED, the best and the last."""
        is_best = np.isin(self.order, [*self.best.values()])
        return np.unique([*np.arange(len(self.order))[:MOST_LISTED], len(self.order) - 1, *np.flatnonzero(is_best)])


def _rows_of(options: Panels, most: int, confidence: float) -> Iterator[dict]:
    """Yield the rows of panels of each size, with family ratings kept or left out."""
    judges = len(options.errors.crossing.judges)
    panels = np.eye(judges, dtype=bool)
    for _ in range(min(most, judges - 1)):
        tried = Tried.of(options, panels)
        yield from _rows_of_size(options, tried, confidence)
        best = tried.order if len(tried.order) else np.arange(len(panels))
        panels = larger(panels[best[: MOST_PANELS // judges]])
    yield from _rows_of_size(options, Tried.of(options, np.ones((1, judges), dtype=bool)), confidence)


def _rows_of_size(options: Panels, tried: Tried, confidence: float) -> Iterator[dict]:
    reference = HUMANS if options.errors.has_human_scores else JUDGES
    row = {"family_ratings": options.family_ratings, "reference": reference, "size": int(tried.panels[0].sum())}
    row |= {"panels": len(tried.order), "not_estimable": len(tried.panels) - len(tried.order)}
    if not len(tried.order):
        yield row | {"note": NOT_RATED.format(least=options.least)}
        return
    crossing, held_out = options.errors.crossing, _held_out(options, tried)
    chosen = tried.order[tried.listed]
    columns, worst = columns_of(options, tried.panels[chosen], confidence)
    for number, (place, at) in enumerate(zip(tried.listed.tolist(), chosen, strict=True)):
        each = row | {"place": place + 1, "panel": BETWEEN.join(crossing.judges[tried.panels[at]])}
        each |= {name: float(values[number]) for name, values in columns.items() if not np.isnan(values[number])}
        if "worst_bias" in each:
            each["worst_model"] = str(crossing.models[worst[number]])
        kinds = [name for name, best in tried.best.items() if best == at]
        if kinds:
            each |= {"best": " ".join(kinds), "note": BETWEEN.join(_notes(options, tried.panels))}
            each |= {f"held_out_{name}": held_out[name] for name in kinds if name in held_out}
        yield each


def _notes(options: Panels, panels: np.ndarray) -> Iterator[str]:
    if len(panels) < math.comb(panels.shape[1], panels[0].sum()):
        yield NOT_ALL
    if not options.errors.has_human_scores:
        yield AMONG_JUDGES
    elif not options.errors.noise:
        yield EXACT


def _root(square: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(square, 0))


def _held_out(options: Panels, tried: Tried) -> dict[str, float]:
    """BIAS and ERROR of the panel chosen by each half of the folds, on the other half: root mean square of both halves."""
    folds, held_out = options.errors.folds, {}
    if len(folds) < 2 * FEW_FOLDS:
        return held_out
    values = {BIAS: lambda panels, half: options.bias(panels, half)[0], ERROR: options.error}
    for name in tried.best:
        squares = []
        for half, other in ((folds[::2], folds[1::2]), (folds[1::2], folds[::2])):
            chosen = np.nan_to_num(values[name](tried.panels, half), nan=np.inf).argmin()
            squares.append(values[name](tried.panels[[chosen]], other)[0])
        if not np.isnan(squares).any():
            held_out[name] = float(_root(np.mean(squares)))
    return held_out


def columns_of(options: Panels, panels: np.ndarray, confidence: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numbers of panels of one size by the name of their column, (n,) each, and the model with the largest bias, (n,).

    They are NaN where they are not estimable. Intervals are from a jackknife over folds; those of mean squares end at 0 or
    above.
    """
    folds, size = options.errors.folds, int(panels[0].sum())
    (bias, bias_error), error, signed = options.bias(panels), options.error(panels), options.signed(panels)
    worst = np.abs(np.nan_to_num(signed)).argmax(axis=1)
    columns = {BIAS: _root(bias), ERROR: _root(error), "worst_bias": signed[np.arange(len(panels)), worst]}
    has_correlation = size > 1 and options.errors.has_human_scores
    if has_correlation:
        correlation = options.correlation(panels)
        columns["effective"] = independent_judges(size, correlation)
    if len(folds) < FEW_FOLDS:
        return columns, worst
    t = quantile(confidence, len(folds) - 1)

    def margin(statistic: Callable[..., np.ndarray]) -> np.ndarray:
        return t * jackknife_error(np.array([statistic(panels, left) for left in leave_one_out(folds)]))

    for name, square, half in ((BIAS, bias, t * bias_error), (ERROR, error, margin(options.error))):
        columns |= {f"{name}_ci_low": _root(square - half), f"{name}_ci_high": _root(square + half)}
    if has_correlation:
        half = margin(options.correlation)
        columns["effective_ci_low"] = independent_judges(size, correlation + half)
        columns["effective_ci_high"] = independent_judges(size, correlation - half)
    return columns, worst


def _put_prices(rows: Sequence[dict], errors: JudgeErrors, prices: Mapping[str, float]) -> None:
    """Put cost, cost_per_error and efficient into the rows of panels whose judges all have a price.

    cost: of the ratings of an answer, a mean over models where family ratings are left out. cost_per_error: cost over what the
    panel's error is below that of a single judge drawn at random; infinite if it is not below. efficient: no other row has less
    error at no more cost.
    """
    crossing, singles = errors.crossing, [row["error"] for row in rows if row["size"] == 1 and "error" in row]
    alone = float(np.mean(singles)) if singles else math.nan
    priced = []
    for row in rows:
        names = row.get("panel", "").split(BETWEEN)
        if "error" not in row or not set(names) <= prices.keys():
            continue
        related = crossing.related[:, np.searchsorted(crossing.judges, names)]
        rated = ~related if row["family_ratings"] == LEFT_OUT else np.ones_like(related)
        row["cost"] = float((rated * [prices[name] for name in names]).sum(axis=1).mean())
        gain = alone - row["error"]
        row["cost_per_error"] = row["cost"] / gain if gain > 0 else math.inf
        priced.append(row)
    least = math.inf
    for row in sorted(priced, key=lambda row: (row["cost"], row["error"])):
        if row["error"] < least:
            row["efficient"], least = "yes", row["error"]
