"""Hooks of mkdocs: README and the other pages outside docs/ are pages of the site, and what they
link to is there.
"""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Path in the repository -> page of the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
    "tests/README.md": "promises.md",
}
LINK = re.compile(r"(?P<mark>!?)\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
IMAGE = re.compile(r'(src=")([^"]+)(")')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and each file that a page links to, as text."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    pages = [file for file in files if file.is_documentation_page()]
    linked = {path for file in pages for path in _linked(_path(file.src_uri), file.content_string)}
    for path in sorted(linked):
        files.append(File.generated(config, _in_site(path), content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to pages and files of the site; one to a folder becomes plain text."""
    source = _path(page.file.src_uri)

    def link(match: re.Match) -> str:
        path, mark, anchor = _target(source, match["target"])
        if path is None:
            return match[0]
        if (ROOT / path).is_dir():
            return match["words"]
        return f"{match['mark']}[{match['words']}]({_uri(path)}{mark}{anchor})"

    def image(match: re.Match) -> str:
        return f"{match[1]}{_uri(_target(source, match[2])[0])}{match[3]}"

    return IMAGE.sub(image, LINK.sub(link, markdown))


def _path(src_uri: str) -> str:
    return next((path for path, page in PAGES.items() if page == src_uri), f"docs/{src_uri}")


def _target(source: str, target: str) -> tuple[str | None, str, str]:
    """The path in the repository that a link of the page at `source` leads to, None if elsewhere;
    #, and the anchor.
    """
    path, mark, anchor = target.partition("#")
    if not path or re.match("[a-z]+:", path):
        return None, mark, anchor
    return os.path.normpath(PurePosixPath(source).parent / path), mark, anchor


def _linked(source: str, markdown: str) -> set[str]:
    """The files outside docs/ that a page links to, but for pages."""
    paths = {_target(source, match["target"])[0] for match in LINK.finditer(markdown)} - {None}
    return {
        path
        for path in paths
        if path not in PAGES and not path.startswith("docs/") and (ROOT / path).is_file()
    }


def _in_site(path: str) -> str:
    return f"source/{path}.txt"


def _uri(path: str) -> str:
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else _in_site(path)
