"""The examples in docstrings of the library."""

import doctest
import importlib
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "workflow/lib"
MODULES = sorted(
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
    for path in LIBRARY.glob("recuse/*/*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples():
    assert len(MODULES) >= 5
