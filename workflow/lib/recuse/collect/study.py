"""Collecting for a study: ask what is missing, within a budget."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from recuse.base.errors import CollectError, ConfigError
from recuse.base.log import warn
from recuse.base.words import counted
from recuse.collect.collection import DONE, Outcome
from recuse.collect.ledger import Ledger, LedgerAnswers
from recuse.collect.plan import Plan, is_here
from recuse.collect.progress import progress
from recuse.collect.requests import Request
from recuse.collect.responses import choice_in
from recuse.collect.run import collect
from recuse.collect.table import Collected
from recuse.collect.texts import ModelAnswer

UNLIMITED = "unlimited"


def spending_limit(plan: Plan, budget: float | str | None = None) -> float | None:
    """The most money that may be spent, None if unlimited; ConfigError if a server that may charge
    is to be asked without one.

    budget: in place of the plan's.
    """
    budget = plan.collect.budget if budget is None else budget
    if budget == UNLIMITED:
        return None
    if budget is not None and not 0 <= float(budget) < math.inf:
        raise ConfigError(
            f"--budget: found {budget}; write an amount of money from 0, or {UNLIMITED}"
        )
    charging = [asked.endpoint.name for asked in plan.asked_models() if not is_here(asked.endpoint)]
    if budget is None and charging:
        raise ConfigError(
            f"collect: budget: missing, and asking {charging[0]} may cost money; look at the"
            " estimate (`recuse collect --dry-run`), then write `budget:` in the plan, or pass"
            " --budget to `recuse collect`: an amount in the money of the price file, or"
            " `unlimited`"
        )
    return None if budget is None else float(budget)


def merged_in_words(
    plan: Plan, requests: Sequence[Request], answers: Sequence[ModelAnswer]
) -> list[str]:
    """A line about requests that stand for several identical answers, and about answers that are
    identical only without names.
    """
    different = len({request.key for request in requests})
    if different == len(requests):
        return []
    texts = {answer.text for answer in answers}
    blinded = {plan.blinded(text) for text in texts}
    shared = (
        f"{len(requests):,} judgments take {different:,} requests, because a judge is asked once"
        " about identical texts"
    )
    names = (
        f"{len(texts) - len(blinded):,} of {len(texts):,} different answers become identical when"
        " names are removed (`blind`)"
    )
    return [f"{shared}; {names}."]


def ask(
    plan: Plan,
    *,
    budget: float | str | None = None,
    enough: Callable[[Collected], bool] | None = None,
) -> Iterator[tuple[str, Outcome]]:
    """Send unanswered requests; yield each part, writing and the waves of judging, with its
    outcome.

    CollectError if a part was stopped before all of it was asked. The ledger is whole however this
    ends. budget: as of `spending_limit`, which matters only if something is left to ask. enough:
    whether intervals are narrow enough, for a plan that may stop early.
    """
    with Ledger(plan.ledger) as ledger:
        writing = plan.writing()
        if writing:
            yield "answers", _asked(plan, writing, ledger, budget)
            _warn_of_cut(plan, ledger)
        collected = Collected(plan, ledger)
        for line in merged_in_words(
            plan, [each for wave in collected.waves for each in wave], collected.answers
        ):
            warn(f"{plan.study}: {line}")
        for place, wave in enumerate(collected.waves, start=1):
            yield plan.kind, _asked(plan, wave, ledger, budget)
            if (
                place < len(collected.waves)
                and enough is not None
                and enough(Collected(plan, ledger))
            ):
                return


def _warn_of_cut(plan: Plan, entries: LedgerAnswers) -> None:
    """Warn about written answers that end in mid-sentence, which judges see as they are."""
    written = (entries[request.key] for request in plan.writing() if request.key in entries)
    cut = Counter(entry.judge for entry in written if choice_in(entry.response).is_cut_off)
    for writer, number in cut.items():
        warn(
            f"{plan.ledger}: {counted(number, 'answer')} by {writer}: cut off at the limit of"
            " tokens, and judged as they are; to have them whole, write a larger `max_tokens`"
            " under the writer's `sampling`, which asks anew"
        )


def _asked(
    plan: Plan, requests: Sequence[Request], ledger: Ledger, budget: float | str | None
) -> Outcome:
    answered = (entry for request in requests for _, entry in plan.asked_for(request, ledger))
    limit = spending_limit(plan, budget) if any(entry is None for entry in answered) else None
    outcome = collect(requests, ledger, progress=progress(), follow=plan.follow, budget=limit)
    if outcome.stopped == DONE:
        return outcome
    answers = counted(outcome.before + outcome.answered, "answer")
    kept = (
        f"{counted(outcome.missing, 'request')} left; {answers} in {plan.ledger}; run again to ask"
        " the rest"
    )
    raise CollectError(*outcome.messages, f"collect: stopped ({outcome.stopped}): {kept}")
