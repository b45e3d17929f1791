"""Votes on attacked answers with the success rates of Chen et al., whose own votes are not
released.

The success rates are those that are printed in Tables 1 to 4; the judges are otherwise chosen to
come near Tables 6 and 7.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from recuse.data.verdicts import WORSENING
from recuse.papers.attack_values import AUTHOR, MAIN, read_attacks, second_answer
from recuse.simulate.votes import (
    CONTROL_TIE,
    Attacked,
    Samples,
    draw_votes,
    join,
    lengths,
    planted_success,
)

MAIN_SAMPLES, SUBSET = 142, 60  # section 4.2; sections 5.3 and 6.1
_Rows = Sequence[Mapping[str, str]]
Shares = Mapping[str, float]  # of votes, by quantity


def votes_in_tables(paths: Sequence[str], *, seed: int) -> tuple[dict[str, np.ndarray], list[dict]]:
    """The votes by the published success rates in a file, and what is planted in them; see
    `published_votes`.
    """
    return published_votes(read_attacks(paths[0]), seed=seed)


def published_votes(rows: _Rows, *, seed: int) -> tuple[dict[str, np.ndarray], list[dict]]:
    """Return votes, columns as in COMPARISONS, and what is planted in them, rows of
    PAIRWISE_PLANTED; rows: `read_attacks`.
    """
    samples = published_samples(rows)
    *streams, for_anchors = np.random.SeedSequence(seed).spawn(len(samples) + 1)
    # Samples of one experiment have the same first answers.
    questions = {members.experiment: members.questions for members in samples}
    anchors = {
        experiment: np.ceil(lengths(np.random.default_rng(child), (questions[experiment],))).astype(
            int
        )
        for experiment, child in zip(questions, for_anchors.spawn(len(questions)), strict=True)
    }
    parts = []
    planted = []
    for members, stream in zip(samples, streams, strict=True):
        parts += draw_votes(members, stream, words_a=anchors[members.experiment])
        planted += [
            planted_success(members.experiment, condition, judge, members.model_b, success)
            for judge, attacked in members.judges.items()
            for condition, success in attacked.success.items()
        ]
    return join(parts), planted


def published_samples(rows: _Rows) -> list[Samples]:
    """Return the samples of each experiment and pair of models of the tables, and how their judges
    vote.

    Judges that the paper left out after Table 6 vote on the control samples of Table 1 alone.
    """
    # By pair or experiment, and judge
    success, places, strengths = (defaultdict(lambda: defaultdict(dict)) for _ in range(3))
    for row in rows:
        experiment = row["experiment"]
        judge = row["judge"]
        quantity = row["quantity"]
        value = float(row["value"])
        if quantity == "asr":
            success[experiment, row["model_a"], row["model_b"]][judge][row["condition"]] = value
        elif quantity in ("first", "tie", "second"):
            places[experiment][judge][quantity] = value
        elif quantity in ("a", "b"):
            strengths[experiment][judge][quantity] = value
    for judge in places[""]:
        success[MAIN, AUTHOR, second_answer(AUTHOR, AUTHOR)].setdefault(judge, {})
    samples = []
    for (experiment, model_a, model_b), rates in success.items():
        # Table 7 is about answers of another model than the anchor's.
        printed = strengths[experiment] if model_b != second_answer(model_a, model_a) else {}
        judges = {
            judge: _attacked(rates[judge], places[""][judge], printed.get(judge)) for judge in rates
        }
        samples.append(
            Samples(
                experiment, model_a, model_b, MAIN_SAMPLES if experiment == MAIN else SUBSET, judges
            )
        )
    return samples


def _attacked(success: Mapping[str, float], places: Shares, strengths: Shares | None) -> Attacked:
    """How a judge votes: by place as often as first and second differ, otherwise as the answers and
    the ties require.

    strengths: printed shares of the votes before an attack. Without them `ties` is the mean share
    of samples without a preference, control and attacks, as a multiple of the control group's; a
    share by_tie of votes makes up what they lack.
    """
    by_place = abs(places["first"] - places["second"])
    by_tie = 0.0
    if strengths is not None:
        by_place = min(by_place, 2 * strengths["b"])  # half of these votes are for b
        tie = (1 - strengths["a"] - strengths["b"]) / (1 - by_place)
        second = (strengths["b"] - by_place / 2) / (1 - by_place)
    else:
        kept = [rate if condition in WORSENING else 1 - rate for condition, rate in success.items()]
        ties = (1 + sum(kept)) / (1 + len(kept))
        tie = min(CONTROL_TIE, places["tie"] / ((1 - by_place) * ties))
        second = (1 - tie) / 2
        by_tie = max(0.0, places["tie"] - (1 - by_place) * tie * ties) / (1 - tie * ties)
    place = "by_first" if places["first"] > places["second"] else "by_second"
    return Attacked(success, tie=tie, second=second, by_tie=by_tie, **{place: by_place})
