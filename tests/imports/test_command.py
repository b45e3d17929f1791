"""The command `import`: what it refuses to write."""

import sys
from pathlib import Path

import pytest

from recuse.cli import main

pytestmark = pytest.mark.usefixtures("own_folder")

RATED = "judge,model,prompt_id,rating\na,a,p,1\na,a,p,5\na,b,p,3\nb,a,p,2\n"
COMPARED = "judge,item,model_a,model_b,order,outcome\na,1,a,b,ab,a\na,1,a,b,ab,b\na,1,a,b,ba,b\n"


@pytest.mark.parametrize(
    ("kind", "rows", "settings", "words"),
    [
        ("studies", RATED, ", scales: {default: [1, 5]}", "are already in rows.csv, line 2"),
        ("comparisons", COMPARED, "", "is already in rows.csv, line 2"),
    ],
)
def test_contradictory_rows_are_not_written(kind, rows, settings, words, monkeypatch, capfd):
    Path("rows.csv").write_text(rows)
    study = f"{kind}: {{ours: {{title: t, import: {{files: rows.csv}}{settings}}}}}"
    Path("mine.yaml").write_text(study)
    monkeypatch.setattr(sys, "argv", ["recuse", "import", "mine.yaml", "--output", "all.csv"])
    assert main() == 1
    assert words in capfd.readouterr().err
    assert not Path("all.csv").exists()


def test_a_name_that_the_study_itself_writes_is_not_said_to_be_configs(monkeypatch, capfd):
    rows = [
        f"{judge},openai/gpt-4o,p{n},{n % 5 + 1}" for judge in ("gpt-4o", "b") for n in range(9)
    ]
    Path("rows.csv").write_text("\n".join(["judge,model,prompt_id,rating", *rows]))
    study = "title: t, import: {files: rows.csv}, scales: {default: [1, 5]}"
    families = "families: {GPT: {gpt-4o: [openai/gpt-4o]}}"
    monkeypatch.setattr(sys, "argv", ["recuse", "import", "mine.yaml", "--output", "all.csv"])
    for added, expected in (("", True), (f", {families}", False)):
        Path("mine.yaml").write_text(f"studies: {{ours: {{{study}{added}}}}}")
        assert main() == 0
        captured = capfd.readouterr()
        assert ("as config has it" in captured.out + captured.err) == expected
