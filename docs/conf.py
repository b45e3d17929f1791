"""The site of all pages: `sphinx-build -W -c docs . site`. Its parts are in _toc.yml.

Sphinx reads the repository's root, so that links between pages, and to files of the project, are
those that work on GitHub. Nothing is fetched, neither to build nor to read the site.
"""

import os

project = "recuse"
copyright = "The recuse authors"
extensions = ["myst_nb", "sphinx_external_toc"]
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/notebook.ipynb",
    "benchmarks/RESULTS.md",
    "config/README.md",
    "tests/README.md",
]
exclude_patterns = [".*", "results", "site"]
external_toc_path = "docs/_toc.yml"
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # docs/generate.py runs the notebook

highlight_language = "none"  # output of commands is not Python

html_theme = "furo"
html_title = "recuse"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "index.html"}  # leads to README
if "GITHUB_REPOSITORY" in os.environ:  # GitHub Actions sets it
    repository = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
    html_theme_options = {
        "source_view_link": f"{repository}/blob/main/{{filename}}",
        "footer_icons": [{"name": "Repository", "url": repository, "html": "Repository"}],
    }
