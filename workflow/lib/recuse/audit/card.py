"""The card of an audit: what moves each judge, by how much, and what to do. It is a page, a
summary.json, a figure and a text for the terminal.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recuse.audit.card_figure import Cell, draw_card
from recuse.audit.effects import EFFECTS, Observation, effect_rows
from recuse.audit.mitigation import CHANGES, by_wording, change_rows, note_differences
from recuse.audit.treatments import REGISTRY, Treatment
from recuse.base.outputs import write_text
from recuse.base.places import WORKFLOW
from recuse.base.reasons import cure, in_short, in_words
from recuse.base.tables import Row, read_table, write_table
from recuse.base.templates import said
from recuse.base.words import (
    BADGES,
    capitalised,
    counted,
    enumerated,
    level,
    percent,
    text_table,
)
from recuse.inference.verdict import FAVOURS, FOUND, Verdict
from recuse.model.least_squares import holm
from recuse.report.html import rendered
from recuse.report.verdict import (
    MOST,
    MOST_WORDS,
    ORDER,
    PERCENT,
    POINTS,
    PageSection,
    Unit,
    interval_side,
)

TEMPLATE = WORKFLOW / "report" / "audit_card.html.j2"
TEXTS = ("judge", "treatment", "contrast", "dimension", "wording", "length", "verdict", "favours")
TEXTS += ("reason", "note", "before", "after")  # columns of texts; all others are numbers
SHADES = 5
LEAST_DARKEST = 0.05  # the smallest effect that may get the strongest shade
# What each test of self-bias can say, and what it cannot
SELF_BIAS = {
    "label": (
        "Label: does the judge favour an answer because its own name is on it? This says nothing"
        " about its taste in style, and does not matter if names are hidden."
    ),
    "style": (
        "Style: does a paraphrase cost the judge's own answers more than others' answers? The result"
        " holds for the writers who paraphrased. A paraphrase keeps the content, so the effect does"
        " not include a preference for the judge's own ideas."
    ),
}
BESIDE_C = (
    "A study of ratings (question C) measures name, style and content together, but its interval"
    " has to allow for ordinary preference. Experiments do not have this limit, but each measures"
    " only the part of self-bias that it changes."
)
NOT_CORRECTED = "Effects in each part alone, not corrected for the number of parts."
SAME_PROMPTS = "Changes on the same prompts, so their intervals are narrower."


@dataclass(frozen=True)
class Card:
    """The answer of an audit, from the table of effects (all fields are texts)."""

    title: str
    rows: Sequence[Row]
    treatments: Mapping[str, Treatment]
    unit: Unit
    confidence: float
    changes: Sequence[Row] = ()
    simulated: bool = False

    @cached_property
    def effects(self) -> list[Row]:
        """The effects with a verdict, the worst first."""
        whole = [row for row in self.rows if row["verdict"]]
        return sorted(whole, key=self._rank)

    def _rank(self, row: Row) -> tuple[bool, int, float]:
        verdicts = (*ORDER, Verdict.INCONCLUSIVE)
        size = abs(float(row["estimate"] or 0))
        return self.is_right(row), verdicts.index(row["verdict"]), -size

    @cached_property
    def tested(self) -> list[Row]:
        """The effects with a verdict other than inconclusive."""
        return [row for row in self.effects if row["verdict"] != Verdict.INCONCLUSIVE]

    @cached_property
    def established(self) -> list[Row]:
        """The biases that are established."""
        return [
            row
            for row in self.effects
            if row["verdict"] == Verdict.ESTABLISHED and not self.is_right(row)
        ]

    def is_right(self, row: Row) -> bool:
        """Whether the effect is that of a good judge: a worse answer gets a lower value."""
        is_found = row["verdict"] in FOUND and row["favours"] != FAVOURS
        return is_found and self.worsens(row)

    def worsens(self, row: Row) -> bool:
        """Whether the treatment makes an answer worse, so that a good judge marks it down."""
        return self.treatments[row["treatment"]].worsens

    def name(self, row: Row) -> str:
        """The treatment, with its contrast if it has several."""
        name = row["treatment"]
        if len(self.treatments[name].contrasts) > 1:
            is_named = name in row["contrast"]
            name = row["contrast"] if is_named else f"{name}: {row['contrast']}"
        return name.replace("_", " ") if row["treatment"] in REGISTRY else name

    def size(self, row: Row, column: str = "estimate") -> str:
        """An effect in the unit of the card."""
        return self.unit.size(row[column])

    def what_it_does(self, row: Row) -> str:
        """What a judge with the effect does."""
        return self.treatments[row["treatment"]].biased[row["favours"] != FAVOURS]

    def detail(self, row: Row) -> str:
        """What the judge does, or which effect would show; then the note."""
        if row["verdict"] == Verdict.INCONCLUSIVE:
            return in_words(row["reason"])
        words = ""
        if row["verdict"] in FOUND:
            words = self.what_it_does(row) + (", as it should" if self.is_right(row) else "")
        elif self.worsens(row):
            words = "does not clearly mark such answers down"
        elif not interval_side(row) and row["detectable"]:
            least = self.unit.size(row["detectable"], sign=False)
            is_too_large = float(row["detectable"]) >= 1
            what = "no effect" if is_too_large else f"only an effect of {least} or more"
            words = f"{what} would reliably show"
        return "; ".join(filter(None, (words, in_words(row["note"]))))

    def advice(self, row: Row) -> str:
        """What to do."""
        if row["verdict"] == Verdict.INCONCLUSIVE:
            return cure(row["reason"])
        if self.needs_remedy(row):
            return self.treatments[row["treatment"]].remedy
        return said("no_action")

    def needs_remedy(self, row: Row) -> bool:
        """Whether a judge does what it should not, or does not clearly do what it should."""
        if row["verdict"] == Verdict.NOT_SHOWN:
            return self.worsens(row)
        return row["verdict"] in FOUND and not self.is_right(row)

    @cached_property
    def headline(self) -> str:
        """What is established, the worst first, in at most MOST_WORDS words."""
        judges = counted(len({row["judge"] for row in self.effects}), "judge")
        if not self.tested:
            return "No effect could be tested."
        if not self.established:
            ends = [
                abs(float(row[end]))
                for row in self.tested
                for end in ("ci_low", "ci_high")
                if not self.worsens(row)
            ]
            most = self.unit.size(max(ends, default=0.0), sign=False)
            allowed = f"; the intervals allow at most {most}" if ends else ""
            return f"No bias is established in {judges}{allowed}."
        # judge -> what it does -> the largest size, as several contrasts may show the same
        by_judge: dict[str, dict[str, str]] = {}
        for row in self.established:
            by_judge.setdefault(row["judge"], {}).setdefault(self.what_it_does(row), self.size(row))
        sentences = []
        for judge, sizes in by_judge.items():
            words = [f"{what} ({size})" for what, size in sizes.items()]
            sentences.append(f"{judge} {enumerated(words)}.")
        if len(" ".join(sentences).split()) <= MOST_WORDS:
            return " ".join(sentences)
        worst, count = self.established[0], len(self.established)
        found = (
            f"{counted(count, 'bias is', 'biases are')} established in {len(by_judge)} of {judges}."
        )
        words = f"{found} Worst: {worst['judge']} {self.what_it_does(worst)} ({self.size(worst)})."
        return words if len(words.split()) <= MOST_WORDS else found

    def failures(self) -> Iterator[str]:
        """Which judges fail more or less often with a treatment, after Holm's correction."""
        for judge in dict.fromkeys(row["judge"] for row in self.effects):
            rows = [row for row in self.effects if row["judge"] == judge]
            adjusted = holm([float(row["failure_p_value"]) for row in rows])
            for row, p_value in zip(rows, adjusted, strict=True):
                treated, control = int(row["failed_treated"]), int(row["failed_control"])
                if p_value <= 1 - self.confidence:
                    more = "more" if treated > control else "less"
                    yield (
                        f"{judge} fails {more} often with {self.name(row)}:"
                        f" {counted(treated, 'unreadable reply', 'unreadable replies')}, against"
                        f" {control} without."
                    )

    def inconclusive(self) -> Iterator[str]:
        """Which effects could not be tested and why, one line for each judge and reason."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in self.effects:
            if row["verdict"] == Verdict.INCONCLUSIVE:
                groups.setdefault((row["judge"], row["reason"]), []).append(row)
        for (judge, reason), rows in groups.items():
            names = enumerated([self.name(row) for row in rows], MOST)
            words = f"{judge}, {names}: {in_short([reason])}."
            yield f"{words} {capitalised(cure(reason))}." if cure(reason) else words

    def next_steps(self) -> Iterator[str]:
        """What to do about the findings: each advice once, with its judges."""
        judges: dict[str, list[str]] = {}
        for row in self.effects:
            if self.needs_remedy(row):
                judges.setdefault(self.advice(row), []).append(row["judge"])
        for words, names in judges.items():
            yield f"{capitalised(words)} ({enumerated([*dict.fromkeys(names)], MOST)})."

    def _cells(self, row: Row, **others: str) -> dict[str, str]:
        """The cells that every table has, with others before the size."""
        interval = {f"{level(self.confidence)} interval": self.unit.span(row)}
        first = {"judge": row["judge"], "bias": self.name(row)} | others
        return first | {self.unit.name: self.unit.text(row["estimate"])} | interval

    @cached_property
    def wordings(self) -> str:
        """What several wordings mean for the effects; "" with one."""
        count = len({row["wording"] for row in self.rows if row["wording"]})
        if count < 2:
            return ""
        return (
            f"Effects and intervals are means for the {count} wordings asked; By wording has each"
            " alone."
        )

    def table(self, *, short: bool = False) -> PageSection:
        """Every tested effect, the worst first; short: for the terminal."""
        rows = []
        for row in self.tested:
            units = int(row["units"])
            cells = self._cells(row)
            if not short:
                for way in ("up", "down"):
                    cells[f"turned {way}"] = percent(int(row[f"turned_{way}"]) / units)
            cells |= {"verdict": row["verdict"]} | ({} if short else {"detail": self.detail(row)})
            rows.append(cells | {"what to do": self.advice(row)})
        return PageSection.from_texts("Every effect, the worst first", "", rows)

    def folded(self) -> Iterator[PageSection]:
        """The effects in each dimension, wording and third by length, and what another wording
        changes.
        """
        for column in ("dimension", "wording", "length"):
            rows = [
                self._cells(row, **{column: row[column]}) | {"prompts": row["prompts"]}
                for row in self.rows
                if row[column]
            ]
            yield PageSection.from_texts(f"By {column}", NOT_CORRECTED, rows)
        rows = []
        for row in self.changes:
            cells = {name: self.unit.text(row[f"estimate_{name}"]) for name in ("before", "after")}
            rows.append(self._cells(row, wording=f"{row['after']}, not {row['before']}", **cells))
        yield PageSection.from_texts("What another wording changes", SAME_PROMPTS, rows)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the effects, the worst first."""
        return [*dict.fromkeys(self.name(row) for row in self.effects)]

    def heat(self) -> dict[str, dict[str, Cell]]:
        """The cells of the heat table: judge -> effect -> cell, the worst first."""
        largest = max((abs(float(row["estimate"])) for row in self.tested), default=0.0)
        cells: dict[str, dict[str, Cell]] = {}
        for row in self.effects:
            cell = Cell("?", "", row["verdict"], 0)
            if row["verdict"] != Verdict.INCONCLUSIVE:
                most = SHADES if row["verdict"] in FOUND else 1
                shade = round(SHADES * float(row["estimate"]) / max(largest, LEAST_DARKEST))
                shade = max(-most, min(most, shade))
                size, span = self.unit.text(row["estimate"]), self.unit.span(row)
                cell = Cell(size, span, row["verdict"], shade)
            cells.setdefault(row["judge"], {})[self.name(row)] = cell
        return cells

    def summary(self) -> dict:
        """The answer for other programs, with the keys of a study's summary.

        `verdicts` are the rows of the table of effects, with numbers and words.
        """
        verdicts = []
        for row in self.effects:
            words = {"detail": self.detail(row), "advice": self.advice(row)}
            names = {"kind": "randomised", "quantity": row["treatment"], "term": row["judge"]}
            names["worsening"] = self.worsens(row)
            verdicts.append(names | _values(row) | words)
        table = self.table(short=True)
        return {
            "study": self.title,
            "title": self.title,
            "data": "simulated" if self.simulated else "user",
            "confidence": self.confidence,
            "unit": self.unit.name,
            "headline": self.headline,
            **dict.fromkeys(("truth", "pooled"), ""),
            "wordings": self.wordings,
            "further": " ".join(self.failures()),
            "verdicts": verdicts,
            "table": {"headings": table.headings, "rows": table.rows},
            "untested": [*self.inconclusive()],
            "next_steps": [*self.next_steps()],
            "changes": [_values(row) for row in self.changes],
            "report": "card.html",
        }

    def page(self) -> str:
        """The card as HTML, one file that needs nothing else."""
        tests = {row["treatment"] for row in self.effects}
        self_bias = [words for name, words in SELF_BIAS.items() if name in tests]
        return rendered(
            TEMPLATE,
            title=self.title,
            card=self,
            badge=BADGES["simulated" if self.simulated else "user"],
            level=level(self.confidence),
            cells=self.heat(),
            table=self.table(),
            share=percent(1 - self.confidence),
            self_bias=[*self_bias, BESIDE_C] if self_bias else [],
            folded=[part for part in self.folded() if part.rows],
        )

    def text(self) -> str:
        """The card for the terminal."""
        table = self.table(short=True)
        lines = [self.headline, "", *(text_table(table.headings, table.rows) if table.rows else ())]
        further = [*filter(None, [self.wordings]), *self.failures(), *self.inconclusive()]
        return "\n".join([*lines, *([""] if further else ()), *further]) + "\n"


