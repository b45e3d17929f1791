"""Which judges to combine: the panel to take, beside that of all judges and one judge a prompt."""

from dataclasses import replace
from operator import itemgetter

from recuse.base.reasons import Reason, code
from recuse.inference.panel import BETWEEN, KEPT
from recuse.inference.round_robin import BY_PROMPT
from recuse.report.tables import TableRows, grouped, where
from recuse.report.verdict import PageSection, Unit

COUNTS = Unit("", 1, 1, "")
UNMEASURED = {
    Reason.NO_HUMAN_SCORE: "without human scores",
    Reason.NOT_ALL_SCORED: "where answers have no human score",
}


def panel_section(panels: TableRows, plans: TableRows, unit: Unit) -> PageSection | None:
    """The recommended panel, beside all judges and one judge a prompt; None if no panel is
    recommended.

    panels, plans: rows of the tables panel and round_robin, as texts.
    """
    chosen = next((row for row in panels if row["recommended"]), None)
    if chosen is None:
        return None
    everyone = panels[0]["panel"]
    others = [row for row in where(panels, panel=everyone) if row is not chosen]
    by_prompt = where(plans, scheme=BY_PROMPT, panel=everyone)
    return PageSection.from_template(
        "panel",
        empty="–",
        chosen=chosen,
        others=others[:1],
        plans=[row for row in by_prompt if row["factor"]],
        everyone=everyone,
        between=BETWEEN,
        kept=KEPT,
        without=UNMEASURED.get(code(chosen["note"]), ""),
        left_out=grouped(where(panels, family_ratings=""), itemgetter("note")),
        unit=replace(unit, mark=""),
        counts=COUNTS,
    )
