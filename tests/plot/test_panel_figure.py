"""The figure of panels of judges, and the section of the report on them: what they say follows from the tables."""

import numpy as np
import pandas as pd
import pytest

from drawings import VERY_LONG, artists, drawn_twice, has_room, is_page_of, on_paper, prose, subject
from recuse.base.tables import PANEL, ROUND_ROBIN
from recuse.inference.judge_errors import judge_errors
from recuse.inference.panel_choice import AMONG_JUDGES, HUMANS, JUDGES, NO_LEVELS, NOT_RATED, UNLINKED, panel_rows
from recuse.inference.round_robin import round_robin_rows
from recuse.montecarlo.world import MonteCarloWorld
from recuse.plot.panel import NONE, finding, panel
from recuse.report.panel import LIMITS, panel_section
from recuse.report.verdict import unit_of
from report_pages import texts as as_texts

DIALS = {"families": [2, 1, 1, 1], "dimensions": 2, "prompts": 80, "intercept": 0.1, "slope": 1.0, "noise": 0.2}


def tables_of(*, most=3, **dials):
    study = MonteCarloWorld(**DIALS | {"self_bias": 0.1} | dials).draw(np.random.default_rng(2))
    errors = judge_errors(study, {})
    rows = panel_rows(errors, [], judges=most, least=10, confidence=0.9)
    return rows, list(round_robin_rows(errors, study, rows))


@pytest.fixture(scope="module")
def rows():
    return tables_of()


def frame(rows):
    return pd.DataFrame(rows, columns=PANEL)


def drawn(rows):
    return panel(frame(rows), subject(), confidence=0.9)


def test_the_best_panels_are_marked_with_intervals_and_tested_panels_beside_them(rows):
    figure = drawn(rows[0])
    best = [row for row in rows[0] if "bias_left" in row.get("best", "").split()]
    marks = [y for line in artists(figure, "best") for y in line.get_ydata()]
    for row in best:
        assert any(abs(y - row["bias_left"]) < 1e-12 for y in marks)
    crosses = [y for line in artists(figure, "held out") for y in line.get_ydata()]
    assert all(any(abs(y - row["held_out_bias_left"]) < 1e-12 for y in crosses) for row in best)
    kinds = [len(row["best"].split()) for row in rows[0] if "best" in row]
    assert len(artists(figure, "interval")) == sum(kinds)
    assert on_paper(figure)


def test_the_title_gives_the_independent_judges_and_the_bias_with_its_interval(rows):
    whole = next(row for row in rows[0] if row["size"] == 5)
    title = finding(frame(rows[0]))
    assert title.startswith(f"5 judges carry the information of {whole['effective']:.1f} independent ones; ")
    chosen = next(row for row in rows[0] if "models" in row.get("recommended", ""))
    values = [f"{chosen[f'bias_left{end}']:.3f}" for end in ("", "_ci_low", "_ci_high")]
    assert "remaining bias with {} judges: {} ({} to {})".format(chosen["size"], *values) in title
    assert "To compare models: " in prose(drawn(rows[0]))


def test_what_is_not_estimable_is_noted(rows):
    assert is_page_of(drawn([{"note": NO_LEVELS}]), NONE.format(note=NO_LEVELS))
    assert f"1 judge, family ratings left out: {NOT_RATED.format(least=10)}." in prose(drawn(rows[0]))
    assert "1 judge left out: too few answers" in prose(drawn([*rows[0], {"panel": "X", "size": 1, "note": UNLINKED}]))
    assert "independent" not in finding(frame(tables_of(humans=False)[0]))


def test_the_section_names_the_panels_their_remaining_bias_and_its_limits(rows):
    section = panel_section(as_texts(PANEL, rows[0]), as_texts(ROUND_ROBIN, rows[1]), unit_of({"Tone": [1, 5]}), 0.9)
    chosen = next(row for row in rows[0] if "models" in row.get("recommended", ""))
    whole = next(row for row in rows[0] if row["size"] == 5)
    sentence = section.sentence.replace("\u00a0", " ")
    assert f"Remaining bias: {4 * chosen['bias_left']:.2f} points (90 % interval" in sentence
    assert "all judges: " in sentence
    assert f"5 judges carry the information of {whole['effective']:.1f} independent ones." in sentence
    assert "of the ratings are saved" in sentence
    assert section.sentence.endswith(LIMITS[HUMANS])
    assert len({len(row) for row in section.rows} | {len(section.headings)}) == 1
    assert panel_section([], [], unit_of({}), 0.9) is None


def test_without_human_scores_only_these_could_confirm_it():
    rows, plans = tables_of(humans=False)
    section = panel_section(as_texts(PANEL, rows), as_texts(ROUND_ROBIN, plans), unit_of({"Tone": [1, 5]}), 0.9)
    assert section.sentence.endswith(LIMITS[JUDGES])
    more = panel_section(as_texts(PANEL, [*rows, {"panel": "X", "size": 1, "note": UNLINKED}]), [], unit_of({}), 0.9)
    assert "Left out, as too few answers are shared with the others: 1 judge." in more.sentence
    assert "independent ones" not in section.sentence
    assert any(AMONG_JUDGES in row.get("note", "") for row in rows)


def test_the_figure_fits_the_paper_and_is_the_same_twice(rows, tmp_path):
    drawn_twice("panel:panel", tmp_path, {"table": frame(rows[0])}, confidence=0.9)
    long = [row | ({"panel": row["panel"] + VERY_LONG} if "panel" in row else {}) for row in rows[0]]
    assert has_room(drawn(long))
    assert on_paper(drawn(tables_of(most=1)[0]))