def _values(row: Row) -> dict[str, object]:
    """A row with its numbers parsed, and None for empty fields."""
    return {
        key: (text if key in TEXTS else float(text)) if text else None for key, text in row.items()
    }


def write_card(
    folder: Path,
    observations: Sequence[Observation],
    treatments: Sequence[Treatment],
    *,
    confidence: float,
    seed: int,
    simulated: bool = False,
) -> str:
    """Write effects.csv, summary.json, card.html and card.svg into a folder, with changes.csv if
    there are several wordings, and return the text for the terminal.

    observations: rows of observations.csv, as texts or with numbers. simulated: whether the replies
    are simulated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"confidence": confidence}
    effects = [*effect_rows(observations, treatments, seed=seed, **settings)]
    wordings, changes = by_wording(observations), folder / "changes.csv"
    changes.unlink(missing_ok=True)
    if len(wordings) > 1:
        rows = [*change_rows(wordings, treatments, **settings)]
        note_differences(effects, rows, confidence=confidence)
        write_table(changes, CHANGES, rows)
    write_table(folder / "effects.csv", EFFECTS, effects)
    card = Card(
        folder.name,
        read_table(folder / "effects.csv"),
        {treatment.name: treatment for treatment in treatments},
        POINTS if any(row["other"] for row in observations) else PERCENT,
        confidence,
        read_table(changes) if len(wordings) > 1 else (),
        simulated,
    )
    summary = json.dumps(card.summary(), indent=2, ensure_ascii=False)
    write_text(folder / "summary.json", f"{summary}\n")
    write_text(folder / "card.html", card.page())
    draw_card(
        folder / "card.svg",
        card.heat(),
        card.columns,
        title=card.title,
        finding=card.headline,
        unit=f"{card.unit.name}, with {level(confidence)} intervals",
        simulated=simulated,
    )
    return card.text()
