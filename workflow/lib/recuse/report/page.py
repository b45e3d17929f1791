"""The report of a study: one HTML file that needs nothing else, with the answer first.

Figures drawn as SVG files, as parts of one HTML page.

Where the numbers of a report come from: files by their hashes, settings, versions; nothing of the hour or the machine.

The captions of the figures, which stand in workflow/report, as HTML.
"""

import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from os.path import relpath
from pathlib import Path

from recuse.base.tables import read_table
from recuse.base.words import BADGES, WORDS_ALONE, counted, in_words
from recuse.inference.robustness import without_human_scores
from recuse.report.answers import Answer, answer_of_ratings
from recuse.report.html import inlined, rendered, rendered_caption, title_of
from recuse.report.pairwise import answer_of_comparisons
from recuse.report.tables import VIEWS, VIEWS_WITHOUT_HUMAN_SCORES, Row, View, shown

PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "pygam", "scipy", "seaborn", "snakemake", "statsmodels")
CHUNK = 1 << 20  # bytes of a file held at a time


def versions() -> list[tuple[str, str]]:
    """Name and version of Python and of the packages that numbers and figures come from."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def files_of_the_user(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Path, as config has it, and SHA-256 of each file."""
    return [(setting_in_words(path), sha256(path)) for path in paths]


