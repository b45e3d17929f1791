"""The scorecard as a page to read: one HTML file that needs nothing else."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recuse.base.words import BADGES
from recuse.papers.scorecard import ABSENT, DIFFERS, MATCH, SCORECARD
from recuse.papers.values import ORDER
from recuse.report.html import rendered

VERDICTS = (MATCH, DIFFERS, ABSENT)


def page(
    rows: Iterable[Mapping],
    claims: Sequence[Mapping],
    *,
    label: str,
    kind: str,
    template: str | Path,
) -> str:
    """Render the scorecard, rows of the tables SCORECARD and CLAIMS, as HTML.

    label: title of the study; kind: simulated, published or user; template: path of the Jinja
    source. The page has the verdicts counted by figure, the claims with their evidence, and every
    value that differs, with its cause.
    """
    values = [row for row in rows if row["item"] != "claim"]
    verdicts = [claim["verdict"] for claim in claims]
    notes = Counter(row["cause"] for row in values if row["verdict"] == MATCH and row["cause"])
    return rendered(
        template,
        label=label,
        badges=BADGES,
        kind=kind,
        verdicts=VERDICTS,
        figures=deviations_by_figure(values),
        claims=claims,
        claim_counts={verdict: verdicts.count(verdict) for verdict in ("holds", "fails", ABSENT)},
        differing=[
            {**dict.fromkeys(SCORECARD, ""), **row} for row in values if row["verdict"] == DIFFERS
        ],
        noted=sorted(notes.items()),
    )


def deviations_by_figure(values: Iterable[Mapping]) -> list[dict]:
    """Count the verdicts by figure, in the order of the paper: figure, count of each verdict,
    largest absolute deviation.

    The largest deviation is None if no value could be compared.
    """
    by_figure: dict[str, list[Mapping]] = {figure: [] for figure in ORDER}
    for row in values:
        by_figure[row["figure"]].append(row)
    return [
        {
            "figure": figure,
            "counts": {
                verdict: sum(row["verdict"] == verdict for row in group) for verdict in VERDICTS
            },
            "largest": max(
                (abs(row["deviation"]) for row in group if row["verdict"] != ABSENT), default=None
            ),
            "absent": "; ".join(
                dict.fromkeys(row["cause"] for row in group if row["verdict"] == ABSENT)
            ),
        }
        for figure, group in by_figure.items()
        if group
    ]
