"""How many prompts a plan needs to see a self-bias, by the table of power, and when those that it
has are enough.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np

from recuse.base.places import WORKFLOW
from recuse.check.facts import said
from recuse.data.study import StudyTables
from recuse.inference.mixed import Preferences
from recuse.inference.power import PlannedStudy, power_by_judge
from recuse.model.estimates import estimate
from recuse.model.spec import EQUATION_1, A, C, Spec


def published() -> PlannedStudy:
    """The components of the twin, by `study_like`, which plans are sized by."""
    components = json.loads((WORKFLOW / "data" / "twin_power.json").read_text("utf-8"))
    preferences = components.pop("preferences")
    arrays = {name: np.array(preferences[name]) for name in ("spread", "ratios", "effects")}
    return PlannedStudy(**components, preferences=Preferences(**arrays, tau=preferences["tau"]))


def planned(
    like: PlannedStudy,
    ratings: Collection[tuple[str, str, str]],
    families: Mapping[str, str],
    *,
    dimensions: int,
    raters: int | None,
) -> PlannedStudy | None:
    """A plan with the components of a study like it; None if no judge rates answers of its own.

    ratings: judge, prompt and model of each, those that a plan asks for. families: of models; one
    that is missing is a family by itself. raters: humans that score each answer; None: none do, and
    other judges take their place, which is as if the quality of an answer were known. Judges have
    their own slope, noise and preferences if the study has them, else those that are usual there;
    its models lend their quality to other ones in turn. Judges that are no models are left out, as
    in `study_like`. Replicates and wordings count as one rating, so that with several of them fewer
    prompts are enough.
    """
    prompts, count = (
        len({prompt for _, prompt, _ in ratings}),
        Counter((judge, model) for judge, _, model in ratings),
    )
    models = sorted({model for _, model in count})
    judges = sorted(judge for judge, model in count if judge == model)
    if not judges:
        return None

    def of_judges(values: Sequence[float], usual: float) -> list[float]:
        known = dict(zip(like.judges, values, strict=True))
        return [float(known.get(judge, usual)) for judge in judges]

    lent = dict(
        zip([name for name in models if name not in like.models], cycle(like.models), strict=False)
    )
    of_models = [like.models.index(lent.get(name, name)) for name in models]
    preferences = like.preferences
    if preferences is not None:
        usual = float(np.exp(np.log(preferences.spread).mean()))
        spread = of_judges(preferences.spread, usual)
        preferences = replace(
            preferences, spread=np.array(spread), effects=preferences.effects[of_models]
        )
    return replace(
        like,
        judges=judges,
        models=models,
        family=[families.get(name, name) for name in models],
        quality=[like.quality[place] for place in of_models],
        slope=of_judges(like.slope, np.mean(like.slope)),
        noise=of_judges(like.noise, math.sqrt(np.mean(np.square(like.noise)))),
        dimensions=dimensions,
        raters=raters or 1,
        rater_error=0.0 if raters is None else like.rater_error,
        preferences=preferences,
        share=[[count[judge, model] / prompts for model in models] for judge in judges],
    )


def requests_for(
    plan: PlannedStudy,
    *,
    per_prompt: float,
    self_bias: float,
    power: float,
    confidence: float,
    human_scores: bool = True,
) -> list[dict]:
    """Prompts and requests with which each judge's self-bias is seen: a row for each estimand and
    judge.

    prompts: the fewest of which a test of size 1 - confidence finds self_bias with probability
    `power`, infinite if the limit, what infinitely many prompts find, is above it. requests:
    prompts × per_prompt, those of the plan for each of its prompts. A judge whose self-bias is not
    estimable has no row; without human scores there is none of A.
    """
    rows = power_by_judge(
        plan,
        judges=plan.judges,
        prompts=[1],
        self_bias=self_bias,
        power=power,
        confidence=confidence,
    )
    found = []
    for row in rows:
        if "prompts_needed" in row and (human_scores or row["estimand"] != A):
            prompts = row["prompts_needed"]
            requests = prompts if math.isinf(prompts) else math.ceil(prompts * per_prompt)
            shared = {name: row[name] for name in ("estimand", "judge", "limit")}
            found.append(shared | {"prompts": prompts, "requests": requests})
    return found


def prompts_in_words(
    rows: Sequence[Mapping],
    plan: PlannedStudy | None,
    *,
    self_bias: float,
    power: float,
    confidence: float,
) -> list[str]:
    """Rows of `requests_for` as lines; None: no judge rates answers of its own."""
    if plan is None:
        return [said("plan", "no_self")]
    if not rows:
        return [said("plan", "not_estimable")]
    others = [judge for judge in plan.judges if judge not in published().judges]
    lines = [said("plan", others=others, self_bias=self_bias, power=power, confidence=confidence)]
    for estimand in dict.fromkeys(row["estimand"] for row in rows):
        known = [row for row in rows if row["estimand"] == estimand]
        never = [row for row in known if math.isinf(row["prompts"])]
        lines.append(
            said(
                "plan",
                "estimand",
                estimand=estimand,
                is_alone=estimand == C,
                known=len(known),
                missing=len(plan.judges) - len(known),
                most=max(known, key=lambda row: row["prompts"]),
                never=[row["judge"] for row in never],
                hidden=max(never, key=lambda row: row["limit"], default=None),
            )
        )
    return lines


def half_widths(study: StudyTables, *, confidence: float) -> dict[str, float]:
    """Half the width of the interval of each judge's self-bias, on the unit scale; infinite without
    one.

    Under A, clustered by prompt; without human scores under B, with effects of models.
    """
    terms = (
        EQUATION_1
        if study.has_human_scores
        else ("judge", "self", "same_family", "dimension", "model")
    )
    factors = study.cells().factors
    widths = dict.fromkeys(
        sorted(map(str, np.intersect1d(factors["judge"], factors["model"]))), math.inf
    )
    for row in estimate(
        Spec.of("precision", terms=terms, covariance="CR1"), study, confidence=confidence
    ).estimates:
        if row["quantity"] == "self_bias" and "ci_low" in row:
            widths[row["term"]] = (row["ci_high"] - row["ci_low"]) / 2
    return widths


def enough(study: StudyTables, width: float, *, confidence: float) -> bool:
    """Whether the interval of every judge's self-bias is at most `width` to either side, so that no
    further wave is asked.

    The rule looks at widths alone: where it stops, intervals of 90 % exclude a true value in 10 to
    11 % of simulated studies (benchmarks/stopping.py). A rule that stops when an interval excludes
    0 stops at the best of several chances: in 20 %.
    """
    return max(half_widths(study, confidence=confidence).values(), default=math.inf) <= width
