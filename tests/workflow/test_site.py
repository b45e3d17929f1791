"""The pages as a site, which Sphinx builds without a warning (of a link that leads nowhere, too):
nothing is fetched from elsewhere.
"""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.workflow
FETCHED = re.compile(
    r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//'
    r'|<link[^>]* rel="(?:stylesheet|preload)"[^>]* href="(?:https?:)?//'
    r"|(?:url\(|@import )[\"']?(?:https?:)?//"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built without a warning, for a repository with an address."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", "docs"]
    command += ["-d", str(folder / "doctrees"), ".", str(folder / "html")]
    environment = os.environ | {
        "GITHUB_SERVER_URL": "https://example.org",
        "GITHUB_REPOSITORY": "judges/recuse",
    }
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert (result.returncode, result.stderr) == (0, "")
    return folder / "html"


def test_nothing_is_fetched_from_elsewhere(site):
    texts = {
        path: path.read_text("utf-8")
        for suffix in ("html", "css")
        for path in site.rglob(f"*.{suffix}")
    }
    assert len(texts) > len([*(ROOT / "docs").glob("*.md")])
    assert [path for path, text in texts.items() if FETCHED.search(text)] == []


def test_pages_of_all_folders_have_the_notebook_and_a_link_to_the_repository(site):
    first = (site / "README.html").read_text("utf-8")
    assert "favour its own answers" in first
    assert 'href="https://example.org/judges/recuse"' in first
    assert "README.html" in (site / "index.html").read_text("utf-8")
    assert (site / "docs" / "notebook.html").read_text("utf-8").count('src="../_images/') == 1
    assert (site / "CHANGELOG.html").exists()
