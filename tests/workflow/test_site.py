"""The pages as a site: every link of every page leads somewhere, and nothing is fetched from
elsewhere.
"""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.workflow
FETCHED = re.compile(
    r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//|<link[^>]* rel="stylesheet"[^>]*'
    r' href="(?:https?:)?//'
)


def test_site_is_built_without_warnings_or_files_from_elsewhere(tmp_path):
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    pages = {path: path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.html")}
    assert len(pages) > len([*(ROOT / "docs").glob("*.md")])
    assert not [path for path, text in pages.items() if FETCHED.search(text)]
    assert "favour its own answers" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert (tmp_path / "site" / "source" / "config.yaml.txt").read_bytes() == (
        ROOT / "config.yaml"
    ).read_bytes()
