"""Studies like one that there is, with other numbers of prompts, raters and models: what they would detect."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgebias.fits.absorption import layout_of
from judgebias.fits.linear import residuals_squared, solve
from judgebias.fits.present_terms import present_terms
from judgebias.fits.spec import Spec
from judgebias.inference.cell_means import cell_means
from judgebias.inference.placebo import PlaceboDesign
from judgebias.inference.planner import Plan, planned, repeated
from judgebias.inference.words import NEVER, OVERSIZED, UNKNOWN_TASTE
from judgebias.ratings.moments import REFERENCE, Moments
from judgebias.ratings.study import Study

NOT_ESTIMABLE = "not estimable: no cells of other judges and models are left to compare with"
EXACT = 1.0, 1.0  # reliability and raters of human scores that are taken to be without error
TOO_OFTEN = 2.0  # times the level: a test that rejects as often without self-bias is not of the size it claims


def planned_like(
    spec: Spec,
    study: Study,
    reliability: Sequence[Mapping[str, str]],
    *,
    gamma: float,
    power: float,
    prompts: Sequence[int],
    raters: Sequence[int],
    copies: Sequence[int],
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of the planner's table, for each number of copies of the models, of raters and of prompts, and estimand.

    Numbers hold for every judge: detectable, floor, size and prompts_needed are the largest over judges, bias is the one that
    is farthest from 0; detectable_least is the smallest. floor is what is detectable with ever so many prompts. prompts_needed
    is of a test of the right size. The note says where it is empty as the floor is above gamma, and where the study's own test
    with that many prompts rejects TOO_OFTEN. Where the taste is not known, floor, size and prompts_needed are empty, and what
    is detectable without taste is the least that can be. Nothing where no judge with a slope of its own is rated itself.
    reliability: rows of the study's table; without rows the human scores are without error, and raters, of no matter, empty.
    """
    of_scores = over_dimensions(reliability)
    plan = _plan_of(spec, study, of_scores)
    if plan is None:
        return
    aim, known = {"gamma": gamma, "power": power}, not math.isnan(plan.taste)
    plan = plan if known else replace(plan, taste=0.0)
    for times in copies:
        larger = repeated(plan, times)
        found: dict[tuple, list[dict]] = {}
        for number in raters if of_scores else [0]:
            # Copies of a judge are as it is.
            design = replace(larger, raters=number or 1)
            for row in planned(design, judges=plan.judges, prompts=prompts, confidence=confidence, **aim):
                found.setdefault((row["estimand"], number, row["prompts"]), []).append(row)
        for (estimand, number, count), rows in sorted(found.items()):
            size = {"judges": len(larger.judges), "models": len(larger.models), "dimensions": plan.dimensions}
            design = {"estimand": estimand, **size, "raters": number or None, "prompts": count}
            yield design | aim | _of_every_judge(rows, known, 1 - confidence)


def _plan_of(spec: Spec, study: Study, of_scores: tuple[float, float] | None) -> Plan | None:
    """The plan of a study as it is; None without human scores."""
    if not study.has_human_scores:
        return None
    ((_, moments),) = study.slices(spec)
    return plan_like(spec, moments, *(of_scores or EXACT))


def _of_every_judge(rows: Sequence[Mapping], taste_known: bool, level: float) -> dict:
    """Numbers that hold for every judge, of the rows of one design; level: of the tests."""
    known = [row for row in rows if "std_error" in row]
    if not known:
        return {"note": NOT_ESTIMABLE}
    detectable = [row["detectable"] for row in known]
    bias = max((row["bias"] for row in known), key=abs)
    found = {"detectable": max(detectable), "detectable_least": min(detectable), "bias": bias}
    if not taste_known:
        return found | {"note": UNKNOWN_TASTE}
    found |= {"size": max(row["size"] for row in known), "floor": max(row["delta"] * row["floor"] for row in known)}
    needed = max(row["prompts_needed"] for row in known)
    if math.isinf(needed):
        return found | {"note": NEVER}
    too_often = max(row["size_needed"] for row in known) > TOO_OFTEN * level
    return found | {"prompts_needed": needed} | ({"note": OVERSIZED} if too_often else {})


