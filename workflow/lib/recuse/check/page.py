"""The page of what a study supports: text, 80 columns wide, with the verdict, warnings and notes,
and a line for each judge.
"""

from collections.abc import Iterable, Sequence
from textwrap import fill

from recuse.base.templates import environment
from recuse.base.words import enumerated, percent, visible, with_gold_labels
from recuse.check.facts import FINE, NOTE, SENTENCES, WARNING, Finding

WIDTH = 79
NAME = 24  # letters of a judge's name in the table
ABOUT = ("letter", "quantity", "factor", "term")  # facts that say what a finding is about


def check_page(
    study: str, findings: Sequence[Finding], *, of_ratings: bool = True, gold: bool = False
) -> str:
    """Lay out the findings of a study of ratings, or of comparisons, in their order. gold: its
    reference are gold labels.
    """
    rest = [each for each in findings if each.topic != "verdict" and not each.is_first]
    every_judge = "ceiling" if of_ratings else "orders"
    fine = [each for each in rest if each.level == FINE]
    filters = (entry, short, share, size, with_gold_labels, wrapped)
    templates = environment(SENTENCES.parent, *filters, keep_trailing_newline=True)
    return templates.get_template("check.txt.j2").render(
        study=study,
        of_ratings=of_ratings,
        gold=gold,
        first=_grouped(each for each in findings if each.is_first),
        verdicts=[each for each in findings if each.topic == "verdict"],
        sections={
            "Warnings, most important first": _grouped(e for e in rest if e.level == WARNING),
            "Notes": _grouped(each for each in rest if each.level == NOTE),
        },
        # A family without pairs of a judge and a sibling is not worth a line.
        contents=[
            each
            for topic in ("contents", "range", "names", "families")
            for each in fine
            if each.topic == topic and (topic != "families" or each.value)
        ],
        judges=sorted(each.facts["term"] for each in findings if each.topic == every_judge),
        values={_key(each): each.value for each in rest},
        width=NAME,
    )


def _key(finding: Finding) -> tuple[str, ...]:
    """Its code and what it is about, by which the table of judges finds its value."""
    return finding.code, *(finding.facts[name] for name in ABOUT if name in finding.facts)


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one topic and advice together, in the order of the first of each."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.topic, finding.advice), []).append(finding)
    return [*groups.values()]


def entry(group: Sequence[Finding], mark: str) -> str:
    """The first of a group in words, the others by name with a detail, and the advice."""
    first = group[0]
    names: dict[str, list[str]] = {}
    for finding in group:
        label = finding.sentence("label") or finding.subject or "all ratings"
        names.setdefault(label, []).append(finding.sentence("detail"))
    name, *others = (
        f"{name} ({', '.join(details)})" if any(details) else name
        for name, details in names.items()
    )
    words = first.sentence("words", subject=name) if first.sentence("label") else first.words
    blank = " " * len(mark)
    lines = [wrapped(words, mark, blank)]
    if others:
        lines.append(wrapped(f"Also: {enumerated(others, most=5)}", blank, blank + "  "))
    if first.advice:
        lines.append(wrapped(f"-> {first.advice}", blank, blank + "   "))
    return "\n".join(lines)


def share(value: float | None) -> str:
    """A share in few characters."""
    return "-" if value is None else percent(value).replace("under ", "<").replace(" %", "%")


def size(value: float | None, digits: int, scale: float = 1) -> str:
    """A size times `scale` with so many digits."""
    return "-" if value is None else f"{scale * value:.{digits}f}"


def short(judge: str) -> str:
    """The beginning of a judge's name, if it is long."""
    judge = visible(judge)
    return judge if len(judge) <= NAME else f"{judge[: NAME - 2]}.."


def wrapped(words: str, first: str, later: str) -> str:
    """The words in lines, the first and the later ones with their indents."""
    return fill(
        visible(words), WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
