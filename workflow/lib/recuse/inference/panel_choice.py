"""Which panel to take: panels of each size tried, the best of them, what these are worth on other prompts, and their price."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from recuse.base.errors import check_known
from recuse.inference.judge_errors import JudgeErrors
from recuse.inference.panel import FEW_FOLDS, KEPT, LEFT_OUT, Panels, jackknife_error, leave_one_out, worth
from recuse.model.least_squares import quantile

HUMANS, JUDGES = "humans", "judges outside the model's family"  # the reference
BIAS, ERROR = "bias_left", "error"  # by which a panel is the best of its size
PURPOSES = {BIAS: "models", ERROR: "answers"}  # what the best panel is for: to compare models, or to score single answers
MOST_PANELS = 20_000  # of one size; if there are more, those that add a judge to one of the BEAM best of the size below
BEAM = 100
MOST_LISTED = 150  # of one size, in the table, beside the best, the median and the last
BETWEEN = "; "  # names of judges
NO_LEVELS = "cannot be told: no chain of shared answers links two judges"
UNLINKED = "left out: too few shared answers link this judge's level to the others'"
NOT_RATED = "cannot be told: of some model, or of two of the judges, there are fewer than {least} ratings of the same answers"
ONE_FAMILY = "cannot be told: no panel of this size has a judge outside the family of every model"
NOT_ALL = f"only panels that add a judge to one of the {BEAM} best of the size below were tried"
EXACT = "human scores taken as exact: errors may be smaller and judges more independent"
AMONG_JUDGES = "errors of judges are taken as independent; what all judges get wrong cannot be told"


def panel_rows(
    errors: JudgeErrors | None, *, judges: int, least: int, confidence: float, prices: Mapping[str, float] | None = None
) -> list[dict]:
    """The rows of the table of panels: by whether family ratings are kept, size, and place by bias.

    bias_left: root mean square over models of the panel's bias, each less the mean over models; error: root mean square of the
    errors of answers. best: whether this panel has the least bias of its size, the least error, or both. predicted, held_out:
    of panels chosen so on half of the prompts, by that half and by the other. recommended: for models or
    for answers, see `recommended`. Intervals are of
    the best panels and of single judges. judges: of the largest panel, beside that of all; prices: money for a judge's rating.
    Raises ConfigError about a price of a judge that the study does not have.
    """
    if errors is None:
        return [{"note": NO_LEVELS}]
    options = [Panels(errors, kept, least) for kept in (KEPT, LEFT_OUT)]
    rows = [row for each in options for row in _rows_of(each, judges, confidence)]
    for name, purpose in PURPOSES.items():
        choice = recommended(rows, name, confidence=confidence)
        if choice is not None:
            choice["recommended"] = " ".join(filter(None, (choice.get("recommended"), purpose)))
    if prices:
        names = [*errors.crossing.judges.tolist(), *errors.left_out]
        check_known("prices", prices, names, "judges of the study")
        _put_prices(rows, errors, prices)
    return rows + [{"panel": name, "size": 1, "note": UNLINKED} for name in errors.left_out]


def recommended(rows: Sequence[dict], name: str, *, confidence: float) -> dict | None:
    """The smallest panel, of the best of their size in `name`, with a mean square within a standard error of the least.

    By held-out prompts, where there are enough, as the best of many looks better than it is. Of two of one size, the better.
    None if nothing can be told. Source: the one-standard-error rule of Breiman et al. (1984), section 3.4.3.
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


def tried(judges: int, most: int) -> Iterator[tuple[int, bool, Callable[[np.ndarray], np.ndarray]]]:
    """Yield (size, whether every panel of it is tried, the panels by the best of the size below), up to `most`; then of all."""
    for size in [*range(1, min(most, judges) + 1), *([judges] if judges > most else [])]:
        if math.comb(judges, size) <= MOST_PANELS:
            yield size, True, lambda best, size=size: every_panel(judges, size)
        else:
            yield size, False, larger


def every_panel(judges: int, size: int) -> np.ndarray:
    """All panels of so many judges."""
    places = np.fromiter(chain.from_iterable(combinations(range(judges), size)), dtype=np.int64)
    return panels_of(places.reshape(-1, size), judges)


