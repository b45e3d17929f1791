"""The report of a study: one HTML file that needs nothing else, from the answer to the sources of
the data.
"""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from os.path import relpath
from pathlib import Path

from recuse.base.reasons import in_words as reason_in_words
from recuse.base.tables import read_table
from recuse.base.words import (
    BADGES,
    WORDS_ALONE,
    counted,
    level,
    setting_in_words,
    with_gold_labels,
)
from recuse.inference.robustness import without_human_scores
from recuse.model.spec import Spec, spec_in_words
from recuse.report.answers import answer_of_ratings
from recuse.report.html import font_rules, inlined, picture_facts, rendered, rendered_caption
from recuse.report.pairwise import answer_of_comparisons
from recuse.report.tables import EXCERPTS, EXCERPTS_WITHOUT_HUMAN_SCORES, Row, shown
from recuse.report.verdict import summary

PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "scipy", "seaborn", "snakemake")
# Tables that the answer reads and the page does not show
READ = ("pooled", "correlations", "mean_scores")
# The figure after the answer: the first that has something to show.
LEADS = ("verdicts", "gold", "bias_jitter", "attack_success", "position")
# Folded parts of the page -> their figures and tables; the others are in the last two.
TOPICS = {
    "Robustness": (
        *(
            "judgments",
            "conclusions",
            "wordings",
            "idiosyncrasy",
            "pooled",
            "estimates",
            "gam",
            "by_dataset",
        ),
        *(
            "fig04_slices",
            "fig07_length_control",
            "fig08_ordinal",
            "fig09_llm_reference",
            "fig10_weak_models_dropped",
        ),
        *("one_model_dropped", "sensitivity"),
    ),
    "Against the paper": ("scorecard", "claims"),
    "Figures": (),
    "Tables": (),
}


def report(
    *,
    study: str,
    about: Mapping,
    figures: Mapping[str, Mapping],
    formats: Sequence[str],
    inputs: Mapping[str, Sequence[str]],
    files: Sequence[tuple[str, str]],
    context: Mapping,
    page: str,
) -> tuple[str, dict]:
    """Render the report of a study; returns the page and its summary.

    about: as by `recuse.catalogue.tables.report_params`. figures: of each figure its caption's
    template, its `tables`, and its `drawing`, which the caption reads; formats: of its files.
    inputs: paths of `figures`, `tables`, `estimates`, other `pages`, and the `template`. files:
    path and SHA-256 of each of the user's. context: wildcards and config, for captions.
    page: path of the report, which links are relative to.
    """
    folder = Path(page).parent
    paths, estimates = (
        {Path(path).stem: path for path in inputs[kind]} for kind in ("tables", "estimates")
    )
    tables = {name: read_table(path) for name, path in paths.items() if name in {*EXCERPTS, *READ}}
    first, excerpts = "main", EXCERPTS
    if relative := reason_in_words(without_human_scores(tables.get("not_estimable", ()))):
        first, excerpts = about["substitute"], EXCERPTS | EXCERPTS_WITHOUT_HUMAN_SCORES
    if estimates:
        paths["main"], tables["main"] = estimates[first], read_table(estimates[first])
        tables["estimates"] = [row for path in estimates.values() for row in read_table(path)]
        tables["leaderboard"] = [
            row for row in tables.get("leaderboard", ()) if row["spec"] == first
        ]
    specs = {spec.name: spec for spec in Spec.from_config(about["specs"])}
    if specs:
        settings = {key: about[key] for key in ("confidence", "scales")}
        answer = answer_of_ratings(tables, first=first, relative=relative, **settings)
    else:
        answer = answer_of_comparisons(tables, confidence=about["confidence"])
    drawn = [
        _figure(path, figures[Path(path).stem], formats, context, folder)
        for path in inputs["figures"]
    ]
    links = {name: relpath(path, folder) for name, path in paths.items()}
    words = {"check": about["checks"]}
    words["spec"] = {name: spec_in_words(spec) for name, spec in specs.items()}
    html = rendered(
        inputs["template"][0],
        study=study,
        about=about,
        answer=answer,
        relative=relative,
        badge=BADGES[about["subject"]["kind"]],
        facts=list(_facts(tables.get("completeness", ()))),
        **_parts(
            drawn,
            [
                shown(name, excerpt, tables[name], links.get(name, ""), words)
                for name, excerpt in excerpts.items()
                if name in tables
            ],
        ),
        against=_against_the_paper(tables),
        pictures=(pictures := [figure for figure in drawn if not figure["silent"]]),
        fonts=font_rules(figure["picture"] for figure in pictures),
        level=level(about["confidence"]),
        errors=specs[first].errors.covariance if specs else "",
        specs=list(words["spec"].items()),
        files=[
            relpath(path, folder)
            for path in (*inputs["pages"], *inputs["tables"], *inputs["estimates"])
        ],
        pages=[relpath(path, folder) for path in inputs["pages"]],
        planted=list(_planted(about["origin"].get("simulate") or {})),
        settings=[(_name(key), value) for key, value in about["settings"]],
        users=[(setting_in_words(file), digest) for file, digest in files],
        versions=versions(),
    )
    if about["subject"].get("gold"):
        html = with_gold_labels(html)
    return html, summary(study, about, answer, tables.get("verdicts", ()))


