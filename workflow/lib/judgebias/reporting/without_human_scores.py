"""What a report shows of a study without human scores: biases against the other judges in the place of Equation 1."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgebias.reporting.views import VIEWS, Row, View

AGAINST_JUDGES = "compared with the other judges of the same models"
GAP = (
    "No row has a human score. The gap is between what a judge gives its own answers and what the other judges give the same "
    "models (estimand B), in points of a scale from 0 to 1. Above 0 the judge favours itself, compared with them."
)
NO_TRUTH = (
    "Who is right: without human scores, a judge that is right where the others are wrong looks the same as one that is "
    "biased. One that uses more of the scale than the others seems to favour its own answers where these are better than most."
)
OTHER_VIEWS = (
    " Other views compare the judges in each dimension or on each completion, and ask whether a bias is more than ordinary "
    "taste, or may come of missing ratings:"
)
SHOWN: Mapping[str, View] = {
    "main": replace(
        VIEWS["main"],
        title="Self- and family-bias against the other judges",
        words="Gap to what the other judges give the same models (estimand B), in points of the unit scale. “Own rows” are the "
        "ratings that carry the bias.",
    ),
    "leaderboard": replace(
        VIEWS["leaderboard"],
        words=f"{VIEWS['leaderboard'].words} The biases are gaps to the other judges (estimand B).",
        kept=lambda row: not row["slice"],
    ),
}


def with_stand_in(tables: Mapping[str, Sequence[Row]], spec: str) -> dict[str, Sequence[Row]]:
    """The tables of a report with the rows of a spec that compares judges in the place of those of `main`."""
    of_spec = {
        name: [row for row in tables[of] if row["spec"] == spec]
        for name, of in (("main", "estimates"), ("leaderboard", "leaderboard"))
        if of in tables
    }
    return {**tables, **of_spec}


def with_views_shown(figure: Mapping, rows: Sequence[Row]) -> Mapping:
    """What the report is told of a figure, in its `params` those views of the conclusions alone that the table has rows of."""
    if "views" not in figure["params"]:
        return figure
    present = {row["view"] for row in rows}
    views = {name: view for name, view in figure["params"]["views"].items() if name in present}
    return {**figure, "params": {**figure["params"], "views": views}}