def panels_of(places: Sequence[Sequence[int]], judges: int) -> np.ndarray:
    """Panels, (n, J) of bool, of the places of their judges."""
    panels = np.zeros((len(places), judges), dtype=bool)
    panels[np.arange(len(places))[:, None], np.array(places)] = True
    return panels


def larger(best: np.ndarray) -> np.ndarray:
    """The panels with one judge more than one of the best, each once."""
    more = (best[:, None] | np.eye(best.shape[1], dtype=bool)).reshape(-1, best.shape[1])
    return np.unique(more[more.sum(axis=1) > best[0].sum()], axis=0)[::-1]


@dataclass(frozen=True)
class Tried:
    """The panels of one size that were tried, n, with mean squares of bias and error, NaN where these cannot be told."""

    panels: np.ndarray  # (n, J) of bool
    is_complete: bool  # whether these are all
    bias: np.ndarray  # (n,)
    bias_error: np.ndarray  # (n,) standard error
    error: np.ndarray  # (n,)

    @cached_property
    def order(self) -> np.ndarray:
        """Places of the panels by bias, then by error; those that cannot be told last."""
        return np.lexsort((np.nan_to_num(self.error, nan=np.inf), np.nan_to_num(self.bias, nan=np.inf)))

    @cached_property
    def estimable(self) -> int:
        """How many have a bias or an error: the first in `order`."""
        return int((~(np.isnan(self.bias) & np.isnan(self.error))).sum())

    @cached_property
    def best(self) -> dict[str, int]:
        """BIAS and ERROR -> the panel with the least, where any is estimable."""
        squares = {BIAS: self.bias, ERROR: self.error}
        return {name: int(np.nanargmin(of)) for name, of in squares.items() if not np.isnan(of).all()}

    @cached_property
    def listed(self) -> list[int]:
        """The first MOST_LISTED places in `order`, the best, the median and the last."""
        places = {
            *range(MOST_LISTED),
            self.estimable // 2,
            self.estimable - 1,
            *(int(np.argmax(self.order == at)) for at in self.best.values()),
        }
        return sorted(place for place in places if place < self.estimable)


def _rows_of(options: Panels, most: int, confidence: float) -> Iterator[dict]:
    """Yield the rows of panels of each size, with family ratings kept or left out."""
    sizes: list[Tried] = []
    for _, is_complete, make in tried(len(options.errors.crossing.judges), most):
        panels = make(sizes[-1].panels[sizes[-1].order[:BEAM]] if sizes else None)
        sizes.append(Tried(panels, is_complete, *options.bias(panels), options.error(panels)))
    shared = {"family_ratings": options.family_ratings}
    shared["reference"] = HUMANS if options.errors.has_human_scores else JUDGES
    chosen = [
        of.panels[at] for of in sizes for at in (of.order[: of.estimable] if of.panels[0].sum() == 1 else of.best.values())
    ]
    intervals = intervals_of(options, np.unique(np.array(chosen), axis=0), confidence) if chosen else {}
    for of in sizes:
        row = shared | {"size": int(of.panels[0].sum()), "panels": of.estimable, "not_estimable": len(of.panels) - of.estimable}
        if not of.estimable:
            yield row | {"note": _why_not(options, of.panels)}
            continue
        held_out = _held_out(options, of)
        at = of.order[of.listed]
        for place, number, columns in zip(of.listed, at, _columns(options, of.panels[at]), strict=True):
            each = row | {"place": place + 1} | columns
            each |= {
                name: _root(square[number]) for name, square in ((BIAS, of.bias), (ERROR, of.error)) if square[number] >= -1
            }
            each |= intervals.get(of.panels[number].tobytes(), {})
            kinds = [name for name, best in of.best.items() if best == number]
            for name in kinds:
                each |= held_out.get(name, {})
            yield each | ({"best": " ".join(kinds), "note": BETWEEN.join(_notes(options, of.is_complete))} if kinds else {})


