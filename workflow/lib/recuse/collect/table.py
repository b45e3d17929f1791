"""From a plan and what its ledger holds to a table of ratings or verdicts, with a reason for each
that is missing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from recuse.base.tables import column_names
from recuse.collect.ledger import LedgerEntry
from recuse.collect.parse import NOT_ANSWERED, Score, scores
from recuse.collect.plan import RATINGS, Plan
from recuse.collect.requests import Request
from recuse.collect.rubrics import VERDICT
from recuse.collect.texts import ModelAnswer
from recuse.imports.rows import ALL

COLLECTED_RATINGS = column_names(
    "judge model prompt dataset dimension rating length wording replicate criteria",
)
COLLECTED_VERDICTS = column_names(
    "judge item model_a model_b order outcome length_a length_b dataset wording vote reason",
)
COLLECTED = column_names(
    "study judge requests answered repaired ratings refusal truncated off_the_scale unreadable",
    "not_answered",
    "tokens_in tokens_out money",
)

OUTCOMES = {"ab": ("a", "tie", "b"), "ba": ("b", "tie", "a")}


def read_scores(asked: Sequence[tuple[Request, LedgerEntry | None]]) -> dict[str, Score]:
    """The scores of a request and its repair, by dimension; asked: as of Plan.asked_for.

    A criterion that neither could be read of is missing for the reason that the first reply gave.
    """
    best: dict[str, Score] = {}
    for request, entry in asked:
        if entry is not None:
            for name, score in scores(request, entry.response).items():
                if name not in best or (best[name].value is None and score.value is not None):
                    best[name] = score
    return best or {each.dimension: Score(None, NOT_ANSWERED) for each in asked[0][0].criteria}


def collected_rows(
    plan: Plan,
    requests: Sequence[Request],
    answers: Sequence[ModelAnswer],
    entries: Mapping[str, LedgerEntry],
) -> Iterator[dict]:
    """A row for each rating or verdict that the requests ask for; a missing one has its reason in
    place of a number.

    Columns are COLLECTED_RATINGS or COLLECTED_VERDICTS. Lengths are words.
    """
    lengths = {(answer.prompt, answer.model): len(answer.text.split()) for answer in answers}
    for request in requests:
        read = read_scores(plan.asked_for(request, entries))
        about = dict(request.about)
        prompt = about.pop("prompt")
        order = about.get("order")
        shared = {**about, "dataset": plan.datasets.get(prompt, ALL)}
        if plan.kind == RATINGS:
            shared |= {
                "prompt": prompt,
                "length": lengths[prompt, about["model"]],
                "replicate": request.replicate,
            }
            shared["criteria"] = " | ".join(each.dimension for each in request.criteria)
            for dimension, score in read.items():
                rating = score.reason if score.value is None else f"{score.value:.12g}"
                yield {**shared, "dimension": dimension, "rating": rating}
        else:
            score = read[VERDICT]
            outcome = "error" if score.value is None else OUTCOMES[order][int(score.value)]
            pair = {
                f"length_{side}": lengths[prompt, about[f"model_{side}"]] for side in ("a", "b")
            }
            yield {
                **shared,
                **pair,
                "item": prompt,
                "outcome": outcome,
                "vote": request.replicate,
                "reason": score.reason,
            }


def request_counts(
    plan: Plan, requests: Sequence[Request], entries: Mapping[str, LedgerEntry]
) -> list[dict]:
    """For each judge, its requests, those answered and repaired, and its ratings: those there, and
    the missing by reason.

    Also tokens and money of these answers, as far as servers said them. A request that stands for
    two answers of the same words counts twice, but its tokens once.
    """
    counts = {judge: Counter() for judge in plan.judges}
    counted: set[str] = set()
    for request in requests:
        of_judge = counts[request.about["judge"]]
        asked = plan.asked_for(request, entries)
        repaired = any(entry is not None for _, entry in asked[1:])
        of_judge.update(requests=1, answered=asked[0][1] is not None, repaired=repaired)
        of_judge.update(
            (score.reason or "ratings").replace(" ", "_") for score in read_scores(asked).values()
        )
        for each, entry in asked:
            if entry is not None and each.key not in counted:
                counted.add(each.key)
                of_judge.update(money=entry.cost or 0)
                if entry.usage is not None:
                    of_judge.update(
                        tokens_in=entry.usage.prompt_tokens,
                        tokens_out=entry.usage.completion_tokens,
                    )
    rows = []
    for judge, of_judge in counts.items():
        rows.append(
            {"study": plan.study, "judge": judge, **{key: of_judge[key] for key in COLLECTED[2:]}}
        )
    return rows
