"""docs/audit.md says what the code does."""

import re

from conftest import ROOT
from recuse.audit.settings import PAPERS
from recuse.audit.treatments import REGISTRY

PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")


def test_every_treatment_is_on_the_page_with_its_arms():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.M))
    for name, treatment in REGISTRY.items():
        for arm in treatment.arms:
            assert arm in rows[name], name
    assert {*rows} == {*REGISTRY, *PAPERS}
