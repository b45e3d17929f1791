"""What collecting would ask and cost, before it asks anything."""

from collections.abc import Mapping

from recuse.collect.estimate import cost_page, estimates
from recuse.collect.plan import RATINGS
from recuse.collect.prompts_needed import planned, prompts_in_words, published, requests_for
from recuse.collect.study import merged_in_words
from recuse.collect.table import Collected

ABSENT = 200  # words of an answer that is not written yet, for the estimate


def page_before(
    collected: Collected, *, families: Mapping, human_scores: bool, power: float, confidence: float
) -> str:
    """What a plan would ask and cost, the first request and, of ratings, how many prompts would
    show a self-bias.

    Answers that are not written yet stand as texts of usual length. families: family -> models.
    """
    plan = collected.plan
    entries = collected.entries
    answers = plan.answers(entries, absent="word " * ABSENT)
    requests = [request for wave in plan.waves(answers) for request in wave]
    if not requests:
        return "The plan asks for nothing.\n"
    every = [*plan.writing(), *requests]
    known = [entries[request.key] for request in every if request.key in entries]
    notes = merged_in_words(plan, requests, answers)
    if plan.kind == RATINGS:
        ratings = {
            (each.about["judge"], each.about["prompt"], each.about["model"]) for each in requests
        }
        of_models = {model: family for family, models in families.items() for model in models}
        raters = 1 if human_scores else None
        size = planned(
            published(), ratings, of_models, dimensions=len(plan.dimensions), raters=raters
        )
        sought = {
            "self_bias": plan.collect.self_bias,
            "power": power,
            "confidence": confidence,
        }
        per_prompt = len(requests) / len(plan.prompts)
        rows = (
            requests_for(size, per_prompt=per_prompt, human_scores=human_scores, **sought)
            if size
            else []
        )
        notes += prompts_in_words(rows, size, **sought)
    return cost_page(estimates(every, known), requests[0], spent=entries.spent, notes=notes)
