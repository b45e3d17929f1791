"""Votes for the judges of Chen et al., Humans or LLMs as the Judge?, with the printed attack success rates planted.

The paper's votes are not released. These are drawn by `judgebias.simulation.votes`: their population attack success rates are
those printed in Tables 1 to 4. What else the judges do is chosen to come near Tables 6 and 7, and is not planted.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from judgebias.comparisons.schemas import COMPARISONS
from judgebias.paper.published_attacks import AUTHOR, MAIN, second_answer
from judgebias.simulation.coded_columns import Coded, join
from judgebias.simulation.comparison_world import CONTROL, WORSENING, Attacked
from judgebias.simulation.planted_biases import planted_success
from judgebias.simulation.votes import Samples, draw_votes, words

QUESTIONS, SUBSET = 142, 60  # section 4.2; sections 5.3 and 6.1
Rows = Sequence[Mapping[str, str]]
Shares = Mapping[str, float]  # of votes, by quantity


def published_votes(rows: Rows, *, seed: int) -> tuple[Coded, list[dict]]:
    """Return votes, columns as in COMPARISONS, and what is planted in them, rows of PLANTED; rows: see `read_attacks`."""
    samples = published_samples(rows)
    *streams, for_anchors = np.random.SeedSequence(seed).spawn(len(samples) + 1)
    # Samples of one experiment have the same first answers.
    experiments = {members.experiment: members.questions for members in samples}
    anchors = {
        experiment: words((questions,), np.random.default_rng(child))
        for (experiment, questions), child in zip(experiments.items(), for_anchors.spawn(len(experiments)), strict=True)
    }
    parts = []
    for members, stream in zip(samples, streams, strict=True):
        parts += draw_votes(members, stream, words_a=anchors[members.experiment])
    planted = [
        planted_success(members.experiment, condition, judge, members.model_b, success)
        for members in samples
        for judge, attacked in members.judges.items()
        for condition, success in attacked.success.items()
    ]
    return join(parts, COMPARISONS), planted


def published_samples(rows: Rows) -> list[Samples]:
    """Return the samples of each experiment and pair of models of the tables, and how their judges vote.

    Judges that the paper left out after Table 6 vote on the control samples of Table 1 alone.
    """
    success: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["quantity"] == "asr":
            of_pair = success.setdefault((row["experiment"], row["model_a"], row["model_b"]), {})
            of_pair.setdefault(row["judge"], {})[row["condition"]] = float(row["value"])
    places = _shares(rows, ("first", "tie", "second"))
    for _, judge in places:
        success[MAIN, AUTHOR, second_answer(AUTHOR, AUTHOR)].setdefault(judge, {})
    strengths = _shares(rows, ("a", "b"))
    samples = []
    for (experiment, model_a, model_b), judges in success.items():
        # Table 7 is about answers of another model than the anchor's.
        known = strengths if model_b != second_answer(model_a, model_a) else {}
        attacked = {
            judge: _attacked(rates, places["", judge], known.get((experiment, judge))) for judge, rates in judges.items()
        }
        samples.append(Samples(experiment, model_a, model_b, QUESTIONS if experiment == MAIN else SUBSET, attacked, WORSENING))
    return samples


def _shares(rows: Rows, quantities: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """Printed shares of votes by experiment and judge."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["quantity"] in quantities:
            found.setdefault((row["experiment"], row["judge"]), {})[row["quantity"]] = float(row["value"])
    return found


def _attacked(success: Mapping[str, float], places: Shares, strengths: Shares | None) -> Attacked:
    """How a judge votes: by place as often as first and second differ, and for the rest as the answers and the ties demand."""
    if strengths is None:
        return _of_places(success, places)
    by_place = min(abs(places["first"] - places["second"]), 2 * strengths["b"])  # half of these votes are for b
    by_answers = 1 - by_place
    tie = 1 - strengths["a"] - strengths["b"]
    return Attacked(
        success, tie=tie / by_answers, second=(strengths["b"] - by_place / 2) / by_answers, **_by_place(places, by_place)
    )


def _of_places(success: Mapping[str, float], places: Shares) -> Attacked:
    """A judge whose votes have the printed shares of first, tie and second place; see `_attacked`.

    With `ties` the mean share of samples without a preference over control and attacks, as a multiple of that in the control
    group, a share by_tie of votes that are ties whatever the answers are makes up for what the samples lack.
    """
    by_place = abs(places["first"] - places["second"])
    kept = [rate if condition in WORSENING else 1 - rate for condition, rate in success.items()]
    ties = (1 + sum(kept)) / (1 + len(kept))
    tie = min(CONTROL["control_tie"], places["tie"] / ((1 - by_place) * ties))
    lacking = max(0.0, places["tie"] - (1 - by_place) * tie * ties) / (1 - tie * ties)
    return Attacked(success, tie=tie, second=(1 - tie) / 2, by_tie=lacking, **_by_place(places, by_place))


def _by_place(places: Shares, share: float) -> dict[str, float]:
    return {"by_first" if places["first"] > places["second"] else "by_second": share}
