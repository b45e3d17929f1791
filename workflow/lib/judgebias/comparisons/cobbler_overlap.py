"""CoBBLEr's rankings: rank-biased overlap of the judges' rankings with the annotators', and of a list that sees no answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.comparisons.bootstrap import percentile_intervals
from judgebias.comparisons.cobbler import BATCHES, JUDGES, NEWER_SYSTEMS, SYSTEMS, read_wins, wins_of_judge
from judgebias.comparisons.rank_overlap import places, rank_biased_overlap

ANNOTATORS = 6
# Of the files without `new` in their names, and of those with it, which rank two systems fewer by other judges. LLaMAv2 is no
# judge of the former: the authors' aggregate is without it.
JUDGES_OF_15 = tuple(judge for judge in JUDGES if judge in SYSTEMS)
JUDGES_OF_13 = tuple(judge for judge in JUDGES if judge not in ("dolly", "redpajama"))
FORMS = ("truncated", "extrapolated")
LISTED, BY_NAME = "listed", "by name"
BLIND = {  # statistic of the judges: that of the systems as listed, with the same annotators
    "judges_with_annotators": "listing_order",
    "judges_with_annotators_together": "listing_order_with_annotators_together",
}
DECIMALS = 3  # to which the published code rounds the mean of each pair of rankers


@dataclass(frozen=True)
class Release:
    """One release of rankings: the annotators' files and the judges' folder, of what judges, of what systems."""

    annotations: str
    judges_folder: str
    judges: tuple[str, ...]
    systems: tuple[str, ...]


RELEASES = (
    Release("annot_{}.json", "model_annotations", JUDGES_OF_15, SYSTEMS),
    Release("annot_{}_new.json", "model_annotations/new", JUDGES_OF_13, NEWER_SYSTEMS),
)


def released_overlap(folder: str, *, confidence: float, seed: int) -> list[dict]:
    """Return the rank-biased overlap of the released rankings: rows of schemas.RBO, without the study.

    Systems are ranked by wins under each of 50 instructions, of equal wins the first in the files' order (ties `listed`) or by
    the alphabet of their names in the files (`by name`). form: truncated or extrapolated, see rank_biased_overlap; p = 0.8.
    statistic:

    * aggregate: the ranking by the wins of all judges together with that by the wins of the six annotators together.
    * judges_with_annotators: each judge with each annotator; judge is empty in the mean over judges.
    * judges_with_annotators_together: each judge with the ranking by the wins of the six annotators together, which is what the
      bars of the authors' figure show.
    * inter_annotator: each pair of annotators.
    * listing_order: the systems in the files' order, whatever they answered, with each annotator.
    * listing_order_with_annotators_together: the same with the ranking by the wins of the six annotators together.

    value is the mean over rankers and instructions, rankings the number of pairs of rankings that it is a mean of. as_coded is
    what the published code prints: the mean over instructions of each pair of rankers, rounded to three decimals, then
    averaged; empty of the aggregate, which is of one pair. above_list, of a judge: its value minus that of the listing order
    with the same annotators, with its percentile interval by a bootstrap over the instructions (the annotators are kept).
    """
    rows = []
    for release in RELEASES:
        numbers = range(1, ANNOTATORS + 1)
        paths = [f"{folder}/{BATCHES}/human_annotations/{release.annotations.format(number)}" for number in numbers]
        ranked = [read_wins(path, release.systems) for path in paths]
        listed = ranked[0].systems
        annotators = np.stack([wins.of(listed) for wins in ranked])
        judges = np.stack([wins_of_judge(folder, release.judges_folder, judge).of(listed) for judge in release.judges])
        for ties in (LISTED, BY_NAME):
            columns = np.arange(len(listed)) if ties == LISTED else np.argsort(listed)
            for form in FORMS:
                tables = _overlaps(annotators[..., columns], judges[..., columns], columns, extrapolated=form == FORMS[1])
                same = {"form": form, "systems": len(listed), "ties": ties}
                above = {name: _above(tables, name, confidence=confidence, seed=seed) for name in BLIND}
                rows += [{**same, **row} for row in _rows(tables, above, [JUDGES[judge] for judge in release.judges])]
    return rows


def _overlaps(annotators: np.ndarray, judges: np.ndarray, listing: np.ndarray, *, extrapolated: bool) -> dict[str, np.ndarray]:
    """Overlap by statistic, (one ranker, the other, instructions); the wins are (rankers, instructions, systems)."""
    human, judged = places(annotators), places(judges)
    together = places(annotators.sum(axis=0)), places(judges.sum(axis=0))
    one, other = np.triu_indices(len(human), k=1)
    compared = {
        "aggregate": together,
        "judges_with_annotators": (judged[:, None], human),
        "judges_with_annotators_together": (judged[:, None], together[0]),
        "inter_annotator": (human[one], human[other]),
        "listing_order": (listing, human),
        "listing_order_with_annotators_together": (listing, together[0]),
    }
    overlaps = {name: rank_biased_overlap(*pair, extrapolated=extrapolated) for name, pair in compared.items()}
    return {name: overlap[(None,) * (3 - overlap.ndim)] for name, overlap in overlaps.items()}


def _above(overlaps: dict[str, np.ndarray], statistic: str, *, confidence: float, seed: int) -> list[dict[str, float]]:
    """Overlap of each judge minus that of the listing order, with its interval."""
    difference = (overlaps[statistic] - overlaps[BLIND[statistic]]).mean(axis=1).T  # (instructions, judges)
    ends = percentile_intervals(difference, lambda totals: totals / len(difference), confidence=confidence, seed=seed)
    columns = zip(difference.mean(axis=0), *ends, strict=True)
    return [dict(zip(("above_list", "ci_low", "ci_high"), map(float, numbers), strict=True)) for numbers in columns]


def _rows(overlaps: dict[str, np.ndarray], above: dict[str, list], judges: Sequence[str]) -> Iterator[dict]:
    for statistic, overlap in overlaps.items():
        of_pairs = overlap.mean(axis=-1)  # (one ranker, the other)
        coded = np.round(of_pairs, DECIMALS)
        for number, judge in enumerate(judges if statistic in BLIND else ()):
            value, rounded = float(of_pairs[number].mean()), float(coded[number].mean())
            row = {"statistic": statistic, "judge": judge, "value": value, "as_coded": rounded, "rankings": overlap[0].size}
            yield row | above[statistic][number]
        row = {"statistic": statistic, "value": float(of_pairs.mean()), "rankings": overlap.size}
        yield row if statistic == "aggregate" else {**row, "as_coded": float(coded.mean())}
