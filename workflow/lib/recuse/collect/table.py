"""From a plan and what its ledger holds to a table of ratings or verdicts, with a reason for each
that is missing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from recuse.base.errors import CollectError
from recuse.base.tables import column_names, write_table
from recuse.collect.ledger import LedgerAnswers, LedgerEntry, answers_in
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


@dataclass(frozen=True)
class Collected:
    """What a plan asks, and what its ledger holds of that."""

    plan: Plan
    entries: LedgerAnswers

    @classmethod
    def in_ledger(cls, plan: Plan) -> "Collected":
        """What is in the ledger, which another process may be writing."""
        return cls(plan, answers_in(plan.ledger))

    @cached_property
    def answers(self) -> list[ModelAnswer]:
        """The answers to be judged, without those that are still to be written."""
        return self.plan.answers(self.entries)

    @cached_property
    def waves(self) -> list[list[Request]]:
        """The requests to judges in the parts in which they are made; one part unless the plan may
        stop early.
        """
        return self.plan.waves(self.answers)

    @cached_property
    def requests(self) -> list[Request]:
        """The requests to judges, up to the last part of which any was answered."""
        begun, before = 0, set()  # a request of an earlier part may have the same words
        for place, wave in enumerate(self.waves):
            keys = {request.key for request in wave} - before
            begun = place if any(key in self.entries for key in keys) else begun
            before |= keys
        return [request for wave in self.waves[: begun + 1] for request in wave]

    def write(self, path: str) -> None:
        """Write the table of ratings or verdicts; CollectError if nothing is answered."""
        if not any(request.key in self.entries for request in self.requests):
            raise CollectError(
                f"{self.plan.ledger}: holds no answer to what {self.plan.study} asks; run `recuse"
                " collect` first"
            )
        columns = COLLECTED_RATINGS if self.plan.kind == RATINGS else COLLECTED_VERDICTS
        write_table(path, columns, self.rows())

    def rows(self) -> Iterator[dict]:
        """Yield a row for each rating or verdict that the requests ask for; a missing one has its
        reason in place of a number.

        Columns are COLLECTED_RATINGS or COLLECTED_VERDICTS. Lengths are words.
        """
        lengths = {
            (answer.prompt, answer.model): len(answer.text.split()) for answer in self.answers
        }
        for request in self.requests:
            read = read_scores(self.plan.asked_for(request, self.entries))
            about = dict(request.about)
            prompt = about.pop("prompt")
            order = about.get("order")
            shared = {**about, "dataset": self.plan.datasets.get(prompt, ALL)}
            if self.plan.kind == RATINGS:
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

    def counts(self) -> list[dict]:
        """For each judge, its requests, those answered and repaired, and its ratings: those there,
        and the missing by reason. The columns are COLLECTED.

        Also tokens and money of these answers, as far as servers said them. A request that stands
        for two answers of the same words counts twice, but its tokens once.
        """
        counts = {judge: Counter() for judge in self.plan.judges}
        counted: set[str] = set()
        for request in self.requests:
            of_judge = counts[request.about["judge"]]
            asked = self.plan.asked_for(request, self.entries)
            repaired = any(entry is not None for _, entry in asked[1:])
            of_judge.update(requests=1, answered=asked[0][1] is not None, repaired=repaired)
            of_judge.update(
                (score.reason or "ratings").replace(" ", "_")
                for score in read_scores(asked).values()
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
            row = {"study": self.plan.study, "judge": judge}
            rows.append(row | {key: of_judge[key] for key in COLLECTED[2:]})
        return rows

    def write_counts(self, path: str) -> None:
        """Write the counts of each judge."""
        write_table(path, COLLECTED, self.counts())
