"""The findings of a check as a page of text."""

from rated_tables import FIVE, by_subject, findings_of, rated
from recuse.base.words import percent
from recuse.check.check import page_of

LLAMA, TWO = FIVE[3], (FIVE[0], FIVE[2])


def test_page_is_read_at_80_columns(tmp_path):
    long = "A judge of a name that is longer than the column for it"
    models = {name: {"family": "one" if name in TWO else name} for name in (*FIVE, long)}
    rows = rated((*TWO, LLAMA, long), (*FIVE, long), prompts=20, rating=lambda judge, *given: 5 if judge == LLAMA else None)
    findings = findings_of(tmp_path, rows, models=models)[0]
    found, page = by_subject(findings), page_of("made up", findings)
    assert max(map(len, page.splitlines())) < 80
    assert page.isascii()
    assert (
        page.index("supports: ")
        < page.index("Warnings")
        < page.index("Notes")
        < page.index("What is there")
        < page.index("By judge")
    )
    assert f"  1. {LLAMA} gives one value always" in page
    line = next(line for line in page.splitlines() if line.startswith("A judge of a name that"))
    value = found["detectable", f"A {long}"].value
    assert line.split()[-7:-2] == [
        "ABC",
        "0%",
        percent(found["ceiling", long].value).replace(" ", ""),
        percent(found["floor", long].value).replace(" ", ""),
        f"{value:.3f}",
    ]
    silent = next(line for line in page.splitlines() if line.startswith(f"{LLAMA} "))
    assert silent.split()[-7:] == ["-", "0%", "100%", "0%", "-", "-", "-"]