def versions() -> list[tuple[str, str]]:
    """Name and version of Python and of the packages that numbers and figures come from."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def _figure(
    path: str, figure: Mapping, formats: Sequence[str], context: Mapping, folder: Path
) -> dict:
    """A figure as the template shows it."""
    svg, name = Path(path).read_text("utf-8"), Path(path).stem
    caption = Path(figure["caption"]).read_text("utf-8")
    return {
        "name": name,
        **picture_facts(svg, figure["drawing"]["subject"]["label"]),
        "picture": inlined(svg, name),
        "silent": f'id="{WORDS_ALONE}"' in svg,
        "caption": rendered_caption(
            caption, {**context, "params": {"figures": {name: figure["drawing"]}}}
        ),
        "files": [relpath(Path(path).with_suffix(f".{form}"), folder) for form in formats],
        "tables": [relpath(table, folder) for table in figure["tables"]],
    }


def _parts(figures: Sequence[Mapping], tables: Sequence[Mapping]) -> dict[str, object]:
    """The leading figure, if any; and of each topic that has some, figures, tables, and figures
    with nothing to show.
    """
    telling = {figure["name"]: figure for figure in figures if not figure["silent"]}
    lead = next((telling.pop(name) for name in LEADS if name in telling), None)
    topics = {title: {"figures": [], "tables": [], "silent": []} for title in TOPICS}
    for kind, rest, parts in (
        ("figures", "Figures", telling.values()),
        ("tables", "Tables", tables),
    ):
        for part in parts:
            title = next((title for title, names in TOPICS.items() if part["name"] in names), rest)
            topics[title][kind].append(part)
    topics["Figures"]["silent"] = [figure for figure in figures if figure["silent"]]
    return {
        "lead": lead,
        "topics": {title: parts for title, parts in topics.items() if any(parts.values())},
    }


def _against_the_paper(tables: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Of the scorecard and the claims, how many have each verdict, in words."""
    counts = {
        name: Counter(
            row["verdict"] for row in tables[name] if row["verdict"] and row.get("item") != "claim"
        )
        for name in TOPICS["Against the paper"]
        if name in tables
    }
    return {
        name: ", ".join(f"{verdict} {each:,}" for verdict, each in sorted(count.items()))
        for name, count in counts.items()
    }


def _name(key: str) -> str:
    """The key of a setting in words."""
    return key.replace("_", " ").replace(".", ": ")


def _planted(settings: Mapping, before: str = "") -> Iterator[tuple[str, str]]:
    """What a simulation plants: names and values, one to a line but for lists."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _planted(value, f"{before}{_name(key)}: ")
        else:
            yield f"{before}{_name(key)}", setting_in_words(value).strip("[]")


def _facts(completeness: Sequence[Row]) -> Iterator[str]:
    """Counts of judges, models, dimensions and ratings or verdicts."""
    counts = ("used", "verdicts")  # of what a judge gave
    given = [row for row in completeness if any(int(row.get(name) or 0) for name in counts)]
    for column in ("judge", "model", "dimension"):
        if count := len({row[column] for row in given if row.get(column)}):
            yield counted(count, column)
    for column, what in {
        "used": "ratings used",
        "comparisons": "comparisons",
        "verdicts": "verdicts",
    }.items():
        if completeness and column in completeness[0]:
            yield f"{sum(int(row[column]) for row in completeness):,} {what}"
