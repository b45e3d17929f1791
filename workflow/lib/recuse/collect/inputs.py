"""From a study that asks judges to its plan, and to what was collected as inputs of the later
steps.
"""

import json
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path

from recuse.base.digests import file_sha256
from recuse.collect.ledger import SEEN
from recuse.collect.plan import RATINGS, VERDICTS, Plan
from recuse.collect.prompts_needed import enough
from recuse.collect.settings import Collect
from recuse.collect.table import Collected
from recuse.collect.texts import prices_in
from recuse.config.read import read
from recuse.config.studies import Study
from recuse.imports.inputs import imported
from recuse.inputs import Inputs, inputs_in
from recuse.pipeline import RatingsPipeline, in_folder


def read_plan(study: Study) -> Plan:
    """What a study asks of judges; DataError about its tables."""
    collect: Collect = study.settings.collect
    prices = {} if collect.prices is None else prices_in(collect.prices, read(Path(collect.prices)))
    return Plan.of(
        study.name,
        RATINGS if study.has_ratings() else VERDICTS,
        collect,
        seed=study.seed,
        families=study.setting("families"),
        prices=prices,
    )


def ledger_found(study: Study) -> str:
    """SHA-256 of the ledger of a study that asks judges, as the last job that added to it found it;
    other changes count.

    So the answers that a job adds are not a reason to do it again, and those that `recuse collect`
    adds are.
    """
    now = file_sha256(study.settings.collect.ledger_path(study.name))
    with suppress(FileNotFoundError, ValueError, LookupError, TypeError):
        seen = json.loads(Path(SEEN.format(study=study.name)).read_text("utf-8"))
        if seen["left"] == now:
            return str(seen["found"])
    return now


def stopping_rule(study: Study) -> Callable[[Collected], bool] | None:
    """Whether what was collected gives intervals as narrow as the plan of a study wants; None if it
    says nothing of that.
    """
    width = study.settings.collect.design.width
    if width is None:
        return None

    def enough_collected(collected: Collected) -> bool:
        (inputs,) = inputs_in({study.name: study}, {}, study.name, compared=True)
        # `check` says what it has to say of these ratings
        with redirect_stderr(StringIO()), in_folder(inputs) as folder:
            inputs = _with_answers(inputs, collected, folder)
            return enough(
                RatingsPipeline(inputs, folder).tables, width, confidence=study.confidence
            )

    return enough_collected


def collected(inputs: Inputs, folder: str) -> Inputs:
    """The inputs, with what the workflow would import from the answers in the ledger, now in
    `folder`.
    """
    return _with_answers(inputs, Collected.in_ledger(read_plan(inputs.study)), folder)


def _with_answers(inputs: Inputs, answers: Collected, folder: str) -> Inputs:
    path = f"{folder}/collected.csv"
    answers.write(path)
    return imported(inputs, folder, [path])
