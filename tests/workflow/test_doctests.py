"""The examples in docstrings of the library."""

import doctest
import importlib
from pathlib import Path

import pytest

import recuse
from example_data import ratings_of_example

LIBRARY = Path(__file__).resolve().parents[2] / "workflow/lib"
MODULES = sorted(
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
    for path in LIBRARY.rglob("recuse/**/*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.fixture(scope="module")
def names():
    """What examples of the API take as made: the ratings of the example, as in the docstring of its
    module.
    """
    return {"recuse": recuse, "ratings": ratings_of_example()}


@pytest.mark.parametrize("module", MODULES)
def test_examples(module, names):
    settings = (
        {"extraglobs": names, "optionflags": doctest.NORMALIZE_WHITESPACE}
        if module == "recuse.api"
        else {}
    )
    found = doctest.testmod(importlib.import_module(module), **settings)
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples():
    assert len(MODULES) >= 5
