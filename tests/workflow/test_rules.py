"""Rules: the code of a script, and what jobs ask of a cluster, more at each attempt and for larger
files.
"""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from conftest import ROOT
from recuse.workflow.records import is_shipped
from recuse.workflow.rules import GROWTH, MOST, asks, code_files

LIBRARY = "workflow/lib/recuse"


@pytest.fixture(autouse=True)
def in_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_code_of_a_script_is_what_it_imports_directly_and_through_others():
    code = code_files("gather_cells.py")
    assert code == sorted(code)
    assert {
        "workflow/scripts/gather_cells.py",
        f"{LIBRARY}/data/cells.py",
        f"{LIBRARY}/base/database.py",
    } <= set(code)
    assert f"{LIBRARY}/model/fit.py" not in code
    assert all(map(is_shipped, code))


LOADED = """
import runpy, sys
from pathlib import Path
for script in sorted(Path("workflow/scripts").glob("*.py")):
    for name in [name for name in sys.modules if name.startswith("recuse")]:
        del sys.modules[name]
    runpy.run_path(str(script), run_name="script")
    files = [module.__file__ for name, module in sys.modules.items() if name.startswith("recuse.")]
    print(script.name, *(file for file in files if not file.endswith("__init__.py")))
"""


def test_code_of_every_script_is_all_that_its_import_loads():
    """And no more, against the interpreter; but it does not load what is imported inside functions,
    of which collect.py alone uses any.
    """
    environment = {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    run = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True
    )
    loaded = {script: files for script, *files in map(str.split, run.stdout.splitlines())}
    assert len(loaded) > 30
    for script, files in loaded.items():
        of_script = {f"workflow/scripts/{script}", *(f.removeprefix(f"{ROOT}/") for f in files)}
        code = set(code_files(script))
        assert of_script <= code
        assert (of_script == code) == (script != "collect.py"), script


def test_a_rule_has_the_code_of_its_own_script_and_the_files_that_it_reads():
    rules = "".join(path.read_text("utf-8") for path in ROOT.glob("workflow/rules/*.smk"))
    pattern = r'contents\(\s*"(\w+\.py)".*?script:\s*"\.\./scripts/(\w+\.py)"'
    pairs = re.findall(pattern, rules, re.DOTALL)
    assert len(pairs) > 30
    assert [code for code, _ in pairs] == [script for _, script in pairs]
    # Published files have git blob ids; any others may be replaced by older ones.
    of_files = r"raw=(of_study\(Study\.(?!released).*?\)).*?contents\((.*?)script:"
    read = re.findall(of_files, rules, re.DOTALL)
    assert len(read) > 5
    assert all(files in contents for files, contents in read)


def test_code_of_a_script_with_a_module_by_name():
    code = code_files("gather_cells.py", "recuse.plot.scores")
    assert {
        *code_files("gather_cells.py"),
        f"{LIBRARY}/plot/scores.py",
        f"{LIBRARY}/plot/style.py",
    } <= set(code)
    assert f"{LIBRARY}/plot/slices.py" not in code
    assert code_files("gather_cells.py", "recuse.plot.scores:mean_scores_figure") == code


def test_each_retry_asks_for_as_much_again():
    asked = asks(mem_mb=600, runtime=5)
    assert [asked["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [600, 1200, 1800]
    assert [asked["runtime"](None, attempt) for attempt in (1, 2, 3)] == [5, 10, 15]


def test_larger_raw_files_ask_for_more_up_to_a_limit():
    asked = asks(mem_mb=1000, runtime=20, megabytes=lambda wildcards: wildcards.megabytes)

    def amount(resource, megabytes, attempt=1):
        return asked[resource](SimpleNamespace(megabytes=megabytes), attempt)

    assert amount("mem_mb", 0) == 1000
    assert amount("mem_mb", 5) == 1000 + 8 * 5
    assert amount("mem_mb", 5, attempt=3) == 3 * (1000 + 8 * 5)
    assert amount("runtime", 500) == 20 + GROWTH["runtime"] * 500
    assert amount("mem_mb", 1e6) == MOST["mem_mb"]
    assert amount("mem_mb", 1e6, attempt=2) == 2 * MOST["mem_mb"]