def _why_not(options: Panels, panels: np.ndarray) -> str:
    """Why no panel is estimable."""
    of_family = panels.astype(float) @ ~options.errors.crossing.related.T
    is_alone = options.family_ratings == LEFT_OUT and (of_family == 0).any(axis=1).all()
    return ONE_FAMILY if is_alone else NOT_RATED.format(least=options.least)


def _notes(options: Panels, is_complete: bool) -> Iterator[str]:
    if not is_complete:
        yield NOT_ALL
    if not options.errors.has_human_scores:
        yield AMONG_JUDGES
    elif not options.errors.noise:
        yield EXACT


def _root(square: float) -> float:
    return math.sqrt(max(0.0, float(square)))


def _held_out(options: Panels, of: Tried) -> dict[str, dict]:
    """By bias and by error: predicted_ and held_out_ of the best panel of each half of the folds, root mean square of both."""
    folds, columns = options.errors.folds, {}
    if len(folds) < 2 * FEW_FOLDS:
        return columns
    squares = {BIAS: lambda panels, half: options.bias(panels, half)[0], ERROR: options.error}
    for name in of.best:
        both = []
        for half, other in ((folds[::2], folds[1::2]), (folds[1::2], folds[::2])):
            predicted = squares[name](of.panels, half)
            at = int(np.nanargmin(predicted)) if not np.isnan(predicted).all() else 0
            both.append((predicted[at], squares[name](of.panels[[at]], other)[0]))
        if not np.isnan(both).any():
            columns[name] = dict(zip((f"predicted_{name}", f"held_out_{name}"), map(_root, np.mean(both, axis=0)), strict=True))
    return columns


def _columns(options: Panels, panels: np.ndarray) -> Iterator[dict]:
    """Yield the judges of each panel, the model with its largest bias, and the independent judges that it is worth."""
    crossing, size = options.errors.crossing, int(panels[0].sum())
    effective = {}
    if size > 1 and options.errors.has_human_scores:
        noises = {"effective": 0.0, "effective_exact": options.errors.noise}
        effective = {key: worth(size, options.correlation(panels, noise=noise)) for key, noise in noises.items()}
    for number, (panel, signed) in enumerate(zip(panels, options.signed(panels), strict=True)):
        row = {"panel": BETWEEN.join(crossing.judges[panel])} | {
            key: float(values[number]) for key, values in effective.items()
        }
        if not np.isnan(signed).any():
            worst = int(np.abs(signed).argmax())
            row |= {"worst_model": str(crossing.models[worst]), "worst_bias": float(signed[worst])}
        yield row


def intervals_of(options: Panels, panels: np.ndarray, confidence: float) -> dict[bytes, dict]:
    """By panel: the ends of the intervals, by the jackknife over folds; an interval of mean squares ends at 0 or above."""
    folds = options.errors.folds
    if len(folds) < FEW_FOLDS:
        return {}
    left, t = leave_one_out(folds), quantile(confidence, len(folds) - 1)

    def ends(values: np.ndarray, error: np.ndarray) -> np.ndarray:
        return np.stack([values - t * error, values + t * error])

    def jackknife(statistic: Callable[..., np.ndarray]) -> np.ndarray:
        return jackknife_error(np.array([statistic(panels, each) for each in left]))

    signed = options.signed(panels)
    worst = np.arange(len(panels)), np.abs(np.nan_to_num(signed)).argmax(axis=1)
    limits = {
        BIAS: np.sqrt(np.maximum(ends(*options.bias(panels)), 0)),
        "worst": ends(signed[worst], jackknife(options.signed)[worst]),
        ERROR: np.sqrt(np.maximum(ends(options.error(panels), jackknife(options.error)), 0)),
    }
    if options.errors.has_human_scores:
        correlation = ends(options.correlation(panels), jackknife(options.correlation))
        limits["effective"] = worth(panels.sum(axis=1), correlation[::-1])
    return {
        panel.tobytes(): {
            f"{key}_ci_{end}": float(at)
            for key, of in limits.items()
            for end, at in zip(("low", "high"), of[:, n], strict=True)
        }
        for n, panel in enumerate(panels)
    }


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
