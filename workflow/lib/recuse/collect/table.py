"""From a plan and what its ledger holds to a table of ratings or verdicts, with a reason for each that is missing."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from recuse.base.tables import COLLECTED
from recuse.collect.ledger import Entry
from recuse.collect.parse import NOT_ANSWERED, Score, repair, scores
from recuse.collect.plan import RATINGS, Plan
from recuse.collect.requests import Request
from recuse.collect.rubrics import VERDICT
from recuse.collect.texts import Answer
from recuse.data.imports.rows import ALL

OUTCOMES = {"ab": ("a", "tie", "b"), "ba": ("b", "tie", "a")}


def read_scores(plan: Plan, request: Request, entries: Mapping[str, Entry]) -> tuple[dict[str, Score], bool]:
    """The scores of a request, and whether they come from its repair.

    A criterion that neither could be read of is missing for the reason that the first reply gave.
    """
    reads = plan.reads(request)
    if request.key not in entries:
        return {each.dimension: Score(None, NOT_ANSWERED) for each in request.criteria}, False
    response = entries[request.key].response
    first = scores(request, response, reads=reads)
    second = repair(request, response, reads=reads) if plan.settings.get("repair", True) else None
    if second is None or second.key not in entries:
        return first, False
    mended = scores(second, entries[second.key].response, reads=reads)
    best = {
        name: mended[name] if score.value is None and mended[name].value is not None else score for name, score in first.items()
    }
    return best, True


def rows_of(plan: Plan, requests: Sequence[Request], answers: Sequence[Answer], entries: Mapping[str, Entry]) -> Iterator[dict]:
    """A row for each rating or verdict that the requests ask for; a missing one has its reason in place of a number.

    Columns are COLLECTED_RATINGS or COLLECTED_VERDICTS. Lengths are words.
    """
    lengths = {(answer.prompt, answer.model): len(answer.text.split()) for answer in answers}
    for request in requests:
        read, _ = read_scores(plan, request, entries)
        about = request.about
        shared = {"judge": about["judge"], "dataset": plan.datasets.get(about["prompt"], ALL), "wording": about["wording"]}
        if plan.kind == RATINGS:
            order = " | ".join(each.dimension for each in request.criteria)
            answer = {"model": about["model"], "prompt": about["prompt"], "length": lengths[about["prompt"], about["model"]]}
            for dimension, score in read.items():
                rating = score.reason if score.value is None else f"{score.value:.12g}"
                yield {
                    **shared,
                    **answer,
                    "dimension": dimension,
                    "rating": rating,
                    "replicate": request.replicate,
                    "criteria": order,
                }
            continue
        score = read[VERDICT]
        outcome = "error" if score.value is None else OUTCOMES[about["order"]][int(score.value)]
        pair = {f"length_{side}": lengths[about["prompt"], about[f"model_{side}"]] for side in ("a", "b")}
        pair |= {key: about[key] for key in ("model_a", "model_b", "order")}
        yield {**shared, **pair, "item": about["prompt"], "outcome": outcome, "vote": request.replicate, "reason": score.reason}


def counts_of(plan: Plan, requests: Sequence[Request], entries: Mapping[str, Entry]) -> list[dict]:
    """For each judge, its requests, those answered and repaired, and its ratings: those there, and the missing by reason.

    Also tokens and money of these answers, as far as servers said them. A request that stands for two answers of the same words
    counts twice, but its tokens once.
    """
    rows = []
    for judge in plan.judges:
        counts: Counter[str] = Counter()
        for request in requests:
            if request.about["judge"] != judge:
                continue
            read, repaired = read_scores(plan, request, entries)
            counts.update(requests=1, answered=request.key in entries, repaired=repaired)
            counts.update((score.reason or "ratings").replace(" ", "_") for score in read.values())
        of_judge = {request.key: request for request in requests if request.about["judge"] == judge}
        for key in _answering(plan, of_judge, entries):
            entry = entries[key]
            counts.update(money=entry.cost or 0)
            if entry.usage is not None:
                counts.update(tokens_in=entry.usage.prompt_tokens, tokens_out=entry.usage.completion_tokens)
        rows.append({"study": plan.study, "judge": judge, **{key: counts[key] for key in COLLECTED[2:]}})
    return rows


def _answering(plan: Plan, requests: Mapping[str, Request], entries: Mapping[str, Entry]) -> Iterator[str]:
    """The keys of the requests that are answered, and of their repairs."""
    for key, request in requests.items():
        if key in entries:
            yield key
            second = plan.follow(request, entries[key].response)
            if second is not None and second.key in entries:
                yield second.key