def sha256(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def differences(own: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield key, with dots between the levels, and value of each setting that is not the project's own."""
    if isinstance(own, Mapping) and isinstance(project, Mapping):
        for name in own:
            if name not in project or own[name] != project[name]:
                inner = f"{key}.{name}" if key else str(name)
                yield from differences(own[name], project.get(name), inner)
        yield from ((f"{key}.{name}" if key else str(name), "left out") for name in project if name not in own)
    else:
        yield key, setting_in_words(own)


def setting_in_words(setting: object) -> str:
    """A setting as one reads it in config.yaml, in one line; of a path that holds on one machine alone, the name."""
    if isinstance(setting, Mapping):
        return "{" + ", ".join(f"{name}: {setting_in_words(value)}" for name, value in setting.items()) + "}"
    if isinstance(setting, (list, tuple)):
        return "[" + ", ".join(map(setting_in_words, setting)) + "]"
    if isinstance(setting, str) and Path(setting).is_absolute():
        return Path(setting).name
    return str(setting).lower() if isinstance(setting, bool) else str(setting)


AGAINST_THE_PAPER = ("scorecard", "claims")  # tables in a section of their own
# Figures that follow the answer: of each group the first that there is, and that has something to show.
LEADS = (("fig03_self_family_bias", "verbosity_bias", "bias_jitter", "attack_success", "position"), ("conclusions",))
LEADS_WITHOUT_HUMAN_SCORES = (("estimands",), ("conclusions",))


def report(
    *, study: str, about: Mapping, figures: Mapping[str, Mapping], inputs: Mapping[str, Sequence[str]], told: Mapping, page: str
) -> str:
    """Render the report of a study.

    about: what the rule tells of the study: `subject`, its label and kind; `specs`, empty for comparisons; `analyses`;
    `confidence`; `stand_in`, the spec in the place of main where there are no human scores; `scales`; titles of the `views` of
    the conclusions; `origin` of the data; `settings` that differ; `seed`. figures: of each figure its caption's template, its
    `tables`, and `params`, what the caption is told. inputs: paths of `figures`, `tables`, `estimates`, other `pages`, `raw`
    files of the user, and the `template`. told: wildcards and config, for captions. page: where the report is to be; links
    lead from there.
    """
    folder = Path(page).parent
    tables, links = _tables(inputs, folder)
    relative, first, own = without_human_scores(tables.get("not_estimable", ())), "main", VIEWS
    if relative:
        first, own = about["stand_in"], {**VIEWS, **VIEWS_WITHOUT_HUMAN_SCORES}
        tables, links = _with_stand_in(tables, first), {**links, "main": f"estimates/{first}.csv"}
        figures = {name: _with_views_shown(figure, tables["conclusions"]) for name, figure in figures.items()}
    drawn = [_figure(path, figures[Path(path).stem], told, folder) for path in inputs["figures"]]
    return rendered(
        inputs["template"][0],
        study=study,
        about=about,
        answer=_answer(tables, about, first=first, relative=relative),
        relative=relative,
        first=first,
        badge=BADGES[about["subject"]["kind"]],
        facts=list(_facts(tables.get("completeness", ()))),
        **_of_figures(drawn, LEADS_WITHOUT_HUMAN_SCORES if relative else LEADS),
        **_of_tables(own, tables, links, about["views"]),
        errors=_errors(about, first),
        specs=[(name, in_words(settings)) for name, settings in about["specs"].items()],
        files=[relpath(path, folder) for path in (*inputs["pages"], *inputs["tables"], *inputs["estimates"])],
        pages=[relpath(path, folder) for path in inputs["pages"]],
        planted=setting_in_words(about["origin"].get("simulate")),
        users=files_of_the_user(inputs["raw"]),
        versions=versions(),
    )


def _with_stand_in(tables: Mapping[str, Sequence[Row]], spec: str) -> dict[str, Sequence[Row]]:
    """The tables of a report with the rows of a spec that compares judges in the place of those of `main`."""
    of_spec = {
        name: [row for row in tables[of] if row["spec"] == spec]
        for name, of in (("main", "estimates"), ("leaderboard", "leaderboard"))
        if of in tables
    }
    return {**tables, **of_spec}


def _with_views_shown(figure: Mapping, rows: Sequence[Row]) -> Mapping:
    """What the report is told of a figure, in its `params` those views of the conclusions alone that the table has rows of."""
    if "views" not in figure["params"]:
        return figure
    present = {row["view"] for row in rows}
    views = {name: view for name, view in figure["params"]["views"].items() if name in present}
    return {**figure, "params": {**figure["params"], "views": views}}


def _tables(inputs: Mapping[str, Sequence[str]], folder: Path) -> tuple[dict[str, list[Row]], dict[str, str]]:
    """The tables that there is a view of, by name, the estimates of all specs as one; and where the file of each is."""
    estimates = {Path(path).stem: path for path in inputs["estimates"]}
    paths = {Path(path).stem: path for path in inputs["tables"]}
    paths |= {"main": estimates["main"]} if estimates else {}
    tables = {name: read_table(paths[name]) for name in VIEWS if name in paths}
    if estimates:
        tables["estimates"] = [row for path in estimates.values() for row in read_table(path)]
    return tables, {name: relpath(path, folder) for name, path in paths.items()}


def _of_figures(drawn: Sequence[dict], groups: Sequence[Sequence[str]]) -> dict[str, list[dict]]:
    """Figures that lead, the first of each group that has something to show; the others; and those that have not."""
    telling = [figure for figure in drawn if not figure["silent"]]
    leads = [figure for group in groups for figure in _first(group, telling)]
    others = [figure for figure in telling if figure not in leads]
    return {"leads": leads, "figures": others, "silent": [figure for figure in drawn if figure["silent"]]}


def _of_tables(
    own: Mapping[str, View], tables: Mapping[str, Sequence[Row]], links: Mapping[str, str], titles: Mapping[str, str]
) -> dict[str, object]:
    """Tables as the page shows them, those against the paper apart, and of these the counts of verdicts.

    own: what is shown of each table; titles: of the views of the conclusions.
    """
    views = [
        shown(name, view, _titled(tables[name], titles), links.get(name, "")) for name, view in own.items() if name in tables
    ]
    return {
        "tables": [view for view in views if view.name not in AGAINST_THE_PAPER],
        "against": [view for view in views if view.name in AGAINST_THE_PAPER],
        "verdicts": {name: _verdicts(tables[name]) for name in AGAINST_THE_PAPER if name in tables},
    }


def _answer(tables: Mapping[str, Sequence[Row]], about: Mapping, *, first: str, relative: bool) -> Answer:
    if not about["specs"]:
        return answer_of_comparisons(tables, confidence=about["confidence"])
    settings = {key: about[key] for key in ("confidence", "scales", "views")}
    return answer_of_ratings(tables, errors=_errors(about, first), first=first, relative=relative, **settings)


def _errors(about: Mapping, spec: str) -> str:
    """The kind of the standard errors of a spec; of comparisons, which have none, it is of no matter."""
    return about["specs"].get(spec, {}).get("covariance", "HC0")


def _figure(path: str, figure: Mapping, told: Mapping, folder: Path) -> dict:
    """A figure as the template shows it."""
    svg, name = Path(path).read_text("utf-8"), Path(path).stem
    caption = Path(figure["caption"]).read_text("utf-8")
    return {
        "name": name,
        "title": title_of(svg, figure["params"]["subject"]["label"]),
        "picture": inlined(svg, name),
        "silent": f'id="{WORDS_ALONE}"' in svg,
        "caption": rendered_caption(caption, {**told, "params": figure["params"]}),
        "files": [relpath(Path(path).with_suffix(suffix), folder) for suffix in (".svg", ".pdf", ".png")],
        "tables": [relpath(table, folder) for table in figure["tables"]],
    }


def _first(names: Sequence[str], figures: Sequence[dict]) -> list[dict]:
    """The figure of the first of `names` that there is, in a list."""
    return [figure for name in names for figure in figures if figure["name"] == name][:1]


def _titled(rows: Sequence[Row], views: Mapping[str, str]) -> Sequence[Row]:
    """Rows with the title of a view of the conclusions in the place of its name."""
    return [{**row, "view": views.get(row["view"], row["view"])} if "view" in row else row for row in rows]


def _facts(rows: Sequence[Row]) -> Iterator[str]:
    """How many of what a study has, by its table of completeness."""
    for column in ("judge", "model", "dimension"):
        if count := len({row[column] for row in rows if row.get(column)}):
            yield counted(count, column)
    for column, what in (("used", "ratings used"), ("comparisons", "comparisons"), ("verdicts", "verdicts")):
        if rows and column in rows[0]:
            yield f"{sum(int(row[column]) for row in rows):,} {what}"


def _verdicts(rows: Sequence[Row]) -> list[tuple[str, int]]:
    return sorted(Counter(row["verdict"] for row in rows if row["verdict"] and row.get("item") != "claim").items())
