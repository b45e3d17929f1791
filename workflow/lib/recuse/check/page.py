"""The page of what a study supports: text, 80 columns wide, with the verdict, warnings and notes,
and a line for each judge.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import fill

from recuse.base.words import enumerated, percent, visible, with_gold_labels
from recuse.check.facts import FINE, LETTERS, NOTE, WARNING, Finding

WIDTH = 79
NAME = 24  # letters of a judge's name in the table
ESTIMANDS = (
    "A is a judge's gap to the human scores, B its gap to what the other judges give, C its gap"
    " beyond ordinary preference for one model or another. Sizes are shares of the scale."
)
BY_JUDGE = (
    "self: estimands of its self-bias. lacks: ratings missing. top, bottom: ratings at an end of"
    " the scale. A, C: the smallest self-bias found with the power asked for, estimated from these"
    " ratings; floor: the part of C's standard error that more prompts cannot reduce."
)
BY_JUDGE_OF_COMPARISONS = (
    "answers: comparisons of its own answers. draws: ties, and verdicts that change with the order."
    " own, longer, first: the smallest difference found with the power asked for, in percentage"
    " points, of how often it chooses its own or the longer answer from how often the humans do,"
    " and of how often it chooses the answer shown first from one half."
)
SHOWN: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(("ceiling", "floor", "scale use", "missing", "no human score"), percent),
    "detectable": "{:.3f}".format,
    **dict.fromkeys(("agreement", "reliability"), "{:.2f}".format),
    **dict.fromkeys(("orders", "draws"), percent),
}


def check_page(
    study: str, findings: Sequence[Finding], *, of_ratings: bool = True, gold: bool = False
) -> str:
    """Lay out the findings of a study of ratings, or of comparisons, in their order. gold: its
    reference are gold labels.
    """
    verdicts = [finding for finding in findings if finding.topic == "verdict"]
    rest = [finding for finding in findings if finding.topic != "verdict" and not finding.is_first]
    lines = [f"{study}: what these {'ratings' if of_ratings else 'comparisons'} support", ""]
    for group in _grouped(finding for finding in findings if finding.is_first):
        lines += [*_entry("  ", group), ""]
    lines += [_wrapped(finding.words, "  ", "    ") for finding in verdicts]
    lines += [
        _wrapped(f"-> {finding.advice}", "    ", "       ")
        for finding in verdicts
        if finding.advice
    ]
    lines += (
        ["", _wrapped(with_gold_labels(ESTIMANDS) if gold else ESTIMANDS, "  ", "  ")]
        if of_ratings
        else []
    )
    for title, level in (("Warnings, most important first", WARNING), ("Notes", NOTE)):
        groups = _grouped(finding for finding in rest if finding.level == level)
        lines += ["", title] if groups else []
        for number, group in enumerate(groups, 1):
            lines += _entry(f"{number:>3}. ", group)
    lines += ["", "Contents"]
    for topic in ("contents", "range", "names", "families"):
        for finding in rest:
            # A family without pairs of a judge and a sibling is not worth a line.
            if (
                finding.topic == topic
                and finding.level == FINE
                and (topic != "families" or finding.value)
            ):
                lines.append(_wrapped(f"- {finding.words}", "  ", "    "))
    return "\n".join([*lines, "", *(_by_judge if of_ratings else _by_judge_of_pairs)(rest)]) + "\n"


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one topic and advice together, in the order of the first of each."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.topic, finding.advice), []).append(finding)
    return [*groups.values()]


def _entry(mark: str, group: Sequence[Finding]) -> Iterator[str]:
    """The first of a group in words, the others by name with their value or their estimands, and
    the advice.
    """
    first, words, shown, names = group[0], group[0].words, SHOWN.get(group[0].topic), {}
    for finding in group:
        letter, _, term = finding.subject.partition(": ")
        if first.topic == "estimable":
            names.setdefault(term, []).append(letter)
        else:  # shares are shown, counts are not
            value = finding.value
            names[finding.subject or "all ratings"] = (
                [shown(value)] if shown and isinstance(value, float) else []
            )
    name, *others = (
        f"{name} ({', '.join(details)})" if details else name for name, details in names.items()
    )
    if first.topic == "estimable":
        words = words.replace(first.subject, name, 1)
    blank = " " * len(mark)
    yield _wrapped(words, mark, blank)
    if others:
        yield _wrapped(f"Also: {enumerated(others, most=5)}", blank, blank + "  ")
    if first.advice:
        yield _wrapped(f"-> {first.advice}", blank, blank + "   ")


def _by_judge(findings: Sequence[Finding]) -> Iterator[str]:
    """A line for each judge."""
    values = {(finding.topic, finding.subject): finding.value for finding in findings}
    self_bias = f"{LETTERS[0]}: self-bias of "
    subjects = [
        subject for topic, subject in values if topic == "estimable" and self_bias in subject
    ]
    yield (
        f"{'By judge':{NAME}} {'self':>5} {'lacks':>6} {'top':>5} {'bottom':>6} {'A':>7} {'C':>7}"
        f" {'floor':>7}"
    )
    for judge in sorted(subject.removeprefix(self_bias) for subject in subjects):
        letters = "".join(
            letter
            for letter in LETTERS
            if values.get(("estimable", f"{letter}: self-bias of {judge}"))
        )
        shares = [
            values.get(key)
            for key in (("missing", f"judge {judge}"), ("ceiling", judge), ("floor", judge))
        ]
        short = [
            "-" if share is None else percent(share).replace("under ", "<").replace(" %", "%")
            for share in shares
        ]
        sizes = [values.get(("detectable", f"{of} {judge}")) for of in ("A", "C", "floor of C")]
        numbers = "".join(f" {'-' if size is None else f'{size:.3f}':>7}" for size in sizes)
        yield (
            f"{_short(judge):{NAME}} {letters or '-':>5} {short[0]:>6} {short[1]:>5}"
            f" {short[2]:>6}{numbers}"
        )
    yield ""
    yield _wrapped(BY_JUDGE, "  ", "  ")


def _by_judge_of_pairs(findings: Sequence[Finding]) -> Iterator[str]:
    """A line for each judge: its comparisons, draws, and the smallest difference that would be
    found, in percentage points.
    """
    values = {(finding.topic, finding.subject): finding.value for finding in findings}
    yield f"{'By judge':{NAME}} {'answers':>8} {'draws':>6} {'own':>6} {'longer':>6} {'first':>6}"
    for judge in (subject for topic, subject in values if topic == "orders"):
        draws = values.get(("draws", judge))
        sizes = [
            values.get(("detectable", f"{what} {judge}"))
            for what in ("self-bias of", "longer answers:", "first answers:")
        ]
        numbers = "".join(f" {'-' if size is None else f'{100 * size:.1f}':>6}" for size in sizes)
        share = "-" if draws is None else percent(draws).replace(" %", "%")
        yield (
            f"{_short(judge):{NAME}} {values.get(('own answers', judge), 0):>8,}"
            f" {share:>6}{numbers}"
        )
    yield ""
    yield _wrapped(BY_JUDGE_OF_COMPARISONS, "  ", "  ")


def _short(judge: str) -> str:
    judge = visible(judge)
    return judge if len(judge) <= NAME else f"{judge[: NAME - 2]}.."


def _wrapped(words: str, first: str, later: str) -> str:
    return fill(
        visible(words), WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
