"""The command `import`: what it refuses to write."""

from pathlib import Path

import pytest

RATED = "judge,model,prompt_id,rating\na,a,p,1\na,a,p,5\na,b,p,3\nb,a,p,2\n"
COMPARED = "judge,item,model_a,model_b,order,outcome\na,1,a,b,ab,a\na,1,a,b,ab,b\na,1,a,b,ba,b\n"
OURS = "{}: {{ours: {{title: t, import: {{files: rows.csv}}{}}}}}"
SCALES = ", scales: {default: [1, 5]}"


@pytest.mark.parametrize(
    ("kind", "rows", "settings", "words"),
    [
        ("studies", RATED, SCALES, "are already in rows.csv, line 2"),
        ("comparisons", COMPARED, "", "is already in rows.csv, line 2"),
    ],
)
def test_contradictory_rows_are_not_written(run_command, kind, rows, settings, words):
    Path("rows.csv").write_text(rows)
    Path("mine.yaml").write_text(OURS.format(kind, settings))
    status, _, error = run_command("import", "mine.yaml", "--output", "all.csv")
    assert status == 1
    assert words in error
    assert not Path("all.csv").exists()


def test_a_name_that_the_study_itself_writes_is_not_said_to_be_configs(run_command):
    rows = [
        f"{judge},openai/gpt-4o,p{n},{n % 5 + 1}" for judge in ("gpt-4o", "b") for n in range(9)
    ]
    Path("rows.csv").write_text("\n".join(["judge,model,prompt_id,rating", *rows]))
    families = f"{SCALES}, families: {{GPT: {{gpt-4o: [openai/gpt-4o]}}}}"
    for settings, expected in ((SCALES, True), (families, False)):
        Path("mine.yaml").write_text(OURS.format("studies", settings))
        status, page, error = run_command("import", "mine.yaml", "--output", "all.csv")
        assert status == 0
        assert ("as config has it" in page + error) == expected
