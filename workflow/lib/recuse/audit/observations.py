"""Turns an audit's plan and ledger into one row for each reply and criterion."""

from collections.abc import Iterator
from pathlib import Path

from recuse.audit.plan import FIRST, AuditPlan
from recuse.base.tables import column_names, write_table
from recuse.collect.plan import VERDICTS
from recuse.collect.table import Collected, read_scores

OBSERVATIONS = column_names(
    "judge treatment arm prompt model other order writer dimension wording replicate own words",
    "value reason",
)


def observations(collected: Collected) -> list[dict]:
    """A row for each reply and criterion, by wording in the order of the plan. Unanswered requests
    have none.

    Columns are OBSERVATIONS. model: whose answer is the target, treated or not. order: its place
    beside `other`, "" if the arm is the place or there is no other. own: 1 if the target is the
    judge's answer, 0 if another's, "" if the judge has no answers. words: of the target before
    treatment. value: a rating as a share of the scale, (rating − lowest) / (highest − lowest); a
    verdict as 1 for the target, 0.5 for neither and 0 against it; "" if missing. Then `reason` says
    why, as one of REASONS in recuse.collect.parse.
    """
    place = {wording.name: place for place, wording in enumerate(collected.plan.wordings)}
    return sorted(_rows(collected), key=lambda row: place[row["wording"]])


def _rows(collected: Collected) -> Iterator[dict]:
    plan: AuditPlan = collected.plan
    texts = {(each.prompt, each.model): each.text for each in plan.answers(collected.entries)}
    for request in collected.requests:
        asked = plan.asked_for(request, collected.entries)
        if asked[0][1] is None:
            continue
        about = dict(request.about)
        judge, model = about["judge"], about["model"]
        own = str(int(model == judge)) if judge in plan.models else ""
        scales = {each.dimension: each for each in request.criteria}
        place = about["order"] or about["arm"]
        for dimension, score in read_scores(asked).items():
            value = score.value
            if value is not None:
                scale = scales[dimension]
                value = (value - scale.low) / (len(scale.labels) - 1)
                if plan.kind == VERDICTS and place == FIRST:
                    value = 1 - value
            yield {
                **about,
                "dimension": dimension,
                "replicate": request.replicate,
                "own": own,
                "words": len(texts[about["prompt"], model].split()),
                "value": value,
                "reason": score.reason,
            }


def write_observations(folder: Path, rows: list[dict]) -> None:
    """Write observations.csv into a folder; make it if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "observations.csv", OBSERVATIONS, rows)