def plan_like(spec: Spec, moments: Moments, reliability: float, raters: float) -> Plan | None:
    """Take all that a plan asks for from the rows behind `moments`; None where no judge with a slope is a model.

    The noise is what the spec's fit leaves of a judge's ratings; the taste is what the spread of the placebo cells holds
    beyond it, NaN where they leave no residual. Slopes are those of the fit over the reliability, which is too much where
    models differ in quality. No taste is taken to be shared, as no data tell it from quality that the human scores miss.

    reliability: of the human scores, the mean of so many raters.
    """
    if not len(moments.n):
        return None
    factors, sums = moments.factors, moments.tensor[:, 0, 0]
    models, model = np.unique(factors["model"], return_inverse=True)
    rows, total, squares = (np.bincount(model, sums[:, a, b]) for a, b in ((0, 0), (0, REFERENCE), (REFERENCE, REFERENCE)))
    quality = total / rows
    variance = float((squares - rows * quality**2).sum() / rows.sum())
    noise, slopes = _of_fit(spec, moments)
    judges = [name for name in map(str, models) if name in slopes]
    if not judges or not variance > 0 or not noise:
        return None
    first = [int(np.flatnonzero(model == place)[0]) for place in range(len(models))]
    return Plan(
        judges=judges,
        models=list(map(str, models)),
        family=[str(factors["model_family"][at]) for at in first],
        quality=quality.tolist(),
        slope=[slopes[judge] / reliability for judge in judges],
        prompts=1,
        dimensions=len(np.unique(factors["dimension"])),
        raters=1,
        noise=[noise[judge] for judge in judges],
        taste=_taste(moments, noise),
        shared_taste=0.0,
        quality_spread=math.sqrt(reliability * variance),
        rater_error=math.sqrt(raters * (1 - reliability) * variance),
    )


def over_dimensions(reliability: Sequence[Mapping[str, str]]) -> tuple[float, float] | None:
    """Means over dimensions of the reliability and the number of raters; None where no reliability is known."""
    usable = [row for row in reliability if 0 < float(row["mean"]) <= 1]
    if not usable:
        return None
    mean, raters = (float(np.mean([float(row[key]) for row in usable])) for key in ("mean", "raters"))
    return mean, raters


def _of_fit(spec: Spec, moments: Moments) -> tuple[dict[str, float], dict[str, float]]:
    """Standard deviations of the residuals by judge, none where there is no residual, and slopes that are identified."""
    terms = present_terms(spec, moments.factors)
    layout = layout_of(spec, terms, moments)
    solution = solve(moments, layout)
    judges, judge = np.unique(moments.factors["judge"], return_inverse=True)
    left, rows = np.bincount(judge, residuals_squared(moments, layout, solution)), np.bincount(judge, moments.n)
    df = solution.n - solution.rank
    noise = np.sqrt(left / rows * solution.n / df) if df > 0 and left.any() else ()
    numbers = zip(terms, solution.estimate, solution.identified, strict=True)
    slopes = {term.term: float(value) for term, value, known in numbers if term.quantity == "slope" and known}
    return {str(name): float(value) for name, value in zip(judges, noise, strict=False)}, slopes


def _taste(moments: Moments, noise: Mapping[str, float]) -> float:
    """The standard deviation of placebo cells about their additive fit, less what the noise gives them; NaN without any."""
    cells = cell_means(moments)
    spread = PlaceboDesign(cells, seed=0, draws=0).spread(cells.mean)
    placebo = ~cells.own & ~cells.same_family
    of_noise = [noise[judge] ** 2 / n for judge, n in zip(cells.judge[placebo], cells.n[placebo], strict=True)]
    return spread if math.isnan(spread) else math.sqrt(max(0.0, spread**2 - float(np.mean(of_noise))))
